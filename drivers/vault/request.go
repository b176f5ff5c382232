package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"

	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// request is one request to Vault.
type request struct {
	method string     // GET, PUT or DELETE
	path   string     // below /v1/
	query  url.Values // with GET only
	body   []byte     // with PUT only: JSON
	// once says that the request must not be repeated when its answer is lost.
	once bool
}

// ask sends a request with the token of the current session and returns the
// body of a successful answer, which the caller owns. If Vault no longer knows the
// token, it logs in and asks again, once. Errors are a [*fault], or of logging in.
func (s *Store) ask(ctx context.Context, r request) ([]byte, error) {
	current, err := s.session(ctx, nil)
	if err != nil {
		return nil, err
	}
	body, err := s.repeat(ctx, current.token, r)
	if err == nil {
		current.proven.Store(true)
		return body, nil
	}
	if !isStatus(err, http.StatusForbidden) {
		return nil, err
	}
	// Vault answers 403 to a token it does not know, and to one whose policy
	// forbids the request. Only the first is worth a login.
	dead, errProbe := s.isDead(ctx, current)
	if errProbe != nil {
		return nil, errProbe
	}
	if !dead {
		return nil, &fault{
			kind: secret.ErrForbidden, reason: "Vault's policy forbids this to the token", remedy: remedyPolicy, status: http.StatusForbidden,
		}
	}
	current, err = s.session(ctx, current)
	if err != nil {
		return nil, err
	}
	body, err = s.repeat(ctx, current.token, r)
	if err == nil {
		current.proven.Store(true)
	}
	return body, err
}

// repeat sends a request, and sends it again where that may help and may be done.
func (s *Store) repeat(ctx context.Context, token secret.Text, r request) ([]byte, error) {
	body, f := s.send(ctx, token, r)
	if f != nil && !r.once && f.passing() {
		body, f = s.send(ctx, token, r)
	}
	if f != nil {
		return nil, f
	}
	return body, nil
}

func (s *Store) send(ctx context.Context, token secret.Text, r request) ([]byte, *fault) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	ctx = withToken(ctx, token)
	if r.query.Has("list") {
		ctx = remote.Expect(ctx, remote.Keys)
	}
	var (
		response *api.Response
		err      error
	)
	switch logical := s.client.Logical(); r.method {
	case http.MethodGet:
		response, err = logical.ReadRawWithDataWithContext(ctx, r.path, r.query)
	case http.MethodPut:
		response, err = logical.WriteRawWithContext(ctx, r.path, r.body)
	case http.MethodDelete:
		response, err = logical.DeleteRawWithContext(ctx, r.path)
	}
	if response != nil && response.Response != nil {
		defer response.Body.Close()
	}
	if err != nil || response.StatusCode >= 300 {
		return nil, faultOf(ctx, response, err)
	}
	// Room for any one secret, so that no copies of it are left by growing.
	body := bytes.NewBuffer(make([]byte, 0, 8<<10))
	if _, err := body.ReadFrom(response.Body); err != nil {
		wipe(body.Bytes())
		return nil, brokenWay(ctx, err)
	}
	return body.Bytes(), nil
}

// wipe clears the text that was read from Vault, as far as it is in reach.
func wipe(body []byte) { clear(body[:cap(body)]) }

// plain is a JSON string that decodes into bytes, which can be cleared.
type plain []byte

// UnmarshalJSON takes strings without escapes only, as keys are spelled.
func (p *plain) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' || bytes.ContainsRune(data, '\\') {
		return secret.ErrCorrupt
	}
	*p = bytes.Clone(data[1 : len(data)-1])
	return nil
}

// read returns the field of the first version of a secret; the caller clears it.
// A Store writes only the first: later versions are ignored.
func (s *Store) read(ctx context.Context, name, field string) ([]byte, error) {
	answer, err := s.ask(ctx, request{method: http.MethodGet, path: s.data(name), query: url.Values{"version": {"1"}}})
	if err != nil {
		return nil, err
	}
	defer wipe(answer)
	var a struct {
		Data *struct {
			// Fields stay undecoded: fields other than the broker's may be
			// anything.
			Data     map[string]json.RawMessage `json:"data"`
			Metadata *struct {
				Version int `json:"version"`
			} `json:"metadata"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data == nil || a.Data.Metadata == nil {
		return nil, unavailable("what answers is not a KV version 2 engine of Vault")
	}
	if a.Data.Data == nil {
		return nil, &fault{kind: secret.ErrNotFound, reason: "Vault holds only the trace of a deleted secret"}
	}
	defer func() {
		for _, raw := range a.Data.Data {
			clear(raw)
		}
	}()
	var value plain
	if a.Data.Metadata.Version != 1 || value.UnmarshalJSON(a.Data.Data[field]) != nil {
		return nil, secret.ErrCorrupt
	}
	return value, nil
}

// transport is the HTTP under the client. It adds the token that the call's
// context brings, and decides on redirects.
type transport struct {
	way   *remote.Transport
	peers map[string]bool // where a redirect may lead, as host:port
}

type tokenKey struct{}

// withToken lets requests made with the context authenticate. The client itself
// holds no token.
func withToken(ctx context.Context, token secret.Text) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	request = request.Clone(ctx)
	if token, ok := ctx.Value(tokenKey{}).(secret.Text); ok {
		request.Header.Set(api.AuthHeaderName, token.Reveal())
	}
	response, err := t.way.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	return t.follow(request, response)
}

// follow repeats a request that a standby sent on to another of the cluster's
// nodes. It takes only the host from the standby's redirect. Any other answer,
// and a second redirect, is the result.
func (t *transport) follow(request *http.Request, response *http.Response) (*http.Response, error) {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return response, nil
	}
	to, err := response.Location()
	if err != nil || to.Scheme != request.URL.Scheme || !t.peers[hostPort(to)] {
		return response, nil
	}
	body, err := request.GetBody()
	if err != nil {
		return response, nil
	}
	_ = response.Body.Close()
	again := request.Clone(request.Context())
	again.URL.Host, again.Host, again.Body = to.Host, to.Host, body
	return t.way.RoundTrip(again)
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "http" {
		return net.JoinHostPort(u.Hostname(), "80")
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

package vault

import (
	"bytes"
	"context"
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

// send sends a request once.
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

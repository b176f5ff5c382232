package vault

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// maxBody bounds an answer, in bytes. The longest is the list of all VIMs
	// with keys: some 40 bytes each.
	maxBody = 32 << 20
	// maxConnections bounds how many requests are under way at a time, each on a
	// connection of its own. More make the slowest slower and the rest no faster.
	maxConnections = 16
	// idleAfter is how long a connection is kept unused.
	idleAfter = 60 * time.Second
)

var errTooLarge = errors.New("answer is too large")

// transport is the HTTP under the client. It adds the token that the call's
// context brings, bounds answers, and decides on redirects.
type transport struct {
	trust *trust
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
	way, err := t.trust.transport()
	if err != nil {
		return nil, err
	}
	request = request.Clone(ctx)
	request.Header.Set("User-Agent", "vimbroker")
	if token, ok := ctx.Value(tokenKey{}).(secret.Text); ok {
		request.Header.Set(api.AuthHeaderName, token.Reveal())
	}
	response, err := way.RoundTrip(request)
	if err == nil {
		response, err = t.follow(way, request, response)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			// A firewall may have forgotten the connections: the next call, at
			// least, tells that from a slow Vault.
			way.CloseIdleConnections()
		}
		return nil, err
	}
	response.Body = &boundedBody{body: response.Body, left: maxBody}
	return response, nil
}

// follow repeats a request that a standby sent on to another of the cluster's
// nodes. Of the place that the standby named only the host is taken. Anything
// else, and a second redirect, is the answer.
func (t *transport) follow(way *http.Transport, request *http.Request, response *http.Response) (*http.Response, error) {
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
	return way.RoundTrip(again)
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

// boundedBody is an answer's body that errs past its bound.
type boundedBody struct {
	body io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.body.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }

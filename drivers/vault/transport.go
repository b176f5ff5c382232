package vault

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

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

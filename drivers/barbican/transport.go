package barbican

import (
	"context"
	"net/http"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// transport is the HTTP under gophercloud. It adds the token that the call's
// context brings.
type transport struct{ *remote.Transport }

type tokenKey struct{}

// withToken lets requests made with the context authenticate. The clients
// themselves hold no token.
func withToken(ctx context.Context, token secret.Text) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if token, ok := request.Context().Value(tokenKey{}).(secret.Text); ok {
		request = request.Clone(request.Context())
		request.Header.Set("X-Auth-Token", token.Reveal())
	}
	return t.Transport.RoundTrip(request)
}

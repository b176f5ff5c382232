package kubernetes

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/vimbroker/vimbroker/broker"
)

// RoundTrip implements [http.RoundTripper] under the clients: it adds the credential.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	request = request.Clone(ctx)
	authorize(ctx, request)
	response, err := c.transport.RoundTrip(request)
	if err == nil {
		// The caller decides when to retry; client-go would sleep and repeat.
		response.Header.Del("Retry-After")
	}
	return response, err
}

type credentialKey struct{}

// lent is a credential for as long as a call lasts. It is taken back when the
// call ends, because a context can outlive it: stopped timers keep theirs until
// they would have run out.
type lent struct {
	credential atomic.Pointer[broker.Credential]
}

// lend lets calls made with the context authenticate until takeBack.
func lend(ctx context.Context, c broker.Credential) (_ context.Context, takeBack func()) {
	l := new(lent)
	l.credential.Store(&c)
	return context.WithValue(ctx, credentialKey{}, l), func() { l.credential.Store(nil) }
}

// lentTo returns the credential that was lent to the context's call; a credential of
// no kind if there is none, or no longer.
func lentTo(ctx context.Context) broker.Credential {
	if l, ok := ctx.Value(credentialKey{}).(*lent); ok {
		if c := l.credential.Load(); c != nil {
			return *c
		}
	}
	return broker.Credential{}
}

// authorize sets the request's own header, where the credential is one of that kind.
func authorize(ctx context.Context, request *http.Request) {
	switch c := lentTo(ctx); c.Kind {
	case broker.CredentialBearerToken:
		request.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	case broker.CredentialBasicAuth:
		request.SetBasicAuth(c.Username, c.Password.Reveal())
	}
}

// presentCertificate answers a TLS handshake with the client certificate of the
// request that wanted the connection. net/http dials with the values of that
// request's context and forgets the context once the connection stands. All
// requests that can share the connection have the same certificate: it is part
// of the [connectionKey].
func presentCertificate(r *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c := lentTo(r.Context())
	if c.Kind != broker.CredentialClientCertificate {
		return nil, errors.New("no client certificate in the call's context")
	}
	pair, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey.Reveal()))
	if err != nil {
		return nil, errors.New("client certificate and key do not fit")
	}
	return &pair, nil
}

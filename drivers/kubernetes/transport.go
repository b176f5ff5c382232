package kubernetes

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

// RoundTrip implements [http.RoundTripper] under the typed clients: it adds the
// credential, and bounds what client-go does not.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	select {
	case c.calls <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	free := sync.OnceFunc(func() { <-c.calls })
	request = request.Clone(ctx)
	request.Header.Set("User-Agent", "vimbroker")
	authorize(ctx, request)
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		free()
		c.note(err)
		if repeated(err) {
			err = errBroken
		}
		return nil, err
	}
	// Whoever called decides when to try again; client-go would sleep and repeat.
	response.Header.Del("Retry-After")
	response.Body = &remote.Body{Body: response.Body, Max: maxBody, Failed: c.note, Closed: free}
	return response, nil
}

// errBroken stands for the errors that client-go takes for a reason to repeat a GET
// ten times, one second apart. Those who call decide when to try again.
var errBroken = errors.New("the connection broke")

func repeated(err error) bool {
	return utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

func (c *connection) note(err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		c.stranded.Store(true)
	}
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

// lentTo returns the credential that was lent to the context's call; one of no
// kind if there is none, or not any more.
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
	case broker.BearerToken:
		request.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	case broker.BasicAuth:
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
	if c.Kind != broker.ClientCertificate {
		return nil, errors.New("no client certificate in the call's context")
	}
	pair, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey.Reveal()))
	if err != nil {
		return nil, errors.New("client certificate and key do not fit")
	}
	return &pair, nil
}

package kubernetes

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// maxConnections bounds how many VIMs are connected to at a time. An idle connection closes by itself before.
const maxConnections = 512

// connectionKey is everything that a connection's trust rests on. VIM and
// generation alone would not do: a generation that failed its check and was
// never stored is tried again under the same number with another target.
type connectionKey struct {
	vim        string
	generation int64
	target     broker.Target
	egress     *egress.Rules
	// certificate is the digest of the client certificate that the server has
	// seen on this connection; zero where none is sent.
	certificate [sha256.Size]byte
	// doomed is set if the credential is expected to be refused. An API server ends an
	// HTTP/2 connection with its first 401 (UnauthenticatedHTTP2DOSMitigation), and all
	// that is under way on it would have to connect again; over HTTP/1.1 it keeps it.
	doomed bool
}

func keyOf(a broker.Access) connectionKey {
	k := connectionKey{vim: a.VIM, generation: a.Generation, target: a.Target, egress: a.Egress}
	if a.Credential.Kind == broker.CredentialClientCertificate {
		k.certificate = sha256.Sum256([]byte(a.Credential.ClientCertificate))
	}
	return k
}

// connection is one VIM's HTTP connections and the typed clients over them. It
// holds no credential: each call brings its own in its context.
type connection struct {
	core           coreAPI
	rbac           rbacAPI
	authentication authenticationAPI
	authorization  authorizationAPI

	*remote.Transport
}

// dial prepares a connection; it connects to nothing yet.
func dial(k connectionKey) (*connection, error) {
	o := remote.Options{
		Server: "the API server", CA: remote.Authorities{PEM: k.target.CACert},
		ServerName: k.target.ServerName, InsecureSkipVerify: k.target.InsecureSkipVerify, HTTP1: k.doomed,
	}
	if k.certificate != [sha256.Size]byte{} {
		// The key comes out of the context of the request that dials, for the
		// handshake only. Nothing else than this may be reachable from the pool.
		o.ClientCertificate = presentCertificate
	}
	way, err := remote.New(k.egress, o)
	if err != nil {
		return nil, broker.Invalid("caCert", "holds no certificate")
	}
	c := &connection{Transport: way}
	client := way.Client()
	client.Transport = c
	to := rest.Config{
		Host: k.target.Endpoint, QPS: -1, WarningHandler: rest.NoWarnings{}, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	}
	var errs [4]error
	c.core.client, errs[0] = groupClient(to, corev1.SchemeGroupVersion, client)
	c.rbac.client, errs[1] = groupClient(to, rbacv1.SchemeGroupVersion, client)
	c.authentication.client, errs[2] = groupClient(to, authenticationv1.SchemeGroupVersion, client)
	c.authorization.client, errs[3] = groupClient(to, authorizationv1.SchemeGroupVersion, client)
	if errors.Join(errs[:]...) != nil {
		return nil, broker.Invalid("endpoint", "cannot be used as an API server's address")
	}
	return c, nil
}

// RoundTrip implements [http.RoundTripper] under the clients: it adds the credential.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	request = request.Clone(ctx)
	authorize(ctx, request)
	response, err := c.Transport.RoundTrip(request)
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

// isToken reports whether s can stand in an Authorization header unchanged.
func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

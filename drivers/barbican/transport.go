package barbican

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// maxBody bounds an answer, in bytes. The longest is a token with the catalog
	// of a large cloud, some hundred KiB.
	maxBody = 4 << 20
	// maxConnections bounds how many requests are under way at a time.
	maxConnections = 16
	idleAfter      = 60 * time.Second
)

var (
	errTooLarge      = errors.New("answer is too large")
	errNoAuthorities = errors.New("no certificate authorities")
)

// transport is the HTTP under gophercloud. It adds the token that the call's
// context brings, bounds answers, and makes its connections anew when the file of
// certificate authorities changes.
type transport struct {
	caFile string // empty: the system's authorities

	mu   sync.Mutex
	way  *http.Transport
	seen fs.FileInfo // of the file, when way was made
}

type tokenKey struct{}

// withToken lets requests made with the context authenticate. The clients
// themselves hold no token.
func withToken(ctx context.Context, token secret.Text) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	way, err := t.current()
	if err != nil {
		return nil, err
	}
	if token, ok := request.Context().Value(tokenKey{}).(secret.Text); ok {
		request = request.Clone(request.Context())
		request.Header.Set("X-Auth-Token", token.Reveal())
	}
	response, err := way.RoundTrip(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			// A firewall may have forgotten the connections: the next call, at
			// least, tells that from a slow server.
			way.CloseIdleConnections()
		}
		return nil, err
	}
	response.Body = &boundedBody{body: response.Body, left: maxBody}
	return response, nil
}

// current returns what to send a request with.
func (t *transport) current() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var (
		now  fs.FileInfo
		pool *x509.CertPool // nil: the system's
		err  error
	)
	if t.caFile != "" {
		if now, err = os.Stat(t.caFile); err != nil {
			return nil, errNoAuthorities
		}
	}
	if t.way != nil && (now == nil || os.SameFile(now, t.seen) && now.Size() == t.seen.Size() && now.ModTime().Equal(t.seen.ModTime())) {
		return t.way, nil
	}
	if t.caFile != "" {
		pem, err := os.ReadFile(t.caFile)
		pool = x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, errNoAuthorities
		}
	}
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
	t.seen, t.way = now, &http.Transport{
		Proxy:                  nil, // what is in the environment is not meant for keys
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        idleAfter,
		DisableCompression:     true,
		// HTTP/1.1: calls that share one HTTP/2 connection also share its fate.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	return t.way, nil
}

// close releases the connections that no request uses.
func (t *transport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
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

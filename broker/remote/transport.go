// Package remote is how the broker talks to systems that may be hostile or down.
// All drivers of VIMs and key stores do so through its [Transport], so that the
// bounds hold whatever client library stands on it.
//
// A transport connects under the egress rules, after name resolution and on every
// attempt, never through a proxy. It reads each answer whole, within the call's
// deadline, before the client library sees any of it: uncompressed, no longer than
// the call's [Limit], with no more JSON values than that. Errors are [CallError]s.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/policy/egress"
)

const (
	connectTimeout      = 10 * time.Second
	tlsHandshakeTimeout = 10 * time.Second
	answerTimeout       = 30 * time.Second
	idleAfter           = 60 * time.Second
	http2PingAfter      = 30 * time.Second
	http2PingTimeout    = 15 * time.Second
	maxResponseHeader   = 64 << 10
	// maxCalls bounds the calls at a time over one transport, and with them its
	// streams and connections.
	maxCalls = 32
	// maxConnects bounds how often one call may connect: a server that ends each
	// connection (GOAWAY) would have net/http retry for ever.
	maxConnects = 3
)

var errConnects = errors.New("the server ends each connection before it answers")

// Options say who is called.
type Options struct {
	// Server names it in errors, as "the API server".
	Server string
	// CA are the authorities that sign its certificate.
	CA Authorities
	// ServerName is the name in its certificate, where that is not the endpoint's.
	ServerName string
	// InsecureSkipVerify switches verification off.
	InsecureSkipVerify bool
	// ClientCertificate gives a handshake the client certificate. It may use the
	// context of the call that connects.
	ClientCertificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	// HTTP1 keeps to HTTP/1.1, where a connection's fate is that of one call.
	HTTP1 bool
}

// Transport is an [http.RoundTripper] whose answers are bounded. It is safe for
// concurrent use.
type Transport struct {
	options Options
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	calls   chan struct{}

	mu   sync.Mutex
	way  *http.Transport
	seen fs.FileInfo // of the file of authorities, when way was made
}

// New returns a transport that connects where the rules allow it; nil rules allow
// nothing. It fails if the authorities are a text that holds none.
func New(rules *egress.Rules, o Options) (*Transport, error) {
	return newTransport(o, rules.DialContext)
}

// NewTrusted returns a transport to a server whose address the operator configures,
// as a key store's: it connects to any address.
func NewTrusted(o Options) (*Transport, error) {
	return newTransport(o, (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext)
}

func newTransport(o Options, dial func(context.Context, string, string) (net.Conn, error)) (*Transport, error) {
	if o.CA.File == "" {
		if _, err := o.CA.pool(); err != nil {
			return nil, err
		}
	}
	return &Transport{options: o, dial: dial, calls: make(chan struct{}, maxCalls)}, nil
}

// Client returns an HTTP client over the transport. It follows no redirect: that
// would send the credential to a place that the remote side chose. Its callers get
// the 3xx answer.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RoundTrip implements [http.RoundTripper]. Errors are [*CallError]s.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.roundTrip(request)
	if err == nil {
		return response, nil
	}
	if f := Unanswered(err, t.options.Server); f != nil {
		return nil, f
	}
	return nil, broken(t.options.Server)
}

func (t *Transport) roundTrip(request *http.Request) (*http.Response, error) {
	way, err := t.current()
	if err == nil {
		select {
		case t.calls <- struct{}{}:
			defer func() { <-t.calls }()
		case <-request.Context().Done():
			err = request.Context().Err()
		}
	}
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	if streamed(request.Context()) {
		return t.stream(way, request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), answerTimeout)
	defer cancel()
	bounded := request.Clone(context.WithValue(ctx, connectsKey{}, new(atomic.Int32)))
	bounded.Header.Set("User-Agent", "vimbroker")
	bounded.Header.Set("Accept-Encoding", "identity")
	response, err := way.RoundTrip(bounded)
	if err == nil {
		err = take(ctx, request.Context(), cancel, response)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.abandon(way)
	}
	if err != nil {
		return nil, err
	}
	response.Request = request
	return response, nil
}

// take reads the answer's body and puts what was read in its place. Its share of the
// budget is released when that is closed, or the call is over. end ends the reading.
func take(ctx, call context.Context, end context.CancelFunc, response *http.Response) error {
	defer response.Body.Close()
	s := answers.share(end)
	handed := false
	defer func() {
		if !handed {
			s.release()
		}
	}()
	body, err := whole(ctx, s, response)
	if _, over := errors.AsType[limitError](err); over && response.StatusCode >= http.StatusMultipleChoices {
		// The status is enough; the rest is not needed.
		body, err = nil, nil
	}
	if err != nil {
		return err
	}
	stop := context.AfterFunc(call, s.release)
	response.Body = &held{Reader: bytes.NewReader(body), end: func() {
		stop()
		clear(body) // it may hold a key
		s.release()
	}}
	response.ContentLength = int64(len(body))
	handed = body != nil
	return nil
}

// whole reads an answer that keeps its limits; nil with an error.
func whole(ctx context.Context, s *share, response *http.Response) ([]byte, error) {
	if err := plain(response.Header); err != nil {
		return nil, err
	}
	if strings.Contains(strings.ToLower(response.Header.Get("Content-Type")), "yaml") {
		return nil, limitError("the answer is YAML, which was not asked for") // client-go would read it, and its values are not counted
	}
	limit := limitOf(ctx)
	body, err := read(ctx, s, response.Body, response.ContentLength, limit.Bytes)
	if err == nil {
		var values int
		if values, err = limit.check(body); err == nil {
			err = s.grow(ctx, values*perValue)
		}
	}
	if gave := s.settle(); gave != nil {
		err = gave // that is why the reading ended
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// held is a body that counts against the budget until it is closed.
type held struct {
	*bytes.Reader
	end func()
}

func (h *held) Close() error {
	h.end()
	return nil
}

// plain refuses what is not sent as plain text: it would be larger than it looks.
func plain(h http.Header) error {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return limitError("the answer is compressed, which was not asked for")
	}
	if kind := strings.ToLower(h.Get("Content-Type")); strings.Contains(kind, "protobuf") || strings.Contains(kind, "cbor") {
		return limitError("the answer is in a binary format, which was not asked for")
	}
	return nil
}

// current returns the transport for a request. It opens new connections when the file
// of authorities has changed: a connection is not used again if its authority may be
// gone from the file.
func (t *Transport) current() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, err := t.options.CA.stat()
	if err != nil {
		return nil, err
	}
	if t.way != nil && sameFile(now, t.seen) {
		return t.way, nil
	}
	pool, err := t.options.CA.pool()
	if err != nil {
		return nil, err
	}
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
	o := t.options
	t.seen, t.way = now, &http.Transport{
		Proxy:       nil, // a proxy would connect where the rules do not see it
		DialContext: t.connect,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: o.ServerName,
			InsecureSkipVerify:   o.InsecureSkipVerify, //nolint:gosec // the registration said so in so many words
			GetClientCertificate: o.ClientCertificate,
		},
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		MaxResponseHeaderBytes: maxResponseHeader,
		MaxIdleConns:           maxCalls,
		MaxIdleConnsPerHost:    maxCalls,
		MaxConnsPerHost:        maxCalls,
		IdleConnTimeout:        idleAfter,
		DisableCompression:     true,
		ForceAttemptHTTP2:      !o.HTTP1, // a dialer of our own would switch it off
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: http2PingAfter, PingTimeout: http2PingTimeout},
	}
	if o.HTTP1 {
		t.way.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	return t.way, nil
}

type connectsKey struct{}

// connect connects for a call, a bounded number of times for each.
func (t *Transport) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if made, ok := ctx.Value(connectsKey{}).(*atomic.Int32); ok && made.Add(1) > maxConnects {
		return nil, errConnects
	}
	return t.dial(ctx, network, addr)
}

// abandon has the next call open a new connection: a call ran into its deadline, and a
// firewall may have forgotten its connection. If the server is only slow, nothing is
// lost.
func (t *Transport) abandon(way *http.Transport) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way == way {
		t.way = nil
	}
	way.CloseIdleConnections()
}

// CloseIdleConnections closes the connections that no call uses.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
}

// Authorities are the certificate authorities (PEM) that a server's certificate must
// be signed by: a text, or a file that is read again when it changes. Without either
// they are the system's.
type Authorities struct{ PEM, File string }

var errAuthorities = errors.New("the certificate authorities cannot be used: they cannot be read, or there are none")

// pool is nil for the system's authorities.
func (a Authorities) pool() (*x509.CertPool, error) {
	text := []byte(a.PEM)
	if a.File != "" {
		var err error
		if text, err = os.ReadFile(a.File); err != nil {
			return nil, errAuthorities
		}
	} else if a.PEM == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errAuthorities
	}
	return pool, nil
}

// stat is nil if there is no file.
func (a Authorities) stat() (fs.FileInfo, error) {
	if a.File == "" {
		return nil, nil
	}
	info, err := os.Stat(a.File)
	if err != nil {
		return nil, errAuthorities
	}
	return info, nil
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// SystemRoots are the system's authorities (PEM), for those who cannot be told to use their own; empty
// where there are none. They are read once, from where crypto/x509 reads them.
var SystemRoots = sync.OnceValue(systemRoots)

// rootFiles and rootDirs are those of crypto/x509 on Linux, which takes the first file and every directory.
const (
	rootFiles = "/etc/ssl/certs/ca-certificates.crt:/etc/pki/tls/certs/ca-bundle.crt:/etc/ssl/ca-bundle.pem:" +
		"/etc/pki/tls/cacert.pem:/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem:/etc/ssl/cert.pem"
	rootDirs = "/etc/ssl/certs:/etc/pki/tls/certs"
)

func systemRoots() string {
	var texts []string
	files := strings.Split(rootFiles, ":")
	if named := os.Getenv("SSL_CERT_FILE"); named != "" {
		files = []string{named}
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil {
			texts = append(texts, string(text))
			break
		}
	}
	for _, dir := range strings.Split(cmp.Or(os.Getenv("SSL_CERT_DIR"), rootDirs), ":") {
		entries, _ := os.ReadDir(dir) // what cannot be read is not trusted
		for _, e := range entries {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
				texts = append(texts, string(text))
			}
		}
	}
	return Certificates(texts...)
}

// Certificates are those of texts in PEM, each once, as one text; whatever else the texts hold, such as
// a key, is left out.
func Certificates(texts ...string) string {
	var all bytes.Buffer
	seen := map[string]bool{}
	for _, text := range texts {
		for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
			_, err := x509.ParseCertificate(block.Bytes)
			if block.Type != "CERTIFICATE" || err != nil || seen[string(block.Bytes)] {
				continue
			}
			seen[string(block.Bytes)] = true
			_ = pem.Encode(&all, &pem.Block{Type: block.Type, Bytes: block.Bytes}) // a buffer takes everything
		}
	}
	return all.String()
}

package vault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

var errNoAuthorities = errors.New("no certificate authorities")

// trust makes the connections to Vault, and makes them anew when the file of
// certificate authorities changes: a connection that an authority vouched for who
// is no longer in it is not used again.
type trust struct {
	file       string // empty: pem, or the system's authorities
	pem        string
	serverName string

	mu   sync.Mutex
	way  *http.Transport
	seen fs.FileInfo // of the file, when way was made
}

// transport returns what to send a request with.
func (t *trust) transport() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var now fs.FileInfo
	if t.file != "" {
		var err error
		if now, err = os.Stat(t.file); err != nil {
			return nil, errNoAuthorities
		}
	}
	if t.way != nil && (now == nil || sameFile(now, t.seen)) {
		return t.way, nil
	}
	pool, err := t.authorities()
	if err != nil {
		return nil, err
	}
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
	t.seen, t.way = now, &http.Transport{
		Proxy:                  nil, // what is in the environment is not meant for keys
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: t.serverName},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		MaxConnsPerHost:        maxConnections, // calls beyond wait in turn
		IdleConnTimeout:        idleAfter,
		DisableCompression:     true,
		// HTTP/1.1: calls that share one HTTP/2 connection also share its fate.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	return t.way, nil
}

// authorities is nil for the system's.
func (t *trust) authorities() (*x509.CertPool, error) {
	pem := []byte(t.pem)
	if t.file != "" {
		var err error
		if pem, err = os.ReadFile(t.file); err != nil {
			return nil, errNoAuthorities
		}
	} else if t.pem == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errNoAuthorities
	}
	return pool, nil
}

// close releases the connections that no request uses.
func (t *trust) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way != nil {
		t.way.CloseIdleConnections()
	}
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

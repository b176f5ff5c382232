package real

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// SecureCloud is the same cloud behind TLS, as operators show it.
type SecureCloud struct {
	// AuthURL, KeyManager and Orchestration are as in [Cloud]. Catalogs and
	// references that pass by name these places.
	AuthURL, KeyManager, Orchestration string
	// CAPEM is the authority of the certificates.
	CAPEM string

	mu    sync.Mutex
	asked []string
}

// Asked returns the methods of what Keystone has been asked since the last call.
func (c *SecureCloud) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.asked = nil }()
	return c.asked
}

// TLS puts a proxy with certificates of an authority of its own in front of the
// cloud, until the test ends.
func (o *Cloud) TLS(t testing.TB) *SecureCloud {
	t.Helper()
	ca, err := pki.NewCA("test OpenStack CA")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	var names []string // old, new, old, new
	var servers []*httptest.Server
	for _, port := range o.ports {
		server := httptest.NewUnstartedServer(nil)
		servers = append(servers, server)
		names = append(names, "http://127.0.0.1:"+strconv.Itoa(port), "https://"+server.Listener.Addr().String())
	}
	rename := strings.NewReplacer(names...)
	secure := &SecureCloud{
		AuthURL: rename.Replace(o.AuthURL), KeyManager: rename.Replace(o.KeyManager),
		Orchestration: rename.Replace(o.Orchestration), CAPEM: string(ca.PEM),
	}
	for i, server := range servers {
		to, err := url.Parse(names[2*i])
		if err != nil {
			t.Fatal(err)
		}
		server.Config.Handler = &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				if i == 0 {
					secure.mu.Lock()
					secure.asked = append(secure.asked, r.In.Method)
					secure.mu.Unlock()
				}
				r.SetURL(to)
				r.Out.Header.Del("Accept-Encoding")
			},
			ModifyResponse: func(r *http.Response) error {
				if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
					return nil
				}
				text, err := io.ReadAll(r.Body)
				if err != nil {
					return err
				}
				text = []byte(rename.Replace(string(text)))
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				r.Header.Set("Content-Length", strconv.Itoa(len(text)))
				return nil
			},
		}
		server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		server.StartTLS()
		t.Cleanup(server.Close)
	}
	return secure
}

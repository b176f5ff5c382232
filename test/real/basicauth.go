package real

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// proxyName is the common name whose certificate the API server lets say who a
// request comes from.
const proxyName = "front-proxy"

// BasicAuth is a TLS proxy in front of a cluster that knows one user by name and
// password: what API servers did themselves until 1.19, and what Tacker's VIM
// files with a username still expect.
type BasicAuth struct {
	// Endpoint is the proxy's URL, CAPEM the bundle that it is known by.
	Endpoint string
	CAPEM    string
	// Username may do anything with Password.
	Username, Password string
}

// BasicAuthProxy starts such a proxy, which ends with the test. Requests without
// a name and password are passed on with what they have (a bearer token).
func (c *Cluster) BasicAuthProxy(t testing.TB) BasicAuth {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("starting proxy: %v", err)
		}
	}
	ca, err := pki.NewCA("test proxy CA")
	fail(err)
	pair, err := ca.Server("127.0.0.1", "localhost")
	fail(err)
	serving, err := pair.TLS()
	fail(err)
	pair, err = c.proxyCA.Client(proxyName, nil, time.Now().Add(24*time.Hour))
	fail(err)
	identity, err := pair.TLS()
	fail(err)
	target, err := url.Parse(c.Endpoint)
	fail(err)

	b := BasicAuth{CAPEM: string(ca.PEM), Username: "tacker", Password: rand.Text()}
	forward := &httputil.ReverseProxy{
		ErrorLog:      log.New(io.Discard, "", 0),
		FlushInterval: -1,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: c.ca.Pool(), Certificates: []tls.Certificate{identity}},
			ForceAttemptHTTP2: true,
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if _, _, ok := r.In.BasicAuth(); ok {
				r.Out.Header.Del("Authorization")
				r.Out.Header.Set("X-Remote-User", b.Username)
				r.Out.Header.Set("X-Remote-Group", "system:masters")
			}
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range []string{"X-Remote-User", "X-Remote-Group", "X-Remote-Uid"} {
			r.Header.Del(h) // never the caller's word
		}
		name, password, ok := r.BasicAuth()
		if ok && !(equal(name, b.Username) && equal(password, b.Password)) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
			return
		}
		// All of the body first: a client whose request is refused early stops sending, and the
		// forwarding of an HTTP/2 body would wait for the rest.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{serving}}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	b.Endpoint = server.URL
	return b
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

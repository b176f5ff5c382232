package remote_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// newServer counts the connections that are made to it.
func newServer(t *testing.T, handler http.HandlerFunc) (server *httptest.Server, connections func() int) {
	t.Helper()
	opened := make(chan struct{}, 100)
	server = httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened <- struct{}{}
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, func() int { return len(opened) }
}

func loopback() *egress.Rules {
	rules := egress.Default()
	rules.AllowLoopback = true
	return rules
}

// certificateOf is a server's certificate as PEM.
func certificateOf(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// to is a transport to the server under the rules.
func to(t *testing.T, rules *egress.Rules, server *httptest.Server) *remote.Transport {
	t.Helper()
	o := remote.Options{Server: "the server"}
	if server.Certificate() != nil {
		o.CA.PEM = certificateOf(server)
	}
	way, err := remote.New(rules, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.CloseIdleConnections)
	return way
}

func get(t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func TestClientConnectsOnlyWhereAllowed(t *testing.T) {
	server, connections := newServer(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := to(t, egress.Default(), server).Client()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "[::1]"} {
		resp, err := get(t, client, "https://"+host+":"+port)
		var refused *egress.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("Get(%s) = %v, %v, want a RefusedError", host, resp, err)
		}
	}
	if n := connections(); n != 0 {
		t.Errorf("%d connections reached the server, want 0", n)
	}

	resp, err := get(t, to(t, loopback(), server).Client(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); string(body) != "HTTP/2.0" || err != nil {
		t.Errorf("Get with loopback allowed = %q, %v, want HTTP/2.0", body, err)
	}
}

func TestRefusedPortIsNotConnectedTo(t *testing.T) {
	server, connections := newServer(t, func(http.ResponseWriter, *http.Request) {})
	rules := loopback()
	rules.Ports = []egress.PortRange{{First: 443, Last: 443}}
	if _, err := get(t, to(t, rules, server).Client(), server.URL); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("Get = %v, want ErrRefused", err)
	}
	if n := connections(); n != 0 {
		t.Errorf("%d connections reached the server, want 0", n)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	followed, reached := newServer(t, func(http.ResponseWriter, *http.Request) {})
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, followed.URL, http.StatusTemporaryRedirect)
	})
	resp, err := get(t, to(t, loopback(), server).Client(), server.URL)
	if err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("Get = %v, %v, want the answer 307 itself", resp, err)
	}
	if n := reached(); n != 0 {
		t.Errorf("%d connections reached the target of the redirect, want 0", n)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	server, _ := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	if resp, err := get(t, to(t, loopback(), server).Client(), server.URL); err == nil {
		t.Errorf("Get = %v with 1 MiB of headers, want an error", resp.Status)
	}
}

// A connection of before does not outlive its authority in the file.
func TestAuthoritiesAreReadAgainWhenTheirFileChanges(t *testing.T) {
	server, _ := newServer(t, func(http.ResponseWriter, *http.Request) {})
	other, err := pki.NewCA("another authority")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(certificateOf(server))
	way, err := remote.New(loopback(), remote.Options{Server: "the server", CA: remote.Authorities{File: file}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.CloseIdleConnections)
	client := &http.Client{Transport: way}
	if _, err := get(t, client, server.URL); err != nil {
		t.Fatalf("with the server's authority: %v", err)
	}
	write(string(other.PEM))
	if _, err := get(t, client, server.URL); err == nil {
		t.Error("the server answers although its authority is gone from the file")
	}
}

// Authorities that cannot be read are none, and not the system's.
func TestAuthoritiesThatCannotBeRead(t *testing.T) {
	server, connections := newServer(t, func(http.ResponseWriter, *http.Request) {})
	if _, err := remote.New(loopback(), remote.Options{CA: remote.Authorities{PEM: "no certificate"}}); err == nil {
		t.Error("a text without a certificate is taken")
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".none"} {
		way, err := remote.New(loopback(), remote.Options{Server: "the server", CA: remote.Authorities{File: file}})
		if err != nil {
			t.Fatal(err)
		}
		wantRefused(t, way.Client(), server.URL, "authorities")
	}
	if n := connections(); n != 0 {
		t.Errorf("%d connections reached the server, want 0", n)
	}
}

// Calls share a connection, until one of them had no answer in time.
func TestAConnectionThatWasSilentIsLeft(t *testing.T) {
	server, connections := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
		}
		_, _ = io.WriteString(w, r.Proto)
	})
	for want, http1 := range map[string]bool{"HTTP/1.1": true, "HTTP/2.0": false} {
		way, err := remote.New(loopback(), remote.Options{Server: "the server", CA: remote.Authorities{PEM: certificateOf(server)}, HTTP1: http1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(way.CloseIdleConnections)
		before := connections()
		ask := func(made int) {
			t.Helper()
			response, err := get(t, way.Client(), server.URL)
			if err != nil {
				t.Fatal(err)
			}
			if proto, err := io.ReadAll(response.Body); string(proto) != want || err != nil {
				t.Errorf("the protocol is %s (%v), want %s", proto, err, want)
			}
			if n := connections() - before; n != made {
				t.Errorf("%d connections over %s, want %d", n, want, made)
			}
		}
		ask(1)
		ask(1)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/silent", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := way.Client().Do(request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call without an answer = %v", err)
		}
		ask(2)
	}
}

// Nothing older than TLS 1.2 is spoken, even to a server that has nothing newer.
func TestOldTLSIsRefused(t *testing.T) {
	for version, spoken := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version} //nolint:gosec // the old server is the point
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		if _, err := get(t, to(t, loopback(), server).Client(), server.URL); (err == nil) != spoken {
			t.Errorf("Get from a server that speaks %s at most = %v", tls.VersionName(version), err)
		}
	}
}

// The bound is on calls, not on connections: over HTTP/2 one connection has many.
func TestCallsAtATimeAreBounded(t *testing.T) {
	const bound, wanted = 32, 80
	arrived, release := make(chan struct{}, wanted), make(chan struct{})
	server, _ := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			arrived <- struct{}{}
			<-release
		}
	})
	client := to(t, loopback(), server).Client()
	ask := func(client *http.Client, path string) {
		if _, err := get(t, client, server.URL+path); err != nil {
			t.Errorf("Get %s: %v", path, err)
		}
	}
	ask(client, "/") // one connection to share
	var calls sync.WaitGroup
	for range wanted {
		calls.Go(func() { ask(client, "/busy") })
	}
	for range bound {
		<-arrived
	}
	// Were there no bound, the others would arrive before calls that begin after them,
	// and connect first.
	for range 3 {
		ask(to(t, loopback(), server).Client(), "/")
	}
	if n := len(arrived); n != 0 {
		t.Errorf("%d calls arrived beside the %d that are under way", n, bound)
	}
	close(release)
	calls.Wait()
	if n := len(arrived); n != wanted-bound {
		t.Errorf("%d calls arrived after the first %d, want all the others", n, bound)
	}
}

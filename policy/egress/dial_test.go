package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy/egress"
)

func loopback() *egress.Rules {
	rules := egress.Default()
	rules.AllowLoopback = true
	return rules
}

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

func trust(server *httptest.Server) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return &tls.Config{RootCAs: pool}
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
	client := egress.Default().Client(trust(server), 0)
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

	resp, err := get(t, loopback().Client(trust(server), 0), server.URL)
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
	rules.Ports = []egress.PortRange{{443, 443}}
	if _, err := get(t, rules.Client(trust(server), 0), server.URL); !errors.Is(err, egress.ErrRefused) {
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
	resp, err := get(t, loopback().Client(trust(server), 0), server.URL)
	if err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("Get = %v, %v, want the answer 307 itself", resp, err)
	}
	if n := reached(); n != 0 {
		t.Errorf("%d connections reached the target of the redirect, want 0", n)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	if loopback().Transport(nil).Proxy != nil {
		t.Error("the transport has a proxy function; net/http caches the environment, so this is looked at directly")
	}
}

func TestHeadersAreBounded(t *testing.T) {
	server, _ := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	if resp, err := get(t, loopback().Client(trust(server), 0), server.URL); err == nil {
		t.Errorf("Get = %v with 1 MiB of headers, want an error", resp.Status)
	}
}

func TestTransportLeavesTheTLSConfigAlone(t *testing.T) {
	server, _ := newServer(t, func(http.ResponseWriter, *http.Request) {})
	config := trust(server)
	if _, err := get(t, loopback().Client(config, 0), server.URL); err != nil {
		t.Fatal(err)
	}
	if config.MinVersion != 0 || config.NextProtos != nil {
		t.Errorf("the caller's tls.Config has become %+v", config)
	}
	if v := loopback().Transport(&tls.Config{MinVersion: tls.VersionTLS13}).TLSClientConfig.MinVersion; v != tls.VersionTLS13 {
		t.Errorf("MinVersion = %x, want the caller's stricter one", v)
	}
	if v := loopback().Transport(&tls.Config{MinVersion: tls.VersionTLS10}).TLSClientConfig.MinVersion; v != tls.VersionTLS12 {
		t.Errorf("MinVersion = %x, want TLS 1.2", v)
	}
}

func TestDialContextDialsTCPOnly(t *testing.T) {
	for _, network := range []string{"udp", "unix", "ip4:icmp", "", "tcp5"} {
		conn, err := loopback().DialContext(t.Context(), network, "127.0.0.1:8080")
		if !errors.Is(err, egress.ErrRefused) {
			t.Errorf("DialContext(%q) = %v, %v, want ErrRefused", network, conn, err)
		}
	}
}

func TestDialContextHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if conn, err := loopback().DialContext(ctx, "tcp", "127.0.0.1:8080"); !errors.Is(err, context.Canceled) {
		t.Errorf("DialContext = %v, %v, want context.Canceled", conn, err)
	}
}

// A name is checked by what it resolves to at the time of connecting, whatever a
// check at registration saw. localhost is the one name every machine resolves.
func TestNamesAreCheckedAfterResolution(t *testing.T) {
	var refused *egress.RefusedError
	conn, err := egress.Default().DialContext(t.Context(), "tcp", "localhost:8080")
	if !errors.As(err, &refused) {
		t.Fatalf("DialContext(localhost) = %v, %v, want a RefusedError", conn, err)
	}
	if !refused.Addr.Addr().IsLoopback() || refused.Addr.Port() != 8080 {
		t.Errorf("the refusal names %s, want the address that localhost resolved to", refused.Addr)
	}
	if refused.Addr == (netip.AddrPort{}) {
		t.Error("the refusal names no address")
	}
}

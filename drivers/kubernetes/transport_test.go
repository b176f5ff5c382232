package kubernetes_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// Over a connection that shows the VIM's client certificate, every token looks good.
func TestDeadDoesNotShowTheClientCertificate(t *testing.T) {
	l := newTLSLab(t)
	a := l.as(broker.Credential{ClientCertificate: l.AdminCert, ClientKey: secret.NewText(l.AdminKey)})
	if _, err := l.driver.Check(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	dead, err := l.driver.Dead(t.Context(), a, broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("nonsense")})
	if err != nil || !dead {
		t.Errorf("Dead of a token that no one issued = %v, %v, want true", dead, err)
	}
	l.Requests()
	if _, err := l.driver.Check(t.Context(), a); err != nil {
		t.Errorf("Check after Dead: %v", err)
	}
	for _, r := range l.Requests() {
		if r.Credential != "certificate" {
			t.Errorf("%s %s came with %q, want the certificate", r.Method, r.Path, r.Credential)
		}
	}
}

// A new credential that was never stored is tried under the number of the next
// generation, as often as people get it wrong.
func TestConnectionIsNotSharedBetweenCertificates(t *testing.T) {
	l := newTLSLab(t)
	good := l.as(broker.Credential{ClientCertificate: l.AdminCert, ClientKey: secret.NewText(l.AdminKey)})
	if _, err := l.driver.Check(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	id := newIdentity(t)
	bad := l.as(broker.Credential{ClientCertificate: string(id.client.Cert), ClientKey: secret.NewText(string(id.client.Key))})
	bad.VIM = good.VIM
	_, err := l.driver.Check(t.Context(), bad)
	want(t, "Check with a stranger's certificate", err, broker.ErrUnauthorized)
}

// The pool keeps the connection, and not the credential with its key: that is
// nobody's once the call is over.
func TestNoCredentialStaysWithTheConnection(t *testing.T) {
	ca, err := pki.NewCA("clients")
	if err != nil {
		t.Fatal(err)
	}
	s := quiet(httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nothing(w, r)
	})))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool()}
	s.StartTLS()
	t.Cleanup(s.Close)
	d := kubernetes.New(kubernetes.Options{})
	t.Cleanup(d.Close)

	collected := make(chan struct{})
	a := callWithKey(t, d, s, ca, collected)
	deadline := time.After(20 * time.Second)
	for done := false; !done; {
		runtime.GC()
		select {
		case <-collected:
			done = true
		case <-deadline:
			t.Fatal("the call's credential is still held while its connection is idle")
		default:
		}
	}
	// Without its key the credential can be used only over the connection that stands.
	if _, err := d.Inventory(t.Context(), a); err != nil {
		t.Errorf("the connection was not kept, so nothing is shown: %v", err)
	}
}

// callWithKey makes one call with a new client certificate, and closes collected
// when the call's credential is garbage. It returns the access without the key.
//
//go:noinline
func callWithKey(t *testing.T, d *kubernetes.Driver, s *httptest.Server, ca *pki.CA, collected chan struct{}) broker.Access {
	pair, err := ca.Client("admin", nil, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	a := accessTo(t, broker.Registration{
		Endpoint: s.URL, CACert: certificateOf(s),
		Credential: broker.Credential{ClientCertificate: string(pair.Cert), ClientKey: secret.NewText(string(pair.Key))},
	})
	keyless := a
	keyless.Credential.ClientKey = secret.Text{}
	// Of the credential's own strings the certificate is the one that can be watched.
	watched := bytes.Clone([]byte(a.Credential.ClientCertificate))
	runtime.AddCleanup(&watched[0], func(c chan struct{}) { close(c) }, collected)
	a.Credential.ClientCertificate = unsafe.String(&watched[0], len(watched))
	if _, err := d.Inventory(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return keyless
}

// client-go sleeps as long as a server tells it to, and asks again, ten times.
func TestRetryAfterIsLeftToTheCaller(t *testing.T) {
	l := newLab(t)
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		l.fail(fake.Fault{Kind: fake.Refuse, Status: status, RetryAfter: time.Hour})
		l.Requests()
		_, err := l.driver.Inventory(within(t, 10*time.Second), l.access)
		want(t, "Inventory that is to wait", err, broker.ErrUnreachable)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the driver waited out its deadline on a %d", status)
		}
		if n := len(l.Requests()); n != 1 {
			t.Errorf("a %d was asked for %d times, want once", status, n)
		}
		l.Heal()
	}
}

// client-go repeats a GET ten times when its connection breaks.
func TestABrokenConnectionIsTriedOnce(t *testing.T) {
	breaks := map[string]func(net.Conn){
		"closed": func(c net.Conn) { _ = c.Close() },
		"reset": func(c net.Conn) {
			if tcp, ok := c.(*tls.Conn).NetConn().(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		},
	}
	for how, breakIt := range breaks {
		t.Run(how, func(t *testing.T) {
			var requests atomic.Int32
			s := quiet(httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				breakIt(c)
			})))
			s.StartTLS() // HTTP/1.1, where a connection breaks with its request
			t.Cleanup(s.Close)
			a := accessTo(t, broker.Registration{
				Endpoint: s.URL, CACert: certificateOf(s), Credential: broker.Credential{Token: secret.NewText(canary)},
			})
			d := kubernetes.New(kubernetes.Options{})
			t.Cleanup(d.Close)
			_, err := d.Inventory(within(t, 30*time.Second), a)
			want(t, "Inventory over a connection that breaks", err, broker.ErrUnreachable)
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests arrived, want one", n)
			}
		})
	}
}

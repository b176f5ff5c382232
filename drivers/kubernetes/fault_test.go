package kubernetes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// calls are all methods that talk to the VIM, on a lease that was issued.
func (l *lab) calls(g broker.Grant, m broker.Minted) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Check": func(ctx context.Context) error {
			_, err := l.driver.Check(ctx, l.access)
			return err
		},
		"Issue": func(ctx context.Context) error {
			_, err := l.driver.Issue(ctx, l.access, l.grant("view"))
			return err
		},
		"first Issue": func(ctx context.Context) error {
			_, err := l.driver.Issue(ctx, l.access, l.grant("edit", "default"))
			return err
		},
		"Renew": func(ctx context.Context) error {
			_, err := l.driver.Renew(ctx, l.access, g)
			return err
		},
		"Revoke": func(ctx context.Context) error {
			return l.driver.Revoke(ctx, l.access, broker.Issued{Handle: g.Handle, Grant: g})
		},
		"Dead": func(ctx context.Context) error {
			dead, err := l.driver.Dead(ctx, l.access, m.Credential)
			if dead {
				return errors.New("the token lives and is called dead")
			}
			return err
		},
		"Inventory": func(ctx context.Context) error {
			_, err := l.driver.Inventory(ctx, l.access)
			return err
		},
		"Forget": func(ctx context.Context) error { return l.driver.Forget(ctx, l.access) },
	}
}

// "any 400 counts as revoked", "404 there counts as success": whatever stands in
// front of the API server and answers in its place, no call takes that for an answer.
func TestNoAnswerButTheAPIServersCounts(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	for _, status := range []int{200, 400, 403, 404, 409, 410, 422} {
		l.fail(fake.Fault{Kind: fake.HTML, Status: status})
		for name, call := range l.calls(g, m) {
			want(t, fmt.Sprintf("%s, answered by a page with %d", name, status), call(t.Context()), broker.ErrUnreachable)
		}
		l.Heal()
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
		t.Errorf("after all that Dead = %v, %v, want the lease to live", dead, err)
	}
}

func TestFaultsSayWhatIsWrong(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	id := newIdentity(t)
	expired, good := serverOf(t, id.ca, -time.Hour), serverOf(t, id.ca, time.Hour)
	registered := func(endpoint, ca string) broker.Access {
		return accessTo(t, broker.Registration{Endpoint: endpoint, CACert: ca, Credential: broker.Credential{Token: secret.NewText(canary)}})
	}
	for name, c := range map[string]struct {
		access func(t *testing.T) broker.Access
		kind   error
		detail string
	}{
		"wrong CA": {func(t *testing.T) broker.Access {
			s, _ := serve(t, ok)
			return registered(s.URL, string(id.otherCA.PEM))
		}, broker.ErrUnreachable, "not signed by the given CA"},
		"the system's CAs": {func(t *testing.T) broker.Access {
			s, _ := serve(t, ok)
			return registered(s.URL, "")
		}, broker.ErrUnreachable, "not signed by the given CA"},
		"expired": {func(t *testing.T) broker.Access {
			return registered(serveAs(t, expired).URL, string(id.ca.PEM))
		}, broker.ErrUnreachable, "has expired"},
		"another name": {func(t *testing.T) broker.Access {
			a := registered(serveAs(t, good).URL, string(id.ca.PEM))
			a.Target.ServerName = "other.example"
			return a
		}, broker.ErrUnreachable, "for another name"},
		"no TLS": {func(t *testing.T) broker.Access {
			s := quiet(httptest.NewUnstartedServer(ok))
			s.Start()
			t.Cleanup(s.Close)
			return registered(strings.Replace(s.URL, "http:", "https:", 1), "")
		}, broker.ErrUnreachable, "does not speak TLS"},
		"wants a client certificate": {func(t *testing.T) broker.Access {
			s := quiet(httptest.NewUnstartedServer(ok))
			s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: id.ca.Pool()}
			s.StartTLS()
			t.Cleanup(s.Close)
			return registered(s.URL, certificateOf(s))
		}, broker.ErrUnauthorized, "refuses the client certificate"},
		"nothing listens": {func(t *testing.T) broker.Access {
			s, a := serve(t, ok)
			s.Close()
			return a
		}, broker.ErrUnreachable, "refuses connections"},
		"no such name": {func(*testing.T) broker.Access {
			return registered("https://nowhere.invalid", "")
		}, broker.ErrUnreachable, "cannot be resolved"},
		"egress rules": {func(t *testing.T) broker.Access {
			_, a := serve(t, ok)
			a.Egress = egress.Default()
			return a
		}, broker.ErrUnreachable, "egress rules refuse"},
		"no answer": {func(t *testing.T) broker.Access {
			_, a := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			return a
		}, broker.ErrUnreachable, "in time"},
		"another's JSON": {func(t *testing.T) broker.Access {
			_, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"hello":%q}`, canary)
			}))
			return a
		}, broker.ErrUnreachable, "does not answer as a Kubernetes API server"},
		"a failing Status": {func(t *testing.T) broker.Access {
			_, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":"Invalid","code":422}`, canary)
			}))
			return a
		}, broker.ErrInvalid, "invalid (422)"},
	} {
		t.Run(name, func(t *testing.T) {
			d := kubernetes.New(kubernetes.Options{})
			defer d.Close()
			ctx := within(t, time.Minute)
			if name == "no answer" {
				ctx = within(t, 2*time.Second)
			}
			_, err := d.Check(ctx, c.access(t))
			want(t, "Check", err, c.kind)
			if err != nil && !strings.Contains(err.Error(), c.detail) {
				t.Errorf("Check says %q, want it to say %q", err, c.detail)
			}
		})
	}
}

// A caller that gave up finds its own reason in the error.
func TestCancelledCallSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, a := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	_, err := kubernetes.New(kubernetes.Options{}).Inventory(ctx, a)
	want(t, "Inventory", err, broker.ErrUnreachable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap context.Canceled", err)
	}
}

// serverOf issues a certificate for loopback that ends so long from now.
func serverOf(t *testing.T, ca *pki.CA, left time.Duration) tls.Certificate {
	t.Helper()
	pair, err := ca.Server("127.0.0.1")
	if left < 0 {
		pair, err = ca.Client("127.0.0.1", nil, time.Now().Add(left))
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serveAs(t *testing.T, c tls.Certificate) *httptest.Server {
	t.Helper()
	s := quiet(httptest.NewUnstartedServer(http.NotFoundHandler()))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// The target of the redirect has the certificate that the driver trusts, so that
// only the refusal to follow keeps the credential from it.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var reached atomic.Int32
		target, _ := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
		s, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.URL+r.URL.Path, status)
		}))
		if certificateOf(s) != certificateOf(target) {
			t.Fatal("the driver does not trust the target: nothing is shown")
		}
		l := &lab{t: t, driver: kubernetes.New(kubernetes.Options{}), access: a}
		g := l.grant("view")
		m := broker.Minted{Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(canary)}}
		for method, call := range l.calls(g, m) {
			want(t, fmt.Sprintf("%s with a redirect (%d)", method, status), call(t.Context()), broker.ErrUnreachable)
		}
		l.driver.Close()
		if n := reached.Load(); n > 0 {
			t.Errorf("%d requests followed a redirect (%d)", n, status)
		}
	}
}

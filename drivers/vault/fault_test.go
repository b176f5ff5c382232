package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// calls are all that a store can be asked.
func calls(t *testing.T, s *vault.Store, ref secret.Ref) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { _, err := s.Get(ctx, ref); return err },
		"Put":    func(ctx context.Context) error { _, err := s.Put(ctx, newOwner(), newKey(t)); return err },
		"Delete": func(ctx context.Context) error { _, err := s.Delete(ctx, ref); return err },
		"List":   func(ctx context.Context) error { _, err := s.List(ctx, ""); return err },
		"Check":  s.Check,
	}
}

// Each fault comes out as the right sentinel with the reason in our words; none
// of what Vault answered, no token and no secret id is in any error or log; and
// once the fault is over everything works, with the same store.
func TestFaultsAreTypedAndRecoveredFrom(t *testing.T) {
	refuse := func(status int) fake.Fault { return fake.Fault{Kind: fake.Refuse, Status: status} }
	for _, tc := range []struct {
		name   string
		fault  fake.Fault
		kind   error
		reason string
	}{
		{"sealed", fake.Fault{Kind: fake.JSON, Status: 503, Body: `{"errors":["Vault is sealed"]}`}, secret.ErrUnavailable, "Vault is sealed; unseal it"},
		{"maintenance", refuse(503), secret.ErrUnavailable, "down for maintenance"},
		{"balancer", fake.Fault{Kind: fake.HTML, Status: 503}, secret.ErrUnavailable, "down for maintenance"},
		{"rate", refuse(429), secret.ErrUnavailable, "limits the rate"},
		{"disaster recovery", refuse(472), secret.ErrUnavailable, "standby"},
		{"performance standby", refuse(473), secret.ErrUnavailable, "standby"},
		{"behind", refuse(412), secret.ErrUnavailable, "caught up"},
		{"not initialised", refuse(501), secret.ErrUnavailable, "not initialised; initialise it"},
		{"inside", refuse(500), secret.ErrUnavailable, "fails inside"},
		{"gateway", fake.Fault{Kind: fake.HTML, Status: 502}, secret.ErrUnavailable, "no answer"},
		{"gateway's patience", fake.Fault{Kind: fake.HTML, Status: 504}, secret.ErrUnavailable, "no answer in time"},
		{"teapot", refuse(418), secret.ErrUnavailable, "unexpected status 418"},
		{"drop", fake.Fault{Kind: fake.Drop}, secret.ErrUnavailable, "connection to Vault broke"},
		{"hang", fake.Fault{Kind: fake.Hang}, secret.ErrUnavailable, "does not answer in time"},
		{"huge", fake.Fault{Kind: fake.Huge}, secret.ErrUnavailable, ""},
		{"redirect", fake.Fault{Kind: fake.Redirect, Location: "127.0.0.1:1"}, secret.ErrUnavailable, "redirects"},
		{"policy", refuse(403), secret.ErrForbidden, "deploy/vault-policy.hcl"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakevault.New(t, nil)
			o := optionsFor(t, f)
			var logged bytes.Buffer
			o.Log = testlog.To(t, slog.NewTextHandler(&logged, nil))
			o.Timeout = 2 * time.Second
			if tc.fault.Kind == fake.Hang {
				o.Timeout = 500 * time.Millisecond
			}
			s := mustOpen(t, o)
			ref, key := mustPut(t, s)
			tc.fault.Path, tc.fault.Times = "^/v1/secret/", -1
			f.Fail(tc.fault)
			for name, call := range calls(t, s, ref) {
				err := call(t.Context())
				if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.reason) {
					t.Errorf("%s = %v, want %v because %q", name, err, tc.kind, tc.reason)
				}
				if errors.Is(err, secret.ErrNotFound) || errors.Is(err, secret.ErrCorrupt) {
					t.Errorf("%s = %v, which says something of the key", name, err)
				}
				wantNoLeak(t, f, fmt.Sprintf("%v %+v %#v", err, err, err))
			}
			f.Heal()
			wantKey(t, s, ref, key)
			if err := s.Check(t.Context()); err != nil {
				t.Errorf("Check after the fault = %v, want nil", err)
			}
			wantNoLeak(t, f, logged.String())
		})
	}
}

func wantNoLeak(t *testing.T, f *fakevault.Server, text string) {
	t.Helper()
	leaks := map[string]string{fake.Canary: "what Vault answered", f.SecretID(): "the secret id"}
	for _, r := range f.Requests() {
		if r.Header.Get("X-Vault-Token") != "" {
			leaks[r.Header.Get("X-Vault-Token")] = "a token"
		}
	}
	for leak, what := range leaks {
		if strings.Contains(text, leak) {
			t.Errorf("shows %s: %s", what, text)
		}
	}
}

// A cancelled call is that, and nobody's fault.
func TestCancelledCallIsNotUnavailable(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, _ := mustPut(t, s)
	reached := make(chan struct{}, 1)
	f.Fail(fake.Fault{Path: "^/v1/secret/", Kind: fake.Hang, Times: -1, Reached: func() { reached <- struct{}{} }})
	for name, call := range calls(t, s, ref) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		<-reached
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, secret.ErrUnavailable) {
			t.Errorf("%s = %v, want that it was cancelled", name, err)
		}
	}
}

// A standby's redirect is followed to the cluster's nodes, and to nowhere else.
func TestRedirectsAreFollowedWithinTheCluster(t *testing.T) {
	active, standby := fakevault.New(t, nil), fakevault.New(t, nil)
	u, err := url.Parse(active.Address)
	if err != nil {
		t.Fatal(err)
	}
	o := optionsFor(t, active)
	o.Address, o.CACert = standby.Address, standby.CA+active.CA
	redirect := fake.Fault{Kind: fake.Redirect, Location: u.Host, Times: -1}
	standby.Fail(redirect)
	s := mustOpen(t, o)
	if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("Check = %v, want that it is redirected", err)
	}
	if asked := active.Requests(); len(asked) != 0 {
		t.Fatalf("the other server was asked %v", asked)
	}
	o.Peers = []string{"https://another.example:8200", active.Address}
	s = mustOpen(t, o)
	ref, key := mustPut(t, s)
	wantKey(t, s, ref, key)
	// Where a standby says to go is taken for the host only.
	standby.Heal()
	standby.Fail(fake.Fault{Kind: fake.Redirect, Location: active.Address + "/v1/sys/seal?a=b", Times: -1})
	wantKey(t, s, ref, key)
	standby.Heal()
	// Nor does it go in the clear, or round in circles.
	standby.Fail(fake.Fault{Kind: fake.Redirect, Location: "http://" + u.Host + "/", Times: -1})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Get with a redirect to http = %v, want ErrUnavailable", err)
	}
	standby.Heal()
	standby.Fail(redirect)
	active.Fail(redirect)
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("Get with a redirect in circles = %v, want ErrUnavailable", err)
	}
	for _, r := range active.Requests() {
		if strings.HasPrefix(r.Path, "/v1/sys/") {
			t.Errorf("asked for %s, where the redirect pointed", r.Path)
		}
	}
}

func TestTLSFaultsSayWhatIsWrong(t *testing.T) {
	f := fakevault.New(t, nil)
	for reason, change := range map[string]func(*vault.Options){
		"not signed by the given CA": func(o *vault.Options) { o.CACert = fakevault.New(t, nil).CA },
		"is for another name":        func(o *vault.Options) { o.TLSServerName = "vault.example" },
		"cannot be used":             func(o *vault.Options) { o.CACert, o.CAFile = "", "/nonexistent/ca.pem" },
		"does not speak TLS":         func(o *vault.Options) { o.Address = plainListener(t) },
		"connection refused":         func(o *vault.Options) { o.Address = "https://127.0.0.1:1" },
	} {
		o := optionsFor(t, f)
		change(&o)
		s := mustOpen(t, o)
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), reason) {
			t.Errorf("Check = %v, want ErrUnavailable because %q", err, reason)
		}
	}
}

// plainListener is a server that speaks no TLS.
func plainListener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail.example ESMTP\r\n"))
			_ = conn.Close()
		}
	}()
	return "https://" + l.Addr().String()
}

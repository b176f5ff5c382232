package barbican_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const tokensPath = "/identity/v3/auth/tokens"

func logins(f *fakebarbican.Server) int { return f.Count("POST", tokensPath) }

// Open asks no one, and calls that come together share one login.
func TestLoginIsLazyAndShared(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	if n := len(f.Requests()); n != 0 {
		t.Errorf("Open made %d requests, want none", n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.List(t.Context(), ""); err != nil {
				t.Errorf("List = %v", err)
			}
		})
	}
	wg.Wait()
	if n := logins(f); n != 1 {
		t.Errorf("logged in %d times, want once", n)
	}
}

// A token that Barbican no longer accepts costs one login; one that it never
// accepts costs no second.
func TestTokenIsReplacedOnce(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	f.RevokeTokens()
	wantKey(t, s, ref, key)
	if n := logins(f); n != 2 {
		t.Errorf("logged in %d times, want twice", n)
	}
	f.RevokeTokens()
	mustPut(t, s) // the write is repeated: it was not carried out
	if n := logins(f); n != 3 {
		t.Errorf("logged in %d times, want three times", n)
	}
	f.Fail(fake.Fault{Path: "^/v1/", Kind: fake.Refuse, Status: 401, Times: -1})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) {
		t.Errorf("Get with tokens that Barbican never accepts = %v, want ErrForbidden", err)
	}
	if n := logins(f); n != 4 {
		t.Errorf("logged in %d times, want four times", n)
	}
}

// A token is replaced before it expires; while Keystone is away it serves to its end.
func TestTokenIsRenewedInTime(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	f := fakebarbican.New(t, clock)
	o := optionsFor(t, f)
	o.Now = clock
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	pass(44 * time.Minute)
	wantKey(t, s, ref, key)
	if n := logins(f); n != 1 {
		t.Errorf("logged in %d times in the first three quarters of the token's life, want once", n)
	}
	pass(2 * time.Minute)
	f.Fail(fake.Fault{Path: "^/identity/", Kind: fake.Refuse, Status: 503, Times: -1})
	wantKey(t, s, ref, key)
	wantKey(t, s, ref, key)
	if n := logins(f); n != 2 {
		t.Errorf("logged in %d times, want one attempt for the while", n)
	}
	pass(14*time.Minute - 5*time.Second)
	wantKey(t, s, ref, key)
	if n := logins(f); n != 3 {
		t.Errorf("logged in %d times, want another attempt just before the end", n)
	}
	pass(5 * time.Second) // so soon after a failure that a token with some life left would do
	f.Requests()
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Get without Keystone, the token expired = %v, want ErrUnavailable", err)
	}
	for _, r := range f.Requests() {
		if !strings.HasPrefix(r.Path, "/identity/") {
			t.Errorf("%s %s with an expired token", r.Method, r.Path)
		}
	}
	f.Heal()
	wantKey(t, s, ref, key)
	pass(time.Hour)
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("Close = %v", err)
	}
	if n := f.Count("DELETE", tokensPath); n != 0 {
		t.Error("Close revokes a token that has expired")
	}
}

// A refused login is not repeated with the same password for a while, and is with
// another at once.
func TestRefusedLogin(t *testing.T) {
	now := time.Now()
	f := fakebarbican.New(t, nil)
	o := optionsFor(t, f)
	o.Now = func() time.Time { return now }
	var log bytes.Buffer
	o.Log = testlog.To(t, slog.NewTextHandler(&log, nil))
	f.NewPassword()
	s := mustOpen(t, o)
	refused := func(attempts int) {
		t.Helper()
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "refuses the login") {
			t.Errorf("Check = %v, want that the login is refused", err)
		}
		if n := logins(f); n != attempts {
			t.Errorf("%d logins, want %d", n, attempts)
		}
	}
	refused(1)
	refused(1)
	now = now.Add(10 * time.Second)
	refused(2)
	now = now.Add(10 * time.Second) // the second pause is twice as long
	refused(2)
	now = now.Add(10 * time.Second)
	refused(3)
	writeFile(t, o.Auth.Password.PasswordFile, f.Password())
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check with the right password in the file = %v, want nil", err)
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("the log has %d lines, want one of the loss and one of the return:\n%s", n, &log)
	}
	if strings.Contains(log.String(), f.Password()) {
		t.Error("the log holds the password")
	}
	writeFile(t, o.Auth.Password.PasswordFile, " \n")
	if err := mustOpen(t, o).Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("Check with an empty file = %v, want ErrForbidden that says so", err)
	}
}

func TestLoginFaults(t *testing.T) {
	for _, c := range []struct {
		fault fake.Fault
		kind  error
		text  string
	}{
		{fake.Fault{Kind: fake.Refuse, Status: 404}, secret.ErrForbidden, "refuses the login"}, // an application credential that was deleted
		{fake.Fault{Kind: fake.Refuse, Status: 403}, secret.ErrForbidden, "forbids the login"},
		{fake.Fault{Kind: fake.HTML, Status: 404}, secret.ErrUnavailable, "not Keystone"},
		{fake.Fault{Kind: fake.JSON, Status: 201, Body: `{"token":{}}`}, secret.ErrUnavailable, "not Keystone"},
		{fake.Fault{Kind: fake.Custom, Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Subject-Token", "t")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"token":{"user":{"id":"u"},"project":{"id":7}}}`)
		}}, secret.ErrUnavailable, "not Keystone"},
		{fake.Fault{Kind: fake.HTML, Status: 201}, secret.ErrUnavailable, "not Keystone"},
		{fake.Fault{Kind: fake.Refuse, Status: 429}, secret.ErrUnavailable, "rate"},
		{fake.Fault{Kind: fake.Redirect, Location: "127.0.0.1:1"}, secret.ErrUnavailable, "redirects"},
		{fake.Fault{Kind: fake.Huge}, secret.ErrUnavailable, "longer than"},
		{fake.Fault{Kind: fake.Drop}, secret.ErrUnavailable, "the connection to Keystone broke"},
		{fake.Fault{Kind: fake.Hang}, secret.ErrUnavailable, "in time"},
	} {
		t.Run(fmt.Sprint(c.fault.Kind, c.fault.Status), func(t *testing.T) {
			f := fakebarbican.New(t, nil)
			o := optionsFor(t, f)
			if c.fault.Kind == fake.Hang {
				o.Timeout = 500 * time.Millisecond
			}
			c.fault.Path = "^/identity/"
			f.Fail(c.fault)
			s := mustOpen(t, o)
			err := s.Check(t.Context())
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), fake.Canary) {
				t.Errorf("Check = %v, want %v with %q", err, c.kind, c.text)
			}
			if errors.Is(err, secret.ErrNotFound) {
				t.Errorf("Check = %v, which speaks of a key", err)
			}
		})
	}
}

// The file of authorities is read again when it changes.
func TestAuthorities(t *testing.T) {
	f := fakebarbican.New(t, nil)
	o := optionsFor(t, f)
	writeFile(t, o.CAFile, fakebarbican.New(t, nil).CA)
	s := mustOpen(t, o)
	check := func(text string) {
		t.Helper()
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), text) {
			t.Errorf("Check = %v, want ErrUnavailable with %q", err, text)
		}
	}
	check("not signed by the given CA")
	writeFile(t, o.CAFile, "nothing")
	check("there are none")
	writeFile(t, o.CAFile, f.CA+"\n")
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check with the right authority = %v, want nil", err)
	}
}

func TestCloseRevokesTheToken(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s, err := barbican.Open(optionsFor(t, f))
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s)
	if f.Tokens() != 1 {
		t.Fatalf("%d tokens, want one", f.Tokens())
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
	}
	if f.Tokens() != 0 {
		t.Errorf("%d tokens after Close, want none", f.Tokens())
	}
}

func TestLoginByApplicationCredential(t *testing.T) {
	f := fakebarbican.New(t, nil)
	o := optionsFor(t, f)
	o.Auth = keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{
		ID: fakebarbican.AppCredID, SecretFile: o.Auth.Password.PasswordFile,
	}}
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	wantKey(t, s, ref, key)
	f.NewPassword()
	f.RevokeTokens()
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) {
		t.Errorf("Get with the secret of before = %v, want ErrForbidden", err)
	}
}

package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
)

const loginPath = "/v1/auth/approle/login"

// timed is a fake and a store that share a clock.
func timed(t *testing.T) (*fakevault.Server, *clock.Clock, vault.Options) {
	t.Helper()
	c := clock.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	f := fakevault.New(t, c.Now)
	o := optionsFor(t, f)
	o.Now = c.Now
	return f, c, o
}

func wantLogins(t *testing.T, f *fakevault.Server, want int) {
	t.Helper()
	if n := f.Count("PUT", loginPath); n != want {
		t.Errorf("logged in %d times so far, want %d", n, want)
	}
}

// At the end of its life a token is not used any more, whatever Vault would say.
func TestTokenIsNotUsedPastItsLife(t *testing.T) {
	f, c, o := timed(t)
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	c.Add(time.Hour - time.Second)
	wantKey(t, s, ref, key)
	wantLogins(t, f, 1)
	c.Add(time.Second)
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 500, Times: -1})
	f.Requests()
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "logging in") {
		t.Errorf("Get with no way to log in = %v, want ErrUnavailable", err)
	}
	for _, r := range f.Requests() {
		if r.Path != loginPath {
			t.Errorf("%s %s was asked for with an expired token", r.Method, r.Path)
		}
	}
	f.Heal()
	wantKey(t, s, ref, key)
}

func TestOneLoginServesAllWhoNeedIt(t *testing.T) {
	f, _, o := timed(t)
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	for round := range 5 {
		f.RevokeTokens()
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { wantKey(t, s, ref, key) })
		}
		wg.Wait()
		wantLogins(t, f, round+2)
	}
}

// A policy that allows nothing, not even a look at the token, does not make a
// login of every call.
func TestTokenThatNeverWorkedIsKeptAWhile(t *testing.T) {
	f, c, o := timed(t)
	s := mustOpen(t, o)
	f.Fail(fake.Fault{Path: "^/v1/(secret/|auth/token/)", Kind: fake.Refuse, Status: 403, Times: -1})
	for logins := 1; logins < 4; logins++ {
		for range 5 {
			if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) {
				t.Errorf("Check = %v, want ErrForbidden", err)
			}
			wantLogins(t, f, logins)
		}
		c.Add(10 * time.Second)
		_ = s.Check(t.Context()) // takes the token for revoked, and logs in
	}
}

// A login that Vault refused is not repeated so fast that Vault locks the role,
// and is repeated at once when there is another credential.
func TestRefusedLoginIsNotRepeatedAtOnce(t *testing.T) {
	f, c, o := timed(t)
	fresh := f.NewSecretID()
	s := mustOpen(t, o)
	refused := func(logins int) {
		t.Helper()
		for range 3 {
			if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "Vault refuses the login; give the server a new secret id") {
				t.Errorf("Check = %v, want ErrForbidden", err)
			}
		}
		wantLogins(t, f, logins)
	}
	refused(1)
	for i, pause := range []time.Duration{time.Minute, 4 * time.Minute, 16 * time.Minute, 16 * time.Minute} {
		c.Add(pause - time.Second)
		refused(i + 1)
		c.Add(time.Second)
		refused(i + 2)
	}
	writeFile(t, o.Auth.AppRole.SecretIDFile, fresh)
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check with the new secret id = %v, want nil", err)
	}
	wantLogins(t, f, 6)
	// Refusals of before one that succeeded count no more.
	for _, logins := range []int{7, 10} {
		f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 400, Times: 100})
		c.Add(30 * 24 * time.Hour) // the session is over
		refused(logins)
		c.Add(time.Minute)
		refused(logins + 1)
		f.Heal()
		c.Add(4 * time.Minute)
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("Check with a secret id that is taken again = %v, want nil", err)
		}
		wantLogins(t, f, logins+2)
	}
}

// A login that hangs holds nobody longer than they want to wait.
func TestLoginHonoursDeadlines(t *testing.T) {
	f, _, o := timed(t)
	o.Timeout = 5 * time.Second
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 500})
	s := mustOpen(t, o)
	reached := make(chan struct{}, 1)
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Hang, Reached: func() { reached <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Check(ctx) }()
	<-reached
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Check = %v, want that it was cancelled", err)
	}
	f.Heal() // breaks the login that hangs; who comes next logs in
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		// The broken login may still be the one that is waited for.
		err := s.Check(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("Check = %v, want nil", err)
		}
	}
}

func TestLoginAnswersThatAreNone(t *testing.T) {
	for body, want := range map[string]error{
		`{"auth":null}`:               secret.ErrUnavailable,
		`{}`:                          secret.ErrUnavailable,
		`<html>`:                      secret.ErrUnavailable,
		`{"auth":{"client_token":7}}`: secret.ErrUnavailable,
		`{"auth":{"client_token":"","mfa_requirement":{}}}`: secret.ErrForbidden,
	} {
		f, _, o := timed(t)
		f.Fail(fake.Fault{Path: loginPath, Kind: fake.JSON, Status: 200, Body: body, Times: 2})
		s := mustOpen(t, o)
		if err := s.Check(t.Context()); !errors.Is(err, want) {
			t.Errorf("Check after a login answered with %s = %v, want %v", body, err, want)
		}
	}
}

// Files of credentials may come late and change.
func TestCredentialFiles(t *testing.T) {
	f, _, o := timed(t)
	file := o.Auth.AppRole.SecretIDFile
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, o)
	wantReason := func(reason string) {
		t.Helper()
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), reason) {
			t.Errorf("Check = %v, want ErrUnavailable because %q", err, reason)
		}
	}
	wantReason("is missing")
	writeFile(t, file, " \n")
	wantReason("is empty")
	writeFile(t, file, strings.Repeat("x", 1<<20))
	wantReason("cannot be read")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	wantReason("cannot be read")
	wantLogins(t, f, 0)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, f.SecretID())
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

// A pod's token is replaced in its file every hour: each login is by the newest.
func TestPodTokenIsReadAtEachLogin(t *testing.T) {
	f, _, o := timed(t)
	file := filepath.Join(t.TempDir(), "token")
	o.Auth = vault.Auth{JWT: &vault.JWT{Role: "vimbroker", TokenFile: file, MountPath: "kubernetes"}}
	f.AdmitPod("first")
	writeFile(t, file, "first")
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	f.AdmitPod("second")
	f.RevokeTokens()
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "Vault refuses the login") {
		t.Errorf("Get with a token of before = %v, want ErrForbidden", err)
	}
	writeFile(t, file, "second\n")
	wantKey(t, s, ref, key)
	if n := f.Count("PUT", "/v1/auth/kubernetes/login"); n != 3 {
		t.Errorf("logged in %d times, want 3", n)
	}
}

// Vault refuses a pod's token also while it cannot ask the API server about it: the same token logs in
// soon after that has ended.
func TestRefusedPodTokenIsSoonTriedAgain(t *testing.T) {
	f, c, o := timed(t)
	file := filepath.Join(t.TempDir(), "token")
	o.Auth = vault.Auth{JWT: &vault.JWT{Role: "vimbroker", TokenFile: file, MountPath: "kubernetes"}}
	writeFile(t, file, "pod")
	s := mustOpen(t, o)
	refused := func(logins int) {
		t.Helper()
		for range 3 {
			if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "Vault refuses the login; see that the role exists") {
				t.Errorf("Check = %v, want ErrForbidden", err)
			}
		}
		if n := f.Count("PUT", "/v1/auth/kubernetes/login"); n != logins {
			t.Errorf("logged in %d times so far, want %d", n, logins)
		}
	}
	refused(1)
	for i, pause := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, time.Minute} {
		c.Add(pause - time.Second)
		refused(i + 1)
		c.Add(time.Second)
		refused(i + 2)
	}
	f.AdmitPod("pod")
	c.Add(time.Minute)
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check once Vault admits the token = %v, want nil", err)
	}
}

func TestTokenFile(t *testing.T) {
	f, c, o := timed(t)
	file := filepath.Join(t.TempDir(), "token")
	first := f.Token()
	writeFile(t, file, first)
	o.Auth = vault.Auth{TokenFile: file}
	s, err := vault.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ref, key := mustPut(t, s)
	// Revoked, and nobody has put another into the file yet.
	f.RevokeTokens()
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) {
		t.Errorf("Get with a revoked token = %v, want ErrForbidden", err)
	}
	writeFile(t, file, f.Token())
	wantKey(t, s, ref, key)
	// Renewed by someone else: the life that was seen is over, the token's is not.
	c.Add(30 * time.Minute)
	another := f.Token()
	writeFile(t, file, another)
	c.Add(30 * time.Minute)
	wantKey(t, s, ref, key)
	// Someone else's token is not for us to revoke.
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.Count("PUT", "/v1/auth/token/revoke-self") != 0 {
		t.Error("Close revoked a token that came out of a file")
	}
}

func TestCloseRevokesTheToken(t *testing.T) {
	f, _, o := timed(t)
	s, err := vault.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	}
	if n := f.Tokens(); n != 0 {
		t.Errorf("%d tokens are left after Close, want none", n)
	}
	f.Requests()
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check after Close = %v, want nil", err)
	}
	if asked := f.Requests(); len(asked) == 0 || asked[0].Path != loginPath {
		t.Errorf("after Close the first request is %+v, want a login", asked)
	}
}

// A connection that was trusted by an authority is not used once that is out of
// the file, and the file may come late.
func TestAuthoritiesAreReadAgain(t *testing.T) {
	f, _, o := timed(t)
	other := fakevault.New(t, nil)
	file := filepath.Join(t.TempDir(), "ca.pem")
	o.CACert, o.CAFile = "", file
	s := mustOpen(t, o)
	for i, tc := range []struct {
		ca     string
		reason string
	}{
		{"", "authorities cannot be used"},
		{other.CA, "not signed by the given CA"},
		{f.CA, ""},
		{"no certificate", "authorities cannot be used"},
		{f.CA + other.CA, ""},
		{other.CA, "not signed by the given CA"},
		{f.CA, ""},
	} {
		if tc.ca != "" {
			writeFile(t, file+".new", tc.ca)
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Check(t.Context())
		if tc.reason == "" && err != nil || tc.reason != "" && (!errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), tc.reason)) {
			t.Errorf("%d: Check = %v, want %q", i, err, tc.reason)
		}
	}
}

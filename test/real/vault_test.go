package real_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// byAppRole are options that log in to v by AppRole.
func byAppRole(v *real.VaultServer) vault.Options {
	return vault.Options{
		Address: v.Address, CAFile: v.CAFile, Timeout: time.Minute,
		Auth: vault.Auth{AppRole: &vault.AppRole{RoleID: v.RoleID, SecretIDFile: v.SecretIDFile}},
	}
}

func openVault(t testing.TB, o vault.Options) *vault.Store {
	t.Helper()
	s, err := vault.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func newVaultKey(t testing.TB) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func putVaultKey(t testing.TB, s *vault.Store) (secret.Ref, *secret.Key) {
	t.Helper()
	key := newVaultKey(t)
	ref, err := s.Put(t.Context(), secret.Owner{ID: uuid.NewString(), Generation: 1}, key)
	if err != nil {
		t.Fatal(err)
	}
	return ref, key
}

func TestVaultKeyStore(t *testing.T) {
	v := real.Vault(t)
	ways := map[string]func(*vault.Options){
		"AppRole": func(*vault.Options) {},
		"JWT": func(o *vault.Options) {
			o.Auth = vault.Auth{JWT: &vault.JWT{Role: "vimbroker", TokenFile: v.JWTFile}}
		},
		"token file": func(o *vault.Options) {
			file := filepath.Join(t.TempDir(), "token")
			var token struct{ Auth struct{ Client_token string } } //nolint:staticcheck // Vault's spelling
			v.Do(t, "POST", "auth/token/create", map[string]any{"policies": []string{"vimbroker"}, "ttl": "1h", "no_default_policy": true}, &token)
			if err := os.WriteFile(file, []byte(token.Auth.Client_token), 0o600); err != nil {
				t.Fatal(err)
			}
			o.Auth = vault.Auth{TokenFile: file}
		},
	}
	for way, set := range ways {
		t.Run(way, func(t *testing.T) {
			o := byAppRole(v)
			set(&o)
			conformance.KeyStore(t, func(t *testing.T) secret.KeyStore {
				o := o
				o.Log = slog.Default() // what the suite listens to
				return openVault(t, o)
			})
		})
	}
	// Nothing is assumed of the mount.
	for name, config := range map[string]map[string]any{
		"one version, check-and-set required": {"max_versions": 1, "cas_required": true},
		"versions that delete themselves":     {"max_versions": 3, "cas_required": false, "delete_version_after": "24h"},
	} {
		t.Run(name, func(t *testing.T) {
			v.Do(t, "POST", "secret/config", config, nil)
			t.Cleanup(func() {
				v.Do(t, "POST", "secret/config", map[string]any{"max_versions": 0, "cas_required": false, "delete_version_after": "0s"}, nil)
			})
			conformance.KeyStore(t, func(t *testing.T) secret.KeyStore { return openVault(t, byAppRole(v)) })
		})
	}
}

func TestVaultDeletedKeyCannotBeBroughtBack(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, key := putVaultKey(t, s)
	at := "vimbroker/" + string(ref)
	// An operator who meddled: a second version, and a soft deletion of the first.
	v.Do(t, "POST", "secret/data/"+at, map[string]any{"data": map[string]string{"key": string(key.Encode())}}, nil)
	v.Do(t, "PUT", "secret/delete/"+at, map[string]any{"versions": []int{1}}, nil)
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("Get of a soft-deleted key = %v, want ErrNotFound", err)
	}
	worth, err := s.Delete(t.Context(), ref)
	if worth != secret.Shredded || err != nil {
		t.Fatalf("Delete = %q, %v, want shredded", worth, err)
	}
	v.Status(t, "PUT", "secret/undelete/"+at, map[string]any{"versions": []int{1, 2}})
	for _, path := range []string{"secret/data/" + at, "secret/data/" + at + "?version=1", "secret/data/" + at + "?version=2", "secret/metadata/" + at} {
		if status := v.Status(t, "GET", path, nil); status != 404 {
			t.Errorf("root reads %s after the deletion: status %d, want 404", path, status)
		}
	}
}

// The policy that operators copy allows what the store does, and no more.
func TestVaultPolicyIsLeast(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, _ := putVaultKey(t, s)
	var login struct{ Auth struct{ Client_token string } } //nolint:staticcheck // Vault's spelling
	id, err := os.ReadFile(v.SecretIDFile)
	if err != nil {
		t.Fatal(err)
	}
	v.Do(t, "POST", "auth/approle/login", map[string]string{"role_id": v.RoleID, "secret_id": string(id)}, &login)
	as := *v
	as.RootToken = login.Auth.Client_token
	at := "vimbroker/" + string(ref)
	if status := as.Status(t, "GET", "secret/data/"+at, nil); status != 200 {
		t.Fatalf("the store's token reads a key: status %d, want 200", status)
	}
	value := map[string]any{"data": map[string]string{"key": "x"}}
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"PUT", "secret/data/" + at, value},
		{"DELETE", "secret/data/" + at, nil},
		{"PUT", "secret/delete/" + at, map[string]any{"versions": []int{1}}},
		{"PUT", "secret/undelete/" + at, map[string]any{"versions": []int{1}}},
		{"PUT", "secret/metadata/" + at, map[string]any{"max_versions": 9}},
		{"PUT", "secret/data/other/x", value},
		{"GET", "secret/data/other/x", nil},
		{"GET", "secret/metadata/?list=true", nil},
		{"GET", "secret/config", nil},
		{"GET", "sys/mounts", nil},
		{"POST", "auth/token/create", map[string]any{}},
		{"PUT", "sys/capabilities-self", map[string]any{"paths": []string{"secret"}}},
	} {
		if status := as.Status(t, r.method, r.path, r.body); status != 403 {
			t.Errorf("the store's token: %s %s has status %d, want 403", r.method, r.path, status)
		}
	}
}

// wantUnavailable checks that every call says that Vault cannot be asked, and why.
func wantUnavailable(t *testing.T, s *vault.Store, ref secret.Ref, reason string) {
	t.Helper()
	calls := map[string]func() error{
		"Get": func() error { _, err := s.Get(t.Context(), ref); return err },
		"Put": func() error {
			_, err := s.Put(t.Context(), secret.Owner{ID: uuid.NewString(), Generation: 1}, newVaultKey(t))
			return err
		},
		"Delete": func() error { _, err := s.Delete(t.Context(), ref); return err },
		"List":   func() error { _, err := s.List(t.Context(), ""); return err },
		"Check":  func() error { return s.Check(t.Context()) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, secret.ErrUnavailable) || errors.Is(err, secret.ErrNotFound) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s = %v, want ErrUnavailable because %q", name, err, reason)
		}
	}
}

func wantVaultKey(t *testing.T, s *vault.Store, ref secret.Ref, want *secret.Key) {
	t.Helper()
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check() = %v, want nil", err)
	}
	if got, err := s.Get(t.Context(), ref); err != nil || !got.Equal(want) {
		t.Errorf("Get = %v, the same key: %t", err, got.Equal(want))
	}
}

func TestVaultSealedAndUnsealed(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, key := putVaultKey(t, s)
	wantVaultKey(t, s, ref, key)
	v.Seal(t)
	wantUnavailable(t, s, ref, "Vault is sealed")
	// One that is opened meanwhile is not ready, and says why.
	late := openVault(t, byAppRole(v))
	wantUnavailable(t, late, ref, "Vault is sealed")
	v.Unseal(t)
	wantVaultKey(t, s, ref, key)
	wantVaultKey(t, late, ref, key)
}

func TestVaultGoneAndBack(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, key := putVaultKey(t, s)
	v.Stop()
	_ = s.Check(t.Context()) // may meet the connection of before, which breaks
	wantUnavailable(t, s, ref, "connection refused")
	late := openVault(t, byAppRole(v))
	wantUnavailable(t, late, ref, "connection refused")
	v.Restart(t)
	wantVaultKey(t, s, ref, key)
	wantVaultKey(t, late, ref, key)
}

func TestVaultPausedIsBounded(t *testing.T) {
	v := real.Vault(t)
	ref, key := putVaultKey(t, openVault(t, byAppRole(v)))
	o := byAppRole(v)
	o.Timeout = 2 * time.Second
	s := openVault(t, o)
	well := func() {
		t.Helper()
		if !real.Poll(t, process.Patience, func() bool { return s.Check(t.Context()) == nil }) {
			t.Fatal("Vault does not answer")
		}
	}
	well()
	v.Pause(t)
	began := time.Now()
	wantUnavailable(t, s, ref, "Vault does not answer in time")
	// Five calls, each of at most twice the timeout, and time to spare.
	if took := time.Since(began); took > 10*o.Timeout+30*time.Second {
		t.Errorf("five calls to a paused Vault took %v with a timeout of %v", took, o.Timeout)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began = time.Now()
	if _, err := s.Get(ctx, ref); !errors.Is(err, secret.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get with a deadline = %v, want ErrUnavailable and DeadlineExceeded", err)
	}
	if took := time.Since(began); took > o.Timeout {
		t.Errorf("Get with a deadline of 20 ms took %v", took)
	}
	v.Resume(t)
	well()
	wantVaultKey(t, s, ref, key)
}

func TestVaultTokenRevoked(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, key := putVaultKey(t, s)
	v.RevokeTokens(t)
	// The first to notice logs in for all.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := s.Get(t.Context(), ref); err != nil || !got.Equal(key) {
				t.Errorf("Get after the token was revoked = %v, the same key: %t", err, got.Equal(key))
			}
		})
	}
	wg.Wait()
	v.RevokeTokens(t)
	if _, err := s.Put(t.Context(), secret.Owner{ID: uuid.NewString(), Generation: 1}, newVaultKey(t)); err != nil {
		t.Errorf("Put after the token was revoked = %v", err)
	}
	v.RevokeTokens(t)
	if worth, err := s.Delete(t.Context(), ref); worth != secret.Shredded || err != nil {
		t.Errorf("Delete after the token was revoked = %q, %v", worth, err)
	}
	// With the secret id gone too, the store says so; a new one in the file is enough.
	ref, key = putVaultKey(t, s)
	v.NewSecretID(t, false)
	v.RevokeTokens(t)
	for range 3 {
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "Vault refuses the login") {
			t.Errorf("Check without a secret id = %v, want ErrForbidden", err)
		}
	}
	renewSecretID(t, v)
	wantVaultKey(t, s, ref, key)
}

func renewSecretID(t *testing.T, v *real.VaultServer) {
	t.Helper()
	var id struct{ Data struct{ Secret_id string } } //nolint:staticcheck // Vault's spelling
	v.Do(t, "POST", "auth/approle/role/vimbroker/secret-id", map[string]any{}, &id)
	if err := os.WriteFile(v.SecretIDFile, []byte(id.Data.Secret_id), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVaultTLSRotated(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s := openVault(t, byAppRole(v))
	ref, key := putVaultKey(t, s)
	trust := v.RotateTLS(t)
	late := openVault(t, byAppRole(v))
	wantUnavailable(t, late, ref, "not signed by the given CA")
	trust()
	wantVaultKey(t, s, ref, key)
	wantVaultKey(t, late, ref, key)
}

// Run keeps a token alive past its first life, and replaces it when it cannot be
// renewed any more.
func TestVaultRunKeepsTheSessionAlive(t *testing.T) {
	v := real.Vault(t)
	v.SetTokenTTL(t, 2*time.Second, 3*time.Second)
	o := byAppRole(v)
	logged := new(lines)
	o.Log = slog.New(slog.NewTextHandler(logged, nil))
	s := openVault(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	if !real.Poll(t, process.Patience, func() bool { return logged.count("logged in to Vault") >= 3 }) {
		t.Error("Run did not replace the session twice")
	}
	if logged.count("cannot be kept alive") > 0 {
		t.Errorf("Run failed on the way:\n%s", logged)
	}
	// The secret id goes: the session lives on renewal as long as it may, and then
	// calls are refused until there is another.
	v.NewSecretID(t, false)
	if !real.Poll(t, process.Patience, func() bool { return errors.Is(s.Check(t.Context()), secret.ErrForbidden) }) {
		t.Error("the session outlived its end")
	}
	renewSecretID(t, v)
	if !real.Poll(t, process.Patience, func() bool { return s.Check(t.Context()) == nil }) {
		t.Error("the store did not recover")
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run() = %v, want nil", err)
	}
}

func TestVaultCloseRevokesTheToken(t *testing.T) {
	t.Parallel()
	v := real.Vault(t)
	s, err := vault.Open(t.Context(), byAppRole(v))
	if err != nil {
		t.Fatal(err)
	}
	accessors := func() int {
		var list struct{ Data struct{ Keys []string } }
		v.Do(t, "GET", "auth/token/accessors?list=true", nil, &list)
		return len(list.Data.Keys)
	}
	before := accessors()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := accessors(); after != before-1 {
		t.Errorf("Vault knows %d tokens after Close, %d before, want one less", after, before)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("Close again = %v, want nil", err)
	}
}

// lines is a log that can be counted in.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

package cloud_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// private writes a file that holds a secret.
func private(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func byPassword(t *testing.T, who real.Tenant) keystone.Auth {
	t.Helper()
	return keystone.Auth{Password: &keystone.Password{UserID: who.UserID, ProjectID: who.ProjectID, PasswordFile: private(t, who.Password)}}
}

func openBarbican(t *testing.T, o barbican.Options) *barbican.Store {
	t.Helper()
	s, err := barbican.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return s
}

func TestBarbican(t *testing.T) {
	t.Parallel()
	o := real.OpenStack(t)
	behind := o.TLS(t)
	ca := private(t, behind.CAPEM)
	who := o.Project(t)
	id, text := o.ApplicationCredential(t, who, "vimbroker", false)
	for name, c := range map[string]struct {
		keystone.Auth
		elsewhere []string
	}{
		"application credential": {keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: id, SecretFile: private(t, text)}}, nil},
		// How a store logs in makes nothing of it concurrent.
		"password": {keystone.Auth{Password: &keystone.Password{
			Username: who.Username, UserDomainID: "default", Project: who.Project, ProjectDomainID: "default", PasswordFile: private(t, who.Password),
		}}, []string{"ConcurrentUse", "ConcurrentDeletes"}},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.KeyStore(t, func(t *testing.T) secret.KeyStore {
				return openBarbican(t, barbican.Options{
					AuthURL: behind.AuthURL, Endpoint: behind.KeyManager, CAFile: ca, Auth: c.Auth, Timeout: process.Patience,
				})
			}, c.elsewhere...)
		})
	}
}

func newKey(t *testing.T) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func putKey(t *testing.T, s secret.KeyStore) (secret.Ref, secret.Owner) {
	t.Helper()
	owner := secret.Owner{ID: uuid.NewString(), Generation: 1}
	ref, err := s.Put(t.Context(), owner, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return ref, owner
}

// Nobody else's user opens a key, of the project or not; the listing of each shows
// his own keys only.
func TestBarbicanKeysAreClosedToOthers(t *testing.T) {
	o := real.OpenStack(t)
	who := o.Project(t)
	open := func(who real.Tenant) secret.KeyStore {
		return openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, who)})
	}
	mine := open(who)
	ref, _ := putKey(t, mine)
	for name, s := range map[string]secret.KeyStore{"colleague": open(o.Colleague(t, who)), "stranger": open(o.Project(t))} {
		if key, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) || key != nil {
			t.Errorf("a %s's Get = %v, want ErrForbidden", name, err)
		}
		if _, err := s.Delete(t.Context(), ref); !errors.Is(err, secret.ErrForbidden) {
			t.Errorf("a %s's Delete = %v, want ErrForbidden", name, err)
		}
		if held, err := s.List(t.Context(), ""); err != nil || len(held) != 0 {
			t.Errorf("a %s's List = %v, %v, want none", name, held, err)
		}
	}
	if _, err := mine.Get(t.Context(), ref); err != nil {
		t.Errorf("Get = %v after others tried", err)
	}
	// Who may not make secrets is told which role he lacks.
	reader := open(o.Colleague(t, who, "reader"))
	if err := reader.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "creator") {
		t.Errorf("Check without the role = %v, want that it names the role", err)
	}
}

// More keys than Barbican lists at once, of one VIM and of several.
func TestBarbicanListsPages(t *testing.T) {
	o := real.OpenStack(t)
	s := openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, o.Project(t))})
	const n = 105
	owner := secret.Owner{ID: uuid.NewString()}
	want := map[secret.Ref]bool{}
	for range n {
		owner.Generation++
		ref, err := s.Put(t.Context(), owner, newKey(t))
		if err != nil {
			t.Fatal(err)
		}
		want[ref] = true
	}
	for _, id := range []string{"", owner.ID} {
		held, err := s.List(t.Context(), id)
		if err != nil || len(held) != n {
			t.Fatalf("List(%q) = %d keys, %v, want %d", id, len(held), err, n)
		}
		for _, h := range held {
			if !want[h.Ref] {
				t.Errorf("List(%q) shows %v, which was not put", id, h)
			}
		}
	}
}

// A store that was opened while nothing answered works as soon as something does.
func TestBarbicanOutages(t *testing.T) {
	o := disturbed(t)
	who := o.Project(t)
	o.Halt(real.Keystone)
	s := openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, who), Timeout: 5 * time.Second})
	if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "Keystone") {
		t.Errorf("Check without Keystone = %v, want ErrUnavailable that names it", err)
	}
	o.Restart(t, real.Keystone)
	// On a busy machine the first requests after a start take longer than the timeout.
	var err error
	soon := func(do func() error) bool {
		t.Helper()
		return real.Poll(t, process.Patience, func() bool { err = do(); return err == nil })
	}
	if !soon(func() error { return s.Check(t.Context()) }) {
		t.Fatalf("Check with Keystone back = %v", err)
	}
	ref, _ := putKey(t, openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, who), Timeout: process.Patience}))
	unavailable := func(when string) {
		t.Helper()
		if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || errors.Is(err, secret.ErrNotFound) {
			t.Errorf("Get %s = %v, want ErrUnavailable", when, err)
		}
	}
	works := func(when string) {
		t.Helper()
		if !soon(func() error { _, err := s.Get(t.Context(), ref); return err }) {
			t.Errorf("Get %s = %v, want the key", when, err)
		}
	}
	o.Halt(real.Barbican)
	unavailable("without Barbican")
	o.Restart(t, real.Barbican)
	works("with Barbican back")
	o.Pause(t, real.Barbican)
	unavailable("while Barbican hangs")
	o.Resume(t, real.Barbican)
	works("after Barbican hung")

	// The token is revoked behind the store's back: one more login, and no error.
	o.SetEnabled(t, who, false)
	if !real.Poll(t, process.Patience, func() bool {
		_, err = s.Get(t.Context(), ref)
		return !errors.Is(err, secret.ErrUnavailable)
	}) || !errors.Is(err, secret.ErrForbidden) {
		t.Errorf("Get of a disabled user = %v, want ErrForbidden", err)
	}
	refused := time.Now()
	o.SetEnabled(t, who, true)
	again := openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, who), Timeout: process.Patience})
	if _, err := again.Get(t.Context(), ref); err != nil {
		t.Errorf("Get of the user enabled again = %v", err)
	}
	// It logs in again ten seconds after a refusal, which may have come before the answer.
	if _, err := s.Get(t.Context(), ref); time.Since(refused) < 8*time.Second && !errors.Is(err, secret.ErrForbidden) {
		t.Errorf("Get right after a refused login = %v, want the refusal and no further login", err)
	}
}

// Tokens that live for seconds: the store renews them without anyone noticing.
func TestBarbicanTokensExpire(t *testing.T) {
	const life = 10 * time.Second
	o := real.OwnOpenStack(t, real.OpenStackOptions{TokenTTL: life, WithoutHeat: true})
	s := openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, o.Project(t))})
	// A Barbican that has just begun takes longer for its first request than these tokens live, on a busy machine.
	if !real.Poll(t, process.Patience, func() bool { return s.Check(t.Context()) == nil }) {
		t.Fatal("Barbican takes no token")
	}
	ref, _ := putKey(t, s)
	gets := 0
	real.Poll(t, life, func() bool { // and five seconds
		if _, err := s.Get(t.Context(), ref); err != nil {
			t.Errorf("Get = %v after %d times", err, gets)
			return true
		}
		gets++
		return false
	})
	if gets == 0 {
		t.Error("no Get succeeded")
	}
}

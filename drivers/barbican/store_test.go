package barbican_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
	"github.com/vimbroker/vimbroker/test/testlog"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// optionsFor reaches a fake by password.
func optionsFor(t *testing.T, f *fakebarbican.Server) barbican.Options {
	t.Helper()
	dir := t.TempDir()
	password, ca := filepath.Join(dir, "password"), filepath.Join(dir, "ca.crt")
	writeFile(t, password, f.Password()+"\n")
	writeFile(t, ca, f.CA)
	return barbican.Options{
		AuthURL: f.AuthURL, Endpoint: f.Endpoint, CAFile: ca, Log: testlog.Silent(t),
		Auth: keystone.Auth{Password: &keystone.Password{
			UserID: fakebarbican.UserID, ProjectID: fakebarbican.ProjectID, PasswordFile: password,
		}},
	}
}

func mustOpen(t *testing.T, o barbican.Options) *barbican.Store {
	t.Helper()
	s, err := barbican.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func newOwner() secret.Owner { return secret.Owner{ID: uuid.NewString(), Generation: 1} }

func mustPut(t *testing.T, s secret.KeyStore) (secret.Ref, *secret.Key) {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := s.Put(t.Context(), newOwner(), key)
	if err != nil {
		t.Fatal(err)
	}
	return ref, key
}

func wantKey(t *testing.T, s secret.KeyStore, ref secret.Ref, want *secret.Key) {
	t.Helper()
	if got, err := s.Get(t.Context(), ref); err != nil || !got.Equal(want) {
		t.Errorf("Get(%q) = %v, want the key that was put", ref, err)
	}
}

func TestConformance(t *testing.T) {
	f := fakebarbican.New(t, nil)
	o := optionsFor(t, f)
	conformance.KeyStore(t, func(t *testing.T) secret.KeyStore { return mustOpen(t, o) })
	for _, held := range f.Secrets() {
		if held.Exposed || !held.Closed {
			t.Errorf("the project's other users can read, or could have read, secret %s", held.ID)
		}
	}
}

// Small pages, keys of several VIMs, and others' secrets among them.
func TestListJoinsPages(t *testing.T) {
	f := fakebarbican.New(t, nil)
	f.SetPage(3)
	s := mustOpen(t, optionsFor(t, f))
	want := map[secret.Ref]bool{}
	for range 10 {
		ref, _ := mustPut(t, s)
		want[ref] = true
	}
	owner := newOwner()
	for _, planted := range []fakebarbican.Secret{
		// A page and more of equals.
		{Name: "another's"},
		{Name: "another's"},
		{Name: "another's"},
		{Name: "another's"},
		{Name: "vimbroker/" + owner.ID, Mode: "1." + strings.Repeat("a", 32), Creator: "someone else"},
		{Name: "vimbroker/" + owner.ID, Mode: "1." + strings.Repeat("z", 32)},
		{Name: "vimbroker/" + owner.ID, Mode: "01." + strings.Repeat("b", 32)},
		{Name: "vimbroker/" + owner.ID, Mode: "0." + strings.Repeat("b", 32)},
		{Name: "vimbroker/" + owner.ID},
		{Name: "vimbroker/", Mode: "1." + strings.Repeat("c", 32)},
		{Name: "other/" + owner.ID, Mode: "1." + strings.Repeat("d", 32)},
	} {
		if planted.Creator == "" {
			planted.Creator = fakebarbican.UserID
		}
		planted.ID = uuid.NewString()
		f.Plant(planted)
	}
	held, err := s.List(t.Context(), "")
	if err != nil || len(held) != len(want) {
		t.Fatalf("List = %d keys, %v, want %d", len(held), err, len(want))
	}
	for _, h := range held {
		if !want[h.Ref] {
			t.Errorf("List shows %v, which was not put", h)
		}
	}
	if held, err := s.List(t.Context(), owner.ID); err != nil || len(held) != 0 {
		t.Errorf("List of a VIM with others' secrets only = %v, %v, want none", held, err)
	}
}

// Keys that go away between two pages make no other key invisible.
func TestListWhileKeysGo(t *testing.T) {
	f := fakebarbican.New(t, nil)
	f.SetPage(4)
	s := mustOpen(t, optionsFor(t, f))
	owner := secret.Owner{ID: uuid.NewString()}
	var refs []secret.Ref
	for range 9 { // generations 1 to 9, in this order in Barbican too
		owner.Generation++
		key, err := secret.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		ref, err := s.Put(t.Context(), owner, key)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	pages := 0
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.Pass, Times: -1, Reached: func() {
		if pages++; pages == 2 { // the second page is asked for: the whole first goes
			for _, ref := range refs[:4] {
				f.Remove(string(ref))
			}
		}
	}})
	held, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs[4:] {
		if !slices.ContainsFunc(held, func(h secret.Held) bool { return h.Ref == ref }) {
			t.Errorf("List does not show %s, which was there all the time", ref)
		}
	}
	if pages < 4 {
		t.Errorf("%d pages were asked for: the test did not do what it says", pages)
	}
}

// What Put cannot finish it takes back; what it cannot take back List shows.
func TestPutHalfWay(t *testing.T) {
	for name, fault := range map[string]fake.Fault{
		"the ACL is refused":     {Method: "PUT", Path: "/acl$", Kind: fake.Refuse, Status: 403},
		"the payload is refused": {Method: "PUT", Path: "^/v1/secrets/[^/]*$", Kind: fake.Refuse, Status: 400},
		"the payload is lost":    {Method: "PUT", Path: "^/v1/secrets/[^/]*$", Kind: fake.Drop},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakebarbican.New(t, nil)
			s := mustOpen(t, optionsFor(t, f))
			key, err := secret.NewKey()
			if err != nil {
				t.Fatal(err)
			}
			f.Fail(fault)
			if ref, err := s.Put(t.Context(), newOwner(), key); err == nil {
				t.Errorf("Put = %q, want an error", ref)
			}
			if held := f.Secrets(); len(held) != 0 {
				t.Errorf("Barbican still holds %v", held)
			}
			f.Fail(fault)
			f.Fail(fake.Fault{Method: "DELETE", Kind: fake.Refuse, Status: 403})
			if ref, err := s.Put(t.Context(), newOwner(), key); err == nil {
				t.Errorf("Put = %q, want an error", ref)
			}
			held, err := s.List(t.Context(), "")
			if err != nil || len(held) != 1 {
				t.Fatalf("List = %v, %v, want the one that is left over", held, err)
			}
			if _, err := s.Get(t.Context(), held[0].Ref); !errors.Is(err, secret.ErrCorrupt) {
				t.Errorf("Get of a secret without a payload = %v, want ErrCorrupt", err)
			}
			if worth, err := s.Delete(t.Context(), held[0].Ref); worth != secret.Recoverable || err != nil {
				t.Errorf("Delete = %q, %v", worth, err)
			}
		})
	}
}

// A payload whose answer is lost, or that a proxy sent twice, is compared and kept.
func TestPutWithALostAnswer(t *testing.T) {
	for _, fault := range []fake.Fault{
		{Kind: fake.Drop},
		{Kind: fake.Hang},
		{Kind: fake.Refuse, Status: 500},
		{Kind: fake.Refuse, Status: 409},
		{Kind: fake.HTML, Status: 504},
	} {
		t.Run(fmt.Sprint(fault.Kind, fault.Status), func(t *testing.T) {
			f := fakebarbican.New(t, nil)
			o := optionsFor(t, f)
			if fault.Kind == fake.Hang {
				o.Timeout = time.Second
			}
			s := mustOpen(t, o)
			fault.Method, fault.Path, fault.Late = "PUT", "^/v1/secrets/[^/]*$", true
			f.Fail(fault)
			ref, key := mustPut(t, s)
			wantKey(t, s, ref, key)
		})
	}
}

// The key is gone only on Barbican's word.
func TestNotFoundIsBelievedFromBarbicanOnly(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	for name, fault := range map[string]fake.Fault{
		"a proxy's page":       {Kind: fake.HTML, Status: 404},
		"another API's answer": {Kind: fake.JSON, Status: 404, Body: `{"error":{"code":404,"title":"Not Found"}}`},
		"an empty object":      {Kind: fake.JSON, Status: 404, Body: `{}`},
		"nothing":              {Kind: fake.JSON, Status: 404},
		"a redirect":           {Kind: fake.Redirect, Location: "127.0.0.1:1"},
		"too much":             {Kind: fake.Huge},
		"a limit":              {Kind: fake.Refuse, Status: 429},
		"an outage":            {Kind: fake.Refuse, Status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			fault.Path, fault.Times = "^/v1/", -1
			f.Fail(fault)
			defer f.Heal()
			check := func(call string, err error) {
				t.Helper()
				if !errors.Is(err, secret.ErrUnavailable) || errors.Is(err, secret.ErrNotFound) || strings.Contains(err.Error(), fake.Canary) {
					t.Errorf("%s = %v, want ErrUnavailable in our own words", call, err)
				}
			}
			_, err := s.Get(t.Context(), ref)
			check("Get", err)
			_, err = s.List(t.Context(), "")
			check("List", err)
			check("Check", s.Check(t.Context()))
			if fault.Kind != fake.Huge { // which is a success to someone who reads no body
				_, err = s.Delete(t.Context(), ref)
				check("Delete", err)
			}
		})
	}
	wantKey(t, s, ref, key)
}

func TestWhatIsNoKeyIsCorrupt(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	for name, change := range map[string]func(*fakebarbican.Secret){
		"text":           func(c *fakebarbican.Secret) { c.ContentType = "text/plain" },
		"empty":          func(c *fakebarbican.Secret) { c.Payload = nil },
		"longer":         func(c *fakebarbican.Secret) { c.Payload = append(c.Payload, '=') },
		"20 kB":          func(c *fakebarbican.Secret) { c.Payload = bytes.Repeat([]byte("A"), 20000) },
		"32 raw bytes":   func(c *fakebarbican.Secret) { c.Payload = bytes.Repeat([]byte{7}, 32) },
		"no payload yet": func(c *fakebarbican.Secret) { c.ContentType, c.Payload = "", nil },
	} {
		ref, _ := mustPut(t, s)
		f.Change(string(ref), change)
		if key, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrCorrupt) || key != nil {
			t.Errorf("Get of %s = %v, want ErrCorrupt", name, err)
		} else if name == "20 kB" && !strings.Contains(err.Error(), "the secret holds something else") {
			t.Errorf("Get of %s = %v, want that it says why", name, err)
		}
	}
	ref, _ := mustPut(t, s)
	f.Fail(fake.Fault{Path: "/payload$", Kind: fake.HTML, Status: 200, Times: -1})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Get that a page answers = %v, want ErrUnavailable", err)
	}
}

func TestFaultsAreToldApart(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, _ := mustPut(t, s)
	for _, c := range []struct {
		fault fake.Fault
		kind  error
		text  string
	}{
		{fake.Fault{Kind: fake.Refuse, Status: 403}, secret.ErrForbidden, "policy"},
		{fake.Fault{Kind: fake.JSON, Status: 403, Body: `{"code":403,"title":"Forbidden","description":"Quota reached for project x. Only 5 secrets are allowed."}`}, secret.ErrUnavailable, "quota"},
		{fake.Fault{Kind: fake.Refuse, Status: 429}, secret.ErrUnavailable, "rate"},
		{fake.Fault{Kind: fake.Refuse, Status: 502}, secret.ErrUnavailable, "502"},
		{fake.Fault{Kind: fake.Drop}, secret.ErrUnavailable, "the connection to Barbican broke"},
		{fake.Fault{Kind: fake.Redirect, Location: "127.0.0.1:1"}, secret.ErrUnavailable, "redirects"},
	} {
		c.fault.Path, c.fault.Times = "^/v1/", -1
		f.Fail(c.fault)
		if _, err := s.Get(t.Context(), ref); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("Get = %v, want %v with %q", err, c.kind, c.text)
		}
		f.Heal()
	}
}

// Everything but what Barbican counts is repeated once where the connection breaks.
func TestLostAnswersAreAskedForAgain(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	for _, kind := range []fake.Fault{{Kind: fake.Drop, Late: true}, {Kind: fake.Drop}, {Kind: fake.Refuse, Status: 500}} {
		ref, key := mustPut(t, s)
		for _, path := range []string{"^/v1/secrets/[^/]*$", "/payload$"} {
			kind.Method, kind.Path = "GET", path
			f.Fail(kind)
			wantKey(t, s, ref, key)
		}
		kind.Path = "^/v1/secrets$"
		f.Fail(kind)
		if held, err := s.List(t.Context(), ""); err != nil || len(held) != 1 {
			t.Errorf("List = %v, %v, want one key", held, err)
		}
		kind.Method, kind.Path = "DELETE", "^/v1/"
		f.Fail(kind)
		if worth, err := s.Delete(t.Context(), ref); worth != secret.Recoverable || err != nil {
			t.Errorf("Delete = %q, %v", worth, err)
		}
		kind.Method, kind.Path = "POST", "^/v1/secrets$"
		f.Fail(kind)
		another, err := secret.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		before := f.Count("POST", "/v1/secrets")
		if _, err := s.Put(t.Context(), newOwner(), another); !errors.Is(err, secret.ErrUnavailable) {
			t.Errorf("Put whose first answer is lost = %v, want ErrUnavailable", err)
		}
		if n := f.Count("POST", "/v1/secrets") - before; n != 1 {
			t.Errorf("a secret was made %d times, want once", n)
		}
		for _, left := range f.Secrets() {
			f.Remove(left.ID)
		}
	}
}

// Check writes seldom, and finds each fault.
func TestCheck(t *testing.T) {
	f := fakebarbican.New(t, nil)
	now := time.Now()
	o := optionsFor(t, f)
	o.Now = func() time.Time { return now }
	s := mustOpen(t, o)
	check := func(want error) {
		t.Helper()
		if err := s.Check(t.Context()); !errors.Is(err, want) {
			t.Errorf("Check = %v, want %v", err, want)
		}
	}
	writes := func(want int) {
		t.Helper()
		if n := f.Count("POST", "/v1/secrets"); n != want {
			t.Errorf("%d secrets were made, want %d", n, want)
		}
	}
	check(nil)
	check(nil)
	writes(1)
	now = now.Add(50 * time.Minute) // the token is renewed on the way
	check(nil)
	writes(1)
	now = now.Add(11 * time.Minute)
	check(nil)
	writes(2)
	now = now.Add(-3 * time.Hour) // a clock that was set back proves nothing
	check(nil)
	writes(3)
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.Refuse, Status: 403})
	check(secret.ErrForbidden)
	for i, fault := range []fake.Fault{
		{Method: "POST", Path: "^/v1/secrets$"},
		{Method: "PUT", Path: "/acl$"},
		{Method: "PUT", Path: "^/v1/secrets/[^/]*$"},
		{Method: "GET", Path: "/payload$"},
		{Method: "DELETE", Path: "^/v1/"},
	} {
		fault.Kind, fault.Status = fake.Refuse, 403
		f.Fail(fault)
		check(secret.ErrForbidden)
		f.Heal()
		writes(4 + i)
	}
	check(nil)
	if held := f.Secrets(); len(held) != 1 { // the one whose deletion was forbidden
		t.Errorf("Barbican holds %d secrets after the checks, want 1", len(held))
	}
}

// What the environment says to the openstack command does not reach the store.
func TestEnvironmentIsNotRead(t *testing.T) {
	f := fakebarbican.New(t, nil)
	for name, value := range map[string]string{
		"OS_AUTH_URL": "https://127.0.0.1:1", "OS_PASSWORD": "canary", "OS_CLOUD": "canary", "OS_TOKEN": "canary", "HTTPS_PROXY": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	wantKey(t, s, ref, key)
}

func TestOptionsSayEveryFault(t *testing.T) {
	err := barbican.Options{
		AuthURL: "http://keystone.example", Endpoint: "https://user@barbican.example/", Folder: "a/%b", Timeout: -1,
		Auth: keystone.Auth{Password: &keystone.Password{Username: "u", ProjectID: "p", Project: "p"}},
	}.Validate()
	for _, want := range []string{"address of Keystone", "address of Barbican", "folder", "timeout", "needs the file of the password", "the user's id", "the project's id"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want that it says %q", err, want)
		}
	}
	for _, auth := range []keystone.Auth{{}, {ApplicationCredential: &keystone.ApplicationCredential{ID: "i", SecretFile: "f"}, Password: &keystone.Password{}}, {ApplicationCredential: &keystone.ApplicationCredential{}}} {
		if err := (barbican.Options{AuthURL: "https://k.example", Endpoint: "https://b.example", Auth: auth}).Validate(); err == nil {
			t.Errorf("Validate() with login %+v = nil, want an error", auth)
		}
	}
	password := keystone.Auth{Password: &keystone.Password{UserID: "u", ProjectID: "p", PasswordFile: "f"}}
	for _, address := range []string{"", "k.example", "https://", "https://u@k.example", "https://k.example?x=y", "https://k.example#f", "https://k.example/a%2Fb", "http://k.example"} {
		if err := (barbican.Options{AuthURL: address, Endpoint: "https://b.example", Auth: password}).Validate(); err == nil {
			t.Errorf("Validate() with Keystone at %q = nil, want an error", address)
		}
	}
	good := barbican.Options{AuthURL: "https://k.example/identity", Endpoint: "http://[::1]:9311/v1/", Auth: keystone.Auth{
		ApplicationCredential: &keystone.ApplicationCredential{ID: "i", SecretFile: "f"},
	}}
	if err := good.Validate(); err != nil {
		t.Errorf("Validate() = %v, want nil", err)
	}
}

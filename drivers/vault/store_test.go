package vault_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// optionsFor logs in to the fake by AppRole.
func optionsFor(t testing.TB, f *fakevault.Server) vault.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret-id")
	writeFile(t, file, f.SecretID()+"\n")
	return vault.Options{
		Address: f.Address, CACert: f.CA,
		Auth: vault.Auth{AppRole: &vault.AppRole{RoleID: f.RoleID, SecretIDFile: file}},
		Log:  testlog.Silent(t),
	}
}

func writeFile(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, o vault.Options) *vault.Store {
	t.Helper()
	s, err := vault.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func newKey(t testing.TB) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newOwner() secret.Owner { return secret.Owner{ID: uuid.NewString(), Generation: 7} }

func mustPut(t testing.TB, s *vault.Store) (secret.Ref, *secret.Key) {
	t.Helper()
	key := newKey(t)
	ref, err := s.Put(t.Context(), newOwner(), key)
	if err != nil {
		t.Fatal(err)
	}
	return ref, key
}

func wantKey(t testing.TB, s *vault.Store, ref secret.Ref, want *secret.Key) {
	t.Helper()
	if got, err := s.Get(t.Context(), ref); err != nil || !got.Equal(want) {
		t.Errorf("Get = %v, the same key: %t", err, got.Equal(want))
	}
}

func TestConformance(t *testing.T) {
	f := fakevault.New(t, nil)
	conformance.KeyStore(t, func(t *testing.T) secret.KeyStore {
		o := optionsFor(t, f)
		o.Log = slog.Default() // what the suite listens to
		return mustOpen(t, o)
	})
}

func TestPathsHoldNothingThatAPersonTyped(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	f.Requests()
	for _, id := range []string{"../../sys/seal", strings.ToUpper(uuid.NewString()), "{" + uuid.NewString() + "}", "urn:uuid:" + uuid.NewString()} {
		if _, err := s.Put(t.Context(), secret.Owner{ID: id, Generation: 1}, newKey(t)); err == nil {
			t.Errorf("Put for %q = nil, want an error", id)
		}
		for _, ref := range []secret.Ref{secret.Ref(id), secret.Ref(id + "/1." + strings.Repeat("0", 32))} {
			if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
				t.Errorf("Get(%q) = %v, want ErrNotFound", ref, err)
			}
			if worth, err := s.Delete(t.Context(), ref); err == nil {
				t.Errorf("Delete(%q) = %q, want an error", ref, worth)
			}
		}
		if held, err := s.List(t.Context(), id); err != nil || held != nil {
			t.Errorf("List(%q) = %v, %v, want nothing", id, held, err)
		}
	}
	if more := f.Requests(); len(more) != 0 {
		t.Errorf("Vault was asked %v, want nothing", more)
	}
}

// Only what a Store wrote is a key.
func TestGetRefusesWhatItDidNotWrite(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	for name, fields := range map[string]map[string]any{
		"no field":        {},
		"another field":   {"value": "x"},
		"a number":        {"key": 7},
		"an object":       {"key": map[string]any{"key": "x"}},
		"null":            {"key": nil},
		"an empty string": {"key": ""},
		"a short key":     {"key": "AAAA"},
		"the zero key":    {"key": strings.Repeat("A", 43) + "="},
		"escapes":         {"key": "\n" + strings.Repeat("A", 42) + "="},
	} {
		ref, _ := mustPut(t, s)
		f.Replace("vimbroker/"+string(ref), 1, fields)
		if key, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrCorrupt) || key != nil {
			t.Errorf("Get of %s = %v, want ErrCorrupt", name, err)
		}
		if worth, err := s.Delete(t.Context(), ref); worth != secret.Shredded || err != nil {
			t.Errorf("Delete of %s = %q, %v", name, worth, err)
		}
	}
	// What someone writes over a key is not looked at.
	ref, key := mustPut(t, s)
	f.Write("vimbroker/"+string(ref), map[string]any{"key": string(newKey(t).Encode())})
	wantKey(t, s, ref, key)
	f.SoftDelete("vimbroker/"+string(ref), 1)
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("Get of a soft-deleted key = %v, want ErrNotFound", err)
	}
}

// All versions are destroyed, and then the metadata, and then there is a look.
func TestDeleteDestroysAllAndLooks(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, _ := mustPut(t, s)
	name := "vimbroker/" + string(ref)
	f.Write(name, map[string]any{"key": "x"})
	// The metadata do not go although Vault says so: the key is not shredded.
	f.Fail(fake.Fault{Method: "DELETE", Path: "^/v1/secret/metadata/", Kind: fake.JSON, Status: 204})
	if worth, err := s.Delete(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || worth != "" {
		t.Errorf("Delete that Vault did not do = %q, %v, want ErrUnavailable", worth, err)
	}
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("Get of a destroyed key = %v, want ErrNotFound", err)
	}
	if worth, err := s.Delete(t.Context(), ref); worth != secret.Shredded || err != nil {
		t.Errorf("Delete again = %q, %v", worth, err)
	}
	if names := f.Names(); len(names) != 0 {
		t.Errorf("Vault still holds %v", names)
	}
}

// A write that failed is a success only if the very key is there.
func TestPutThatFailedLooksForItsOwnKey(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	other := string(newKey(t).Encode())
	f.Fail(fake.Fault{Method: "PUT", Path: "^/v1/secret/data/", Kind: fake.Refuse, Status: 403})
	f.Fail(fake.Fault{
		Method: "GET", Path: "^/v1/secret/data/", Kind: fake.JSON, Status: 200,
		Body: `{"data":{"data":{"key":"` + other + `"},"metadata":{"version":1,"destroyed":false,"deletion_time":""}}}`,
	})
	if ref, err := s.Put(t.Context(), newOwner(), newKey(t)); err == nil {
		t.Errorf("Put = %q, although Vault refused the key and holds another", ref)
	}
}

// The key is gone only on Vault's word, and only on the right word.
func TestNotFoundIsBelievedFromVaultOnly(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	for name, fault := range map[string]fake.Fault{
		"a proxy's page":       {Kind: fake.HTML, Status: 404},
		"another API's answer": {Kind: fake.JSON, Status: 404, Body: `{"message":"not found"}`},
		"an empty object":      {Kind: fake.JSON, Status: 404, Body: `{}`},
		"nothing":              {Kind: fake.JSON, Status: 404},
		"no such mount":        {Kind: fake.Refuse, Status: 404},
		"half an answer":       {Kind: fake.JSON, Status: 404, Body: `{"errors":[`},
		"data without a trace": {Kind: fake.JSON, Status: 404, Body: `{"data":{"data":null}}`},
		"200 of something":     {Kind: fake.JSON, Status: 200, Body: `{"keys":[]}`},
		"200 of nothing":       {Kind: fake.JSON, Status: 200},
		"200, no metadata":     {Kind: fake.JSON, Status: 200, Body: `{"data":{"data":{}}}`},
		"204":                  {Kind: fake.JSON, Status: 204},
	} {
		t.Run(name, func(t *testing.T) {
			fault.Path, fault.Times = "^/v1/secret/", -1
			f.Fail(fault)
			defer f.Heal()
			if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || errors.Is(err, secret.ErrNotFound) {
				t.Errorf("Get = %v, want ErrUnavailable", err)
			}
			if worth, err := s.Delete(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) {
				t.Errorf("Delete = %q, %v, want ErrUnavailable", worth, err)
			}
			if held, err := s.List(t.Context(), ""); !errors.Is(err, secret.ErrUnavailable) {
				t.Errorf("List = %v, %v, want ErrUnavailable", held, err)
			}
		})
	}
	wantKey(t, s, ref, key)
}

// A first version of KV answers 204 to a write, where the second says which
// version was written.
func TestPutWantsAVersionedEngine(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	for _, fault := range []fake.Fault{{Status: 204}, {Status: 200, Body: `{"data":{}}`}} {
		fault.Method, fault.Path, fault.Kind = "PUT", "^/v1/secret/data/", fake.JSON
		f.Fail(fault)
		if ref, err := s.Put(t.Context(), newOwner(), newKey(t)); err == nil || !strings.Contains(err.Error(), "not a KV version 2 engine") {
			t.Errorf("Put = %q, %v, want that the engine is the wrong one", ref, err)
		}
	}
	ref, err := s.Put(t.Context(), newOwner(), newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secret/data/", Kind: fake.JSON, Status: 200, Body: `{"data":{"data":{},"metadata":{"version":"1"}}}`})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "not a KV version 2 engine") {
		t.Errorf("Get of a version that is a text = %v, want that the engine is the wrong one", err)
	}
}

// A write whose answer is lost is looked up, not repeated.
func TestPutWithALostAnswer(t *testing.T) {
	for _, fault := range []fake.Fault{
		{Kind: fake.Drop},
		{Kind: fake.Hang},
		{Kind: fake.Refuse, Status: 500},
		{Kind: fake.Refuse, Status: 502},
		{Kind: fake.Refuse, Status: 400}, // as after a proxy sent it twice
		{Kind: fake.HTML, Status: 504},
	} {
		for _, late := range []bool{true, false} {
			t.Run(fmt.Sprint(fault.Kind, fault.Status, late), func(t *testing.T) {
				f := fakevault.New(t, nil)
				o := optionsFor(t, f)
				if fault.Kind == fake.Hang {
					o.Timeout = time.Second
				}
				s := mustOpen(t, o)
				fault.Method, fault.Path, fault.Late = "PUT", "^/v1/secret/data/", late
				f.Fail(fault)
				key := newKey(t)
				ref, err := s.Put(t.Context(), newOwner(), key)
				if late {
					if err != nil {
						t.Fatalf("Put = %v, want nil: the key is there", err)
					}
					wantKey(t, s, ref, key)
				} else if err == nil {
					t.Errorf("Put = nil, and there is no key")
				}
				writes := 0
				for _, r := range f.Requests() {
					if r.Method == "PUT" && strings.HasPrefix(r.Path, "/v1/secret/data/") {
						writes++
					}
				}
				if writes != 1 {
					t.Errorf("the key was written %d times, want once", writes)
				}
				held, err := s.List(t.Context(), "")
				if want := map[bool]int{true: 1}[late]; err != nil || len(held) != want {
					t.Errorf("List = %d keys, %v, want %d", len(held), err, want)
				}
			})
		}
	}
}

func TestCheckLeavesNothingAndFindsEachFault(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []fake.Fault{
		{Method: "PUT", Path: "^/v1/secret/data/vimbroker/check/"},
		{Method: "GET", Path: "^/v1/secret/data/vimbroker/check/"},
		{Method: "PUT", Path: "^/v1/secret/destroy/vimbroker/check/"},
		{Method: "DELETE", Path: "^/v1/secret/metadata/vimbroker/check/"},
	} {
		fault.Kind, fault.Status = fake.Refuse, 403
		f.Fail(fault)
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrForbidden) || !strings.Contains(err.Error(), "policy") {
			t.Errorf("Check without %s %s = %v, want that the policy forbids it", fault.Method, fault.Path, err)
		}
	}
	f.Fail(fake.Fault{
		Method: "GET", Path: "^/v1/secret/data/", Kind: fake.JSON, Status: 200,
		Body: `{"data":{"data":{"probe":"00"},"metadata":{"version":1}}}`,
	})
	if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Check of a Vault that answers with something else = %v, want ErrUnavailable", err)
	}
	if n := f.Count("PUT", "/v1/auth/approle/login"); n != 1 {
		t.Errorf("logged in %d times, want once: the token was good", n)
	}
}

func TestNamespaceIsSentWithEveryRequest(t *testing.T) {
	f := fakevault.New(t, nil)
	o := optionsFor(t, f)
	o.Namespace = "telco/nfv"
	s := mustOpen(t, o)
	ref, _ := mustPut(t, s)
	if _, err := s.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Requests() {
		if r.Header.Get("X-Vault-Namespace") != "telco/nfv" {
			t.Errorf("%s %s is sent to the namespace %q", r.Method, r.Path, r.Header.Get("X-Vault-Namespace"))
		}
	}
}

// What the environment says to the vault command does not reach the store.
func TestEnvironmentIsNotRead(t *testing.T) {
	f := fakevault.New(t, nil)
	for name, value := range map[string]string{
		"VAULT_ADDR": "https://127.0.0.1:1", "VAULT_AGENT_ADDR": "https://127.0.0.1:1", "VAULT_TOKEN": "hvs.canary\x01", // which the client would refuse
		"VAULT_NAMESPACE": "canary",
		"VAULT_HEADERS":   `{"X-Canary":"canary"}`, "VAULT_WRAP_TTL": "5m", "VAULT_SKIP_VERIFY": "true", "VAULT_MAX_RETRIES": "7",
		"HTTPS_PROXY": "http://127.0.0.1:1", "VAULT_PROXY_ADDR": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	wantKey(t, s, ref, key)
	for _, r := range f.Requests() {
		if r.Header.Get("X-Vault-Namespace") != "" || strings.HasPrefix(r.Header.Get("X-Vault-Token"), "hvs.canary") {
			t.Errorf("%s %s was sent with what is in the environment", r.Method, r.Path)
		}
	}
	o := optionsFor(t, f)
	o.CACert = fakevault.New(t, nil).CA
	if err := mustOpen(t, o).Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Check with another authority = %v, want ErrUnavailable", err)
	}
}

// Vault answers 404 where somebody else deletes the same key meanwhile.
func TestDeleteBesideAnother(t *testing.T) {
	for _, fault := range []fake.Fault{{Method: "PUT", Path: "/destroy/"}, {Method: "DELETE", Path: "/metadata/", Late: true}} {
		f := fakevault.New(t, nil)
		s := mustOpen(t, optionsFor(t, f))
		ref, _ := mustPut(t, s)
		fault.Kind, fault.Status, fault.Body = fake.JSON, 404, `{"errors":[]}`
		f.Fail(fault)
		if worth, err := s.Delete(t.Context(), ref); err != nil || worth != secret.Shredded {
			t.Errorf("Delete, %s answered with 404 = %q, %v, want it gone", fault.Path, worth, err)
		}
		if names := f.Names(); len(names) != 0 {
			t.Errorf("Vault still holds %d secrets", len(names))
		}
	}
}

// A gateway may pass on the trace of a deleted version with another status than Vault's 404.
func TestTheTraceOfADeletedKeyIsNoKey(t *testing.T) {
	f := fakevault.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, _ := mustPut(t, s)
	f.Fail(fake.Fault{Method: "GET", Path: "/data/", Kind: fake.JSON, Status: 200, Body: `{"data":{"data":null,"metadata":{"version":1,"destroyed":true}}}`})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
}

package vault_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// A list goes by folders of VIMs, and by nothing else that stands beside them.
func TestListLooksIntoFoldersOfVIMs(t *testing.T) {
	f, _, o := timed(t)
	s := mustOpen(t, o)
	ref, _ := mustPut(t, s)
	folder, _, _ := strings.Cut(string(ref), "/")
	f.Fail(fake.Fault{Method: "GET", Path: "/metadata/[^/]+/?$", Kind: fake.JSON, Status: 200, Body: `{"data":{"keys":["` + uuid.NewString() + `","x/","` + folder + `/"]}}`})
	f.Requests() // until now
	held, err := s.List(t.Context(), "")
	if err != nil || len(held) != 1 || held[0].Ref != ref {
		t.Errorf("List = %+v, %v, want the one key", held, err)
	}
	if n := len(f.Requests()); n != 2 {
		t.Errorf("it takes %d requests, want the folders and the one VIM's", n)
	}
}

// A list of all keys is larger than one object may be.
func TestListOfManyVIMs(t *testing.T) {
	f, _, o := timed(t)
	s := mustOpen(t, o)
	ref, _ := mustPut(t, s)
	folder, _, _ := strings.Cut(string(ref), "/")
	f.Fail(fake.Fault{Method: "GET", Path: "/metadata/[^/]+/?$", Kind: fake.JSON, Status: 200, Body: `{"data":{"keys":["` + folder + `/"` + strings.Repeat(`,"x/"`, 1000) + `]}}`})
	if held, err := s.List(t.Context(), ""); err != nil || len(held) != 1 || held[0].Ref != ref {
		t.Errorf("List = %+v, %v, want the one key", held, err)
	}
}

// Of a key without versions there is nothing to destroy; its metadata go.
func TestDeleteOfAKeyWithoutVersions(t *testing.T) {
	f, _, o := timed(t)
	s := mustOpen(t, o)
	ref, _ := mustPut(t, s)
	f.Fail(fake.Fault{Method: "GET", Path: "/metadata/", Kind: fake.JSON, Status: 200, Body: `{"data":{"versions":{}}}`})
	f.Requests() // until now
	erased, err := s.Delete(t.Context(), ref)
	var asked []string
	for _, r := range f.Requests() {
		asked = append(asked, r.Method)
	}
	if err != nil || erased != secret.Shredded || strings.Join(asked, " ") != "GET DELETE GET" {
		t.Errorf("Delete = %q, %v, by %q", erased, err, asked)
	}
}

// What is no answer of an engine is not taken for one: neither for versions, nor for a token's life.
func TestAnswersThatAreNone(t *testing.T) {
	f, _, o := timed(t)
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	for _, body := range []string{`{"data":{"versions":{"1":7}}}`, `{"data":{"versions":{"x":{}}}}`, `{"data":{"versions":7}}`, `{"data":{}}`, `{}`} {
		f.Fail(fake.Fault{Method: "GET", Path: "/metadata/", Kind: fake.JSON, Status: 200, Body: body})
		if erased, err := s.Delete(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || erased != "" {
			t.Errorf("Delete of what answers %s = %q, %v", body, erased, err)
		}
		f.Heal()
	}
	wantKey(t, s, ref, key)
	for _, body := range []string{`{"data":{"keys":["x",7]}}`, `{"data":{"keys":null}}`, `{"data":null}`, `[`} {
		f.Fail(fake.Fault{Method: "GET", Path: "/metadata/", Kind: fake.JSON, Status: 200, Body: body})
		if held, err := s.List(t.Context(), ""); !errors.Is(err, secret.ErrUnavailable) || held != nil {
			t.Errorf("List of what answers %s = %v, %v", body, held, err)
		}
		f.Heal()
	}
	f.Fail(fake.Fault{Method: "GET", Path: "/metadata/", Kind: fake.JSON, Status: 299, Body: `{"data":{"keys":["x"` + strings.Repeat(`,"x"`, 2000) + `]}}`})
	if held, err := s.List(t.Context(), ""); err != nil || held != nil {
		t.Errorf("List of many names of others, with status 299 = %v, %v", held, err)
	}
	for _, body := range []string{`{"data":{"version":1},"Data":7}`, `{"data":{"version":2}}`, `{}`} {
		f.Fail(fake.Fault{Method: "PUT", Path: "/data/", Kind: fake.JSON, Status: 200, Body: body})
		f.Requests() // until now
		if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || len(f.Requests()) != 1 {
			t.Errorf("Check where what is written is answered with %s = %v", body, err)
		}
		f.Heal()
	}
	file := filepath.Join(t.TempDir(), "token")
	writeFile(t, file, f.Token())
	o.Auth = vault.Auth{TokenFile: file}
	for body, ok := range map[string]bool{`{"data":{"ttl":3600}}`: true, `{"data":{"ttl":"x"}}`: false, `{}`: false, `[`: false} {
		f.Fail(fake.Fault{Path: "/lookup-self$", Kind: fake.JSON, Status: 200, Body: body, Times: -1})
		if _, err := mustOpen(t, o).Get(t.Context(), ref); (err == nil) != ok || err != nil && !errors.Is(err, secret.ErrUnavailable) {
			t.Errorf("Get by a token of which is said %s = %v", body, err)
		}
		f.Heal()
	}
}

// A session that is renewed for half of its first life is kept, and one for less is replaced; a failure of both is told.
func TestKeeperGoesByTheLifeThatItGets(t *testing.T) {
	for name, c := range map[string]struct {
		seconds string
		logins  int
	}{"half": {"1800", 1}, "less": {"1799", 2}} {
		f, clock, o := timed(t)
		s := mustOpen(t, o)
		var k vault.Keeper
		clock.Add(k.Pass(t.Context(), s))
		f.Fail(fake.Fault{Path: renewPath, Kind: fake.JSON, Status: 200, Body: `{"auth":{"client_token":"` + f.Token() + `","lease_duration":` + c.seconds + `,"renewable":true}}`})
		k.Pass(t.Context(), s)
		if n := f.Count("PUT", loginPath); n != c.logins {
			t.Errorf("renewed for %s of its life: %d logins, want %d", name, n, c.logins)
		}
	}
	f, clock, o := timed(t)
	var log fake.Buffer
	o.Log = testlog.To(t, slog.NewTextHandler(&log, nil))
	s := mustOpen(t, o)
	if strings.Contains(log.String(), "WARN") {
		t.Errorf("a store that is ready says %s", log.String())
	}
	var k vault.Keeper
	clock.Add(k.Pass(t.Context(), s))
	f.Fail(fake.Fault{Path: renewPath, Kind: fake.Refuse, Status: 403})
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 503, Times: -1})
	if pause := k.Pass(t.Context(), s); pause <= 0 || !strings.Contains(log.String(), "WARN") {
		t.Errorf("after a failure of both the next pass is in %v, and the log says %q", pause, log.String())
	}
	// A renewal for less counts, also where the login that is to follow it fails.
	f, clock, o = timed(t)
	s = mustOpen(t, o)
	ref, key := mustPut(t, s)
	k = vault.Keeper{}
	clock.Add(k.Pass(t.Context(), s))
	f.Fail(fake.Fault{Path: renewPath, Kind: fake.JSON, Status: 200, Body: `{"auth":{"client_token":"` + f.Token() + `","lease_duration":60,"renewable":true}}`})
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 503})
	k.Pass(t.Context(), s)
	clock.Add(time.Minute)
	wantKey(t, s, ref, key)
	wantLogins(t, f, 3)
	late, _, o := timed(t)
	o.Log = testlog.To(t, slog.NewTextHandler(&log, nil))
	late.Seal()
	mustOpen(t, o)
	if !strings.Contains(log.String(), "Vault key store is not ready") {
		t.Errorf("of a store that is not ready the log says %q", log.String())
	}
}

// A variable of the environment that Vault's library cannot read is a fault of the start.
func TestAnEnvironmentThatCannotBeRead(t *testing.T) {
	f := fakevault.New(t, time.Now)
	t.Setenv("VAULT_SKIP_VERIFY", "maybe")
	if s, err := vault.Open(t.Context(), optionsFor(t, f)); s != nil || err == nil || !strings.Contains(err.Error(), "opening Vault key store: a VAULT_ variable of the environment cannot be read") {
		t.Errorf("Open = %v, %v", s, err)
	}
	if len(f.Requests()) > 0 {
		t.Error("it asks Vault all the same")
	}
}

package barbican_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
	"github.com/vimbroker/vimbroker/test/sweep"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// swept is a store for one run of a flow, at a fixed time.
type swept struct {
	t     testing.TB
	f     *fakebarbican.Server
	now   *clock.Clock
	store *barbican.Store
	owner secret.Owner
	key   *secret.Key
	log   *bytes.Buffer
}

// fresh is a store that has not logged in.
func fresh(t testing.TB, appCred bool) *swept {
	t.Helper()
	w := &swept{
		t: t, now: clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), owner: secret.Owner{ID: uuid.NewString(), Generation: 7}, log: &bytes.Buffer{},
	}
	w.f = fakebarbican.NewPlain(t, w.now.Now)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(w.f.Password()), 0o600); err != nil {
		t.Fatal(err)
	}
	auth := keystone.Auth{Password: &keystone.Password{UserID: fakebarbican.UserID, ProjectID: fakebarbican.ProjectID, PasswordFile: password}}
	if appCred {
		auth = keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: fakebarbican.AppCredID, SecretFile: password}}
	}
	var err error
	if w.key, err = secret.NewKey(); err != nil {
		t.Fatal(err)
	}
	w.store, err = barbican.Open(barbican.Options{
		AuthURL: w.f.AuthURL, Endpoint: w.f.Endpoint, Auth: auth, Now: w.now.Now, Log: testlog.To(t, slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close(context.Background()) })
	return w
}

// in has logged in.
func (w *swept) in() *swept {
	w.t.Helper()
	if _, err := w.store.List(w.t.Context(), ""); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *swept) put() secret.Ref {
	w.t.Helper()
	ref, err := w.store.Put(w.t.Context(), w.owner, w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return ref
}

func (w *swept) bench(run func(context.Context) (any, error)) *sweep.Bench {
	return &sweep.Bench{
		Servers: map[string]*fake.Server{"": w.f.Server}, Run: run, Log: w.log.String,
		Standing: func() (lines []string) {
			for _, s := range w.f.Secrets() {
				lines = append(lines, fmt.Sprintf("secret %s %s %s %s of %s, %q, closed %t to all but %v, exposed %t",
					s.Name, s.Mode, s.Algorithm, s.Type, s.Creator, s.Payload, s.Closed, s.Readers, s.Exposed))
			}
			return lines
		},
		Names: map[string]string{
			w.owner.ID: "owner", w.f.Password(): "password", string(w.key.Encode()): "key", fakebarbican.UserID: "user",
			fakebarbican.ProjectID: "project", fakebarbican.AppCredID: "application credential",
		},
		Secrets: func() []string { return []string{string(w.key.Encode()), w.f.Password()} },
		Later:   func() { w.now.Add(time.Minute) }, // a refused login is not tried again before
	}
}

func (w *swept) get(ref secret.Ref) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		got, err := w.store.Get(ctx, ref)
		return fmt.Sprint("the key: ", err == nil && got.Equal(w.key)), err
	}
}

// altered are the requests of flows whose answers are altered.
var altered = map[string]string{"get": ".", "put-logging-in": ".", "list": "offset=1"}

func flow(name string, make func(w *swept) *sweep.Bench) sweep.Flow {
	return sweep.Flow{Name: name, Fields: altered[name], Statuses: map[string]string{"list": "offset=1", "put-logging-in": "auth"}[name], New: func(t testing.TB) *sweep.Bench { return make(fresh(t, false)) }}
}

func TestSweep(t *testing.T) {
	s := sweep.OfKeyStore("Barbican", "Keystone")
	s.Words = map[string]*regexp.Regexp{
		"version": regexp.MustCompile(`[0-9]+\.[0-9a-f]{32}`), "token": regexp.MustCompile(`gAAAAA[A-Z2-7]{20,}`), "random": regexp.MustCompile(`"[0-9a-f]{32}"`),
	}
	s.Kindless = true // a status that no call expects is the fault of the configuration
	s.Headers = []string{"X-Auth-Token", "X-Subject-Token", "Content-Type", "Accept"}
	s.Exceptions = []sweep.Exception{
		{Flow: "^close$", Fault: "40[134]", Left: true, Why: "the token is known no more"},
		{Flow: "^close$", Fault: "409", Want: sweep.Unkind, Left: true, Why: "the token ends by itself"},
		{Flow: "^close$", Usual: true, Left: true, Why: "the token ends by itself"},
		{Request: "/auth/tokens", Fault: "404", Want: secret.ErrForbidden, Why: "Keystone says so of an application credential that is deleted"},
		{Flow: "^get-again$", Request: "/secrets/<uuid> ", Nth: 1, Fault: "503|401|drop|cut|hollow", Why: "the token is known no more, and that is heard the second time"},
		{Flow: "^get-again$", Request: "/secrets/<uuid> ", Nth: 2, Fault: "401", Want: secret.ErrForbidden, Why: "it is a token of a moment ago"},
		{Flow: "^check$", Request: "^DELETE ", Fault: "403|page", Usual: true, Left: true, Why: "the secret of a check holds no key"},
		{Flow: "^check$", Request: "^DELETE ", Fault: "409", Want: sweep.Unkind, Left: true, Why: "the secret of a check holds no key"},
		{Flow: "^check$", Fault: "down", Want: secret.ErrUnavailable, Left: true, Why: "the secret of a check holds no key"},
		{Fault: "409", Want: sweep.Unkind, Why: "neither says so of these requests: it is no answer that a later call changes"},
		{Request: " /v1/|^[A-Z]+ /v1/", Fault: "401", Why: "the token may have ended: with another the call succeeds"},
		{Request: "^DELETE ", Fault: "404", Left: true, Why: "Barbican's word that a secret is gone"},
		{Request: "/v1/", Fault: "404", Want: secret.ErrNotFound, Why: "Barbican's word on what was asked for"},
		{Flow: "^(put|check)", Request: "^POST /v1/secrets", Fault: "lost|cut|hollow", Want: secret.ErrUnavailable, Left: true, Why: "a list shows what was made unheard, which is empty"},
		{Flow: "^put", Fault: "down", Want: secret.ErrUnavailable, Left: true, Why: "a list shows what could not be deleted"},
		{Request: "^PUT /v1/secrets/<uuid> ", Fault: "lost", Why: "what is there is compared"},
		{Request: "^GET .*/payload ", Fault: "cut", Want: secret.ErrCorrupt, Bare: true, Why: "a shorter payload is no key"},
		{Request: "^(GET|DELETE) /v1/|/acl ", Fault: "503|^drop|lost|cut|hollow", Why: "what changes nothing by being done twice is asked again at once"},
	}
	put := func(w *swept) *sweep.Bench {
		b := w.bench(func(ctx context.Context) (any, error) {
			ref, err := w.store.Put(ctx, w.owner, w.key)
			return ref, err
		})
		b.Undo = func(ctx context.Context) error { return sweep.DeleteKeys(ctx, w.store, w.owner.ID) }
		return b
	}
	list := func(w *swept, id string) *sweep.Bench {
		w.f.SetPage(2)
		for range 3 {
			w.put()
		}
		return w.bench(func(ctx context.Context) (any, error) {
			held, err := w.store.List(ctx, id)
			slices.SortFunc(held, func(a, b secret.Held) int { return cmp.Compare(a.Ref, b.Ref) })
			return held, err
		})
	}
	check := func(w *swept) *sweep.Bench {
		return w.bench(func(ctx context.Context) (any, error) { return "", w.store.Check(ctx) })
	}
	s.Run(t,
		flow("put", func(w *swept) *sweep.Bench { return put(w.in()) }),
		flow("put-logging-in", put),
		flow("get", func(w *swept) *sweep.Bench { return w.bench(w.get(w.put())) }),
		flow("get-again", func(w *swept) *sweep.Bench {
			ref := w.put()
			w.f.RevokeTokens()
			return w.bench(w.get(ref))
		}),
		sweep.Flow{Name: "get-by-application-credential", New: func(t testing.TB) *sweep.Bench {
			w := fresh(t, true)
			ref := w.put()
			w.now.Add(2 * time.Hour)
			return w.bench(w.get(ref))
		}},
		flow("delete", func(w *swept) *sweep.Bench {
			ref := w.put()
			return w.bench(func(ctx context.Context) (any, error) { return w.store.Delete(ctx, ref) })
		}),
		flow("list", func(w *swept) *sweep.Bench { return list(w, w.owner.ID) }),
		flow("list-all", func(w *swept) *sweep.Bench { return list(w, "") }),
		flow("check", check),
		flow("check-again", func(w *swept) *sweep.Bench {
			if err := w.store.Check(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			return check(w)
		}),
		flow("close", func(w *swept) *sweep.Bench {
			w.in()
			b := w.bench(func(ctx context.Context) (any, error) { return "", w.store.Close(ctx) })
			b.Standing = func() []string { return []string{fmt.Sprint("tokens: ", w.f.Tokens())} }
			return b
		}),
	)
}

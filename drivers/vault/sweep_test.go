package vault_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/sweep"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// swept is a store for one run of a flow, at a fixed time.
type swept struct {
	t     testing.TB
	f     *fakevault.Server
	now   *clock.Clock
	store *vault.Store
	owner secret.Owner
	key   *secret.Key
	log   *bytes.Buffer
	pod   string
}

// fresh is a store that has logged in.
func fresh(t testing.TB, change func(*swept, *vault.Options)) *swept {
	t.Helper()
	w := &swept{
		t: t, now: clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), owner: secret.Owner{ID: uuid.NewString(), Generation: 7}, key: newKey(t),
		log: &bytes.Buffer{}, pod: "pod-token-" + uuid.NewString(),
	}
	w.f = fakevault.NewPlain(t, w.now.Now)
	w.f.AdmitPod(w.pod)
	o := optionsFor(t, w.f)
	o.Now, o.Log = w.now.Now, testlog.To(t, slog.NewTextHandler(w.log, nil))
	if change != nil {
		change(w, &o)
	}
	w.store = mustOpen(t, o)
	return w
}

// put stores the key.
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
		Servers: map[string]*fake.Server{"": w.f.Server}, Run: run, Standing: w.f.Names, Log: w.log.String,
		Names:   map[string]string{w.owner.ID: "owner", w.f.SecretID(): "secret id", w.f.RoleID: "role", string(w.key.Encode()): "key", w.pod: "pod's token"},
		Secrets: func() []string { return []string{string(w.key.Encode()), w.f.SecretID(), w.pod} },
		Later:   func() { w.now.Add(2 * time.Minute) }, // a refused login is not tried again before
	}
}

func (w *swept) get(ref secret.Ref) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		got, err := w.store.Get(ctx, ref)
		return fmt.Sprint("the key: ", err == nil && got.Equal(w.key)), err
	}
}

func (w *swept) list(id string) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		held, err := w.store.List(ctx, id)
		slices.SortFunc(held, func(a, b secret.Held) int { return cmp.Compare(a.Ref, b.Ref) })
		return held, err
	}
}

// ended are the requests by which a secret goes.
const ended = "^(GET|PUT|DELETE) /v1/secret/(metadata|destroy)/"

var vaultSweep = func() *sweep.Suite {
	s := sweep.OfKeyStore("Vault")
	s.Words = map[string]*regexp.Regexp{"version": regexp.MustCompile(`[0-9]+\.[0-9a-f]{32}`), "token": regexp.MustCompile(`hvs\.[A-Z2-7]+`)}
	s.Kindless = true // a status that no call expects is the fault of the configuration
	s.Headers = []string{"X-Vault-Token", "X-Vault-Request"}
	s.Exceptions = []sweep.Exception{
		{Request: "/login ", Fault: "401", Want: secret.ErrForbidden, Why: "a way to log in may say so"},
		{Flow: "logging-in$", Request: "/secret/", Nth: 1, Fault: "403|cut|hollow", Why: "the session is over, which Vault says with 403 already"},
		{Flow: "logging-in$", Request: "/lookup-self", Fault: "403|cut|hollow", Why: "the session is over, which Vault says with 403 already"},
		{Flow: "^close$", Fault: "403", Why: "the session is over already"},
		{Flow: "^put-logging-in$", Request: "/secret/", Nth: 1, Fault: "lost", Want: secret.ErrUnavailable, Why: "nothing was written to be read back"},
		{Request: "^(GET|DELETE) |/destroy/", Fault: "^(drop|lost)$", Why: "what changes nothing by being done twice is asked again at once"},
		{Flow: "^check$", Request: ended, Fault: "401", Want: secret.ErrUnavailable, Left: true, Why: "the entry of a check holds nothing"},
		{Flow: "^check$", Request: ended, Usual: true, Left: true, Why: "the entry of a check holds nothing"},
		{Flow: "^check$", Request: "^GET /v1/secret/data/", Fault: "down", Usual: true, Left: true, Why: "the entry of a check holds nothing"},
		{Flow: "^(put|check)", Request: "^PUT /v1/secret/data/vimbroker/<owner>", Fault: "lost|cut|hollow", Why: "what was written is read back"},
		{
			Flow: "^check$", Request: "^PUT /v1/secret/data/", Fault: "lost|cut|hollow", Want: secret.ErrUnavailable, Left: true,
			Why: "an entry of a check whose answer is lost stays, and holds nothing",
		},
		{Fault: "401", Want: secret.ErrUnavailable, Why: "Vault answers nobody so"},
	}
	return &s
}

// altered are the requests of flows whose answers are altered.
var altered = map[string]string{"get": ".", "delete": ".", "list": ".", "check": ".", "login-approle": "login", "login-token": "lookup", "put": "."}

// flow is one on a fresh store; what it makes is taken back where it says how.
func flow(name, beside string, make func(w *swept) *sweep.Bench, change ...func(*swept, *vault.Options)) sweep.Flow {
	return sweep.Flow{Name: name, Beside: beside, Fields: altered[name], Statuses: map[string]string{"get": ".", "login-approle": "login"}[name], New: func(t testing.TB) *sweep.Bench {
		w := fresh(t, func(w *swept, o *vault.Options) {
			for _, c := range change {
				c(w, o)
			}
		})
		return make(w)
	}}
}

// forgotten makes a session, which worked, one that Vault does not know any more.
func (w *swept) forgotten() *swept {
	w.t.Helper()
	if err := w.store.Check(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.f.RevokeTokens()
	return w
}

func TestSweepOfKeys(t *testing.T) {
	put := func(w *swept) *sweep.Bench {
		b := w.bench(func(ctx context.Context) (any, error) {
			ref, err := w.store.Put(ctx, w.owner, w.key)
			return ref, err
		})
		b.Undo = func(ctx context.Context) error { return sweep.DeleteKeys(ctx, w.store, w.owner.ID) }
		return b
	}
	vaultSweep().Run(t,
		flow("get", "", func(w *swept) *sweep.Bench { return w.bench(w.get(w.put())) }),
		flow("put", "", put),
		flow("put-logging-in", "", func(w *swept) *sweep.Bench { return put(w.forgotten()) }),
		flow("get-logging-in", "", func(w *swept) *sweep.Bench {
			ref := w.put()
			return w.bench(w.forgotten().get(ref))
		}),
		flow("delete", "", func(w *swept) *sweep.Bench {
			ref := w.put()
			return w.bench(func(ctx context.Context) (any, error) { return w.store.Delete(ctx, ref) })
		}),
		flow("delete-again", "", func(w *swept) *sweep.Bench {
			ref := w.put()
			if _, err := w.store.Delete(w.t.Context(), ref); err != nil {
				w.t.Fatal(err)
			}
			return w.bench(func(ctx context.Context) (any, error) { return w.store.Delete(ctx, ref) })
		}),
		flow("list", "", func(w *swept) *sweep.Bench {
			w.put()
			w.put()
			return w.bench(w.list(w.owner.ID))
		}),
		flow("list-all", "list=true", func(w *swept) *sweep.Bench {
			w.put()
			other := *w
			other.owner.ID = "00000000-0000-4000-8000-000000000001"
			other.put()
			return w.bench(w.list(""))
		}),
		flow("check", "", func(w *swept) *sweep.Bench {
			return w.bench(func(ctx context.Context) (any, error) { return "", w.store.Check(ctx) })
		}),
	)
}

func TestSweepOfLogins(t *testing.T) {
	get := func(w *swept) *sweep.Bench {
		ref := w.put()
		w.now.Add(2 * time.Hour) // the session is over
		return w.bench(w.get(ref))
	}
	file := func(w *swept, text string) string {
		name := filepath.Join(w.t.TempDir(), "credential")
		writeFile(w.t, name, text)
		return name
	}
	vaultSweep().Run(t,
		flow("login-approle", "", get),
		flow("login-kubernetes", "", get, func(w *swept, o *vault.Options) {
			o.Auth = vault.Auth{JWT: &vault.JWT{MountPath: "kubernetes", Role: "vimbroker", TokenFile: file(w, w.pod)}}
		}),
		flow("login-token", "", func(w *swept) *sweep.Bench {
			ref := w.put()
			return w.bench(func(ctx context.Context) (any, error) {
				got, err := w.store.Get(ctx, ref)
				return err == nil && got.Equal(w.key), err
			})
		}, func(w *swept, o *vault.Options) { o.Auth = vault.Auth{TokenFile: file(w, w.f.Token())} }),
		flow("close", "", func(w *swept) *sweep.Bench {
			return w.bench(func(ctx context.Context) (any, error) { return "", w.store.Close(ctx) })
		}),
	)
}

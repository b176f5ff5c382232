package barbican_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
)

// listed is how Barbican shows a secret of a VIM.
func listed(vim string) string {
	return fmt.Sprintf(`{"name":"vimbroker/%s","mode":"1.%s","secret_ref":"https://b/v1/secrets/%s","creator_id":%q}`,
		vim, strings.ReplaceAll(uuid.NewString(), "-", ""), uuid.NewString(), fakebarbican.UserID)
}

// A secret is a key's by a name in the folder, is shown with a state, and comes after a login that gives a token.
func TestAnswersThatAreHalfRight(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	ref, key := mustPut(t, s)
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.JSON, Status: 200, Body: `{"secrets":[` + strings.Replace(listed(uuid.NewString()), "vimbroker/", "", 1) + `]}`})
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.JSON, Status: 200, Body: `{"secrets":[]}`, Times: -1})
	if held, err := s.List(t.Context(), ""); err != nil || len(held) > 0 {
		t.Errorf("List of a secret beside the folder = %+v, %v", held, err)
	}
	f.Heal()
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets/" + string(ref) + "$", Kind: fake.JSON, Status: 200, Body: `{"content_types":{"default":"application/octet-stream"}}`, Times: -1})
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Get of what has no state = %v, want ErrUnavailable", err)
	}
	f.Heal()
	wantKey(t, s, ref, key)
	for name, edit := range map[string]func(http.Header, []byte) []byte{
		"no token": func(h http.Header, body []byte) []byte {
			h.Del("X-Subject-Token")
			return body
		},
		"no time": func(_ http.Header, body []byte) []byte {
			return regexp.MustCompile(`"issued_at":"[^"]*"`).ReplaceAll(body, []byte(`"issued_at":7`))
		},
	} {
		f.Fail(fake.Fault{Method: "POST", Path: "/auth/tokens$", Kind: fake.Edit, Edit: edit, Times: -1})
		if _, err := mustOpen(t, optionsFor(t, f)).Get(t.Context(), ref); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "what answers is not Keystone (no token)") {
			t.Errorf("Get after a login with %s = %v", name, err)
		}
		f.Heal()
	}
}

// A list of one VIM shows its keys alone, and one that never joins its pages is none.
func TestListsThatAreNotWhole(t *testing.T) {
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	one, other := uuid.NewString(), uuid.NewString()
	for id, want := range map[string]int{one: 1, "": 2} {
		f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.JSON, Status: 200, Body: `{"secrets":[` + listed(one) + "," + listed(other) + `]}`})
		f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.JSON, Status: 200, Body: `{"secrets":[]}`, Times: -1})
		held, err := s.List(t.Context(), id)
		f.Heal()
		if err != nil || len(held) != want || held[0].Owner.ID != one {
			t.Errorf("List(%q) = %+v, %v, want %d", id, held, err, want)
		}
	}
	// A page that begins with one that was seen goes on from there.
	a, b, c := listed(one), listed(one), listed(one)
	for _, page := range []string{a + "," + b, a + "," + c, c} {
		f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.JSON, Status: 200, Body: `{"secrets":[` + page + `]}`})
	}
	f.Requests()
	if held, err := s.List(t.Context(), one); err != nil || len(held) != 3 {
		t.Errorf("List of three on pages that overlap = %d, %v", len(held), err)
	}
	if asked := f.Requests(); len(asked) != 3 || !strings.Contains(asked[2].Query, "offset=2") {
		t.Errorf("it asks %+v", asked)
	}
	pages := 0
	f.Fail(fake.Fault{Method: "GET", Path: "^/v1/secrets$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, _ *http.Request) {
		pages++
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"secrets":[%s,%s]}`, listed(uuid.NewString()), listed(uuid.NewString()))
	}})
	held, err := s.List(t.Context(), "")
	if held != nil || !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "change faster than they can be listed") || pages != 202 {
		t.Errorf("List of what changes with each of %d pages = %d keys, %v", pages, len(held), err)
	}
	f.Heal()
	if erased, err := s.Delete(t.Context(), "x"); erased != "" || err == nil || !strings.Contains(err.Error(), "not a reference of this key store") {
		t.Errorf("Delete of no reference = %q, %v", erased, err)
	}
}

// A payload counts that Barbican gives whole, as what it is, and that is the one that was written.
func TestPayloadsThatAreAnothers(t *testing.T) {
	const octets = "application/octet-stream"
	payload := func(kind, text string, cut bool) fake.Fault {
		return fake.Fault{Method: "GET", Path: "/payload$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			if cut {
				w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
			}
			_, _ = w.Write([]byte(text))
			if cut {
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
		}}
	}
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	whole := string(key.Encode())
	for name, c := range map[string]struct {
		f    fake.Fault
		want error
	}{
		"a key":                       {payload(octets, whole, false), nil},
		"a key that is cut":           {payload(octets, whole, true), secret.ErrUnavailable},
		"a key in a form of no form":  {payload(octets+"; a", whole, false), secret.ErrUnavailable},
		"a key in a form of its name": {payload(octets+"; a=b", whole, false), nil},
		"a key as a text":             {payload("text/plain", whole, false), secret.ErrUnavailable},
		"as much as is read":          {payload(octets, strings.Repeat("A", 64), false), secret.ErrCorrupt},
		"more than is read":           {payload(octets, strings.Repeat("A", 65), false), secret.ErrCorrupt},
	} {
		f := fakebarbican.New(t, nil)
		s := mustOpen(t, optionsFor(t, f))
		ref, _ := mustPut(t, s)
		f.Fail(c.f)
		got, err := s.Get(t.Context(), ref)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err == nil && !got.Equal(key) {
			t.Errorf("Get of %s = %v, want %v", name, err, c.want)
		}
	}
	f := fakebarbican.New(t, nil)
	s := mustOpen(t, optionsFor(t, f))
	f.Fail(payload(octets, "another", false))
	if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "gives another value than was written") {
		t.Errorf("Check of what gives another value = %v", err)
	}
	// The answer to a payload is lost, and another is there: the key is not stored.
	f.Fail(fake.Fault{Method: "PUT", Path: "^/v1/secrets/[^/]*$", Kind: fake.Drop})
	if ref, err := s.Put(t.Context(), newOwner(), key); ref != "" || !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Put beside another payload = %q, %v", ref, err)
	}
	f.Heal()
	// Who gives up meanwhile asks for nothing more but that it goes.
	ctx, cancel := context.WithCancel(t.Context())
	f.Requests()
	f.Fail(fake.Fault{Method: "PUT", Path: "^/v1/secrets/[^/]*$", Kind: fake.Hang, Reached: cancel})
	if ref, err := s.Put(ctx, newOwner(), key); ref != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Put that is given up = %q, %v", ref, err)
	}
	for _, r := range f.Requests() {
		if strings.HasSuffix(r.Path, "/payload") {
			t.Error("it reads what it has given up")
		}
	}
	if held := f.Secrets(); len(held) != 0 {
		t.Errorf("%d secrets are left", len(held))
	}
}

// A check writes again after an hour, a login may be given up, and a token that ends as it begins is none.
func TestEdgesOfTime(t *testing.T) {
	now := time.Now()
	f := fakebarbican.New(t, nil)
	o := optionsFor(t, f)
	o.Now = func() time.Time { return now }
	s := mustOpen(t, o)
	for _, step := range []struct {
		after  time.Duration
		writes int
	}{{0, 1}, {time.Hour - 1, 1}, {1, 2}} {
		now = now.Add(step.after)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := f.Count("POST", "/v1/secrets"); n != step.writes {
			t.Errorf("after %v more %d secrets were made, want %d", step.after, n, step.writes)
		}
	}
	for life, ok := range map[string]bool{"2030-01-01T00:00:00Z": false, "2030-01-01T00:00:01Z": true} {
		f := fakebarbican.New(t, nil)
		f.Fail(fake.Fault{Path: tokensPath + "$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Subject-Token", "t")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = fmt.Fprintf(w, `{"token":{"issued_at":"2030-01-01T00:00:00Z","expires_at":%q,"user":{"id":"u"},"project":{"id":"p"}}}`, life)
		}})
		_, err := mustOpen(t, optionsFor(t, f)).List(t.Context(), "")
		if expired := err != nil && strings.Contains(err.Error(), "a token that has expired"); expired == ok {
			t.Errorf("a token of %s: %v", life, err)
		}
	}
	f = fakebarbican.New(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f.Fail(fake.Fault{Path: tokensPath + "$", Kind: fake.Hang, Reached: cancel})
	if _, err := mustOpen(t, optionsFor(t, f)).List(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a login that is given up: %v", err)
	}
	f.Heal()
	if s, err := barbican.Open(barbican.Options{}); s != nil || err == nil || !strings.HasPrefix(err.Error(), "opening Barbican key store: ") {
		t.Errorf("Open without options = %v", err)
	}
}

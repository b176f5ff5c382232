package session_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// people are callers by token.
type people map[string]policy.Principal

func (p people) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	if who, known := p[token]; known {
		return who, nil
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

func (p people) Held() (all []policy.HeldToken) {
	for token := range p {
		all = append(all, policy.HeldToken{ID: policy.TokenID(token)})
	}
	return all
}

func (p people) Lookup(_ context.Context, name, _ string) (policy.Principal, error) {
	for _, who := range p {
		if who.Name == name {
			return who, nil
		}
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

// corp is an issuer that gives tokens for one code.
type corp struct {
	asked  url.Values
	away   bool
	tokens []secret.Text
}

func (c *corp) AuthorizationAt(context.Context, trust.Authority) (string, error) {
	if c.away {
		return "", errors.New("away")
	}
	return "https://corp.example/authorize?tenant=7", nil
}

func (c *corp) Exchange(_ context.Context, _ trust.Authority, form url.Values) ([]secret.Text, error) {
	c.asked = form
	if form.Get("code") != "good" {
		return nil, errors.New("no such code")
	}
	return c.tokens, nil
}

type stay struct {
	*session.Sessions
	people people
	corp   *corp
	now    *clock.Clock
	store  *sqlite.Store
	same   bool // the entry of trust is as it was
}

func newStay(t *testing.T) *stay {
	t.Helper()
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	s := &stay{corp: &corp{tokens: []secret.Text{secret.NewText("for another audience"), secret.NewText("of carol")}}, now: now, store: store, same: true, people: people{
		"alice's": {Name: "alice", Project: "north", Roles: []string{"member"}},
		"of carol": {
			Name: "oidc:corp:carol", Project: "north", Roles: []string{"reader"},
			Login: policy.Arrival{Entry: "corp", Digest: "d", Until: now.Now().Add(time.Hour)},
		},
	}}
	s.Sessions = session.New(session.Options{
		Store: store, Callers: s.people, Directories: map[string]policy.Directory{policy.ByStaticToken: s.people},
		Current: func(string, string) bool { return s.same }, Guard: &audit.Guard{Sink: store, Now: now.Now}, Log: testlog.Silent(t), Now: now.Now,
	}, session.Issuers{
		Entries: func() []trust.Authority {
			return []trust.Authority{{Name: "corp", Issuer: "https://corp.example", Login: &trust.Signin{ClientID: "vimbroker"}}}
		}, Provider: s.corp, Once: store,
	})
	return s
}

func (s *stay) found(t *testing.T, plain string, used bool) bool {
	t.Helper()
	_, _, err := s.Find(t.Context(), plain, used)
	if err != nil && !errors.Is(err, policy.ErrUnauthenticated) {
		t.Fatal(err)
	}
	return err == nil
}

func TestASessionEnds(t *testing.T) {
	s := newStay(t)
	plain, made, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil || made.Digest == plain || strings.Contains(plain, made.ID) {
		t.Fatalf("EnterWithToken() = %+v, %v", made, err)
	}
	s.now.Add(session.Idle - time.Second)
	if !s.found(t, plain, true) {
		t.Error("a session is over before it has idled")
	}
	s.now.Add(session.Idle - time.Second)
	if !s.found(t, plain, false) { // a page that refreshes itself
		t.Error("a session that was used is over")
	}
	s.now.Add(time.Second)
	if s.found(t, plain, true) {
		t.Error("a session lives that nobody used for long: a page that refreshes itself keeps it")
	}
	plain, _, err = s.EnterWithToken(t.Context(), "alice's")
	if err != nil {
		t.Fatal(err)
	}
	for range int(session.Most/time.Minute) - 1 {
		s.now.Add(time.Minute)
		if !s.found(t, plain, true) {
			t.Fatal("a session that is used is over before its end")
		}
	}
	s.now.Add(time.Minute)
	if s.found(t, plain, true) {
		t.Error("a session outlives its end")
	}
}

func TestASessionHasTheRolesOfNow(t *testing.T) {
	s := newStay(t)
	plain, _, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil {
		t.Fatal(err)
	}
	s.people["alice's"] = policy.Principal{Name: "alice", Project: "north", Roles: []string{"reader"}}
	if p, _, err := s.Find(t.Context(), plain, true); err != nil || !slices.Equal(p.Roles, []string{"reader"}) {
		t.Errorf("after its roles were changed alice is %+v, %v", p, err)
	}
	delete(s.people, "alice's")
	if s.found(t, plain, true) {
		t.Error("who is gone has a session")
	}
}

func TestOneCallerHasFewSessions(t *testing.T) {
	s := newStay(t)
	first := ""
	for n := range session.PerPrincipal + 1 {
		s.now.Add(time.Second)
		plain, _, err := s.EnterWithToken(t.Context(), "alice's")
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = plain
		}
	}
	all, err := s.List(t.Context(), s.people["alice's"])
	if err != nil || len(all) != session.PerPrincipal || s.found(t, first, false) {
		t.Errorf("%d sessions, %v; the first is there: %v", len(all), err, s.found(t, first, false))
	}
}

// longer is what the browser keeps of a login, for a time that nobody gave it.
func longer(t *testing.T, kept string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(kept)
	var b session.Begun
	if err != nil || json.Unmarshal(text, &b) != nil {
		t.Fatalf("%s: %v", kept, err)
	}
	b.Until = b.Until.Add(time.Second)
	if text, err = json.Marshal(b); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// A login at an issuer counts once, in the browser that began it, and for five minutes.
func TestALoginAtAnIssuer(t *testing.T) {
	s := newStay(t)
	at, kept, err := s.BeginLogin(t.Context(), "corp", "https://broker.example/ui/callback", "/ui/leases")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("tenant") != "7" || q.Get("scope") != "openid" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		t.Errorf("the person is led to %s", at)
	}
	good := url.Values{"state": {q.Get("state")}, "code": {"good"}, "iss": {"https://corp.example"}}
	with := func(name, value string) url.Values {
		changed := url.Values{}
		for k, v := range good {
			changed[k] = v
		}
		changed.Set(name, value)
		return changed
	}
	for what, c := range map[string]struct {
		kept string
		came url.Values
	}{
		"another state":  {kept, with("state", "x")},
		"no state":       {kept, with("state", "")},
		"another cookie": {"", good},
		"a longer time":  {longer(t, kept), good},
	} {
		if plain, _, _, err := s.FinishLogin(t.Context(), c.kept, c.came); !errors.Is(err, broker.ErrInvalid) || plain != "" {
			t.Errorf("a login with %s: %v", what, err)
		}
	}
	plain, made, back, err := s.FinishLogin(t.Context(), kept, good)
	if err != nil || back != "/ui/leases" || made.Principal != "oidc:corp:carol" || s.corp.asked.Get("code_verifier") == "" || strings.Contains(at, s.corp.asked.Get("code_verifier")) {
		t.Fatalf("FinishLogin() = %+v, %q, %v", made, back, err)
	}
	if _, _, _, err := s.FinishLogin(t.Context(), kept, good); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a login that was finished, again: %v", err)
	}
	if s.same = false; s.found(t, plain, true) {
		t.Error("a session lives whose entry of trust was changed")
	}
	s.same = true
	s.now.Add(time.Minute)
	if !s.found(t, plain, true) {
		t.Error("the session is over before its token")
	}
	if !made.EndsAt.Equal(s.people["of carol"].Login.Until) {
		t.Errorf("the session ends at %v, and its token at %v", made.EndsAt, s.people["of carol"].Login.Until)
	}
	for what, c := range map[string]struct {
		over  time.Duration
		alter func(url.Values)
	}{
		"of another issuer": {0, func(v url.Values) { v.Set("iss", "https://evil.example") }},
		"without a code":    {0, func(v url.Values) { v.Del("code") }},
		"after its time":    {session.LoginWithin, func(url.Values) {}},
	} {
		at, kept, err := s.BeginLogin(t.Context(), "corp", "https://broker.example/ui/callback", "/ui/")
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(at)
		came := url.Values{"state": {u.Query().Get("state")}, "code": {"good"}}
		c.alter(came)
		s.now.Add(c.over)
		if plain, _, _, err := s.FinishLogin(t.Context(), kept, came); err == nil || plain != "" {
			t.Errorf("a login %s lets in", what)
		}
	}
}

func TestALinkLetsInOnceAndForAWhile(t *testing.T) {
	s := newStay(t)
	alice := s.people["alice's"]
	first, second, late := s.Link(alice, time.Minute), s.Link(alice, time.Minute), s.Link(alice, time.Minute)
	enters := func(link string) bool {
		plain, made, err := s.EnterByLink(t.Context(), link)
		if err != nil && !errors.Is(err, policy.ErrUnauthenticated) {
			t.Fatal(err)
		}
		return err == nil && made.Principal == "alice" && s.found(t, plain, false)
	}
	s.now.Add(time.Minute - time.Second)
	if !enters(first) || !enters(second) {
		t.Error("a link lets nobody in, or a second one takes its place")
	}
	if enters(first) || enters("") {
		t.Error("a link lets in twice, or none does")
	}
	s.now.Add(time.Second)
	if enters(late) {
		t.Error("a link lets in after its time")
	}
}

func TestOneEndsOnesOwnSessions(t *testing.T) {
	s := newStay(t)
	plain, made, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil {
		t.Fatal(err)
	}
	kept, other, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil {
		t.Fatal(err)
	}
	namesake := policy.Principal{Name: "alice", Project: "south"}
	for _, p := range []policy.Principal{s.people["of carol"], namesake} {
		if err := s.End(t.Context(), p, made.ID); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s of %s ends a session of alice of north: %v", p.Name, p.Project, err)
		}
	}
	if err := s.End(t.Context(), s.people["alice's"], made.ID); err != nil || s.found(t, plain, true) || !s.found(t, kept, true) {
		t.Errorf("End() = %v; the session is there: %v, and the other one: %v", err, s.found(t, plain, true), s.found(t, kept, true))
	}
	if err := s.End(t.Context(), s.people["alice's"], made.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a session that has ended, again: %v", err)
	}
	s.now.Set(other.EndsAt)
	for _, pass := range s.Passes() {
		if err := pass.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := s.store.SessionsOf(t.Context(), "alice", "north", time.Time{}); err != nil || len(left) != 0 {
		t.Errorf("%d sessions that have ended are kept, %v", len(left), err)
	}
}

// A caller of whom nobody knows whether he is still there has to come in again soon.
func TestASessionOfWhomNobodyKnowsIsShort(t *testing.T) {
	s := newStay(t)
	s.people["of dan"] = policy.Principal{Name: "oidc:gone:dan", Project: "north", Roles: []string{"reader"}}
	_, made, err := s.EnterWithToken(t.Context(), "of dan")
	if err != nil || !made.EndsAt.Equal(s.now.Now().Add(policy.DefaultHold)) {
		t.Errorf("the session ends at %v, %v", made.EndsAt, err)
	}
	if _, _, err := s.EnterWithToken(t.Context(), "of nobody"); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("a token of nobody: %v", err)
	}
	if _, _, _, err := s.FinishLogin(t.Context(), "not base64", url.Values{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a cookie of something else: %v", err)
	}
}

// A store that cannot be read is no refusal: the browser keeps its session.
func TestAStoreThatIsAwayEndsNoSession(t *testing.T) {
	s := newStay(t)
	plain, _, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Find(t.Context(), plain, true); err == nil || errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("Find() = %v", err)
	}
}

// An issuer that is away, gives no code's token, or none for this server, lets nobody in; one that does not name itself does.
func TestAnIssuerThatGivesNothingLetsNobodyIn(t *testing.T) {
	s := newStay(t)
	login := func(code string) error {
		t.Helper()
		at, kept, err := s.BeginLogin(t.Context(), "corp", "https://broker.example/ui/callback", "/ui/")
		if err != nil {
			return err
		}
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		plain, made, back, err := s.FinishLogin(t.Context(), kept, url.Values{"state": {u.Query().Get("state")}, "code": {code}})
		if err != nil && (plain != "" || made.ID != "" || back != "") {
			t.Errorf("beside %v a session: %+v", err, made)
		}
		return err
	}
	if err := login("good"); err != nil {
		t.Errorf("an issuer that does not name itself: %v", err)
	}
	if err := login("bad"); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("a code that the issuer does not know: %v", err)
	}
	s.corp.tokens = s.corp.tokens[:1]
	if err := login("good"); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("tokens for others: %v", err)
	}
	s.corp.tokens = nil
	if err := login("good"); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("no token: %v", err)
	}
	s.corp.away = true
	if err := login("good"); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("an issuer that is away: %v", err)
	}
	if _, _, err := s.BeginLogin(t.Context(), "other", "https://broker.example/ui/callback", "/ui/"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("an issuer that nobody knows: %v", err)
	}
}

// Nothing that a browser can make up is a login that was begun here.
func TestALoginThatWasNotBegun(t *testing.T) {
	s := newStay(t)
	kept := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	until := s.now.Now().Add(time.Minute).Format(time.RFC3339)
	for what, c := range map[string]struct{ kept, state string }{
		"no text": {"%", "x"}, "no JSON": {kept("x"), "x"}, "no state": {kept(`{"entry":"corp","until":"` + until + `"}`), ""},
		"another state":    {kept(`{"entry":"corp","state":"x","until":"` + until + `"}`), "y"},
		"one that is over": {kept(`{"entry":"corp","state":"x","until":"` + s.now.Now().Format(time.RFC3339) + `"}`), "x"},
		"one of longer than a login may take": {
			kept(`{"entry":"corp","state":"x","until":"` + s.now.Now().Add(session.LoginWithin+time.Second).Format(time.RFC3339) + `"}`), "x",
		},
	} {
		plain, _, _, err := s.FinishLogin(t.Context(), c.kept, url.Values{"state": {c.state}, "code": {"good"}})
		if !errors.Is(err, broker.ErrInvalid) || plain != "" {
			t.Errorf("%s: %q, %v", what, plain, err)
		}
	}
	if names := s.Names(); !slices.Equal(names, []string{"corp"}) {
		t.Errorf("people log in at %q", names)
	}
	if _, _, err := s.BeginLogin(t.Context(), "none", "", ""); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a login at an issuer that there is not: %v", err)
	}
}

// Sessions that are over are forgotten by their pass, which tells what fails.
func TestSessionsAreForgotten(t *testing.T) {
	s := newStay(t)
	if _, _, err := s.EnterWithToken(t.Context(), "alice's"); err != nil {
		t.Fatal(err)
	}
	forget := s.Passes()[0]
	if err := forget.Run(t.Context()); err != nil || forget.Name != "forget-sessions" || forget.Every <= 0 {
		t.Errorf("the pass %s ends with %v, every %v", forget.Name, err, forget.Every)
	}
	if all, err := s.List(t.Context(), s.people["alice's"]); err != nil || len(all) != 1 {
		t.Errorf("one that is not over: %d, %v", len(all), err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := forget.Run(t.Context()); err == nil {
		t.Error("the pass tells nothing of a store that is away")
	}
}

// A session ends with the token that it was begun with, even if its owner has another.
func TestASessionEndsWithItsToken(t *testing.T) {
	s := newStay(t)
	s.people["alice's other"] = s.people["alice's"]
	plain, _, err := s.EnterWithToken(t.Context(), "alice's")
	if err != nil || !s.found(t, plain, false) {
		t.Fatalf("a session by token: %v", err)
	}
	delete(s.people, "alice's")
	if s.found(t, plain, false) {
		t.Error("a session goes on without its token")
	}
}

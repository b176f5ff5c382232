package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var errStep = errors.New("the step fails")

// books are sessions, callers, a directory and an issuer in memory, of which named steps fail.
type books struct {
	*session.Sessions
	all     []session.Session
	who     policy.Principal
	entries []trust.Authority
	tokens  []secret.Text
	changed bool // the entry of trust
	fails   map[string]error
	taken   []string
	said    []string // each step with what it was given
	log     strings.Builder
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func newBooks(t *testing.T) *books {
	b := &books{fails: map[string]error{}, who: policy.Principal{Name: "alice", Project: "p", Roles: []string{"member"}}}
	b.entries = []trust.Authority{{Name: "corp", Issuer: "https://corp", Login: &trust.Signin{ClientID: "vimbroker"}}}
	b.tokens = []secret.Text{secret.NewText("of alice")}
	now := func() time.Time { return start }
	b.Sessions = session.New(session.Options{
		Store: b, Callers: b, Directories: map[string]policy.Directory{policy.ByStaticToken: b}, Current: func(name, digest string) bool {
			b.said = append(b.said, came.Call("current", name, digest))
			return !b.changed
		}, Guard: &audit.Guard{Now: now}, Log: testlog.To(t, slog.NewTextHandler(&b.log, nil)), Now: now,
	}, session.Issuers{Entries: func() []trust.Authority { return b.entries }, Provider: b, Once: b})
	return b
}

func (b *books) step(name string, given ...any) error {
	b.said = append(b.said, came.Call(name, given...))
	return fake.Step(&b.taken, b.fails, name)
}

func (b *books) CreateSession(_ context.Context, s session.Session, e audit.Entry) error {
	return b.step("CreateSession", s, e)
}

func (b *books) SessionByDigest(_ context.Context, digest string) (session.Session, error) {
	if err := b.step("SessionByDigest", digest); err != nil {
		return session.Session{}, err
	}
	return b.all[0], nil
}

func (b *books) SessionsOf(_ context.Context, principal, project string, after time.Time) ([]session.Session, error) {
	return b.all, b.step("SessionsOf", principal, project, after)
}

func (b *books) TouchSession(_ context.Context, id string, usedAt, until time.Time) error {
	return b.step("TouchSession", id, usedAt, until)
}

func (b *books) EndSession(_ context.Context, id string, e audit.Entry) error {
	return b.step("EndSession", id, e)
}

func (b *books) ForgetSessions(_ context.Context, before time.Time) error {
	return b.step("ForgetSessions", before)
}

func (b *books) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	return b.who, b.step("Authenticate", token)
}

func (b *books) Held() []policy.HeldToken { return []policy.HeldToken{{ID: "held"}} }

func (b *books) Lookup(_ context.Context, name, project string) (policy.Principal, error) {
	return policy.Principal{Name: name, Roles: []string{"now"}}, b.step("Lookup", name, project)
}

func (b *books) AuthorizationAt(_ context.Context, e trust.Authority) (string, error) {
	return "https://corp/authorize", b.step("AuthorizationAt", e.Name)
}

func (b *books) Exchange(_ context.Context, e trust.Authority, form url.Values) ([]secret.Text, error) {
	return b.tokens, b.step("Exchange", e.Name, form)
}

func (b *books) UseOnce(_ context.Context, _ string, until time.Time) error {
	return b.step("UseOnce", until)
}

// Who comes in, for how long, and what is written of it.
func TestWhatComesOfASession(t *testing.T) {
	enter := func(ctx context.Context, b *books) string {
		plain, made, err := b.EnterWithToken(ctx, "token")
		sum := sha256.Sum256([]byte(plain))
		return fmt.Sprint(strings.HasPrefix(plain, "vbs_"), made.Digest == base64.RawURLEncoding.EncodeToString(sum[:]), made.ID != "", " ", err)
	}
	find := func(used bool) func(context.Context, *books) string {
		return func(ctx context.Context, b *books) string {
			p, found, err := b.Find(ctx, "secret", used)
			return came.Show(p) + came.Show(found) + fmt.Sprint(" ", err)
		}
	}
	end := func(id string) func(context.Context, *books) string {
		return func(ctx context.Context, b *books) string { return fmt.Sprint(b.End(ctx, b.who, id)) }
	}
	fails := func(step string, err error) func(*books) { return func(b *books) { b.fails[step] = err } }
	many := func(n int, step string) func(*books) {
		return func(b *books) {
			b.all = nil
			for i := range n {
				b.all = append(b.all, session.Session{ID: fmt.Sprint(i), Project: "p"})
			}
			b.fails[step] = errStep
		}
	}
	login := func(until time.Duration) func(*books) {
		return func(b *books) {
			b.who.Name = "oidc:corp:alice"
			b.who.Login = policy.Arrival{Entry: "corp", Digest: "d", Until: start.Add(until)}
		}
	}
	one := func(change func(*session.Session)) func(*books) { return func(b *books) { change(&b.all[0]) } }
	unchanged := func(*books) {}
	for _, c := range []struct {
		what  string
		given func(*books)
		do    func(context.Context, *books) string
		want  string
	}{
		{"entering", unchanged, enter, "true true true <nil>"},
		{"entering without a right to", fails("Authenticate", policy.ErrUnauthenticated), enter, "false false false not authenticated"},
		{"entering of whom nobody knows", func(b *books) { b.who.Name = "keystone:alice" }, enter, "true true true <nil>"},
		{"entering with a login", login(time.Hour), enter, "true true true <nil>"},
		{"entering with a login of minutes", login(time.Minute), enter, "true true true <nil>"},
		{"entering with a login for longer than a session", login(session.Most + 1), enter, "true true true <nil>"},
		{"entering, and others are unread", fails("SessionsOf", errStep), enter, "false false false the step fails"},
		{"entering, unstored", fails("CreateSession", errStep), enter, "false false false the step fails"},
		{"entering beside nearly as many as may be", many(session.PerPrincipal-1, ""), enter, "true true true <nil>"},
		{"entering beside as many as may be", many(session.PerPrincipal, ""), enter, "true true true <nil>"},
		{"entering beside more than may be", many(session.PerPrincipal+2, ""), enter, "true true true <nil>"},
		{"entering beside as many, and the oldest stays", many(session.PerPrincipal, "EndSession"), enter, "false false false the step fails"},
		{"found", unchanged, find(false), ""},
		{"found and used", unchanged, find(true), ""},
		{"used after a while", one(func(s *session.Session) { s.UsedAt = start.Add(-time.Minute) }), find(true), ""},
		{"used after nearly a while", one(func(s *session.Session) { s.UsedAt = start.Add(1 - time.Minute) }), find(true), ""},
		{"used near its end", one(func(s *session.Session) {
			s.UsedAt, s.EndsAt = start.Add(-time.Minute), start.Add(session.Idle-time.Second)
		}), find(true), ""},
		{"looked at after a while", one(func(s *session.Session) { s.UsedAt = start.Add(-time.Minute) }), find(false), ""},
		{"used, unstored", func(b *books) { b.all[0].UsedAt, b.fails["TouchSession"] = start.Add(-time.Minute), errStep }, find(true), ""},
		{"of no secret", fails("SessionByDigest", broker.ErrNotFound), find(true), ""},
		{"unread", fails("SessionByDigest", errStep), find(true), ""},
		{"over now", one(func(s *session.Session) { s.Until = start }), find(true), ""},
		{"over in a moment", one(func(s *session.Session) { s.Until = start.Add(1) }), find(true), ""},
		{"of somebody who is gone", fails("Lookup", policy.ErrUnauthenticated), find(true), ""},
		{"of somebody who cannot be asked about", fails("Lookup", policy.ErrNotAsked), find(true), ""},
		{"of a directory that fails", fails("Lookup", errStep), find(true), ""},
		{"of no directory", one(func(s *session.Session) { s.Came.Who.Name = "keystone:alice" }), find(true), ""},
		{"of a token", one(func(s *session.Session) { s.Came.Token = "held" }), find(true), ""},
		{"of a token that is withdrawn", one(func(s *session.Session) { s.Came.Token = "withdrawn" }), find(true), ""},
		{"of a login", one(func(s *session.Session) { s.Came.Login = policy.Arrival{Entry: "corp", Digest: "d"} }), find(true), ""},
		{"of a login at what is another now", func(b *books) {
			b.changed, b.all[0].Came.Login = true, policy.Arrival{Entry: "corp", Digest: "d"}
		}, find(true), ""},
		{"of no login, and an entry is another now", func(b *books) { b.changed = true }, find(true), ""},
		{"ending", unchanged, end("s"), "<nil>"},
		{"ending another's", unchanged, end("of another"), "there is no such session, or it has ended"},
		{"ending, unstored", fails("EndSession", errStep), end("s"), "the step fails"},
		{"ending what is unread", fails("SessionsOf", errStep), end("s"), "the step fails"},
		{"the pass", fails("ForgetSessions", errStep), func(ctx context.Context, b *books) string {
			p := b.Passes()[0]
			return fmt.Sprint(len(b.Passes()), p.Name, p.Every, " ", p.Run(ctx))
		}, "1forget-sessions10m0s the step fails"},
	} {
		b := newBooks(t)
		b.all = []session.Session{{
			ID: "s", Digest: "d", Principal: "alice", Project: "p", Came: session.Came{Who: policy.Delegate(b.who, start)}, CreatedAt: start, UsedAt: start,
			Until: start.Add(time.Minute), EndsAt: start.Add(time.Hour),
		}}
		c.given(b)
		got := c.do(t.Context(), b)
		if c.want != "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		came.Of(t, nil).Add(c.what, got, append(b.said, came.Logged(b.log.String())...))
	}
}

// A login lets in if each part of it is as it was begun.
func TestWhatComesOfALogin(t *testing.T) {
	good := func() (session.Begun, url.Values) {
		return session.Begun{Entry: "corp", State: "state", Verifier: "verifier", Callback: "https://broker/callback", Back: "/ui/", Until: start.Add(session.LoginWithin)},
			url.Values{"state": {"state"}, "code": {"code"}}
	}
	set := func(name, value string) func(*books, *session.Begun, url.Values) {
		return func(_ *books, _ *session.Begun, v url.Values) { v.Set(name, value) }
	}
	begun := func(change func(*session.Begun)) func(*books, *session.Begun, url.Values) {
		return func(_ *books, b *session.Begun, _ url.Values) { change(b) }
	}
	fails := func(step string, err error) func(*books, *session.Begun, url.Values) {
		return func(b *books, _ *session.Begun, _ url.Values) { b.fails[step] = err }
	}
	const in, not = "true /ui/ <nil>", "false  this is not the login that was begun in this browser, or it took longer than five minutes; begin again"
	const nobody = "false  the issuer corp has let nobody in; begin again, or ask its administrator"
	for _, c := range []struct {
		what   string
		change func(*books, *session.Begun, url.Values)
		want   string
	}{
		{"as it was begun", fails("", nil), in},
		{"of the issuer", set("iss", "https://corp"), in},
		{"of another issuer", set("iss", "https://evil"), nobody},
		{"without a code", set("code", ""), nobody},
		{"of another state", set("state", "other"), not},
		{"of no state", func(_ *books, b *session.Begun, v url.Values) { b.State = ""; v.Set("state", "") }, not},
		{"in the last moment", begun(func(b *session.Begun) { b.Until = start.Add(1) }), in},
		{"too late", begun(func(b *session.Begun) { b.Until = start }), not},
		{"for longer than is given", begun(func(b *session.Begun) { b.Until = start.Add(session.LoginWithin + 1) }), not},
		{"that was finished before", fails("UseOnce", broker.ErrExists), not},
		{"of which that is unread", fails("UseOnce", errStep), "false  the step fails"},
		{"at no entry", begun(func(b *session.Begun) { b.Entry = "gone" }), "false  the table of trust has no entry of this name with a login"},
		{"for which there is no token", fails("Exchange", errStep), "false  the issuer corp gives no token for this login"},
		{"for no token", func(b *books, _ *session.Begun, _ url.Values) { b.tokens = nil }, "false  not authenticated"},
		{"for a token of nobody", fails("Authenticate", errStep), "false  the step fails"},
		{"for a second token", func(b *books, _ *session.Begun, _ url.Values) {
			b.tokens = []secret.Text{secret.NewText("for another"), secret.NewText("of alice"), secret.NewText("of nobody")}
			b.fails["Authenticate 1"] = errStep
		}, in},
		{"that is not stored", fails("CreateSession", errStep), "false /ui/ the step fails"},
	} {
		b := newBooks(t)
		at, v := good()
		c.change(b, &at, v)
		text, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, back, err := b.FinishLogin(t.Context(), base64.RawURLEncoding.EncodeToString(text), v)
		if got := fmt.Sprint(plain != "", " ", back, " ", err); got != c.want {
			t.Errorf("a login %s: %s, want %s", c.what, got, c.want)
		}
		came.Of(t, nil).Add(c.what, fmt.Sprint(err), append(b.said, came.Logged(b.log.String())...))
	}
	b := newBooks(t)
	for _, kept := range []string{"", "!", base64.RawURLEncoding.EncodeToString([]byte("{"))} {
		if _, _, _, err := b.FinishLogin(t.Context(), kept, url.Values{"state": {""}}); !strings.HasPrefix(fmt.Sprint(err), "this is not the login that was begun in this browser") {
			t.Errorf("a login of %q: %v", kept, err)
		}
	}
	if plain, _, err := b.EnterByLink(t.Context(), "none"); !errors.Is(err, policy.ErrUnauthenticated) || plain != "" {
		t.Errorf("by no link comes in %q, %v", plain, err)
	}
	for step, want := range map[string]string{"": "<nil>", "AuthorizationAt": "the issuer corp cannot be asked now"} {
		b := newBooks(t)
		b.fails[step] = errStep
		b.entries[0].Login.Scopes = []string{"openid", "email"}
		at, kept, err := b.BeginLogin(t.Context(), "corp", "https://broker/callback", "/ui/")
		if fmt.Sprint(err) != want || (err == nil) != strings.Contains(at, "https://corp/authorize?") || (err == nil) != strings.Contains(at, "scope=openid+email&") || (err == nil) != (kept != "") {
			t.Errorf("a login begins at %s: %v, want %s", at, err, want)
		}
	}
	if _, _, err := b.BeginLogin(t.Context(), "other", "", ""); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a login begins at no entry: %v", err)
	}
}

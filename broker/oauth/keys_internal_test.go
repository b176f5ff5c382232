package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var errStep = errors.New("the step fails")

// shelf keeps keys of tokens, and what seals them, in memory; steps of it that are named fail.
type shelf struct {
	TokenKeyStore
	secret.KeyStore
	keys     []TokenKey
	held     map[secret.Ref][]byte
	owners   map[secret.Ref]secret.Owner
	fails    map[string]error
	taken    []string
	meantime func([]TokenKey) []TokenKey // happens before a change
	denied   bool
	retired  int
	log      strings.Builder
}

func (s *shelf) step(name string) error {
	return fake.Step(&s.taken, s.fails, name)
}

func (s *shelf) TokenKeys(context.Context) ([]TokenKey, error) {
	return slices.Clone(s.keys), s.step("TokenKeys")
}

func (s *shelf) ChangeTokenKeys(_ context.Context, change func([]TokenKey) ([]TokenKey, error), _ audit.Entry) error {
	if err := s.step("ChangeTokenKeys"); err != nil {
		return err
	}
	if s.meantime != nil {
		s.keys = s.meantime(s.keys)
	}
	after, err := change(slices.Clone(s.keys))
	if err == nil {
		s.keys = after
	}
	return err
}

func (s *shelf) Append(context.Context, audit.Entry) error { return s.step("Append") }

func (s *shelf) Entries(context.Context, audit.Query) ([]audit.Entry, error) { return nil, nil }

func (s *shelf) Name() string { return "memory" }

func (s *shelf) Put(_ context.Context, owner secret.Owner, key *secret.Key) (secret.Ref, error) {
	ref := secret.Ref(fmt.Sprint(len(s.owners)))
	s.held[ref], s.owners[ref] = key.Encode(), owner
	return ref, s.step("Put")
}

func (s *shelf) Get(_ context.Context, ref secret.Ref) (*secret.Key, error) {
	if s.held[ref] == nil {
		return nil, secret.ErrNotFound
	}
	key, _ := secret.ParseKey(s.held[ref])
	return key, s.step("Get")
}

func (s *shelf) Delete(_ context.Context, ref secret.Ref) (secret.Erasure, error) {
	delete(s.held, ref)
	return secret.Shredded, s.step("Delete")
}

func (s *shelf) List(_ context.Context, id string) (all []secret.Held, _ error) {
	for ref := range s.held {
		if s.owners[ref].ID == id {
			all = append(all, secret.Held{Owner: s.owners[ref], Ref: ref})
		}
	}
	return all, s.step("List")
}

func (s *shelf) Decide(policy.Request) policy.Decision { return policy.Decision{Allowed: !s.denied} }

func (s *shelf) RetireKeys(context.Context) { s.retired++ }

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// newShelf has one key, which signs.
func newShelf(t *testing.T) (*shelf, *Tokens) {
	t.Helper()
	s := &shelf{held: map[secret.Ref][]byte{}, owners: map[secret.Ref]secret.Owner{}, fails: map[string]error{}}
	tokens := NewTokens(TokensOptions{
		Store: s, Keys: []secret.KeyStore{s}, Ledger: s, Guard: &audit.Guard{Policy: s, Sink: s, Now: time.Now}, Issuer: "https://broker",
		Log: testlog.To(t, slog.NewTextHandler(&s.log, nil)), Now: func() time.Time { return now },
	})
	if _, err := tokens.RotateKey(t.Context(), policy.Principal{Name: "root"}); err != nil {
		t.Fatal(err)
	}
	s.taken, s.retired = nil, 0
	return s, tokens
}

// roles is a directory of a caller whose roles are others by now.
type roles []string

func (r roles) Lookup(_ context.Context, name, project string) (policy.Principal, error) {
	return policy.Principal{Name: name, Project: project, Roles: r}, nil
}

// A caller has the roles that his directory says now; a revoked key is destroyed, and so is one that is replaced.
func TestACallerHasTheRolesOfNow(t *testing.T) {
	s, tokens := newShelf(t)
	token, _, err := tokens.Exchange(t.Context(), policy.Principal{Name: "oidc:alice", Project: "p", Roles: []string{"before"}})
	if err != nil {
		t.Fatal(err)
	}
	tokens.Directories = map[string]policy.Directory{policy.ByIssuer: roles{"now"}}
	if p, err := tokens.Authenticate(t.Context(), token.Reveal()); err != nil || p.Name != "oidc:alice" || p.Project != "p" || !slices.Equal(p.Roles, []string{"now"}) {
		t.Errorf("the caller is %+v, %v", p, err)
	}
	made, err := tokens.RotateKey(t.Context(), policy.Principal{Name: "root"})
	if err != nil || s.retired != 1 {
		t.Errorf("after a rotation, %v, keys are destroyed %d times", err, s.retired)
	}
	if err := tokens.RevokeKey(t.Context(), policy.Principal{Name: "root"}, made.ID); err != nil || s.retired != 2 {
		t.Errorf("after a revocation, %v, keys are destroyed %d times", err, s.retired)
	}
}

// told is an error's kind and field.
func told(err error) string {
	if e, known := errors.AsType[*broker.Error](err); known {
		return strings.TrimSpace(e.Kind.Error() + " " + e.Field)
	}
	return fmt.Sprint(err)
}

// states are those of the keys, with an exclamation mark for those that hold a private half.
func (s *shelf) states() string {
	var all []string
	for _, k := range s.keys {
		text := string(k.State)
		if k.Text != "" {
			text += "!"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// What becomes of the keys of tokens, and of what seals them, where a step fails or another is faster.
func TestWhatBecomesOfKeysOfTokens(t *testing.T) {
	root := policy.Principal{Name: "root"}
	rotate := func(ctx context.Context, _ *shelf, tokens *Tokens) error {
		_, err := tokens.RotateKey(ctx, root)
		return err
	}
	settle := func(ctx context.Context, _ *shelf, tokens *Tokens) error { return tokens.Settle(ctx, now) }
	state := func(to keyring.State, at time.Time) func(*shelf) {
		return func(s *shelf) { s.keys[0].State, s.keys[0].CreatedAt, s.keys[0].Until = to, at, at }
	}
	revoke := func(ctx context.Context, s *shelf, tokens *Tokens) error {
		return tokens.RevokeKey(ctx, root, s.keys[0].ID)
	}
	reseal := func(before time.Time) func(context.Context, *shelf, *Tokens) error {
		return func(ctx context.Context, _ *shelf, tokens *Tokens) error {
			return tokens.Reseal(ctx, broker.Due{To: tokens.keys, Before: before})
		}
	}
	fails := func(step string) func(*shelf) { return func(s *shelf) { s.fails[step] = errStep } }
	both := func(all ...func(*shelf)) func(*shelf) {
		return func(s *shelf) {
			for _, one := range all {
				one(s)
			}
		}
	}
	for _, c := range []struct {
		what  string
		given func(*shelf)
		do    func(context.Context, *shelf, *Tokens) error
		want  string // the states, the number of keys that seal, and the error
	}{
		{"another key", nil, rotate, "verifying signing!, 2, <nil>"},
		{"another key, unread", fails("TokenKeys"), rotate, "signing!, 1, the step fails"},
		{"another key, without the right to", func(s *shelf) { s.denied = true }, rotate, "signing!, 1, denied"},
		{"another key, not begun", fails("ChangeTokenKeys 1"), rotate, "signing!, 1, the step fails"},
		{"another key, not sealed", fails("Put"), rotate, "signing!, 1, temporarily unavailable"},
		{"another key, not switched to", fails("ChangeTokenKeys 2"), rotate, "signing!, 1, the step fails"},
		{"another key, neither switched to nor dropped", both(fails("ChangeTokenKeys 2"), fails("ChangeTokenKeys 3")), rotate, "signing! making, 2, the step fails"},
		{"another key, neither switched to nor removed", both(fails("ChangeTokenKeys 2"), fails("List")), rotate, "signing! abandoned, 1, the step fails"},
		{"another was faster", func(s *shelf) {
			n := 0
			s.meantime = func(keys []TokenKey) []TokenKey {
				if n++; n == 2 {
					keys[0].ID = vimID
				}
				return keys
			}
		}, rotate, "signing!, 1, <nil>"},
		{"another was faster, and is gone", func(s *shelf) {
			n := 0
			s.meantime = func(keys []TokenKey) []TokenKey {
				if n++; n == 2 {
					keys[0].State = KeyVerifying
				}
				return keys
			}
		}, rotate, "verifying!, 1, conflict"},
		{"its own was removed meanwhile", func(s *shelf) {
			n := 0
			s.meantime = func(keys []TokenKey) []TokenKey {
				if n++; n == 2 {
					keys = keys[:1]
				}
				return keys
			}
		}, rotate, "signing!, 1, <nil>"},
		{"revoking", nil, revoke, ", 1, <nil>"},
		{"revoking one that verifies", state(KeyVerifying, now), revoke, ", 1, <nil>"},
		{"revoking one that is being made", state(KeyMaking, now), revoke, "making!, 1, not found key"},
		{"revoking without the right to", func(s *shelf) { s.denied = true }, revoke, "signing!, 1, denied"},
		{"revoking, unstored", fails("ChangeTokenKeys"), revoke, "signing!, 1, the step fails"},
		{"sealing anew what is not due", nil, reseal(time.Time{}), "signing!, 1, <nil>"},
		{"sealing anew", nil, reseal(time.Now().Add(time.Hour)), "verifying signing!, 2, <nil>"},
		{"sealing anew, unread", fails("TokenKeys"), reseal(time.Time{}), "signing!, 1, the step fails"},
		{"sealing anew, unstored", fails("ChangeTokenKeys 2"), reseal(time.Now().Add(time.Hour)), "signing!, 1, the step fails"},
		{"sealing anew without a key", func(s *shelf) { s.keys = nil }, reseal(time.Now().Add(time.Hour)), ", 1, <nil>"},
		{"settling a young key", state(KeySigning, now.Add(1-keyLife)), settle, "signing!, 1, <nil>"},
		{"settling an old key", state(KeySigning, now.Add(-keyLife)), settle, "verifying signing!, 2, <nil>"},
		{"settling an old key, unstored", both(state(KeySigning, now.Add(-keyLife)), fails("ChangeTokenKeys 1")), settle, "signing!, 1, the step fails"},
		{"settling one whose tokens count", state(KeyVerifying, now.Add(1)), settle, "verifying!, 1, <nil>"},
		{"settling one whose tokens count no more", state(KeyVerifying, now), settle, ", 1, <nil>"},
		{"settling one whose tokens count no more, unstored", both(state(KeyVerifying, now), fails("ChangeTokenKeys")), settle, "verifying!, 1, the step fails"},
		{"settling one that was begun long ago", state(KeyMaking, now.Add(-1)), settle, ", 0, <nil>"},
		{"settling one that was begun just now", state(KeyMaking, now), settle, "making!, 1, <nil>"},
		{"settling one that was abandoned", state(KeyAbandoned, now), settle, ", 0, <nil>"},
		{"settling one that was abandoned, and its key stays", both(state(KeyAbandoned, now), fails("Delete")), settle, "abandoned!, 0, temporarily unavailable"},
		{"settling one that was abandoned, unstored", both(state(KeyAbandoned, now), fails("ChangeTokenKeys 2")), settle, "abandoned!, 0, the step fails"},
		{"settling one that signs by now", both(state(KeyMaking, now.Add(-1)), func(s *shelf) {
			s.meantime = func(keys []TokenKey) []TokenKey { keys[0].State = KeySigning; return keys }
		}), settle, "signing!, 1, <nil>"},
		{"settling one that stays, and others behind it", func(s *shelf) {
			s.keys = []TokenKey{{ID: vimID, State: KeyAbandoned}, {ID: "b", State: KeyVerifying, Until: now}, {ID: "c", State: KeyAbandoned}}
			s.fails["List 1"] = errStep
		}, settle, "abandoned, 1, temporarily unavailable"},
		{"settling one that cannot be forgotten, and others behind it", func(s *shelf) {
			s.keys = []TokenKey{{ID: "b", State: KeyVerifying, Until: now}, {ID: vimID, State: KeyAbandoned}, {ID: "c", State: KeyVerifying, Until: now}}
			s.fails["ChangeTokenKeys 1"] = errStep
		}, settle, "verifying, 1, the step fails"},
		{"settling an old key that is not replaced, and others behind it", func(s *shelf) {
			s.keys[0].CreatedAt = now.Add(-keyLife)
			s.keys = append(s.keys, TokenKey{ID: "b", State: KeyVerifying, Until: now})
			s.fails["Put"] = errStep
		}, settle, "signing!, 1, temporarily unavailable"},
		{"settling without the right to", both(state(KeyAbandoned, now), func(s *shelf) { s.denied = true }), settle, "abandoned!, 1, denied"},
		{"settling, unread", fails("TokenKeys"), settle, "signing!, 1, the step fails"},
		{
			"the pass", fails("TokenKeys"), func(ctx context.Context, _ *shelf, tokens *Tokens) error { return tokens.Passes()[0].Run(ctx) },
			"signing!, 1, the step fails",
		},
	} {
		s, tokens := newShelf(t)
		if c.given != nil {
			c.given(s)
		}
		err := c.do(t.Context(), s, tokens)
		if got := fmt.Sprint(s.states(), ", ", len(s.held), ", ", told(err)); got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, s.taken)
		}
	}
}

const vimID = "6f0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b11"

// A token is signed by the key that signs, and counts while that key's row says so.
func TestWhichKeySignsATokenAndChecksIt(t *testing.T) {
	alice := policy.Principal{Name: "oidc:alice", Project: "p"}
	exchanged := func(change func(*shelf, *policy.Principal)) string {
		s, tokens := newShelf(t)
		p := alice
		change(s, &p)
		token, left, err := tokens.Exchange(t.Context(), p)
		return fmt.Sprint(!token.Empty(), ", ", left, ", ", told(err))
	}
	for what, c := range map[string]struct {
		change func(*shelf, *policy.Principal)
		want   string
	}{
		"a caller":               {func(*shelf, *policy.Principal) {}, "true, 5m0s, <nil>"},
		"one whose login ends":   {func(_ *shelf, p *policy.Principal) { p.Login.Until = now.Add(time.Minute) }, "true, 1m0s, <nil>"},
		"one whose login lasts":  {func(_ *shelf, p *policy.Principal) { p.Login.Until = now.Add(time.Hour) }, "true, 5m0s, <nil>"},
		"one whose login ended":  {func(_ *shelf, p *policy.Principal) { p.Login.Until = now }, "false, 0s, " + policy.ErrUnauthenticated.Error()},
		"nobody":                 {func(_ *shelf, p *policy.Principal) { p.Name = "" }, "false, 0s, " + policy.ErrUnauthenticated.Error()},
		"a client":               {func(_ *shelf, p *policy.Principal) { p.Name = policy.ByClient + ":c" }, "false, 0s, " + policy.ErrUnauthenticated.Error()},
		"keys that are unread":   {func(s *shelf, _ *policy.Principal) { s.fails["TokenKeys"] = errStep }, "false, 5m0s, the step fails"},
		"no key, and none made":  {func(s *shelf, _ *policy.Principal) { s.keys, s.fails["ChangeTokenKeys"] = nil, errStep }, "false, 5m0s, the step fails"},
		"no key":                 {func(s *shelf, _ *policy.Principal) { s.keys = nil }, "true, 5m0s, <nil>"},
		"a key that is away":     {func(s *shelf, _ *policy.Principal) { s.fails["Get"] = errStep }, "false, 5m0s, temporarily unavailable"},
		"a key that is lost":     {func(s *shelf, _ *policy.Principal) { clear(s.held) }, "false, 5m0s, stored credential cannot be opened"},
		"the text of another id": {func(s *shelf, _ *policy.Principal) { swap(t, s, `{"kty":"EC","crv":"P-256","kid":"x"}`) }, "false, 5m0s, stored credential cannot be opened"},
		"a text that is no key":  {func(s *shelf, _ *policy.Principal) { swap(t, s, "no JSON") }, "false, 5m0s, stored credential cannot be opened"},
	} {
		if got := exchanged(c.change); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}

	taken := func(change func(*shelf, *Tokens)) string {
		s, tokens := newShelf(t)
		token, _, err := tokens.Exchange(t.Context(), alice)
		if err != nil {
			t.Fatal(err)
		}
		tokens.Trusted = func(string, string) bool { return true }
		change(s, tokens)
		p, err := tokens.Authenticate(t.Context(), token.Reveal())
		return p.Name + ", " + told(err)
	}
	refused := ", " + policy.ErrUnauthenticated.Error()
	for what, c := range map[string]struct {
		change func(*shelf, *Tokens)
		want   string
	}{
		"a key that signs":  {func(*shelf, *Tokens) {}, "oidc:alice, <nil>"},
		"one that verifies": {func(s *shelf, _ *Tokens) { s.keys[0].State, s.keys[0].Until = KeyVerifying, now.Add(1) }, "oidc:alice, <nil>"},
		"one that did":      {func(s *shelf, _ *Tokens) { s.keys[0].State, s.keys[0].Until = KeyVerifying, now }, refused},
		"one being made":    {func(s *shelf, _ *Tokens) { s.keys[0].State, s.keys[0].Until = KeyMaking, now.Add(1) }, refused},
		"another":           {func(s *shelf, _ *Tokens) { s.keys[0].ID = vimID }, refused},
		"unread":            {func(s *shelf, _ *Tokens) { s.fails["TokenKeys"] = errStep }, ", the step fails"},
		"spoilt":            {func(s *shelf, _ *Tokens) { s.keys[0].Public = "x" }, ", stored credential cannot be opened"},
		"trusted no more":   {func(_ *shelf, tokens *Tokens) { tokens.Trusted = func(string, string) bool { return false } }, refused},
		"unknown to its people": {func(_ *shelf, tokens *Tokens) {
			tokens.Directories = map[string]policy.Directory{alice.Authenticator(): empty{}}
		}, "oidc:alice, " + policy.ErrUnauthenticated.Error()},
		"of another broker": {func(_ *shelf, tokens *Tokens) { tokens.TokensOptions.Issuer = "https://other" }, refused},
	} {
		if got := taken(c.change); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	bare := NewTokens(TokensOptions{})
	if bare.Trusted("", "") {
		t.Error("where nobody says who is trusted, all are")
	}
	if past := time.Since(bare.Now()); past < 0 || past > time.Minute {
		t.Errorf("where nobody says what time it is, it is %v before now", past)
	}
	_, tokens := newShelf(t)
	whole := tokens.standard("s", now, now.Add(time.Minute))
	for what, change := range map[string]func(*jwt.Claims){"no end": func(c *jwt.Claims) { c.Expiry = nil }, "no beginning": func(c *jwt.Claims) { c.IssuedAt = nil }} {
		c := whole
		change(&c)
		tokens.Trusted = func(string, string) bool { return true }
		if _, err := tokens.take(t.Context(), claims{Claims: c, Caller: &caller{}}, now); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("claims with %s: %v", what, err)
		}
	}
}

// swap seals another text in the place of the key's.
func swap(t *testing.T, s *shelf, text string) {
	t.Helper()
	sealed, err := keyring.Ring{s}.Seal(t.Context(), s.keys[0].Owner(), sealedField, secret.NewText(text))
	if err != nil {
		t.Fatal(err)
	}
	s.keys[0].Sealed = sealed
}

// empty is a directory without people.
type empty struct{}

func (empty) Lookup(context.Context, string, string) (policy.Principal, error) {
	return policy.Principal{}, policy.ErrUnauthenticated
}

// What is shown of the keys: those whose tokens count, and their public halves alone.
func TestWhatIsShownOfKeysOfTokens(t *testing.T) {
	s, tokens := newShelf(t)
	old, spoilt, private := s.keys[0], s.keys[0], s.keys[0]
	old.State, old.Until, spoilt.Public, private.Public = KeyVerifying, now, "x", `{"kty":"EC","crv":"P-256","x":"","y":"","d":""}`
	s.keys = append(s.keys, old, spoilt, private)
	set, err := tokens.JWKS(t.Context())
	if err != nil || strings.Count(string(set), `"kty"`) != 1 {
		t.Errorf("the set is %s, %v", set, err)
	}
	keys, err := tokens.Keys(t.Context(), policy.Principal{})
	if err != nil || len(keys) != 3 || keys[0].Text != "" || keys[0].Public == "" {
		t.Errorf("the keys are %v, %v", keys, err)
	}
	s.fails["TokenKeys"] = errStep
	if _, err := tokens.JWKS(t.Context()); !errors.Is(err, errStep) {
		t.Errorf("unread: %v", err)
	}
	s.denied = true
	if _, err := tokens.Keys(t.Context(), policy.Principal{}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("without the right to: %v", err)
	}
}

// A key that another takes the place of verifies for as long as its last token lives, and keeps no private half.
func TestAReplacedKeyVerifiesForAsLongAsItsTokensLive(t *testing.T) {
	s, tokens := newShelf(t)
	if _, err := tokens.RotateKey(t.Context(), policy.Principal{Name: "root"}); err != nil {
		t.Fatal(err)
	}
	states := map[keyring.State]int{}
	for _, k := range s.keys {
		states[k.State]++
		if k.State == KeyVerifying && (!k.Until.Equal(now.Add(TokenLife+leeway)) || k.Sealed != keyring.Sealed{}) {
			t.Errorf("the one before verifies until %v, and holds %v", k.Until, k.Sealed)
		}
	}
	if states[KeyVerifying] != 1 || len(s.keys) != 2 {
		t.Errorf("the keys are %v", states)
	}
}

package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const issuer = "https://broker.example:8443"

// ledger destroys nothing: what is on it, tests look at.
type ledger struct{}

func (ledger) RetireKeys(context.Context) {}

// mint is a scene with tokens, and the key store of what seals their keys.
type mint struct {
	*scene
	*oauth.Tokens
	keys *keydir.Store
}

func coin(t *testing.T) *mint {
	t.Helper()
	m := &mint{scene: set(t)}
	var err error
	if m.keys, err = keydir.Open(filepath.Join(t.TempDir(), "keys")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.keys.Close() })
	m.Tokens = m.tokens(t, issuer)
	return m
}

// tokens are those of a broker that is known by a URL.
func (m *mint) tokens(t *testing.T, url string, others ...secret.KeyStore) *oauth.Tokens {
	t.Helper()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return oauth.NewTokens(oauth.TokensOptions{
		Store: m.store, Clients: m.Clients, Keys: append([]secret.KeyStore{m.keys}, others...), Ledger: ledger{}, Issuer: url,
		Guard: &audit.Guard{Policy: policies, Sink: m.store, Now: m.clock.Now},
		Log:   testlog.To(t, slog.NewTextHandler(m.log, nil)), Now: m.clock.Now, Once: m.store,
	})
}

// issue logs a client in.
func (m *mint) issue(t *testing.T, id, plain string) string {
	t.Helper()
	token, err := m.Issue(t.Context(), id, plain)
	if err != nil {
		t.Fatalf("Issue = %v", err)
	}
	return m.known(token)
}

// wantTaken checks whether a token counts.
func (m *mint) wantTaken(t *testing.T, what string, want bool, token string) {
	t.Helper()
	p, err := m.Tokens.Authenticate(t.Context(), token)
	if want && (err != nil || p.Authenticator() != policy.ByClient || p.Project != "core") {
		t.Errorf("%s is not taken: %+v, %v", what, p, err)
	}
	if !want && !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("%s is taken: %+v, %v", what, p, err)
	}
}

func TestATokenIsItsClientsForAShortTime(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	token := m.issue(t, c.ID, plain)
	m.wantTaken(t, "a token", true, token)
	m.clock.Add(oauth.TokenLife - time.Second)
	m.wantTaken(t, "a token before its end", true, token)
	m.clock.Add(7 * time.Second)
	m.wantTaken(t, "a token behind its end", false, token)
	m.clock.Add(-oauth.TokenLife - 20*time.Second)
	m.wantTaken(t, "a token from the future", false, token)
	m.clock.Add(15 * time.Second)
	m.wantTaken(t, "a token, again", true, token)

	_, _ = m.Clients.Client(t.Context(), keeper, c.ID)
	for _, wrong := range [][2]string{{c.ID, plain + "x"}, {c.ID, ""}, {"", plain}, {"../keys", plain}} {
		if _, err := m.Issue(t.Context(), wrong[0], wrong[1]); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("Issue(%q) = %v", wrong[0], err)
		}
	}
	if err := m.Delete(t.Context(), keeper, c.ID); err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "the token of a client that is gone", false, token)
}

// A token ends with the secret that it was given for.
func TestATokenEndsWithItsSecret(t *testing.T) {
	m := coin(t)
	c, first := m.create(t, keeper, "tacker", "vnfm")
	token := m.issue(t, c.ID, first)
	minute := time.Minute
	_, second, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Overlap: &minute})
	if err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "a token of the secret before", true, token)
	other := m.issue(t, c.ID, m.known(second))
	m.clock.Add(minute)
	m.wantTaken(t, "a token of a secret that has ended", false, token)
	m.wantTaken(t, "a token of the present secret", true, other)
	if _, third, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{RevokeLeases: true}); err != nil {
		t.Fatal(err)
	} else {
		m.known(third)
	}
	m.wantTaken(t, "a token of a secret that leaked", false, other)
}

func TestKeysOfTokensRotate(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	first := m.issue(t, c.ID, plain)
	if _, err := m.RotateKey(t.Context(), keeper); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("RotateKey by a project's administrator = %v, want ErrDenied", err)
	}
	m.clock.Add(time.Second)
	now, err := m.RotateKey(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	second := m.issue(t, c.ID, plain)
	m.wantTaken(t, "a token of the key before", true, first)
	m.wantTaken(t, "a token of the new key", true, second)
	if n := m.published(t); n != 2 {
		t.Errorf("%d keys are published, want 2", n)
	}
	shown, err := m.Tokens.Keys(t.Context(), root)
	if err != nil || len(shown) != 2 || shown[0].State != oauth.KeyVerifying || shown[1].State != oauth.KeySigning {
		t.Errorf("Keys() = %+v, %v", shown, err)
	}
	for _, k := range shown {
		if k.Text != "" || k.Public == "" {
			t.Errorf("a key is shown with what is sealed, or without its public half: %+v", k)
		}
	}
	if _, err := m.Tokens.Keys(t.Context(), keeper); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("Keys by a project's administrator = %v, want ErrDenied", err)
	}
	if used, err := m.store.KeysInUse(t.Context(), ""); err != nil || len(used) != 2 { // one of them on the ledger
		t.Errorf("keys in use: %+v, %v", used, err)
	}

	// One that leaked ends at once, and another takes its place with the next token.
	if err := m.RevokeKey(t.Context(), root, now.ID); err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "a token of a key that leaked", false, second)
	m.wantTaken(t, "a token of another key", true, first)
	if err := m.RevokeKey(t.Context(), root, now.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("revoking it again = %v, want ErrNotFound", err)
	}
	third := m.issue(t, c.ID, plain)
	m.wantTaken(t, "a token of the key that took its place", true, third)

	// The pass removes a key whose tokens have expired, and replaces an old one.
	m.clock.Add(oauth.TokenLife + time.Minute)
	settle := func() {
		t.Helper()
		if err := m.Tokens.Settle(t.Context(), m.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.published(t); n != 1 {
		t.Errorf("%d keys are published once the tokens of one have expired, want 1", n)
	}
	settle()
	if kept, err := m.store.TokenKeys(t.Context()); err != nil || len(kept) != 1 || kept[0].State != oauth.KeySigning {
		t.Errorf("after the pass the keys are %+v, %v", kept, err)
	}
	if n := m.published(t); n != 1 {
		t.Errorf("%d keys are published, want 1", n)
	}
	m.clock.Add(30 * 24 * time.Hour)
	settle()
	if n := m.published(t); n != 2 {
		t.Errorf("%d keys are published after a month, want the new one and the one before", n)
	}
}

// elsewhere is a key store of another name.
type elsewhere struct{ *keydir.Store }

func (elsewhere) Name() string { return "elsewhere" }

// TestTheKeyOfTokensMoves once to the key store that is named; tokens of the previous key count until they expire.
func TestTheKeyOfTokensMoves(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	first := m.issue(t, c.ID, plain)
	second, err := keydir.Open(filepath.Join(t.TempDir(), "second"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	m.Tokens = m.tokens(t, issuer, elsewhere{second})
	m.clock.Add(time.Second)
	for range 2 {
		if err := m.Reseal(t.Context(), broker.Due{To: keyring.Ring{elsewhere{second}}}); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := m.store.TokenKeys(t.Context())
	if err != nil || len(keys) != 2 || keys[1].KeyStore != "elsewhere" || keys[1].State != oauth.KeySigning || keys[0].Text != "" {
		t.Errorf("the keys are %+v, %v, want one that signs, elsewhere, and one that verifies", keys, err)
	}
	if held, err := second.List(t.Context(), ""); err != nil || len(held) != 1 {
		t.Errorf("the other key store holds %d keys, %v, want 1", len(held), err)
	}
	m.wantTaken(t, "a token of the previous key", true, first)
	m.wantTaken(t, "a token of the key that moved", true, m.issue(t, c.ID, plain))
}

// published counts the keys of the JWK set, which has no private half.
func (m *mint) published(t *testing.T) int {
	t.Helper()
	text, err := m.JWKS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	for _, k := range set.Keys {
		if !k.IsPublic() || k.Algorithm != "ES256" || k.Use != "sig" {
			t.Errorf("published is %+v", k)
		}
	}
	if strings.Contains(string(text), `"d"`) {
		t.Errorf("the JWK set holds a private half")
	}
	return len(set.Keys)
}

// Many who need the first key at once get one.
func TestTheFirstKeyIsMadeOnce(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	tokens := make(chan string, 8)
	for range cap(tokens) {
		go func() {
			token, err := m.Issue(context.WithoutCancel(t.Context()), c.ID, plain)
			if err != nil {
				t.Errorf("Issue = %v", err)
			}
			tokens <- token.Reveal()
		}()
	}
	for range cap(tokens) {
		m.wantTaken(t, "a token of many", true, <-tokens)
	}
	if n := m.published(t); n != 1 {
		t.Errorf("%d keys were made", n)
	}
	held, err := m.keys.List(t.Context(), "")
	if err != nil || len(held) != 1 {
		t.Errorf("the key store holds %d keys, %v, want one", len(held), err)
	}
}

// A key store that fails leaves nothing behind, and the pass removes what a process left.
func TestAKeyThatIsLost(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	m.issue(t, c.ID, plain)
	held, err := m.keys.List(t.Context(), "")
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	if _, err := m.keys.Delete(t.Context(), held[0].Ref); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Issue(t.Context(), c.ID, plain); !errors.Is(err, broker.ErrUnopenable) {
		t.Errorf("Issue with a lost key = %v, want ErrUnopenable", err)
	}
	if _, err := m.RotateKey(t.Context(), root); err != nil {
		t.Errorf("RotateKey of a lost key = %v", err)
	}
	m.wantTaken(t, "a token after that", true, m.issue(t, c.ID, plain))
}

func TestForgedTokensAreRefused(t *testing.T) {
	m := coin(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	token := m.issue(t, c.ID, plain)
	good, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := good.UnsafeClaimsWithoutVerification(&said); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	kid := good.Headers[0].KeyID
	sign := func(id string, options *jose.SignerOptions) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: mine, KeyID: id}}, options)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.Signed(signer).Claims(said).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	typed := func() *jose.SignerOptions { return new(jose.SignerOptions).WithType("at+jwt") }
	shared, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: kid}}, typed())
	if err != nil {
		t.Fatal(err)
	}
	symmetric, err := jwt.Signed(shared).Claims(said).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	said["sub"] = "changed"
	changed := parts[0] + "." + encode(said) + "." + parts[2]
	said["sub"] = c.ID
	for what, forged := range map[string]string{
		"alg none":                  encode(map[string]string{"alg": "none", "typ": "at+jwt", "kid": kid}) + "." + parts[1] + ".",
		"alg none with a signature": encode(map[string]string{"alg": "none", "typ": "at+jwt", "kid": kid}) + "." + parts[1] + "." + parts[2],
		"no signature":              parts[0] + "." + parts[1] + ".",
		"other claims":              changed,
		"another key":               sign(kid, typed()),
		"a key of its own inside":   sign(kid, &jose.SignerOptions{EmbedJWK: true, ExtraHeaders: map[jose.HeaderKey]any{"typ": "at+jwt"}}),
		"a shared key":              symmetric,
		"a key id that is a path":   sign("../../etc/passwd", typed()),
		"a key id that is a URL":    sign("https://evil.example/jwks", typed()),
		"a key id that is SQL":      sign("' OR 1=1 --", typed()),
		"no key id":                 sign("", typed()),
		"nobody's key id":           sign("00000000-0000-4000-8000-000000000000", typed()),
		"an unknown crit":           encode(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": kid, "crit": []string{"x"}, "x": 1}) + "." + parts[1] + "." + parts[2],
		"no type":                   sign(kid, nil),
		"nothing":                   "",
		"dots":                      "..",
		"a static token's form":     "vbt_" + strings.Repeat("a", 43),
	} {
		m.wantTaken(t, what, false, forged)
	}
	m.wantTaken(t, "the good one", true, token)

	// Another broker's, or one for another audience: the same store and keys, and another URL.
	elsewhere, err := m.tokens(t, "https://other.example").Issue(t.Context(), c.ID, plain)
	if err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "a token for another audience", false, m.known(elsewhere))
}

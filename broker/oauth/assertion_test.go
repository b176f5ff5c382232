package oauth_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
	fake "github.com/vimbroker/vimbroker/test/issuer"
)

// A client logs in by assertions that it signs, each once; its tokens end when its keys are replaced.
func TestAClientLogsInByItsAssertions(t *testing.T) {
	m := coin(t)
	signs := fake.New(t)
	signs.Now = m.clock.Now
	c, plain, err := m.Clients.Create(t.Context(), keeper, oauth.NewClient{
		Name: "signer", Roles: []string{"vnfm"}, Certificate: oauth.Certificate{Kind: oauth.JWKS, Name: string(signs.JWKS())},
	})
	if err != nil || !plain.Empty() {
		t.Fatalf("Create = %v, with a secret: %v", err, !plain.Empty())
	}
	twin, _, err := m.Clients.Create(t.Context(), keeper, oauth.NewClient{Name: "twin", Roles: []string{"vnfm"}, Certificate: c.Certificate})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	assertion := func(over map[string]any) string {
		n++
		claims := map[string]any{"iss": c.ID, "aud": m.Issuer(), "jti": "j" + strings.Repeat("i", n), "exp": m.clock.Now().Unix() + 60}
		for k, v := range over {
			claims[k] = v
		}
		return signs.Token(c.ID, claims)
	}
	good := assertion(nil)
	token, err := m.IssueAsserted(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "a token for an assertion", true, token.Reveal())
	if _, err := m.IssueAsserted(t.Context(), assertion(map[string]any{"aud": []string{m.Issuer() + "/oauth2/token"}})); err != nil {
		t.Errorf("an assertion for the token endpoint: %v", err)
	}
	now := m.clock.Now().Unix()
	// Each client has ids of its own, even one that signs with the same key.
	same := signs.Token(twin.ID, map[string]any{"iss": twin.ID, "aud": m.Issuer(), "jti": "ji", "exp": now + 60})
	if _, err := m.IssueAsserted(t.Context(), same); err != nil {
		t.Errorf("another client with the id of an assertion that was used: %v", err)
	}
	if _, err := m.IssueAsserted(t.Context(), same); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("the other client's, used before: %v", err)
	}
	for what, over := range map[string]map[string]any{
		"within the skew": {"nbf": now + 30, "iat": now + 30}, "as long as may be": {"exp": now + 330}, "the longest id": {"jti": strings.Repeat("y", 256)},
		"one audience in a list": {"aud": []string{m.Issuer()}},
	} {
		if _, err := m.IssueAsserted(t.Context(), assertion(over)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	other := fake.New(t)
	other.Now = m.clock.Now
	for what, forged := range map[string]string{
		"used before":         good,
		"a good one's id":     assertion(map[string]any{"jti": "ji"}),
		"no id":               assertion(map[string]any{"jti": nil}),
		"another audience":    assertion(map[string]any{"aud": "https://other.example"}),
		"two audiences":       assertion(map[string]any{"aud": []string{m.Issuer(), "x"}}),
		"a long one":          assertion(map[string]any{"more": strings.Repeat("x", 16<<10)}),
		"a number for whom":   assertion(map[string]any{"aud": 7}),
		"a list of a number":  assertion(map[string]any{"aud": []int{7}}),
		"a long id":           assertion(map[string]any{"jti": strings.Repeat("x", 257)}),
		"made in the future":  assertion(map[string]any{"iat": now + 40}),
		"an end before time":  assertion(map[string]any{"exp": -1}),
		"three parts, no key": "a.b.c",
		"another issuer":      assertion(map[string]any{"iss": "x"}),
		"another subject":     assertion(map[string]any{"sub": "x"}),
		"expired":             assertion(map[string]any{"exp": now}),
		"no end":              assertion(map[string]any{"exp": nil}),
		"for an hour":         assertion(map[string]any{"exp": now + 3600}),
		"from the future":     assertion(map[string]any{"nbf": now + 40}),
		"another's key":       other.Token(c.ID, map[string]any{"iss": c.ID, "aud": m.Issuer(), "jti": "o", "exp": now + 60}),
		"no assertion":        "",
		"a token of its own":  token.Reveal(),
		"alg none":            "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ." + strings.Split(assertion(nil), ".")[1] + ".e",
		"another type":        signedAs(signs, c.ID, m.Issuer(), "at+jwt", now),
		"a payload of others": strings.Split(good, ".")[0] + "." + strings.Split(assertion(nil), ".")[1] + "." + strings.Split(good, ".")[2],
	} {
		if _, err := m.IssueAsserted(t.Context(), forged); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := m.Issue(t.Context(), c.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("without an assertion: %v", err)
	}
	signs.Rotate("k2")
	rotated := oauth.Rotation{Certificate: oauth.Certificate{Kind: oauth.JWKS, Name: string(signs.JWKS())}}
	if _, _, err := m.Clients.Rotate(t.Context(), keeper, c.ID, rotated); err != nil {
		t.Fatal(err)
	}
	m.wantTaken(t, "a token of before the keys were replaced", false, token.Reveal())
	if _, err := m.IssueAsserted(t.Context(), assertion(nil)); err != nil {
		t.Errorf("with the new key: %v", err)
	}
	for what, keys := range map[string]string{
		"no set": "x", "no key": `{"keys":[]}`, "a secret": `{"keys":[{"kty":"oct","kid":"1","k":"AAAA"}]}`, "no kid": strings.Replace(string(signs.JWKS()), `"kid"`, `"dik"`, 1),
		"long": string(signs.JWKS()) + strings.Repeat(" ", 4096),
	} {
		_, _, err := m.Clients.Create(t.Context(), keeper, oauth.NewClient{
			Name: "x", Roles: []string{"vnfm"}, Certificate: oauth.Certificate{Kind: oauth.JWKS, Name: keys},
		})
		if !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("keys with %s: %v", what, err)
		}
	}
	m.clock.Add(time.Minute)
}

func signedAs(i *fake.Issuer, id, audience, typ string, now int64) string {
	payload, err := json.Marshal(map[string]any{"iss": id, "sub": id, "aud": audience, "jti": "t", "exp": now + 60})
	if err != nil {
		panic(err)
	}
	return fake.Sign(i.Key(), map[string]any{"alg": "ES256", "kid": i.Key().KeyID, "typ": typ}, payload)
}

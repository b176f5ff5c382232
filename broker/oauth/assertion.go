package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	// maxKeySet bounds the public keys of a client, in bytes, and maxAssertion an assertion.
	maxKeySet, maxAssertion = 4096, 8 << 10
	// assertionLife bounds how long an assertion may be good for.
	assertionLife = 5 * time.Minute
	// assertionSkew is by how much a client's clock may be ahead.
	assertionSkew = 30 * time.Second
)

// AssertionAlgorithms are those that clients sign assertions with.
var AssertionAlgorithms = []string{"ES256", "ES384", "RS256", "PS256", "EdDSA"}

// Once remembers the assertions that were used.
type Once interface {
	// UseOnce notes a use until a time, when it may be forgotten; [broker.ErrExists] if it was noted before.
	UseOnce(ctx context.Context, id string, until time.Time) error
}

// publicKeys reads a JWK set of public keys that sign, each with an id of its own.
func publicKeys(text string) ([]jose.JSONWebKey, error) {
	wrong := broker.Invalid("certificate", "must have a JWK set: 1 to 8 public keys that sign, with a kid each, in %d bytes", maxKeySet)
	var set jose.JSONWebKeySet
	if len(text) > maxKeySet || json.Unmarshal([]byte(text), &set) != nil || len(set.Keys) == 0 || len(set.Keys) > 8 {
		return nil, wrong
	}
	seen := map[string]bool{}
	for _, k := range set.Keys {
		if !k.IsPublic() || !k.Valid() || k.Use != "" && k.Use != "sig" || k.KeyID == "" || seen[k.KeyID] {
			return nil, wrong
		}
		seen[k.KeyID] = true
	}
	return set.Keys, nil
}

// asserted are the claims of an assertion (RFC 7523 section 3).
type asserted struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  any      `json:"aud"`
	ID        string   `json:"jti"`
	Expiry    *float64 `json:"exp"`
	NotBefore float64  `json:"nbf"`
	IssuedAt  float64  `json:"iat"`
}

// IssueAsserted is Issue for a client that logs in by an assertion that it has signed (private_key_jwt, RFC 7523
// section 2.2). Each assertion is taken once.
func (t *Tokens) IssueAsserted(ctx context.Context, assertion string) (secret.Text, error) {
	c, err := t.assertedBy(ctx, assertion)
	if err != nil {
		return secret.Text{}, err
	}
	t.Clients.noteUse(ctx, c)
	now := t.Now()
	return t.sign(ctx, claims{Claims: t.standard(c.ID, now, now.Add(TokenLife)), ClientID: c.ID, Secret: c.Certificate.id()})
}

func refusedAssertion(reason string) error {
	return &policy.RefusedLogin{Authenticator: policy.ByClient, Reason: "assertion: " + reason}
}

func (t *Tokens) assertedBy(ctx context.Context, assertion string) (Client, error) {
	said, signed, err := readAssertion(assertion)
	if err != nil {
		return Client{}, err
	}
	c, err := t.Clients.active(ctx, said.Subject)
	if err != nil {
		return Client{}, err
	}
	if c.Certificate.Kind != JWKS || said.Issuer != c.ID || said.Subject != c.ID {
		return Client{}, refusedAssertion("of no client that logs in so")
	}
	keys, err := publicKeys(c.Certificate.Name)
	if err != nil {
		return Client{}, err
	}
	head := signed.Signatures[0].Protected
	at := slices.IndexFunc(keys, func(k jose.JSONWebKey) bool { return k.KeyID == head.KeyID })
	if at < 0 || keys[at].Algorithm != "" && keys[at].Algorithm != head.Algorithm {
		return Client{}, refusedAssertion("unknown key")
	}
	if _, err := signed.Verify(keys[at].Key); err != nil {
		return Client{}, refusedAssertion("wrong signature")
	}
	end, reason := t.checkAssertion(said)
	if reason != "" {
		return Client{}, refusedAssertion(reason)
	}
	err = t.Once.UseOnce(ctx, policy.Digest(c.ID+"\x00"+said.ID), end)
	if errors.Is(err, broker.ErrExists) {
		return Client{}, refusedAssertion("used before")
	}
	return c, err
}

// readAssertion reads an assertion. Nothing in it counts yet.
func readAssertion(text string) (said asserted, signed *jose.JSONWebSignature, err error) {
	parts := strings.Split(text, ".")
	wrong := refusedAssertion("no valid form")
	if len(text) > maxAssertion || len(parts) != 3 {
		return said, nil, wrong
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &said) != nil { // a member that is given twice is an error
		return said, nil, wrong
	}
	algorithms := make([]jose.SignatureAlgorithm, len(AssertionAlgorithms))
	for i, a := range AssertionAlgorithms {
		algorithms[i] = jose.SignatureAlgorithm(a)
	}
	if signed, err = jose.ParseSignedCompact(text, algorithms); err != nil {
		return said, nil, wrong
	}
	typ, _ := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType].(string)
	if !slices.Contains([]string{"", "jwt", "client-authentication+jwt"}, strings.ToLower(typ)) {
		return said, nil, wrong
	}
	return said, signed, nil
}

// checkAssertion says why an assertion does not count now; empty if it does. It returns its end.
func (t *Tokens) checkAssertion(said asserted) (end time.Time, reason string) {
	now := t.Now()
	audience, isText := said.Audience.(string)
	if many, ok := said.Audience.([]any); ok && len(many) == 1 {
		audience, isText = many[0].(string)
	}
	switch {
	case !isText || audience != t.Issuer() && audience != t.Issuer()+"/oauth2/token":
		return end, "audience is another"
	case said.ID == "" || len(said.ID) > 256:
		return end, "without jti"
	case said.Expiry == nil || *said.Expiry < 0 || *said.Expiry > 1<<40:
		return end, "without exp"
	}
	end = time.Unix(int64(*said.Expiry), 0)
	switch {
	case !now.Before(end):
		return end, "expired"
	case end.Sub(now) > assertionLife+assertionSkew:
		return end, "good for too long"
	case said.NotBefore > float64(now.Add(assertionSkew).Unix()), said.IssuedAt > float64(now.Add(assertionSkew).Unix()):
		return end, "not valid yet"
	}
	return end, ""
}

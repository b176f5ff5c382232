package trust

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

const (
	// maxToken bounds a token, in bytes.
	maxToken = 8 << 10
	// skew is by how much an issuer's clock may be ahead of ours. A token that has ended has ended.
	skew = 30 * time.Second
	// maxSubject bounds a subject (OpenID Connect Core section 2).
	maxSubject = 255
)

// header is the part of a token's header that counts.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
	Content   string `json:"cty"`
}

type parsed struct {
	header
	claims Claims
	issuer string
}

// parse reads a token in the compact form. Nothing in it counts yet. A member that is given twice
// makes it no token.
func parse(token string) (parsed, bool) {
	var p parsed
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 || parts[2] == "" {
		return p, false
	}
	for i, to := range []any{&p.header, &p.claims} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, to) != nil {
			return p, false
		}
	}
	p.issuer, _ = p.claims["iss"].(string)
	return p, true
}

// IssuerOf returns the issuer that a token names, without any check; empty if it names none.
func IssuerOf(token string) string {
	if !strings.HasPrefix(token, "ey") {
		return ""
	}
	p, _ := parse(token)
	return p.issuer
}

// Reasons why a token is refused, for the audit log. They hold nothing of the token.
const (
	reasonForm      = "no token in a valid form"
	reasonIssuer    = "unknown issuer"
	reasonAlgorithm = "algorithm not allowed"
	reasonType      = "type of token not allowed"
	reasonKey       = "unknown key"
	reasonSignature = "wrong signature"
	reasonAudience  = "audience is another"
	reasonTimes     = "times missing, or no numbers"
	reasonExpired   = "expired"
	reasonEarly     = "not valid yet"
	reasonLife      = "good for longer than maxLife"
	reasonSubject   = "no subject in a valid form"
	reasonUsed      = "used before, or without jti"
	reasonRule      = "no rule matches its claims"
	reasonUnbound   = "no bound token of a service account"
	reasonGone      = "the cluster does not take it"
)

// accepts says why a header is refused; empty if it is not.
func (e Authority) accepts(h header) string {
	if !slices.Contains(e.Algorithms, h.Algorithm) {
		return reasonAlgorithm
	}
	is := strings.TrimPrefix(strings.ToLower(h.Type), "application/")
	switch {
	case h.Content != "": // a token within a token
		return reasonType
	case e.Type != "" && !strings.EqualFold(is, e.Type):
		return reasonType
	case e.Type == "" && !slices.Contains([]string{"", "jwt", "at+jwt"}, is):
		return reasonType
	}
	return ""
}

// verify says why a signature is refused; empty if it is the key's, for the algorithm of the key.
func (e Authority) verify(token string, key jose.JSONWebKey) string {
	signed, err := jose.ParseSignedCompact(token, e.signers())
	if err != nil {
		return reasonForm
	}
	if _, err := signed.Verify(key.Key); err != nil {
		return reasonSignature
	}
	return ""
}

// times says why the times of a token are refused; empty if they are not. It returns its end.
func (e Authority) times(c Claims, now time.Time) (end time.Time, reason string) {
	at := map[string]time.Time{}
	for _, name := range []string{"exp", "iat", "nbf"} {
		v, there := c[name]
		seconds, ok := v.(float64)
		switch {
		case !there && name == "nbf": // good from the beginning
		case !ok || seconds < 0 || seconds > 1<<40:
			return end, reasonTimes
		}
		at[name] = time.Unix(int64(seconds), 0)
	}
	end = at["exp"]
	switch {
	case !now.Before(end):
		return end, reasonExpired
	case at["nbf"].After(now.Add(skew)), at["iat"].After(now.Add(skew)):
		return end, reasonEarly
	case end.Sub(at["iat"]) > e.MaxLife:
		return end, reasonLife
	}
	return end, ""
}

// forUs reports whether a token is for the audience, and for nobody else: who else gets it
// could show it here.
func forUs(v any, audience string) bool {
	if many, ok := v.([]any); ok && len(many) == 1 {
		v = many[0]
	}
	text, ok := v.(string)
	return ok && text == audience
}

// subject is who the token is about.
func (c Claims) subject() (string, bool) {
	sub, _ := c["sub"].(string)
	return sub, sub != "" && len(sub) <= maxSubject && !strings.ContainsFunc(sub, func(r rune) bool { return r < ' ' || r > '~' })
}

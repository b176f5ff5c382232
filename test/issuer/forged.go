package issuer

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Forged are tokens that nobody may take whose table of trust has the issuer with a rule for the subject
// "alice" or the repository acme/edge in the environment prod: by what is wrong with them, with the reason that
// the audit log has.
func (i *Issuer) Forged() map[string][2]string {
	key, now := i.Key(), i.Now().Unix()
	head := func(over map[string]any) map[string]any {
		h := map[string]any{"alg": key.Algorithm, "kid": key.KeyID, "typ": "JWT"}
		for name, v := range over {
			if h[name] = v; v == nil {
				delete(h, name)
			}
		}
		return h
	}
	payload := func(over map[string]any) []byte {
		text, err := json.Marshal(i.Claims("alice", over))
		if err != nil {
			panic(err)
		}
		return text
	}
	claims := func(over map[string]any) string { return Sign(key, head(nil), payload(over)) }
	header := func(over map[string]any) string { return Sign(key, head(over), payload(nil)) }
	good := claims(nil)
	parts := strings.Split(good, ".")
	text := string(payload(nil))
	raw := func(payload string) string { return Sign(key, head(nil), []byte(payload)) }
	const form, algorithm, kind, unknown, signature = "no token in a valid form", "algorithm not allowed", "type of token not allowed", "unknown key", "wrong signature"
	const issuer, audience, times, expired, early, life = "unknown issuer", "audience is another", "times missing, or no numbers", "expired", "not valid yet", "good for longer than maxLife"
	const subject, rule = "no subject in a valid form", "no rule matches its claims"
	forged := map[string][2]string{
		"alg none":                     {unsigned(head(map[string]any{"alg": "none"}), payload(nil)), algorithm},
		"alg none without signature":   {strings.TrimSuffix(unsigned(head(map[string]any{"alg": "none"}), payload(nil)), "e"), form},
		"alg None":                     {unsigned(head(map[string]any{"alg": "None"}), payload(nil)), algorithm},
		"HS256 with the public key":    {i.confused(head(map[string]any{"alg": "HS256"}), payload(nil)), algorithm},
		"HS512":                        {i.confused(head(map[string]any{"alg": "HS512"}), payload(nil)), algorithm},
		"ES512 of a P-256 key":         {header(map[string]any{"alg": "ES512"}), algorithm},
		"RS256 of an EC key":           {header(map[string]any{"alg": "RS256"}), unknown},
		"no alg":                       {header(map[string]any{"alg": nil}), algorithm},
		"alg a list":                   {header(map[string]any{"alg": []string{"ES256"}}), form},
		"the key of another issuer":    {Sign(another(key), head(nil), payload(nil)), signature},
		"a key of the header's":        {Sign(another(key), head(map[string]any{"jwk": publicOf(another(key))}), payload(nil)), signature},
		"a jku":                        {Sign(another(key), head(map[string]any{"jku": "https://evil.example/keys"}), payload(nil)), signature},
		"an x5u":                       {Sign(another(key), head(map[string]any{"x5u": "https://evil.example/keys"}), payload(nil)), signature},
		"kid that is a path":           {header(map[string]any{"kid": "../../../dev/null"}), unknown},
		"kid that is SQL":              {header(map[string]any{"kid": "k1' OR '1'='1"}), unknown},
		"kid a number":                 {header(map[string]any{"kid": 1}), form},
		"kid unknown":                  {header(map[string]any{"kid": "k9"}), unknown},
		"crit":                         {header(map[string]any{"crit": []string{"exp"}}), signature},
		"typ of a logout token":        {header(map[string]any{"typ": "logout+jwt"}), kind},
		"typ of a proof":               {header(map[string]any{"typ": "dpop+jwt"}), kind},
		"a JWT within":                 {Sign(key, head(map[string]any{"cty": "JWT"}), []byte(good)), form},
		"a JWT within, with claims":    {header(map[string]any{"cty": "JWT"}), kind},
		"a signature that is cut":      {good[:len(good)-4], signature},
		"no signature":                 {parts[0] + "." + parts[1] + ".", form},
		"another payload":              {parts[0] + "." + strings.Split(claims(map[string]any{"sub": "root"}), ".")[1] + "." + parts[2], signature},
		"four parts":                   {good + ".x", form},
		"five parts":                   {good + ".x.x", form},
		"no base64":                    {parts[0] + ".ey*." + parts[2], form},
		"padding":                      {parts[0] + "=." + parts[1] + "." + parts[2], form},
		"no JSON":                      {raw(`{"iss":`), form},
		"a list":                       {raw(`["` + i.URL + `"]`), form},
		"exp twice":                    {raw(strings.Replace(text, `"exp"`, fmt.Sprintf(`"exp":%d,"exp"`, now+9), 1)), form},
		"sub twice":                    {raw(strings.Replace(text, `"sub"`, `"sub":"root","sub"`, 1)), form},
		"aud twice":                    {raw(strings.Replace(text, `"aud"`, `"aud":"x","aud"`, 1)), form},
		"no UTF-8":                     {raw(strings.Replace(text, "alice", "al\xffice", 1)), form},
		"iss another":                  {claims(map[string]any{"iss": "https://evil.example"}), issuer},
		"iss with a slash":             {claims(map[string]any{"iss": i.URL + "/"}), issuer},
		"iss in capitals":              {claims(map[string]any{"iss": strings.ToUpper(i.URL)}), issuer},
		"aud of another broker":        {claims(map[string]any{"aud": "other-broker"}), audience},
		"aud a list with ours last":    {claims(map[string]any{"aud": []string{"other", i.Audience}}), audience},
		"aud a list with ours first":   {claims(map[string]any{"aud": []string{i.Audience, "other"}}), audience},
		"aud an empty list":            {claims(map[string]any{"aud": []string{}}), audience},
		"aud an object":                {claims(map[string]any{"aud": map[string]any{i.Audience: true}}), audience},
		"aud in other case":            {claims(map[string]any{"aud": strings.ToUpper(i.Audience)}), audience},
		"no aud":                       {claims(map[string]any{"aud": nil}), audience},
		"exp a second ago":             {claims(map[string]any{"exp": now - 1}), expired},
		"exp now":                      {claims(map[string]any{"exp": now}), expired},
		"no exp":                       {claims(map[string]any{"exp": nil}), times},
		"exp a text":                   {claims(map[string]any{"exp": fmt.Sprint(now + 60)}), times},
		"exp beyond all":               {raw(strings.Replace(text, fmt.Sprintf(`"exp":%d`, now+300), `"exp":1e300`, 1)), times},
		"exp negative":                 {claims(map[string]any{"exp": -1}), times},
		"no iat":                       {claims(map[string]any{"iat": nil}), times},
		"iat beyond skew":              {claims(map[string]any{"iat": now + 90}), early}, // a busy test asks seconds later
		"nbf beyond skew":              {claims(map[string]any{"nbf": now + 90}), early},
		"nbf a text":                   {claims(map[string]any{"nbf": "now"}), times},
		"good for a year":              {claims(map[string]any{"exp": now + 365*86400}), life},
		"no sub":                       {claims(map[string]any{"sub": nil}), subject},
		"sub empty":                    {claims(map[string]any{"sub": ""}), subject},
		"sub a list":                   {claims(map[string]any{"sub": []string{"alice"}}), subject},
		"sub a number":                 {claims(map[string]any{"sub": 7}), subject},
		"sub with a line feed":         {claims(map[string]any{"sub": "alice\nroot"}), subject},
		"sub of 1 KB":                  {claims(map[string]any{"sub": strings.Repeat("a", 1024)}), subject},
		"sub another":                  {claims(map[string]any{"sub": "alice2"}), rule},
		"a fork's pull request":        {claims(map[string]any{"sub": "repo", "ref_protected": "true", "repository": "evil/edge", "environment": "prod"}), rule},
		"another environment":          {claims(map[string]any{"sub": "repo", "ref_protected": "true", "repository": "acme/edge", "environment": "dev"}), rule},
		"an unprotected branch":        {claims(map[string]any{"sub": "repo", "repository": "acme/edge", "environment": "prod", "ref_protected": "false"}), rule},
		"no environment":               {claims(map[string]any{"sub": "repo", "ref_protected": "true", "repository": "acme/edge"}), rule},
		"a longer repository":          {claims(map[string]any{"sub": "repo", "ref_protected": "true", "repository": "acme/edge2", "environment": "prod"}), rule},
		"a list of repositories":       {claims(map[string]any{"sub": "repo", "ref_protected": "true", "repository": []string{"acme/edge"}, "environment": "prod"}), rule},
		"a service account's":          {claims(map[string]any{"sub": "system:serviceaccount:jobs:builder"}), rule},
		"a subject of the broker's":    {claims(map[string]any{"sub": "system:reaper"}), rule},
		"a token of 1 MB":              {claims(map[string]any{"filler": strings.Repeat("x", 1<<20)}), ""},
		"half a MB of header":          {header(map[string]any{"filler": strings.Repeat("x", 1<<19)}), ""},
		"a token of 9 KB":              {claims(map[string]any{"filler": strings.Repeat("x", 6600)}), ""},
		"a header that is given twice": {SignRaw(key, []byte(`{"alg":"ES256","alg":"none","kid":"`+key.KeyID+`"}`), payload(nil)), form},
	}
	return forged
}

func unsigned(header map[string]any, payload []byte) string {
	head, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(payload) + ".e"
}

// confused signs with the public key as a secret.
func (i *Issuer) confused(header map[string]any, payload []byte) string {
	text := strings.TrimSuffix(unsigned(header, payload), ".e")
	der, err := x509.MarshalPKIXPublicKey(publicOf(i.Key()).Key)
	if err != nil {
		panic(err)
	}
	sum := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	sum.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// another is a key of the same kind and id.
func another(key jose.JSONWebKey) jose.JSONWebKey {
	switch k := key.Key.(type) {
	case *ecdsa.PrivateKey:
		private, err := ecdsa.GenerateKey(k.Curve, rand.Reader)
		if err != nil {
			panic(err)
		}
		key.Key = private
	case *rsa.PrivateKey:
		key = RSA(key.KeyID)
	}
	return key
}

func publicOf(key jose.JSONWebKey) jose.JSONWebKey { return key.Public() }

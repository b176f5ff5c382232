// Package issuer is an issuer of tokens for tests: it publishes keys as OpenID Connect has it, and signs
// whatever a test wants.
package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	// URL is the issuer's name and address.
	URL string
	// Audience is that of its tokens.
	Audience string
	// Now is the time of its tokens.
	Now func() time.Time

	mu     sync.Mutex
	keys   []jose.JSONWebKey // the newest last
	asked  int
	answer http.HandlerFunc
}

// New starts an issuer with one key.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{Audience: "vimbroker", Now: time.Now}
	s := httptest.NewUnstartedServer(i)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	i.URL = s.URL
	i.Rotate("k1")
	return i
}

// ServeHTTP publishes the document and the keys.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked++
	answer := i.answer
	i.mu.Unlock()
	switch {
	case answer != nil:
		answer(w, r)
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	case r.URL.Path == "/keys":
		_, _ = w.Write(i.JWKS())
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Answer has all requests answered otherwise; nil ends that.
func (i *Issuer) Answer(h http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = h
}

// Asked counts the requests.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// Rotate adds a key, which signs from now on.
func (i *Issuer) Rotate(id string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	i.Add(jose.JSONWebKey{Key: private, KeyID: id, Algorithm: "ES256", Use: "sig"})
}

// Add adds a private key, which signs from now on.
func (i *Issuer) Add(key jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, key)
}

// RSA is a private key for RS256.
func RSA(id string) jose.JSONWebKey {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return jose.JSONWebKey{Key: private, KeyID: id, Algorithm: "RS256", Use: "sig"}
}

// JWKS are the public keys.
func (i *Issuer) JWKS() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	var set jose.JSONWebKeySet
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	text, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	return text
}

// Key is the key that signs.
func (i *Issuer) Key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1]
}

// Claims are those of a good token for a subject, with others over them; nil leaves one out.
func (i *Issuer) Claims(subject string, others map[string]any) map[string]any {
	now := i.Now().Unix()
	claims := map[string]any{"iss": i.URL, "sub": subject, "aud": i.Audience, "iat": now, "nbf": now, "exp": now + 300}
	maps.Copy(claims, others)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Token is a good token for a subject, with other claims over it.
func (i *Issuer) Token(subject string, others map[string]any) string {
	payload, err := json.Marshal(i.Claims(subject, others))
	if err != nil {
		panic(err)
	}
	key := i.Key()
	return Sign(key, map[string]any{"alg": key.Algorithm, "kid": key.KeyID, "typ": "JWT"}, payload)
}

// Sign signs any header and payload with a private key, for the algorithm of the key, whatever the header says.
func Sign(key jose.JSONWebKey, header map[string]any, payload []byte) string {
	head, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return SignRaw(key, head, payload)
}

// SignRaw is Sign for a header of any form.
func SignRaw(key jose.JSONWebKey, head, payload []byte) string {
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(payload)
	sum := crypto.SHA256.New()
	sum.Write([]byte(text))
	var signature []byte
	switch private := key.Key.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, sum.Sum(nil))
		if err != nil {
			panic(err)
		}
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case *rsa.PrivateKey:
		var err error
		if signature, err = rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum.Sum(nil)); err != nil {
			panic(err)
		}
	default:
		panic("no key that signs")
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Package fakevault is a Vault at the network for hermetic tests: a KV version 2
// engine at "secret", login by AppRole and by Kubernetes, tokens that expire and are
// renewed, and faults of every kind that a network and a server can have. It answers as Vault
// 1.19 was seen to, under the policy of deploy/vault-policy.hcl.
//
// What it does not do: other engines and login methods, namespaces, leases, and
// versions beyond what tests put there themselves.
package fakevault

import (
	"crypto/rand"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	*fake.Server
	// Address is the server's URL.
	Address string
	// RoleID logs in, together with SecretID().
	RoleID string

	now func() time.Time

	mu       sync.Mutex
	sealed   bool
	secretID string
	podToken string        // what a cluster's TokenReview would find good
	ttl, max time.Duration // of coming tokens
	// renewable is what all tokens are.
	renewable bool
	tokens    map[string]*token
	secrets   map[string]*kept
}

// token is one that a login gave.
type token struct {
	expires, most time.Time
}

// kept is a secret: version number to fields. A version without fields was
// deleted; undelete brings it back.
type kept struct {
	versions map[int]map[string]any
	deleted  map[int]bool
	gone     map[int]bool // destroyed
}

// New starts a server, and stops it when the test ends. now is its clock; nil means
// time.Now.
func New(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	return newOn(t, now, fake.New)
}

// NewPlain is New without TLS.
func NewPlain(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	return newOn(t, now, fake.NewPlain)
}

func newOn(t testing.TB, now func() time.Time, start func(testing.TB, http.HandlerFunc) *fake.Server) *Server {
	t.Helper()
	if now == nil {
		now = time.Now
	}
	s := &Server{
		RoleID: "role-" + rand.Text(), now: now, secretID: rand.Text(),
		ttl: time.Hour, max: 24 * time.Hour, renewable: true,
		tokens: map[string]*token{}, secrets: map[string]*kept{},
	}
	s.Server = start(t, s.serve)
	s.Address, s.Opening = s.URL, `{"data":{"keys":[`
	s.Refuse = func(w http.ResponseWriter, _ *http.Request, status int) { refuse(w, status, fake.Canary) }
	return s
}

// Seal makes every request fail until Unseal.
func (s *Server) Seal() { s.set(func() { s.sealed = true }) }

// Unseal ends a Seal.
func (s *Server) Unseal() { s.set(func() { s.sealed = false }) }

// RevokeTokens forgets every token.
func (s *Server) RevokeTokens() { s.set(func() { clear(s.tokens) }) }

// NewSecretID makes the secret id invalid, and returns the new one.
func (s *Server) NewSecretID() string {
	id := rand.Text()
	s.set(func() { s.secretID = id })
	return id
}

// SecretID is the secret id that logs in now.
func (s *Server) SecretID() (id string) {
	s.set(func() { id = s.secretID })
	return id
}

// AdmitPod lets one token of a pod's service account log in as the role "vimbroker"
// of the Kubernetes method, and no other any more.
func (s *Server) AdmitPod(token string) { s.set(func() { s.podToken = token }) }

// SetTTL sets the life of tokens of coming logins, and how old they can get by
// renewal.
func (s *Server) SetTTL(ttl, most time.Duration) { s.set(func() { s.ttl, s.max = ttl, most }) }

// Batch makes tokens such as cannot be renewed.
func (s *Server) Batch() { s.set(func() { s.renewable = false }) }

// Token makes a token without a login.
func (s *Server) Token() (id string) {
	s.set(func() { id = s.newToken() })
	return id
}

// Tokens is how many tokens are known.
func (s *Server) Tokens() (n int) {
	s.set(func() { n = len(s.tokens) })
	return n
}

// Write writes a further version of a secret behind everyone's back.
func (s *Server) Write(name string, fields map[string]any) {
	s.set(func() {
		k := s.secrets[name]
		if k == nil {
			k = newKept()
			s.secrets[name] = k
		}
		k.versions[len(k.versions)+1] = fields
	})
}

// SoftDelete deletes a version as "vault kv delete" does.
func (s *Server) SoftDelete(name string, version int) {
	s.set(func() { s.secrets[name].deleted[version] = true })
}

// Replace puts other fields into a version.
func (s *Server) Replace(name string, version int, fields map[string]any) {
	s.set(func() { s.secrets[name].versions[version] = fields })
}

// Names lists all secrets.
func (s *Server) Names() (names []string) {
	s.set(func() {
		for name := range s.secrets {
			names = append(names, name)
		}
	})
	return names
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func newKept() *kept {
	return &kept{versions: map[int]map[string]any{}, deleted: map[int]bool{}, gone: map[int]bool{}}
}

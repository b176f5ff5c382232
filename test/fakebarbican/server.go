// Package fakebarbican is a Barbican, and as much of a Keystone as it takes to log
// in to it, at the network for hermetic tests: tokens that expire, secrets with an
// ACL and pages of them, and faults of every kind that a network and a server can
// have. It answers as Barbican 15 (Zed) was seen to.
//
// What it does not do: projects besides the one, roles, containers, orders, and
// secrets whose payload comes with them.
package fakebarbican

import (
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// The one tenant who can log in.
const (
	UserID    = "0f5e2a1c9d8b4e7f8a6b5c4d3e2f1a0b"
	ProjectID = "9b1d7c3e5f2a4b6c8d0e1f2a3b4c5d6e"
	// AppCredID is that tenant's application credential, whose secret is the password.
	AppCredID = "3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f"
)

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	*fake.Server
	// AuthURL is Keystone's URL and Endpoint Barbican's.
	AuthURL, Endpoint string

	now func() time.Time

	mu       sync.Mutex
	password string
	ttl      time.Duration // of coming tokens
	limit    int           // of a page
	tokens   map[string]time.Time
	secrets  []*Secret
}

// Secret is what Barbican holds.
type Secret struct {
	ID, Name, Mode, Algorithm, Type string
	Creator                         string
	// ContentType is empty while there is no payload.
	ContentType string
	Payload     []byte
	// Closed says that the project's other users may not read it; Readers may.
	Closed  bool
	Readers []string
	// Exposed says that it held a payload before it was closed.
	Exposed bool
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
	s := &Server{now: now, password: rand.Text(), ttl: time.Hour, limit: 100, tokens: map[string]time.Time{}}
	s.Server = start(t, s.serve)
	s.AuthURL, s.Endpoint, s.Opening = s.URL+"/identity/v3", s.URL, `{"secrets":[`
	s.Refuse = func(w http.ResponseWriter, r *http.Request, status int) { refuse(w, r, status, fake.Canary) }
	return s
}

// Password is what logs UserID in to ProjectID now, and AppCredID.
func (s *Server) Password() (text string) {
	s.set(func() { text = s.password })
	return text
}

// NewPassword makes the password invalid, and returns the new one.
func (s *Server) NewPassword() string {
	text := rand.Text()
	s.set(func() { s.password = text })
	return text
}

// RevokeTokens forgets every token.
func (s *Server) RevokeTokens() { s.set(func() { clear(s.tokens) }) }

// SetTTL sets the life of coming tokens.
func (s *Server) SetTTL(ttl time.Duration) { s.set(func() { s.ttl = ttl }) }

// SetPage sets how many secrets a page has at most.
func (s *Server) SetPage(n int) { s.set(func() { s.limit = n }) }

// Tokens is how many tokens are known.
func (s *Server) Tokens() (n int) {
	s.set(func() { n = len(s.tokens) })
	return n
}

// Secrets returns what is held.
func (s *Server) Secrets() (all []Secret) {
	s.set(func() {
		for _, found := range s.secrets {
			all = append(all, *found)
		}
	})
	return all
}

// Change changes a secret behind everyone's back.
func (s *Server) Change(id string, f func(*Secret)) {
	s.set(func() {
		for _, found := range s.secrets {
			if found.ID == id {
				f(found)
			}
		}
	})
}

// Plant adds a secret.
func (s *Server) Plant(planted Secret) { s.set(func() { s.secrets = append(s.secrets, &planted) }) }

// Remove deletes a secret behind everyone's back.
func (s *Server) Remove(id string) { s.set(func() { s.remove(id) }) }

func (s *Server) remove(id string) {
	s.secrets = slices.DeleteFunc(s.secrets, func(found *Secret) bool { return found.ID == id })
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

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
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// The one tenant who can log in.
const (
	UserID    = "0f5e2a1c9d8b4e7f8a6b5c4d3e2f1a0b"
	ProjectID = "9b1d7c3e5f2a4b6c8d0e1f2a3b4c5d6e"
)

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	// AuthURL is Keystone's URL and Endpoint Barbican's, CA the PEM bundle that
	// both are known by.
	AuthURL, Endpoint string
	CA                string

	now  func() time.Time
	http *httptest.Server

	mu       sync.Mutex
	password string
	ttl      time.Duration // of coming tokens
	limit    int           // of a page
	tokens   map[string]time.Time
	secrets  []*Secret
	faults   []*armed
	requests []Request
	released chan struct{} // closed when hanging requests are let go
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

// Request is one that the server was asked.
type Request struct{ Method, Path, Query, Accept, Token string }

// New starts a server, and stops it when the test ends. now is its clock; nil means
// time.Now.
func New(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	if now == nil {
		now = time.Now
	}
	ca, err := pki.NewCA("fake OpenStack CA")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		CA: string(ca.PEM), now: now, password: rand.Text(), ttl: time.Hour, limit: 100,
		tokens: map[string]time.Time{}, released: make(chan struct{}),
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.http.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.http.StartTLS()
	s.AuthURL, s.Endpoint = s.http.URL+"/identity/v3", s.http.URL
	t.Cleanup(func() {
		s.Heal()
		s.http.Close()
	})
	return s
}

// Password is what logs UserID in to ProjectID now.
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

// Requests returns what was asked so far.
func (s *Server) Requests() (asked []Request) {
	s.set(func() { asked = slices.Clone(s.requests) })
	return asked
}

// Count counts the requests with this method to this path, from "identity/" or
// "v1/" on.
func (s *Server) Count(method, path string) (n int) {
	for _, r := range s.Requests() {
		if r.Method == method && r.Path == path {
			n++
		}
	}
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

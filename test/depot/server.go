package depot

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Server is a running fake of a depot. Its methods are safe for concurrent use.
type Server struct {
	*fake.Server
	// Token and Password (of user "operator") may do anything. ClerkToken may look only.
	Token, Password, ClerkToken secret.Text

	id  string
	now func() time.Time

	mu     sync.Mutex
	passes map[string]*pass
}

// pass is one object of a lease, with every token that was made for it.
type pass struct {
	Name      string    `json:"name"`
	VIM       string    `json:"vim"`
	Lease     string    `json:"lease"`
	Role      string    `json:"role"`
	CreatedAt time.Time `json:"createdAt"`
	tokens    map[string]time.Time
}

// roles are those that a pass can have, and whether they write.
var roles = map[string]bool{"reader": false, "writer": true}

// maxLife is the longest life of a token.
const maxLife = 24 * time.Hour

// NewServer starts a depot with this clock, and stops it when the test ends.
func NewServer(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	s := &Server{
		Token: secret.NewText(rand.Text()), Password: secret.NewText(rand.Text()), ClerkToken: secret.NewText(rand.Text()),
		id: rand.Text(), now: now, passes: map[string]*pass{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1", s.operator(s.show))
	mux.HandleFunc("PUT /v1/passes/{name}", s.operator(s.put))
	mux.HandleFunc("POST /v1/passes/{name}/tokens", s.operator(s.renew))
	mux.HandleFunc("DELETE /v1/passes/{name}", s.operator(s.remove))
	mux.HandleFunc("GET /v1/passes", s.operator(s.list))
	mux.HandleFunc("/v1/goods", s.goods)
	s.Server = fake.New(t, mux.ServeHTTP)
	return s
}

func refuse(w http.ResponseWriter, status int, field string) {
	fake.Say(w, status, answer{Error: &problem{status, field}})
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// operator lets in who may look after passes. Others than the clerk may change them.
func (s *Server) operator(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		clerk := bearer(r) == s.ClerkToken.Reveal()
		switch {
		case !clerk && bearer(r) != s.Token.Reveal() && (user != "operator" || password != s.Password.Reveal()):
			refuse(w, http.StatusUnauthorized, "")
		case clerk && r.Method != http.MethodGet:
			refuse(w, http.StatusForbidden, "")
		default:
			s.mu.Lock()
			defer s.mu.Unlock()
			next(w, r)
		}
	}
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	fake.Say(w, http.StatusOK, answer{ID: s.id, Version: "1.0", MayLease: bearer(r) != s.ClerkToken.Reveal()})
}

func (s *Server) put(w http.ResponseWriter, r *http.Request) {
	var in order
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		refuse(w, http.StatusBadRequest, "")
		return
	}
	if _, known := roles[in.Role]; !known {
		refuse(w, http.StatusBadRequest, "role")
		return
	}
	p := s.passes[r.PathValue("name")]
	if p == nil {
		p = &pass{Name: r.PathValue("name"), VIM: in.VIM, Lease: in.Lease, Role: in.Role, CreatedAt: s.now().UTC(), tokens: map[string]time.Time{}}
		s.passes[p.Name] = p
	}
	if p.VIM != in.VIM || p.Lease != in.Lease {
		refuse(w, http.StatusConflict, "")
		return
	}
	s.mint(w, p, in)
}

func (s *Server) renew(w http.ResponseWriter, r *http.Request) {
	var in order
	p := s.passes[r.PathValue("name")]
	switch {
	case json.NewDecoder(r.Body).Decode(&in) != nil:
		refuse(w, http.StatusBadRequest, "")
	case p == nil:
		refuse(w, http.StatusNotFound, "")
	case p.VIM != in.VIM:
		refuse(w, http.StatusConflict, "")
	default:
		s.mint(w, p, in)
	}
}

func (s *Server) mint(w http.ResponseWriter, p *pass, in order) {
	token, end := rand.Text(), s.now().Add(min(time.Duration(in.Seconds)*time.Second, maxLife)).UTC()
	p.tokens[token] = end
	fake.Say(w, http.StatusOK, answer{Token: token, ExpiresAt: end})
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	p := s.passes[r.PathValue("name")]
	switch {
	case p == nil:
		refuse(w, http.StatusNotFound, "")
	case p.VIM != r.URL.Query().Get("vim"):
		refuse(w, http.StatusConflict, "")
	default:
		delete(s.passes, p.Name)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	fake.Say(w, http.StatusOK, answer{Passes: s.of(r.URL.Query().Get("vim"))})
}

// goods is what leases are for: readers look, writers also put.
func (s *Server) goods(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.passes {
		end, known := p.tokens[bearer(r)]
		switch {
		case !known || s.now().After(end):
		case r.Method != http.MethodGet && !roles[p.Role]:
			refuse(w, http.StatusForbidden, "")
			return
		default:
			fake.Say(w, http.StatusOK, answer{})
			return
		}
	}
	refuse(w, http.StatusUnauthorized, "")
}

// of lists the passes of one VIM. The lock is held.
func (s *Server) of(vim string) (found []pass) {
	for _, p := range s.passes {
		if p.VIM == vim {
			found = append(found, *p)
		}
	}
	return found
}

// Handles lists the passes of one VIM by name.
func (s *Server) Handles(_ *testing.T, vim string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.of(vim) {
		names = append(names, p.Name)
	}
	return names
}

// Everything lists all passes by name.
func (s *Server) Everything(*testing.T) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.passes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Remove deletes a pass behind everyone's back.
func (s *Server) Remove(_ *testing.T, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.passes, name)
}

// Plant makes a pass that belongs to no VIM, until the test ends.
func (s *Server) Plant(t *testing.T, name string) (untouched func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	planted := &pass{Name: name, tokens: map[string]time.Time{}}
	s.passes[name] = planted
	t.Cleanup(func() { s.Remove(t, name) })
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.passes[name] == planted && len(planted.tokens) == 0
	}
}

// Package fakekeystone is a Keystone at the network for hermetic tests: it keeps
// users, projects, roles that imply one another, tokens and application
// credentials, and can be told to fail and to lie. It answers as a Keystone of
// Zed with the fixes of 2026 was seen to.
//
// Who has role manager on a domain keeps the users there, and gives them the roles manager,
// member and reader, as since 2024.2.
//
// What it does not do: system's scope, groups, federation, trusts
// (it refuses them, or finds no trustee), and the services of its catalog.
package fakekeystone

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// Options of a server. The zero value is a cloud with all fixes, whose application
// credentials may make no trusts.
type Options struct {
	// Now is the server's clock; nil means time.Now.
	Now func() time.Time
	// TokenTTL is the life of a token; zero means an hour.
	TokenTTL time.Duration
	// Trusts lets application credentials make trusts.
	Trusts bool
	// Unpatched makes this a Keystone before the fixes of 2026: any application credential
	// makes EC2 credentials of its user and logs in as another, and an unrestricted one
	// makes trusts.
	Unpatched bool
	// Late makes this a Keystone with the fixes in Debian's form: no application credential makes or
	// lists EC2 credentials, which OS-EC2 says after it has looked for the project.
	Late bool
	// ListsByPolicy refuses the list of EC2 credentials as a policy of the site does.
	ListsByPolicy bool
	// TOTP lets users log in with a TOTP credential.
	TOTP bool
	// Plain serves http.
	Plain bool
	// UserLimit is how many application credentials a user may have; zero means any number.
	UserLimit int
}

// Domain is the one that users and projects are in unless they say otherwise.
const Domain, DomainName = "default", "Default"

// User is who can log in.
type User struct {
	ID, Name, Password, DomainID, DomainName string
	Description                              string
	Disabled                                 bool
}

// Project is what users have roles on.
type Project struct{ ID, Name, DomainID, DomainName string }

// AppCred is an application credential.
type AppCred struct {
	ID, Name, Description, Secret string
	UserID, ProjectID             string
	Roles                         []string
	Rules                         []Rule // nil: everything
	Unrestricted                  bool
	ExpiresAt                     time.Time // zero: never
}

// Rule is an access rule of an application credential.
type Rule struct {
	Service string `json:"service"`
	Method  string `json:"method"`
	Path    string `json:"path"`
}

// implies is what every Keystone is set up with, since 2024.1: Zed has no manager.
// Passwords' tokens have what is implied; application credentials have what they
// were made with.
var implies = map[string]string{"admin": "manager", "manager": "member", "member": "reader"}

type token struct {
	id, user, project string
	domain            string // in place of a project
	roles             []string
	issued, expires   time.Time
	appCred           string // the application credential it was made with
}

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	fake.Server
	// Endpoint is Keystone's URL without /v3. CA is empty where it is plain.
	Endpoint string

	opts Options

	mu       sync.Mutex
	users    []*User
	projects []*Project
	assigned map[[2]string][]string // user and project: roles
	appCreds []*AppCred
	tokens   map[string]token
	catalog  []Endpoint
	noRules  bool
	planted  []Planted
}

// Planted is a trust, or a credential of /v3/credentials, of a user.
type Planted struct {
	ID, UserID string
	// ProjectID is the one that a credential is for; empty for none.
	ProjectID string
	// Type is "trust", "ec2" or "totp".
	Type string
	// Trustee is whom a trust is for.
	Trustee string
}

// Endpoint is a line of the catalog.
type Endpoint struct{ Service, Interface, Region, URL string }

// New starts a server for one test, and stops it when that ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. The caller closes it.
func Start(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TokenTTL == 0 {
		o.TokenTTL = time.Hour
	}
	s := &Server{opts: o, assigned: map[[2]string][]string{}, tokens: map[string]token{}}
	s.Opening = `{"token":{"catalog":[`
	s.Refuse = func(w http.ResponseWriter, _ *http.Request, status int) { refuse(w, status) }
	s.Plain = o.Plain
	if err := s.Server.Start(s.answer); err != nil {
		return nil, err
	}
	s.Endpoint = s.URL
	s.catalog = []Endpoint{
		{"identity", "public", "RegionOne", s.Endpoint + "/v3"},
		{"orchestration", "public", "RegionOne", s.Endpoint + "/heat/v1/project"},
		{"identity", "public", "RegionTwo", s.Endpoint + "/v3"},
	}
	return s, nil
}

// Project makes a project in the default domain.
func (s *Server) Project(name string) Project {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Project{ID: newID(), Name: name, DomainID: Domain, DomainName: DomainName}
	s.projects = append(s.projects, p)
	return *p
}

// User makes a user in the default domain with roles on a project.
func (s *Server) User(name string, on Project, roles ...string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &User{ID: newID(), Name: name, Password: "p4ss-" + newID(), DomainID: Domain, DomainName: DomainName}
	s.users = append(s.users, u)
	if len(roles) > 0 {
		s.assigned[[2]string{u.ID, on.ID}] = roles
	}
	return *u
}

// OnDomain gives a user roles on the default domain; without roles it takes them.
func (s *Server) OnDomain(user string, roles ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assigned[[2]string{user, Domain}] = roles
}

// Users are those whose names begin like that.
func (s *Server) Users(beginning string) []User {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []User
	for _, u := range s.users {
		if strings.HasPrefix(u.Name, beginning) {
			found = append(found, *u)
		}
	}
	return found
}

// Stray makes a user in the default domain behind the broker's back, with that description.
func (s *Server) Stray(name, description string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = append(s.users, &User{ID: newID(), Name: name, Description: description, DomainID: Domain, DomainName: DomainName})
}

// Roles are those that a user was given on a project.
func (s *Server) Roles(user, project string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.assigned[[2]string{user, project}])
}

// SetPassword gives a user another password, and ends the user's tokens.
func (s *Server) SetPassword(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		if u.ID == user {
			u.Password = password
			s.revokeTokens(user)
		}
	}
}

// RevokeTokens revokes the tokens that a user has logged in for with the password.
func (s *Server) RevokeTokens(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revokeTokens(user)
}

// revokeTokens leaves those of application credentials. The caller holds s.mu.
func (s *Server) revokeTokens(user string) {
	maps.DeleteFunc(s.tokens, func(_ string, t token) bool { return t.user == user && t.appCred == "" })
}

// SetCatalog puts another catalog into the tokens to come.
func (s *Server) SetCatalog(c ...Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalog = c
}

// IgnoreAccessRules makes this a Keystone before Train, which knows none.
func (s *Server) IgnoreAccessRules() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noRules = true
}

// ChangeIDs makes this another cloud: the project gets another id.
func (s *Server) ChangeIDs(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.projects {
		if p.ID == project {
			p.ID = newID()
			for k, roles := range s.assigned {
				if k[1] == project {
					s.assigned[[2]string{k[0], p.ID}] = roles
				}
			}
		}
	}
}

// AppCred makes an application credential behind the broker's back; without roles
// it has all of its user's.
func (s *Server) AppCred(c AppCred) AppCred {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(c.Roles) == 0 {
		c.Roles = with(s.assigned[[2]string{c.UserID, c.ProjectID}])
	}
	c.ID, c.Secret = newID(), "s3cret-"+newID()
	s.appCreds = append(s.appCreds, &c)
	return c
}

// Plant makes a trust or a credential, as the holder of a lease or Heat may.
func (s *Server) Plant(p Planted) Planted {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ID = cmp.Or(p.ID, newID())
	s.planted = append(s.planted, p)
	return p
}

// Planted are the trusts and credentials that there are.
func (s *Server) Planted() []Planted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.planted)
}

// Trust makes a trust for a trustee with a token, as Heat does with that of whoever asks it for a stack. It is refused
// where the token does not work, or is one of an application credential that may make none.
func (s *Server) Trust(token, trustee string) (id string, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, refused := s.alive(token)
	if refused != 0 || !s.mayTrust(t) {
		return "", false
	}
	id = newID()
	s.planted = append(s.planted, Planted{ID: id, UserID: t.user, Type: "trust", Trustee: trustee})
	return id, true
}

// Untrust ends a trust.
func (s *Server) Untrust(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planted = slices.DeleteFunc(s.planted, func(p Planted) bool { return p.ID == id })
}

// AppCreds are the application credentials that there are.
func (s *Server) AppCreds() []AppCred {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []AppCred
	for _, c := range s.appCreds {
		all = append(all, *c)
	}
	return all
}

// Delete deletes the application credentials of that name, and reports whether there was one.
func (s *Server) Delete(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.appCreds)
	s.appCreds = slices.DeleteFunc(s.appCreds, func(c *AppCred) bool { return c.Name == name })
	return len(s.appCreds) < before
}

// Tokens counts those that work.
func (s *Server) Tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id := range s.tokens {
		if _, refused := s.alive(id); refused == 0 {
			n++
		}
	}
	return n
}

// Works reports whether a token does.
func (s *Server) Works(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, refused := s.alive(id)
	return refused == 0
}

// with adds to roles those that they imply.
func with(roles []string) []string {
	all := slices.Clone(roles)
	for i := 0; i < len(all); i++ {
		if next := implies[all[i]]; next != "" && !slices.Contains(all, next) {
			all = append(all, next)
		}
	}
	return all
}

// roleID is a role's id: its name in another form.
func roleID(name string) string { return "role-" + name }

func roleName(id string) string { return strings.TrimPrefix(id, "role-") }

func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

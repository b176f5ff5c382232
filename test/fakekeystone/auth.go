package fakekeystone

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// name is how a request names a user or project, with its domain.
type name struct {
	ID, Name string
	Domain   struct{ ID, Name string }
	Password string
}

type authRequest struct {
	Auth struct {
		Identity struct {
			Methods  []string
			Password struct{ User name }
			AppCred  struct {
				ID, Secret string
				User       *name
			} `json:"application_credential"`
		}
		Scope struct {
			Project  *name
			Domain   *name
			Unscoped *struct{}
		}
	}
}

// logIn is POST /v3/auth/tokens. The caller holds s.mu.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	var in authRequest
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Auth.Identity.Methods) != 1 {
		refuse(w, http.StatusBadRequest)
		return
	}
	if methods := s.methods(); !slices.Contains(methods, in.Auth.Identity.Methods[0]) {
		fake.Say(w, http.StatusUnauthorized, object{"error": object{
			"code": http.StatusUnauthorized, "title": "Unauthorized", "message": fake.Canary, "identity": object{"methods": methods},
		}})
		return
	}
	t := token{id: "gAAAAA" + newID() + newID(), issued: s.opts.Now(), expires: s.opts.Now().Add(s.opts.TokenTTL)}
	if in.Auth.Identity.Methods[0] == "application_credential" {
		c := s.appCred(in.Auth.Identity.AppCred.ID)
		if c == nil {
			refuse(w, http.StatusNotFound)
			return
		}
		if u := s.user(c.UserID); c.Secret != in.Auth.Identity.AppCred.Secret || s.over(c) || u == nil || u.Disabled {
			refuse(w, http.StatusUnauthorized)
			return
		}
		t.user, t.project, t.appCred = c.UserID, c.ProjectID, c.ID
		if as := in.Auth.Identity.AppCred.User; as != nil && s.opts.Unpatched {
			u := s.named(*as)
			if u == nil {
				refuse(w, http.StatusUnauthorized)
				return
			}
			t.user = u.ID
		}
		has := with(s.assigned[[2]string{c.UserID, c.ProjectID}])
		for _, role := range c.Roles {
			if slices.Contains(has, role) {
				t.roles = append(t.roles, role)
			}
		}
		if len(t.roles) == 0 {
			refuse(w, http.StatusUnauthorized)
			return
		}
		if !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(t.expires) {
			t.expires = c.ExpiresAt
		}
		s.grant(w, t)
		return
	}
	u := s.named(in.Auth.Identity.Password.User)
	if u == nil || u.Disabled || u.Password != in.Auth.Identity.Password.User.Password {
		refuse(w, http.StatusUnauthorized)
		return
	}
	t.user = u.ID
	if on := in.Auth.Scope.Project; on != nil {
		for _, p := range s.projects {
			if p.ID == on.ID || on.ID == "" && p.Name == on.Name && (p.DomainID == on.Domain.ID || p.DomainName == on.Domain.Name) {
				t.project, t.roles = p.ID, with(s.assigned[[2]string{u.ID, p.ID}])
			}
		}
		if len(t.roles) == 0 {
			refuse(w, http.StatusUnauthorized)
			return
		}
	}
	if on := in.Auth.Scope.Domain; on != nil {
		if t.domain, t.roles = on.ID, with(s.assigned[[2]string{u.ID, on.ID}]); len(t.roles) == 0 {
			refuse(w, http.StatusUnauthorized)
			return
		}
	}
	s.grant(w, t)
}

// methods are the ways to log in.
func (s *Server) methods() []string {
	all := []string{"external", "password", "token", "oauth1", "mapped", "application_credential"}
	if s.opts.TOTP {
		all = append(all, "totp")
	}
	return all
}

// grant keeps a token and shows it.
func (s *Server) grant(w http.ResponseWriter, t token) {
	s.tokens[t.id] = t
	w.Header().Set("X-Subject-Token", t.id)
	out := s.shown(t)
	if c := s.appCred(t.appCred); c != nil && t.expires.Equal(c.ExpiresAt) {
		out["expires_at"] = t.expires.UTC().Format("2006-01-02T15:04:05") // only in this answer
	}
	fake.Say(w, http.StatusCreated, object{"token": out})
}

// shown is a token as Keystone describes it.
func (s *Server) shown(t token) object {
	u := s.user(t.user)
	out := object{
		"methods":    []string{"password"},
		"user":       object{"id": u.ID, "name": u.Name, "domain": object{"id": u.DomainID, "name": u.DomainName}},
		"issued_at":  zulu(t.issued),
		"expires_at": zulu(t.expires),
	}
	if c := s.appCred(t.appCred); c != nil {
		out["methods"] = []string{"application_credential"}
		out["application_credential"] = object{"id": c.ID, "name": c.Name, "restricted": !c.Unrestricted}
	}
	if t.domain != "" {
		out["domain"], out["roles"], out["catalog"] = object{"id": t.domain, "name": DomainName}, roles(t.roles), []object{}
	}
	if t.project == "" {
		return out
	}
	for _, p := range s.projects {
		if p.ID == t.project {
			out["project"] = object{"id": p.ID, "name": p.Name, "domain": object{"id": p.DomainID, "name": p.DomainName}}
		}
	}
	out["roles"] = roles(t.roles)
	services := map[string][]object{}
	for _, e := range s.catalog {
		services[e.Service] = append(services[e.Service], object{"id": newID(), "interface": e.Interface, "region": e.Region, "region_id": e.Region, "url": e.URL})
	}
	catalog := []object{}
	for _, kind := range slices.Sorted(maps.Keys(services)) {
		catalog = append(catalog, object{"id": newID(), "type": kind, "name": kind, "endpoints": services[kind]})
	}
	out["catalog"] = catalog
	return out
}

func roles(names []string) []object {
	out := []object{}
	for _, r := range names {
		out = append(out, object{"id": roleID(r), "name": r})
	}
	return out
}

// alive returns a token, and the status that whoever comes with it is refused with:
// zero if it works. The caller holds s.mu.
func (s *Server) alive(id string) (_ token, refused int) {
	t, ok := s.tokens[id]
	switch u := s.user(t.user); {
	case !ok, !s.opts.Now().Before(t.expires), u == nil, u.Disabled:
		return t, http.StatusUnauthorized
	case t.appCred != "" && s.appCred(t.appCred) == nil:
		return t, http.StatusNotFound
	}
	return t, 0
}

func (s *Server) over(c *AppCred) bool {
	return !c.ExpiresAt.IsZero() && !s.opts.Now().Before(c.ExpiresAt)
}

func (s *Server) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *Server) named(n name) *User {
	for _, u := range s.users {
		if u.ID == n.ID || n.ID == "" && strings.EqualFold(u.Name, n.Name) && (u.DomainID == n.Domain.ID || u.DomainName == n.Domain.Name) {
			return u
		}
	}
	return nil
}

func (s *Server) appCred(id string) *AppCred {
	for _, c := range s.appCreds {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func zulu(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

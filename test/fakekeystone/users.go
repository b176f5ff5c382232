package fakekeystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/test/fake"
)

// keepUsers is what who keeps the users of a domain may do: make, list, change and delete them, and
// give them roles on projects. The caller holds s.mu.
func (s *Server) keepUsers(w http.ResponseWriter, r *http.Request, as token, parts []string) {
	if as.domain == "" || !slices.Contains(as.roles, "manager") {
		refuse(w, http.StatusForbidden)
		return
	}
	if parts[0] == "projects" {
		role := roleName(parts[5])
		if !slices.Contains([]string{"manager", "member", "reader"}, role) && !slices.Contains(as.roles, "admin") || s.user(parts[3]) == nil {
			refuse(w, http.StatusForbidden)
			return
		}
		key := [2]string{parts[3], parts[1]}
		if !slices.Contains(s.assigned[key], role) {
			s.assigned[key] = append(s.assigned[key], role)
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var in struct {
		User struct {
			Name, Password, Description string
			DomainID                    string `json:"domain_id"`
		}
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			refuse(w, http.StatusBadRequest)
			return
		}
	}
	switch {
	case r.Method == http.MethodGet && len(parts) == 1:
		q, all := r.URL.Query(), []object{}
		for _, u := range s.users {
			if u.DomainID == as.domain && (q.Get("name") == "" || u.Name == q.Get("name")) && strings.HasPrefix(u.Name, q.Get("name__startswith")) {
				all = append(all, describeUser(u))
			}
		}
		fake.Say(w, http.StatusOK, object{"users": all, "links": object{"next": nil}})
	case r.Method == http.MethodPost && len(parts) == 1:
		if in.User.DomainID != as.domain {
			refuse(w, http.StatusForbidden)
			return
		}
		if s.named(name{Name: in.User.Name, Domain: struct{ ID, Name string }{ID: as.domain}}) != nil {
			refuse(w, http.StatusConflict)
			return
		}
		u := &User{ID: newID(), Name: in.User.Name, Password: in.User.Password, Description: in.User.Description, DomainID: Domain, DomainName: DomainName}
		s.users = append(s.users, u)
		fake.Say(w, http.StatusCreated, object{"user": describeUser(u)})
	case s.user(parts[len(parts)-1]) == nil: // Keystone does not tell who keeps only a domain that there is none
		refuse(w, http.StatusForbidden)
	case r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, object{"user": describeUser(s.user(parts[1]))})
	case r.Method == http.MethodPatch:
		u := s.user(parts[1])
		u.Password = in.User.Password
		s.revokeTokens(u.ID)
		fake.Say(w, http.StatusOK, object{"user": describeUser(u)})
	case r.Method == http.MethodDelete:
		id := parts[1]
		s.users = slices.DeleteFunc(s.users, func(u *User) bool { return u.ID == id })
		s.appCreds = slices.DeleteFunc(s.appCreds, func(c *AppCred) bool { return c.UserID == id })
		s.planted = slices.DeleteFunc(s.planted, func(p Planted) bool { return p.UserID == id })
		for key := range s.assigned {
			if key[0] == id {
				delete(s.assigned, key)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		refuse(w, http.StatusNotFound)
	}
}

func describeUser(u *User) object {
	return object{
		"id": u.ID, "name": u.Name, "domain_id": u.DomainID, "description": u.Description, "enabled": !u.Disabled,
		"password_expires_at": nil, "options": object{},
	}
}

package fakekeystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

type object = map[string]any

// noZone is how Keystone writes an application credential's end: in UTC, unsaid.
const noZone = "2006-01-02T15:04:05.000000"

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, "/v3"), "/")
	switch {
	case !strings.HasPrefix(r.URL.Path, "/v3"):
		refuse(w, http.StatusNotFound)
		return
	case path == "" && r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, object{"version": object{"id": "v3.14", "status": "stable"}})
		return
	case path == "auth/tokens" && r.Method == http.MethodPost:
		s.logIn(w, r)
		return
	}
	as, refused := s.alive(r.Header.Get("X-Auth-Token"))
	if refused != 0 {
		refuse(w, refused)
		return
	}
	parts := strings.Split(path, "/")
	switch {
	case path == "auth/tokens":
		s.subject(w, r, as)
	case path == "auth/projects":
		found := []object{}
		for _, p := range s.projects {
			if len(s.assigned[[2]string{as.user, p.ID}]) > 0 {
				found = append(found, object{"id": p.ID, "name": p.Name, "domain_id": p.DomainID})
			}
		}
		fake.Say(w, http.StatusOK, object{"projects": found})
	case path == "auth/domains":
		found := []object{}
		if len(s.assigned[[2]string{as.user, Domain}]) > 0 {
			found = append(found, object{"id": Domain, "name": DomainName})
		}
		fake.Say(w, http.StatusOK, object{"domains": found})
	case path == "users", len(parts) == 2 && parts[0] == "users", len(parts) == 6 && parts[0] == "projects" && parts[4] == "roles":
		s.keepUsers(w, r, as, parts)
	case path == "regions": // asked by earlier versions only
		fake.Say(w, http.StatusOK, object{"regions": []object{{"id": "RegionOne"}, {"id": "RegionTwo"}}, "links": object{"next": nil}})
	case path == "OS-TRUST/trusts" && r.Method == http.MethodPost:
		if !s.mayTrust(as) {
			refuse(w, http.StatusForbidden)
			return
		}
		refuse(w, http.StatusNotFound)
	case path == "credentials" && r.Method == http.MethodPost:
		s.makeCredential(w, r, as)
	case len(parts) == 3 && parts[0] == "OS-OAUTH1" && parts[1] == "authorize" && r.Method == http.MethodPut:
		if !slices.Contains(as.roles, "admin") || as.appCred != "" && !s.opts.Unpatched {
			refuse(w, http.StatusForbidden)
			return
		}
		refuse(w, http.StatusNotFound)
	case path == "OS-TRUST/trusts", path == "credentials", strings.HasPrefix(path, "OS-TRUST/trusts/"), strings.HasPrefix(path, "credentials/"):
		s.plants(w, r, as, parts)
	case len(parts) >= 3 && parts[0] == "users" && parts[1] != as.user && !slices.Contains(as.roles, "admin"):
		refuse(w, http.StatusForbidden)
	case len(parts) == 4 && parts[0] == "users" && parts[3] == "OS-EC2":
		s.ec2(w, r, as)
	case len(parts) == 3 && parts[0] == "users" && parts[2] == "access_rules": // asked by earlier versions only
		fake.Say(w, http.StatusOK, object{"access_rules": []object{}})
	case len(parts) == 3 && parts[0] == "users" && parts[2] == "application_credentials" && r.Method == http.MethodPost:
		s.make(w, r, as, parts[1])
	case len(parts) == 3 && parts[0] == "users" && parts[2] == "application_credentials":
		all := []object{}
		for _, c := range s.appCreds {
			if c.UserID == parts[1] && strings.HasPrefix(c.Name, r.URL.Query().Get("name__startswith")) {
				all = append(all, describe(c))
			}
		}
		fake.Say(w, http.StatusOK, object{"application_credentials": all, "links": object{"next": nil}})
	case len(parts) == 4 && parts[0] == "users" && parts[2] == "application_credentials":
		s.one(w, r, as, parts[1], parts[3])
	default:
		refuse(w, http.StatusNotFound)
	}
}

// subject validates or revokes a token: one's own, or with the role service anybody's.
func (s *Server) subject(w http.ResponseWriter, r *http.Request, as token) {
	t, refused := s.alive(r.Header.Get("X-Subject-Token"))
	switch {
	case refused != 0:
		refuse(w, http.StatusNotFound)
	case t.user != as.user && !slices.Contains(as.roles, "service"):
		refuse(w, http.StatusForbidden)
	case r.Method == http.MethodDelete:
		delete(s.tokens, t.id)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("X-Subject-Token", t.id)
		fake.Say(w, http.StatusOK, object{"token": s.shown(t)})
	}
}

// mayMint: a token of a restricted application credential may not.
func (s *Server) mayMint(as token) bool {
	c := s.appCred(as.appCred)
	return c == nil || c.Unrestricted
}

func (s *Server) make(w http.ResponseWriter, r *http.Request, as token, user string) {
	var in struct {
		C struct {
			Name, Description string
			Unrestricted      bool
			Roles             []struct{ ID, Name string }
			ExpiresAt         string `json:"expires_at"`
			Rules             []Rule `json:"access_rules"`
		} `json:"application_credential"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.C.Name == "" {
		refuse(w, http.StatusBadRequest)
		return
	}
	if !s.mayMint(as) || user != as.user {
		refuse(w, http.StatusForbidden)
		return
	}
	c := &AppCred{
		ID: newID(), Secret: "s3cret-" + newID(), Name: in.C.Name, Description: in.C.Description, Rules: in.C.Rules,
		UserID: user, ProjectID: as.project, Unrestricted: in.C.Unrestricted,
	}
	if s.noRules {
		c.Rules = nil
	}
	had := 0
	for _, other := range s.appCreds {
		if other.UserID != user {
			continue
		}
		had++
		if other.Name == c.Name {
			refuse(w, http.StatusConflict)
			return
		}
	}
	if s.opts.UserLimit > 0 && had >= s.opts.UserLimit {
		refuse(w, http.StatusForbidden)
		return
	}
	for _, r := range in.C.Roles {
		if r.Name == "" {
			r.Name = roleName(r.ID)
		}
		if !slices.Contains(as.roles, r.Name) {
			refuse(w, http.StatusBadRequest)
			return
		}
		c.Roles = append(c.Roles, r.Name)
	}
	if len(c.Roles) == 0 {
		c.Roles = as.roles
	}
	if in.C.ExpiresAt != "" {
		var err error
		if c.ExpiresAt, err = time.Parse("2006-01-02T15:04:05.999999", in.C.ExpiresAt); err != nil || !c.ExpiresAt.After(s.opts.Now()) {
			refuse(w, http.StatusBadRequest)
			return
		}
	}
	s.appCreds = append(s.appCreds, c)
	out := describe(c)
	out["secret"] = c.Secret
	fake.Say(w, http.StatusCreated, object{"application_credential": out})
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, as token, user, id string) {
	c := s.appCred(id)
	switch {
	case c == nil:
		refuse(w, http.StatusNotFound)
	case c.UserID != user && !slices.Contains(as.roles, "admin"):
		refuse(w, http.StatusForbidden)
	case r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, object{"application_credential": describe(c)})
	case r.Method == http.MethodDelete && s.mayMint(as):
		s.appCreds = slices.DeleteFunc(s.appCreds, func(o *AppCred) bool { return o == c })
		w.WriteHeader(http.StatusNoContent)
	default:
		refuse(w, http.StatusForbidden)
	}
}

func describe(c *AppCred) object {
	out := object{
		"id": c.ID, "name": c.Name, "description": c.Description, "project_id": c.ProjectID,
		"unrestricted": c.Unrestricted, "roles": roles(c.Roles), "expires_at": nil,
	}
	if !c.ExpiresAt.IsZero() {
		out["expires_at"] = c.ExpiresAt.UTC().Format(noZone)
	}
	if c.Rules != nil {
		out["access_rules"] = c.Rules
	}
	return out
}

// refuse answers as Keystone refuses.
func refuse(w http.ResponseWriter, status int) {
	fake.Say(w, status, object{"error": object{"code": status, "title": http.StatusText(status), "message": fake.Canary}})
}

package fakekeystone

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/vimbroker/vimbroker/test/fake"
)

// mayTrust: with the fixes of 2026 no application credential may, and before them none
// that is restricted.
func (s *Server) mayTrust(as token) bool {
	return as.appCred == "" || s.opts.Trusts || s.opts.Unpatched && s.mayMint(as)
}

// reaches: with the fixes of 2026 an application credential has to do only with the
// credentials of its own project.
func (s *Server) reaches(as token, project string) bool {
	return as.appCred == "" || s.opts.Unpatched || project == as.project
}

// ec2 makes and lists EC2 credentials by the older of the two ways.
func (s *Server) ec2(w http.ResponseWriter, r *http.Request, as token) {
	var in struct {
		Project string `json:"tenant_id"`
	}
	switch {
	case r.Method == http.MethodGet && s.opts.ListsByPolicy:
		fake.Say(w, http.StatusForbidden, object{"error": object{
			"code": http.StatusForbidden, "title": "Forbidden",
			"message": "You are not authorized to perform the requested action: identity:ec2_list_credentials.",
		}})
	case r.Method == http.MethodGet && s.opts.Late && as.appCred != "":
		refuse(w, http.StatusForbidden)
	case r.Method == http.MethodGet:
		all := []object{}
		for _, p := range s.planted {
			if p.Type == "ec2" && p.UserID == as.user && s.reaches(as, p.ProjectID) {
				all = append(all, describeEC2(p))
			}
		}
		fake.Say(w, http.StatusOK, object{"credentials": all, "links": object{"next": nil}})
	case r.Method != http.MethodPost:
		refuse(w, http.StatusNotFound)
	case !s.mayMint(as) && !s.opts.Unpatched && !s.opts.Late:
		refuse(w, http.StatusForbidden)
	case json.NewDecoder(r.Body).Decode(&in) != nil:
		refuse(w, http.StatusBadRequest)
	case !slices.ContainsFunc(s.projects, func(p *Project) bool { return p.ID == in.Project }):
		refuse(w, http.StatusNotFound)
	case !s.reaches(as, in.Project), s.opts.Late && as.appCred != "":
		refuse(w, http.StatusForbidden)
	default:
		p := Planted{ID: newID(), UserID: as.user, ProjectID: in.Project, Type: "ec2"}
		s.planted = append(s.planted, p)
		fake.Say(w, http.StatusCreated, object{"credential": describeEC2(p)})
	}
}

func describeEC2(p Planted) object {
	return object{"access": p.ID, "secret": fake.Canary, "tenant_id": p.ProjectID, "user_id": p.UserID, "trust_id": nil}
}

// makeCredential makes a credential of any type.
func (s *Server) makeCredential(w http.ResponseWriter, r *http.Request, as token) {
	var in struct {
		Credential struct {
			Type, Blob string
			UserID     string `json:"user_id"`
			ProjectID  string `json:"project_id"`
		}
	}
	c := &in.Credential
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		refuse(w, http.StatusBadRequest)
		return
	}
	var key struct{ Access string }
	switch {
	case c.UserID != as.user && !slices.Contains(as.roles, "admin"),
		c.Type == "ec2" && (!s.mayMint(as) && !s.opts.Unpatched || s.opts.Late && as.appCred != ""),
		!s.reaches(as, c.ProjectID):
		refuse(w, http.StatusForbidden)
	case c.Type == "ec2" && (json.Unmarshal([]byte(c.Blob), &key) != nil || key.Access == ""):
		refuse(w, http.StatusBadRequest)
	default:
		p := Planted{ID: newID(), UserID: c.UserID, ProjectID: c.ProjectID, Type: c.Type}
		s.planted = append(s.planted, p)
		fake.Say(w, http.StatusCreated, object{"credential": describePlanted(p)})
	}
}

func describePlanted(p Planted) object {
	return object{"id": p.ID, "type": p.Type, "user_id": p.UserID, "project_id": p.ProjectID, "blob": fake.Canary}
}

// plants lists and deletes trusts and credentials.
func (s *Server) plants(w http.ResponseWriter, r *http.Request, as token, parts []string) {
	trusts := parts[0] == "OS-TRUST"
	if trusts && !s.mayTrust(as) {
		refuse(w, http.StatusForbidden)
		return
	}
	all := []object{}
	for i, p := range s.planted {
		if (p.Type == "trust") != trusts || p.UserID != as.user || !trusts && !s.reaches(as, p.ProjectID) {
			continue
		}
		if r.Method == http.MethodDelete && p.ID == parts[len(parts)-1] {
			s.planted = slices.Delete(s.planted, i, i+1)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if trusts {
			all = append(all, object{"id": p.ID, "trustor_user_id": p.UserID, "trustee_user_id": p.Trustee})
		} else {
			all = append(all, describePlanted(p))
		}
	}
	switch {
	case r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound)
	case trusts:
		fake.Say(w, http.StatusOK, object{"trusts": all})
	default:
		fake.Say(w, http.StatusOK, object{"credentials": all})
	}
}

package fakebarbican

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/test/fake"
)

type object = map[string]any

// refuse answers an error in the form of whoever is asked.
func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	title := http.StatusText(status)
	if strings.HasPrefix(r.URL.Path, "/identity/") {
		fake.Say(w, status, object{"error": object{"code": status, "title": title, "message": text}})
		return
	}
	if status == http.StatusUnauthorized {
		http.Error(w, "Authentication required: "+text, status) // the middleware's
		return
	}
	fake.Say(w, status, object{"code": status, "title": title, "description": text})
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/")
	if path == "identity/v3/auth/tokens" && r.Method == http.MethodPost {
		s.login(w, r)
		return
	}
	token := r.Header.Get("X-Auth-Token")
	if expires, known := s.tokens[token]; !known || !s.now().Before(expires) {
		delete(s.tokens, token)
		refuse(w, r, http.StatusUnauthorized, "no such token")
		return
	}
	switch id, part, _ := strings.Cut(strings.TrimPrefix(path, "v1/secrets/"), "/"); {
	case path == "identity/v3/auth/tokens" && r.Method == http.MethodDelete:
		delete(s.tokens, r.Header.Get("X-Subject-Token"))
		fake.Say(w, http.StatusNoContent, nil)
	case path == "v1/secrets" && r.Method == http.MethodPost:
		s.create(w, r)
	case path == "v1/secrets" && r.Method == http.MethodGet:
		s.list(w, r)
	case strings.HasPrefix(path, "v1/secrets/"):
		i := slices.IndexFunc(s.secrets, func(found *Secret) bool { return found.ID == id })
		switch {
		case i < 0:
			refuse(w, r, http.StatusNotFound, "Secret not found.")
		case s.secrets[i].Closed && !slices.Contains(append(s.secrets[i].Readers, s.secrets[i].Creator), UserID):
			refuse(w, r, http.StatusForbidden, "Secret retrieval attempt not allowed - please review your user/project privileges")
		default:
			s.one(w, r, s.secrets[i], part)
		}
	default:
		refuse(w, r, http.StatusNotFound, "")
	}
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Auth struct {
			Identity struct {
				Password struct{ User struct{ ID, Password string } }
				AppCred  struct{ ID, Secret string } `json:"application_credential"`
			}
			Scope struct{ Project struct{ ID string } }
		}
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	user, cred := body.Auth.Identity.Password.User, body.Auth.Identity.AppCred
	byPassword := user.ID == UserID && user.Password == s.password && body.Auth.Scope.Project.ID == ProjectID
	if byAppCred := cred.ID == AppCredID && cred.Secret == s.password; err != nil || byPassword == byAppCred {
		refuse(w, r, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	token, now := "gAAAAA"+rand.Text(), s.now().UTC()
	s.tokens[token] = now.Add(s.ttl)
	const form = "2006-01-02T15:04:05.000000Z"
	w.Header().Set("X-Subject-Token", token)
	fake.Say(w, http.StatusCreated, object{"token": object{
		"issued_at": now.Format(form), "expires_at": now.Add(s.ttl).Format(form),
		"user": object{"id": UserID}, "project": object{"id": ProjectID},
	}})
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name, Mode, Algorithm string
		Type                  string `json:"secret_type"`
		Payload               *string
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Payload != nil {
		refuse(w, r, http.StatusBadRequest, "Provided object does not match schema 'Secret'")
		return
	}
	made := &Secret{ID: uuid.NewString(), Name: body.Name, Mode: body.Mode, Algorithm: body.Algorithm, Type: body.Type, Creator: UserID}
	s.secrets = append(s.secrets, made)
	fake.Say(w, http.StatusCreated, object{"secret_ref": s.ref(made)})
}

// ref names a host that is not there, as a Barbican behind a proxy may.
func (s *Server) ref(of *Secret) string { return "http://barbican.invalid:9311/v1/secrets/" + of.ID }

func (s *Server) one(w http.ResponseWriter, r *http.Request, found *Secret, part string) {
	const octets = "application/octet-stream"
	switch {
	case part == "" && r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, s.metadata(found))
	case part == "" && r.Method == http.MethodPut:
		payload, err := io.ReadAll(io.LimitReader(r.Body, 20001))
		switch {
		case err != nil || len(payload) == 0 || r.Header.Get("Content-Type") != octets:
			refuse(w, r, http.StatusBadRequest, "")
		case len(payload) > 20000:
			refuse(w, r, http.StatusRequestEntityTooLarge, "")
		case found.ContentType != "":
			refuse(w, r, http.StatusConflict, "Secret already has data, cannot modify it.")
		default:
			found.ContentType, found.Payload, found.Exposed = octets, payload, !found.Closed
			fake.Say(w, http.StatusNoContent, nil)
		}
	case part == "" && r.Method == http.MethodDelete:
		s.remove(found.ID)
		fake.Say(w, http.StatusNoContent, nil)
	case part == "acl" && r.Method == http.MethodPut:
		var body struct {
			Read struct {
				Open  *bool `json:"project-access"`
				Users []string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			refuse(w, r, http.StatusBadRequest, "")
			return
		}
		found.Closed, found.Readers = body.Read.Open != nil && !*body.Read.Open, body.Read.Users
		fake.Say(w, http.StatusOK, object{"acl_ref": s.ref(found) + "/acl"})
	case part == "payload" && r.Method == http.MethodGet && found.ContentType == "":
		refuse(w, r, http.StatusNotFound, "Not Found. Sorry but your secret has no payload.")
	case part == "payload" && r.Method == http.MethodGet && r.Header.Get("Accept") != found.ContentType:
		refuse(w, r, http.StatusNotAcceptable, "")
	case part == "payload" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", found.ContentType)
		_, _ = w.Write(found.Payload)
	default:
		refuse(w, r, http.StatusMethodNotAllowed, "")
	}
}

func (s *Server) metadata(of *Secret) object {
	const form = "2006-01-02T15:04:05"
	fields := object{
		"secret_ref": s.ref(of), "name": of.Name, "mode": of.Mode, "algorithm": of.Algorithm, "secret_type": of.Type,
		"creator_id": of.Creator, "status": "ACTIVE", "bit_length": nil, "expiration": nil,
		"created": time.Unix(0, 0).UTC().Format(form), "updated": time.Unix(0, 0).UTC().Format(form),
	}
	if of.ContentType != "" {
		fields["content_types"] = object{"default": of.ContentType}
	}
	return fields
}

// list answers a page. Without an order asked for, it is that of creation.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit > s.limit {
		limit = s.limit
	}
	all := slices.Clone(s.secrets)
	if query.Get("sort") == "name:asc,mode:asc" {
		slices.SortStableFunc(all, func(a, b *Secret) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Mode, b.Mode))
		})
	}
	page := []object{}
	for _, found := range all {
		if name := query.Get("name"); name != "" && found.Name != name {
			continue
		}
		if offset--; offset < 0 && len(page) < limit {
			page = append(page, s.metadata(found))
		}
	}
	fake.Say(w, http.StatusOK, object{
		"secrets": page, "total": len(all),
		"next": "http://barbican.invalid:9311/v1/secrets?limit=1&offset=1", // not to be followed
	})
}

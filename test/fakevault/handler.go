package fakevault

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

type object = map[string]any

func refuse(w http.ResponseWriter, status int, errors ...string) {
	if errors == nil {
		errors = []string{}
	}
	fake.Say(w, status, object{"errors": errors})
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	s.mu.Lock()
	defer s.mu.Unlock()
	var body object
	if r.Method == http.MethodPut || r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			refuse(w, http.StatusBadRequest, "failed to parse JSON input")
			return
		}
	}
	id := r.Header.Get("X-Vault-Token")
	known := s.tokens[id]
	if known != nil && !s.now().Before(known.expires) {
		delete(s.tokens, id)
		known = nil
	}
	switch {
	case s.sealed:
		refuse(w, http.StatusServiceUnavailable, "Vault is sealed")
	case r.Header.Get("X-Vault-Request") != "true":
		refuse(w, http.StatusPreconditionFailed, "missing X-Vault-Request")
	case path == "auth/approle/login":
		s.login(w, body)
	case path == "auth/kubernetes/login":
		s.loginPod(w, body)
	case known == nil:
		refuse(w, http.StatusForbidden, "permission denied", "invalid token")
	case path == "auth/token/lookup-self":
		fake.Say(w, http.StatusOK, object{"data": object{"ttl": int(known.expires.Sub(s.now()).Seconds()), "renewable": s.renewable}})
	case path == "auth/token/renew-self" && !s.renewable:
		refuse(w, http.StatusBadRequest, "lease is not renewable")
	case path == "auth/token/renew-self":
		s.renew(w, id, known)
	case path == "auth/token/revoke-self":
		delete(s.tokens, id)
		fake.Say(w, http.StatusNoContent, nil)
	default:
		s.kv(w, r, path, body)
	}
}

func (s *Server) login(w http.ResponseWriter, body object) {
	if body["role_id"] != s.RoleID || body["secret_id"] != s.secretID {
		refuse(w, http.StatusBadRequest, "invalid role or secret ID")
		return
	}
	s.grant(w, s.newToken(), s.ttl)
}

func (s *Server) loginPod(w http.ResponseWriter, body object) {
	if body["role"] != "vimbroker" || s.podToken == "" || body["jwt"] != s.podToken {
		refuse(w, http.StatusForbidden, "permission denied")
		return
	}
	s.grant(w, s.newToken(), s.ttl)
}

func (s *Server) newToken() string {
	id, now := "hvs."+rand.Text(), s.now()
	s.tokens[id] = &token{expires: now.Add(s.ttl), most: now.Add(s.max)}
	return id
}

func (s *Server) renew(w http.ResponseWriter, id string, t *token) {
	now := s.now()
	if t.expires = now.Add(s.ttl); t.expires.After(t.most) {
		t.expires = t.most
	}
	s.grant(w, id, t.expires.Sub(now))
}

func (s *Server) grant(w http.ResponseWriter, id string, life time.Duration) {
	fake.Say(w, http.StatusOK, object{"auth": object{"client_token": id, "lease_duration": int(life.Seconds()), "renewable": s.renewable}})
}

// kv serves the engine at "secret". It keeps to the policy: what that leaves out
// is 403.
func (s *Server) kv(w http.ResponseWriter, r *http.Request, path string, body object) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(path, "secret/"), "/")
	list := r.URL.Query().Get("list") == "true"
	if list {
		name = strings.TrimSuffix(name, "/") + "/"
	}
	if !strings.HasPrefix(path, "secret/") || !strings.HasPrefix(name, "vimbroker/") {
		refuse(w, http.StatusForbidden, "permission denied")
		return
	}
	k := s.secrets[name]
	switch {
	case kind == "metadata" && list:
		s.list(w, name)
	case kind == "data" && r.Method == http.MethodPut && k == nil:
		fields, _ := body["data"].(object)
		made := newKept()
		made.versions[1] = fields
		s.secrets[name] = made
		fake.Say(w, http.StatusOK, object{"data": object{"version": 1}})
	case kind == "data" && r.Method == http.MethodGet && k != nil:
		version, err := strconv.Atoi(r.URL.Query().Get("version"))
		if err != nil {
			version = len(k.versions)
		}
		s.version(w, k, version)
	case kind == "metadata" && r.Method == http.MethodGet && k != nil:
		versions := object{}
		for n := range k.versions {
			versions[strconv.Itoa(n)] = object{"destroyed": k.gone[n]}
		}
		fake.Say(w, http.StatusOK, object{"data": object{"versions": versions}})
	case kind == "metadata" && r.Method == http.MethodDelete:
		delete(s.secrets, name)
		fake.Say(w, http.StatusNoContent, nil)
	case kind == "destroy" && r.Method == http.MethodPut && k == nil:
		fake.Say(w, http.StatusNoContent, nil)
	case kind == "destroy" && r.Method == http.MethodPut:
		numbers, _ := body["versions"].([]any)
		for _, n := range numbers {
			if number, ok := n.(float64); ok {
				k.versions[int(number)], k.gone[int(number)] = nil, true
			}
		}
		fake.Say(w, http.StatusNoContent, nil)
	case k == nil && r.Method != http.MethodPut:
		refuse(w, http.StatusNotFound)
	default:
		refuse(w, http.StatusForbidden, "permission denied")
	}
}

func (s *Server) version(w http.ResponseWriter, k *kept, version int) {
	fields, there := k.versions[version]
	metadata := object{"version": version, "destroyed": k.gone[version], "deletion_time": ""}
	switch {
	case !there:
		refuse(w, http.StatusNotFound)
	case k.gone[version] || k.deleted[version]:
		metadata["deletion_time"] = s.now().UTC().Format(time.RFC3339Nano)
		fake.Say(w, http.StatusNotFound, object{"data": object{"data": nil, "metadata": metadata}})
	default:
		fake.Say(w, http.StatusOK, object{"data": object{"data": fields, "metadata": metadata}})
	}
}

// list answers with the names right below a folder; folders end in a slash.
func (s *Server) list(w http.ResponseWriter, folder string) {
	var keys []string
	for name := range s.secrets {
		below, ok := strings.CutPrefix(name, folder)
		if !ok {
			continue
		}
		if first, _, deeper := strings.Cut(below, "/"); deeper {
			below = first + "/"
		}
		if !slices.Contains(keys, below) {
			keys = append(keys, below)
		}
	}
	if keys == nil {
		refuse(w, http.StatusNotFound)
		return
	}
	slices.Sort(keys)
	fake.Say(w, http.StatusOK, object{"data": object{"keys": keys}})
}

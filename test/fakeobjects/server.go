// Package fakeobjects is a Kubernetes API server at the network for what a driver of
// manifests does: it serves kinds by discovery, keeps their objects, and
// applies, scales and deletes them by name, under rules that each token holds. A
// Deployment gets its pods at once, and is ready unless the test says otherwise.
//
// What it does not do: watches, validation, admission, garbage collection, and real merging
// of applied fields: what is applied replaces all but the status.
package fakeobjects

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Kind is a kind that the server serves.
type Kind struct {
	Group, Version, Kind, Plural string
	Namespaced, Scales           bool
}

// Builtin are the kinds that a server begins with.
var Builtin = []Kind{
	{"", "v1", "Namespace", "namespaces", false, false},
	{"", "v1", "ConfigMap", "configmaps", true, false},
	{"", "v1", "Secret", "secrets", true, false},
	{"", "v1", "Service", "services", true, false},
	{"", "v1", "ServiceAccount", "serviceaccounts", true, false},
	{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, false},
	{"", "v1", "Pod", "pods", true, false},
	{"networking.k8s.io", "v1", "Ingress", "ingresses", true, false},
	{"apps", "v1", "Deployment", "deployments", true, true},
	{"batch", "v1", "Job", "jobs", true, false},
	{"rbac.authorization.k8s.io", "v1", "Role", "roles", true, false},
	{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", true, false},
	{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false, false},
	{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false, false},
	{"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", false, false},
	{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false, false},
}

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	fake.Server

	mu       sync.Mutex
	kinds    []Kind
	objects  map[string]map[string]any // by path
	grants   map[string]lifecycle.StageRules
	revision int
	unready  bool
	calls    []string
}

// New starts a server for one test.
func New(t testing.TB) *Server {
	t.Helper()
	return newOn(t, false)
}

// NewPlain is New without TLS.
func NewPlain(t testing.TB) *Server {
	t.Helper()
	return newOn(t, true)
}

func newOn(t testing.TB, plain bool) *Server {
	t.Helper()
	s := &Server{kinds: slices.Clone(Builtin), objects: map[string]map[string]any{}, grants: map[string]lifecycle.StageRules{}}
	s.HTTP2, s.Plain = true, plain
	s.Opening = `{"kind":"List","apiVersion":"v1","items":[`
	s.Refuse = func(w http.ResponseWriter, _ *http.Request, code int) { refuse(w, code, fake.Canary, nil) }
	if err := s.Start(s.serve); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Serve adds a kind.
func (s *Server) Serve(k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = append(s.kinds, k)
}

// Allow makes a token that may do what a grant says.
func (s *Server) Allow(g lifecycle.StageRules) (token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token = uuid.NewString()
	s.grants[token] = g
	return token
}

// Unready keeps what is made from now on from getting ready, or not.
func (s *Server) Unready(unready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unready = unready
}

// Put keeps an object as somebody else would have made it.
func (s *Server) Put(path string, o map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(path, o)
}

// Remove forgets an object.
func (s *Server) Remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, path)
}

// Get is an object; nil if there is none.
func (s *Server) Get(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Paths lists where objects are, sorted.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for p := range s.objects {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// Standing shows each object in a line, without what differs from run to run.
func (s *Server) Standing() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, o := range s.objects {
		shown, meta := maps.Clone(o), maps.Clone(o["metadata"].(map[string]any))
		for _, name := range []string{"uid", "resourceVersion", "managedFields", "deletionTimestamp"} {
			delete(meta, name)
		}
		shown["metadata"] = meta
		text, _ := json.Marshal(shown) // it is of JSON
		lines = append(lines, path+" "+string(text))
	}
	return lines
}

// Calls lists what was called so far, as "METHOD PATH" and the propagation of a DELETE, without
// discovery and reads.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) keep(path string, o map[string]any) {
	s.revision++
	meta := o["metadata"].(map[string]any)
	if meta["uid"] == nil {
		meta["uid"] = uuid.NewString()
	}
	meta["resourceVersion"] = fmt.Sprint(s.revision + 1)
	s.objects[path] = o
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grant, ok := s.grants[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok {
		refuse(w, http.StatusUnauthorized, "Unauthorized", nil)
		return
	}
	if s.discover(w, r.URL.Path) {
		return
	}
	c, ok := s.call(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if !allowed(grant, c) {
		refuse(w, http.StatusForbidden, fmt.Sprintf(`%s %q is forbidden: User "lease" cannot %s resource %q`, c.Plural, c.name, c.verb, c.Plural), c.details())
		return
	}
	if r.Method != http.MethodGet {
		s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	}
	s.answer(w, r, c, body)
}

// call is a request on one object, or on all of a kind in a namespace.
type call struct {
	Kind

	verb, namespace, name, sub string
	path                       string // of the object
}

func (c call) details() map[string]any {
	return map[string]any{"kind": c.Plural, "group": c.Group, "name": c.name}
}

func (s *Server) call(r *http.Request) (c call, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group, version := "", ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return c, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.namespace, parts = parts[1], parts[2:]
	}
	i := slices.IndexFunc(s.kinds, func(k Kind) bool {
		return k.Group == group && k.Version == version && k.Plural == parts[0] &&
			(k.Namespaced == (c.namespace != "") || r.Method == http.MethodGet && len(parts) == 1)
	})
	if i < 0 {
		return c, false
	}
	c.Kind, c.path = s.kinds[i], r.URL.Path
	if len(parts) > 1 {
		c.name = parts[1]
	}
	if len(parts) > 2 {
		c.sub = parts[2]
		c.path = strings.TrimSuffix(c.path, "/"+c.sub)
	}
	c.verb = map[string]string{http.MethodGet: "get", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodPost: "create"}[r.Method]
	if c.verb == "get" && c.name == "" {
		c.verb = "list"
	}
	return c, true
}

// allowed decides as RBAC does.
func allowed(g lifecycle.StageRules, c call) bool {
	in := c.namespace
	if c.Group == "" && c.Plural == "namespaces" {
		in = c.name
	}
	if !g.ClusterWide && !slices.Contains(g.Namespaces, in) {
		return false
	}
	resource := c.Plural
	if c.sub != "" {
		resource += "/" + c.sub
	}
	for _, r := range g.Rules {
		if slices.Contains(r.APIGroups, c.Group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, c.verb) &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, c.name)) {
			return true
		}
	}
	return false
}

func (s *Server) discover(w http.ResponseWriter, path string) bool {
	if path == "/version" {
		say(w, http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.1"})
		return true
	}
	if path == "/apis" {
		versions := map[string][]any{}
		for _, k := range s.kinds {
			if k.Group != "" {
				versions[k.Group] = append(versions[k.Group], map[string]any{"groupVersion": k.Group + "/" + k.Version, "version": k.Version})
			}
		}
		var groups []any
		for g, v := range versions {
			groups = append(groups, map[string]any{"name": g, "versions": v})
		}
		say(w, http.StatusOK, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
		return true
	}
	var list []any
	for _, k := range s.kinds {
		at := "/apis/" + k.Group + "/" + k.Version
		if k.Group == "" {
			at = "/api/" + k.Version
		}
		if at != path {
			continue
		}
		verbs := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
		if k.Group == "authentication.k8s.io" {
			verbs = []string{"create"} // answered, and not kept
		}
		list = append(list, map[string]any{"name": k.Plural, "kind": k.Kind, "namespaced": k.Namespaced, "verbs": verbs})
		if k.Scales {
			list = append(list, map[string]any{"name": k.Plural + "/scale", "kind": "Scale", "namespaced": k.Namespaced, "verbs": []string{"get", "patch", "update"}})
		}
	}
	if list == nil {
		return false
	}
	say(w, http.StatusOK, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "resources": list})
	return true
}

func say(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

var reasons = map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusForbidden: "Forbidden", http.StatusUnauthorized: "Unauthorized"}

func refuse(w http.ResponseWriter, code int, message string, details map[string]any) {
	say(w, code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reasons[code], "message": message, "details": details,
	})
}

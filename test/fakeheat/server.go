// Package fakeheat is a Heat at the network, with as much of a Keystone as leads to it: it keeps stacks with their
// resources, nested ones and groups included, their events and tags, and can be told to fail a resource, to
// take its time, and to refuse tokens.
//
// What it does not do: it makes nothing, evaluates get_param alone of the functions of templates, knows no
// conditions and no dependencies, and every action is over at once unless it is held.
package fakeheat

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
)

type object = map[string]any

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	fake.Server

	mu       sync.Mutex
	keystone Keystone
	tokens   map[string]string // with the purposes of their leases
	stacks   []*stack
	fails    map[string]string
	held     bool
	clock    time.Time
}

// Keystone is one that a Heat asks about tokens, and has make the trusts that its stacks live on.
type Keystone interface {
	// Works reports whether a token does.
	Works(token string) bool
	// Trust makes a trust for a trustee as a token's owner, who may not be allowed to.
	Trust(token, trustee string) (id string, made bool)
	// Untrust ends a trust.
	Untrust(id string)
}

// User is the id of Heat's own user: the trustee of its stacks.
const User = "heat"

type stack struct {
	name, id, tags, status, reason string
	trust                          string // what it lives on
	parameters                     object
	created, updated               time.Time
	resources                      []*resource
	events                         []object
}

type resource struct {
	name, kind, status, reason, physical string
	// nested is the name of the nested stack that it is, with the same word as its id; or empty.
	nested  string
	members []*resource
}

// New starts a server for one test, and stops it when that ends.
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
	s := &Server{tokens: map[string]string{}, fails: map[string]string{}, clock: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	s.Plain = plain
	s.Refuse = func(w http.ResponseWriter, _ *http.Request, status int) { refuse(w, status) }
	if err := s.Start(s.answer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Allow makes a token of a lease for a grant. Only one for Heat changes anything.
func (s *Server) Allow(g lifecycle.StageRules) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := "token-" + uuid.NewString()
	s.tokens[token] = g.Purpose
	return token
}

// Believe has a Keystone say whose tokens work. A stack is made with a trust, which goes with it.
func (s *Server) Believe(k Keystone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keystone = k
}

// Break has resources of a name fail with a reason, until that is empty.
func (s *Server) Break(name, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails[name] = reason
	if reason == "" {
		delete(s.fails, name)
	}
}

// Hold has actions stay in progress until they are held no more.
func (s *Server) Hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = on
	for _, k := range s.stacks {
		if !on && strings.HasSuffix(k.status, "_IN_PROGRESS") {
			s.end(k)
		}
	}
}

// Plant makes an empty stack with tags, as somebody else does.
func (s *Server) Plant(name, tags string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stacks = append(s.stacks, &stack{name: name, id: uuid.NewString(), tags: tags, status: "CREATE_COMPLETE", created: s.clock})
}

// Touch is an update by somebody else.
func (s *Server) Touch(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		if k.name == name {
			s.clock = s.clock.Add(time.Minute)
			k.updated = s.clock
		}
	}
}

// Parameter is what a stack was given for a parameter; nil where it was not.
func (s *Server) Parameter(stack, name string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		if k.name == stack {
			return k.parameters[name]
		}
	}
	return nil
}

// Stack says how a stack stands: its status and tags; ok is false where there is none.
func (s *Server) Stack(name string) (status, tags string, updated, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		if k.name == name {
			return k.status, k.tags, !k.updated.IsZero(), true
		}
	}
	return "", "", false, false
}

// Stacks are the names of all that there are.
func (s *Server) Stacks() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		names = append(names, k.name)
	}
	return names
}

// Standing shows each stack and each resource in a line.
func (s *Server) Standing() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		lines = append(lines, fmt.Sprintf("stack %s: %s, tags %s, parameters %v, made %t, updated %t", k.name, k.status, k.tags, k.parameters,
			!k.created.IsZero(), !k.updated.IsZero()))
		each(k.resources, func(r, in *resource) {
			lines = append(lines, fmt.Sprintf("resource %s of %s, %s: %s, nested %t in %t", r.name, k.name, r.kind, r.status, r.nested != "", in != nil))
		})
	}
	return lines
}

// Physical is the physical id of the first resource of a name in any stack; empty where there is none.
func (s *Server) Physical(name string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		each(k.resources, func(r, _ *resource) {
			if r.name == name && id == "" {
				id = r.physical
			}
		})
	}
	return id
}

// Condemn marks a resource of every stack unhealthy.
func (s *Server) Condemn(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.stacks {
		each(k.resources, func(r *resource, _ *resource) {
			if r.name == name {
				r.status = "CHECK_FAILED"
			}
		})
	}
}

func each(all []*resource, do func(r, in *resource)) {
	var walk func([]*resource, *resource)
	walk = func(all []*resource, in *resource) {
		for _, r := range all {
			do(r, in)
			walk(r.members, r)
		}
	}
	walk(all, nil)
}

func refuse(w http.ResponseWriter, status int) { refuseWith(w, status, fake.Canary) }

func refuseWith(w http.ResponseWriter, status int, message string) {
	fake.Say(w, status, object{"code": status, "title": http.StatusText(status), "explanation": message, "error": object{"message": message, "code": status}})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	purpose, known := s.tokens[r.Header.Get("X-Auth-Token")]
	if s.keystone != nil {
		purpose, known = "heat", s.keystone.Works(r.Header.Get("X-Auth-Token"))
	}
	path, isHeat := strings.CutPrefix(r.URL.Path, "/heat/v1/project/")
	switch {
	case !known:
		refuse(w, http.StatusUnauthorized)
	case r.URL.Path == "/v3/auth/tokens":
		w.Header().Set("X-Subject-Token", r.Header.Get("X-Subject-Token"))
		fake.Say(w, http.StatusOK, object{"token": object{"catalog": []object{{"type": "orchestration", "endpoints": []object{
			{"interface": "public", "region": "RegionOne", "url": s.URL + "/heat/v1/project"},
		}}}}})
	case !isHeat:
		refuse(w, http.StatusNotFound)
	case r.Method != http.MethodGet && path != "validate" && purpose != "heat":
		refuse(w, http.StatusForbidden)
	default:
		s.heat(w, r, strings.Split(path, "/"))
	}
}

type request struct {
	Name       string            `json:"stack_name"`
	Template   string            `json:"template"`
	Files      map[string]string `json:"files"`
	Parameters object            `json:"parameters"`
	Tags       string            `json:"tags"`
	// Environment is how validate takes parameters.
	Environment struct {
		Parameters object `json:"parameters"`
	} `json:"environment"`
}

func (s *Server) heat(w http.ResponseWriter, r *http.Request, path []string) {
	var in request
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if path[len(path)-1] != "actions" && json.NewDecoder(r.Body).Decode(&in) != nil {
			refuse(w, http.StatusBadRequest)
			return
		}
	}
	switch {
	case len(path) == 1 && path[0] == "validate":
		if _, err := in.build(in.Template, in.Environment.Parameters, nil); err != nil {
			refuseWith(w, http.StatusBadRequest, err.Error())
			return
		}
		fake.Say(w, http.StatusOK, object{"Parameters": object{}})
	case len(path) == 1 && r.Method == http.MethodPost:
		s.create(w, in, r.Header.Get("X-Auth-Token"))
	case len(path) == 1:
		all := []object{}
		for _, k := range s.stacks {
			if k.name == r.URL.Query().Get("name") || !r.URL.Query().Has("name") {
				all = append(all, shown(k))
			}
		}
		fake.Say(w, http.StatusOK, object{"stacks": all})
	case len(path) >= 5 && path[3] == "resources" && r.Method == http.MethodPatch:
		s.mark(w, path[1], path[4])
	default:
		i := slices.IndexFunc(s.stacks, func(k *stack) bool { return len(path) > 2 && k.name == path[1] && k.id == path[2] })
		if i < 0 {
			refuse(w, http.StatusNotFound)
			return
		}
		s.one(w, r, s.stacks[i], path[3:], in)
	}
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, k *stack, path []string, in request) {
	switch {
	case len(path) == 0 && r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, object{"stack": shown(k)})
	case len(path) == 0 && r.Method == http.MethodPut:
		built, err := in.build(in.Template, in.Parameters, k.resources)
		if err != nil {
			refuseWith(w, http.StatusBadRequest, err.Error())
			return
		}
		s.clock = s.clock.Add(time.Second)
		k.resources, k.tags, k.parameters, k.updated = built, in.Tags, in.Parameters, s.clock
		s.begin(k, "UPDATE")
		w.WriteHeader(http.StatusAccepted)
	case len(path) == 0:
		s.begin(k, "DELETE")
		w.WriteHeader(http.StatusNoContent)
	case path[0] == "actions":
		var action object
		_ = json.NewDecoder(r.Body).Decode(&action)
		if _, stop := action["cancel_without_rollback"]; stop {
			k.status = strings.Replace(k.status, "_IN_PROGRESS", "_FAILED", 1)
		} else {
			each(k.resources, func(r, _ *resource) { r.status = "CHECK_COMPLETE" }) // it forgets what was marked
			s.begin(k, "CHECK")
		}
		w.WriteHeader(http.StatusOK)
	case path[0] == "events":
		all := k.events
		if marker := r.URL.Query().Get("marker"); marker != "" {
			all = all[slices.IndexFunc(all, func(e object) bool { return e["id"] == marker })+1:]
		}
		if r.URL.Query().Get("sort_dir") == "desc" && len(all) > 0 {
			all = all[len(all)-1:]
		}
		fake.Say(w, http.StatusOK, object{"events": append([]object{}, all...)})
	default:
		s.list(w, r, k)
	}
}

// list shows the resources of a stack, or those of a type; of a port in detail what Neutron says: the server beside it
// has it.
func (s *Server) list(w http.ResponseWriter, asked *http.Request, k *stack) {
	all := []object{}
	query := asked.URL.Query()
	each(k.resources, func(r, in *resource) {
		if query.Has("type") && r.kind != query.Get("type") {
			return
		}
		at := k.name + "/" + k.id
		if in != nil {
			at = in.nested + "/" + in.nested
		}
		o := object{
			"resource_name": r.name, "resource_type": r.kind, "resource_status": r.status, "resource_status_reason": r.reason,
			"physical_resource_id": r.physical, "links": []object{{"rel": "stack", "href": s.URL + "/heat/v1/project/stacks/" + at}},
		}
		if in != nil {
			o["parent_resource"] = in.name
		}
		if query.Has("with_detail") && r.kind == portType {
			o["attributes"] = port(r, in)
		}
		if r.nested != "" {
			o["links"] = append(o["links"].([]object), object{"rel": "nested", "href": "http://elsewhere.invalid/stacks/" + r.nested + "/" + r.nested})
		}
		all = append(all, o)
	})
	fake.Say(w, http.StatusOK, object{"resources": all})
}

const (
	portType   = "OS::Neutron::Port"
	serverType = "OS::Nova::Server"
)

// port is what Neutron says of one, in a nested stack.
func port(r, in *resource) object {
	said := object{
		"mac_address": "fa:16:3e:00:00:01", "name": fake.Canary,
		"fixed_ips": []object{{"subnet_id": "subnet-of-" + r.name, "ip_address": "192.0.2.7"}, {"subnet_id": "subnet-of-" + r.name, "ip_address": "2001:db8::7"}},
	}
	if in != nil {
		for _, beside := range in.members {
			if beside.kind == serverType {
				said["device_id"] = beside.physical
			}
		}
	}
	return said
}

// mark marks a resource unhealthy, in the stack or a nested one.
func (s *Server) mark(w http.ResponseWriter, in, name string) {
	found := false
	for _, k := range s.stacks {
		each(k.resources, func(r, of *resource) {
			if r.name == name && (of == nil && k.name == in || of != nil && of.nested == in) {
				r.status, found = "CHECK_FAILED", true
			}
		})
	}
	if !found {
		refuse(w, http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *Server) create(w http.ResponseWriter, in request, token string) {
	if slices.ContainsFunc(s.stacks, func(k *stack) bool { return k.name == in.Name }) {
		refuse(w, http.StatusConflict)
		return
	}
	built, err := in.build(in.Template, in.Parameters, nil)
	if err != nil {
		refuseWith(w, http.StatusBadRequest, err.Error())
		return
	}
	k := &stack{name: in.Name, id: uuid.NewString(), tags: in.Tags, parameters: in.Parameters, created: s.clock, resources: built}
	if s.keystone != nil {
		var made bool
		if k.trust, made = s.keystone.Trust(token, User); !made {
			refuse(w, http.StatusForbidden)
			return
		}
	}
	s.stacks = append(s.stacks, k)
	s.begin(k, "CREATE")
	fake.Say(w, http.StatusCreated, object{"stack": object{"id": k.id}})
}

// begin begins an action, and ends it unless it is held.
func (s *Server) begin(k *stack, action string) {
	k.status = action + "_IN_PROGRESS"
	s.event(k, k.name, k.id, k.status, "")
	if action != "DELETE" && action != "CHECK" {
		each(k.resources, func(r, _ *resource) {
			if r.status == "" {
				r.status = action + "_IN_PROGRESS"
			}
		})
	}
	if !s.held {
		s.end(k)
	}
}

func (s *Server) end(k *stack) {
	action, _, _ := strings.Cut(k.status, "_")
	if action == "DELETE" && len(s.fails) == 0 {
		s.stacks = slices.DeleteFunc(s.stacks, func(o *stack) bool { return o == k })
		if k.trust != "" {
			s.keystone.Untrust(k.trust)
		}
		return
	}
	k.status = action + "_COMPLETE"
	each(k.resources, func(r, _ *resource) {
		if action != "CHECK" {
			r.status = action + "_COMPLETE"
		}
		if why := s.fails[r.name]; why != "" {
			r.status, r.reason, k.status, k.reason = action+"_FAILED", why, action+"_FAILED", "Resource failed: "+why
		}
	})
	for _, r := range k.resources {
		s.event(k, r.name, r.physical, r.status, r.reason)
	}
	s.event(k, k.name, k.id, k.status, k.reason)
}

func (s *Server) event(k *stack, name, physical, status, reason string) {
	k.events = append(k.events, object{
		"id": uuid.NewString(), "resource_name": name, "physical_resource_id": physical, "resource_status": status, "resource_status_reason": reason,
	})
}

func shown(k *stack) object {
	out := object{
		"id": k.id, "stack_name": k.name, "stack_status": k.status, "stack_status_reason": k.reason, "tags": strings.Split(k.tags, ","),
		"creation_time": k.created.Format(time.RFC3339), "updated_time": nil,
		"parameters": k.parameters, "outputs": []object{{"output_key": "login", "output_value": fake.Canary}},
	}
	if !k.updated.IsZero() {
		out["updated_time"] = k.updated.Format(time.RFC3339)
	}
	return out
}

type definition struct {
	Type       string `yaml:"type"`
	Properties object `yaml:"properties"`
}

// build makes the resources of a template; those of before stay what they are, unless they were marked unhealthy.
func (in request) build(template string, parameters object, before []*resource) ([]*resource, error) {
	var t struct {
		Resources map[string]definition `yaml:"resources"`
	}
	if err := yaml.Unmarshal([]byte(template), &t); err != nil {
		return nil, fmt.Errorf("no template")
	}
	var all []*resource
	for _, name := range slices.Sorted(maps.Keys(t.Resources)) {
		r, err := in.resource(name, t.Resources[name], parameters, before)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (in request) resource(name string, d definition, parameters object, before []*resource) (*resource, error) {
	r := &resource{name: name, kind: d.Type, physical: name + "-" + uuid.NewString()[:8]}
	var members []*resource
	for _, b := range before {
		if b.name == name && b.kind == d.Type && b.status != "CHECK_FAILED" {
			r.physical, r.nested, members = b.physical, b.nested, b.members
		}
	}
	text, nested := in.Files[d.Type]
	of, group := d.Properties["resource_def"], d.Type == "OS::Heat::ResourceGroup"
	if d.Type == "OS::Heat::AutoScalingGroup" {
		of, group = d.Properties["resource"], true
	}
	switch {
	case strings.HasSuffix(d.Type, ".yaml") && !nested:
		return nil, fmt.Errorf("no file %s", d.Type)
	case nested:
		given := object{}
		for key, v := range d.Properties {
			given[key] = value(v, parameters)
		}
		var err error
		if r.members, err = in.build(text, given, members); err != nil {
			return nil, err
		}
	case group:
		n, err := strconv.Atoi(fmt.Sprint(value(first(d.Properties, "count", "desired_capacity"), parameters)))
		if err != nil {
			return nil, fmt.Errorf("the size of %s is no number", name)
		}
		encoded, _ := yaml.Marshal(of)
		var member definition
		if yaml.Unmarshal(encoded, &member) != nil {
			return nil, fmt.Errorf("%s is made of nothing", name)
		}
		for i := range n {
			m, err := in.resource(strconv.Itoa(i), member, parameters, members)
			if err != nil {
				return nil, err
			}
			r.members = append(r.members, m)
		}
	case !strings.Contains(d.Type, "::"):
		return nil, fmt.Errorf("the resource type (%s) could not be found", d.Type)
	}
	if (nested || group) && r.nested == "" {
		r.nested = "nested-" + uuid.NewString()
	}
	return r, nil
}

func first(of object, keys ...string) any {
	for _, key := range keys {
		if v, ok := of[key]; ok {
			return v
		}
	}
	return nil
}

// value evaluates get_param.
func value(v any, parameters object) any {
	of, ok := v.(object)
	if !ok {
		return v
	}
	path, ok := of["get_param"].([]any)
	if !ok {
		return parameters[fmt.Sprint(of["get_param"])]
	}
	var now any = parameters
	for _, step := range path {
		m, _ := now.(object)
		now = m[fmt.Sprint(step)]
	}
	return now
}

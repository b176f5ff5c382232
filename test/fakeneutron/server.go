// Package fakeneutron is a Neutron at the network, with as much of it as virtual links ask for: networks, subnets, ports,
// interfaces of routers, security groups with their rules, and tags. It keeps no names unique, as Neutron does, and removes no
// network and no subnet that a port of others is on.
//
// What it does not do: addresses but one for each port, as asked for or of the first subnet of its network and as if that were
// 10.0.0.0/24; several things by one call but ports; quotas but for one subnet; projects and policy.
package fakeneutron

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Object is a thing that the server keeps, as JSON has it.
type Object = map[string]any

// Keystone is one that a Neutron asks about tokens.
type Keystone interface {
	// Works reports whether a token does.
	Works(token string) bool
}

// OverQuota is the prefix of a subnet that the quota has no room for.
const OverQuota = "10.9.9.0/24"

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	fake.Server

	mu       sync.Mutex
	keystone Keystone
	things   map[string][]Object // by plural
	bodies   []string
	made     int
	// lawless: it obeys no access rules; full: no address is left.
	lawless, full bool
	// hidden is an address that a port has which is not shown.
	hidden string
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
	s := &Server{things: map[string][]Object{}}
	s.Plain = plain
	s.Refuse = func(w http.ResponseWriter, _ *http.Request, status int) { refuse(w, status, "Fault") }
	if err := s.Start(s.answer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Endpoint is what a catalog names.
func (s *Server) Endpoint() string { return s.URL + "/net" }

// Believe has a Keystone say whose tokens work.
func (s *Server) Believe(k Keystone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keystone = k
}

// IgnoreRules makes this a Neutron that obeys no access rules: it refuses credentials that have some.
func (s *Server) IgnoreRules(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lawless = on
}

// Fill makes this a Neutron that has no address left.
func (s *Server) Fill(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = on
}

// Hide has an address be one's who is not shown.
func (s *Server) Hide(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = address
}

// Add makes a thing behind everybody's back, and returns its id.
func (s *Server) Add(plural string, o Object) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(plural, o)
}

func (s *Server) add(plural string, o Object) string {
	s.made++
	o["id"], o["created_at"] = "id-"+strconv.Itoa(s.made), strconv.Itoa(1_000_000+s.made)
	s.things[plural] = append(s.things[plural], o)
	return o["id"].(string)
}

// Drop removes a thing behind everybody's back.
func (s *Server) Drop(plural, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(plural, "id", id)
}

func (s *Server) drop(plural, member, value string) {
	s.things[plural] = slices.DeleteFunc(s.things[plural], func(o Object) bool { return o[member] == value })
}

// Things are those of a kind.
func (s *Server) Things(plural string) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.things[plural])
}

// Bodies are what was sent to it.
func (s *Server) Bodies() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.bodies, "\n")
}

// All names everything that there is, with its kind and name, in order.
func (s *Server) All() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for plural, all := range s.things {
		for _, o := range all {
			name, _ := o["name"].(string)
			names = append(names, plural+" "+name)
		}
	}
	slices.Sort(names)
	return names
}

// Standing shows each thing in a line.
func (s *Server) Standing() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for plural, all := range s.things {
		for _, o := range all {
			shown := maps.Clone(o)
			delete(shown, "created_at")
			text, _ := json.Marshal(shown) // it was decoded
			lines = append(lines, plural+" "+string(text))
		}
	}
	return lines
}

// Connection is a way to it for a driver of links.
func (s *Server) Connection() asset.Connection {
	rules := egress.Default()
	rules.AllowLoopback = true
	return asset.Connection{Egress: rules, Config: clientconfig.Config{
		Endpoint: s.URL, CACert: s.CA, Credential: secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText("t")},
	}}
}

func refuse(w http.ResponseWriter, status int, kind string) {
	fake.Say(w, status, Object{"NeutronError": Object{"type": kind, "message": fake.Canary}})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, is := strings.CutPrefix(r.URL.Path, "/net/v2.0/")
	switch {
	case r.URL.Path == "/v3/auth/tokens":
		fake.Say(w, http.StatusOK, Object{"token": Object{"catalog": []Object{
			{"type": "network", "endpoints": []Object{{"interface": "public", "url": s.Endpoint()}}},
		}}})
	case s.lawless || s.keystone != nil && !s.keystone.Works(r.Header.Get("X-Auth-Token")):
		fake.Say(w, http.StatusUnauthorized, Object{"error": Object{"code": http.StatusUnauthorized, "message": fake.Canary}})
	case !is:
		refuse(w, http.StatusNotFound, "NotFound")
	default:
		body, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(body))
		s.network(w, r, strings.Split(path, "/"), body)
	}
}

// network answers about things.
func (s *Server) network(w http.ResponseWriter, r *http.Request, path []string, body []byte) {
	kind, last := strings.ReplaceAll(path[0], "-", "_"), path[len(path)-1]
	one := strings.TrimSuffix(kind, "s")
	switch {
	case last == "tags":
		fake.Say(w, http.StatusOK, Object{"tags": []string{}})
	case strings.HasSuffix(last, "_router_interface"):
		s.route(w, path[1], strings.HasPrefix(last, "add"), body)
	case r.Method == http.MethodPost:
		if kind == "ports" && s.bulk(w, body) {
			return
		}
		var in map[string]Object
		_ = json.Unmarshal(body, &in)
		o := in[one]
		if o["cidr"] == OverQuota {
			refuse(w, http.StatusConflict, "OverQuota")
			return
		}
		if kind == "ports" {
			if s.full {
				refuse(w, http.StatusConflict, "IpAddressGenerationFailure")
				return
			}
			s.address(o)
		}
		if kind == "security_group_rules" && slices.ContainsFunc(s.things[kind], func(there Object) bool { return sameRule(there, o) }) {
			refuse(w, http.StatusConflict, "SecurityGroupRuleExists")
			return
		}
		id := s.add(kind, o)
		if kind == "security_groups" {
			s.add("security_group_rules", Object{"security_group_id": id, "direction": "egress"})
		}
		fake.Say(w, http.StatusCreated, Object{one: o})
	case len(path) > 1:
		s.single(w, r, kind, path[1])
	default:
		found := []Object{}
		for _, o := range s.things[kind] {
			if !slices.ContainsFunc([]string{"name", "network_id", "device_id", "security_group_id"}, func(q string) bool {
				return r.URL.Query().Has(q) && o[q] != r.URL.Query().Get(q)
			}) {
				found = append(found, o)
			}
		}
		fake.Say(w, http.StatusOK, Object{kind: found})
	}
}

// bulk makes ports that are asked for by one call, with addresses: all or none.
func (s *Server) bulk(w http.ResponseWriter, body []byte) bool {
	var in struct{ Ports []Object }
	if _ = json.Unmarshal(body, &in); len(in.Ports) == 0 {
		return false
	}
	for _, o := range in.Ports {
		asked := o["fixed_ips"].([]any)[0].(Object)
		if s.full || s.find("subnets", asked["subnet_id"]) == nil || slices.ContainsFunc(s.things["ports"], func(p Object) bool {
			all, _ := p["fixed_ips"].([]Object)
			return slices.ContainsFunc(all, func(a Object) bool { return a["ip_address"] == asked["ip_address"] })
		}) || s.hidden == asked["ip_address"] {
			refuse(w, http.StatusConflict, "IpAddressAlreadyAllocated")
			return true
		}
	}
	for _, o := range in.Ports {
		asked := o["fixed_ips"].([]any)[0].(Object)
		o["mac_address"], o["fixed_ips"] = fmt.Sprintf("fa:16:3e:00:00:%02x", s.made+1), []Object{asked}
		s.add("ports", o)
	}
	fake.Say(w, http.StatusCreated, Object{"ports": in.Ports})
	return true
}

// address gives a port what Neutron gives one that asks for nothing.
func (s *Server) address(port Object) {
	port["mac_address"], port["fixed_ips"] = fmt.Sprintf("fa:16:3e:00:00:%02x", s.made+1), []Object{}
	for _, n := range s.things["subnets"] {
		if n["network_id"] == port["network_id"] {
			port["fixed_ips"] = []Object{{"subnet_id": n["id"], "ip_address": "10.0.0." + strconv.Itoa(s.made+10)}}
			return
		}
	}
}

// sameRule reports whether two rules let the same through: Neutron keeps no second.
func sameRule(a, b Object) bool {
	return !slices.ContainsFunc([]string{"security_group_id", "direction", "ethertype", "protocol", "remote_ip_prefix", "port_range_min", "port_range_max"},
		func(member string) bool { return a[member] != b[member] })
}

// route adds an interface of a subnet to a router, or removes it.
func (s *Server) route(w http.ResponseWriter, router string, add bool, body []byte) {
	var at Object
	_ = json.Unmarshal(body, &at)
	leg := func(p Object) bool { return p["device_id"] == router && on(p, at["subnet_id"]) }
	there := slices.IndexFunc(s.things["ports"], leg) >= 0
	switch n := s.find("subnets", at["subnet_id"]); {
	case n == nil, !add && !there:
		refuse(w, http.StatusNotFound, "SubnetNotFound")
	case add && there: // Neutron says that addresses overlap
		refuse(w, http.StatusBadRequest, "BadRequest")
	case add:
		s.add("ports", Object{
			"device_id": router, "network_id": n["network_id"], "device_owner": "network:router_interface",
			"fixed_ips": []Object{{"subnet_id": at["subnet_id"]}},
		})
		fake.Say(w, http.StatusOK, Object{})
	default:
		s.things["ports"] = slices.DeleteFunc(s.things["ports"], leg)
		fake.Say(w, http.StatusOK, Object{})
	}
}

func on(port Object, subnet any) bool {
	all, _ := port["fixed_ips"].([]Object)
	return slices.ContainsFunc(all, func(a Object) bool { return a["subnet_id"] == subnet })
}

func (s *Server) find(plural string, id any) Object {
	for _, o := range s.things[plural] {
		if o["id"] == id {
			return o
		}
	}
	return nil
}

// single answers about one thing.
func (s *Server) single(w http.ResponseWriter, r *http.Request, kind, id string) {
	o := s.find(kind, id)
	used := slices.ContainsFunc(s.things["ports"], func(p Object) bool {
		return kind == "subnets" && on(p, id) || kind == "networks" && p["network_id"] == id
	})
	switch {
	case o == nil:
		refuse(w, http.StatusNotFound, "NotFound")
	case r.Method == http.MethodGet:
		fake.Say(w, http.StatusOK, Object{strings.TrimSuffix(kind, "s"): o})
	case used:
		refuse(w, http.StatusConflict, "InUse")
	default:
		s.drop(kind, "id", id)
		switch kind {
		case "networks":
			s.drop("subnets", "network_id", id)
		case "security_groups":
			s.drop("security_group_rules", "security_group_id", id)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

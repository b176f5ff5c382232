package neutron_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/neutron"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/golden"
)

// deed is one call of the driver; odd are answers by method and path, and what Neutron says instead.
type deed struct {
	name  string
	link  func(*asset.Asset)
	cloud func(*fakeneutron.Server, *asset.Asset)
	do    func(*testing.T, *fakeneutron.Server, asset.Asset) (any, error)
	odd   map[string]fake.Fault
}

func refusal(status int) fake.Fault { return fake.Fault{Kind: fake.Refuse, Status: status} }

func saying(body string) fake.Fault {
	return fake.Fault{Kind: fake.JSON, Status: http.StatusOK, Body: body}
}

func making(t *testing.T, c *fakeneutron.Server, l asset.Asset) (any, error) {
	return neutron.Driver{}.Make(t.Context(), c.Connection(), l)
}

func removing(t *testing.T, c *fakeneutron.Server, l asset.Asset) (any, error) {
	return nil, neutron.Driver{}.Remove(t.Context(), c.Connection(), l)
}

func portsFor(all bool, names ...string) func(*testing.T, *fakeneutron.Server, asset.Asset) (any, error) {
	return func(t *testing.T, c *fakeneutron.Server, l asset.Asset) (any, error) {
		return neutron.Driver{}.Ports(t.Context(), c.Connection(), l, "i", names, all)
	}
}

func asked(of spec.LinkSpec) func(*asset.Asset) { return func(l *asset.Asset) { l.Spec = of } }

func everything(l *asset.Asset) {
	no := false
	l.Spec = spec.LinkSpec{
		CIDR: "10.0.0.0/24", Gateway: "10.0.0.1", Router: "r", DHCP: &no, DNS: []string{"10.0.0.53"}, MTU: 1400, PortSecurity: &no,
		Pools: []spec.AddressRange{{Start: "10.0.0.5", End: "10.0.0.9"}}, Segment: &spec.LinkSegment{Type: "vlan", Physical: "physnet1", ID: 7},
		Rules: []spec.SecurityRule{
			{Direction: "ingress", Protocol: "tcp", From: 80, To: 90, Remote: "10.0.0.0/8"},
			{Direction: "egress", Remote: "fd00::/8"},
			{Direction: "ingress", Protocol: "icmp", From: 0, To: 0, Remote: "none"},
		},
	}
}

func ruled(l *asset.Asset) {
	l.Spec = spec.LinkSpec{Rules: []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp"}, {Direction: "egress", Protocol: "udp"}}}
}

// stands is a link that has been made, with what else is there.
func stands(more func(*fakeneutron.Server, *asset.Asset)) func(*fakeneutron.Server, *asset.Asset) {
	return func(c *fakeneutron.Server, l *asset.Asset) {
		own := func(of fakeneutron.Object) fakeneutron.Object {
			of["name"], of["description"] = l.Handle(), l.Tag()
			return of
		}
		l.Made.Network = c.Add("networks", own(fakeneutron.Object{}))
		l.Made.Subnet = c.Add("subnets", own(fakeneutron.Object{
			"network_id": l.Made.Network, "cidr": "10.0.0.0/24", "allocation_pools": []fakeneutron.Object{{"start": "10.0.0.2", "end": "10.0.0.9"}},
		}))
		l.Made.Group = c.Add("security_groups", own(fakeneutron.Object{}))
		if more != nil {
			more(c, l)
		}
	}
}

func port(c *fakeneutron.Server, l *asset.Asset, name string, of fakeneutron.Object) string {
	of["network_id"], of["mac_address"] = l.Made.Network, "fa:16:3e:aa:bb:cc"
	if of["description"] == nil {
		of["description"] = l.Tag()
	}
	if name != "" {
		of["name"] = l.Handle() + name
	}
	return c.Add("ports", of)
}

func at(l *asset.Asset, ips ...string) (all []fakeneutron.Object) {
	for _, ip := range ips {
		all = append(all, fakeneutron.Object{"subnet_id": l.Made.Subnet, "ip_address": ip})
	}
	return all
}

func deeds() []deed {
	const networks, subnets = "/v2.0/networks", "/v2.0/subnets"
	strange := func(of string) map[string]fake.Fault { return map[string]fake.Fault{"GET " + networks: saying(of)} }
	pooled := func(more func(*fakeneutron.Server, *asset.Asset)) func(*fakeneutron.Server, *asset.Asset) {
		return stands(func(c *fakeneutron.Server, l *asset.Asset) {
			for n := range 2 {
				port(c, l, fmt.Sprint("/i/a/pool/2/", n), fakeneutron.Object{"device_owner": "vimbroker:pod", "fixed_ips": at(l, fmt.Sprint("10.0.0.", 4+n))})
			}
			more(c, l)
		})
	}
	row := []string{"a/pool/2/0", "a/pool/2/1"}
	return []deed{
		{"rules of one port", asked(spec.LinkSpec{Rules: []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp", From: 1, To: 1}}}), nil, making, nil},
		{"two networks, the younger first", asked(spec.LinkSpec{}), nil, making, strange(
			`{"networks":[{"id":"id-2","name":"vimbroker-1","description":"vimbroker.io/link=1","created_at":"2"},{"id":"id-1","name":"vimbroker-1","description":"vimbroker.io/link=1","created_at":"1"}]}`)},
		{"a network", asked(spec.LinkSpec{}), nil, making, nil},
		{"all that a link can ask for", everything, nil, making, nil},
		{"of IPv6, without a gateway", asked(spec.LinkSpec{CIDR: "fd00::/64", Gateway: "none"}), nil, making, nil},
		{"out of a pool of subnets", asked(spec.LinkSpec{SubnetPool: "p"}), nil, making, nil},
		{"with no rule", asked(spec.LinkSpec{Rules: []spec.SecurityRule{}}), nil, making, nil},
		{"found", everything, stands(nil), making, nil},
		{"found by its tag", asked(spec.LinkSpec{}), func(c *fakeneutron.Server, l *asset.Asset) {
			c.Add("networks", fakeneutron.Object{"name": l.Handle(), "tags": []string{"x", l.Tag()}})
			c.Add("networks", fakeneutron.Object{"name": l.Handle(), "tags": []string{"x"}})
		}, making, nil},
		{"found with a twin", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			c.Add("networks", fakeneutron.Object{"name": l.Handle(), "description": l.Tag()})
		}), making, nil},
		{"found with a twin that stays", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			c.Add("networks", fakeneutron.Object{"name": l.Handle(), "description": l.Tag()})
		}), making, map[string]fake.Fault{"DELETE " + networks + "/id-4": refusal(409)}},
		{"found with its router", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": at(l, "10.0.0.1")})
		}), making, nil},
		{"with a router on another subnet", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": []fakeneutron.Object{{"subnet_id": "other"}}})
		}), making, nil},
		{"a router that is not seen", everything, stands(nil), making, map[string]fake.Fault{"GET /v2.0/ports": refusal(500)}},
		{"a router that does not take it", everything, stands(nil), making, map[string]fake.Fault{"PUT /v2.0/routers/r/add_router_interface": refusal(404)}},
		{"made without an id", asked(spec.LinkSpec{}), nil, making, map[string]fake.Fault{"POST " + networks: saying(`{"network":{"id":"a/b"}}`)}},
		{"made as nothing", asked(spec.LinkSpec{}), nil, making, map[string]fake.Fault{"POST " + networks: saying(`{"network":{"id":"id-1","tags":7}}`)}},
		{"a cloud without tags", asked(spec.LinkSpec{}), nil, making, map[string]fake.Fault{"PUT " + networks + "/id-1/tags": refusal(404)}},
		{"a tag that is refused", asked(spec.LinkSpec{}), nil, making, map[string]fake.Fault{"PUT " + networks + "/id-1/tags": refusal(403)}},
		{"a quota", asked(spec.LinkSpec{CIDR: fakeneutron.OverQuota}), nil, making, nil},
		{"a list that is none", asked(spec.LinkSpec{}), nil, making, strange(`{"networks":7}`)},
		{"a list without ids", asked(spec.LinkSpec{}), nil, making, strange(`{"networks":[{"id":"id-1"},{"id":"a/b"}]}`)},
		{"a list that is missing", asked(spec.LinkSpec{}), nil, making, strange(`{}`)},
		{"subnets that are not seen", asked(spec.LinkSpec{CIDR: "10.0.0.0/24"}), nil, making, map[string]fake.Fault{"GET " + subnets: refusal(500)}},
		{"a group that is refused", ruled, nil, making, map[string]fake.Fault{"POST /v2.0/security-groups": refusal(409)}},
		{"rules that are not seen", ruled, nil, making, map[string]fake.Fault{"GET /v2.0/security-group-rules": refusal(500)}},
		{"rules of Neutron that stay", ruled, nil, making, map[string]fake.Fault{"DELETE /v2.0/security-group-rules/id-3": refusal(409)}},
		{"rules that are there", ruled, nil, making, map[string]fake.Fault{"POST /v2.0/security-group-rules": refusal(409)}},
		{"rules that are refused", ruled, nil, making, map[string]fake.Fault{"POST /v2.0/security-group-rules": refusal(403)}},
		{"a network of others", func(l *asset.Asset) { l.Existing = "id-1" }, func(c *fakeneutron.Server, _ *asset.Asset) { c.Add("networks", fakeneutron.Object{"mtu": 1400}) }, making, nil},
		{"a network of others, and all that a link can ask for", func(l *asset.Asset) { everything(l); l.Existing = "id-1" }, func(c *fakeneutron.Server, _ *asset.Asset) {
			c.Add("networks", fakeneutron.Object{"mtu": 1400})
		}, making, nil},
		{"a list that no name selects", asked(spec.LinkSpec{}), nil, making, strange(
			`{"networks":[{"id":"id-9","name":"vimbroker-10","description":"vimbroker.io/link=1","created_at":"1"}]}`)},
		{"a network that is not there", func(l *asset.Asset) { l.Existing = "id-1" }, nil, making, nil},
		{"a network that is another", func(l *asset.Asset) { l.Existing = "id-1" }, nil, making, map[string]fake.Fault{"GET " + networks + "/id-1": saying(`{"network":{"id":"id-2"}}`)}},
		{"a network that is not shown", func(l *asset.Asset) { l.Existing = "id-1" }, nil, making, map[string]fake.Fault{"GET " + networks + "/id-1": refusal(500)}},
		{"a network that spans, and is gone", func(l *asset.Asset) { l.Spans = []spec.Span{{}} }, nil, making, map[string]fake.Fault{"GET " + networks + "/id-1": refusal(404)}},
		{"removed", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			c.Add("networks", fakeneutron.Object{"name": l.Handle()})
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": at(l, "10.0.0.1")})
			port(c, l, "", fakeneutron.Object{"device_owner": "network:dhcp"})
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"device_owner": "vimbroker:pod", "fixed_ips": at(l, "10.0.0.3")})
		}), removing, nil},
		{"removed, with the router's port on another subnet", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": []fakeneutron.Object{{"subnet_id": "other"}}})
		}), removing, nil},
		{"removed, with another router's port", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r2", "fixed_ips": at(l, "10.0.0.1")})
		}), removing, nil},
		{"removed, with a port of no router", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.1")})
		}), removing, nil},
		{"removed, and the router's port gone", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": at(l, "10.0.0.1")})
		}), removing, map[string]fake.Fault{"PUT /v2.0/routers/r/remove_router_interface": {Kind: fake.Refuse, Status: 404, Late: true}}},
		{"removed, and the router's port stays", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"device_id": "r", "fixed_ips": at(l, "10.0.0.1")})
		}), removing, map[string]fake.Fault{"PUT /v2.0/routers/r/remove_router_interface": refusal(409)}},
		{"removed, and a pod's port stays", everything, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"device_owner": "vimbroker:pod", "fixed_ips": at(l, "10.0.0.3")})
		}), removing, map[string]fake.Fault{"DELETE /v2.0/ports/id-4": refusal(409)}},
		{"removed, and the subnet stays", everything, stands(nil), removing, map[string]fake.Fault{"DELETE " + subnets + "/id-2": refusal(409)}},
		{"removed, and the subnet gone", everything, stands(nil), removing, map[string]fake.Fault{"DELETE " + subnets + "/id-2": refusal(404)}},
		{"removed, and subnets not seen", everything, stands(nil), removing, map[string]fake.Fault{"GET " + subnets: refusal(500)}},
		{"let go of", func(l *asset.Asset) { l.Existing = "id-1" }, stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"device_owner": "vimbroker:pod"})
		}), removing, nil},
		{"let go of, and ports not seen", func(l *asset.Asset) { l.Existing = "id-1" }, stands(nil), removing, map[string]fake.Fault{"GET /v2.0/ports": refusal(500)}},
		{"ports", asked(spec.LinkSpec{}), stands(nil), portsFor(true, "a/pod/x", "a/statefulset/y"), nil},
		{"ports without a group", asked(spec.LinkSpec{}), stands(func(_ *fakeneutron.Server, l *asset.Asset) { l.Made.Group = "" }), portsFor(false, "a/pod/x"), nil},
		{"ports found, and others dropped", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			for _, name := range []string{"/i/a/pod/x", "/i/a/pod/old", "/j/a/pod/x"} {
				port(c, l, name, fakeneutron.Object{"device_owner": "vimbroker:pod", "fixed_ips": at(l, "10.0.0.7")})
			}
			port(c, l, "/i/a/pod/strange", fakeneutron.Object{"device_owner": "compute:nova"})
		}), portsFor(true, "a/pod/x"), nil},
		{"a port of two addresses", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.7", "10.0.0.8")})
		}), portsFor(false, "a/pod/x"), nil},
		{"a port beside its subnet", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.7", "10.1.0.8")})
		}), portsFor(false, "a/pod/x"), nil},
		{"a subnet that is none", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			id := c.Add("subnets", fakeneutron.Object{"network_id": l.Made.Network, "cidr": "none"})
			port(c, l, "/i/a/pod/x", fakeneutron.Object{"fixed_ips": []fakeneutron.Object{{"subnet_id": id, "ip_address": "10.0.0.7"}}})
		}), portsFor(false, "a/pod/x"), nil},
		{"ports, and subnets not seen", asked(spec.LinkSpec{}), stands(nil), portsFor(true, "a/pod/x"), map[string]fake.Fault{"GET " + subnets: refusal(500)}},
		{"ports that are not seen", asked(spec.LinkSpec{}), stands(nil), portsFor(true, "a/pod/x"), map[string]fake.Fault{"GET /v2.0/ports": refusal(500)}},
		{"a port that is refused", asked(spec.LinkSpec{}), stands(nil), portsFor(false, "a/pod/x"), map[string]fake.Fault{"POST /v2.0/ports": refusal(409)}},
		{"a pool", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.3")})
		}), portsFor(false, row...), nil},
		{"a pool made whole", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, _ *asset.Asset) { c.Drop("ports", "id-4") }), portsFor(false, row...), nil},
		{"a pool made whole at its end", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, _ *asset.Asset) { c.Drop("ports", "id-5") }), portsFor(false, row...), nil},
		{"a pool found, and another beside it", asked(spec.LinkSpec{}), pooled(func(*fakeneutron.Server, *asset.Asset) {}), portsFor(true, append(row, "b/pool/1/0", "c/pod/x")...), nil},
		{"a pool with a twin above", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pool/2/0", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.8")})
		}), portsFor(false, row...), nil},
		{"a pool with a twin below", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pool/2/0", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.2")})
			port(c, l, "/i/a/pool/2/1", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.3")})
		}), portsFor(false, row...), nil},
		{"a pool with a stranger", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pool/2/0", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.2"), "description": "other"})
		}), portsFor(false, row...), nil},
		{"a pool in no row", asked(spec.LinkSpec{}), stands(func(c *fakeneutron.Server, l *asset.Asset) {
			port(c, l, "/i/a/pool/2/0", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.4")})
			port(c, l, "/i/a/pool/2/1", fakeneutron.Object{"fixed_ips": at(l, "10.0.0.6")})
		}), portsFor(false, row...), nil},
		{"a pool with a MAC that is none", asked(spec.LinkSpec{}), pooled(func(c *fakeneutron.Server, _ *asset.Asset) { c.Things("ports")[1]["mac_address"] = "none" }), portsFor(false, row...), nil},
		{"a pool, and ports not seen", asked(spec.LinkSpec{}), pooled(func(*fakeneutron.Server, *asset.Asset) {}), portsFor(false, row...), map[string]fake.Fault{"GET /v2.0/ports": refusal(500)}},
		{"a pool that has no room", asked(spec.LinkSpec{}), stands(nil), portsFor(false, "a/pool/9/0", "a/pool/9/1", "a/pool/9/2", "a/pool/9/3", "a/pool/9/4", "a/pool/9/5", "a/pool/9/6", "a/pool/9/7", "a/pool/9/8"), nil},
		{"a pool that has just room", asked(spec.LinkSpec{}), stands(nil), portsFor(false, "a/pool/8/0", "a/pool/8/1", "a/pool/8/2", "a/pool/8/3", "a/pool/8/4", "a/pool/8/5", "a/pool/8/6", "a/pool/8/7"), nil},
		{"a pool that is forbidden", asked(spec.LinkSpec{}), stands(nil), portsFor(false, row...), map[string]fake.Fault{"POST /v2.0/ports": refusal(403)}},
		{"a pool that fails", asked(spec.LinkSpec{}), stands(nil), portsFor(false, row...), map[string]fake.Fault{"POST /v2.0/ports": refusal(500)}},
	}
}

// TestCallsOfLinks: what each deed asks Neutron for, byte by byte, what comes of it, and what stands then.
func TestCallsOfLinks(t *testing.T) {
	var got []string
	for _, of := range deeds() {
		c, l := fakeneutron.NewPlain(t), asset.Asset{ID: "1"}
		of.link(&l)
		if of.cloud != nil {
			of.cloud(c, &l)
		}
		out := "== " + of.name + "\n"
		c.Watch(func(r *http.Request, body []byte) *fake.Fault {
			at, is := strings.CutPrefix(r.URL.Path, "/net")
			if !is {
				return nil
			}
			out += strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.URL.RequestURI(), "/net")+" "+string(body)) + "\n"
			if odd, is := of.odd[r.Method+" "+at]; is {
				return &odd
			}
			return nil
		})
		made, err := of.do(t, c, l)
		c.Watch(nil)
		text, _ := json.Marshal(made)
		out += "made " + string(text) + "\n"
		if e, is := errors.AsType[*broker.Error](err); is {
			out += fmt.Sprintf("%v; field %q; %s\n", e.Kind, e.Field, e.Remedy)
		}
		if err != nil {
			out += err.Error() + "\n"
		}
		standing := c.Standing()
		slices.Sort(standing)
		got = append(got, out+strings.Join(standing, "\n")+"\n")
	}
	golden.Compare(t, "testdata/calls.txt", strings.Join(got, "\n"))
}

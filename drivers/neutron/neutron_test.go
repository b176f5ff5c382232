package neutron_test

import (
	"context"
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
)

func full() asset.Asset {
	return asset.Asset{ID: "1", Spec: spec.LinkSpec{
		CIDR: "10.0.0.0/24", Router: "r", Rules: []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp", From: 80, To: 80}},
	}}
}

// A link is made once, however often it is asked for, and goes whole; what others have of that name stays.
func TestALinkIsMadeOnceAndGoesWhole(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	first, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil || first.Network == "" || first.Subnet == "" || first.Group == "" {
		t.Fatalf("Make = %+v, %v", first, err)
	}
	stranger := c.Add("networks", fakeneutron.Object{"name": l.Handle()})
	c.Add("networks", fakeneutron.Object{"name": l.Handle(), "description": l.Tag()}) // of an attempt beside
	again, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil || again != first || len(c.Things("networks")) != 2 {
		t.Errorf("made again it is %+v, %v, with networks %v; want %+v and the stranger's", again, err, c.Things("networks"), first)
	}
	if rules := c.Things("security_group_rules"); len(rules) == 0 || slices.ContainsFunc(rules, func(r fakeneutron.Object) bool { return r["direction"] == "egress" }) {
		t.Errorf("the group has rules %v, want none that lets everything out", rules)
	}
	mine := c.Add("ports", fakeneutron.Object{"network_id": first.Network, "device_owner": "compute:nova", "device_id": "s"})
	if err := d.Remove(t.Context(), c.Connection(), l); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), mine) || len(c.Things("networks")) != 2 {
		t.Errorf("with a port of others Remove = %v", err)
	}
	c.Drop("ports", mine)
	for range 2 {
		if err := d.Remove(t.Context(), c.Connection(), l); err != nil {
			t.Errorf("Remove = %v", err)
		}
	}
	if left := c.Things("networks"); len(left) != 1 || left[0]["id"] != stranger || len(c.Things("subnets"))+len(c.Things("ports"))+len(c.Things("security_groups")) > 0 {
		t.Errorf("after Remove there is %v", c.All())
	}
	if all := c.Bodies(); strings.Contains(all, "device_owner") || strings.Contains(all, "network:") {
		t.Errorf("an owner is written: %s", all)
	}
}

// A quota that ends half way, and a network that is not there, are errors in our words.
func TestLinksThatCannotBe(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	l.Spec.CIDR = fakeneutron.OverQuota
	_, quota := d.Make(t.Context(), c.Connection(), l)
	_, missing := d.Make(t.Context(), c.Connection(), asset.Asset{ID: "2", Existing: "nowhere"})
	for err, kind := range map[error]error{quota: broker.ErrQuota, missing: broker.ErrInvalid} {
		if !errors.Is(err, kind) || strings.Contains(err.Error(), fake.Canary) {
			t.Errorf("%v, want %v and nothing of Neutron's", err, kind)
		}
	}
	if err := d.Remove(t.Context(), c.Connection(), l); err != nil || len(c.Things("networks")) != 0 {
		t.Errorf("half a link is removed: %v, %v", err, c.Things("networks"))
	}
	c.IgnoreRules(true)
	if _, err := d.Make(t.Context(), c.Connection(), l); !errors.Is(err, broker.ErrUnsupported) || strings.Contains(err.Error(), fake.Canary) {
		t.Errorf("where no access rule is obeyed Make = %v", err)
	}
	c.IgnoreRules(false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Remove(ended, c.Connection(), l); err == nil {
		t.Error("a call outlives its context")
	}
	for _, s := range []spec.LinkSpec{{NAD: &spec.PodNetwork{Type: "bridge"}}, {Router: "r"}} {
		if _, err := d.Lease(asset.Asset{Spec: s}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Purpose of %+v = %v", s, err)
		}
	}
}

// What an attempt beside has left goes too: each of several subnets is taken from the router, and each network goes.
func TestEachOfSeveralSubnetsIsTakenFromTheRouter(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	made, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil {
		t.Fatal(err)
	}
	second := c.Add("subnets", fakeneutron.Object{"name": l.Handle(), "description": l.Tag(), "network_id": made.Network, "cidr": "10.0.1.0/24"})
	third := c.Add("subnets", fakeneutron.Object{"name": l.Handle(), "description": l.Tag(), "network_id": made.Network, "cidr": "10.0.2.0/24"})
	for _, subnet := range []string{second, third} {
		c.Add("ports", fakeneutron.Object{
			"network_id": made.Network, "device_owner": "network:router_interface", "device_id": l.Spec.Router,
			"fixed_ips": []fakeneutron.Object{{"subnet_id": subnet, "ip_address": "10.0.1.1"}},
		})
	}
	if err := d.Remove(t.Context(), c.Connection(), l); err != nil {
		t.Errorf("Remove = %v", err)
	}
	if left := len(c.Things("networks")) + len(c.Things("subnets")) + len(c.Things("ports")) + len(c.Things("security_groups")); left > 0 {
		t.Errorf("after Remove there is %v", c.All())
	}
}

// What an administrator says of a cluster's nodes is held against what the cloud says of the network's segment.
func TestASpanIsHeldAgainstTheSegment(t *testing.T) {
	at := func(physical, device string) asset.Asset {
		return asset.Asset{ID: "1", Spans: []spec.Span{{VIM: "v", Physical: physical, Interface: device}}}
	}
	both := func(a, b asset.Asset) asset.Asset {
		a.Spans = append(a.Spans, b.Spans...)
		return a
	}
	vlan := fakeneutron.Object{
		"provider:network_type": "vlan", "provider:physical_network": "physnet1", "provider:segmentation_id": 100, "mtu": 1496,
	}
	flat := fakeneutron.Object{"provider:network_type": "flat", "provider:physical_network": "physnet1", "provider:segmentation_id": nil, "mtu": 9000}
	for _, c := range []struct {
		network     fakeneutron.Object
		said        asset.Asset
		want, field string
	}{
		{vlan, at("physnet1", "bond0"), "1496 100", ""},
		{vlan, at("physnet1", "bond0.100"), "1496 100", ""},
		{flat, at("physnet1", "bond0"), "9000 0", ""},
		{flat, at("physnet1", "bond0.7"), "9000 0", ""},
		{vlan, at("physnet2", "bond0"), "", "spans.physicalNetwork"},
		{vlan, both(at("physnet1", "bond0"), at("physnet1", "bond1.100")), "1496 100", ""},
		{vlan, both(at("physnet1", "bond0"), at("physnet2", "bond0")), "", "spans.physicalNetwork"},
		{vlan, both(at("physnet2", "bond0"), at("physnet1", "bond0")), "", "spans.physicalNetwork"},
		{vlan, both(at("physnet1", "bond0.100"), at("physnet1", "bond0.101")), "", "spans.interface"},
		{vlan, at("physnet1", "bond0.101"), "", "spans.interface"},
		{fakeneutron.Object{"provider:network_type": "vxlan", "provider:segmentation_id": 7}, at("physnet1", "bond0"), "", "spans"},
		{fakeneutron.Object{"mtu": 1500}, at("physnet1", "bond0"), "cannot be checked", "spans"},
	} {
		cloud, l := fakeneutron.New(t), c.said
		l.Existing = cloud.Add("networks", c.network)
		m, err := neutron.Driver{}.Make(t.Context(), cloud.Connection(), l)
		var wrong *broker.Error
		if errors.As(err, &wrong); c.field == "" && (err != nil || fmt.Sprint(m.MTU, m.VLAN) != c.want) || c.field != "" &&
			(!errors.Is(err, broker.ErrInvalid) || wrong.Field != c.field || wrong.Remedy == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v on %v: %+v, %v", l.Spans, c.network, m, err)
		}
	}
	cloud, l := fakeneutron.New(t), at("physnet1", "bond0") // a network that is made, and shown without a segment
	if _, err := (neutron.Driver{}).Make(t.Context(), cloud.Connection(), l); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a network without a segment that spans is %v", err)
	}
}

// Pods have ports in Neutron's book: one for each name, however often they are asked for, unbound, and no others of the instance.
func TestPortsOfPods(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, asset.Asset{ID: "1", Made: asset.Made{Group: "g"}}
	l.Made.Network = c.Add("networks", fakeneutron.Object{})
	c.Add("subnets", fakeneutron.Object{"network_id": l.Made.Network, "cidr": "10.0.0.0/24"})
	first, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"a/pod/x", "a/pod/y"}, false)
	if err != nil || len(first) != 2 || first[0].Name != "a/pod/x" || !strings.HasPrefix(first[1].MAC, "fa:16:3e") ||
		len(first[0].IPs) != 1 || !strings.HasSuffix(first[0].IPs[0], "/24") {
		t.Fatalf("Ports = %+v, %v", first, err)
	}
	for _, p := range c.Things("ports") {
		if p["device_owner"] != "vimbroker:pod" || p["device_id"] != "i" || p["binding:vnic_type"] != "normal" || p["binding:host_id"] != nil ||
			fmt.Sprint(p["security_groups"]) != "[g]" || p["description"] != l.Tag() || !strings.HasPrefix(p["name"].(string), l.Handle()+"/i/") {
			t.Errorf("a port is %v", p)
		}
	}
	twin := fakeneutron.Object{"name": l.Handle() + "/i/a/pod/x", "description": l.Tag(), "network_id": l.Made.Network} // of an attempt beside
	c.Add("ports", twin)
	others := []string{
		c.Add("ports", fakeneutron.Object{"network_id": l.Made.Network, "device_owner": "compute:nova", "name": l.Handle() + "/i/a/pod/x"}),
		c.Add("ports", fakeneutron.Object{"network_id": l.Made.Network, "device_owner": "vimbroker:pod", "name": "vimbroker-2/i/a/pod/x"}),
	}
	if _, err := d.Ports(t.Context(), c.Connection(), l, "other", []string{"a/pod/x"}, true); err != nil || len(c.Things("ports")) != 6 {
		t.Errorf("another instance's ports: %v, and there are %v", err, c.Things("ports"))
	}
	again, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"a/pod/x"}, true)
	if err != nil || len(again) != 1 || fmt.Sprint(again[0]) != fmt.Sprint(first[0]) || len(c.Things("ports")) != 4 {
		t.Errorf("asked for again they are %+v, %v, and there are %v", again, err, c.Things("ports"))
	}
	for _, odd := range []fakeneutron.Object{
		{"mac_address": "fa:16:3e; reboot"}, {"mac_address": "fa:16:3e:00:00:01", "fixed_ips": []fakeneutron.Object{{"subnet_id": "of others", "ip_address": "10.0.0.9"}}},
	} {
		odd["name"], odd["description"] = l.Handle()+"/i/odd", l.Tag()
		id := c.Add("ports", odd)
		if got, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"odd"}, false); !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("a port as Neutron gives none, %v, is %+v, %v", odd, got, err)
		}
		c.Drop("ports", id)
	}
	c.Fill(true)
	if _, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"new"}, false); !errors.Is(err, broker.ErrConflict) ||
		!strings.Contains(err.Error(), "or none is left") || strings.Contains(err.Error(), fake.Canary) {
		t.Errorf("without an address Ports = %v", err)
	}
	l.Existing, l.Spans = l.Made.Network, []spec.Span{{}} // the link goes, and the instances were let go of
	if err := d.Remove(t.Context(), c.Connection(), l); err != nil || len(c.Things("networks")) != 1 {
		t.Errorf("Remove = %v", err)
	}
	left := c.Things("ports")
	if slices.SortFunc(left, func(a, b fakeneutron.Object) int { return strings.Compare(a["id"].(string), b["id"].(string)) }); len(left) != 2 ||
		left[0]["id"] != others[0] || left[1]["id"] != others[1] {
		t.Errorf("after the link there are ports %v, want those of others", left)
	}
}

// A pool has addresses in a row, of those that the subnet gives out and nobody has, made by one call: all or none. It is found again
// by its names, and whole again where one was removed; of another size it is another.
func TestPoolsOfPods(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, asset.Asset{ID: "1", Made: asset.Made{Group: "g"}}
	l.Made.Network = c.Add("networks", fakeneutron.Object{})
	c.Add("subnets", fakeneutron.Object{"network_id": l.Made.Network, "cidr": "2001:db8::/64", "allocation_pools": []fakeneutron.Object{{"start": "2001:db8::1", "end": "2001:db8::9"}}})
	subnet := c.Add("subnets", fakeneutron.Object{"network_id": l.Made.Network, "cidr": "10.8.0.0/15", "allocation_pools": []fakeneutron.Object{
		{"start": "10.8.0.2", "end": "10.8.0.6"}, {"start": "10.8.255.253", "end": "10.9.0.5"},
	}})
	taken := func(ip string) string {
		return c.Add("ports", fakeneutron.Object{"network_id": l.Made.Network, "fixed_ips": []fakeneutron.Object{{"subnet_id": subnet, "ip_address": ip}}})
	}
	first := taken("10.8.0.3")
	names := func(network string, size int) (all []string) {
		for n := range size {
			all = append(all, fmt.Sprintf("%s/pool/%d/%d", network, size, n))
		}
		return all
	}
	ports := func(all bool, names ...string) string {
		made, err := d.Ports(t.Context(), c.Connection(), l, "i", names, all)
		said := []string{}
		for n, p := range made {
			if err == nil && (p.Name != names[n] || !strings.HasPrefix(p.MAC, "fa:16:3e")) {
				t.Errorf("port %d is %+v, want %s", n, p, names[n])
			}
			said = append(said, strings.Join(p.IPs, ","))
		}
		if err != nil {
			if !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "no IPv4 subnet has so many") || strings.Contains(err.Error(), fake.Canary) {
				t.Errorf("Ports = %v", err)
			}
			return "none"
		}
		return strings.Join(said, " ")
	}
	is := func(when, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s the pool is %q, want %q", when, got, want)
		}
	}
	const three = "10.8.0.4/15 10.8.0.5/15 10.8.0.6/15"
	is("made", ports(false, names("a", 3)...), three)
	for _, p := range c.Things("ports")[1:] {
		if p["device_owner"] != "vimbroker:pod" || p["device_id"] != "i" || p["binding:vnic_type"] != "normal" || fmt.Sprint(p["security_groups"]) != "[g]" ||
			p["description"] != l.Tag() || !strings.HasPrefix(p["name"].(string), l.Handle()+"/i/a/pool/3/") {
			t.Errorf("a port of a pool is %v", p)
		}
	}
	is("asked for again", ports(true, names("a", 3)...), three)
	c.Drop("ports", c.Things("ports")[1]["id"].(string)) // the first, by somebody
	is("made whole", ports(false, names("a", 3)...), three)
	is("grown", ports(false, names("a", 4)...), "10.9.0.1/15 10.9.0.2/15 10.9.0.3/15 10.9.0.4/15")
	is("too large", ports(false, names("b", 4)...), "none")
	is("back", ports(true, names("a", 3)...), three)
	is("of another network", ports(false, slices.Concat(names("b", 2), names("a", 3))...), "10.8.255.253/15 10.8.255.254/15 "+three)
	if n := len(c.Things("ports")); n != 6 {
		t.Errorf("there are %d ports", n)
	}

	hole := c.Things("ports")[2]
	c.Drop("ports", hole["id"].(string))
	stolen := taken(hole["fixed_ips"].([]fakeneutron.Object)[0]["ip_address"].(string))
	is("that a machine has one of", ports(false, names("a", 3)...), "none")
	c.Drop("ports", stolen)
	c.Drop("ports", first)
	c.Hide("10.8.0.2") // the subnet gives out .2 and .3
	is("that one has who is not shown", ports(true, slices.Concat(names("c", 2), names("a", 3))...), "none")
	c.Hide("")
	c.Fail(fake.Fault{Kind: fake.Refuse, Status: http.StatusForbidden, Method: http.MethodPost, Path: "ports"})
	is("that the lease may not choose", ports(true, slices.Concat(names("c", 2), names("a", 3))...), "none")
	is("that is free", ports(true, slices.Concat(names("c", 2), names("a", 3))...), "10.8.0.2/15 10.8.0.3/15 "+three)
	stray := c.Add("ports", fakeneutron.Object{
		"name": l.Handle() + "/i/d/pool/2/0", "device_owner": "vimbroker:pod", "network_id": l.Made.Network,
		"fixed_ips": []fakeneutron.Object{{"subnet_id": subnet, "ip_address": "10.9.0.4"}},
	})
	is("beside one that has the name alone", ports(false, names("d", 2)...), "10.8.255.253/15 10.8.255.254/15")
	c.Drop("ports", stray)
	for _, p := range c.Things("ports") {
		if p["name"] == l.Handle()+"/i/d/pool/2/1" {
			p["fixed_ips"] = []fakeneutron.Object{{"subnet_id": subnet, "ip_address": "10.9.0.4"}}
		}
	}
	if got, err := d.Ports(t.Context(), c.Connection(), l, "i", names("d", 2), false); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("ports that are in no row are the pool %v, %v", got, err)
	}
	twin := fakeneutron.Object{
		"name": l.Handle() + "/i/a/pool/3/0", "description": l.Tag(), "network_id": l.Made.Network,
		"fixed_ips": []fakeneutron.Object{{"subnet_id": subnet, "ip_address": "10.9.0.2"}},
	}
	c.Add("ports", twin)
	is("with a twin", ports(false, names("a", 3)...), three)
	if ports(true); len(c.Things("ports")) != 1 { // the twin has another owner
		t.Errorf("with the instance the pools do not go: %v", c.Things("ports"))
	}
}

// What a link asks of a subnet, it asks of one that it has: each of these asks for one thing.
func TestALinkWithoutASubnetAsksForNone(t *testing.T) {
	no := false
	for what, s := range map[string]spec.LinkSpec{
		"a gateway": {Gateway: "10.0.0.1"}, "a router": {Router: "r"}, "DHCP": {DHCP: &no}, "DNS": {DNS: []string{"10.0.0.2"}},
		"a pool": {Pools: []spec.AddressRange{{}}},
	} {
		if _, err := (neutron.Driver{}).Lease(asset.Asset{Spec: s}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("a link with %s and no subnet: %v, want ErrInvalid", what, err)
		}
		for _, of := range []func(*spec.LinkSpec){func(s *spec.LinkSpec) { s.CIDR = "10.0.0.0/24" }, func(s *spec.LinkSpec) { s.SubnetPool = "p" }} {
			with := s
			of(&with)
			if r, err := (neutron.Driver{}).Lease(asset.Asset{Spec: with}); err != nil || r.Purpose == "" {
				t.Errorf("a link with %s and %+v: %+v, %v", what, with, r, err)
			}
		}
	}
	if _, err := (neutron.Driver{}).Lease(asset.Asset{}); err != nil {
		t.Errorf("a network alone: %v", err)
	}
}

// A subnet is made as its link has it: of IPv6, without a gateway, with no router to join.
func TestASubnetIsAsItsLinkHasIt(t *testing.T) {
	for _, c := range []struct {
		spec          spec.LinkSpec
		version, gate string
	}{
		{spec.LinkSpec{CIDR: "10.0.0.0/24"}, "4", ""},
		{spec.LinkSpec{CIDR: "fd00::/64"}, "6", ""},
		{spec.LinkSpec{CIDR: "10.0.0.0/24", Gateway: "none"}, "4", "null"},
		{spec.LinkSpec{CIDR: "10.0.0.0/24", Gateway: "10.0.0.7"}, "4", `"10.0.0.7"`},
		{spec.LinkSpec{SubnetPool: "p"}, "4", ""},
	} {
		n, l := fakeneutron.New(t), asset.Asset{ID: "1", Spec: c.spec}
		made, err := neutron.Driver{}.Make(t.Context(), n.Connection(), l)
		if err != nil || made.Subnet == "" {
			t.Errorf("Make of %+v = %+v, %v", c.spec, made, err)
		}
		text := n.Bodies()
		if !strings.Contains(text, `"ip_version":`+c.version) || strings.Contains(text, "gateway_ip") != (c.gate != "") || !strings.Contains(text, `"gateway_ip":`+c.gate) && c.gate != "" {
			t.Errorf("%+v is asked for as %s, want version %s and gateway %q", c.spec, text, c.version, c.gate)
		}
		if strings.Contains(text, "router_interface") || len(n.Things("ports")) > 0 {
			t.Errorf("%+v joins a router: %s", c.spec, text)
		}
	}
}

// Every address of a port of others is taken, not its first alone; and every rule of others goes from the link's group.
func TestEachAddressAndRuleOfOthersIsSeen(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	l.Spec.Router = ""
	made, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil {
		t.Fatal(err)
	}
	rules := len(c.Things("security_group_rules"))
	for _, port := range []int{22, 23, 24} {
		c.Add("security_group_rules", fakeneutron.Object{"security_group_id": made.Group, "direction": "ingress", "protocol": "tcp", "port_range_min": port, "port_range_max": port})
	}
	if _, err := d.Make(t.Context(), c.Connection(), l); err != nil || len(c.Things("security_group_rules")) != rules {
		t.Errorf("made again it has the rules %v, %v", c.Things("security_group_rules"), err)
	}
	l.Made = made
	network := c.Add("networks", fakeneutron.Object{})
	subnet := c.Add("subnets", fakeneutron.Object{"network_id": network, "cidr": "10.1.0.0/24", "allocation_pools": []fakeneutron.Object{{"start": "10.1.0.2", "end": "10.1.0.9"}}})
	at := func(ip string) fakeneutron.Object { return fakeneutron.Object{"subnet_id": subnet, "ip_address": ip} }
	c.Add("ports", fakeneutron.Object{"network_id": network, "fixed_ips": []fakeneutron.Object{at("10.1.0.7"), at("10.1.0.3"), at("10.1.0.5")}})
	l.Made.Network = network
	ports, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"n/pool/2/0", "n/pool/2/1"}, false)
	if err != nil || len(ports) != 2 || fmt.Sprint(ports[0].IPs, ports[1].IPs) != "[10.1.0.8/24] [10.1.0.9/24]" {
		t.Errorf("ports are %+v, %v, want the only two addresses in a row that nobody has", ports, err)
	}
}

// Ports of Neutron's own go with their network; those of others keep it, and some of them are named.
func TestPortsOfOthersKeepANetwork(t *testing.T) {
	for others, want := range map[int]string{5: "", 6: " and 1 more", 7: " and 2 more"} {
		c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
		l.Spec.Router = ""
		made, err := d.Make(t.Context(), c.Connection(), l)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, owner := range []string{"network:dhcp", "network:distributed"} {
			ids = append(ids, c.Add("ports", fakeneutron.Object{"network_id": made.Network, "device_owner": owner, "device_id": ""}))
		}
		for range others {
			ids = append(ids, c.Add("ports", fakeneutron.Object{"network_id": made.Network, "device_owner": "compute:nova", "device_id": ""}))
		}
		err = d.Remove(t.Context(), c.Connection(), l)
		var e *broker.Error
		if !errors.As(err, &e) || !errors.Is(err, broker.ErrConflict) || !strings.HasSuffix(e.Detail, want) || want == "" && strings.Contains(e.Detail, "more") || strings.Count(e.Detail, ", ") != 4 {
			t.Errorf("with %d ports of others Remove = %v, want five of them%s", others, err, want)
		}
		for _, id := range ids {
			c.Drop("ports", id)
		}
		if err := d.Remove(t.Context(), c.Connection(), l); err != nil || len(c.Things("networks")) > 0 {
			t.Errorf("without them Remove = %v, and leaves %v", err, c.Things("networks"))
		}
	}
}

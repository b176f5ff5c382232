// Package neutron makes virtual links on OpenStack: a network with its subnet, an interface of a router and a security group,
// as the link asks. Neutron keeps no names unique and takes no tag with a creation, so everything has the link's handle as
// its name and the link's tag as its description from the first moment on, and is found again by both.
//
// It writes no device_owner but that of pods: what begins with "network:" there gets past the rules against forged addresses.
package neutron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/drivers/heat"
)

var _ asset.Driver = Driver{}

// Driver implements [asset.Driver] for OpenStack.
type Driver struct{}

const (
	name = "Neutron"
	// purpose is that of its leases: the driver of the VIM holds them to Neutron.
	purpose = "network"
	// maxShown bounds the ports of others that an error names.
	maxShown = 5
	// podOwner is the device_owner of ports of pods.
	podOwner = "vimbroker:pod"
)

// Lease implements [asset.Driver].
func (Driver) Lease(l asset.Asset) (r broker.LeaseRequest, err error) {
	s := l.Spec
	switch {
	case s.NAD != nil:
		return r, broker.Invalid("spec.nad", "is of Kubernetes; the VIM is a cloud")
	case s.CIDR+s.SubnetPool == "" && (s.Gateway+s.Router != "" || s.DHCP != nil || len(s.Pools)+len(s.DNS) > 0):
		return r, broker.Invalid("spec", "has no cidr and no subnetPool, and asks for more than a network")
	}
	return broker.LeaseRequest{Purpose: purpose}, nil
}

// server is a cloud's Neutron, for one call of the driver.
type server struct {
	*heat.Service
	asset.Asset
	// port is what the name of a port of a pod has behind the link's.
	port string
}

// Handle is the name of what is looked for.
func (s *server) Handle() string { return s.Asset.Handle() + s.port }

func dial(ctx context.Context, c asset.Connection, l asset.Asset) (*server, error) {
	s, err := heat.Dial(ctx, c.Config, c.Egress, "network", name)
	return &server{Service: s, Asset: l}, err
}

// Call implements what [heat.Service] does, and says what a cloud lacks that refuses the lease: access rules hold it to Neutron.
func (s *server) Call(ctx context.Context, method, path string, body, into any, doing string) error {
	err := s.Service.Call(ctx, method, path, body, into, doing)
	failpoint.At("neutron.called")
	if errors.Is(err, broker.ErrUnauthorized) {
		err = &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "cannot " + doing + ": " + name + " refuses credentials with access rules (401)",
			Remedy: "set service_type = network in [keystone_authtoken] of its neutron.conf: without it no access rule is obeyed",
		}
	}
	return err
}

// thing is a network, subnet, port, router or security group.
type thing struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Tags        []string  `json:"tags"`
	CreatedAt   string    `json:"created_at"`
	CIDR        string    `json:"cidr"`
	Owner       string    `json:"device_owner"`
	Device      string    `json:"device_id"`
	MAC         string    `json:"mac_address"`
	IPs         []address `json:"fixed_ips"`
	// Pools are those that a subnet gives addresses out of.
	Pools []struct{ Start, End netip.Addr } `json:"allocation_pools"`
}

type address struct {
	Subnet string     `json:"subnet_id"`
	IP     netip.Addr `json:"ip_address"`
}

// plurals are what Neutron calls several of a kind.
func plural(kind string) string { return strings.ReplaceAll(kind, "_", "-") + "s" }

// list are the things of a kind that a query selects.
func (s *server) list(ctx context.Context, kind string, query url.Values) (all []thing, err error) {
	doing := "look for the " + kind + " of the link"
	var got map[string]json.RawMessage
	err = s.Call(ctx, http.MethodGet, "v2.0/"+plural(kind)+"?"+query.Encode(), nil, &got, doing)
	if err == nil && json.Unmarshal(got[kind+"s"], &all) != nil {
		err = strange(doing)
	}
	for _, one := range all {
		if !heat.IsID(one.ID) {
			return nil, strange(doing)
		}
	}
	return all, err
}

// ours are the things of a kind that are the link's, the oldest first: a crash may leave several.
func (s *server) ours(ctx context.Context, kind string) ([]thing, error) {
	all, err := s.list(ctx, kind, url.Values{"name": {s.Handle()}})
	all = slices.DeleteFunc(all, func(t thing) bool {
		return t.Name != s.Handle() || t.Description != s.Tag() && !slices.Contains(t.Tags, s.Tag())
	})
	slices.SortFunc(all, func(a, b thing) int { return strings.Compare(a.CreatedAt+a.ID, b.CreatedAt+b.ID) })
	return all, err
}

// find is the oldest thing of a kind that is the link's, or one that is made with these members. Younger ones are removed.
func (s *server) find(ctx context.Context, kind string, members map[string]any) (made thing, err error) {
	all, err := s.ours(ctx, kind)
	for _, twice := range all[min(1, len(all)):] {
		err = errors.Join(err, s.remove(ctx, kind, twice.ID))
	}
	if err != nil {
		return made, err
	}
	if len(all) > 0 {
		return all[0], nil
	}
	members["name"], members["description"] = s.Handle(), s.Tag()
	doing := "make the " + kind + " of the link"
	var got map[string]json.RawMessage
	err = s.Call(ctx, http.MethodPost, "v2.0/"+plural(kind), map[string]any{kind: members}, &got, doing)
	if err == nil && (json.Unmarshal(got[kind], &made) != nil || !heat.IsID(made.ID)) {
		err = strange(doing)
	}
	if err != nil {
		return made, err
	}
	// The tag is for people; not every cloud has tags.
	at := "v2.0/" + plural(kind) + "/" + made.ID + "/tags"
	err = s.Call(ctx, http.MethodPut, at, map[string]any{"tags": []string{s.Tag()}}, nil, "tag the "+kind)
	if errors.Is(err, broker.ErrNotFound) {
		err = nil
	}
	return made, err
}

func (s *server) remove(ctx context.Context, kind, id string) error {
	err := s.Call(ctx, http.MethodDelete, "v2.0/"+plural(kind)+"/"+id, nil, nil, "remove the "+kind+" of the link")
	if errors.Is(err, broker.ErrNotFound) {
		return nil
	}
	return err
}

// Make implements [asset.Driver].
func (Driver) Make(ctx context.Context, c asset.Connection, l asset.Asset) (m asset.Made, err error) {
	s, err := dial(ctx, c, l)
	if err != nil {
		return m, err
	}
	defer s.Close()
	if m.Network = l.Existing; m.Network == "" {
		m.Network, err = s.network(ctx)
	}
	if err == nil && (l.Existing != "" || len(l.Spans) > 0) {
		err = s.segment(ctx, &m)
	}
	if err != nil || l.Existing != "" {
		return m, err
	}
	if m.Subnet, err = s.subnet(ctx, m.Network); err != nil {
		return m, err
	}
	m.Group, err = s.group(ctx)
	return m, err
}

// segment looks at the network, and holds what is said of its reach against what the cloud says of its segment.
func (s *server) segment(ctx context.Context, m *asset.Made) error {
	var got struct {
		Network struct {
			ID       string `json:"id"`
			MTU      int    `json:"mtu"`
			Type     string `json:"provider:network_type"`
			Physical string `json:"provider:physical_network"`
			VLAN     int    `json:"provider:segmentation_id"`
		} `json:"network"`
	}
	err := s.Call(ctx, http.MethodGet, "v2.0/networks/"+m.Network, nil, &got, "look at network "+m.Network)
	switch {
	case errors.Is(err, broker.ErrNotFound) && s.Existing != "":
		err = broker.Invalid("existing.networkId", "is no network that the VIM's project sees")
	case err == nil && got.Network.ID != m.Network:
		err = strange("look at network " + m.Network)
	}
	n := got.Network
	field, detail := "", ""
	for _, at := range s.Spans {
		_, vlan, tagged := strings.Cut(at.Interface, ".")
		switch {
		case err != nil:
			return err
		case n.Type == "":
			return &broker.Error{
				Kind: broker.ErrInvalid, Field: "spans", Detail: "cannot be checked: the cloud does not show the lease what segment the network has",
				Remedy: "have Neutron's policy show get_network:provider:* to a role of the VIM's user other than admin, which no lease has",
			}
		case n.Type != "vlan" && n.Type != "flat":
			field, detail = "spans", "names a cluster, and the network ends within the cloud: nodes reach one of type vlan or flat"
		case n.Physical != at.Physical:
			field, detail = "spans.physicalNetwork", "is "+at.Physical+", and the network is on another"
		case tagged && n.Type == "vlan" && vlan != strconv.Itoa(n.VLAN):
			field, detail = "spans.interface", fmt.Sprintf("is of VLAN %s, and the network is VLAN %d", vlan, n.VLAN)
		}
		if field != "" {
			return &broker.Error{Kind: broker.ErrInvalid, Field: field, Detail: detail, Remedy: "see openstack network show " + m.Network}
		}
		m.MTU, m.VLAN = n.MTU, n.VLAN
	}
	return err
}

// members are those that say something.
func members(all map[string]any) map[string]any {
	maps.DeleteFunc(all, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return all
}

func (s *server) network(ctx context.Context) (string, error) {
	all := map[string]any{"mtu": s.Spec.MTU, "port_security_enabled": s.Spec.PortSecurity}
	if g := s.Spec.Segment; g != nil {
		all["provider:network_type"], all["provider:physical_network"], all["provider:segmentation_id"] = g.Type, g.Physical, g.ID
	}
	n, err := s.find(ctx, "network", members(all))
	return n.ID, err
}

func (s *server) subnet(ctx context.Context, network string) (string, error) {
	spec := s.Spec
	if spec.CIDR+spec.SubnetPool == "" {
		return "", nil
	}
	all := members(map[string]any{
		"network_id": network, "ip_version": 4, "cidr": spec.CIDR, "subnetpool_id": spec.SubnetPool, "gateway_ip": spec.Gateway,
		"allocation_pools": spec.Pools, "dns_nameservers": spec.DNS, "enable_dhcp": spec.DHCP,
	})
	if p, err := netip.ParsePrefix(spec.CIDR); err == nil && p.Addr().Is6() {
		all["ip_version"] = 6
	}
	if spec.Gateway == "none" {
		all["gateway_ip"] = nil
	}
	n, err := s.find(ctx, "subnet", all)
	if err != nil || spec.Router == "" {
		return n.ID, err
	}
	ports, err := s.list(ctx, "port", url.Values{"device_id": {spec.Router}})
	if err == nil && !slices.ContainsFunc(ports, func(p thing) bool { return p.on(n.ID) }) {
		err = s.route(ctx, "add", n.ID)
	}
	return n.ID, err
}

// route adds an interface of the subnet to the router of the link, or removes it.
func (s *server) route(ctx context.Context, deed, subnet string) error {
	return s.Call(ctx, http.MethodPut, "v2.0/routers/"+s.Spec.Router+"/"+deed+"_router_interface", map[string]string{"subnet_id": subnet}, nil,
		deed+" an interface of router "+s.Spec.Router)
}

// on reports whether a port has an address of a subnet.
func (t thing) on(subnet string) bool {
	return slices.ContainsFunc(t.IPs, func(a address) bool { return a.Subnet == subnet })
}

// group makes the security group, without the rules that let everything out, and with those of the link.
func (s *server) group(ctx context.Context) (string, error) {
	if s.Spec.Rules == nil {
		return "", nil
	}
	g, err := s.find(ctx, "security_group", map[string]any{})
	if err != nil {
		return "", err
	}
	there, err := s.list(ctx, "security_group_rule", url.Values{"security_group_id": {g.ID}})
	for _, r := range there { // those of Neutron have no description
		if r.Description != s.Tag() {
			err = errors.Join(err, s.remove(ctx, "security_group_rule", r.ID))
		}
	}
	for _, r := range s.Spec.Rules {
		if err != nil {
			return "", err
		}
		rule := map[string]any{
			"security_group_id": g.ID, "direction": r.Direction, "ethertype": "IPv4", "description": s.Tag(), "protocol": r.Protocol,
			"remote_ip_prefix": r.Remote,
		}
		if r.To != 0 {
			rule["port_range_min"], rule["port_range_max"] = r.From, r.To
		}
		if p, err := netip.ParsePrefix(r.Remote); err == nil && p.Addr().Is6() {
			rule["ethertype"] = "IPv6"
		}
		body := map[string]any{"security_group_rule": members(rule)}
		err = s.Call(ctx, http.MethodPost, "v2.0/security-group-rules", body, nil, "make a rule of the link")
		if errors.Is(err, broker.ErrConflict) { // there already
			err = nil
		}
	}
	return g.ID, err
}

// Remove implements [asset.Driver].
func (Driver) Remove(ctx context.Context, c asset.Connection, l asset.Asset) error {
	s, err := dial(ctx, c, l)
	if err != nil {
		return err
	}
	defer s.Close()
	if l.Existing != "" {
		return s.drop(ctx, l.Existing, "/", nil)
	}
	networks, err := s.ours(ctx, "network")
	subnets, wrong := s.ours(ctx, "subnet")
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	for _, n := range networks {
		if err := s.unused(ctx, n.ID, subnets); err != nil {
			return err
		}
	}
	for _, kind := range []string{"subnet", "network", "security_group"} {
		all, err := s.ours(ctx, kind)
		for _, one := range all {
			err = errors.Join(err, s.remove(ctx, kind, one.ID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unused takes the interface of the link's router away, and names the ports of others that are on the network.
func (s *server) unused(ctx context.Context, network string, subnets []thing) error {
	left := s.drop(ctx, network, "/", nil) // by instances that were let go of
	ports, err := s.list(ctx, "port", url.Values{"network_id": {network}})
	if err = errors.Join(left, err); err != nil {
		return err
	}
	var others []string
	for _, p := range ports {
		own := slices.IndexFunc(subnets, func(n thing) bool { return p.on(n.ID) })
		switch {
		case p.Owner == "network:dhcp" || p.Owner == "network:distributed": // Neutron's own, which go with the network
		case s.Spec.Router != "" && p.Device == s.Spec.Router && own >= 0:
			if err := s.route(ctx, "remove", subnets[own].ID); err != nil && !errors.Is(err, broker.ErrNotFound) {
				return err
			}
		default:
			others = append(others, p.ID)
		}
	}
	if len(others) == 0 {
		return nil
	}
	text := strings.Join(others[:min(len(others), maxShown)], ", ")
	if more := len(others) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "network " + network + " of the link has ports of others: " + text, Remedy: "remove these ports first",
	}
}

// Ports implements [asset.Porter]. A port is bound to nothing: what it is for is its address.
func (Driver) Ports(
	ctx context.Context, c asset.Connection, l asset.Asset, instance string, names []string, all bool,
) (made []asset.Port, err error) {
	s, err := dial(ctx, c, l)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	subnets, err := s.list(ctx, "subnet", url.Values{"network_id": {l.Made.Network}})
	if err == nil && all {
		err = s.drop(ctx, l.Made.Network, "/"+instance+"/", names)
	}
	for err == nil && len(made) < len(names) {
		name, some := names[len(made)], make([]asset.Port, 1)
		if pool := path.Dir(name) + "/"; strings.Contains(pool, "/pool/") {
			of := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return !strings.HasPrefix(other, pool) })
			some, err = s.pool(ctx, instance, of, subnets)
		} else {
			some[0], err = (&server{s.Service, l, "/" + instance + "/" + name}).pod(ctx, instance, name, subnets)
		}
		made = append(made, some...)
	}
	return made, err
}

// drop removes the link's ports of pods whose names go on so, but for some.
func (s *server) drop(ctx context.Context, network, of string, but []string) error {
	there, err := s.list(ctx, "port", url.Values{"network_id": {network}, "device_owner": {podOwner}})
	for _, p := range there {
		if name, ours := strings.CutPrefix(p.Name, s.Handle()+of); ours && p.Owner == podOwner && !slices.Contains(but, name) {
			err = errors.Join(err, s.remove(ctx, "port", p.ID))
		}
	}
	return err
}

// pod finds or makes a port of a pod.
func (s *server) pod(ctx context.Context, instance, name string, subnets []thing) (made asset.Port, err error) {
	p, err := s.find(ctx, "port", map[string]any{
		"network_id": s.Made.Network, "device_owner": podOwner, "device_id": instance, "binding:vnic_type": "normal",
		"security_groups": strings.Fields(s.Made.Group),
	})
	if errors.Is(err, broker.ErrConflict) {
		err = &broker.Error{
			Kind: broker.ErrConflict, Cause: err, Remedy: "see its ports, and the allocation pools of its subnets",
			Detail: "cannot make a port for a pod on network " + s.Made.Network + ": its address or MAC is taken, or none is left",
		}
	}
	if err != nil {
		return made, err
	}
	return p.given(name, subnets)
}

// given is what a pod has of a port.
func (t thing) given(name string, subnets []thing) (made asset.Port, err error) {
	made.Name, made.ID, made.MAC = name, t.ID, t.MAC
	for _, a := range t.IPs {
		for _, n := range subnets {
			if of, wrong := netip.ParsePrefix(n.CIDR); wrong == nil && n.ID == a.Subnet && of.Contains(a.IP) {
				made.IPs = append(made.IPs, netip.PrefixFrom(a.IP, of.Bits()).String())
			}
		}
	}
	if _, wrong := net.ParseMAC(t.MAC); wrong != nil || len(made.IPs) != len(t.IPs) {
		err = strange("make a port for a pod")
	}
	return made, err
}

// pool finds ports with addresses in a row; it makes those that are missing by one call, all or none, and finds them then.
func (s *server) pool(ctx context.Context, instance string, names []string, subnets []thing) (made []asset.Port, err error) {
	there, err := s.list(ctx, "port", url.Values{"network_id": {s.Made.Network}})
	ours, taken, at := make([]thing, len(names)), map[netip.Addr]bool{}, address{}
	for _, p := range there {
		n := slices.IndexFunc(names, func(name string) bool { return p.Name == s.Handle()+"/"+instance+"/"+name && p.Description == s.Tag() })
		for _, a := range p.IPs {
			if taken[a.IP] = true; n >= 0 && (ours[n].ID == "" || a.IP.Less(ours[n].IPs[0].IP)) { // of two pools the lower
				ours[n], at = p, a
				for range n {
					at.IP = at.IP.Prev()
				}
			}
		}
	}
	if at.Subnet == "" {
		at = gap(subnets, taken, len(names))
	}
	var missing []map[string]any
	for n, name := range names {
		if ours[n].ID == "" {
			missing = append(missing, map[string]any{
				"network_id": s.Made.Network, "device_owner": podOwner, "device_id": instance, "binding:vnic_type": "normal",
				"security_groups": strings.Fields(s.Made.Group), "fixed_ips": []address{at},
				"name": s.Handle() + "/" + instance + "/" + name, "description": s.Tag(),
			})
		} else if one, wrong := ours[n].given(name, subnets); wrong != nil || !slices.Equal(ours[n].IPs, []address{at}) {
			err = strange("find the ports of a pool")
		} else {
			made = append(made, one)
		}
		at.IP = at.IP.Next()
	}
	if err != nil || len(missing) == 0 {
		return made, err
	}
	doing := fmt.Sprintf("reserve %d addresses in a row for pods on network %s", len(names), s.Made.Network)
	if at.Subnet != "" {
		err = s.Call(ctx, http.MethodPost, "v2.0/ports", map[string]any{"ports": missing}, nil, doing)
	}
	if at.Subnet == "" || errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrForbidden) {
		err = &broker.Error{
			Kind: broker.ErrConflict, Cause: err, Remedy: "see its ports, its subnets' allocation pools, and whether it is of the VIM's project",
			Detail: "cannot " + doing + ": no IPv4 subnet has so many, another has taken one, or the lease may not choose them",
		}
	}
	if err != nil {
		return nil, err
	}
	return s.pool(ctx, instance, names, subnets)
}

// gap is the first of so many addresses in a row that a subnet gives out, and nobody has. Whereabouts gives out none that ends in .0.
func gap(subnets []thing, taken map[netip.Addr]bool, size int) address {
	for _, n := range subnets {
		for _, r := range n.Pools {
			first, row := address{n.ID, r.Start}, 0
			for a := r.Start; a.Is4() && !r.End.Less(a) && row < size; a = a.Next() {
				if row++; taken[a] || a.As4()[3] == 0 {
					first.IP, row = a.Next(), 0
				}
			}
			if row == size {
				return first
			}
		}
	}
	return address{}
}

// strange is the error of an answer that Neutron does not give.
func strange(doing string) error {
	return &broker.Error{
		Kind: broker.ErrUnreachable, Detail: "cannot " + doing + ": " + name + " cannot do it now, or something else answers",
		Remedy: "try again later; check the endpoint, and what stands in front of it",
	}
}

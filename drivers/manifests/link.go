package manifests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	networkKind = "NetworkAttachmentDefinition"
	// networksAnnotation names the networks of a pod; resourceAnnotation the devices that a network is of.
	networksAnnotation, resourceAnnotation = "k8s.v1.cni.cncf.io/networks", "k8s.v1.cni.cncf.io/resourceName"
	// linksAnnotation on a template of pods changes with what their networks are, so that others follow them.
	linksAnnotation = prefix + "links"
	// maxPool bounds the addresses of a pool.
	maxPool = 100
)

// networkType is what the configuration of a type of network may hold.
type networkType struct {
	// device is the member that names the bridge or interface; needed: one must be named.
	device string
	needed bool
	// modes are the values of its mode, vlan the member for a VLAN; tagged: it must have one.
	modes  []string
	vlan   string
	tagged bool
	// resource: it is of a device plugin's devices.
	resource bool
}

// writtenTypes are those that are written, these and no others: a type is the name of a program that runs as root on nodes.
var writtenTypes = map[string]networkType{
	"bridge":      {device: "bridge", needed: true, vlan: "vlan"},
	"macvlan":     {device: "master", needed: true, modes: []string{"bridge", "private", "vepa", "passthru"}},
	"ipvlan":      {device: "master", needed: true, modes: []string{"l2", "l3", "l3s"}},
	"vlan":        {device: "master", needed: true, vlan: "vlanId", tagged: true},
	"sriov":       {vlan: "vlan", resource: true},
	"host-device": {device: "device", needed: true},
	"ovs":         {device: "bridge", needed: true, vlan: "vlan"},
}

var (
	deviceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`) })
	pciAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`) })
)

// validNetwork checks what a network's configuration is written from.
func validNetwork(n spec.PodNetwork) error {
	t, known := writtenTypes[n.Type]
	pci := n.Type == "host-device" && pciAddress().MatchString(n.Device)
	switch {
	case !known:
		return broker.Invalid("spec.nad.type", "must be bridge, macvlan, ipvlan, vlan, sriov, host-device or ovs")
	case t.needed && n.Device == "", n.Device != "" && (t.device == "" || !pci && !deviceName().MatchString(n.Device)):
		return broker.Invalid("spec.nad.device", "must be the name of the interface or bridge, of at most 15 characters, where the type has one")
	case n.Mode != "" && !slices.Contains(t.modes, n.Mode):
		return broker.Invalid("spec.nad.mode", "is none of this type: %s", strings.Join(t.modes, ", "))
	case n.VLAN < 0 || n.VLAN > 4094 || n.VLAN != 0 && t.vlan == "" || n.VLAN == 0 && t.tagged:
		return broker.Invalid("spec.nad.vlan", "must be from 1 to 4094, where the type has one")
	case t.resource != (n.Resource != "") || n.Resource != "" && len(validation.IsQualifiedName(n.Resource)) > 0:
		return broker.Invalid("spec.nad.resource", "must be the resource of a device plugin, of type sriov alone")
	}
	return nil
}

// configuration is the plugin's, as JSON.
func configuration(name string, k lifecycle.Link) string {
	s := k.Spec
	n, t := *s.NAD, writtenTypes[s.NAD.Type]
	c := map[string]any{"cniVersion": "0.3.1", "name": name, "type": n.Type}
	set := func(key string, value any, is bool) {
		if is {
			c[key] = value
		}
	}
	if pciAddress().MatchString(n.Device) {
		t.device = "pciBusID"
	}
	set(t.device, n.Device, n.Device != "")
	set("mode", n.Mode, n.Mode != "")
	set(t.vlan, n.VLAN, n.VLAN != 0)
	set("mtu", s.MTU, s.MTU != 0)
	switch {
	case k.Spans:
		c["ipam"], c["capabilities"] = addresses(name, k), map[string]bool{"ips": true, "mac": true}
	case s.DHCP != nil && *s.DHCP:
		c["ipam"] = map[string]any{"type": "dhcp"}
	case s.CIDR != "":
		var ranges []map[string]string
		for _, p := range append(s.Pools, spec.AddressRange{})[:max(len(s.Pools), 1)] {
			r := map[string]string{"subnet": s.CIDR}
			for key, value := range map[string]string{"rangeStart": p.Start, "rangeEnd": p.End, "gateway": s.Gateway} {
				if value != "" && value != "none" {
					r[key] = value
				}
			}
			ranges = append(ranges, r)
		}
		c["ipam"] = map[string]any{"type": "host-local", "ranges": [][]map[string]string{ranges}}
	}
	set("dns", map[string]any{"nameservers": s.DNS}, len(s.DNS) > 0)
	if k.Spans && n.Type == "vlan" { // which leaves the MAC address to another
		c = map[string]any{
			"cniVersion": "0.3.1", "name": name,
			"plugins": []any{c, map[string]any{"type": "tuning", "capabilities": map[string]bool{"mac": true}}},
		}
	}
	text, _ := json.Marshal(c) // cannot fail for these types
	return string(text)
}

// addresses are where pods on a network that spans have theirs from: their annotations, or where its ports are a pool whereabouts,
// which counts for all nodes, on each link by itself: another may have the same addresses.
func addresses(network string, k lifecycle.Link) map[string]any {
	var pool []netip.Prefix
	for _, p := range k.Ports {
		if one, err := netip.ParsePrefix(strings.Join(p.IPs, " ")); err == nil && strings.HasPrefix(p.Name, network+"/pool/") {
			pool = append(pool, one)
		}
	}
	if len(pool) == 0 {
		return map[string]any{"type": "static"}
	}
	first, last := pool[0].Addr().String(), pool[len(pool)-1].Addr().String()
	return map[string]any{
		"type": "whereabouts", "network_name": k.ID, "range": pool[0].Masked().String(), "range_start": first, "range_end": last,
	}
}

// attached is a network that an instance is given, by the name that its pods know it by.
type attached struct {
	name, config string
	lifecycle.Link
	// pods are how many are on it at a time, at most; most are those of one workload.
	pods, most int64
}

// networksOf are the networks of virtual links: each connection point or link of the descriptor has one of its name.
func networksOf(all []lifecycle.Link) (nets []*attached, err error) {
	for _, k := range all {
		for _, name := range k.Names() {
			name = lifecycle.NetworkName(name)
			if len(validation.IsDNS1123Label(name)) > 0 || k.Spec.NAD == nil {
				return nil, broker.Invalid("extVirtualLinks", "connects %q, of which no name of a network can be made", name)
			}
			if err := validNetwork(*k.Spec.NAD); err != nil {
				return nil, err
			}
			nets = append(nets, &attached{name: name, config: configuration(name, k), Link: k})
		}
	}
	return nets, nil
}

// withNetworks adds to the manifests of a package those of the networks that its instance is given.
func withNetworks(in lifecycle.PlanInput) (lifecycle.PlanInput, error) {
	nets, err := networksOf(in.Links)
	if err != nil {
		return in, err
	}
	in.Manifests = slices.Clone(in.Manifests)
	for _, n := range nets {
		meta := map[string]any{"name": n.name, "annotations": map[string]string{variablesAnnotation: "off"}}
		for said, part := range in.Parts {
			if part == in.Part && part != "" {
				meta["annotations"].(map[string]string)[partAnnotation] = said
			}
		}
		if device := n.Spec.NAD.Resource; device != "" {
			meta["annotations"].(map[string]string)[resourceAnnotation] = device
		}
		text, err := json.Marshal(map[string]any{
			"apiVersion": networkGroup + "/v1", "kind": networkKind, "metadata": meta, "spec": map[string]string{"config": n.config},
		})
		if err != nil {
			return in, err
		}
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "virtual link of " + n.name, Text: secret.NewText(string(text))})
	}
	return in, nil
}

// link gives pods what they have of the links of their instance, and returns the names of their ports, by the ids of links.
func link(in lifecycle.PlanInput, all []*object) (ports map[string][]string, err error) {
	nets, err := networksOf(in.Links)
	scaled := autoscaled(in, all)
	ports = map[string][]string{}
	for _, o := range all {
		if err == nil {
			err = o.link(in, nets, scaled[scaledAs(o.Resource)], ports)
		}
	}
	for _, n := range nets {
		if err == nil && n.most > 1 { // all that are on it, since it is one definition
			ports[n.ID] = slices.DeleteFunc(ports[n.ID], func(port string) bool { return strings.HasPrefix(port, n.name+"/") })
			for i := range n.pods { // of another size it has other names, and so other addresses in a row
				ports[n.ID] = append(ports[n.ID], fmt.Sprintf("%s/pool/%d/%d", n.name, n.pods, i))
			}
		}
	}
	return ports, err
}

// link gives the pods of a workload the ports that they have on its networks, and has them be replaced when those change.
func (o *object) link(in lifecycle.PlanInput, nets []*attached, scaled int64, ports map[string][]string) error {
	own := o.Group == networkGroup && o.Kind == networkKind && o.Namespace == in.Namespace
	o.vouched = own && slices.ContainsFunc(nets, func(n *attached) bool { return n.Spans && n.name == o.Name }) // by an administrator
	for _, t := range templates(o.Resource, o.content) {
		annotations := mapAt(t, "metadata", "annotations")
		named := podNetworks(text(annotations, networksAnnotation))
		var configs []string
		for _, n := range nets {
			for at, name := range named {
				if name != n.name && name != o.Namespace+"/"+n.name {
					continue
				}
				configs = append(configs, n.config)
				if !n.Spans || o.Namespace != in.Namespace {
					continue
				}
				pods := o.pods(in, scaled, n.Pools)
				if n.pods, n.most = n.pods+pods, max(n.most, pods); pods == 0 || n.most > 1 && n.pods > maxPool {
					return o.fault(nil, "%s may have several pods, and each address of %s is of one: take a Pod, or a StatefulSet of one replica; or "+
						"a link that spans with ipam whereabouts, and Deployments or StatefulSets of up to %d pods", o.titleIn(), n.name, maxPool)
				}
				if err := o.port(n, annotations, at, ports); err != nil {
					return err
				}
			}
		}
		if len(configs) > 0 {
			sum := sha256.Sum256([]byte(strings.Join(configs, "\n")))
			setText(t["metadata"].(map[string]any), "annotations", linksAnnotation, hex.EncodeToString(sum[:8]))
		}
	}
	return nil
}

// port notes the port that the pod of a workload has on a network, the one at a place of its annotation, and puts it there if it
// is made already.
func (o *object) port(n *attached, annotations map[string]any, at int, ports map[string][]string) error {
	name := n.name + "/" + strings.ToLower(o.Kind) + "/" + o.Name
	list := networkList(text(annotations, networksAnnotation))
	own := slices.ContainsFunc(slices.Collect(maps.Keys(list[at])), func(key string) bool {
		return slices.Contains([]string{"mac", "ips", "cni-args"}, strings.ToLower(key))
	})
	if own || slices.Contains(ports[n.ID], name) {
		return o.fault(nil, "%s names network %s with mac, ips or cni-args, or twice: the addresses are those of one port of the link",
			o.titleIn(), n.name)
	}
	ports[n.ID] = append(ports[n.ID], name)
	for _, p := range n.Ports {
		if p.Name == name {
			list[at]["mac"], list[at]["ips"] = p.MAC, p.IPs
		}
	}
	written, err := json.Marshal(list)
	annotations[networksAnnotation] = string(written)
	return err
}

// pods are how many a workload has at a time, at most, with those that scaling adds where there is a pool, and one that is followed
// before it has ended. It is 0 where there may be several, and no pool.
func (o *object) pods(in lifecycle.PlanInput, scaled int64, pools bool) int64 {
	n, said := mapAt(o.content, "spec")["replicas"].(int64)
	if !said {
		n = 1
	}
	for id, v := range in.Flavour.VDUs {
		for _, a := range in.Flavour.Aspects {
			if pools && v.Name == o.VDU && a.Deltas[id] > 0 {
				n = max(n, int64(v.Max), int64(v.Initial+a.MaxLevel*a.Deltas[id]))
			}
		}
	}
	set := o.Group == apps && o.Kind == "StatefulSet"
	switch {
	case o.Group == "" && o.Kind == "Pod", set && n < 2 && scaled == 0:
		return 1
	case pools && (set || o.Group == apps && o.Kind == "Deployment"):
		return max(n, scaled, 1) + 1
	}
	return 0
}

// addressed reports whether the pod of a workload has a port.
func addressed(links []lifecycle.Link, r lifecycle.Resource) bool {
	name := "/" + strings.ToLower(r.Kind) + "/" + r.Name
	return slices.ContainsFunc(links, func(k lifecycle.Link) bool {
		return slices.ContainsFunc(k.Ports, func(p asset.Port) bool { return strings.HasSuffix(p.Name, name) })
	})
}

// networkList are the networks that a pod's annotation names, in the form that has a member for each thing.
func networkList(annotation string) (list []map[string]any) {
	if json.Unmarshal([]byte(annotation), &list) == nil {
		return list
	}
	list = nil
	for one := range strings.SplitSeq(annotation, ",") {
		name, device, _ := strings.Cut(strings.TrimSpace(one), "@")
		e := map[string]any{"name": name}
		if space, of, is := strings.Cut(name, "/"); is {
			e["namespace"], e["name"] = space, of
		}
		if device != "" {
			e["interface"] = device
		}
		list = append(list, e)
	}
	return list
}

// podNetworks are the networks that a pod's annotation names, as NAMESPACE/NAME or NAME.
func podNetworks(annotation string) (names []string) {
	var list []struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	}
	if json.Unmarshal([]byte(annotation), &list) == nil {
		for _, n := range list {
			if n.Namespace != "" {
				n.Name = n.Namespace + "/" + n.Name
			}
			names = append(names, n.Name)
		}
		return names
	}
	for one := range strings.SplitSeq(annotation, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(one), "@")
		names = append(names, name)
	}
	return names
}

// foreignNetworks finds in pods, and in what has their form, networks of other namespaces.
func foreignNetworks(o *object) (finds []finding) {
	podSpecs(o.content, nil, func(meta, _ map[string]any) {
		for _, name := range podNetworks(text(mapAt(meta, "annotations"), networksAnnotation)) {
			if space, _, other := strings.Cut(name, "/"); other && space != o.Namespace {
				finds = []finding{{lifecycle.ReachNetwork, "annotations (networks)", "a network of another namespace"}}
			}
		}
	})
	return finds
}

var _ asset.Driver = Links{}

// Links implements [asset.Driver] for Kubernetes. Of a link nothing stands by itself: each instance is given a network in its
// own namespace, which pods of others are not to be let onto.
type Links struct{}

// Lease implements [asset.Driver].
func (Links) Lease(l asset.Asset) (r broker.LeaseRequest, err error) {
	s := l.Spec
	switch {
	case s.NAD == nil:
		return r, broker.Invalid("spec.nad", "is needed on Kubernetes: the type of the network, and its device")
	case len(l.Spans) > 0:
		return r, broker.Invalid("spans", "are of a link on a cloud, whose network a cluster's nodes reach")
	case s.SubnetPool+s.Router != "" || s.Segment != nil || s.PortSecurity != nil || s.Rules != nil:
		return r, broker.Invalid("spec", "has members that only a cloud has (subnetPool, segment, router, portSecurity, securityRules)")
	}
	return r, validNetwork(*s.NAD)
}

// Make implements [asset.Driver].
func (Links) Make(context.Context, asset.Connection, asset.Asset) (m asset.Made, err error) {
	return m, nil
}

// Remove implements [asset.Driver].
func (Links) Remove(context.Context, asset.Connection, asset.Asset) error { return nil }

package manifests

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// finding is one way out of a namespace. It holds words of this program alone: a value of a manifest may be a secret.
type finding struct{ what, field, why string }

// row is one line of the table of what reaches: objects of a group and a kind, in whatever version. An empty kind is
// every kind of the group.
type row struct {
	group, kind string
	look        func(o *object) []finding
}

const networkGroup = "k8s.cni.cncf.io"

var takenVolume = finding{lifecycle.ReachCluster, "volumeName", "a volume that stands already"}

// unknownKind is found in every custom resource that the table does not name.
var unknownKind = finding{lifecycle.ReachUnknown, "kind", "a kind of others: what is made of it is not known"}

// table holds what gets an object out of its namespace, but for its pods. Every row has its test.
var table = []row{
	{"", "Service", externalIPs},
	{"", "Service", loadBalancerIP},
	{"", "Endpoints", has(finding{lifecycle.ReachNetwork, "addresses", "leads to addresses that need be no pod's"}, "subsets", "addresses")},
	{"discovery.k8s.io", "EndpointSlice", has(
		finding{lifecycle.ReachNetwork, "addresses", "leads to addresses that need be no pod's"}, "endpoints", "addresses")},
	{"", "PersistentVolume", volumes},
	{"", "PersistentVolumeClaim", claims},
	{apps, "StatefulSet", claims},
	{"", "Secret", tokens},
	{ingressGroup, ingressKind, snippets},
	{ingressGroup, ingressKind, sharedHosts},
	{"gateway.networking.k8s.io", "", snippets},
	{"gateway.nginx.org", "SnippetsFilter", always(lifecycle.ReachCluster, "configuration of a proxy of all")},
	{"gateway.nginx.org", "SnippetsPolicy", always(lifecycle.ReachCluster, "configuration of a proxy of all")},
	{"resource.k8s.io", "ResourceClaim", has(finding{lifecycle.ReachNode, "adminAccess", "devices that others have"}, "adminAccess")},
	{"resource.k8s.io", "ResourceClaimTemplate", has(finding{lifecycle.ReachNode, "adminAccess", "devices that others have"}, "adminAccess")},
	{"snapshot.storage.k8s.io", "VolumeSnapshot", has(
		finding{lifecycle.ReachCluster, "volumeSnapshotContentName", "a snapshot that stands already"}, "source", "volumeSnapshotContentName")},
	{networkGroup, "NetworkAttachmentDefinition", networks},
	{"policy.networking.k8s.io", "", always(lifecycle.ReachNetwork, "rules for every namespace")},
	{"whereabouts.cni.cncf.io", "", always(lifecycle.ReachNetwork, "a pool of addresses of all")},
	{"crd.projectcalico.org", "IPPool", always(lifecycle.ReachNetwork, "a pool of addresses of all")},
	{"projectcalico.org", "IPPool", always(lifecycle.ReachNetwork, "a pool of addresses of all")},
	{"metallb.io", "", always(lifecycle.ReachNetwork, "addresses of all, and who announces them")},
	{"cilium.io", "CiliumLoadBalancerIPPool", always(lifecycle.ReachNetwork, "a pool of addresses of all")},
	{"cilium.io", "CiliumPodIPPool", always(lifecycle.ReachNetwork, "a pool of addresses of all")},
	{"sriovnetwork.openshift.io", "", always(lifecycle.ReachNode, "devices of nodes")},
	{"kubevirt.io", "", machines},
	{"pool.kubevirt.io", "", machines},
	{"infrastructure.cluster.x-k8s.io", "", has(
		finding{lifecycle.ReachNode, "extraMounts", "paths of the nodes that machines are containers on"}, "extraMounts")},
	{"bootstrap.cluster.x-k8s.io", "", machineFiles},
	{"controlplane.cluster.x-k8s.io", "", machineFiles},
	{rbacGroup, "", always(lifecycle.ReachRBAC, "rights of others")},
	{definitionGroup, "", always(lifecycle.ReachDefinitions, "a kind of the whole cluster")},
	{apiServiceGroup, "", always(lifecycle.ReachDefinitions, "kinds of the whole cluster")},
	{admissionGroup, "", always(lifecycle.ReachWebhooks, "sees or decides what others make")},
}

// harmless are groups whose objects are looked at by the table alone: those of Kubernetes itself, and those of others
// that stay in their namespaces but for what the table has.
var harmless = []string{
	"", apps, batch, "autoscaling", "policy", "networking.k8s.io", "discovery.k8s.io", "storage.k8s.io", "scheduling.k8s.io",
	"coordination.k8s.io", "node.k8s.io", "events.k8s.io", "certificates.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io",
	"authentication.k8s.io", "authorization.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io",
	"gateway.networking.k8s.io", "snapshot.storage.k8s.io", "cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io",
	"controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ipam.cluster.x-k8s.io",
	"kubevirt.io", "pool.kubevirt.io",
}

// reaches finds by which ways an object gets out of its namespace, but for its pods.
func reaches(o *object) (finds []finding) {
	known := slices.Contains(harmless, o.Group)
	if o.elsewhere {
		finds = append(finds, finding{lifecycle.ReachCluster, "metadata.namespace", "is in another namespace than the instance"})
	}
	for _, r := range table {
		if r.group == o.Group && (r.kind == "" || r.kind == o.Kind) {
			if known = true; !o.vouched {
				finds = append(finds, r.look(o)...)
			}
		}
	}
	finds = append(finds, foreignNetworks(o)...)
	switch {
	case !known:
		finds = append(finds, unknownKind)
	case o.Namespace == "" && len(finds) == 0:
		finds = append(finds, finding{lifecycle.ReachCluster, "kind", "has no namespace"})
	}
	return finds
}

// always finds the same in every object.
func always(what, why string) func(*object) []finding {
	return func(*object) []finding { return []finding{{what, "kind", why}} }
}

// has finds something where an object has, anywhere, the first of keys, and the next anywhere below, with a value.
func has(found finding, keys ...string) func(*object) []finding {
	return func(o *object) []finding {
		if holds(o.content, keys...) {
			return []finding{found}
		}
		return nil
	}
}

// holds reports whether a value has a key anywhere, and below it the next, with a value that says something.
func holds(v any, keys ...string) bool {
	if len(keys) == 0 {
		return !empty(v)
	}
	for m := range mappingsIn(v) {
		if inner, is := m[keys[0]]; is && holds(inner, keys[1:]...) {
			return true
		}
	}
	return false
}

// empty reports whether a value is one that Kubernetes leaves out.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// externalIPs finds addresses that a Service takes for itself on every node (CVE-2020-8554).
func externalIPs(o *object) []finding {
	ips := mapAt(o.content, "spec")["externalIPs"]
	if empty(ips) {
		return nil
	}
	field := "externalIPs"
	for _, ip := range texts(ips) {
		if a, err := netip.ParseAddr(ip); err == nil {
			field += " " + a.String()
		}
	}
	return []finding{{lifecycle.ReachCluster, field, "traffic of others"}}
}

// chosenAddress is found in a Service that chooses its address at the load balancer. The VIM's owner may let every
// project have that: "services=loadBalancerIP".
var chosenAddress = finding{lifecycle.ReachNetwork, "loadBalancerIP", "an address of all, at the load balancer"}

// loadBalancerIP finds an address that a Service chooses at the load balancer of all.
func loadBalancerIP(o *object) []finding {
	if empty(mapAt(o.content, "spec")["loadBalancerIP"]) {
		return nil
	}
	return []finding{chosenAddress}
}

// machineFiles finds, in files of machines, pods that mount paths: in a container (Docker provider) those of the
// management cluster's nodes are near.
func machineFiles(o *object) (finds []finding) {
	eachBelow(o.content, "files", func(files any) {
		for _, file := range mappings(files) {
			if strings.Contains(text(file, "content"), "hostPath") {
				finds = []finding{{lifecycle.ReachNode, "files (hostPath)", "paths of the nodes that machines are containers on"}}
			}
		}
	})
	return finds
}

// volumes finds paths of nodes in a volume.
func volumes(o *object) (finds []finding) {
	for _, key := range []string{"hostPath", "local"} {
		if mapAt(o.content, "spec")[key] != nil {
			finds = append(finds, finding{lifecycle.ReachNode, key, "paths of nodes"})
		}
	}
	return finds
}

// claims finds volumes and data of others in a claim, and in those that a StatefulSet makes.
func claims(o *object) (finds []finding) {
	specs := []map[string]any{mapAt(o.content, "spec")}
	if o.Kind == "StatefulSet" {
		specs = nil
		for _, c := range mappings(mapAt(o.content, "spec")["volumeClaimTemplates"]) {
			specs = append(specs, mapAt(c, "spec"))
		}
	}
	for _, spec := range specs {
		if !empty(spec["volumeName"]) {
			finds = append(finds, takenVolume)
		}
		if n := mapAt(spec, "dataSourceRef")["namespace"]; !empty(n) && n != o.Namespace {
			finds = append(finds, finding{lifecycle.ReachCluster, "dataSourceRef.namespace", "data of another namespace"})
		}
	}
	return finds
}

// tokens finds a Secret that the cluster puts a token of an account into.
func tokens(o *object) []finding {
	if text(o.content, "type") != "kubernetes.io/service-account-token" {
		return nil
	}
	return []finding{{lifecycle.ReachRBAC, "type", "a token of an account, which no lease ends"}}
}

// snippets finds annotations whose text becomes part of the configuration of a proxy that all use.
func snippets(o *object) (finds []finding) {
	for key := range mapAt(o.content, "metadata", "annotations") {
		if strings.Contains(strings.ToLower(key), "snippet") {
			return []finding{{lifecycle.ReachCluster, "annotations (snippet)", "configuration of a proxy of all"}}
		}
	}
	return nil
}

// machines finds in a machine of KubeVirt what it has of its node, and networks of other namespaces.
func machines(o *object) (finds []finding) {
	for _, key := range []string{"hostDisk", "hostDevices", "gpus"} {
		if holds(o.content, key) {
			finds = append(finds, finding{lifecycle.ReachNode, key, "disks or devices of nodes"})
		}
	}
	eachBelow(o.content, "multus", func(v any) {
		of, _ := v.(map[string]any)
		if n, _, other := strings.Cut(text(of, "networkName"), "/"); other && n != o.Namespace {
			finds = append(finds, finding{lifecycle.ReachNetwork, "multus.networkName", "a network of another namespace"})
		}
	})
	return finds
}

// eachBelow calls do for every value that stands anywhere under a key.
func eachBelow(v any, key string, do func(any)) {
	for m := range mappingsIn(v) {
		if inner, is := m[key]; is {
			do(inner)
		}
	}
}

// cniTypes are the types of networks that are named in findings; of others it is said that they are.
var cniTypes = []string{
	"accelerated-bridge", "bandwidth", "bridge", "cnv-bridge", "dummy", "firewall", "host-device", "ib-sriov", "ipvlan", "loopback",
	"macvlan", "ovn-k8s-cni-overlay", "ovs", "portmap", "ptp", "rdma", "route-override", "sbr", "sriov", "tap", "tuning", "vlan", "vrf",
}

// cniDevices are the keys that name an interface or a device of a node, in lower case.
var cniDevices = []string{"device", "hostdevice", "kernelpath", "pcibusid", "deviceid", "master"}

// cniChains are the keys of lists whose mappings are networks.
var cniChains = []string{"plugins", "delegates"}

// networks finds what a network has of its node.
func networks(o *object) []finding {
	config, is := mapAt(o.content, "spec")["config"].(string)
	switch {
	case mapAt(o.content, "spec")["config"] == nil || is && strings.TrimSpace(config) == "":
		return nil // a file of the node's, by its name
	case !is || !json.Valid([]byte(config)):
		return []finding{{lifecycle.ReachUnknown, "spec.config", "is no JSON"}, {lifecycle.ReachNetwork, "spec.config", "a network of nodes"}}
	}
	var named []string
	for _, kind := range networkTypes(o) {
		if !slices.Contains(cniTypes, kind) {
			kind = "another type"
		}
		named = append(named, kind)
	}
	slices.Sort(named)
	found := finding{lifecycle.ReachNetwork, "spec.config (" + strings.Join(slices.Compact(named), ", ") + ")", "a network of nodes"}
	if len(cniTexts(config, cniDevices)) > 0 {
		found.why = "an interface of nodes"
	}
	return []finding{found}
}

// networkTypes are the types of a network and of the plugins of its chain.
func networkTypes(o *object) []string {
	config := text(mapAt(o.content, "spec"), "config")
	if !json.Valid([]byte(config)) {
		return nil
	}
	return cniTexts(config, []string{"type"})
}

// cniTexts are the texts under keys of a network's configuration, and of the plugins of its chain. As the plugins read
// it, a key counts in capitals too; where it stands twice, all are told.
func cniTexts(config string, keys []string) []string {
	var all []string
	d := json.NewDecoder(strings.NewReader(config))
	type level struct {
		// list, plugins: what the level is, and whether its mappings are networks. key is the last one read.
		list, plugins bool
		key           string
		isKey         bool
	}
	stack := []level{{plugins: true, list: true}}
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		top := &stack[len(stack)-1]
		if delim, is := token.(json.Delim); is {
			switch delim {
			case '{', '[':
				inside := top.list && top.plugins || !top.list && top.plugins && delim == '[' &&
					slices.ContainsFunc(cniChains, func(key string) bool { return strings.EqualFold(key, top.key) })
				top.isKey = !top.list
				stack = append(stack, level{list: delim == '[', plugins: inside, isKey: delim == '{'})
			default:
				stack = stack[:len(stack)-1]
			}
			continue
		}
		if top.list {
			continue
		}
		if top.isKey {
			top.key, _ = token.(string)
		} else if value, is := token.(string); is && top.plugins && value != "" &&
			slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, top.key) }) {
			all = append(all, value)
		}
		top.isKey = !top.isKey
	}
}

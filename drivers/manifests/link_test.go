package manifests_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const attachedPod = `apiVersion: apps/v1
kind: Deployment
metadata: {name: front}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, annotations: {k8s.v1.cni.cncf.io/networks: NETWORKS}}, spec: {containers: [{name: a, image: i}]}}}
`

func linked(networks string, s spec.LinkSpec) lifecycle.PlanInput {
	in := input(strings.ReplaceAll(attachedPod, "NETWORKS", networks))
	in.Links = []lifecycle.Link{{ID: "1", CPs: []sol003.ExtCP{{CPDID: "SGI_CP"}}, Spec: s}}
	return in
}

func multus(t *testing.T) *fakeobjects.Server {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true})
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "DaemonSet", Plural: "daemonsets", Namespaced: true})
	s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	s.Serve(fakeobjects.Kind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition", Plural: "network-attachment-definitions", Namespaced: true})
	return s
}

// applied is the object of a kind that a plan applies.
func applied(t *testing.T, p lifecycle.Plan, kind string) (o struct {
	Metadata struct {
		Name, Namespace string
		Annotations     map[string]string
	}
	Spec struct {
		Config   string
		Template struct {
			Metadata struct{ Annotations map[string]string }
		}
	}
},
) {
	t.Helper()
	for _, s := range p.Stages {
		for _, w := range s.Waves {
			for _, one := range w.Objects {
				if one.Kind == kind {
					if err := json.Unmarshal([]byte(one.Manifest.Reveal()), &o); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	return o
}

// An instance gets its link as a network in its own namespace, with a configuration that is written here, judged like one of
// a package; its pods follow a change of it.
func TestALinkIsANetworkInTheInstancesNamespace(t *testing.T) {
	s := multus(t)
	spec := spec.LinkSpec{CIDR: "10.9.0.0/24", Gateway: "10.9.0.1", MTU: 1400, NAD: &spec.PodNetwork{Type: "macvlan", Device: "eth1", Mode: "bridge"}}
	p := mustPlan(t, s, linked("sgi-cp", spec))
	got := applied(t, p, "NetworkAttachmentDefinition")
	const want = `{"cniVersion":"0.3.1","ipam":{"ranges":[[{"gateway":"10.9.0.1","subnet":"10.9.0.0/24"}]],"type":"host-local"},"master":"eth1","mode":"bridge","mtu":1400,"name":"sgi-cp","type":"macvlan"}`
	if got.Metadata.Name != "sgi-cp" || got.Metadata.Namespace != "cnf" || got.Spec.Config != want {
		t.Errorf("the network is %+v, want %s", got, want)
	}
	if r := p.Facts.Reaches; len(r) != 1 || r[0].What != lifecycle.ReachNetwork || !r[0].Shareable || r[0].Types[0] != "macvlan" {
		t.Errorf("it is judged as %+v", r)
	}
	mark := func(p lifecycle.Plan) string {
		return applied(t, p, "Deployment").Spec.Template.Metadata.Annotations["vimbroker.io/links"]
	}
	spec.NAD.Device = "eth2"
	if other := mark(mustPlan(t, s, linked("sgi-cp", spec))); mark(p) == "" || other == mark(p) {
		t.Errorf("pods have the mark %q, and %q after a change of their network", mark(p), other)
	}
	if stray := mark(mustPlan(t, s, linked("mine", spec))); stray != "" {
		t.Errorf("pods of another network have the mark %q", stray)
	}
	for _, foreign := range []string{"other/sgi-cp", `'[{"name": "n", "namespace": "other"}]'`, "'cnf/a, other/b@net1'"} {
		if r := mustPlan(t, s, input(strings.ReplaceAll(attachedPod, "NETWORKS", foreign))).Facts.Reaches; len(r) != 1 || r[0].Why != "a network of another namespace" {
			t.Errorf("pods on %s reach %+v", foreign, r)
		}
	}
	if _, err := plan(t, fakeobjects.New(t), linked("sgi-cp", spec)); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("without the definition of Multus the plan is %v, want that its kind is not served", err)
	}
}

// The configuration is written from a closed list, and from nothing that a plugin could take for more.
func TestTypesOfNetworks(t *testing.T) {
	for n, ok := range map[spec.PodNetwork]bool{
		{Type: "bridge", Device: "br1", VLAN: 7}: true, {Type: "macvlan", Device: "eth1"}: true, {Type: "ipvlan", Device: "eth1", Mode: "l3s"}: true,
		{Type: "vlan", Device: "eth1", VLAN: 7}: true, {Type: "vlan", Device: "eth1", VLAN: 4094}: true, {Type: "sriov", Resource: "intel.com/sriov", VLAN: 7}: true,
		{Type: "host-device", Device: "0000:03:00.1"}: true, {Type: "ovs", Device: "br1"}: true,
		{Type: "bandwidth"}: false, {Type: ""}: false, {Type: "../../bin/sh", Device: "eth1"}: false, {Type: "macvlan"}: false,
		{Type: "macvlan", Device: "eth1", Mode: "l2"}: false, {Type: "vlan", Device: "eth1"}: false, {Type: "macvlan", Device: "eth1", VLAN: 7}: false,
		{Type: "bridge", Device: "br1", VLAN: 4095}: false, {Type: "bridge", Device: "0000:03:00.1"}: false, {Type: "bridge", Device: "a b"}: false,
		{Type: "bridge", Device: "longer-than-names"}: false, {Type: "sriov"}: false, {Type: "sriov", Resource: "a b"}: false,
		{Type: "bridge", Device: "br1", Resource: "intel.com/sriov"}: false,
	} {
		purpose, err := manifests.Links{}.Lease(asset.Asset{Spec: spec.LinkSpec{NAD: &n}})
		if (err == nil) != ok || purpose.Purpose != "" || err != nil && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%+v is %q, %v", n, purpose.Purpose, err)
		}
	}
	for _, s := range []spec.LinkSpec{{CIDR: "10.0.0.0/24"}, {Router: "r", NAD: &spec.PodNetwork{Type: "bridge", Device: "b"}}} {
		if _, err := (manifests.Links{}).Lease(asset.Asset{Spec: s}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%+v = %v", s, err)
		}
	}
}

// spanned is a pod of a kind on a link that spans to its cluster.
func spanned(kind, networks, extra string, span spec.Span, ports ...asset.Port) lifecycle.PlanInput {
	text := strings.NewReplacer("NETWORKS", networks, "kind: Deployment", "kind: "+kind, "spec: {selector", "spec: {"+extra+"selector").Replace(attachedPod)
	in := input(text)
	l, _ := asset.Asset{
		ID: "1", VIM: "cloud", Spans: []spec.Span{span}, Made: asset.Made{MTU: 1496, VLAN: 100}, Spec: spec.LinkSpec{CIDR: "10.9.0.0/24"},
	}.On(span.VIM)
	in.Links = []lifecycle.Link{{ID: "1", CPs: []sol003.ExtCP{{CPDID: "SGI_CP"}}, Spec: l.Spec, Made: l.Made, Spans: true, Pools: span.IPAM == "whereabouts", Ports: ports}}
	return in
}

// A link of a cloud that spans to the cluster is a network on the interface and the segment that its nodes reach. An administrator
// has answered for it; a pod has the MAC and the addresses of its port in the cloud's book.
func TestASpanIsANetworkWithTheCloudsAddresses(t *testing.T) {
	s := multus(t)
	port := asset.Port{Name: "sgi-cp/statefulset/front", ID: "p", MAC: "fa:16:3e:00:00:01", IPs: []string{"10.9.0.7/24"}}
	for device, want := range map[string]string{
		"bond0": `{"cniVersion":"0.3.1","name":"sgi-cp","plugins":[{"capabilities":{"ips":true,"mac":true},"cniVersion":"0.3.1",` +
			`"ipam":{"type":"static"},"master":"bond0","mtu":1496,"name":"sgi-cp","type":"vlan","vlanId":100},{"capabilities":{"mac":true},"type":"tuning"}]}`,
		"bond0.100": `{"capabilities":{"ips":true,"mac":true},"cniVersion":"0.3.1","ipam":{"type":"static"},"master":"bond0.100","mtu":1496,` +
			`"name":"sgi-cp","type":"macvlan"}`,
	} {
		span := spec.Span{VIM: "v", Physical: "physnet1", Interface: device}
		p := mustPlan(t, s, spanned("StatefulSet", "'other, cnf/sgi-cp@net7'", "", span, port))
		if got := applied(t, p, "NetworkAttachmentDefinition").Spec.Config; got != want {
			t.Errorf("on %s the network is %s, want %s", device, got, want)
		}
		const annotation = `[{"name":"other"},{"interface":"net7","ips":["10.9.0.7/24"],"mac":"fa:16:3e:00:00:01","name":"sgi-cp","namespace":"cnf"}]`
		if got := applied(t, p, "StatefulSet").Spec.Template.Metadata.Annotations["k8s.v1.cni.cncf.io/networks"]; got != annotation {
			t.Errorf("the pods are annotated with %s, want %s", got, annotation)
		}
		if len(p.Facts.Reaches) > 0 || fmt.Sprint(p.Ports) != "map[1:[sgi-cp/statefulset/front]]" {
			t.Errorf("the plan reaches %+v, and wants ports %v", p.Facts.Reaches, p.Ports)
		}
	}
	own := spanned("StatefulSet", "sgi-cp", "", spec.Span{VIM: "v", Interface: "bond0.100"})
	own.Manifests = append(own.Manifests, input(`apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: mine}
spec: {config: '{"type": "macvlan", "master": "bond0.100"}'}
---
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: sgi-cp}
`).Manifests...)
	if r := mustPlan(t, s, own).Facts.Reaches; len(r) != 2 || r[0].Name != "mine" || r[1].What != lifecycle.ReachRBAC {
		t.Errorf("a network of the package beside it, and a token of its name, reach %+v", r)
	}
}

// Where the addresses are static each goes to one pod: what may have several at a time is refused, and so is an address of the
// package's own choice.
func TestOneAddressIsOnePods(t *testing.T) {
	s := multus(t)
	const scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: s}\n" +
		"spec: {maxReplicas: 3, scaleTargetRef: {kind: StatefulSet, name: front, apiVersion: apps/v1}}\n"
	span := spec.Span{VIM: "v", Physical: "physnet1", Interface: "bond0.100"}
	for _, c := range []struct {
		kind, networks, extra, more string
		fault                       string
	}{
		{"StatefulSet", "sgi-cp", "", "", ""},
		{"StatefulSet", "sgi-cp", "replicas: 0, ", "", ""},
		{"StatefulSet", "sgi-cp", "replicas: 2, ", "", "several pods"},
		{"StatefulSet", "sgi-cp", "", scaler, "several pods"},
		{"Deployment", "sgi-cp", "", "", "several pods"},
		{"Deployment", "sgi-cp", "strategy: {type: Recreate}, ", "", "several pods"},
		{"DaemonSet", "sgi-cp", "", "", "several pods"},
		{"DaemonSet", "another", "", "", ""},
		{"StatefulSet", "'sgi-cp, sgi-cp'", "", "", "of one port"},
		{"StatefulSet", `'[{"name": "sgi-cp", "MAC": "fa:16:3e:00:00:02"}]'`, "", "", "of one port"},
		{"StatefulSet", `'[{"name": "sgi-cp", "ips": ["10.9.0.8/24"]}]'`, "", "", "of one port"},
		{"StatefulSet", `'[{"name": "sgi-cp", "cni-args": {"ips": ["10.9.0.8/24"]}}]'`, "", "", "of one port"},
		{"StatefulSet", `'[{"name": "sgi-cp", "default-route": ["10.9.0.1"]}]'`, "", "", ""},
	} {
		in := spanned(c.kind, c.networks, c.extra, span)
		if c.more != "" {
			in.Manifests = append(in.Manifests, input(c.more).Manifests...)
		}
		if _, err := plan(t, s, in); (err == nil) != (c.fault == "") || err != nil && (!errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	in := spanned("StatefulSet", "sgi-cp", "", span, asset.Port{Name: "sgi-cp/statefulset/front"})
	in.Operation, in.Scaled, in.Replicas = lifecycle.ScaleVNF, []string{"front"}, map[string]int32{"front": 2}
	in.Standing = []lifecycle.Resource{{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "cnf", Name: "front", VDU: "front"}}
	if _, err := plan(t, s, in); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a pod with an address of its own is scaled: %v", err)
	}
	in.Replicas["front"] = 0
	mustPlan(t, s, in)
}

// Where the site has whereabouts, what has several pods has a pool: addresses in a row, as many as there are pods at most and one for
// a pod that is followed before it has ended. All of a network are then of it.
func TestPodsHaveAPool(t *testing.T) {
	s := multus(t)
	span := spec.Span{VIM: "v", Physical: "physnet1", Interface: "bond0.100", IPAM: "whereabouts"}
	const scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: s}\n" +
		"spec: {maxReplicas: 5, scaleTargetRef: {kind: Deployment, name: front, apiVersion: apps/v1}}\n"
	beside := strings.NewReplacer("NETWORKS", "sgi-cp", "Deployment", "StatefulSet", "front", "back").Replace(attachedPod)
	for _, c := range []struct {
		kind, extra, more string
		scales            vnfpkg.VDU
		first             string
		size              int
	}{
		{"StatefulSet", "", "", vnfpkg.VDU{}, "sgi-cp/statefulset/front", 1},
		{"StatefulSet", "", beside, vnfpkg.VDU{}, "sgi-cp/statefulset/front", 2},
		{"StatefulSet", "replicas: 2, ", "", vnfpkg.VDU{}, "sgi-cp/pool/3/0", 3},
		{"StatefulSet", "", "", vnfpkg.VDU{Initial: 1, Max: 4}, "sgi-cp/pool/5/0", 5},
		{"StatefulSet", "", "", vnfpkg.VDU{Initial: 1}, "sgi-cp/pool/4/0", 4},
		{"StatefulSet", "", "", vnfpkg.VDU{ID: "VDU3", Initial: 1, Max: 4}, "sgi-cp/statefulset/front", 1}, // which no aspect scales
		{"Deployment", "", "", vnfpkg.VDU{}, "sgi-cp/pool/2/0", 2},
		{"Deployment", "replicas: 0, ", "", vnfpkg.VDU{}, "sgi-cp/pool/2/0", 2},
		{"Deployment", "replicas: 3, ", scaler, vnfpkg.VDU{}, "sgi-cp/pool/6/0", 6},
		{"Deployment", "replicas: 7, ", scaler, vnfpkg.VDU{}, "sgi-cp/pool/8/0", 8},
		{"Deployment", "", beside, vnfpkg.VDU{}, "sgi-cp/pool/3/0", 3},
		{"Deployment", "replicas: 99, ", "", vnfpkg.VDU{}, "sgi-cp/pool/100/0", 100},
		{"Deployment", "replicas: 100, ", "", vnfpkg.VDU{}, "", 0},
		{"Deployment", "replicas: 9000000000000000000, ", "", vnfpkg.VDU{}, "", 0},
		{"Deployment", "replicas: 98, ", strings.Replace(beside, "spec: {sel", "spec: {replicas: 2, sel", 1), vnfpkg.VDU{}, "", 0},
		{"DaemonSet", "", "", vnfpkg.VDU{}, "", 0},
	} {
		in := spanned(c.kind, "sgi-cp", c.extra, span)
		if c.more != "" {
			in.Manifests = append(in.Manifests, input(c.more).Manifests...)
		}
		if c.scales.Name = "front"; c.scales.Initial > 0 {
			in.Replicas = map[string]int32{"front": 1}
			in.Flavour.VDUs = map[string]vnfpkg.VDU{cmp.Or(c.scales.ID, "VDU1"): c.scales}
			in.Flavour.Aspects = map[string]vnfpkg.Aspect{"a": {MaxLevel: 2, Deltas: map[string]int{"VDU1": 1}}, "b": {MaxLevel: 9, Deltas: map[string]int{"VDU2": 1}}}
		}
		p, err := plan(t, s, in)
		got := p.Ports["1"]
		if c.size == 0 {
			if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "ipam whereabouts") {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || len(got) != c.size || got[0] != c.first {
			t.Errorf("%+v: ports %v, %v", c, got, err)
		}
		in.Links[0].Pools = false // elsewhere a StatefulSet of one that scaling makes several is made, and scaling is refused
		if p, err = plan(t, s, in); c.scales.Initial > 0 && (err != nil || len(p.Ports["1"]) != 1) {
			t.Errorf("%+v without a pool: ports %v, %v", c, p.Ports, err)
		}
	}

	ports := []asset.Port{
		{Name: "sgi/pool/3/0", IPs: []string{"10.9.0.3/24"}},
		{Name: "sgi-cp/pool/3/0", IPs: []string{"10.9.0.7/24"}},
		{Name: "sgi-cp/pool/3/1", IPs: []string{"10.9.0.8/24"}},
		{Name: "sgi-cp/pool/3/2", IPs: []string{"10.9.0.9/24"}},
	}
	p := mustPlan(t, s, spanned("Deployment", "sgi-cp", "replicas: 2, ", span, ports...))
	const config = `{"capabilities":{"ips":true,"mac":true},"cniVersion":"0.3.1","ipam":{"network_name":"1","range":"10.9.0.0/24","range_end":"10.9.0.9",` +
		`"range_start":"10.9.0.7","type":"whereabouts"},"master":"bond0.100","mtu":1496,"name":"sgi-cp","type":"macvlan"}`
	if got := applied(t, p, "NetworkAttachmentDefinition").Spec.Config; got != config {
		t.Errorf("the network is %s, want %s", got, config)
	}
	if got := applied(t, p, "Deployment").Spec.Template.Metadata.Annotations["k8s.v1.cni.cncf.io/networks"]; strings.Contains(got, "ips") || strings.Contains(got, "mac") {
		t.Errorf("pods of a pool are annotated with %s", got)
	}
	for _, networks := range []string{"'sgi-cp, sgi-cp'", `'[{"name": "sgi-cp", "ips": ["10.9.0.8/24"]}]'`} {
		if _, err := plan(t, s, spanned("Deployment", networks, "", span)); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("on %s: %v", networks, err)
		}
	}
	in := spanned("StatefulSet", "sgi-cp", "", span, ports...)
	in.Operation, in.Scaled, in.Replicas = lifecycle.ScaleVNF, []string{"front"}, map[string]int32{"front": 2}
	in.Standing = []lifecycle.Resource{{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "cnf", Name: "front", VDU: "front"}}
	mustPlan(t, s, in) // within the pool
}

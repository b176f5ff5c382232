package manifests_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
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
		{Type: "vlan", Device: "eth1", VLAN: 7}: true, {Type: "sriov", Resource: "intel.com/sriov", VLAN: 7}: true,
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

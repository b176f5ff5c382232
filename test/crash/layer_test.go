package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/field"
)

// portDeaths are those of a server whose instance has a pod with a port of a cloud's network; seldomPortDeaths are killed in
// the field alone.
var (
	portDeaths       = []death{{"link.ports", makingOnLink}, {"link.ports", removingFromLink}}
	seldomPortDeaths = []death{
		{afterCall + "#3", makingOnLink}, // the port is made, without its tag
		{"operation.ported", makingOnLink}, {"operation.wave", makingOnLink}, {"operation.wave", removingFromLink},
	}
)

// TestKilledWithPorts kills such a server: the pod has one port, in Neutron's book and in its annotation, and none is left
// when it has gone.
func TestKilledWithPorts(t *testing.T) { diesWithPorts(t, portDeaths) }

// TestFieldKilledWithPorts has more steps.
func TestFieldKilledWithPorts(t *testing.T) {
	field.Only(t)
	diesWithPorts(t, seldomPortDeaths)
}

func diesWithPorts(t *testing.T, all []death) {
	t.Helper()
	pods := realCluster(t)
	defined(t, pods)
	for _, death := range all {
		t.Run(death.point+"/"+death.in.name, func(t *testing.T) {
			death.in.killedAt(t, &linkedSystems{&bothSystems{stackCloud: fakeStacks(t), pods: pods, on: map[string]bool{}}}, death.point)
		})
	}
}

// linkedSystems are a cloud and a cluster whose nodes reach a network of the cloud.
type linkedSystems struct{ *bothSystems }

// defined has a cluster serve networks, and says of StatefulSets that they are as they should be: there are no controllers.
func defined(t *testing.T, c *cluster) {
	t.Helper()
	text, err := os.ReadFile("../real/testdata/definitions/multus.yaml")
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	if err == nil {
		err = c.clients.RESTClient().Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").Body(text).Do(t.Context()).Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cluster serves networks", func() error {
		_, err := c.clients.Discovery().ServerResourcesForGroupVersion("k8s.cni.cncf.io/v1")
		return err
	})
	sets := c.clients.AppsV1().StatefulSets("default")
	seen, err := sets.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seen.Stop)
	go func() {
		for e := range seen.ResultChan() {
			if s, is := e.Object.(*appsv1.StatefulSet); is && s.Status.ObservedGeneration != s.Generation {
				s.Status.ObservedGeneration = s.Generation
				_, _ = sets.UpdateStatus(context.Background(), s, metav1.UpdateOptions{})
			}
		}
	}()
}

func withLink(s *scene) {
	s.t.Helper()
	up := s.up.(*linkedSystems)
	up.on[s.register("pods").ID] = true
	s.register("edge")
	network := up.neutron.Add("networks", fakeneutron.Object{
		"provider:network_type": "vlan", "provider:physical_network": "physnet1", "provider:segmentation_id": 100, "mtu": 1500,
	})
	up.neutron.Add("subnets", fakeneutron.Object{"network_id": network, "cidr": "10.0.0.0/24"})
	files := csar.TackerHeatAs(csar.TackerHeatVNFD, "    VDU1:\n", "    POD_CP: {type: tosca.nodes.nfv.VduCp}\n    VDU1:\n")
	files["Files/kubernetes/pod.yaml"] = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: pod}
spec:
  replicas: 0
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}, annotations: {k8s.v1.cni.cncf.io/networks: pod-cp}}
    spec: {containers: [{name: a, image: a}]}
`
	content := files.Zip(s.t)
	_, err := s.CreateVirtualLink(s.ctx(), v1.VirtualLinkRequest{
		Name: "lan", VIM: "edge", Existing: &v1.ExistingNetwork{NetworkID: network},
		Spans: []spec.Span{{VIM: "pods", Physical: "physnet1", Interface: "bond0"}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := s.CreatePackage(s.ctx(), nil)
	if err == nil {
		err = s.UploadPackage(s.ctx(), p.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err == nil {
		_, err = s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: csar.TackerHeatVNFD, Name: "vnf"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func makeOnLink(s *scene) error {
	s.t.Helper()
	r := onBoth
	r.External = []sol003.AskedLink{{ID: "lan", ResourceID: "lan", CPs: []sol003.ExtCP{{CPDID: "POD_CP"}}}}
	return operate(s, "instantiate", r)
}

// linkedGone proves that nothing is left of an instance, and that the link is used by none.
func linkedGone(s *scene) {
	s.t.Helper()
	up := s.up.(*linkedSystems)
	if err := s.DeleteVNF(s.ctx(), vnf(s).ID); err != nil {
		s.t.Error(err)
	}
	if _, err := s.DeleteVirtualLink(s.ctx(), "lan", false); err != nil {
		s.t.Error(err)
	}
	for _, kind := range []string{"networks", "subnets"} { // those that were there before
		for _, o := range up.neutron.Things(kind) {
			up.neutron.Drop(kind, o["id"].(string))
		}
	}
	if left, stacks := up.neutron.All(), up.heat.Stacks(); len(left)+len(stacks) > 0 {
		s.t.Errorf("there are still %v and the stacks %q", left, stacks)
	}
	s.stop()
	s.restart()
}

var (
	makingOnLink = scenario{
		name: "instantiate on a link that spans", prepare: withLink, act: makeOnLink,
		after: func(s *scene) {
			s.t.Helper()
			if err := awaitOperation(s, "COMPLETED"); err != nil {
				s.t.Fatal(err)
			}
			up := s.up.(*linkedSystems)
			ports := up.neutron.Things("ports")
			made, err := up.pods.clients.AppsV1().StatefulSets("default").Get(s.t.Context(), "pod", metav1.GetOptions{})
			if err != nil || len(ports) != 1 {
				s.t.Fatalf("there are ports %v, and the pod's workload is %v", ports, err)
			}
			mac := fmt.Sprintf(`"mac":%q`, ports[0]["mac_address"])
			if got := made.Spec.Template.Annotations["k8s.v1.cni.cncf.io/networks"]; !bytes.Contains([]byte(got), []byte(mac)) {
				s.t.Errorf("the pod is annotated with %s, and its port is %v", got, ports[0])
			}
			if err := removeBoth(s); err != nil {
				s.t.Fatal(err)
			}
			linkedGone(s)
		},
	}

	removingFromLink = removing("terminate on a link that spans", withLink, makeOnLink, linkedGone)
)

package real_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
)

// unitVNFD is a descriptor of containers (SOL001) without manifests, shopVNFD one of Tacker's simple profile.
const (
	unitVNFD = `
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  acme.nodes.VNF:
    derived_from: tosca.nodes.nfv.VNF
    properties: {descriptor_id: {type: string, default: cnf-1}, product_name: {type: string, default: cnf}}
topology_template:
  inputs:
    login: {type: string, metadata: {hidden: true}}
    image: {type: string, default: registry.k8s.io/pause:3.10}
  substitution_mappings: {node_type: acme.nodes.VNF, properties: {flavour_id: simple}}
  node_templates:
    VNF: {type: acme.nodes.VNF}
    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: {name: web, description: serves, vdu_profile: {min_number_of_instances: 1, max_number_of_instances: 4}}
      requirements: [{container: main}]
    main:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties: {name: main, requested_cpu_resources: 10, memory_resource_limit: 16 MiB, image: {get_input: image}, config: {get_input: login}}
    inner: {type: tosca.nodes.nfv.VnfVirtualLink, properties: {connectivity_type: {layer_protocols: [ipv4]}}}
    web_cp: {type: tosca.nodes.nfv.VduCp, requirements: [{virtual_binding: web}, {virtual_link: inner}]}
    http:
      type: tosca.nodes.nfv.VnfExtCp
      properties: {virtual_link_service_data: [{name: http, protocol: tcp, port: 80, target_port: 8080}]}
      requirements: [{internal_virtual_link: inner}]
  policies:
  - initial: {type: tosca.policies.nfv.VduInitialDelta, targets: [web], properties: {initial_delta: {number_of_instances: 1}}}
  - aspects: {type: tosca.policies.nfv.ScalingAspects, properties: {aspects: {serving: {name: s, description: s, max_scale_level: 3, step_deltas: [one]}}}}
  - deltas: {type: tosca.policies.nfv.VduScalingAspectDeltas, targets: [web], properties: {aspect: serving, deltas: {one: {number_of_instances: 1}}}}
`
	shopVNFD = `
tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
metadata: {template_name: shop}
topology_template:
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties:
        namespace: default
        mapping_ports: ["80:8080"]
        service_type: NodePort
        vnfcs:
          web_server: {num_cpus: 0.1, mem_size: 16MB, image: registry.k8s.io/pause:3.10, ports: ["8080"], config: "greeting: hello"}
  policies:
  - SP1: {type: tosca.policies.tacker.Scaling, targets: [VDU1], properties: {min_instances: 1, max_instances: 3, default_instances: 2, increment: 1, target_cpu_utilization_percentage: 50}}
`
)

// TestDescriptorsLive: descriptors without manifests live as those with manifests do, and the API server takes all that
// the samples are translated to.
func TestDescriptorsLive(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace tosca")
	t.Cleanup(func() { b.onCluster(t, "delete namespace tosca --wait=false") })
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(b.tmp, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, sample := range []string{"shop", "units"} {
		made := b.Must(t, "vimbroker package translate "+must(filepath.Abs("../../lifecycle/tosca/testdata/"+sample+".yaml"))(t))
		made = strings.ReplaceAll(made, "namespace: warehouse", "namespace: tosca")
		got := b.onCluster(t, "-n tosca apply --dry-run=server -o name -f "+write(sample+"-made.yaml", made))
		if strings.Count(got, "\n")+1 != strings.Count(made, "apiVersion: ")-strings.Count(made, "    apiVersion: apps/v1") {
			t.Errorf("of %s the API server takes\n%s", sample, got)
		}
	}
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	standing := func() string {
		return strings.Join(strings.Fields(b.onCluster(t, "-n tosca get deployments,services,secrets,configmaps,horizontalpodautoscalers -l vimbroker.io/instance -o name")), " ")
	}
	ready := func(name string) string {
		return b.onCluster(t, "-n tosca get deployment "+name+" -o jsonpath={.status.readyReplicas}")
	}

	b.Must(t, "vimbroker package upload "+write("cnf.yaml", unitVNFD))
	b.Must(t, "vimbroker vnf create --vnfd cnf-1 cnf")
	if r := b.Try(t, "vimbroker vnf instantiate cnf --vim edge1 --namespace tosca --set logins=x --wait"); r.Code == 0 || !strings.Contains(r.Stderr, "there is no input logins") {
		t.Errorf("an input that is not declared: %+v", r)
	}
	b.Must(t, "vimbroker vnf instantiate cnf --vim edge1 --namespace tosca --set 'login=password: "+canary+"' --wait")
	if got, want := standing(), "deployment.apps/web service/http secret/web-main"; got != want {
		t.Fatalf("after instantiate there is %s, want %s", got, want)
	}
	if got := b.Must(t, "vimbroker vnf show cnf"); strings.Count(got, "Not done:") != 1 || !strings.Contains(got, "VnfVirtualLink inner is not made") {
		t.Errorf("the link alone is left to others:\n%s", got)
	}
	b.Must(t, "vimbroker vnf scale cnf --aspect serving --steps 2 --wait")
	if got := ready("web"); got != "3" {
		t.Errorf("after scaling out %s pods are ready, want 3", got)
	}
	b.onCluster(t, "-n tosca delete secret web-main")
	b.Must(t, "vimbroker vnf heal cnf --wait")
	if got := b.onCluster(t, "-n tosca get secret web-main -o jsonpath={.data.password}"); got == "" || ready("web") != "3" {
		t.Error("healing has not made the Secret again, or changed the number of pods")
	}
	if got := b.Must(t, "vimbroker vnf check cnf"); strings.Contains(got, "changed") {
		t.Errorf("what was just applied differs:\n%s", got)
	}

	vnfd := strings.TrimSpace(b.Must(t, "vimbroker package upload -o jsonpath={.vnfdId} "+write("shop.yaml", shopVNFD)))
	if got := b.Must(t, "vimbroker package show "+vnfd); !strings.Contains(got, "vnfd.yaml:13: the config of VDU1 becomes a ConfigMap") {
		t.Errorf("nothing warns of the ConfigMap:\n%s", got)
	}
	if got := b.Must(t, "vimbroker package show --manifests "+vnfd); !strings.Contains(got, "kind: HorizontalPodAutoscaler") {
		t.Errorf("the manifests of the shop are\n%s", got)
	}
	b.Must(t, "vimbroker vnf create --vnfd "+vnfd+" shop")
	b.Must(t, "vimbroker vnf instantiate shop --vim edge1 --namespace tosca --wait")
	for _, want := range []string{"deployment.apps/vdu1", "service/vdu1", "configmap/vdu1-web-server", "horizontalpodautoscaler.autoscaling/vdu1"} {
		if got := standing(); !strings.Contains(got, want) {
			t.Errorf("after instantiate there is no %s: %s", want, got)
		}
	}
	b.Must(t, "vimbroker vnf heal shop --wait")
	if got := ready("vdu1"); got != "2" {
		t.Errorf("%s pods are ready, want 2 to begin with", got)
	}
	b.Must(t, "vimbroker vnf terminate shop --wait")
	b.Must(t, "vimbroker vnf terminate cnf --wait")
	if got := standing(); got != "" {
		t.Errorf("after terminate there is %s", got)
	}
	b.leasesEnded(t)
	if log := b.broker.Log.String() + b.Must(t, "vimbroker audit list --limit 1000"); strings.Contains(log, canary) {
		t.Error("the log has the secret input")
	}
	if r := b.Try(t, "vimbroker package upload "+write("bad.yaml", strings.Replace(shopVNFD, "service_type", "flavor: x\n        service_type", 1))); r.Code == 0 ||
		!strings.Contains(r.Stderr, "line 11: VDU1: properties: flavor is not translated") {
		t.Errorf("a property that is not translated: %+v", r)
	}
}

// must fails the test on an error.
func must(text string, err error) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

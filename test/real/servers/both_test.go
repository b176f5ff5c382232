package servers_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// bothVNFD begins the ids of the descriptors of packages with a base HOT and manifests.
const bothVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a4000"

// both is a package of servers, and of pods beside them: VDU app, which aspect app_scale scales. What is in last is applied
// when both are ready.
func both(vnfd, last string) csar.Files {
	all := csar.TackerServers()
	const definitions = "Definitions/sample_df_simple.yaml"
	all[definitions] = strings.NewReplacer("  policies:\n", `    app:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: {name: app, vdu_profile: {min_number_of_instances: 1, max_number_of_instances: 20}}
  policies:
    - app_initial: {type: tosca.policies.nfv.VduInitialDelta, properties: {initial_delta: {number_of_instances: 2}}, targets: [ app ]}
    - app_levels:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties: {levels: {level_1: {number_of_instances: 2}, level_2: {number_of_instances: 10}}}
        targets: [ app ]
    - app_deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: {aspect: app_scale, deltas: {delta_1: {number_of_instances: 1}}}
        targets: [ app ]
`, "          aspects:\n", `          aspects:
            app_scale: {name: app_scale, description: pods, max_scale_level: 5, step_deltas: [ delta_1 ]}
`).Replace(all[definitions])
	for name, text := range all {
		all[name] = strings.ReplaceAll(text, csar.TackerServersVNFD, vnfd)
	}
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {vimbroker.io/wave: %q}}\ndata: {%s}\n"
	all["Files/kubernetes/first.yaml"] = fmt.Sprintf(config, "first", "-1", "a: b")
	all["Files/kubernetes/last.yaml"] = fmt.Sprintf(config, "last", "1", last)
	all["Files/kubernetes/app.yaml"] = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: registry.example/app}]}
`
	return all
}

// onCluster counts what the VNFs and the leases have on a cluster.
func onCluster(t *testing.T, c *real.Cluster) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	of := metav1.ListOptions{LabelSelector: "vimbroker.io/instance"}
	deployments, err := clients.AppsV1().Deployments("").List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	configs, err := clients.CoreV1().ConfigMaps("").List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	leases, err := clients.CoreV1().ServiceAccounts("").List(t.Context(), metav1.ListOptions{LabelSelector: "vimbroker.io/lease"})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d deployments, %d maps, %d leases", len(deployments.Items), len(configs.Items), len(leases.Items))
}

// isOnBoth: one instance has servers on the cloud and pods on a real API server, through its life; a wave that fails is
// rolled back on both.
func (v *edge) isOnBoth(t *testing.T) {
	c := real.Kubernetes(t)
	c.WithNode(t)
	v.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" pods")
	for name, files := range map[string]csar.Files{"both": both(bothVNFD+"6", "a: b"), "fails": both(bothVNFD+"7", `"a b": c`)} {
		v.Write(t, "root/"+name+".csar", string(files.Zip(t)))
		v.Must(t, "vimbroker package upload "+name+".csar")
	}
	nothing := onCluster(t, c)
	instance := func(name string) (i sol003.VNFInstance) {
		t.Helper()
		v.Decode(t, "vimbroker vnf show -o json "+name, &i)
		return i
	}
	wants := func(after string, servers, pods int) (i sol003.VNFInstance) {
		t.Helper()
		i = instance("mixed")
		on := map[string]int{}
		for _, r := range i.Instantiated.Resources {
			on[r.VDUID+" "+r.Compute.VIMConnectionID]++
		}
		if len(on) != 2 || on["VDU1 patched"] != servers || on["app pods"] != pods || len(v.o.Servers(t, v.who)) != servers {
			t.Errorf("after %s there are VNFCs %v and %d servers, want %d servers and %d pods", after, on, len(v.o.Servers(t, v.who)), servers, pods)
		}
		return i
	}
	const nfv = ` --vim patched,pods --nfv '{"CP": {"VDU1_CP1": {"network": "net0"}}}' `
	v.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"6 mixed")
	if seen := v.Must(t, "vimbroker vnf instantiate mixed"+nfv+"--dry-run"); !strings.Contains(seen, "deployment/app in default on pods") {
		t.Errorf("a dry run does not say where an object goes:\n%s", seen)
	}
	v.Must(t, "vimbroker vnf instantiate mixed"+nfv+"--wait")
	if i := wants("instantiate", 1, 2); len(i.VIMs) != 2 {
		t.Errorf("the instance is on %+v", i.VIMs)
	}
	v.Must(t, "vimbroker vnf scale mixed --aspect VDU1_scale --steps 1 --wait")
	wants("scaling servers", 2, 2)
	v.Must(t, "vimbroker vnf scale mixed --aspect app_scale --steps 2 --wait")
	before := wants("scaling pods", 2, 4)
	for _, r := range before.Instantiated.Resources { // one of each VDU
		if r.VDUID == "VDU1" || !strings.Contains(r.ID, "app") {
			v.Must(t, "vimbroker vnf heal mixed --vnfc "+r.ID+" --wait")
			break
		}
	}
	after := wants("healing a server", 2, 4)
	if fmt.Sprint(before.Instantiated.Resources) == fmt.Sprint(after.Instantiated.Resources) {
		t.Error("the server that was healed is the same")
	}
	v.Must(t, "vimbroker vnf heal mixed --wait")
	v.Must(t, "vimbroker vnf terminate mixed --wait")
	v.leavesNothing(t, "TERMINATE of two parts")
	if now := onCluster(t, c); now != nothing {
		t.Errorf("after TERMINATE there are %s, want %s", now, nothing)
	}

	v.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"7 broken")
	if got := v.Try(t, "vimbroker vnf instantiate broken"+nfv+"--wait"); got.Code == 0 {
		t.Fatalf("an object that no cluster takes was made:\n%s", got.Stdout)
	}
	op := v.failed(t, "broken")
	if op.Error == nil || !strings.Contains(op.Error.Detail, "part pods on VIM pods") {
		t.Errorf("the operation failed with %+v", op.Error)
	}
	if now := onCluster(t, c); len(v.o.Servers(t, v.who)) != 1 || !strings.HasPrefix(now, "1 deployments, 1 maps, 0 leases") {
		t.Errorf("before the rollback there are %d servers, and %s", len(v.o.Servers(t, v.who)), now)
	}
	v.Must(t, "vimbroker vnf op rollback "+op.ID+" --wait")
	v.leavesNothing(t, "the rollback of two parts")
	if now := onCluster(t, c); now != nothing {
		t.Errorf("after the rollback there are %s, want %s", now, nothing)
	}
}

// TestFieldFigureOfTwoParts measures three servers and ten pods as one instance, against the slower of the tools that make each
// side alone.
func TestFieldFigureOfTwoParts(t *testing.T) {
	field.Only(t)
	o, c := real.OwnOpenStack(t, real.OpenStackOptions{WithServers: true}), real.Kubernetes(t)
	c.WithNode(t)
	who := o.Project(t)
	o.Image(t, "cirros-0.5.2-x86_64-disk")
	o.Flavor(t, "m1.tiny", 512)
	o.Network(t, who, "net0", "10.10.0.0/24")
	v := story.NewSite(t, story.Build(t, t.TempDir()), "sol003: {enabled: true}\n")
	files := both(bothVNFD+"6", "a: b")
	v.Write(t, "root/both.csar", string(files.Zip(t)))
	v.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}}\n",
		o.AuthURL, who.UserID, who.Password, who.ProjectID))
	v.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one cloud")
	v.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" pods")
	v.Must(t, "vimbroker package upload both.csar")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"top.yaml": files["BaseHOT/simple/sample.yaml"], "VDU1.yaml": files["BaseHOT/simple/nested/VDU1.yaml"],
		"app.yaml": strings.Replace(files["Files/kubernetes/app.yaml"], "spec:\n", "spec:\n  replicas: 10\n", 1),
		"nfv.yaml": `parameters: {nfv: {VDU: {VDU1: {computeFlavourId: m1.tiny, desired_capacity: 3},
			VDU1-VirtualStorage: {vcImageId: cirros-0.5.2-x86_64-disk}}, CP: {VDU1_CP1: {network: net0}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	took := func(name string, args ...string) time.Duration {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = dir
		command.Env = []string{
			"PATH=/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + c.Kubeconfig, "OS_AUTH_URL=" + o.AuthURL, "OS_IDENTITY_API_VERSION=3",
			"OS_USERNAME=" + who.Username, "OS_PASSWORD=" + who.Password, "OS_PROJECT_NAME=" + who.Project,
			"OS_USER_DOMAIN_NAME=Default", "OS_PROJECT_DOMAIN_NAME=Default",
		}
		begun := time.Now()
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
		return time.Since(begun)
	}
	kubectl := c.Kubectl
	for range 3 {
		stack := took("openstack", "stack", "create", "--wait", "--poll", "1", "-t", "top.yaml", "-e", "nfv.yaml", "alone")
		took("openstack", "stack", "delete", "--wait", "-y", "alone")
		apply := took(kubectl, "apply", "--wait", "-f", "app.yaml") + took(kubectl, "rollout", "status", "deployment/app")
		took(kubectl, "delete", "--wait", "-f", "app.yaml")
		v.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"6 mixed")
		begun := time.Now()
		v.Must(t, `vimbroker vnf instantiate mixed --vim cloud,pods --level level_2 --nfv '{"CP": {"VDU1_CP1": {"network": "net0"}}}' --wait`)
		t.Logf("stack %.1f s, pods %.1f s, both as one instance %.1f s", stack.Seconds(), apply.Seconds(), time.Since(begun).Seconds())
		v.Must(t, "vimbroker vnf terminate mixed --wait")
		v.Must(t, "vimbroker vnf delete mixed")
	}
}

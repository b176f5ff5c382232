package real_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFieldInstancesOutliveTheirClusters: with real API servers and the real Cluster API, instances whose namespace, cluster
// or API server is gone for good are let go of, each in its way, and their package is free afterwards.
func TestFieldInstancesOutliveTheirClusters(t *testing.T) {
	field.Only(t)
	o := startOnboarding(t)
	edge, lone := real.OwnKubernetes(t), real.OwnKubernetes(t)
	o.create("edge", edge)
	o.write("edge", edge.NewKubeconfig(t))
	vim := o.await("edge", "registered", in("registered", "")).VIM
	shell := o.shell()
	must := func(line string) string {
		t.Helper()
		return shell.Must(t, "vimbroker "+line)
	}
	for name, c := range map[string]*real.Cluster{"again": edge, "lone": lone} {
		kubeconfig := filepath.Join(o.dir, name+".kubeconfig")
		if err := os.WriteFile(kubeconfig, []byte(c.NewKubeconfig(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		must("vim register --kubeconfig " + kubeconfig + " " + name)
	}
	if err := os.Mkdir(filepath.Join(o.dir, "vnf"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.dir, "vnf", "a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must("package create vnf --vnfd gone --out gone.csar")
	must("package upload gone.csar")
	make := func(name, vim string, c *real.Cluster) {
		t.Helper()
		c.Run(t, "", "create", "namespace", name)
		must("vnf create --vnfd gone " + name)
		must("vnf instantiate " + name + " --vim " + vim + " --namespace " + name + " --wait")
	}
	has := func(c *real.Cluster, name string) bool {
		return strings.Contains(c.Run(t, "", "-n", name, "get", "configmaps", "-o", "name"), "configmap/a\n")
	}
	make("spaceless", vim, edge)
	make("moving", vim, edge)
	make("clusterless", vim, edge)
	make("forgotten", "lone", lone)

	edge.Run(t, "", "delete", "namespace", "spaceless")
	must("vnf terminate spaceless --wait")

	if r := shell.Try(t, "vimbroker vnf modify moving --vim lone"); r.Code == 0 || !strings.Contains(r.Stderr, "not the system") {
		t.Errorf("moving to another system: %+v, want a refusal", r)
	}
	must("vnf modify moving --vim again")
	must("vnf heal moving --wait")
	must("vnf terminate moving --wait")
	if has(edge, "moving") || !has(edge, "clusterless") {
		t.Error("terminated where it moved to, what it was is there still, or what another is has gone")
	}

	// The cluster is deleted as Cluster API deletes it, and its API server answers nothing any more.
	if r := shell.Try(t, "vimbroker vim delete "+vim+" --drain"); r.Code == 0 || !strings.Contains(r.Stderr, "clusterless") {
		t.Errorf("deleting the VIM: %+v, want the instance named", r)
	}
	edge.Stop()
	o.hub.Run(t, "", "-n", "tenant", "delete", "cluster", "edge", "--wait=true", "--timeout=60s")
	// Its API server has to be silent for a minute.
	if !real.Poll(t, 3*time.Minute, func() bool {
		v, err := o.VIM(t.Context(), vim)
		return err == nil && v.Labels["vimbroker.io/cluster-gone"] != ""
	}) {
		t.Fatal("the VIM of a cluster that is gone does not say so")
	}
	must("vnf terminate clusterless --wait")
	o.await("edge", "retired", in("retired", ""))

	// One that nobody tells of is forgotten.
	lone.Stop()
	must("vnf forget forgotten")
	if says := must("vnf op list --instance forgotten"); !strings.Contains(says, "TERMINATE") || !strings.Contains(says, "COMPLETED") {
		t.Errorf("its operations are\n%s", says)
	}
	if says := must("audit list --action vnf:forget -o json"); !strings.Contains(says, "1 objects on VIM lone") {
		t.Errorf("the log does not say what is left:\n%s", says)
	}
	must("vim delete lone --force")
	for _, name := range []string{"spaceless", "moving", "clusterless", "forgotten"} {
		must("vnf delete " + name)
	}
	must("package disable gone")
	must("package delete gone")
}

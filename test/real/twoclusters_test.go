package real_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// ofSite are the annotations of an object of part site, in a wave.
const ofSite = `annotations: {vimbroker.io/part: site, vimbroker.io/wave: "%d"}`

// twoParts are the manifests of a VNF whose part site is on another cluster; what is in last is applied when all else is ready.
func twoParts(last string) []vnfpkg.ManifestFile {
	deployment := func(name, annotations string) vnfpkg.ManifestFile {
		return vnfpkg.ManifestFile{Path: name + ".yaml", Text: []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `, ` + annotations + `}
spec:
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {containers: [{name: ` + name + `, image: "registry.example/` + name + `:${VERSION:=1}"}]}
`)}
	}
	return []vnfpkg.ManifestFile{
		deployment("core", "annotations: {}"), deployment("front", fmt.Sprintf(ofSite, 1)),
		{Path: "last.yaml", Text: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last, " + fmt.Sprintf(ofSite, 2) + "}\ndata: {" + last + "}\n")},
	}
}

// TestFieldTwoClusters takes an instance with a part on each of two API servers through its life: by waves over both, while one
// does not answer, and back.
func TestFieldTwoClusters(t *testing.T) {
	field.Only(t)
	near, far := real.OwnKubernetes(t), real.OwnKubernetes(t) // near has no node yet
	far.WithNode(t)
	b := sitDown(t, near)
	kubectl := func(c *real.Cluster, line string) string {
		t.Helper()
		return strings.Join(strings.Fields(b.Must(t, "kubectl --kubeconfig "+c.Kubeconfig+" -n shop "+line)), " ")
	}
	for name, c := range map[string]*real.Cluster{"near": near, "far": far} {
		b.Must(t, "kubectl --kubeconfig "+c.Kubeconfig+" create namespace shop")
		b.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" "+name)
	}
	b.onboard(t, "two-1", "1.0", twoParts("a: b")...)
	b.onboard(t, "two-2", "2.0", twoParts(`"a b": c`)...)
	wants := func(after, near1, far1 string) {
		t.Helper()
		for c, want := range map[*real.Cluster]string{near: near1, far: far1} {
			if got := kubectl(c, "get deployments,configmaps -l vimbroker.io/instance -o name"); got != want {
				t.Errorf("after %s there is %q on a cluster, want %q", after, got, want)
			}
		}
	}
	refused := func(line, says string) {
		t.Helper()
		if got := b.Try(t, line); got.Code == 0 || !strings.Contains(got.Stdout+got.Stderr, says) {
			t.Errorf("%s: exit code %d, want it to say %q\n%s%s", line, got.Code, says, got.Stdout, got.Stderr)
		}
	}

	b.Must(t, "vimbroker vnf create --vnfd two-1 shop")
	refused("vimbroker vnf instantiate shop --namespace shop --vim far --wait", "is of part site")
	refused("vimbroker vnf instantiate shop --namespace shop --vim near,far", "the key site")
	refused("vimbroker vnf instantiate shop --namespace shop --vim centre=far,site=far", "twice")
	const on = " --namespace shop --vim centre=near,site=far"
	if seen := b.Must(t, "vimbroker vnf instantiate shop"+on+" --dry-run"); !strings.Contains(seen, "deployment/front in shop on site") {
		t.Errorf("a dry run does not say where an object goes:\n%s", seen)
	}
	b.Must(t, "vimbroker vnf instantiate shop"+on)
	if !real.Poll(t, patience, func() bool { return strings.Contains(kubectl(near, "get deployments -o name"), "core") }) {
		t.Fatal("the first wave does not begin")
	}
	wants("the begin of the first wave", "deployment.apps/core", "")
	far.Pause(t) // and it is away when its wave begins
	near.WithNode(t)
	if !real.Poll(t, patience, func() bool {
		return slices.ContainsFunc(b.leases(t), func(l lease) bool { return l.State == "pending" })
	}) {
		t.Error("the cluster that is away is not asked for a lease")
	}
	far.Resume(t)
	b.Must(t, "vimbroker vnf watch shop")
	const whole = "deployment.apps/front configmap/last"
	wants("instantiate", "deployment.apps/core", whole)

	var i struct {
		Instantiated struct {
			Resources []struct {
				VDUID   string `json:"vduId"`
				ID      string `json:"id"`
				Compute struct {
					VIM string `json:"vimConnectionId"`
				} `json:"computeResource"`
			} `json:"vnfcResourceInfo"`
		} `json:"instantiatedVnfInfo"`
	}
	b.decode(t, "vimbroker vnf show shop -o json", &i)
	at := map[string]string{}
	for _, r := range i.Instantiated.Resources {
		at[r.VDUID] = r.Compute.VIM
	}
	if at["core"] != "centre" || at["front"] != "site" {
		t.Errorf("VDUs are on %v", at)
	}
	b.Must(t, "vimbroker vnf scale shop --aspect front --steps 2 --wait")
	if n := kubectl(far, "get deployment front -o jsonpath={.spec.replicas}"); n != "3" || kubectl(near, "get deployment core -o jsonpath={.spec.replicas}") != "1" {
		t.Errorf("scaled by two, the part has %s pods", n)
	}
	kubectl(far, "delete configmap last")
	if seen := b.Try(t, "vimbroker vnf check shop"); !strings.Contains(seen.Stdout, "1 missing or changed") || !strings.Contains(seen.Stdout, "configmap/last in shop on site is missing") {
		t.Errorf("of what is missing on a cluster is seen:\n%s", seen.Stdout)
	}
	b.Must(t, "vimbroker vnf heal shop --wait")
	wants("heal", "deployment.apps/core", whole)

	if got := b.Try(t, "vimbroker vnf update shop --vnfd two-2 --set VERSION=2 --wait"); got.Code == 0 {
		t.Errorf("an object that no cluster takes was made:\n%s", got.Stdout)
	}
	if image := kubectl(near, "get deployment core -o jsonpath={..image}"); image != "registry.example/core:2" {
		t.Errorf("the wave before was not done: %s", image)
	}
	var ops struct {
		Items []struct {
			ID, OperationState string
			Error              struct{ Detail string }
		}
	}
	b.decode(t, "vimbroker vnf op list -o json", &ops)
	failed := ops.Items[0]
	if failed.OperationState != "FAILED_TEMP" || !strings.Contains(failed.Error.Detail, "part site on VIM far") {
		t.Errorf("the operation is %+v", failed)
	}
	b.Must(t, "vimbroker vnf op rollback "+failed.ID+" --wait")
	for c, name := range map[*real.Cluster]string{near: "core", far: "front"} {
		if image := kubectl(c, "get deployment "+name+" -o jsonpath={..image}"); image != "registry.example/"+name+":1" {
			t.Errorf("after the rollback %s is %s", name, image)
		}
	}
	b.Must(t, "vimbroker vnf terminate shop --wait")
	wants("terminate", "", "")
	b.leasesEnded(t)
	b.Must(t, "vimbroker vnf delete shop")
}

package real_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/real"
)

// keeping is a workload with a network and a claim that outlives it.
const keeping = `apiVersion: apps/v1
kind: Deployment
metadata: {name: edge-web}
spec:
  replicas: 1
  selector: {matchLabels: {app: edge-web}}
  template:
    metadata: {labels: {app: edge-web}, annotations: {k8s.v1.cni.cncf.io/networks: vdu1-cp1}}
    spec:
      containers: [{name: web, image: registry.k8s.io/pause, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: db-data}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: db-data, annotations: {vimbroker.io/outlives: "true"}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// claiming is a workload that makes its claims by itself.
const claiming = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: edge-db}
spec:
  replicas: 1
  selector: {matchLabels: {app: edge-db}}
  template:
    metadata: {labels: {app: edge-db}}
    spec: {containers: [{name: db, image: registry.k8s.io/pause, volumeMounts: [{name: data, mountPath: /d}]}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`

// TestLinksAndVolumesOnARealCluster: an instance gets its link as a network in its namespace, and its volume in the place of its
// claim; nothing is made where the cluster has no such kind of networks; both are kept while they are used, and a claim that was
// kept is found again where the request names it, and not otherwise.
func TestLinksAndVolumesOnARealCluster(t *testing.T) {
	t.Parallel()
	c := real.OwnKubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	a := &applied{Cluster: c, t: t}
	b.onCluster(t, "create namespace lab")
	b.onCluster(t, "create namespace other")
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config --namespace lab edge1")
	const flavour, file = "Definitions/edge_df_simple.yaml", "Files/kubernetes/deployment.yaml"
	const set = "Files/kubernetes/set.yaml"
	b.upload(t, csar.Tacker().With(csar.Files{file: keeping, set: claiming, flavour: strings.Replace(csar.Tacker()[flavour], "    VDU1:\n",
		"    VDU1_CP1: {type: tosca.nodes.nfv.VduCp}\n    VDU1:\n", 1)}).Zip(t))
	for _, name := range []string{"one", "two", "three"} {
		b.Must(t, "vimbroker vnf create --vnfd "+csar.TackerVNFD+" "+name)
	}
	instantiate := func(name, namespace, more string) string {
		return "vimbroker vnf instantiate " + name + " --vim edge1 --level level_1 --namespace " + namespace + " --file " + file + " " + more + " --wait"
	}
	refused := func(line, says string) {
		t.Helper()
		if got := b.Try(t, line); got.Code == 0 || !strings.Contains(got.Stdout+got.Stderr, says) {
			t.Errorf("%s: exit code %d, want it to say %q\n%s%s", line, got.Code, says, got.Stdout, got.Stderr)
		}
	}
	shows := func(line, path, want string) {
		t.Helper()
		if got := b.Must(t, line+" -o jsonpath="+path); strings.TrimSpace(got) != want {
			t.Errorf("%s has %s = %q, want %q", line, path, got, want)
		}
	}
	b.Must(t, "vimbroker link create sgi --vim edge1 --nad bridge:br1 --cidr 10.9.0.0/24")
	b.Must(t, "vimbroker volume create data --vim edge1 --size 1Gi")
	claim := strings.TrimSpace(b.Must(t, "vimbroker volume show data -o jsonpath={.claimName}"))
	if got := b.onCluster(t, "-n lab get pvc -o name"); got != "persistentvolumeclaim/"+claim {
		t.Errorf("the volume is %q, want %s", got, claim)
	}

	refused(instantiate("one", "lab", "--link VDU1_CP1=sgi --volume db-data=data"), "NetworkAttachmentDefinition")
	if got := b.onCluster(t, "-n lab get deployments,pods -o name"); got != "" {
		t.Errorf("without the kind of networks there is made %s", got)
	}
	shows("vimbroker link show sgi", "{.useCount}", "0")
	a.kubectl("", "apply", "-f", "testdata/definitions/multus.yaml")
	a.kubectl("", "wait", "--for=condition=Established", "--timeout=120s", "crd/network-attachment-definitions.k8s.cni.cncf.io")

	refused(instantiate("one", "other", "--volume db-data=data"), "of namespace lab")
	refused(instantiate("one", "lab", "--volume else=data"), "no pod of the package mounts a claim of that name")
	b.Must(t, instantiate("one", "lab", "--link VDU1_CP1=sgi --volume db-data=data"))
	if got := b.onCluster(t, "-n lab get network-attachment-definitions vdu1-cp1 -o jsonpath={.spec.config}"); !strings.Contains(got, `"bridge":"br1"`) {
		t.Errorf("the instance's network is %s", got)
	}
	if got := b.onCluster(t, "-n lab get deployment edge-web -o jsonpath={.spec.template.spec.volumes[0].persistentVolumeClaim.claimName}"); got != claim {
		t.Errorf("pods mount %s, want %s", got, claim)
	}
	b.Must(t, instantiate("two", "other", "--link VDU1_CP1=sgi"))
	shows("vimbroker link show sgi", "{.useCount}", "2")
	shows("vimbroker volume show data", "{.useCount}", "1")
	refused("vimbroker link delete sgi", "is used by VNF instances")
	refused("vimbroker volume delete data", "is used by VNF instances")
	refused("vimbroker vim delete edge1", "stand on the VIM")

	b.Must(t, "vimbroker vnf terminate one --wait")
	b.Must(t, "vimbroker vnf terminate two --wait")
	if got := b.onCluster(t, "get network-attachment-definitions -A -o name"); got != "" {
		t.Errorf("after its instances of the link there is %s", got)
	}
	shows("vimbroker link show sgi", "{.useCount}", "0")
	if got := b.onCluster(t, "get pvc -A -o name"); !strings.Contains(got, claim) || !strings.Contains(got, "db-data") {
		t.Errorf("after the instances there is %s, want the volume and the claim that outlives", got)
	}

	refused(instantiate("three", "other", "--link VDU1_CP1=sgi"), "db-data")
	b.Must(t, "vimbroker vnf op rollback --wait "+strings.TrimSpace(b.Must(t, "vimbroker vnf op list -o jsonpath={.items[0].id}")))
	b.Must(t, "vimbroker volume create kept --vim edge1 --namespace other --claim db-data")
	refused("vimbroker volume create twice --vim edge1 --namespace other --claim db-data", "is another volume of the project")
	b.Must(t, instantiate("three", "other", "--link VDU1_CP1=sgi --volume db-data=kept"))
	b.Must(t, "vimbroker vnf terminate three --wait")
	b.Must(t, "vimbroker volume delete kept")

	ofSet := func(name, more string) string { return strings.Replace(instantiate(name, "other", more), file, set, 1) }
	cycle := func(name, more string) {
		t.Helper()
		b.Must(t, ofSet(name, more))
		b.Must(t, "vimbroker vnf terminate "+name+" --wait")
	}
	cycle("one", "")
	refused(ofSet("two", ""), "do not name claim data-edge-db-0")
	if got := b.onCluster(t, "-n other get statefulsets,pods -o name"); got != "" {
		t.Errorf("beside a claim of another instance there is made %s", got)
	}
	b.Must(t, "vimbroker volume create set --vim edge1 --namespace other --claim data-edge-db-0")
	b.Must(t, ofSet("two", "--volume data-edge-db-0=set"))
	shows("vimbroker volume show set", "{.useCount}", "1")
	b.Must(t, "vimbroker vnf terminate two --wait")
	shows("vimbroker volume show set", "{.useCount}", "0")
	b.Must(t, "vimbroker volume delete set")
	cycle("one", "") // whose claim it is
	b.onCluster(t, "-n other delete pvc data-edge-db-0")
	b.Must(t, "vimbroker volume delete data")
	b.Must(t, "vimbroker link delete sgi")
	if got := b.onCluster(t, "get pvc -A -o name"); got != "persistentvolumeclaim/db-data" {
		t.Errorf("at the end there is %q, want the claim that nobody made for a volume", got)
	}
	b.leasesEnded(t)
	b.Must(t, "vimbroker vim delete edge1")
	b.holdsNoToken(t)
}

// holdsNoToken looks for a token of a cluster, as each lease is one, in the server's log and files, and in the audit log.
func (b *bench) holdsNoToken(t *testing.T) {
	t.Helper()
	looks := regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+`)
	texts := map[string]string{"the server's log": b.broker.Log.String(), "the audit log": b.Must(t, "vimbroker audit list --limit 1000 -o json")}
	err := filepath.WalkDir(b.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil || len(texts) < 4 || !strings.Contains(texts["the audit log"], "volume:create") {
		t.Errorf("only %d texts are searched, %v", len(texts), err)
	}
	for name, text := range texts {
		if found := looks.FindString(text); found != "" {
			t.Errorf("in %s there is a token: %.20s...", name, found)
		}
	}
}

package real_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// chartsSwitch names the directory with clones of the repositories that have the public charts, each as OWNER+NAME.
const chartsSwitch = "VIMBROKER_CHARTS"

// source is a chart in a public repository at two commits, the second with the next version.
type source struct{ repository, path, before, after string }

// publicChart is a chart of the field's, with what its life needs beside the chart.
type publicChart struct {
	name string
	source
	// needs are the charts that it depends on.
	needs []source
	// values are those of the request, where the chart cannot do without or the cluster has no such thing.
	values string
	// vdu is the workload that is scaled; empty where Helm can scale none.
	vdu string
}

// extract writes the chart at one of the commits into dir, with the charts that it depends on; that in testdata where
// there are no repositories.
func (p *publicChart) extract(t *testing.T, repositories, dir string, after bool) {
	t.Helper()
	if repositories == "" {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(kept, p.name, map[bool]string{false: "before", true: "after"}[after]))); err != nil {
			t.Fatal(err)
		}
		return
	}
	p.source.extract(t, repositories, dir, after)
	for _, need := range p.needs {
		need.extract(t, repositories, filepath.Join(dir, "charts", filepath.Base(need.path)), after)
	}
}

func (s source) extract(t *testing.T, repositories, dir string, after bool) {
	t.Helper()
	name := strings.ReplaceAll(s.repository, "/", "+")
	repository := filepath.Join(repositories, name, "repo")
	if _, err := os.Stat(repository); err != nil {
		repository = filepath.Join(repositories, name)
	}
	commit := s.before
	if after {
		commit = s.after
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	depth := fmt.Sprint(strings.Count(s.path, "/") + 1)
	run := exec.CommandContext(t.Context(), "sh", "-c", `git -C "$1" archive --format=tar "$2" -- "$3" | tar -x --strip-components="$4" -C "$5"`,
		"sh", repository, commit, s.path, depth, dir)
	out, err := run.CombinedOutput()
	if _, missing := os.Stat(filepath.Join(dir, "Chart.yaml")); err != nil || missing != nil {
		t.Fatalf("%s has no chart %s at %s: %v %s", repository, s.path, commit, err, out)
	}
}

// TestFieldCharts has public charts of the field live whole, and what stands is what Helm's own program makes of the
// same values, object by object.
func TestFieldCharts(t *testing.T) {
	field.Only(t)
	repositories := os.Getenv(chartsSwitch)
	if repositories == "" {
		t.Skip("most charts are not part of the repository: make test-field CHARTS=DIR, with clones of the repositories as DIR/OWNER+NAME")
	}
	c := real.Kubernetes(t)
	c.WithBalancers(t)
	b := sitDown(t, c)
	story.BuildRenderer(t, b.bin)
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	for _, p := range publicCharts {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := &chartLife{bench: b, t: t, publicChart: p, helm: filepath.Join(real.HelmTools(t), "helm"), cluster: c}
			l.begin(repositories)
			l.live()
		})
	}
}

// kept are the charts that lie in testdata, unpacked, without what Helm does not read.
const kept = "testdata/charts"

// TestCharts has the charts that lie here live whole, as TestFieldCharts does with all.
func TestCharts(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithBalancers(t)
	b := sitDown(t, c)
	story.BuildRenderer(t, b.bin)
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	for _, p := range publicCharts {
		if _, err := os.Stat(filepath.Join(kept, p.name)); err != nil {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := &chartLife{bench: b, t: t, publicChart: p, helm: filepath.Join(real.HelmTools(t), "helm"), cluster: c}
			l.begin("")
			l.live()
		})
	}
}

// chartLife is the life of one chart.
type chartLife struct {
	*bench
	publicChart

	t       *testing.T
	cluster *real.Cluster
	helm    string
	dir     string
	release string
}

// begin makes packages of both versions, and of the second with a workload that is never ready, and with a hook that fails.
func (l *chartLife) begin(repositories string) {
	l.t.Helper()
	l.dir = filepath.Join(l.Dir, l.name)
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	for _, version := range []string{"1", "2", "3", "4"} {
		chart := filepath.Join(l.dir, version, l.name)
		l.extract(l.t, repositories, chart, version != "1")
		if more := map[string]string{"3": neverReady, "4": failingHook}[version]; more != "" {
			if err := os.WriteFile(filepath.Join(chart, "templates", "zz-more.yaml"), []byte(more), 0o600); err != nil {
				l.t.Fatal(err)
			}
		}
		vdu := ""
		if l.vdu != "" {
			vdu = " --vdu " + l.vdu
		}
		l.must("vimbroker package create %s%s --vnfd %s-%s --out %s.csar", chart, vdu, l.name, version, chart)
		l.must("vimbroker package upload %s.csar", chart)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "values.yaml"), []byte(l.values+"\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.onCluster(l.t, "create namespace "+l.name)
	l.t.Cleanup(func() { l.onCluster(l.t, "delete namespace "+l.name+" --wait=false") })
}

// neverReady is a template of a workload whose image is nowhere.
const neverReady = `apiVersion: apps/v1
kind: Deployment
metadata: {name: never-ready}
spec:
  selector: {matchLabels: {app: never-ready}}
  template:
    metadata: {labels: {app: never-ready}}
    spec: {containers: [{name: a, image: "` + real.MissingImage + `"}]}
`

// failingHook is a template of a hook that fails.
const failingHook = `apiVersion: batch/v1
kind: Job
metadata: {name: failing-hook, annotations: {helm.sh/hook: pre-upgrade}}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: a, image: "` + real.FailingImage + `"}]}
`

// failsAHook changes to a version with a hook that fails, which is said, and goes back.
func (l *chartLife) failsAHook(changed map[string]any) {
	l.t.Helper()
	if r := l.Try(l.t, fmt.Sprintf("vimbroker vnf update %s --vnfd %s-4 --wait", l.name, l.name)); r.Code == 0 {
		l.t.Error("a change whose hook fails completes")
	}
	id := l.must("vimbroker vnf op list --instance %s -o jsonpath={.items[0].id}", l.name)
	if says := l.must("vimbroker vnf op show %s", id); !strings.Contains(says, "FAILED_TEMP") || !strings.Contains(says, "Goes on by") || !strings.Contains(says, "failing-hook") {
		l.t.Errorf("of the hook that failed it is said:\n%s", says)
	}
	if l.stands()["Job/"+l.name+"/failing-hook"] == nil {
		l.t.Error("the hook that failed does not stay to be looked at")
	}
	l.must("vimbroker vnf op rollback %s", id)
	l.Try(l.t, "vimbroker vnf watch "+l.name)
	l.same("rolled back from a hook that failed", changed, l.stands())
}

func (l *chartLife) must(format string, args ...any) string {
	l.t.Helper()
	return strings.TrimSpace(l.Must(l.t, fmt.Sprintf(format, args...)))
}

func (l *chartLife) run(format string, args ...any) string {
	l.t.Helper()
	return l.must("%s --kubeconfig ~/.kube/config -n %s %s", l.helm, l.name, fmt.Sprintf(format, args...))
}

// live has the chart live whole, and then Helm's program do the same.
func (l *chartLife) live() {
	t, values := l.t, filepath.Join(l.dir, "values.yaml")
	l.must("vimbroker vnf create --vnfd %s-1 %s", l.name, l.name)
	plan := fmt.Sprintf("vimbroker vnf instantiate %s --vim edge1 --namespace %s --values %s", l.name, l.name, values)
	if !real.Poll(t, patience, func() bool { return l.Try(t, plan+" --dry-run").Code == 0 }) { // five render at a time, and one of them in half a minute
		t.Fatalf("a dry run: %+v", l.Try(t, plan+" --dry-run"))
	}
	l.must("%s --wait", plan)
	l.release = l.run("list -q")
	made := l.stands()
	if len(made) == 0 {
		t.Fatal("instantiated, nothing stands: the test sees nothing")
	}
	l.storages()
	if l.vdu != "" {
		aspect, _, _ := strings.Cut(l.vdu, "=")
		l.must("vimbroker vnf scale %s --aspect %s --wait", l.name, aspect)
		if diff := cmp.Diff(made, l.stands()); diff == "" {
			t.Errorf("scaled, the objects differ by (-before +now):\n%s", diff)
		}
		l.must("vimbroker vnf scale %s --aspect %s --steps -1 --wait", l.name, aspect)
		l.storages()
		// Charts make some objects otherwise, and run other hooks, once they are upgraded.
		now := l.stands()
		for _, id := range slices.Sorted(maps.Keys(made)) {
			if now[id] == nil {
				t.Errorf("scaled out and in, %s is missing", id)
			}
		}
	}
	l.must("vimbroker vnf update %s --vnfd %s-2 --wait", l.name, l.name)
	changed := l.stands()

	l.lose(changed)
	l.must("vimbroker vnf heal %s --wait", l.name)
	l.same("healed", changed, l.stands())

	l.must("vimbroker vnf update %s --vnfd %s-3", l.name, l.name)
	if !real.Poll(t, patience, func() bool {
		return strings.Contains(l.onCluster(t, "-n "+l.name+" get deployments -o name"), "never-ready")
	}) {
		t.Error("what is never ready does not come")
	}
	id := l.must("vimbroker vnf op list --instance %s -o jsonpath={.items[0].id}", l.name)
	l.must("vimbroker vnf op cancel --force %s", id)
	l.Try(t, "vimbroker vnf watch "+l.name)
	l.must("vimbroker vnf op rollback %s", id)
	l.Try(t, "vimbroker vnf watch "+l.name)
	l.same("rolled back", changed, l.stands())
	l.failsAHook(changed)

	l.must("vimbroker vnf terminate %s --wait", l.name)
	l.must("vimbroker vnf delete %s", l.name)
	for _, id := range slices.Sorted(maps.Keys(l.stands())) {
		t.Errorf("after terminate %s stands", id)
	}

	l.run("install %s %s/1/%s -f %s --wait", l.release, l.dir, l.name, values)
	l.same("instantiated, beside Helm's install", l.stands(), made)
	l.run("upgrade %s %s/2/%s -f %s --wait", l.release, l.dir, l.name, values)
	l.same("changed, beside Helm's upgrade", l.stands(), changed)
	l.run("uninstall %s --wait", l.release)
}

// storages holds that the claims in the namespace are the storages of the instance.
func (l *chartLife) storages() {
	l.t.Helper()
	var shown sol003.VNFInstance
	if err := json.Unmarshal([]byte(l.must("vimbroker vnf show -o json %s", l.name)), &shown); err != nil || shown.Instantiated == nil {
		l.t.Fatalf("the instance is %+v, %v", shown, err)
	}
	var has []string
	for _, s := range shown.Instantiated.Storages {
		has = append(has, s.Storage.ResourceID)
	}
	slices.Sort(has)
	if want := strings.Fields(l.onCluster(l.t, "-n "+l.name+" get pvc -o jsonpath='{.items[*].metadata.name}'")); !slices.Equal(has, want) {
		l.t.Errorf("the storages of the instance are %q, and the claims %q", has, want)
	}
}

// lose deletes an object of the release, by hand.
func (l *chartLife) lose(all map[string]any) {
	l.t.Helper()
	for _, kind := range []string{"Service", "ConfigMap", "ServiceAccount"} {
		for _, id := range slices.Sorted(maps.Keys(all)) {
			if parts := strings.Split(id, "/"); parts[0] == kind && parts[1] == l.name {
				l.onCluster(l.t, "-n "+l.name+" delete "+kind+" "+parts[2])
				return
			}
		}
	}
	l.t.Error("there is nothing that could get lost")
}

func (l *chartLife) same(when string, want, got map[string]any) {
	l.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("%s, the objects differ (-want +got):\n%s", when, shortened(diff))
	}
}

// shortened is a difference without most of what is alike.
func shortened(diff string) string {
	var lines []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") || strings.HasSuffix(line, "{\n") {
			lines = append(lines, line[:min(len(line), 300)])
		}
	}
	return strings.Join(lines, "")
}

// stands are the objects of the release on the cluster, by kind and name, without what each making gives anew.
func (l *chartLife) stands() map[string]any {
	l.t.Helper()
	ctx, all := l.t.Context(), map[string]any{}
	found, err := discovery.NewDiscoveryClientForConfig(l.cluster.Config())
	if err != nil {
		l.t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(l.cluster.Config())
	if err != nil {
		l.t.Fatal(err)
	}
	lists, err := found.ServerPreferredResources()
	if len(lists) == 0 {
		l.t.Fatal(err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || passing[r.Kind] {
				continue
			}
			l.list(ctx, client.Resource(version.WithResource(r.Name)), all)
		}
	}
	return all
}

// passing are the kinds of which the cluster itself makes objects.
var passing = map[string]bool{
	"Pod": true, "Event": true, "Endpoints": true, "EndpointSlice": true, "ControllerRevision": true, "ReplicaSet": true, "Lease": true,
	"PersistentVolume": true, "Node": true, "APIService": false, "Namespace": true, "CustomResourceDefinition": true, "IPAddress": true, "ServiceCIDR": true,
}

func (l *chartLife) list(ctx context.Context, client dynamic.ResourceInterface, all map[string]any) {
	l.t.Helper()
	found, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return // a kind that goes at this moment
	}
	for _, o := range found.Items {
		release := o.GetAnnotations()["meta.helm.sh/release-name"] == l.release && o.GetAnnotations()["meta.helm.sh/release-namespace"] == l.name
		hook := o.GetAnnotations()["helm.sh/hook"] != "" && (o.GetNamespace() == l.name || o.GetLabels()["app.kubernetes.io/instance"] == l.release)
		if (release || hook) && len(o.GetOwnerReferences()) == 0 && l.release != "" {
			all[o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName()] = plain(o)
		}
	}
}

// plain is an object without what each making gives anew: what the cluster adds, and what a chart makes up.
func plain(o unstructured.Unstructured) any {
	for _, field := range [][]string{
		{"status"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "creationTimestamp"},
		{"metadata", "generation"},
		{"metadata", "managedFields"},
		{"spec", "clusterIP"},
		{"spec", "clusterIPs"},
		{"spec", "healthCheckNodePort"},
		{"spec", "volumeName"},
		{"spec", "template", "metadata", "creationTimestamp"},
	} {
		unstructured.RemoveNestedField(o.Object, field...)
	}
	if o.GetKind() == "Secret" {
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for key := range data {
			_ = unstructured.SetNestedField(o.Object, "", "data", key)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(key string, _ any) bool {
				return key == "controller-uid" || key == "batch.kubernetes.io/controller-uid" || strings.HasPrefix(key, "vimbroker.io/") || strings.HasPrefix(key, "checksum/") || key == "caBundle" || key == "nodePort" ||
					strings.HasPrefix(key, "pv.kubernetes.io/") || strings.HasPrefix(key, "deployment.kubernetes.io/") || key == "deprecated.daemonset.template.generation"
			})
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(o.Object)
	var out any
	text, err := json.Marshal(o.Object)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&out)
	}
	if err != nil {
		return err.Error()
	}
	return out
}

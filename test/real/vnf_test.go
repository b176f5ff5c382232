package real_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// patience is how long something is waited for that takes a moment.
const patience = process.Patience

// canary is a secret of a package's: it is where the cluster has it, and nowhere else.
const canary = "canary-7d1f4c0e"

// onboard makes a package of manifests and uploads it. VDUs can have up to four instances.
func (b *bench) onboard(t *testing.T, vnfd, version string, manifests ...vnfpkg.ManifestFile) {
	t.Helper()
	found, err := vnfpkg.Workloads(manifests)
	if err != nil {
		t.Fatal(err)
	}
	for n := range found.VDUs {
		found.VDUs[n].Max = 4
	}
	var archive bytes.Buffer
	if err := vnfpkg.Pack(&archive, vnfpkg.Assembly{
		VNFDID: vnfd, Provider: "acme", ProductName: "web", SoftwareVersion: version, Version: version, Manifests: manifests, VDUs: found.VDUs,
	}); err != nil {
		t.Fatal(err)
	}
	b.upload(t, archive.Bytes())
}

// ask makes a request to one of ETSI's APIs.
func (b *bench) ask(t *testing.T, method, path, kind string, body []byte, into any) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(b.data, "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, b.broker.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Version", "2.0.0")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode > 299 {
		t.Fatalf("%s %s: %s %s, %v", method, path, answer.Status, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
}

// upload uploads a package, and waits until it is onboarded.
func (b *bench) upload(t *testing.T, archive []byte) {
	t.Helper()
	var made struct{ ID string }
	b.ask(t, "POST", "/vnfpkgm/v2/vnf_packages", "application/json", []byte("{}"), &made)
	b.ask(t, "PUT", "/vnfpkgm/v2/vnf_packages/"+made.ID+"/package_content", "application/zip", archive, nil)
	if !real.Poll(t, patience, func() bool {
		var now struct{ OnboardingState string }
		b.ask(t, "GET", "/vnfpkgm/v2/vnf_packages/"+made.ID, "", nil, &now)
		return now.OnboardingState == "ONBOARDED"
	}) {
		t.Fatal("the package is not onboarded")
	}
}

// sample reads the manifests of a sample, with a namespace and a secret of the test's.
func sample(t *testing.T, change ...string) vnfpkg.ManifestFile {
	t.Helper()
	text, err := os.ReadFile("../../docs/samples/web/web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	replaced := strings.NewReplacer(append(change, "change-me", canary)...).Replace(string(text))
	return vnfpkg.ManifestFile{Path: "web.yaml", Text: []byte(replaced)}
}

// onCluster runs kubectl as the administrator.
func (b *bench) onCluster(t *testing.T, line string) string {
	t.Helper()
	return strings.TrimSpace(b.Must(t, "kubectl --kubeconfig ~/.kube/config "+line))
}

// leasesEnded fails unless every lease of an operation has ended. The pass that looks at instances may hold one at the
// moment. What a look that died has left is ended where it was not handed out, and expires within ten minutes where it
// was.
func (b *bench) leasesEnded(t *testing.T) {
	t.Helper()
	all := b.leases(t)
	if len(all) == 0 {
		t.Error("there was no lease: the operations have run with something else")
	}
	looking := map[string]bool{}
	for _, l := range all {
		switch {
		case l.State == "revoked":
		case l.Purpose == "drift", l.State == "revoking": // the pass goes on with one whose VIM was slow to answer
			looking[l.ID] = true
		default:
			t.Errorf("lease %s is %s", l.ID, l.State)
		}
	}
	if len(looking) > 0 && !real.Poll(t, patience, func() bool {
		return !slices.ContainsFunc(b.leases(t), func(l lease) bool {
			ends := l.State == "revoked" || l.State == "active" && l.Purpose == "drift" && l.ExpiresAt.Sub(l.CreatedAt) <= 10*time.Minute
			return looking[l.ID] && !ends
		})
	}) {
		t.Errorf("of the leases for looking %v not all end", looking)
	}
}

// TestLifeOfACNF: from a package to nothing left, each operation by the command line.
func TestLifeOfACNF(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace life")
	t.Cleanup(func() { b.onCluster(t, "delete namespace life --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	b.onboard(t, "web-1", "1.0", sample(t))
	b.onboard(t, "web-2", "2.0", sample(t, "web-pages", "web-texts"))
	pods := func() []string {
		return strings.Fields(b.onCluster(t, "-n life get pods -l app=web --field-selector status.phase=Running -o go-template="+
			`'{{range .items}}{{if not .metadata.deletionTimestamp}}pod/{{.metadata.name}} {{end}}{{end}}'`))
	}
	names := func() string {
		return b.onCluster(t, "-n life get deployments,services,secrets,configmaps -l vimbroker.io/instance -o name")
	}

	b.Must(t, "vimbroker vnf create --vnfd web-1 web")
	b.Must(t, "vimbroker vnf instantiate web --vim edge1 --namespace life --wait")
	if got, want := names(), "deployment.apps/web\nservice/web\nsecret/web-login\nconfigmap/web-pages"; got != want {
		t.Fatalf("after instantiate there is\n%s\nwant\n%s", got, want)
	}
	if n := len(pods()); n != 1 {
		t.Errorf("%d pods run, want 1", n)
	}
	if r := b.Try(t, "vimbroker vnf delete web"); r.Code == 0 {
		t.Error("an instance with resources was deleted")
	}

	b.Must(t, "vimbroker vnf scale web --aspect web --steps 2 --wait")
	if n := len(pods()); n != 3 {
		t.Errorf("after scaling out %d pods run, want 3", n)
	}
	if r := b.Try(t, "vimbroker vnf scale web --aspect web --steps 2 --wait"); r.Code == 0 || !strings.Contains(r.Stderr, "numberOfSteps") {
		t.Errorf("scaling beyond the bound: %+v", r)
	}
	b.Must(t, "vimbroker vnf scale web --aspect web --steps -1 --wait")

	b.onCluster(t, "-n life delete configmap web-pages")
	ill := strings.TrimPrefix(pods()[0], "pod/")
	b.Must(t, "vimbroker vnf heal web --vnfc "+ill+" --wait")
	if left := pods(); len(left) != 2 || slices.Contains(left, "pod/"+ill) {
		t.Errorf("after healing %s these pods run: %v", ill, left)
	}
	if !strings.Contains(names(), "configmap/web-pages") {
		t.Error("healing has not made the ConfigMap again")
	}

	b.Must(t, "vimbroker vnf update web --vnfd web-2 --wait")
	if got := names(); strings.Contains(got, "web-pages") || !strings.Contains(got, "web-texts") {
		t.Errorf("after the change of the package there is\n%s", got)
	}
	if n := len(pods()); n != 2 {
		t.Errorf("after the change of the package %d pods run, want 2 as before", n)
	}

	b.Must(t, "vimbroker vnf terminate web --wait")
	if got := b.onCluster(t, "-n life get deployments,replicasets,services,secrets,configmaps,pods -l vimbroker.io/instance -o name"); got != "" {
		t.Errorf("after terminate there is\n%s", got)
	}
	b.leasesEnded(t)
	if got := b.Must(t, "vimbroker audit list --limit 1000"); strings.Contains(got, canary) || !strings.Contains(got, "vnf:instantiate") {
		t.Errorf("the audit log has the secret, or not the operations:\n%s", got)
	}
	b.Must(t, "vimbroker vnf delete web")
	if log := b.broker.Log.String(); strings.Contains(log, canary) {
		t.Error("the server's log has the secret")
	}
	// The package itself stands in the database compressed.
	files, err := filepath.Glob(filepath.Join(b.data, "vimbroker.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no database: %v", err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s has the secret, or cannot be read: %v", filepath.Base(file), err)
		}
	}
}

// TestOperationsCredential takes the identity that a running operation has on the cluster, and tries
// what it must not do.
func TestOperationsCredential(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	for _, line := range []string{
		"create namespace cut", "create namespace other", "-n cut create secret generic theirs --from-literal=a=b", "-n cut create configmap theirs",
	} {
		b.onCluster(t, line)
	}
	t.Cleanup(func() { b.onCluster(t, "delete namespace cut other --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	// Its pods never become ready, so the operation stays where it is.
	b.onboard(t, "stuck-1", "1.0", sample(t, `"registry.k8s.io/e2e-test-images/agnhost:${VERSION:=2.53}"`, `"`+real.MissingImage+`"`))
	b.Must(t, "vimbroker vnf create --vnfd stuck-1 stuck")
	b.Must(t, "vimbroker vnf instantiate stuck --vim edge1 --namespace cut")

	var held struct{ ID, State, Operation string }
	if !real.Poll(t, patience, func() bool {
		var list struct {
			Items []struct {
				ID, State, Operation string
				Rules                []struct{ Verbs []string }
			}
		}
		b.decode(t, "vimbroker lease list -o json", &list)
		for _, l := range list.Items {
			makes := slices.ContainsFunc(l.Rules, func(r struct{ Verbs []string }) bool { return slices.Contains(r.Verbs, "create") })
			if l.State == "active" && makes && b.onCluster(t, "-n cut get deployments -o name") != "" {
				held.ID, held.Operation = l.ID, l.Operation
				return true
			}
		}
		return false
	}) {
		t.Fatal("no operation holds a lease")
	}
	home := b.onCluster(t, `get serviceaccounts -A -o jsonpath="{.items[?(@.metadata.name=='lease-`+held.ID+`')].metadata.namespace}"`)
	if home == "" {
		t.Fatal("the lease has no account on the cluster")
	}
	can := func(what string) bool {
		return b.Try(t, fmt.Sprintf("kubectl --kubeconfig ~/.kube/config --as system:serviceaccount:%s:lease-%s --as-group system:serviceaccounts:%s --as-group system:authenticated auth can-i -q %s", home, held.ID, home, what)).Code == 0
	}
	for _, what := range []string{
		"patch deployments.apps/web -n cut", "create secrets/web-login -n cut", "get configmaps/web-pages -n cut",
	} {
		if !can(what) {
			t.Errorf("the operation cannot %s: the test proves nothing", what)
		}
	}
	for _, what := range []string{
		"get secrets/theirs -n cut", "list secrets -n cut", "watch secrets -n cut", "patch configmaps/theirs -n cut", "delete configmaps/web-pages -n cut",
		"create deployments.apps/other -n cut", "create pods -n cut", "delete pods -n cut", "create pods/web --subresource=exec -n cut",
		"create jobs.batch -n cut", "create roles.rbac.authorization.k8s.io -n cut", "create rolebindings.rbac.authorization.k8s.io -n cut",
		"create serviceaccounts -n cut", "create serviceaccounts/default --subresource=token -n cut", "impersonate serviceaccounts -n cut",
		"patch deployments.apps/web -n other", "get secrets/web-login -n other", "get secrets -n kube-system", "list namespaces", "get nodes",
		"create clusterrolebindings.rbac.authorization.k8s.io", "get secrets -n " + home, "create serviceaccounts -n " + home,
		"create serviceaccounts/lease-" + held.ID + " --subresource=token -n " + home, "list serviceaccounts -n " + home,
	} {
		if can(what) {
			t.Errorf("the operation can %s", what)
		}
	}

	b.Must(t, "vimbroker vnf op cancel --force "+held.Operation)
	r := b.Try(t, "vimbroker vnf watch stuck")
	if r.Code == 0 || !strings.Contains(r.Stderr, "FAILED_TEMP") {
		t.Errorf("after the cancel: %+v", r)
	}
	b.leasesEnded(t)
	b.Must(t, "vimbroker vnf op rollback --wait "+held.Operation)
	if got := b.onCluster(t, "-n cut get deployments,services,secrets,configmaps -l vimbroker.io/instance -o name"); got != "" {
		t.Errorf("after the rollback there is\n%s", got)
	}
	b.leasesEnded(t)
	b.Must(t, "vimbroker vnf delete stuck")
}

// TestForeignObjectIsNotAdopted: an object of the same name ends the operation with its name.
func TestForeignObjectIsNotAdopted(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace foreign")
	t.Cleanup(func() { b.onCluster(t, "delete namespace foreign --wait=false") })
	b.onCluster(t, "-n foreign create configmap web-pages --from-literal=a=b")
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	b.onboard(t, "web-1", "1.0", sample(t))
	b.Must(t, "vimbroker vnf create --vnfd web-1 web")
	r := b.Try(t, "vimbroker vnf instantiate web --vim edge1 --namespace foreign --wait")
	if r.Code == 0 || !strings.Contains(r.Stderr, "web-pages") {
		t.Errorf("instantiate: %+v", r)
	}
	if got := b.onCluster(t, "-n foreign get configmap web-pages -o jsonpath={.data}"); got != `{"a":"b"}` {
		t.Errorf("the foreign object is now %s", got)
	}
	b.leasesEnded(t)
}

// TestKilledInAnOperation kills the server with SIGKILL at each step of an operation. The next
// process goes on with it: it ends as if nothing had happened, and leaves no lease.
func TestKilledInAnOperation(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	points := []string{
		"operation.queued", "operation.begun", "operation.planned", "operation.leased", "operation.processing", "operation.wave", "operation.stage",
		"operation.leases-ended", "operation.settled",
	}
	b := sitDown(t, c)
	b.onCluster(t, "create namespace killed")
	t.Cleanup(func() { b.onCluster(t, "delete namespace killed --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	b.onboard(t, "web-1", "1.0", sample(t))
	kill := b.mortal(t)
	killed := func(point, line string) {
		t.Helper()
		kill(point, line, nil)
		if r := b.Try(t, "vimbroker vnf watch web"); r.Code != 0 {
			t.Errorf("%s, %s: %s", point, line, r.Stderr)
		}
		b.leasesEnded(t)
	}
	for _, point := range points {
		b.Must(t, "vimbroker vnf create --vnfd web-1 web")
		killed(point, "vimbroker vnf instantiate web --vim edge1 --namespace killed")
		if got := b.onCluster(t, "-n killed get deployment web -o jsonpath={.status.readyReplicas}"); got != "1" {
			t.Errorf("%s: %q replicas are ready", point, got)
		}
		killed(point, "vimbroker vnf terminate web")
		if got := b.onCluster(t, "-n killed get deployments,services,secrets,configmaps -l vimbroker.io/instance -o name"); got != "" {
			t.Errorf("%s: after terminate there is\n%s", point, got)
		}
		b.Must(t, "vimbroker vnf delete web")
	}
}

// mortal has a server in the place of the bench's that can be killed: kill arms a failpoint, runs a command, sees the
// server die, calls dead, and starts the next one.
func (b *bench) mortal(t *testing.T) (kill func(point, line string, dead func())) {
	t.Helper()
	if err := b.broker.Stop(); err != nil {
		t.Fatal(err)
	}
	bin := story.BuildWithFailpoints(t, t.TempDir())
	story.BuildRenderer(t, bin)
	armed := filepath.Join(t.TempDir(), "failpoint")
	serve := func() {
		t.Helper()
		env := append(slices.Clone(b.Env), "VIMBROKER_FAILPOINT="+armed)
		var err error
		if b.broker, err = story.Serve(bin, b.Dir, env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", b.data); err != nil {
			t.Fatal(err)
		}
		b.Env = append(b.Env, "VIMBROKER_ADDR="+b.broker.URL)
	}
	serve()
	t.Cleanup(func() { b.broker.Kill() })
	return func(point, line string, dead func()) {
		t.Helper()
		if err := os.WriteFile(armed, []byte(point), 0o600); err != nil {
			t.Fatal(err)
		}
		b.Try(t, line)
		if state, err := b.broker.Ended(patience); err != nil || state.Exited() {
			t.Fatalf("%s, %s: the server was not killed: %v", point, line, err)
		}
		if dead != nil {
			dead()
		}
		if err := os.Remove(armed); err != nil {
			t.Fatal(err)
		}
		serve()
	}
}

// TestREADMERunsACNF runs the commands of the README's second story, word for word, in the
// order they stand there.
func TestREADMERunsACNF(t *testing.T) {
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	if err := os.CopyFS(filepath.Join(b.Dir, "docs"), os.DirFS("../../docs")); err != nil {
		t.Fatal(err)
	}
	var ran []string
	for _, line := range section(t, "Run a CNF") {
		got := b.Try(t, line)
		ran = append(ran, line)
		if got.Code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", line, got.Code, got.Stdout, got.Stderr)
		}
		if line == "kubectl get pods" && strings.Count(got.Stdout, "Running") != 3 {
			t.Errorf("%s:\n%s", line, got.Stdout)
		}
	}
	if all := strings.Join(ran, "\n"); !strings.Contains(all, "vnf instantiate") || !strings.HasSuffix(all, "vim delete edge1") {
		t.Fatalf("the README's story has no instantiate, or does not end any more: %s", all)
	}
	b.leasesEnded(t)
	got := ""
	if !real.Poll(t, patience, func() bool { // the namespaces of other tests may be going
		got = b.onCluster(t, "get all,configmaps,secrets -A -l vimbroker.io/instance -o name")
		return got == ""
	}) {
		t.Errorf("on the cluster: %s", got)
	}
}

// TestTackersCNF runs a package in the form that Tacker's users have, with requests in their form.
func TestTackersCNF(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace tacker")
	t.Cleanup(func() { b.onCluster(t, "delete namespace tacker --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	const flavour = "Definitions/edge_df_simple.yaml"
	b.upload(t, csar.Tacker().With(csar.Files{flavour: strings.Replace(csar.Tacker()[flavour], "    VDU1:\n",
		"    internalVL1: {type: tosca.nodes.nfv.VnfVirtualLink}\n    VDU1:\n", 1)}).Zip(t))
	var made struct{ ID string }
	b.ask(t, "POST", "/vnflcm/v2/vnf_instances", "application/json", []byte(`{"vnfdId":"`+csar.TackerVNFD+`","vnfInstanceName":"edge"}`), &made)
	operate := func(task, body string) {
		t.Helper()
		b.ask(t, "POST", "/vnflcm/v2/vnf_instances/"+made.ID+"/"+task, "application/json", []byte(body), nil)
		b.Must(t, "vimbroker vnf watch "+made.ID)
	}
	standing := func() string {
		return strings.Join(strings.Fields(b.onCluster(t, "-n tacker get deployments,services,secrets,configmaps,pods -l vimbroker.io/instance="+made.ID+" -o name")), " ")
	}
	operate("instantiate", `{"flavourId":"simple","instantiationLevelId":"level_1",
		"vimConnectionInfo":{"vim1":{"vimId":"`+b.id(t, "edge1")+`","vimType":"ETSINFV.KUBERNETES.V_1","extra":{"dummy-key":"dummy-val"}}},
		"additionalParams":{"namespace":"tacker","lcm-kubernetes-def-files":["Files/kubernetes/config.yaml","Files/kubernetes/service_secret.yaml",
		"Files/kubernetes/deployment.yaml","Files/kubernetes/pod.yaml"]}}`)
	for _, show := range []string{"show edge", "op show " + strings.TrimSpace(b.Must(t, "vimbroker vnf op list -o jsonpath={.items[0].id}")), "heal edge --dry-run"} {
		if got := b.Must(t, "vimbroker vnf "+show); strings.Count(got, "Not done:") != 1 || !strings.Contains(got, "VnfVirtualLink internalVL1 is not made") {
			t.Errorf("vnf %s says nothing of the links that are not made:\n%s", show, got)
		}
	}
	for _, want := range []string{"deployment.apps/edge-web", "service/edge-web", "secret/edge-login", "configmap/edge-pages", "pod/edge-probe"} {
		if got := standing(); !strings.Contains(got, want) {
			t.Errorf("after instantiate there is no %s: %s", want, got)
		}
	}
	operate("scale", `{"type":"SCALE_OUT","aspectId":"web_aspect","numberOfSteps":2}`)
	if got := b.onCluster(t, "-n tacker get deployment edge-web -o jsonpath={.status.readyReplicas}"); got != "3" {
		t.Errorf("after scaling out %s instances are ready, want 3", got)
	}
	operate("terminate", `{"terminationType":"GRACEFUL","gracefulTerminationTimeout":5,"additionalParams":{"dummy-key":"dummy-val"}}`)
	if got := standing(); got != "" {
		t.Errorf("after terminate there is %s", got)
	}
	b.leasesEnded(t)
}

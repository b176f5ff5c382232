package real_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// withChart registers the cluster as edge1, uploads the documentation's chart as web-1.0, and as bad-1.0 with an image
// that is nowhere, and makes namespace. helm runs Helm there as the administrator.
func withChart(t *testing.T, b *bench, namespace string) (run func(line string) string) {
	t.Helper()
	tools := real.HelmTools(t)
	story.BuildRenderer(t, b.bin)
	good, bad := filepath.Join(b.Dir, "chart"), filepath.Join(b.Dir, "bad")
	for _, dir := range []string{good, bad} {
		if err := os.CopyFS(dir, os.DirFS("../../docs/samples/chart")); err != nil {
			t.Fatal(err)
		}
	}
	values := filepath.Join(bad, "values.yaml")
	text, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(values, []byte(strings.Replace(string(text), "registry.k8s.io/e2e-test-images/agnhost:2.53", real.MissingImage, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	// What "helm test" runs.
	if err := os.WriteFile(filepath.Join(good, "templates", "test.yaml"), []byte(`apiVersion: batch/v1
kind: Job
metadata:
  name: web-test
  annotations: {helm.sh/hook: test}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: test, image: "registry.k8s.io/e2e-test-images/agnhost:2.53", args: [pause]}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(good, "templates", "extra.yaml"), []byte(`{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata: {name: web-extra}
{{- end }}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.onCluster(t, "create namespace "+namespace)
	t.Cleanup(func() { b.onCluster(t, "delete namespace "+namespace+" --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	for name, dir := range map[string]string{"web-1.0": good, "bad-1.0": bad} {
		b.Must(t, fmt.Sprintf("vimbroker package create %s --vdu web --vnfd %s --out %s.csar", dir, name, name))
		b.Must(t, "vimbroker package upload "+name+".csar")
	}
	return func(line string) string {
		t.Helper()
		return strings.TrimSpace(b.Must(t, filepath.Join(tools, "helm")+" --kubeconfig ~/.kube/config -n "+namespace+" "+line))
	}
}

// revisions are the states of a release's revisions, as "helm history" has them.
func revisions(t *testing.T, b *bench, helm func(string) string) string {
	t.Helper()
	release := helm("list -q")
	if release == "" {
		return ""
	}
	var all []string
	for _, line := range strings.Split(helm("history "+release), "\n")[1:] {
		all = append(all, strings.TrimSpace(strings.Split(line, "\t")[2]))
	}
	return strings.Join(all, " ")
}

// TestKilledWithAChart kills the server with SIGKILL at steps of the operations on a chart. The next process goes on: a
// release that is pending then is deployed in the end, each revision is there once, and nothing is left after the last.
func TestKilledWithAChart(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	helm := withChart(t, b, "charted")
	kill := b.mortal(t)
	for _, points := range [][4]string{
		{"operation.queued", "operation.planned", "operation.planned", "operation.planned"},
		{"operation.leased", "operation.leased", "operation.begun", "operation.leased"},
		{"operation.wave", "operation.wave", "operation.wave", "operation.wave"},
		{"operation.wave#2", "operation.wave#2", "operation.wave#2", "operation.wave#2"},
		{"operation.wave#3", "operation.wave#3", "operation.wave#3", "operation.stage"},
		{"operation.leases-ended", "operation.stage", "operation.settled", "operation.settled"},
	} {
		var pending bool
		isWave := func(point string) bool { return strings.HasPrefix(point, "operation.wave") }
		killed := func(point, line, wants string, mid bool) {
			t.Helper()
			kill(point, line, func() { pending = strings.Contains(revisions(t, b, helm), "pending-") })
			b.Try(t, "vimbroker vnf watch web") // its exit code is not 0 where an operation is rolled back
			if got := revisions(t, b, helm); got != wants {
				t.Errorf("%s, %s: the revisions are %q, want %q", point, line, got, wants)
			}
			if mid != pending {
				t.Errorf("%s, %s: dead, the release was pending: %v, want %v", point, line, pending, mid)
			}
			b.leasesEnded(t)
		}
		ready := func(point, want string) {
			t.Helper()
			if got := b.onCluster(t, "-n charted get deployment web -o jsonpath={.status.readyReplicas}"); got != want {
				t.Errorf("%s: %q replicas are ready, want %s", point, got, want)
			}
		}
		password := func() string { return b.onCluster(t, "-n charted get secret web-login -o jsonpath={.data.password}") }
		b.Must(t, "vimbroker vnf create --vnfd web-1.0 web")
		killed(points[0], "vimbroker vnf instantiate web --vim edge1 --namespace charted", "deployed", isWave(points[0]))
		ready(points[0], "1")
		killed(points[1], "vimbroker vnf scale web --aspect web", "superseded deployed", isWave(points[1]))
		ready(points[1], "2")
		stood := password()

		b.Must(t, "vimbroker vnf update web --vnfd bad-1.0")
		if !real.Poll(t, patience, func() bool {
			return b.onCluster(t, "-n charted get deployment web -o jsonpath={.spec.template.spec.containers[0].image}") == real.MissingImage
		}) {
			t.Fatal("the bad image did not come")
		}
		var list struct{ Items []struct{ ID string } }
		b.decode(t, "vimbroker vnf op list -o json", &list)
		b.Must(t, "vimbroker vnf op cancel --force "+list.Items[0].ID)
		b.Try(t, "vimbroker vnf watch web")
		killed(points[2], "vimbroker vnf op rollback "+list.Items[0].ID, "superseded superseded failed deployed", points[2] != "operation.settled")
		ready(points[2], "2")
		if got := password(); got != stood {
			t.Errorf("%s: rolled back, the password is another than before", points[2])
		}
		killed(points[3], "vimbroker vnf terminate web", "", false)
		if got := b.onCluster(t, "-n charted get deployments,services,secrets,configmaps,jobs -o name"); got != "configmap/kube-root-ca.crt" {
			t.Errorf("%s: after terminate there is\n%s", points[3], got)
		}
		b.Must(t, "vimbroker vnf delete web")
	}
}

// TestHelmBesideTheBroker: what people do with Helm's own program on a release, and the next operation goes on from it.
func TestHelmBesideTheBroker(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	helm := withChart(t, b, "beside")
	b.Must(t, "vimbroker vnf create --vnfd web-1.0 web")
	b.Must(t, "vimbroker vnf instantiate web --vim edge1 --namespace beside --wait")
	release := helm("list -q")
	if got := helm("list"); !strings.Contains(got, "deployed") || !strings.Contains(got, "web-1.0.0") {
		t.Errorf("helm list:\n%s", got)
	}
	if got := helm("get manifest " + release); !strings.Contains(got, "web-login") {
		t.Errorf("helm get manifest:\n%s", got)
	}
	b.Must(t, "vimbroker vnf scale web --aspect web --wait")
	if got := helm("test " + release + " --timeout 300s"); !strings.Contains(got, "Succeeded") {
		t.Errorf("helm test:\n%s", got)
	}
	if got := revisions(t, b, helm); got != "superseded deployed" {
		t.Errorf("after helm test the revisions are %q", got)
	}
	helm("rollback " + release + " 1 --wait")
	if got := b.onCluster(t, "-n beside get deployment web -o jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("after helm rollback there are %s replicas", got)
	}
	b.Must(t, "vimbroker vnf scale web --aspect web --wait")
	if got := revisions(t, b, helm); got != "superseded superseded superseded deployed" {
		t.Errorf("after the next operation the revisions are %q", got)
	}
	if got := b.onCluster(t, "-n beside get deployment web -o jsonpath={.status.readyReplicas}"); got != "3" {
		t.Errorf("after the next operation %s replicas are ready, want 3", got)
	}
	// An upgrade by hand takes our label from what it applies, and makes an object that never had it. Hooks that it runs
	// anew are objects that nothing ties to the release.
	upgrade := func(more string) {
		t.Helper()
		helm("upgrade " + release + " " + filepath.Join(b.Dir, "chart") + " --reuse-values --no-hooks --set greeting=hand" + more)
		if got := b.onCluster(t, "-n beside get configmaps web-pages -o jsonpath={.metadata.labels}"); strings.Contains(got, "vimbroker.io/instance") {
			t.Errorf("after helm upgrade the labels are %s: the test sees nothing", got)
		}
	}
	upgrade("")
	b.Must(t, "vimbroker vnf heal web --wait")
	upgrade("")
	b.Must(t, "vimbroker vnf scale web --aspect web --steps -1 --wait")
	upgrade(",extra=true")
	b.Must(t, "vimbroker vnf terminate web --wait")
	if got := b.onCluster(t, "-n beside get deployments,services,secrets,configmaps,jobs -o name"); got != "configmap/kube-root-ca.crt\njob.batch/web-test" {
		t.Errorf("after terminate there is\n%s", got)
	}
	b.leasesEnded(t)
}

// TestREADMERunsAChart runs the commands of the README's story of a chart, word for word.
func TestREADMERunsAChart(t *testing.T) {
	c := real.Kubernetes(t)
	c.WithNode(t)
	tools := real.HelmTools(t)
	b := sitDown(t, c)
	story.BuildRenderer(t, b.bin)
	for n, v := range b.Env {
		if path, is := strings.CutPrefix(v, "PATH="); is {
			b.Env[n] = "PATH=" + tools + ":" + path
		}
	}
	if err := os.CopyFS(filepath.Join(b.Dir, "docs"), os.DirFS("../../docs")); err != nil {
		t.Fatal(err)
	}
	lines := section(t, "Run a Helm chart")
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "helm rollback") || !strings.HasSuffix(all, "vim delete edge1") {
		t.Fatalf("the README's story does not roll back, or does not end any more: %s", all)
	}
	for _, line := range lines {
		got := b.Must(t, line)
		if strings.HasPrefix(line, "helm history") && strings.Count(got, "deployed") != 1 {
			t.Errorf("%s:\n%s", line, got)
		}
	}
	b.leasesEnded(t)
	if got := b.onCluster(t, "get all,configmaps,secrets -A -l vimbroker.io/instance -o name"); got != "" {
		t.Errorf("on the cluster: %s", got)
	}
}

// TestChartFromARealRegistry: what Helm's own program has pushed, packed and signed by Helm, is had from a registry that
// wants a password, by digest and by signature.
func TestChartFromARealRegistry(t *testing.T) {
	tools, home := real.HelmTools(t), t.TempDir()
	ca, err := pki.NewCA("registry CA")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	const password = "canary-of-the-registry"
	digest, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	address := process.FreeAddress(t)
	by, err := openpgp.NewEntity("charts", "", "charts@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var public, private bytes.Buffer
	if err := errors.Join(by.Serialize(&public), by.SerializePrivate(&private, nil)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ca.pem": string(ca.PEM), "cert.pem": string(pair.Cert), "key.pem": string(pair.Key), "htpasswd": "u:" + string(digest) + "\n", "password": password + "\n",
		"public": public.String(), "private": private.String(),
		"registry.yaml": "version: 0.1\nstorage: {filesystem: {rootdirectory: " + home + "/blobs}}\nauth: {htpasswd: {realm: r, path: " + home + "/htpasswd}}\n" +
			"http: {addr: '" + address + "', tls: {certificate: " + home + "/cert.pem, key: " + home + "/key.pem}}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serving := exec.Command(filepath.Join(tools, "registry"), "serve", filepath.Join(home, "registry.yaml"))
	serving.Dir, serving.Env = home, []string{"HOME=" + home, "OTEL_TRACES_EXPORTER=none"}
	registry, err := process.Start(serving, "registry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Kill)
	if !real.Poll(t, patience, func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		return err == nil && c.Close() == nil
	}) {
		t.Fatalf("the registry does not listen:\n%s", registry.Log)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), filepath.Join(tools, "helm"), args...)
		c.Dir, c.Env = home, []string{"HOME=" + home}
		said, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("helm %s: %v\n%s", args[0], err, said)
		}
		return string(said)
	}
	chart, err := filepath.Abs("../../docs/samples/chart")
	if err != nil {
		t.Fatal(err)
	}
	run("package", "--sign", "--key", "charts", "--keyring", "private", chart)
	pushed := run("push", "web-1.0.0.tgz", "oci://"+address+"/charts", "--ca-file", "ca.pem", "--username", "u", "--password", password)
	_, rest, _ := strings.Cut(pushed, "Digest: ")
	name := "oci://" + address + "/charts/web"

	s := fakeobjects.New(t)
	allowed := egress.Default()
	allowed.AllowLoopback = true
	from := func(reference string, logins ...pull.Login) error {
		d := helm.New(helm.Options{
			Program: []string{story.BuildRenderer(t, filepath.Join(home, "vimbroker"))}, KeyringFile: filepath.Join(home, "public"),
			Pull: pull.Options{CA: remote.Authorities{File: filepath.Join(home, "ca.pem")}, Logins: logins},
		})
		in := lifecycle.PlanInput{
			Operation: lifecycle.Instantiate, Instance: uuid.NewString(), Mark: uuid.NewString(), Name: "web", Namespace: "cnf",
			Named: []string{reference}, Project: "acme", Egress: allowed,
		}
		p, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
		if err == nil && !slices.ContainsFunc(p.Resources, func(r lifecycle.Resource) bool { return r.Name == "web-login" }) {
			err = errors.New("the plan has no web-login")
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the error holds the password: %v", err)
		}
		return err
	}
	login := pull.Login{Host: address, User: "u", PasswordFile: filepath.Join(home, "password")}
	byDigest := name + "@" + strings.Fields(rest)[0]
	for _, reference := range []string{byDigest, name + ":1.0.0"} {
		if err := from(reference, login); err != nil {
			t.Errorf("%s: %v", reference, err)
		}
	}
	if err := from(byDigest); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("as nobody = %v, want %v", err, broker.ErrInvalid)
	}
	if err := from(name+"@sha256:"+strings.Repeat("0", 64), login); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("of a digest that nothing has = %v, want %v", err, broker.ErrInvalid)
	}
	registry.Kill()
	if err := from(byDigest, login); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("of a registry that is down = %v, want %v", err, broker.ErrUnreachable)
	}
}

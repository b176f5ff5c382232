package field_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// imageUser is the user of the image, and of the chart's pods.
const imageUser = 65532

// unpacked lays the release's image out as a root directory.
func unpacked(t *testing.T, archive, root string) {
	t.Helper()
	layout := t.TempDir()
	typed(t, "", "tar", "-xf", archive, "-C", layout)
	blob := func(digest string) []byte {
		text, err := os.ReadFile(filepath.Join(layout, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:")))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	type manifest struct {
		Manifests, Layers []struct{ Digest string }
	}
	text, err := os.ReadFile(filepath.Join(layout, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	for {
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Layers) == 0 {
			text = blob(m.Manifests[0].Digest)
			continue
		}
		for _, l := range m.Layers {
			untar(t, blob(l.Digest), root)
		}
		return
	}
}

func untar(t *testing.T, layer []byte, root string) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(plain)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		placed(t, filepath.Join(root, h.Name), text, os.FileMode(h.Mode))
	}
}

// placed writes a file, and the directories above it.
func placed(t *testing.T, name string, text []byte, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, mode), os.Chmod(name, mode)); err != nil {
		t.Fatal(err)
	}
}

// rendered are the objects that Helm makes of the chart.
func rendered(t *testing.T, helm string, args ...string) (d appsv1.Deployment, check batchv1.Job, configs map[string]corev1.ConfigMap) {
	t.Helper()
	c := exec.CommandContext(t.Context(), helm, append([]string{"template", "broker", "../../deploy/chart"}, args...)...)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	configs = map[string]corev1.ConfigMap{}
	for _, text := range strings.Split(string(out), "\n---\n") {
		var of struct{ Kind string }
		var into any
		var config corev1.ConfigMap
		if err := yaml.Unmarshal([]byte(text), &of); err != nil {
			t.Fatal(err)
		}
		switch of.Kind {
		case "Deployment":
			into = &d
		case "Job":
			into = &check
		case "ConfigMap":
			into = &config
		default:
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if of.Kind == "ConfigMap" {
			configs[config.Name] = config
		}
	}
	return d, check, configs
}

// kubelet lays a pod's volumes out in a root, as a kubelet does: with the files of ConfigMaps and Secrets for the pod's
// group, and empty directories of root's that the group may write to.
func kubelet(t *testing.T, root string, pod corev1.PodSpec, mounts []corev1.VolumeMount, configs map[string]corev1.ConfigMap, secrets map[string]map[string]string) {
	t.Helper()
	for _, m := range mounts {
		at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if at < 0 {
			t.Fatalf("no volume %s", m.Name)
		}
		v, into := pod.Volumes[at], filepath.Join(root, m.MountPath)
		put := func(path, text string) {
			name := filepath.Join(into, path)
			placed(t, name, []byte(text), 0o440)
			if err := os.Chown(name, 0, imageUser); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case v.ConfigMap != nil:
			for _, item := range v.ConfigMap.Items {
				put(item.Path, configs[v.ConfigMap.Name].Data[item.Key])
			}
		case v.Secret != nil:
			for key, text := range secrets[v.Secret.SecretName] {
				put(key, text)
			}
		case v.Projected != nil:
			for _, source := range v.Projected.Sources {
				for _, item := range source.Secret.Items {
					put(item.Path, secrets[source.Secret.Name][item.Key])
				}
			}
		default:
			if err := errors.Join(os.MkdirAll(into, 0o777), os.Chown(into, 0, imageUser), os.Chmod(into, 0o777|os.ModeSetgid)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// inRoot is a container's command: in a root of its own, as the image's user.
func inRoot(t *testing.T, root string, c corev1.Container) *exec.Cmd {
	t.Helper()
	run := exec.CommandContext(context.WithoutCancel(t.Context()), "/usr/bin/vimbroker", c.Args...)
	run.Dir, run.Env = "/", []string{"PATH=/usr/bin", "XDG_STATE_HOME=/var/lib", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	return run
}

// TestFieldChartServes: a server starts in the release's image with exactly what a pod of the chart gets, after the check that
// the chart runs before it; and a configuration with a fault is refused there.
func TestFieldChartServes(t *testing.T) {
	field.Only(t)
	if os.Geteuid() != 0 {
		t.Fatal("a root of its own needs root")
	}
	helm := filepath.Join(real.HelmTools(t), "helm")
	made := t.TempDir()
	binary := filepath.Join(made, "root")
	unpacked(t, artefact(t, theRelease(t, "1.0.0"), "*-image.tar"), binary)
	typed(t, "", "env", "HOME="+made, filepath.Join(binary, "usr/bin/vimbroker"), "init", "--dir", filepath.Join(made, "init"), "--state-dir", filepath.Join(made, "state"), "--host", "127.0.0.1")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(made, "init", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	secrets := map[string]map[string]string{
		"vimbroker-tls":    {"tls.crt": read("tls/tls.crt"), "tls.key": read("tls/tls.key"), "ca.crt": read("tls/ca.crt")},
		"vimbroker-tokens": {"tokens.yaml": read("tokens.yaml")},
	}
	values := []string{"-f", "../../deploy/chart/examples/trial.yaml", "--set", "config.listen=127.0.0.1:18488,config.egress.allowLoopback=true"}
	deployment, check, configs := rendered(t, helm, values...)
	pod := deployment.Spec.Template.Spec
	for name, spec := range map[string]corev1.PodSpec{"the server's": pod, "the check's": check.Spec.Template.Spec} {
		if *spec.AutomountServiceAccountToken || !*spec.SecurityContext.RunAsNonRoot || !*spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s pod is not restricted: %+v", name, spec)
		}
	}
	first := check.Spec.Template.Spec
	kubelet(t, binary, first, first.InitContainers[0].VolumeMounts, configs, secrets)
	for _, c := range append(first.InitContainers, first.Containers...) {
		if text, err := inRoot(t, binary, c).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", c.Args, err, text)
		}
	}
	kubelet(t, binary, pod, pod.Containers[0].VolumeMounts, configs, secrets)
	server := inRoot(t, binary, pod.Containers[0])
	log := process.NewLog(io.Discard)
	server.Stdout, server.Stderr = log, log
	began := time.Now()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended: %v\n%s", err, log)
		}
	})
	if _, err := log.Next(t.Context(), `"msg":"ready"`); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	started := time.Since(began)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(secrets["vimbroker-tls"]["ca.crt"]))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}}
	for _, probe := range []*corev1.Probe{pod.Containers[0].LivenessProbe, pod.Containers[0].ReadinessProbe} {
		response, err := client.Get("https://127.0.0.1:18488" + probe.HTTPGet.Path)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", probe.HTTPGet.Path, response, err)
		}
		_ = response.Body.Close()
	}
	firstLeaseOfChart(t, filepath.Join(binary, "usr/bin/vimbroker"), filepath.Join(made, "init"), started)
	if strings.Contains(log.String(), `"level":"WARN"`) {
		t.Errorf("the server warns in its pod:\n%s", log)
	}
	_, faulty, wrong := rendered(t, helm, append(values, "--set", "config.checkInterval=1s")...)
	kubelet(t, binary, faulty.Spec.Template.Spec, faulty.Spec.Template.Spec.InitContainers[0].VolumeMounts, wrong, secrets)
	if text, err := inRoot(t, binary, faulty.Spec.Template.Spec.InitContainers[0]).CombinedOutput(); err == nil || !strings.Contains(string(text), "checkInterval") {
		t.Errorf("a configuration with a fault passes the check: %v, %s", err, text)
	}
}

// chartLines are what a person types from the chart to a first lease. Here the lines of kubectl and Helm are what
// TestFieldChartInstalls types, and the port is forwarded by there being none.
var chartLines = []string{
	"vimbroker init --dir init --state-dir state --host localhost",
	"kubectl create secret generic vimbroker-tls --from-file=init/tls/tls.crt --from-file=init/tls/tls.key --from-file=init/tls/ca.crt",
	"kubectl create secret generic vimbroker-tokens --from-file=init/tokens.yaml",
	"helm install broker vimbroker-chart-1.0.0.tgz -f trial.yaml --wait",
	"kubectl port-forward service/broker-vimbroker 8420 &",
	"vimbroker vim register --kubeconfig ~/.kube/config edge-1",
	"vimbroker lease issue --vim edge-1 --role view --out edge-1.kubeconfig",
}

// firstLeaseOfChart registers a real cluster with the server of a pod, and takes a lease.
func firstLeaseOfChart(t *testing.T, program, init string, started time.Duration) {
	t.Helper()
	cluster, err := real.StartKubernetes(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range chartLines[:3] {
		if !strings.Contains(string(readme), "    "+line+"\n") {
			t.Errorf("README does not say %s", line)
		}
	}
	home, began := t.TempDir(), time.Now()
	for _, line := range chartLines[5:] {
		words := strings.Fields(strings.ReplaceAll(line, "~/.kube/config", cluster.Kubeconfig))
		c := exec.CommandContext(t.Context(), program, words[1:]...)
		c.Dir = home
		c.Env = []string{
			"HOME=" + home, "VIMBROKER_ADDR=https://127.0.0.1:18488",
			"VIMBROKER_CA_FILE=" + filepath.Join(init, "tls/ca.crt"), "VIMBROKER_TOKEN_FILE=" + filepath.Join(init, "admin.token"),
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	took := started + time.Since(began)
	if got := typed(t, home, cluster.Kubectl, "--kubeconfig", "edge-1.kubeconfig", "get", "namespaces"); !strings.Contains(got, "kube-system") {
		t.Errorf("with the lease: %s", got)
	}
	t.Logf("from the chart: %d lines; the lease is there %v after the pod starts", len(chartLines), took)
}

// TestFieldChartInstalls: real Helm installs the chart on a real API server, in a namespace that enforces Pod Security
// restricted, and upgrades it to the next version; a value that the schema does not know changes nothing.
func TestFieldChartInstalls(t *testing.T) {
	field.Only(t)
	helm := filepath.Join(real.HelmTools(t), "helm")
	cluster, err := real.StartKubernetes(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	cluster.WithNode(t)
	kubectl := func(args ...string) string {
		return typed(t, "", cluster.Kubectl, append([]string{"--kubeconfig", cluster.Kubeconfig, "-n", "vimbroker"}, args...)...)
	}
	kubectl("create", "namespace", "vimbroker")
	kubectl("label", "namespace", "vimbroker", "pod-security.kubernetes.io/enforce=restricted")
	for _, name := range []string{"vimbroker-tls", "vimbroker-tokens"} {
		kubectl("create", "secret", "generic", name, "--from-literal=tokens.yaml=x", "--from-literal=tls.crt=x", "--from-literal=tls.key=x")
	}
	next := t.TempDir()
	typed(t, "", helm, "package", "../../deploy/chart", "--version", "1.0.1", "-d", next)
	of := []string{"--kubeconfig", cluster.Kubeconfig, "-n", "vimbroker", "--wait", "--timeout", "2m"}
	trial := []string{"-f", "../../deploy/chart/examples/trial.yaml", "--set", "persistence.enabled=false"}
	typed(t, "", helm, slices.Concat([]string{"install", "broker", "../../deploy/chart"}, of, trial)...)
	first := kubectl("get", "pods", "-l", "app.kubernetes.io/name=vimbroker", "-o", "jsonpath={.items[*].metadata.name}")
	typed(t, "", helm, slices.Concat([]string{"upgrade", "broker", filepath.Join(next, "vimbroker-1.0.1.tgz")}, of, trial,
		[]string{"--set", "config.checkInterval=1m"})...)
	second := kubectl("get", "pods", "-l", "app.kubernetes.io/name=vimbroker", "-o", "jsonpath={.items[*].metadata.name}")
	if first == "" || second == "" || first == second {
		t.Errorf("another configuration leaves the pods: %q and then %q", first, second)
	}
	if got := kubectl("get", "deployment", "broker-vimbroker", "-o", "jsonpath={.metadata.labels}"); !strings.Contains(got, "vimbroker-1.0.1") {
		t.Errorf("after the upgrade the Deployment is of %s", got)
	}
	wrong := exec.CommandContext(t.Context(), helm, slices.Concat([]string{"upgrade", "broker", "../../deploy/chart"}, of, trial,
		[]string{"--set", "config.checkIntervall=1m"})...)
	if out, err := wrong.CombinedOutput(); err == nil || !strings.Contains(string(out), "checkIntervall") {
		t.Errorf("an unknown key: %v, %s", err, out)
	}
	if got := kubectl("get", "deployment", "broker-vimbroker", "-o", "jsonpath={.metadata.labels}"); !strings.Contains(got, "vimbroker-1.0.1") {
		t.Errorf("a refused upgrade changed the Deployment to %s", got)
	}
	typed(t, "", helm, "--kubeconfig", cluster.Kubeconfig, "-n", "vimbroker", "uninstall", "broker", "--wait")
	production(t, helm, kubectl, of, filepath.Join(next, "vimbroker-1.0.1.tgz"))
}

// operators are kinds of others that the chart makes objects of: group, version, kind and plural.
var operators = [][4]string{
	{"external-secrets.io", "v1", "ExternalSecret", "externalsecrets"},
	{"gateway.networking.k8s.io", "v1alpha2", "TLSRoute", "tlsroutes"},
	{"monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"},
	{"monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"},
}

// production installs the chart for production, with everything that it has, and upgrades it.
func production(t *testing.T, helm string, kubectl func(...string) string, of []string, upgrade string) {
	t.Helper()
	for _, o := range operators {
		crd := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[4]s.%[1]s, annotations: {api-approved.kubernetes.io: unapproved}},
spec: {group: %[1]s, scope: Namespaced, names: {kind: %[3]s, plural: %[4]s, singular: %[5]s}, versions: [{name: %[2]s, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`, o[0], o[1], o[2], o[3], strings.ToLower(o[2]))
		name := filepath.Join(t.TempDir(), o[3]+".yaml")
		placed(t, name, []byte(crd), 0o600)
		kubectl("apply", "-f", name)
		kubectl("wait", "--for=condition=Established", "crd/"+o[3]+"."+o[0])
	}
	for _, name := range []string{"vimbroker-database", "vimbroker-vault"} { // which the operator of External Secrets would make
		kubectl("create", "secret", "generic", name, "--from-literal=dsn=x", "--from-literal=ca.crt=x")
	}
	values := []string{"-f", "../../deploy/chart/examples/production.yaml", "--set", strings.Join([]string{
		"ingress.enabled=true,ingress.host=broker.example", "gateway.enabled=true,gateway.hosts[0]=broker.example,gateway.parentRefs[0].name=front",
		"externalSecrets[0].secretName=vimbroker-database,externalSecrets[0].store.name=vault,externalSecrets[0].store.kind=ClusterSecretStore",
		"externalSecrets[0].data[0].key=dsn,externalSecrets[0].data[0].remoteKey=vimbroker/database,externalSecrets[0].data[0].remoteProperty=dsn",
	}, ",")}
	has := func(version string) {
		t.Helper()
		for kind, name := range map[string]string{
			"deployment": "prod-vimbroker", "poddisruptionbudget": "prod-vimbroker", "networkpolicy": "prod-vimbroker", "ingress": "prod-vimbroker",
			"tlsroute": "prod-vimbroker", "servicemonitor": "prod-vimbroker", "prometheusrule": "prod-vimbroker", "externalsecret": "vimbroker-database",
		} {
			if got := kubectl("get", kind, name, "-o", `jsonpath={.metadata.labels.helm\.sh/chart}`); got != "vimbroker-"+version {
				t.Errorf("%s %s is of %q, want version %s", kind, name, got, version)
			}
		}
	}
	typed(t, "", helm, slices.Concat([]string{"install", "prod", "../../deploy/chart"}, of, values)...)
	has("1.0.0")
	typed(t, "", helm, slices.Concat([]string{"upgrade", "prod", upgrade}, of, values)...)
	has("1.0.1")
	if got := kubectl("get", "deployment", "prod-vimbroker", "-o", "jsonpath={.spec.replicas} {.status.availableReplicas}"); got != "3 3" {
		t.Errorf("wanted and available replicas are %q", got)
	}
	if got := kubectl("get", "externalsecret", "vimbroker-database", "-o", "jsonpath={.spec.secretStoreRef.name} {.spec.data[0].remoteRef.property}"); got != "vault dsn" {
		t.Errorf("the ExternalSecret is %q", got)
	}
	typed(t, "", helm, slices.Concat([]string{"uninstall", "prod"}, of)...)
}

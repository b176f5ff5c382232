package real

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

// capiDir finds the directory of Cluster API's core manager and its CRDs: bin/capi of this
// repository.
func capiDir() (string, error) {
	root, err := process.Repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "capi")
	if _, err := os.Stat(filepath.Join(dir, "capi-core")); err != nil {
		return "", fmt.Errorf("%w: capi-core in %s; build it with test/real/capi/build.sh bin/capi", errNoPrograms, dir)
	}
	return dir, nil
}

// InstallClusterAPI makes a management cluster of the cluster: it applies Cluster API's CRDs
// and two of a provider that the test plays (ToyControlPlane and ToyCluster), and runs
// the core manager until the test ends. It returns when the manager works.
func (c *Cluster) InstallClusterAPI(t testing.TB) {
	t.Helper()
	dir := demand(t, "Cluster API", capiDir)
	c.Apply(t, "-f", filepath.Join(dir, "crds"), "--server-side")
	for _, name := range []string{"controlplane", "infrastructure"} {
		c.ApplyText(t, toyCRD(name))
	}
	c.Run(t, "", "label", "crd", "--all", "--overwrite", "cluster.x-k8s.io/v1beta2=v1beta2")
	c.Run(t, "", "wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
	home := process.TempDir(t, "vimbroker-capi-")
	certs := filepath.Join(home, "certs")
	if err := os.Mkdir(certs, 0o700); err != nil {
		t.Fatal(err)
	}
	pair, err := c.ca.Server("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key} {
		if err := os.WriteFile(filepath.Join(certs, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := process.OnFreePorts(t.Context(), 3, home, func(at string, ports []int) error {
		health := "127.0.0.1:" + strconv.Itoa(ports[2])
		run := exec.Command(filepath.Join(dir, "capi-core"),
			"--kubeconfig", c.Kubeconfig, "--leader-elect=false", "--webhook-cert-dir", certs, "--webhook-port", strconv.Itoa(ports[0]),
			"--diagnostics-address", "127.0.0.1:"+strconv.Itoa(ports[1]), "--insecure-diagnostics", "--health-addr", health)
		run.Dir, run.Env = at, []string{"HOME=" + at, "POD_NAMESPACE=default", "POD_NAME=capi", "POD_UID=00000000-0000-4000-8000-000000000000"}
		manager, err := process.Start(run, "capi-core")
		if err != nil {
			return err
		}
		t.Cleanup(manager.Kill)
		return manager.Await(t.Context(), func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", nil)
			if err != nil {
				return err
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("the core manager is not ready: %s", answer.Status)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
}

// toyCRD is the CRD of a provider without a controller, of a group of Cluster API's.
func toyCRD(of string) string {
	kind := map[string]string{"controlplane": "ToyControlPlane", "infrastructure": "ToyCluster"}[of]
	plural := strings.ToLower(kind) + "s"
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s.cluster.x-k8s.io}
spec:
  group: %[2]s.cluster.x-k8s.io
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[1]s, singular: %[4]s}
  scope: Namespaced
  versions:
  - name: v1beta2
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, plural, of, kind, strings.ToLower(kind))
}

// Run runs kubectl as administrator, and returns what it prints.
func (c *Cluster) Run(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), c.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	run.Stdin, run.Env = strings.NewReader(stdin), append(os.Environ(), "HOME="+c.Dir)
	out, err := run.Output()
	if err != nil {
		text := err.Error()
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			text += ": " + string(e.Stderr)
		}
		t.Fatalf("kubectl %v: %s", args, text)
	}
	return string(out)
}

// Apply is kubectl apply, with ApplyText of this text.
func (c *Cluster) Apply(t testing.TB, args ...string) {
	t.Helper()
	c.Run(t, "", append([]string{"apply"}, args...)...)
}

// ApplyText is kubectl apply of this text.
func (c *Cluster) ApplyText(t testing.TB, text string) {
	t.Helper()
	c.Run(t, text, "apply", "-f", "-")
}

// NewKubeconfig is a kubeconfig with a fresh client certificate of system:masters, as
// providers of Cluster API write it.
func (c *Cluster) NewKubeconfig(t testing.TB) string {
	t.Helper()
	pair, err := c.ca.Client("kubernetes-admin", []string{"system:masters"}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return string(c.kubeconfig(string(pair.Cert), string(pair.Key)))
}

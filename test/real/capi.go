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

// DemandClusterAPI skips or fails the test unless the programs of Kubernetes and Cluster API are
// there: see [Demand].
func DemandClusterAPI(t testing.TB) {
	t.Helper()
	demand(t, "Kubernetes", kubeDir)
	demand(t, "Cluster API", capiDir)
}

// InstallClusterAPI makes a management cluster of the cluster: it applies Cluster API's CRDs
// and those of the kinds that tests play (ToyControlPlane and others), and runs
// the core manager until the test ends. It returns when the manager works.
func (c *Cluster) InstallClusterAPI(t testing.TB) {
	t.Helper()
	dir := demand(t, "Cluster API", capiDir)
	c.Apply(t, "-f", filepath.Join(dir, "crds"), "--server-side")
	for kind, group := range toyKinds {
		c.ApplyText(t, toyDefinition(kind, group))
	}
	c.Run(t, "", "label", "crd", "--all", "--overwrite", "cluster.x-k8s.io/v1beta2=v1beta2")
	c.Run(t, "", "wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
	manager, err := StartClusterAPI(t.Context(), c, c.Kubeconfig, process.TempDir(t, "vimbroker-capi-"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(manager.Kill)
}

// DefineControlPlane has the cluster serve one more kind of control planes.
func (c *Cluster) DefineControlPlane(t testing.TB, kind string) {
	t.Helper()
	c.ApplyText(t, toyDefinition(kind, "controlplane.cluster.x-k8s.io"))
	c.Run(t, "", "wait", "crd", strings.ToLower(kind)+"s.controlplane.cluster.x-k8s.io", "--for=condition=Established", "--timeout=60s")
}

// StartClusterAPI runs the core manager of Cluster API on a cluster that has its CRDs, with the
// credential of a kubeconfig, and returns when it works. It keeps everything in dir, which must
// exist. The caller ends it.
func StartClusterAPI(ctx context.Context, c *Cluster, kubeconfig, dir string) (*process.Process, error) {
	programs, err := capiDir()
	if err != nil {
		return nil, err
	}
	certs := filepath.Join(dir, "certs")
	if err := os.Mkdir(certs, 0o700); err != nil {
		return nil, err
	}
	pair, err := c.ca.Server("127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key} {
		if err := os.WriteFile(filepath.Join(certs, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	var manager *process.Process
	err = process.OnFreePorts(ctx, 3, dir, func(at string, ports []int) error {
		health := "127.0.0.1:" + strconv.Itoa(ports[2])
		run := exec.Command(filepath.Join(programs, "capi-core"),
			"--kubeconfig", kubeconfig, "--leader-elect=false", "--webhook-cert-dir", certs, "--webhook-port", strconv.Itoa(ports[0]),
			"--diagnostics-address", "127.0.0.1:"+strconv.Itoa(ports[1]), "--insecure-diagnostics", "--health-addr", health)
		run.Dir, run.Env = at, []string{"HOME=" + at, "POD_NAMESPACE=default", "POD_NAME=capi", "POD_UID=00000000-0000-4000-8000-000000000000"}
		if manager, err = process.Start(run, "capi-core"); err != nil {
			return err
		}
		err := manager.Await(ctx, func(ctx context.Context) error {
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
		if err != nil {
			manager.Kill()
		}
		return err
	})
	return manager, err
}

// kubectl runs kubectl as administrator, and returns what it prints.
func (c *Cluster) kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	run := exec.CommandContext(ctx, c.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	run.Stdin, run.Env = strings.NewReader(stdin), append(os.Environ(), "HOME="+c.Dir)
	out, err := run.Output()
	if err != nil {
		text := err.Error()
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			text += ": " + string(e.Stderr)
		}
		return "", fmt.Errorf("kubectl %v: %s", args, text)
	}
	return string(out), nil
}

// Run runs kubectl as administrator, and returns what it prints.
func (c *Cluster) Run(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	out, err := c.kubectl(t.Context(), stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
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
	text, err := c.adminKubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (c *Cluster) adminKubeconfig() (string, error) {
	pair, err := c.ca.Client("kubernetes-admin", []string{"system:masters"}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		return "", err
	}
	return string(c.kubeconfig(string(pair.Cert), string(pair.Key))), nil
}

package real

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

// Demand is the environment variable that says what to do about real systems:
// "1" makes it a failure when one cannot be had, "0" skips their tests even if
// it can. Otherwise they run where the programs are found.
const Demand = "VIMBROKER_REAL"

// assets is the environment variable that names a directory of programs; it is
// the one that Kubernetes' envtest uses.
const assets = "KUBEBUILDER_ASSETS"

var errNoPrograms = errors.New("programs not found")

// kubePrograms are what a cluster is made of.
var kubePrograms = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"}

// kubeDir finds the directory of the Kubernetes programs: $KUBEBUILDER_ASSETS,
// or bin/kube of this repository.
func kubeDir() (string, error) {
	dir := os.Getenv(assets)
	if dir == "" {
		root, err := process.Repository()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bin", "kube")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", dir, err)
	}
	var missing []string
	for _, name := range kubePrograms {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%w: %s in %s; build them with test/real/kube/build.sh bin/kube, or name their directory in %s",
			errNoPrograms, strings.Join(missing, ", "), dir, assets)
	}
	return dir, nil
}

// demand skips or fails the test unless find finds the programs of a system, and
// returns what it finds.
func demand(t testing.TB, system string, find func() (string, error)) string {
	t.Helper()
	if os.Getenv(Demand) == "0" {
		t.Skipf("needs a real %s: %s=0 says no", system, Demand)
	}
	found, err := find()
	switch {
	case err == nil:
	case os.Getenv(Demand) == "1" || !errors.Is(err, errNoPrograms):
		t.Fatalf("needs a real %s: %v", system, err)
	default:
		t.Skipf("needs a real %s: %v (make test-real does; %s=1 makes this a failure)", system, err, Demand)
	}
	return found
}

// Program finds a program; where there is none, the test is skipped or fails: see
// [Demand]. The remedy says how to install it.
func Program(t testing.TB, name, remedy string) string {
	t.Helper()
	return demand(t, name, func() (string, error) {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%w: %s: %s", errNoPrograms, name, remedy)
		}
		return path, nil
	})
}

// Chromium finds the browser, and the file of axe-core, which looks for what hinders people on a page.
func Chromium(t testing.TB) (program, axe string) {
	t.Helper()
	program = Program(t, "chromium", "make browser-tools installs it")
	axe = demand(t, "axe-core", func() (string, error) {
		root, err := process.Repository()
		if err != nil {
			return "", err
		}
		file := filepath.Join(root, "bin", "browser", "node_modules", "axe-core", "axe.min.js")
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("%w: %s; make browser-tools installs it", errNoPrograms, file)
		}
		return file, nil
	})
	return program, axe
}

// HelmTools finds the directory of helm and registry: bin/helm of this repository.
func HelmTools(t testing.TB) string {
	t.Helper()
	return demand(t, "Helm", func() (string, error) {
		root, err := process.Repository()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(root, "bin", "helm")
		for _, name := range []string{"helm", "registry"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				return "", fmt.Errorf("%w: %s in %s; build it with test/real/helm/build.sh bin/helm", errNoPrograms, name, dir)
			}
		}
		return dir, nil
	})
}

// start starts a program in dir with little of this environment, and returns when it runs.
func start(dir, path string, args ...string) (*process.Process, error) {
	c := exec.Command(path, args...)
	c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC")}
	return process.Start(c, filepath.Base(path))
}

package real

import (
	"context"
	"os"
	"sync"
	"testing"
)

// shared is what the tests of a process have in common: one cluster, one cloud.
var shared struct {
	sync.Mutex
	cluster *Cluster
	dir     string
	err     error

	cloud    *Cloud
	cloudDir string
	cloudErr error
}

// Kubernetes returns the cluster that all tests of this process share, and
// starts it for the first. Where there are no programs to start, the test is
// skipped or fails: see [Demand]. The package's TestMain calls [Main].
func Kubernetes(t testing.TB) *Cluster {
	t.Helper()
	require(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		if shared.dir, shared.err = os.MkdirTemp("", "vimbroker-kube-"); shared.err == nil {
			// Not the test's context: the cluster outlives this test.
			shared.cluster, shared.err = StartKubernetes(context.Background(), shared.dir)
		}
	}
	if shared.err != nil {
		t.Fatalf("starting Kubernetes: %v", shared.err)
	}
	return shared.cluster
}

// OwnKubernetes starts a cluster for one test, which may disturb it, and stops
// it when the test ends.
func OwnKubernetes(t testing.TB) *Cluster {
	t.Helper()
	return ownKubernetes(t, StartKubernetes)
}

// DurableKubernetes is OwnKubernetes with an etcd that waits for the disk, as in
// production.
func DurableKubernetes(t testing.TB) *Cluster {
	t.Helper()
	return ownKubernetes(t, func(ctx context.Context, dir string) (*Cluster, error) { return startKubernetes(ctx, dir) })
}

func ownKubernetes(t testing.TB, start func(ctx context.Context, dir string) (*Cluster, error)) *Cluster {
	t.Helper()
	require(t)
	c, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatalf("starting Kubernetes: %v", err)
	}
	t.Cleanup(c.Stop)
	return c
}

// OpenStack returns the cloud that all tests of this process share, and starts it
// for the first, as its zero options say. Tests keep apart by [Cloud.Project].
// Where it is not installed, the test is skipped or fails: see [Demand]. The
// package's TestMain calls [Main].
func OpenStack(t testing.TB) *Cloud {
	t.Helper()
	requireOpenStack(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cloud == nil && shared.cloudErr == nil {
		if shared.cloudDir, shared.cloudErr = os.MkdirTemp("", "vimbroker-cloud-"); shared.cloudErr == nil {
			shared.cloud, shared.cloudErr = StartOpenStack(context.Background(), shared.cloudDir, OpenStackOptions{})
		}
	}
	if shared.cloudErr != nil {
		t.Fatalf("starting OpenStack: %v", shared.cloudErr)
	}
	return shared.cloud
}

// OwnOpenStack starts a cloud for one test, which may disturb it, and stops it
// when the test ends.
func OwnOpenStack(t testing.TB, options OpenStackOptions) *Cloud {
	t.Helper()
	requireOpenStack(t)
	// Not t.TempDir: its path may be too long for a socket.
	dir, err := os.MkdirTemp("", "vimbroker-cloud-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o, err := StartOpenStack(t.Context(), dir, options)
	if err != nil {
		t.Fatalf("starting OpenStack: %v", err)
	}
	t.Cleanup(o.Stop)
	return o
}

// Main runs a package's tests, stops what they shared, and exits.
//
//	func TestMain(m *testing.M) { real.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	stopShared()
	os.Exit(code)
}

func stopShared() {
	stopPostgres()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.Stop()
		shared.cluster = nil
	}
	if shared.cloud != nil {
		shared.cloud.Stop()
		shared.cloud = nil
	}
	for _, dir := range []string{shared.dir, shared.cloudDir} {
		if dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
}

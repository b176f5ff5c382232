package real

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

// shared is a system that the tests of this process have in common.
type shared[S interface{ Stop() }] struct {
	mu     sync.Mutex
	system *S
	remove func()
	err    error
}

var (
	sharedCluster shared[*Cluster]
	sharedClouds  clouds
)

// clouds are those that the tests of this process have in common, by their options.
type clouds struct {
	mu  sync.Mutex
	all map[OpenStackOptions]*shared[*Cloud]
}

func (c *clouds) with(o OpenStackOptions) *shared[*Cloud] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[OpenStackOptions]*shared[*Cloud]{}
	}
	if c.all[o] == nil {
		c.all[o] = &shared[*Cloud]{}
	}
	return c.all[o]
}

func (c *clouds) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		one.stop()
	}
}

// get starts the system for the first who asks, in a directory of its own, if possible in memory.
func (s *shared[S]) get(t testing.TB, name, pattern string, start func(context.Context, string) (S, error)) S {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.system == nil && s.err == nil {
		var dir string
		if dir, s.remove, s.err = process.MemoryDir(pattern); s.err == nil {
			// Not the test's context: the system outlives this test.
			var system S
			if system, s.err = start(context.Background(), dir); s.err == nil {
				s.system = &system
			}
		}
	}
	if s.err != nil {
		t.Fatalf("starting %s: %v", name, s.err)
	}
	return *s.system
}

func (s *shared[S]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.system != nil {
		(*s.system).Stop()
		s.system = nil
	}
	if s.remove != nil {
		s.remove()
	}
}

// Kubernetes returns the cluster that all tests of this process share, and
// starts it for the first. Where there are no programs to start, the test is
// skipped or fails: see [Demand]. The package's TestMain calls [Main].
func Kubernetes(t testing.TB) *Cluster {
	t.Helper()
	demand(t, "Kubernetes", kubeDir)
	return sharedCluster.get(t, "Kubernetes", "vimbroker-kube-", StartKubernetes)
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
	demand(t, "Kubernetes", kubeDir)
	c, err := start(t.Context(), process.TempDir(t, "vimbroker-kube-"))
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
	return OpenStackWith(t, OpenStackOptions{})
}

// OpenStackWith is OpenStack of a cloud with these options. Starting one takes longer
// than most tests.
func OpenStackWith(t testing.TB, options OpenStackOptions) *Cloud {
	t.Helper()
	demand(t, "OpenStack", func() (string, error) { return openStackDir(options) })
	return sharedClouds.with(options).get(t, "OpenStack", "vimbroker-cloud-", func(ctx context.Context, dir string) (*Cloud, error) {
		return StartOpenStack(ctx, dir, options)
	})
}

// OwnOpenStack starts a cloud for one test, which may disturb it, and stops it
// when the test ends.
func OwnOpenStack(t testing.TB, options OpenStackOptions) *Cloud {
	t.Helper()
	demand(t, "OpenStack", func() (string, error) { return openStackDir(options) })
	o, err := StartOpenStack(t.Context(), process.TempDir(t, "vimbroker-cloud-"), options)
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
	sharedPostgres.stop()
	sharedCluster.stop()
	sharedClouds.stop()
	os.Exit(code)
}

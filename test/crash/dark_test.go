package crash_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	darkVIMs = 20
	// soon is how long a start may take, however many VIMs are dead.
	soon = 20 * time.Second
	// shutdownGrace is the server's own, and a little for ending the process.
	shutdownGrace = 30*time.Second + 5*time.Second
)

// TestDeadVIMsDelayNothing kills a server that waits for twenty VIMs that do not
// answer. The next one is ready soon all the same, ends within its grace, and
// settles everything once the VIMs are back.
func TestDeadVIMsDelayNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeCluster(t))
	for n := range darkVIMs {
		name := fmt.Sprintf("dark-%d", n)
		s.register(name)
		s.issue(name)
	}
	s.kube.fake.BlackHole(true)
	var callers sync.WaitGroup
	calling, stop := context.WithCancel(t.Context())
	defer stop()
	for n := range darkVIMs {
		callers.Go(func() {
			// The answer is of no interest: the server is killed waiting for its own.
			for calling.Err() == nil {
				_, _ = s.IssueLease(t.Context(), s.up.request(fmt.Sprintf("dark-%d", n)), "")
			}
		})
		callers.Go(func() { _, _ = s.RevokeLease(t.Context(), s.issued[n]) })
	}
	eventually(t, "every VIM is being waited for", func() error {
		count := map[string]int{}
		for _, l := range s.leases() {
			count[l.State]++
		}
		if count["pending"] < darkVIMs || count["revoking"] < darkVIMs {
			return fmt.Errorf("leases by state: %v", count)
		}
		return nil
	})
	s.Kill()
	stop()
	callers.Wait()

	began := time.Now()
	s.restart()
	if took := time.Since(began); took > soon {
		t.Errorf("from start to ready with %d dead VIMs: %v, want at most %v", darkVIMs, took, soon)
	}

	began = time.Now()
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ended(shutdownGrace); err != nil {
		t.Fatalf("after SIGTERM with %d dead VIMs: %v", darkVIMs, err)
	}
	t.Logf("SIGTERM to end: %v", time.Since(began))

	s.kube.fake.BlackHole(false)
	s.restart()
	s.prove()
}

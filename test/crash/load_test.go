package crash_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

const (
	loadRounds  = 5
	loadWorkers = 8
)

// TestKilledUnderLoad kills a server in the middle of whatever eight callers are
// doing, again and again on one data directory. What was answered is true
// afterwards, and nothing is left of the rest.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeCluster(t))
	vims := []string{"edge", "core"}
	for _, name := range vims {
		s.register(name)
	}
	// A failure names the round, and the same numbers come again; the moment of the
	// kill is the machine's.
	seeds := rand.New(rand.NewPCG(20, 26)) //nolint:gosec // a test's dice
	for round := range loadRounds {
		s.remember()
		l := &load{scene: s, vims: vims, left: int64(30 + seeds.IntN(60))}
		var workers sync.WaitGroup
		for range loadWorkers {
			dice := rand.New(rand.NewPCG(seeds.Uint64(), seeds.Uint64())) //nolint:gosec // a test's dice
			workers.Go(func() { l.work(dice) })
		}
		workers.Wait()
		s.wantKilled()
		s.restart()
		s.proveSettled()
		l.prove()
		s.proveUpstream()
		s.proveAudit()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	s.prove()
}

// load is one server's life under callers.
type load struct {
	*scene
	vims []string
	left int64 // answers until it is killed

	mu      sync.Mutex
	held    []string // active leases, by what was answered
	revoked []string
}

// work calls until the server is gone.
func (l *load) work(dice *rand.Rand) {
	for {
		err := l.call(dice)
		if cutOff(err) {
			return
		}
		if atomic.AddInt64(&l.left, -1) == 0 {
			_ = l.Signal(syscall.SIGKILL)
		}
	}
}

// call does one thing of those that callers do.
func (l *load) call(dice *rand.Rand) error {
	vim := l.vims[dice.IntN(len(l.vims))]
	switch n := dice.IntN(20); {
	case n < 9:
		issued, err := l.IssueLease(l.ctx(), l.up.request(vim), "")
		if err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.handedOut(issued)
			l.held = append(l.held, issued.ID)
		}
		return err
	case n < 14:
		id, ok := l.take(dice)
		if !ok {
			return nil
		}
		after, err := l.RevokeLease(l.ctx(), id)
		if err == nil && after.State == "revoked" {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.revoked = append(l.revoked, id)
		}
		return err
	case n < 18:
		id, ok := l.take(dice)
		if !ok {
			return nil
		}
		issued, err := l.RenewLease(l.ctx(), id, v1.Renewal{TTL: "2h"})
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil {
			l.handedOut(issued)
		}
		l.held = append(l.held, id)
		return err
	default:
		_, err := l.RotateVIM(l.ctx(), vim, l.rotation(), 0)
		return err
	}
}

// take takes one of the leases held, for one caller alone.
func (l *load) take(dice *rand.Rand) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 {
		return "", false
	}
	i := dice.IntN(len(l.held))
	id := l.held[i]
	l.held[i] = l.held[len(l.held)-1]
	l.held = l.held[:len(l.held)-1]
	return id, true
}

// prove holds the next server to what the one before has answered.
func (l *load) prove() {
	l.t.Helper()
	if len(l.held)+len(l.revoked) == 0 {
		l.t.Error("the load took no lease")
	}
	for _, id := range l.held {
		if got := l.lease(id); got.State != "active" {
			l.t.Errorf("lease %s was answered as active, and is %s (%s)", id, got.State, got.Reason)
		}
	}
	for _, id := range l.revoked {
		if got := l.lease(id); got.State != "revoked" {
			l.t.Errorf("lease %s was answered as revoked, and is %s", id, got.State)
		}
	}
}

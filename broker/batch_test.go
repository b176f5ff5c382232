package broker_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// A VIM that does not answer costs a pass one timeout, however many leases are
// due on it; the rest wait for the next pass, as revoking.
func TestASilentVIMCostsAPassOneTimeout(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "core-1")
	var ids []string
	for range 30 {
		l, _ := b.mustIssue(alice, v.Name)
		ids = append(ids, l.ID)
	}
	b.kube.BlackHole(true)
	b.clock.Add(2 * time.Hour)
	hasty := b.options // only for the silence, where no call can be too slow for it
	hasty.Terms.CallTimeout = 300 * time.Millisecond
	if err := mustNew(t, hasty).Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, id := range ids {
		l := b.row(id)
		if l.State != broker.LeaseRevoking || l.Reason != broker.ReasonExpired {
			t.Errorf("a lease due on a silent VIM is %s for reason %q, want revoking, expired", l.State, l.Reason)
		}
		if l.Attempts > 1 {
			t.Errorf("a lease was tried %d times in one pass", l.Attempts)
		}
		tried += l.Attempts
	}
	if tried < 1 || tried > 8 {
		t.Errorf("the pass tried %d of 30 leases on a silent VIM, want one lot of at most 8", tried)
	}

	b.kube.BlackHole(false)
	b.clock.Add(time.Hour)
	b.mustReap()
	for _, id := range ids {
		if l := b.row(id); l.State != broker.LeaseRevoked {
			t.Errorf("a lease is %s after its VIM came back, want revoked", l.State)
		}
	}
	if n := b.upstream(); n != 0 {
		t.Errorf("%d objects of leases are left on the VIM", n)
	}
}

// Intents are written many at a time; one that cannot be written leaves its lease
// as it was, and the others go on.
func TestALostIntentKeepsNoOtherLeaseAlive(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "core-1")
	var ids []string
	for range 5 {
		l, _ := b.mustIssue(alice, v.Name)
		ids = append(ids, l.ID)
	}
	b.clock.Add(2 * time.Hour)
	b.store.fail("UpdateLease", 1)
	err := b.Reap(t.Context())
	wantKind(t, "Reap() with one intent lost", err, broker.ErrUnavailable)
	count := map[broker.LeaseState]int{}
	for _, id := range ids {
		count[b.row(id).State]++
	}
	if count[broker.LeaseActive] != 1 || count[broker.LeaseRevoked] != 4 {
		t.Errorf("states after a pass that lost one intent of five: %v, want 1 active and 4 revoked", count)
	}
	if n := b.upstream(); n != 1 {
		t.Errorf("%d lease objects are left on the VIM, want that of the one lease", n)
	}
	b.mustReap()
	for _, id := range ids {
		if l := b.row(id); l.State != broker.LeaseRevoked {
			t.Errorf("a lease is %s after the next pass, want revoked", l.State)
		}
	}
}

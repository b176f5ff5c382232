package broker_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
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
	hasty.Terms.CallTimeout = 2 * time.Second
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
		if l.Attempts == 0 && l.NextAttemptAt.After(b.clock.Now()) {
			t.Errorf("a lease that was not tried is kept for %v", l.NextAttemptAt.Sub(b.clock.Now()))
		}
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

// revoking are so many leases on a VIM that wait for the reaper, in the order in which it comes to them.
func (b *bench) revoking(n int) (ids []string) {
	b.t.Helper()
	v := b.mustRegister(alice, "core-1")
	for range n {
		b.mustIssue(alice, v.Name)
	}
	b.clock.Add(time.Minute)
	if err := b.EndLeases(b.t.Context(), alice, broker.LeaseSelector{VIM: v.ID}); err != nil {
		b.t.Fatal(err)
	}
	due, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{VIM: v.ID, DueBefore: b.clock.Now(), Page: broker.Page{Size: n}})
	if err != nil || len(due) != n {
		b.t.Fatalf("%d leases are due, %v, want %d", len(due), err, n)
	}
	for _, l := range due {
		ids = append(ids, l.ID)
	}
	return ids
}

// waiting is how many of leases are not revoked yet, and how many of them were tried.
func (b *bench) waiting(ids []string) (waiting, tried int) {
	b.t.Helper()
	for _, id := range ids {
		if l := b.row(id); l.State == broker.LeaseRevoking {
			waiting++
			tried += l.Attempts
		}
	}
	return waiting, tried
}

const oneAccount = "/serviceaccounts/[^/]+$"

// A VIM that goes silent in the middle is left to the next pass after three failures in a row.
func TestAPassLeavesAVIMThatGoesSilent(t *testing.T) {
	b := newBench(t, benchOptions{})
	ids := b.revoking(30)
	b.kube.After(http.MethodDelete, oneAccount, func() { b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1}) })
	b.mustReap()
	if waiting, tried := b.waiting(ids); waiting == len(ids) || tried < 3 || tried > 3+8 {
		t.Errorf("%d leases wait, %d of them were tried, want all but those that were revoked, and at most 3 and one lot of 8", waiting, tried)
	}
}

// A pass that is to end ends what it has begun, and begins nothing more.
func TestAPassThatIsToEndTriesNoMoreLeases(t *testing.T) {
	b := newBench(t, benchOptions{})
	ids := b.revoking(30)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.kube.After(http.MethodDelete, oneAccount, cancel)
	_ = b.Reap(ctx) // it may fail, or have been quick enough
	if waiting, tried := b.waiting(ids); waiting < len(ids)-2*8 || waiting == len(ids) || tried != 0 {
		t.Errorf("%d of %d leases wait and %d of them were tried, want all but those that were under way", waiting, len(ids), tried)
	}
	b.mustReap()
	b.wantRevoked(ids)
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

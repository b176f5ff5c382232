package conformance

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// grantLease is a lease on a VIM whose driver keeps something for its grant.
func grantLease(v broker.VIM, digest string) broker.Lease {
	l := plainLease(v)
	l.Role, l.Namespaces, l.GrantDigest = "edit", []string{"a", "b"}, digest
	return l
}

// closeIdle closes idle grants, and returns those that are not forgotten.
func (s storeTest) closeIdle(t *testing.T, now time.Time, idle time.Duration) []broker.GrantEpoch {
	t.Helper()
	closed, err := s.CloseIdleGrants(s.ctx, now, idle)
	if err != nil {
		t.Fatalf("CloseIdleGrants = %v", err)
	}
	return closed
}

func grants(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "v"))
	other := s.mustCreateVIM(t, plainVIM("north", "other"))
	if l := s.mustCreateLease(t, plainLease(v)); l.Epoch != 0 {
		t.Errorf("a lease without a grant has epoch %d, want 0", l.Epoch)
	}
	first := s.mustCreateLease(t, grantLease(v, "g"))
	second := s.mustCreateLease(t, grantLease(v, "g"))
	wide := s.mustCreateLease(t, grantLease(v, "wide"))
	elsewhere := s.mustCreateLease(t, grantLease(other, "g"))
	if second.Epoch != first.Epoch {
		t.Errorf("two leases of one grant have the epochs %d and %d", first.Epoch, second.Epoch)
	}
	// Who knows one epoch cannot tell another.
	chosen := map[int64]bool{}
	for what, l := range map[string]broker.Lease{"first": first, "other grant": wide, "other VIM": elsewhere} {
		if l.Epoch < 1 || chosen[l.Epoch] {
			t.Errorf("epoch of the %s lease = %d, want one of its own", what, l.Epoch)
		}
		chosen[l.Epoch] = true
	}
	wantSame(t, "a lease of a grant as stored", s.mustLease(t, first.ID), first)

	s.mustMove(t, first.ID, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseRevoked)
	if closed := s.closeIdle(t, epoch, 0); len(closed) != 0 {
		t.Errorf("grants with live leases are closed: %+v", closed)
	}
	s.mustMove(t, second.ID, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseIrrevocable)
	s.mustMove(t, wide.ID, broker.LeaseRevoking)

	// One call notes it, a later one closes it.
	for _, at := range []time.Duration{0, time.Minute, 10*time.Minute - 1} {
		if closed := s.closeIdle(t, epoch.Add(at), 10*time.Minute); len(closed) != 0 {
			t.Errorf("%s after it was first seen idle, closed = %+v", at, closed)
		}
	}
	want := []broker.GrantEpoch{{VIM: v.ID, Digest: "g", Epoch: first.Epoch, Role: "edit", Namespaces: []string{"a", "b"}}}
	for range 2 { // also after a crash
		wantSame(t, "closed grants", s.closeIdle(t, epoch.Add(10*time.Minute), 10*time.Minute), want)
	}

	// A lease that comes before the grant is tidied away has an epoch of its own.
	third := s.mustCreateLease(t, grantLease(v, "g"))
	if third.Epoch <= first.Epoch {
		t.Errorf("a lease of a closed epoch's grant has epoch %d, want one after %d", third.Epoch, first.Epoch)
	}
	for range 2 {
		if err := s.ForgetGrant(s.ctx, want[0]); err != nil {
			t.Fatalf("ForgetGrant = %v", err)
		}
	}
	if closed := s.closeIdle(t, epoch.Add(time.Hour), 0); len(closed) != 0 {
		t.Errorf("closed grants after one was forgotten = %+v", closed)
	}

	// No epoch comes twice, and one that was used meanwhile waits again.
	s.mustMove(t, third.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	s.closeIdle(t, epoch.Add(time.Hour), time.Hour)
	fourth := s.mustCreateLease(t, grantLease(v, "g"))
	if closed := s.closeIdle(t, epoch.Add(3*time.Hour), time.Hour); len(closed) != 0 || fourth.Epoch != third.Epoch {
		t.Errorf("closed = %+v, epoch %d; want none, and the epoch that is open", closed, fourth.Epoch)
	}
	s.mustMove(t, fourth.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	closed := s.closeIdle(t, epoch.Add(4*time.Hour), 0)
	if len(closed) != 1 || closed[0].Epoch != third.Epoch {
		t.Fatalf("closed = %+v, want epoch %d", closed, third.Epoch)
	}
	if err := s.ForgetGrant(s.ctx, closed[0]); err != nil {
		t.Fatalf("ForgetGrant = %v", err)
	}
	if l := s.mustCreateLease(t, grantLease(v, "g")); l.Epoch <= third.Epoch {
		t.Errorf("after epoch %d was forgotten the next is %d", third.Epoch, l.Epoch)
	}

	s.mustMove(t, elsewhere.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	if err := s.DeleteVIM(s.ctx, other.ID, false, entry("delete")); err != nil {
		t.Fatalf("DeleteVIM = %v", err)
	}
	for _, g := range s.closeIdle(t, epoch.Add(5*time.Hour), 0) {
		if g.VIM == other.ID {
			t.Errorf("the grant of a deleted VIM is there: %+v", g)
		}
	}
}

// grantRaces closes a grant over and over while leases come and go: no live lease is
// ever on a closed epoch.
func grantRaces(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "v"))
	var closing sync.WaitGroup
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var mu sync.Mutex
	gone := map[int64]bool{} // epochs that were tidied away
	closing.Go(func() {
		for ctx.Err() == nil {
			closed, err := s.CloseIdleGrants(s.ctx, epoch, 0)
			for _, g := range closed {
				mu.Lock()
				gone[g.Epoch] = true
				mu.Unlock()
				err = errors.Join(err, s.ForgetGrant(s.ctx, g))
			}
			if err != nil {
				t.Errorf("closing = %v", err)
				return
			}
		}
	})
	counts := together(crowd, func(int) error {
		l, err := s.CreateLease(s.ctx, grantLease(v, "g"), broker.Quota{}, entry("lease"))
		if err != nil {
			return err
		}
		mu.Lock()
		if gone[l.Epoch] {
			t.Errorf("lease %s is on epoch %d, which was closed", l.ID, l.Epoch)
		}
		mu.Unlock()
		for _, to := range []broker.LeaseState{broker.LeaseRevoking, broker.LeaseRevoked} {
			if _, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error {
				moveLease(l, to)
				mu.Lock()
				defer mu.Unlock()
				if to == broker.LeaseRevoking && gone[l.Epoch] {
					t.Errorf("epoch %d was closed under a live lease", l.Epoch)
				}
				return nil
			}, entry("end")); err != nil {
				return err
			}
		}
		return nil
	})
	cancel()
	closing.Wait()
	wantCounts(t, "leases while their grant is closed", counts, map[error]int{nil: crowd})
}

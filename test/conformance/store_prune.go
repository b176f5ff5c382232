package conformance

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// prunes checks the contract of [broker.Pruner].
func prunes(t *testing.T, s storeTest) {
	prunesLeases(t, s)
	prunesNoLeaseThatHasASuccessor(t, s)
	prunesEntries(t, s)
}

// prunesNoLeaseThatHasASuccessor: what a grant holds, and another lease may take the place of, is kept for as long as
// the grant.
func prunesNoLeaseThatHasASuccessor(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "kept"))
	for name, c := range map[string]struct {
		change func(*broker.Lease)
		held   bool
		want   int
	}{
		"held by a grant":               {func(*broker.Lease) {}, true, 0},
		"held by none":                  {func(*broker.Lease) {}, false, 1},
		"its operation has ended":       {func(l *broker.Lease) { l.Reason = broker.ReasonOperationEnded }, true, 1},
		"its secrets are in another":    {func(l *broker.Lease) { l.SecretSHA256 = "" }, true, 1},
		"it was never handed out":       {func(l *broker.Lease) { l.Reason = broker.ReasonIssueFailed }, true, 1},
		"somebody revoked it":           {func(l *broker.Lease) { l.Reason = broker.ReasonRequested }, true, 0},
		"nobody used it for a week":     {func(l *broker.Lease) { l.Reason = broker.ReasonExpired }, true, 0},
		"its process died, and it died": {func(l *broker.Lease) { l.Reason = broker.ReasonAbandoned }, true, 1},
	} {
		l := plainLease(v)
		l.Login, l.SecretSHA256, l.Instance, l.TokenTTL = l.ID, "digest", "i-1", time.Minute
		l = s.mustCreateLease(t, l)
		for _, state := range []broker.LeaseState{broker.LeaseRevoking, broker.LeaseRevoked} {
			if _, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error {
				l.State, l.RevokedAt = state, epoch.Add(time.Hour)
				c.change(l)
				return nil
			}, entry("ended")); err != nil {
				t.Fatal(err)
			}
		}
		if grants, is := s.Store.(VNFGrantStore); is {
			g := grant.Grant{ID: uuid.NewString(), Client: "c", Request: grant.GrantRequest{ID: name, Instance: "i-1"}, State: grant.Granted, Lease: l.ID, Holds: c.held, CreatedAt: epoch}
			if err := grants.CreateVNFGrant(s.ctx, g, 0, entry("held")); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.PruneLeases(s.ctx, epoch.Add(24*time.Hour), 10, entry("pruned")); err != nil || n != c.want {
			t.Errorf("%s: PruneLeases = %d, %v, want %d", name, n, err, c.want)
		}
	}
}

func prunesLeases(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "v"))
	ended := func(at time.Time, sealed bool) broker.Lease {
		t.Helper()
		l := s.mustCreateLease(t, plainLease(v))
		for _, state := range []broker.LeaseState{broker.LeaseRevoking, broker.LeaseRevoked} {
			if _, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error {
				l.State = state
				if state == broker.LeaseRevoked {
					l.RevokedAt = at
					if sealed {
						l.Sealed, l.SealedKey = sealedText, v.Current.Key
					}
				}
				return nil
			}, entry("ended")); err != nil {
				t.Fatalf("UpdateLease to %s = %v", state, err)
			}
		}
		return l
	}
	old, alive, young := epoch.Add(time.Hour), s.mustCreateLease(t, plainLease(v)), ended(epoch.Add(48*time.Hour), false)
	first, unconfirmed, second := ended(old, false), ended(old, true), ended(old, false)
	before := epoch.Add(24 * time.Hour)
	if n, err := s.CountPrunable(s.ctx, broker.Outdated{Leases: before, Jobs: before, Entries: before}, 10); err != nil || n.Leases != 2 {
		t.Errorf("CountPrunable = %+v, %v, want 2 leases", n, err)
	}
	entries := len(s.entries(t))
	for i, want := range []int{1, 1, 0} {
		if n, err := s.PruneLeases(s.ctx, before, 1, entry("pruned")); err != nil || n != want {
			t.Errorf("PruneLeases %d = %d, %v, want %d", i, n, err, want)
		}
	}
	if got := len(s.entries(t)); got != entries+2 {
		t.Errorf("%d entries record what was removed, want 2", got-entries)
	}
	left, _, err := s.Leases(s.ctx, broker.LeaseFilter{Page: broker.Page{Size: 10}})
	if err != nil || len(left) != 3 {
		t.Errorf("%d leases are left, %v; want 3", len(left), err)
	}
	for _, l := range left {
		if l.ID == first.ID || l.ID == second.ID || l.ID != alive.ID && l.ID != young.ID && l.ID != unconfirmed.ID {
			t.Errorf("lease %s is left", l.ID)
		}
	}
	if c, err := s.Census(s.ctx); err != nil || c.Leases[broker.LeaseRevoked] != 2 || c.Leases[broker.LeasePending] != 1 {
		t.Errorf("Census = %v, %v, want 2 revoked and 1 pending", c.Leases, err)
	}
}

func prunesEntries(t *testing.T, s storeTest) {
	base := int64(len(s.entries(t)))
	for range 300 {
		if err := s.Append(s.ctx, entry("old")); err != nil {
			t.Fatal(err)
		}
	}
	late := entry("young")
	late.Time = epoch.Add(48 * time.Hour)
	for range 3 {
		if err := s.Append(s.ctx, late); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Grow(s.ctx); err != nil {
		t.Fatal(err)
	}
	before := epoch.Add(24 * time.Hour)
	if n, err := s.PruneEntries(s.ctx, before, base+100, 50, entry("pruned")); err == nil {
		t.Errorf("PruneEntries before the first checkpoint = %d, want an error", n)
	}
	notaries := newSigned(t, s)
	signed := notaries.sign(t, notaries.notary())
	removed := 0
	for n := 50; n == 50; removed += n {
		var err error
		if n, err = s.PruneEntries(s.ctx, before, base+295, 50, entry("pruned")); err != nil {
			t.Fatalf("PruneEntries = %v", err)
		}
	}
	horizon, err := s.Horizon(s.ctx)
	if err != nil || horizon != base+295 || int64(removed) != horizon {
		t.Errorf("Horizon = %d, %v, and %d were removed; want %d", horizon, err, removed, base+295)
	}
	if n, err := s.CountPrunable(s.ctx, broker.Outdated{Entries: before, UpTo: base + 299}, 10); err != nil || n.Entries != 4 {
		t.Errorf("CountPrunable = %+v, %v, want 4 entries", n, err)
	}
	// One alone, those up to the first that is young, and then none.
	for i, want := range []int{1, 4, 0} {
		if n, err := s.PruneEntries(s.ctx, before, signed.Size, []int{1, 50, 50}[i], entry("pruned")); err != nil || n != want {
			t.Errorf("PruneEntries up to the first that is young = %d, %v, want %d", n, err, want)
		}
		if horizon, err := s.Horizon(s.ctx); err != nil || horizon != base+296+min(4, 4*int64(i)) {
			t.Errorf("Horizon = %d, %v, after %d were removed", horizon, err, want)
		}
	}
	if horizon, err = s.Horizon(s.ctx); err != nil || horizon != base+300 {
		t.Errorf("Horizon = %d, %v, want %d", horizon, err, base+300)
	}
	if n, err := s.PruneEntries(s.ctx, epoch.AddDate(9, 0, 0), signed.Size+100, 500, entry("pruned")); err == nil {
		t.Errorf("PruneEntries beyond the checkpoint = %d, want an error", n)
	}
	// What is left is whole and proven as before, and the log goes on.
	if err := s.Append(s.ctx, late); err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(s.ctx); err != nil {
		t.Fatal(err)
	}
	now, err := s.Tree(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	left, err := s.EntriesAfter(s.ctx, 0, 1000)
	if err != nil || len(left) == 0 || left[0].Seq != horizon+1 {
		t.Fatalf("%d entries are left (%v), want from %d on", len(left), err, horizon+1)
	}
	VerifyLog(t, s.Store)
	for _, e := range left {
		leaf, err := audit.Leaf(e)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := tree.ProveInclusion(s.ctx, s.Store, now, e.Seq-1)
		if err != nil || tree.CheckInclusion(now, e.Seq-1, leaf, proof) != nil {
			t.Fatalf("entry %d is not proven to be in the log: %v", e.Seq, err)
		}
	}
	proof, err := tree.ProveConsistency(s.ctx, s.Store, now, 7) // whose entries are gone
	if err != nil || len(proof) == 0 {
		t.Errorf("growth from 7 is not proven: %v", err)
	}
}

package broker_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// share registers a VIM that every project may lease.
func (b *bench) share(p policy.Principal, name string) broker.VIM {
	b.t.Helper()
	r := b.registration(name)
	r.Shared, r.Project = true, p.Project
	v, err := b.RegisterVIM(b.t.Context(), root, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func TestRegisteringASharedVIMNeedsTheRightToShare(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("hub")
	r.Shared = true
	_, err := b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "a member registering a shared VIM", err, broker.ErrDenied)
	wantField(t, "a member registering a shared VIM", err, "shared")
	b.wantKeys(0)
	if _, err := b.RegisterVIM(t.Context(), root, r); err != nil {
		t.Errorf("an administrator registering a shared VIM = %v", err)
	}
}

func TestANameThatTwoProjectsShareIsAConflict(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.share(alice, "hub")
	b.share(root, "hub")
	_, _, err := b.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: "hub"})
	wantKind(t, "a lease by a name that two projects share", err, broker.ErrConflict)
	wantField(t, "a lease by a name that two projects share", err, "vim")
	if _, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "hub"}); err != nil {
		t.Errorf("a lease by a name of the own project = %v", err)
	}
}

// Revoking many takes what the caller may revoke, also where more can be seen.
func TestRevokingManyTakesOnlyWhatTheCallerMayRevoke(t *testing.T) {
	b := newBench(t, benchOptions{})
	hub := b.share(mallet, "hub")
	hers, _ := b.mustIssue(alice, hub.ID)
	his, _ := b.mustIssue(bob, hub.ID)
	if seen, _, err := b.Leases(t.Context(), alice, broker.LeaseQuery{VIM: hub.ID}); err != nil || len(seen) != 2 {
		t.Fatalf("alice sees %d leases, %v, want both", len(seen), err)
	}
	for _, s := range []broker.LeaseSelector{{Principal: "bob"}, {VIM: hub.ID}} {
		if _, err := b.RevokeLeases(t.Context(), alice, s); err != nil {
			t.Fatal(err)
		}
		if got := b.row(his.ID).State; got != broker.LeaseActive {
			t.Errorf("after alice's RevokeLeases(%+v) bob's lease is %s, want active", s, got)
		}
	}
	if got := b.row(hers.ID).State; got != broker.LeaseRevoked {
		t.Errorf("alice's own lease is %s, want revoked", got)
	}
}

// A list holds what policy lets the caller see one by one, and no more.
func TestListsHoldOnlyWhatPolicyShows(t *testing.T) {
	b := newBench(t, benchOptions{policies: map[string][]byte{"site.cedar": []byte(`
		@id("no-secret-vims") forbid (principal, action == Action::"vim:show", resource is VIM)
		when { resource.name == "secret" && principal.name == "alice" };
		@id("no-leases-of-bob") forbid (principal, action == Action::"lease:show", resource is Lease)
		when { resource.owner == "bob" && principal.name == "alice" };`)}})
	b.mustRegister(root, "own")
	open := b.share(bob, "open")
	b.share(bob, "secret")
	hers, _ := b.mustIssue(alice, open.ID)
	b.mustIssue(bob, open.ID)
	if vims, _, err := b.VIMs(t.Context(), alice, broker.VIMQuery{}); err != nil || len(vims) != 1 || vims[0].Name != "open" {
		t.Errorf("alice lists %d VIMs, %v, want the one that policy shows her", len(vims), err)
	}
	if leases, _, err := b.Leases(t.Context(), alice, broker.LeaseQuery{}); err != nil || len(leases) != 1 || leases[0].ID != hers.ID {
		t.Errorf("alice lists %d leases, %v, want her own", len(leases), err)
	}
	if vims, _, err := b.VIMs(t.Context(), bob, broker.VIMQuery{}); err != nil || len(vims) != 2 {
		t.Errorf("bob lists %d VIMs, %v, want both of his project", len(vims), err)
	}
}

package broker_test

import (
	"errors"
	"slices"
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
	for _, c := range []struct {
		s    broker.LeaseSelector
		kind error
	}{
		{broker.LeaseSelector{VIM: hub.ID}, nil},
		{broker.LeaseSelector{Principal: "bob"}, broker.ErrDenied}, // she may revoke none of them
	} {
		if _, err := b.RevokeLeases(t.Context(), alice, c.s); !errors.Is(err, c.kind) {
			t.Fatalf("alice's RevokeLeases(%+v) = %v, want %v", c.s, err, c.kind)
		}
		if got := b.row(his.ID).State; got != broker.LeaseActive {
			t.Errorf("after alice's RevokeLeases(%+v) bob's lease is %s, want active", c.s, got)
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

// A VIM that is shared with named projects is seen and leased there, and nowhere else;
// none of them learns of the others.
func TestAVIMIsSharedWithNamedProjects(t *testing.T) {
	b := newBench(t, benchOptions{})
	third := policy.Principal{Name: "carol", Project: "third", Roles: []string{policy.RoleMember}}
	v := b.mustRegister(alice, "hub")
	for what, change := range map[string]broker.Change{
		"shared":     {Shared: ptr(true)},
		"sharedWith": {SharedWith: &[]string{"other"}},
	} {
		_, err := b.UpdateVIM(t.Context(), alice, v.ID, change)
		wantKind(t, "a member sharing", err, broker.ErrDenied)
		wantField(t, "a member sharing", err, what)
	}
	for _, bad := range [][]string{{""}, {" x"}, make([]string, 101)} {
		for i := range bad {
			if len(bad) > 1 {
				bad[i] = "p" + string(rune('a'+i))
			}
		}
		_, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedWith: &bad})
		wantKind(t, "sharing with names that are none, or too many", err, broker.ErrInvalid)
		wantField(t, "sharing with names that are none, or too many", err, "sharedWith")
	}
	v, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedWith: &[]string{"third", "other", "demo", "other"}})
	if err != nil || !slices.Equal(v.SharedWith, []string{"other", "third"}) {
		t.Fatalf("sharing = %v, %v, want the other projects in order", v.SharedWith, err)
	}
	for _, p := range []policy.Principal{mallet, third} {
		seen, _, err := b.VIMs(t.Context(), p, broker.VIMQuery{})
		if err != nil || len(seen) != 1 || !slices.Equal(seen[0].SharedWith, []string{p.Project}) {
			t.Errorf("%s lists %+v, %v, want the VIM, and no other project's name", p.Name, seen, err)
		}
		one, err := b.VIM(t.Context(), p, "hub")
		if err != nil || !slices.Equal(one.SharedWith, []string{p.Project}) {
			t.Errorf("%s sees it shared with %v, %v, want its own project only", p.Name, one.SharedWith, err)
		}
		if _, _, err := b.IssueLease(t.Context(), p, broker.LeaseRequest{VIM: "hub"}); err != nil {
			t.Errorf("%s leasing it = %v", p.Name, err)
		}
	}
	if own, err := b.VIM(t.Context(), alice, "hub"); err != nil || len(own.SharedWith) != 2 {
		t.Errorf("its own project sees it shared with %v, %v, want all of them", own.SharedWith, err)
	}
	if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedWith: &[]string{"third"}}); err != nil {
		t.Fatal(err)
	}
	_, err = b.VIM(t.Context(), mallet, v.ID)
	wantKind(t, "seeing it after the share has ended", err, broker.ErrNotFound)
	if seen, _, err := b.VIMs(t.Context(), mallet, broker.VIMQuery{}); err != nil || len(seen) != 0 {
		t.Errorf("after the share has ended the list holds %d, %v", len(seen), err)
	}
	if _, err := b.VIM(t.Context(), third, v.ID); err != nil {
		t.Errorf("the other share = %v, want it to stay", err)
	}
}

// A share that comes between decision and write is decided on.
func TestRepeatingAShareDoesNotWinItBack(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "hub")
	if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedWith: &[]string{"other"}}); err != nil {
		t.Fatal(err)
	}
	late := b.behind(v.ID, broker.Change{SharedWith: &[]string{}})
	_, err := late.UpdateVIM(t.Context(), alice, v.ID, broker.Change{SharedWith: &[]string{"other"}})
	wantKind(t, "repeating the share", err, broker.ErrDenied)
}

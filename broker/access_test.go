package broker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// directory knows callers by name; those that are not in it are gone.
type directory map[string]policy.Principal

var errAsleep = errors.New("asleep")

func (d directory) Lookup(_ context.Context, name, project string) (policy.Principal, error) {
	p, ok := d[name]
	switch {
	case d == nil:
		return policy.Principal{}, errAsleep
	case !ok || p.Project != project:
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return p, nil
}

// switched is a decider whose policies can be exchanged, as a reload does.
type switched struct{ policy.Decider }

// accessBench has a VIM that is shared, a lease of mallet's on it and one of alice's.
type accessBench struct {
	*bench
	hub          broker.VIM
	foreign, own broker.Lease
	policies     *switched
	people       directory
	outside      policy.Principal
}

func newAccessBench(t *testing.T, end bool) *accessBench {
	b := &accessBench{bench: newBench(t, benchOptions{}), people: directory{"alice": alice, "bob": bob, "mallet": mallet, "root": root}}
	b.policies = &switched{b.options.Policy}
	b.options.Policy = b.policies
	b.options.Terms.EndWithAccess = end
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: b.people}
	b.Broker = mustNew(t, b.options)
	b.outside = policy.Principal{Name: "keystone:u1@default", Project: "other", Roles: []string{policy.RoleMember}}
	r := b.registration("hub")
	r.Project, r.SharedWith = alice.Project, []string{"other", alice.Project, "other"}
	var err error
	if b.hub, err = b.RegisterVIM(t.Context(), root, r); err != nil || !slices.Equal(b.hub.SharedWith, []string{"other"}) {
		t.Fatalf("shared with %q, %v", b.hub.SharedWith, err)
	}
	b.foreign, _ = b.mustIssue(mallet, b.hub.ID)
	b.own, _ = b.mustIssue(alice, b.hub.ID)
	return b
}

// reload exchanges the policies, and says so to the broker.
func (b *accessBench) reload(text string) {
	b.t.Helper()
	policies, err := policy.Load(site(text))
	if err != nil {
		b.t.Fatal(err)
	}
	b.policies.Decider = policies
	b.pass()
}

func (b *accessBench) pass() {
	b.t.Helper()
	if err := b.EndWithoutAccess(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *accessBench) change(c broker.Change) {
	b.t.Helper()
	if _, err := b.UpdateVIM(b.t.Context(), root, b.hub.ID, c); err != nil {
		b.t.Fatal(err)
	}
}

const noLeases = `@id("none") forbid (principal, action == Action::"lease:issue", resource)
	when { principal.name == "mallet" };`

// Whatever the access of a lease's holder rested on: once it is gone the lease is not
// renewed, and where the site says so it ends at once. Leases of others stay.
func TestALeaseEndsWithTheAccessOfItsHolder(t *testing.T) {
	reader := mallet
	reader.Roles = []string{policy.RoleReader}
	for name, c := range map[string]struct {
		lose func(b *accessBench)
		// now is who asks to renew.
		now policy.Principal
	}{
		"the share by name":     {func(b *accessBench) { b.change(broker.Change{SharedWith: &[]string{}}) }, mallet},
		"a policy, at a reload": {func(b *accessBench) { b.reload(noLeases) }, mallet},
		"a label that a policy rests on": {func(b *accessBench) {
			b.reload(`@id("closed") forbid (principal, action == Action::"lease:issue", resource is VIM)
				when { resource.hasTag("closed") && principal.name == "mallet" };`)
			b.change(broker.Change{Labels: map[string]*string{"closed": ptr("")}})
		}, mallet},
		"the role, at a reload": {func(b *accessBench) {
			b.people["mallet"] = reader
			b.pass()
		}, reader},
	} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []bool{false, true} {
				b := newAccessBench(t, end)
				c.lose(b)
				want := broker.LeaseActive
				if end {
					want = broker.LeaseRevoking
				}
				if got := b.row(b.foreign.ID); got.State != want || end && got.Reason != broker.ReasonAccessLost {
					t.Errorf("with endWithAccess %t the lease is %s (%s), want %s", end, got.State, got.Reason, want)
				}
				if got := b.row(b.own.ID); got.State != broker.LeaseActive {
					t.Errorf("a lease of somebody who has access is %s", got.State)
				}
				if !end {
					_, _, err := b.RenewLease(t.Context(), c.now, b.foreign.ID, 0)
					wantKind(t, "renewing", err, broker.ErrDenied)
					continue
				}
				b.mustReap()
				if got := b.row(b.foreign.ID).State; got != broker.LeaseRevoked {
					t.Errorf("after the reaper the lease is %s, want revoked", got)
				}
			}
		})
	}
}

func TestALeaseEndsWithItsPrincipal(t *testing.T) {
	b := newAccessBench(t, true)
	delete(b.people, "mallet")
	b.pass()
	if got := b.row(b.foreign.ID); got.State != broker.LeaseRevoking || got.Reason != broker.ReasonAccessLost {
		t.Errorf("the lease of a principal that is gone is %s (%s)", got.State, got.Reason)
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:access", Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Resource != b.foreign.ID || entries[0].Detail[audit.DetailReason] != "accessLost" {
		t.Errorf("the audit log holds %+v, %v, want the one end and its reason", entries, err)
	}
}

// Nobody can be asked about a caller of the table of trust. The lease ends with the entry that let the caller in.
func TestALeaseEndsWithTheEntryOfItsHolder(t *testing.T) {
	for _, end := range []bool{false, true} {
		b := newAccessBench(t, end)
		there := map[string]bool{"oidc:corp:ann": true, "oidc:more:ann": true}
		b.options.Trusts = func(name string) bool { return there[name] }
		b.Broker = mustNew(t, b.options)
		issue := func(name string) broker.Lease {
			l, _ := b.mustIssue(policy.Principal{Name: name, Project: "other", Roles: []string{policy.RoleMember}}, b.hub.ID)
			return l
		}
		gone, stays := issue("oidc:more:ann"), issue("oidc:corp:ann")
		b.pass()
		there["oidc:more:ann"] = false
		for id, want := range map[string]broker.LeaseState{gone.ID: broker.LeaseActive, stays.ID: broker.LeaseActive} {
			if got := b.row(id).State; got != want {
				t.Errorf("while its holder's entry is there a lease is %s", got)
			}
		}
		b.pass()
		want := broker.LeaseActive
		if end {
			want = broker.LeaseRevoking
		}
		if got := b.row(gone.ID); got.State != want || b.row(stays.ID).State != broker.LeaseActive {
			t.Errorf("with endWithAccess %t the lease of an entry that is gone is %s, want %s; another is %s", end, got.State, want, b.row(stays.ID).State)
		}
	}
}

// What cannot be asked or decided ends nothing.
func TestNoLeaseEndsOnDoubt(t *testing.T) {
	b := newAccessBench(t, true)
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory(nil)}
	asleep := mustNew(t, b.options)
	if err := asleep.EndWithoutAccess(t.Context()); !errors.Is(err, errAsleep) {
		t.Errorf("EndWithoutAccess() = %v, want the directory's error", err)
	}
	b.policies.Decider = broken{}
	b.pass()
	for _, id := range []string{b.foreign.ID, b.own.ID} {
		if got := b.row(id).State; got != broker.LeaseActive {
			t.Errorf("a lease is %s, want it active", got)
		}
	}
}

// drowsy is a directory that cannot be asked for one caller.
type drowsy struct {
	directory
	asleep string
}

func (d drowsy) Lookup(ctx context.Context, name, project string) (policy.Principal, error) {
	if name == d.asleep {
		return policy.Principal{}, errAsleep
	}
	return d.directory.Lookup(ctx, name, project)
}

// hesitant denies the pass one lease, as a fault of one row would.
type hesitant struct {
	policy.Decider
	lease string
}

func (h hesitant) Decide(r policy.Request) policy.Decision {
	if r.Principal.Name == "system:access" && r.Resource.ID == h.lease {
		return policy.Decision{Errors: []string{"overflow"}}
	}
	return h.Decider.Decide(r)
}

// What is at fault with one lease keeps no other from ending.
func TestOneFaultKeepsNoOtherLeaseFromEnding(t *testing.T) {
	for name, broken := range map[string]func(b *accessBench){
		"its holder cannot be looked up": func(b *accessBench) {
			b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: drowsy{directory{}, b.own.Principal}}
		},
		"the pass may not end it": func(b *accessBench) {
			b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{}}
			b.policies.Decider = hesitant{b.policies.Decider, b.own.ID}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newAccessBench(t, true)
			more, _ := b.mustIssue(bob, b.hub.ID)
			broken(b)
			if err := mustNew(t, b.options).EndWithoutAccess(t.Context()); err == nil {
				t.Error("the pass says nothing of the fault")
			}
			for id, want := range map[string]broker.LeaseState{b.own.ID: broker.LeaseActive, b.foreign.ID: broker.LeaseRevoking, more.ID: broker.LeaseRevoking} {
				if got := b.row(id).State; got != want {
					t.Errorf("lease %s of %s is %s, want %s", id, b.row(id).Principal, got, want)
				}
			}
		})
	}
}

// broken denies with an error, but lets the broker's own parts act.
type broken struct{}

func (broken) Decide(r policy.Request) policy.Decision {
	if r.Principal.Authenticator() == "system" {
		return policy.Decision{Allowed: true}
	}
	return policy.Decision{Errors: []string{"overflow"}}
}

// A caller of whom no directory knows: the roles of the last renewal count, until a login
// shows others.
func TestALoginShowsThatARoleIsGone(t *testing.T) {
	b := newAccessBench(t, true)
	l, _ := b.mustIssue(b.outside, b.hub.ID)
	b.pass()
	if err := b.LoggedIn(t.Context(), b.outside); err != nil {
		t.Fatal(err)
	}
	elsewhere := b.outside
	elsewhere.Project, elsewhere.Roles = "third", nil
	if err := b.LoggedIn(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	if got := b.row(l.ID).State; got != broker.LeaseActive {
		t.Fatalf("with the role the lease is %s, want active", got)
	}
	less := b.outside
	less.Roles = []string{policy.RoleReader}
	if err := b.LoggedIn(t.Context(), less); err != nil {
		t.Fatal(err)
	}
	if got := b.row(l.ID); got.State != broker.LeaseRevoking || got.Reason != broker.ReasonAccessLost {
		t.Errorf("after a login without the role the lease is %s (%s)", got.State, got.Reason)
	}
	if got := b.row(b.foreign.ID).State; got != broker.LeaseActive {
		t.Errorf("another caller's lease is %s", got)
	}
}

// A renewal records the roles anew.
func TestRenewingRecordsTheRolesOfNow(t *testing.T) {
	b := newAccessBench(t, true)
	l, _ := b.mustIssue(b.outside, b.hub.ID)
	before, _ := b.mustIssue(b.outside, b.hub.ID)
	more := b.outside
	more.Roles = []string{policy.RoleMember, "operator"}
	if _, _, err := b.RenewLease(t.Context(), more, l.ID, 0); err != nil {
		t.Fatal(err)
	}
	b.reload(`@id("operators") forbid (principal, action == Action::"lease:issue", resource)
		unless { principal.roles.contains("operator") || principal.project == "demo" || principal.name == "mallet" };`)
	if got := b.row(l.ID).State; got != broker.LeaseActive {
		t.Errorf("a lease that was renewed with the role is %s, want active", got)
	}
	if got := b.row(before.ID).State; got != broker.LeaseRevoking {
		t.Errorf("a lease from before the role is %s, want revoking", got)
	}
}

// The pass comes often where every lease ends with its holder's access.
func TestHowOftenThePassOfAccessComes(t *testing.T) {
	for end, want := range map[bool]time.Duration{false: 10 * time.Minute, true: broker.DefaultTerms().SettleEvery} {
		b := newAccessBench(t, end)
		at := slices.IndexFunc(b.Passes(), func(p broker.Pass) bool { return p.Name == "access" })
		if at < 0 || b.Passes()[at].Every != want {
			t.Errorf("with endWithAccess %t the pass is the %dth, or does not come every %v", end, at, want)
		}
	}
}

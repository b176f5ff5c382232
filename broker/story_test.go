package broker_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// entries are what q selects of the log for p, oldest first, without p's own look at it.
func (b *bench) entries(p policy.Principal, q audit.Query) []audit.Entry {
	b.t.Helper()
	q.Limit = 1000
	found, err := b.Entries(b.t.Context(), p, q)
	if err != nil {
		b.t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(e audit.Entry) bool { return e.Action == policy.AuditRead })
	slices.Reverse(found)
	return found
}

func (b *bench) mustUpdate(p policy.Principal, id string, c broker.Change) {
	b.t.Helper()
	if _, err := b.UpdateVIM(b.t.Context(), p, id, c); err != nil {
		b.t.Fatal(err)
	}
}

// TestEntriesNameTheirVIM holds that each entry of a VIM's life, and of a lease's on it,
// says which VIM that was: also when both are long gone.
func TestEntriesNameTheirVIM(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(bob, v.ID)
	if _, _, err := b.RenewLease(t.Context(), bob, l.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RevokeLease(t.Context(), bob, l.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(b.row(l.ID).MaxRevocationLag)
	b.mustReap()
	if _, gone, err := b.DeleteVIM(t.Context(), alice, "edge1", broker.Deletion{}); err != nil || !gone {
		t.Fatalf("DeleteVIM() = %t, %v", gone, err)
	}
	all := b.entries(root, audit.Query{})
	if got := b.entries(root, audit.Query{VIMName: "edge1"}); len(got) != len(all) {
		t.Errorf("%d of %d entries are found by the VIM's name", len(got), len(all))
	}
	if got := b.entries(root, audit.Query{VIM: v.ID}); len(got) != len(all) {
		t.Errorf("%d of %d entries are found by the VIM's id", len(got), len(all))
	}
	leases := 0
	for _, e := range all {
		if e.Detail[audit.DetailVIMProject] != "demo" || e.Detail[audit.DetailEndpointHost] != "127.0.0.1" {
			t.Errorf("%s of %s does not say whose VIM it was, and where: %v", e.Outcome, e.Action, e.Detail)
		}
		if strings.HasPrefix(string(e.Action), "lease:") && e.Detail[audit.DetailLease] == l.ID {
			leases++
		}
	}
	if got := b.entries(root, audit.Query{Lease: l.ID}); len(got) != leases || leases < 6 {
		t.Errorf("%d entries are found by the lease's id, %d name it", len(got), leases)
	}
}

// TestUpdatesSayWhatChanged looks for the old and the new values, and for none that is secret.
func TestUpdatesSayWhatChanged(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	const canary = "canary-in-free-text"
	b.mustUpdate(root, v.ID, broker.Change{
		Name: ptr("edge2"), Shared: ptr(true), Description: ptr(canary), Extra: `{"note":"` + canary + `"}`,
		Labels: map[string]*string{"tier": ptr("gold")},
	})
	b.mustUpdate(root, v.ID, broker.Change{
		InsecureSkipVerify: ptr(true), Credential: b.registration("").Credential, Labels: map[string]*string{"tier": nil},
	})
	var changes []map[string]string
	for _, e := range b.entries(root, audit.Query{Action: policy.VIMUpdate, Outcomes: []audit.Outcome{audit.Done}}) {
		maps.DeleteFunc(e.Detail, func(key, _ string) bool {
			return !strings.HasPrefix(key, audit.DetailOld) && !strings.HasPrefix(key, audit.DetailNew)
		})
		changes = append(changes, e.Detail)
	}
	want := []map[string]string{{
		"old.name": "edge1", "new.name": "edge2", "old.shared": "false", "new.shared": "true",
		"new.description": "(not shown)", "new.extra": "(not shown)", "new.labels.tier": `"gold"`,
	}, {
		"old.insecureSkipVerify": "false", "new.insecureSkipVerify": "true", "old.labels.tier": `"gold"`, "old.caCert": "sha256:",
		"old.generation": "1", "new.generation": "2", "new.credential": "(not shown)",
	}}
	digests := cmp.FilterValues(func(x, y string) bool { return x == "sha256:" || y == "sha256:" }, cmp.Comparer(func(x, y string) bool {
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
	}))
	if diff := cmp.Diff(want, changes, digests); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	registered := b.entries(root, audit.Query{Action: policy.VIMRegister, Outcomes: []audit.Outcome{audit.Done}})
	if d := registered[0].Detail; d["new.name"] != "edge1" || d["new.endpoint"] != b.kube.Endpoint || d["new.credential.kind"] != "bearerToken" {
		t.Errorf("the registration says %v", d)
	}
	for _, e := range b.entries(root, audit.Query{}) {
		if text := fmt.Sprint(e); strings.Contains(text, canary) || strings.Contains(text, b.kube.AdminToken) {
			t.Errorf("an entry tells what it must not: %s", text)
		}
	}
}

// TestEachPermissionIsRecorded counts those besides the one for the act itself.
func TestEachPermissionIsRecorded(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	b.mustUpdate(root, v.ID, broker.Change{Shared: ptr(true), Labels: map[string]*string{"vimbroker.io/tier": ptr("gold")}})
	for _, action := range []policy.Action{policy.VIMShare, policy.VIMLabelReserved} {
		if got := b.entries(root, audit.Query{Action: action}); len(got) != 1 || got[0].Outcome != audit.Intent || got[0].Detail[audit.DetailVIM] != v.ID {
			t.Errorf("%s is recorded as %+v", action, got)
		}
	}
	b.store.fail("Append", 1)
	_, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Shared: ptr(false)})
	wantKind(t, "an update whose further permission cannot be recorded", err, broker.ErrUnavailable)
}

// TestForeignAndMissingLeaveTheSameEntries reads the log as the stranger does, and as the
// owner does.
func TestForeignAndMissingLeaveTheSameEntries(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, v.ID)
	acts := map[string]func(vim, lease string) error{
		"show": func(vim, _ string) error { _, err := b.VIM(t.Context(), mallet, vim); return err },
		"update": func(vim, _ string) error {
			_, err := b.UpdateVIM(t.Context(), mallet, vim, broker.Change{})
			return err
		},
		"delete": func(vim, _ string) error {
			_, _, err := b.DeleteVIM(t.Context(), mallet, vim, broker.Deletion{})
			return err
		},
		"check":  func(vim, _ string) error { _, err := b.CheckVIM(t.Context(), mallet, vim); return err },
		"rekey":  func(vim, _ string) error { _, err := b.RekeyVIM(t.Context(), mallet, vim, "", 0); return err },
		"settle": func(vim, _ string) error { _, err := b.Inventory(t.Context(), mallet, vim, true); return err },
		"issue": func(vim, _ string) error {
			_, _, err := b.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: vim})
			return err
		},
		"issue ill": func(vim, _ string) error {
			_, _, err := b.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: vim, Purpose: "\x01"})
			return err
		},
		"leases on": func(vim, _ string) error {
			_, _, err := b.Leases(t.Context(), mallet, broker.LeaseQuery{VIM: vim})
			return err
		},
		"revoke on": func(vim, _ string) error {
			_, err := b.RevokeLeases(t.Context(), mallet, broker.LeaseSelector{VIM: vim})
			return err
		},
		"lease":  func(_, lease string) error { _, err := b.Lease(t.Context(), mallet, lease); return err },
		"renew":  func(_, lease string) error { _, _, err := b.RenewLease(t.Context(), mallet, lease, 0); return err },
		"revoke": func(_, lease string) error { _, err := b.RevokeLease(t.Context(), mallet, lease); return err },
	}
	for _, name := range slices.Sorted(maps.Keys(acts)) {
		read := func() []audit.Entry {
			return b.entries(mallet, audit.Query{Outcomes: []audit.Outcome{audit.Denied, audit.Intent, audit.Done, audit.Failed}})
		}
		b.clock.Add(audit.FoldWithin) // looks that are alike are folded
		before, owners := len(read()), len(b.entries(alice, audit.Query{Principal: "mallet"}))
		wantKind(t, name+" of what is not there", acts[name](uuid.NewString(), uuid.NewString()), broker.ErrNotFound)
		missing := read()[before:]
		b.clock.Add(audit.FoldWithin)
		wantKind(t, name+" of what is foreign", acts[name](v.ID, l.ID), broker.ErrNotFound)
		foreign := read()[before+len(missing):]
		if diff := cmp.Diff(missing, foreign, cmpopts.IgnoreFields(audit.Entry{}, "Seq", "Time")); diff != "" || len(missing) != 1 {
			t.Errorf("%s: %d entries; what is foreign is told (-missing +foreign):\n%s", name, len(missing), diff)
		}
		told := b.entries(alice, audit.Query{Principal: "mallet"})[owners:]
		if len(told) != 1 || told[0].Detail[audit.DetailVIM] != v.ID || told[0].Detail[audit.DetailCallerProject] != "other" {
			t.Errorf("%s: the owner reads %+v of it", name, told)
		}
	}
}

// TestOwnersSeeWhatOthersDo on a shared VIM, and nobody else does.
func TestOwnersSeeWhatOthersDo(t *testing.T) {
	b := newBench(t, benchOptions{})
	hub := b.share(alice, "hub")
	l, _ := b.mustIssue(mallet, hub.ID)
	own := b.entries(mallet, audit.Query{Lease: l.ID})
	if seen := b.entries(alice, audit.Query{Lease: l.ID}); len(own) == 0 || !cmp.Equal(own, seen) {
		t.Errorf("the VIM's owner sees %d of the %d entries about another's lease", len(seen), len(own))
	}
	eve := policy.Principal{Name: "eve", Project: "third", Roles: []string{policy.RoleMember}}
	if seen := b.entries(eve, audit.Query{}); len(seen) != 0 {
		t.Errorf("a third project sees %+v", seen)
	}
	theirs := b.mustRegister(mallet, "mine")
	if seen := b.entries(alice, audit.Query{VIM: theirs.ID}); len(seen) != 0 {
		t.Errorf("another's own VIM is seen: %+v", seen)
	}
	for _, project := range []string{mallet.Project, "nowhere", "*"} {
		found, err := b.Entries(t.Context(), alice, audit.Query{Project: project})
		wantKind(t, "reading entries of project "+project, err, broker.ErrDenied)
		if len(found) != 0 {
			t.Errorf("with the refusal came %d entries", len(found))
		}
	}
	if named := b.entries(mallet, audit.Query{Project: mallet.Project, Lease: l.ID}); !cmp.Equal(own, named) {
		t.Errorf("who names the own project sees %d of %d entries", len(named), len(own))
	}
}

// TestRepeatsUnderAKeyAreRecorded, also with another credential, and what was refused.
func TestRepeatsUnderAKeyAreRecorded(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("edge1")
	r.IdempotencyKey = "k1"
	v, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil {
		t.Fatal(err)
	}
	before := len(b.entries(root, audit.Query{}))
	r.Credential.Token = secret.NewText("another-canary-token")
	if again, err := b.RegisterVIM(t.Context(), alice, r); err != nil || again.ID != v.ID {
		t.Fatalf("a repeat = %s, %v, want the VIM of before", again.ID, err)
	}
	r.Name = "edge2"
	_, err = b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "another request under the key", err, broker.ErrConflict)
	told := b.entries(root, audit.Query{})[before:]
	if len(told) != 2 || told[0].Outcome != audit.Done || told[0].Detail[audit.DetailVIM] != v.ID || told[0].Detail[audit.DetailReason] == "" ||
		told[1].Outcome != audit.Failed || told[1].Detail[audit.DetailError] != broker.ErrConflict.Error() {
		t.Errorf("the repeats are recorded as %+v", told)
	}
	b.wantNowhere("the credential of a repeat", "another-canary-token")
	b.store.fail("Append", 1)
	r.Name = "edge1"
	_, err = b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "a repeat that cannot be recorded", err, broker.ErrUnavailable)
}

// TestAMassActThatWasRefusedIsRecorded with what was named and how much was refused.
func TestAMassActThatWasRefusedIsRecorded(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, v.ID)
	_, err := b.RevokeLeases(t.Context(), rita, broker.LeaseSelector{VIM: v.ID})
	wantKind(t, "a reader's revocation of all leases", err, broker.ErrDenied)
	told := b.entries(alice, audit.Query{Principal: "rita", Action: policy.LeaseRevoke})
	if len(told) != 1 || told[0].Outcome != audit.Denied || told[0].Detail[audit.DetailVIM] != v.ID || told[0].Detail[audit.DetailReason] != "1 of 1 leases that were named" {
		t.Errorf("the refusal is recorded as %+v", told)
	}
	if b.row(l.ID).State != broker.LeaseActive {
		t.Error("the lease was revoked")
	}
	b.store.fail("Append", 1)
	_, err = b.RevokeLeases(t.Context(), rita, broker.LeaseSelector{VIM: v.ID})
	wantKind(t, "a refusal that cannot be recorded", err, broker.ErrUnavailable)
}

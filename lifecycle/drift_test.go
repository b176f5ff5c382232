package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// observe is one run of the pass, after which no lease is left.
func (p *plant) observe() {
	p.t.Helper()
	if err := p.Observe(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	if n := p.lends.count(); n != 0 {
		p.t.Errorf("%d leases are live after looking", n)
	}
}

// TestDrift: what is missing or was changed is seen, with who did it, and healing repairs it.
func TestDrift(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	if !i.Drift.TriedAt.IsZero() {
		t.Errorf("before anybody looked the drift is %+v", i.Drift)
	}
	asked := len(p.lends.asked)
	p.observe()
	if i = p.instance(i.ID); i.Drift.Count != 0 || !i.Drift.SeenAt.Equal(p.clock.Now()) {
		t.Errorf("where nothing has drifted it is %+v", i.Drift)
	}
	for _, r := range p.lends.asked[asked:] {
		if !slices.Equal(r.Rules[0].Verbs, []string{"get"}) {
			t.Errorf("a lease for looking was asked for as %+v", r)
		}
	}

	delete(p.yard.objects, "old")
	p.yard.changed = map[string]string{"front": "kubectl-edit"}
	revision := i.Revision
	p.observe()
	if i = p.instance(i.ID); i.Drift.Count != 0 {
		t.Error("it was looked at again before it was due")
	}
	p.clock.Add(time.Hour)
	before := len(p.entries())
	p.observe()
	if after := p.entries(); len(after) != before {
		t.Errorf("looking has written %d entries beside those of its leases", len(after)-before)
	}
	i = p.instance(i.ID)
	d := i.Drift
	if d.Count != 2 || len(d.Resources) != 2 || d.Unseen != "" || i.Revision != revision {
		t.Fatalf("the drift is %+v at revision %d, want two resources at %d", d, i.Revision, revision)
	}
	if front, old := d.Resources[0], d.Resources[1]; front.Name != "front" || !slices.Equal(front.ChangedBy, []string{"kubectl-edit"}) || old.Name != "old" || old.Standing || old.Message == "" {
		t.Errorf("the drift is %+v", d.Resources)
	}
	if c, err := p.Count(t.Context()); err != nil || c.Drifted != 1 || c.Unseen != 0 {
		t.Errorf("Count() = %+v, %v", c, err)
	}

	p.yard.changed = nil // healing takes the field back
	p.clock.Add(-30 * time.Minute)
	p.completes(p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	if i = p.instance(i.ID); i.Drift.Count != 0 || !i.Drift.TriedAt.IsZero() {
		t.Errorf("after healing the drift is %+v", i.Drift)
	}
	p.observe()
	if i = p.instance(i.ID); i.Drift.Count != 0 || i.Drift.SeenAt.IsZero() {
		t.Errorf("looked at again it is %+v", i.Drift)
	}
}

// on makes an instance on a VIM.
func (p *plant) on(vim string) lifecycle.Instance {
	p.t.Helper()
	i := p.made()
	p.completes(p.Instantiate(p.t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: vim}))
	return p.instance(i.ID)
}

// TestDriftOfOneVIMKeepsNoOtherWaiting: of a VIM that does not answer one instance is tried, and the rest
// has its turn after the others.
func TestDriftOfOneVIMKeepsNoOtherWaiting(t *testing.T) {
	p := newPlant(t)
	p.lends.out.None()
	down := map[string]bool{}
	for range 3 {
		down[p.on("far").ID] = true
	}
	up := p.on("edge")
	p.yard.looking = func(instance string) error {
		if down[instance] {
			return &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
		}
		return nil
	}
	p.observe()
	if n := len(p.yard.looks); n != 2 {
		t.Errorf("%d instances were asked about, want one of each VIM", n)
	}
	for id := range down {
		if d := p.instance(id).Drift; d.Unseen != "no answer" || !d.SeenAt.IsZero() || d.TriedAt.IsZero() {
			t.Errorf("of the VIM that is down: %+v", d)
		}
	}
	if d := p.instance(up.ID).Drift; d.SeenAt.IsZero() || d.Unseen != "" {
		t.Errorf("of the other: %+v", d)
	}
	if c, err := p.Count(t.Context()); err != nil || c.Unseen != 3 {
		t.Errorf("Count() = %+v, %v", c, err)
	}
	// What was seen stays while the VIM does not answer.
	p.yard.looking = nil
	delete(p.yard.objects, "old")
	p.clock.Add(time.Hour)
	p.observe()
	p.yard.looking = func(string) error { return &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"} }
	p.clock.Add(time.Hour)
	p.observe()
	if d := p.instance(up.ID).Drift; d.Count != 1 || d.Unseen == "" || !d.SeenAt.Before(d.TriedAt) {
		t.Errorf("where the VIM does not answer any more: %+v", d)
	}
}

// TestDriftAndOperations: nothing is looked at while an operation is under way, and one that begins meanwhile
// is not written over.
func TestDriftAndOperations(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	var begun lifecycle.Operation
	p.yard.looking = func(string) (err error) {
		delete(p.yard.objects, "old")
		begun, err = p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})
		return err
	}
	p.observe()
	if d := p.instance(i.ID).Drift; !d.TriedAt.IsZero() {
		t.Errorf("an operation has begun, and the drift is %+v", d)
	}
	p.yard.looks = nil
	p.clock.Add(time.Hour)
	p.observe()
	if len(p.yard.looks) > 0 {
		t.Error("the instance was looked at while an operation was under way")
	}
	p.clock.Add(-time.Hour)
	p.completes(begun, nil)
}

// TestDriftLeaves: where the lease is refused nothing is seen, and the instance says why. The error says
// nothing of the credential.
func TestDriftLeaves(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	p.lends.refusal = &broker.Error{Kind: broker.ErrDenied, Detail: "policy says no"}
	p.observe()
	if d := p.instance(i.ID).Drift; !strings.Contains(d.Unseen, "policy says no") || len(p.yard.looks) > 0 {
		t.Errorf("the drift is %+v, looks %v", d, p.yard.looks)
	}
	all, err := p.store.Entries(t.Context(), audit.Query{Principal: "system:drift", Limit: 10})
	if err != nil || len(all) > 0 {
		t.Errorf("entries of the pass: %v, %v", all, err)
	}
}

// TestALookEndsWhatOneBeforeHasLeft: the lease of a look that died ends with the next look at the instance.
func TestALookEndsWhatOneBeforeHasLeft(t *testing.T) {
	p := newPlant(t)
	p.running()
	p.yard.looking = func(string) error {
		p.lends.stuck = errors.New("died")
		return nil
	}
	if err := p.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := p.lends.count(); n != 1 {
		t.Fatalf("a look that died has left %d leases, want one", n)
	}
	p.lends.stuck, p.yard.looking = nil, nil
	p.clock.Add(time.Hour)
	p.observe()
	if n := len(p.yard.looks); n != 2 {
		t.Errorf("the instance was looked at %d times, want 2", n)
	}
}

// TestCheckLooksNow: whoever sees an instance has it looked at before its turn, and an operation that works is not disturbed.
func TestCheckLooksNow(t *testing.T) {
	p := newPlant(t)
	i := p.on("edge")
	if got, err := p.Check(t.Context(), alice, i.ID); err != nil || got.Drift.Count != 0 || got.Drift.SeenAt.IsZero() {
		t.Errorf("Check() of what stands = %+v, %v", got.Drift, err)
	}
	delete(p.yard.objects, "front")
	if got, err := p.Check(t.Context(), alice, i.ID); err != nil || got.Drift.Count != 1 || p.lends.count() != 0 {
		t.Errorf("Check() = %+v, %v with %d leases live, want one resource missing", got.Drift, err, p.lends.count())
	}
	_, err := p.Check(t.Context(), ada, i.ID)
	entries, failed := p.store.Entries(t.Context(), audit.Query{Principal: ada.Name, Limit: 10})
	if err != nil || failed != nil || len(entries) != 1 || entries[0].Action != policy.VNFShow || entries[0].Outcome != audit.Read || entries[0].Resource != i.ID {
		t.Errorf("Check() = %v, and of who looked the log has %+v, %v", err, entries, failed)
	}
	_, err = p.Check(t.Context(), carol, i.ID)
	wantKind(t, err, broker.ErrNotFound)
	_, err = p.Check(t.Context(), alice, p.made().ID)
	wantKind(t, err, broker.ErrConflict)
	if _, err := p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Check(t.Context(), alice, i.ID)
	wantKind(t, err, broker.ErrConflict)
}

package broker_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// makesPods is a lease that makes pods in namespace default.
func makesPods() broker.LeaseRequest {
	return broker.LeaseRequest{
		VIM: "edge1", Namespaces: []string{"default"},
		Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}},
	}
}

// enforceNothing takes the label of Pod Security from namespace default.
func (b *bench) enforceNothing() {
	b.t.Helper()
	if !b.kube.Update("namespaces", "", "default", func(o metav1.Object) { o.SetLabels(nil) }) {
		b.t.Fatal("there is no namespace default")
	}
}

// TestALeaseOfAPlanIsItsOperationsAlone: it leaves out what a namespace holds, so no other holder gets its credential,
// and no row becomes one afterwards.
func TestALeaseOfAPlanIsItsOperationsAlone(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.enforceNothing()
	_, _, err := b.IssueLease(t.Context(), alice, makesPods())
	wantKind(t, "a member's lease", err, broker.ErrDenied)
	for _, said := range []string{"unbounded-leases-need-admin", "in namespace default, which enforces no level of Pod Security", "set podsHeldBy"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("the refusal is %v, want it to say %q", err, said)
		}
	}
	r := makesPods()
	r.Operation, r.Planned = "op-1", true
	engine := alice
	engine.Actor = "system:lifecycle"
	l, _, err := b.IssueLease(t.Context(), engine, r)
	if err != nil || l.Grade != broker.GradeNamespaces || !b.row(l.ID).Planned {
		t.Fatalf("IssueLease() for a plan = %s, %v", l.Grade, err)
	}
	_, config, err := b.RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "RenewLease() by the caller of the operation", err, broker.ErrDenied)
	if !config.Credential.Empty() {
		t.Error("the caller of the operation has its credential")
	}
	if got, _, err := b.RenewLease(t.Context(), engine, l.ID, 0); err != nil || got.Grade != broker.GradeNamespaces {
		t.Errorf("RenewLease() by the operation = %s, %v", got.Grade, err)
	}

	// The credential opens with the word that it was sealed with, and no other.
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view", IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	b.tamper(tampered{lease: func(l *broker.Lease) { l.Planned = !l.Planned }})
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view", IdempotencyKey: "k"})
	wantKind(t, "a repeat on a row that was changed", err, broker.ErrUnopenable)
}

// TestTheOwnersWordHoldsPods: from the moment it is given, and no longer than it stands, whatever a lease is pinned to.
func TestTheOwnersWordHoldsPods(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	b.enforceNothing()
	word, none, wrong := "kyverno", "", "a b"
	_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{PodsHeldBy: &word})
	wantKind(t, "a member's word", err, broker.ErrDenied)
	wantField(t, "a member's word", err, "podsHeldBy")
	_, err = b.UpdateVIM(t.Context(), root, v.ID, broker.Change{PodsHeldBy: &wrong})
	wantField(t, "a word with a blank", err, "podsHeldBy")
	b.mustUpdate(root, v.ID, broker.Change{PodsHeldBy: &word})
	entries := b.entries(root, audit.Query{Action: policy.VIMUpdate})
	if len(entries) == 0 || entries[len(entries)-1].Detail["new.podsHeldBy"] != word {
		t.Errorf("the log does not hold the word: %+v", entries)
	}
	l, _, err := b.IssueLease(t.Context(), alice, makesPods())
	if err != nil || l.Grade != broker.GradeNamespaces || !strings.Contains(strings.Join(l.GradeReasons, " "), "where kyverno holds pods") {
		t.Fatalf("IssueLease() = %s %q, %v", l.Grade, l.GradeReasons, err)
	}
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("RenewLease() while the word stands: %v", err)
	}
	b.mustUpdate(root, v.ID, broker.Change{PodsHeldBy: &none})
	_, _, err = b.RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "RenewLease() when the word is taken back", err, broker.ErrDenied)
	b.mustUpdate(root, v.ID, broker.Change{PodsHeldBy: &word})
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("RenewLease() when it is given again: %v", err)
	}
}

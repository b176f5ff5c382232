package broker_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestEndOperation takes back the leases of one operation, whoever holds them, and no others.
func TestEndOperation(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	issue := func(operation string) broker.Lease {
		t.Helper()
		l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view", Operation: operation})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine, others, none := issue("op-1"), issue("op-2"), issue("")
	if ended, _, err := b.Ended(t.Context(), mine.ID); ended || err != nil {
		t.Errorf("Ended() of a lease that is active = %t, %v", ended, err)
	}
	if err := b.EndOperation(t.Context(), "op-1"); err != nil {
		t.Fatal(err)
	}
	if ended, why, err := b.Ended(t.Context(), mine.ID); !ended || why != broker.ReasonRequested || err != nil {
		t.Errorf("Ended() = %t, %s, %v; want that it was asked for", ended, why, err)
	}
	for _, l := range []broker.Lease{others, none} {
		if ended, _, err := b.Ended(t.Context(), l.ID); ended || err != nil {
			t.Errorf("the lease of %q has ended (%t, %v)", l.Operation, ended, err)
		}
	}
	wantKind(t, "EndOperation of none", b.EndOperation(t.Context(), ""), broker.ErrInvalid)
}

// TestWeighingIsAQuestion: it says what a lease would be, makes none, and a refusal is recorded as that of a question.
func TestWeighingIsAQuestion(t *testing.T) {
	b := newBench(t, benchOptions{policies: site(`
		@id("no-edit") forbid (principal, action == Action::"lease:issue", resource is VIM) when { context.role == "edit" };`)})
	b.mustRegister(alice, "edge1")
	got, err := b.WeighLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view"})
	if err != nil || got.Grade == "" {
		t.Errorf("WeighLease() = %+v, %v; want a grade", got, err)
	}
	ask := broker.LeaseRequest{VIM: "edge1", Role: "edit"}
	_, err = b.WeighLease(t.Context(), alice, ask)
	wantKind(t, "WeighLease()", err, broker.ErrDenied)
	_, _, err = b.IssueLease(t.Context(), alice, ask)
	wantKind(t, "IssueLease()", err, broker.ErrDenied)
	questions, tried := 0, 0
	for _, e := range b.entries(root, audit.Query{Limit: 100}) {
		if e.Action != policy.LeaseIssue || e.Outcome != audit.Denied {
			continue
		}
		if e.Detail[audit.DetailQuestion] != "" {
			questions++
		} else {
			tried++
		}
	}
	if questions != 1 || tried != 1 {
		t.Errorf("%d refusals are recorded as questions and %d as tried, want one of each", questions, tried)
	}
	if n := b.upstream(); n != 0 {
		t.Errorf("%d leases are upstream", n)
	}
}

package broker_test

import (
	"net/http"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A request to make a lease's object can be on its way when its sender gives up
// or dies, and take effect after the lease was not found upstream and has ended.
func TestAnObjectThatComesTooLateIsRemoved(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	good, _ := b.mustIssue(root, "edge1")
	b.kube.Fail(fake.Fault{Method: http.MethodPost, Path: "/serviceaccounts$", Kind: fake.Drop})
	_, _, err := b.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "IssueLease()", err, broker.ErrUnreachable)
	rows, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{States: []broker.LeaseState{broker.LeaseRevoked}, Page: broker.Page{Size: 10}})
	if err != nil || len(rows) != 1 || b.upstream() != 1 {
		t.Fatalf("%d leases revoked, %v, and %d objects upstream; want one and one", len(rows), err, b.upstream())
	}

	// The request that was lost arrives after all. Its object is as the other one.
	b.object(good, rows[0].ID, rows[0].Handle)
	if inv, err := b.Inventory(t.Context(), root, v.Name, false); err != nil || len(inv.Orphans) != 1 || inv.Orphans[0].Handle != rows[0].Handle {
		t.Fatalf("Inventory() = %+v, %v, want the late object as an orphan", inv, err)
	}

	if err := b.InventoryAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := leasesOn(b.kube); len(left) != 1 || left[0] != b.accountOf(good.Handle)+"/"+good.Handle {
		t.Errorf("objects upstream = %q, want only that of the active lease", left)
	}
	if got := b.Discrepancies(); got != (broker.Discrepancy{}) {
		t.Errorf("Discrepancies() = %+v, want none", got)
	}
}

package broker_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// accounts are the service accounts of a namespace on the VIM, for an administrator.
func (b *bench) accounts(namespace string) core.ServiceAccountInterface {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: b.kube.Endpoint, BearerToken: b.kube.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return clients.CoreV1().ServiceAccounts(namespace)
}

// object makes a lease's object that is as that of another with the same grant.
func (b *bench) object(other broker.Lease, lease, handle string) {
	b.t.Helper()
	accounts := b.accounts(b.accountOf(other.Handle))
	o, err := accounts.Get(b.t.Context(), other.Handle, metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	o.Name, o.UID, o.ResourceVersion = handle, "", ""
	o.Labels["vimbroker.io/lease"] = lease
	if _, err := accounts.Create(b.t.Context(), o, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

// neverIssued is a lease on a VIM that has ended without ever being handed out.
func (b *bench) neverIssued(vim string) broker.Lease {
	b.t.Helper()
	b.kube.Fail(fake.Fault{Method: http.MethodPost, Path: "/serviceaccounts$", Kind: fake.Drop})
	_, _, err := b.IssueLease(b.t.Context(), root, broker.LeaseRequest{VIM: vim})
	wantKind(b.t, "IssueLease()", err, broker.ErrUnreachable)
	rows, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{VIM: vim, States: []broker.LeaseState{broker.LeaseRevoked}, Page: broker.Page{Size: 10}})
	if err != nil || len(rows) != 1 {
		b.t.Fatalf("%d leases on the VIM have ended, %v, want one", len(rows), err)
	}
	return rows[0]
}

// ended is a lease beside another that was handed out, and revoked.
func (b *bench) ended(beside broker.Lease) broker.Lease {
	b.t.Helper()
	l, _ := b.mustIssue(root, beside.VIM)
	if _, err := b.RevokeLease(b.t.Context(), root, l.ID); err != nil {
		b.t.Fatal(err)
	}
	return l
}

// The inventory pass removes the object of a lease that was never handed out, and
// nothing about which there is any doubt.
func TestTheInventoryPassRemovesNothingOnDoubt(t *testing.T) {
	cases := map[string]struct {
		// object makes an object upstream, and returns its handle.
		object  func(b *bench, beside broker.Lease) string
		removed bool
	}{
		"of a lease that was never issued": {removed: true, object: func(b *bench, beside broker.Lease) string {
			l := b.neverIssued(beside.VIM)
			b.object(beside, l.ID, l.Handle)
			return l.Handle
		}},
		"that no row names": {object: func(b *bench, beside broker.Lease) string {
			id := uuid.NewString()
			b.object(beside, id, "lease-"+id)
			return "lease-" + id
		}},
		"that names no lease": {object: func(b *bench, beside broker.Lease) string {
			b.object(beside, "", "lease-of-nobody")
			return "lease-of-nobody"
		}},
		"of a lease that has another handle": {object: func(b *bench, beside broker.Lease) string {
			l := b.neverIssued(beside.VIM)
			b.object(beside, l.ID, "lease-by-another-name")
			return "lease-by-another-name"
		}},
		"of a lease on another VIM": {object: func(b *bench, beside broker.Lease) string {
			l := b.neverIssued(b.mustRegister(root, "edge2").ID)
			b.object(beside, l.ID, l.Handle)
			return l.Handle
		}},
		"of a lease that was handed out and has ended": {object: func(b *bench, beside broker.Lease) string {
			l := b.ended(beside)
			b.object(beside, l.ID, l.Handle)
			return l.Handle
		}},
		"that is back from a backup": {object: func(b *bench, beside broker.Lease) string {
			l := b.ended(beside)
			b.object(beside, l.ID, l.Handle)
			b.kube.Update("serviceaccounts", b.accountOf(l.Handle), l.Handle, func(o metav1.Object) { o.SetUID(types.UID(l.UID)) })
			return l.Handle
		}},
		"of a lease that has not ended": {object: func(b *bench, beside broker.Lease) string {
			// Of those that can be an orphan at all: one that was passed through.
			l := b.neverIssued(beside.VIM)
			l.ID, l.Handle, l.State, l.Derived = uuid.NewString(), "lease-that-lives", broker.LeasePending, false
			if _, err := b.store.CreateLease(b.t.Context(), l, broker.Quota{}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Intent}); err != nil {
				b.t.Fatal(err)
			}
			b.object(beside, l.ID, l.Handle)
			return l.Handle
		}},
	}
	for name, c := range cases {
		t.Run("an object "+name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(root, "edge1")
			well, _ := b.mustIssue(root, v.ID)
			handle := c.object(b, well)
			if err := b.InventoryAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			account := b.accountOf(well.Handle) + "/" + handle
			if there := slices.Contains(leasesOn(b.kube), account); there == c.removed {
				t.Errorf("after the pass the object is there = %v, want %v", there, !c.removed)
			}
			want := broker.Discrepancy{Orphans: 1}
			if c.removed {
				want.Orphans = 0
			}
			if got := b.Discrepancies(); got != want {
				t.Errorf("Discrepancies() = %+v, want %+v", got, want)
			}
			// Whoever has looked at it may have it removed.
			if inv, err := b.Inventory(t.Context(), root, v.Name, true); err != nil || len(inv.Orphans) != want.Orphans {
				t.Errorf("Inventory(settle) = %+v, %v, want %d orphans", inv, err, want.Orphans)
			}
			if slices.Contains(leasesOn(b.kube), account) {
				t.Error("the object is there after an administrator has settled the inventory")
			}
			if state := b.row(well.ID).State; state != broker.LeaseActive || b.accountOf(well.Handle) == "" {
				t.Errorf("the lease beside it is %s, want active", state)
			}
		})
	}
}

package broker_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// object makes a lease object on the VIM that no driver has made.
func (b *bench) object(vim, lease, handle string) {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: b.kube.Endpoint, BearerToken: b.kube.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = clients.CoreV1().Secrets("vimbroker").Create(b.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: handle, Labels: map[string]string{
			"app.kubernetes.io/managed-by": "vimbroker", "vimbroker.io/vim": vim, "vimbroker.io/lease": lease,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
}

// neverIssued is a lease on a VIM that has ended without ever being handed out.
func (b *bench) neverIssued(vim string) broker.Lease {
	b.t.Helper()
	b.kube.Fail(fake.Fault{Method: http.MethodPost, Path: "/secrets$", Kind: fake.Drop})
	_, _, err := b.IssueLease(b.t.Context(), root, broker.LeaseRequest{VIM: vim})
	wantKind(b.t, "IssueLease()", err, broker.ErrUnreachable)
	rows, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{VIM: vim, States: []broker.LeaseState{broker.LeaseRevoked}, Page: broker.Page{Size: 10}})
	if err != nil || len(rows) != 1 {
		b.t.Fatalf("%d leases on the VIM have ended, %v, want one", len(rows), err)
	}
	return rows[0]
}

// The inventory pass removes the object of a lease that was never handed out, and
// nothing about which there is any doubt.
func TestTheInventoryPassRemovesNothingOnDoubt(t *testing.T) {
	cases := map[string]struct {
		// object makes an object upstream, and returns its handle.
		object  func(b *bench, v broker.VIM) string
		removed bool
	}{
		"of a lease that was never issued": {removed: true, object: func(b *bench, v broker.VIM) string {
			l := b.neverIssued(v.ID)
			b.object(v.ID, l.ID, l.Handle)
			return l.Handle
		}},
		"that no row names": {object: func(b *bench, v broker.VIM) string {
			id := uuid.NewString()
			b.object(v.ID, id, "lease-"+id)
			return "lease-" + id
		}},
		"that names no lease": {object: func(b *bench, v broker.VIM) string {
			b.object(v.ID, "", "lease-of-nobody")
			return "lease-of-nobody"
		}},
		"of a lease that has another handle": {object: func(b *bench, v broker.VIM) string {
			l := b.neverIssued(v.ID)
			b.object(v.ID, l.ID, "lease-by-another-name")
			return "lease-by-another-name"
		}},
		"of a lease on another VIM": {object: func(b *bench, v broker.VIM) string {
			l := b.neverIssued(b.mustRegister(root, "edge2").ID)
			b.object(v.ID, l.ID, l.Handle)
			return l.Handle
		}},
		"of a lease that was handed out and has ended": {object: func(b *bench, v broker.VIM) string {
			l, _ := b.mustIssue(root, v.ID)
			if _, err := b.RevokeLease(b.t.Context(), root, l.ID); err != nil {
				b.t.Fatal(err)
			}
			b.object(v.ID, l.ID, l.Handle)
			return l.Handle
		}},
		"of a lease that has not ended": {object: func(b *bench, v broker.VIM) string {
			// Of those that can be an orphan at all: one that was passed through.
			l := b.neverIssued(v.ID)
			l.ID, l.Handle, l.State, l.Derived = uuid.NewString(), "lease-that-lives", broker.LeasePending, false
			if _, err := b.store.CreateLease(b.t.Context(), l, broker.Quota{}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Intent}); err != nil {
				b.t.Fatal(err)
			}
			b.object(v.ID, l.ID, l.Handle)
			return l.Handle
		}},
	}
	for name, c := range cases {
		t.Run("an object "+name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(root, "edge1")
			b.mustIssue(root, v.ID) // which makes the namespace
			handle := c.object(b, v)
			if err := b.InventoryAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			there := slices.Contains(b.kube.Names("secrets", "vimbroker"), "vimbroker/"+handle)
			if there == c.removed {
				t.Errorf("after the pass the object is there = %v, want %v", there, !c.removed)
			}
			want := broker.Discrepancy{Orphans: 1}
			if c.removed {
				want.Orphans = 0
			}
			if got := b.Discrepancies(); got != want {
				t.Errorf("Discrepancies() = %+v, want %+v", got, want)
			}
		})
	}
}

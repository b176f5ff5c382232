package broker_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A request to make a lease's object can be on its way when its sender gives up
// or dies, and take effect after the lease was not found upstream and has ended.
func TestAnObjectThatComesTooLateIsRemoved(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	good, _ := b.mustIssue(root, "edge1")
	b.kube.Fail(fake.Fault{Method: http.MethodPost, Path: "/secrets$", Kind: fake.Drop})
	_, _, err := b.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "IssueLease()", err, broker.ErrUnreachable)
	rows, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{States: []broker.LeaseState{broker.LeaseRevoked}, Page: broker.Page{Size: 10}})
	if err != nil || len(rows) != 1 || b.secrets() != 1 {
		t.Fatalf("%d leases revoked, %v, and %d objects upstream; want one and one", len(rows), err, b.secrets())
	}

	// The request that was lost arrives after all. Its object is as the other one.
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: b.kube.Endpoint, BearerToken: b.kube.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
	})
	if err != nil {
		t.Fatal(err)
	}
	object, err := clients.CoreV1().Secrets("vimbroker").Get(t.Context(), good.Handle, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.Name, object.UID, object.ResourceVersion = rows[0].Handle, "", ""
	for key, value := range object.Labels {
		if value == good.ID {
			object.Labels[key] = rows[0].ID
		}
	}
	if _, err := clients.CoreV1().Secrets("vimbroker").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if inv, err := b.Inventory(t.Context(), root, v.Name, false); err != nil || len(inv.Orphans) != 1 || inv.Orphans[0].Handle != rows[0].Handle {
		t.Fatalf("Inventory() = %+v, %v, want the late object as an orphan", inv, err)
	}

	if err := b.InventoryAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := b.kube.Names("secrets", "vimbroker"); len(left) != 1 || left[0] != "vimbroker/"+good.Handle {
		t.Errorf("objects upstream = %q, want only that of the active lease", left)
	}
	if got := b.Discrepancies(); got != (broker.Discrepancy{}) {
		t.Errorf("Discrepancies() = %+v, want none", got)
	}
}

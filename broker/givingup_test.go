package broker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A VIM that is up and refuses to let a lease go is tried so often and no more.
func TestALeaseThatTheVIMRefusesToLetGoIsGivenUp(t *testing.T) {
	const tries = 3
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.GiveUpAfter = tries }})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.kube.FailNext(http.MethodDelete, "/secrets/", 403, -1)
	for n := 1; n <= tries; n++ {
		if n == 1 {
			if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
				t.Fatal(err)
			}
		} else {
			b.clock.Add(10 * time.Minute)
			b.mustReap()
		}
		want := broker.LeaseRevoking
		if n == tries {
			want = broker.LeaseIrrevocable
		}
		if row := b.row(l.ID); row.State != want || row.LastError == "" {
			t.Fatalf("after %d tries the lease is %s, last error %q; want %s with its reason", n, row.State, row.LastError, want)
		}
	}
	if b.secrets() != 1 {
		t.Errorf("%d lease objects are on the VIM, want the one that it does not let go", b.secrets())
	}
}

// What the VIM refuses to remove keeps the VIM: what is left would be nobody's.
func TestWhatCannotBeRemovedKeepsTheVIM(t *testing.T) {
	for name, path := range map[string]string{"service account": "/serviceaccounts/", "binding": "/clusterrolebindings/"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(alice, "edge1")
			b.mustIssue(alice, "edge1")
			b.kube.FailNext(http.MethodDelete, path, 403, -1)
			if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || gone {
				t.Errorf("DeleteVIM() while a %s cannot be removed: gone = %v, %v; want it to stay", name, gone, err)
			}
			if row, err := b.store.VIM(t.Context(), v.ID); err != nil || row.State != broker.Draining {
				t.Errorf("the VIM is %s, %v, want draining", row.State, err)
			}
			b.wantKeys(1)
			b.kube.Heal()
			b.mustReap()
			_, err := b.store.VIM(t.Context(), v.ID)
			wantKind(t, "the VIM once all can be removed", err, broker.ErrNotFound)
			b.wantKeys(0)
		})
	}
}

// Only a parsed "not found" of the object itself counts as revoked.
func TestRevokingAsksTheVIMForMoreThanARefusal(t *testing.T) {
	for name, f := range map[string]fake.Fault{
		"400":             {Kind: fake.Refuse, Status: 400},
		"a redirect":      {Kind: fake.Redirect},
		"401":             {Kind: fake.Refuse, Status: 401},
		"403":             {Kind: fake.Refuse, Status: 403},
		"404":             {Kind: fake.Refuse, Status: 404},
		"410":             {Kind: fake.Refuse, Status: 410},
		"a page with 401": {Kind: fake.HTML, Status: 401},
		"a page with 403": {Kind: fake.HTML, Status: 403},
		"a page with 404": {Kind: fake.HTML, Status: 404},
		"a page with 200": {Kind: fake.HTML, Status: 200},
	} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			t.Run(method+" "+name, func(t *testing.T) {
				b := newBench(t, benchOptions{})
				b.mustRegister(alice, "edge1")
				l, _ := b.mustIssue(alice, "edge1")
				f.Method, f.Path, f.Times = method, "/secrets/", -1
				b.kube.Fail(f)
				after, err := b.RevokeLease(t.Context(), alice, l.ID)
				if err != nil || after.State != broker.LeaseRevoking || !after.RevokedAt.IsZero() {
					t.Errorf("RevokeLease() = %s, %v, want revoking", after.State, err)
				}
			})
		}
	}
}

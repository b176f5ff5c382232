package broker_test

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A VIM that is up and refuses to let a lease go is tried so often and no more.
func TestALeaseThatTheVIMRefusesToLetGoIsGivenUp(t *testing.T) {
	const tries = 3
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.GiveUpAfter = tries }})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.kube.FailNext(http.MethodDelete, "/serviceaccounts/", 403, -1)
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
	if b.upstream() != 1 {
		t.Errorf("%d lease objects are on the VIM, want the one that it does not let go", b.upstream())
	}
}

// What the VIM refuses to remove keeps the VIM: what is left would be nobody's.
func TestWhatCannotBeRemovedKeepsTheVIM(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"lease":           {"/serviceaccounts/lease-", 403},
		"service account": {"/serviceaccounts/default$", 403},
		"binding":         {"/clusterrolebindings/", 403},
		"cluster role":    {"/clusterroles/", 403},
		// An empty one that the credential may not delete is left standing.
		"namespace": {"/namespaces/vimbroker-[^/]*$", 500},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(alice, "edge1")
			l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", ClusterWide: true, Rules: []broker.Rule{
				{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			// A cluster makes one in every namespace.
			everyones := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			if _, err := b.accounts(b.accountOf(l.Handle)).Create(t.Context(), everyones, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			b.kube.FailNext(http.MethodDelete, c.path, c.status, -1)
			if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || gone {
				t.Errorf("DeleteVIM() while a %s cannot be removed: gone = %v, %v; want it to stay", name, gone, err)
			}
			if row, err := b.store.VIM(t.Context(), v.ID); err != nil || row.State != broker.VIMDraining {
				t.Errorf("the VIM is %s, %v, want draining", row.State, err)
			}
			b.wantKeys(1)
			b.kube.Heal()
			b.clock.Add(time.Minute)
			b.mustReap()
			_, err = b.store.VIM(t.Context(), v.ID)
			wantKind(t, "the VIM once all can be removed", err, broker.ErrNotFound)
			b.wantKeys(0)
			if left := b.ours(); len(left) != 0 {
				t.Errorf("left upstream: %q", left)
			}
		})
	}
}

// forgetUID makes of a lease's row what a process leaves that died before it knew.
func (b *bench) forgetUID(l broker.Lease) {
	b.t.Helper()
	if _, err := b.store.UpdateLease(b.t.Context(), l.ID, func(now *broker.Lease) error {
		now.UID = ""
		return nil
	}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done}); err != nil {
		b.t.Fatal(err)
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
		for asked, c := range map[string]struct {
			method, path string
			before       func(*bench, broker.Lease)
		}{
			"DELETE": {http.MethodDelete, "/serviceaccounts/", func(*bench, broker.Lease) {}},
			// Where the process died before it recorded the uid, the account is looked at first.
			"GET": {http.MethodGet, "/serviceaccounts/", func(b *bench, l broker.Lease) { b.forgetUID(l) }},
			// An account that is not there is looked for in every place that it can have.
			"GET of the namespace": {http.MethodGet, "/namespaces/vimbroker-[0-9a-f]{20}$", func(b *bench, l broker.Lease) { b.lose(l.Handle) }},
			"GET of the identity":  {http.MethodGet, "/namespaces/kube-system$", func(b *bench, l broker.Lease) { b.lose(l.Handle) }},
		} {
			t.Run(asked+" "+name, func(t *testing.T) {
				b := newBench(t, benchOptions{})
				b.mustRegister(alice, "edge1")
				l, _ := b.mustIssue(alice, "edge1")
				c.before(b, l)
				f.Method, f.Path, f.Times = c.method, c.path, -1
				b.kube.Fail(f)
				after, err := b.RevokeLease(t.Context(), alice, l.ID)
				if err != nil || after.State != broker.LeaseRevoking || !after.RevokedAt.IsZero() {
					t.Errorf("RevokeLease() = %s, %v, want revoking", after.State, err)
				}
			})
		}
	}
}

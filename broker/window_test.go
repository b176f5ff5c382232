package broker_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Each of these tests stops a request in the middle, at the VIM, and does there
// what another request or pass may do at that moment.

// deletions counts the DELETE requests since the last look at the fake's log.
func (b *bench) deletions() int {
	n := 0
	for _, r := range b.kube.Requests() {
		if r.Method == http.MethodDelete {
			n++
		}
	}
	return n
}

// pass runs one of the broker's periodic passes by its name.
func (b *bench) pass(name string) {
	b.t.Helper()
	for _, p := range b.Passes() {
		if p.Name == name {
			if err := p.Run(b.t.Context()); err != nil {
				b.t.Errorf("pass %s = %v", name, err)
			}
			return
		}
	}
	b.t.Fatalf("there is no pass %s", name)
}

// The VIM may still make what it was asked for: a lease that is being issued is
// taken back once that has surely ended, and not before.
func TestALeaseThatIsBeingIssuedIsNotTakenBackAtOnce(t *testing.T) {
	for name, revoke := range map[string]func(*bench, broker.Lease) error{
		"revoking it": func(b *bench, l broker.Lease) error {
			_, err := b.RevokeLease(t.Context(), alice, l.ID)
			return err
		},
		"revoking all on the VIM": func(b *bench, l broker.Lease) error {
			_, err := b.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: l.VIM})
			return err
		},
		"deleting the VIM": func(b *bench, l broker.Lease) error {
			_, _, err := b.DeleteVIM(t.Context(), alice, l.VIM, broker.Deletion{Drain: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(alice, "edge1")
			b.mustIssueAndRevoke()
			var id string
			b.kube.After(http.MethodPost, "/serviceaccounts$", func() {
				pending, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{VIM: v.ID, States: []broker.LeaseState{broker.LeasePending}, Page: broker.Page{Size: 2}})
				if err != nil || len(pending) != 1 {
					t.Errorf("%d leases are pending, %v, want one", len(pending), err)
					return
				}
				id = pending[0].ID
				b.kube.Requests()
				if err := revoke(b, pending[0]); err != nil {
					t.Error(err)
				}
				if n := b.deletions(); n != 0 {
					t.Errorf("the VIM was asked for %d deletions while the lease was being issued, want none", n)
				}
				row := b.row(id)
				if surely := row.CreatedAt.Add(3 * b.options.Terms.CallTimeout); row.State != broker.LeaseRevoking || row.NextAttemptAt.Before(surely) {
					t.Errorf("the lease is %s, to be taken back at %v, want revoking, and not before %v", row.State, row.NextAttemptAt, surely)
				}
				b.mustReap()
				if n := b.deletions(); n != 0 {
					t.Errorf("a pass asked the VIM for %d deletions while the lease was being issued, want none", n)
				}
			})
			_, config, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: v.ID})
			wantKind(t, "IssueLease() of a lease that was revoked meanwhile", err, broker.ErrConflict)
			if !config.Token.Empty() {
				t.Error("the credential of a revoked lease was handed out")
			}
			b.clock.Add(time.Minute)
			b.mustReap()
			if row := b.row(id); row.State != broker.LeaseRevoked || b.upstream() != 0 {
				t.Errorf("in the end the lease is %s with %d objects upstream, want revoked with none", row.State, b.upstream())
			}
		})
	}
}

// mustIssueAndRevoke makes what the first lease of a role needs on the VIM.
func (b *bench) mustIssueAndRevoke() {
	b.t.Helper()
	l, _ := b.mustIssue(alice, "edge1")
	b.mustRevoke(l.ID)
}

// A renewal that loses against a revocation hands nothing out and stores nothing.
func TestARenewalOfALeaseThatIsRevokedMeanwhileHandsNothingOut(t *testing.T) {
	for name, want := range map[string]broker.LeaseState{"revoked": broker.LeaseRevoked, "revoking": broker.LeaseRevoking} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, "edge1")
			var revoked broker.Lease
			b.kube.After(http.MethodPost, "/token$", func() {
				if want == broker.LeaseRevoking {
					b.kube.FailNext(http.MethodDelete, "/serviceaccounts/", 500, 1)
				}
				if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
					t.Error(err)
				}
				revoked = b.row(l.ID)
			})
			b.clock.Add(time.Minute)
			_, config, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
			wantKind(t, "RenewLease()", err, broker.ErrConflict)
			if !config.Token.Empty() {
				t.Error("the credential of a revoked lease was handed out")
			}
			if row := b.row(l.ID); row.State != want || row.Sealed != revoked.Sealed || !row.ExpiresAt.Equal(revoked.ExpiresAt) || !row.RenewedAt.IsZero() {
				t.Errorf("after the renewal the lease is %s until %v, renewed at %v; want it %s and as the revocation left it", row.State, row.ExpiresAt, row.RenewedAt, want)
			}
		})
	}
}

// The periodic settle pass leaves alone what requests are doing at that moment.
func TestTheSettlePassLeavesRequestsUnderWayAlone(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		do           func(*bench) error
	}{
		"a lease": {http.MethodPost, "/token$", func(b *bench) error {
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
			return err
		}},
		"a registration": {http.MethodGet, "/version$", func(b *bench) error {
			_, err := b.RegisterVIM(t.Context(), alice, b.registration("edge2"))
			return err
		}},
		"a new credential": {http.MethodGet, "/version$", func(b *bench) error {
			_, err := b.RotateVIM(t.Context(), alice, "edge1", b.registration("").Credential, 0)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			b.kube.After(c.method, c.path, func() {
				b.clock.Add(b.options.Terms.AbandonedAfter - time.Second)
				b.pass("settle")
			})
			if err := c.do(b); err != nil {
				t.Errorf("%s that was under way during a settle pass = %v", name, err)
			}
		})
	}
}

// leasesRead is a store that lets something happen once, after the next list of leases.
type leasesRead struct {
	broker.Store
	once sync.Once
	then func()
}

func (s *leasesRead) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	leases, next, err := s.Store.Leases(ctx, f)
	s.once.Do(s.then)
	return leases, next, err
}

func wantClean(t *testing.T, what string, inv broker.Inventory, err error) {
	t.Helper()
	if err != nil || len(inv.Orphans) != 0 || len(inv.Ghosts) != 0 {
		t.Errorf("%s: Inventory() finds %d orphans, %d ghosts, %v; want none", what, len(inv.Orphans), len(inv.Ghosts), err)
	}
}

// What is issued or revoked while an inventory is taken is neither an orphan nor a ghost.
func TestAnInventoryIsNotFooledByLeasesIssuedMeanwhile(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(root, "edge1")
	b.mustIssue(root, "edge1")
	options := b.options
	options.Store = &leasesRead{Store: b.store, then: func() { b.mustIssue(root, "edge1") }}
	inv, err := mustNew(t, options).Inventory(t.Context(), root, "edge1", true)
	wantClean(t, "a lease issued between the rows and the VIM", inv, err)

	b.kube.After(http.MethodGet, "/serviceaccounts$", func() { b.mustIssue(root, "edge1") })
	inv, err = b.Inventory(t.Context(), root, "edge1", true)
	wantClean(t, "a lease issued between the VIM and the rows", inv, err)
	if b.upstream() != 3 {
		t.Errorf("%d lease objects are left on the VIM, want all three", b.upstream())
	}

	ending, _ := b.mustIssue(root, "edge1")
	b.kube.After(http.MethodGet, "/serviceaccounts$", func() {
		if _, err := b.RevokeLease(t.Context(), root, ending.ID); err != nil {
			t.Error(err)
		}
	})
	inv, err = b.Inventory(t.Context(), root, "edge1", true)
	wantClean(t, "a lease revoked between the VIM and the rows", inv, err)
}

// A lease that is pending when the rows are read, and active when they are read
// again, may be missing in between.
func TestAnInventoryIsNotFooledByALeaseThatWasPending(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(root, "edge1")
	listed, issued, compared := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.kube.After(http.MethodPost, "/namespaces$", func() { // the row is pending, and no account is made
		pending, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{States: []broker.LeaseState{broker.LeasePending}, Page: broker.Page{Size: 2}})
		if err != nil || len(pending) != 1 || b.upstream() != 0 {
			t.Errorf("%d leases are pending, %v, with %d objects upstream; want one with none", len(pending), err, b.upstream())
		}
		b.kube.After(http.MethodGet, "/serviceaccounts$", func() {
			close(listed)
			<-issued
		})
		go func() {
			defer close(compared)
			inv, err := b.Inventory(context.WithoutCancel(t.Context()), root, "edge1", true)
			wantClean(t, "a lease that was pending", inv, err)
		}()
		<-listed
	})
	l, _, err := b.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: "edge1", Role: "view"})
	close(issued)
	if err != nil {
		t.Fatal(err)
	}
	<-compared
	if row := b.row(l.ID); row.State != broker.LeaseActive || b.upstream() != 1 {
		t.Errorf("the lease is %s with %d objects upstream, want active with its own", row.State, b.upstream())
	}
}

// A credential of another generation stands in only where the VIM refuses the
// one that the lease was issued with, in its own words.
func TestAnotherGenerationStandsInOnlyAfterARefusal(t *testing.T) {
	for name, c := range map[string]struct {
		fault fake.Fault
		want  broker.LeaseState
	}{
		"401":                   {fake.Fault{Kind: fake.Refuse, Status: 401}, broker.LeaseRevoked},
		"403":                   {fake.Fault{Kind: fake.Refuse, Status: 403}, broker.LeaseRevoked},
		"404 of something else": {fake.Fault{Kind: fake.Refuse, Status: 404}, broker.LeaseRevoking},
		"409":                   {fake.Fault{Kind: fake.Refuse, Status: 409}, broker.LeaseRevoking},
		"429":                   {fake.Fault{Kind: fake.Refuse, Status: 429}, broker.LeaseRevoking},
		"500":                   {fake.Fault{Kind: fake.Refuse, Status: 500}, broker.LeaseRevoking},
		"502":                   {fake.Fault{Kind: fake.Refuse, Status: 502}, broker.LeaseRevoking},
		"a page with 502":       {fake.Fault{Kind: fake.HTML, Status: 502}, broker.LeaseRevoking},
		"a broken connection":   {fake.Fault{Kind: fake.Drop}, broker.LeaseRevoking},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, "edge1")
			other := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
			if _, err := b.RotateVIM(t.Context(), alice, "edge1", other, 0); err != nil {
				t.Fatal(err)
			}
			c.fault.Path, c.fault.Times = "/serviceaccounts/", 1
			b.kube.Fail(c.fault)
			after, err := b.RevokeLease(t.Context(), alice, l.ID)
			if err != nil || after.State != c.want {
				t.Errorf("RevokeLease() = %s, %v, want %s", after.State, err, c.want)
			}
		})
	}
}

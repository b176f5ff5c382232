package broker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// meanwhile lets something happen, once, right before a row is written.
type meanwhile struct {
	broker.Store
	vim   func()
	lease func(id string)
}

func (s *meanwhile) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	if f := s.vim; f != nil {
		s.vim = nil
		f()
	}
	return s.Store.UpdateVIM(ctx, id, change, e)
}

func (s *meanwhile) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	if f := s.lease; f != nil {
		s.lease = nil
		f(id)
	}
	return s.Store.UpdateLease(ctx, id, change, e)
}

// beside is another broker on the same rows.
func (b *bench) beside() (*broker.Broker, *meanwhile) {
	o, s := b.options, &meanwhile{Store: b.store}
	o.Store = s
	return mustNew(b.t, o), s
}

// The unfinished write that a pass found is settled by another, and the next one is
// under way when the first comes to write.
func TestASettlePassTakesOverNothingButWhatItFound(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	b.half(v.ID)
	late, rows := b.beside()
	rows.vim = func() {
		if _, err := b.store.UpdateVIM(t.Context(), v.ID, func(now *broker.VIM) error {
			now.Pending.Since = b.clock.Now()
			return nil
		}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Intent}); err != nil {
			t.Error(err)
		}
	}
	if err := late.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Errorf("Settle() of what another pass took over = %v, want nothing", err)
	}
	if now, err := b.store.VIM(t.Context(), v.ID); err != nil || now.Pending == nil {
		t.Errorf("the write that another took over is gone (%v)", err)
	}
}

// A request whose decision is overtaken is decided again. That is no refusal, and the
// log has none.
func TestWhatIsDecidedAgainIsNotRecordedAsRefused(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	late, rows := b.beside()
	rotate := func(on *broker.Broker) error {
		_, err := on.RotateVIM(t.Context(), root, v.ID, broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0)
		return err
	}
	rows.vim = func() {
		if err := rotate(b.Broker); err != nil {
			t.Error(err)
		}
	}
	if err := rotate(late); err != nil {
		t.Errorf("RotateVIM() beside another = %v, want it decided again", err)
	}
	if now, err := b.store.VIM(t.Context(), v.ID); err != nil || now.Current.Number != 3 {
		t.Errorf("the VIM is at generation %d, %v, want 3", now.Current.Number, err)
	}
	if outcomes := b.wantLog(policy.VIMRotate); slices.Contains(outcomes, audit.Denied) || slices.Contains(outcomes, audit.Failed) {
		t.Errorf("outcomes of two rotations are %v", outcomes)
	}
}

// Of what was given up on a VIM each lease is tried again when the VIM is back, also
// behind one that has ended meanwhile.
func TestALeaseThatHasEndedMeanwhileHoldsUpNoOther(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.GiveUpAfter = 1 }})
	v := b.mustRegister(root, "edge1")
	b.kube.FailNext("DELETE", "/serviceaccounts/", 403, -1)
	var ids []string
	for range 2 {
		l, _ := b.mustIssue(root, v.ID)
		if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
			t.Fatal(err)
		}
		if row := b.row(l.ID); row.State != broker.LeaseIrrevocable {
			t.Fatalf("a lease that the VIM refuses to let go is %s, want irrevocable", row.State)
		}
		ids = append(ids, l.ID)
	}
	b.kube.Heal()
	b.kube.FailNext("", "", 503, -1)
	if now, err := b.CheckVIM(t.Context(), root, v.ID); err != nil || now.Health.Status == broker.HealthReachable {
		t.Fatalf("CheckVIM() of a VIM that is down = %s, %v", now.Health.Status, err)
	}
	b.kube.Heal()
	late, rows := b.beside()
	var ended string
	rows.lease = func(id string) {
		ended = id
		if _, err := b.RevokeLease(t.Context(), root, id); err != nil {
			t.Error(err)
		}
	}
	b.clock.Add(time.Hour)
	if _, err := late.CheckVIM(t.Context(), root, v.ID); err != nil {
		t.Fatal(err)
	}
	b.mustReap()
	if ended == "" {
		t.Fatal("no lease was tried again")
	}
	for _, id := range ids {
		if row := b.row(id); row.State != broker.LeaseRevoked {
			t.Errorf("lease %s is %s, want revoked", id, row.State)
		}
	}
}

// What is passed through is not handed out on a lease that was revoked meanwhile.
func TestALeaseIsRevokedBeforeItsCredentialIsPassedThrough(t *testing.T) {
	b := newBench(t, benchOptions{policies: map[string][]byte{"pass.cedar": []byte(
		`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM);`)}})
	b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	v := b.mustRegister(root, "edge1")
	late, rows := b.beside()
	rows.lease = func(id string) {
		if _, err := b.RevokeLease(t.Context(), root, id); err != nil {
			t.Error(err)
		}
	}
	_, config, err := late.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: v.ID})
	wantKind(t, "IssueLease() of a lease that was revoked meanwhile", err, broker.ErrConflict)
	if !config.Token.Empty() {
		t.Error("the credential of a revoked lease was handed out")
	}
}

func TestSizesAndTimesThatCannotBe(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(root, "edge1")
	l, _ := b.mustIssue(root, "edge1")
	_, _, err := b.RenewLease(t.Context(), root, l.ID, -time.Second)
	wantKind(t, "RenewLease() for a negative time", err, broker.ErrInvalid)
	wantField(t, "RenewLease() for a negative time", err, "ttl")
	state, _, err := b.AuditTree(t.Context(), root, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{-1, state.Size + 100} {
		if _, _, err := b.AuditTree(t.Context(), root, size); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("AuditTree() at size %d = %v, want ErrInvalid", size, err)
		}
	}
}

package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// tampered is a store whose VIMs and leases somebody changes who has no key.
type tampered struct {
	broker.Store
	change func(*broker.VIM)
	lease  func(*broker.Lease)
}

func (s tampered) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	l, err := s.Store.LeaseByKey(ctx, principal, key)
	if s.lease != nil {
		s.lease(&l)
	}
	return l, err
}

func (s tampered) VIM(ctx context.Context, id string) (broker.VIM, error) {
	v, err := s.Store.VIM(ctx, id)
	if s.change != nil {
		s.change(&v)
	}
	return v, err
}

func (s tampered) VIMs(ctx context.Context, f broker.VIMFilter) ([]broker.VIM, string, error) {
	found, next, err := s.Store.VIMs(ctx, f)
	for i := range found {
		if s.change != nil {
			s.change(&found[i])
		}
	}
	return found, next, err
}

// tamper changes what the store answers from now on.
func (b *bench) tamper(s tampered) {
	if before, ok := b.store.Store.(tampered); ok {
		s.Store = before.Store
	} else {
		s.Store = b.store.Store
	}
	b.store.Store = s
}

func (b *bench) mustSealAnew() {
	b.t.Helper()
	if err := b.SealAnew(b.t.Context()); err != nil {
		b.t.Fatalf("SealAnew() = %v", err)
	}
}

// Whoever can write the database gets no stored credential sent to an address of theirs.
func TestACredentialIsNotSentWhereItWasNotSealedFor(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	trap := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	for name, change := range map[string]func(*broker.VIM){
		"endpoint":     func(v *broker.VIM) { v.Current.Target.Endpoint = trap.Endpoint },
		"CA":           func(v *broker.VIM) { v.Current.Target.CACert = trap.CA },
		"verification": func(v *broker.VIM) { v.Current.Target.InsecureSkipVerify = true },
		"server name":  func(v *broker.VIM) { v.Current.Target.ServerName = "trap" },
		"scope":        func(v *broker.VIM) { v.Current.Target.Scope.ProjectID = "trap" },
		"identity":     func(v *broker.VIM) { v.Current.Identity = "trap" },
		"discovery":    func(v *broker.VIM) { v.Current.Discovered.Regions = []string{"trap"} },
		"type":         func(v *broker.VIM) { v.Current.CredentialKind = broker.CredentialBasicAuth },
	} {
		b.tamper(tampered{change: change})
		_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
		wantKind(t, "IssueLease with another "+name, err, broker.ErrUnopenable)
		_, _, err = b.RenewLease(t.Context(), alice, l.ID, 0)
		wantKind(t, "RenewLease with another "+name, err, broker.ErrUnopenable)
	}
	if after, err := b.RevokeLease(t.Context(), alice, l.ID); err == nil && after.State == broker.LeaseRevoked {
		t.Error("the lease is revoked although its VIM does not open")
	}
	if n := len(trap.Requests()); n != 0 {
		t.Errorf("the other address was sent %d requests", n)
	}
}

// An earlier generation, kept for its leases, does not open as the current one.
func TestAnEarlierGenerationPutBackIsRefused(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	before, err := b.store.VIM(t.Context(), l.VIM)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0); err != nil {
		t.Fatal(err)
	}
	b.mustSealAnew()
	now, err := b.store.VIM(t.Context(), l.VIM)
	if err != nil || len(now.Past) != 1 || now.Past[0].SealedAs != broker.SealedPast || now.Current.SealedAs != broker.SealedCurrent {
		t.Fatalf("after the pass the VIM = %+v, %v", now, err)
	}
	b.mustSealAnew()
	if again, _ := b.store.VIM(t.Context(), l.VIM); again.Revision != now.Revision {
		t.Error("a VIM that is sealed as it should be is sealed anew again")
	}
	for name, g := range map[string]broker.Generation{"as it is": now.Past[0], "as it was": before.Current} {
		for _, as := range []broker.SealedAs{broker.SealedCurrent, broker.SealedPast, ""} {
			g.SealedAs = as
			b.tamper(tampered{change: func(v *broker.VIM) { v.Current, v.Past = g, nil }})
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
			wantKind(t, "IssueLease from the earlier generation "+name+", marked "+string(as), err, broker.ErrUnopenable)
		}
	}
	b.tamper(tampered{})
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour); err != nil {
		t.Errorf("RenewLease() of the lease that the earlier generation is kept for = %v", err)
	}
	b.mustRevoke(l.ID)
}

// A lease that is being issued while its VIM is sealed anew is issued all the same.
func TestALeaseIssuedWhileItsVIMIsSealedAnew(t *testing.T) {
	b, g := newGradingBench(t)
	g.minting = func() {
		if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0); err != nil {
			t.Errorf("RekeyVIM() = %v", err)
		}
	}
	l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	if err != nil {
		t.Fatalf("IssueLease() = %v", err)
	}
	b.mustRevoke(l.ID)
	b.clock.Add(30 * time.Second)
	b.mustReap()
	if b.row(l.ID).ConfirmedDeadAt.IsZero() {
		t.Error("the lease's credential could not be tried")
	}
}

// After an old backup was restored, keys name VIMs that no row explains.
func TestKeysOfVIMsThatNoRowExplainsAreReported(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.mustSealAnew()
	if n := b.Discrepancies().Unexplained; n != 0 {
		t.Errorf("%d VIMs are unexplained, want 0", n)
	}
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.keys.Put(t.Context(), secret.Owner{ID: "5b2f0a52-6f3f-4a55-9a86-1f0c6f0f7c01", Generation: 1}, key); err != nil {
		t.Fatal(err)
	}
	b.mustSealAnew()
	if n := b.Discrepancies().Unexplained; n != 1 {
		t.Errorf("%d VIMs are unexplained, want the one that a key names", n)
	}
}

package broker_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// witness is a driver, and notes what it is to take back.
type witness struct {
	kubeDriver
	told []broker.Issued
}

func (w *witness) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	w.told = append(w.told, i)
	return w.kubeDriver.Revoke(ctx, a, i)
}

// A driver may believe that one credential is all only where no other can have been
// made.
func TestRevokeIsToldOfEveryRenewalThatWasBegun(t *testing.T) {
	for name, c := range map[string]struct {
		renew func(b *bench, l broker.Lease) error
		err   error
		want  bool
	}{
		"none": {renew: func(*bench, broker.Lease) error { return nil }},
		"one": {
			renew: func(b *bench, l broker.Lease) error {
				_, _, err := b.RenewLease(b.t.Context(), alice, l.ID, 0)
				return err
			},
			want: true,
		},
		"one whose answer was lost": {
			renew: func(b *bench, l broker.Lease) error {
				fault := fake.Fault{Method: http.MethodPost, Path: "/token$", Kind: fake.Drop, Late: true}
				b.kube.Fail(fault)
				_, _, err := b.RenewLease(b.t.Context(), alice, l.ID, 0)
				b.kube.Heal()
				return err
			},
			err: broker.ErrUnreachable, want: true,
		},
		"one that was not recorded": {
			renew: func(b *bench, l broker.Lease) error {
				b.store.fail("UpdateLease", 2)
				_, _, err := b.RenewLease(b.t.Context(), alice, l.ID, 0)
				return err
			},
			err: broker.ErrUnavailable, want: true,
		},
		"one whose intent was not recorded": {
			renew: func(b *bench, l broker.Lease) error {
				b.store.fail("UpdateLease", 1)
				_, _, err := b.RenewLease(b.t.Context(), alice, l.ID, 0)
				return err
			},
			err: broker.ErrUnavailable,
		},
		"one by a version that stored only its end": {
			renew: func(b *bench, l broker.Lease) error {
				_, err := b.store.UpdateLease(b.t.Context(), l.ID, func(now *broker.Lease) error {
					now.RenewedAt = b.clock.Now()
					return nil
				}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done})
				return err
			},
			want: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			w := &witness{kubeDriver: b.options.Drivers[0].(kubeDriver)}
			b.options.Drivers = []broker.Driver{w}
			b.Broker = mustNew(t, b.options)
			b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, "edge1")
			if err := c.renew(b, l); err != nil || c.err != nil {
				wantKind(t, "RenewLease()", err, c.err)
			}
			if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
				t.Fatal(err)
			}
			if len(w.told) != 1 || w.told[0].Renewed != c.want || w.told[0].Credential.Empty() {
				t.Fatalf("the driver was told of %d leases, want one with its credential, and renewed = %v", len(w.told), c.want)
			}
		})
	}
}

// overtaken is a store that lets another write go first, once.
type overtaken struct {
	broker.Store
	first func()
	once  sync.Once
}

func (s *overtaken) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	s.once.Do(s.first)
	return s.Store.UpdateLease(ctx, id, change, e)
}

// A revocation that comes between the look at a lease and the intent to renew it has
// nothing made after it.
func TestRenewAfterARevocationMakesNothing(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	late := b.options
	late.Store = &overtaken{Store: b.store, first: func() {
		if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
			t.Fatal(err)
		}
		b.kube.Requests()
	}}
	_, _, err := mustNew(t, late).RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "RenewLease()", err, broker.ErrConflict)
	if got := b.kube.Requests(); len(got) > 0 {
		t.Errorf("the VIM was asked %v", got)
	}
	if after := b.row(l.ID); after.State != broker.LeaseRevoked || after.RenewalBegun {
		t.Errorf("the lease is %s, renewal begun = %v; want it revoked, and no renewal", after.State, after.RenewalBegun)
	}
}

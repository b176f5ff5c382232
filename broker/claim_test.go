package broker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Whoever revokes leases has them to himself: a pass that comes meanwhile, here or in another
// process, and another request, ask the VIM nothing.
func TestNoLeaseIsRevokedTwiceAtOnce(t *testing.T) {
	for name, revoke := range map[string]func(*bench, broker.Lease) error{
		"one": func(b *bench, l broker.Lease) error {
			_, err := b.RevokeLease(t.Context(), alice, l.ID)
			return err
		},
		"all on the VIM": func(b *bench, l broker.Lease) error {
			_, err := b.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: l.VIM})
			return err
		},
		"those whose time is up": func(b *bench, _ broker.Lease) error {
			b.clock.Add(2 * time.Hour)
			return b.Reap(t.Context())
		},
		"on a VIM that is deleted": func(b *bench, l broker.Lease) error {
			_, _, err := b.DeleteVIM(t.Context(), alice, l.VIM, broker.Deletion{Drain: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, v.Name)
			other := mustNew(t, b.options) // as another process has it
			asked := false
			b.kube.Requests()
			b.kube.After(http.MethodDelete, "/serviceaccounts/[^/]+$", func() {
				asked = true
				b.kube.Requests()
				if err := other.Reap(t.Context()); err != nil {
					t.Error(err)
				}
				for _, at := range []*broker.Broker{b.Broker, other} {
					if got, err := at.RevokeLease(t.Context(), alice, l.ID); err != nil || got.State != broker.LeaseRevoking {
						t.Errorf("RevokeLease() meanwhile = %s, %v, want revoking", got.State, err)
					}
					if _, err := at.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: v.ID}); err != nil {
						t.Error(err)
					}
				}
				if n := b.deletions(); n != 0 {
					t.Errorf("the VIM was asked for %d deletions besides", n)
				}
			})
			if err := revoke(b, l); err != nil {
				t.Fatal(err)
			}
			if got := b.row(l.ID); !asked || got.State != broker.LeaseRevoked {
				t.Errorf("the lease is %s, asked %v, want revoked", got.State, asked)
			}
		})
	}
}

// What a process had begun to revoke when it died is the reaper's when its claim has ended, and
// at once where the next process has the store to itself.
func TestAClaimOutlivesNoProcessForLong(t *testing.T) {
	for name, alone := range map[string]bool{"another takes over": false, "the next has the store": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			v := b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, v.Name)
			b.clock.Add(time.Minute)
			if _, err := b.store.UpdateLease(t.Context(), l.ID, func(now *broker.Lease) error {
				now.State, now.Reason = broker.LeaseRevoking, broker.ReasonRequested
				now.NextAttemptAt = b.clock.Now().Add(3 * b.options.Terms.CallTimeout)
				return nil
			}, audit.Entry{Time: b.clock.Now(), Principal: "alice", Outcome: audit.Intent}); err != nil {
				t.Fatal(err)
			}
			if alone {
				b.clock.Add(time.Second)
				if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
					t.Fatal(err)
				}
			} else {
				b.mustReap()
				if got := b.row(l.ID).State; got != broker.LeaseRevoking {
					t.Fatalf("the lease is %s, want revoking: its process may live", got)
				}
				b.clock.Add(3 * b.options.Terms.CallTimeout)
			}
			b.mustReap()
			if got := b.row(l.ID).State; got != broker.LeaseRevoked {
				t.Errorf("the lease is %s, want revoked", got)
			}
		})
	}
}

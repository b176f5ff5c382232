package broker_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// standby is a store that takes no writes while it refuses.
type standby struct {
	broker.Store
	refusal atomic.Pointer[broker.Error]
}

// refuse sets the answer to writes; nil: they are taken.
func (s *standby) refuse(err error) {
	refusal, _ := errors.AsType[*broker.Error](err)
	s.refusal.Store(refusal)
}

func (s *standby) refused() error {
	if refusal := s.refusal.Load(); refusal != nil {
		return refusal
	}
	return nil
}

func (s *standby) Check(ctx context.Context, r broker.Replica) error {
	return errors.Join(s.refused(), s.Store.Check(ctx, r))
}

func (s *standby) Append(ctx context.Context, e audit.Entry) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.Store.Append(ctx, e)
}

func (s *standby) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	if err := s.refused(); err != nil {
		return broker.Lease{}, err
	}
	return s.Store.CreateLease(ctx, l, q, e)
}

func (s *standby) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	if err := s.refused(); err != nil {
		return broker.Lease{}, err
	}
	return s.Store.UpdateLease(ctx, id, change, e)
}

func (s *standby) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	if err := s.refused(); err != nil {
		return err
	}
	return s.Store.DeferLease(ctx, id, attempts, next, class)
}

func (s *standby) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	if err := s.refused(); err != nil {
		return broker.VIM{}, err
	}
	return s.Store.UpdateVIM(ctx, id, change, e)
}

func (s *standby) UpdateIdleVIM(
	ctx context.Context, id string, leased bool, change func(*broker.VIM) error, e audit.Entry,
) (broker.VIM, error) {
	if err := s.refused(); err != nil {
		return broker.VIM{}, err
	}
	return s.Store.UpdateIdleVIM(ctx, id, leased, change, e)
}

// onStandby is a bench whose store can be told to take no writes.
func onStandby(t *testing.T, o benchOptions) (*bench, *standby) {
	t.Helper()
	b := newBench(t, o)
	s := &standby{Store: b.store}
	b.options.Store = s
	b.Broker = mustNew(t, b.options)
	b.Probe(t.Context())
	return b, s
}

// recording is the fault of the part that records; empty: there is none.
func (b *bench) recording() string {
	b.t.Helper()
	parts, err := b.Ready()
	if err != nil {
		b.t.Fatalf("Ready() = %v", err)
	}
	i := slices.IndexFunc(parts, func(p broker.PartStatus) bool { return p.Part == broker.PartRecording })
	return parts[i].Fault
}

// wantRefused wants an ErrUnavailable that says what to do.
func wantRefused(t *testing.T, call string, err error) {
	t.Helper()
	wantKind(t, call, err, broker.ErrUnavailable)
	if refusal, ok := errors.AsType[*broker.Error](err); ok && refusal.Remedy == "" {
		t.Errorf("%s = %v, without a remedy", call, err)
	}
}

// While the store takes no writes nothing is done, not even a revocation. Afterwards leases are revoked, by who repeats that
// and by the reaper.
func TestNothingIsDoneThatCannotBeRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		refusal error
		fault   string
	}{
		"full":    {rows.Full(errors.New("no space left on device")), "the disk of the database is full"},
		"standby": {rows.NoWrites(errors.New("25006")), "the database takes no writes"},
	} {
		t.Run(name, func(t *testing.T) {
			b, store := onStandby(t, benchOptions{})
			b.mustRegister(alice, "edge")
			first, token := b.mustIssue(alice, "edge")
			second, _ := b.mustIssue(alice, "edge")
			others, _ := b.mustIssue(bob, "edge")
			ended, _ := b.mustIssue(alice, "edge")
			if _, err := b.RevokeLease(t.Context(), alice, ended.ID); err != nil {
				t.Fatal(err)
			}
			live := []string{first.ID, second.ID, others.ID}
			store.refuse(test.refusal)
			b.Probe(t.Context())
			if fault := b.recording(); fault != test.fault {
				t.Errorf("the part recording says %q, want %q", fault, test.fault)
			}
			before, err := b.store.Entries(t.Context(), audit.Query{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			b.wantAllRefused(t, []string{first.ID, ended.ID})
			b.clock.Add(first.ExpiresAt.Sub(b.clock.Now()) + time.Minute) // the reaper is to end all of them
			_ = b.Reap(t.Context())
			for _, id := range live {
				if row := b.row(id); row.State != broker.LeaseActive {
					t.Errorf("a lease is %s, want active", row.State)
				}
			}
			if n := b.upstream(); n != len(live) {
				t.Errorf("%d lease objects on the VIM, want %d", n, len(live))
			}
			after, err := b.store.Entries(t.Context(), audit.Query{Limit: 100})
			if err != nil || len(after) != len(before) {
				t.Errorf("%d entries were recorded, %v, want none", len(after)-len(before), err)
			}

			store.refuse(nil)
			b.Probe(t.Context())
			if fault := b.recording(); fault != "" {
				t.Errorf("afterwards the part recording says %q", fault)
			}
			got, err := b.RevokeLease(t.Context(), alice, first.ID)
			if err != nil || got.State != broker.LeaseRevoked || got.Reason != broker.ReasonRequested {
				t.Errorf("RevokeLease() afterwards = %s for %q, %v", got.State, got.Reason, err)
			}
			if n := b.upstream(); n != len(live)-1 {
				t.Errorf("%d lease objects on the VIM, want %d", n, len(live)-1)
			}
			b.mustReap()
			b.wantRevoked(live)
			if row := b.row(second.ID); row.Reason != broker.ReasonExpired {
				t.Errorf("the reaper ended a lease for %q", row.Reason)
			}
			b.wantLog(policy.LeaseRevoke)
			b.wantNowhere("the token", token.Reveal())
		})
	}
}

// wantAllRefused calls all that a caller may do with leases, and wants each refused with a remedy.
func (b *bench) wantAllRefused(t *testing.T, ids []string) {
	t.Helper()
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge", TTL: time.Hour})
	wantRefused(t, "IssueLease()", err)
	_, _, err = b.RenewLease(t.Context(), alice, ids[0], time.Hour)
	wantRefused(t, "RenewLease()", err)
	for _, id := range ids {
		for _, p := range []policy.Principal{alice, rita, mallet} {
			got, err := b.RevokeLease(t.Context(), p, id)
			wantRefused(t, "RevokeLease() by "+p.Name, err)
			if got.State == broker.LeaseRevoked && id == ids[0] {
				t.Errorf("RevokeLease() by %s says that the lease is revoked", p.Name)
			}
		}
	}
	for _, p := range []policy.Principal{alice, rita} {
		got, err := b.RevokeLeases(t.Context(), p, broker.LeaseSelector{VIM: "edge"})
		wantRefused(t, "RevokeLeases() by "+p.Name, err)
		if len(got) > 0 {
			t.Errorf("RevokeLeases() by %s returns %d leases", p.Name, len(got))
		}
	}
	wantRefused(t, "EndLeases()", b.EndLeases(t.Context(), alice, broker.LeaseSelector{VIM: "edge"}))
	_, _, err = b.DeleteVIM(t.Context(), alice, "edge", broker.Deletion{Drain: true})
	wantRefused(t, "DeleteVIM()", err)
}

// A revocation whose intent is recorded goes on, and its end is recorded once the store takes writes.
func TestTheReaperRecordsAnEndOnceItCan(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	if err := b.EndLeases(t.Context(), alice, broker.LeaseSelector{VIM: "edge"}); err != nil {
		t.Fatal(err)
	}
	store.refuse(rows.Full(errors.New("no space left on device")))
	b.clock.Add(time.Minute)
	_ = b.Reap(t.Context())
	if row := b.row(l.ID); row.State != broker.LeaseRevoking {
		t.Errorf("the lease is %s, want revoking", row.State)
	}
	store.refuse(nil)
	b.mustReap()
	b.wantRevoked([]string{l.ID})
	b.wantLog(policy.LeaseRevoke)
}

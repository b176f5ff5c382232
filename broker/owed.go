package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxOwed bounds the revocations that one process keeps in memory until they can be recorded.
	maxOwed = 2000
	// recordAtFirst and recordAtMost are how soon after a failure it is tried again to record them.
	recordAtFirst, recordAtMost = time.Second, 10 * time.Second
	// recordLast bounds the last try, when the process ends.
	recordLast = 5 * time.Second
	// tellTime bounds telling the sinks of the audit log of a revocation that is not recorded.
	tellTime = 5 * time.Second
)

// debts are the revocations that were done, or begun, while the store took no writes. A
// revocation may come before its record, because it only takes away; nothing else may.
type debts struct {
	mu sync.Mutex
	of map[string]*debt // by lease
	// made wakes [Broker.KeepRecording].
	made chan struct{}
	// turn is held by who records.
	turn sync.Mutex
}

// debt is one revocation that is not recorded.
type debt struct {
	id, vim string
	since   time.Time // when it was asked for
	// What follows belongs to who has the lease in takingBack.
	lease Lease // as it is once this is recorded
	left  []string
	act   *audit.Act
}

func newDebts() debts { return debts{of: map[string]*debt{}, made: make(chan struct{}, 1)} }

// take returns the debt of a lease, made by act unless there is one; ErrUnavailable where there
// are too many.
func (d *debts) take(l Lease, act *audit.Act, now time.Time) (*debt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.of[l.ID]; known != nil {
		return known, nil
	}
	if len(d.of) >= maxOwed {
		return nil, &Error{
			Kind:   ErrUnavailable,
			Detail: fmt.Sprintf("the database takes no writes, and this server has revoked %d leases that it has to record first", maxOwed),
			Remedy: "have the broker's operator get the database going",
		}
	}
	made := &debt{id: l.ID, vim: l.VIM, since: now, lease: l, act: act.With(audit.DetailActedAt, now.Format(time.RFC3339Nano))}
	made.lease.Unrecorded = true
	d.of[l.ID] = made
	return made, nil
}

// wake has what is owed recorded.
func (d *debts) wake() {
	select {
	case d.made <- struct{}{}:
	default: // it will be received
	}
}

func (d *debts) drop(lease string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, lease)
}

// all are the debts, the oldest first.
func (d *debts) all() []*debt {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*debt, 0, len(d.of))
	for _, one := range d.of {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *debt) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
	return all
}

func (d *debts) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.of)
}

// revokeFirst revokes a lease whose intent the store refuses to write, for the reason why, and
// records it later. The lease that it returns is Unrecorded. It returns why where there is
// nothing that it can take back, and where the lease may still be being issued: that issue cannot
// be recorded either, and is undone by itself.
func (b *Broker) revokeFirst(ctx context.Context, src *source, l Lease, act *audit.Act, why error) (Lease, error) {
	if l.State == LeasePending || l.State == LeaseRevoked {
		return l, why
	}
	if _, working := b.takingBack.LoadOrStore(l.ID, true); working {
		l.State, l.Unrecorded = LeaseRevoking, true
		return l, nil
	}
	defer b.owed.wake()
	defer b.takingBack.Delete(l.ID)
	src.place(ctx, l, act)
	owed, err := b.owed.take(l, act, b.now())
	if err != nil {
		return l, err
	}
	if owed.lease.State == LeaseRevoked {
		return owed.lease, nil
	}
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	err = b.revokeUpstream(ctx, src, l)
	if err == nil {
		failpoint.At("revoke.unrecorded")
		owed.left, err = b.leftBehind(ctx, src, l)
	}
	switch {
	case err == nil:
		now := b.now()
		owed.lease.State, owed.lease.Reason, owed.lease.RevokedAt, owed.lease.LastError = LeaseRevoked, ReasonRequested, now, ""
		owed.lease.LeftBehind, owed.lease.Sealed = slices.Concat(owed.lease.LeftBehind, owed.left), ""
		owed.act.With(audit.DetailActedAt, now.Format(time.RFC3339Nano))
	case errors.Is(err, errPassedThrough), errors.Is(err, errVIMGone):
		b.owed.drop(l.ID)
		return l, why
	default:
		owed.lease.State, owed.lease.Reason, owed.lease.LastError = LeaseRevoking, ReasonRequested, message(err)
	}
	said := owed.act.With(audit.DetailReason, string(ReasonRequested)).Intent()
	said.Detail[audit.DetailRecorded] = "false"
	if owed.lease.State == LeaseRevoked {
		said.Outcome = audit.Done
	}
	b.log.ErrorContext(ctx, "a lease was revoked before that is recorded: the database takes no writes",
		"lease", l.ID, "vim", l.VIM, "holder", l.Principal, "by", said.Principal, "request", said.Request, "state", string(owed.lease.State), "error", err)
	telling, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	b.courier.Tell(telling, said)
	return owed.lease, nil
}

// takesNoWrites reports whether a write failed because the store can only be read now.
func takesNoWrites(err error) bool { return errors.Is(err, ErrNoWrites) }

// RecordOwed records what was revoked while the store took no writes. What the VIM did not answer is
// the reaper's from then on. It returns an error as long as anything is left.
func (b *Broker) RecordOwed(ctx context.Context) error {
	b.owed.turn.Lock()
	defer b.owed.turn.Unlock()
	var failed []error
	for _, owed := range b.owed.all() {
		err := b.recordOne(ctx, owed)
		if err == nil {
			continue
		}
		failed = append(failed, fmt.Errorf("recording that lease %s was revoked: %w", owed.id, err))
		if errors.Is(err, ErrUnavailable) {
			break // so will the others
		}
	}
	return errors.Join(failed...)
}

// errUnderWay: another call is at the lease.
var errUnderWay = errors.New("it is being revoked")

func (b *Broker) recordOne(ctx context.Context, owed *debt) error {
	if _, working := b.takingBack.LoadOrStore(owed.id, true); working {
		return errUnderWay
	}
	defer b.takingBack.Delete(owed.id)
	gone := owed.lease.State == LeaseRevoked
	var claim time.Duration // none: the reaper's at once
	if gone {
		claim = b.claim()
	}
	l, _, err := b.beginRevocation(ctx, owed.lease, ReasonRequested, owed.act, claim)
	switch {
	case errors.Is(err, errEnded): // another replica did it as well
		err = b.store.Append(ctx, owed.act.Done(audit.DetailReason, "had ended before"))
	case errors.Is(err, ErrNotFound): // its row was removed meanwhile
		err = b.store.Append(ctx, owed.act.Done())
	case err == nil && gone:
		// Whoever else is at it finds it gone, and records that as well.
		_, err = b.finishRevocation(ctx, l, owed.left, owed.lease.RevokedAt, owed.act)
	}
	if err != nil {
		return err
	}
	b.owed.drop(owed.id)
	b.log.InfoContext(ctx, "a revocation is recorded that was not", "lease", owed.id, "asked", owed.since)
	return nil
}

// KeepRecording records what was revoked while the store took no writes, as soon as it does, until ctx ends,
// and tries once more then. What is still not recorded is an error in the log, lease by lease:
// those leases stand as active until the reaper or an inventory finds them gone.
func (b *Broker) KeepRecording(ctx context.Context) {
	var wait time.Duration
	for {
		var again <-chan time.Time
		if wait > 0 {
			again = time.After(wait)
		}
		select {
		case <-ctx.Done():
			b.recordAtLast(ctx)
			return
		case <-b.owed.made:
		case <-again:
		}
		if err := b.RecordOwed(ctx); err == nil {
			wait = 0
		} else {
			wait = min(max(recordAtFirst, 2*wait), recordAtMost)
			b.log.WarnContext(ctx, "revocations cannot be recorded yet", "owed", b.owed.count(), "error", err)
		}
	}
}

func (b *Broker) recordAtLast(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLast)
	defer cancel()
	if b.RecordOwed(last) == nil {
		return
	}
	for _, owed := range b.owed.all() {
		b.log.ErrorContext(ctx, "the server ends, and that a lease was revoked is not recorded",
			"lease", owed.id, "vim", owed.vim, "asked", owed.since)
	}
}

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
	// repeats counts the acts of all debts but their first ones.
	repeats int
	// made wakes [Broker.KeepRecording].
	made chan struct{}
	// turn is held by who records.
	turn sync.Mutex
}

// debt is one revocation that is not recorded.
type debt struct {
	id, vim string
	by      string    // who asked first
	since   time.Time // when it was asked for
	// repeats are the first acts of other callers who asked for the same, by their names, and tried is when the
	// VIM was asked again last, zero before that; both are guarded by debts.mu.
	repeats map[string]*audit.Act
	tried   time.Time
	// What follows belongs to who has the lease in takingBack.
	lease Lease // as it is once this is recorded
	left  []string
	act   *audit.Act
	// recorded: what is left to record are the repeats.
	recorded bool
}

func newDebts() debts { return debts{of: map[string]*debt{}, made: make(chan struct{}, 1)} }

// take returns the debt of a lease, made by act unless there is one: then act is to be recorded beside it, once for
// each caller. It returns ErrUnavailable where there is too much to record.
func (d *debts) take(l Lease, act *audit.Act, now time.Time) (*debt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, who := d.of[l.ID], act.Principal()
	if known != nil && (known.by == who || known.repeats[who] != nil) {
		return known, nil
	}
	if len(d.of)+d.repeats >= maxOwed {
		return nil, &Error{
			Kind:   ErrUnavailable,
			Detail: fmt.Sprintf("the database takes no writes, and this server has %d revocations of leases that it has to record first", maxOwed),
			Remedy: "have the broker's operator get the database going",
		}
	}
	act = act.With(audit.DetailActedAt, now.Format(time.RFC3339Nano))
	if known != nil {
		known.repeats[who] = act
		d.repeats++
		return known, nil
	}
	made := &debt{id: l.ID, vim: l.VIM, by: who, since: now, lease: l, act: act, repeats: map[string]*audit.Act{}}
	made.lease.Unrecorded = true
	d.of[l.ID] = made
	return made, nil
}

// settled forgets a debt unless there are repeats to record.
func (d *debts) settled(of *debt) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(of.repeats) > 0 {
		return false
	}
	delete(d.of, of.id)
	return true
}

// repeat returns an act of another caller that is to be recorded beside a debt, and his name; nil where there is none.
func (d *debts) repeat(of *debt) (string, *audit.Act) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for who, act := range of.repeats {
		return who, act
	}
	return "", nil
}

// repeated forgets what repeat returned.
func (d *debts) repeated(of *debt, who string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(of.repeats, who)
	d.repeats--
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
	if known := d.of[lease]; known != nil {
		d.repeats -= len(known.repeats)
	}
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

// longest are the debts, VIM by VIM: first those of the VIM that was not asked again for longest, so that none waits for
// the many leases of another, and of each VIM first the lease that was not tried again for longest.
func (d *debts) longest() []*debt {
	all := d.all()
	d.mu.Lock()
	defer d.mu.Unlock()
	last := map[string]time.Time{}
	for _, one := range all {
		if one.tried.After(last[one.vim]) {
			last[one.vim] = one.tried
		}
	}
	slices.SortStableFunc(all, func(a, b *debt) int {
		return cmp.Or(last[a.vim].Compare(last[b.vim]), cmp.Compare(a.vim, b.vim), a.tried.Compare(b.tried))
	})
	return all
}

// asked notes that the VIM of a debt is asked again.
func (d *debts) asked(of *debt, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of.tried = now
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
	defer b.owed.wake()
	_, working := b.takingBack.LoadOrStore(l.ID, true)
	if !working {
		defer b.takingBack.Delete(l.ID)
	}
	src.place(ctx, l, act)
	owed, err := b.owed.take(l, act, b.now())
	switch {
	case err != nil:
		return l, err
	case working:
		l.State, l.Unrecorded = LeaseRevoking, true
		return l, nil
	case owed.lease.State == LeaseRevoked:
		return owed.lease, nil
	}
	asking, cancel := b.cleanup(ctx)
	defer cancel()
	err = b.revokeOwed(asking, src, owed)
	if errors.Is(err, errPassedThrough) || errors.Is(err, errVIMGone) {
		b.owed.drop(l.ID)
		return l, why
	}
	b.tell(ctx, owed, err)
	return owed.lease, nil
}

// revokeOwed revokes a lease at its VIM before that is recorded, and notes with the debt what came of it. The caller
// has the lease in takingBack.
func (b *Broker) revokeOwed(ctx context.Context, src *source, owed *debt) error {
	err := b.revokeUpstream(ctx, src, owed.lease)
	if err == nil {
		failpoint.At("revoke.unrecorded")
		owed.left, err = b.leftBehind(ctx, src, owed.lease)
	}
	owed.lease.Reason = ReasonRequested
	if err != nil {
		owed.lease.State, owed.lease.LastError = LeaseRevoking, message(err)
		return err
	}
	now := b.now()
	owed.lease.State, owed.lease.RevokedAt, owed.lease.LastError = LeaseRevoked, now, ""
	owed.lease.LeftBehind, owed.lease.Sealed = slices.Concat(owed.lease.LeftBehind, owed.left), ""
	owed.act.With(audit.DetailActedAt, now.Format(time.RFC3339Nano))
	return nil
}

// tell says in the log, and to the required sinks of the audit log, what became of a revocation that is not recorded.
func (b *Broker) tell(ctx context.Context, owed *debt, err error) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	l := owed.lease
	said := owed.act.With(audit.DetailReason, string(ReasonRequested)).Intent()
	said.Detail[audit.DetailRecorded] = "false"
	if owed.lease.State == LeaseRevoked {
		said.Outcome = audit.Done
	}
	b.log.ErrorContext(ctx, "a lease was revoked before that is recorded: the database takes no writes",
		"lease", l.ID, "vim", l.VIM, "holder", l.Principal, "by", said.Principal, "request", said.Request, "state", string(owed.lease.State), "error", err)
	telling, done := context.WithTimeout(ctx, tellTime)
	defer done()
	b.courier.Tell(telling, said)
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
	if !owed.recorded {
		if err := b.recordFirst(ctx, owed); err != nil {
			return err
		}
		owed.recorded = true
	}
	for !b.owed.settled(owed) {
		who, act := b.owed.repeat(owed)
		if err := b.store.Append(ctx, act.Done(audit.DetailReason, "was being revoked already")); err != nil {
			return err
		}
		b.owed.repeated(owed, who)
	}
	b.log.InfoContext(ctx, "a revocation is recorded that was not", "lease", owed.id, "asked", owed.since)
	return nil
}

// recordFirst records what the first caller asked for.
func (b *Broker) recordFirst(ctx context.Context, owed *debt) error {
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
	return err
}

// RetryOwed asks the VIMs again that did not answer when leases on them were to be revoked, as long as the store takes
// no writes: until it does, no reaper can. Of each VIM that still does not answer it tries one lease, and it begins no
// try after recordAtMost. A try ends with ctx, so that it keeps no process from its end.
func (b *Broker) RetryOwed(ctx context.Context) {
	begin, cancel := context.WithTimeout(ctx, recordAtMost)
	defer cancel()
	silent := map[string]bool{}
	for _, owed := range b.owed.longest() {
		if begin.Err() != nil {
			return
		}
		if !silent[owed.vim] && b.retryOne(ctx, owed) != nil {
			silent[owed.vim] = true
		}
	}
}

func (b *Broker) retryOne(ctx context.Context, owed *debt) error {
	if _, working := b.takingBack.LoadOrStore(owed.id, true); working {
		return nil
	}
	defer b.takingBack.Delete(owed.id)
	if owed.lease.State == LeaseRevoked {
		return nil
	}
	src := b.newSource(owed.vim)
	defer src.close()
	b.owed.asked(owed, b.now())
	asking, cancel := context.WithTimeout(ctx, 2*b.terms.CallTimeout)
	defer cancel()
	err := b.revokeOwed(asking, src, owed)
	if err == nil {
		b.tell(ctx, owed, nil)
	}
	return err
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
			if takesNoWrites(err) {
				b.RetryOwed(ctx)
			}
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

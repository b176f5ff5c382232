package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// confirmEvery is how long to wait between two tries of a revoked credential.
	confirmEvery = 2 * time.Second
	// pastExpiry is how long after its expiry a credential that cannot be tried is assumed dead. Its
	// own expiry is too early: an API server allows the clocks a minute (go-jose's
	// leeway), and takes from its cache for ten seconds what it has just seen.
	pastExpiry = 2 * time.Minute
	// restDown is how long a pass leaves a VIM alone that it found down. A pass is
	// over when nothing is under way, which may take longer.
	restDown = 30 * time.Second
)

// Reap is the pass that ends leases: those whose time is up, those whose
// revocation is due again, and those whose death is yet to be confirmed. It also
// takes draining VIMs further.
//
// No VIM waits for another that does not answer, and no project for another that has
// many such: see [fairQueue]. While there is work under way, Reap begins every
// Terms.ReapEvery what has become due on the others. A VIM that was found down, or
// failed, costs one check of it and is left alone for restDown.
func (b *Leaser) Reap(ctx context.Context) error {
	q := newFairQueue(reapVIMs, reapOfProject)
	q.patience, q.rest = b.terms.ReapEvery, restDown
	var begun atomic.Bool
	err := b.inTurn(ctx, q, func() ([]turn, error) { return b.reapable(ctx) }, func(ctx context.Context, vim string) (bool, error) {
		begun.Store(true)
		down, err := b.endDue(ctx, vim)
		switch {
		case err != nil:
			return true, fmt.Errorf("VIM %s: %w", vim, err)
		case down:
			return true, errDown
		}
		return true, nil
	})
	if begun.Load() {
		b.RetireKeys(ctx)
	}
	if all, some := err.(interface{ Unwrap() []error }); some {
		failed := all.Unwrap()
		return fmt.Errorf("%d of the reaper's tasks failed, the first with: %w", len(failed), failed[0])
	}
	return err
}

// reapable lists the VIMs that leases are due on, and the draining ones whose next try is.
func (b *Leaser) reapable(ctx context.Context) ([]turn, error) {
	due, err := b.leases.DueVIMs(ctx, b.now())
	if err != nil {
		return nil, err
	}
	turns := make([]turn, 0, len(due))
	listed := make(map[string]bool, len(due))
	for _, v := range due {
		turns = append(turns, turn{vim: v.VIM, project: v.Project, since: v.Since})
		listed[v.VIM] = true
	}
	err = b.eachVIM(ctx, VIMFilter{State: VIMDraining, CheckDue: b.now()}, func(v VIM) {
		if !listed[v.ID] {
			turns = append(turns, turn{vim: v.ID, project: v.Project, since: v.Health.Next, drains: true})
		}
	})
	return turns, err
}

// endDue does what is due on a VIM, and reports whether the VIM was found down.
// If the VIM is down, its leases wait until a check finds it up.
func (b *Leaser) endDue(ctx context.Context, id string) (down bool, err error) {
	session := b.newSession(id)
	defer session.close()
	v, err := session.vim(ctx)
	if err != nil && !errors.Is(err, ErrNotFound) { // where it is gone, its leases are given up
		return false, err
	}
	f := LeaseFilter{VIM: id}
	if v.Health.Status == HealthUnreachable {
		if v.Health, err = b.registry.check(ctx, v); err != nil {
			return false, err
		}
		if down = v.Health.Status == HealthUnreachable; down {
			f.States = []LeaseState{LeaseActive} // their time is up all the same
		}
	}
	f.DueBefore = b.now()
	work, err := b.dueWork(ctx, v, f)
	claim := b.claim()
	if down {
		claim = 0
	}
	err = errors.Join(err, work.beginFresh(b, claim))
	if down {
		return true, errors.Join(err, b.giveUpLost(ctx, v))
	}
	if _, silent := b.workOn(ctx, session, work.items[id]); silent {
		h, checkErr := b.registry.check(ctx, v)
		return h.Status == HealthUnreachable, errors.Join(err, checkErr)
	}
	// The end of the last lease may be what a drain waits for.
	ends := slices.ContainsFunc(work.items[id], func(i batchItem) bool { return i.lease.State != LeaseRevoked })
	if v.State == VIMDraining && (ends || !v.Health.Next.After(b.now())) {
		b.registry.drainFurther(ctx, v)
	}
	return false, err
}

// dueWork queues what there is to do for the leases on a VIM that f selects.
func (b *Leaser) dueWork(ctx context.Context, v VIM, f LeaseFilter) (*batch, error) {
	work := b.newBatch(ctx)
	return work, b.eachToEnd(ctx, "reaper", f, v.leased, func(l Lease, act *audit.Act) error {
		switch l.State {
		case LeaseActive:
			work.begin(l, ReasonExpired, act)
		case LeaseRevoking:
			work.add(l, act)
		case LeaseRevoked:
			work.items[l.VIM] = append(work.items[l.VIM], batchItem{lease: l, act: act, do: b.confirm})
		}
		return nil
	})
}

// giveUpLost gives up the leases on a VIM that is down which would have been tried
// Terms.GiveUpAfter times by now, were each tried by itself.
func (b *Leaser) giveUpLost(ctx context.Context, v VIM) error {
	lost := b.now().Add(-time.Duration(b.terms.GiveUpAfter) * maxBackoff)
	f := LeaseFilter{VIM: v.ID, States: []LeaseState{LeaseRevoking}, DueBefore: lost}
	return b.eachToEnd(ctx, "reaper", f, v.leased, func(l Lease, act *audit.Act) error { return b.giveUp(ctx, l, v.Health.Message, act) })
}

// confirm tries the credential of a revoked lease, and records that it is dead,
// or comes back later.
func (b *Leaser) confirm(ctx context.Context, session *session, l Lease, act *audit.Act) (Lease, error) {
	now := b.now()
	if ends := latest(l.ExpiresAt, l.CredentialEndsAt); !ends.Add(pastExpiry).After(now) {
		return b.recordDead(ctx, l, act.Done(audit.DetailReason, "expired"))
	}
	dead, err := b.tryDead(ctx, session, l)
	if err == nil && dead {
		dead, err := b.recordDead(ctx, l, act.Done(audit.DetailReason, "tried and refused"))
		if err == nil {
			b.counters.died(dead)
		}
		return dead, err
	}
	attempts := l.Attempts + 1
	if errors.Is(err, ErrUnavailable) {
		attempts = l.Attempts // it was not tried
	}
	if err == nil && now.After(l.RevokedAt.Add(l.MaxRevocationLag+confirmEvery)) {
		return b.stillWorks(ctx, l, act)
	}
	wait, why := confirmEvery, "the credential still works"
	if err != nil {
		why = class(err)
	}
	if attempts > l.Attempts && err != nil {
		wait = job.Spread(job.Backoff(attempts, maxBackoff))
	}
	l.Attempts, l.NextAttemptAt = attempts, now.Add(wait)
	return l, errors.Join(err, b.leases.DeferLease(ctx, l.ID, l.Attempts, l.NextAttemptAt, why))
}

func (b *Leaser) tryDead(ctx context.Context, session *session, l Lease) (bool, error) {
	d, err := b.driver(l.VIMType)
	if err != nil {
		return false, err
	}
	v, err := session.vim(ctx)
	if err != nil {
		return false, err
	}
	g, ok := v.generation(l.VIMGeneration)
	if !ok {
		return false, &Error{Kind: ErrUnopenable, Detail: "the generation of the VIM that the lease is pinned to is gone"}
	}
	o, err := session.opened(ctx, g)
	if err != nil {
		return false, err
	}
	minted, err := o.unseal(l)
	if err != nil {
		return false, err
	}
	try := func(g Generation) (bool, error) {
		ctx, cancel := b.call(ctx)
		defer cancel()
		return d.Dead(ctx, b.access(v, g, Credential{}), minted)
	}
	dead, err := try(g)
	if v.movedFrom(g, err) {
		return try(v.Current)
	}
	return dead, err
}

// stillWorks takes back that a lease was revoked: its credential was tried after its
// published lag, and works.
func (b *Leaser) stillWorks(ctx context.Context, l Lease, act *audit.Act) (Lease, error) {
	why := "the credential was revoked and still works after its published lag of " + l.MaxRevocationLag.String()
	b.raise(ctx, AlarmStillWorks, l, why)
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeaseRevoked || !now.ConfirmedDeadAt.IsZero() {
			l = *now
			return errEnded
		}
		now.State, now.LastError, now.Attempts = LeaseIrrevocable, why, 0
		return nil
	}, act.Failed(string(AlarmStillWorks)))
	if errors.Is(err, errEnded) {
		return l, nil
	}
	return stored, err
}

// recordDead records that the credential is dead, and drops what was kept of it.
func (b *Leaser) recordDead(ctx context.Context, l Lease, e audit.Entry) (Lease, error) {
	return b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		now.Attempts, now.LastError = 0, ""
		now.ConfirmedDeadAt, now.Sealed = b.now(), ""
		return nil
	}, e)
}

// retryIrrevocable takes up again, once a VIM has come back or has another credential, what was
// given up on it; what was passed through, where it has been replaced.
func (b *Leaser) retryIrrevocable(ctx context.Context, v VIM) error {
	f := LeaseFilter{VIM: v.ID, States: []LeaseState{LeaseIrrevocable}}
	return b.eachToEnd(ctx, "check", f, v.leased, func(l Lease, act *audit.Act) error {
		if !l.Derived && l.VIMGeneration == v.Current.Number {
			return nil
		}
		_, _, err := b.beginRevocation(ctx, l, l.Reason, act, 0)
		return ignore(err, errEnded)
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

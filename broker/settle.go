package broker

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Settle is the pass that finishes what a dead process began before the given
// time: registrations and updates that never ended, leases that were never handed
// out, keys that are still to be destroyed, keys for the audit log that never signed. It also has drivers tidy away what they
// keep for grants that have long been without a lease.
//
// Where nobody else can have been writing (an exclusive store, at start) that time
// is now; otherwise it is Terms.AbandonedAfter ago.
func (b *Broker) Settle(ctx context.Context, before time.Time) error {
	return errors.Join(b.settleVIMs(ctx, before), b.settleLeases(ctx, before), b.notary.Settle(ctx, before, b.enterNotary),
		b.tidyGrants(ctx), b.destroyRetired(ctx))
}

func (b *Registry) settleVIMs(ctx context.Context, before time.Time) error {
	var unfinished []VIM
	err := b.eachVIM(ctx, VIMFilter{PendingBefore: before}, func(v VIM) { unfinished = append(unfinished, v) })
	for _, v := range unfinished {
		err = errors.Join(err, b.settleVIM(ctx, v))
	}
	return err
}

func (b *Registry) settleVIM(ctx context.Context, v VIM) error {
	// While a key store cannot be used the write stays as old as it is: the pass after that settles it.
	for _, k := range b.keyProbes {
		if err := k.known(); err != nil && !errors.Is(err, errNotLooked) {
			return err
		}
	}
	act, err := b.enter(ctx, system("settle"), policy.VIMSettle, vimResource(v), policy.Wish{})
	if err != nil {
		return err
	}
	v, err = b.takeOver(ctx, v, act.Intent())
	if err == nil {
		err = b.clearWrite(ctx, v, act.Failed("abandoned by a process that ended"))
	}
	if errors.Is(err, errOvertaken) || errors.Is(err, ErrNotFound) {
		return nil // another pass is at it
	}
	return err
}

// takeOver makes an unfinished write this pass's own. Another settle pass finds
// that, and so does the writer, should it live after all: a machine that was
// asleep goes on in the middle. Without it, the writer could switch to a key
// between our look at the rows and our sweep of the keys.
func (b *Registry) takeOver(ctx context.Context, v VIM, e audit.Entry) (VIM, error) {
	return b.vims.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if !now.pendingIs(v.Pending) {
			return overtaken()
		}
		now.Pending = &Pending{Generation: v.Pending.Generation, Since: b.now()}
		return nil
	}, e)
}

// clearWrite removes what an unfinished write left: of a registration everything.
func (b *Registry) clearWrite(ctx context.Context, v VIM, e audit.Entry) error {
	if v.State != VIMRegistering {
		return b.clearPending(ctx, v.ID, v.Pending, e)
	}
	if err := b.sweepKeys(ctx, v.ID, v.Pending); err != nil {
		return err
	}
	return b.vims.DeleteVIM(ctx, v.ID, false, e)
}

func (b *Leaser) settleLeases(ctx context.Context, before time.Time) error {
	if err := b.endClaims(ctx, before); err != nil {
		return err
	}
	batch := b.newBatch(ctx)
	f := LeaseFilter{States: []LeaseState{LeasePending}, CreatedBefore: before}
	err := b.eachToEnd(ctx, "settle", f, leaseResource, func(l Lease, act *audit.Act) error {
		batch.begin(l, ReasonAbandoned, act)
		return nil
	})
	_, begun := batch.run(b)
	return errors.Join(err, begun)
}

// endClaims leaves to the reaper the leases that a process which died before that time had
// begun to revoke. Where that is long ago, the claims have ended by themselves.
func (b *Leaser) endClaims(ctx context.Context, before time.Time) error {
	if before.Add(b.claim()).Before(b.now()) {
		return nil
	}
	return b.eachLease(ctx, LeaseFilter{States: []LeaseState{LeaseRevoking}, CreatedBefore: before}, func(l Lease) error {
		issued := !l.IssuedAt.IsZero() || l.Reason == ReasonAbandoned
		if !issued || !l.claimed(b.now()) || l.NextAttemptAt.After(before.Add(b.claim())) {
			return nil
		}
		return b.release(ctx, l)
	})
}

// Passes are the broker's periodic work, for a job queue to run.
func (b *Broker) Passes() []Pass {
	passes := []Pass{
		{Name: "reap", Every: b.terms.ReapEvery, Run: b.Reap},
		{Name: "settle", Every: b.terms.SettleEvery, Run: func(ctx context.Context) error {
			return b.Settle(ctx, b.now().Add(-b.terms.AbandonedAfter))
		}},
		{Name: "seal-anew", Every: b.terms.SettleEvery, Run: b.SealAnew},
		{Name: "watch-audit", Every: b.terms.SettleEvery, Run: b.WatchAudit},
		{Name: "sign-audit", Every: b.terms.CheckpointEvery, Run: b.SignAudit},
		{Name: "check", Every: min(b.terms.CheckEvery, 30*time.Second), Run: b.CheckDue},
		{Name: "inventory", Every: b.terms.InventoryEvery, Run: b.InventoryAll},
	}
	access := Pass{Name: "access", Every: accessEvery, Run: b.EndWithoutAccess}
	if b.terms.EndWithAccess {
		access.Every = b.terms.SettleEvery
	}
	passes = append(passes, access,
		Pass{Name: "grades", Every: accessEvery, Run: b.GradeAnew}, Pass{Name: "prune", Every: pruneEvery, Run: b.prune})
	if len(b.pushTargets) > 0 {
		passes = append(passes, Pass{Name: "keep-pushed", Every: keepEvery, Run: b.KeepPushed})
	}
	for _, s := range b.courier.Sinks() {
		passes = append(passes, Pass{Name: "deliver-" + s.Name, Every: deliverEvery, Run: func(ctx context.Context) error {
			return b.courier.Deliver(ctx, s)
		}})
	}
	return passes
}

// deliverEvery is how often the audit log is delivered to each of its sinks.
const deliverEvery = 2 * time.Second

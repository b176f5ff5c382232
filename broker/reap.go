package broker

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// confirmEvery is how long to wait between two tries of a revoked credential.
	confirmEvery = 2 * time.Second
	// pastExpiry is when a credential that cannot be tried is taken for dead. Its
	// own expiry is too early: an API server allows the clocks a minute (go-jose's
	// leeway), and takes from its cache for ten seconds what it has just seen.
	pastExpiry = 2 * time.Minute
)

// Reap is the pass that ends leases: those whose time is up, those whose
// revocation is due again, and those whose death is yet to be confirmed. It also
// takes draining VIMs further.
func (b *Broker) Reap(ctx context.Context) error {
	p := system("reaper")
	batch := b.newBatch(ctx)
	err := b.eachLease(ctx, LeaseFilter{DueBefore: b.now()}, func(l Lease) error {
		act, err := b.enter(ctx, p, policy.LeaseRevoke, leaseResource(l), policy.Wish{})
		if err != nil {
			return err
		}
		switch l.State {
		case LeaseActive:
			batch.begin(l, Expired, act)
		case LeaseRevoking:
			batch.add(l, act)
		case LeaseRevoked:
			batch.items[l.VIM] = append(batch.items[l.VIM], batchItem{lease: l, act: act, do: b.confirm})
		}
		return nil
	})
	_, begun := batch.run(b)
	return errors.Join(err, begun, b.drainAll(ctx))
}

// drainAll takes every draining VIM as far as it goes.
func (b *Broker) drainAll(ctx context.Context) error {
	var draining []VIM
	if err := b.eachVIM(ctx, VIMFilter{State: Draining}, func(v VIM) { draining = append(draining, v) }); err != nil {
		return err
	}
	for _, v := range draining {
		act, err := b.enter(ctx, system("drain"), policy.VIMDelete, vimResource(v), policy.Wish{})
		if err != nil {
			return err
		}
		if _, err := b.drain(ctx, v, false, act); err != nil {
			b.log.InfoContext(ctx, "a VIM is draining and not gone yet", "vim", v.ID, "error", err)
		}
	}
	return nil
}

// confirm tries the credential of a revoked lease, and records that it is dead,
// or comes back later.
func (b *Broker) confirm(ctx context.Context, src *source, l Lease, act *audit.Act) (Lease, error) {
	now := b.now()
	if !l.ExpiresAt.Add(pastExpiry).After(now) {
		return b.bury(ctx, l, act.Done(audit.DetailReason, "expired"))
	}
	dead, err := b.tryDead(ctx, src, l)
	if err == nil && dead {
		return b.bury(ctx, l, act.Done(audit.DetailReason, "tried and refused"))
	}
	attempts := l.Attempts + 1
	if err == nil && now.After(l.RevokedAt.Add(l.MaxRevocationLag+confirmEvery)) {
		b.log.ErrorContext(ctx, "a revoked credential still works after its published lag", "lease", l.ID, "vim", l.VIM)
	}
	wait := confirmEvery
	if err != nil {
		wait = backoff(attempts)
	}
	l.Attempts, l.NextAttemptAt = attempts, now.Add(wait)
	return l, errors.Join(err, b.store.DeferLease(ctx, l.ID, l.Attempts, l.NextAttemptAt, class(err)))
}

func (b *Broker) tryDead(ctx context.Context, src *source, l Lease) (bool, error) {
	d, err := b.driver(l.VIMType)
	if err != nil {
		return false, err
	}
	v, err := src.vim(ctx)
	if err != nil {
		return false, err
	}
	g, ok := v.generation(l.VIMGeneration)
	if !ok {
		return false, &Error{Kind: ErrUnopenable, Detail: "the generation of the VIM that the lease is pinned to is gone"}
	}
	o, err := src.opened(ctx, g)
	if err != nil {
		return false, err
	}
	minted, err := o.unseal(l)
	if err != nil {
		return false, err
	}
	ctx, cancel := b.call(ctx)
	defer cancel()
	return d.Dead(ctx, b.access(v, g, Credential{}), minted)
}

// bury records that the credential is dead, and drops what was kept of it.
func (b *Broker) bury(ctx context.Context, l Lease, e audit.Entry) (Lease, error) {
	return b.store.UpdateLease(ctx, l.ID, func(now *Lease) error {
		now.Attempts, now.LastError = 0, ""
		now.ConfirmedDeadAt, now.Sealed = b.now(), ""
		return nil
	}, e)
}

// retryIrrevocable takes up again, once a VIM has come back, what was given up on it.
func (b *Broker) retryIrrevocable(ctx context.Context, v VIM) error {
	return b.eachLease(ctx, LeaseFilter{VIM: v.ID, States: []LeaseState{LeaseIrrevocable}}, func(l Lease) error {
		if !l.Derived {
			return nil
		}
		act, err := b.enter(ctx, system("reaper"), policy.LeaseRevoke, leaseResource(l), policy.Wish{})
		if err != nil {
			return err
		}
		_, err = b.beginRevocation(ctx, l, l.Reason, act)
		if errors.Is(err, errEnded) {
			return nil
		}
		return err
	})
}

// eachLease walks every page of what f selects.
func (b *Broker) eachLease(ctx context.Context, f LeaseFilter, do func(Lease) error) error {
	f.Size = 1000
	for {
		leases, next, err := b.store.Leases(ctx, f)
		if err != nil {
			return err
		}
		for _, l := range leases {
			if err := do(l); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		f.Token = next
	}
}

package broker

import (
	"context"
	"errors"
	"slices"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// EndOperation takes back every live lease that was issued for a life-cycle operation,
// whoever it was issued to: an operation that has ended, or is begun again, leaves none. Where the VIM
// cannot be asked now, the reaper goes on. Leases whose ids are in but stay.
func (b *Leaser) EndOperation(ctx context.Context, operation string, but ...string) error {
	if operation == "" {
		return Invalid("operation", "is missing")
	}
	batch := b.newBatch(ctx)
	err := b.eachLease(ctx, LeaseFilter{Operation: operation, States: []LeaseState{LeasePending, LeaseActive}}, func(l Lease) error {
		if slices.Contains(but, l.ID) {
			return nil
		}
		act, err := b.enter(ctx, system("lifecycle"), policy.LeaseRevoke, leaseResource(l), policy.Wish{})
		if err != nil {
			return err
		}
		batch.begin(l, ReasonRequested, act)
		return nil
	})
	_, begun := batch.run(b)
	return errors.Join(err, begun)
}

// Ended says of a lease whether it has ended, or is being ended, and why. It is for the engine, which holds
// the lease: nothing is decided or recorded.
func (b *Leaser) Ended(ctx context.Context, lease string) (bool, Reason, error) {
	l, err := b.leases.Lease(ctx, lease)
	return err == nil && l.State != LeaseActive, l.Reason, err
}

// WeighLease says what a lease would be that p asks for, with what its holder could become, and issues
// none. What would be refused is refused, and recorded as a question.
func (b *Leaser) WeighLease(ctx context.Context, p policy.Principal, r LeaseRequest) (Lease, error) {
	ctx = audit.AsQuestion(ctx)
	v, err := b.findVIM(ctx, p, policy.LeaseIssue, r.VIM)
	if err != nil {
		return Lease{}, err
	}
	d, grant, err := b.prepare(p, v, &r)
	if err != nil {
		if !b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
			err = b.hidden(ctx, p, policy.LeaseIssue, v)
		}
		return Lease{}, err
	}
	l := b.newLease(p, v, r, grant)
	act, err := b.enter(ctx, p, policy.LeaseIssue, vimResource(v), narrowest(d, l.wish(grant.TTL)))
	if err != nil {
		return Lease{}, err
	}
	if err := issuable(v); err != nil {
		return Lease{}, b.refuse(ctx, act, err)
	}
	if r.Credential == LeasePassThrough {
		if err := b.mayPassThrough(ctx, p, v, l.wish(grant.TTL)); err != nil {
			return Lease{}, b.refuse(ctx, act, err)
		}
		b.passesThrough(&l)
	} else {
		o, err := b.open(ctx, v, v.Current)
		if err != nil {
			return Lease{}, b.refuse(ctx, act, err)
		}
		defer o.close()
		if act, err = b.weigh(ctx, p, d, o, v, &l, act); err != nil {
			return Lease{}, err
		}
		if f, ok := d.(Foreseer); ok {
			if err := f.Foresee(o.Access, l.grant(grant.TTL)); err != nil {
				return Lease{}, b.refuse(ctx, act, err)
			}
		}
	}
	if err := act.Read(ctx); err != nil {
		return Lease{}, Unrecorded(err)
	}
	return l, nil
}

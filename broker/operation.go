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
	f := LeaseFilter{Operation: operation, States: []LeaseState{LeasePending, LeaseActive}}
	err := b.eachToEnd(ctx, "lifecycle", f, leaseResource, func(l Lease, act *audit.Act) error {
		if !slices.Contains(but, l.ID) {
			batch.begin(l, ReasonRequested, act)
		}
		return nil
	})
	_, begun := batch.run(b)
	return errors.Join(err, begun)
}

// Ended says of a lease, or of the one that has taken its place, whether it has ended, or is being ended, and why.
// It is for the engine and for grants, which hold the lease: nothing is decided or recorded.
func (b *Leaser) Ended(ctx context.Context, lease string) (bool, Reason, error) {
	l, err := b.current(ctx, lease)
	return err == nil && l.State != LeaseActive, l.Reason, err
}

// WeighLease says what a lease would be that p asks for, with what its holder could become, and issues
// none. A refusal is recorded as the answer to a question.
func (b *Leaser) WeighLease(ctx context.Context, p policy.Principal, r LeaseRequest) (Lease, error) {
	ctx = audit.AsQuestion(ctx)
	i, err := b.newIssuing(ctx, p, r)
	if err != nil {
		return Lease{}, err
	}
	if i.act, err = b.enter(ctx, p, policy.LeaseIssue, vimResource(i.vim), narrowest(i.driver, i.lease.wish(i.grant.TTL))); err != nil {
		return Lease{}, err
	}
	if err := issuable(i.vim); err != nil {
		return Lease{}, b.refuse(ctx, i.act, err)
	}
	if err := i.kind.admit(ctx, i); err != nil {
		return Lease{}, err
	}
	if i.lease.Derived {
		if err := i.foresee(ctx); err != nil {
			return Lease{}, err
		}
	}
	return i.lease, Unrecorded(i.act.Read(ctx))
}

// foresee weighs a lease that is to be derived, and has the driver say whether it could be issued.
func (i *issuing) foresee(ctx context.Context) error {
	o, err := i.open(ctx, i.vim, i.vim.Current)
	if err != nil {
		return i.refuse(ctx, i.act, err)
	}
	defer o.close()
	if err := i.weigh(ctx, o); err != nil {
		return err
	}
	if f, ok := i.driver.(Foreseer); ok {
		asking, cancel := i.call(ctx)
		defer cancel()
		if err := f.Foresee(asking, o.Access, i.lease.grant(i.grant.TTL)); err != nil {
			return i.refuse(ctx, i.act, err)
		}
	}
	return nil
}

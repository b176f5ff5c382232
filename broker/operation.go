package broker

import (
	"context"
	"errors"

	"github.com/vimbroker/vimbroker/policy"
)

// EndOperation takes back every live lease that was issued for a life-cycle operation,
// whoever it was issued to: an operation that has ended, or is begun again, leaves none. Where the VIM
// cannot be asked now, the reaper goes on.
func (b *Broker) EndOperation(ctx context.Context, operation string) error {
	if operation == "" {
		return Invalid("operation", "is missing")
	}
	batch := b.newBatch(ctx)
	err := b.eachLease(ctx, LeaseFilter{Operation: operation, States: []LeaseState{LeasePending, LeaseActive}}, func(l Lease) error {
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

package sqlite

import (
	"cmp"
	"context"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
)

var _ queue.Jobs = (*Store)(nil)

var holdJob = prepared(`SELECT 1 FROM jobs WHERE kind = ? AND subject = ? AND fence = ?`)

// held is apply under the claim that ctx carries: it fails if the claim has ended.
func held(ctx context.Context, apply func(txn) error) func(txn) error {
	c, ok := job.ClaimOf(ctx)
	if !ok {
		return apply
	}
	return func(t txn) error {
		if held, err := t.any(holdJob, c.Kind, c.Subject, c.Fence); err != nil || !held {
			return cmp.Or(err, job.ErrFenced)
		}
		return apply(t)
	}
}

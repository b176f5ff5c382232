package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
)

var _ queue.Jobs = (*Store)(nil)

// holdJob keeps the next attempt from beginning until the transaction ends.
const holdJob = `SELECT 1 FROM jobs WHERE kind = $1 AND subject = $2 AND fence = $3 FOR NO KEY UPDATE`

// demandClaim queues to demand that the claim that ctx carries has not ended.
func (t txn) demandClaim(ctx context.Context) {
	c, ok := job.ClaimOf(ctx)
	if !ok {
		return
	}
	t.queue(holdJob, c.Kind, c.Subject, c.Fence).Query(func(found pgx.Rows) error {
		held := found.Next()
		found.Close()
		if err := found.Err(); err != nil || held {
			return err
		}
		return job.ErrFenced
	})
}

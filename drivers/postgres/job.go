package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
)

var _ queue.Jobs = (*Store)(nil)

const (
	// holdJob keeps the next attempt from beginning until the transaction ends.
	holdJob  = `SELECT 1 FROM jobs WHERE kind = $1 AND subject = $2 AND fence = $3 FOR NO KEY UPDATE`
	dueKinds = `SELECT kind FROM unnest($1::text[]) AS asked (kind)
		WHERE EXISTS (SELECT FROM jobs WHERE jobs.kind = asked.kind AND done < wanted AND due_at <= $2)`
	takeJobs = `UPDATE jobs SET fence = fence + 1, due_at = $1 WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM jobs WHERE kind = $2 AND done < wanted AND due_at <= $3 ORDER BY due_at LIMIT $4
			FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING kind, subject, fence, wanted, failures`
)

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

// DueKinds implements [queue.Jobs].
func (s *Store) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	return read(ctx, s, scalar[string], dueKinds, kinds, stamp(s.now()))
}

// TakeJobs implements [queue.Jobs].
func (s *Store) TakeJobs(ctx context.Context, kind string, limit int, next time.Time) (taken []queue.Attempt, err error) {
	err = s.change(ctx, func(t txn) error {
		taken, err = query(t, func(row pgx.CollectableRow) (a queue.Attempt, err error) {
			return a, row.Scan(&a.Kind, &a.Subject, &a.Fence, &a.Wanted, &a.Failures)
		}, takeJobs, stamp(next), kind, stamp(s.now()), limit)
		return err
	})
	return taken, err
}

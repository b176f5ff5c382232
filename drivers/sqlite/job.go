package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var _ queue.Jobs = (*Store)(nil)

var (
	holdJob  = prepared(`SELECT 1 FROM jobs WHERE kind = ? AND subject = ? AND fence = ?`)
	takeJobs = prepared(`UPDATE jobs SET fence = fence + 1, due_at = ? WHERE (kind, subject) IN
		(SELECT kind, subject FROM jobs WHERE kind = ? AND done < wanted AND due_at <= ? ORDER BY due_at LIMIT ?)
		RETURNING kind, subject, fence, wanted, failures`)
)

const dueKinds = `SELECT value FROM json_each(?) AS asked
	WHERE EXISTS (SELECT 1 FROM jobs WHERE kind = asked.value AND done < wanted AND due_at <= ?)`

// held is apply under the claim that ctx carries: it fails if the claim has ended.
func held(ctx context.Context, apply func(txn) error) func(txn) error {
	c, ok := job.ClaimOf(ctx)
	if !ok {
		return apply
	}
	return func(t txn) error {
		if held, err := t.any(holdJob, c.Kind, c.Subject, c.Fence); err != nil || !held {
			return orFenced(err)
		}
		return apply(t)
	}
}

func orFenced(err error) error {
	if err != nil {
		return err
	}
	return job.ErrFenced
}

// DueKinds implements [queue.Jobs].
func (s *Store) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	asked, err := json.Marshal(kinds)
	if err != nil {
		return nil, err
	}
	found, err := s.query(ctx, dueKinds, string(asked), rows.Micro(s.now()))
	return collect(found, err, func(r *sql.Rows) (kind string, err error) { return kind, r.Scan(&kind) })
}

// TakeJobs implements [queue.Jobs].
func (s *Store) TakeJobs(ctx context.Context, kind string, limit int, next time.Time) (taken []queue.Attempt, err error) {
	err = s.write(ctx, func(t txn) error {
		found, err := t.query(takeJobs, rows.Micro(next), kind, rows.Micro(s.now()), limit)
		taken, err = collect(found, err, func(r *sql.Rows) (a queue.Attempt, err error) {
			return a, r.Scan(&a.Kind, &a.Subject, &a.Fence, &a.Wanted, &a.Failures)
		})
		return err
	})
	return taken, err
}

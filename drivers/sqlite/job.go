package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ queue.Ledger = (*Store)(nil)

var (
	enqueueJob = prepared(`INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES (?, ?, 1, 0, 0, 0, ?)
		ON CONFLICT (kind, subject) DO UPDATE SET wanted = wanted + 1,
			due_at = CASE WHEN done < wanted THEN due_at ELSE excluded.due_at END`)
	holdJob  = prepared(`SELECT 1 FROM jobs WHERE kind = ? AND subject = ? AND fence = ?`)
	takeJobs = prepared(`UPDATE jobs SET fence = fence + 1, due_at = ? WHERE (kind, subject) IN
		(SELECT kind, subject FROM jobs WHERE kind = ? AND done < wanted AND due_at <= ? ORDER BY due_at LIMIT ?)
		RETURNING kind, subject, fence, wanted, failures`)
	keepJob   = prepared(`UPDATE jobs SET due_at = ? WHERE kind = ? AND subject = ? AND fence = ?`)
	finishJob = prepared(`UPDATE jobs SET done = ?, failures = 0, fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ?`)
	retryJob = prepared(`UPDATE jobs SET failures = ?, fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ?`)
	scheduleJob = prepared(`INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES (?, ?, 1, 0, 0, 0, ?)
		ON CONFLICT (kind, subject) DO UPDATE SET due_at = ?4 WHERE due_at > ?4`)
)

const dueKinds = `SELECT value FROM json_each(?) AS asked
	WHERE EXISTS (SELECT 1 FROM jobs WHERE kind = asked.value AND done < wanted AND due_at <= ?)`

// Enqueue stores jobs and the entry that records why, in one transaction.
func (s *Store) Enqueue(ctx context.Context, e audit.Entry, jobs ...job.Job) error {
	err := s.write(ctx, func(t txn) error {
		if err := t.enqueue(jobs...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("enqueueing jobs: %w", err)
	}
	return nil
}

// enqueue stores jobs in the transaction of what they are about. They start once it
// is committed. A job of the same kind and subject that has not begun is the same job;
// if one runs, it is worked once more afterwards.
func (t txn) enqueue(jobs ...job.Job) error { return t.enqueueFor(t.s.now(), jobs...) }

// enqueueFor is enqueue for jobs that start at a time.
func (t txn) enqueueFor(due time.Time, jobs ...job.Job) error {
	for _, j := range jobs {
		if !j.Valid() {
			return broker.Invalid("job", "needs a kind in kebab case and a subject")
		}
		if _, err := t.exec(enqueueJob, j.Kind, j.Subject, rows.Micro(due)); err != nil {
			return err
		}
		t.s.enqueued = true
	}
	return nil
}

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

// DueKinds implements [queue.Ledger].
func (s *Store) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	asked, err := json.Marshal(kinds)
	if err != nil {
		return nil, err
	}
	found, err := s.query(ctx, dueKinds, string(asked), rows.Micro(s.now()))
	return collect(found, err, func(r *sql.Rows) (kind string, err error) { return kind, r.Scan(&kind) })
}

// TakeJobs implements [queue.Ledger].
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

// KeepJob implements [queue.Ledger].
func (s *Store) KeepJob(ctx context.Context, c job.Claim, next time.Time) error {
	return s.claimed(ctx, keepJob, rows.Micro(next), c.Kind, c.Subject, c.Fence)
}

// FinishJob implements [queue.Ledger].
func (s *Store) FinishJob(ctx context.Context, a queue.Attempt) error {
	return s.claimed(ctx, finishJob, a.Wanted, rows.Micro(s.now()), a.Kind, a.Subject, a.Fence)
}

// RetryJob implements [queue.Ledger].
func (s *Store) RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error {
	return s.claimed(ctx, retryJob, failures, rows.Micro(next), c.Kind, c.Subject, c.Fence)
}

// ScheduleJob implements [queue.Ledger].
func (s *Store) ScheduleJob(ctx context.Context, j job.Job, first, latest time.Time) error {
	return s.write(ctx, func(t txn) error {
		_, err := t.exec(scheduleJob, j.Kind, j.Subject, rows.Micro(first), rows.Micro(latest))
		return err
	})
}

// claimed runs an update that must meet a job whose claim holds.
func (s *Store) claimed(ctx context.Context, text string, args ...any) error {
	return s.write(ctx, func(t txn) error {
		r, err := t.exec(text, args...)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return orFenced(err)
		}
		t.s.enqueued = true // it may be due again
		return nil
	})
}

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ queue.Ledger = (*Store)(nil)

const (
	enqueueJob = `INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES ($1, $2, 1, 0, 0, 0, $3)
		ON CONFLICT (kind, subject) DO UPDATE SET wanted = jobs.wanted + 1,
			due_at = CASE WHEN jobs.done < jobs.wanted THEN jobs.due_at ELSE excluded.due_at END`
	// holdJob keeps the next attempt from beginning until the transaction ends.
	holdJob  = `SELECT 1 FROM jobs WHERE kind = $1 AND subject = $2 AND fence = $3 FOR NO KEY UPDATE`
	dueKinds = `SELECT kind FROM unnest($1::text[]) AS asked (kind)
		WHERE EXISTS (SELECT FROM jobs WHERE jobs.kind = asked.kind AND done < wanted AND due_at <= $2)`
	takeJobs = `UPDATE jobs SET fence = fence + 1, due_at = $1 WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM jobs WHERE kind = $2 AND done < wanted AND due_at <= $3 ORDER BY due_at LIMIT $4
			FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING kind, subject, fence, wanted, failures`
	keepJob   = `UPDATE jobs SET due_at = $1 WHERE kind = $2 AND subject = $3 AND fence = $4`
	finishJob = `UPDATE jobs SET done = $1, failures = 0, fence = fence + 1, due_at = $2
		WHERE kind = $3 AND subject = $4 AND fence = $5`
	retryJob = `UPDATE jobs SET failures = $1, fence = fence + 1, due_at = $2
		WHERE kind = $3 AND subject = $4 AND fence = $5`
	scheduleJob = `INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES ($1, $2, 1, 0, 0, 0, $3)
		ON CONFLICT (kind, subject) DO UPDATE SET due_at = $4 WHERE jobs.due_at > $4`
)

// Enqueue stores jobs and the entry that records why, in one transaction.
func (s *Store) Enqueue(ctx context.Context, e audit.Entry, jobs ...job.Job) error {
	err := s.write(ctx, e, func(t txn) error { return t.enqueue(jobs...) })
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
		t.queue(enqueueJob, j.Kind, j.Subject, stamp(due))
		*t.enqueued = true
	}
	return nil
}

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

// DueKinds implements [queue.Ledger].
func (s *Store) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	return read(ctx, s, scalar[string], dueKinds, kinds, stamp(s.now()))
}

// TakeJobs implements [queue.Ledger].
func (s *Store) TakeJobs(ctx context.Context, kind string, limit int, next time.Time) (taken []queue.Attempt, err error) {
	err = s.change(ctx, func(t txn) error {
		taken, err = query(t, func(row pgx.CollectableRow) (a queue.Attempt, err error) {
			return a, row.Scan(&a.Kind, &a.Subject, &a.Fence, &a.Wanted, &a.Failures)
		}, takeJobs, stamp(next), kind, stamp(s.now()), limit)
		return err
	})
	return taken, err
}

// KeepJob implements [queue.Ledger].
func (s *Store) KeepJob(ctx context.Context, c job.Claim, next time.Time) error {
	return s.claimed(ctx, keepJob, stamp(next), c.Kind, c.Subject, c.Fence)
}

// FinishJob implements [queue.Ledger].
func (s *Store) FinishJob(ctx context.Context, a queue.Attempt) error {
	return s.claimed(ctx, finishJob, a.Wanted, stamp(s.now()), a.Kind, a.Subject, a.Fence)
}

// RetryJob implements [queue.Ledger].
func (s *Store) RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error {
	return s.claimed(ctx, retryJob, failures, stamp(next), c.Kind, c.Subject, c.Fence)
}

// ScheduleJob implements [queue.Ledger].
func (s *Store) ScheduleJob(ctx context.Context, j job.Job, first, latest time.Time) error {
	return s.change(ctx, func(t txn) error {
		t.queue(scheduleJob, j.Kind, j.Subject, stamp(first), stamp(latest))
		return nil
	})
}

// claimed runs an update that must meet a job whose claim holds.
func (s *Store) claimed(ctx context.Context, text string, args ...any) error {
	return s.change(ctx, func(t txn) error {
		found, err := t.any(text, args...)
		if err == nil && !found {
			return job.ErrFenced
		}
		*t.enqueued = true // it may be due again
		return err
	})
}

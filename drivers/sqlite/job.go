package sqlite

import (
	"context"
	"database/sql"
	"errors"
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
	offerJob = prepared(`UPDATE jobs SET due_at = ? WHERE (kind, subject) IN
		(SELECT kind, subject FROM jobs WHERE done < wanted AND due_at <= ? ORDER BY due_at LIMIT ?)
		RETURNING kind, subject, fence + 1`)
	beginJob = prepared(`UPDATE jobs SET fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ? - 1 AND done < wanted RETURNING wanted, failures`)
	keepJob   = prepared(`UPDATE jobs SET due_at = ? WHERE kind = ? AND subject = ? AND fence = ?`)
	finishJob = prepared(`UPDATE jobs SET done = ?, failures = 0, fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ?`)
	retryJob = prepared(`UPDATE jobs SET failures = ?, fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ?`)
)

const anyJobDue = `SELECT 1 FROM jobs WHERE done < wanted AND due_at <= ? LIMIT 1`

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

// OfferJobs implements [queue.Ledger].
func (s *Store) OfferJobs(ctx context.Context, limit int, next time.Time) ([]job.Claim, error) {
	now := rows.Micro(s.now())
	found, err := s.query(ctx, anyJobDue, now)
	due, err := collect(found, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
	if err != nil || len(due) == 0 {
		return nil, err
	}
	var offered []job.Claim
	err = s.write(ctx, func(t txn) error {
		found, err := t.query(offerJob, rows.Micro(next), now, limit)
		offered, err = collect(found, err, func(r *sql.Rows) (c job.Claim, err error) {
			return c, r.Scan(&c.Kind, &c.Subject, &c.Fence)
		})
		return err
	})
	return offered, err
}

// BeginJob implements [queue.Ledger].
func (s *Store) BeginJob(ctx context.Context, c job.Claim, next time.Time) (b queue.Begun, err error) {
	err = s.write(ctx, func(t txn) error {
		err := t.queryRow(beginJob, rows.Micro(next), c.Kind, c.Subject, c.Fence).Scan(&b.Wanted, &b.Failures)
		if errors.Is(err, sql.ErrNoRows) {
			return orFenced(nil)
		}
		return translate(err)
	})
	return b, err
}

// KeepJob implements [queue.Ledger].
func (s *Store) KeepJob(ctx context.Context, c job.Claim, next time.Time) error {
	return s.claimed(ctx, keepJob, rows.Micro(next), c.Kind, c.Subject, c.Fence)
}

// FinishJob implements [queue.Ledger].
func (s *Store) FinishJob(ctx context.Context, c job.Claim, b queue.Begun) error {
	return s.claimed(ctx, finishJob, b.Wanted, rows.Micro(s.now()), c.Kind, c.Subject, c.Fence)
}

// RetryJob implements [queue.Ledger].
func (s *Store) RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error {
	return s.claimed(ctx, retryJob, failures, rows.Micro(next), c.Kind, c.Subject, c.Fence)
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

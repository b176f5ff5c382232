package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	enqueueJob = statement(`INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES (?, ?, 1, 0, 0, 0, ?)
		ON CONFLICT (kind, subject) DO UPDATE SET wanted = jobs.wanted + 1,
			due_at = CASE WHEN jobs.done < jobs.wanted THEN jobs.due_at ELSE excluded.due_at END`)
	keepJob   = statement(`UPDATE jobs SET due_at = ? WHERE kind = ? AND subject = ? AND fence = ?`)
	finishJob = statement(`UPDATE jobs SET done = ?, failures = 0, fence = fence + 1, due_at = ?
		WHERE kind = ? AND subject = ? AND fence = ?`)
	retryJob    = statement(`UPDATE jobs SET failures = ?, fence = fence + 1, due_at = ? WHERE kind = ? AND subject = ? AND fence = ?`)
	scheduleJob = statement(`INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES (?1, ?2, 1, 0, 0, 0, ?3)
		ON CONFLICT (kind, subject) DO UPDATE SET due_at = ?4 WHERE jobs.due_at > ?4`)
)

var (
	dueKinds = statement(either(`SELECT kind FROM unnest(?1::text[]) AS asked (kind)
		WHERE EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = asked.kind AND done < wanted AND due_at <= ?2)`,
		`SELECT value FROM json_each(?1) AS asked
		WHERE EXISTS (SELECT 1 FROM jobs WHERE kind = asked.value AND done < wanted AND due_at <= ?2)`))
	takeJobs = statement(either(`UPDATE jobs SET fence = fence + 1, due_at = ?1 WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM jobs WHERE kind = ?2 AND done < wanted AND due_at <= ?3 ORDER BY due_at LIMIT ?4
			FOR NO KEY UPDATE SKIP LOCKED))
		RETURNING kind, subject, fence, wanted, failures`,
		`UPDATE jobs SET fence = fence + 1, due_at = ?1 WHERE (kind, subject) IN
		(SELECT kind, subject FROM jobs WHERE kind = ?2 AND done < wanted AND due_at <= ?3 ORDER BY due_at LIMIT ?4)
		RETURNING kind, subject, fence, wanted, failures`))
)

// DueKinds implements [queue.Jobs].
func (s *Tables) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	return read(ctx, s, scalar[string], dueKinds, kinds, s.db.Now())
}

// TakeJobs implements [queue.Jobs].
func (s *Tables) TakeJobs(ctx context.Context, kind string, limit int, next time.Time) (taken []queue.Attempt, err error) {
	err = s.change(ctx, func(t Tx) error {
		taken, err = query(t, func(row Row) (a queue.Attempt, err error) {
			return a, row.Scan(&a.Kind, &a.Subject, &a.Fence, &a.Wanted, &a.Failures)
		}, takeJobs, next, kind, s.db.Now(), limit)
		return err
	})
	return taken, err
}

// Enqueue stores jobs and the entry that records why, in one transaction.
func (s *Tables) Enqueue(ctx context.Context, e audit.Entry, jobs ...job.Job) error {
	err := s.write(ctx, e, func(t Tx) error { return t.enqueue(jobs...) })
	return doing(err, "enqueueing jobs")
}

// enqueue stores jobs in the transaction of what they are about. They start once it
// is committed. A job of the same kind and subject that has not begun is the same job;
// if one runs, it is worked again afterwards.
func (t Tx) enqueue(jobs ...job.Job) error { return t.EnqueueFor(t.Now(), jobs...) }

// EnqueueFor stores jobs that start at a time.
func (t Tx) EnqueueFor(due time.Time, jobs ...job.Job) error {
	for _, j := range jobs {
		if !j.Valid() {
			return broker.Invalid("job", "needs a kind in kebab case and a subject")
		}
		t.queue(enqueueJob, j.Kind, j.Subject, due)
		t.WakeJobs()
	}
	return nil
}

// KeepJob implements [queue.Jobs].
func (s *Tables) KeepJob(ctx context.Context, c job.Claim, next time.Time) error {
	return s.claimed(ctx, keepJob, next, c.Kind, c.Subject, c.Fence)
}

// FinishJob implements [queue.Jobs].
func (s *Tables) FinishJob(ctx context.Context, a queue.Attempt) error {
	return s.claimed(ctx, finishJob, a.Wanted, s.db.Now(), a.Kind, a.Subject, a.Fence)
}

// RetryJob implements [queue.Jobs].
func (s *Tables) RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error {
	return s.claimed(ctx, retryJob, failures, next, c.Kind, c.Subject, c.Fence)
}

// ScheduleJob implements [queue.Jobs].
func (s *Tables) ScheduleJob(ctx context.Context, j job.Job, first, latest time.Time) error {
	return s.run(ctx, scheduleJob, j.Kind, j.Subject, first, latest)
}

// claimed runs an update that must meet a job whose claim holds.
func (s *Tables) claimed(ctx context.Context, text string, args ...any) error {
	return s.change(ctx, func(t Tx) error {
		held, err := t.any(text, args...)
		if err == nil && !held {
			return job.ErrFenced
		}
		t.WakeJobs() // it may be due again
		return err
	})
}

package queue

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
)

// Jobs is the store's table of jobs. Its methods write without the claim that a
// context carries.
type Jobs interface {
	// DueKinds returns which of the kinds have a job that is due.
	DueKinds(ctx context.Context, kinds []string) ([]string, error)
	// TakeJobs begins the next attempt of jobs of a kind that are due: at most limit, those
	// first that are due for longest. Every earlier claim on their subjects ends. Each is due
	// again at next, in case its worker dies. No two processes take the same attempt.
	TakeJobs(ctx context.Context, kind string, limit int, next time.Time) ([]Attempt, error)
	// KeepJob makes the job due at next; [job.ErrFenced] if the claim has ended.
	KeepJob(ctx context.Context, c job.Claim, next time.Time) error
	// FinishJob ends the claim of an attempt that succeeded. The job is done, unless it
	// was enqueued again since the attempt began: then it is due now. [job.ErrFenced].
	FinishJob(ctx context.Context, a Attempt) error
	// RetryJob ends the claim of an attempt after which the job is not done. It is due at
	// next, and so many attempts have failed in a row by now. [job.ErrFenced].
	RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error
	// ScheduleJob sees that there is a job: one that is new is due at first, one that would be
	// due after latest is due then.
	ScheduleJob(ctx context.Context, j job.Job, first, latest time.Time) error
}

// Attempt is a claim on a job with what its worker knows of the job.
type Attempt struct {
	job.Claim
	// Wanted is how often the job was enqueued before the attempt began.
	Wanted int64
	// Failures is how many attempts failed in a row.
	Failures int
}

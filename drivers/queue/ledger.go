package queue

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
)

// Ledger is the store's table of jobs. Its methods write without the claim that a
// context carries.
type Ledger interface {
	// OfferJobs returns the next attempt of jobs that are due, at most limit. Each is
	// due again at next, in case nobody begins it.
	OfferJobs(ctx context.Context, limit int, next time.Time) ([]job.Claim, error)
	// BeginJob begins the attempt that the claim names, which must follow the last
	// one; [job.ErrFenced] if it does not, or if the job is done. Every earlier claim
	// on the subject ends. The job is due again at next.
	BeginJob(ctx context.Context, c job.Claim, next time.Time) (Begun, error)
	// KeepJob makes the job due at next; [job.ErrFenced] if the claim has ended.
	KeepJob(ctx context.Context, c job.Claim, next time.Time) error
	// FinishJob ends the claim of an attempt that succeeded. The job is done, unless it
	// was enqueued again since it began: then it is due now. [job.ErrFenced].
	FinishJob(ctx context.Context, c job.Claim, b Begun) error
	// RetryJob ends the claim of an attempt that did not succeed. The job is due at next, and
	// so many attempts have failed in a row by now. [job.ErrFenced].
	RetryJob(ctx context.Context, c job.Claim, next time.Time, failures int) error
}

// Begun is what an attempt knows of its job.
type Begun struct {
	// Wanted is how often the job was enqueued before the attempt began.
	Wanted int64
	// Failures is how many attempts failed in a row.
	Failures int
}

package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	// offerEvery is how late a job starts whose process died before it was offered, or
	// whose backoff is over.
	offerEvery = time.Second
	// offerAtMost bounds one offer.
	offerAtMost = 100
	// aliveEvery is how often a worker says that it is alive.
	aliveEvery = job.TakeoverAfter / 5
	// ledgerLimit bounds the ending of an attempt.
	ledgerLimit = 10 * time.Second
)

// jobArgs name one attempt.
type jobArgs struct {
	Kind_   string `json:"kind"` //nolint:revive // Kind is River's method
	Subject string `json:"subject"`
	Fence   int64  `json:"fence"`
}

// Kind names River's jobs that are attempts.
func (jobArgs) Kind() string { return "job" }

// InsertOpts make each attempt once, in the queue of its kind.
func (a jobArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: queueOf(a.Kind_), UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

func queueOf(kind string) string { return "job-" + kind }

type jobWorker struct {
	river.WorkerDefaults[jobArgs]
	ledger  Ledger
	workers map[string]job.Worker
	now     func() time.Time
	log     *slog.Logger
}

// Timeout implements [river.Worker]: an attempt may take as long as it is alive.
func (*jobWorker) Timeout(*river.Job[jobArgs]) time.Duration { return -1 }

// Work makes one attempt. The error is the ledger's: River then forgets the attempt, and
// it is offered again.
func (w *jobWorker) Work(ctx context.Context, r *river.Job[jobArgs]) error {
	c := job.Claim{Job: job.Job{Kind: r.Args.Kind_, Subject: r.Args.Subject}, Fence: r.Args.Fence}
	begun, err := w.ledger.BeginJob(ctx, c, w.now().Add(job.TakeoverAfter))
	switch {
	case errors.Is(err, job.ErrFenced):
		return nil
	case err != nil:
		return fmt.Errorf("beginning job %s of %s: %w", c.Kind, c.Subject, err)
	}
	err = w.attempt(ctx, c)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerLimit)
	defer cancel()
	failures := begun.Failures
	if job.HasProgressed(err) {
		failures = 0
	}
	var ended error
	switch {
	case err == nil:
		ended = w.ledger.FinishJob(end, c, begun)
	case ctx.Err() != nil, errors.Is(err, job.ErrAgain): // the process stops, or others wait
		ended = w.ledger.RetryJob(end, c, w.now(), failures)
	case !errors.Is(err, job.ErrFenced):
		wait := backoff(failures)
		w.log.Error("job failed", "kind", c.Kind, "subject", c.Subject, "error", err, "retry", wait.Round(time.Millisecond))
		ended = w.ledger.RetryJob(end, c, w.now().Add(wait), failures+1)
	default:
		ended = err
	}
	if errors.Is(ended, job.ErrFenced) {
		w.log.Warn("job was taken over by another worker", "kind", c.Kind, "subject", c.Subject, "fence", c.Fence)
		return nil
	}
	return ended
}

// attempt calls the worker, and keeps the claim alive as long as it runs.
func (w *jobWorker) attempt(ctx context.Context, c job.Claim) (err error) {
	alive, stop := context.WithCancelCause(ctx)
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		w.keepAlive(alive, c, stop)
	}()
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("job panicked", "kind", c.Kind, "subject", c.Subject, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errors.New("panicked")
		}
		if cause := context.Cause(alive); errors.Is(cause, job.ErrFenced) {
			err = cause
		}
		stop(nil)
		<-silent
	}()
	return w.workers[c.Kind].Work(job.WithClaim(alive, c), c.Subject)
}

func (w *jobWorker) keepAlive(ctx context.Context, c job.Claim, stop context.CancelCauseFunc) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.ledger.KeepJob(ctx, c, w.now().Add(job.TakeoverAfter)); errors.Is(err, job.ErrFenced) {
			stop(err)
			return
		}
	}
}

// backoff is one second after the first failure, twice that after the second, and so on.
func backoff(failures int) time.Duration {
	wait := min(time.Second<<min(failures, 10), job.MaxBackoff)
	return wait - rand.N(wait/4) //nolint:gosec // a pause needs no secrecy
}

// offer hands due jobs to River until ctx ends, at once when woken.
func offer[TTx any](ctx context.Context, o Options[TTx], client *river.Client[TTx]) {
	tick := time.NewTicker(offerEvery)
	defer tick.Stop()
	for {
		for offerOnce(ctx, o, client) {
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-o.Wake:
		}
	}
}

// offerOnce reports whether there may be more.
func offerOnce[TTx any](ctx context.Context, o Options[TTx], client *river.Client[TTx]) bool {
	due, err := o.Ledger.OfferJobs(ctx, offerAtMost, o.Now().Add(job.TakeoverAfter))
	var params []river.InsertManyParams
	for _, c := range due {
		params = append(params, river.InsertManyParams{Args: jobArgs{c.Kind, c.Subject, c.Fence}})
	}
	if err == nil && len(params) > 0 {
		_, err = client.InsertMany(ctx, params)
	}
	if err != nil && ctx.Err() == nil {
		o.Log.Warn("jobs could not be offered", "error", err)
	}
	return err == nil && len(due) == offerAtMost
}

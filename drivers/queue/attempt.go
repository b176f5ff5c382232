package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	// aliveEvery is how often a worker says that it is alive.
	aliveEvery = job.TakeoverAfter / 5
	// passLimit ends the context of a pass that hangs.
	passLimit = time.Hour
)

var errSilent = errors.New("the pass could not say that it is alive: another process may run it by now")

// work makes one attempt, and says in the ledger how it ended.
func (d *dispatcher) work(ctx context.Context, a Attempt) {
	var ended error
	if p, pass := d.passes[a.Kind]; pass {
		ended = d.pass(ctx, p, a)
	} else {
		ended = d.job(ctx, a)
	}
	switch {
	case errors.Is(ended, job.ErrFenced):
		d.Log.Warn("job was taken over by another worker", "kind", a.Kind, "subject", a.Subject, "fence", a.Fence)
	case ended != nil: // it is due again when its worker counts as dead
		d.Log.Warn("the end of an attempt could not be stored", "kind", a.Kind, "subject", a.Subject, "error", ended)
	}
}

// pass runs a pass once. It is due again at the next multiple of its interval by the store's
// clock, which is the same in every process; at once if this process stops.
func (d *dispatcher) pass(ctx context.Context, p broker.Pass, a Attempt) error {
	limited, cancel := context.WithTimeout(ctx, passLimit)
	defer cancel()
	err := d.attempt(limited, a, func(ctx context.Context) (err error) {
		defer func() {
			if r := recover(); r != nil {
				d.Log.Error("pass panicked", "pass", p.Name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				err = nil
			}
		}()
		return p.Run(ctx)
	})
	if err != nil {
		d.Log.Error("pass failed", "pass", p.Name, "error", err)
	}
	next := d.Now()
	if ctx.Err() == nil {
		next = next.Truncate(p.Every).Add(p.Every)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerLimit)
	defer cancel()
	return d.Ledger.RetryJob(end, a.Claim, next, 0)
}

// job makes one attempt at a job.
func (d *dispatcher) job(ctx context.Context, a Attempt) error {
	err := d.attempt(ctx, a, func(ctx context.Context) (err error) {
		defer func() {
			if r := recover(); r != nil {
				d.Log.Error("job panicked", "kind", a.Kind, "subject", a.Subject, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				err = errors.New("panicked")
			}
		}()
		return d.workers[a.Kind].Work(job.WithClaim(ctx, a.Claim), a.Subject)
	})
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerLimit)
	defer cancel()
	failures := a.Failures
	if job.HasProgressed(err) {
		failures = 0
	}
	switch {
	case err == nil:
		return d.Ledger.FinishJob(end, a)
	case ctx.Err() != nil, errors.Is(err, job.ErrAgain): // the process stops, or others wait
		return d.Ledger.RetryJob(end, a.Claim, d.Now(), failures)
	case errors.Is(err, job.ErrFenced):
		return err
	}
	wait := job.Spread(job.Backoff(failures+1, job.MaxBackoff))
	d.Log.Error("job failed", "kind", a.Kind, "subject", a.Subject, "error", err, "retry", wait.Round(time.Millisecond))
	return d.Ledger.RetryJob(end, a.Claim, d.Now().Add(wait), failures+1)
}

// attempt calls a worker, and keeps its claim alive as long as it runs. The worker's context ends
// when the claim is lost; the error is then why.
func (d *dispatcher) attempt(ctx context.Context, a Attempt, work func(context.Context) error) error {
	alive, stop := context.WithCancelCause(ctx)
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		d.keepAlive(alive, a.Claim, stop)
	}()
	err := work(alive)
	if cause := context.Cause(alive); errors.Is(cause, job.ErrFenced) {
		err = cause
	}
	stop(nil)
	<-silent
	return err
}

// keepAlive says that a worker is alive until ctx ends. A pass that cannot say so for as long as
// another process would wait is stopped: its writes are not fenced.
func (d *dispatcher) keepAlive(ctx context.Context, c job.Claim, stop context.CancelCauseFunc) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	_, pass := d.passes[c.Kind]
	said := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asking, cancel := context.WithTimeout(ctx, aliveEvery)
		err := d.Ledger.KeepJob(asking, c, d.Now().Add(job.TakeoverAfter))
		cancel()
		switch {
		case err == nil:
			said = time.Now()
		case errors.Is(err, job.ErrFenced):
			stop(err)
			return
		case pass && time.Since(said) > job.TakeoverAfter-aliveEvery:
			stop(errSilent)
			return
		}
	}
}

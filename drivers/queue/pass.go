package queue

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/vimbroker/vimbroker/broker"
)

// passLimit ends the context of a pass that hangs.
const passLimit = time.Hour

// early is how long before its time the queue makes the job of a pass, at most.
const early = 500 * time.Millisecond

// passName is kebab case. River panics at a name it does not like, such as a single
// letter.
var passName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]+(-[a-z0-9]+)*$`) })

// passArgs name a pass and, if processes share the store, the interval that it is for.
type passArgs struct {
	Name string    `json:"name"`
	At   time.Time `json:"at,omitzero"`
}

// Kind names River's jobs that are passes.
func (passArgs) Kind() string { return "pass" }

// periodic describes a pass to River. On a shared store there is one job for each
// interval, and a second attempt if the process of the first died. On a store of one
// process one job of a pass waits or runs, and the next comes at its time.
func (o Options[TTx]) periodic(p broker.Pass) *river.PeriodicJob {
	args := func() (river.JobArgs, *river.InsertOpts) {
		return passArgs{Name: p.Name}, &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{
			ByArgs: true,
			ByState: []rivertype.JobState{
				rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
				rivertype.JobStateRunning, rivertype.JobStateScheduled,
			},
		}}
	}
	var when river.PeriodicSchedule = river.PeriodicInterval(p.Every)
	if o.Shared {
		when = schedule{p.Every, o.Now}
		args = func() (river.JobArgs, *river.InsertOpts) {
			at := o.Now().Add(early).Truncate(p.Every).UTC()
			return passArgs{p.Name, at}, &river.InsertOpts{MaxAttempts: 2, UniqueOpts: river.UniqueOpts{ByArgs: true}}
		}
	}
	return river.NewPeriodicJob(when, args, &river.PeriodicJobOpts{ID: p.Name, RunOnStart: true})
}

// schedule has the same times in every process: multiples of an interval by the
// store's clock.
type schedule struct {
	every time.Duration
	now   func() time.Time
}

// Next implements [river.PeriodicSchedule]. River waits, and asks, by this machine's
// clock.
func (s schedule) Next(after time.Time) time.Time {
	apart := time.Until(s.now())
	return after.UTC().Add(apart + early).Truncate(s.every).Add(s.every - apart)
}

type passWorker struct {
	river.WorkerDefaults[passArgs]
	passes map[string]broker.Pass
	guard  Guard
	now    func() time.Time
	log    *slog.Logger
}

// Work runs one pass. Its failure is logged here, once, and River takes no notice of it.
func (w *passWorker) Work(ctx context.Context, r *river.Job[passArgs]) error {
	p, ok := w.passes[r.Args.Name]
	if !ok {
		w.log.Warn("pass not run: this version does not know it", "pass", r.Args.Name)
		return nil
	}
	if r.Attempt > 1 && w.now().Sub(r.Args.At) >= p.Every {
		return nil // its next time has come, and with it another job
	}
	ctx, cancel := context.WithTimeout(ctx, passLimit)
	defer cancel()
	ctx, release, err := w.guard(ctx, p.Name)
	if err != nil {
		w.log.Error("pass not run", "pass", p.Name, "error", err)
		return nil
	}
	if release == nil {
		return nil // it is still running
	}
	defer release()
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("pass panicked", "pass", p.Name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	if err := p.Run(ctx); err != nil {
		w.log.Error("pass failed", "pass", p.Name, "error", err)
	}
	return nil
}

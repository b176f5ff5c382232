package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rows"
)

const (
	// passGrace is how long a pass may go on after Run was told to end, before
	// its context ends.
	passGrace = 5 * time.Second
	// passLimit ends the context of a pass that hangs.
	passLimit = time.Hour
	// pollEvery bounds how late a job of another making is seen; jobs inserted
	// through the running client are seen at once.
	pollEvery = time.Second
	// keepDone is how long rows of finished jobs stay.
	keepDone = time.Minute
)

// Run works passes as jobs until ctx ends: each when Run starts and then at its
// interval, never twice at once. It returns nil after the passes under way have
// ended; those that take longer than passGrace have their context ended, and it
// errs if they still run after as long again. A pass that errs or
// panics is logged and runs again at its next time. Run must not run twice at
// the same time on one store.
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger) error {
	if ctx.Err() != nil {
		return nil // stopped before it began
	}
	if err := s.forgetRunning(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	worker := &passWorker{passes: make(map[string]*runningPass, len(passes)), log: log}
	var periodic []*river.PeriodicJob
	for _, p := range passes {
		if _, ok := worker.passes[p.Name]; ok || !passName.MatchString(p.Name) || p.Every < time.Second {
			return fmt.Errorf("starting passes: pass %q is there twice, is not named in kebab case, or comes more often than each second", p.Name)
		}
		worker.passes[p.Name] = &runningPass{Pass: p}
		periodic = append(periodic, river.NewPeriodicJob(
			river.PeriodicInterval(p.Every),
			func() (river.JobArgs, *river.InsertOpts) { return passArgs{p.Name}, nil },
			&river.PeriodicJobOpts{ID: p.Name, RunOnStart: true},
		))
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, worker); err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	client, err := river.NewClient[*sql.Tx](riversqlite.New(s.writer), &river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(len(passes), 1)}},
		Workers:                     workers,
		PeriodicJobs:                periodic,
		Logger:                      rows.Warnings(log),
		JobTimeout:                  passLimit,
		RescueStuckJobsAfter:        2 * passLimit,
		FetchPollInterval:           pollEvery,
		CompletedJobRetentionPeriod: keepDone,
		CancelledJobRetentionPeriod: keepDone,
		DiscardedJobRetentionPeriod: keepDone,
	})
	if err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	// Not ctx: its end would cut passes off in the middle.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting passes: %w", translate(err))
	}
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), passGrace)
	defer cancel()
	if client.Stop(grace) == nil {
		return nil
	}
	log.Warn("passes are still running; ending their contexts")
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), passGrace)
	defer cancel()
	if err := client.StopAndCancel(rest); err != nil {
		return fmt.Errorf("stopping passes: %w", err)
	}
	return nil
}

// forgetRunning clears what a killed process left in the queue: passes that it
// was running, which would count as running for hours and keep new ones out, and
// its leadership. The directory's lock says that there is no other process.
func (s *Store) forgetRunning(ctx context.Context) error {
	if s.closed.Load() {
		return rows.Closed()
	}
	_, err := s.writer.ExecContext(ctx, `DELETE FROM river_job WHERE kind = '`+passKind+`'; DELETE FROM river_leader`)
	return translate(err)
}

const passKind = "pass"

// passName is kebab case. The queue panics at a name it does not like, such as a
// single letter.
var passName = regexp.MustCompile(`^[a-z][a-z0-9]+(-[a-z0-9]+)*$`)

type passArgs struct {
	Name string `json:"name"`
}

// Kind names the jobs that are passes.
func (passArgs) Kind() string { return passKind }

// InsertOpts let one job of a pass wait or run, and never retry: the next comes
// at its time.
func (passArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		MaxAttempts: 1,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
			rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
}

type runningPass struct {
	broker.Pass
	// busy is held while it runs. The queue keeps a pass from running twice at once
	// as far as it knows, but gives up on one that does not end (passLimit).
	busy sync.Mutex
}

type passWorker struct {
	river.WorkerDefaults[passArgs]
	passes map[string]*runningPass
	log    *slog.Logger
}

// Work runs one pass. Its failure is logged here, once, and is no matter of the queue.
func (w *passWorker) Work(ctx context.Context, job *river.Job[passArgs]) error {
	p, ok := w.passes[job.Args.Name]
	if !ok || !p.busy.TryLock() {
		w.log.Warn("pass not run: it is unknown or still running", "pass", job.Args.Name)
		return nil
	}
	defer p.busy.Unlock()
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

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
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
	// pollEvery bounds how late a job is seen whose notification was lost.
	pollEvery = time.Second
	// rescueAfter is when a job that is still running is given to another process,
	// which does nothing unless the first has died: see [Store.guardPass].
	rescueAfter = time.Minute
	// early is how long before its time the queue makes a job, at most.
	early = 500 * time.Millisecond
)

// Run works passes as jobs until ctx ends, together with every other process that
// does: one of them makes a job of each pass at its interval, counted from midnight
// UTC, and any one works it. No pass runs twice at once, nor for the same interval.
// A pass whose process died runs again within two minutes, or at its next time. Where
// the database cannot be used when Run begins, it waits.
//
// Run returns nil after the passes under way have ended; those that take longer
// than passGrace have their context ended, and it errs if they still run after as
// long again. A pass that errs or panics is logged and runs again at its next time.
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger) error {
	if s.closed.Load() {
		return fmt.Errorf("starting passes: %w", rows.Closed())
	}
	worker := &passWorker{store: s, passes: make(map[string]broker.Pass, len(passes)), log: log}
	longest := time.Minute
	var periodic []*river.PeriodicJob
	for _, p := range passes {
		if _, ok := worker.passes[p.Name]; ok || !passName.MatchString(p.Name) || p.Every < time.Second {
			return fmt.Errorf("starting passes: pass %q is there twice, is not named in kebab case, or comes more often than each second", p.Name)
		}
		worker.passes[p.Name] = p
		longest = max(longest, p.Every)
		periodic = append(periodic, river.NewPeriodicJob(
			schedule{p.Every, s.now},
			func() (river.JobArgs, *river.InsertOpts) {
				return passArgs{p.Name, s.now().Add(early).Truncate(p.Every).UTC()}, nil
			},
			&river.PeriodicJobOpts{ID: p.Name, RunOnStart: true},
		))
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, worker); err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	// What is done stays for as long as it keeps a second of the same interval out.
	kept := 2 * longest
	config := &river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(len(passes), 1)}},
		Workers:                     workers,
		PeriodicJobs:                periodic,
		Hooks:                       []rivertype.Hook{river.HookInsertBeginFunc(s.dueNow)},
		Logger:                      rows.Warnings(log),
		JobTimeout:                  -1, // the worker's own: see passLimit
		RescueStuckJobsAfter:        rescueAfter,
		FetchPollInterval:           pollEvery,
		CompletedJobRetentionPeriod: kept,
		CancelledJobRetentionPeriod: kept,
		DiscardedJobRetentionPeriod: kept,
	}
	var client *river.Client[pgx.Tx]
	for {
		// One that failed to start cannot be started again.
		var err error
		if client, err = river.NewClient[pgx.Tx](riverpgxv5.New(s.pool), config); err != nil {
			return fmt.Errorf("starting passes: %w", err)
		}
		// Not ctx: its end would cut passes off in the middle.
		if err = translate(client.Start(context.WithoutCancel(ctx))); err == nil {
			break
		}
		if !errors.Is(err, broker.ErrUnavailable) {
			return fmt.Errorf("starting passes: %w", err)
		}
		log.Warn("passes wait for the database", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
	s.keepTime(ctx, log)
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

// schedule has the same times whoever follows it: multiples of an interval by the
// database's clock.
type schedule struct {
	every time.Duration
	now   func() time.Time
}

// Next implements [river.PeriodicSchedule]. The queue waits, and asks, by this
// machine's clock.
func (s schedule) Next(after time.Time) time.Time {
	apart := time.Until(s.now())
	return after.UTC().Add(apart + early).Truncate(s.every).Add(s.every - apart)
}

// dueNow dates a job by the database's clock. By this machine's, if that is ahead, it
// would not be due until then: no pass would run.
func (s *Store) dueNow(_ context.Context, job *rivertype.JobInsertParams) error {
	now := s.now()
	job.CreatedAt, job.ScheduledAt = &now, &now
	return nil
}

// passName is kebab case. The queue panics at a name it does not like, such as a
// single letter.
var passName = regexp.MustCompile(`^[a-z][a-z0-9]+(-[a-z0-9]+)*$`)

// passArgs name a pass and the interval that it is for.
type passArgs struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// Kind names the jobs that are passes.
func (passArgs) Kind() string { return "pass" }

// InsertOpts let there be one job for each interval. The second attempt is for
// where the process of the first died.
func (passArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 2, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type passWorker struct {
	river.WorkerDefaults[passArgs]
	store  *Store
	passes map[string]broker.Pass
	log    *slog.Logger
}

// Work runs one pass. Its failure is logged here, once, and is no matter of the queue.
func (w *passWorker) Work(ctx context.Context, job *river.Job[passArgs]) error {
	p, ok := w.passes[job.Args.Name]
	if !ok {
		w.log.Warn("pass not run: this version does not know it", "pass", job.Args.Name)
		return nil
	}
	if job.Attempt > 1 && w.store.now().Sub(job.Args.At) >= p.Every {
		return nil // its next time has come, and with it another job
	}
	ctx, cancel := context.WithTimeout(ctx, passLimit)
	defer cancel()
	ctx, release, err := w.store.guardPass(ctx, p.Name)
	if err != nil {
		w.log.Error("pass not run", "pass", p.Name, "error", err)
		return nil
	}
	if release == nil {
		return nil // another process is still running it
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

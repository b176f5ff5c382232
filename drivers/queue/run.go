package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	// Grace is how long passes and jobs may go on after Run was told to end, before
	// their contexts end.
	Grace = 5 * time.Second
	// pollEvery bounds how late River sees a job whose notification was lost.
	pollEvery = time.Second
	// fetchCooldown is River's least. River keeps silent about a job that is inserted
	// sooner than this after another; if that one was fetched already, the job waits
	// for a poll. An idle server costs the same with 1 ms and with 100 ms.
	fetchCooldown = time.Millisecond
	// rescueAfter is when River gives a pass that is still running to another process,
	// which does nothing unless the guard is free: the first has died.
	rescueAfter = time.Minute
	// rescueNever is for a store of one process, which clears River's rows when it starts:
	// nobody has died whose work is there. River's driver for SQLite panics at the end of
	// work whose row was given up and removed meanwhile.
	rescueNever = 100 * 365 * 24 * time.Hour
	// keepDone is how long rows of finished jobs stay on a store of one process.
	keepDone = time.Minute
)

// Guard keeps a pass from running twice at once. The context that it returns ends when
// the guard is lost. A release of nil says that the pass is running.
type Guard func(ctx context.Context, pass string) (guarded context.Context, release func(), err error)

// Options are what a store brings.
type Options[TTx any] struct {
	// Driver is River's for the store's database.
	Driver func() riverdriver.Driver[TTx]
	// Shared: several processes use the store.
	Shared  bool
	Passes  []broker.Pass
	Workers []job.Worker
	Guard   Guard
	Ledger  Ledger
	// Wake receives after a transaction that enqueued jobs.
	Wake <-chan struct{}
	// Now is the store's time.
	Now func() time.Time
	// Translate turns the database's errors into broker's sentinels.
	Translate func(error) error
	// Log is told of failures, Quiet is River's.
	Log, Quiet *slog.Logger
	// While is called as long as passes and jobs run, and returns when ctx ends.
	While func(ctx context.Context)
}

// Run works passes and jobs until ctx ends. If the database cannot be used when Run
// begins, it waits.
//
// Run returns nil after the passes and jobs under way have ended; those that take longer
// than [Grace] have their contexts ended, and Run returns an error if they still run
// after as long again. A pass that fails or panics is logged and runs again at its next
// time.
func Run[TTx any](ctx context.Context, o Options[TTx]) error {
	config, err := o.config()
	if err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	client, err := o.start(ctx, config)
	if err != nil || client == nil {
		return err
	}
	offering := make(chan struct{})
	go func() {
		defer close(offering)
		offer(ctx, o, client)
	}()
	o.While(ctx)
	<-offering
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), Grace)
	defer cancel()
	if client.Stop(stop) == nil {
		return nil
	}
	o.Log.Warn("passes or jobs are still running; ending their contexts")
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), Grace)
	defer cancel()
	if err := client.StopAndCancel(rest); err != nil {
		return fmt.Errorf("stopping passes and jobs: %w", err)
	}
	return nil
}

func (o Options[TTx]) config() (*river.Config, error) {
	passes := &passWorker{passes: make(map[string]broker.Pass, len(o.Passes)), guard: o.Guard, now: o.Now, log: o.Log}
	jobs := &jobWorker{ledger: o.Ledger, workers: make(map[string]job.Worker, len(o.Workers)), now: o.Now, log: o.Log}
	c := &river.Config{
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(len(o.Passes), 1)}},
		Workers:              river.NewWorkers(),
		Logger:               o.Quiet,
		JobTimeout:           -1, // the workers have their own
		RescueStuckJobsAfter: rescueNever,
		FetchPollInterval:    pollEvery,
		FetchCooldown:        fetchCooldown,
	}
	kept := keepDone
	if o.Shared {
		// What is done stays for as long as it keeps a second of the same interval out.
		for _, p := range o.Passes {
			kept = max(kept, 2*p.Every)
		}
		kept = max(kept, 2*time.Minute)
		c.RescueStuckJobsAfter = rescueAfter
		c.Hooks = []rivertype.Hook{river.HookInsertBeginFunc(o.dueNow)}
	}
	c.CompletedJobRetentionPeriod, c.CancelledJobRetentionPeriod, c.DiscardedJobRetentionPeriod = kept, kept, kept
	for _, p := range o.Passes {
		if _, ok := passes.passes[p.Name]; ok || !passName().MatchString(p.Name) || p.Every < time.Second {
			return nil, fmt.Errorf("pass %q is there twice, is not named in kebab case, or comes more often than each second", p.Name)
		}
		passes.passes[p.Name] = p
		c.PeriodicJobs = append(c.PeriodicJobs, o.periodic(p))
	}
	for _, w := range o.Workers {
		if _, ok := jobs.workers[w.Kind]; ok || !(job.Job{Kind: w.Kind, Subject: "any"}).Valid() || w.AtOnce < 1 {
			return nil, fmt.Errorf("the worker of jobs %q is there twice, is not named in kebab case, or works none at once", w.Kind)
		}
		jobs.workers[w.Kind] = w
		c.Queues[queueOf(w.Kind)] = river.QueueConfig{MaxWorkers: w.AtOnce}
	}
	return c, errors.Join(river.AddWorkerSafely(c.Workers, passes), river.AddWorkerSafely(c.Workers, jobs))
}

// start returns a client that runs, or nil if ctx ended first.
func (o Options[TTx]) start(ctx context.Context, config *river.Config) (*river.Client[TTx], error) {
	for {
		// One that failed to start cannot be started again.
		client, err := river.NewClient(o.Driver(), config)
		if err != nil {
			return nil, fmt.Errorf("starting passes: %w", err)
		}
		// Not ctx: its end would cut passes off in the middle.
		if err = o.Translate(client.Start(context.WithoutCancel(ctx))); err == nil {
			return client, nil
		}
		if !errors.Is(err, broker.ErrUnavailable) {
			return nil, fmt.Errorf("starting passes: %w", err)
		}
		o.Log.Warn("passes wait for the database", "error", err)
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(pollEvery):
		}
	}
}

// dueNow dates a job by the store's clock. By this machine's, if that is ahead, it
// would not be due until then: no pass would run. The store's clock is read now and
// then, and may be ahead of the database by milliseconds: an attempt is dated back, or
// it would not be due when its notification comes, and wait for a poll.
func (o Options[TTx]) dueNow(_ context.Context, r *rivertype.JobInsertParams) error {
	now := o.Now()
	if r.Kind == (jobArgs{}).Kind() {
		now = now.Add(-pollEvery)
	}
	r.CreatedAt, r.ScheduledAt = &now, &now
	return nil
}

// Package queue works jobs and passes, which both stores keep in one table. A pass is a
// job that is due again after its interval.
//
// Each process polls for due jobs once a second, and at once when it has enqueued one
// itself. It takes as many jobs of a kind as it may work at the same time. A worker
// reports that it is alive; a silent one loses its job to another process.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	// Grace is the time that passes and jobs may take after Run was told to end, before
	// their contexts end.
	Grace = 5 * time.Second
	// StartAfter is how long the passes of a new server wait: requests that waited for it come first.
	StartAfter = 2 * time.Second
	// pollEvery is how late a job starts that another process enqueued, or whose backoff is over. Each
	// wait is a little shorter, so that no replica is always the first.
	pollEvery = time.Second
	// ledgerLimit bounds the ending of an attempt.
	ledgerLimit = 10 * time.Second
)

// Options are the parts that a store brings to the queue.
type Options struct {
	Passes  []broker.Pass
	Workers []job.Worker
	Ledger  Jobs
	// Wake receives after a transaction that enqueued jobs.
	Wake <-chan struct{}
	// Now is the store's time.
	Now func() time.Time
	// Log is told of failures.
	Log *slog.Logger
	// While is called as long as passes and jobs run, and returns when ctx ends.
	While func(ctx context.Context)
}

// Run works passes and jobs until ctx ends. As long as the database cannot be used, it waits.
//
// Run returns nil after the passes and jobs under way have ended; those that take longer
// than [Grace] have their contexts ended, and Run returns an error if they still run
// after as long again. A pass that fails or panics is logged and runs again at its next
// time.
func Run(ctx context.Context, o Options) error {
	d, err := newDispatcher(o)
	if err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	working, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var feeding sync.WaitGroup
	feeding.Go(func() { d.feed(ctx, working) })
	o.While(ctx)
	feeding.Wait()
	ended := make(chan struct{})
	go func() {
		d.running.Wait()
		close(ended)
	}()
	if within(ended, Grace) {
		return nil
	}
	o.Log.Warn("passes or jobs are still running; ending their contexts")
	cut()
	if within(ended, Grace) {
		return nil
	}
	return errors.New("passes or jobs still run after their contexts ended")
}

// within reports whether something ended in a time.
func within(ended <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// dispatcher hands what is due to the workers of this process.
type dispatcher struct {
	Options
	passes  map[string]broker.Pass // by kind of job
	workers map[string]job.Worker
	running sync.WaitGroup
	freed   chan struct{} // receives when a kind that was busy can take a job again

	mu   sync.Mutex
	free map[string]int // how many jobs of a kind may begin
}

func newDispatcher(o Options) (*dispatcher, error) {
	d := &dispatcher{
		Options: o, passes: map[string]broker.Pass{}, workers: map[string]job.Worker{}, freed: make(chan struct{}, 1), free: map[string]int{},
	}
	for _, p := range o.Passes {
		kind := kindOf(p)
		if d.free[kind] > 0 || len(p.Name) < 2 || !(job.Job{Kind: kind, Subject: p.Name}).Valid() || p.Every < time.Second {
			return nil, fmt.Errorf("pass %q is there twice, is not named in kebab case, or comes more often than each second", p.Name)
		}
		d.passes[kind], d.free[kind] = p, 1
	}
	for _, w := range o.Workers {
		if d.free[w.Kind] > 0 || !(job.Job{Kind: w.Kind, Subject: "any"}).Valid() || w.AtOnce < 1 {
			return nil, fmt.Errorf("the worker of jobs %q is there twice, is not named in kebab case, or works none at once", w.Kind)
		}
		d.workers[w.Kind], d.free[w.Kind] = w, w.AtOnce
	}
	return d, nil
}

func kindOf(p broker.Pass) string { return job.PassPrefix + p.Name }

// feed begins due jobs until ctx ends. Attempts continue under working.
func (d *dispatcher) feed(ctx, working context.Context) {
	scheduled := false
	for ctx.Err() == nil {
		err := error(nil)
		if !scheduled {
			err = d.schedule(ctx)
			scheduled = err == nil
		}
		if err == nil {
			err = d.take(ctx, working)
		}
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("no jobs or passes can begin", "error", err)
		}
		tick := time.NewTimer(job.Spread(pollEvery))
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-d.Wake:
		case <-d.freed:
		}
		tick.Stop()
	}
}

// schedule sees that each pass has its job. One whose interval became shorter is due by the new one.
func (d *dispatcher) schedule(ctx context.Context) error {
	for kind, p := range d.passes {
		now := d.Now()
		latest := now.Add(max(p.Every, job.TakeoverAfter))
		if err := d.Ledger.ScheduleJob(ctx, job.Job{Kind: kind, Subject: p.Name}, now.Add(StartAfter), latest); err != nil {
			return err
		}
	}
	return nil
}

// take begins what is due of the kinds that are not busy.
func (d *dispatcher) take(ctx, working context.Context) error {
	d.mu.Lock()
	free := maps.Clone(d.free)
	d.mu.Unlock()
	maps.DeleteFunc(free, func(_ string, n int) bool { return n == 0 })
	due, err := d.Ledger.DueKinds(ctx, slices.Sorted(maps.Keys(free)))
	for _, kind := range due {
		attempts, failed := d.Ledger.TakeJobs(ctx, kind, free[kind], d.Now().Add(job.TakeoverAfter))
		err = errors.Join(err, failed)
		d.mu.Lock()
		d.free[kind] -= len(attempts)
		d.mu.Unlock()
		for _, a := range attempts {
			d.running.Go(func() {
				defer d.done(kind)
				d.work(working, a)
			})
		}
	}
	return err
}

// done makes room for another job of the kind.
func (d *dispatcher) done(kind string) {
	d.mu.Lock()
	d.free[kind]++
	busy := d.free[kind] == 1
	d.mu.Unlock()
	if _, pass := d.passes[kind]; pass || !busy {
		return // others of the kind that are due were taken already
	}
	select {
	case d.freed <- struct{}{}:
	default:
	}
}

// Wake has the queue look for jobs. What is sent before it looks is received once.
func Wake(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it will be received
	}
}

package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// Run works passes and jobs until ctx ends, together with every other process that
// does. One of them makes a job of each pass at its interval, counted from midnight
// UTC, and any one works it. No pass runs twice at once, nor for the same interval.
// A pass whose process died runs again within two minutes, or at its next time; a job,
// within [job.TakeoverAfter] and a few seconds. How Run begins and ends is as [queue.Run]
// has it.
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error {
	if s.closed.Load() {
		return fmt.Errorf("starting passes: %w", rows.Closed())
	}
	return queue.Run(ctx, queue.Options[pgx.Tx]{
		Driver:    func() riverdriver.Driver[pgx.Tx] { return riverpgxv5.New(s.pool) },
		Shared:    true,
		Passes:    passes,
		Workers:   workers,
		Guard:     s.guardPass,
		Ledger:    s,
		Wake:      s.wake,
		Now:       s.now,
		Translate: translate,
		Log:       log,
		Quiet:     rows.Warnings(log),
		While: func(ctx context.Context) {
			var both sync.WaitGroup
			both.Go(func() { s.keepSequencing(ctx, log) })
			s.keepTime(ctx, log)
			both.Wait()
		},
	})
}

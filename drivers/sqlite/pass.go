package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// Run works passes and jobs until ctx ends: each pass when Run starts and then at its
// interval, never twice at once. Jobs that an earlier process left start at once. How
// Run ends is as [queue.Run] has it. Run must not run twice at the same time on one store.
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error {
	if ctx.Err() != nil {
		return nil // stopped before it began
	}
	if err := s.forgetRunning(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	var running sync.Map
	return queue.Run(ctx, queue.Options[*sql.Tx]{
		Driver:  func() riverdriver.Driver[*sql.Tx] { return riversqlite.New(s.writer) },
		Passes:  passes,
		Workers: workers,
		Guard: func(ctx context.Context, pass string) (context.Context, func(), error) {
			if _, busy := running.LoadOrStore(pass, true); busy {
				return ctx, nil, nil
			}
			return ctx, func() { running.Delete(pass) }, nil
		},
		Ledger:    s,
		Wake:      s.wake,
		Now:       s.now,
		Translate: translate,
		Log:       log,
		Quiet:     rows.Warnings(log),
		While:     func(ctx context.Context) { s.keepGrowing(ctx, log) },
	})
}

// forgetRunning clears what a killed process left in the queue: passes and jobs that
// would count as running and keep new ones out, and its leadership. The directory's lock
// says that there is no other process.
func (s *Store) forgetRunning(ctx context.Context) error {
	if s.closed.Load() {
		return rows.Closed()
	}
	_, err := s.writer.ExecContext(ctx, `DELETE FROM river_job; DELETE FROM river_leader;
		UPDATE jobs SET due_at = 0 WHERE done < wanted`)
	return translate(err)
}

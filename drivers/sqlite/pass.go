package sqlite

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// Run works passes and jobs until ctx ends: each pass soon after Run starts and then at its
// interval, never twice at once. Jobs that an earlier process left start at once. Run ends
// like [queue.Run]. Run must not run twice at the same time on one store.
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error {
	if ctx.Err() != nil {
		return nil // stopped before it began
	}
	if err := s.takeUp(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting passes: %w", err)
	}
	return queue.Run(ctx, queue.Options{
		Passes: passes, Workers: workers, Ledger: s, Wake: s.wake, Now: s.now, Log: log,
		While: func(ctx context.Context) { s.keepGrowing(ctx, log) },
	})
}

const makeJobsDue = `UPDATE jobs SET due_at = CASE WHEN kind LIKE '` + job.PassPrefix + `%' THEN ? ELSE 0 END WHERE done < wanted`

// takeUp makes jobs due at once, and passes a little later, also those that a killed process
// worked. The directory's lock proves that there is no other process.
func (s *Store) takeUp(ctx context.Context) error {
	if s.closed.Load() {
		return rows.Closed()
	}
	_, err := s.writer.ExecContext(ctx, makeJobsDue, rows.Micro(s.now().Add(queue.StartAfter)))
	return translate(err)
}

package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// Run works passes and jobs until ctx ends, together with every other process that
// does. Any one of them works a pass at its interval, counted from midnight UTC. No pass
// runs twice at once, nor twice in the same interval. A pass or job whose process died
// runs again within [job.TakeoverAfter] and a few seconds. Run begins and ends like
// [queue.Run].
func (s *Store) Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error {
	if s.closed.Load() {
		return fmt.Errorf("starting passes: %w", rows.Closed())
	}
	return queue.Run(ctx, queue.Options{
		Passes: passes, Workers: workers, Ledger: s, Wake: s.wake, Now: s.now, Log: log,
		While: func(ctx context.Context) {
			var both sync.WaitGroup
			both.Go(func() { s.keepSequencing(ctx, log) })
			s.keepTime(ctx, log)
			both.Wait()
		},
	})
}

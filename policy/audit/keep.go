package audit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Keep calls step at an interval until ctx ends, and logs what keeps the log from
// growing. That the log was changed behind the broker's back is logged once, as an error.
func Keep(ctx context.Context, every time.Duration, log *slog.Logger, step func(context.Context) error) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	torn := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		err := step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, tree.ErrTorn):
			if !torn {
				log.Error("the audit log was changed behind the broker's back", "error", err)
			}
			torn = true
		case err != nil:
			log.Warn("new audit entries are not in the tree of the log yet", "error", err)
		default:
			torn = false
		}
	}
}

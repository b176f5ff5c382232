package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// The documents of operations that are live are few. PostgreSQL reads no document of which any text contains an escape
// such as \u0000: they become others. The texts that are counted here contain none.
const liveOperations = `SELECT d->>'type', state, count(*)::int, min((d->>'stateEnteredAt')::timestamptz),
		count(*) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP')::int,
		coalesce(min(queued_at) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP'), '-infinity')
		FROM vnf_operations, LATERAL (SELECT replace(document, '\u', '\n')::json) AS plain (d)
		WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') GROUP BY 1, 2`

// LiveOperations counts operations that have not ended.
func (s *Store) LiveOperations(ctx context.Context) ([]lifecycle.OperationCount, error) {
	counts, err := read(ctx, s, func(r pgx.CollectableRow) (c lifecycle.OperationCount, err error) {
		err = r.Scan(&c.Type, &c.State, &c.Count, &c.Oldest, &c.Waiting, &moment{&c.OldestWaiting})
		c.OldestWaiting = c.OldestWaiting.Truncate(time.Second)
		return c, err
	}, liveOperations)
	if err != nil {
		return nil, fmt.Errorf("counting VNF operations: %w", err)
	}
	return counts, nil
}

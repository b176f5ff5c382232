package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// The documents of operations that are live are few.
const liveOperations = `SELECT json_extract(document, '$.type'), state, count(*),
	min(unixepoch(json_extract(document, '$.stateEnteredAt'))),
	count(*) FILTER (WHERE turn_at = 0 AND state <> 'FAILED_TEMP'),
	coalesce(min(queued_at) FILTER (WHERE turn_at = 0 AND state <> 'FAILED_TEMP'), 0)
	FROM vnf_operations WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') GROUP BY 1, 2`

// LiveOperations counts operations that have not ended.
func (s *Store) LiveOperations(ctx context.Context) ([]lifecycle.OperationCount, error) {
	found, err := s.query(ctx, liveOperations)
	counts, err := collect(found, err, func(r *sql.Rows) (c lifecycle.OperationCount, err error) {
		var oldest, waiting int64
		err = r.Scan(&c.Type, &c.State, &c.Count, &oldest, &c.Waiting, &waiting)
		c.Oldest, c.OldestWaiting = time.Unix(oldest, 0).UTC(), rows.Time(waiting).Truncate(time.Second)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("counting VNF operations: %w", err)
	}
	return counts, nil
}

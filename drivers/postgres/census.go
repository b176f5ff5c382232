package postgres

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// Load counts jobs, leases that wait, and this process's connections.
func (s *Store) Load(ctx context.Context, now time.Time) (broker.Load, error) {
	l, err := s.Tables.Load(ctx, now)
	pool := s.pool.Stat()
	l.ConnectionsInUse, l.ConnectionsMax = int(pool.AcquiredConns()), int(pool.MaxConns())
	return l, err
}

package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	censusOfVIMs   = `SELECT state, count(*) FROM vims GROUP BY state`
	censusOfHealth = `SELECT health, count(*) FROM vims GROUP BY health`
	censusOfGrades = `SELECT grade, n FROM lease_grades WHERE n > 0`
	censusOfLeases = `SELECT state, n FROM lease_census WHERE n > 0`
)

// Census counts leases and VIMs by state. Each of the four counts is exact at
// its own moment.
func (s *Store) Census(ctx context.Context) (broker.Census, error) {
	var c broker.Census
	var err error
	if c.VIMs, err = count[broker.VIMState](ctx, s, censusOfVIMs); err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs: %w", err)
	}
	if c.Health, err = count[broker.HealthStatus](ctx, s, censusOfHealth); err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs by health: %w", err)
	}
	if c.Leases, err = count[broker.LeaseState](ctx, s, censusOfLeases); err != nil {
		return broker.Census{}, fmt.Errorf("counting leases: %w", err)
	}
	if c.Grades, err = count[broker.Grade](ctx, s, censusOfGrades); err != nil {
		return broker.Census{}, fmt.Errorf("counting leases by grade: %w", err)
	}
	return c, nil
}

func count[K ~string](ctx context.Context, s *Store, text string) (map[K]int, error) {
	type entry struct {
		key K
		n   int
	}
	rows, err := s.query(ctx, text)
	entries, err := collect(rows, err, func(r *sql.Rows) (e entry, err error) { return e, r.Scan(&e.key, &e.n) })
	if err != nil {
		return nil, err
	}
	counts := make(map[K]int, len(entries))
	for _, e := range entries {
		counts[e.key] = e.n
	}
	return counts, nil
}

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	censusOfVIMs   = `SELECT value, n FROM vim_census WHERE part = 'state' AND n > 0`
	censusOfHealth = `SELECT type, health, count(*)::int FROM vims GROUP BY type, health`
	// live rows are counted once, by both
	censusOfLeases = `SELECT state, grade, count(*)::int FROM live_leases GROUP BY state, grade
		UNION ALL SELECT 'revoked', '', sum(n)::int FROM ended_leases HAVING sum(n) > 0`

	// one row for each of the times; the broker renews the tokens of its own accounts
	expiring = `SELECT (SELECT count(*)::int FROM vim_generations g JOIN vims v ON v.id = g.vim AND v.generation = g.number
			WHERE g.credential_expires_at > '-infinity' AND g.credential_expires_at < t.at
				AND g.discovered NOT LIKE '%"renewAt":%')
		FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (at, number) ORDER BY t.number`
	jobsWaiting = `SELECT count(*) FILTER (WHERE due_at <= $1)::int, count(*) FILTER (WHERE failures > 0)::int,
			coalesce(min(due_at) FILTER (WHERE due_at <= $1), $1)
		FROM jobs WHERE done < wanted AND kind NOT LIKE '` + job.PassPrefix + `%'`
	// those that are being revoked, and those whose time is up
	leasesWaiting = `SELECT count(*) FILTER (WHERE attempts > 0)::int,
			coalesce(min(expires_at) FILTER (WHERE expires_at > '-infinity' AND expires_at <= $1), $1)
		FROM leases WHERE state IN ('active', 'revoking') AND id IN (
			SELECT id FROM live_leases WHERE state = 'revoking' UNION ALL SELECT id FROM lease_turns WHERE due_at <= $1)`
)

// Census counts leases and VIMs by state. The counts of leases are exact at one moment, those
// of VIMs at others.
func (s *Store) Census(ctx context.Context) (broker.Census, error) {
	var c broker.Census
	var err error
	if c.VIMs, err = count[broker.VIMState](ctx, s, censusOfVIMs); err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs: %w", err)
	}
	type health struct {
		of broker.TypeHealth
		n  int
	}
	healths, err := read(ctx, s, func(r pgx.CollectableRow) (h health, err error) { return h, r.Scan(&h.of.Type, &h.of.Status, &h.n) },
		censusOfHealth)
	if err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs by health: %w", err)
	}
	c.Health = make(map[broker.TypeHealth]int, len(healths))
	for _, h := range healths {
		c.Health[h.of] = h.n
	}
	type leases struct {
		state broker.LeaseState
		grade broker.Grade
		n     int
	}
	all, err := read(ctx, s, func(r pgx.CollectableRow) (l leases, err error) { return l, r.Scan(&l.state, &l.grade, &l.n) }, censusOfLeases)
	if err != nil {
		return broker.Census{}, fmt.Errorf("counting leases: %w", err)
	}
	c.Leases, c.Grades = map[broker.LeaseState]int{}, map[broker.Grade]int{}
	for _, l := range all {
		c.Leases[l.state] += l.n
		if l.state != broker.LeaseRevoked {
			c.Grades[l.grade] += l.n
		}
	}
	return c, nil
}

// CredentialsExpiring counts VIMs by the end of their credential.
func (s *Store) CredentialsExpiring(ctx context.Context, before ...time.Time) ([]int, error) {
	return read(ctx, s, scalar[int], expiring, before)
}

// Load counts jobs, leases that wait, and this process's connections.
func (s *Store) Load(ctx context.Context, now time.Time) (broker.Load, error) {
	var first time.Time
	l, err := readOne(ctx, s, func(r pgx.CollectableRow) (l broker.Load, err error) {
		return l, r.Scan(&l.JobsDue, &l.JobsFailing, &first)
	}, jobsWaiting, now)
	if err != nil {
		return l, fmt.Errorf("counting jobs: %w", err)
	}
	if l.JobsDue > 0 {
		l.JobsLate = now.Sub(first)
	}
	failing, err := readOne(ctx, s, func(r pgx.CollectableRow) (n int, err error) { return n, r.Scan(&n, &first) }, leasesWaiting, now)
	if err != nil {
		return l, fmt.Errorf("counting leases that wait: %w", err)
	}
	l.LeasesFailing, l.LeasesLate = failing, now.Sub(first)
	pool := s.pool.Stat()
	l.ConnectionsInUse, l.ConnectionsMax = int(pool.AcquiredConns()), int(pool.MaxConns())
	return l, nil
}

func count[K ~string](ctx context.Context, s *Store, text string) (map[K]int, error) {
	type entry struct {
		key K
		n   int
	}
	entries, err := read(ctx, s, func(r pgx.CollectableRow) (e entry, err error) { return e, r.Scan(&e.key, &e.n) }, text)
	if err != nil {
		return nil, err
	}
	counts := make(map[K]int, len(entries))
	for _, e := range entries {
		counts[e.key] = e.n
	}
	return counts, nil
}

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

const (
	censusOfVIMs   = `SELECT state, count(*) FROM vims GROUP BY state`
	censusOfHealth = `SELECT type, health, count(*) FROM vims GROUP BY type, health`
	censusOfGrades = `SELECT grade, count(*) FROM leases INDEXED BY lease_live WHERE live = 1 GROUP BY grade`
	censusOfLeases = `SELECT state, count(*) FROM leases INDEXED BY lease_live WHERE live = 1 GROUP BY state
		UNION ALL SELECT 'revoked', n FROM ended_leases WHERE n > 0`

	// one row for each of the times; the broker renews the tokens of its own accounts
	expiring = `SELECT (SELECT count(*) FROM vim_generations g JOIN vims v ON v.id = g.vim AND v.generation = g.number
			WHERE g.credential_expires_at > 0 AND g.credential_expires_at < t.value
				AND g.discovered NOT LIKE '%"renewAt":%')
		FROM json_each(?) t ORDER BY t.key`
	jobsDue = `SELECT count(*), coalesce(min(due_at), 0) FROM jobs
		WHERE done < wanted AND due_at <= ? AND kind NOT LIKE '` + job.PassPrefix + `%'`
	// those that are being revoked, and those whose time is up
	leasesWaiting = `SELECT count(*) FILTER (WHERE attempts > 0),
			coalesce(min(expires_at) FILTER (WHERE expires_at > 0 AND expires_at <= ?1), 0)
		FROM leases WHERE id IN (SELECT id FROM leases WHERE state = 'revoking' AND live = 1
			UNION ALL SELECT id FROM leases WHERE state = 'active' AND due_at <= ?1)`
	jobsFailing = `SELECT count(*) FROM jobs WHERE done < wanted AND failures > 0 AND kind NOT LIKE '` + job.PassPrefix + `%'`
)

// Census counts leases and VIMs by state. Each of the four counts is exact at
// its own moment.
func (s *Store) Census(ctx context.Context) (broker.Census, error) {
	var c broker.Census
	var err error
	if c.VIMs, err = count[broker.VIMState](ctx, s, censusOfVIMs); err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs: %w", err)
	}
	type entry struct {
		key broker.TypeHealth
		n   int
	}
	rows, err := s.query(ctx, censusOfHealth)
	health, err := collect(rows, err, func(r *sql.Rows) (e entry, err error) { return e, r.Scan(&e.key.Type, &e.key.Status, &e.n) })
	if err != nil {
		return broker.Census{}, fmt.Errorf("counting VIMs by health: %w", err)
	}
	c.Health = make(map[broker.TypeHealth]int, len(health))
	for _, e := range health {
		c.Health[e.key] = e.n
	}
	if c.Leases, err = count[broker.LeaseState](ctx, s, censusOfLeases); err != nil {
		return broker.Census{}, fmt.Errorf("counting leases: %w", err)
	}
	if c.Grades, err = count[broker.Grade](ctx, s, censusOfGrades); err != nil {
		return broker.Census{}, fmt.Errorf("counting leases by grade: %w", err)
	}
	return c, nil
}

// CredentialsExpiring counts VIMs by the end of their credential.
func (s *Store) CredentialsExpiring(ctx context.Context, before ...time.Time) ([]int, error) {
	times := make([]int64, len(before))
	for i, at := range before {
		times[i] = at.UnixMicro()
	}
	text, err := json.Marshal(times)
	if err != nil {
		return nil, err
	}
	rows, err := s.query(ctx, expiring, string(text))
	return collect(rows, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
}

// Load counts jobs and leases that wait. There is no pool to count.
func (s *Store) Load(ctx context.Context, now time.Time) (l broker.Load, err error) {
	var first int64
	due, err := s.query(ctx, jobsDue, now.UnixMicro())
	if _, err = collect(due, err, func(r *sql.Rows) (struct{}, error) { return struct{}{}, r.Scan(&l.JobsDue, &first) }); err != nil {
		return l, fmt.Errorf("counting jobs: %w", err)
	}
	if l.JobsDue > 0 {
		l.JobsLate = now.Sub(time.UnixMicro(first))
	}
	if l.JobsFailing, err = s.number(ctx, jobsFailing); err != nil {
		return l, fmt.Errorf("counting jobs: %w", err)
	}
	first = 0
	waiting, err := s.query(ctx, leasesWaiting, now.UnixMicro())
	if _, err = collect(waiting, err,
		func(r *sql.Rows) (struct{}, error) { return struct{}{}, r.Scan(&l.LeasesFailing, &first) }); err != nil {
		return l, fmt.Errorf("counting leases that wait: %w", err)
	}
	if first > 0 {
		l.LeasesLate = now.Sub(time.UnixMicro(first))
	}
	return l, nil
}

// number runs a query that answers one number.
func (s *Store) number(ctx context.Context, text string, args ...any) (int, error) {
	found, err := s.query(ctx, text, args...)
	numbers, err := collect(found, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
	if err != nil {
		return 0, err
	}
	return numbers[0], nil
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

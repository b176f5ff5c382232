package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var (
	censusOfVIMs = statement(either(`SELECT value, n FROM vim_census WHERE part = 'state' AND n > 0`,
		`SELECT state, count(*) FROM vims GROUP BY state`))
	censusOfHealth = statement(`SELECT type, health, count(*) FROM vims GROUP BY type, health`)
	// live rows are counted once, by both
	censusOfLeases = statement(either(`SELECT state, grade, count(*) FROM live_leases GROUP BY state, grade
		UNION ALL SELECT 'revoked', '', sum(n)::bigint FROM ended_leases HAVING sum(n) > 0`,
		`SELECT state, grade, count(*) FROM leases INDEXED BY lease_live WHERE live = 1 GROUP BY state, grade
		UNION ALL SELECT 'revoked', '', n FROM ended_leases WHERE n > 0`))

	// one row for each of the times; the broker renews the tokens of its own accounts
	expiring = statement(either(`SELECT (SELECT count(*)`+expiringAt+`t.at AND g.discovered NOT LIKE '%"renewAt":%')
		FROM unnest(?1::timestamptz[]) WITH ORDINALITY AS t (at, number) ORDER BY t.number`,
		`SELECT (SELECT count(*)`+expiringAt+`t.value AND g.discovered NOT LIKE '%"renewAt":%')
		FROM json_each(?1) t ORDER BY t.key`))
	jobsWaiting = statement(`SELECT count(*) FILTER (WHERE due_at <= ?1), count(*) FILTER (WHERE failures > 0),
			coalesce(min(due_at) FILTER (WHERE due_at <= ?1), ?1::timestamptz)
		FROM jobs WHERE done < wanted AND kind NOT LIKE '` + job.PassPrefix + `%'`)
	// those that are being revoked, and those whose time is up
	leasesWaiting = statement(either(leasesLate+`WHERE state IN ('active', 'revoking') AND id IN (
			SELECT id FROM live_leases WHERE state = 'revoking' UNION ALL SELECT id FROM lease_turns WHERE due_at <= ?1)`,
		leasesLate+`WHERE id IN (SELECT id FROM leases WHERE state = 'revoking' AND live = 1
			UNION ALL SELECT id FROM leases WHERE state = 'active' AND due_at <= ?1)`))

	// immutable columns alone, but for the state; a lease that stands with an instance has a successor
	leasesEnding = statement(either(
		leasesFor+`max_expires_at AT TIME ZONE 'UTC' > created_at AT TIME ZONE 'UTC' + interval '720 hours'`+thatEnd,
		leasesFor+`max_expires_at - created_at > 2592000000000`+thatEnd))

	// The documents of operations that are live are few. PostgreSQL reads no document of which any text contains an
	// escape such as \u0000: they become others. The texts that are counted here contain none.
	liveOperations = statement(either(`SELECT d->>'type', state, count(*), min((d->>'stateEnteredAt')::timestamptz), `+operationsWaiting+`
		FROM vnf_operations, LATERAL (SELECT replace(document, '\u', '\n')::json) AS plain (d) `+operationsLive,
		`SELECT json_extract(document, '$.type'), state, count(*),
		min(unixepoch(json_extract(document, '$.stateEnteredAt'))) * 1000000, `+operationsWaiting+` FROM vnf_operations `+operationsLive))
)

const (
	expiringAt = ` FROM vim_generations g JOIN vims v ON v.id = g.vim AND v.generation = g.number
			WHERE g.credential_expires_at > '-infinity' AND g.credential_expires_at < `
	leasesLate = `SELECT count(*) FILTER (WHERE attempts > 0),
			coalesce(min(expires_at) FILTER (WHERE expires_at > '-infinity' AND expires_at <= ?1), ?1::timestamptz) FROM leases `
	leasesFor = `SELECT count(*) FROM leases WHERE `
	thatEnd   = ` AND max_expires_at > ?1 AND max_expires_at <= ?2 AND state = 'active' AND (token_ttl = 0 OR instance = '')`

	operationsWaiting = `count(*) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP'),
		coalesce(min(queued_at) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP'), '-infinity')`
	operationsLive = `WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') GROUP BY 1, 2`
)

// Census counts leases and VIMs by state. The counts of leases are exact at one moment, those
// of VIMs at others.
func (s *Tables) Census(ctx context.Context) (broker.Census, error) {
	vims, err := readMap[broker.VIMState, int](ctx, s, censusOfVIMs)
	if err != nil {
		return broker.Census{}, doing(err, "counting VIMs")
	}
	type health struct {
		of broker.TypeHealth
		n  int
	}
	healths, err := read(ctx, s, func(r Row) (h health, err error) { return h, r.Scan(&h.of.Type, &h.of.Status, &h.n) }, censusOfHealth)
	if err != nil {
		return broker.Census{}, doing(err, "counting VIMs by health")
	}
	type leases struct {
		state broker.LeaseState
		grade broker.Grade
		n     int
	}
	all, err := read(ctx, s, func(r Row) (l leases, err error) { return l, r.Scan(&l.state, &l.grade, &l.n) }, censusOfLeases)
	if err != nil {
		return broker.Census{}, doing(err, "counting leases")
	}
	c := broker.Census{
		VIMs: vims, Health: map[broker.TypeHealth]int{}, Leases: map[broker.LeaseState]int{}, Grades: map[broker.Grade]int{},
	}
	for _, h := range healths {
		c.Health[h.of] = h.n
	}
	for _, l := range all {
		c.Leases[l.state] += l.n
		if l.state != broker.LeaseRevoked {
			c.Grades[l.grade] += l.n
		}
	}
	return c, nil
}

// CredentialsExpiring counts VIMs by the end of their credential.
func (s *Tables) CredentialsExpiring(ctx context.Context, before ...time.Time) ([]int, error) {
	return read(ctx, s, scalar[int], expiring, before)
}

// Load counts jobs and leases that wait.
func (s *Tables) Load(ctx context.Context, now time.Time) (broker.Load, error) {
	var first time.Time
	found, err := read(ctx, s, func(r Row) (l broker.Load, err error) {
		return l, r.Scan(&l.JobsDue, &l.JobsFailing, &first)
	}, jobsWaiting, now)
	l, err := rows.First("count", found, err)
	if err != nil {
		return l, doing(err, "counting jobs")
	}
	if l.JobsDue > 0 {
		l.JobsLate = now.Sub(first)
	}
	failing, err := read(ctx, s, func(r Row) (n int, err error) { return n, r.Scan(&n, &first) }, leasesWaiting, now)
	if l.LeasesFailing, err = rows.First("count", failing, err); err != nil {
		return l, doing(err, "counting leases that wait")
	}
	l.LeasesLate = now.Sub(first)
	l.LeasesEnding, err = single[int](ctx, s, leasesEnding, now, now.Add(broker.EndsSoon))
	return l, doing(err, "counting leases that end")
}

// LiveOperations counts operations that have not ended.
func (s *Tables) LiveOperations(ctx context.Context) ([]lifecycle.OperationCount, error) {
	counts, err := read(ctx, s, func(r Row) (c lifecycle.OperationCount, err error) {
		err = r.Scan(&c.Type, &c.State, &c.Count, &c.Oldest, &c.Waiting, &c.OldestWaiting)
		c.OldestWaiting = c.OldestWaiting.Truncate(time.Second)
		return c, err
	}, liveOperations)
	return counts, doing(err, "counting VNF operations")
}

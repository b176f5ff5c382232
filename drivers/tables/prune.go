package tables

import (
	"context"
	"strconv"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ broker.Pruner = (*Tables)(nil)

// A lease was created before it ended: the oldest by creation are where those that ended
// long ago are.
const (
	endedLeases = ` FROM leases/*by lease_newest*/ WHERE created_at < ?1 AND revoked_at < ?1 AND state = 'revoked' AND sealed = ''
		AND ` + rows.OverLease
	doneJobs = ` FROM jobs/*by job_done*/ WHERE due_at < ?1 AND done >= wanted`
)

var (
	raiseLeasesUntil = statement(`UPDATE lease_horizon SET until = greatest(until, ?1) WHERE id = 1`)
	pruneLeases      = statement(`DELETE FROM leases WHERE id IN (SELECT id` + endedLeases + `
		ORDER BY created_at, id LIMIT ?2 FOR UPDATE SKIP LOCKED)`)
	pruneJobs = statement(either(`DELETE FROM jobs WHERE ctid = ANY(ARRAY(SELECT ctid`+doneJobs+`
		ORDER BY due_at LIMIT ?2 FOR UPDATE SKIP LOCKED))`,
		`DELETE FROM jobs WHERE (kind, subject) IN (SELECT kind, subject`+doneJobs+` ORDER BY due_at LIMIT ?2)`))
	oldEntries   = statement(`SELECT seq, time FROM audit_entries WHERE seq <= ?1 ORDER BY seq LIMIT ?2`)
	raiseThrough = statement(`UPDATE audit_horizon SET seq = ?1 WHERE id = 1`)
	pruneEntries = statement(`DELETE FROM audit_entries WHERE seq <= ?1`)
	readHorizon  = statement(`SELECT seq FROM audit_horizon WHERE id = 1`)
	countEnded   = statement(`SELECT count(*) FROM (SELECT 1` + endedLeases + ` LIMIT ?2) AS found`)
	countDone    = statement(`SELECT count(*) FROM (SELECT 1` + doneJobs + ` LIMIT ?2) AS found`)
	countEntries = statement(`SELECT count(*) FROM (SELECT 1 FROM audit_entries/*by audit_by_time*/
		WHERE time < ?1 AND seq <= ?2 LIMIT ?3) AS found`)
)

// PruneLeases implements [broker.Pruner].
func (s *Tables) PruneLeases(ctx context.Context, before time.Time, limit int, e audit.Entry) (n int, err error) {
	err = s.change(ctx, func(t Tx) error {
		t.queue(raiseLeasesUntil, before)
		met, err := t.Exec(pruneLeases, before, limit)
		if err != nil {
			return err
		}
		if n = int(met); n == 0 {
			return ErrNothing
		}
		return t.Append(pruned(e, audit.DetailCount, met))
	})
	return n, doing(err, "removing ended leases")
}

// PruneJobs implements [broker.Pruner].
func (s *Tables) PruneJobs(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.met(ctx, pruneJobs, before, limit)
	return n, doing(err, "removing done jobs")
}

// PruneEntries implements [broker.Pruner].
func (s *Tables) PruneEntries(ctx context.Context, before time.Time, upTo int64, limit int, e audit.Entry) (n int, err error) {
	type dated struct { // where an entry stands, and when it was written
		seq int64
		at  time.Time
	}
	err = s.change(ctx, func(t Tx) error {
		found, err := query(t, func(row Row) (d dated, err error) { return d, row.Scan(&d.seq, &d.at) }, oldEntries, upTo, limit)
		if err != nil {
			return err
		}
		through := int64(0)
		for n = 0; n < len(found) && found[n].at.Before(before); n++ {
			through = found[n].seq
		}
		if n == 0 {
			return ErrNothing
		}
		t.queue(raiseThrough, through)
		t.queue(pruneEntries, through)
		return t.Append(pruned(e, audit.DetailThrough, through))
	})
	return n, doing(err, "removing old audit entries")
}

// pruned completes the entry about what was removed.
func pruned(e audit.Entry, key string, n int64) audit.Entry {
	e = audit.Kept(e) // whose detail is its own
	e.Detail[key] = strconv.FormatInt(n, 10)
	return e
}

// Horizon implements [broker.Pruner].
func (s *Tables) Horizon(ctx context.Context) (int64, error) {
	through, err := single[int64](ctx, s, readHorizon)
	return through, doing(err, "reading where the audit log begins")
}

// CountPrunable implements [broker.Pruner].
func (s *Tables) CountPrunable(ctx context.Context, o broker.Outdated, most int) (n broker.Prunable, err error) {
	for _, part := range []struct {
		to   *int
		text string
		args []any
	}{
		{&n.Leases, countEnded, []any{o.Leases, most}},
		{&n.Jobs, countDone, []any{o.Jobs, most}},
		{&n.Entries, countEntries, []any{o.Entries, o.UpTo, most}},
	} {
		if *part.to, err = single[int](ctx, s, part.text, part.args...); err != nil {
			return broker.Prunable{}, doing(err, "counting what can be removed")
		}
	}
	return n, nil
}

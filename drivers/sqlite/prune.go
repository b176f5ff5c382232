package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ broker.Pruner = (*Store)(nil)

// A lease was created before it ended: the oldest by creation are where those that ended
// long ago are.
const (
	endedLeases = ` FROM leases INDEXED BY lease_newest WHERE created_at < ? AND revoked_at < ? AND state = 'revoked' AND sealed = ''
		AND ` + rows.OverLease
	doneJobs     = ` FROM jobs INDEXED BY job_done WHERE due_at < ? AND done >= wanted`
	readHorizon  = `SELECT seq FROM audit_horizon WHERE id = 1`
	countEnded   = `SELECT count(*) FROM (SELECT 1` + endedLeases + ` LIMIT ?+0)`
	countEntries = `SELECT count(*) FROM (SELECT 1 FROM audit_entries INDEXED BY audit_by_time WHERE time < ? AND seq <= ? LIMIT ?+0)`
	countDone    = `SELECT count(*) FROM (SELECT 1` + doneJobs + ` LIMIT ?+0)`
)

var (
	oldEntries       = prepared(`SELECT seq, time FROM audit_entries WHERE seq <= ? ORDER BY seq LIMIT ?+0`)
	raiseLeasesUntil = prepared(`UPDATE lease_horizon SET until = max(until, ?) WHERE id = 1`)
	pruneLeases      = prepared(`DELETE FROM leases WHERE id IN (SELECT id` + endedLeases + ` ORDER BY created_at, id LIMIT ?+0)`)
	pruneJobs        = prepared(`DELETE FROM jobs WHERE (kind, subject) IN (SELECT kind, subject` + doneJobs + ` ORDER BY due_at LIMIT ?+0)`)
	raiseThrough     = prepared(`UPDATE audit_horizon SET seq = ? WHERE id = 1`)
	pruneEntries     = prepared(`DELETE FROM audit_entries WHERE seq <= ?`)
)

// PruneLeases implements [broker.Pruner].
func (s *Store) PruneLeases(ctx context.Context, before time.Time, limit int, e audit.Entry) (n int, err error) {
	err = s.write(ctx, func(t txn) error {
		if _, err := t.exec(raiseLeasesUntil, rows.Micro(before)); err != nil {
			return err
		}
		if n, err = t.affected(pruneLeases, rows.Micro(before), rows.Micro(before), limit); err != nil || n == 0 {
			return err
		}
		return t.append(pruned(e, audit.DetailCount, n))
	})
	if err != nil {
		return 0, fmt.Errorf("removing ended leases: %w", err)
	}
	return n, nil
}

// PruneJobs implements [broker.Pruner].
func (s *Store) PruneJobs(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = s.write(ctx, func(t txn) error {
		n, err = t.affected(pruneJobs, rows.Micro(before), limit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("removing done jobs: %w", err)
	}
	return n, nil
}

// PruneEntries implements [broker.Pruner].
func (s *Store) PruneEntries(ctx context.Context, before time.Time, upTo int64, limit int, e audit.Entry) (n int, err error) {
	err = s.write(ctx, func(t txn) error {
		found, err := t.query(oldEntries, upTo, limit)
		dates, err := collect(found, err, func(r *sql.Rows) (d [2]int64, err error) { return d, r.Scan(&d[0], &d[1]) })
		if err != nil {
			return err
		}
		through := int64(0)
		for n = 0; n < len(dates) && dates[n][1] < before.UnixMicro(); n++ {
			through = dates[n][0]
		}
		if n == 0 {
			return nil
		}
		if _, err := t.exec(raiseThrough, through); err != nil {
			return err
		}
		if _, err := t.exec(pruneEntries, through); err != nil {
			return err
		}
		return t.append(pruned(e, audit.DetailThrough, int(through)))
	})
	if err != nil {
		return 0, fmt.Errorf("removing old audit entries: %w", err)
	}
	return n, nil
}

// pruned completes the entry about what was removed.
func pruned(e audit.Entry, key string, n int) audit.Entry {
	e = audit.Kept(e) // whose detail is its own
	e.Detail[key] = strconv.Itoa(n)
	return e
}

// affected runs a statement, and returns how many rows it met.
func (t txn) affected(text string, args ...any) (int, error) {
	result, err := t.exec(text, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Horizon implements [broker.Pruner].
func (s *Store) Horizon(ctx context.Context) (int64, error) {
	found, err := s.query(ctx, readHorizon)
	all, err := collect(found, err, func(r *sql.Rows) (seq int64, err error) { return seq, r.Scan(&seq) })
	through, err := rows.First("audit horizon", all, err)
	if err != nil {
		return 0, fmt.Errorf("reading where the audit log begins: %w", err)
	}
	return through, nil
}

// CountPrunable implements [broker.Pruner].
func (s *Store) CountPrunable(ctx context.Context, o broker.Outdated, most int) (broker.Prunable, error) {
	var n broker.Prunable
	for _, part := range []struct {
		to   *int
		text string
		args []any
	}{
		{&n.Leases, countEnded, []any{rows.Micro(o.Leases), rows.Micro(o.Leases), most}},
		{&n.Jobs, countDone, []any{rows.Micro(o.Jobs), most}},
		{&n.Entries, countEntries, []any{rows.Micro(o.Entries), o.UpTo, most}},
	} {
		found, err := s.query(ctx, part.text, part.args...)
		all, err := collect(found, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
		if err != nil {
			return broker.Prunable{}, fmt.Errorf("counting what can be removed: %w", err)
		}
		*part.to = all[0]
	}
	return n, nil
}

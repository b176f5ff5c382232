package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ broker.Pruner = (*Store)(nil)

// A lease was created before it ended: the oldest by creation are where those that ended
// long ago are.
const (
	endedLeases = ` FROM leases WHERE created_at < $1 AND revoked_at < $1 AND state = 'revoked' AND sealed = '' AND ` + rows.OverLease
	doneJobs    = ` FROM jobs WHERE due_at < $1 AND done >= wanted`
	oldEntries  = `SELECT seq, time FROM audit_entries WHERE seq <= $1 ORDER BY seq LIMIT $2`

	raiseLeasesUntil = `UPDATE lease_horizon SET until = greatest(until, $1) WHERE id = 1`
	pruneLeases      = `DELETE FROM leases WHERE id IN (SELECT id` + endedLeases + ` ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)`
	pruneJobs        = `DELETE FROM jobs WHERE ctid = ANY(ARRAY(SELECT ctid` + doneJobs + ` ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED))`
	raiseThrough     = `UPDATE audit_horizon SET seq = $1 WHERE id = 1`
	pruneEntries     = `DELETE FROM audit_entries WHERE seq <= $1`
	readHorizon      = `SELECT seq FROM audit_horizon WHERE id = 1`
	countEnded       = `SELECT count(*) FROM (SELECT 1` + endedLeases + ` LIMIT $2) AS found`
	countEntries     = `SELECT count(*) FROM (SELECT 1 FROM audit_entries WHERE time < $1 AND seq <= $2 LIMIT $3) AS found`
	countDone        = `SELECT count(*) FROM (SELECT 1` + doneJobs + ` LIMIT $2) AS found`
)

// PruneLeases implements [broker.Pruner].
func (s *Store) PruneLeases(ctx context.Context, before time.Time, limit int, e audit.Entry) (n int, err error) {
	err = s.change(ctx, func(t txn) error {
		t.queue(raiseLeasesUntil, stamp(before))
		tag, err := t.exec(pruneLeases, stamp(before), limit)
		if err != nil {
			return err
		}
		if n = int(tag.RowsAffected()); n == 0 {
			return errNothing
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
	err = s.change(ctx, func(t txn) error {
		tag, err := t.exec(pruneJobs, stamp(before), limit)
		n = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("removing done jobs: %w", err)
	}
	return n, nil
}

// PruneEntries implements [broker.Pruner].
func (s *Store) PruneEntries(ctx context.Context, before time.Time, upTo int64, limit int, e audit.Entry) (n int, err error) {
	err = s.change(ctx, func(t txn) error {
		found, err := query(t, scanDated, oldEntries, upTo, limit)
		if err != nil {
			return err
		}
		through := int64(0)
		for n = 0; n < len(found) && found[n].at.Before(before); n++ {
			through = found[n].seq
		}
		if n == 0 {
			return errNothing
		}
		t.queue(raiseThrough, through)
		t.queue(pruneEntries, through)
		return t.append(pruned(e, audit.DetailThrough, int(through)))
	})
	if err != nil {
		return 0, fmt.Errorf("removing old audit entries: %w", err)
	}
	return n, nil
}

// dated is where an entry stands, and when it was written.
type dated struct {
	seq int64
	at  time.Time
}

func scanDated(row pgx.CollectableRow) (d dated, err error) { return d, row.Scan(&d.seq, &d.at) }

// pruned completes the entry about what was removed.
func pruned(e audit.Entry, key string, n int) audit.Entry {
	e = audit.Kept(e) // whose detail is its own
	e.Detail[key] = strconv.Itoa(n)
	return e
}

// Horizon implements [broker.Pruner].
func (s *Store) Horizon(ctx context.Context) (int64, error) {
	through, err := readOne(ctx, s, scalar[int64], readHorizon)
	if err != nil {
		return 0, fmt.Errorf("reading where the audit log begins: %w", err)
	}
	return through, nil
}

// CountPrunable implements [broker.Pruner].
func (s *Store) CountPrunable(ctx context.Context, o broker.Outdated, most int) (broker.Prunable, error) {
	var n broker.Prunable
	var err error
	if n.Leases, err = readOne(ctx, s, scalar[int], countEnded, stamp(o.Leases), most); err == nil {
		n.Jobs, err = readOne(ctx, s, scalar[int], countDone, stamp(o.Jobs), most)
	}
	if err == nil {
		n.Entries, err = readOne(ctx, s, scalar[int], countEntries, stamp(o.Entries), o.UpTo, most)
	}
	if err != nil {
		return broker.Prunable{}, fmt.Errorf("counting what can be removed: %w", err)
	}
	return n, nil
}

package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// busy is the condition that a lease needs the epoch of a grant. Should two grants have drawn the same
// number, both are kept for as long as one is needed.
const busy = `EXISTS (SELECT FROM live_leases l WHERE l.vim = g.vim AND l.epoch = g.epoch AND l.state <> 'irrevocable')`

const (
	openEpoch = `SELECT epoch FROM grants WHERE vim = $1 AND digest = $2 AND state = 'open'`
	lastEpoch = `SELECT coalesce(max(epoch), 0)::bigint FROM grants WHERE vim = $1 AND digest = $2`

	grantsInUse = `UPDATE grants AS g SET idle_since = '-infinity' WHERE state = 'open' AND idle_since > '-infinity' AND ` + busy
	grantsIdle  = `UPDATE grants AS g SET idle_since = $1 WHERE state = 'open' AND idle_since = '-infinity' AND NOT ` + busy
	idleVIMs    = `SELECT DISTINCT vim FROM grants WHERE state = 'open' AND idle_since > '-infinity' AND idle_since <= $1`
	closeGrants = `UPDATE grants AS g SET state = 'closing'
		WHERE vim = $1 AND state = 'open' AND idle_since > '-infinity' AND idle_since <= $2 AND NOT ` + busy

	forgetGrant = `UPDATE grants SET state = 'closed' WHERE vim = $1 AND digest = $2 AND epoch = $3 AND state = 'closing'`
	dropGrants  = `DELETE FROM grants AS g WHERE vim = $1 AND digest = $2 AND state = 'closed'
		AND epoch < (SELECT max(epoch) FROM grants n WHERE n.vim = g.vim AND n.digest = g.digest)`
)

var (
	insertGrant  = numbered(rows.GrantColumns.Insert(`grants`))
	closedGrants = `SELECT ` + rows.GrantColumns.Names() + ` FROM grants WHERE state = 'closing' ORDER BY vim, digest, epoch`
)

// epochOf returns the open epoch of a lease's grant, and opens the next one if none is
// open. The VIM must be shared, so that no transaction closes the epoch meanwhile.
func (t txn) epochOf(l broker.Lease, open []int64) (int64, error) {
	if len(open) > 0 {
		return open[0], nil
	}
	t.lock(lockGrant, l.VIM, l.GrantDigest)
	open, err := query(t, scalar[int64], openEpoch, l.VIM, l.GrantDigest)
	if err != nil || len(open) > 0 {
		return slices.Concat(open, []int64{0})[0], err
	}
	last, err := query(t, scalar[int64], lastEpoch, l.VIM, l.GrantDigest)
	if err != nil {
		return 0, err
	}
	g, err := rows.NewGrant(l, last[0])
	if err != nil {
		return 0, err
	}
	t.queue(insertGrant, values(rows.GrantColumns.Fields(&g))...)
	return g.Epoch, nil
}

// CloseIdleGrants closes the epochs that no lease needs.
func (s *Store) CloseIdleGrants(ctx context.Context, now time.Time, idle time.Duration) ([]broker.GrantEpoch, error) {
	closed, err := s.closeIdleGrants(ctx, now, now.Add(-idle))
	if err != nil {
		return nil, fmt.Errorf("closing grants that no lease needs: %w", err)
	}
	return closed, nil
}

func (s *Store) closeIdleGrants(ctx context.Context, now, before time.Time) ([]broker.GrantEpoch, error) {
	err := s.change(ctx, func(t txn) error {
		t.queue(grantsInUse)
		t.queue(grantsIdle, stamp(now))
		return nil
	})
	if err != nil {
		return nil, err
	}
	vims, err := read(ctx, s, scalar[string], idleVIMs, stamp(before))
	if err != nil {
		return nil, err
	}
	for _, vim := range vims {
		err := s.change(ctx, func(t txn) error {
			t.lock(lockVIM, vim) // no lease is created on it now
			t.queue(closeGrants, vim, stamp(before))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return read(ctx, s, scanGrant, closedGrants)
}

func scanGrant(row pgx.CollectableRow) (broker.GrantEpoch, error) {
	var g rows.GrantEpoch
	err := scan(row, rows.GrantColumns.Fields(&g), &g.Damaged)
	return g.GrantEpoch, err
}

// ForgetGrant says that a closed epoch was tidied away.
func (s *Store) ForgetGrant(ctx context.Context, g broker.GrantEpoch) error {
	err := s.change(ctx, func(t txn) error {
		t.queue(forgetGrant, g.VIM, g.Digest, g.Epoch)
		t.queue(dropGrants, g.VIM, g.Digest)
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgetting a grant on VIM %s: %w", g.VIM, err)
	}
	return nil
}

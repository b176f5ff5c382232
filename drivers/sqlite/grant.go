package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// busy is the condition that a lease needs the epoch of a grant.
const busy = `EXISTS (SELECT 1 FROM leases l INDEXED BY lease_live_by_grant
	WHERE l.vim = g.vim AND l.grant_digest = g.digest AND l.epoch = g.epoch AND l.grant_digest <> ''
	AND l.live = 1 AND l.state <> 'irrevocable')`

var (
	lastEpoch   = prepared(`SELECT epoch, state FROM grants WHERE vim = ? AND digest = ? ORDER BY epoch DESC LIMIT 1`)
	insertGrant = prepared(rows.GrantColumns.Insert(`grants`))

	grantsInUse  = prepared(`UPDATE grants AS g SET idle_since = 0 WHERE state = 'open' AND idle_since > 0 AND ` + busy)
	grantsIdle   = prepared(`UPDATE grants AS g SET idle_since = ? WHERE state = 'open' AND idle_since = 0 AND NOT ` + busy)
	closeGrants  = prepared(`UPDATE grants SET state = 'closing' WHERE state = 'open' AND idle_since > 0 AND idle_since <= ?`)
	closedGrants = prepared(`SELECT ` + rows.GrantColumns.Names() + ` FROM grants WHERE state = 'closing' ORDER BY vim, digest, epoch`)

	forgetGrant = prepared(`UPDATE grants SET state = 'closed' WHERE vim = ? AND digest = ? AND epoch = ? AND state = 'closing'`)
	dropGrants  = prepared(`DELETE FROM grants AS g WHERE vim = ? AND digest = ? AND state = 'closed'
		AND epoch < (SELECT max(epoch) FROM grants n WHERE n.vim = g.vim AND n.digest = g.digest)`)
)

// openEpoch returns the open epoch of a lease's grant, and opens the next one if
// there is none.
func (t txn) openEpoch(l broker.Lease) (int64, error) {
	var epoch int64
	var state string
	err := t.queryRow(lastEpoch, l.VIM, l.GrantDigest).Scan(&epoch, &state)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return 0, translate(err)
	case state == rows.GrantOpen:
		return epoch, nil
	}
	g, err := rows.NewGrant(l, epoch)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(insertGrant, values(rows.GrantColumns.Fields(&g))...)
	return g.Epoch, err
}

// CloseIdleGrants closes the epochs that no lease needs.
func (s *Store) CloseIdleGrants(ctx context.Context, now time.Time, idle time.Duration) ([]broker.GrantEpoch, error) {
	var closed []broker.GrantEpoch
	err := s.write(ctx, func(t txn) error {
		if _, err := t.exec(grantsInUse); err != nil {
			return err
		}
		if _, err := t.exec(grantsIdle, rows.Micro(now)); err != nil {
			return err
		}
		if _, err := t.exec(closeGrants, rows.Micro(now.Add(-idle))); err != nil {
			return err
		}
		found, err := t.query(closedGrants)
		closed, err = collect(found, err, func(row *sql.Rows) (broker.GrantEpoch, error) {
			var g rows.GrantEpoch
			err := scan(row, rows.GrantColumns.Fields(&g), &g.Damaged)
			return g.GrantEpoch, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("closing grants that no lease needs: %w", err)
	}
	return closed, nil
}

// ForgetGrant says that a closed epoch was tidied away.
func (s *Store) ForgetGrant(ctx context.Context, g broker.GrantEpoch) error {
	err := s.write(ctx, func(t txn) error {
		if _, err := t.exec(forgetGrant, g.VIM, g.Digest, g.Epoch); err != nil {
			return err
		}
		_, err := t.exec(dropGrants, g.VIM, g.Digest)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting a grant on VIM %s: %w", g.VIM, err)
	}
	return nil
}

package tables

import (
	"context"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// ofBusy is a statement about grants of which BUSY stands for the condition that a lease needs the epoch. Should two
// grants have drawn the same number, both are kept for as long as one is needed.
func ofBusy(text string) string {
	return statement(either(
		strings.Replace(text, `BUSY`, `EXISTS (SELECT 1 FROM live_leases l WHERE l.vim = g.vim AND l.epoch = g.epoch
			AND l.state <> 'irrevocable')`, 1),
		strings.Replace(text, `BUSY`, `EXISTS (SELECT 1 FROM leases l INDEXED BY lease_live_by_grant WHERE l.vim = g.vim
			AND l.grant_digest = g.digest AND l.epoch = g.epoch AND l.grant_digest <> '' AND l.live = 1 AND l.state <> 'irrevocable')`, 1)))
}

var (
	openEpoch   = statement(`SELECT epoch FROM grants WHERE vim = ?1 AND digest = ?2 AND state = 'open'`)
	lastEpoch   = statement(`SELECT coalesce(max(epoch), 0)::bigint FROM grants WHERE vim = ?1 AND digest = ?2`)
	insertGrant = statement(rows.GrantColumns.Insert(`grants`))

	grantsInUse = ofBusy(`UPDATE grants AS g SET idle_since = '-infinity' WHERE state = 'open' AND idle_since > '-infinity' AND BUSY`)
	grantsIdle  = ofBusy(`UPDATE grants AS g SET idle_since = ?1 WHERE state = 'open' AND idle_since = '-infinity' AND NOT BUSY`)
	idleVIMs    = statement(`SELECT DISTINCT vim FROM grants WHERE state = 'open' AND idle_since > '-infinity' AND idle_since <= ?1`)
	closeGrants = ofBusy(`UPDATE grants AS g/*by grant_open_once*/ SET state = 'closing'
		WHERE vim = ?1 AND state = 'open' AND idle_since > '-infinity' AND idle_since <= ?2 AND NOT BUSY`)
	closedGrants = statement(`SELECT ` + rows.GrantColumns.Names() + ` FROM grants WHERE state = 'closing' ORDER BY vim, digest, epoch`)

	forgetGrant = statement(`UPDATE grants SET state = 'closed' WHERE vim = ?1 AND digest = ?2 AND epoch = ?3 AND state = 'closing'`)
	dropGrants  = statement(`DELETE FROM grants AS g WHERE vim = ?1 AND digest = ?2 AND state = 'closed'
		AND epoch < (SELECT max(epoch) FROM grants n WHERE n.vim = g.vim AND n.digest = g.digest)`)
)

// epochOf looks for the open epoch of a lease's grant. What it returns opens the next one if none is open: 0 for a lease
// without a grant. The VIM must be shared, so that no transaction closes the epoch meanwhile.
func (t Tx) epochOf(l broker.Lease) func() (int64, error) {
	if l.GrantDigest == "" {
		return func() (int64, error) { return 0, nil }
	}
	var open []int64
	need := t.Ahead(collect(scalar[int64], &open), openEpoch, l.VIM, l.GrantDigest)
	return func() (int64, error) {
		if err := need(); err != nil {
			return 0, err
		}
		if len(open) > 0 {
			return open[0], nil
		}
		t.lock(lockGrant, l.VIM, l.GrantDigest)
		open, err := query(t, scalar[int64], openEpoch, l.VIM, l.GrantDigest)
		if err != nil || len(open) > 0 {
			return append(open, 0)[0], err
		}
		last, err := t.count(lastEpoch, l.VIM, l.GrantDigest)
		if err != nil {
			return 0, err
		}
		g, err := rows.NewGrant(l, last)
		if err != nil {
			return 0, err
		}
		t.queue(insertGrant, rows.GrantColumns.Values(&g)...)
		return g.Epoch, nil
	}
}

// CloseIdleGrants closes the epochs that no lease needs.
func (s *Tables) CloseIdleGrants(ctx context.Context, now time.Time, idle time.Duration) ([]broker.GrantEpoch, error) {
	closed, err := s.closeIdleGrants(ctx, now, now.Add(-idle))
	return closed, doing(err, "closing grants that no lease needs")
}

func (s *Tables) closeIdleGrants(ctx context.Context, now, before time.Time) ([]broker.GrantEpoch, error) {
	err := s.change(ctx, func(t Tx) error {
		t.queue(grantsInUse)
		t.queue(grantsIdle, now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	vims, err := read(ctx, s, scalar[string], idleVIMs, before)
	if err != nil {
		return nil, err
	}
	for _, vim := range vims {
		err := s.change(ctx, func(t Tx) error {
			t.lock(LockVIM, vim) // no lease is created on it now
			t.queue(closeGrants, vim, before)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return read(ctx, s, func(row Row) (broker.GrantEpoch, error) {
		var g rows.GrantEpoch
		err := row.Spare(&g.Damaged, rows.GrantColumns.Fields(&g)...)
		return g.GrantEpoch, err
	}, closedGrants)
}

// ForgetGrant says that a closed epoch was tidied away.
func (s *Tables) ForgetGrant(ctx context.Context, g broker.GrantEpoch) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(forgetGrant, g.VIM, g.Digest, g.Epoch)
		t.queue(dropGrants, g.VIM, g.Digest)
		return nil
	})
	return doing(err, "forgetting a grant on VIM %s", g.VIM)
}

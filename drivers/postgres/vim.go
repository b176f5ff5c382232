package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	vimKeyTaken  = `SELECT FROM vims WHERE created_by = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
	notReachable = `SELECT FROM vims WHERE id = $1 AND generation = $2 AND health <> 'reachable' FOR UPDATE`
	deleteVIM    = `DELETE FROM vims WHERE id = $1`
	// lockVIMRow is against SetHealth, which takes no other lock.
	lockVIMRow     = `SELECT FROM vims WHERE id = $1 FOR UPDATE`
	liveOnVIM      = `SELECT FROM live_leases WHERE vim = $1 LIMIT 1`
	revocableOnVIM = `SELECT FROM live_leases WHERE vim = $1 AND state <> 'irrevocable' LIMIT 1`
	// sealedOnVIM is the condition that a credential is sealed: of a lease that is live, or
	// is still to be tried.
	sealedOnVIM = `id IN (SELECT id FROM live_leases WHERE vim = $1 UNION SELECT id FROM lease_turns WHERE vim = $1) AND sealed <> ''`
	// unsealLeases drops credentials that no key will open again.
	unsealLeases = `UPDATE leases SET sealed = '' WHERE ` + sealedOnVIM

	insertLabel  = `INSERT INTO vim_labels (vim, key, value) VALUES ($1, $2, $3)`
	deleteLabels = `DELETE FROM vim_labels WHERE vim = $1`
	insertShare  = `INSERT INTO vim_shares (shared_with, vim_project, vim_name) VALUES ($1, $2, $3)`
	deleteShares = `DELETE FROM vim_shares WHERE vim_name = $1 AND vim_project = $2`
)

var (
	changingVIM  = rows.VIMColumns.Changing()
	insertVIM    = numbered(rows.VIMColumns.Insert(`vims`))
	countVIMs    = `SELECT count(*)::int FROM (SELECT 1 FROM vims WHERE project = $1 LIMIT $2) AS vim`
	updateVIM    = numbered(`UPDATE vims SET ` + changingVIM.Set() + ` WHERE id = ?`)
	updateHealth = numbered(`UPDATE vims SET ` + rows.HealthColumns.Set() + ` WHERE id = ? AND generation = ?`)
)

// CreateVIM stores a new VIM.
func (s *Store) CreateVIM(ctx context.Context, v broker.VIM, most int, e audit.Entry) error {
	v.Revision = 1
	err := s.write(ctx, e, func(t txn) error {
		// First: a request that is repeated breaks the other rules too.
		if err := t.first(rows.VIMKey, vimKeyTaken, v.CreatedBy, v.IdempotencyKey); err != nil {
			return err
		}
		if most > 0 {
			t.lock(lockVIMs, v.Project)
			counts, err := query(t, scalar[int], countVIMs, v.Project, most)
			if err != nil {
				return err
			}
			if counts[0] >= most {
				return rows.VIMsUsedUp(most)
			}
		}
		t.queue(insertVIM, values(rows.VIMColumns.Fields(rows.OfVIM(v)))...)
		t.setLabels(v.ID, v.Labels)
		t.setShares(v)
		if v.Current.Number != 0 {
			t.addGeneration(v.ID, v.Current)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("creating VIM %s: %w", v.ID, err)
	}
	return nil
}

// hold locks a VIM against everyone else, and reports whether it is there.
func (t txn) hold(id string) (bool, error) {
	t.lock(lockVIM, id)
	return t.any(lockVIMRow, id)
}

// UpdateVIM changes a VIM by a function. Changes to ID, Project, CreatedBy, CreatedAt,
// Revision and Past are ignored.
func (s *Store) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	return s.updateVIM(ctx, id, func(txn) error { return nil }, change, e)
}

// UpdateIdleVIM is UpdateVIM while nothing stands on the VIM and, without leased, no lease on it is live.
func (s *Store) UpdateIdleVIM(
	ctx context.Context, id string, leased bool, change func(*broker.VIM) error, e audit.Entry,
) (broker.VIM, error) {
	return s.updateVIM(ctx, id, func(t txn) error {
		if err := t.shared().Unused(id); err != nil || leased {
			return err
		}
		live, err := t.any(liveOnVIM, id)
		if err != nil || live {
			return orLive(err)
		}
		return nil
	}, change, e)
}

func (s *Store) updateVIM(
	ctx context.Context, id string, idle func(txn) error, change func(*broker.VIM) error, e audit.Entry,
) (broker.VIM, error) {
	var stored broker.VIM
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, e, func(t txn) error {
		if _, err := t.hold(id); err != nil {
			return err
		}
		v, err := t.vim(id)
		if err != nil {
			return err
		}
		old := v
		old.Labels, old.SharedWith = maps.Clone(v.Labels), slices.Clone(v.SharedWith) // change may write into them
		if refusal = change(&v); refusal != nil {
			return refusal
		}
		if err := rows.MoveVIM(old.State, v.State); err != nil {
			return err
		}
		if err := idle(t); err != nil {
			return err
		}
		v.Revision = old.Revision + 1
		t.queue(updateVIM, append(values(changingVIM.Fields(rows.OfVIM(v))), id)...)
		if err := t.replaceGeneration(old, v.Current, v.UpdatedAt); err != nil {
			return err
		}
		if !maps.Equal(old.Labels, v.Labels) {
			t.queue(deleteLabels, id)
			t.setLabels(id, v.Labels)
		}
		if !slices.Equal(old.SharedWith, v.SharedWith) {
			v.Project = old.Project
			t.queue(deleteShares, v.Name, v.Project)
			t.setShares(v)
		}
		stored, err = t.vim(id)
		return err
	})
	if refusal != nil {
		return broker.VIM{}, refusal
	}
	if err != nil {
		return broker.VIM{}, fmt.Errorf("updating VIM %s: %w", id, err)
	}
	return stored, nil
}

// DeleteVIM removes a VIM that no lease needs any more.
func (s *Store) DeleteVIM(ctx context.Context, id string, force bool, e audit.Entry) error {
	held := liveOnVIM
	if force {
		held = revocableOnVIM
	}
	err := s.write(ctx, e, func(t txn) error {
		switch there, err := t.hold(id); {
		case err != nil:
			return err
		case !there:
			return errNothing
		}
		if !force {
			if err := t.shared().Unused(id); err != nil {
				return err
			}
		}
		if live, err := t.any(held, id); err != nil || live {
			return orLive(err)
		}
		t.shared().DropUses(id)
		t.queue(unsealLeases, id)
		t.shared().RetireKeys(id)
		t.queue(deleteVIM, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("deleting VIM %s: %w", id, err)
	}
	return nil
}

// SetHealth records what a check found, of the generation that was checked.
func (s *Store) SetHealth(ctx context.Context, id string, generation int64, h broker.Health) error {
	err := s.change(ctx, func(t txn) error {
		back := false
		if h.Status == broker.HealthReachable {
			var err error
			if back, err = t.any(notReachable, id, generation); err != nil {
				return err
			}
		}
		found := values(rows.HealthColumns.Fields(rows.OfVIM(broker.VIM{Health: h})))
		if err := t.one("VIM", updateHealth, append(found, id, generation)...); err != nil || !back {
			return err
		}
		t.resume(id, h.CheckedAt)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording health of VIM %s: %w", id, err)
	}
	return nil
}

// orLive is err, or else says that leases live.
func orLive(err error) error {
	if err != nil {
		return err
	}
	return broker.LeasesLive()
}

func (t txn) setShares(v broker.VIM) {
	for _, project := range v.SharedWith {
		t.queue(insertShare, project, v.Project, v.Name)
	}
}

func (t txn) setLabels(vim string, labels map[string]string) {
	for k, v := range labels {
		t.queue(insertLabel, vim, k, v)
	}
}

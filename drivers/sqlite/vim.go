package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	vimIDByKey = `SELECT id FROM vims WHERE created_by = ? AND idempotency_key = ? AND idempotency_key <> ''`
	vimByKey   = prepared(vimIDByKey)

	changingVIM  = rows.VIMColumns.Changing()
	insertVIM    = prepared(rows.VIMColumns.Insert(`vims`))
	countVIMs    = prepared(`SELECT count(*) FROM (SELECT 1 FROM vims WHERE project = ? LIMIT ?)`)
	updateVIM    = prepared(`UPDATE vims SET ` + changingVIM.Set() + ` WHERE id = ?`)
	updateHealth = prepared(`UPDATE vims SET ` + rows.HealthColumns.Set() + ` WHERE id = ? AND generation = ?`)
	notReachable = prepared(`SELECT 1 FROM vims WHERE id = ? AND generation = ? AND health <> 'reachable'`)
	deleteVIM    = prepared(`DELETE FROM vims WHERE id = ?`)
	vimThere     = prepared(`SELECT 1 FROM vims WHERE id = ?`)
	liveOnVIM    = prepared(`SELECT 1 FROM leases INDEXED BY lease_live_by_vim
		WHERE vim = ? AND live = 1 LIMIT 1`)
	revocableOnVIM = prepared(`SELECT 1 FROM leases INDEXED BY lease_live_by_vim
		WHERE vim = ? AND live = 1 AND state <> 'irrevocable' LIMIT 1`)
	// unsealLeases drops credentials that no key will open again.
	unsealLeases = prepared(`UPDATE leases INDEXED BY lease_needs_generation SET sealed = ''
		WHERE vim = ? AND (live = 1 OR sealed <> '') AND sealed <> ''`)

	insertLabel  = prepared(`INSERT INTO vim_labels (vim, key, value) VALUES (?, ?, ?)`)
	deleteLabels = prepared(`DELETE FROM vim_labels WHERE vim = ?`)
	insertShare  = prepared(`INSERT INTO vim_shares (shared_with, vim_project, vim_name) VALUES (?, ?, ?)`)
	deleteShares = prepared(`DELETE FROM vim_shares WHERE vim_name = ? AND vim_project = ?`)
)

// CreateVIM stores a new VIM.
func (s *Store) CreateVIM(ctx context.Context, v broker.VIM, most int, e audit.Entry) error {
	v.Revision = 1
	err := s.write(ctx, func(t txn) error {
		// First: a request that is repeated breaks the other rules too.
		if found, err := t.any(vimByKey, v.CreatedBy, v.IdempotencyKey); err != nil || found {
			return orTaken(err, rows.VIMKey)
		}
		if most > 0 {
			var n int
			if err := t.queryRow(countVIMs, v.Project, most).Scan(&n); err != nil {
				return translate(err)
			}
			if n >= most {
				return rows.VIMsUsedUp(most)
			}
		}
		if _, err := t.exec(insertVIM, values(rows.VIMColumns.Fields(rows.OfVIM(v)))...); err != nil {
			return err
		}
		if err := t.setLabels(v.ID, v.Labels); err != nil {
			return err
		}
		if err := t.setShares(v); err != nil {
			return err
		}
		if v.Current.Number != 0 {
			if err := t.addGeneration(v.ID, v.Current); err != nil {
				return err
			}
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("creating VIM %s: %w", v.ID, err)
	}
	return nil
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
	err := s.write(ctx, func(t txn) error {
		old, err := t.vim(id)
		if err != nil {
			return err
		}
		v, err := t.vim(id) // a second copy: change may write into its maps
		if err != nil {
			return err
		}
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
		if _, err := t.exec(updateVIM, append(values(changingVIM.Fields(rows.OfVIM(v))), id)...); err != nil {
			return err
		}
		if err := t.replaceGeneration(old, v.Current, v.UpdatedAt); err != nil {
			return err
		}
		if err := t.changeLabels(id, old.Labels, v.Labels); err != nil {
			return err
		}
		if !slices.Equal(old.SharedWith, v.SharedWith) {
			if _, err := t.exec(deleteShares, v.Name, old.Project); err != nil {
				return err
			}
			v.Project = old.Project
			if err := t.setShares(v); err != nil {
				return err
			}
		}
		if err := t.append(e); err != nil {
			return err
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
	err := s.write(ctx, func(t txn) error {
		if there, err := t.any(vimThere, id); err != nil || !there {
			return err
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
		if _, err := t.exec(unsealLeases, id); err != nil {
			return err
		}
		t.shared().RetireKeys(id)
		if _, err := t.exec(deleteVIM, id); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("deleting VIM %s: %w", id, err)
	}
	return nil
}

// SetHealth records what a check found, of the generation that was checked.
func (s *Store) SetHealth(ctx context.Context, id string, generation int64, h broker.Health) error {
	err := s.write(ctx, func(t txn) error {
		if h.Status == broker.HealthReachable {
			back, err := t.any(notReachable, id, generation)
			if err != nil {
				return err
			}
			if back {
				if err := t.resume(id, h.CheckedAt); err != nil {
					return err
				}
			}
		}
		found := values(rows.HealthColumns.Fields(rows.OfVIM(broker.VIM{Health: h})))
		return t.one("VIM", updateHealth, append(found, id, generation)...)
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

func (t txn) changeLabels(vim string, old, now map[string]string) error {
	if maps.Equal(old, now) {
		return nil
	}
	if _, err := t.exec(deleteLabels, vim); err != nil {
		return err
	}
	return t.setLabels(vim, now)
}

func (t txn) setShares(v broker.VIM) error {
	for _, project := range v.SharedWith {
		if _, err := t.exec(insertShare, project, v.Project, v.Name); err != nil {
			return err
		}
	}
	return nil
}

func (t txn) setLabels(vim string, labels map[string]string) error {
	for k, v := range labels {
		if _, err := t.exec(insertLabel, vim, k, v); err != nil {
			return err
		}
	}
	return nil
}

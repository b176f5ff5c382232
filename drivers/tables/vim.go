package tables

import (
	"context"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// VIMColumns are read from vims v LEFT JOIN vim_generations g: one row for each
// generation, in the order of their numbers.
var VIMColumns = joined(`v`, rows.VIMColumns) + `, ` + joined(`g`, rows.GenerationColumns) +
	`, (SELECT json_object_agg(l.key, l.value) FROM vim_labels l WHERE l.vim = v.id)` +
	`, ARRAY(SELECT s.shared_with FROM vim_shares s WHERE s.vim_project = v.project AND s.vim_name = v.name)`

var (
	vimByID = statement(`SELECT ` + VIMColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.id = ?1 ORDER BY g.number`)
	vimByKey = statement(`SELECT ` + VIMColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.created_by = ?1 AND v.idempotency_key = ?2 AND v.idempotency_key <> '' ORDER BY g.number`)
	vimKeyTaken = statement(`SELECT 1 FROM vims WHERE created_by = ?1 AND idempotency_key = ?2 AND idempotency_key <> ''`)
	// lockVIMRow is against SetHealth, which takes no other lock.
	lockVIMRow     = statement(`SELECT 1 FROM vims WHERE id = ?1 FOR UPDATE`)
	notReachable   = statement(`SELECT 1 FROM vims WHERE id = ?1 AND generation = ?2 AND health <> 'reachable' FOR UPDATE`)
	liveOnVIM      = statement(either(liveOf+` LIMIT 1`, liveOfVIM+` LIMIT 1`))
	revocableOnVIM = statement(either(liveOf+` AND state <> 'irrevocable' LIMIT 1`, liveOfVIM+` AND state <> 'irrevocable' LIMIT 1`))
	// unsealLeases drops credentials that no key will open again.
	unsealLeases = statement(either(`UPDATE leases SET sealed = '' WHERE `+sealedOnVIM,
		`UPDATE leases INDEXED BY lease_needs_generation SET sealed = '' WHERE `+sealedOf))

	insertLabel  = statement(`INSERT INTO vim_labels (vim, key, value) VALUES (?, ?, ?)`)
	deleteLabels = statement(`DELETE FROM vim_labels WHERE vim = ?`)
	insertShare  = statement(`INSERT INTO vim_shares (shared_with, vim_project, vim_name) VALUES (?, ?, ?)`)
	deleteShares = statement(`DELETE FROM vim_shares WHERE vim_name = ? AND vim_project = ?`)
	deleteVIM    = statement(`DELETE FROM vims WHERE id = ?`)

	changingVIM  = rows.VIMColumns.Changing()
	insertVIM    = statement(rows.VIMColumns.Insert(`vims`))
	updateVIM    = statement(`UPDATE vims SET ` + changingVIM.Set() + ` WHERE id = ?`)
	updateHealth = statement(`UPDATE vims SET ` + rows.HealthColumns.Set() + ` WHERE id = ? AND generation = ?`)

	sealedLeases = statement(either(`SELECT `+LeaseColumns+` FROM leases WHERE `+sealedOnVIM+` FOR UPDATE`,
		`SELECT `+LeaseColumns+` FROM leases INDEXED BY lease_needs_generation WHERE `+sealedOf))
	rekeyVIM = statement(`UPDATE vims SET ` + rows.RekeyColumns.Set() + ` WHERE id = ?`)
	rekeyOne = statement(`UPDATE vim_generations SET sealed = ?, sealed_as = ?, key_ref = ?, key_store = ? WHERE vim = ? AND number = ?`)
	resealed = statement(`UPDATE leases SET sealed = ?, sealed_key = ? WHERE id = ?`)
)

const (
	liveOf    = `SELECT 1 FROM live_leases WHERE vim = ?1`
	liveOfVIM = `SELECT 1 FROM leases INDEXED BY lease_live_by_vim WHERE vim = ?1 AND live = 1`
	// sealedOnVIM is the condition that a credential is sealed: of a lease that is live, or
	// is still to be tried.
	sealedOnVIM = `id IN (SELECT id FROM live_leases WHERE vim = ?1 UNION SELECT id FROM lease_turns WHERE vim = ?1) AND sealed <> ''`
	sealedOf    = `vim = ?1 AND (live = 1 OR sealed <> '') AND sealed <> ''`
)

// joined lists the columns of a table that a LEFT JOIN may have no row of.
func joined[T any](alias string, columns rows.Columns[T]) string {
	var zero T
	text := ``
	for i, field := range columns.Fields(&zero) {
		if i > 0 {
			text += `, `
		}
		text += `coalesce(` + alias + `.` + columns[i].Name + `, ` + rows.Zero(field) + `)`
	}
	return text
}

// VIM returns one by its id.
func (s *Tables) VIM(ctx context.Context, id string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIMs(), vimByID, id))
	return v, doing(err, "reading VIM %s", id)
}

// VIMByKey returns the VIM that a principal registered under an idempotency key.
func (s *Tables) VIMByKey(ctx context.Context, principal, key string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIMs(), vimByKey, principal, key))
	return v, doing(err, "reading the VIM of an idempotency key")
}

func (t Tx) vim(id string) (broker.VIM, error) { return oneVIM(query(t, scanVIMs(), vimByID, id)) }

func oneVIM(found []rows.VIM, err error) (broker.VIM, error) {
	return rows.Sound(rows.First("VIM", rows.Gather(found), err))
}

// scanVIMs returns what scans rows one after the other, always into the same memory.
func scanVIMs() func(Row) (rows.VIM, error) {
	var r rows.VIM
	into := slices.Concat(rows.VIMColumns.Fields(&r), rows.GenerationColumns.Fields(&r.Generation), []any{&r.VIM.Labels, &r.VIM.SharedWith})
	return func(row Row) (rows.VIM, error) {
		r = rows.VIM{}
		err := row.Spare(&r.VIM.Damaged, into...)
		return r, err
	}
}

// VIMs lists by project and name.
func (s *Tables) VIMs(ctx context.Context, f broker.VIMFilter) ([]broker.VIM, string, error) {
	text, args, size, err := s.db.VIMQuery(f)
	if err != nil {
		return nil, "", doing(err, "listing VIMs")
	}
	query := read[rows.VIM]
	if f.ID != "" || f.Name != "" {
		query = lookUp[rows.VIM]
	}
	found, err := query(ctx, s, scanVIMs(), text, args...)
	if err != nil {
		return nil, "", doing(err, "listing VIMs")
	}
	vims, next := rows.VIMOrder.Cut(rows.Gather(found), size)
	return vims, next, nil
}

// CreateVIM stores a new VIM.
func (s *Tables) CreateVIM(ctx context.Context, v broker.VIM, most int, e audit.Entry) error {
	v.Revision = 1
	err := s.write(ctx, e, func(t Tx) error {
		// First: a request that is repeated breaks the other rules too.
		if err := t.first(rows.VIMKey, vimKeyTaken, v.CreatedBy, v.IdempotencyKey); err != nil {
			return err
		}
		if err := t.room(vimQuota, v.Project, 1, most); err != nil {
			return err
		}
		t.queue(insertVIM, rows.VIMColumns.Values(rows.OfVIM(v))...)
		t.setLabels(v.ID, v.Labels)
		t.setShares(v)
		if v.Current.Number != 0 {
			t.addGeneration(v.ID, v.Current)
		}
		return nil
	})
	return doing(err, "creating VIM %s", v.ID)
}

// hold locks a VIM against everyone else, and reports whether it is there.
func (t Tx) hold(id string) (bool, error) {
	t.lock(LockVIM, id)
	return t.there(lockVIMRow, id)
}

// heldVIM locks and reads a VIM.
func (t Tx) heldVIM(id string) (broker.VIM, error) {
	if _, err := t.hold(id); err != nil {
		return broker.VIM{}, err
	}
	return t.vim(id)
}

// UpdateVIM changes a VIM by a function. Changes to ID, Project, CreatedBy, CreatedAt,
// Revision and Past are ignored.
func (s *Tables) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	return s.updateVIM(ctx, id, func(Tx) error { return nil }, change, e)
}

// UpdateIdleVIM is UpdateVIM while nothing stands on the VIM and, without leased, no lease on it is live.
func (s *Tables) UpdateIdleVIM(
	ctx context.Context, id string, leased bool, change func(*broker.VIM) error, e audit.Entry,
) (broker.VIM, error) {
	return s.updateVIM(ctx, id, func(t Tx) error {
		if err := t.unused(id); err != nil || leased {
			return err
		}
		return t.unleased(liveOnVIM, id)
	}, change, e)
}

// unleased is [broker.LeasesLive] if a query finds a lease on a VIM.
func (t Tx) unleased(text, vim string) error {
	live, err := t.there(text, vim)
	if err == nil && live {
		err = broker.LeasesLive()
	}
	return err
}

func (s *Tables) updateVIM(
	ctx context.Context, id string, idle func(Tx) error, change func(*broker.VIM) error, e audit.Entry,
) (broker.VIM, error) {
	read := func(t Tx) (broker.VIM, error) { return t.heldVIM(id) }
	changeCopy := func(v *broker.VIM) error {
		v.Labels, v.SharedWith = maps.Clone(v.Labels), slices.Clone(v.SharedWith) // change may write into them
		return change(v)
	}
	return amend(ctx, s.recording(e), "updating VIM "+id, read, changeCopy, func(t Tx, old, v broker.VIM) (broker.VIM, error) {
		if err := rows.Move("a VIM", old.State, v.State); err != nil {
			return v, err
		}
		if err := idle(t); err != nil {
			return v, err
		}
		v.Revision = old.Revision + 1
		t.queue(updateVIM, append(changingVIM.Values(rows.OfVIM(v)), id)...)
		if err := t.replaceGeneration(old, v.Current, v.UpdatedAt); err != nil {
			return v, err
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
		return t.vim(id)
	})
}

// Rekey reseals the generations of a VIM, and everything sealed with their keys.
func (s *Tables) Rekey(ctx context.Context, id string, change func(*broker.VIM, []broker.Lease) error, e audit.Entry) (broker.VIM, error) {
	var leases []broker.Lease
	read := func(t Tx) (v broker.VIM, err error) {
		if v, err = t.heldVIM(id); err == nil {
			leases, err = query(t, scanLeases(), sealedLeases, id)
		}
		return v, err
	}
	changeBoth := func(v *broker.VIM) error { return change(v, leases) }
	return amend(ctx, s.recording(e), "sealing VIM "+id+" anew", read, changeBoth, func(t Tx, old, v broker.VIM) (broker.VIM, error) {
		for _, g := range append(v.Past, v.Current) {
			t.queue(retireReplacedKey, t.Now(), id, g.Number, g.Key)
			t.queue(rekeyOne, g.Sealed, g.SealedAs, g.Key, g.KeyStore, id, g.Number)
		}
		for _, l := range leases {
			t.queue(resealed, t.Stow(l.ID, l.Sealed), l.SealedKey, l.ID)
		}
		v.Revision = old.Revision + 1
		t.queue(rekeyVIM, append(rows.RekeyColumns.Values(rows.OfVIM(v)), id)...)
		return t.vim(id)
	})
}

// DeleteVIM removes a VIM that no lease needs any more.
func (s *Tables) DeleteVIM(ctx context.Context, id string, force bool, e audit.Entry) error {
	held := liveOnVIM
	if force {
		held = revocableOnVIM
	}
	err := s.write(ctx, e, func(t Tx) error {
		switch there, err := t.hold(id); {
		case err != nil:
			return err
		case !there:
			return ErrNothing
		}
		if !force {
			if err := t.unused(id); err != nil {
				return err
			}
		}
		if err := t.unleased(held, id); err != nil {
			return err
		}
		t.queue(dropUsesOfVIM, id)
		t.queue(unsealLeases, id)
		t.queue(retireKeysOfVIM, t.Now(), id)
		t.queue(deleteVIM, id)
		return nil
	})
	return doing(err, "deleting VIM %s", id)
}

// SetHealth records what a check found, of the generation that was checked.
func (s *Tables) SetHealth(ctx context.Context, id string, generation int64, h broker.Health) error {
	err := s.change(ctx, func(t Tx) error {
		back := false
		if h.Status == broker.HealthReachable {
			var err error
			if back, err = t.there(notReachable, id, generation); err != nil {
				return err
			}
		}
		found := rows.HealthColumns.Values(rows.OfVIM(broker.VIM{Health: h}))
		if err := t.one("VIM", updateHealth, append(found, id, generation)...); err != nil || !back {
			return err
		}
		t.resume(id, h.CheckedAt)
		return nil
	})
	return doing(err, "recording health of VIM %s", id)
}

func (t Tx) setShares(v broker.VIM) {
	for _, project := range v.SharedWith {
		t.queue(insertShare, project, v.Project, v.Name)
	}
}

func (t Tx) setLabels(vim string, labels map[string]string) {
	for k, v := range labels {
		t.queue(insertLabel, vim, k, v)
	}
}

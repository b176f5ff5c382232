package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var (
	dropSigningKey   = statement(`DELETE FROM audit_keys WHERE id = ?1`)
	retireSigningKey = statement(`INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
		VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING`)
	anchorings   = statement(`SELECT anchor, size, time FROM audit_anchors`)
	setAnchoring = statement(`INSERT INTO audit_anchors AS a (anchor, size, time) VALUES (?1, ?2, ?3)
		ON CONFLICT (anchor) DO UPDATE SET size = excluded.size, time = excluded.time WHERE a.size < excluded.size`)
	lastCheckpoint = statement(`SELECT size, root, time, key, note FROM audit_checkpoints ORDER BY size DESC LIMIT 1`)
	addCheckpoint  = statement(`INSERT INTO audit_checkpoints (size, root, time, key, note)
		SELECT ?1::bigint, ?2::bytea, ?3::timestamptz, ?4::text, ?5::text
		WHERE EXISTS (SELECT 1 FROM audit_keys WHERE id = ?4 AND state = 'signing')
		AND ?1 > (SELECT coalesce(max(size), -1) FROM audit_checkpoints)`)
)

var (
	signingKeys      = statement(`SELECT ` + rows.SigningKeyColumns.Names() + ` FROM audit_keys ORDER BY created_at, since, id`)
	insertSigningKey = statement(rows.SigningKeyColumns.Insert(`audit_keys`))
	updateSigningKey = statement(`UPDATE audit_keys SET ` + rows.SigningKeyColumns.Changing().Set() + ` WHERE id = ?`)
)

// SigningKeys implements [notary.Store].
func (s *Tables) SigningKeys(ctx context.Context) ([]notary.SigningKey, error) {
	keys, err := lookUp(ctx, s, scanSigningKey, signingKeys)
	if err != nil {
		return nil, fmt.Errorf("reading the keys that sign checkpoints: %w", err)
	}
	return keys, nil
}

// ChangeSigningKeys implements [notary.Store]. A write that changes keys or adds a
// checkpoint holds the lock of the chain.
func (s *Tables) ChangeSigningKeys(
	ctx context.Context, change func([]notary.SigningKey) ([]notary.SigningKey, error), c *notary.Checkpoint, e audit.Entry,
) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		if err := t.HoldLog(); err != nil {
			return err
		}
		before, err := query(t, scanSigningKey, signingKeys)
		if err != nil {
			return err
		}
		after, err := change(slices.Clone(before))
		if refused = err; err != nil {
			return err
		}
		if err := t.storeSigningKeys(before, after); err != nil || c == nil {
			return err
		}
		return t.addCheckpoint(*c)
	})
	if err == nil || refused != nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return fmt.Errorf("changing the keys that sign checkpoints: %w", err)
}

func (t Tx) storeSigningKeys(before, after []notary.SigningKey) error {
	change, err := rows.ChangeOfSigningKeys(before, after)
	if err != nil {
		return err
	}
	for _, k := range change.Changed {
		t.queue(updateSigningKey, append(rows.SigningKeyColumns.Changing().Values(&k), k.ID)...)
	}
	for _, k := range change.New {
		t.queue(insertSigningKey, rows.SigningKeyColumns.Values(&k)...)
	}
	for _, id := range change.Gone {
		t.queue(dropSigningKey, id)
	}
	for _, k := range change.Retired {
		t.queue(retireSigningKey, k.KeyStore, string(k.Ref), k.Owner.ID, k.Owner.Generation, t.Now())
	}
	return nil
}

// LastCheckpoint implements [notary.Store].
func (s *Tables) LastCheckpoint(ctx context.Context) (notary.Checkpoint, error) {
	found, err := lookUp(ctx, s, scanCheckpoint, lastCheckpoint)
	if err != nil {
		return notary.Checkpoint{}, fmt.Errorf("reading the last checkpoint of the audit log: %w", err)
	}
	if len(found) == 0 {
		return notary.Checkpoint{}, notary.ErrNone
	}
	return found[0], nil
}

// AddCheckpoint implements [notary.Store].
func (s *Tables) AddCheckpoint(ctx context.Context, c notary.Checkpoint) error {
	err := s.change(ctx, func(t Tx) error {
		if err := t.HoldLog(); err != nil {
			return err
		}
		return t.addCheckpoint(c)
	})
	if err == nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return fmt.Errorf("storing a checkpoint of the audit log: %w", err)
}

func (t Tx) addCheckpoint(c notary.Checkpoint) error {
	added, err := t.any(addCheckpoint, c.Size, c.Root[:], c.Time, c.Key, c.Note)
	if err == nil && !added {
		return notary.ErrOvertaken
	}
	return err
}

// Anchorings implements [notary.AnchorStore].
func (s *Tables) Anchorings(ctx context.Context) ([]notary.Anchoring, error) {
	all, err := lookUp(ctx, s, func(row Row) (a notary.Anchoring, err error) {
		return a, row.Scan(&a.Anchor, &a.Size, &a.Time)
	}, anchorings)
	if err != nil {
		return nil, fmt.Errorf("reading how far anchors of the audit log are: %w", err)
	}
	return all, nil
}

// SetAnchoring implements [notary.AnchorStore].
func (s *Tables) SetAnchoring(ctx context.Context, a notary.Anchoring) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(setAnchoring, a.Anchor, a.Size, a.Time)
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing how far anchor %s is: %w", a.Anchor, err)
	}
	return nil
}

func scanSigningKey(row Row) (k notary.SigningKey, err error) {
	return k, row.Scan(rows.SigningKeyColumns.Fields(&k)...)
}

func scanCheckpoint(row Row) (c notary.Checkpoint, err error) {
	var root []byte
	err = row.Scan(&c.Size, &root, &c.Time, &c.Key, &c.Note)
	if err == nil && copy(c.Root[:], root) != len(c.Root) {
		err = tree.ErrTorn
	}
	return c, err
}

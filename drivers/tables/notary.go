package tables

import (
	"context"
	"errors"
	"slices"

	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var (
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
	signingKeyTable = keysIn(`audit_keys`, rows.SigningKeyColumns)
	signingKeys     = statement(signingKeyTable.text + ` ORDER BY created_at, since, id`)
)

// SigningKeys implements [notary.Store].
func (s *Tables) SigningKeys(ctx context.Context) ([]notary.SigningKey, error) {
	keys, err := lookUp(ctx, s, signingKeyTable.scan, signingKeys)
	return keys, doing(err, "reading the keys that sign checkpoints")
}

// ChangeSigningKeys implements [notary.Store]. A write that changes keys or adds a
// checkpoint holds the lock of the chain.
func (s *Tables) ChangeSigningKeys(
	ctx context.Context, change func([]notary.SigningKey) ([]notary.SigningKey, error), c *notary.Checkpoint, e audit.Entry,
) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		if err := t.HoldLog(true); err != nil {
			return err
		}
		before, err := query(t, signingKeyTable.scan, signingKeys)
		if err != nil {
			return err
		}
		after, err := change(slices.Clone(before))
		if refused = err; err != nil {
			return err
		}
		if err := signingKeyTable.store(t, before, after); err != nil || c == nil {
			return err
		}
		return t.addCheckpoint(*c)
	})
	if err == nil || refused != nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return doing(err, "changing the keys that sign checkpoints")
}

// keyTable are the statements of a table of keys that sign.
type keyTable[K rows.SealedKey] struct {
	table[K]
	update, drop string
}

func keysIn[K rows.SealedKey](name string, columns rows.Columns[K]) keyTable[K] {
	return keyTable[K]{
		tableOf(name, "key", columns), statement(`UPDATE ` + name + ` SET ` + columns.Changing().Set() + ` WHERE id = ?`),
		statement(`DELETE FROM ` + name + ` WHERE id = ?`),
	}
}

// store writes how the keys change.
func (keys keyTable[K]) store(t Tx, before, after []K) error {
	change, err := rows.ChangeOfKeys(before, after)
	if err != nil {
		return err
	}
	for _, id := range change.Gone {
		t.queue(keys.drop, id)
	}
	for _, k := range change.Changed {
		t.queue(keys.update, append(keys.columns.Changing().Values(&k), k.Held().Owner.ID)...)
	}
	for _, k := range change.New {
		keys.add(t, k)
	}
	for _, k := range change.Retired {
		t.queue(retireSigningKey, k.KeyStore, k.Ref, k.Owner.ID, k.Owner.Generation, t.Now())
	}
	return nil
}

// LastCheckpoint implements [notary.Store].
func (s *Tables) LastCheckpoint(ctx context.Context) (notary.Checkpoint, error) {
	found, err := lookUp(ctx, s, scanCheckpoint, lastCheckpoint)
	if err != nil {
		return notary.Checkpoint{}, doing(err, "reading the last checkpoint of the audit log")
	}
	if len(found) == 0 {
		return notary.Checkpoint{}, notary.ErrNone
	}
	return found[0], nil
}

// AddCheckpoint implements [notary.Store].
func (s *Tables) AddCheckpoint(ctx context.Context, c notary.Checkpoint) error {
	err := s.change(ctx, func(t Tx) error {
		if err := t.HoldLog(true); err != nil {
			return err
		}
		return t.addCheckpoint(c)
	})
	if err == nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return doing(err, "storing a checkpoint of the audit log")
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
	return all, doing(err, "reading how far anchors of the audit log are")
}

// SetAnchoring implements [notary.AnchorStore].
func (s *Tables) SetAnchoring(ctx context.Context, a notary.Anchoring) error {
	return doing(s.run(ctx, setAnchoring, a.Anchor, a.Size, a.Time), "storing how far anchor %s is", a.Anchor)
}

func scanCheckpoint(row Row) (c notary.Checkpoint, err error) {
	var root []byte
	err = row.Scan(&c.Size, &root, &c.Time, &c.Key, &c.Note)
	if err == nil && copy(c.Root[:], root) != len(c.Root) {
		err = tree.ErrTorn
	}
	return c, err
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var (
	allSigningKeys   = `SELECT ` + rows.SigningKeyColumns.Names() + ` FROM audit_keys ORDER BY created_at, since, id`
	signingKeys      = prepared(allSigningKeys)
	insertSigningKey = prepared(rows.SigningKeyColumns.Insert(`audit_keys`))
	updateSigningKey = prepared(`UPDATE audit_keys SET ` + rows.SigningKeyColumns.Changing().Set() + ` WHERE id = ?`)
	dropSigningKey   = prepared(`DELETE FROM audit_keys WHERE id = ?`)
	retireSigningKey = prepared(`INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	setAnchoring = prepared(`INSERT INTO audit_anchors (anchor, size, time) VALUES (?, ?, ?)
		ON CONFLICT (anchor) DO UPDATE SET size = excluded.size, time = excluded.time WHERE audit_anchors.size < excluded.size`)
	addCheckpoint = prepared(`INSERT INTO audit_checkpoints (size, root, time, key, note)
		SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM audit_keys WHERE id = ?4 AND state = 'signing')
		AND NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE size >= ?1)`)
)

const (
	anchorings       = `SELECT anchor, size, time FROM audit_anchors`
	lastCheckpoint   = `SELECT size, root, time, key, note FROM audit_checkpoints ORDER BY size DESC LIMIT 1`
	checkpointsAfter = `SELECT size, root, time, key, note FROM audit_checkpoints WHERE size > ? ORDER BY size LIMIT ?+0`
)

var _ notary.Store = (*Store)(nil)

// SigningKeys implements [notary.Store].
func (s *Store) SigningKeys(ctx context.Context) ([]notary.Key, error) {
	found, err := s.query(ctx, allSigningKeys)
	keys, err := collect(found, err, scanSigningKey)
	if err != nil {
		return nil, fmt.Errorf("reading the keys that sign checkpoints: %w", err)
	}
	return keys, nil
}

// ChangeSigningKeys implements [notary.Store].
func (s *Store) ChangeSigningKeys(
	ctx context.Context, change func([]notary.Key) ([]notary.Key, error), c *notary.Checkpoint, e audit.Entry,
) error {
	var refused error
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(signingKeys)
		before, err := collect(found, err, scanSigningKey)
		if err != nil {
			return err
		}
		after, err := change(slices.Clone(before))
		if refused = err; err != nil {
			return err
		}
		if err := t.storeSigningKeys(before, after); err != nil {
			return err
		}
		if c != nil {
			if err := t.addCheckpoint(*c); err != nil {
				return err
			}
		}
		return t.append(e)
	})
	if err == nil || refused != nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return fmt.Errorf("changing the keys that sign checkpoints: %w", err)
}

func (t txn) storeSigningKeys(before, after []notary.Key) error {
	change, err := rows.ChangeOfSigningKeys(before, after)
	if err != nil {
		return err
	}
	for _, k := range change.Changed {
		if _, err := t.exec(updateSigningKey, append(values(rows.SigningKeyColumns.Changing().Fields(&k)), k.ID)...); err != nil {
			return err
		}
	}
	for _, k := range change.New {
		if _, err := t.exec(insertSigningKey, values(rows.SigningKeyColumns.Fields(&k))...); err != nil {
			return err
		}
	}
	for _, id := range change.Gone {
		if _, err := t.exec(dropSigningKey, id); err != nil {
			return err
		}
	}
	for _, k := range change.Retired {
		if _, err := t.exec(retireSigningKey, k.KeyStore, string(k.Ref), k.Owner.ID, k.Owner.Generation, rows.Micro(t.s.now())); err != nil {
			return err
		}
	}
	return nil
}

// LastCheckpoint implements [notary.Store].
func (s *Store) LastCheckpoint(ctx context.Context) (notary.Checkpoint, error) {
	found, err := s.query(ctx, lastCheckpoint)
	all, err := collect(found, err, scanCheckpoint)
	if err != nil {
		return notary.Checkpoint{}, fmt.Errorf("reading the last checkpoint of the audit log: %w", err)
	}
	if len(all) == 0 {
		return notary.Checkpoint{}, notary.ErrNone
	}
	return all[0], nil
}

// CheckpointsAfter returns at most limit checkpoints of more than so many entries, the smallest first.
func (s *Store) CheckpointsAfter(ctx context.Context, size int64, limit int) ([]notary.Checkpoint, error) {
	found, err := s.query(ctx, checkpointsAfter, size, limit)
	all, err := collect(found, err, scanCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("reading checkpoints of the audit log: %w", err)
	}
	return all, nil
}

// AddCheckpoint implements [notary.Store].
func (s *Store) AddCheckpoint(ctx context.Context, c notary.Checkpoint) error {
	err := s.write(ctx, func(t txn) error { return t.addCheckpoint(c) })
	if err == nil || errors.Is(err, notary.ErrOvertaken) {
		return err
	}
	return fmt.Errorf("storing a checkpoint of the audit log: %w", err)
}

func (t txn) addCheckpoint(c notary.Checkpoint) error {
	done, err := t.exec(addCheckpoint, c.Size, c.Root[:], rows.Micro(c.Time), c.Key, c.Note)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return notary.ErrOvertaken
}

// Anchorings implements [notary.AnchorStore].
func (s *Store) Anchorings(ctx context.Context) ([]notary.Anchoring, error) {
	found, err := s.query(ctx, anchorings)
	all, err := collect(found, err, func(row *sql.Rows) (a notary.Anchoring, err error) {
		return a, row.Scan(&a.Anchor, &a.Size, moment{&a.Time})
	})
	if err != nil {
		return nil, fmt.Errorf("reading how far anchors of the audit log are: %w", err)
	}
	return all, nil
}

// SetAnchoring implements [notary.AnchorStore].
func (s *Store) SetAnchoring(ctx context.Context, a notary.Anchoring) error {
	err := s.write(ctx, func(t txn) error {
		_, err := t.exec(setAnchoring, a.Anchor, a.Size, rows.Micro(a.Time))
		return err
	})
	if err != nil {
		return fmt.Errorf("storing how far anchor %s is: %w", a.Anchor, err)
	}
	return nil
}

func scanSigningKey(row *sql.Rows) (k notary.Key, err error) {
	return k, scan(row, rows.SigningKeyColumns.Fields(&k), nil)
}

func scanCheckpoint(row *sql.Rows) (c notary.Checkpoint, err error) {
	var root []byte
	err = row.Scan(&c.Size, &root, moment{&c.Time}, &c.Key, &c.Note)
	if err == nil && copy(c.Root[:], root) != len(c.Root) {
		err = tree.ErrTorn
	}
	return c, err
}

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var (
	hiddenByID  = `SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE id = ?`
	hiddenOfVIM = `SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE vim = ? AND id > ? AND ` + rows.HiddenNeeded +
		` ORDER BY id LIMIT ?+0`
	hiddenUnsettled = `SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE ` + rows.HiddenUnsettled +
		` ORDER BY since, id LIMIT ?+0`
	hiddensAfter = `SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE id > ? ORDER BY id LIMIT ?+0`

	changingHidden  = rows.HiddenColumns.Changing()
	hiddenForUpdate = prepared(hiddenByID)
	insertHidden    = prepared(rows.HiddenColumns.Insert(`vnf_hidden`))
	updateHidden    = prepared(`UPDATE vnf_hidden SET ` + changingHidden.Set() + ` WHERE id = ?`)
	keepHidden      = prepared(`UPDATE vnf_hidden SET state = 'kept', since = ? WHERE id = ? AND state = 'making' AND sealed <> ''`)
	abandonHidden   = prepared(`UPDATE vnf_hidden SET state = 'abandoned', since = ?, sealed = '', key_store = '', key_ref = '' WHERE id = ? AND ` + rows.HiddenNeeded)
	abandonHiddenOf = prepared(`UPDATE vnf_hidden SET state = 'abandoned', since = ?, sealed = '', key_store = '', key_ref = '' WHERE instance = ? AND ` + rows.HiddenNeeded)
	deleteHidden    = prepared(`DELETE FROM vnf_hidden WHERE id = ? AND state = 'abandoned'`)
)

// CreateHidden stores hidden parameters that are being made.
func (s *Store) CreateHidden(ctx context.Context, h lifecycle.Hidden) error {
	err := s.write(ctx, func(t txn) error {
		_, err := t.exec(insertHidden, values(rows.HiddenColumns.Fields(&h))...)
		return err
	})
	if err != nil {
		return fmt.Errorf("creating hidden parameters %s: %w", h.ID, err)
	}
	return nil
}

// Hidden returns those of an id.
func (s *Store) Hidden(ctx context.Context, id string) (lifecycle.Hidden, error) {
	found, err := s.query(ctx, hiddenByID, id)
	h, err := oneHidden(found, err)
	if err != nil {
		return lifecycle.Hidden{}, fmt.Errorf("reading hidden parameters %s: %w", id, err)
	}
	return h, nil
}

func oneHidden(found *sql.Rows, err error) (lifecycle.Hidden, error) {
	all, err := collect(found, err, scanHidden)
	return rows.First("hidden parameters", all, err)
}

func scanHidden(row *sql.Rows) (h lifecycle.Hidden, err error) {
	return h, scan(row, rows.HiddenColumns.Fields(&h), nil)
}

// Hiddens lists those of a VIM, or those that are not kept.
func (s *Store) Hiddens(ctx context.Context, f lifecycle.HiddenFilter) ([]lifecycle.Hidden, error) {
	text, args := hiddenUnsettled, []any{f.Limit}
	if f.VIM != "" {
		text, args = hiddenOfVIM, []any{f.VIM, f.After, f.Limit}
	}
	found, err := s.query(ctx, text, args...)
	all, err := collect(found, err, scanHidden)
	if err != nil {
		return nil, fmt.Errorf("listing hidden parameters: %w", err)
	}
	return all, nil
}

// HiddensAfter lists all of them by their ids, after one. It is for copying them.
func (s *Store) HiddensAfter(ctx context.Context, id string, limit int) ([]lifecycle.Hidden, error) {
	found, err := s.query(ctx, hiddensAfter, id, limit)
	all, err := collect(found, err, scanHidden)
	if err != nil {
		return nil, fmt.Errorf("listing hidden parameters: %w", err)
	}
	return all, nil
}

// UpdateHidden changes hidden parameters by a function.
func (s *Store) UpdateHidden(ctx context.Context, id string, change func(*lifecycle.Hidden) error) (lifecycle.Hidden, error) {
	var stored lifecycle.Hidden
	var refusal error // change's own words, returned as they are
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(hiddenForUpdate, id)
		old, err := oneHidden(found, err)
		if err != nil {
			return err
		}
		stored, err = rows.ChangeHidden(old, func(h *lifecycle.Hidden) error {
			refusal = change(h)
			return refusal
		})
		if err != nil {
			return err
		}
		_, err = t.exec(updateHidden, append(values(changingHidden.Fields(&stored)), id)...)
		return err
	})
	if refusal != nil {
		return lifecycle.Hidden{}, refusal
	}
	if err != nil {
		return lifecycle.Hidden{}, fmt.Errorf("updating hidden parameters %s: %w", id, err)
	}
	return stored, nil
}

// DeleteHidden removes hidden parameters that are abandoned.
func (s *Store) DeleteHidden(ctx context.Context, id string) error {
	err := s.write(ctx, func(t txn) error {
		_, err := t.exec(deleteHidden, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting hidden parameters %s: %w", id, err)
	}
	return nil
}

// conceal keeps what an instance or an operation has come to need, and abandons what neither needs any more.
func (t txn) conceal(c rows.Concealed) error {
	for _, id := range c.Kept {
		r, err := t.exec(keepHidden, rows.Micro(t.s.now()), id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, rows.NotHidden())
		}
	}
	for _, id := range c.Dropped {
		if _, err := t.exec(abandonHidden, rows.Micro(t.s.now()), id); err != nil {
			return err
		}
	}
	return nil
}

package tables

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var (
	lockHidden  = statement(hiddenByID + ` FOR UPDATE`)
	hiddenByID  = statement(`SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE id = ?1`)
	hiddenOfVIM = statement(`SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE vim = ?1 AND id > ?2 AND ` +
		rows.HiddenNeeded + ` ORDER BY id LIMIT ?3`)
	hiddenUnsettled = statement(`SELECT ` + rows.HiddenColumns.Names() + ` FROM vnf_hidden WHERE ` + rows.HiddenUnsettled +
		` ORDER BY since, id LIMIT ?1`)

	changingHidden = rows.HiddenColumns.Changing()
	insertHidden   = statement(rows.HiddenColumns.Insert(`vnf_hidden`))
	updateHidden   = statement(`UPDATE vnf_hidden SET ` + changingHidden.Set() + ` WHERE id = ?`)
)

const abandoning = `UPDATE vnf_hidden SET state = 'abandoned', since = ?1, sealed = '', key_store = '', key_ref = '' WHERE `

var (
	keepHidden      = statement(`UPDATE vnf_hidden SET state = 'active', since = ?1 WHERE id = ?2 AND state = 'making' AND sealed <> ''`)
	abandonHidden   = statement(abandoning + `id = ?2 AND ` + rows.HiddenNeeded)
	abandonHiddenOf = statement(abandoning + `instance = ?2 AND ` + rows.HiddenNeeded)
	deleteHidden    = statement(`DELETE FROM vnf_hidden WHERE id = ?1 AND state = 'abandoned'`)
)

// CreateHidden stores hidden parameters that are being made.
func (s *Tables) CreateHidden(ctx context.Context, h lifecycle.Hidden) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(insertHidden, rows.HiddenColumns.Values(&h)...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("creating hidden parameters %s: %w", h.ID, err)
	}
	return nil
}

// Hidden returns those of an id.
func (s *Tables) Hidden(ctx context.Context, id string) (lifecycle.Hidden, error) {
	h, err := oneHidden(lookUp(ctx, s, scanHidden, hiddenByID, id))
	if err != nil {
		return lifecycle.Hidden{}, fmt.Errorf("reading hidden parameters %s: %w", id, err)
	}
	return h, nil
}

func oneHidden(found []lifecycle.Hidden, err error) (lifecycle.Hidden, error) {
	return rows.First("hidden parameters", found, err)
}

func scanHidden(row Row) (h lifecycle.Hidden, err error) {
	return h, row.Scan(rows.HiddenColumns.Fields(&h)...)
}

// Hiddens lists those of a VIM, or those that are not kept.
func (s *Tables) Hiddens(ctx context.Context, f lifecycle.HiddenFilter) ([]lifecycle.Hidden, error) {
	text, args := hiddenUnsettled, []any{f.Limit}
	if f.VIM != "" {
		text, args = hiddenOfVIM, []any{f.VIM, f.After, f.Limit}
	}
	all, err := read(ctx, s, scanHidden, text, args...)
	if err != nil {
		return nil, fmt.Errorf("listing hidden parameters: %w", err)
	}
	return all, nil
}

// UpdateHidden changes hidden parameters by a function.
func (s *Tables) UpdateHidden(ctx context.Context, id string, change func(*lifecycle.Hidden) error) (lifecycle.Hidden, error) {
	var stored lifecycle.Hidden
	var refusal error // change's own error, returned unchanged
	err := s.change(ctx, func(t Tx) error {
		old, err := oneHidden(query(t, scanHidden, lockHidden, id))
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
		t.queue(updateHidden, append(changingHidden.Values(&stored), id)...)
		return nil
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
func (s *Tables) DeleteHidden(ctx context.Context, id string) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(deleteHidden, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("deleting hidden parameters %s: %w", id, err)
	}
	return nil
}

// conceal keeps what an instance or an operation has come to need, and abandons what neither needs any more.
func (t Tx) conceal(c rows.SecretParametersChange) error {
	for _, id := range c.Kept {
		if kept, err := t.any(keepHidden, t.Now(), id); err != nil || !kept {
			return cmp.Or(err, rows.NotHidden())
		}
	}
	for _, id := range c.Dropped {
		t.queue(abandonHidden, t.Now(), id)
	}
	return nil
}

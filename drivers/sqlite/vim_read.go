package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// vimColumns are read from vims v LEFT JOIN vim_generations g: one row for each
// generation, in the order of their numbers.
var vimColumns = joined(`v`, rows.VIMColumns) + `, ` + joined(`g`, rows.GenerationColumns) +
	`, (SELECT json_group_object(l.key, l.value) FROM vim_labels l WHERE l.vim = v.id)` +
	`, (SELECT json_group_array(s.shared_with) FROM vim_shares s WHERE s.vim_project = v.project AND s.vim_name = v.name)`

var vimByID = `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
	WHERE v.id = ? ORDER BY g.number`

var vimForUpdate = prepared(vimByID)

// VIM returns one by its id.
func (s *Store) VIM(ctx context.Context, id string) (broker.VIM, error) {
	v, err := oneVIM(s.vims(ctx, vimByID, id))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading VIM %s: %w", id, err)
	}
	return v, nil
}

// VIMByKey returns the VIM that a principal registered under an idempotency key.
func (s *Store) VIMByKey(ctx context.Context, principal, key string) (broker.VIM, error) {
	text := `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.created_by = ? AND v.idempotency_key = ? AND v.idempotency_key <> '' ORDER BY g.number`
	v, err := oneVIM(s.vims(ctx, text, principal, key))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading the VIM of an idempotency key: %w", err)
	}
	return v, nil
}

func (s *Store) vims(ctx context.Context, text string, args ...any) ([]broker.VIM, error) {
	found, err := s.query(ctx, text, args...)
	all, err := collect(found, err, scanVIMs())
	return rows.Gather(all), err
}

func (t txn) vim(id string) (broker.VIM, error) {
	found, err := t.query(vimForUpdate, id)
	all, err := collect(found, err, scanVIMs())
	return oneVIM(rows.Gather(all), err)
}

func oneVIM(vims []broker.VIM, err error) (broker.VIM, error) {
	return rows.Sound(rows.First("VIM", vims, err))
}

// scanVIMs returns what scans rows one after the other, always into the same memory.
func scanVIMs() func(*sql.Rows) (rows.VIM, error) {
	var r rows.VIM
	into := targets(slices.Concat(rows.VIMColumns.Fields(&r), rows.GenerationColumns.Fields(&r.Generation),
		[]any{&r.VIM.Labels, &r.VIM.SharedWith}), &r.VIM.Damaged)
	return func(row *sql.Rows) (rows.VIM, error) {
		r = rows.VIM{}
		err := row.Scan(into...)
		return r, err
	}
}

package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// vimColumns are read from vims v LEFT JOIN vim_generations g: one row for each
// generation, in the order of their numbers.
var vimColumns = joined(`v`, rows.VIMColumns) + `, ` + joined(`g`, rows.GenerationColumns) +
	`, (SELECT json_object_agg(l.key, l.value) FROM vim_labels l WHERE l.vim = v.id)` +
	`, ARRAY(SELECT s.shared_with FROM vim_shares s WHERE s.vim_project = v.project AND s.vim_name = v.name)`

var (
	vimByID = `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.id = $1 ORDER BY g.number`
	vimByKey = `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.created_by = $1 AND v.idempotency_key = $2 AND v.idempotency_key <> '' ORDER BY g.number`
)

// VIM returns one by its id.
func (s *Store) VIM(ctx context.Context, id string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIMs(), vimByID, id))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading VIM %s: %w", id, err)
	}
	return v, nil
}

// VIMByKey returns the VIM that a principal registered under an idempotency key.
func (s *Store) VIMByKey(ctx context.Context, principal, key string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIMs(), vimByKey, principal, key))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading the VIM of an idempotency key: %w", err)
	}
	return v, nil
}

func (t txn) vim(id string) (broker.VIM, error) { return oneVIM(query(t, scanVIMs(), vimByID, id)) }

func oneVIM(found []rows.VIM, err error) (broker.VIM, error) {
	return rows.Sound(rows.First("VIM", rows.Gather(found), err))
}

// scanVIMs returns what scans rows one after the other, always into the same memory.
func scanVIMs() func(pgx.CollectableRow) (rows.VIM, error) {
	var r rows.VIM
	into := targets(slices.Concat(rows.VIMColumns.Fields(&r), rows.GenerationColumns.Fields(&r.Generation),
		[]any{&r.VIM.Labels, &r.VIM.SharedWith}), &r.VIM.Damaged)
	return func(row pgx.CollectableRow) (rows.VIM, error) {
		r = rows.VIM{}
		err := row.Scan(into...)
		return r, err
	}
}

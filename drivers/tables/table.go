package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// table is a table whose rows hold an R, with the statements that each table has.
type table[R any] struct {
	what    string // one row, for people
	columns rows.Columns[R]
	text    string // of a query, before its conditions
	insert  string
}

func tableOf[R any](name, what string, columns rows.Columns[R]) table[R] {
	return table[R]{what, columns, `SELECT ` + columns.Names() + ` FROM ` + name, statement(columns.Insert(name))}
}

func (x table[R]) scan(row Row) (r R, err error) { return r, row.Scan(x.columns.Fields(&r)...) }

func (x table[R]) add(t Tx, r R) { t.queue(x.insert, x.columns.Values(&r)...) }

// one reads the row that a query finds by an index.
func (x table[R]) one(ctx context.Context, s *Tables, text string, args ...any) (R, error) {
	found, err := lookUp(ctx, s, x.scan, text, args...)
	return rows.First(x.what, found, err)
}

// keyed is a table whose rows have a key, and keep a T.
type keyed[R, T any] struct {
	table[R]
	byKey, lock, update string
	changing            rows.Columns[R]
	read                func(R) (T, error)
	row                 func(T) (R, error)
}

func keyedBy[R, T any](
	key, name, what string, columns rows.Columns[R], read func(R) (T, error), row func(T) (R, error),
) keyed[R, T] {
	x := keyed[R, T]{table: tableOf(name, what, columns), changing: columns.Changing(), read: read, row: row}
	x.byKey = statement(x.text + ` WHERE ` + key + ` = ?1`)
	x.lock = statement(x.byKey + ` FOR UPDATE`)
	x.update = statement(`UPDATE ` + name + ` SET ` + x.changing.Set() + ` WHERE ` + key + ` = ?`)
	return x
}

// same is the row of a table whose rows are what they keep.
func same[T any](v T) (T, error) { return v, nil }

// first reads what the row keeps that a query finds by an index.
func (x keyed[R, T]) first(ctx context.Context, s *Tables, text string, args ...any) (T, error) {
	return x.of(x.one(ctx, s, text, args...))
}

// get reads what the row of a key keeps.
func (x keyed[R, T]) get(ctx context.Context, s *Tables, key string) (T, error) {
	v, err := x.first(ctx, s, x.byKey, key)
	return v, doing(err, "reading %s %s", x.what, key)
}

// lockedRow reads and locks the row of a key.
func (x keyed[R, T]) lockedRow(t Tx, key string) (R, error) {
	found, err := query(t, x.scan, x.lock, key)
	return rows.First(x.what, found, err)
}

// locked reads what the row of a key keeps, and locks it.
func (x keyed[R, T]) locked(t Tx, key string) (T, error) { return x.of(x.lockedRow(t, key)) }

func (x keyed[R, T]) of(r R, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return x.read(r)
}

// each reads what rows keep.
func (x keyed[R, T]) each(found []R, err error) ([]T, error) { return each(x.read, found, err) }

func each[R, T any](read func(R) (T, error), found []R, err error) (all []T, _ error) {
	for _, r := range found {
		v, err := read(r)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, err
}

// create adds a row that keeps v, in a transaction that records it. first makes sure that there may be one, beside adds
// what goes with it; either may be nil.
func (x keyed[R, T]) create(ctx context.Context, s *Tables, e audit.Entry, key string, v T, first, beside func(Tx) error) error {
	r, err := x.row(v)
	if err == nil {
		err = s.write(ctx, e, func(t Tx) error {
			if first != nil {
				if err := first(t); err != nil {
					return err
				}
			}
			x.add(t, r)
			if beside != nil {
				return beside(t)
			}
			return nil
		})
	}
	return doing(err, "creating %s %s", x.what, key)
}

// replace writes what an update may change of the row of a key.
func (x keyed[R, T]) replace(t Tx, key string, r R) {
	t.queue(x.update, append(x.changing.Values(&r), key)...)
}

// store replaces what the row of a key keeps.
func (x keyed[R, T]) store(t Tx, key string, v T) error {
	r, err := x.row(v)
	if err == nil {
		x.replace(t, key, r)
	}
	return err
}

// amend changes what the row of a key keeps by a function, in a transaction that write runs. moved completes the
// result, or refuses it. See the function amend.
func (x keyed[R, T]) amend(
	ctx context.Context, write func(context.Context, func(Tx) error) error, key string,
	change func(*T) error, moved func(old, next T) (T, error),
) (T, error) {
	read := func(t Tx) (T, error) { return x.locked(t, key) }
	return amend(ctx, write, "updating "+x.what+" "+key, read, change, func(t Tx, old, next T) (T, error) {
		next, err := moved(old, next)
		if err == nil {
			err = x.store(t, key, next)
		}
		return next, err
	})
}

// page reads a page of what rows keep, and the next page's token. from is the query before its conditions.
func (x keyed[R, T]) page(
	ctx context.Context, s *Tables, o rows.Order[R], p broker.Page, from string, where *rows.Conditions,
) ([]T, string, error) {
	found, next, err := page(ctx, s, o, p, x.scan, from, where)
	all, err := x.each(found, err)
	return all, next, doing(err, "listing %ss", x.what)
}

// page reads a page of rows, and the next page's token.
func page[R any](
	ctx context.Context, s *Tables, o rows.Order[R], p broker.Page, scan func(Row) (R, error), from string, where *rows.Conditions,
) ([]R, string, error) {
	size, after, err := o.Read(p)
	if err != nil {
		return nil, "", err
	}
	o.After(where, after)
	text, args := where.SelectFrom(from)
	all, err := read(ctx, s, scan, text+o.By(), append(args, size+1)...)
	all, next := o.Cut(all, size)
	return all, next, err
}

package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// read runs a query and scans its rows. One that fails because its connection was
// an old one is tried again. Its plan is made for the values it is asked with
// (pgx.QueryExecModeCacheDescribe): what is due, or live, is little, and a plan
// that does not know that reads a table from end to end.
func read[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), text string, args ...any) (all []T, err error) {
	err = s.ask(ctx, func(found pgx.Rows) error {
		all, err = pgx.CollectRows(found, scan)
		return err
	}, text, append([]any{pgx.QueryExecModeCacheDescribe}, args...))
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ask has collect read all that a query finds. One that finds few rows by an index, whatever it is asked with, has its plan
// kept: to make one takes several times as long as to use it.
func (s *Store) ask(ctx context.Context, collect func(pgx.Rows) error, text string, args []any) error {
	return s.call(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		found, err := conn.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		return collect(found)
	})
}

// readOne is read for a query that answers one row.
func readOne[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), text string, args ...any) (T, error) {
	found, err := read(ctx, s, scan, text, args...)
	return rows.First("row", found, err)
}

// scalar scans a row of one column.
func scalar[T any](row pgx.CollectableRow) (v T, err error) { return v, row.Scan(&v) }

// call lends a connection to do for something that may be repeated, and bounds it.
func (s *Store) call(ctx context.Context, do func(context.Context, *pgxpool.Conn) error) error {
	bounded, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var err error
	for range tries {
		var conn *pgxpool.Conn
		if conn, err = s.acquire(bounded); err == nil {
			err = translate(do(bounded, conn))
			conn.Release()
		}
		if !s.again(err) {
			break
		}
	}
	return s.outcome(ctx, bounded, err)
}

// acquire waits for a connection, but not for long.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.closed.Load() {
		return nil, rows.Closed()
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, rows.Unavailable(errNoConn)
	}
	return conn, translate(err)
}

var errNoConn = errors.New("no connection to PostgreSQL could be had in time")

// outcome returns the error of a call. If the caller's context ended, that is its
// error; if our own timeout ended the call, the store is unavailable.
func (s *Store) outcome(ctx, bounded context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case s.closed.Load():
		return rows.Closed()
	case bounded.Err() != nil:
		return rows.Unavailable(err)
	}
	return err
}

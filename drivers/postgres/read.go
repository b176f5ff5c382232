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
func read[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), text string, args ...any) ([]T, error) {
	return lookUp(ctx, s, scan, text, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// lookUp is read for what finds few rows by an index, whatever it is asked with. Its
// plan is kept: to make one takes several times as long as to use it.
func lookUp[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), text string, args ...any) ([]T, error) {
	var all []T
	err := s.call(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		found, err := conn.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(found, scan)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
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

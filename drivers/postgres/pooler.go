package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
)

// demandSessions refuses connections that are no sessions of the database: what is set in them, prepared
// or locked, or listened for, has to last from one transaction to the next.
func (s *Store) demandSessions(ctx context.Context) error {
	a, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer a.Release()
	b, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer b.Release()
	shared, err := share(ctx, a, b)
	if err != nil {
		return translate(err)
	}
	if shared {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "a pooler gives other callers the connection between two transactions",
			Remedy: "set its pool_mode to session, or connect to PostgreSQL itself",
		}
	}
	for name, limit := range sessionLimits {
		want := strconv.FormatInt(limit.Milliseconds(), 10)
		got, err := ask[string](ctx, a, `SELECT setting FROM pg_settings WHERE name = '`+name+`'`)
		if err != nil {
			return translate(err)
		}
		if got != want {
			return &broker.Error{
				Kind:   broker.ErrUnsupported,
				Detail: fmt.Sprintf("a pooler has dropped the setting %s, which is %s ms and has to be %s ms", name, got, want),
				Remedy: fmt.Sprintf("as the database's administrator: ALTER ROLE ... SET %s = %s; and have the pooler connect anew", name, want),
			}
		}
	}
	return nil
}

// share reports whether two of the broker's connections are one session of the database, at the
// same time or in turn.
func share(ctx context.Context, a, b *pgxpool.Conn) (bool, error) {
	const pid = `SELECT pg_backend_pid()`
	before, err := ask[int32](ctx, a, pid)
	if err != nil {
		return false, err
	}
	if err := simple(ctx, b, `BEGIN`); err != nil {
		return false, err
	}
	defer func() { _ = simple(ctx, b, `ROLLBACK`) }() // where it fails the connection is broken
	other, err := ask[int32](ctx, b, pid)
	if err != nil {
		return false, err
	}
	after, err := ask[int32](ctx, a, pid)
	return before == other || before != after, err
}

// simple runs a statement that is not prepared first.
func simple(ctx context.Context, c *pgxpool.Conn, text string) error {
	_, err := c.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
	return err
}

// ask runs a query that is not prepared first, and returns its one value.
func ask[T any](ctx context.Context, c *pgxpool.Conn, text string) (value T, err error) {
	err = c.QueryRow(ctx, text, pgx.QueryExecModeSimpleProtocol).Scan(&value)
	return value, err
}

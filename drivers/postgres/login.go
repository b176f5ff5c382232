package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
)

// login is the current connection string, with which connections are made. Safe for
// concurrent use.
type login struct {
	options Options
	where   string
	last    atomic.Pointer[pgx.ConnConfig] // the newest that could be used
	log     *slog.Logger
}

func newLogin(o Options, first *pgx.ConnConfig) *login {
	l := &login{options: o, where: where(first), log: o.Log}
	l.last.Store(first.Copy())
	return l
}

// read returns what the connection string says now.
func (l *login) read() (*pgx.ConnConfig, error) {
	if l.options.Reread == nil {
		return l.last.Load(), nil
	}
	o := l.options
	var err error
	if o.DSN, err = o.Reread(); err != nil {
		return nil, err
	}
	c, err := o.pool()
	if err != nil {
		return nil, err
	}
	if there := where(c.ConnConfig); there != l.where {
		return nil, broker.Invalid("dsn", "leads to another database than %s, which needs a restart", l.where)
	}
	return c.ConnConfig, nil
}

// give sets what a connection is about to be made with.
func (l *login) give(ctx context.Context, c *pgx.ConnConfig) error {
	now, err := l.read()
	if err != nil {
		l.log.WarnContext(ctx, "the connection string cannot be read anew; the one before stays in use", "error", err)
		now = l.last.Load()
	}
	l.last.Store(now)
	*c = *now.Copy()
	return nil
}

// TryLogin makes one connection with the current connection string, and ends it. Its
// errors are those of [Open].
func (s *Store) TryLogin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	c, err := s.login.read()
	if err == nil {
		var conn *pgx.Conn
		if conn, err = pgx.ConnectConfig(ctx, c.Copy()); err == nil {
			err = conn.Close(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("logging in to store %s: %w", s.where, opening(translate(err)))
	}
	return nil
}

// SameDatabase reports whether both lead to one database of one server, whoever logs in.
func SameDatabase(a, b Options) bool {
	a.complete()
	b.complete()
	first, err := a.pool()
	if err != nil {
		return false
	}
	second, err := b.pool()
	return err == nil && where(first.ConnConfig) == where(second.ConnConfig)
}

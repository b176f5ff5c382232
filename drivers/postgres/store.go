package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// oldest is the first version of PostgreSQL that has all that is used here
// (idle_session_timeout).
const oldest = 140000

// Store is a [broker.Store] in a PostgreSQL database that other processes use at
// the same time. Change functions run while the row is locked: they must be quick,
// must not call the store, and are called again, with what is stored then, when
// the write has to be tried again.
type Store struct {
	tables.Tables
	pool   *pgxpool.Pool
	where  string
	login  *login
	clock  clock
	now    func() time.Time
	log    *slog.Logger
	closed atomic.Bool
	close  sync.Once
	wake   chan struct{} // receives after a commit that makes jobs due
	inbox  inbox
}

// Open connects to the database and looks at its schema. It is broker.ErrUnavailable
// if the database does not answer; broker.ErrUnsupported, with what to do, if this
// version cannot work on its schema or PostgreSQL is too old; broker.ErrInvalid if the
// options cannot be meant. No error holds any of the connection string but host,
// port, database and user.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Migrate {
		_, err = s.migrate(ctx, released())
	}
	if err == nil {
		err = s.demandSchema(ctx)
	}
	if err != nil {
		_ = s.Close() // the first error says more
		return nil, fmt.Errorf("opening store %s: %w", s.where, opening(err))
	}
	return s, nil
}

// connect makes a store whose schema is still to be looked at.
func connect(ctx context.Context, o Options) (*Store, error) {
	o.complete()
	c, err := o.pool()
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	s := &Store{where: where(c.ConnConfig), login: newLogin(o, c.ConnConfig), now: o.Now, log: o.Log, wake: make(chan struct{}, 1)}
	s.Tables = tables.Of(database{s})
	c.BeforeConnect = s.login.give
	if s.now == nil {
		s.now = s.clock.now
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, fmt.Errorf("opening store %s: %w", s.where, opening(translate(err)))
	}
	var version int
	if err = s.demandSessions(ctx); err == nil { // before anything is prepared
		version, err = readOne(ctx, s, scalar[int], `SELECT current_setting('server_version_num')::bigint`)
	}
	if err == nil && version < oldest {
		err = &broker.Error{
			Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("PostgreSQL %d is too old", version/10000),
			Remedy: fmt.Sprintf("use PostgreSQL %d or newer", oldest/10000),
		}
	}
	if err == nil {
		err = s.readClock(ctx)
	}
	if err != nil {
		_ = s.Close() // the first error says more
		return nil, fmt.Errorf("opening store %s: %w", s.where, opening(err))
	}
	return s, nil
}

// Now is the time by the database's clock, as read in the last seconds: the one that
// all who write to the database date by.
func (s *Store) Now() time.Time { return s.now() }

// Close lets go of all connections, once what is under way has ended. After that
// every method answers broker.ErrUnavailable. It may be called twice.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.close.Do(s.pool.Close)
	return nil
}

// Spill implements [tables.Transaction]. A write of a row needs no new room on the disk: so it has a query spill 256 KB
// into a temporary file.
func (t txn) Spill() {
	t.queue(spillBesideTables)
	t.queue(spill)
}

const (
	// spillBesideTables has temporary files of this transaction made in the tablespace of the tables, if this role may.
	spillBesideTables = `SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', coalesce((
		SELECT quote_ident(spcname) FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.oid = 'replicas'::regclass AND has_tablespace_privilege(s.oid, 'CREATE')), ''), true)`
	spill = `WITH room AS MATERIALIZED (SELECT repeat('x', 8192) AS block FROM generate_series(1, 32))
		SELECT sum(length(block)) FROM room`
)

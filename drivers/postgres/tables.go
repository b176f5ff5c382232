package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ broker.Store = (*Store)(nil)

// database has [tables.Tables] kept in PostgreSQL.
type database struct{ *Store }

// dialect is how PostgreSQL says and keeps what tables do.
var dialect = tables.Dialect{
	Say:   func(text string) string { return numbered(strings.ReplaceAll(text, `/*stowed*/sealed`, readSealed)) },
	Store: stored, Into: targets,
}

// collecting has collect read all that is found, and says what went wrong.
func collecting(found pgx.Rows, collect func(tables.Rows) error) error {
	defer found.Close()
	if err := collect(dialect.Rows(found)); err != nil {
		return err
	}
	found.Close()
	return found.Err()
}

// Read implements [tables.Database] as read does.
func (d database) Read(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return d.find(ctx, collect, text, append([]any{pgx.QueryExecModeCacheDescribe}, dialect.Args(args)...))
}

// LookUp implements [tables.Database].
func (d database) LookUp(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return d.find(ctx, collect, text, dialect.Args(args))
}

func (d database) find(ctx context.Context, collect func(tables.Rows) error, text string, args []any) error {
	return d.ask(ctx, func(found pgx.Rows) error { return collecting(found, collect) }, dialect.Text(text), args)
}

// Change implements [tables.Database].
func (d database) Change(ctx context.Context, apply func(tables.Transaction) error) error {
	return d.change(ctx, func(t txn) error { return apply(t) })
}

var _ tables.Transaction = txn{}

// Queue implements [tables.Transaction].
func (t txn) Queue(text string, args ...any) { t.queue(dialect.Text(text), dialect.Args(args)...) }

// Exec implements [tables.Transaction].
func (t txn) Exec(text string, args ...any) (int64, error) {
	tag, err := t.exec(dialect.Text(text), dialect.Args(args)...)
	return tag.RowsAffected(), err
}

// Find implements [tables.Transaction].
func (t txn) Find(collect func(tables.Rows) error, text string, args ...any) error {
	t.queue(dialect.Text(text), dialect.Args(args)...).Query(func(found pgx.Rows) error { return collecting(found, collect) })
	return t.send()
}

// Ahead implements [tables.Transaction]: a round trip less, most of them while others wait for a lock.
func (t txn) Ahead(collect func(tables.Rows) error, text string, args ...any) (need func() error) {
	asked := false
	t.queue(dialect.Text(text), dialect.Args(args)...).Query(func(found pgx.Rows) error {
		asked = true
		return collecting(found, collect)
	})
	return func() error {
		if asked {
			return nil
		}
		return t.send()
	}
}

// Lock implements [tables.Transaction].
func (t txn) Lock(kind tables.Lock, names ...string) { t.lock(kind, names...) }

// Share implements [tables.Transaction].
func (t txn) Share(vim string) { t.queue(takeLockShared, lockKey(tables.LockVIM, vim)) }

// ShareVIMOf implements [tables.Transaction].
func (t txn) ShareVIMOf(lease string) { t.queue(shareVIMOfLease, lease) }

// HoldLog implements [tables.Transaction].
func (t txn) HoldLog(wait bool) error {
	if wait {
		return t.demand(waitLock)
	}
	return t.demand(tryLock)
}

// Append implements [tables.Transaction].
func (t txn) Append(e audit.Entry) error { return t.append(e) }

// WakeJobs implements [tables.Transaction].
func (t txn) WakeJobs() { *t.enqueued = true }

// Now implements [tables.Transaction].
func (t txn) Now() time.Time { return t.s.now() }

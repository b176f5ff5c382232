package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ interface {
	broker.Store
	catalog.Store
	grant.Store
	lifecycle.Store
	notary.Store
	oauth.TokenKeyStore
	oauth.Store
	onboard.Store
	subscription.Store
} = (*Store)(nil)

// database has [tables.Tables] kept in PostgreSQL.
type database struct{ *Store }

// texts are the statements of tables, by what tables calls them.
var texts sync.Map

func textOf(text string) string {
	known, ok := texts.Load(text)
	if !ok {
		known, _ = texts.LoadOrStore(text, numbered(text))
	}
	return known.(string)
}

func storedAll(args []any) []any {
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = stored(arg)
	}
	return all
}

// results are the results of a query.
type results struct{ pgx.Rows }

func (r results) Scan(fields ...any) error { return r.Rows.Scan(targets(fields, nil)...) }

// collecting has collect read all that is found, and says what went wrong.
func collecting(found pgx.Rows, collect func(tables.Rows) error) error {
	defer found.Close()
	if err := collect(results{found}); err != nil {
		return err
	}
	found.Close()
	return found.Err()
}

// Read implements [tables.Database] as read does.
func (d database) Read(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return d.find(ctx, collect, text, append([]any{pgx.QueryExecModeCacheDescribe}, storedAll(args)...))
}

// LookUp implements [tables.Database] as lookUp does.
func (d database) LookUp(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return d.find(ctx, collect, text, storedAll(args))
}

func (d database) find(ctx context.Context, collect func(tables.Rows) error, text string, args []any) error {
	return d.call(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		found, err := conn.Query(ctx, textOf(text), args...)
		if err != nil {
			return err
		}
		return collecting(found, collect)
	})
}

// Change implements [tables.Database].
func (d database) Change(ctx context.Context, apply func(tables.Transaction) error) error {
	return d.change(ctx, func(t txn) error { return apply(t) })
}

// shared is the transaction as tables sees it.
func (t txn) shared() tables.Tx { return tables.Tx{Transaction: t} }

var _ tables.Transaction = txn{}

// Queue implements [tables.Transaction].
func (t txn) Queue(text string, args ...any) { t.queue(textOf(text), storedAll(args)...) }

// Exec implements [tables.Transaction].
func (t txn) Exec(text string, args ...any) (int64, error) {
	tag, err := t.exec(textOf(text), storedAll(args)...)
	return tag.RowsAffected(), err
}

// Find implements [tables.Transaction].
func (t txn) Find(collect func(tables.Rows) error, text string, args ...any) error {
	t.queue(textOf(text), storedAll(args)...).Query(func(found pgx.Rows) error { return collecting(found, collect) })
	return t.send()
}

// Lock implements [tables.Transaction].
func (t txn) Lock(kind tables.Lock, name string) { t.lock(kind, name) }

// Hold implements [tables.Transaction].
func (t txn) Hold(vim string) (bool, error) { return t.hold(vim) }

// Share implements [tables.Transaction].
func (t txn) Share(vim string) { t.share(lockVIM, vim) }

// HoldLog implements [tables.Transaction].
func (t txn) HoldLog() error { return t.demand(waitLock) }

// Append implements [tables.Transaction].
func (t txn) Append(e audit.Entry) error { return t.append(e) }

// WakeJobs implements [tables.Transaction].
func (t txn) WakeJobs() { *t.enqueued = true }

// Now implements [tables.Transaction].
func (t txn) Now() time.Time { return t.s.now() }

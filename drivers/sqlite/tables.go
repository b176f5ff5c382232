package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"sync"
	"time"

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

// database has [tables.Tables] kept in SQLite.
type database struct{ *Store }

// dialect is how SQLite says what the statements of tables say.
var dialect = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(` FOR (KEY SHARE|UPDATE)`), ``}, // writes follow each other
		{regexp.MustCompile(`\(document::jsonb ->> '(\w+)'\)`), `json_extract(document, '$$.$1')`},
		{regexp.MustCompile(`::\w+`), ``},
		{regexp.MustCompile(`= ANY \((\?\d*)\)`), `IN (SELECT value FROM json_each($1))`},
		{regexp.MustCompile(`'-infinity'`), `0`},
		{regexp.MustCompile(`LIMIT (\?\d*)`), `LIMIT $1+0`}, // see query
		{regexp.MustCompile(`/\*by (\w+)\*/`), ` INDEXED BY $1`},
		{regexp.MustCompile(`/\*slow\*/`), `+`},
	}
})

type phrase struct {
	theirs *regexp.Regexp
	ours   string
}

// texts are the statements of tables, by what tables calls them.
var texts sync.Map

func textOf(text string) string {
	if known, ok := texts.Load(text); ok {
		return known.(string)
	}
	ours := text
	for _, d := range dialect() {
		ours = d.theirs.ReplaceAllString(ours, d.ours)
	}
	texts.Store(text, ours)
	return ours
}

func storedAll(args []any) []any {
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = stored(arg)
	}
	return all
}

// results are the results of a query.
type results struct{ *sql.Rows }

func (r results) Scan(fields ...any) error { return r.Rows.Scan(targets(fields, nil)...) }

// collecting has collect read all that is found, and says what went wrong.
func collecting(found *sql.Rows, err error, collect func(tables.Rows) error) error {
	if err != nil {
		return translate(err)
	}
	defer found.Close()
	if err := collect(results{found}); err != nil {
		return translate(err)
	}
	return translate(found.Err())
}

// Read implements [tables.Database].
func (d database) Read(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	found, err := d.query(ctx, textOf(text), storedAll(args)...)
	return collecting(found, err, collect)
}

// LookUp implements [tables.Database].
func (d database) LookUp(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return d.Read(ctx, collect, text, args...)
}

// Change implements [tables.Database].
func (d database) Change(ctx context.Context, apply func(tables.Transaction) error) error {
	return d.write(ctx, func(t txn) error { return apply(t) })
}

// shared is the transaction as tables sees it.
func (t txn) shared() tables.Tx { return tables.Tx{Transaction: t} }

var _ tables.Transaction = txn{}

// Queue implements [tables.Transaction].
func (t txn) Queue(text string, args ...any) {
	if *t.failed == nil {
		_, *t.failed = t.exec(text, storedAll(args)...)
	}
}

// Exec implements [tables.Transaction].
func (t txn) Exec(text string, args ...any) (int64, error) {
	if *t.failed != nil {
		return 0, *t.failed
	}
	r, err := t.exec(text, storedAll(args)...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Find implements [tables.Transaction].
func (t txn) Find(collect func(tables.Rows) error, text string, args ...any) error {
	if *t.failed != nil {
		return *t.failed
	}
	found, err := t.query(text, storedAll(args)...)
	return collecting(found, err, collect)
}

// Lock implements [tables.Transaction]: writes follow each other.
func (t txn) Lock(tables.Lock, string) {}

// Hold implements [tables.Transaction].
func (t txn) Hold(vim string) (bool, error) { return t.any(vimThere, vim) }

// Share implements [tables.Transaction].
func (t txn) Share(string) {}

// HoldLog implements [tables.Transaction].
func (t txn) HoldLog() error { return nil }

// Append implements [tables.Transaction].
func (t txn) Append(e audit.Entry) error {
	if *t.failed != nil {
		return *t.failed
	}
	return t.append(e)
}

// WakeJobs implements [tables.Transaction].
func (t txn) WakeJobs() { t.s.enqueued = true }

// Now implements [tables.Transaction].
func (t txn) Now() time.Time { return t.s.now() }

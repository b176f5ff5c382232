package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ broker.Store = (*Store)(nil)

// database has [tables.Tables] kept in SQLite.
type database struct{ *Store }

// dialect is how SQLite says and keeps what tables do.
var dialect = tables.Dialect{SQLite: true, Say: say, Store: stored, Into: targets}

// phrases are how SQLite says what PostgreSQL says.
var phrases = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(` FOR (KEY SHARE|SHARE|UPDATE)( SKIP LOCKED)?`), ``}, // writes follow each other
		{regexp.MustCompile(`\(document::jsonb ->> '(\w+)'\)`), `json_extract(document, '$$.$1')`},
		{regexp.MustCompile(`::\w+`), ``},
		{regexp.MustCompile(`= ANY \((\?\d*)\)`), `IN (SELECT value FROM json_each($1))`},
		{regexp.MustCompile(`'-infinity'`), `0`},
		{regexp.MustCompile(`greatest\(`), `max(`},
		{regexp.MustCompile(`json_object_agg\(`), `json_group_object(`},
		{regexp.MustCompile(`ARRAY\(SELECT (\S+) FROM`), `(SELECT json_group_array($1) FROM`},
		{regexp.MustCompile(`LIMIT (\?\d*)`), `LIMIT $1+0`}, // see query
		{regexp.MustCompile(`/\*by (\w+)\*/`), ` INDEXED BY $1`},
		{regexp.MustCompile(`/\*slow\*/`), `+`},
		{regexp.MustCompile(`/\*stowed\*/`), ``},
	}
})

type phrase struct {
	theirs *regexp.Regexp
	ours   string
}

func say(text string) string {
	for _, p := range phrases() {
		text = p.theirs.ReplaceAllString(text, p.ours)
	}
	return text
}

// collecting has collect read all that is found, and says what went wrong.
func collecting(found *sql.Rows, err error, collect func(tables.Rows) error) error {
	if err != nil {
		return translate(err)
	}
	defer found.Close()
	if err := collect(dialect.Rows(found)); err != nil {
		return translate(err)
	}
	return translate(found.Err())
}

// Read implements [tables.Database].
func (d database) Read(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	found, err := d.query(ctx, dialect.Text(text), dialect.Args(args)...)
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

var _ tables.Transaction = txn{}

// Queue implements [tables.Transaction].
func (t txn) Queue(text string, args ...any) {
	if *t.failed == nil {
		_, *t.failed = t.exec(text, dialect.Args(args)...)
	}
}

// Exec implements [tables.Transaction].
func (t txn) Exec(text string, args ...any) (int64, error) {
	if *t.failed != nil {
		return 0, *t.failed
	}
	r, err := t.exec(text, dialect.Args(args)...)
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
	found, err := t.query(text, dialect.Args(args)...)
	return collecting(found, err, collect)
}

// Ahead implements [tables.Transaction].
func (t txn) Ahead(collect func(tables.Rows) error, text string, args ...any) (need func() error) {
	return func() error { return t.Find(collect, text, args...) }
}

// Lock implements [tables.Transaction]: writes follow each other.
func (txn) Lock(tables.Lock, ...string) {}

// Share implements [tables.Transaction].
func (txn) Share(string) {}

// ShareVIMOf implements [tables.Transaction].
func (txn) ShareVIMOf(string) {}

// Spill implements [tables.Transaction]: a file that a write has grown needs its room already.
func (txn) Spill() {}

// HoldLog implements [tables.Transaction].
func (txn) HoldLog(bool) error { return nil }

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

package tables

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Row is a row that a query answers. Scan reads its columns, as the database keeps them, into pointers to fields.
// Spare notes in bad a document that cannot be read, where Scan fails.
type Row interface {
	Scan(fields ...any) error
	Spare(bad *bool, fields ...any) error
}

// Rows are those that a query answers. Their user reads them until Next says that there is no other.
type Rows interface {
	Row
	Next() bool
}

// Database is the part of a driver that its tables need. Errors are the broker's. Arguments and fields have Go's types:
// a driver stores times, durations and lists as its database keeps them.
type Database interface {
	// Read runs a query, and has collect read its rows: again from the beginning, if the query is run again. Its
	// plan is made for its arguments.
	Read(ctx context.Context, collect func(Rows) error, text string, args ...any) error
	// LookUp is Read for what finds few rows by an index, whatever its arguments are.
	LookUp(ctx context.Context, collect func(Rows) error, text string, args ...any) error
	// Change runs apply in a transaction, and returns once it is durable. If apply fails nothing is written, and its
	// error is returned unchanged. If it fails with [ErrNothing], Change returns nil. If ctx carries the claim of a
	// job that another worker has taken over, nothing is written: [job.ErrFenced]. Change may run apply several times.
	Change(ctx context.Context, apply func(Transaction) error) error
	// VIMQuery, LeaseQuery and EntryQuery write the queries of lists: which index finds few, each database must be
	// told in its own way. size is that of a page; the query asks for one more. Leases are listed at most down to end,
	// if that is not nil.
	VIMQuery(f broker.VIMFilter) (text string, args []any, size int, err error)
	LeaseQuery(f broker.LeaseFilter, end *rows.Position) (text string, args []any, size int, err error)
	EntryQuery(ctx context.Context, q audit.Query) (text string, args []any, err error)
	// LeaseWindowEnd asks for the last lease that a page of f may look at, where wider is what it looks at. It is ""
	// where f is a range of an index.
	LeaseWindowEnd(f, wider broker.LeaseFilter) (text string, args []any, err error)
	// Now tells the time of the database.
	Now() time.Time
}

// Transaction is one write's view of its database. The texts of its statements are among [Statements].
type Transaction interface {
	// Queue runs a statement whose answer is not needed. If the statement fails, so does the
	// transaction.
	Queue(text string, args ...any)
	// Exec runs a statement and returns how many rows it met.
	Exec(text string, args ...any) (int64, error)
	// Find runs a query, and has collect read its rows.
	Find(collect func(Rows) error, text string, args ...any) error
	// Ahead runs a query whose rows may be needed later. Collect has read them when need returns. A database that
	// takes a round trip to ask is asked together with the next statement, another one when need is called.
	Ahead(collect func(Rows) error, text string, args ...any) (need func() error)
	// Lock keeps others out that lock the same, until the transaction ends. A database whose writes follow each
	// other has nothing to do.
	Lock(kind Lock, names ...string)
	// Share locks a VIM against who locks it.
	Share(vim string)
	// ShareVIMOf locks the VIM of a lease against who locks it.
	ShareVIMOf(lease string)
	// AmendLease writes the columns of a lease that changed.
	AmendLease(old, next broker.Lease, changed rows.Columns[broker.Lease])
	// Stow returns the text that is to stand in the row of a lease for its sealed credential.
	Stow(lease, sealed string) string
	// Spill needs room where tables are, as most writes do sooner or later, and leaves nothing there.
	Spill()
	// HoldLog keeps others from adding to the tree of the audit log. It is [ErrNothing] if another does, unless it is
	// to wait.
	HoldLog(wait bool) error
	// Append records the write.
	Append(e audit.Entry) error
	// WakeJobs has the queue look for jobs once the transaction is committed.
	WakeJobs()
	// Now tells the time of the database.
	Now() time.Time
}

// Lock is a kind of lock that a [Transaction] takes.
type Lock string

// The locks of tables, with the names of their subjects, in the order in which they are taken; those without a remark
// with the project or client whose rows are counted. None is taken after lockGeneration.
const (
	lockRequest    Lock = "request" // the statement that looks for it, principal, idempotency key
	LockVIM        Lock = "vim"     // VIM
	lockPrincipal  Lock = "quota of principal"
	lockVIMQuota   Lock = "quota of VIM"
	lockProject    Lock = "quota of project"
	lockVIMs       Lock = "VIMs of project"
	lockGrant      Lock = "grant"      // VIM, digest
	lockGeneration Lock = "generation" // VIM

	lockPackages  Lock = "packages of project"
	lockTurns     Lock = "turns of operations"
	lockClients   Lock = "clients of project"
	lockInstances Lock = "VNF instances of project"
	lockAssets    Lock = "virtual links and volumes of project"
	lockSubs      Lock = "subscriptions of project"
	lockVNFGrants Lock = "grants of client"
	lockBundles   Lock = "bundles of project"
	lockTokenKeys Lock = "keys that sign tokens"
	lockTrust     Lock = "table of trust"
)

// ErrNothing says that there is nothing to write, and so nothing to record.
var ErrNothing = errors.New("nothing to write")

// Statements are the texts that transactions run, for a database that wants to know them beforehand.
var Statements []string

func statement(text string) string {
	Statements = append(Statements, text)
	return text
}

// sqlite are the statements that SQLite says in other words, by those of PostgreSQL.
var sqlite = map[string]string{}

// either is a statement that SQLite says in other words than PostgreSQL: it has columns and partial indexes of leases
// where PostgreSQL keeps tables beside them, or other functions.
func either(postgres, inSQLite string) string {
	sqlite[postgres] = inSQLite
	return postgres
}

// Dialect is how a database says and keeps what tables do.
type Dialect struct {
	// SQLite says that the database is one.
	SQLite bool
	// Say is its text of a statement.
	Say func(string) string
	// Store is its form of a value.
	Store func(any) any
	// Into are the destinations for scanning a row into fields. A document that cannot be read is noted in bad, if that
	// is not nil.
	Into func(fields []any, bad *bool) []any

	said sync.Map
}

// Text is the database's text of a statement, which is made once.
func (d *Dialect) Text(text string) string {
	said, ok := d.said.Load(text)
	if !ok {
		own, differs := sqlite[text]
		if !differs || !d.SQLite {
			own = text
		}
		said, _ = d.said.LoadOrStore(text, d.Say(own))
	}
	return said.(string)
}

// Args are arguments of a statement as the database keeps them.
func (d *Dialect) Args(args []any) []any {
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = d.Store(arg)
	}
	return all
}

// Scanner is what a driver has found.
type Scanner interface {
	Next() bool
	Scan(into ...any) error
}

// Rows are those that a driver has found.
func (d *Dialect) Rows(found Scanner) Rows { return &results{Scanner: found, into: d.Into} }

type results struct {
	Scanner
	into            func(fields []any, bad *bool) []any
	fields, targets []any
}

func (r *results) Scan(fields ...any) error { return r.Spare(nil, fields...) }

// Spare implements [Row]. Rows that are read into the same fields share their destinations.
func (r *results) Spare(bad *bool, fields ...any) error {
	if len(fields) != len(r.fields) || &fields[0] != &r.fields[0] {
		r.fields, r.targets = fields, r.into(fields, bad)
	}
	return r.Scanner.Scan(r.targets...)
}

var _ interface {
	asset.Store
	catalog.Store
	grant.Store
	lifecycle.Store
	notary.Store
	oauth.TokenKeyStore
	oauth.Store
	onboard.Store
	subscription.Store
	bundle.Store
} = (*Tables)(nil)

// Tables are the tables of a database. They may be used by several goroutines at once.
type Tables struct {
	db Database
	// Refused is what the database answers that takes no writes.
	Refused *rows.WriteRefusal
}

// Of returns the tables of a database.
func Of(db Database) Tables { return Tables{db, &rows.WriteRefusal{}} }

var (
	keepReplica = statement(`INSERT INTO replicas (id, version, fault, started_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (id) DO UPDATE SET version = ?2, fault = ?3, started_at = ?4, seen_at = ?5`)
	removeReplicas = statement(`DELETE FROM replicas WHERE id = ?1 OR seen_at < ?2`)
	allReplicas    = statement(`SELECT id, version, fault, started_at, seen_at FROM replicas ORDER BY id`)
)

// Check writes the row of this server, and so finds a database that is read-only or whose disk is full.
func (s *Tables) Check(ctx context.Context, r broker.Replica) error {
	err := s.Refused.Settle(func() error {
		return s.change(ctx, func(t Tx) error {
			t.Spill()
			t.queue(removeReplicas, "", t.Now().Add(-broker.ReplicaKept))
			t.queue(keepReplica, r.ID, r.Version, r.Fault, r.StartedAt, t.Now())
			return nil
		})
	})
	return doing(err, "checking the store")
}

// Replicas implements [broker.StatusStore].
func (s *Tables) Replicas(ctx context.Context) ([]broker.Replica, error) {
	all, err := read(ctx, s, func(row Row) (r broker.Replica, err error) {
		return r, row.Scan(&r.ID, &r.Version, &r.Fault, &r.StartedAt, &r.SeenAt)
	}, allReplicas)
	return all, doing(err, "listing replicas")
}

// RemoveReplica implements [broker.StatusStore].
func (s *Tables) RemoveReplica(ctx context.Context, id string) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(removeReplicas, id, t.Now().Add(-broker.ReplicaKept))
		return nil
	})
	return doing(err, "removing replica %s", id)
}

// Refusal implements [broker.StatusStore].
func (s *Tables) Refusal() error { return s.Refused.Last() }

func (s *Tables) change(ctx context.Context, apply func(Tx) error) error {
	return s.db.Change(ctx, func(t Transaction) error { return apply(Tx{t}) })
}

// write is change with the entry that records it.
func (s *Tables) write(ctx context.Context, e audit.Entry, apply func(Tx) error) error {
	return s.change(ctx, func(t Tx) error {
		if err := apply(t); err != nil {
			return err
		}
		return t.Append(e)
	})
}

// Append adds an entry that records no change of these tables.
func (s *Tables) Append(ctx context.Context, e audit.Entry) error {
	return doing(s.write(ctx, e, func(Tx) error { return nil }), "recording %s by %s", e.Action, e.Principal)
}

// run is change with one statement.
func (s *Tables) run(ctx context.Context, text string, args ...any) error {
	return s.change(ctx, func(t Tx) error {
		t.queue(text, args...)
		return nil
	})
}

// met is run, and counts the rows that the statement meets.
func (s *Tables) met(ctx context.Context, text string, args ...any) (n int, err error) {
	err = s.change(ctx, func(t Tx) error {
		met, err := t.Exec(text, args...)
		n = int(met)
		return err
	})
	return n, err
}

// recording is write, of what an entry records.
func (s *Tables) recording(e audit.Entry) func(context.Context, func(Tx) error) error {
	return func(ctx context.Context, apply func(Tx) error) error { return s.write(ctx, e, apply) }
}

// amend changes what read finds and locks by a function, and has the result stored in a transaction that write runs. The
// error of change is returned unchanged; any other error says what could not be done.
func amend[T any](
	ctx context.Context, write func(context.Context, func(Tx) error) error, what string,
	read func(Tx) (T, error), change func(*T) error, store func(t Tx, old, next T) (T, error),
) (T, error) {
	var stored, none T
	var refusal error
	err := write(ctx, func(t Tx) error {
		old, err := read(t)
		if err != nil {
			return err
		}
		next := old
		if refusal = change(&next); refusal != nil {
			return refusal
		}
		stored, err = store(t, old, next)
		return err
	})
	if refusal != nil {
		return none, refusal
	}
	if err != nil {
		return none, doing(err, "%s", what)
	}
	return stored, nil
}

// doing says what an error kept from being done.
func doing(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(what+": %w", append(args, err)...)
}

// Tx is a [Transaction] with what tables do in it.
type Tx struct{ Transaction }

func (t Tx) queue(text string, args ...any)  { t.Queue(text, args...) }
func (t Tx) lock(kind Lock, names ...string) { t.Lock(kind, names...) }

// first refuses a request whose idempotency key was used before, also by one that is being written at the same time.
func (t Tx) first(rule rows.Unique, taken, principal, key string) error {
	if key == "" {
		return nil
	}
	t.lock(lockRequest, taken, principal, key)
	found, err := t.there(taken, principal, key)
	if err == nil && found {
		return rule.Taken(nil)
	}
	return err
}

// any reports whether a statement meets a row.
func (t Tx) any(text string, args ...any) (bool, error) {
	met, err := t.Exec(text, args...)
	return met > 0, err
}

// there reports whether a query finds a row.
func (t Tx) there(text string, args ...any) (bool, error) {
	found := false
	err := t.Find(func(r Rows) error {
		found = r.Next()
		return nil
	}, text, args...)
	return found, err
}

// some is [ErrNothing] where a statement meets no row.
func (t Tx) some(text string, args ...any) error {
	met, err := t.any(text, args...)
	if err == nil && !met {
		return ErrNothing
	}
	return err
}

// orNothing is [ErrNothing] where there is no row to remove.
func orNothing[T any](v T, err error) (T, error) {
	if rows.IsNotFound(err) {
		err = ErrNothing
	}
	return v, err
}

// one runs an update that must meet a row.
func (t Tx) one(what, text string, args ...any) error {
	met, err := t.any(text, args...)
	if err == nil && !met {
		return rows.NotFound(what)
	}
	return err
}

// count runs a query that answers a number.
func (t Tx) count(text string, args ...any) (int64, error) {
	found, err := query(t, scalar[int64], text, args...)
	return rows.First("count", found, err)
}

func query[T any](t Tx, scan func(Row) (T, error), text string, args ...any) (all []T, err error) {
	err = t.Find(collect(scan, &all), text, args...)
	return all, err
}

func read[T any](ctx context.Context, s *Tables, scan func(Row) (T, error), text string, args ...any) (all []T, err error) {
	err = s.db.Read(ctx, collect(scan, &all), text, args...)
	return all, err
}

func lookUp[T any](ctx context.Context, s *Tables, scan func(Row) (T, error), text string, args ...any) (all []T, err error) {
	err = s.db.LookUp(ctx, collect(scan, &all), text, args...)
	return all, err
}

// collect reads rows with scan.
func collect[T any](scan func(Row) (T, error), all *[]T) func(Rows) error {
	return func(found Rows) error {
		*all = nil
		for found.Next() {
			one, err := scan(found)
			if err != nil {
				return err
			}
			*all = append(*all, one)
		}
		return nil
	}
}

// readMap reads rows of two columns.
func readMap[K comparable, V any](ctx context.Context, s *Tables, text string, args ...any) (map[K]V, error) {
	type pair struct {
		key   K
		value V
	}
	found, err := read(ctx, s, func(r Row) (p pair, err error) { return p, r.Scan(&p.key, &p.value) }, text, args...)
	all := make(map[K]V, len(found))
	for _, p := range found {
		all[p.key] = p.value
	}
	return all, err
}

// single reads the one value that a query answers.
func single[T any](ctx context.Context, s *Tables, text string, args ...any) (T, error) {
	found, err := read(ctx, s, scalar[T], text, args...)
	return rows.First("count", found, err)
}

// scalar scans a row of one column.
func scalar[T any](row Row) (v T, err error) { return v, row.Scan(&v) }

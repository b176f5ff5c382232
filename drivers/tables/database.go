package tables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Row is a row that a query answers. Scan reads its columns, as the database keeps them, into pointers to fields.
type Row interface{ Scan(fields ...any) error }

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
	// Lock keeps others out that lock the same, until the transaction ends. A database whose writes follow each
	// other has nothing to do.
	Lock(kind Lock, name string)
	// Hold locks a VIM against everyone else, and reports whether it is there.
	Hold(vim string) (bool, error)
	// Share locks a VIM against who holds it.
	Share(vim string)
	// HoldLog keeps others from adding to the tree of the audit log.
	HoldLog() error
	// Append records the write.
	Append(e audit.Entry) error
	// WakeJobs has the queue look for jobs once the transaction is committed.
	WakeJobs()
	// Now tells the time of the database.
	Now() time.Time
}

// Lock is a kind of lock that a [Transaction] takes.
type Lock string

// The locks of tables, each with the project or client whose rows are counted.
const (
	lockPackages  Lock = "packages of project"
	lockTurns     Lock = "turns of operations"
	lockClients   Lock = "clients of project"
	lockInstances Lock = "VNF instances of project"
	lockSubs      Lock = "subscriptions of project"
	lockVNFGrants Lock = "grants of client"
	lockTokenKeys Lock = "keys that sign tokens"
)

// ErrNothing says that there is nothing to write, and so nothing to record.
var ErrNothing = errors.New("nothing to write")

// Statements are the texts that transactions run, for a database that wants to know them beforehand.
var Statements []string

func statement(text string) string {
	Statements = append(Statements, text)
	return text
}

// Tables are the tables of a database. They may be used by several goroutines at once.
type Tables struct{ db Database }

// Of returns the tables of a database.
func Of(db Database) Tables { return Tables{db} }

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
	if err := s.write(ctx, e, func(Tx) error { return nil }); err != nil {
		return fmt.Errorf("recording %s by %s: %w", e.Action, e.Principal, err)
	}
	return nil
}

// amend changes what read finds and locks by a function, and has the result stored with the entry
// that records it. The error of change is returned unchanged; any other error says that the thing
// named what could not be updated.
func amend[T any](
	ctx context.Context, s *Tables, what string, e audit.Entry,
	read func(Tx) (T, error), change func(*T) error, store func(t Tx, old, next T) (T, error),
) (T, error) {
	var stored, none T
	var refusal error
	err := s.write(ctx, e, func(t Tx) error {
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
		return none, fmt.Errorf("updating %s: %w", what, err)
	}
	return stored, nil
}

// Tx is a [Transaction] with what tables do in it.
type Tx struct{ Transaction }

func (t Tx) queue(text string, args ...any) { t.Queue(text, args...) }
func (t Tx) lock(kind Lock, name string)    { t.Lock(kind, name) }

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

// scalar scans a row of one column.
func scalar[T any](row Row) (v T, err error) { return v, row.Scan(&v) }

const newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT ?`

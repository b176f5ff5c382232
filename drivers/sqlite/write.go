package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// writeStatements are prepared once, when the store opens: while a transaction
// has the one connection that writes, nothing can be prepared on it.
var writeStatements []string

func prepared(text string) string {
	writeStatements = append(writeStatements, text)
	return text
}

// maxBatch bounds how many writes one commit holds, and with it how long the
// first of them waits for the others.
const maxBatch = 64

// batch is one transaction that several writes share.
type batch struct {
	txn
	writes int
	broken error         // why it cannot be committed
	done   chan struct{} // closed when it is committed, or will never be
	err    error         // set before done is closed
}

// write runs apply in a transaction, and returns once it is committed. If apply fails, its writes are undone
// and its error is returned unchanged; [tables.ErrNothing] is success. If ctx carries the claim of a job that
// another worker has taken over, apply is not run.
//
// Writes run one after the other, each in the goroutine of its caller. A write that finds
// others waiting behind it leaves the commit to them; the last one commits for all. No
// write returns before that: even an error may rest on rows that the others wrote
// ("already exists").
func (s *Store) write(ctx context.Context, apply func(txn) error) (err error) {
	defer func() { err = s.Refused.Note(err) }()
	s.waiting.Add(1)
	s.turn.Lock()
	s.waiting.Add(-1)

	b, err := s.join(ctx, held(ctx, func(t txn) error {
		t.failed = new(error)
		err := apply(t)
		return cmp.Or(*t.failed, err)
	}))
	if b != nil {
		<-b.done
		err = cmp.Or(b.err, err)
	}
	if errors.Is(err, tables.ErrNothing) {
		return nil
	}
	return err
}

// join runs apply in the open batch, and gives the turn away. A caller whose
// context has ended does not take part, but does its duty of committing.
func (s *Store) join(ctx context.Context, apply func(txn) error) (*batch, error) {
	defer s.pass()
	if s.closed.Load() {
		return nil, rows.Closed()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	first := s.open == nil
	if first {
		// Not ctx: it would take the others' writes back when it ends.
		tx, err := s.writer.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return nil, translate(err)
		}
		s.open = &batch{txn: txn{tx: tx, s: s}, done: make(chan struct{})}
	}
	b, end, kept := s.open, s.end, false
	b.writes++
	defer func() { // also when apply panics
		if kept {
			return
		}
		s.end = end
		if first {
			_ = b.tx.Rollback() // SQLite may have rolled back by itself
			s.open = nil
		}
	}()
	if first { // and alone: what fails takes the transaction back as a whole
		if err := apply(b.txn); err != nil {
			return nil, err
		}
	} else if err := b.behindSavepoint(apply); err != nil {
		return b, err
	}
	kept = true
	return b, nil
}

// pass commits the open batch unless someone waits who will.
func (s *Store) pass() {
	defer s.turn.Unlock()
	b := s.open
	if b == nil {
		return
	}
	if b.broken == nil && b.writes < maxBatch && s.waiting.Load() > 0 {
		return
	}
	s.finish(b)
}

func (s *Store) finish(b *batch) {
	s.open = nil
	if b.broken != nil {
		s.end = 0
		_ = b.tx.Rollback() // SQLite may have rolled back by itself
		b.err = b.broken
	} else {
		failpoint.At("store.before-commit")
		if b.err = translate(b.tx.Commit()); b.err != nil {
			s.end = 0
		}
		failpoint.At("store.after-commit")
	}
	if s.enqueued {
		s.enqueued = false
		queue.Wake(s.wake)
	}
	close(b.done)
}

var (
	savepoint  = prepared(`SAVEPOINT one_write`)
	release    = prepared(`RELEASE one_write`)
	rollbackTo = prepared(`ROLLBACK TO one_write`)
)

// behindSavepoint lets apply write behind a savepoint. If the savepoint cannot be
// handled, SQLite has ended the transaction by itself (disk full, I/O error), and all its
// writes with it.
func (b *batch) behindSavepoint(apply func(txn) error) (err error) {
	if _, err := b.exec(savepoint); err != nil {
		return b.breakWith(err)
	}
	end := rollbackTo // also when apply panics
	defer func() {
		if _, endErr := b.exec(end); endErr != nil {
			err = b.breakWith(cmp.Or(err, endErr))
			return
		}
		if end == rollbackTo { // which leaves the savepoint open
			if _, endErr := b.exec(release); endErr != nil {
				err = b.breakWith(endErr)
			}
		}
	}()
	if err := apply(b.txn); err != nil {
		return err
	}
	end = release
	return nil
}

// breakWith marks the batch as one that cannot be committed.
func (b *batch) breakWith(cause error) error {
	b.broken = rows.Unavailable(cause)
	return b.broken
}

// txn is one write's view of the transaction.
type txn struct {
	tx *sql.Tx
	s  *Store
	// failed is the error of a queued statement.
	failed *error
}

func (t txn) exec(text string, args ...any) (sql.Result, error) {
	r, err := t.stmt(text).Exec(args...)
	return r, translate(err)
}

func (t txn) queryRow(text string, args ...any) *sql.Row { return t.stmt(text).QueryRow(args...) }

func (t txn) query(text string, args ...any) (*sql.Rows, error) {
	found, err := t.stmt(text).Query(args...)
	return found, translate(err)
}

func (t txn) stmt(text string) *sql.Stmt { return t.tx.Stmt(t.s.prepared[text]) }

// any reports whether a query finds a row.
func (t txn) any(text string, args ...any) (bool, error) {
	found, err := t.query(text, args...)
	if err != nil {
		return false, err
	}
	defer found.Close()
	any := found.Next()
	return any, translate(found.Err())
}

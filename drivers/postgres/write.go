package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// tries is how often a call is begun, if others keep getting in its way.
const tries = 5

// errNothing: there is nothing to write, and so nothing to record.
var errNothing = tables.ErrNothing

// change runs apply in a transaction, and returns once that is durable. If apply fails, nothing is written and its error is
// returned unchanged; errNothing writes nothing, and is success. If ctx carries the claim of a job that
// another worker has taken over, nothing is written: [job.ErrFenced].
func (s *Store) change(ctx context.Context, apply func(txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var err error
	for try := 1; ; try++ {
		var committing bool
		if committing, err = s.attempt(bounded, apply); committing || try == tries || !s.again(err) {
			break
		}
		select {
		case <-bounded.Done():
		case <-time.After(rand.N(time.Duration(try) * 20 * time.Millisecond)): //nolint:gosec // a pause needs no secrecy
		}
	}
	if errors.Is(err, errNothing) {
		return nil
	}
	return s.Refused.Note(s.outcome(ctx, bounded, err))
}

const begin = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`

// attempt runs one transaction. Once committing is said, a transaction whose
// outcome was lost may have been committed.
func (s *Store) attempt(ctx context.Context, apply func(txn) error) (committing bool, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	t := txn{ctx, conn, s, &pgx.Batch{}, new(bool)}
	// Also when apply panics. If this fails the connection is broken, and the transaction
	// ends with it.
	defer func() {
		if t.begun() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
			defer cancel()
			_, _ = conn.Exec(ctx, `ROLLBACK`)
		}
	}()
	t.queue(begin)
	t.demandClaim(ctx)
	if err := apply(t); err != nil {
		return false, err
	}
	failpoint.At("store.before-commit")
	committing, err = t.commit()
	failpoint.At("store.after-commit")
	if *t.enqueued {
		queue.Wake(s.wake)
	}
	return committing, err
}

// txn is one write's view of the transaction. A statement whose answer is not needed is
// queued, and sent with the next one whose answer is: a round trip less, most of them
// while others wait for a lock.
type txn struct {
	ctx    context.Context
	conn   *pgxpool.Conn
	s      *Store
	queued *pgx.Batch
	// enqueued is set by what makes jobs due.
	enqueued *bool
}

// queue leaves a statement to be sent by the next send, at the latest with the
// commit, which returns its error.
func (t txn) queue(text string, args ...any) *pgx.QueuedQuery { return t.queued.Queue(text, args...) }

// send runs the queued statements, in order, in one round trip. Statements after an error
// are not run.
func (t txn) send() error {
	batch := *t.queued
	*t.queued = pgx.Batch{}
	return translate(t.conn.SendBatch(t.ctx, &batch).Close())
}

// begun reports whether the transaction is open in the database.
func (t txn) begun() bool { return t.conn.Conn().PgConn().TxStatus() != 'I' }

// reach sends what is queued if nothing was yet: that a connection has died while
// it was idle is found while nothing can have been committed.
func (t txn) reach() error {
	if t.begun() {
		return nil
	}
	return t.send()
}

// commit sends the rest and ends the transaction. If committing is false the database has
// said that it did not commit.
func (t txn) commit() (committing bool, err error) {
	if err := t.reach(); err != nil {
		return false, err
	}
	// Not the caller's context: its end would leave open what became of the write.
	done, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), callLimit)
	defer cancel()
	t.ctx = done
	var said string
	t.queue(`COMMIT`).Exec(func(tag pgconn.CommandTag) error {
		said = tag.String()
		return nil
	})
	err = t.send()
	if said == "COMMIT" {
		return true, nil
	}
	if err == nil {
		err = rows.Unavailable(pgx.ErrTxCommitRollback)
	}
	var a *answer
	return !errors.As(err, &a), err
}

func (t txn) exec(text string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	t.queue(text, args...).Exec(func(got pgconn.CommandTag) error {
		tag = got
		return nil
	})
	err := t.send()
	return tag, err
}

// queueRows queues a query whose rows are scanned into all when it is sent.
func queueRows[T any](t txn, scan func(pgx.CollectableRow) (T, error), all *[]T, text string, args ...any) {
	t.queue(text, args...).Query(func(found pgx.Rows) (err error) {
		*all, err = pgx.CollectRows(found, scan)
		return err
	})
}

// query runs a query in the transaction and scans its rows.
func query[T any](t txn, scan func(pgx.CollectableRow) (T, error), text string, args ...any) ([]T, error) {
	var all []T
	queueRows(t, scan, &all, text, args...)
	return all, t.send()
}

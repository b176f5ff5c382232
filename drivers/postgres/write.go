package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// tries is how often a call is begun, if others keep getting in its way.
const tries = 5

// write runs apply in a transaction with the entry that records it, and returns
// once both are durable. When apply errs, nothing is written and its error is
// returned as it is. An apply that returns errNothing writes nothing, and is success.
func (s *Store) write(ctx context.Context, e audit.Entry, apply func(txn) error) error {
	return s.change(ctx, func(t txn) error {
		if err := apply(t); err != nil {
			return err
		}
		return t.append(e)
	})
}

// errNothing: there is nothing to write, and so nothing to record.
var errNothing = errors.New("nothing to write")

// change is write for what no entry records.
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
	return s.outcome(ctx, bounded, err)
}

// attempt runs one transaction. Once committing is said, a transaction whose
// outcome was lost may have been committed.
func (s *Store) attempt(ctx context.Context, apply func(txn) error) (committing bool, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return false, translate(err)
	}
	// Also when apply panics. Where this fails the connection is broken, and with it
	// the transaction ends.
	defer func() {
		if !committing {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
			defer cancel()
			_ = tx.Rollback(ctx)
		}
	}()
	if err := apply(txn{ctx, tx, s}); err != nil {
		return false, err
	}
	failpoint.At("store.before-commit")
	// Not the caller's context: its end would leave open what became of the write.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	err = translate(tx.Commit(done))
	failpoint.At("store.after-commit")
	return true, err
}

// txn is one write's view of the transaction.
type txn struct {
	ctx context.Context
	tx  pgx.Tx
	s   *Store
}

func (t txn) exec(text string, args ...any) (pgconn.CommandTag, error) {
	tag, err := t.tx.Exec(t.ctx, text, args...)
	return tag, translate(err)
}

// any reports whether a query finds a row.
func (t txn) any(text string, args ...any) (bool, error) {
	tag, err := t.exec(text, args...)
	return tag.RowsAffected() > 0, err
}

// one runs an update that must meet a row.
func (t txn) one(what, text string, args ...any) error {
	found, err := t.any(text, args...)
	if err == nil && !found {
		return notFound(what)
	}
	return err
}

// rows runs a query in the transaction and scans its rows.
func rows[T any](t txn, scan func(pgx.CollectableRow) (T, error), text string, args ...any) ([]T, error) {
	found, err := t.tx.Query(t.ctx, text, args...)
	if err != nil {
		return nil, translate(err)
	}
	all, err := pgx.CollectRows(found, scan)
	return all, translate(err)
}

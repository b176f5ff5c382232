package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// sequenceEvery is the interval at which each process looks for entries that wait for
	// their place.
	sequenceEvery = 500 * time.Millisecond
	// sequenceAtOnce bounds the number of entries that get their place in one transaction.
	sequenceAtOnce = 2000

	tryLock   = `SELECT pg_try_advisory_xact_lock($1)`
	waitLock  = `SELECT true FROM pg_advisory_xact_lock($1)`
	dropInbox = `DELETE FROM audit_inbox WHERE id = ANY($1)`
	moveHead  = `UPDATE audit_head SET seq = $1 WHERE id = 1`
)

var (
	insertInbox = numbered(rows.WaitingColumns.Insert(`audit_inbox`))
	readInbox   = `SELECT id, ` + rows.WaitingColumns.Names() + ` FROM audit_inbox WHERE id > $1 ORDER BY id LIMIT $2`
)

var _ audit.Log = (*Store)(nil)

// waiting is an entry in the inbox.
type waiting struct {
	id int64
	audit.Entry
}

func scanWaiting(row pgx.CollectableRow) (w waiting, err error) {
	return w, scan(row, append([]any{&w.id}, rows.WaitingColumns.Fields(&w.Entry)...), nil)
}

// Grow implements [audit.Log].
func (s *Store) Grow(ctx context.Context) error {
	if err := s.sequenceAll(ctx); err != nil {
		return err
	}
	return s.Tables.Grow(ctx)
}

// sequenceAll gives all entries their places that wait now.
func (s *Store) sequenceAll(ctx context.Context) error {
	for moved := sequenceAtOnce; moved == sequenceAtOnce; {
		var err error
		if moved, err = s.sequence(ctx, waitLock); err != nil {
			return fmt.Errorf("sequencing the audit log: %w", err)
		}
	}
	return nil
}

// sequence moves entries from the inbox to the end of the log: those of all writers
// that have committed. lock takes the log's lock; if the lock is not free, there is
// nothing to do.
func (s *Store) sequence(ctx context.Context, lock string) (moved int, err error) {
	var newest int64
	err = s.change(ctx, func(t txn) error {
		moved = 0
		if err := t.demand(lock); err != nil {
			return err
		}
		var end []int64
		queueRows(t, scalar[int64], &end, readHead)
		found, err := query(t, scanWaiting, readInbox, s.inbox.from(time.Now()), sequenceAtOnce)
		if err != nil {
			return err
		}
		if len(found) == 0 || len(end) == 0 {
			return errNothing
		}
		last := end[0]
		ids, stored := make([]int64, len(found)), make([][]any, len(found))
		for i, w := range found {
			last++
			w.Seq = last
			ids[i], stored[i] = w.id, dialect.Args(rows.EntryColumns.Values(&w.Entry))
		}
		if _, err := t.conn.Conn().CopyFrom(t.ctx, pgx.Identifier{"audit_entries"}, rows.EntryColumns.List(),
			pgx.CopyFromRows(stored)); err != nil {
			return translate(err)
		}
		t.queue(dropInbox, ids)
		t.queue(moveHead, last)
		moved, newest = len(found), ids[len(ids)-1]
		return nil
	})
	if err != nil {
		return 0, err
	}
	if moved > 0 {
		s.inbox.passed(time.Now(), newest)
	}
	return moved, nil
}

// demand takes the lock of the log; there is nothing to do for who does not get it.
func (t txn) demand(lock string) error {
	got, err := query(t, scalar[bool], lock, lockKey(lockLog))
	if err == nil && (len(got) == 0 || !got[0]) {
		return errNothing
	}
	return err
}

// keepSequencing gives entries their places until ctx ends. Every process does, and
// what one is doing the others leave to it: so none has to notice that another died.
func (s *Store) keepSequencing(ctx context.Context, log *slog.Logger) {
	audit.Keep(ctx, sequenceEvery, log, func(ctx context.Context) error {
		_, err := s.sequence(ctx, tryLock)
		if err == nil {
			_, err = s.GrowTree(ctx, false)
		}
		return err
	})
}

const (
	// lateCommit is the time after a later entry in which an entry can still be
	// committed: no transaction takes that long.
	lateCommit = 5 * time.Minute
	// wholeInbox is the interval at which the inbox is read from its beginning all the
	// same.
	wholeInbox = time.Hour
)

// inbox remembers where unread entries begin, so that rows which are gone, and which
// an old snapshot keeps from being removed, are not read past again and again.
type inbox struct {
	mu    sync.Mutex
	whole time.Time // when it was last read from its beginning
	marks []mark    // oldest first
}

// mark says that everything up to an id had been read at a time.
type mark struct {
	at time.Time
	id int64
}

// from returns the id after which unread entries can be.
func (i *inbox) from(now time.Time) int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	if now.Sub(i.whole) >= wholeInbox {
		i.whole = now
		return 0
	}
	for len(i.marks) > 1 && now.Sub(i.marks[1].at) >= lateCommit {
		i.marks = i.marks[1:]
	}
	if len(i.marks) == 0 || now.Sub(i.marks[0].at) < lateCommit {
		return 0
	}
	return i.marks[0].id
}

// read returns the id that from would, and changes nothing.
func (i *inbox) read(now time.Time) int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.marks) == 0 || now.Sub(i.marks[0].at) < lateCommit {
		return 0
	}
	return i.marks[0].id
}

// passed notes that entries up to an id were read. The notes are some seconds apart.
func (i *inbox) passed(now time.Time, id int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.marks); n == 0 || now.Sub(i.marks[n-1].at) >= lateCommit/20 {
		i.marks = append(i.marks, mark{now, id})
	}
}

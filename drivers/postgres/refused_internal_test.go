package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestATableThatIsGoneIsMissed, by whatever reads it first, with what could not be done.
func TestATableThatIsGoneIsMissed(t *testing.T) {
	ctx, dsn := t.Context(), real.Postgres(t).DSN(t)
	o := Options{DSN: secret.NewText(dsn)}
	s := withLeaseIn(t, dsn)
	change := func(do func(txn) error) error { return s.change(ctx, do) }
	for _, c := range []struct {
		table, what, want string
		do                func() error
	}{
		{"audit_inbox", "Behind", "looking how far the audit log is behind", func() error { _, err := s.Behind(ctx); return err }},
		{"audit_inbox", "Grow", "sequencing the audit log", func() error { return s.Grow(ctx) }},
		{"audit_inbox", "a write", "", func() error { return s.Append(ctx, entryOf("x")) }},
		{"audit_tree", "Behind", "looking how far the audit log is behind", func() error { _, err := s.Behind(ctx); return err }},
		{"audit_tree", "Grow", "growing the tree", func() error { return s.Grow(ctx) }},
		{"audit_head", "Grow", "sequencing the audit log", func() error { return s.Grow(ctx) }},
		{"audit_entries", "Grow", "sequencing the audit log", func() error {
			if err := s.Append(ctx, entryOf("waits")); err != nil {
				t.Error(err)
			}
			return s.Grow(ctx)
		}},
		{"audit_entries", "a list by time", "reading the audit log", func() error { _, err := s.Entries(ctx, audit.Query{Since: time.Unix(1, 0), Limit: 1}); return err }},
		{"jobs", "Load", "counting jobs", func() error { _, err := s.Load(ctx, time.Now()); return err }},
		{"jobs", "a write of a worker", "", func() error {
			return s.change(job.WithClaim(ctx, job.Claim{Job: job.Job{Kind: "k", Subject: "s"}}), func(txn) error { return nil })
		}},
		{"schema_floor", "Status", "reading the oldest version", func() error { _, err := Status(ctx, o); return err }},
		{"schema_floor", "Unguarded", "reading the oldest version", func() error { _, err := s.Unguarded(ctx); return err }},
		{"schema_floor", "Copy", "copying into store", func() error { _, err := Copy(ctx, o, nil); return err }},
		{"audit_inbox", "Copy", "copying into store", func() error { _, err := Copy(ctx, o, nil); return err }},
		{"sessions", "Copy", "copying into store", func() error { _, err := Copy(ctx, o, nil); return err }},
		{"vims", "a statement that is queued", "", func() error { return change(func(t txn) error { t.queue(`DELETE FROM vims WHERE false`); return nil }) }},
		{"vims", "a statement before", "", func() error {
			return change(func(t txn) error {
				need := t.Ahead(nil, `SELECT id FROM vims`)
				return need()
			})
		}},
	} {
		if err := s.Execute(ctx, `ALTER TABLE `+c.table+` RENAME TO taken_away`); err != nil {
			t.Fatal(err)
		}
		err := c.do()
		if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s, %s is %v, want ErrUnsupported, and %q", c.table, c.what, err, c.want)
		}
		if err := s.Execute(ctx, `ALTER TABLE taken_away RENAME TO `+c.table); err != nil {
			t.Fatal(err)
		}
	}
	for what, call := range map[string]func(Options) error{
		"Status":  func(o Options) error { _, err := Status(ctx, o); return err },
		"Migrate": func(o Options) error { _, err := Migrate(ctx, o); return err },
		"Copy":    func(o Options) error { _, err := Copy(ctx, o, nil); return err },
	} {
		if err := call(Options{DSN: secret.NewText(strings.Replace(dsn, "/broker", "/nobroker", 1))}); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("%s of a database that is not there = %v, want ErrUnavailable", what, err)
		}
	}
}

func (s *Store) Execute(ctx context.Context, text string) error {
	_, err := s.pool.Exec(ctx, text)
	return err
}

// TestWhatAnotherHoldsIsLeft: the log's lock is another's.
func TestWhatAnotherHoldsIsLeft(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	ctx := t.Context()
	if err := s.Append(ctx, entryOf("waits")); err != nil {
		t.Fatal(err)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, waitLock, lockKey(lockLog)); err != nil {
			return err
		}
		if moved, err := s.sequence(ctx, tryLock); moved != 0 || err != nil {
			return fmt.Errorf("%d entries get a place beside who holds the lock, %w", moved, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if moved, err := s.sequence(ctx, tryLock); moved != 1 || err != nil {
		t.Errorf("%d entries get a place once the lock is free, %v; want 1", moved, err)
	}
}

// TestAChangeWhoseCommitIsNotAnsweredIsMadeOnce: nobody knows what came of it, and so it is not tried again.
func TestAChangeWhoseCommitIsNotAnsweredIsMadeOnce(t *testing.T) {
	s, ctx := mustOpen(t, real.Postgres(t).DSN(t)), t.Context()
	// A commit with a row in the table waits for whoever holds the lock: its answer cannot come before we hang up.
	for _, text := range []string{
		`CREATE TABLE waits (n int)`,
		`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'`,
		`CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON waits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`,
	} {
		if err := s.Execute(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	tries := 0
	err := pgx.BeginFunc(ctx, s.pool, func(holder pgx.Tx) error {
		if _, err := holder.Exec(ctx, `SELECT pg_advisory_xact_lock(42)`); err != nil {
			return err
		}
		return s.change(ctx, func(t txn) error {
			tries++
			if err := t.reach(); err != nil || tries > 1 {
				return err
			}
			if _, err := t.conn.Exec(ctx, `INSERT INTO waits VALUES (1)`); err != nil {
				return err
			}
			return t.conn.Conn().PgConn().Conn().(interface{ CloseRead() error }).CloseRead()
		})
	})
	if !errors.Is(err, broker.ErrUnavailable) || tries != 1 {
		t.Errorf("after %d tries it is %v, want ErrUnavailable after one", tries, err)
	}
}

// TestACallEndsWithItsCaller, whatever it is about to do.
func TestACallEndsWithItsCaller(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	ended, end := context.WithCancel(t.Context())
	end()
	for what, call := range map[string]func() error{
		"a read":       func() error { _, err := s.VIM(ended, "v"); return err },
		"a write":      func() error { return s.Append(ended, entryOf("x")) },
		"a schema":     func() error { _, err := s.schema(ended, released()); return err },
		"a last":       func() error { _, err := s.lastOf(ended, "vims"); return err },
		"a step":       func() error { return s.patiently(ended, "m", func() error { return nil }) },
		"migrating":    func() error { _, err := s.migrating(ended); return err },
		"the sessions": func() error { return s.demandSessions(ended) },
		"the guards":   func() error { _, err := s.Unguarded(ended); return err },
		"the clock":    func() error { return s.readClock(ended) },
	} {
		if err := call(); err == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("%s of a caller who has gone = %v", what, err)
		}
	}
}

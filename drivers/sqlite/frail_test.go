package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// frail is SQLite's driver, whose calls fail where a test says so.
type frail struct {
	driver.Driver
	mu    sync.Mutex
	fails func(step string) bool
}

func (f *frail) step(step string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails(step) {
		return errStumbled
	}
	return nil
}

// set says which steps fail from now on.
func (f *frail) set(fails func(step string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails = fails
}

var theFrail = sync.OnceValue(func() *frail {
	plain, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	f := &frail{Driver: plain.Driver(), fails: func(string) bool { return false }}
	sql.Register("frail", f)
	return f
})

// throughFrail has stores opened through the frail driver until the test ends.
func throughFrail(t *testing.T) *frail {
	t.Helper()
	f, usual := theFrail(), ThroughDriver
	ThroughDriver = "frail"
	t.Cleanup(func() {
		ThroughDriver = usual
		f.set(func(string) bool { return false })
	})
	return f
}

func (f *frail) Open(name string) (driver.Conn, error) {
	if err := f.step("open"); err != nil {
		return nil, err
	}
	c, err := f.Driver.Open(strings.Replace(name, "synchronous(FULL)", "synchronous(OFF)", 1)) // no power failure here
	if err != nil {
		return nil, err
	}
	return &frailConn{c.(conn), f}, nil
}

type frailConn struct {
	conn
	f *frail
}

func (c *frailConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if err := c.f.step("prepare " + text); err != nil {
		return nil, err
	}
	s, err := c.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &frailStmt{s.(stmt), c.f, text}, nil
}

func (c *frailConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.f.step("begin"); err != nil {
		return nil, err
	}
	tx, err := c.conn.BeginTx(ctx, o)
	return frailTx{tx, c.f}, err
}

func (c *frailConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.f.step("exec " + text); err != nil {
		return nil, err
	}
	return c.conn.ExecContext(ctx, text, args)
}

func (c *frailConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return c.f.query(text, func() (driver.Rows, error) { return c.conn.QueryContext(ctx, text, args) })
}

func (c *frailConn) Close() error {
	return errors.Join(c.conn.Close(), c.f.step("close"))
}

type frailTx struct {
	driver.Tx
	f *frail
}

func (t frailTx) Commit() error {
	if err := t.f.step("commit"); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

type frailStmt struct {
	stmt
	f    *frail
	text string
}

func (s *frailStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.f.step("exec " + s.text); err != nil {
		return nil, err
	}
	return s.stmt.ExecContext(ctx, args)
}

func (s *frailStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.f.query(s.text, func() (driver.Rows, error) { return s.stmt.QueryContext(ctx, args) })
}

func (f *frail) query(text string, query func() (driver.Rows, error)) (driver.Rows, error) {
	if err := f.step("query " + text); err != nil {
		return nil, err
	}
	found, err := query()
	return frailRows{found, f, text}, err
}

type frailRows struct {
	driver.Rows
	f    *frail
	text string
}

func (r frailRows) Next(into []driver.Value) error {
	if err := r.f.step("next " + r.text); err != nil {
		return err
	}
	return r.Rows.Next(into)
}

// TestAStoreThatCannotBeOpenedSaysSo: each step of opening it fails once, of a new file and of one that is there. Of the
// statements that are prepared, the first two do, and the last.
func TestAStoreThatCannotBeOpenedSaysSo(t *testing.T) {
	f := throughFrail(t)
	old := filepath.Join(t.TempDir(), "old.db")
	_ = mustOpen(t, old).Close()
	for _, path := range []string{"", old} {
		var steps []string
		open := func() error {
			at := path
			if at == "" {
				at = filepath.Join(t.TempDir(), "new.db")
			}
			s, err := Open(t.Context(), Options{Path: at})
			if err == nil {
				err = s.Close()
			}
			return err
		}
		f.set(func(step string) bool { steps = append(steps, step); return false })
		if err := open(); err != nil {
			t.Fatal(err)
		}
		var chosen []int
		var prepared []int
		for n, step := range steps {
			if strings.HasPrefix(step, "prepare ") {
				prepared = append(prepared, n)
			} else {
				chosen = append(chosen, n)
			}
		}
		for _, n := range append(chosen, prepared[0], prepared[1], prepared[len(prepared)-1]) {
			at := 0
			f.set(func(string) bool { at++; return at == n+1 })
			if err := open(); !errors.Is(err, errStumbled) {
				t.Errorf("where this fails, Open and Close of %q = %v: %s", path, err, steps[n])
			}
		}
		f.set(func(string) bool { return false })
		if err := open(); err != nil {
			t.Errorf("Open of %q after failed ones = %v", path, err)
		}
	}
}

// TestWhatSQLiteFailsAtIsSaid: a step of each way that the store asks SQLite fails.
func TestWhatSQLiteFailsAtIsSaid(t *testing.T) {
	f := throughFrail(t)
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	ctx := t.Context()
	if err := s.Append(ctx, entryOf("before")); err != nil {
		t.Fatal(err)
	}
	claimed := job.WithClaim(ctx, job.Claim{Job: job.Job{Kind: "k", Subject: "s"}})
	fresh := func(do func() error) func() error { // the end of the log is read again
		return func() error { s.end = 0; return do() }
	}
	add := func() error { return s.Append(ctx, entryOf("x")) }
	since := func() error {
		_, err := s.Entries(ctx, audit.Query{Since: time.Unix(1, 0), Limit: 1})
		return err
	}
	dump := func() (err error) {
		for _, err = range s.Dump(ctx, "audit_entries", []string{"seq"}, "seq") { //nolint:revive // the last one counts
		}
		return err
	}
	vim := func() error { _, err := s.VIM(ctx, "v"); return err }
	find := func() error {
		_, err := s.UpdateVIM(ctx, "v", func(*broker.VIM) error { return nil }, entryOf("x"))
		return err
	}
	for _, c := range []struct {
		step string
		do   func() error
	}{
		{"query SELECT 1 FROM jobs", func() error { return s.write(claimed, func(txn) error { return nil }) }},
		{"next SELECT 1 FROM jobs", func() error { return s.write(claimed, func(txn) error { return nil }) }},
		{"begin", add},
		{"commit", add},
		{"query SELECT seq FROM audit_entries", fresh(add)},
		{"next SELECT seq FROM audit_entries", fresh(add)},
		{"exec INSERT INTO audit_entries", add},
		{"query SELECT count(*) FROM (SELECT 1 FROM audit_entries", since},
		{"next SELECT count(*) FROM (SELECT 1 FROM audit_entries", since},
		{"query SELECT seq, time", since},
		{"next SELECT seq, time", since},
		{"query SELECT seq FROM audit_entries ORDER BY seq", dump},
		{"next SELECT seq FROM audit_entries ORDER BY seq", dump},
		{"prepare FROM vims v LEFT JOIN", vim},
		{"query FROM vims v LEFT JOIN", vim},
		{"next FROM vims v LEFT JOIN", vim},
		{"query FROM vims v LEFT JOIN", find},
		{"next FROM vims v LEFT JOIN", find},
		{"exec UPDATE jobs SET due_at", func() error { return s.Run(ctx, nil, testlog.Silent(t)) }},
		{"query FROM sqlite_", func() error { _, err := s.Unguarded(ctx); return err }},
		{"next FROM sqlite_", func() error { _, err := s.Unguarded(ctx); return err }},
	} {
		met := ""
		kind, text, _ := strings.Cut(c.step, " ")
		f.set(func(step string) bool {
			if strings.HasPrefix(step, kind) && strings.Contains(strings.Join(strings.Fields(step), " "), text) {
				met = step
				return true
			}
			return false
		})
		if err := c.do(); met == "" || !errors.Is(err, errStumbled) {
			t.Errorf("where %q fails it is %v (it was asked: %v)", c.step, err, met != "")
		}
	}
	f.set(func(step string) bool { return strings.HasPrefix(step, "query SELECT EXISTS") })
	if !s.ungrown(ctx) {
		t.Error("there is nothing to take up where nobody can tell")
	}
	f.set(func(step string) bool { return step == "commit" })
	if err := add(); !errors.Is(err, errStumbled) {
		t.Errorf("a write that is not committed = %v", err)
	}
	f.set(func(string) bool { return false })
	if err := add(); err != nil {
		t.Errorf("the write after it = %v", err)
	}
	if got := allEntries(t, s); len(got) != 2 || got[1].Seq != 2 {
		t.Errorf("%d entries, want the one before and the last, without a gap: %+v", len(got), got)
	}
}

// TestADumpHasItsOrderAndEndsWhereItsReaderDoes reads stored rows.
func TestADumpHasItsOrderAndEndsWhereItsReaderDoes(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	for _, resource := range []string{"b", "c", "a"} {
		if err := s.Append(t.Context(), entryOf(resource)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		order, want string
		most        int
	}{{"", "b1c2a3", 9}, {"resource", "a3b1c2", 9}, {"resource", "a3b1", 2}} {
		got := ""
		for row, err := range s.Dump(t.Context(), "audit_entries", []string{"resource", "seq"}, c.order) {
			if err != nil {
				t.Fatal(err)
			}
			if got += fmt.Sprint(row...); len(got) == 2*c.most {
				break
			}
		}
		if got != c.want {
			t.Errorf("a dump by %q, of at most %d rows: %s, want %s", c.order, c.most, got, c.want)
		}
	}
}

// TestADirectoryThatIsNoneIsRefused, and what stands where the store's files belong.
func TestADirectoryThatIsNoneIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		make func(dir string) error
		path string
		want string
	}{
		"no path":              {func(string) error { return nil }, "", "no database file is named"},
		"a file above":         {func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600) }, "f/broker.db", "cannot be used"},
		"a directory as lock":  {func(dir string) error { return os.Mkdir(filepath.Join(dir, "lock"), 0o700) }, "broker.db", "cannot be used"},
		"a directory as file":  {func(dir string) error { return os.Mkdir(filepath.Join(dir, "broker.db"), 0o700) }, "broker.db", "is a directory"},
		"a circle as its log":  {func(dir string) error { return os.Symlink("broker.db-wal", filepath.Join(dir, "broker.db-wal")) }, "broker.db", "too many levels"},
		"a circle as its name": {func(dir string) error { return os.Symlink("c", filepath.Join(dir, "c")) }, "c/broker.db", "cannot be used"},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Chmod(dir, 0o700), c.make(dir)); err != nil {
			t.Fatal(err)
		}
		path := c.path
		if path != "" {
			path = filepath.Join(dir, path)
		}
		s, err := Open(t.Context(), Options{Path: path})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open of %s = %v, want %q", what, err, c.want)
		}
	}
}

// TestASharedCommitThatBreaksIsToldToAll: a savepoint that cannot be handled ends the transaction of all its writers.
func TestASharedCommitThatBreaksIsToldToAll(t *testing.T) {
	f := throughFrail(t)
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	refusal := errors.New("no")
	for _, c := range []struct {
		step string
		err  error // of the second writer
	}{{savepoint, nil}, {release, nil}, {rollbackTo, refusal}, {release, refusal}} {
		f.set(func(step string) bool { return step == "exec "+c.step })
		var second error
		var behind sync.WaitGroup
		first := s.write(t.Context(), func(x txn) error {
			behind.Go(func() {
				second = s.write(t.Context(), func(x txn) error {
					if err := x.append(entryOf("second")); err != nil {
						return err
					}
					return c.err
				})
			})
			for s.waiting.Load() < 1 { // nothing signals that it stands at the lock
			}
			return x.append(entryOf("first"))
		})
		behind.Wait()
		f.set(func(string) bool { return false })
		for which, err := range map[string]error{"first": first, "second": second} {
			if !errors.Is(err, broker.ErrUnavailable) {
				t.Errorf("where %s fails after %v, the %s writer hears %v, want ErrUnavailable", c.step, c.err, which, err)
			}
		}
		if got := allEntries(t, s); len(got) != 0 {
			t.Errorf("where %s fails, %d entries are left", c.step, len(got))
		}
	}
	if err := s.Append(t.Context(), entryOf("later")); err != nil {
		t.Errorf("a write after them = %v", err)
	}
}

// TestAStatementThatFailedFailsWhatFollows: what is queued is not looked at, and what comes after it is not run.
func TestAStatementThatFailedFailsWhatFollows(t *testing.T) {
	f := throughFrail(t)
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	f.set(func(step string) bool { return step == "exec "+lastQueued })
	db := database{s}
	if err := db.Change(t.Context(), func(x tables.Transaction) error { _, err := x.Exec(lastQueued); return err }); !errors.Is(err, errStumbled) {
		t.Errorf("a write whose statement fails = %v", err)
	}
	for what, next := range map[string]func(tables.Transaction) error{
		"nothing": func(tables.Transaction) error { return nil },
		"Exec":    func(x tables.Transaction) error { _, err := x.Exec(release); return err },
		"Find":    func(x tables.Transaction) error { return x.Find(nil, lastEntry) },
		"Ahead":   func(x tables.Transaction) error { return x.Ahead(nil, lastEntry)() },
		"Append":  func(x tables.Transaction) error { return x.Append(entryOf("x")) },
	} {
		var told error
		err := db.Change(t.Context(), func(x tables.Transaction) error {
			x.Queue(lastQueued)
			told = next(x)
			return told
		})
		if !errors.Is(err, errStumbled) || what != "nothing" && !errors.Is(told, errStumbled) {
			t.Errorf("%s after a statement that failed: %v, and the write %v", what, told, err)
		}
	}
}

const lastQueued = `SAVEPOINT one_write` // one that is prepared, and needs no argument

// TestEachErrorOfSQLiteHasItsKind: those that only a broken machine, or another program, brings about.
func TestEachErrorOfSQLiteHasItsKind(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	exec := func(db *sql.DB, text string) error {
		_, err := db.ExecContext(t.Context(), text)
		return translate(err)
	}
	if err := exec(s.reader, `DELETE FROM leases`); !errors.Is(err, broker.ErrNoWrites) {
		t.Errorf("a write where none is taken = %v", err)
	}
	if err := exec(s.reader, `SELECT x`); err == nil || errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("a statement that is none = %v, want SQLite's own words", err)
	}
	closed := translate(sql.ErrConnDone)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"a connection that is done": closed, "a database that is closed": exec(s.reader, `SELECT 1`)} {
		var e *broker.Error
		if !errors.As(err, &e) || !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(e.Error(), "closed") {
			t.Errorf("%s = %v, want that the store is closed", what, err)
		}
	}
	at := time.Unix(1, 0)
	if err := (moment{&at}).Scan("1"); err == nil || err.Error() != "a time is stored as string" || !at.Equal(time.Unix(1, 0)) {
		t.Errorf("a time that is a text: %v, %v", at, err)
	}
}

// TestWhatIsWrittenIntoALeaseIsStored, also into the list that it was read with.
func TestWhatIsWrittenIntoALeaseIsStored(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	v := broker.VIM{
		ID: "v", Project: "north", Name: "core", Type: "kubernetes", State: broker.VIMRegistered, CreatedAt: time.Unix(1, 0),
		Health:  broker.Health{Status: broker.HealthUnchecked},
		Current: broker.Generation{Number: 1, Sealed: "sealed", Key: "ref", KeyStore: "keydir", SealedAs: broker.SealedCurrent},
	}
	if err := s.CreateVIM(t.Context(), v, 0, entryOf("v")); err != nil {
		t.Fatal(err)
	}
	l := broker.Lease{ID: "l", VIM: "v", VIMGeneration: 1, Project: "north", Principal: "alice", Namespaces: []string{"a", "b"}, CreatedAt: time.Unix(1, 0)}
	if _, err := s.CreateLease(t.Context(), l, broker.Quota{}, entryOf("l")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateLease(t.Context(), "l", func(l *broker.Lease) error { l.Namespaces[1] = "c"; return nil }, entryOf("l")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Lease(t.Context(), "l"); err != nil || strings.Join(got.Namespaces, " ") != "a c" {
		t.Errorf("the lease has namespaces %q, %v; want a and c", got.Namespaces, err)
	}
}

// TestEveryFileOfADatabaseBecomesPrivate: the log and the index too, each of which may be missing.
func TestEveryFileOfADatabaseBecomesPrivate(t *testing.T) {
	for _, there := range [][]string{{""}, {"", "-wal"}, {"", "-shm"}, {"-wal", "-shm"}} {
		path := filepath.Join(t.TempDir(), "broker.db")
		for _, suffix := range there {
			if err := os.WriteFile(path+suffix, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path+suffix, 0o644); err != nil { //nolint:gosec // what is mended
				t.Fatal(err)
			}
		}
		if err := new(Store).makePrivate(path); err != nil {
			t.Errorf("makePrivate with %q = %v", there, err)
		}
		for _, suffix := range append(there, "") {
			info, err := os.Stat(path + suffix)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("with %q, the mode of %q is %v, %v", there, suffix, info.Mode(), err)
			}
		}
	}
}

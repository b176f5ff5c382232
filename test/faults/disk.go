package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// through is the driver that all stores of a test are opened through.
var through = &disk{watched: map[string]*watched{}}

// errDisk is what SQLite itself answers where it cannot get at its file, so that the store tells it as it would.
var errDisk error

func init() {
	plain, err := sql.Open(sqlite.ThroughDriver, filepath.Join(os.DevNull, "none"))
	if err != nil {
		panic(err)
	}
	through.Driver = plain.Driver()
	if errDisk = plain.Ping(); errDisk == nil {
		panic("there is a database below " + os.DevNull)
	}
	_ = plain.Close()
	sql.Register("faulty", through)
	sqlite.ThroughDriver = "faulty"
}

// disk hands on to SQLite, but for the databases that are watched.
type disk struct {
	driver.Driver
	mu      sync.Mutex
	next    *Points // of the database that is opened next
	watched map[string]*watched
}

// watched is a database with its points, and the last connection to it.
type watched struct {
	points *Points
	last   real
}

// watch has the steps of the store that open opens be points: open uses [quickstore.Open], whose first use opens a store itself.
func watch(t testing.TB, p *Points, open func()) {
	t.Helper()
	if _, err := quickstore.Empty(); err != nil {
		t.Fatal(err)
	}
	through.mu.Lock()
	through.next = p
	through.mu.Unlock()
	open()
	through.mu.Lock()
	defer through.mu.Unlock()
	if through.next != nil {
		t.Fatal("no store was opened")
	}
	t.Cleanup(func() {
		through.mu.Lock()
		defer through.mu.Unlock()
		delete(through.watched, p.path)
	})
}

// of is the database at a path, nil unless it is watched; by that the one that is to be watched next.
func (d *disk) of(path string) *watched {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watched[path] == nil && d.next != nil {
		d.next.path, d.watched[path], d.next = path, &watched{points: d.next}, nil
	}
	return d.watched[path]
}

func (d *disk) Open(name string) (driver.Conn, error) {
	path, _, _ := strings.Cut(strings.TrimPrefix(name, "file:"), "?")
	path, err := url.PathUnescape(path)
	if err != nil {
		return nil, err
	}
	w := d.of(path)
	c, err := d.Driver.Open(name)
	if err != nil || w == nil {
		return c, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w.last = c.(real)
	return &conn{real: w.last, points: w.points, step: -1}, nil
}

// query reads a watched database by a connection of its store, which nobody uses now.
func query(path, text string) (columns []string, found [][]string, err error) {
	through.mu.Lock()
	w := through.watched[path]
	through.mu.Unlock()
	rows, err := w.last.QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	columns = rows.Columns()
	for values := make([]driver.Value, len(columns)); ; {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return columns, found, nil
		case err != nil:
			return nil, nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = fmt.Sprint(v)
		}
		found = append(found, row)
	}
}

type real interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// conn is a connection of a watched database.
type conn struct {
	real
	points *Points
	in     bool // a transaction
	step   int  // its number
	said   int  // how many of its statements are told
}

type prepared interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// BeginTx begins a step, which is over with the transaction's commit.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	step := c.points.begin("transaction", false)
	if c.points.startles(step) {
		return nil, errDisk
	}
	tx, err := c.real.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	c.in, c.step, c.said = true, step, 0
	return &transaction{tx, c}, nil
}

type transaction struct {
	driver.Tx
	c *conn
}

func (t *transaction) Rollback() error {
	t.c.in = false
	return t.Tx.Rollback()
}

func (t *transaction) Commit() error {
	t.c.in = false
	t.c.points.commits(t.c.step)
	switch t.c.points.says(t.c.step) {
	case Fails, Down:
		return errors.Join(t.Tx.Rollback(), errDisk)
	case Lost:
		if err := t.Tx.Commit(); err != nil {
			return err
		}
		return errDisk
	}
	return t.Tx.Commit()
}

// strike takes a statement: within a transaction it is none of its own.
func (c *conn) strike(text string) error {
	if !c.in {
		if c.points.says(c.points.begin(short(text), false)) != "" {
			return errDisk
		}
		return nil
	}
	if written := changes.FindString(text); written != "" && c.said < 4 {
		c.points.add(c.step, ", "+written)
		c.said++
	}
	return nil
}

var (
	changes = regexp.MustCompile(`^(?:INSERT INTO|UPDATE|DELETE FROM) \w+`)
	spaces  = regexp.MustCompile(`\s+`)
	listed  = regexp.MustCompile(`SELECT .*? FROM `)
)

func short(text string) string {
	text = listed.ReplaceAllString(spaces.ReplaceAllString(text, " "), "SELECT FROM ")
	return text[:min(len(text), 100)]
}

func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	made, err := c.real.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &statement{made.(prepared), c, text}, nil
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.strike(text); err != nil {
		return nil, err
	}
	return c.real.ExecContext(ctx, text, args)
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.strike(text); err != nil {
		return nil, err
	}
	return c.real.QueryContext(ctx, text, args)
}

// statement is one of a watched database, which fails if its step does.
type statement struct {
	prepared
	c    *conn
	text string
}

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.strike(s.text); err != nil {
		return nil, err
	}
	return s.prepared.ExecContext(ctx, args)
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.c.strike(s.text); err != nil {
		return nil, err
	}
	return s.prepared.QueryContext(ctx, args)
}

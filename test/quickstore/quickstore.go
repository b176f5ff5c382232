// Package quickstore opens databases of tests at a fraction of what they cost a server: a new one is a copy of one that was
// made once, no commit of theirs waits for the disk, which only a power failure would tell, and a statement is compiled
// where it is run for the first time: a test runs few of a store's. So it is with stores that a test of this process
// opens by sqlite.Open itself.
package quickstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/drivers/sqlite"
)

func init() {
	plain, err := sql.Open(sqlite.ThroughDriver, "")
	if err != nil {
		panic(err)
	}
	sql.Register("hasty", hasty{plain.Driver()})
	sqlite.ThroughDriver = "hasty"
}

// hasty is SQLite whose commits do not wait for the disk, and whose statements are compiled late.
type hasty struct{ driver.Driver }

func (h hasty) Open(name string) (driver.Conn, error) {
	c, err := h.Driver.Open(strings.Replace(name, "synchronous(FULL)", "synchronous(OFF)", 1))
	if err != nil {
		return nil, err
	}
	return late{c.(real)}, nil
}

type real interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// late is a connection that compiles a statement where it is run for the first time.
type late struct{ real }

func (c late) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return &statement{c: c.real, text: text}, nil
}

type statement struct {
	c    real
	text string
	made prepared // nil before its first run
}

type prepared interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (s *statement) compiled(ctx context.Context) (prepared, error) {
	if s.made == nil {
		made, err := s.c.PrepareContext(ctx, s.text)
		if err != nil {
			return nil, err
		}
		s.made = made.(prepared)
	}
	return s.made, nil
}

func (s *statement) Close() error {
	if s.made == nil {
		return nil
	}
	return s.made.Close()
}

func (s *statement) NumInput() int { return -1 }

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	made, err := s.compiled(ctx)
	if err != nil {
		return nil, err
	}
	return made.ExecContext(ctx, args)
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	made, err := s.compiled(ctx)
	if err != nil {
		return nil, err
	}
	return made.QueryContext(ctx, args)
}

var errOld = errors.New("a statement is run with a context")

func (s *statement) Exec([]driver.Value) (driver.Result, error) { return nil, errOld }
func (s *statement) Query([]driver.Value) (driver.Rows, error)  { return nil, errOld }

// Open is sqlite.Open. Where no file is at the path yet, the database has been made already.
func Open(ctx context.Context, o sqlite.Options) (*sqlite.Store, error) {
	if _, err := os.Lstat(o.Path); !errors.Is(err, fs.ErrNotExist) {
		return sqlite.Open(ctx, o)
	}
	made, err := Empty()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(o.Path, made, 0o600); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, o)
}

// Empty is the file of a database without rows.
var Empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "quickstore")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "vimbroker.db")
	store, err := sqlite.Open(context.Background(), sqlite.Options{Path: path, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Raw opens the database at path beside its store, for what no store does. A statement waits while the store writes,
// 30 seconds at most. The caller closes it.
func Raw(path string) (*sql.DB, error) {
	return sql.Open("sqlite", path+"?_pragma=busy_timeout(30000)")
}

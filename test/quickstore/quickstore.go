// Package quickstore opens databases of tests at a fraction of what they cost a server: a new one is a copy of one that was
// made once, and no commit of theirs waits for the disk, which only a power failure would tell. Stores that a test of
// this process opens by sqlite.Open itself do not wait either.
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

// hasty is SQLite whose commits do not wait for the disk.
type hasty struct{ driver.Driver }

func (h hasty) Open(name string) (driver.Conn, error) {
	return h.Driver.Open(strings.Replace(name, "synchronous(FULL)", "synchronous(OFF)", 1))
}

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

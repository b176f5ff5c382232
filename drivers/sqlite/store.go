package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/tables"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// readers is how many connections read at the same time. A read takes well
// under a millisecond of one processor.
const readers = 4

// Options say where the store is.
type Options struct {
	// Path is the database file. Its directory is made if it is missing, belongs
	// to this store while it is open, and is private to this user.
	Path string
	// Now tells the time, for what the store itself dates (migrations, retired
	// keys); nil means time.Now.
	Now func() time.Time
	// Log is told what Open changed (migrations, file modes); nil is silent.
	Log *slog.Logger
}

// Store is a [broker.Store] in one SQLite file. Change functions run while no
// one else can write: they must be quick, and must not call the store.
type Store struct {
	tables.Tables
	path   string
	now    func() time.Time
	log    *slog.Logger
	lock   io.Closer
	writer *sql.DB
	reader *sql.DB

	// prepared are the statements of writes, by their text.
	prepared map[string]*sql.Stmt
	// queries are the statements of reads, by their text, made when first used.
	queries sync.Map

	turn    sync.Mutex   // held by who writes
	waiting atomic.Int64 // how many want turn
	open    *batch       // the transaction that waits for its commit; under turn
	end     int64        // the newest audit entry, 0 if it has yet to be read; under turn
	closed  atomic.Bool

	enqueued bool          // the open batch makes jobs due; under turn
	wake     chan struct{} // receives after the commit of such a batch
}

// Open opens the database, makes it if it is missing, and brings its schema up
// to date. A directory that another process has open is broker.ErrConflict, a
// database that a newer version wrote broker.ErrUnsupported; both say what to do.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{now: o.Now, log: o.Log, wake: make(chan struct{}, 1)}
	s.Tables = tables.Of(database{s})
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.start(ctx, o.Path); err != nil {
		_ = s.Close() // the first error says more
		return nil, fmt.Errorf("opening store %s: %w", o.Path, err)
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, path string) error {
	if path == "" {
		return broker.Invalid("path", "no database file is named")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.path = abs
	if s.lock, err = s.claim(filepath.Dir(abs)); err != nil {
		return err
	}
	if err := s.makePrivate(abs); err != nil {
		return err
	}
	if s.writer, err = connect(abs, 1, "_txlock=immediate"); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.reader, err = connect(abs, readers, "_pragma=query_only(1)"); err != nil {
		return err
	}
	s.prepared = make(map[string]*sql.Stmt, len(writeStatements))
	for _, text := range writeStatements {
		if s.prepared[text], err = s.writer.PrepareContext(ctx, text); err != nil {
			return translate(err)
		}
	}
	for _, text := range tables.Statements {
		if s.prepared[text], err = s.writer.PrepareContext(ctx, dialect.Text(text)); err != nil {
			return fmt.Errorf("%s: %w", text, translate(err))
		}
	}
	return nil
}

// ThroughDriver is the driver of database/sql that stores are opened through. Tests put one in front of it, before they
// open a store.
var ThroughDriver = "sqlite"

// connect opens a pool of n connections. synchronous=FULL makes each commit wait
// for the disk: an intent that a power failure can take back is none. The log grows
// to 16 MB before it is put into the database, four times the default: one write of
// two hundred pays for that, not one of fifty.
func connect(path string, n int, option string) (*sql.DB, error) {
	name := url.URL{Path: path}
	db, err := sql.Open(ThroughDriver, "file:"+name.EscapedPath()+"?"+option+
		"&_pragma=busy_timeout(5000)"+
		"&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(FULL)"+
		"&_pragma=wal_autocheckpoint(4000)"+
		"&_pragma=foreign_keys(1)"+
		"&_pragma=secure_delete(1)"+
		"&_pragma=temp_store(MEMORY)"+
		"&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// Now is the time that the store dates by.
func (s *Store) Now() time.Time { return s.now() }

// Close waits for the write under way, and lets go of the database and its
// directory. After that every method answers broker.ErrUnavailable. It may be
// called twice.
func (s *Store) Close() error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.closed.Swap(true) {
		return nil
	}
	if s.open != nil { // those behind it in the queue are told that the store is closed
		s.finish(s.open)
	}
	var errs []error
	// The writer last: it puts the log's content into the database.
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing store %s: %w", s.path, err)
	}
	return nil
}

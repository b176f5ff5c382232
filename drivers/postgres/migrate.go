package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// migrations are numbered from 0001 without a gap, like those of the other store, and only go up. Until version 1.0.0
// there is one, the whole schema, and each change edits it: see [rows.Fingerprint]. From then on none is edited once
// it is released. Later ones run while the version before serves, which may start again too: they add (a column that
// is added has a default), take no lock for long, and leave what that version reads and writes. When no version in
// use needs something any more, a later migration takes it away, and raises schema_floor. The same goes for the content
// of rows. A file whose first line is "-- concurrently" makes and drops
// indexes of tables that may be large, see applyConcurrently.
//
//go:embed migrations/*.sql
var migrations embed.FS

func released() fs.FS {
	files, _ := fs.Sub(migrations, "migrations") // fails only for a malformed name
	return files
}

const (
	remedyMigrate = "migrate it with the new version"

	// migrationLocks bounds how long a migration waits for a lock on a table, and
	// with it how long others wait behind it.
	migrationLocks = 2 * time.Second
	// migrationTries is how often one that had to wait too long is begun.
	migrationTries = 10
)

// Schema says how far a database is.
type Schema struct {
	// Have is the number of the last migration that was applied, Known the last
	// that this version has.
	Have, Known int
	// Floor is the oldest schema whose versions work on this database; 0 if it has none.
	Floor int
}

// Current reports whether the schema is up to date.
func (s Schema) Current() bool { return s.Have == s.Known }

// Newer reports whether a newer version migrated the database.
func (s Schema) Newer() bool { return s.Have > s.Known }

// Serves reports whether this version works on the database: it is this version's
// or a newer one's that took away nothing this version needs.
func (s Schema) Serves() bool {
	return s.Have >= s.Known && s.Floor <= s.Known
}

// Status looks at the schema of a database, and changes nothing. Its errors are
// those of [Open], but for the schema.
func Status(ctx context.Context, o Options) (Schema, error) {
	s, err := connect(ctx, o)
	if err != nil {
		return Schema{}, err
	}
	defer func() { _ = s.Close() }()
	return s.schema(ctx, released())
}

// Migrate brings the schema of a database up to date, and returns how far it was
// before. It may be called by several processes at once, and while brokers of the
// previous version use the database. If a newer version has migrated it, nothing is done.
// Calling it again resumes an interrupted migration. Its errors are those of [Open].
func Migrate(ctx context.Context, o Options) (Schema, error) {
	s, err := connect(ctx, o)
	if err != nil {
		return Schema{}, err
	}
	defer func() { _ = s.Close() }()
	before, err := s.migrate(ctx, released())
	if err != nil {
		return before, fmt.Errorf("migrating store %s: %w", s.where, err)
	}
	return before, nil
}

// schema compares the database with the files of this version. A database that was made by another text of the first
// one is refused.
func (s *Store) schema(ctx context.Context, files fs.FS) (Schema, error) {
	var found Schema
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return found, err
	}
	found.Known = len(names)
	if found.Have, err = s.lastOf(ctx, "schema_migrations"); err != nil {
		return found, fmt.Errorf("reading the schema's version: %w", err)
	}
	if found.Have > 0 {
		if err := s.demandMaker(ctx, files, names[0]); err != nil {
			return found, err
		}
		if found.Floor, err = readOne(ctx, s, scalar[int], `SELECT version FROM schema_floor`); err != nil {
			return found, fmt.Errorf("reading the oldest version that the schema serves: %w", err)
		}
	}
	return found, nil
}

// demandMaker fails if the database was not made by this text of the first file.
func (s *Store) demandMaker(ctx context.Context, files fs.FS, first string) error {
	made, err := readOne(ctx, s, scalar[string], madeBy)
	if err != nil {
		return fmt.Errorf("reading what made the schema: %w", err)
	}
	return rows.DemandMaker(files, first, made)
}

// lastOf reads the newest version in a table, or 0.
func (s *Store) lastOf(ctx context.Context, table string) (int, error) {
	there, err := readOne(ctx, s, scalar[bool], `SELECT to_regclass($1) IS NOT NULL`, table)
	if err != nil || !there {
		return 0, err
	}
	return readOne(ctx, s, scalar[int], `SELECT coalesce(max(version), 0)::bigint FROM `+pgx.Identifier{table}.Sanitize())
}

// demandSchema fails if this version cannot work on the database.
func (s *Store) demandSchema(ctx context.Context) error {
	found, err := s.schema(ctx, released())
	if err != nil {
		return err
	}
	return s.accept(found)
}

// accept fails if this version cannot work on a database that is this far.
func (s *Store) accept(found Schema) error {
	switch {
	case found.Serves() && found.Newer():
		s.log.Warn("a newer version migrated the database; this one goes on until it is replaced",
			"schema", found.Have, "known", found.Known)
		return nil
	case found.Serves():
		return nil
	case found.Newer():
		return &broker.Error{
			Kind: broker.ErrUnsupported,
			Detail: fmt.Sprintf("the database has schema %d, which versions older than schema %d cannot use; this one knows up to %d",
				found.Have, found.Floor, found.Known),
			Remedy: "run a version at least as new as the one that migrated it",
		}
	}
	return &broker.Error{
		Kind:   broker.ErrUnsupported,
		Detail: fmt.Sprintf("the database has schema %d, this version needs %d", found.Have, found.Known),
		Remedy: remedyMigrate,
		Next:   broker.NextMigrate,
	}
}

// migrate applies what is missing. One of several processes does it, and the others wait.
func (s *Store) migrate(ctx context.Context, files fs.FS) (before Schema, err error) {
	own, err := s.migrating(ctx)
	if err != nil {
		return Schema{}, err
	}
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	if _, err := own.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
			version    bigint      NOT NULL PRIMARY KEY,
			name       text        NOT NULL,
			sha256     text        NOT NULL,
			applied_at timestamptz NOT NULL
		)`); err != nil {
		return Schema{}, s.outcome(ctx, ctx, translate(err))
	}
	if before, err = s.schema(ctx, files); err != nil {
		return before, err
	}
	if before.Newer() {
		return before, s.accept(before)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return before, err
	}
	for i, name := range names[before.Have:] {
		if err := s.apply(ctx, own, files, before.Have+i+1, name); err != nil {
			return before, fmt.Errorf("migration %s: %w", name, err)
		}
		if before.Have > 0 {
			s.log.Info("store migrated", "migration", name)
		}
	}
	if before.Have == 0 {
		s.log.Info("store made", "schema", len(names))
	}
	return before, nil
}

// migrating returns a connection that holds the lock of migrations, and waits for others'
// locks no longer than migrationLocks. Its settings and its lock end with it.
func (s *Store) migrating(ctx context.Context) (*pgx.Conn, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	own := conn.Hijack()
	_, err = own.Exec(ctx, `SET statement_timeout = 0`)
	if err == nil {
		err = awaitTurn(ctx, own)
	}
	if err == nil {
		_, err = own.Exec(ctx, fmt.Sprintf(`SET lock_timeout = %d`, migrationLocks.Milliseconds()))
	}
	if err != nil {
		_ = own.Close(context.WithoutCancel(ctx))
		return nil, s.outcome(ctx, ctx, translate(err))
	}
	return own, nil
}

// turnEvery is how often who waits to migrate asks whether it is its turn.
const turnEvery = 100 * time.Millisecond

// awaitTurn waits until no other process migrates. It polls: waiting inside a statement would keep
// a snapshot, which an index that is made concurrently waits for.
func awaitTurn(ctx context.Context, conn *pgx.Conn) error {
	for {
		var mine bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey(lockMigration)).Scan(&mine); err != nil || mine {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(turnEvery):
		}
	}
}

// apply runs one file and notes it, both or neither.
func (s *Store) apply(ctx context.Context, conn *pgx.Conn, files fs.FS, version int, name string) error {
	text, err := rows.Migration(files, name, version)
	if err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(string(text), concurrently); ok {
		return s.applyConcurrently(ctx, conn, rest, version, name)
	}
	return s.patiently(ctx, name, func() error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, noteMigration, version, name, rows.Fingerprint(text), stamp(s.now()))
			return err
		})
	})
}

const (
	noteMigration = `INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES ($1, $2, $3, $4)`
	// madeBy is empty for a database without noted fingerprints.
	madeBy = `SELECT coalesce(to_jsonb(m) ->> 'sha256', '') FROM schema_migrations AS m WHERE version = 1`
)

// patiently does a step of a migration. If other transactions keep it waiting it lets
// them pass, and retries.
func (s *Store) patiently(ctx context.Context, name string, step func() error) error {
	for try := 1; ; try++ {
		err := translate(step())
		var a *answer
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.As(err, &a) || a.code != lockNotAvailable && a.code != deadlockDetected || try == migrationTries {
			return err
		}
		s.log.Warn("a migration waits for others to let go of a table", "migration", name, "try", try)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrationLocks):
		}
	}
}

// concurrently is the first line of a file that is not one transaction.
const concurrently = "-- concurrently\n"

// onIndex is a statement of such a file, with the name of its index.
var onIndex = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY|DROP INDEX CONCURRENTLY IF EXISTS) (\w+)\b`)
})

// applyConcurrently runs the statements of a file one by one, each by itself, and notes
// the file. They make and drop indexes without keeping writers out, for as long as that
// takes; then they wait for the transactions that began before, and no other waits behind
// them. Indexes that an interrupted attempt left are made again.
func (s *Store) applyConcurrently(ctx context.Context, conn *pgx.Conn, text string, version int, name string) error {
	run := func(statement string, args ...any) error {
		_, err := conn.Exec(ctx, statement, args...)
		return s.outcome(ctx, ctx, translate(err))
	}
	if err := run(`SET lock_timeout = 0`); err != nil {
		return err
	}
	for statement := range strings.SplitSeq(text, ";\n") {
		statement = strings.TrimSpace(comment().ReplaceAllString(statement, ""))
		if statement == "" {
			continue
		}
		index := onIndex().FindStringSubmatch(statement)
		if index == nil {
			return fmt.Errorf("it is no index that is made or dropped concurrently: %s", statement)
		}
		if err := run(`DROP INDEX CONCURRENTLY IF EXISTS ` + pgx.Identifier{index[1]}.Sanitize()); err != nil {
			return err
		}
		if err := run(statement); err != nil {
			return err
		}
	}
	if err := run(noteMigration, version, name, rows.Fingerprint([]byte(concurrently+text)), stamp(s.now())); err != nil {
		return err
	}
	return run(fmt.Sprintf(`SET lock_timeout = %d`, migrationLocks.Milliseconds()))
}

// comment is one to the end of its line.
var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)--.*$`) })

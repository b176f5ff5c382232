package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestSchemaIsDemanded(t *testing.T) {
	o := Options{DSN: secret.NewText(real.Postgres(t).DSN(t))}
	wantUnsupported := func(when string) {
		t.Helper()
		s, err := Open(t.Context(), o)
		var e *broker.Error
		if !errors.Is(err, broker.ErrUnsupported) || !errors.As(err, &e) || e.Remedy == "" {
			t.Errorf("Open %s = %v, want ErrUnsupported with a remedy", when, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
	wantUnsupported("of an empty database")
	if got, err := Status(t.Context(), o); err != nil || got.Have != 0 || got.Queue != 0 || got.Known < 1 || got.Current() || got.Newer() {
		t.Errorf("Status of an empty database = %+v, %v", got, err)
	}

	var all sync.WaitGroup
	for range 4 { // several at once: one does it
		all.Go(func() {
			if _, err := Migrate(t.Context(), o); err != nil {
				t.Errorf("Migrate = %v", err)
			}
		})
	}
	all.Wait()
	if got, err := Migrate(t.Context(), o); err != nil || !got.Current() {
		t.Errorf("Migrate again = %+v, %v; want it current before", got, err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open of a migrated database = %v", err)
	}
	defer s.Close()
	if older, err := s.OlderVersions(t.Context()); err != nil || older {
		t.Errorf("OlderVersions of a new database = %v, %v; want false", older, err)
	}

	// A newer version that took nothing away lets this one start, and migrate.
	apply := func(version int, text string) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		if _, err := s.pool.Exec(t.Context(), `INSERT INTO schema_migrations VALUES ($1, 'later', now())`, version); err != nil {
			t.Fatal(err)
		}
	}
	before, err := Status(t.Context(), o)
	if err != nil || !before.Serves() {
		t.Fatalf("Status of a migrated database = %+v, %v; want that it serves", before, err)
	}
	apply(before.Known+1, `ALTER TABLE vims ADD COLUMN colour text NOT NULL DEFAULT 'red'`)
	for _, o.Migrate = range []bool{false, true} {
		again, err := Open(t.Context(), o)
		if err != nil {
			t.Fatalf("Open of a newer database, Migrate %v = %v", o.Migrate, err)
		}
		if err := errors.Join(again.Check(t.Context()), again.Close()); err != nil {
			t.Errorf("Check of a newer database = %v", err)
		}
	}
	if got, err := Migrate(t.Context(), o); err != nil || !got.Newer() || !got.Serves() {
		t.Errorf("Migrate of a newer database = %+v, %v; want it newer before, and serving", got, err)
	}
	if _, err := Copy(t.Context(), o, nil); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("Copy into a newer database = %v, want ErrUnsupported", err)
	}
	// One that did keeps this one out.
	apply(before.Known+2, fmt.Sprintf(`UPDATE schema_floor SET version = %d`, before.Known+1))
	for _, o.Migrate = range []bool{false, true} {
		wantUnsupported("of a database that this version does not understand")
	}
	if got, err := Status(t.Context(), o); err != nil || got.Serves() || got.Floor != before.Known+1 {
		t.Errorf("Status = %+v, %v; want that it does not serve", got, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check of a store that was open when the database was migrated = %v", err)
	}
}

// later are the files of this version with one more, so many numbers after them.
func later(t *testing.T, by int, text string) fstest.MapFS {
	t.Helper()
	names, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{fmt.Sprintf("%04d_later.sql", len(names)+by): {Data: []byte(text)}}
	for _, f := range names {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name()] = &fstest.MapFile{Data: text}
	}
	return files
}

// TestMigrationWhileOthersServe changes tables under a store that is in use, one of
// which a long transaction holds: nobody waits for longer than the lock's limit,
// and no call fails.
func TestMigrationWhileOthersServe(t *testing.T) {
	s := withLease(t)
	ctx, stop := context.WithCancel(t.Context())
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.UpdateLease(ctx, "l", func(*broker.Lease) error { return nil }, entryOf("l")); err != nil && ctx.Err() == nil {
					t.Errorf("UpdateLease meanwhile = %v", err)
				}
				if _, _, err := s.Leases(ctx, broker.LeaseFilter{VIM: "v"}); err != nil && ctx.Err() == nil {
					t.Errorf("Leases meanwhile = %v", err)
				}
				if _, err := s.VIM(ctx, "v"); err != nil && ctx.Err() == nil {
					t.Errorf("VIM meanwhile = %v", err)
				}
			}
		})
	}
	// Someone reads for longer than a migration may wait.
	reader, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE vims IN ACCESS SHARE MODE`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	log := &signalLog{want: "waits for others", seen: make(chan struct{})}
	other := mustOpen(t, s.pool.Config().ConnString())
	other.log = log.logger()
	done := make(chan error, 1)
	go func() {
		_, err := other.migrate(t.Context(), later(t, 1, `ALTER TABLE vims ADD COLUMN colour text NOT NULL DEFAULT 'red';
			CREATE INDEX vim_by_colour ON vims (colour)`))
		done <- err
	}()
	select {
	case <-log.seen:
	case err := <-done:
		t.Fatalf("migrate = %v, and did not wait for the reader", err)
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("migrate = %v", err)
	}
	stop()
	users.Wait()
	if got, err := s.schema(t.Context(), later(t, 1, "")); err != nil || !got.Current() {
		t.Errorf("schema = %+v, %v; want it current", got, err)
	}
	if err := s.CreateVIM(t.Context(), broker.VIM{ID: "w", Project: "north", Name: "w", State: broker.VIMRegistering, Health: broker.Health{Status: broker.HealthUnchecked}}, entryOf("w")); err != nil {
		t.Errorf("CreateVIM of the version before = %v", err)
	}
}

func TestFailedMigrationLeavesNothing(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	for what, files := range map[string]fstest.MapFS{
		"wrong":      later(t, 1, `CREATE TABLE half (id int); SELECT 1/0`),
		"out of row": later(t, 2, `CREATE TABLE half (id int)`),
	} {
		if _, err := s.migrate(t.Context(), files); err == nil {
			t.Errorf("migrate(%s) = nil, want an error", what)
		} else if !strings.Contains(err.Error(), "_later.sql") {
			t.Errorf("migrate(%s) = %v, want the file named", what, err)
		}
		if there, err := readOne(t.Context(), s, scalar[bool], `SELECT to_regclass('half') IS NOT NULL`); err != nil || there {
			t.Errorf("a failed migration left its table, %v", err)
		}
	}
	if err := s.demandSchema(t.Context()); err != nil {
		t.Errorf("schema after failed migrations = %v", err)
	}
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

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
	if got, err := Status(t.Context(), o); err != nil || got.Have != 0 || got.Known < 1 || got.Current() || got.Newer() {
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

	// A newer version that took nothing away lets this one start, and migrate.
	apply := func(version int, text string) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		if _, err := s.pool.Exec(t.Context(), `INSERT INTO schema_migrations VALUES ($1, 'later', '', now())`, version); err != nil {
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
		if err := errors.Join(again.Check(t.Context(), broker.Replica{}), again.Close()); err != nil {
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
	if err := s.Check(t.Context(), broker.Replica{}); err != nil {
		t.Errorf("Check of a store that was open when the database was migrated = %v", err)
	}
}

// TestDatabaseOfAnotherSchemaIsRefused, also one of before fingerprints were noted, by everything that opens one.
func TestDatabaseOfAnotherSchemaIsRefused(t *testing.T) {
	o := Options{DSN: secret.NewText(real.Postgres(t).DSN(t))}
	s := mustOpen(t, o.DSN.Reveal())
	for _, text := range []string{
		`UPDATE schema_migrations SET sha256 = 'another'`,
		`ALTER TABLE schema_migrations DROP COLUMN sha256; INSERT INTO schema_migrations VALUES (45, '0045_lease_credentials.sql', now());
			UPDATE schema_floor SET version = 45`,
	} {
		if _, err := s.pool.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		for what, do := range map[string]func() error{
			"Open":    func() error { _, err := Open(t.Context(), o); return err },
			"Status":  func() error { _, err := Status(t.Context(), o); return err },
			"Migrate": func() error { _, err := Migrate(t.Context(), o); return err },
			"Copy":    func() error { _, err := Copy(t.Context(), o, nil); return err },
		} {
			err := do()
			if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "begin anew") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s after %s = %v, want one line that says to begin anew", what, text, err)
			}
		}
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
	if err := s.CreateVIM(t.Context(), broker.VIM{ID: "w", Project: "north", Name: "w", State: broker.VIMRegistering, Health: broker.Health{Status: broker.HealthUnchecked}}, 0, entryOf("w")); err != nil {
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

// TestConcurrentMigrationHoldsUpNoWriter makes an index on a table of many rows, while others
// write and one transaction that wrote stays open: nobody waits for the migration.
func TestConcurrentMigrationHoldsUpNoWriter(t *testing.T) {
	const many = 50_000
	s := withLease(t)
	exec := func(text string) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	exec(fmt.Sprintf(`ALTER TABLE audit_inbox DISABLE TRIGGER USER;
		INSERT INTO audit_inbox (time, request, door, principal, project, action, kind, resource, outcome, detail)
		SELECT now(), 'r' || n, 'rest', 'p' || n %% 100, 'q', 'a', 'k', 'x', 'done', '{}' FROM generate_series(1, %d) AS n`, many))

	holder, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := holder.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE audit_inbox IN ROW EXCLUSIVE MODE`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, s.pool.Config().ConnString())
	done := make(chan error, 1)
	go func() {
		_, err := other.migrate(t.Context(), later(t, 1, concurrently+`-- What is looked for, and
-- what is not; any more.
DROP INDEX CONCURRENTLY IF EXISTS inbox_of_before;
CREATE INDEX CONCURRENTLY inbox_later ON audit_inbox (principal, id);
`))
		done <- err
	}()

	// Writes go on, as many as it takes for the migration to wait for the holder, and some more.
	const migrating = `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock')`
	const heldUp = `SELECT count(*)::int FROM pg_stat_activity AS w, unnest(pg_blocking_pids(w.pid)) AS b JOIN pg_stat_activity AS m ON m.pid = b
		WHERE w.datname = current_database() AND m.query LIKE 'CREATE INDEX%'`
	var slowest time.Duration
	for after := 0; after < 50; {
		began := time.Now()
		if err := s.Append(t.Context(), entryOf("meanwhile")); err != nil {
			t.Fatalf("Append meanwhile = %v", err)
		}
		slowest = max(slowest, time.Since(began))
		waits, err := readOne(t.Context(), s, scalar[bool], migrating)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := readOne(t.Context(), s, scalar[int], heldUp); err != nil || n != 0 {
			t.Fatalf("%d wait for the migration, %v", n, err)
		}
		if waits {
			after++
		}
		select {
		case err := <-done:
			t.Fatalf("migrate = %v, and did not wait for a transaction that wrote", err)
		default:
		}
	}
	t.Logf("the slowest of the writes took %v", slowest)
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("migrate = %v", err)
	}
	if valid, err := readOne(t.Context(), s, scalar[bool], `SELECT indisvalid FROM pg_index WHERE indexrelid = 'inbox_later'::regclass`); err != nil || !valid {
		t.Errorf("the index is valid: %v, %v", valid, err)
	}
}

// TestConcurrentMigrationIsTakenUpAgain breaks one off in the middle, which leaves an index that
// is none.
func TestConcurrentMigrationIsTakenUpAgain(t *testing.T) {
	s := withLease(t)
	if _, err := s.migrate(t.Context(), later(t, 1, concurrently+`CREATE UNIQUE INDEX CONCURRENTLY lease_later ON leases ((1 / attempts));`)); err == nil {
		t.Fatal("an index that cannot be made was made")
	}
	if there, err := readOne(t.Context(), s, scalar[bool], `SELECT NOT indisvalid FROM pg_index WHERE indexrelid = 'lease_later'::regclass`); err != nil || !there {
		t.Fatalf("nothing is left of the attempt: %v", err)
	}
	if got, err := s.schema(t.Context(), released()); err != nil || !got.Current() {
		t.Errorf("schema = %+v, %v; want that of before", got, err)
	}
	for range 2 {
		if _, err := s.migrate(t.Context(), later(t, 1, concurrently+`CREATE INDEX CONCURRENTLY lease_later ON leases (attempts);`)); err != nil {
			t.Fatalf("migrate again = %v", err)
		}
	}
	if valid, err := readOne(t.Context(), s, scalar[bool], `SELECT indisvalid FROM pg_index WHERE indexrelid = 'lease_later'::regclass`); err != nil || !valid {
		t.Errorf("the index is valid: %v, %v", valid, err)
	}
	for _, text := range []string{`DROP TABLE leases;`, `CREATE INDEX lease_other ON leases (attempts);`, `DROP INDEX lease_later;`} {
		if got, err := s.migrate(t.Context(), twoLater(t, concurrently+text)); err == nil {
			t.Errorf("%s was run beside writers, from %+v", text, got)
		}
	}
}

// twoLater are the files of this version, one that does nothing, and one more.
func twoLater(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	files := later(t, 2, text)
	for name, f := range later(t, 1, `SELECT 1`) {
		files[name] = f
	}
	return files
}

// locking are statements that keep writers of a table out for as long as the table is large,
// and what to write instead.
var locking = []struct{ pattern, instead string }{
	{`\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+ON\s+(\w+)`, "CREATE INDEX CONCURRENTLY, in a file whose first line is -- concurrently"},
	{`\bALTER\s+TABLE\s+(\w+)\s[^;]*\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b`, "a column of the other type beside it"},
	{`\bALTER\s+TABLE\s+(\w+)\s[^;]*\bSET\s+NOT\s+NULL\b`, "CHECK (... IS NOT NULL) NOT VALID"},
	{`\bALTER\s+TABLE\s+(\w+)\s[^;]*\bADD\s+COLUMN\s[^;]*\bSTORED\b`, "a column that is written with the row"},
	{`\bUPDATE\s+(\w+)\s+SET\b`, "a value that stands for the absence of one"},
	{`\bDELETE\s+FROM\s+(\w+)\b`, "a pass that removes a page at a time"},
	{`\b(?:VACUUM\s+FULL|CLUSTER|REINDEX\s+(?:TABLE|INDEX))\s+(\w+)`, "REINDEX ... CONCURRENTLY, by an operator"},
}

// addedConstraint is checked against all rows unless it is NOT VALID.
var addedConstraint = regexp.MustCompile(`(?is)\bALTER\s+TABLE\s+(\w+)\s+ADD\s+CONSTRAINT\b[^;]*`)

// offences are what of a migration would keep writers of tables out that an earlier one made.
func offences(text string, made map[string]bool) (found []string) {
	text = comment().ReplaceAllString(text, "")
	// What functions do, they do later.
	text = regexp.MustCompile(`(?s)\$\$.*?\$\$`).ReplaceAllString(text, "")
	for _, l := range locking {
		for _, m := range regexp.MustCompile(`(?is)`+l.pattern).FindAllStringSubmatch(text, -1) {
			if made[m[1]] {
				found = append(found, fmt.Sprintf("%q locks %s; write %s", m[0], m[1], l.instead))
			}
		}
	}
	for _, m := range addedConstraint.FindAllStringSubmatch(text, -1) {
		if made[m[1]] && !regexp.MustCompile(`(?i)NOT\s+VALID`).MatchString(m[0]) {
			found = append(found, fmt.Sprintf("%q locks %s; write NOT VALID", m[0], m[1]))
		}
	}
	return found
}

// TestMigrationsLockNoTableForLong reads the migrations.
func TestMigrationsLockNoTableForLong(t *testing.T) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for _, f := range files {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range offences(string(text), made) {
			t.Errorf("%s: %s", f.Name(), what)
		}
		for _, m := range regexp.MustCompile(`(?i)CREATE TABLE (\w+)`).FindAllStringSubmatch(string(text), -1) {
			made[m[1]] = true
		}
	}
	for _, text := range []string{
		"CREATE INDEX a ON leases (id)", "create unique index a on leases (id)", "ALTER TABLE leases ALTER COLUMN id TYPE uuid",
		"ALTER TABLE leases ALTER id SET NOT NULL", "UPDATE leases SET id = 1", "DELETE FROM leases", "ALTER TABLE leases ADD CONSTRAINT c CHECK (id <> '')",
		"ALTER TABLE leases ADD COLUMN c text GENERATED ALWAYS AS (id) STORED",
	} {
		if len(offences(text+";", made)) != 1 {
			t.Errorf("%s is let through", text)
		}
	}
	for _, text := range []string{
		"CREATE INDEX CONCURRENTLY a ON leases (id)", "CREATE INDEX a ON a_new_one (id)", "ALTER TABLE leases ADD COLUMN c text NOT NULL DEFAULT ''",
		"ALTER TABLE leases ADD CONSTRAINT c CHECK (id <> '') NOT VALID", "-- UPDATE leases SET id = 1", "CREATE TRIGGER a BEFORE UPDATE ON leases",
	} {
		if found := offences(text+";", made); len(found) != 0 {
			t.Errorf("%s is refused: %q", text, found)
		}
	}
}

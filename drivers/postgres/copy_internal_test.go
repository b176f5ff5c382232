package postgres

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestCopyForgetsNothing compares what is copied with what both schemas have: a table or column that is added is
// copied, or is named here.
func TestCopyForgetsNothing(t *testing.T) {
	made := []string{ // by each database for itself
		"audit_head", "audit_inbox", "ended_leases", "lease_credentials", "lease_live_counts", "lease_turns",
		"live_leases", "replicas", "schema_floor", "schema_migrations", "vim_census",
	}
	s := mustOpen(t, real.Postgres(t).DSN(t))
	found, err := s.pool.Query(t.Context(), `SELECT table_name || '.' || column_name FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'`)
	if err != nil {
		t.Fatal(err)
	}
	here, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	there := columnsOfSQLite(t)
	for _, set := range []*[]string{&here, &there} {
		*set = slices.DeleteFunc(*set, func(name string) bool {
			table, _, _ := strings.Cut(name, ".")
			return slices.Contains(made, table) || name == "leases.live" // which SQLite has of the state
		})
		slices.Sort(*set)
	}
	if diff := cmp.Diff(here, there); diff != "" {
		t.Errorf("columns of PostgreSQL and SQLite (-PostgreSQL +SQLite):\n%s", diff)
	}
	for _, name := range here {
		if table, _, _ := strings.Cut(name, "."); !slices.Contains(slices.Concat(copied, replaced), table) {
			t.Errorf("%s is not copied", name)
		}
	}
}

func columnsOfSQLite(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vimbroker.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.QueryContext(t.Context(), `SELECT m.name || '.' || c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var names []string
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

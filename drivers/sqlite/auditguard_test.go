package sqlite

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
)

// TestMissingGuardsAreNamed takes each away by itself, also by one that refuses nothing.
func TestMissingGuardsAreNamed(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.query(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'audit_%' ORDER BY name`)
	all, err := collect(found, err, func(r *sql.Rows) (name string, err error) { return name, r.Scan(&name) })
	if err != nil || !slices.Equal(all, slices.Sorted(slices.Values(auditGuards))) {
		t.Errorf("the schema guards the log by %v, %v; looked for are %v", all, err, auditGuards)
	}
	want := func(names ...string) {
		t.Helper()
		if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Equal(missing, names) {
			t.Errorf("Unguarded() = %v, %v, want %v", missing, err, names)
		}
	}
	want()
	for _, text := range []string{
		`DROP TRIGGER audit_never_shrinks`, `DROP TRIGGER audit_tiles_stay`,
		`CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles BEGIN SELECT 1; END`,
	} {
		if _, err := s.writer.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	want("audit_never_shrinks", "audit_tiles_stay")
}

func TestBehindIsTheAgeOfTheOldestEntryOutsideTheTree(t *testing.T) {
	now := clock.New(time.Now().UTC().Truncate(time.Second))
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db"), Now: now.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := func(age time.Duration) {
		t.Helper()
		if behind, err := s.Behind(t.Context()); err != nil || behind != age {
			t.Errorf("Behind() = %v, %v, want %v", behind, err, age)
		}
	}
	want(0)
	for range 2 {
		if err := s.Append(t.Context(), audit.Entry{Time: now.Now(), Outcome: audit.Done}); err != nil {
			t.Fatal(err)
		}
		now.Add(3 * time.Second)
	}
	want(6 * time.Second)
	if err := s.Grow(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(0)
}

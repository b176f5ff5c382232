package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
)

// TestMissingGuardsAreNamed takes them away, and replaces them by others, in every way that SQL has.
func TestMissingGuardsAreNamed(t *testing.T) {
	// remade makes a table anew with another text in its definition, and its triggers as they were.
	remade := func(table, was, is string) string {
		return `PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '` + was + `', '` + is + `') WHERE name = '` + table + `'; PRAGMA writable_schema = RESET`
	}
	for _, c := range []struct {
		name, change string
		want         []string
	}{
		{"nothing", ``, nil},
		{"dropped", `DROP TRIGGER audit_never_shrinks`, []string{"audit_entries.audit_never_shrinks"}},
		{"two dropped", `DROP TRIGGER audit_tiles_stay; DROP TRIGGER audit_key_never_returns`, []string{"audit_keys.audit_key_never_returns", "audit_tiles.audit_tiles_stay"}},
		{"another body", `DROP TRIGGER audit_tiles_stay; CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles BEGIN SELECT 1; END`, []string{"audit_tiles.audit_tiles_stay"}},
		{
			"another WHEN", `DROP TRIGGER audit_never_changes; CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries WHEN OLD.seq > 1000000
				BEGIN SELECT RAISE(ABORT, 'audit_never_changes'); END`, []string{"audit_entries.audit_never_changes"},
		},
		{
			"other columns", `DROP TRIGGER audit_never_changes; CREATE TRIGGER audit_never_changes BEFORE UPDATE OF seq ON audit_entries
				BEGIN SELECT RAISE(ABORT, 'audit_never_changes'); END`, []string{"audit_entries.audit_never_changes"},
		},
		{
			"another time", `DROP TRIGGER audit_never_changes; CREATE TRIGGER audit_never_changes AFTER UPDATE ON audit_entries
				BEGIN SELECT RAISE(IGNORE); END`, []string{"audit_entries.audit_never_changes"},
		},
		{"one beside", `CREATE TRIGGER quiet BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(IGNORE); END`, []string{"audit_entries.quiet"}},
		{"a constraint altered", remade("audit_entries", `(''denied'', ''read'', `, `(''denied'', ''other'', ''read'', `), []string{"audit_entries.audit_outcome_known"}},
		{"a column altered", remade("audit_entries", "principal TEXT    NOT NULL", "principal TEXT"), []string{"audit_entries.principal"}},
		{
			"a table made anew", `CREATE TABLE other (anchor TEXT NOT NULL, size INTEGER NOT NULL, time INTEGER NOT NULL); DROP TABLE audit_anchors; ALTER TABLE other RENAME TO audit_anchors`,
			[]string{"audit_anchors", "audit_anchors.anchor", "audit_anchors.audit_anchor_once", "audit_anchors.size", "audit_anchors.time"},
		},
		{"a horizon that leaps", `DROP TRIGGER audit_horizon_only_grows`, []string{"audit_horizon.audit_horizon_only_grows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.writer.ExecContext(t.Context(), c.change); err != nil {
				t.Fatal(err)
			}
			if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Equal(missing, c.want) {
				t.Errorf("Unguarded() = %v, %v, want %v", missing, err, c.want)
			}
		})
	}
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

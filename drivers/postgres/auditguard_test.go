package postgres

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestMissingGuardsAreNamed takes them away in every way that SQL has.
func TestMissingGuardsAreNamed(t *testing.T) {
	s, err := Open(t.Context(), Options{DSN: secret.NewText(real.Postgres(t).DSN(t)), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, table := range slices.Sorted(maps.Keys(auditGuards)) {
		standing, err := read(t.Context(), s, scalar[string], standingGuards, table)
		// PostgreSQL 18 names each NOT NULL too: what a migration did not name does not count.
		standing = slices.DeleteFunc(standing, func(name string) bool { return len(name) > 9 && name[len(name)-9:] == "_not_null" })
		slices.Sort(standing)
		if err != nil || !slices.Equal(standing, auditGuards[table]) {
			t.Errorf("the schema guards %s by %v, %v; looked for are %v", table, standing, err, auditGuards[table])
		}
	}
	want := func(names ...string) {
		t.Helper()
		if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Equal(missing, names) {
			t.Errorf("Unguarded() = %v, %v, want %v", missing, err, names)
		}
	}
	want()
	exec := func(text string) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec(`DROP TRIGGER audit_never_shrinks ON audit_entries`)
	exec(`ALTER TABLE audit_tiles DISABLE TRIGGER audit_tiles_stay`)
	exec(`ALTER TABLE audit_entries DROP CONSTRAINT audit_entry_is_sealed`)
	want("audit_entries.audit_entry_is_sealed", "audit_entries.audit_never_shrinks", "audit_tiles.audit_tiles_stay")
	exec(`CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`)
	if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Contains(missing, "audit_inbox.audit_inbox_never_changes") {
		t.Errorf("Unguarded() = %v, %v, with a function that refuses nothing", missing, err)
	}
}

func TestBehindIsTheAgeOfTheOldestEntryThatWaits(t *testing.T) {
	s, err := Open(t.Context(), Options{DSN: secret.NewText(real.Postgres(t).DSN(t)), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if behind, err := s.Behind(t.Context()); err != nil || behind != 0 {
		t.Errorf("Behind() of an empty log = %v, %v", behind, err)
	}
	// In the inbox, placed but not in the tree, in the tree.
	if err := s.Append(t.Context(), audit.Entry{Time: s.now().Add(-time.Minute), Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	waits := func(what string) {
		t.Helper()
		if behind, err := s.Behind(t.Context()); err != nil || behind < time.Minute || behind > 2*time.Minute {
			t.Errorf("Behind() of an entry that waits %s = %v, %v, want a minute", what, behind, err)
		}
	}
	waits("for its place")
	if _, err := s.sequence(t.Context(), waitLock); err != nil {
		t.Fatal(err)
	}
	waits("to be in the tree")
	if err := s.Grow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if behind, err := s.Behind(t.Context()); err != nil || behind != 0 {
		t.Errorf("Behind() of a whole log = %v, %v", behind, err)
	}
}

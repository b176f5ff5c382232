package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/conformance"
)

// TestUpgrade opens a file of the version with schema 6.
func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	db, err := connect(path, 1, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE schema_migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`)
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files[:6] {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		run(string(text))
		run(`INSERT INTO schema_migrations VALUES (?, ?, 1)`, i+1, f.Name())
	}
	text, err := os.ReadFile("testdata/schema6.sql")
	if err != nil {
		t.Fatal(err)
	}
	run(string(text))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conformance.Upgraded(t, s)
}

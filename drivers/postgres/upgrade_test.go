package postgres

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestUpgrade migrates a database of the version with schema 6.
func TestUpgrade(t *testing.T) {
	o := Options{DSN: secret.NewText(real.Postgres(t).DSN(t)), Migrate: true}
	old, err := connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	names, err := fs.Glob(released(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	six := fstest.MapFS{}
	for _, name := range names[:6] {
		text, err := fs.ReadFile(released(), name)
		if err != nil {
			t.Fatal(err)
		}
		six[name] = &fstest.MapFile{Data: text}
	}
	if _, err := old.migrate(t.Context(), six); err != nil {
		t.Fatal(err)
	}
	runFile(t, old, "testdata/schema6.sql")

	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conformance.Upgraded(t, s)

	// The older version goes on beside this one.
	runFile(t, s, "testdata/schema6-statements.sql")
	if l, err := s.Lease(t.Context(), "late"); err != nil || l.State != broker.LeaseActive || l.Sealed != "sealed-late" || l.Attempts != 1 {
		t.Errorf("the older version's lease = %+v, %v", l, err)
	}
	if v, err := s.VIM(t.Context(), "late"); err != nil || v.State != broker.VIMRegistered || v.Current.Key != "ref-10" || v.Pending == nil {
		t.Errorf("the older version's VIM = %+v, %v", v, err)
	}

	s.followed(t, "beside the older version")

	// Until it is said that none is left, nothing is written that it cannot read.
	if older, err := s.OlderVersions(t.Context()); err != nil || !older {
		t.Errorf("OlderVersions of a migrated database = %v, %v; want true", older, err)
	}
	if err := Finish(t.Context(), o); err != nil {
		t.Fatalf("Finish = %v", err)
	}
	if older, err := s.OlderVersions(t.Context()); err != nil || older {
		t.Errorf("OlderVersions after Finish = %v, %v; want false", older, err)
	}
	if got, err := Status(t.Context(), o); err != nil || got.Floor != apartSince || !got.Serves() {
		t.Errorf("Status after Finish = %+v, %v; want that older versions are kept out", got, err)
	}
}

func runFile(t *testing.T, s *Store, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

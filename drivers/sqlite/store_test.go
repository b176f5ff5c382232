package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// mustOpen opens a store that is closed at the end of the test.
func mustOpen(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return s
}

var entry = audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:register", Outcome: audit.Done}

func registered(id, name string) broker.VIM {
	return broker.VIM{
		ID: id, Project: "north", Name: name, Type: "kubernetes", State: broker.VIMRegistered,
		CreatedAt: time.Unix(1, 0), Health: broker.Health{Status: broker.HealthUnchecked},
		Current: broker.Generation{Number: 1, Sealed: "sealed", Key: "ref", KeyStore: "keydir", SealedAs: broker.SealedCurrent},
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "bro ker?#%.db") // a path is not a URL
	s := mustOpen(t, path)
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatalf("CreateVIM = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close = %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("database file: %v", err)
	}
	if _, err := mustOpen(t, path).VIM(t.Context(), "v"); err != nil {
		t.Errorf("VIM after reopening = %v", err)
	}
}

func TestSecondProcessIsToldWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := mustOpen(t, path)
	// Another database of the same directory counts too: the directory is ours.
	for _, name := range []string{"broker.db", "other.db"} {
		_, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(filepath.Dir(path), name)})
		var e *broker.Error
		if !errors.Is(err, broker.ErrConflict) || !errors.As(err, &e) || e.Remedy == "" || !strings.Contains(e.Detail, "process ") {
			t.Errorf("second Open(%s) = %v, want ErrConflict with the process and a remedy", name, err)
		}
	}
	if err := s.Check(t.Context(), broker.Replica{}); err != nil {
		t.Errorf("Check of the first after the second was refused = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close = %v", err)
	}
	mustOpen(t, path)
}

func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o777} {
		old := syscall.Umask(0o022)
		root := t.TempDir()
		syscall.Umask(umask)
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(root, "data", "broker.db")})
		if err == nil {
			err = s.Check(t.Context(), broker.Replica{}) // makes the log
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %o: %v", umask, err)
		}
		wantModes(t, filepath.Join(root, "data"))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func wantModes(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", d.Name(), info.Mode().Perm(), want)
		}
		files++
		return nil
	})
	if err != nil || files != 5 { // the directory, the lock, the database, its log and index
		t.Errorf("%d files, %v; want 5", files, err)
	}
}

func TestOpenDirectory(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o750, 0o705, 0o710, 0o701} {
		t.Run("of our own is closed", func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Chmod(dir, mode))
			must(t, os.Mkdir(filepath.Join(dir, "keys"), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, "broker.db"), nil, 0o600))
			must(t, os.Chmod(filepath.Join(dir, "broker.db"), 0o644))
			s := mustOpen(t, filepath.Join(dir, "broker.db"))
			must(t, s.Check(t.Context(), broker.Replica{}))
			must(t, os.Remove(filepath.Join(dir, "keys")))
			wantModes(t, dir)
		})
	}
	t.Run("of others is refused", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o755))
		other := filepath.Join(dir, "other")
		must(t, os.WriteFile(other, nil, 0o600))
		must(t, os.Chmod(other, 0o644))
		_, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "broker.db")})
		var e *broker.Error
		if !errors.As(err, &e) || !strings.Contains(e.Remedy, "chmod 700") {
			t.Errorf("Open = %v, want the remedy", err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("a refused directory has mode %v, %v; want it untouched", info.Mode(), err)
		}
	})
	t.Run("symlink is not followed", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		target := filepath.Join(t.TempDir(), "target")
		for _, name := range []string{"broker.db", "lock"} {
			link := filepath.Join(dir, name)
			_ = os.Remove(link) // an attempt before leaves its lock file
			must(t, os.Symlink(target, link))
			if s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "broker.db")}); err == nil {
				t.Errorf("Open followed the link %s", name)
				_ = s.Close()
			}
			must(t, os.Remove(link))
		}
		if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("target of a link: %v, want it not made", err)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// raw changes a database behind the store's back.
func raw(t *testing.T, path, text string) error {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec(text)
	return err
}

// columns are a table's.
func columns(t *testing.T, path, table string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	var names string
	must(t, db.QueryRow(`SELECT group_concat(name) FROM pragma_table_info(?)`, table).Scan(&names))
	return strings.Split(names, ",")
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	must(t, mustOpen(t, path).Close())
	must(t, raw(t, path, `INSERT INTO schema_migrations VALUES (9999, '9999_later.sql', '', 0)`))
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	var e *broker.Error
	if !errors.Is(err, broker.ErrUnsupported) || !errors.As(err, &e) || e.Remedy == "" {
		t.Errorf("Open of a newer database = %v, want ErrUnsupported with a remedy", err)
	}
}

// TestDatabaseOfAnotherSchemaIsRefused, also one of before fingerprints were noted, and is left as it is.
func TestDatabaseOfAnotherSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	must(t, mustOpen(t, path).Close())
	for _, text := range []string{
		`UPDATE schema_migrations SET sha256 = 'another'`,
		`ALTER TABLE schema_migrations DROP COLUMN sha256; INSERT INTO schema_migrations VALUES (45, '0045_lease_credentials.sql', 0)`,
	} {
		must(t, raw(t, path, text))
		before := columns(t, path, "schema_migrations")
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "begin anew") || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open after %s = %v, want one line that says to begin anew", text, err)
		}
		if after := columns(t, path, "schema_migrations"); !slices.Equal(before, after) {
			t.Errorf("a refused database was changed: %q, was %q", after, before)
		}
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	content := []byte(strings.Repeat("someone's diary ", 100))
	must(t, os.WriteFile(path, content, 0o600))
	if s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path}); err == nil {
		_ = s.Close()
		t.Error("Open of another kind of file succeeded")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Errorf("the file was changed, %v", err)
	}
}

// TestRulesStandInTheDatabase writes past the store.
func TestRulesStandInTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := mustOpen(t, path)
	must(t, s.CreateVIM(t.Context(), registered("v", "core"), 0, entry))
	lease := broker.Lease{ID: "l", VIM: "v", VIMGeneration: 1, Project: "north", Principal: "alice", CreatedAt: time.Unix(1, 0)}
	_, err := s.CreateLease(t.Context(), lease, broker.Quota{}, entry)
	must(t, err)
	must(t, s.Close())
	for rule, text := range map[string]string{
		"lease_expires_after_issue": `UPDATE leases SET issued_at = 2, expires_at = 1`,
		"lease_state_known":         `UPDATE leases SET state = 'lost'`,
		"lease_revoked_has_time":    `UPDATE leases SET state = 'revoked'`,
		"lease_never_deleted":       `DELETE FROM leases`,
		"vim_state_known":           `UPDATE vims SET state = 'lost'`,
		"generation_names_its_key":  `INSERT INTO vim_generations VALUES ('v', 2, '', '', 0, '', '', '{}', '', '', '', '', '', '', 0, '', 'past', '', '')`,
		"generation_never_changes":  `UPDATE vim_generations SET endpoint = 'old'`,
		"audit_never_changes":       `UPDATE audit_entries SET principal = 'bob'`,
		"audit_never_shrinks":       `DELETE FROM audit_entries`,
	} {
		if err := raw(t, path, text); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s = %v, want rule %s to refuse it", text, err, rule)
		}
	}
	// All of a generation stays but what it is sealed with.
	for _, column := range columns(t, path, "vim_generations") {
		text := fmt.Sprintf(`UPDATE vim_generations SET %[1]s = %[1]s`, column)
		err := raw(t, path, text)
		if may := slices.Contains([]string{"sealed", "sealed_as", "key_ref", "key_store"}, column); may && err != nil || !may && (err == nil || !strings.Contains(err.Error(), "generation_never_changes")) {
			t.Errorf("%s = %v", text, err)
		}
	}
	_, err = mustOpen(t, path).UpdateLease(context.Background(), "l", func(l *broker.Lease) error {
		l.State, l.IssuedAt, l.ExpiresAt = broker.LeaseActive, time.Unix(2, 0), time.Unix(1, 0)
		return nil
	}, entry)
	if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "lease_expires_after_issue") {
		t.Errorf("UpdateLease against a rule = %v, want ErrInvalid that names it", err)
	}
}

// A list says of each row what that row holds: one that is damaged, or fuller, leaves
// nothing in the next.
func TestRowsOfAListLeaveNothingInTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := mustOpen(t, path)
	ctx := t.Context()
	for _, name := range []string{"a", "b"} {
		v := registered("vim-"+name, name)
		if name == "a" {
			v.Labels = map[string]string{"site": "north"}
		}
		must(t, s.CreateVIM(ctx, v, 0, entry))
	}
	for i, id := range []string{"older", "newer"} {
		_, err := s.CreateLease(ctx, broker.Lease{
			ID: id, VIM: "vim-b", VIMGeneration: 1, Project: "north", Principal: "alice", Namespaces: []string{id}, CreatedAt: time.Unix(int64(i+1), 0),
		}, broker.Quota{}, entry)
		must(t, err)
	}
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	for _, text := range []string{
		`DROP TRIGGER generation_never_changes`,
		`UPDATE vim_generations SET scope = '{' WHERE vim = 'vim-a'`,
		`UPDATE leases SET namespaces = '{' WHERE id = 'newer'`,
	} {
		_, err := db.ExecContext(ctx, text)
		must(t, err)
	}
	vims, _, err := s.VIMs(ctx, broker.VIMFilter{Page: broker.Page{Size: 10}})
	must(t, err)
	if len(vims) != 2 || !vims[0].Damaged || vims[1].Damaged || len(vims[1].Labels) > 0 {
		t.Errorf("a damaged VIM and a sound one are listed as %+v", vims)
	}
	leases, _, err := s.Leases(ctx, broker.LeaseFilter{Page: broker.Page{Size: 10}})
	must(t, err)
	if len(leases) != 2 || leases[0].ID != "newer" || leases[0].Namespaces[0] == "newer" || leases[1].Namespaces[0] != "older" {
		t.Errorf("a damaged lease and a sound one are listed as %+v", leases)
	}
}

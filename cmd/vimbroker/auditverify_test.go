package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// tampered is a store whose database somebody with full rights over it changes.
type tampered struct {
	// settings are the lines of the configuration that choose the store.
	settings string
	open     func(data string) *sql.DB
	// unguard removes what keeps the log from being changed, and empty is the root of an empty tree.
	unguard, empty string
	// settle is what else has to be changed in any case, so that the log goes on behind the change.
	settle string
}

func TestAuditVerifyFindsEveryKindOfTampering(t *testing.T) {
	findEveryKindOfTampering(t, func(t *testing.T) tampered {
		t.Helper()
		return tampered{
			open: func(data string) *sql.DB { return openSQL(t, "sqlite", "file:"+filepath.Join(data, "vimbroker.db")) },
			unguard: `DROP TRIGGER audit_never_changes; DROP TRIGGER audit_never_shrinks; DROP TRIGGER audit_tiles_stay;
				DROP TRIGGER audit_keys_stay; DROP TRIGGER audit_checkpoints_stay; DROP TRIGGER audit_tiles_only_grow;
				DROP TRIGGER audit_tree_only_grows; DROP TRIGGER audit_tree_stays;`,
			empty: `x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'`,
		}
	})
}

func TestAuditVerifyFindsEveryKindOfTamperingOnPostgreSQL(t *testing.T) {
	server := real.Postgres(t)
	findEveryKindOfTampering(t, func(t *testing.T) tampered {
		t.Helper()
		dsn := server.DSN(t)
		return tampered{
			settings: "database: {postgres: {dsnFile: " + story.WriteFile(t, "dsn", dsn, 0o600) + ", migrate: true}}\n",
			// Several statements at once need the simple protocol.
			open: func(string) *sql.DB { return openSQL(t, "pgx", dsn+"&default_query_exec_mode=simple_protocol") },
			unguard: `DO $$ DECLARE g record; BEGIN
				FOR g IN SELECT tgname, tgrelid::regclass AS rel FROM pg_trigger WHERE NOT tgisinternal AND tgrelid::regclass::text LIKE 'audit%'
				LOOP EXECUTE format('DROP TRIGGER %I ON %s', g.tgname, g.rel); END LOOP; END $$`,
			empty:  `'\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'`,
			settle: `UPDATE audit_head SET seq = coalesce((SELECT max(seq) FROM audit_entries), 0)`,
		}
	})
}

// findEveryKindOfTampering writes a log, keeps an anchor of it, has somebody with full rights over the
// database change it while the server is stopped, and verifies.
func findEveryKindOfTampering(t *testing.T, on func(*testing.T) tampered) {
	t.Helper()
	const (
		edit    = `UPDATE audit_entries SET principal = 'mallory' WHERE seq = 2;`
		missing = "audit log is broken at entry"
		second  = "audit log was changed: entry 2 is not the one"
		third   = "audit log was changed: entry 3 is not the one"
		anchor  = "the anchor"
		signed  = "between entries 1 and"
		// columns are those of an entry but for its place.
		columns    = `time, request, principal, project, action, kind, resource, outcome, detail, door`
		forgetTree = `DELETE FROM audit_tiles; UPDATE audit_tree SET size = 0, root = $empty;`
	)
	for _, c := range []struct {
		name   string
		tamper string
		// what verify says without an anchor, with one, with a checkpoint, of what is newer than an anchor
		// only, and than what it has kept; "" if it cannot see it, A|B for either
		without, with, checkpoint, newer, kept string
		// whether the tree is proven to have only grown since the anchor
		proven bool
	}{
		{"nothing", ``, "", "", "", "", "", true},
		{"an entry edited", edit, second, second, second, "", "", true},
		{"an entry removed", `DELETE FROM audit_entries WHERE seq = 2`, missing + " 2", missing + " 2", missing + " 2", "", "", true},
		{"an entry inserted", `UPDATE audit_entries SET seq = -seq-1 WHERE seq > 2; UPDATE audit_entries SET seq = -seq WHERE seq < 0;
			INSERT INTO audit_entries (seq, ` + columns + `) SELECT 3, ` + columns + ` FROM audit_entries WHERE seq = 2`, third, third, third, "is not the one", "is not the one", true},
		{"two entries swapped", `UPDATE audit_entries SET seq = -2 WHERE seq = 2; UPDATE audit_entries SET seq = 2 WHERE seq = 3;
			UPDATE audit_entries SET seq = 3 WHERE seq = -2`, second, second, second, "", "", true},
		// What is kept lies behind what follows, or is changed by it: a busy server writes more entries of its own.
		{"the end cut off", `DELETE FROM audit_entries WHERE seq >= 3`, third, third, third, "is not the one", "is missing|is not the one", true},
		{"more cut off than follows", `DELETE FROM audit_entries WHERE seq >= 3`, third, third, third, missing, missing, true},
		{"all rewritten, the tree too", edit + forgetTree, signed, anchor, signed, anchor, "the checkpoint in", false},
		{"all rewritten, tree, keys and checkpoints too", edit + forgetTree + `DELETE FROM audit_keys; DELETE FROM audit_checkpoints`, "", anchor, "checkpoint 1 of", anchor, "none of the keys", false},
		{"all rewritten and shortened", `DELETE FROM audit_entries;` + forgetTree, "cut off", anchor, "cut off", "the log is another", "the log is another", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := on(t)
			keep, checkpoint := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "checkpoint")
			i := serveConfig(t, store.settings)
			for range 60 { // a server writes some entries of its own when it starts again
				if c.name != "more cut off than follows" {
					break
				}
				if code, _, _ := i.run(t, "vim", "check", "nonesuch"); code == 0 { // each is an entry
					t.Fatal("there is such a VIM")
				}
			}
			for range 3 {
				if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
					t.Fatalf("vim list = %d, %s", code, stderr)
				}
			}
			code, stdout, stderr := i.run(t, "audit", "verify")
			_, kept, found := strings.Cut(strings.TrimSpace(stdout), "anchor: ")
			if code != 0 || !found {
				t.Fatalf("audit verify = %d, %q, %q", code, stdout, stderr)
			}
			// The new key signs all of that.
			for _, args := range [][]string{{"audit", "key", "rotate"}, {"audit", "verify", "--keep", keep}} {
				if code, _, stderr := i.run(t, args...); code != 0 {
					t.Fatalf("%v = %d, %s", args, code, stderr)
				}
			}
			code, stdout, stderr = i.run(t, "audit", "checkpoint")
			if code != 0 || os.WriteFile(checkpoint, []byte(stdout), 0o600) != nil {
				t.Fatalf("audit checkpoint = %d, %q, %q", code, stdout, stderr)
			}
			i.stop()
			db := store.open(i.data)
			execute(t, db, store.unguard)
			execute(t, db, strings.ReplaceAll(c.tamper, "$empty", store.empty))
			if c.tamper != "" {
				execute(t, db, store.settle)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			i.start()
			verify := func(want string, args ...string) {
				t.Helper()
				code, stdout, stderr := i.run(t, append([]string{"audit", "verify"}, args...)...)
				said := slices.ContainsFunc(strings.Split(want, "|"), func(one string) bool { return strings.Contains(stderr, one) })
				if (code == 0) != (want == "") || !said {
					t.Errorf("audit verify %v = %d, %q, %q; want it to say %q", args, code, stdout, stderr, want)
				}
			}
			verify(c.newer, "--anchor", kept, "--newer")
			verify(c.without)
			verify(c.with, "--anchor", kept)
			verify(c.checkpoint, "--anchor", checkpoint)
			verify(c.kept, "--keep", keep)
			code, stdout, stderr = i.run(t, "audit", "prove", "--anchor", kept)
			if proven := code == 0; proven != c.proven || proven != strings.Contains(stdout, "the log only grew") || !proven && stderr == "" {
				t.Errorf("audit prove --anchor = %d, %q, %q; want it proven: %t", code, stdout, stderr, c.proven)
			}
			if _, told, _ := i.run(t, "audit", "list", "--action", "server:start", "--limit", "1", "-o", "json"); !strings.Contains(told, "audit_never_changes") {
				t.Errorf("the start does not say that guards were taken away: %s", told)
			}
		})
	}
}

func openSQL(t *testing.T, driver, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func execute(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestAnchorsGetCheckpoints has a server hand its checkpoints to a file, and verifies against that.
func TestAnchorsGetCheckpoints(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "checkpoints.jsonl")
	i := serveConfig(t, "audit: {checkpointInterval: 1s, anchors: [{name: outside, kind: file, path: "+outside+"}]}\n")
	var has struct{ Items []v1.AuditAnchor }
	if !real.Poll(t, process.Patience, func() bool {
		code, stdout, stderr := i.run(t, "audit", "anchors", "-o", "json")
		if code != 0 || json.Unmarshal([]byte(stdout), &has) != nil {
			t.Fatalf("audit anchors = %d, %s, %s", code, stdout, stderr)
		}
		return len(has.Items) > 0 && has.Items[0].Size > 0
	}) {
		t.Fatalf("the anchor has got no checkpoint: %+v", has)
	}
	if a := has.Items[0]; a.Name != "outside" || a.Fault != "" {
		t.Errorf("audit anchors says %+v", a)
	}
	for _, args := range [][]string{{}, {"--newer"}} {
		code, stdout, stderr := i.run(t, append([]string{"audit", "verify", "--anchor", outside}, args...)...)
		if code != 0 || !strings.Contains(stdout, " verified; anchor: ") {
			t.Errorf("audit verify --anchor FILE %v = %d, %s, %s", args, code, stdout, stderr)
		}
	}
	if _, metrics := i.get(t, "/metrics"); !strings.Contains(metrics, "\nvimbroker_audit_unanchored_seconds ") {
		t.Error("no metric says how long entries have waited for the anchor")
	}
}

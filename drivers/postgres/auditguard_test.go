package postgres

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestMissingGuardsAreNamed takes them away, and replaces them by others, in every way that SQL has.
func TestMissingGuardsAreNamed(t *testing.T) {
	server := real.Postgres(t)
	o := Options{DSN: secret.NewText(server.DSN(t)), Migrate: true}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if golden.Updating() {
		found, err := read(t.Context(), s, scanGuard, standingGuards+` ORDER BY 1`)
		var text strings.Builder
		for _, g := range found {
			fmt.Fprintf(&text, "%s: %s\n", g.name, g.definition)
		}
		if err := errors.Join(err, os.WriteFile("auditguards.txt", []byte(text.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
		auditGuards = text.String()
	}
	for _, c := range []struct {
		name, change string
		want         []string
	}{
		{"nothing", ``, nil},
		{"dropped", `DROP TRIGGER audit_never_shrinks ON audit_entries`, []string{"audit_entries.audit_never_shrinks"}},
		{"disabled", `ALTER TABLE audit_tiles DISABLE TRIGGER audit_tiles_stay`, []string{"audit_tiles.audit_tiles_stay"}},
		{"only for replicas", `ALTER TABLE audit_tree ENABLE REPLICA TRIGGER audit_tree_stays`, []string{"audit_tree.audit_tree_stays"}},
		{
			"another WHEN", `CREATE OR REPLACE TRIGGER audit_head_only_grows BEFORE UPDATE ON audit_head FOR EACH ROW WHEN (NEW.seq < 0) EXECUTE FUNCTION refuse_change()`,
			[]string{"audit_head.audit_head_only_grows"},
		},
		{
			"other columns", `CREATE OR REPLACE TRIGGER audit_never_changes BEFORE UPDATE OF seq ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
			[]string{"audit_entries.audit_never_changes"},
		},
		{
			"another function", `CREATE FUNCTION let() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; /* RAISE EXCEPTION */ END';
				CREATE OR REPLACE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION let()`,
			[]string{"audit_entries.audit_never_changes"},
		},
		{
			"another body", `CREATE OR REPLACE FUNCTION refuse_horizon() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; /* RAISE EXCEPTION */ END'`,
			[]string{"audit_horizon.audit_horizon_only_grows"},
		},
		{
			"one beside", `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
				CREATE TRIGGER quiet BEFORE INSERT ON audit_inbox FOR EACH ROW EXECUTE FUNCTION lose()`,
			[]string{"audit_inbox.quiet"},
		},
		{"a rule", `CREATE RULE quiet AS ON INSERT TO audit_inbox DO INSTEAD NOTHING`, []string{"audit_inbox.quiet"}},
		{"rows hidden", `ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY`, []string{"audit_entries.row level security"}},
		{"a constraint dropped", `ALTER TABLE audit_entries DROP CONSTRAINT audit_outcome_known`, []string{"audit_entries.audit_outcome_known"}},
		{
			"a constraint altered", `ALTER TABLE audit_entries DROP CONSTRAINT audit_outcome_known, ADD CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed') OR seq > 9)`,
			[]string{"audit_entries.audit_outcome_known"},
		},
		{"a primary key dropped", `ALTER TABLE audit_checkpoints DROP CONSTRAINT audit_checkpoint_once`, []string{"audit_checkpoints.audit_checkpoint_once"}},
		{"a column altered", `ALTER TABLE audit_entries ALTER principal DROP NOT NULL`, []string{"audit_entries.principal"}},
		{"lost in a crash", `ALTER TABLE audit_cursors SET UNLOGGED`, []string{"audit_cursors"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), c.change); err != nil {
					return err
				}
				found, err := tx.Query(t.Context(), standingGuards)
				if err != nil {
					return err
				}
				standing, err := pgx.CollectRows(found, scanGuard)
				if err != nil {
					return err
				}
				if got := differing(standing, false); !slices.Equal(got, c.want) {
					t.Errorf("differing() = %v, want %v", got, c.want)
				}
				return errUndo
			})
			if !errors.Is(err, errUndo) {
				t.Error(err)
			}
		})
	}
	if missing, err := s.Unguarded(t.Context()); err != nil || len(missing) > 0 {
		t.Errorf("Unguarded() = %v, %v, want none", missing, err)
	}
	// A superuser has no trigger fire in sessions of the broker's role.
	role := `ALTER ROLE vimbroker IN DATABASE ` + pgx.Identifier{s.pool.Config().ConnConfig.Database}.Sanitize()
	server.Exec(t, "", role+` SET session_replication_role = replica`)
	deaf, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := deaf.Unguarded(t.Context()); err != nil || !slices.Equal(missing, []string{"session_replication_role"}) {
		t.Errorf("Unguarded() = %v, %v, where no trigger fires", missing, err)
	}
	deaf.Close()
	server.Exec(t, "", role+` RESET session_replication_role`)
	if _, err := s.pool.Exec(t.Context(), `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`); err != nil {
		t.Fatal(err)
	}
	if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Contains(missing, "audit_inbox.audit_inbox_never_changes") {
		t.Errorf("Unguarded() = %v, %v, with a function that refuses nothing", missing, err)
	}
	// What a later version made of the schema is not known here.
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO schema_migrations SELECT 9999, 'later', '', applied_at FROM schema_migrations LIMIT 1;
		DROP TRIGGER audit_never_shrinks ON audit_entries`); err != nil {
		t.Fatal(err)
	}
	if missing, err := s.Unguarded(t.Context()); err != nil || !slices.Equal(missing, []string{"audit_entries.audit_never_shrinks"}) {
		t.Errorf("Unguarded() of a later schema = %v, %v", missing, err)
	}
}

var errUndo = errors.New("undo")

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

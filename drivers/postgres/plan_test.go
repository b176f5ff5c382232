package postgres

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

// crowd fills a database with what a year leaves: 20 000 VIMs of 100 projects, and
// 100 000 leases on them, of which 2 000 are live and 300 due.
var crowd = []string{
	`INSERT INTO vims (` + rows.VIMColumns.Names() + `)
		SELECT 'vim-' || i, 'project-' || i % 100, 'name-' || i, 'kubernetes', 'registered', i % 200 = 0, i <= 100, 'alice',
			'2030-01-01', '2030-01-01', 1, 1, 0, '-infinity', CASE WHEN i % 50 = 0 THEN 'unreachable' ELSE 'reachable' END,
			'2030-01-01', '', 'v1', true, '', '', timestamptz '2030-06-01' + i * interval '1 s', 'key-' || i, '', '', '', ''
		FROM generate_series(1, 20000) AS i`,
	`INSERT INTO vim_generations (` + rows.GenerationColumns.Names() + `)
		SELECT 'vim-' || i, 1, 'https://vim', '', false, '', '', '{}', '', '', '', 'identity-' || i, 'bearerToken', '', '-infinity', 'sealed', 'ref-' || i, 'keydir', 'current'
		FROM generate_series(1, 20000) AS i`,
	`INSERT INTO vim_labels (vim, key, value) SELECT 'vim-' || i, 'site', 's' || i % 500 FROM generate_series(1, 20000) AS i`,
	`INSERT INTO leases (` + rows.LeaseColumns.Names() + `)
		SELECT 'lease-' || i, 'vim-' || (i % 20000 + 1), 'name', 'kubernetes', 'project-' || i % 100, 1, 'project-' || i % 100,
			'principal-' || i % 500, at, CASE WHEN i % 200 = 0 THEN 'op-' || i ELSE '' END,
			CASE WHEN i % 50 <> 0 THEN 'revoked' WHEN i % 400 = 0 THEN 'revoking' ELSE 'active' END, '', 'edit', '{}',
			'kubeconfig', '', at, at + interval '1 h', at + interval '1 h', '-infinity', false, 'bearerToken', false, true,
			true, 0, at + interval '1 h', '-infinity', 'handle', '', '', 0, at + interval '1 h', '', 1, 'key-' || i, '',
			'null', false, '', '{}', 'grant-' || i % 5, 1, '', '', at + interval '1 h', '', '{}', '{}', '', '', false, 0, '', '', ''
		FROM generate_series(1, 100000) AS i, LATERAL (SELECT timestamptz '2030-01-01' + i * interval '1 min' AS at) AS a`,
	`INSERT INTO lease_credentials (lease, sealed) SELECT 'lease-' || i, '\x80' FROM generate_series(50, 100000, 50) AS i`,
	// A project with 22 000 leases: half on VIMs of others, half by others on its VIMs.
	`INSERT INTO leases (` + rows.LeaseColumns.Names() + `)
		SELECT 'full-' || i, 'vim-' || (i % 20000 + 1), 'name', 'kubernetes', CASE WHEN i % 2 = 0 THEN 'full' ELSE 'other' END, 1,
			CASE WHEN i % 2 = 0 THEN 'other' ELSE 'full' END, 'principal-' || i % 500, at, '',
			CASE WHEN (i / 2) % 20 <> 0 THEN 'revoked' ELSE 'active' END, '', 'edit', '{}',
			'kubeconfig', '', at, at + interval '1 h', at + interval '1 h', '-infinity', false, 'bearerToken', false, true,
			true, 0, at + interval '1 h', '-infinity', 'handle', '', '', 0, at + interval '1 h', '', 1, '', '',
			'null', false, '', '{}', 'grant-' || i % 5, 1, '', '', at + interval '1 h', '', '{}', '{}', '', '', false, 0, '', '', ''
		FROM generate_series(1, 22000) AS i, LATERAL (SELECT timestamptz '2030-02-01' + i * interval '1 min' AS at) AS a`,
	// Few that are irrevocable, and one principal that has many.
	`UPDATE leases SET state = 'irrevocable' WHERE id IN ('lease-50', 'lease-50050', 'lease-100000')`,
	`UPDATE leases SET principal = 'crowded' WHERE id LIKE 'full-1%'`,
	`INSERT INTO vims (` + rows.VIMColumns.Names() + `)
		SELECT 'full-' || i, CASE WHEN i % 2 = 0 THEN 'full' ELSE 'other' END, 'name-' || i, 'kubernetes', 'registered', i % 2 = 1, false, 'alice',
			'2030-01-01', '2030-01-01', 1, 1, 0, '-infinity', 'reachable', '2030-01-01', '', 'v1', true, '', '', '2031-01-01', '', '', '', '', ''
		FROM generate_series(1, 22000) AS i`,
	// 5 000 VIMs that are shared by name with the full project.
	`INSERT INTO vims (` + rows.VIMColumns.Names() + `)
		SELECT 'third-' || i, 'third', 'name-' || i, 'kubernetes', 'registered', false, false, 'alice',
			'2030-01-01', '2030-01-01', 1, 1, 0, '-infinity', 'reachable', '2030-01-01', '', 'v1', true, '', '', '2031-01-01', '', '', '', '', ''
		FROM generate_series(1, 5000) AS i`,
	`INSERT INTO vim_shares (shared_with, vim_project, vim_name)
		SELECT CASE WHEN project = 'third' THEN 'full' ELSE 'project-' || length(name) END, project, name FROM vims
		WHERE project IN ('third', 'project-7')`,
	`INSERT INTO grants (` + rows.GrantColumns.Names() + `)
		SELECT 'vim-' || i, 'grant-' || i % 5, 1, CASE WHEN i % 1000 = 0 THEN 'closing' ELSE 'open' END,
			CASE WHEN i % 1000 = 1 THEN timestamptz '2030-01-01' ELSE '-infinity' END, 'edit', 'null', '{}', false
		FROM generate_series(1, 20000) AS i`,
	`INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
		SELECT 'keydir', 'old-' || i, 'vim-' || i, 1, '2030-01-01' FROM generate_series(1, 20000) AS i`,
	`INSERT INTO vnf_grants (` + rows.VNFGrantColumns.Names() + `)
		SELECT 'grant-' || i, 'client-' || i % 100, 'op-' || i, 'i-' || i, '2030-01-01', 'ended', 'lease-' || i, true, false, '-infinity', 1,
			'{"Project":"project-' || i % 100 || '"}' FROM generate_series(10000, 30000) AS i`,
	`INSERT INTO audit_entries (` + rows.EntryColumns.Names() + `)
		SELECT i, timestamptz '2030-01-01' + i * interval '1 s', '', 'rest', 'principal-' || i % 500, 'project-' || i % 100,
			'action-' || i % 20, 'vim', 'vim-' || i % 20000, 'done', '{}' FROM generate_series(1, 100000) AS i`,
}

// listVIMs, listLeases and endOfWindow are the queries of lists as the database is asked.
func listVIMs(f broker.VIMFilter) (string, []any, int, error) {
	text, args, size, err := database{}.VIMQuery(f)
	return dialect.Text(text), dialect.Args(args), size, err
}

func listLeases(f broker.LeaseFilter, end *rows.Position) (string, []any, int, error) {
	text, args, size, err := database{}.LeaseQuery(f, end)
	return dialect.Text(text), dialect.Args(args), size, err
}

func endOfWindow(f, wider broker.LeaseFilter) (string, []any, error) {
	text, args, err := database{}.LeaseWindowEnd(f, wider)
	return dialect.Text(text), dialect.Args(args), err
}

// Said is how PostgreSQL says a statement of tables.
func Said(text string) string { return dialect.Text(text) }

// spoken is the only statement of tables that a pattern matches, as the database is asked.
func spoken(t *testing.T, pattern string) string {
	t.Helper()
	var found []string
	for _, text := range tables.Statements {
		if text = dialect.Text(text); regexp.MustCompile(`(?s)` + pattern).MatchString(text) {
			found = append(found, text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d statements match %q: %q", len(found), pattern, found)
	}
	return found[0]
}

// plan is how PostgreSQL will run a query with these arguments.
func (s *Store) plan(t *testing.T, text string, args ...any) string {
	t.Helper()
	// As a read does it: planned for the values.
	lines, err := read(t.Context(), s, scalar[string], "EXPLAIN (COSTS OFF) "+text, args...)
	if err != nil {
		t.Fatalf("explaining %s: %v", text, err)
	}
	return strings.Join(lines, "\n")
}

// keptPlan is the plan of a look-up, made once for all values.
func (s *Store) keptPlan(t *testing.T, text string, args int) string {
	t.Helper()
	values := strings.TrimSuffix(strings.Repeat("NULL, ", args), ", ")
	var lines []string
	err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		for _, text := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `PREPARE kept AS ` + text} {
			if _, err := tx.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		found, err := tx.Query(t.Context(), `EXPLAIN (COSTS OFF) EXECUTE kept(`+values+`)`, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return err
		}
		if lines, err = pgx.CollectRows(found, pgx.RowTo[string]); err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), `DEALLOCATE kept`)
		return err
	})
	if err != nil {
		t.Fatalf("explaining %s: %v", text, err)
	}
	return strings.Join(lines, "\n")
}

// Step is a step of a plan, with what it did.
type Step struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []Step
}

// Touched is how many rows of tables the step and those below it looked at.
func (s Step) Touched() (found int) {
	if s.Relation != "" {
		found = int(s.Loops * (s.Rows + s.Removed + s.Recheck))
	}
	for _, below := range s.Plans {
		found += below.Touched()
	}
	return found
}

// Most is how much of what it may do a statement did: 30 rows and 100 blocks for each row that comes of it, and as
// much as for 20 rows in any case. More than 1 is too much.
func (s Step) Most() float64 {
	comes := s.Rows
	if s.Type == "ModifyTable" && comes == 0 && len(s.Plans) > 0 {
		comes = s.Plans[0].Rows * s.Plans[0].Loops
	}
	comes += 20
	return max(float64(s.Touched())/(30*comes), float64(s.Hit+s.Read)/(100*comes))
}

// touched runs a query, and counts the rows of tables that it looked at and the
// blocks that it read, from memory or from disk.
func (s *Store) touched(t *testing.T, text string, args ...any) (found, blocks int) {
	t.Helper()
	answer, err := readOne(t.Context(), s, scalar[string], "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+text, args...)
	if err != nil {
		t.Fatalf("explaining %s: %v", text, err)
	}
	var plans []struct{ Plan Step }
	if err := json.Unmarshal([]byte(answer), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Touched(), plans[0].Plan.Hit + plans[0].Plan.Read
}

// wantOnePage holds that a page costs the rows of a page, and one more, from each
// of at most three ranges of an index, however many rows the lists have.
func (s *Store) wantOnePage(t *testing.T) {
	const size = 50
	middle := rows.Token(rows.Position{List: "leases", At: time.Date(2030, 2, 8, 0, 0, 0, 0, time.UTC).UnixMicro(), Names: []string{"full-5"}})
	live := []broker.LeaseState{broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseIrrevocable}
	for _, f := range []broker.LeaseFilter{
		{}, {Project: "full"}, {Project: "full", States: live}, {Project: "full", States: live[1:2]}, {Principal: "principal-7"}, {VIM: "vim-7"},
	} {
		for _, f.Token = range []string{"", middle} {
			f.Size = size
			text, args, _, err := listLeases(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			found, blocks := s.touched(t, text, args...)
			most := 2 * (size + 1)
			if len(f.States) > 0 {
				most *= 2 // what is live is found in live_leases, and each of the page in leases
			}
			if found > most || blocks > 4*most {
				t.Errorf("Leases(%+v) looks at %d rows in %d blocks, want at most %d in %d:\n%s", f, found, blocks, most, 4*most, s.plan(t, text, args...))
			}
		}
	}
	for _, f := range []broker.VIMFilter{
		{}, {Project: "full"}, {State: broker.VIMRegistered}, {Status: broker.HealthReachable}, {State: broker.VIMRegistered, Project: "full"},
	} {
		for _, f.Token = range []string{
			"", rows.Token(rows.Position{List: "VIMs", Names: []string{"full", "name-5000"}}), rows.Token(rows.Position{List: "VIMs", Names: []string{"third", "name-2500"}}),
		} {
			f.Size = size
			text, args, _, err := listVIMs(f)
			if err != nil {
				t.Fatal(err)
			}
			found, blocks := s.touched(t, text, args...)
			// Each VIM of the page is looked up again, with its generations, labels and shares.
			if most := 7 * (size + 1); found > most || blocks > 6*most {
				t.Errorf("VIMs(%+v) looks at %d rows in %d blocks, want at most %d in %d:\n%s", f, found, blocks, most, 6*most, s.plan(t, text, args...))
			}
		}
	}
	s.wantWindows(t)
	if found, blocks := s.touched(t, `SELECT * FROM leases WHERE purpose = 'x'`); found < 100_000 || blocks < 1000 {
		t.Errorf("the test sees %d rows in %d blocks of a scan of all leases", found, blocks)
	}
}

// wantWindows holds that a page of leases of which few are wanted looks at no more than a window of them, and that all
// pages together hold each lease that is wanted, once.
func (s *Store) wantWindows(t *testing.T) {
	t.Helper()
	irrevocable := []broker.LeaseState{broker.LeaseIrrevocable}
	for _, c := range []struct {
		f       broker.LeaseFilter
		matches string
		pages   int // at least
	}{
		{broker.LeaseFilter{States: irrevocable}, `state = 'irrevocable'`, 5},
		{broker.LeaseFilter{States: []broker.LeaseState{broker.LeaseRevoking}, CreatedBefore: time.Date(2030, 3, 1, 0, 0, 0, 0, time.UTC)}, `state = 'revoking' AND created_at < '2030-03-01 00:00:00+00'`, 3},
		{broker.LeaseFilter{Project: "full", States: irrevocable}, `FALSE`, 2},
		{broker.LeaseFilter{Principal: "principal-7", VIM: "vim-8"}, `principal = 'principal-7' AND vim = 'vim-8'`, 1},
		{broker.LeaseFilter{VIM: "vim-51", States: irrevocable}, `state = 'irrevocable' AND vim = 'vim-51'`, 1},
		{broker.LeaseFilter{Principal: "principal-7", Project: "project-7"}, `principal = 'principal-7' AND project = 'project-7'`, 3},
		{broker.LeaseFilter{VIM: "vim-8", Project: "project-7"}, `vim = 'vim-8' AND project = 'project-7'`, 3},
		{broker.LeaseFilter{Project: "project-7", Principal: "crowded"}, `FALSE`, 3},
	} {
		seen, pages := map[string]bool{}, 0
		c.f.Size = 50
		for {
			_, wider := rows.WindowOfLeases(c.f)
			text, args, err := endOfWindow(c.f, *wider)
			if err != nil {
				t.Fatal(err)
			}
			ends, err := read(t.Context(), s, func(row pgx.CollectableRow) (rows.Position, error) {
				var l broker.Lease
				err := row.Scan(&l.CreatedAt, &l.ID)
				return rows.LeaseOrder.At(l), err
			}, text, args...)
			if err != nil {
				t.Fatal(err)
			}
			_, blocks := s.touched(t, text, args...)
			var end *rows.Position
			if len(ends) > 0 {
				end = &ends[0]
			}
			if text, args, _, err = listLeases(c.f, end); err != nil {
				t.Fatal(err)
			}
			// Not rows: all that is live stands in some 80 blocks here, and may be read as a whole.
			if _, more := s.touched(t, text, args...); blocks+more > 1200 {
				t.Errorf("Leases(%+v) looks at %d and %d blocks:\n%s", c.f, blocks, more, s.plan(t, text, args...))
			}
			leases, next, err := s.Leases(t.Context(), c.f)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range leases {
				if seen[l.ID] {
					t.Errorf("Leases(%+v): %s comes twice", c.f, l.ID)
				}
				seen[l.ID] = true
			}
			if pages++; next == "" {
				break
			}
			c.f.Token = next
		}
		want, err := readOne(t.Context(), s, scalar[int], `SELECT count(*) FROM leases WHERE `+c.matches)
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) != want || pages < c.pages {
			t.Errorf("Leases(%+v): %d leases in %d pages, want %d in %d at least", c.f, len(seen), pages, want, c.pages)
		}
	}
}

// TestQueriesUseIndexes holds the plan of every query at 100 000 leases, where one
// that reads a whole table is slow, and at a million an outage.
func TestQueriesUseIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{DSN: secret.NewText(real.Postgres(t).DSN(t)), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		for _, text := range append([]string{
			`ALTER TABLE vims DISABLE TRIGGER vim_counted`, `SET LOCAL statement_timeout = 0`,
		}, crowd...) {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// All rows are looked at: a plan that rests on a sample is now and then another one.
	if err := s.pool.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		_, err := c.Exec(t.Context(), `SET default_statistics_target = 400; SET statement_timeout = 0`)
		if err == nil {
			_, err = c.Exec(t.Context(), `VACUUM ANALYZE`)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}

	want := func(name, index, text string, args ...any) {
		t.Helper()
		plan := s.plan(t, text, args...)
		for _, table := range []string{"vims", "vim_labels", "vim_shares", "vim_generations", "leases", "retired_keys", "audit_entries", "vnf_grants"} {
			if strings.Contains(plan, "Seq Scan on "+table) {
				t.Errorf("%s reads all of %s:\n%s", name, table, plan)
			}
		}
		if !strings.Contains(plan, index) {
			t.Errorf("%s does not use %s:\n%s", name, index, plan)
		}
	}

	day := time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC)
	vimPage := broker.Page{Token: rows.Token(rows.Position{List: "VIMs", Names: []string{"project-50", "name-50"}})}
	label := map[string]string{"site": "s7"}
	for _, c := range []struct {
		f     broker.VIMFilter
		index string
	}{
		{broker.VIMFilter{}, "vim_name_once_per_project"},
		{broker.VIMFilter{Page: vimPage}, "vim_name_once_per_project"},
		{broker.VIMFilter{Project: "project-5"}, "vim_shared"},
		{broker.VIMFilter{Project: "project-5", Page: vimPage}, "vim_shared"},
		{broker.VIMFilter{Project: "full", Page: vimPage}, "share_once_per_vim"},
		{broker.VIMFilter{ID: "vim-7"}, "vims_pkey"},
		{broker.VIMFilter{ID: "vim-7", Project: "project-7"}, "vims_pkey"},
		{broker.VIMFilter{Identity: "identity-7"}, "vim_generation_by_identity"},
		{broker.VIMFilter{Name: "name-7"}, "vim_by_name"},
		{broker.VIMFilter{Name: "name-7", Project: "project-7"}, "name = 'name-7'"},
		{broker.VIMFilter{State: broker.VIMDraining}, "vim_by_state"},
		{broker.VIMFilter{Status: broker.HealthUnreachable}, "Index"},
		{broker.VIMFilter{Default: true, Project: "project-7"}, "vim_default_once_per_project"},
		{broker.VIMFilter{CheckDue: day.Add(10 * time.Second), State: broker.VIMRegistered}, "vim_check_due"},
		{broker.VIMFilter{CheckDue: day.Add(10 * time.Second), State: broker.VIMRegistered, Page: vimPage}, "vim_check_due"},
		{broker.VIMFilter{PendingBefore: day}, "vim_unsettled"},
		{broker.VIMFilter{EndsBefore: day}, "vim_generation_by_expiry"},
		{broker.VIMFilter{EndsBefore: day, Project: "project-7"}, "vim_generation_by_expiry"},
		{broker.VIMFilter{Labels: label}, "vim_by_label"},
		{broker.VIMFilter{Labels: label, Project: "project-7"}, "vim_by_label"},
	} {
		text, args, _, err := listVIMs(c.f)
		if err != nil {
			t.Fatal(err)
		}
		want(fmt.Sprintf("VIMs(%+v)", c.f), c.index, text, args...)
	}

	leasePage := broker.Page{Token: rows.Token(rows.Position{List: "leases", At: day.Add(-2000 * time.Hour).UnixMicro(), Names: []string{"lease-5"}})}
	active, ended := []broker.LeaseState{broker.LeaseActive}, []broker.LeaseState{broker.LeaseRevoked}
	early := time.Date(2030, 1, 15, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		f     broker.LeaseFilter
		index string
	}{
		{broker.LeaseFilter{}, "lease_by_time"},
		{broker.LeaseFilter{Page: leasePage}, "lease_by_time"},
		{broker.LeaseFilter{DueBefore: early}, "lease_turn_due"},
		{broker.LeaseFilter{DueBefore: early, Page: leasePage}, "lease_turn_due"},
		{broker.LeaseFilter{DueBefore: early, VIM: "vim-51", States: active}, "lease_turn"},
		{broker.LeaseFilter{DueBefore: day.Add(365 * 24 * time.Hour), VIM: "vim-51"}, "lease_turn_by_vim"},
		{broker.LeaseFilter{Operation: "op-200", Page: leasePage}, "lease_by_operation"},
		{broker.LeaseFilter{VIM: "vim-7", Page: leasePage}, "lease_on_vim"},
		{broker.LeaseFilter{VIM: "vim-7", States: ended}, "lease_on_vim"},
		{broker.LeaseFilter{VIM: "vim-51", States: active, Page: leasePage}, "live_lease_by_"},
		{broker.LeaseFilter{Principal: "principal-7", Page: leasePage}, "lease_of_principal"},
		{broker.LeaseFilter{Principal: "principal-50", States: active}, "live_lease_by_principal"},
		{broker.LeaseFilter{Project: "project-7", Page: leasePage}, "lease_of_project"},
		{broker.LeaseFilter{Project: "project-50", States: active}, "live_lease_by_project"},
		{broker.LeaseFilter{Project: "project-7", Page: leasePage}, "lease_by_lender"},
		{broker.LeaseFilter{Project: "project-50", States: active}, "live_lease_by_lender"},
		{broker.LeaseFilter{Project: "project-7", Principal: "principal-7", Page: leasePage}, "lease_of_principal"},
		{broker.LeaseFilter{States: []broker.LeaseState{broker.LeasePending}, CreatedBefore: day}, "live_lease"},
		{broker.LeaseFilter{States: []broker.LeaseState{"irrevocable", "pending"}}, "live_lease"},
	} {
		text, args, _, err := listLeases(c.f, nil)
		if err != nil {
			t.Fatal(err)
		}
		want(fmt.Sprintf("Leases(%+v)", c.f), c.index, text, args...)
	}

	s.wantOnePage(t)

	grantPage := broker.Page{Token: rows.Token(rows.Position{List: "grants", Names: []string{"grant-15000"}})}
	for _, c := range []struct {
		f     grant.Filter
		index string
	}{
		{grant.Filter{}, "vnf_grants_pkey"},
		{grant.Filter{Query: grant.Query{Page: grantPage}}, "vnf_grants_pkey"},
		{grant.Filter{Project: "project-7"}, "vnf_grant_by_project"},
		{grant.Filter{Project: "project-7", Query: grant.Query{Page: grantPage}}, "vnf_grant_by_project"},
		{grant.Filter{Query: grant.Query{Client: "client-7", Operation: "op-7"}}, "vnf_grant_by_operation"},
	} {
		text, args, _, err := tables.VNFGrantQuery(c.f)
		if err != nil {
			t.Fatal(err)
		}
		want(fmt.Sprintf("VNFGrantRecords(%+v)", c.f), c.index, dialect.Text(text), dialect.Args(args)...)
	}

	late := time.Date(2030, 1, 2, 3, 46, 0, 0, time.UTC) // 40 s before the last entry
	for _, c := range []struct {
		q     audit.Query
		index string
	}{
		{audit.Query{}, "audit_entries_pkey"},
		{audit.Query{Before: 500}, "audit_entries_pkey"},
		{audit.Query{Project: "project-7", Before: 50000}, "audit_by_project"},
		{audit.Query{Principal: "principal-7"}, "audit_by_principal"},
		{audit.Query{Action: policy.VIMShow}, "audit_by_action"},
		{audit.Query{Resource: "vim-7"}, "audit_by_resource"},
		{audit.Query{Since: late}, "audit_by_time"},
		{audit.Query{Outcomes: []audit.Outcome{audit.Failed, audit.Denied}}, "audit_by_outcome"},
		{audit.Query{Project: "project-7", Outcomes: []audit.Outcome{audit.Failed}}, "_outcome"},
		{audit.Query{Project: "project-7"}, "audit_by_owner"},
		{audit.Query{VIM: "vim-7"}, "audit_by_vim"},
		{audit.Query{VIMName: "name-7"}, "audit_by_vim_name"},
		{audit.Query{Lease: "lease-7"}, "audit_by_lease"},
		{audit.Query{CredentialID: "JTI=7"}, "audit_by_credential"},
		{audit.Query{Request: "request-7"}, "audit_by_request"},
	} {
		c.q.Limit = 100
		text, args := listEntries(c.q)
		want(fmt.Sprintf("Entries(%+v)", c.q), c.index, dialect.Text(text), dialect.Args(args)...)
	}

	forLease := spoken(t, `AND generation = \S+ AND \S+ IN \(0, revision\)`)
	for _, c := range []struct {
		index, text string
		args        []any
	}{
		{"vims_pkey", spoken(t, `WHERE v\.id =`), []any{"vim-7"}},
		{"vim_idempotency_key_once_per_principal", spoken(t, `WHERE v\.created_by =`), []any{"alice", "key-7"}},
		{"vim_idempotency_key_once_per_principal", spoken(t, `^SELECT 1 FROM vims WHERE created_by`), []any{"alice", "key-7"}},
		{"vims_pkey", forLease, []any{"", 0, 0, 0, "", 0, "vim-7", 1}},
		{"vims_pkey", spoken(t, `^SELECT 1 FROM vims WHERE id = \S+ FOR UPDATE$`), []any{"vim-7"}},
		{"vims_pkey", spoken(t, `^DELETE FROM vims `), []any{"vim-7"}},
		{"live_lease_by_", spoken(t, `^SELECT 1 FROM live_leases WHERE vim = \S+ LIMIT 1$`), []any{"vim-51"}},
		{"live_lease_by_", spoken(t, `^SELECT 1 FROM live_leases .*'irrevocable' LIMIT 1$`), []any{"vim-51"}},
		{"leases_pkey", spoken(t, `^UPDATE leases SET sealed = '' `), []any{"vim-51"}},
		{"leases_pkey", spoken(t, `sealed <> '' FOR UPDATE$`), []any{"vim-51"}},
		{"lease_turn_due", spoken(t, `min\(due_at\) FROM lease_turns`), []any{early}},
		{"lease_turn_by_vim", spoken(t, `SET attempts = 0`), []any{early, "vim-51"}},
		{"leases_pkey", spoken(t, ` FROM leases WHERE id = \S+$`), []any{"lease-7"}},
		{"leases_pkey", spoken(t, ` FROM leases WHERE id = \S+ FOR UPDATE$`), []any{"lease-7"}},
		{"leases_pkey", shareVIMOfLease, []any{"lease-7"}},
		{"lease_login_once", spoken(t, `FROM leases WHERE login = `), []any{"login-7"}},
		{"lease_idempotency_key_once_per_principal", spoken(t, `^SELECT id, .* FROM leases\s+WHERE principal = `), []any{"principal-7", "key-7"}},
		{"lease_idempotency_key_once_per_principal", spoken(t, `^SELECT 1 FROM leases WHERE principal = `), []any{"principal-7", "key-7"}},
		{"live_lease_by_", spoken(t, `^SELECT 1 FROM live_leases WHERE vim = \S+ AND vim_generation`), []any{"vim-51", 1}},
		{"generation_once_per_vim", spoken(t, `^SELECT 1 FROM vim_generations g JOIN`), []any{"vim-7", 1}},
		{"generation_once_per_vim", spoken(t, `^DELETE FROM vim_generations`), []any{"vim-7", 1}},
		{"generation_once_per_vim", spoken(t, `^SELECT g\.key_ref`), []any{"lease-7"}},
		{"vim_census", spoken(t, `FROM vim_census`), nil},
		{"live_leases", spoken(t, `FROM live_leases GROUP BY`), nil},
		{"grant_open_once", spoken(t, `^SELECT epoch FROM grants`), []any{"vim-7", "grant-2"}},
		{"grant_epoch_once", spoken(t, `max\(epoch\), 0\)`), []any{"vim-7", "grant-2"}},
		{"grant_by_state", spoken(t, `^SELECT DISTINCT vim FROM grants`), []any{early}},
		{"grant_by_state", spoken(t, `FROM grants WHERE state = 'closing'`), nil},
		{"grant_by_state", spoken(t, `SET idle_since = '-infinity'`), nil},
		{"live_lease", spoken(t, `SET idle_since = \$1`), []any{early}},
		{"grant_open_once", spoken(t, `SET state = 'closing'`), []any{"vim-7", early}},
		{"grant_epoch_once", spoken(t, `^UPDATE grants SET state = 'closed'`), []any{"vim-7", "grant-2", 1}},
	} {
		want(c.text, c.index, c.text, c.args...)
	}
	byName, nameArgs, _, err := listVIMs(broker.VIMFilter{Name: "name-7", Project: "project-7"})
	if err != nil {
		t.Fatal(err)
	}
	byID, idArgs, _, err := listVIMs(broker.VIMFilter{ID: "vim-7", Project: "project-7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		args  int
		index string
	}{
		{spoken(t, `WHERE v\.id =`), 1, "vims_pkey"},
		{spoken(t, `WHERE v\.created_by =`), 2, "vim_idempotency_key_once_per_principal"},
		{spoken(t, ` FROM leases WHERE id = \S+$`), 1, "leases_pkey"},
		{spoken(t, `FROM leases WHERE login = `), 1, "lease_login_once"},
		{spoken(t, `^SELECT id, .* FROM leases\s+WHERE principal = `), 2, "lease_idempotency_key_once_per_principal"},
		{byName, len(nameArgs), "vim_shared_by_name"},
		{byID, len(idArgs), "vims_pkey"},
	} {
		plan := s.keptPlan(t, c.text, c.args)
		if strings.Contains(plan, "Seq Scan on ") {
			t.Errorf("%s reads all of a table with the plan that is kept:\n%s", c.text, plan)
		}
		if !strings.Contains(plan, c.index) {
			t.Errorf("%s does not use %s with the plan that is kept:\n%s", c.text, c.index, plan)
		}
	}
	plan := s.plan(t, forLease, "principal-50", 1000, 10000, 10000, "full", 0, "vim-51", 1)
	for _, index := range []string{"live_lease_by_principal", "(vim = ", "live_lease_by_project"} {
		if !strings.Contains(plan, index) {
			t.Errorf("quotas are not counted by %s:\n%s", index, plan)
		}
	}
	if found, blocks := s.touched(t, forLease, "principal-50", 2, 2, 2, "full", 0, "vim-51", 1); found > 7 || blocks > 30 {
		t.Errorf("quotas of 2 are counted by %d rows in %d blocks", found, blocks)
	}
	if !slices.Contains(strings.Fields(s.plan(t, `SELECT count(*) FROM leases WHERE purpose = 'x'`)), "Scan") {
		t.Error("the test does not see scans")
	}
}

package sqlite

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// plan is how SQLite will run a query, line by line.
func (s *Store) plan(t *testing.T, text string) []string {
	t.Helper()
	args := strings.Count(text, "?")
	for _, number := range regexp.MustCompile(`\?(\d+)`).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(number[1]); err == nil {
			args = max(args, n)
		}
	}
	found, err := s.reader.Query("EXPLAIN QUERY PLAN "+text, make([]any, args)...)
	if err != nil {
		t.Fatalf("explaining %s: %v", text, err)
	}
	defer found.Close()
	var lines []string
	for found.Next() {
		var id, parent, unused int
		var line string
		if err := found.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
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

// harmless are scans of what is small, or that end with the page.
var harmless = []string{
	"SCAN page", "SCAN CONSTANT ROW", "SCAN wanted VIRTUAL TABLE", "SCAN json_each VIRTUAL TABLE", "SCAN (subquery", "SCAN leases USING COVERING INDEX lease_live", "SCAN ended_leases",
	"SCAN vims USING COVERING INDEX vim_shared", "SCAN vims USING INDEX vim_shared",
	"SCAN vims USING INDEX vim_default_once_per_project",
	"SCAN l VIRTUAL TABLE", "SCAN n VIRTUAL TABLE", "SCAN t VIRTUAL TABLE", "SCAN asked VIRTUAL TABLE", // what is asked for
	"SCAN found", // what the SELECT inside has found by an index
	"SCAN vims USING COVERING INDEX vim_by_state", "SCAN jobs USING INDEX job_due", // metrics
	"SCAN vnf_operations USING INDEX vnf_operation_live_once_per_instance", // which has those that are wanted
}

// wantPlan fails when a query reads a table from end to end, unless may allows
// the scan, or when it sorts more often than it must.
func wantPlan(t *testing.T, s *Store, name, text string, sorts int, wants ...string) {
	t.Helper()
	lines := s.plan(t, text)
	for _, line := range lines {
		allowed := func(scan string) bool { return strings.HasPrefix(line, scan) }
		if strings.HasPrefix(line, "SCAN ") && !slices.ContainsFunc(harmless, allowed) && !slices.ContainsFunc(wants, allowed) {
			t.Errorf("%s: %s", name, line)
		}
		if strings.HasPrefix(line, "USE TEMP B-TREE FOR ORDER BY") {
			sorts--
		}
	}
	if sorts < 0 {
		t.Errorf("%s: sorts %d times more than it must:\n%s", name, -sorts, strings.Join(lines, "\n"))
	}
	for _, want := range wants {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("%s: no %q in\n%s", name, want, strings.Join(lines, "\n"))
		}
	}
}

// TestQueriesUseIndexes holds the plan of every query: at a million leases, one
// that reads the whole table is an outage.
func TestQueriesUseIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	vimPage := broker.Page{Token: rows.Token(rows.Position{List: "VIMs", Names: []string{"a", "b"}})}
	leasePage := broker.Page{Token: rows.Token(rows.Position{List: "leases", At: 1, Names: []string{"b"}})}
	grantPage := broker.Page{Token: rows.Token(rows.Position{List: "grants", Names: []string{"b"}})}
	label := map[string]string{"a": "b"}

	// The rows of a page are always sorted once more, with their generations.
	for _, c := range []struct {
		f     broker.VIMFilter
		sorts int
		want  string
	}{
		{broker.VIMFilter{}, 1, "SCAN vims USING COVERING INDEX sqlite_autoindex_vims_2"}, // ends with the page
		{broker.VIMFilter{Page: vimPage}, 1, "sqlite_autoindex_vims_2 ((project,name)>(?,?))"},
		{broker.VIMFilter{Project: "a"}, 1, "sqlite_autoindex_vims_2 (project=?)"},
		{broker.VIMFilter{Project: "a", Page: vimPage}, 1, "sqlite_autoindex_vims_2 (project=? AND name>?)"},
		{broker.VIMFilter{Project: "a", Page: vimPage}, 1, "vim_shared ((project,name)>(?,?))"},
		{broker.VIMFilter{Project: "a", Page: vimPage}, 1, "vim_shares USING PRIMARY KEY (shared_with=? AND (vim_project,vim_name)>(?,?))"},
		{broker.VIMFilter{Name: "a", Project: "a"}, 1, "vim_shares USING COVERING INDEX vim_shares_by_name (vim_name=?"},
		{broker.VIMFilter{ID: "a"}, 1, "(id=?)"},
		{broker.VIMFilter{ID: "a", Project: "b"}, 1, "(id=?)"},
		{broker.VIMFilter{Identity: "a"}, 2, "vim_generation_by_identity (identity=?)"},
		{broker.VIMFilter{Name: "a"}, 1, "vim_by_name (name=?)"},
		{broker.VIMFilter{Name: "a", Project: "a"}, 1, "vim_shared_by_name (name=?)"},
		{broker.VIMFilter{Name: "a", Project: "b"}, 1, "(project=? AND name=?)"},
		{broker.VIMFilter{State: "a"}, 1, "vim_by_state (state=?)"},
		{broker.VIMFilter{State: "a", Project: "b"}, 1, "vim_by_state (state=? AND project=?)"},
		{broker.VIMFilter{Status: "a"}, 1, "vim_by_health (health=?)"},
		{broker.VIMFilter{Status: "a", Project: "b"}, 1, "vim_by_health (health=? AND project=?)"},
		{broker.VIMFilter{Default: true, Project: "b"}, 1, "vim_default_once_per_project (project=?)"},
		{broker.VIMFilter{CheckDue: now, State: "a"}, 2, "vim_check_due (health_next<?)"},
		{broker.VIMFilter{CheckDue: now, State: "a", Page: vimPage}, 2, "vim_check_due (health_next<?)"},
		{broker.VIMFilter{PendingBefore: now}, 2, "vim_unsettled (unsettled_since<?)"},
		{broker.VIMFilter{EndsBefore: now}, 2, "vim_generation_by_expiry (credential_expires_at>? AND credential_expires_at<?)"},
		{broker.VIMFilter{EndsBefore: now, Project: "b"}, 4, "vim_generation_by_expiry (credential_expires_at>? AND credential_expires_at<?)"},
		{broker.VIMFilter{Labels: label}, 2, "vim_by_label (key=? AND value=?)"},
		{broker.VIMFilter{Labels: label, Project: "b"}, 4, "vim_by_label (key=? AND value=?)"},
	} {
		text, _, _, err := listVIMs(c.f)
		if err != nil {
			t.Fatal(err)
		}
		wantPlan(t, s, fmt.Sprintf("VIMs(%+v)", c.f), text, c.sorts, c.want)
	}

	active, ended := []broker.LeaseState{"active"}, []broker.LeaseState{"revoked"}
	for _, c := range []struct {
		f     broker.LeaseFilter
		sorts int
		want  string
	}{
		{broker.LeaseFilter{}, 0, "SCAN leases USING INDEX lease_newest"}, // ends with the page
		{broker.LeaseFilter{Page: leasePage}, 0, "lease_newest ((created_at,id)<(?,?))"},
		{broker.LeaseFilter{DueBefore: now, Page: leasePage}, 1, "lease_due (due_at<?)"},
		{broker.LeaseFilter{DueBefore: now, VIM: "a", States: active}, 1, "lease_due_by_vim (vim=? AND due_at<?)"},
		{broker.LeaseFilter{Operation: "a", Page: leasePage}, 0, "lease_by_operation (operation=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{VIM: "a", Page: leasePage}, 0, "lease_by_vim (vim=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{VIM: "a", States: ended}, 0, "lease_by_vim (vim=?)"},
		{broker.LeaseFilter{VIM: "a", States: active, Page: leasePage}, 0, "lease_live_by_vim (vim=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{Principal: "a", Page: leasePage}, 0, "lease_by_principal (principal=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{Principal: "a", States: active}, 0, "lease_live_by_principal (principal=?)"},
		{broker.LeaseFilter{Project: "a", Page: leasePage}, 0, "lease_by_project (project=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{Project: "a", States: active}, 0, "lease_live_by_project (project=?)"},
		{broker.LeaseFilter{Project: "a", Page: leasePage}, 0, "lease_by_lender (vim_project=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{Project: "a", States: active}, 0, "lease_live_by_lender (vim_project=?)"},
		{broker.LeaseFilter{Project: "a", Principal: "a"}, 0, "lease_by_project (project=?)"},
		{broker.LeaseFilter{States: active, Page: leasePage, CreatedBefore: now}, 0, "lease_live (state=? AND (created_at,id)<(?,?))"},
		{broker.LeaseFilter{States: []broker.LeaseState{"active", "pending"}}, 1, "lease_live (state=?)"},
	} {
		text, _, _, err := listLeases(c.f, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantPlan(t, s, fmt.Sprintf("Leases(%+v)", c.f), text, c.sorts, c.want)
	}

	for _, c := range []struct {
		q     audit.Query
		sorts int
		want  string
	}{
		{audit.Query{Limit: 1}, 0, "SCAN audit_entries"}, // by seq, ends with the limit
		{audit.Query{Limit: 1, Before: 3}, 0, "INTEGER PRIMARY KEY (rowid<?)"},
		{audit.Query{Limit: 1, Project: "a", Before: 3}, 0, "audit_by_project (project=? AND rowid<?)"},
		{audit.Query{Limit: 1, Project: "a"}, 0, "audit_by_owner (<expr>=?)"},
		{audit.Query{Limit: 1, VIM: "a"}, 0, "audit_by_vim (<expr>=?)"},
		{audit.Query{Limit: 1, VIMName: "a"}, 0, "audit_by_vim_name (<expr>=?)"},
		{audit.Query{Limit: 1, Lease: "a"}, 0, "audit_by_lease (<expr>=?)"},
		{audit.Query{Limit: 1, CredentialID: "a", Outcomes: []audit.Outcome{audit.Done}}, 0, "audit_by_credential (<expr>=?)"},
		{audit.Query{Limit: 1, Request: "a"}, 0, "audit_by_request (request=?)"},
		{audit.Query{Limit: 1, Principal: "a"}, 0, "audit_by_principal (principal=?)"},
		{audit.Query{Limit: 1, Action: policy.VIMShow}, 0, "audit_by_action (action=?)"},
		{audit.Query{Limit: 1, Resource: "a"}, 0, "audit_by_resource (resource=?)"},
		{audit.Query{Limit: 1, Since: now}, 1, "audit_by_time (time>?)"},
		{audit.Query{Limit: 1, Outcomes: []audit.Outcome{audit.Failed, audit.Denied}}, 0, "audit_by_outcome (outcome=?)"},
		{audit.Query{Limit: 1, Action: policy.VIMShow, Outcomes: []audit.Outcome{audit.Failed}}, 0, "audit_by_action_outcome (action=? AND outcome=?)"},
		{audit.Query{Limit: 1, Project: "a", Outcomes: []audit.Outcome{audit.Failed}}, 0, "audit_by_project_outcome (project=? AND outcome=?)"},
		{audit.Query{Limit: 1, Project: "a", Outcomes: []audit.Outcome{audit.Failed}}, 0, "audit_by_owner_outcome (<expr>=? AND outcome=?)"},
	} {
		text, _, err := database{s}.EntryQuery(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		wantPlan(t, s, fmt.Sprintf("Entries(%+v)", c.q), dialect.Text(text), c.sorts, c.want)
	}

	for _, c := range []struct {
		f    grant.Filter
		want string
	}{
		{grant.Filter{}, "SCAN vnf_grants"}, // by its primary key; ends with the page
		{grant.Filter{Query: grant.Query{Page: grantPage}}, "vnf_grants USING PRIMARY KEY (id<?)"},
		{grant.Filter{Project: "a"}, "vnf_grant_by_project (<expr>=?)"},
		{grant.Filter{Project: "a", Query: grant.Query{Page: grantPage}}, "vnf_grant_by_project (<expr>=? AND id<?)"},
		{grant.Filter{Query: grant.Query{Client: "c", Operation: "o"}}, "vnf_grant_once_per_operation (client=? AND operation=?)"},
	} {
		text, _, _, err := tables.VNFGrantQuery(c.f)
		if err != nil {
			t.Fatal(err)
		}
		wantPlan(t, s, fmt.Sprintf("VNFGrantRecords(%+v)", c.f), dialect.Text(text), 1, c.want)
	}

	for text, want := range map[string]string{
		spoken(t, `lease_live_counts WHERE whose`):                             "SEARCH lease_live_counts USING PRIMARY KEY (whose=? AND name=?)",
		spoken(t, `FROM leases WHERE login = `):                                "lease_login_once",
		spoken(t, `^SELECT id, .* FROM leases\s+WHERE principal = `):           "lease_idempotency_key_once_per_principal",
		spoken(t, `^SELECT 1 FROM vims WHERE created_by`):                      "vim_idempotency_key_once_per_principal",
		spoken(t, `min\(due_at\) FROM leases`):                                 "lease_due (due_at<?)",
		lastEntry:                                                              "SCAN audit_entries",
		spoken(t, `count\(\*\) FROM vims GROUP BY state`):                      "SCAN vims USING COVERING INDEX vim_by_state",
		spoken(t, `FROM vims GROUP BY type, health`):                           "SCAN vims",
		spoken(t, `FROM leases INDEXED BY lease_live WHERE live = 1 GROUP BY`): "COVERING INDEX lease_live",
	} {
		wantPlan(t, s, text, text, 2, want)
	}
	for _, text := range writeStatements {
		if text != savepoint && text != release && text != rollbackTo && text != lastEntry {
			wantPlan(t, s, text, text, 1)
		}
	}
	// What reads all of a table, and why that is little.
	whole := map[string]string{
		"FROM audit_keys ORDER BY":               "a few",
		"FROM oauth_keys ORDER BY":               "a few",
		"FROM trust_entries ORDER BY":            "200 at most",
		"FROM replicas":                          "a few",
		"FROM audit_anchors":                     "a few",
		"FROM management_clusters ORDER BY":      "a few",
		"FROM retired_keys ORDER BY":             "ends with the limit",
		"FROM vnf_contents_gone LIMIT":           "ends with the limit",
		"FROM audit_checkpoints ORDER BY":        "ends with the limit",
		"ORDER BY since, id LIMIT":               "by secret_parameters_unsettled, which has those that are wanted",
		"ORDER BY queued_at, id":                 "by vnf_operation_live_once_per_instance, which has those that are wanted",
		"FROM vims GROUP BY type, health":        "a metric",
		"FROM audit_cursors ORDER BY":            "a few",
		"AS d ON due = id":                       "the same",
		"FROM vim_generations\n\t\tUNION":        "once a pass: all keys are compared with those of the key stores",
		"FROM vnf_instances GROUP BY":            "a metric",
		"FROM clusters GROUP BY":                 "a metric",
		"FROM vnf_packages GROUP BY":             "a metric",
		"SELECT count(*) FROM vnf_notifications": "a metric",
	}
	for _, text := range tables.Statements {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(whole)), func(part string) bool { return strings.Contains(text, part) }) {
			wantPlan(t, s, text, dialect.Text(text), 2)
		}
	}
}

// TestForeignKeysAreFound by an index, from the row that is referred to: who deletes it looks for those that refer to
// it, which no plan shows.
func TestForeignKeysAreFound(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.reader.QueryContext(t.Context(), `SELECT m.name, group_concat(k."from", ' = ? AND ') || ' = ?'
		FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table' GROUP BY m.name, k.id`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	keys := map[string]string{}
	for found.Next() {
		var table, condition string
		if err := found.Scan(&table, &condition); err != nil {
			t.Fatal(err)
		}
		keys[`SELECT 1 FROM `+table+` WHERE `+condition] = table
	}
	if err := found.Err(); err != nil || len(keys) < 5 {
		t.Fatalf("foreign keys: %v, %v", keys, err)
	}
	for text, table := range keys {
		wantPlan(t, s, text, text, 0, "SEARCH "+table)
	}
}

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/conformance"
)

// suites are what a store owes.
var suites = map[string]func(t *testing.T, open func(*testing.T) *Store){
	"Conformance": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Store(t, func(t *testing.T) broker.Store { return open(t) })
	},
	"Onboarding": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Onboard(t, func(t *testing.T) conformance.OnboardingStore { return open(t) })
	},
	"Jobs": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Jobs(t, func(t *testing.T) conformance.JobStore { return open(t) })
	},
	"Lifecycle": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Lifecycle(t, func(t *testing.T) conformance.LifecycleStore { return open(t) })
	},
	"Packages": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Packages(t, func(t *testing.T) catalog.Store { return open(t) })
	},
	"VNFGrants": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.VNFGrants(t, func(t *testing.T) conformance.VNFGrantStore { return open(t) })
	},
	"Clients": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Clients(t, func(t *testing.T) oauth.Store { return open(t) })
	},
	"TokenKeys": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.TokenKeys(t, func(t *testing.T) conformance.TokenKeyStore { return open(t) })
	},
	"Bundles": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Bundles(t, func(t *testing.T) conformance.BundleStore { return open(t) })
	},
	"Subscriptions": func(t *testing.T, open func(*testing.T) *Store) {
		conformance.Subscriptions(t, func(t *testing.T) conformance.SubscriptionStore { return open(t) })
	},
}

// few are the tables that stay small, and why.
var few = map[string]string{
	"audit_anchors":       "one for each anchor of the configuration",
	"audit_cursors":       "one for each sink of the configuration",
	"audit_horizon":       "one row",
	"audit_keys":          "one for each time that the key was rotated",
	"audit_tree":          "one row",
	"ended_leases":        "one row",
	"lease_horizon":       "one row",
	"management_clusters": "a handful",
	"oauth_keys":          "one for each 30 days of at most 35",
	"trust_entries":       "200 at most",
	"replicas":            "one for each server, and for each that died within an hour",
	"schema_migrations":   "one for each migration",
	"vnf_contents_gone":   "is emptied by the next pass",
}

// readsMuch are statements that may read more than what comes of them, by a part that is theirs alone, and why.
var readsMuch = map[string]string{
	"SELECT count(*) FROM leases WHERE purpose = 'x'":                           "the test's own, to see that it sees",
	"SELECT bytes FROM vnf_package_chunks":                                      "a chunk is a megabyte, which is 256 pages",
	"DELETE FROM vnf_package_chunks":                                            "the same",
	"leases INDEXED BY lease_by_project WHERE vim = ? AND project = ?":          "a window, whose end the statement before has chosen: TestAPageLooksAtAWindow",
	"lease_live_by_project WHERE vim = ? AND live = 1 AND state IN (?)":         "the same",
	"leases INDEXED BY lease_by_principal WHERE principal = ? AND vim = ?":      "the same",
	"lease_live_by_principal WHERE principal = ? AND live = 1 AND state IN (?)": "the same",
	"INDEXED BY lease_live WHERE live = 1 GROUP BY":                             "a metric: what is live, not what was",
	"SELECT count(*) FROM vnf_notifications":                                    "a metric",
	"FROM vnf_packages GROUP BY":                                                "a metric",
	"UPDATE grants AS g SET idle_since = ?":                                     "once a pass: each grant that may have become idle",
	"UPDATE grants AS g SET idle_since = 0":                                     "the same: each that is idle, for as long as that is kept",
	"FROM audit_entries WHERE time < ? ORDER BY seq":                            "an end of time alone: entries that are newer, until the page is full",
}

// crowds are the rows of each of the other tables.
const crowds = 20_000

// special is what generated rows have in a column of a table, where that is not what columns of the
// name or type have.
var special = map[string]string{
	"audit_checkpoints.size":      "-i",
	"audit_entries.seq":           "-i",
	"audit_entries.outcome":       "'done'",
	"audit_entries.door":          "'rest'",
	"leases.door":                 "'rest'",
	"audit_tiles.number":          "-i",
	"clusters.state":              "'registered'",
	"grants.idle_since":           "0",
	"grants.state":                "'open'",
	"jobs.done":                   "1",
	"leases.state":                "iif(i % 4 = 1, 'active', 'revoked')",
	"leases.live":                 "i % 4 = 1",
	"audit_entries.time":          "i",
	"leases.sealed":               "iif(i % 4 = 0, 'sealed', '')",
	"oauth_clients.state":         "'active'",
	"retired_keys.id":             "-i",
	"vim_generations.sealed_as":   "'current'",
	"vims.health":                 "'reachable'",
	"vims.is_default":             "0",
	"vims.pending":                "0",
	"vims.pending_since":          "0",
	"vims.shared":                 "i % 200 = 0",
	"vims.state":                  "'registered'",
	"vnf_grants.document":         `'{"Project": "' || iif(i % 4 = 0, 'project-' || i % 100, 'north') || '"}'`,
	"vnf_grants.state":            "'granted'",
	"vnf_grants.followed":         "0",
	"vnf_grants.holds":            "0",
	"vnf_secret_parameters.state": "'active'",
	"vnf_notifications.seq":       "-i",
	"vnf_operations.state":        "'COMPLETED'",
	"vnf_packages.state":          "'enabled'",
	"vnf_subscriptions.state":     "'active'",
	"vnf_bundles.state":           "'active'",
}

// fillCrowds stores the crowds: rows of the same number belong together, and three in four are of the project and
// the principal whose requests the suites play.
func fillCrowds(t *testing.T, conn *sql.Conn) {
	t.Helper()
	do := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	names := func(text string, args ...any) []string {
		t.Helper()
		found, err := conn.QueryContext(t.Context(), text, args...)
		all, err := collect(found, err, func(r *sql.Rows) (name string, err error) { return name, r.Scan(&name) })
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return all
	}
	do(`PRAGMA foreign_keys = 0`)
	do(`PRAGMA ignore_check_constraints = 1`)
	triggers := names(`SELECT sql FROM sqlite_schema WHERE type = 'trigger'`)
	for _, name := range names(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		do(`DROP TRIGGER ` + name)
	}
	do(`BEGIN`)
	timed := regexp.MustCompile(`_at$|since$|_next$|_until$`)
	for _, table := range names(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`) {
		if few[table] != "" {
			continue
		}
		var columns, values []string
		for _, c := range names(`SELECT name || ' ' || type FROM pragma_table_info(?)`, table) {
			name, kind, _ := strings.Cut(c, " ")
			value := special[table+"."+name]
			switch {
			case value != "":
			case name == "project" || name == "vim_project" && table == "vim_shares":
				value = "iif(i % 4 = 0, 'project-' || i % 100, 'north')"
			case name == "vim_project":
				value = "iif(i % 4 = 1, 'project-' || i % 100, 'north')"
			case name == "principal" || name == "created_by":
				value = "iif(i % 4 = 0, 'principal-' || i % 100, 'alice')"
			case name == "document" || name == "detail":
				value = "'{}'"
			case timed.MatchString(name):
				value = "4102444800000000 + i * 60000000" // from the year 2100 on, a minute apart
			default:
				value = map[string]string{"TEXT": "'c' || i", "INTEGER": "1", "BLOB": "x''"}[kind]
			}
			columns, values = append(columns, name), append(values, value)
		}
		do(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s (%s) SELECT %s FROM n`,
			crowds, table, strings.Join(columns, ", "), strings.Join(values, ", ")))
	}
	do(`COMMIT`)
	for _, text := range triggers {
		do(text)
	}
	do(`PRAGMA foreign_keys = 1`)
	do(`PRAGMA ignore_check_constraints = 0`)
}

// said is a statement, with its arguments.
type said struct {
	text string
	args []any
}

// recorder is SQLite's driver, and remembers what runs in each database.
type recorder struct {
	driver.Driver
	mu  sync.Mutex
	ran map[string][]said
}

func (r *recorder) note(database, text string, args []driver.NamedValue) {
	s := said{text: text}
	for _, a := range args {
		s.args = append(s.args, a.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran[database] = append(r.ran[database], s)
}

func (r *recorder) Open(name string) (driver.Conn, error) {
	c, err := r.Driver.Open(strings.Replace(name, "synchronous(FULL)", "synchronous(OFF)", 1)) // what a power failure leaves is no matter here
	if err != nil {
		return nil, err
	}
	database, _, _ := strings.Cut(name, "?")
	return &recordedConn{c.(conn), r, database}, nil
}

// conn and stmt are all that database/sql makes use of.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type recordedConn struct {
	conn
	r        *recorder
	database string
}

func (c *recordedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &recordedStmt{s.(stmt), c, text}, nil
}

func (c *recordedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.r.note(c.database, text, args)
	return c.conn.ExecContext(ctx, text, args)
}

func (c *recordedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.r.note(c.database, text, args)
	return c.conn.QueryContext(ctx, text, args)
}

type recordedStmt struct {
	stmt
	c    *recordedConn
	text string
}

func (s *recordedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.c.r.note(s.c.database, s.text, args)
	return s.stmt.ExecContext(ctx, args)
}

func (s *recordedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.c.r.note(s.c.database, s.text, args)
	return s.stmt.QueryContext(ctx, args)
}

// cost is what a statement looked at, where that was the most beside what came of it.
type cost struct {
	pages, rows int
	args        []any
}

// most is how much of what it may do a statement did: 12 pages for each row that comes of it, and as much as for
// 20 rows in any case. More than 1 is too much.
func (c cost) most() float64 { return float64(c.pages) / float64(12*(c.rows+20)) }

// replay runs what ran in a small database again, in a transaction that is taken back, and counts what each
// statement did, with its triggers and foreign keys.
func replay(t *testing.T, conn *sql.Conn, ran []said, costs map[string]cost) {
	t.Helper()
	must := func(text string) {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	must(`BEGIN`)
	verb := regexp.MustCompile(`^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b`)
	times := map[string]int{}
	for _, s := range ran {
		if times[s.text]++; times[s.text] > 40 || !verb.MatchString(s.text) {
			continue
		}
		must(`SAVEPOINT before`)
		c := cost{args: s.args}
		var err error
		c.pages, c.rows, err = measure(t, conn, s.text, s.args...)
		if err != nil {
			// It was one that the suite wants refused, or that the crowd is in the way of.
			must(`ROLLBACK TO before`)
		} else if old, known := costs[s.text]; !known || c.most() > old.most() {
			costs[s.text] = c
		}
		must(`RELEASE before`)
	}
	must(`ROLLBACK`)
}

// TestConformance plays the suites on a store that stumbles, and records what it runs meanwhile; each of it runs again
// beside crowds.
func TestConformance(t *testing.T) {
	plain, err := sql.Open(ThroughDriver, ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{Driver: plain.Driver(), ran: map[string][]said{}}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	sql.Register("recorder", r)
	usual := ThroughDriver
	ThroughDriver = "recorder"
	var seen sync.Map
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		t.Run(name, func(t *testing.T) {
			suites[name](t, func(t *testing.T) *Store {
				s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
				// Another one comes into a write of these, which may not come again.
				if _, part, _ := strings.Cut(t.Name(), "/"); part != "Jobs/TakeoverInAWrite" && part != "Lifecycle/LinkRace" {
					s.Tables = tables.Of(stumbling{database{s}, t, &seen})
				}
				return s
			})
		})
	}
	ThroughDriver = usual
	t.Run("EveryStatementReadsLittle", func(t *testing.T) { readsLittle(t, r.ran) })
}

// readsLittle fails unless what a statement looks at depends on what comes of it, not on what else is there, and
// unless each statement that stands in the source has run.
func readsLittle(t *testing.T, all map[string][]said) {
	t.Helper()
	all["scan"] = []said{{text: `SELECT count(*) FROM leases WHERE purpose = 'x'`}}

	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	conn, err := s.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fillCrowds(t, conn)
	costs := map[string]cost{}
	for _, ran := range all {
		replay(t, conn, ran, costs)
	}
	for _, text := range slices.Sorted(maps.Keys(costs)) {
		c := costs[text]
		allowed := slices.ContainsFunc(slices.Collect(maps.Keys(readsMuch)), func(part string) bool { return strings.Contains(oneLine(text), part) })
		if !allowed && c.most() > 1 {
			t.Errorf("looks at %d pages for %d rows: %s\n%v\n%s", c.pages, c.rows, text, c.args, strings.Join(s.plan(t, text), "\n"))
		}
	}
	played := strings.Builder{}
	for text := range costs {
		played.WriteString(oneLine(text) + "\n")
	}
	for part := range readsMuch {
		if !strings.Contains(played.String(), part) {
			t.Errorf("no statement is %q, which may read much", part)
		}
	}
	written := literals(t)
	for _, text := range tables.Statements {
		written = append(written, dialect.Text(text))
	}
	for _, text := range written {
		if !strings.Contains(played.String(), oneLine(text)) {
			t.Errorf("no suite runs %s", text)
		}
	}
	if len(costs) < len(written) || len(written) < 100 {
		t.Errorf("%d statements were counted, of %d in the source", len(costs), len(written))
	}
	everyIndexServes(t, s, costs)
	if costs[`SELECT count(*) FROM leases WHERE purpose = 'x'`].most() <= 1 {
		t.Error("the test does not see scans")
	}
}

// everyIndexServes fails if an index, which each write pays for, is in the plan of no statement that ran. Unique ones
// hold a rule.
func everyIndexServes(t *testing.T, s *Store, costs map[string]cost) {
	t.Helper()
	plans := strings.Builder{}
	for text := range costs {
		plans.WriteString(strings.Join(s.plan(t, text), "\n") + "\n")
	}
	found, err := s.query(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE 'CREATE INDEX %'`)
	names, err := collect(found, err, func(r *sql.Rows) (name string, err error) { return name, r.Scan(&name) })
	if err != nil || len(names) < 20 {
		t.Fatalf("indexes: %q, %v", names, err)
	}
	for _, name := range names {
		if !strings.Contains(plans.String(), "INDEX "+name+" ") && !strings.Contains(plans.String(), "INDEX "+name+"\n") {
			t.Errorf("index %s serves no statement that ran", name)
		}
	}
}

// oneLine is a text with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// literals are the texts in the package's source that begin as statements do, but for those that run while a
// database is made or looked over.
func literals(t *testing.T) (all []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) `)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || slices.Contains([]string{"auditguard.go", "migrate.go"}, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && verb.MatchString(text) {
					all = append(all, text)
				}
			}
			return true
		})
	}
	return all
}

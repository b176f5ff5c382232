package postgres_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/test/real"
)

// few are the tables that stay small, and why.
var few = map[string]string{
	"audit_anchors":       "one for each anchor of the configuration",
	"audit_cursors":       "one for each sink of the configuration",
	"audit_head":          "one row",
	"audit_horizon":       "one row",
	"audit_inbox":         "is emptied twice a second",
	"audit_keys":          "one for each time that the key was rotated",
	"audit_tree":          "one row",
	"ended_leases":        "32 rows",
	"lease_horizon":       "one row",
	"management_clusters": "a handful",
	"oauth_keys":          "one for each 30 days of at most 35",
	"trust_entries":       "200 at most",
	"replicas":            "one for each server, and for each that died within an hour",
	"schema_floor":        "one row",
	"schema_migrations":   "one for each migration",
	"vim_census":          "one for each state and health",
	"vnf_contents_gone":   "is emptied by the next pass",
}

// readsMuch are statements that may read more than what comes of them, by a part that is theirs alone, and why.
var readsMuch = map[string]string{
	"SELECT count(*) FROM leases WHERE purpose = 'x'":                     "the test's own, to see that it sees",
	"count(*) FROM vims GROUP BY type, health":                            "a metric",
	"count(*) FROM live_leases GROUP BY state, grade":                     "a metric: what is live, not what was",
	"FROM live_leases WHERE state = 'revoking' UNION ALL":                 "a metric: the same",
	"SELECT state, reason, count(*) FROM clusters":                        "a metric",
	"count(*) FILTER (WHERE unseen) FROM vnf_instances":                   "a metric",
	"count(*) FROM vnf_packages GROUP BY":                                 "a metric",
	"SELECT count(*) FROM vnf_notifications":                              "a metric",
	"coalesce(sum(stored), 0)::bigint FROM vnf_packages WHERE project":    "as many as the quota lets a project have",
	"SELECT id, filter FROM vnf_subscriptions WHERE project":              "as many as the quota lets a project have, all of which are wanted",
	"SELECT token, used_at FROM token_uses":                               "all are wanted: tokens of the configuration",
	"FROM vim_generations UNION SELECT":                                   "once a pass: the key stores' keys are compared with all that rows explain",
	"UPDATE grants AS g SET idle_since = ?":                               "once a pass: each grant that may have become idle",
	"live_leases WHERE coalesce(state = ANY(?), false)":                   "a window, whose end the statement before has chosen: TestQueriesUseIndexes counts it",
	"live_leases WHERE principal = ? AND coalesce(state = ANY(?), false)": "the same, of a principal",
	"DELETE FROM audit_entries WHERE seq <= ?":                            "a batch, whose end the statement before has chosen",
}

// crowds are the rows of each of the other tables.
const crowds = 20_000

// special is what generated rows have in a column of a table, where that is not what
// columns of the type have.
var special = map[string]string{
	"audit_checkpoints.size":      "-i",
	"audit_entries.seq":           "-i",
	"audit_entries.outcome":       "'done'",
	"audit_entries.door":          "'rest'",
	"leases.door":                 "'rest'",
	"audit_tiles.number":          "-i",
	"clusters.state":              "'registered'",
	"grants.idle_since":           "'-infinity'",
	"grants.state":                "'open'",
	"jobs.done":                   "1",
	"leases.state":                "CASE WHEN i % 4 = 0 THEN 'active' ELSE 'revoked' END",
	"leases.issued_at":            "'2030-01-01'",
	"leases.sealed":               "CASE WHEN i % 4 = 0 THEN 'sealed' ELSE '' END",
	"live_leases.state":           "'active'",
	"oauth_clients.state":         "'active'",
	"retired_keys.id":             "-i",
	"vim_generations.sealed_as":   "'current'",
	"vims.health":                 "'reachable'",
	"vims.pending":                "0",
	"vims.pending_since":          "'-infinity'",
	"vims.shared":                 "i % 200 = 0",
	"vims.state":                  "'registered'",
	"vnf_grants.document":         `'{"Project": "' || CASE WHEN i % 4 = 0 THEN 'project-' || i % 100 ELSE 'north' END || '"}'`,
	"vnf_grants.state":            "'granted'",
	"vnf_secret_parameters.state": "'active'",
	"vnf_instances.document":      "'{}'",
	"vnf_notifications.document":  "'{}'",
	"vnf_notifications.seq":       "-i",
	"vnf_operations.document":     "'{}'",
	"vnf_operations.state":        "'COMPLETED'",
	"vnf_packages.document":       "'{}'",
	"vnf_packages.state":          "'enabled'",
	"vnf_subscriptions.state":     "'active'",
	"vnf_bundles.state":           "'active'",
}

// fill stores the crowds: rows of the same number belong together, and three in four are of the project and
// the principal whose requests the suites play.
func fill(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	ctx := t.Context()
	found, err := conn.Query(ctx, `SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'`)
	if err != nil {
		t.Fatal(err)
	}
	type column struct{ Table, Name, Type string }
	columns, err := pgx.CollectRows(found, pgx.RowToStructByPos[column])
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]column{}
	for _, c := range columns {
		if few[c.Table] == "" {
			tables[c.Table] = append(tables[c.Table], c)
		}
	}
	usual := map[string]string{
		"text": "'c' || i", "bigint": "1", "integer": "1", "boolean": "false", "bytea": "''", "ARRAY": "'{}'", "json": "'{}'",
		"timestamp with time zone": "timestamptz '2100-01-01' + i * interval '1 min'",
	}
	texts := []string{"SET session_replication_role = replica"}
	for table, columns := range tables {
		var names, values []string
		for _, c := range columns {
			value := special[c.Table+"."+c.Name]
			switch {
			case value != "":
			case c.Name == "project" || c.Name == "vim_project" && c.Table == "vim_shares":
				value = "CASE WHEN i % 4 = 0 THEN 'project-' || i % 100 ELSE 'north' END"
			case c.Name == "vim_project":
				value = "CASE WHEN i % 4 = 1 THEN 'project-' || i % 100 ELSE 'north' END"
			case c.Name == "principal" || c.Name == "created_by":
				value = "CASE WHEN i % 4 = 0 THEN 'principal-' || i % 100 ELSE 'alice' END"
			default:
				value = usual[c.Type]
			}
			names, values = append(names, c.Name), append(values, value)
		}
		texts = append(texts, fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, %d) AS i",
			table, strings.Join(names, ", "), strings.Join(values, ", "), crowds))
	}
	for _, text := range append(texts, "RESET session_replication_role", "VACUUM ANALYZE") {
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// said is a statement as the server's log has it.
type said struct {
	text string
	args []string // literals
	kept bool     // its plan is made once, for all values
}

// logged reads the statements that ran in each database, in their order.
func logged(log string) map[string][]said {
	all := map[string][]said{}
	line := regexp.MustCompile(`(?m)^\[(\w*)\]([A-Z]+):  `)
	arg := regexp.MustCompile(`\$\d+ = (NULL|'(?:[^']|'')*')`)
	marks := line.FindAllStringSubmatchIndex(log, -1)
	for i, m := range marks {
		end := len(log)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		database, level, text := log[m[2]:m[3]], log[m[4]:m[5]], strings.TrimSuffix(strings.ReplaceAll(log[m[1]:end], "\n\t", "\n"), "\n")
		if !strings.HasPrefix(database, "broker") {
			continue
		}
		here := all[database]
		if execute, ok := strings.CutPrefix(text, "execute "); ok && level == "LOG" {
			name, text, _ := strings.Cut(execute, ": ")
			all[database] = append(here, said{text: text, kept: name != "<unnamed>"})
		} else if given, ok := strings.CutPrefix(text, "parameters: "); ok && level == "DETAIL" && len(here) > 0 {
			for _, a := range arg.FindAllStringSubmatch(given, -1) {
				here[len(here)-1].args = append(here[len(here)-1].args, a[1])
			}
		}
	}
	return all
}

// cost is what a statement did at most, each time that it ran.
type cost struct {
	found, blocks int
	// most is what it looked at beside what came of it, where that was the most, and plan how.
	most float64
	plan string
}

// replay runs what ran in a small database again, in a transaction that is taken back, and counts what
// each statement did, and each of triggers and of foreign keys.
func replay(t *testing.T, conn *pgx.Conn, ran []said, notices *[]string, costs map[string]*cost) {
	t.Helper()
	do := func(text string) error {
		_, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	must := func(text string) {
		if err := do(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	must("BEGIN")
	must("SET CONSTRAINTS ALL IMMEDIATE")
	verb := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)
	times := map[string]int{}
	for _, s := range ran {
		// What a suite runs in a loop leaves versions of one row, which nothing takes away before the end.
		if times[s.text]++; times[s.text] > 40 {
			continue
		}
		if !verb.MatchString(s.text) || strings.Contains(s.text, "advisory") {
			continue
		}
		must("SAVEPOINT before")
		mode := "force_custom_plan"
		if s.kept {
			mode = "force_generic_plan"
		}
		must("SET LOCAL plan_cache_mode = " + mode)
		err := do("PREPARE replayed AS " + s.text)
		if err == nil {
			*notices = nil
			execute := "EXECUTE replayed"
			if len(s.args) > 0 {
				execute += "(" + strings.Join(s.args, ", ") + ")"
			}
			err = do(execute)
		}
		if err != nil {
			// It was one that the suite wants refused, or that the crowd is in the way of.
			must("ROLLBACK TO before")
			_ = do("DEALLOCATE replayed")
			continue
		}
		must("DEALLOCATE replayed")
		for _, notice := range *notices {
			_, plan, found := strings.Cut(notice, "plan:\n")
			if !found {
				continue
			}
			var p struct {
				Text string `json:"Query Text"`
				Plan postgres.Step
			}
			if err := json.Unmarshal([]byte(plan), &p); err != nil {
				t.Fatalf("%v in %s", err, plan)
			}
			text := strings.TrimPrefix(p.Text, "PREPARE replayed AS ")
			c := costs[text]
			if c == nil {
				c = &cost{}
				costs[text] = c
			}
			looked, blocks := p.Plan.Touched(), p.Plan.Hit+p.Plan.Read
			if most := p.Plan.Most(); c.plan == "" || most > c.most {
				c.found, c.blocks, c.most, c.plan = looked, blocks, most, plan
			}
		}
	}
	must("ROLLBACK")
}

// TestConformance plays the suites on a server whose log says what the store runs meanwhile; each of it runs again
// beside crowds.
func TestConformance(t *testing.T) {
	server := real.OwnPostgres(t, "fsync=off", "full_page_writes=off", "log_statement=all", "log_line_prefix=[%d]")
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		t.Run(name, func(t *testing.T) { suites[name](t, func(t *testing.T) string { return server.DSN(t) }) })
	}
	t.Run("EveryStatementReadsLittle", func(t *testing.T) { readsLittle(t, server) })
}

// readsLittle fails unless what a statement looks at depends on what comes of it, not on what else is there, and
// unless each statement that stands in the source has run. Those of triggers and foreign keys are counted, too.
func readsLittle(t *testing.T, server *real.PostgresServer) {
	t.Helper()
	ran := logged(server.Log(t))
	ran["scan"] = []said{{text: "SELECT count(*) FROM leases WHERE purpose = 'x'"}}

	dsn := server.DSN(t)
	if err := mustOpen(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", real.PostgresPassword)
	c, err := pgx.ParseConfig(u.String())
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	c.RuntimeParams["log_statement"] = "none"
	conn, err := pgx.ConnectConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	fill(t, conn)
	for _, text := range []string{
		"LOAD 'auto_explain'", "SET auto_explain.log_level = notice", "SET auto_explain.log_analyze = on", "SET auto_explain.log_timing = off",
		"SET auto_explain.log_buffers = on", "SET auto_explain.log_format = json", "SET auto_explain.log_nested_statements = on", "SET auto_explain.log_min_duration = 0",
	} {
		if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	costs := map[string]*cost{}
	for _, statements := range ran {
		replay(t, conn, statements, &notices, costs)
	}
	for _, text := range slices.Sorted(maps.Keys(costs)) {
		c := costs[text]
		allowed := slices.ContainsFunc(slices.Collect(maps.Keys(readsMuch)), func(part string) bool { return strings.Contains(oneLine(text), part) })
		if !allowed && c.most > 1 {
			t.Errorf("looks at %d rows in %d blocks: %s\n%s", c.found, c.blocks, text, c.plan)
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
		written = append(written, postgres.Said(text))
	}
	for _, text := range written {
		if !strings.Contains(played.String(), oneLine(text)) {
			t.Errorf("no suite runs %s", text)
		}
	}
	if len(costs) < len(written) || len(written) < 150 {
		t.Errorf("%d statements were counted, of %d in the source", len(costs), len(written))
	}
	everyIndexServes(t, conn, costs)
	if scan := costs["SELECT count(*) FROM leases WHERE purpose = 'x'"]; scan == nil || scan.most <= 1 {
		t.Error("the test does not see scans")
	}
}

// servesElse are the indexes that no plan names, and why they stay: the crowd's one project, and what it does, are three
// rows in four, which are read in their order.
var servesElse = map[string]string{
	"audit_by_project":           "a project with few entries: TestQueriesUseIndexes",
	"audit_by_owner":             "the same, of what others did on its VIMs",
	"audit_by_resource":          "what was done to one thing: TestQueriesUseIndexes",
	"audit_by_request":           "what was refused to one request: TestQueriesUseIndexes",
	"audit_by_project_outcome":   "refusals in a project, which are few among its entries: TestQueriesUseIndexes",
	"audit_by_owner_outcome":     "the same, of what others tried on its VIMs",
	"audit_by_action_outcome":    "refusals of an action that is often done",
	"vnf_operation_by_project":   "a project with few operations",
	"vnf_grant_by_state":         "the few grants in a state that does not last",
	"vnf_grant_by_project_state": "the same, of a project",
	"session_by_principal":       "the sessions of one caller, who are many",
}

// everyIndexServes fails if an index, which each write pays for, is in the plan of no statement that ran. Unique ones
// hold a rule.
func everyIndexServes(t *testing.T, conn *pgx.Conn, costs map[string]*cost) {
	t.Helper()
	found, err := conn.Query(t.Context(), `SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE relnamespace = 'public'::regnamespace AND NOT indisunique`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil || len(names) < 20 {
		t.Fatalf("indexes: %q, %v", names, err)
	}
	for _, name := range names {
		serves := false
		for _, c := range costs {
			serves = serves || strings.Contains(c.plan, `"Index Name": "`+name+`"`)
		}
		if !serves && servesElse[name] == "" {
			t.Errorf("index %s serves no statement that ran: drop it, or say in servesElse what it is for", name)
		}
	}
}

// oneLine is a text with single spaces, and without the numbers of its parameters.
func oneLine(text string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`\$\d+|\?\d+`).ReplaceAllString(text, "?")), " ")
}

// literals are the texts in the package's source that begin as statements do, but for those that run while a
// database is made, moved or looked over, and those that take locks.
func literals(t *testing.T) (all []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) `)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || slices.Contains([]string{"auditguard.go", "copy.go", "guard.go", "lock.go", "migrate.go", "pooler.go"}, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && verb.MatchString(text) && !strings.Contains(text, "advisory") {
					all = append(all, text)
				}
			}
			return true
		})
	}
	return all
}

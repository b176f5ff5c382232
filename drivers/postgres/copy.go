package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Origin is a database to copy, whose tables have the names and columns of this one. No process may write to it
// during the copy.
type Origin interface {
	// Dump goes through the rows of a table, and ends with the first error. Times are microseconds (see [rows.Micro]),
	// truths 0 and 1, and lists JSON.
	Dump(ctx context.Context, table string, columns []string, order string) iter.Seq2[[]any, error]

	Horizon(ctx context.Context) (int64, error)
	Grow(ctx context.Context) error
	Tree(ctx context.Context) (tree.Head, error)
	Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error)
}

// copied are the tables that a copy fills, in an order in which a row follows those that it refers to.
var copied = []string{
	"vims", "vim_generations", "vim_labels", "vim_shares", "vim_uses", "management_clusters", "clusters", "grants", "leases", "retired_keys",
	"token_uses", "used_tokens", "trust_entries", "oauth_clients", "oauth_keys", "vnf_grants", "vnf_packages", "vnf_package_chunks",
	"vnf_contents_gone", "vnf_instances", "assets", "asset_viewers", "asset_uses",
	"vnf_package_uses", "vnf_operations", "vnf_secret_parameters", "vnf_subscriptions",
	"vnf_notifications", "vnf_bundles", "jobs", "sessions",
	"audit_entries", "audit_keys", "audit_checkpoints", "audit_anchors", "audit_cursors", "audit_tiles",
}

// replaced are those of one row, which is there already.
var replaced = []string{"audit_tree", "audit_horizon", "lease_horizon"}

// Copied counts rows by table.
type Copied map[string]int64

// copyPage is the number of entries that are verified at a time.
const copyPage = broker.MaxPage

// Copy brings everything that a database holds into an empty one, whose schema
// it makes: all of it or, if it fails, nothing. When it returns nil, it has counted
// the rows that arrived and verified the audit log. A database that holds anything is
// broker.ErrConflict.
func Copy(ctx context.Context, o Options, from Origin) (Copied, error) {
	s, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	n := Copied{}
	if err = s.prepareCopy(ctx); err == nil {
		err = translate(pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return (&copying{n, ctx, tx, from}).run() }))
	}
	if err != nil {
		return nil, fmt.Errorf("copying into store %s: %w", s.where, s.outcome(ctx, ctx, err))
	}
	return n, nil
}

// prepareCopy makes the schema of a database that has none; an existing schema must be the
// broker's.
func (s *Store) prepareCopy(ctx context.Context) error {
	found, err := s.schema(ctx, released())
	switch {
	case err != nil:
		return err
	case found.Have == 0:
		_, err = s.migrate(ctx, released())
		return err
	case found.Newer():
		return &broker.Error{Kind: broker.ErrUnsupported, Detail: "a newer version migrated the database", Remedy: "copy with that version"}
	}
	return s.accept(found)
}

type copying struct {
	n    Copied
	ctx  context.Context
	tx   pgx.Tx
	from Origin
}

func (c *copying) run() error {
	// The inbox and the end of the audit log are locked until the copy is committed: no
	// other process writes. The source is read in between, for as long as it takes.
	err := c.exec(`SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`,
		`LOCK TABLE audit_inbox IN EXCLUSIVE MODE`, readHead)
	if err != nil {
		return err
	}
	if err := c.demandEmpty(); err != nil {
		return err
	}
	if err := c.from.Grow(c.ctx); err != nil { // the copy is compared with its tree
		return err
	}
	// The trigger counts row by row, which takes hours for a million VIMs.
	if err := c.exec(`ALTER TABLE vims DISABLE TRIGGER vim_counted`); err != nil {
		return err
	}
	for _, table := range slices.Concat(copied, replaced) {
		if err := c.table(table); err != nil {
			return fmt.Errorf("copying table %s: %w", table, err)
		}
	}
	err = c.exec(`ALTER TABLE vims ENABLE TRIGGER vim_counted`,
		`INSERT INTO vim_census (part, value, n) SELECT 'state', state, count(*) FROM vims GROUP BY 2
			UNION ALL SELECT 'health', health, count(*) FROM vims GROUP BY 2`,
		`UPDATE ended_leases SET n = (SELECT count(*) FROM leases WHERE state = 'revoked') WHERE part = 0`,
		`UPDATE audit_head SET seq = greatest((SELECT max(seq) FROM audit_entries), (SELECT seq FROM audit_horizon)) WHERE id = 1`)
	if err != nil {
		return err
	}
	if err := c.verifyCounts(); err != nil {
		return err
	}
	return c.verifyEntries()
}

func (c *copying) exec(texts ...string) error {
	for _, text := range texts {
		if _, err := c.tx.Exec(c.ctx, text); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) demandEmpty() error {
	var used bool
	err := c.tx.QueryRow(c.ctx, `SELECT EXISTS (SELECT FROM `+strings.Join(copied, `) OR EXISTS (SELECT FROM `)+
		`) OR EXISTS (SELECT FROM audit_inbox)`).Scan(&used)
	if err == nil && used {
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: "the database is in use: it holds VIMs, leases, keys, VNF packages or audit entries",
			Remedy: "name an empty one",
		}
	}
	return err
}

// column is one that a copy fills. The database counts those that are its identity.
type column struct {
	Name, Type string
	Identity   bool
}

const columnsOf = `SELECT column_name::text, data_type::text, is_identity = 'YES' FROM information_schema.columns
	WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`

// table copies a table. Rows that the database numbers come in the order that they have in the source.
func (c *copying) table(table string) error {
	found, err := c.tx.Query(c.ctx, columnsOf, table)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(found, pgx.RowToStructByPos[column])
	if err != nil {
		return err
	}
	order := ""
	var names []string
	columns = slices.DeleteFunc(columns, func(c column) bool {
		if c.Identity {
			order = c.Name
		} else {
			names = append(names, c.Name)
		}
		return c.Identity
	})
	next, stop := iter.Pull2(c.from.Dump(c.ctx, table, names, order))
	defer stop()
	var lost error // the source's own words, which COPY would lose
	converted := func() ([]any, error) {
		row, err, _ := next()
		for i := range row {
			if err == nil {
				row[i], err = columns[i].value(row[i])
			}
		}
		lost = err
		return row, err
	}
	if slices.Contains(replaced, table) {
		row, err := converted()
		if err != nil || row == nil {
			return err
		}
		// A row that is the same stays: the horizon of a log without a checkpoint may not be written.
		text := numbered(`UPDATE ` + table + ` SET ` + strings.Join(names, ` = ?, `) + ` = ? WHERE (` + strings.Join(names, `, `) +
			`) IS DISTINCT FROM (?` + strings.Repeat(`, ?`, len(names)-1) + `)`)
		_, err = c.tx.Exec(c.ctx, text, append(row, row...)...)
		return translate(err)
	}
	c.n[table], err = c.tx.CopyFrom(c.ctx, pgx.Identifier{table}, names, pgx.CopyFromFunc(converted))
	return cmp.Or(lost, translate(err))
}

// value is one of a [Origin] as this database keeps it.
func (c column) value(v any) (any, error) {
	n, counts := v.(int64)
	switch {
	case c.Type == "timestamp with time zone" && counts:
		return stamp(rows.Time(n)), nil
	case c.Type == "boolean" && counts:
		return n != 0, nil
	case c.Type == "ARRAY":
		var list []string
		text, _ := v.(string)
		err := json.Unmarshal([]byte(text), &list)
		return append([]string{}, list...), err
	}
	return v, nil
}

func (c *copying) verifyCounts() error {
	for table, n := range c.n {
		var there int64
		err := c.tx.QueryRow(c.ctx, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()).Scan(&there)
		if err == nil && there != n {
			err = fmt.Errorf("of %d rows of table %s there arrived %d", n, table, there)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verifyEntries checks that the log as it now stands in the database is the one whose tree the source keeps, and
// ends where audit_head says.
func (c *copying) verifyEntries() error {
	state, err := c.from.Tree(c.ctx)
	if err != nil {
		return err
	}
	at, err := c.from.Horizon(c.ctx)
	if err != nil {
		return err
	}
	frontier, err := tree.Frontier(c.ctx, c.from, state, at)
	if err != nil {
		return err
	}
	points, err := c.points(at, state)
	if err != nil {
		return err
	}
	v, err := audit.NewVerifier(at, frontier, points)
	for more := true; err == nil && more; {
		more, err = c.verifyPage(v)
	}
	if err != nil {
		return err
	}
	var end int64
	if err := c.tx.QueryRow(c.ctx, readHead).Scan(&end); err != nil {
		return err
	}
	if end != v.Size() || end < state.Size {
		return errors.New("the audit log does not end where its head says")
	}
	return nil
}

// points are the source's tree at the end of each page, so that an error names one.
func (c *copying) points(from int64, state tree.Head) ([]audit.Point, error) {
	var points []audit.Point
	for size := from; ; size = min(size+copyPage, state.Size) {
		was, err := tree.At(c.ctx, c.from, state, size)
		if err != nil {
			return nil, err
		}
		if points = append(points, audit.Point{Head: was, Name: "the log that is copied"}); size == state.Size {
			return points, nil
		}
	}
}

var readFollowing = `SELECT ` + rows.EntryColumns.Names() + ` FROM audit_entries WHERE seq > $1 ORDER BY seq LIMIT $2`

func scanEntry(row pgx.CollectableRow) (e audit.Entry, err error) {
	err = scan(row, rows.EntryColumns.Fields(&e), &e.Damaged)
	return e, err
}

// verifyPage verifies the entries that follow, if there are more.
func (c *copying) verifyPage(v *audit.Verifier) (more bool, err error) {
	found, err := c.tx.Query(c.ctx, readFollowing, v.Size(), copyPage)
	if err != nil {
		return false, err
	}
	page, err := pgx.CollectRows(found, scanEntry)
	if err != nil {
		return false, err
	}
	lines := make([][]byte, len(page))
	for i, e := range page {
		if lines[i], err = audit.Line(e); err != nil {
			return false, err
		}
	}
	return len(page) > 0, v.Add(lines)
}

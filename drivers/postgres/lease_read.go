package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// readSealed is the sealed credential of a lease: in its row or, if the row says apart, in a row of its own. If
// that row is gone, the answer opens with no key.
const readSealed = `CASE sealed WHEN 'apart' THEN coalesce((SELECT translate(encode(c.sealed, 'base64'), E'+/\n', '-_')
	FROM lease_credentials c WHERE c.lease = leases.id), sealed) ELSE sealed END AS sealed`

// leaseColumns are the columns that are read of leases.
var leaseColumns = strings.Replace(rows.LeaseColumns.Names(), ` sealed,`, ` `+readSealed+`,`, 1)

var (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = $1`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
	leaseByLogin = `SELECT ` + leaseColumns + ` FROM leases WHERE login = $1 AND login <> '' AND secret_sha256 <> ''`
)

// Lease returns one by its id.
func (s *Store) Lease(ctx context.Context, id string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByID, id))
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading lease %s: %w", id, err)
	}
	return l, nil
}

// LeaseByKey returns the lease that a principal was issued under an idempotency key.
func (s *Store) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByKey, principal, key))
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of an idempotency key: %w", err)
	}
	return l, nil
}

// LeaseByLogin returns the lease under whose name and secret tokens are minted.
func (s *Store) LeaseByLogin(ctx context.Context, login string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByLogin, login))
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of a login: %w", err)
	}
	return l, nil
}

func oneLease(found []broker.Lease, err error) (broker.Lease, error) {
	return rows.First("lease", found, err)
}

// scanLeases returns what scans rows one after the other, always into the same memory.
func scanLeases() func(pgx.CollectableRow) (broker.Lease, error) {
	var l broker.Lease
	var bad bool
	into := targets(rows.LeaseColumns.Fields(&l), &bad)
	return func(row pgx.CollectableRow) (broker.Lease, error) {
		l, bad = broker.Lease{}, false
		err := row.Scan(into...)
		if len(l.Namespaces) == 0 {
			l.Namespaces = nil
		}
		if len(l.GradeReasons) == 0 {
			l.GradeReasons = nil
		}
		return rows.Sparing(l, bad), err
	}
}

// Leases lists the newest first.
func (s *Store) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	f, wider := rows.WindowOfLeases(f)
	var end *rows.LeasePosition
	if wider != nil {
		text, args, err := endOfWindow(*wider)
		if err != nil {
			return nil, "", fmt.Errorf("listing leases: %w", err)
		}
		ends, err := read(ctx, s, scanLeasePosition, text, args...)
		if err != nil {
			return nil, "", fmt.Errorf("listing leases: %w", err)
		}
		if len(ends) > 0 {
			end = &ends[0]
		}
	}
	text, args, size, err := listLeases(f, end)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, err := read(ctx, s, scanLeases(), text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, next := rows.CutLeases(leases, size)
	if next == "" && end != nil {
		next = rows.Token(*end)
	}
	return leases, next, nil
}

func scanLeasePosition(row pgx.CollectableRow) (p rows.LeasePosition, err error) {
	var at time.Time
	err = row.Scan(&at, &p.ID)
	p.CreatedAt = rows.Micro(at)
	return p, err
}

// endOfWindow asks where the leases end that a page may look at: with all of one time, as indexes hold no ids.
func endOfWindow(f broker.LeaseFilter) (string, []any, error) {
	parts, _, live, err := leaseRanges(f, nil)
	if err != nil {
		return "", nil, err
	}
	from := `SELECT created_at, '' AS id FROM leases`
	if live {
		from = `SELECT created_at, '' AS id FROM live_leases`
	}
	var texts []string
	var all []any
	for _, c := range parts {
		text, args := c.SelectFrom(from)
		texts = append(texts, `SELECT * FROM (`+text+` ORDER BY created_at DESC OFFSET ? LIMIT 1) AS part`)
		all = append(append(all, args...), rows.LeaseWindow(f.Page)/len(parts)-1)
	}
	return numbered(strings.Join(texts, ` UNION ALL `) + ` ORDER BY created_at DESC LIMIT 1`), all, nil
}

// listLeases asks for a page, and one lease more; at most down to end, if that is not nil.
func listLeases(f broker.LeaseFilter, end *rows.LeasePosition) (text string, args []any, size int, err error) {
	parts, size, live, err := leaseRanges(f, end)
	if err != nil {
		return "", nil, 0, err
	}
	selecting := allLeases
	if live {
		selecting = `SELECT id, created_at FROM live_leases`
	}
	text, args = parts[0].SelectFrom(selecting)
	if len(parts) > 1 {
		// Each part is one range of an index, and ends with the page.
		second, secondArgs := parts[1].SelectFrom(selecting)
		text = `(` + text + newestFirst + `) UNION ALL (` + second + newestFirst + `)`
		args = slices.Concat(args, []any{size + 1}, secondArgs, []any{size + 1})
	}
	switch {
	case !f.DueBefore.IsZero():
		text = apart(text)
	case live:
		text = allLeases + ` WHERE id IN (SELECT id FROM (` + text + newestFirst + `) AS page)`
		args = append(args, size+1)
	}
	return numbered(text + newestFirst), append(args, size+1), size, nil
}

// leaseRanges are the ranges that a page is read from: one, or two for the leases of a project and those on its
// VIMs. live says that they are ranges of live_leases: few leases are live, compared with the ended ones.
func leaseRanges(f broker.LeaseFilter, end *rows.LeasePosition) (parts []*rows.Conditions, size int, live bool, err error) {
	size, after, err := rows.ReadPage[rows.LeasePosition](f.Page)
	if err != nil {
		return nil, 0, false, err
	}
	var c rows.Conditions
	if end != nil {
		c.Add(`(created_at, id) >= (?, ?)`, stamp(rows.Time(end.CreatedAt)), end.ID)
	}
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, stamp(rows.Time(after.CreatedAt)), after.ID)
	}
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.AddIf(f.Instance != "", `instance = ? AND instance <> ''`, f.Instance)
	c.AddIf(f.For != "", `for_whom = ? AND for_whom <> ''`, f.For)
	c.AddIf(f.Principal != "", `principal = ?`, f.Principal)
	c.AddIf(!f.CreatedBefore.IsZero(), `created_at < ?`, stamp(f.CreatedBefore))
	// It makes no guess about coalesce, and so reads in the order that is asked for.
	c.AddIf(len(f.States) > 0, `coalesce(state = ANY(?), false)`, f.States)
	due := !f.DueBefore.IsZero()
	switch {
	case due && f.VIM != "":
		c.Add(`id IN (SELECT id FROM lease_turns WHERE vim = ? AND due_at <= ?)`, f.VIM, stamp(f.DueBefore))
	case due:
		c.Add(`id IN (SELECT id FROM lease_turns WHERE due_at <= ?)`, stamp(f.DueBefore))
	case f.VIM != "":
		c.Add(`vim = ?`, f.VIM)
	}
	live = len(f.States) > 0 && !slices.Contains(f.States, broker.LeaseRevoked) && f.IDPrefix == "" && f.Operation == "" &&
		f.Instance == "" && f.For == "" && !due
	switch {
	case f.Project == "":
		parts = []*rows.Conditions{&c}
	case f.IDPrefix != "" || f.Operation != "" || f.Instance != "" || f.For != "" || due:
		c.Add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		parts = []*rows.Conditions{&c}
	default:
		own, lent := c.Clone(), c.Clone()
		own.Add(`project = ?`, f.Project)
		lent.Add(`vim_project = ? AND project <> vim_project`, f.Project)
		parts = []*rows.Conditions{own, lent}
	}
	return parts, size, live, nil
}

const newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT ?`

var allLeases = `SELECT ` + leaseColumns + ` FROM leases`

// apart makes PostgreSQL choose the index without regard to order and limit. Few
// rows are due. PostgreSQL expects to meet them early if it reads all rows in the
// order asked for, and would read them all.
func apart(text string) string { return `SELECT * FROM (` + text + ` OFFSET 0) AS few` }

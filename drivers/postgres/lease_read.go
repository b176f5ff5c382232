package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rows"
)

var leaseColumns = rows.LeaseColumns.Names()

var (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = $1`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
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
	text, args, size, err := listLeases(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, err := read(ctx, s, scanLeases(), text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, next := rows.CutLeases(leases, size)
	return leases, next, nil
}

func listLeases(f broker.LeaseFilter) (text string, args []any, size int, err error) {
	size, after, err := rows.ReadPage[rows.LeasePosition](f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	var c rows.Conditions
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, stamp(rows.Time(after.CreatedAt)), after.ID)
	}
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.AddIf(f.Instance != "", `instance = ? AND instance <> ''`, f.Instance)
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
	// What is live is little beside what was.
	live := len(f.States) > 0 && !slices.Contains(f.States, broker.LeaseRevoked) && f.IDPrefix == "" && f.Operation == "" && f.Instance == "" && !due
	selecting := allLeases
	if live {
		selecting = `SELECT id, created_at FROM live_leases`
	}
	switch {
	case f.Project == "":
		text, args = c.SelectFrom(selecting)
	case f.IDPrefix != "" || f.VIM != "" || f.Principal != "" || f.Operation != "" || f.Instance != "" || due:
		c.Add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		text, args = c.SelectFrom(selecting)
	default:
		// Each part is one range of an index, and ends with the page.
		own, lent := c.Clone(), c.Clone()
		own.Add(`project = ?`, f.Project)
		lent.Add(`vim_project = ? AND project <> vim_project`, f.Project)
		first, firstArgs := own.SelectFrom(selecting)
		second, secondArgs := lent.SelectFrom(selecting)
		text = `(` + first + newestFirst + `) UNION ALL (` + second + newestFirst + `)`
		args = slices.Concat(firstArgs, []any{size + 1}, secondArgs, []any{size + 1})
	}
	switch {
	case due:
		text = apart(text)
	case live:
		text = allLeases + ` WHERE id IN (SELECT id FROM (` + text + newestFirst + `) AS page)`
		args = append(args, size+1)
	}
	return numbered(text + newestFirst), append(args, size+1), size, nil
}

const newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT ?`

var allLeases = `SELECT ` + leaseColumns + ` FROM leases`

// apart makes PostgreSQL choose the index without regard to order and limit. Few
// rows are due. PostgreSQL expects to meet them early if it reads all rows in the
// order asked for, and would read them all.
func apart(text string) string { return `SELECT * FROM (` + text + ` OFFSET 0) AS few` }

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rows"
)

var leaseColumns = rows.LeaseColumns.Names()

var (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = ?`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`
)

// Lease returns one by its id.
func (s *Store) Lease(ctx context.Context, id string) (broker.Lease, error) {
	found, err := s.query(ctx, leaseByID, id)
	l, err := oneLease(found, err)
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading lease %s: %w", id, err)
	}
	return l, nil
}

// LeaseByKey returns the lease that a principal was issued under an idempotency key.
func (s *Store) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	found, err := s.query(ctx, leaseByKey, principal, key)
	l, err := oneLease(found, err)
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of an idempotency key: %w", err)
	}
	return l, nil
}

func (t txn) lease(id string) (broker.Lease, error) {
	found, err := t.query(leaseForUpdate, id)
	return oneLease(found, err)
}

func oneLease(found *sql.Rows, err error) (broker.Lease, error) {
	leases, err := collect(found, err, scanLeases())
	return rows.First("lease", leases, err)
}

// scanLeases returns what scans rows one after the other, always into the same memory.
func scanLeases() func(*sql.Rows) (broker.Lease, error) {
	var l broker.Lease
	var bad bool
	into := targets(rows.LeaseColumns.Fields(&l), &bad)
	return func(row *sql.Rows) (broker.Lease, error) {
		l, bad = broker.Lease{}, false
		err := row.Scan(into...)
		return rows.Sparing(l, bad), err
	}
}

// Leases lists the newest first.
func (s *Store) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	text, args, size, err := listLeases(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	found, err := s.query(ctx, text, args...)
	leases, err := collect(found, err, scanLeases())
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
		c.Add(`(created_at, id) < (?, ?)`, after.CreatedAt, after.ID)
	}
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.AddIf(f.Instance != "", `instance = ? AND instance <> ''`, f.Instance)
	c.AddIf(f.VIM != "", `vim = ?`, f.VIM)
	c.AddIf(f.Principal != "", `principal = ?`, f.Principal)
	c.AddIf(!f.DueBefore.IsZero(), `due_at <= ?`, rows.Micro(f.DueBefore))
	c.AddIf(!f.CreatedBefore.IsZero(), `created_at < ?`, rows.Micro(f.CreatedBefore))

	// Sorted and without doubles, so that few different texts are prepared.
	states := slices.Clone(f.States)
	slices.Sort(states)
	states = slices.Compact(states)
	live := len(states) > 0 && !slices.Contains(states, broker.LeaseRevoked)
	if len(states) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(states)), ", ")
		c.Add(`state IN (`+marks+`)`, anys(states)...)
	}
	c.AddIf(live, `state <> 'revoked'`)

	index := leaseIndex(f, live)
	switch {
	case f.Project == "":
		text, args = c.SelectFrom(leasesBy + index)
	case index != "":
		c.Add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		text, args = c.SelectFrom(leasesBy + index)
	default:
		of := "lease_by_"
		if live {
			of = "lease_live_by_"
		}
		own, lent := c.Clone(), c.Clone()
		own.Add(`project = ?`, f.Project)
		lent.Add(`vim_project = ? AND project <> vim_project`, f.Project)
		first, firstArgs := own.SelectFrom(leasesBy + of + "project")
		second, secondArgs := lent.SelectFrom(leasesBy + of + "lender")
		text, args = first+` UNION ALL `+second, append(firstArgs, secondArgs...)
	}
	return text + ` ORDER BY created_at DESC, id DESC LIMIT ?+0`, append(args, size+1), size, nil
}

var leasesBy = `SELECT ` + leaseColumns + ` FROM leases INDEXED BY `

// leaseIndex names the index with the fewest leases to read, or none for a list by
// project. SQLite does not know that few leases are live or due.
func leaseIndex(f broker.LeaseFilter, live bool) string {
	switch {
	case f.IDPrefix != "":
		return "sqlite_autoindex_leases_1" // that of the primary key
	case !f.DueBefore.IsZero() && f.VIM != "":
		return "lease_due_by_vim"
	case !f.DueBefore.IsZero():
		return "lease_due"
	case f.Operation != "":
		return "lease_by_operation"
	case f.Instance != "":
		return "lease_by_instance"
	case f.VIM != "" && live:
		return "lease_live_by_vim"
	case f.VIM != "":
		return "lease_by_vim"
	case f.Principal != "" && live:
		return "lease_live_by_principal"
	case f.Principal != "":
		return "lease_by_principal"
	case f.Project != "":
		return ""
	case live:
		return "lease_live"
	}
	return "lease_newest"
}

func anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

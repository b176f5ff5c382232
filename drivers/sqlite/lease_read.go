package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var leaseColumns = rows.LeaseColumns.Names()

var (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = ?`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`
	leaseByLogin = `SELECT ` + leaseColumns + ` FROM leases WHERE login = ? AND login <> '' AND secret_sha256 <> ''`
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

// LeaseByLogin returns the lease under whose name and secret tokens are minted.
func (s *Store) LeaseByLogin(ctx context.Context, login string) (broker.Lease, error) {
	found, err := s.query(ctx, leaseByLogin, login)
	l, err := oneLease(found, err)
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of a login: %w", err)
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
	f, wider := rows.WindowOfLeases(f)
	var end *rows.LeasePosition
	if wider != nil && !byState(f) {
		text, args, err := endOfWindow(*wider)
		if err != nil {
			return nil, "", fmt.Errorf("listing leases: %w", err)
		}
		found, err := s.query(ctx, text, args...)
		ends, err := collect(found, err, func(r *sql.Rows) (p rows.LeasePosition, err error) { return p, r.Scan(&p.CreatedAt, &p.ID) })
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
	found, err := s.query(ctx, text, args...)
	leases, err := collect(found, err, scanLeases())
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, next := rows.CutLeases(leases, size)
	if next == "" && end != nil {
		next = rows.Token(*end)
	}
	return leases, next, nil
}

// endOfWindow asks for the last lease that a page may look at.
func endOfWindow(f broker.LeaseFilter) (string, []any, error) {
	parts, _, err := leaseRanges(f, nil)
	if err != nil {
		return "", nil, err
	}
	var texts []string
	var all []any
	for _, p := range parts {
		text, args := p.SelectFrom(`SELECT created_at, id FROM leases INDEXED BY ` + p.index)
		texts, all = append(texts, `SELECT * FROM (`+text+` ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?+0)`),
			append(append(all, args...), rows.LeaseWindow(f.Page)/len(parts)-1)
	}
	return strings.Join(texts, ` UNION ALL `) + ` ORDER BY created_at DESC, id DESC LIMIT 1`, all, nil
}

// listLeases asks for a page, and one lease more; at most down to end, if that is not nil.
func listLeases(f broker.LeaseFilter, end *rows.LeasePosition) (text string, args []any, size int, err error) {
	parts, size, err := leaseRanges(f, end)
	if err != nil {
		return "", nil, 0, err
	}
	var texts []string
	for _, p := range parts {
		text, more := p.SelectFrom(leasesBy + p.index)
		texts, args = append(texts, text), append(args, more...)
	}
	return strings.Join(texts, ` UNION ALL `) + ` ORDER BY created_at DESC, id DESC LIMIT ?+0`, append(args, size+1), size, nil
}

// leaseRange is a part of a list of leases, and the index that it is read by.
type leaseRange struct {
	*rows.Conditions
	index string
}

// byState says that leases are looked for by their states alone, each of which is a range of an index.
func byState(f broker.LeaseFilter) bool {
	return len(f.States) > 0 && !slices.Contains(f.States, broker.LeaseRevoked) && leaseIndex(f, true) == "lease_live" && f.Project == ""
}

// leaseRanges are the ranges that a page is read from: one, or two for the leases of a project and those on its VIMs,
// or one for each state.
func leaseRanges(f broker.LeaseFilter, end *rows.LeasePosition) (parts []leaseRange, size int, err error) {
	size, after, err := rows.ReadPage[rows.LeasePosition](f.Page)
	if err != nil {
		return nil, 0, err
	}
	var c rows.Conditions
	if end != nil {
		c.Add(`(created_at, id) >= (?, ?)`, end.CreatedAt, end.ID)
	}
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, after.CreatedAt, after.ID)
	}
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.AddIf(f.Instance != "", `instance = ? AND instance <> ''`, f.Instance)
	c.AddIf(f.For != "", `for_whom = ? AND for_whom <> ''`, f.For)
	c.AddIf(f.VIM != "", `vim = ?`, f.VIM)
	c.AddIf(f.Principal != "", `principal = ?`, f.Principal)
	c.AddIf(!f.DueBefore.IsZero(), `due_at <= ?`, rows.Micro(f.DueBefore))
	c.AddIf(!f.CreatedBefore.IsZero(), `created_at < ?`, rows.Micro(f.CreatedBefore))

	live := len(f.States) > 0 && !slices.Contains(f.States, broker.LeaseRevoked)
	c.AddIf(live, `live = 1`)
	if byState(f) {
		for _, state := range f.States {
			one := c.Clone()
			one.Add(`state = ?`, state)
			parts = append(parts, leaseRange{one, "lease_live"})
		}
		return parts, size, nil
	}
	if len(f.States) > 0 && !slices.Equal(f.States, rows.LiveStates) {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(f.States)), ", ")
		c.Add(`state IN (`+marks+`)`, anys(f.States)...)
	}
	index := leaseIndex(f, live)
	switch {
	case f.Project == "":
		return []leaseRange{{&c, index}}, size, nil
	case index != "":
		c.Add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		return []leaseRange{{&c, index}}, size, nil
	}
	of := "lease_by_"
	if live {
		of = "lease_live_by_"
	}
	own, lent := c.Clone(), c.Clone()
	own.Add(`project = ?`, f.Project)
	lent.Add(`vim_project = ? AND project <> vim_project`, f.Project)
	return []leaseRange{{own, of + "project"}, {lent, of + "lender"}}, size, nil
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
	case f.For != "":
		return "lease_by_whom"
	case f.Project != "":
		return ""
	case f.Principal != "" && live:
		return "lease_live_by_principal"
	case f.Principal != "":
		return "lease_by_principal"
	case f.VIM != "" && live:
		return "lease_live_by_vim"
	case f.VIM != "":
		return "lease_by_vim"
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

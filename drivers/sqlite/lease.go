package sqlite

import (
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// leaseUpdate is a statement that changes columns of a lease, and, where ends is set, whether it is live.
type leaseUpdate struct {
	columns rows.Columns[broker.Lease]
	ends    bool
	text    string
}

func updateOfLease(ends bool, columns rows.Columns[broker.Lease]) leaseUpdate {
	set := columns.Set()
	if ends {
		set += `, live = ?`
	}
	return leaseUpdate{columns, ends, prepared(`UPDATE leases SET ` + set + ` WHERE id = ?`)}
}

// leaseUpdates begin with what most leases go through: a statement enters each index of a column that it names, whether
// the column changes or not.
var leaseUpdates = func() []leaseUpdate {
	all := rows.LeaseColumns.Changing()
	moves := all.Pick("revision", "state", "reason", "stood", "left_behind", "revoked_at", "next_attempt_at", "attempts", "last_error")
	buried := all.Pick("revision", "confirmed_dead_at", "sealed", "attempts", "last_error")
	return []leaseUpdate{
		updateOfLease(false, moves), updateOfLease(true, moves), updateOfLease(false, buried),
		updateOfLease(false, all.Without("idempotency_key").Without("secret_sha256")), updateOfLease(false, all), updateOfLease(true, all),
	}
}()

// AmendLease implements [tables.Transaction].
func (t txn) AmendLease(old, next broker.Lease, changed rows.Columns[broker.Lease]) {
	ends := old.State.Live() != next.State.Live()
	update := leaseUpdates[slices.IndexFunc(leaseUpdates, func(u leaseUpdate) bool {
		return u.ends == ends && u.columns.Have(changed)
	})]
	args := update.columns.Values(&next)
	if ends {
		args = append(args, next.State.Live())
	}
	t.Queue(update.text, append(args, old.ID)...)
}

// Stow implements [tables.Transaction].
func (txn) Stow(_, sealed string) string { return sealed }

// LeaseWindowEnd implements [tables.Database].
func (database) LeaseWindowEnd(f, wider broker.LeaseFilter) (string, []any, error) {
	if byState(f) {
		return "", nil, nil
	}
	parts, _, err := leaseRanges(wider, nil)
	if err != nil {
		return "", nil, err
	}
	var texts []string
	var all []any
	for _, p := range parts {
		text, args := p.SelectFrom(`SELECT created_at, id FROM leases INDEXED BY ` + p.index)
		texts, all = append(texts, `SELECT * FROM (`+text+newestFirst+` LIMIT 1 OFFSET ?+0)`),
			append(append(all, args...), rows.LeaseWindow(wider.Page)/len(parts)-1)
	}
	return strings.Join(texts, ` UNION ALL `) + newestFirst + ` LIMIT 1`, all, nil
}

const newestFirst = ` ORDER BY created_at DESC, id DESC`

// LeaseQuery implements [tables.Database].
func (database) LeaseQuery(f broker.LeaseFilter, end *rows.Position) (text string, args []any, size int, err error) {
	parts, size, err := leaseRanges(f, end)
	if err != nil {
		return "", nil, 0, err
	}
	var texts []string
	for _, p := range parts {
		text, more := p.SelectFrom(`SELECT ` + tables.LeaseColumns + ` FROM leases INDEXED BY ` + p.index)
		texts, args = append(texts, text), append(args, more...)
	}
	return strings.Join(texts, ` UNION ALL `) + newestFirst + ` LIMIT ?`, append(args, size+1), size, nil
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
func leaseRanges(f broker.LeaseFilter, end *rows.Position) (parts []leaseRange, size int, err error) {
	c, size, err := rows.LeaseConditions(f, end)
	if err != nil {
		return nil, 0, err
	}
	c.AddIf(f.VIM != "", `vim = ?`, f.VIM)
	c.AddIf(!f.DueBefore.IsZero(), `due_at <= ?`, f.DueBefore)
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
	ranges := c.OfProject(f.Project, index != "")
	if len(ranges) == 1 {
		return []leaseRange{{ranges[0], index}}, size, nil
	}
	of := "lease_by_"
	if live {
		of = "lease_live_by_"
	}
	return []leaseRange{{ranges[0], of + "project"}, {ranges[1], of + "lender"}}, size, nil
}

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

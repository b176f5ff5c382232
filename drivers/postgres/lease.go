package postgres

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

const (
	// readSealed is the sealed credential of a lease: in its row or, if the row says apart, in a row of its own. If
	// that row is gone, the answer opens with no key.
	readSealed = `CASE sealed WHEN 'apart' THEN coalesce((SELECT translate(encode(c.sealed, 'base64'), E'+/\n', '-_')
	FROM lease_credentials c WHERE c.lease = leases.id), sealed) ELSE sealed END AS sealed`

	// dropCredential is also what a trigger does, once something else than 'apart' stands in the row of the lease.
	// Most find none to drop: to insert ON CONFLICT would log each one twice.
	dropCredential  = `DELETE FROM lease_credentials WHERE lease = $1`
	storeCredential = `INSERT INTO lease_credentials (lease, sealed) VALUES ($1, $2)`
)

// AmendLease implements [tables.Transaction]. It writes the columns that changed and no other: what is not written needs
// no new copy of a long text. Few combinations occur.
func (t txn) AmendLease(old, next broker.Lease, changed rows.Columns[broker.Lease]) {
	if next.Sealed != old.Sealed {
		next.Sealed = t.Stow(old.ID, next.Sealed)
	}
	t.Queue(`UPDATE leases SET `+changed.Set()+` WHERE id = ?`, append(changed.Values(&next), old.ID)...)
}

// Stow implements [tables.Transaction]: it keeps the sealed credential of a lease apart, in bytes. It stays in the
// lease's row where it is no base64.
func (t txn) Stow(lease, sealed string) string {
	token, err := base64.URLEncoding.DecodeString(sealed)
	if sealed == "" || err != nil || base64.URLEncoding.EncodeToString(token) != sealed {
		return sealed
	}
	t.queue(dropCredential, lease)
	t.queue(storeCredential, lease, token)
	return "apart"
}

// LeaseWindowEnd implements [tables.Database]: where the leases end that a page may look at, with all of one time, as
// indexes hold no ids.
func (database) LeaseWindowEnd(_, wider broker.LeaseFilter) (string, []any, error) {
	parts, _, live, err := leaseRanges(wider, nil)
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
		all = append(append(all, args...), rows.LeaseWindow(wider.Page)/len(parts)-1)
	}
	return strings.Join(texts, ` UNION ALL `) + ` ORDER BY created_at DESC LIMIT 1`, all, nil
}

// LeaseQuery implements [tables.Database].
func (database) LeaseQuery(f broker.LeaseFilter, end *rows.Position) (text string, args []any, size int, err error) {
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
	return text + newestFirst, append(args, size+1), size, nil
}

// leaseRanges are the ranges that a page is read from: one, or two for the leases of a project and those on its
// VIMs. live says that they are ranges of live_leases: few leases are live, compared with the ended ones.
func leaseRanges(f broker.LeaseFilter, end *rows.Position) (parts []*rows.Conditions, size int, live bool, err error) {
	c, size, err := rows.LeaseConditions(f, end)
	if err != nil {
		return nil, 0, false, err
	}
	// It makes no guess about coalesce, and so reads in the order that is asked for.
	c.AddIf(len(f.States) > 0, `coalesce(state = ANY(?), false)`, f.States)
	due := !f.DueBefore.IsZero()
	switch {
	case due && f.VIM != "":
		c.Add(`id IN (SELECT id FROM lease_turns WHERE vim = ? AND due_at <= ?)`, f.VIM, f.DueBefore)
	case due:
		c.Add(`id IN (SELECT id FROM lease_turns WHERE due_at <= ?)`, f.DueBefore)
	case f.VIM != "":
		c.Add(`vim = ?`, f.VIM)
	}
	few := f.IDPrefix != "" || f.Operation != "" || f.Instance != "" || f.For != "" || due
	live = len(f.States) > 0 && !slices.Contains(f.States, broker.LeaseRevoked) && !few
	return c.OfProject(f.Project, few), size, live, nil
}

const newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT ?`

var allLeases = `SELECT ` + tables.LeaseColumns + ` FROM leases`

// apart makes PostgreSQL choose the index without regard to order and limit. Few
// rows are due. PostgreSQL expects to meet them early if it reads all rows in the
// order asked for, and would read them all.
func apart(text string) string { return `SELECT * FROM (` + text + ` OFFSET 0) AS few` }

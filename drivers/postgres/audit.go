package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const readHead = `SELECT seq FROM audit_head WHERE id = 1 FOR UPDATE`

var entryColumns = rows.EntryColumns.Names()

// append queues the insert of an entry into the inbox, in the transaction of the act that
// it records. No row and no lock is shared with other writers.
func (t txn) append(e audit.Entry) error {
	if err := t.reach(); err != nil {
		return err
	}
	e = audit.Kept(e)
	t.queue(insertInbox, values(rows.WaitingColumns.Fields(&e))...)
	return nil
}

// Entries returns what q selects, newest first. Entries that wait get their places first.
func (s *Store) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	for moved := sequenceAtOnce; moved == sequenceAtOnce; {
		var err error
		if moved, err = s.sequence(ctx, waitLock); err != nil {
			return nil, fmt.Errorf("sequencing the audit log: %w", err)
		}
	}
	text, args := listEntries(q)
	entries, err := read(ctx, s, scanEntry, text, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return entries, nil
}

func listEntries(q audit.Query) (string, []any) {
	const page = ` ORDER BY seq DESC LIMIT ?`
	selecting := `SELECT ` + entryColumns + ` FROM audit_entries`
	conditions := rows.EntryConditions(q, func(t time.Time) any { return stamp(t) })
	if len(conditions) == 1 {
		text, args := conditions[0].SelectFrom(selecting)
		return numbered(text + page), append(args, q.Limit)
	}
	// Each part ends with the page.
	var parts []string
	var all []any
	for _, c := range conditions {
		text, args := c.SelectFrom(selecting)
		parts, all = append(parts, `(`+text+page+`)`), append(append(all, args...), q.Limit)
	}
	return numbered(strings.Join(parts, ` UNION ALL `) + page), append(all, q.Limit)
}

func scanEntry(row pgx.CollectableRow) (audit.Entry, error) {
	var e audit.Entry
	err := scan(row, rows.EntryColumns.Fields(&e), &e.Damaged)
	if len(e.Detail) == 0 {
		e.Detail = nil
	}
	return e, err
}

package postgres

import (
	"context"
	"strings"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const readHead = `SELECT seq FROM audit_head WHERE id = 1 FOR UPDATE`

// append queues the insert of an entry into the inbox, in the transaction of the act that
// it records. No row and no lock is shared with other writers.
func (t txn) append(e audit.Entry) error {
	if err := t.reach(); err != nil {
		return err
	}
	e = audit.Kept(e)
	t.queue(insertInbox, dialect.Args(rows.WaitingColumns.Values(&e))...)
	return nil
}

// EntryQuery implements [tables.Database]. Entries that wait get their places first.
func (d database) EntryQuery(ctx context.Context, q audit.Query) (string, []any, error) {
	if err := d.sequenceAll(ctx); err != nil {
		return "", nil, err
	}
	text, args := listEntries(q)
	return text, args, nil
}

func listEntries(q audit.Query) (string, []any) {
	const page = ` ORDER BY seq DESC LIMIT ?`
	selecting := `SELECT ` + rows.EntryColumns.Names() + ` FROM audit_entries`
	conditions := rows.EntryConditions(q)
	if len(conditions) == 1 {
		text, args := conditions[0].SelectFrom(selecting)
		return text + page, append(args, q.Limit)
	}
	// Each part ends with the page.
	var parts []string
	var all []any
	for _, c := range conditions {
		text, args := c.SelectFrom(selecting)
		parts, all = append(parts, `(`+text+page+`)`), append(append(all, args...), q.Limit)
	}
	return strings.Join(parts, ` UNION ALL `) + page, append(all, q.Limit)
}

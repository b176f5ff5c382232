package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	lastEntry   = prepared(`SELECT seq FROM audit_entries ORDER BY seq DESC LIMIT 1`)
	insertEntry = prepared(rows.EntryColumns.Insert(`audit_entries`))
)

// append adds an entry at the end of the log, in the transaction of what it records.
func (t txn) append(e audit.Entry) error {
	if t.s.end == 0 {
		if err := t.queryRow(lastEntry).Scan(&t.s.end); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return translate(err)
		}
	}
	e = audit.Kept(e)
	e.Seq = t.s.end + 1
	_, err := t.exec(insertEntry, dialect.Args(rows.EntryColumns.Values(&e))...)
	if err == nil {
		t.s.end = e.Seq
	}
	return err
}

// EntryQuery implements [tables.Database].
func (d database) EntryQuery(ctx context.Context, q audit.Query) (string, []any, error) {
	from := `audit_entries`
	if !q.Since.IsZero() {
		few, err := d.fewSince(ctx, q.Since, 10*q.Limit)
		if err != nil {
			return "", nil, err
		}
		if few {
			from = `audit_entries INDEXED BY audit_by_time`
		}
	}
	var parts []string
	var all []any
	for _, c := range rows.EntryConditions(q) {
		text, args := c.SelectFrom(`SELECT ` + rows.EntryColumns.Names() + ` FROM ` + from)
		parts, all = append(parts, text), append(all, args...)
	}
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY seq DESC LIMIT ?`, append(all, q.Limit), nil
}

// fewSince says how to look for young entries: where they are few, through the
// index by time; where they are many, from the newest down, which ends soon.
func (s *Store) fewSince(ctx context.Context, since time.Time, limit int) (bool, error) {
	found, err := s.query(ctx, `SELECT count(*) FROM (SELECT 1 FROM audit_entries WHERE time >= ? LIMIT ?+0)`,
		since.UnixMicro(), limit)
	counts, err := collect(found, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
	if err != nil {
		return false, err
	}
	return counts[0] < limit, nil
}

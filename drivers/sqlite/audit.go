package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	lastEntry   = prepared(`SELECT seq FROM audit_entries ORDER BY seq DESC LIMIT 1`)
	insertEntry = prepared(rows.EntryColumns.Insert(`audit_entries`))
)

var entryColumns = rows.EntryColumns.Names()

// append adds an entry at the end of the log, in the transaction of what it records.
func (t txn) append(e audit.Entry) error {
	if t.s.end == 0 {
		if err := t.queryRow(lastEntry).Scan(&t.s.end); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return translate(err)
		}
	}
	e = audit.Kept(e)
	e.Seq = t.s.end + 1
	_, err := t.exec(insertEntry, values(rows.EntryColumns.Fields(&e))...)
	if err == nil {
		t.s.end = e.Seq
	}
	return err
}

// Entries returns what q selects, newest first.
func (s *Store) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	text, args, err := s.entriesQuery(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	found, err := s.query(ctx, text, args...)
	entries, err := collect(found, err, scanEntry)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return entries, nil
}

func (s *Store) entriesQuery(ctx context.Context, q audit.Query) (string, []any, error) {
	from := `audit_entries`
	if !q.Since.IsZero() {
		few, err := s.fewSince(ctx, q.Since, 10*q.Limit)
		if err != nil {
			return "", nil, err
		}
		if few {
			from = `audit_entries INDEXED BY audit_by_time`
		}
	}
	var parts []string
	var all []any
	for _, c := range rows.EntryConditions(q, func(t time.Time) any { return t.UnixMicro() }) {
		text, args := c.SelectFrom(`SELECT ` + entryColumns + ` FROM ` + from)
		parts, all = append(parts, text), append(all, args...)
	}
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY seq DESC LIMIT ?+0`, append(all, q.Limit), nil
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

func scanEntry(row *sql.Rows) (audit.Entry, error) {
	var e audit.Entry
	err := scan(row, rows.EntryColumns.Fields(&e), &e.Damaged)
	return e, err
}

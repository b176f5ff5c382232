package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const readHead = `SELECT seq, hash FROM audit_head WHERE id = 1 FOR UPDATE`

var (
	entryColumns = rows.EntryColumns.Names()
	// appendEntry numbers and hashes an entry as audit.Seal does.
	appendEntry = `WITH head AS (` + readHead + `), entry AS (
			INSERT INTO audit_entries (` + entryColumns + `)
			SELECT seq + 1, $1::timestamptz, $2, $3, $4, $5, $6, $7, $8, $9::json, hash, encode(sha256($10::bytea ||
				int8send(seq + 1) || $11::bytea || int8send(octet_length(hash)) || convert_to(hash, 'UTF8')), 'hex')
			FROM head RETURNING seq, hash)
		UPDATE audit_head SET seq = entry.seq, hash = entry.hash FROM entry WHERE id = 1`
)

// Append adds an entry that records no change of this store.
func (s *Store) Append(ctx context.Context, e audit.Entry) error {
	if err := s.write(ctx, e, func(txn) error { return nil }); err != nil {
		return fmt.Errorf("recording %s by %s: %w", e.Action, e.Principal, err)
	}
	return nil
}

// append queues to add an entry at the end of the chain, in the transaction of what
// it records. It is the last thing before the commit, and is sent with it: everyone
// else waits behind it, for the database and the disk, but for no round trip.
//
// The lock is an advisory one: those who wait for a row wake each other up, and of
// 64 that want it each gets it after many (measured: a fifth of the writes).
func (t txn) append(e audit.Entry) error {
	if err := t.reach(); err != nil {
		return err
	}
	e = audit.Kept(e)
	before, between := audit.Hashed(e)
	t.lock(lockChain)
	t.queue(appendEntry, stamp(e.Time), e.Request, e.Principal, e.Project, string(e.Action),
		string(e.Kind), e.Resource, string(e.Outcome), rows.JSON(e.Detail), before, between)
	return nil
}

type head struct {
	seq  int64
	hash string
}

// Entries returns what q selects, newest first.
func (s *Store) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	text, args := listEntries(q)
	entries, err := read(ctx, s, scanEntry, text, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return entries, nil
}

func listEntries(q audit.Query) (string, []any) {
	var c rows.Conditions
	c.AddIf(q.Resource != "", `resource = ?`, q.Resource)
	c.AddIf(q.Principal != "", `principal = ?`, q.Principal)
	c.AddIf(q.Action != "", `action = ?`, string(q.Action))
	c.AddIf(q.Project != "", `project = ?`, q.Project)
	c.AddIf(q.Before > 0, `seq < ?`, q.Before)
	c.AddIf(!q.Since.IsZero(), `time >= ?`, stamp(q.Since))
	text, args := c.SelectFrom(`SELECT ` + entryColumns + ` FROM audit_entries`)
	return numbered(text + ` ORDER BY seq DESC LIMIT ?`), append(args, q.Limit)
}

func scanEntry(row pgx.CollectableRow) (audit.Entry, error) {
	var e audit.Entry
	err := scan(row, rows.EntryColumns.Fields(&e))
	if len(e.Detail) == 0 {
		e.Detail = nil
	}
	return e, err
}

package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const readCursors = `SELECT sink, seq, start, skipped FROM audit_cursors ORDER BY sink`

var (
	findCursor  = prepared(`SELECT 1 FROM audit_cursors WHERE sink = ?`)
	beginCursor = prepared(`INSERT INTO audit_cursors (sink, seq, start, skipped) SELECT ?, 0, coalesce(max(seq), 0), 0 FROM audit_entries`)
	moveCursor  = prepared(`UPDATE audit_cursors SET seq = ?, skipped = ? WHERE sink = ? AND seq = ?`)
)

// Cursors implements [delivery.Store].
func (s *Store) Cursors(ctx context.Context) ([]delivery.Cursor, error) {
	found, err := s.query(ctx, readCursors)
	all, err := collect(found, err, func(r *sql.Rows) (c delivery.Cursor, err error) {
		return c, r.Scan(&c.Sink, &c.Seq, &c.Start, &c.Skipped)
	})
	if err != nil {
		return nil, fmt.Errorf("reading cursors of audit sinks: %w", err)
	}
	return all, nil
}

// BeginCursor implements [delivery.Store].
func (s *Store) BeginCursor(ctx context.Context, sink string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		if there, err := t.any(findCursor, sink); err != nil || there {
			return err
		}
		if _, err := t.exec(beginCursor, sink); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("beginning the cursor of audit sink %s: %w", sink, err)
	}
	return nil
}

// MoveCursor implements [delivery.Store].
func (s *Store) MoveCursor(ctx context.Context, from, to delivery.Cursor) error {
	err := s.write(ctx, func(t txn) error {
		result, err := t.exec(moveCursor, to.Seq, to.Skipped, from.Sink, from.Seq)
		if err != nil {
			return err
		}
		if moved, err := result.RowsAffected(); err != nil || moved > 0 {
			return err
		}
		return delivery.ErrMoved
	})
	if err != nil {
		return fmt.Errorf("moving the cursor of audit sink %s: %w", from.Sink, err)
	}
	return nil
}

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	readCursors = `SELECT sink, seq, start, skipped FROM audit_cursors ORDER BY sink`
	beginCursor = `INSERT INTO audit_cursors (sink, seq, start, skipped) SELECT $1, 0, seq, 0 FROM audit_head WHERE id = 1
		ON CONFLICT DO NOTHING`
	moveCursor = `UPDATE audit_cursors SET seq = $1, skipped = $2 WHERE sink = $3 AND seq = $4`
)

// Cursors implements [delivery.Store].
func (s *Store) Cursors(ctx context.Context) ([]delivery.Cursor, error) {
	all, err := lookUp(ctx, s, func(row pgx.CollectableRow) (c delivery.Cursor, err error) {
		return c, row.Scan(&c.Sink, &c.Seq, &c.Start, &c.Skipped)
	}, readCursors)
	if err != nil {
		return nil, fmt.Errorf("reading cursors of audit sinks: %w", err)
	}
	return all, nil
}

// BeginCursor implements [delivery.Store].
func (s *Store) BeginCursor(ctx context.Context, sink string, e audit.Entry) error {
	err := s.write(ctx, e, func(t txn) error {
		if begun, err := t.any(beginCursor, sink); err != nil || begun {
			return err
		}
		return errNothing
	})
	if err != nil {
		return fmt.Errorf("beginning the cursor of audit sink %s: %w", sink, err)
	}
	return nil
}

// MoveCursor implements [delivery.Store].
func (s *Store) MoveCursor(ctx context.Context, from, to delivery.Cursor) error {
	err := s.change(ctx, func(t txn) error {
		moved, err := t.any(moveCursor, to.Seq, to.Skipped, from.Sink, from.Seq)
		if err == nil && !moved {
			return delivery.ErrMoved
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("moving the cursor of audit sink %s: %w", from.Sink, err)
	}
	return nil
}

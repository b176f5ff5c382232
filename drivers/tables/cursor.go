package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	readCursors = statement(`SELECT sink, seq, start, skipped FROM audit_cursors ORDER BY sink`)
	// WHERE true tells SQLite that ON belongs to no join.
	beginCursor = statement(either(`INSERT INTO audit_cursors (sink, seq, start, skipped) SELECT ?1, 0, seq, 0 FROM audit_head WHERE id = 1
		ON CONFLICT DO NOTHING`,
		`INSERT INTO audit_cursors (sink, seq, start, skipped) SELECT ?1, 0, coalesce(max(seq), 0), 0 FROM audit_entries WHERE true
		ON CONFLICT DO NOTHING`))
	moveCursor = statement(`UPDATE audit_cursors SET seq = ?1, skipped = ?2 WHERE sink = ?3 AND seq = ?4`)
)

// Cursors implements [delivery.Store].
func (s *Tables) Cursors(ctx context.Context) ([]delivery.Cursor, error) {
	all, err := lookUp(ctx, s, func(row Row) (c delivery.Cursor, err error) {
		return c, row.Scan(&c.Sink, &c.Seq, &c.Start, &c.Skipped)
	}, readCursors)
	return all, doing(err, "reading cursors of audit sinks")
}

// BeginCursor implements [delivery.Store].
func (s *Tables) BeginCursor(ctx context.Context, sink string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		return t.some(beginCursor, sink)
	})
	return doing(err, "beginning the cursor of audit sink %s", sink)
}

// MoveCursor implements [delivery.Store].
func (s *Tables) MoveCursor(ctx context.Context, from, to delivery.Cursor) error {
	err := s.change(ctx, func(t Tx) error {
		moved, err := t.any(moveCursor, to.Seq, to.Skipped, from.Sink, from.Seq)
		if err == nil && !moved {
			return delivery.ErrMoved
		}
		return err
	})
	return doing(err, "moving the cursor of audit sink %s", from.Sink)
}

package sqlite

import (
	"context"
	"database/sql"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// query runs a read. Its text must come from a bounded set: the statement is
// kept for the next time.
//
// A limit is written "LIMIT ?+0": SQLite plans by the value of a bare "LIMIT ?",
// and so prepares the statement again each time it is run.
func (s *Store) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s.closed.Load() {
		return nil, rows.Closed()
	}
	stmt, ok := s.queries.Load(text)
	if !ok {
		made, err := s.reader.PrepareContext(ctx, text)
		if err != nil {
			return nil, unlessDone(ctx, err)
		}
		if stmt, ok = s.queries.LoadOrStore(text, made); ok {
			_ = made.Close() // another goroutine was first
		}
	}
	found, err := stmt.(*sql.Stmt).QueryContext(ctx, args...)
	if err != nil {
		return nil, unlessDone(ctx, err)
	}
	return found, nil
}

// unlessDone prefers the context's error: SQLite calls that an interrupt.
func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return translate(err)
}

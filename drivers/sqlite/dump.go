package sqlite

import (
	"context"
	"strings"
)

// Dump returns a function that returns the rows of a table as they are kept, one after the other, and nil after the last.
// Their order is that of a column, if one is named. Whoever calls it calls stop at the end.
func (s *Store) Dump(ctx context.Context, table string, columns []string, order string) (next func() ([]any, error), stop func(), err error) {
	text := `SELECT ` + strings.Join(columns, `, `) + ` FROM ` + table
	if order != "" {
		text += ` ORDER BY ` + order
	}
	found, err := s.query(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	next = func() ([]any, error) {
		if !found.Next() {
			return nil, translate(found.Err())
		}
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		return row, translate(found.Scan(into...))
	}
	return next, func() { _ = found.Close() }, nil
}

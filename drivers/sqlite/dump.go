package sqlite

import (
	"context"
	"iter"
	"strings"
)

// Dump goes through the stored rows of a table, in the order of a column, if one is named. It ends with the first
// error.
func (s *Store) Dump(ctx context.Context, table string, columns []string, order string) iter.Seq2[[]any, error] {
	text := `SELECT ` + strings.Join(columns, `, `) + ` FROM ` + table
	if order != "" {
		text += ` ORDER BY ` + order
	}
	return func(yield func([]any, error) bool) {
		found, err := s.query(ctx, text)
		if err != nil {
			yield(nil, err)
			return
		}
		defer found.Close()
		for found.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := found.Scan(into...); !yield(row, translate(err)) || err != nil {
				return
			}
		}
		if err := found.Err(); err != nil {
			yield(nil, translate(err))
		}
	}
}

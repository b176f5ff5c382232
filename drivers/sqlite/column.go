package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// moment scans a time, which is stored as rows.Micro makes it.
type moment struct{ t *time.Time }

// Scan implements [sql.Scanner].
func (m moment) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	*m.t = rows.Time(n)
	return nil
}

// stored is a value as the database keeps it.
func stored(v any) any {
	switch v := v.(type) {
	case time.Time:
		return rows.Micro(v)
	case []string:
		return rows.JSON(append([]string{}, v...)) // never null
	}
	return rows.Stored(v)
}

// values returns what the fields hold, as the database keeps it.
func values(fields []any) []any {
	all := make([]any, len(fields))
	for i, field := range fields {
		all[i] = stored(rows.Value(field))
	}
	return all
}

// scan reads a row into the fields, as targets says.
func scan(row interface{ Scan(...any) error }, fields []any, bad *bool) error {
	return row.Scan(targets(fields, bad)...)
}

// targets are the destinations for scanning a row, so that the fields hold the
// database's values. A document that cannot be read is noted in bad, if that is not
// nil.
func targets(fields []any, bad *bool) []any {
	into := make([]any, len(fields))
	for i, field := range fields {
		switch f := field.(type) {
		case *time.Time:
			into[i] = moment{f}
		case *[]string:
			into[i] = rows.Document[[]string]{To: f, Bad: bad}
		case *map[string]string:
			into[i] = rows.Document[map[string]string]{To: f, Bad: bad}
		default:
			into[i] = rows.Target(f, bad)
		}
	}
	return into
}

// joined lists the columns of a table that a LEFT JOIN may have no row of.
func joined[T any](alias string, columns rows.Columns[T]) string {
	var zero T
	texts := make([]string, len(columns))
	for i, field := range columns.Fields(&zero) {
		text := `''`
		switch field.(type) {
		case *time.Time, *bool, *int64:
			text = `0`
		}
		texts[i] = `coalesce(` + alias + `.` + columns[i].Name + `, ` + text + `)`
	}
	return strings.Join(texts, `, `)
}

// collect reads all rows with scan.
func collect[T any](found *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, translate(err)
	}
	defer found.Close()
	var all []T
	for found.Next() {
		v, err := scan(found)
		if err != nil {
			return nil, translate(err)
		}
		all = append(all, v)
	}
	return all, translate(found.Err())
}

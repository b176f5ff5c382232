package sqlite

import (
	"database/sql"
	"fmt"
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
	case []time.Time:
		micros := make([]int64, len(v))
		for i, at := range v {
			micros[i] = at.UnixMicro()
		}
		return rows.JSON(micros)
	case []int64:
		return rows.JSON(v)
	}
	return rows.Stored(v)
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

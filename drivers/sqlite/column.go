package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// micro is how a time is stored.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// moment scans a time.
type moment struct{ t *time.Time }

func (m moment) Scan(v any) error {
	n, ok := v.(int64)
	switch {
	case !ok:
		return fmt.Errorf("a time is stored as %T", v)
	case n == 0:
		*m.t = time.Time{}
	default:
		*m.t = time.UnixMicro(n).UTC()
	}
	return nil
}

// document scans JSON into a slice, map or scope, and leaves an empty one zero.
type document[T []string | map[string]string | broker.Scope] struct{ v *T }

func (d document[T]) Scan(v any) error {
	var zero T
	*d.v = zero
	text, ok := v.(string)
	switch {
	case !ok:
		return fmt.Errorf("a document is stored as %T", v)
	case len(text) <= len("{}"):
		return nil
	}
	return json.Unmarshal([]byte(text), d.v)
}

// encode is how a slice, map or scope of strings is stored. Encoding those never fails.
func encode[T []string | map[string]string | broker.Scope](v T) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// collect reads all rows with scan.
func collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, translate(err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, translate(err)
		}
		all = append(all, v)
	}
	return all, translate(rows.Err())
}

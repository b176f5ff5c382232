package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// stamp is the stored form of a time: in microseconds, and the zero time as
// '-infinity'.
func stamp(t time.Time) pgtype.Timestamptz {
	if t.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: t.UTC().Truncate(time.Microsecond), Valid: true}
}

// moment scans a time.
type moment struct{ t *time.Time }

// ScanTimestamptz implements [pgtype.TimestamptzScanner].
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m.t = time.Time{}
	if v.Valid && v.InfinityModifier == pgtype.Finite {
		*m.t = v.Time.UTC()
	}
	return nil
}

// stored is a value as the database keeps it.
func stored(v any) any {
	switch v := v.(type) {
	case time.Time:
		return stamp(v)
	case []string:
		return append([]string{}, v...) // pgx stores nil as NULL
	}
	return rows.Stored(v)
}

// scan reads a row into the fields, as targets says.
func scan(row pgx.CollectableRow, fields []any, bad *bool) error {
	return row.Scan(targets(fields, bad)...)
}

// targets are the destinations for scanning a row, so that the fields hold the
// database's values. A document that cannot be read is noted in bad, if that is not
// nil.
func targets(fields []any, bad *bool) []any {
	into := make([]any, len(fields))
	for i, field := range fields {
		if t, ok := field.(*time.Time); ok {
			into[i] = &moment{t}
		} else {
			into[i] = rows.Target(field, bad)
		}
	}
	return into
}

// numbered writes $1, $2 and so on for each "?", and $3 for "?3".
func numbered(text string) string {
	parts := strings.Split(text, "?")
	n := 0
	for i, part := range parts[1:] {
		mark := "$"
		if part == "" || part[0] < '0' || part[0] > '9' {
			n++
			mark += strconv.Itoa(n)
		}
		parts[i+1] = mark + part
	}
	return strings.Join(parts, "")
}

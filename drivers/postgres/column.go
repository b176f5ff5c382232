package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// stamp is how a time is stored: in microseconds, and the zero time as '-infinity'.
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

// values returns what the fields hold, as the database keeps it.
func values(fields []any) []any {
	stored := make([]any, len(fields))
	for i, field := range fields {
		switch f := field.(type) {
		case *time.Time:
			stored[i] = stamp(*f)
		case *time.Duration:
			stored[i] = f.Microseconds()
		case *[]string:
			stored[i] = append([]string{}, *f...) // pgx stores nil as NULL
		case *map[string]string:
			stored[i] = rows.JSON(*f)
		case *broker.Scope:
			stored[i] = rows.JSON(*f)
		case *[]broker.Rule:
			stored[i] = rows.JSON(*f)
		case *broker.Discovered:
			stored[i] = rows.JSON(*f)
		case *[]oauth.Placement:
			stored[i] = rows.JSON(*f)
		case *oauth.Certificate:
			stored[i] = rows.JSON(*f)
		default:
			stored[i] = rows.Value(f)
		}
	}
	return stored
}

// scan reads a row into the fields, as targets says.
func scan(row pgx.CollectableRow, fields []any, bad *bool) error {
	return row.Scan(targets(fields, bad)...)
}

// targets are what a row is scanned into, so that the fields hold what the database
// keeps. A document that cannot be read is noted in bad, if that is not nil.
func targets(fields []any, bad *bool) []any {
	into := make([]any, len(fields))
	for i, field := range fields {
		switch f := field.(type) {
		case *time.Time:
			into[i] = &moment{f}
		case *time.Duration:
			into[i] = rows.Span{To: f}
		case *broker.Scope:
			into[i] = rows.Document[broker.Scope]{To: f, Bad: bad}
		case *[]broker.Rule:
			into[i] = rows.Document[[]broker.Rule]{To: f, Bad: bad}
		case *broker.Discovered:
			into[i] = rows.Document[broker.Discovered]{To: f, Bad: bad}
		case *[]oauth.Placement:
			into[i] = rows.Document[[]oauth.Placement]{To: f, Bad: bad}
		case *oauth.Certificate:
			into[i] = rows.Document[oauth.Certificate]{To: f, Bad: bad}
		default:
			into[i] = f
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
		case *time.Time:
			text = `'-infinity'`
		case *bool:
			text = `false`
		case *int64:
			text = `0`
		}
		texts[i] = `coalesce(` + alias + `.` + columns[i].Name + `, ` + text + `)`
	}
	return strings.Join(texts, `, `)
}

// numbered writes $1, $2 and so on for each "?".
func numbered(text string) string {
	var b strings.Builder
	parts := strings.Split(text, "?")
	for i, part := range parts {
		b.WriteString(part)
		if i < len(parts)-1 {
			b.WriteString("$" + strconv.Itoa(i+1))
		}
	}
	return b.String()
}

package postgres

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/vimbroker/vimbroker/broker"
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

func into(t *time.Time) *moment { return &moment{t} }

// encode is how a map or scope of strings is stored. Encoding those never fails.
func encode[T map[string]string | broker.Scope](v T) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// list is how a slice is stored: pgx would make NULL of nil.
func list(v []string) []string {
	if v == nil {
		return []string{}
	}
	return v
}

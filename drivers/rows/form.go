package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/trust"
)

// Micro returns a time in microseconds since 1970, and 0 for the zero time.
func Micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the time that [Micro] made n of.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// Span scans a duration that is stored in microseconds.
type Span struct{ To *time.Duration }

// Scan implements sql.Scanner.
func (s Span) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a duration is stored as %T", v)
	}
	*s.To = time.Duration(n) * time.Microsecond
	return nil
}

// form is a value that a store keeps as JSON.
type form interface {
	[]string | []int64 | []broker.Rule | map[string]string | broker.Scope | broker.Discovered | []oauth.Placement | oauth.Certificate |
		trust.Authority | session.Came
}

// JSON returns v as a store keeps it. It cannot fail for these types.
func JSON[T form](v T) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Document scans JSON, and leaves an empty list or object zero. Stored JSON that cannot
// be read is an error, or is noted in Bad, if that is not nil: one row that is damaged
// must not keep a list from the others.
type Document[T form] struct {
	To  *T
	Bad *bool
}

// Scan implements sql.Scanner.
func (d Document[T]) Scan(v any) error {
	var zero T
	*d.To = zero
	text, ok := v.(string)
	switch {
	case !ok:
		return fmt.Errorf("a document is stored as %T", v)
	case text == "" || text == "{}" || text == "[]":
		return nil
	}
	err := json.Unmarshal([]byte(text), d.To)
	if err != nil && d.Bad != nil {
		*d.To, *d.Bad = zero, true
		return nil
	}
	return err
}

// Stored is the stored form of a value: JSON, if it is a [form].
func Stored(v any) any {
	switch d := v.(type) {
	case time.Duration:
		return d.Microseconds()
	case map[string]string, broker.Scope, []broker.Rule, broker.Discovered, []oauth.Placement, oauth.Certificate, trust.Authority,
		session.Came:
		b, _ := json.Marshal(v) // cannot fail for these types
		return string(b)
	}
	return v
}

// Target is the destination for scanning a column, so that the field holds the value that
// [Stored] took. A document that cannot be read is noted in bad, if that is not nil.
func Target(field any, bad *bool) any {
	switch f := field.(type) {
	case *time.Duration:
		return Span{To: f}
	case *broker.Scope:
		return Document[broker.Scope]{To: f, Bad: bad}
	case *[]broker.Rule:
		return Document[[]broker.Rule]{To: f, Bad: bad}
	case *broker.Discovered:
		return Document[broker.Discovered]{To: f, Bad: bad}
	case *[]oauth.Placement:
		return Document[[]oauth.Placement]{To: f, Bad: bad}
	case *session.Came:
		return Document[session.Came]{To: f, Bad: bad}
	case *oauth.Certificate:
		return Document[oauth.Certificate]{To: f, Bad: bad}
	case *trust.Authority:
		return Document[trust.Authority]{To: f, Bad: bad}
	}
	return field
}

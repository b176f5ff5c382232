package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// wantKind fails unless err is of that kind, and one that a person can act on.
func wantKind(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: error %v, want %v", what, err, kind)
		return
	}
	var own *broker.Error
	if !errors.As(err, &own) {
		t.Errorf("%s: error %v is bare, want a *broker.Error that says what to do", what, err)
	}
}

// wantField fails unless err is ErrInvalid and names the field.
func wantField(t *testing.T, what string, err error, field string) {
	t.Helper()
	var own *broker.Error
	if !errors.Is(err, broker.ErrInvalid) || !errors.As(err, &own) {
		t.Errorf("%s: error %v, want %v", what, err, broker.ErrInvalid)
	} else if own.Field != field && !strings.HasPrefix(own.Field, field+".") {
		t.Errorf("%s: error names field %q, want %q (%v)", what, own.Field, field, err)
	}
}

// wantSet fails unless two lists hold the same, and says what differs.
func wantSet(t *testing.T, what string, got, want []string) {
	t.Helper()
	missing := func(from, of []string) (out []string) {
		for _, x := range of {
			if !slices.Contains(from, x) {
				out = append(out, x)
			}
		}
		return out
	}
	if more, less := missing(want, got), missing(got, want); len(more)+len(less) > 0 || len(got) != len(want) {
		t.Errorf("%s: more %v, less %v (%d, want %d)", what, more, less, len(got), len(want))
	}
}

// errorText is everything that an error can show: its text and those of all it wraps.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%+v\n%#v\n", err, err, err)
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		b.WriteString(errorText(e.Unwrap()))
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			b.WriteString(errorText(inner))
		}
	}
	return b.String()
}

package broker

import (
	"errors"
	"strings"
	"testing"
)

func TestExtraIsMergedAtEveryDepth(t *testing.T) {
	for _, c := range []struct{ old, more, want string }{
		{"", "", ""},
		{`{"a":1.50}`, "", `{"a":1.50}`},
		{"", `{}`, ""},
		{"", `{"a":"<b>"}`, `{"a":"<b>"}`},
		{`{"a":1.50}`, `{"b":12345678901234567890}`, `{"a":1.50,"b":12345678901234567890}`},
		{`{"a":{"x":1,"y":{"z":2}},"b":1}`, `{"a":{"y":{"w":3}}}`, `{"a":{"x":1,"y":{"w":3,"z":2}},"b":1}`},
		{`{"a":{"x":1},"b":2}`, `{"a":null,"c":null}`, `{"b":2}`},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":null},"b":{"c":null}}`, `{"a":{"y":2},"b":{}}`},
		{`{"a":1}`, `{"a":null}`, ""},
		{`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{`{"a":1}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
	} {
		if got := mergeExtra(c.old, c.more); got != c.want {
			t.Errorf("mergeExtra(%s, %s) = %s, want %s", c.old, c.more, got, c.want)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	for _, c := range []struct{ description, extra, field string }{
		{"", "", ""},
		{strings.Repeat("é", maxDescription/2), `{"a":{}}`, ""},
		{strings.Repeat("é", maxDescription/2) + "x", "", "description"},
		{"a\x00b", "", "description"},
		{"\xff", "", "description"},
		{"", `{"a":"` + strings.Repeat("x", maxExtra) + `"}`, "extra"},
		{"", `[]`, "extra"},
		{"", `null`, "extra"},
		{"", `{"a":1} x`, "extra"},
		{"", `{"a":1e999}`, "extra"}, // no number of Go
		{"", "{\"a\":\"\xff\"}", "extra"},
	} {
		err := validNotes(c.description, c.extra)
		var known *Error
		if (err != nil) != (c.field != "") || err != nil && (!errors.As(err, &known) || known.Field != c.field || !errors.Is(err, ErrInvalid)) {
			t.Errorf("validNotes(%.20q, %.20q) = %v, want field %q", c.description, c.extra, err, c.field)
		}
	}
}

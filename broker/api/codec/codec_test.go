package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/codec"
)

func TestTolerantAndStrict(t *testing.T) {
	nest := func(depth int) string {
		return `{"more":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
	}
	for _, c := range []struct {
		what, text       string
		strict, tolerant string // part of the error; empty means that there is none
	}{
		{"known", `{"name":"x"}`, "", ""},
		{"unknown", `{"name":"x","zog":{"a":1}}`, "zog: unknown field", ""},
		{"null", `{"name":null}`, "name: must not be null", ""},
		{"twice", `{"name":"x","name":"y"}`, "name: is given twice", "name: is given twice"},
		{"trailing", `{"name":"x"} {}`, "not valid JSON", "not valid JSON"},
		{"wrong type", `{"name":1}`, "name: must be a string", "name: must be a string"},
		{"deep enough", nest(codec.MaxDepth), "", ""},
		{"too deep", nest(codec.MaxDepth + 1), "nests too deeply", "nests too deeply"},
	} {
		var in struct {
			Name string `json:"name"`
			More any    `json:"more"`
		}
		for how, got := range map[string][2]string{
			"Strict":   {c.strict, text(codec.Codec{}.Strict([]byte(c.text), &in))},
			"Tolerant": {c.tolerant, text(codec.Codec{}.Tolerant([]byte(c.text), &in))},
		} {
			if !strings.Contains(got[1], got[0]) || (got[0] == "") != (got[1] == "") {
				t.Errorf("%s: %s = %q, want %q", c.what, how, got[1], got[0])
			}
		}
	}
}

// text is that of a FieldError; an error of another kind may hold a value.
func text(err error) string {
	var f *codec.FieldError
	if err != nil && !errors.As(err, &f) {
		return "another kind of error"
	}
	if err != nil {
		return f.Error()
	}
	return ""
}

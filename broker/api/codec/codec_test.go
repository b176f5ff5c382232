package codec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/secret"
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

// A name is repeated as far as a field could have it: a secret may stand in its place. Every type says its form.
func TestFaultsNameTheFieldAndItsForm(t *testing.T) {
	long := strings.Repeat("n", 32)
	for name, told := range map[string]string{
		"azAZ09-_/.": "azAZ09-_/.", long: long, long + "n": "?", "": "?", "`": "?", "{": "?", "@": "?", "[": "?", "a:": "?", "a,": "?", "s3 cret": "?",
	} {
		var in map[string]int
		key, _ := json.Marshal(name)
		if got := text(codec.Codec{}.Strict([]byte(`{`+string(key)+`:"x"}`), &in)); got != told+": must be a whole number" {
			t.Errorf("field %q: %s", name, got)
		}
	}
	var in struct {
		Token secret.Text         `json:"token"`
		Name  string              `json:"name"`
		Also  *string             `json:"also"`
		On    bool                `json:"on"`
		N     int                 `json:"n"`
		Long  int64               `json:"long"`
		List  []string            `json:"list"`
		Inner struct{ A string }  `json:"inner"`
		Many  map[string]string   `json:"many"`
		Part  float64             `json:"part"`
		Deep  map[string][]string `json:"deep"`
	}
	for body, want := range map[string]string{
		`{"token":1}`: "token: must be a string", `{"name":1}`: "name: must be a string", `{"also":1}`: "also: must be a string",
		`{"on":1}`: "on: must be true or false", `{"n":"x"}`: "n: must be a whole number", `{"long":"x"}`: "long: must be a whole number",
		`{"list":1}`: "list: must be a list", `{"inner":1}`: "inner: must be an object", `{"many":1}`: "many: must be an object",
		`{"part":"x"}`: "part: must be of another form", `{"deep":{"a":["x",1]}}`: "deep.a.1: must be a string",
	} {
		if got := text(codec.Codec{}.Strict([]byte(body), &in)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// What a store kept is shown as it is, unless it would spoil the answer.
func TestWhatIsKeptIsShown(t *testing.T) {
	deep := strings.Repeat("[", codec.MaxDepth) + strings.Repeat("]", codec.MaxDepth)
	for kept, want := range map[string]bool{
		`{"a":null}`: true, "7": true, deep: true, "[" + deep + "]": false, "": false, " ": false, "{": false, "{} {}": false, `{"a":1,"a":2}`: false,
	} {
		got, ok := codec.Kept(kept)
		if ok != want || ok && string(got) != kept || !ok && got != nil {
			t.Errorf("Kept(%s) = %s, %t", kept, got, ok)
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

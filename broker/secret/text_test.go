package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"log"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/davecgh/go-spew/spew"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

const canary = "canary-3f9a1c77"

// spellings are what the canary looks like in the formats that do not print it
// as it is.
var spellings = []string{
	canary,
	fmt.Sprintf("%x", canary),
	fmt.Sprintf("%X", canary),
	fmt.Sprintf("%d", []byte(canary)),
	strings.Trim(fmt.Sprint([]byte(canary)), "[]"),
	"Y2FuYXJ5LTNmOWExYzc3", // base64
}

// holder has a secret in every kind of place.
type holder struct {
	Exported   secret.Text
	unexported secret.Text
	Pointer    *secret.Text
	pointer    *secret.Text
	Slice      []secret.Text
	array      [1]secret.Text
	Map        map[string]secret.Text
	asKey      map[*secret.Text]int
	Any        any
	any        any
	Nested     struct{ inner secret.Text }
	secret.Text
}

func newHolder() holder {
	t := secret.NewText(canary)
	return holder{
		Exported: t, unexported: t, Pointer: &t, pointer: &t,
		Slice: []secret.Text{t}, array: [1]secret.Text{t},
		Map: map[string]secret.Text{"k": t}, asKey: map[*secret.Text]int{&t: 1},
		Any: t, any: &t, Nested: struct{ inner secret.Text }{t}, Text: t,
	}
}

// TestTextPrintsNowhere puts a secret into everything that prints.
func TestTextPrintsNowhere(t *testing.T) {
	h := newHolder()
	type plain struct { // without the embedded Text, whose methods holder has
		Exported   secret.Text
		unexported secret.Text
		Pointer    *secret.Text
		asKey      map[*secret.Text]int
		Map        map[string]secret.Text
		any        any
	}
	p := plain{h.Exported, h.unexported, h.Pointer, h.asKey, h.Map, h.any}
	text := h.Exported
	values := map[string]any{
		"text": text, "*text": &text, "holder": h, "*holder": &h, "struct": p, "*struct": &p,
		"slice": []plain{p}, "map": map[string]*plain{"k": &p}, "any key": map[any]int{&text: 1},
	}
	for name, v := range values {
		for printer, print := range printers() {
			t.Run(name+"/"+printer, func(t *testing.T) {
				out := print(v)
				for _, s := range spellings {
					if strings.Contains(out, s) {
						t.Errorf("prints the secret: %s", out)
					}
				}
			})
		}
	}
}

// The test above can fail: each of its printers shows a string.
func TestPrintersShowAString(t *testing.T) {
	type shown struct{ S []string } // named, for XML
	for printer, print := range printers() {
		if strings.HasPrefix(printer, "fmt %") && strings.ContainsAny(printer[len(printer)-1:], "Tp") {
			continue // prints the type; refuses what is no pointer
		}
		out := print(shown{[]string{canary}})
		shown := false
		for _, s := range spellings {
			// Every width and precision leaves the first characters.
			shown = shown || strings.Contains(strings.ToLower(strings.ReplaceAll(out, " ", "")), strings.ToLower(s[:3]))
		}
		if !shown {
			t.Errorf("%s does not show a string: %s", printer, out)
		}
	}
}

func printers() map[string]func(v any) string {
	all := map[string]func(v any) string{
		"json":        func(v any) string { b, err := json.Marshal(v); return fmt.Sprint(string(b), err) },
		"json indent": func(v any) string { b, err := json.MarshalIndent(v, "", " "); return fmt.Sprint(string(b), err) },
		"xml":         func(v any) string { b, err := xml.Marshal(v); return fmt.Sprint(string(b), err) },
		"yaml":        func(v any) string { b, err := yaml.Marshal(v); return fmt.Sprint(string(b), err) },
		"gob": func(v any) string {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return fmt.Sprint(b.String(), err)
		},
		"slog text": func(v any) string {
			return logged(func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) }, v)
		},
		"slog json": func(v any) string {
			return logged(func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) }, v)
		},
		"log":           func(v any) string { var b bytes.Buffer; log.New(&b, "", 0).Print(v); return b.String() },
		"fmt.Sprint":    func(v any) string { return fmt.Sprint(v) + fmt.Sprintln(v) },
		"error":         func(v any) string { return fmt.Errorf("with %v: %w", v, errors.New("cause")).Error() },
		"template":      func(v any) string { return executed(template.Must(template.New("").Parse("{{.}}")), v) },
		"html template": func(v any) string { return executed(htmltemplate.Must(htmltemplate.New("").Parse("{{.}}")), v) },
		"spew":          func(v any) string { return spew.Sdump(v) + spew.Sprintf("%#+v", v) },
		"spew raw": func(v any) string {
			c := spew.ConfigState{DisableMethods: true, Indent: " "}
			return c.Sdump(v)
		},
		"cmp.Diff": func(v any) string {
			everything := cmp.Exporter(func(reflect.Type) bool { return true })
			return cmp.Diff(v, nil, everything) + cmp.Diff([]any{v}, []any{1}, everything)
		},
	}
	for _, flags := range []string{"", "+", "#", " ", "-20", "020", ".3"} {
		for _, verb := range "vTtbcdoOqxXUeEfFgGspw" {
			format := "%" + flags + string(verb)
			all["fmt "+format] = func(v any) string { return fmt.Sprintf(format, v) }
		}
	}
	return all
}

func logged(handler func(*bytes.Buffer) slog.Handler, v any) string {
	var b bytes.Buffer
	log := slog.New(handler(&b))
	log.With("with", v).Info("message", "attr", v, slog.Group("group", "any", v))
	return b.String()
}

func executed(t interface {
	Execute(w io.Writer, v any) error
}, v any,
) string {
	var b bytes.Buffer
	err := t.Execute(&b, v)
	return fmt.Sprint(b.String(), err)
}

// The redaction itself: what people see.
func TestTextPrintsAsRedacted(t *testing.T) {
	for _, text := range []secret.Text{secret.NewText(canary), secret.NewText(""), {}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if got := fmt.Sprintf(format, text); got != "[secret]" {
				t.Errorf("Sprintf(%q) = %q, want [secret]", format, got)
			}
		}
		if b, err := json.Marshal(text); string(b) != `"[secret]"` || err != nil {
			t.Errorf("json.Marshal = %s, %v", b, err)
		}
		if b, err := yaml.Marshal(text); string(b) != "'[secret]'\n" || err != nil {
			t.Errorf("yaml.Marshal = %s, %v", b, err)
		}
		if text.String() != "[secret]" || text.GoString() != "[secret]" {
			t.Errorf("String, GoString = %q, %q", text.String(), text.GoString())
		}
	}
}

func TestTextLeavesOutWhenEmpty(t *testing.T) {
	v := struct {
		A secret.Text `json:"a,omitzero" yaml:"a,omitempty"`
		B secret.Text `json:"b,omitzero" yaml:"b,omitempty"`
	}{B: secret.NewText(canary)}
	if b, err := json.Marshal(v); string(b) != `{"b":"[secret]"}` || err != nil {
		t.Errorf("json.Marshal = %s, %v", b, err)
	}
	if b, err := yaml.Marshal(v); string(b) != "b: '[secret]'\n" || err != nil {
		t.Errorf("yaml.Marshal = %s, %v", b, err)
	}
}

func TestTextHoldsItsSecret(t *testing.T) {
	text := secret.NewText(canary)
	if text.Reveal() != canary || text.Empty() {
		t.Errorf("NewText(c): Reveal is c: %t, Empty = %t", text.Reveal() == canary, text.Empty())
	}
	for name, empty := range map[string]secret.Text{"zero": {}, "of nothing": secret.NewText("")} {
		if empty.Reveal() != "" || !empty.Empty() || !empty.IsZero() {
			t.Errorf("the text %s is not empty", name)
		}
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{{canary, canary, true}, {canary, canary + "x", false}, {canary, "", false}, {"", "", true}, {"a", "b", false}} {
		if got := secret.NewText(tc.a).Equal(secret.NewText(tc.b)); got != tc.want {
			t.Errorf("NewText(%q).Equal(NewText(%q)) = %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
	if diff := cmp.Diff(newHolder().Slice, []secret.Text{secret.NewText(canary)}); diff != "" {
		t.Errorf("cmp.Diff of equal texts = %s", diff)
	}
}

package strictyaml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// settings are one value of each kind.
type settings struct {
	Text     string
	Secret   string
	Flag     bool
	Count    int
	Duration time.Duration
	Texts    []string
	Object   jsontext.Value
	Section  string
}

// TestWhatReadersTake sets a value where it is of its kind, and leaves what was there where it is not.
func TestWhatReadersTake(t *testing.T) {
	was := settings{Text: "was", Secret: "was", Flag: true, Count: 7, Duration: time.Hour, Texts: []string{"was"}, Object: jsontext.Value(`"was"`), Section: "was"}
	const whole, positive = "must be a whole number, 0 or more", "must be a duration above zero, like 90s, 30m or 8h"
	for value, c := range map[string]struct {
		key   string
		want  any
		fault string
	}{
		"b":                {"text", "b", ""},
		"'1'":              {"text", "1", ""},
		"1":                {"text", "was", "must be a string"},
		"[b]":              {"text", "was", "must be a string"},
		"c4n4ry":           {"secret", "c4n4ry", ""},
		"''":               {"secret", "was", ""},
		"true":             {"flag", true, ""},
		"False":            {"flag", false, ""},
		"yes please":       {"flag", true, "must be true or false"},
		"0":                {"count", 0, ""},
		"12":               {"count", 12, ""},
		"-1":               {"count", 7, whole},
		"0x10":             {"count", 7, whole},
		"1.5":              {"count", 7, whole},
		"90s":              {"duration", 90 * time.Second, ""},
		"1ns":              {"duration", time.Nanosecond, ""},
		"0s":               {"duration", time.Hour, positive},
		"-1s":              {"duration", time.Hour, positive},
		"90":               {"duration", time.Hour, "must be a duration like 90s, 30m or 8h"},
		"9 seconds":        {"duration", time.Hour, positive},
		"[x, y]":           {"texts", []string{"x", "y"}, ""},
		"[]":               {"texts", []string(nil), ""},
		"[x, 1]":           {"texts", []string{"x", ""}, "must be a string"},
		"x":                {"texts", []string(nil), "must be a list"},
		"{b: [1, x], a: }": {"object", jsontext.Value(`{"a":null,"b":[1,"x"]}`), ""},
		"[1]":              {"object", jsontext.Value(`"was"`), "must be a mapping of keys to values"},
		"{a: .nan}":        {"object", jsontext.Value(`"was"`), "holds what JSON cannot say"},
		"{b: c}":           {"section", "c", ""},
		"{c: b}":           {"section", "was", "unknown key; known here: b"},
		"~":                {"section", "was", ""},
		"[b, c]":           {"section", "was", "must be a mapping of keys to values"},
		"{x: y}":           {"texts", []string(nil), "must be a list"},
		"c":                {"section", "was", "must be a mapping of keys to values"},
	} {
		got, hidden := was, secret.NewText(was.Secret)
		d := &strictyaml.Document{Name: "f"}
		d.Mapping(d.Parse([]byte(c.key+": "+value+"\n")), "", strictyaml.Fields{
			"text": d.Text(&got.Text), "secret": d.Secret(&hidden), "flag": d.Flag(&got.Flag), "count": d.Count(&got.Count),
			"duration": d.Duration(&got.Duration), "texts": d.Texts(&got.Texts), "object": d.Object(&got.Object),
			"section": d.Section(strictyaml.Fields{"b": d.Text(&got.Section)}),
		})
		got.Secret = hidden.Reveal()
		want := was
		field := reflect.ValueOf(&want).Elem().FieldByName(strings.ToUpper(c.key[:1]) + c.key[1:])
		field.Set(reflect.ValueOf(c.want))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s is read as %+v", c.key, value, got)
		}
		fault := ""
		if len(d.Faults) > 0 {
			fault = d.Faults[0].Text
		}
		if len(d.Faults) > 1 || !strings.HasPrefix(fault, c.fault) || (fault == "") != (c.fault == "") {
			t.Errorf("%s: %s has the faults %+v, want %q", c.key, value, d.Faults, c.fault)
		}
	}
}

// TestAnObjectWithAKeyTwice is read from a node that nobody has checked.
func TestAnObjectWithAKeyTwice(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("{a: 1, a: 2}"), &doc); err != nil {
		t.Fatal(err)
	}
	got, d := jsontext.Value(`"was"`), &strictyaml.Document{Name: "f"}
	d.Object(&got)(doc.Content[0], "o")
	if said := d.Err().Error(); said != "f: o (line 1): must be a mapping of keys to values" || string(got) != `"was"` {
		t.Errorf("it is read as %s, with the faults %s", got, said)
	}
}

// TestOddities are found in documents of other programs, each with its key, and with nothing of a value.
func TestOddities(t *testing.T) {
	for text, want := range map[string]string{
		"a: [b, {c: d}]":       "",
		"a: {1: b, x: 1}":      "",
		"a: {b: 1}\nc: {b: 2}": "",
		"[[]]":                 "",
		"[[[]]]":               "",
		"a: [[[x]]]":           "a nests more than 3 deep",
		"[[[[]]]]":             "",
		"[[[[x]]]]":            " nests more than 3 deep",
		"a: &x c4n4ry":         "a holds an anchor or alias; write the value itself",
		"a: !!binary c4n4ry":   "a holds an explicit tag; leave it out",
		"a: {1.5: c4n4ry}":     "1.5 holds a key that is no string; put it in quotes, and write merged values out",
		"a: {? [c] : b}":       " holds a key that is no string; put it in quotes, and write merged values out",
		"a: {b: 1, b: 2}":      "b holds a key twice; keep one",
		"<<: {a: b}":           "<< holds a key that is no string; put it in quotes, and write merged values out",
		"a: 1\nb: [c, c]":      "",
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(text, err)
		}
		got := ""
		if odd := strictyaml.Odd(doc.Content[0], 3); odd != nil {
			got = odd.Key + " " + odd.Text
		}
		if got != want || strings.Contains(got, canary) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	anchored := &yaml.Node{Kind: yaml.AliasNode, Alias: &yaml.Node{Kind: yaml.ScalarNode, Value: canary}}
	if odd := strictyaml.Odd(anchored, 3); odd == nil || odd.Node != anchored {
		t.Errorf("an alias is %+v", odd)
	}
}

// TestChildren are looked up in mappings alone.
func TestChildren(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("a: b\nb: [a, c]\nc: a"), &doc); err != nil {
		t.Fatal(err)
	}
	root := doc.Content[0]
	if got := strictyaml.Child(root, "b"); got != root.Content[3] {
		t.Errorf("b is %+v", got)
	}
	if got := strictyaml.Child(root, "c"); got != root.Content[5] {
		t.Errorf("c is %+v", got)
	}
	for name, none := range map[string]*yaml.Node{
		"no such key": strictyaml.Child(root, "d"), "a list": strictyaml.Child(root.Content[3], "a"), "nothing": strictyaml.Child(nil, "a"),
	} {
		if none != nil {
			t.Errorf("%s has a child %+v", name, none)
		}
	}
}

// TestPrintableKeys are of 40 bytes at most, on one line.
func TestPrintableKeys(t *testing.T) {
	forty := strings.Repeat("k", 40)
	for s, want := range map[string]string{
		"a\nb": "a?b", forty: forty, forty + "x": forty + "…", strings.Repeat("k", 39) + "é": strings.Repeat("k", 39) + "…", "é": "é",
	} {
		if got := strictyaml.Printable(s); got != want {
			t.Errorf("Printable(%q) = %q, want %q", s, got, want)
		}
	}
}

// TestAFaultWithoutALineNamesNone: a node that was made, not read, has no line.
func TestAFaultWithoutALineNamesNone(t *testing.T) {
	d := &strictyaml.Document{Name: "f"}
	d.Mapping(d.Parse([]byte("a:\n  b: 1\n")), "", strictyaml.Fields{"a": d.Section(strictyaml.Fields{"b": strictyaml.Ignore})})
	d.Fault(&yaml.Node{}, "a.b.c", "is odd")
	d.Fault(&yaml.Node{Line: 1}, "a", "is odd")
	if got, want := d.Err().Error(), "f: a.b.c: is odd; a (line 1): is odd"; got != want {
		t.Errorf("faults = %q, want %q", got, want)
	}
	for text, c := range map[string][2]string{
		"# nothing": {"f: is empty", "f: is empty"},
		"a: &x b":   {"f: a (line 1): holds an anchor or alias; write the value itself", "f:1: a: holds an anchor or alias; write the value itself"},
		strings.Repeat("[", 40) + strings.Repeat("]", 40): {"f: " + strings.Repeat("[0]", 17) + " (line 1): nests deeper than 16 levels", "f:1: " + strings.Repeat("[0]", 17) + ": nests deeper than 16 levels"},
	} {
		d := &strictyaml.Document{Name: "f"}
		d.Parse([]byte(text))
		var faults *strictyaml.Faults
		if err := d.Err(); err.Error() != c[0] || !errors.As(err, &faults) || len(faults.Lines) != 1 || faults.Lines[0] != c[1] {
			t.Errorf("faults of %s = %v, by lines %q, want %q", text, err, faults.Lines, c)
		}
	}
	list := &strictyaml.Document{Name: "f"}
	list.Mapping(list.Parse([]byte("a:\n  - b\n  - c\n")), "", strictyaml.Fields{"a": list.Texts(new([]string))})
	list.Fault(nil, "a[1].x", "is odd")
	if got := list.Faults[0].Line; got != 3 {
		t.Errorf("the fault of what stands in the second item is of line %d", got)
	}
	if d.Faults[0].Line != 2 {
		t.Errorf("the fault of what stands in a.b is of line %d", d.Faults[0].Line)
	}
}

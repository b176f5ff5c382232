package strictyaml_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// canary stands where secrets may stand, keys included, and must be in no fault.
const canary = "c4n4ry"

// A document that could mean more than it shows is not read at all, whoever wrote it.
func TestWhatMeansMoreThanItShowsIsNotRead(t *testing.T) {
	for name, c := range map[string]struct{ text, at, words string }{
		"nothing":            {"# a comment\n", "", "is empty"},
		"no YAML":            {"a: [" + canary, "", "is not YAML at or near line 1"},
		"no text":            {"a: \x01" + canary, "", "is not YAML"},
		"two documents":      {"a: b\n---\nc: d\n", "", "more than one YAML document"},
		"an empty second":    {"a: b\n---\n", "", "more than one YAML document"},
		"an anchor":          {"a: {b: &x " + canary + "}\n", "a.b", "an anchor or alias"},
		"an alias":           {"a: [c, &x d, *x]\n", "a[1]", "an anchor or alias"},
		"a merge":            {"a: b\n<<: {c: " + canary + "}\n", "", "a key that is no string"},
		"a number as a key":  {"a: {7: b}\n", "a", "a key that is no string"},
		"a mapping as a key": {"? {a: b}\n: c\n", "", "a key that is no string"},
		"a key twice":        {"a:\n  b: 1\n  b: 2\n", "a.b", "stands here twice"},
		"a known tag":        {"a: !!binary aGk=\n", "a", "an explicit tag"},
		"a tag of its own":   {"a: !x " + canary + "\n", "a", "an explicit tag"},
		"depth":              {"a: " + strings.Repeat("[", 17) + strings.Repeat("]", 17) + "\n", "a" + strings.Repeat("[0]", 16), "nests deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			own := &strictyaml.Document{Name: "f"}
			if own.Parse([]byte(c.text)) != nil || len(own.Faults) == 0 {
				t.Fatal("Parse took it")
			}
			if f := own.Faults[0]; f.At != c.at || !strings.Contains(f.Text, c.words) || strings.HasSuffix(f.Text, "line ") {
				t.Errorf("first fault = %+v, want %q at %q", f, c.words, c.at)
			}
			foreign := &strictyaml.Document{Root: "field", Foreign: true}
			if foreign.Parse([]byte(c.text)) != nil || len(foreign.Faults) == 0 || foreign.Faults[0].At != "field" {
				t.Errorf("Parse of a foreign document notes %+v, want a fault of the whole", foreign.Faults)
			}
			if strings.Contains(own.Err().Error()+foreign.Err().Error(), canary) {
				t.Error("a fault repeats a value")
			}
		})
	}
	d := &strictyaml.Document{}
	if d.Parse([]byte("a: "+strings.Repeat("[", 15)+"b"+strings.Repeat("]", 15))) == nil {
		t.Errorf("Parse refuses what nests 16 levels: %v", d.Err())
	}
}

// A key of a foreign document may be a token in the wrong place.
func TestUnknownKeysOfForeignDocumentsAreNotRepeated(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		d := &strictyaml.Document{Root: "field", Foreign: foreign}
		d.Mapping(d.Parse([]byte("a: {"+canary+": 1}\n")), d.Root, strictyaml.Fields{"a": d.Section(strictyaml.Fields{"b": strictyaml.Ignore})})
		if len(d.Faults) != 1 || d.Faults[0].Line != 1 || strings.Contains(d.Err().Error(), canary) == foreign {
			t.Errorf("foreign %v: faults %+v", foreign, d.Faults)
		}
	}
}

func TestFaultsAreGatheredWithTheirLines(t *testing.T) {
	var number int
	var text string
	var read bool
	d := &strictyaml.Document{Name: "f.yaml"}
	d.Mapping(d.Parse([]byte("n: -1\nt: 7\nm:\nl: {}\ns: []\n")), "", strictyaml.Fields{
		"n": d.Count(&number), "t": d.Text(&text),
		"m": d.Section(strictyaml.Fields{"k": func(*yaml.Node, string) { read = true }}), // null: an empty mapping
		"l": d.Texts(new([]string)),
		"s": d.Section(nil),
	})
	d.Fault(nil, "m.k", "is missing")
	d.Fault(nil, "s[3].x", "is odd")
	const want = "f.yaml: n (line 1): must be a whole number, 0 or more; " +
		"t (line 2): must be a string (in quotes if it looks like a number, a date or true, or is empty); l (line 4): must be a list; s (line 5): must be a mapping of keys to values; m.k: is missing; s[3].x: is odd"
	if got := d.Err().Error(); got != want || read {
		t.Errorf("Err = %s\nwant  %s", got, want)
	}
	lines := d.Err().(*strictyaml.Faults).Lines //nolint:errorlint // Err wraps nothing
	if len(lines) != 6 || lines[4] != "f.yaml:3: m.k: is missing" || lines[5] != "f.yaml:5: s[3].x: is odd" {
		t.Errorf("Lines = %q", lines)
	}
}

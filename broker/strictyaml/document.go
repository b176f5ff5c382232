// Package strictyaml reads YAML that people and other programs wrote, strictly: one
// document, nothing that means more than it shows, no key that is not expected.
package strictyaml

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML document. It gathers faults instead of stopping at the
// first. No fault repeats a value: the value may be a secret in the wrong place.
type Document struct {
	// Name is the file as the person named it; [Document.Err] begins with it.
	Name string
	// Root is the prefix of the paths of faults; empty for a file of its own.
	Root string
	// Foreign says that somebody else wrote the document. An unknown key is then not
	// repeated in a fault either: in a garbled document it may be a token.
	Foreign bool
	// Faults are the faults, in the order of the document if possible.
	Faults []Defect
	// lines are where the keys stand that were read.
	lines map[string]int
}

// Defect is one thing that is wrong with a document.
type Defect struct {
	// At is the dotted key, or the document's root for the document as a whole.
	At string
	// Line is where it stands in the document; 0 if that is not known.
	Line int
	// Text says what is wrong, and what to do about it.
	Text string
	// spoken: the fault names its line to a reader who sees no lines.
	spoken bool
}

// Faults is everything that is wrong with a document. Error has it in one line.
type Faults struct {
	text string
	// Lines has each fault on its own, behind file and line.
	Lines []string
}

func (f *Faults) Error() string { return f.text }

// Fields lists the keys that a mapping may hold, each with what reads its value.
type Fields map[string]ReadValue

// ReadValue reads one value; at is its dotted key.
type ReadValue func(n *yaml.Node, at string)

// Ignore reads nothing.
func Ignore(*yaml.Node, string) {}

// Fault notes what is wrong at a key and what to do about it. n may be nil.
func (d *Document) Fault(n *yaml.Node, at, format string, args ...any) {
	f := Defect{At: at, Line: d.lineOf(at), Text: fmt.Sprintf(format, args...)}
	if n != nil && n.Line > 0 {
		f.Line, f.spoken = n.Line, true
	}
	d.Faults = append(d.Faults, f)
}

func (d *Document) note(at string, line int, message string) {
	d.Faults = append(d.Faults, Defect{At: at, Line: line, Text: message, spoken: line > 0})
}

// Err is all faults as a [*Faults], or nil.
func (d *Document) Err() error {
	if len(d.Faults) == 0 {
		return nil
	}
	texts, lines := make([]string, len(d.Faults)), make([]string, len(d.Faults))
	for i, f := range d.Faults {
		place, at := d.Name, f.At
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		lines[i] = place + ": " + label(at) + f.Text
		if f.spoken {
			at = strings.TrimSpace(fmt.Sprintf("%s (line %d)", at, f.Line))
		}
		texts[i] = label(at) + f.Text
	}
	return &Faults{text: d.Name + ": " + strings.Join(texts, "; "), Lines: lines}
}

func label(at string) string {
	if at == "" {
		return ""
	}
	return at + ": "
}

// lineOf is where a key stands, or what it stands in; 0 if the file has neither.
func (d *Document) lineOf(at string) int {
	for at != "" {
		if line := d.lines[at]; line > 0 {
			return line
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return 0
}

func (d *Document) remember(at string, n *yaml.Node) {
	if d.lines == nil {
		d.lines = make(map[string]int)
	}
	d.lines[at] = n.Line
}

// Mapping reads a mapping's values with the readers that its keys name.
func (d *Document) Mapping(n *yaml.Node, at string, allowed Fields) {
	d.Pairs(n, at, func(key, value *yaml.Node, path string) {
		if read, ok := allowed[key.Value]; ok {
			read(value, path)
			return
		}
		d.Unknown(key, at, slices.Sorted(maps.Keys(allowed)))
	})
}

// Unknown notes a key that a mapping cannot have.
func (d *Document) Unknown(key *yaml.Node, at string, known []string) {
	if d.Foreign {
		d.Fault(key, at, "holds a key that is not known here")
		return
	}
	d.Fault(key, d.under(at, key.Value), "unknown key; known here: %s", strings.Join(known, ", "))
}

// Pairs calls each for every pair of a mapping. Null is an empty mapping.
func (d *Document) Pairs(n *yaml.Node, at string, each func(key, value *yaml.Node, path string)) {
	if IsNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.Fault(n, at, "must be a mapping of keys to values")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		path := d.under(at, n.Content[i].Value)
		d.remember(path, n.Content[i])
		each(n.Content[i], n.Content[i+1], path)
	}
}

// List calls each for every item of a list.
func (d *Document) List(n *yaml.Node, at string, each ReadValue) {
	if n.Kind != yaml.SequenceNode {
		d.Fault(n, at, "must be a list")
		return
	}
	for i, child := range n.Content {
		path := item(at, i)
		d.remember(path, child)
		each(child, path)
	}
}

// IsNull reports whether a value is null, or is not there behind its key.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Child is the value of a key in a mapping; nil if there is none, or no mapping.
func Child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func (d *Document) under(at, key string) string {
	return strings.TrimPrefix(at+"."+Printable(key), ".")
}

func item(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) }

// Printable keeps a key from outside short and on one line.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

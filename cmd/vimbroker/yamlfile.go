package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// maxFile bounds every file that a command reads whole.
const maxFile = 1 << 20

// document is one YAML file that is read strictly: one document, no anchors, no
// key twice, no key that is not expected. It gathers faults instead of stopping
// at the first. No fault repeats a value: the value may be a secret that stands
// in the wrong place.
type document struct {
	// name is the file as the person named it.
	name   string
	faults []string
}

// fields lists the keys that a mapping may hold, each with what reads its value.
type fields map[string]reader

// reader reads one value; at is its dotted key.
type reader func(n *yaml.Node, at string)

// parse splits the text into nodes; the answer is nil if that is not possible,
// and a fault says why.
func (d *document) parse(text []byte) *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.faults = append(d.faults, "the file is empty")
		return nil
	case err != nil:
		// The parser's own words may quote the text around the fault.
		d.faults = append(d.faults, "not YAML"+yamlLine(err))
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		d.faults = append(d.faults, "holds more than one YAML document; keep one")
		return nil
	}
	if len(root.Content) != 1 {
		d.faults = append(d.faults, "the file is empty")
		return nil
	}
	return root.Content[0]
}

// yamlLine finds the line number in a parser's error.
func yamlLine(err error) string {
	_, rest, found := strings.Cut(err.Error(), "line ")
	digits := strings.TrimLeft(rest, "0123456789")
	if number := rest[:len(rest)-len(digits)]; found && number != "" {
		return " at or near line " + number
	}
	return ""
}

// fault notes what is wrong at a key and what to do about it.
func (d *document) fault(n *yaml.Node, at, format string, args ...any) {
	where := at
	if n != nil && n.Line > 0 {
		where = fmt.Sprintf("%s (line %d)", at, n.Line)
	}
	d.faults = append(d.faults, where+": "+fmt.Sprintf(format, args...))
}

// err is all faults in one line, or nil.
func (d *document) err() error {
	if len(d.faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", d.name, strings.Join(d.faults, "; "))
}

// mapping reads a mapping's values with the readers that its keys name.
func (d *document) mapping(n *yaml.Node, at string, allowed fields) {
	known := slices.Sorted(maps.Keys(allowed))
	d.pairs(n, at, func(key, value *yaml.Node, path string) {
		read, ok := allowed[key.Value]
		if !ok {
			d.fault(key, path, "unknown key; known here: %s", strings.Join(known, ", "))
			return
		}
		read(value, path)
	})
}

// pairs calls each for every pair of a mapping with distinct, plain keys.
func (d *document) pairs(n *yaml.Node, at string, each func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		d.fault(n, orWhole(at), "must be a mapping of keys to values, without anchors")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := strings.TrimPrefix(at+"."+printable(key.Value), ".")
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || key.Anchor != "":
			d.fault(key, orWhole(at), "keys must be plain words; merge keys and anchors are not read")
		case seen[key.Value]:
			d.fault(key, path, "the key stands here twice; keep one")
		default:
			seen[key.Value] = true
			each(key, value, path)
		}
	}
}

// scalar returns a plain value's text; null and everything that is no scalar are faults.
func (d *document) scalar(n *yaml.Node, at, want string, tags ...string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || !slices.Contains(tags, n.ShortTag()) {
		d.fault(n, at, "must be %s", want)
		return "", false
	}
	return n.Value, true
}

// text reads a string. A number or a boolean that was meant as one needs quotes.
func (d *document) text(to *string) reader {
	return func(n *yaml.Node, at string) {
		if s, ok := d.scalar(n, at, "a string (in quotes if it looks like a number or is empty)", "!!str"); ok {
			*to = s
		}
	}
}

// sensitive reads a string that is a secret.
func (d *document) sensitive(to *secret.Text) reader {
	return func(n *yaml.Node, at string) {
		var s string
		if d.text(&s)(n, at); s != "" {
			*to = secret.NewText(s)
		}
	}
}

// flag reads true or false.
func (d *document) flag(to *bool) reader {
	return func(n *yaml.Node, at string) {
		if s, ok := d.scalar(n, at, "true or false", "!!bool"); ok {
			*to = strings.EqualFold(s, "true")
		}
	}
}

// count reads a whole number that is not negative.
func (d *document) count(to *int) reader {
	return func(n *yaml.Node, at string) {
		s, ok := d.scalar(n, at, "a whole number, 0 or more", "!!int")
		if !ok {
			return
		}
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 {
			d.fault(n, at, "must be a whole number, 0 or more")
			return
		}
		*to = i
	}
}

// duration reads a positive duration in Go's form.
func (d *document) duration(to *time.Duration) reader {
	return func(n *yaml.Node, at string) {
		s, ok := d.scalar(n, at, "a duration like 90s, 30m or 8h", "!!str")
		if !ok {
			return
		}
		t, err := time.ParseDuration(s)
		if err != nil || t <= 0 {
			d.fault(n, at, "must be a duration above zero, like 90s, 30m or 8h")
			return
		}
		*to = t
	}
}

// texts reads a list of strings.
func (d *document) texts(to *[]string) reader {
	return func(n *yaml.Node, at string) {
		*to = nil
		d.list(n, at, func(item *yaml.Node, path string) {
			var s string
			d.text(&s)(item, path)
			*to = append(*to, s)
		})
	}
}

// object reads a mapping of anything as a JSON object.
func (d *document) object(to *jsontext.Value) reader {
	return func(n *yaml.Node, at string) {
		members := map[string]any{}
		d.pairs(n, at, func(key, value *yaml.Node, path string) { members[key.Value] = d.anything(value, path) })
		text, err := json.Marshal(members, json.Deterministic(true))
		if err != nil { // a number that JSON does not have
			d.fault(n, at, "holds what JSON cannot say")
			return
		}
		*to = text
	}
}

// anything reads a value of whatever kind, without anchors.
func (d *document) anything(n *yaml.Node, at string) any {
	switch n.Kind {
	case yaml.MappingNode:
		members := map[string]any{}
		d.pairs(n, at, func(key, value *yaml.Node, path string) { members[key.Value] = d.anything(value, path) })
		return members
	case yaml.SequenceNode:
		items := []any{}
		d.list(n, at, func(item *yaml.Node, path string) { items = append(items, d.anything(item, path)) })
		return items
	}
	var value any
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Decode(&value) != nil {
		d.fault(n, at, "must be a plain value; anchors are not read")
	}
	return value
}

// list calls each for every item of a list.
func (d *document) list(n *yaml.Node, at string, each reader) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		d.fault(n, at, "must be a list")
		return
	}
	for i, item := range n.Content {
		each(item, fmt.Sprintf("%s[%d]", at, i))
	}
}

// section reads a mapping with fixed keys.
func (d *document) section(allowed fields) reader {
	return func(n *yaml.Node, at string) { d.mapping(n, at, allowed) }
}

func orWhole(at string) string {
	if at == "" {
		return "the file"
	}
	return at
}

// printable keeps a key from outside short and on one line.
func printable(s string) string {
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

// readFile reads a file of at most [maxFile] bytes; "-" is standard input.
func readFile(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	return text, nil
}

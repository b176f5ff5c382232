// Package files reads the files that people hand over: strict YAML, kubeconfigs,
// VIM files of OpenStack Tacker, and private files.
package files

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

// Document is one YAML file that is read strictly: one document, no anchors, no
// key twice, no key that is not expected. It gathers faults instead of stopping
// at the first. No fault repeats a value: the value may be a secret that stands
// in the wrong place.
type Document struct {
	// Name is the file as the person named it.
	Name   string
	Faults []string
	// report has the faults once more, each with file and line.
	report []string
	// lines are where the keys stand that were read.
	lines map[string]int
}

// Faults is everything that is wrong with a document. Error has it in one line.
type Faults struct {
	text string
	// Lines has each fault on its own, behind file and line.
	Lines []string
}

func (f *Faults) Error() string { return f.text }

// Fields lists the keys that a mapping may hold, each with what reads its value.
type Fields map[string]reader

// reader reads one value; at is its dotted key.
type reader func(n *yaml.Node, at string)

// Parse splits the text into nodes; the answer is nil if that is not possible,
// and a fault says why.
func (d *Document) Parse(text []byte) *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.whole(0, "the file is empty")
		return nil
	case err != nil:
		// The parser's own words may quote the text around the fault.
		d.whole(0, "not YAML"+yamlLine(err))
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		d.whole(second.Line, "holds more than one YAML document; keep one")
		return nil
	}
	if len(root.Content) != 1 {
		d.whole(0, "the file is empty")
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

// Fault notes what is wrong at a key and what to do about it.
func (d *Document) Fault(n *yaml.Node, at, format string, args ...any) {
	where, message, line := at, fmt.Sprintf(format, args...), d.lineOf(at)
	if n != nil && n.Line > 0 {
		line = n.Line
		where = fmt.Sprintf("%s (line %d)", at, n.Line)
	}
	d.Faults = append(d.Faults, where+": "+message)
	d.report = append(d.report, place(d.Name, line)+": "+at+": "+message)
}

// whole notes a fault of the file as a whole.
func (d *Document) whole(line int, message string) {
	d.Faults = append(d.Faults, message)
	d.report = append(d.report, place(d.Name, line)+": "+message)
}

// place names a line of a file, as compilers do; line 0 is not known.
func place(name string, line int) string {
	if line == 0 {
		return name
	}
	return name + ":" + strconv.Itoa(line)
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

// Err is all faults as a [*Faults], or nil.
func (d *Document) Err() error {
	if len(d.Faults) == 0 {
		return nil
	}
	return &Faults{text: d.Name + ": " + strings.Join(d.Faults, "; "), Lines: d.report}
}

// Mapping reads a mapping's values with the readers that its keys name.
func (d *Document) Mapping(n *yaml.Node, at string, allowed Fields) {
	known := slices.Sorted(maps.Keys(allowed))
	d.Pairs(n, at, func(key, value *yaml.Node, path string) {
		read, ok := allowed[key.Value]
		if !ok {
			d.Fault(key, path, "unknown key; known here: %s", strings.Join(known, ", "))
			return
		}
		read(value, path)
	})
}

// Pairs calls each for every pair of a mapping with distinct, plain keys.
func (d *Document) Pairs(n *yaml.Node, at string, each func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		d.Fault(n, OrWhole(at), "must be a mapping of keys to values, without anchors")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := strings.TrimPrefix(at+"."+Printable(key.Value), ".")
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || key.Anchor != "":
			d.Fault(key, OrWhole(at), "keys must be plain words; merge keys and anchors are not read")
		case seen[key.Value]:
			d.Fault(key, path, "the key stands here twice; keep one")
		default:
			seen[key.Value] = true
			d.remember(path, key)
			each(key, value, path)
		}
	}
}

// scalar returns a plain value's text; null and everything that is no scalar are faults.
func (d *Document) scalar(n *yaml.Node, at, want string, tags ...string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || !slices.Contains(tags, n.ShortTag()) {
		d.Fault(n, at, "must be %s", want)
		return "", false
	}
	return n.Value, true
}

// Text reads a string. A number or a boolean that was meant as one needs quotes.
func (d *Document) Text(to *string) reader {
	return func(n *yaml.Node, at string) {
		if s, ok := d.scalar(n, at, "a string (in quotes if it looks like a number or is empty)", "!!str"); ok {
			*to = s
		}
	}
}

// sensitive reads a string that is a secret.
func (d *Document) sensitive(to *secret.Text) reader {
	return func(n *yaml.Node, at string) {
		var s string
		if d.Text(&s)(n, at); s != "" {
			*to = secret.NewText(s)
		}
	}
}

// Flag reads true or false.
func (d *Document) Flag(to *bool) reader {
	return func(n *yaml.Node, at string) {
		if s, ok := d.scalar(n, at, "true or false", "!!bool"); ok {
			*to = strings.EqualFold(s, "true")
		}
	}
}

// Count reads a whole number that is not negative.
func (d *Document) Count(to *int) reader {
	return func(n *yaml.Node, at string) {
		s, ok := d.scalar(n, at, "a whole number, 0 or more", "!!int")
		if !ok {
			return
		}
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 {
			d.Fault(n, at, "must be a whole number, 0 or more")
			return
		}
		*to = i
	}
}

// Duration reads a positive duration in Go's form.
func (d *Document) Duration(to *time.Duration) reader {
	return func(n *yaml.Node, at string) {
		s, ok := d.scalar(n, at, "a duration like 90s, 30m or 8h", "!!str")
		if !ok {
			return
		}
		t, err := time.ParseDuration(s)
		if err != nil || t <= 0 {
			d.Fault(n, at, "must be a duration above zero, like 90s, 30m or 8h")
			return
		}
		*to = t
	}
}

// Texts reads a list of strings.
func (d *Document) Texts(to *[]string) reader {
	return func(n *yaml.Node, at string) {
		*to = nil
		d.List(n, at, func(item *yaml.Node, path string) {
			var s string
			d.Text(&s)(item, path)
			*to = append(*to, s)
		})
	}
}

// object reads a mapping of anything as a JSON object.
func (d *Document) object(to *jsontext.Value) reader {
	return func(n *yaml.Node, at string) {
		members := map[string]any{}
		d.Pairs(n, at, func(key, value *yaml.Node, path string) { members[key.Value] = d.anything(value, path) })
		text, err := json.Marshal(members, json.Deterministic(true))
		if err != nil { // a number that JSON does not have
			d.Fault(n, at, "holds what JSON cannot say")
			return
		}
		*to = text
	}
}

// anything reads a value of whatever kind, without anchors.
func (d *Document) anything(n *yaml.Node, at string) any {
	switch n.Kind {
	case yaml.MappingNode:
		members := map[string]any{}
		d.Pairs(n, at, func(key, value *yaml.Node, path string) { members[key.Value] = d.anything(value, path) })
		return members
	case yaml.SequenceNode:
		items := []any{}
		d.List(n, at, func(item *yaml.Node, path string) { items = append(items, d.anything(item, path)) })
		return items
	}
	var value any
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Decode(&value) != nil {
		d.Fault(n, at, "must be a plain value; anchors are not read")
	}
	return value
}

// List calls each for every item of a list.
func (d *Document) List(n *yaml.Node, at string, each reader) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		d.Fault(n, at, "must be a list")
		return
	}
	for i, item := range n.Content {
		path := fmt.Sprintf("%s[%d]", at, i)
		d.remember(path, item)
		each(item, path)
	}
}

// Section reads a mapping with fixed keys.
func (d *Document) Section(allowed Fields) reader {
	return func(n *yaml.Node, at string) { d.Mapping(n, at, allowed) }
}

func OrWhole(at string) string {
	if at == "" {
		return "the file"
	}
	return at
}

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

// ReadNamed reads a regular file of at most [maxFile] bytes that another file or the
// configuration names. A pipe or device is refused: opening one can block for ever.
func ReadNamed(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; name a file", name)
	}
	return ReadFile(name, nil)
}

// ReadFile reads a file of at most [maxFile] bytes that a person names; "-" is
// standard input.
func ReadFile(name string, stdin io.Reader) ([]byte, error) {
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

package manifests

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// Limits of reading.
const (
	maxObjects = 10_000
	// maxText bounds all manifests of a package, in bytes.
	maxText = 32 << 20
	// maxSigns bounds the signs of one document that could each begin another value:
	// a parsed value takes a hundred times the room of its sign.
	maxSigns = 400_000
	// maxDepth bounds how deep a manifest nests. Schemas of definitions nest some thirty deep.
	// An answer nests a few levels deeper, and is read up to 64.
	maxDepth = 56
)

// document is one document of a manifest: an object, or a List of objects.
type document struct {
	file string
	// line is where it begins, from 1.
	line int
	root *yaml.Node
}

// fault is a fault of a document. n, if not nil, says in which line.
func (d document) fault(n *yaml.Node, format string, args ...any) error {
	line := d.line
	if n != nil && n.Line > 0 {
		line += n.Line - 1
	}
	return &broker.Error{Kind: broker.ErrInvalid, Detail: fmt.Sprintf("%s:%d: ", d.file, line) + fmt.Sprintf(format, args...)}
}

// documents splits files into documents and parses each. Nothing in them means more than it
// shows: no anchors, aliases, merge keys, explicit tags or keys that stand twice.
func documents(files []lifecycle.Manifest, each func(document) error) error {
	total := 0
	for _, f := range files {
		text := f.Text.Reveal()
		if total += len(text); total > maxText {
			return &broker.Error{Kind: broker.ErrInvalid, Detail: fmt.Sprintf("the manifests hold more than %d MiB", maxText>>20)}
		}
		for line, part := range split(text) {
			d := document{file: f.Path, line: line}
			if err := d.parse(part); err != nil {
				return err
			}
			if d.root == nil {
				continue
			}
			if err := each(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// split calls yield with each document of a file, and the line that it begins in. A
// document begins with a line that begins with "---" (YAML 1.2.2, section 9.1.2).
func split(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		begin, first, line := 0, 1, 0
		for at := 0; at < len(text); {
			line++
			end := len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			if marks(text[at:end]) && at > begin {
				if !yield(first, text[begin:at]) {
					return
				}
				begin, first = at, line
			}
			at = end
		}
		if begin < len(text) {
			yield(first, text[begin:])
		}
	}
}

func marks(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// parse sets the root; nil for a document that holds nothing.
func (d *document) parse(text string) error {
	signs := strings.Count(text, "\n") + strings.Count(text, ",") + strings.Count(text, ":") +
		strings.Count(text, "[") + strings.Count(text, "{") + strings.Count(text, "- ")
	if signs > maxSigns {
		return d.fault(nil, "is too large for one object")
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return d.unreadable(err) // the parser's own words may quote the text
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return d.fault(nil, `is not YAML, or holds a second document that does not begin with a line "---"`)
	}
	if len(root.Content) != 1 || root.Content[0].Kind == yaml.ScalarNode && root.Content[0].ShortTag() == "!!null" {
		return nil
	}
	if odd := strictyaml.Odd(root.Content[0], maxDepth); odd != nil {
		return d.fault(odd.Node, "%s", odd.Text)
	}
	if root.Content[0].Kind != yaml.MappingNode {
		return d.fault(root.Content[0], "must be a mapping of keys to values")
	}
	d.root = root.Content[0]
	return nil
}

var lineOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bline (\d{1,7})`) })

// unreadable is the fault of a text that is not YAML.
func (d document) unreadable(err error) error {
	at := &yaml.Node{Line: 1}
	if m := lineOf().FindStringSubmatch(err.Error()); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
	}
	return d.fault(at, "is not YAML at or near this line")
}

// textual are the keys whose values hold texts alone, so that a number that a variable
// stands for is a text there.
var textual = map[string]bool{
	"annotations": true, "data": true, "labels": true, "matchLabels": true, "nodeSelector": true, "stringData": true,
}

// value turns a node into what JSON can say. vars is nil where variables are not substituted.
func (d document) value(n *yaml.Node, vars variables, text bool) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			v, err := d.value(n.Content[i+1], vars, text || textual[key] || key == "value")
			if err != nil {
				return nil, err
			}
			m[key] = v
		}
		return m, nil
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, child := range n.Content {
			v, err := d.value(child, vars, text)
			if err != nil {
				return nil, err
			}
			l[i] = v
		}
		return l, nil
	}
	return d.scalar(n, vars, text)
}

func (d document) scalar(n *yaml.Node, vars variables, text bool) (any, error) {
	if n.ShortTag() == "!!str" && vars != nil {
		filled, err := vars.fill(n.Value)
		if err != nil {
			return nil, d.fault(n, "%v", err)
		}
		if filled == n.Value || text || n.Style != 0 {
			return filled, nil
		}
		// An unquoted value may have become a number or a boolean.
		if again := (&yaml.Node{Kind: yaml.ScalarNode, Value: filled}); again.ShortTag() == "!!int" || again.ShortTag() == "!!bool" {
			n = &yaml.Node{Kind: yaml.ScalarNode, Value: filled, Line: n.Line}
		} else {
			return filled, nil
		}
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		var i int64
		if err := n.Decode(&i); err != nil {
			return nil, d.fault(n, "holds a number that is too large")
		}
		return i, nil
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, d.fault(n, "holds a number that JSON cannot say")
		}
		return f, nil
	}
	return n.Value, nil // a text, or what only looks like a date
}

package strictyaml

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep a document nests; a kubeconfig needs five, a configuration six.
const maxDepth = 16

// Parse returns the root of the text's one document. It returns nil, and notes
// why, unless the text means what it shows: no anchors, aliases, merge keys,
// explicit tags, keys that stand twice or are no strings.
func (d *Document) Parse(text []byte) *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.note(d.Root, 0, "is empty")
		return nil
	case err != nil:
		// The parser's own words may quote the text around the fault.
		d.note(d.Root, 0, "is not YAML"+nearLine(err))
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		d.note(d.Root, second.Line, "holds more than one YAML document; keep one")
		return nil
	}
	if len(root.Content) != 1 {
		d.note(d.Root, 0, "is empty")
		return nil
	}
	if d.plain(root.Content[0], d.Root, 0); len(d.Faults) > 0 {
		return nil
	}
	return root.Content[0]
}

func nearLine(err error) string {
	_, rest, _ := strings.Cut(err.Error(), "line ")
	digits := strings.TrimLeft(rest, "0123456789")
	if number := rest[:len(rest)-len(digits)]; number != "" {
		return " at or near line " + number
	}
	return ""
}

// plain notes everything in n that could make it mean something else than it shows.
func (d *Document) plain(n *yaml.Node, at string, depth int) {
	switch {
	case depth > maxDepth:
		d.structure(n, at, "nests deeper than 16 levels")
		return
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		d.structure(n, at, "holds an anchor or alias; write the value itself")
	case n.Style&yaml.TaggedStyle != 0:
		d.structure(n, at, "holds an explicit tag; leave it out")
	}
	seen := make(map[string]bool)
	for i, child := range n.Content {
		path := at
		switch {
		case n.Kind == yaml.SequenceNode:
			path = item(at, i)
		case i%2 == 1:
			path = d.under(at, n.Content[i-1].Value)
		default:
			key := d.under(at, child.Value)
			switch {
			case child.ShortTag() != "!!str":
				d.structure(child, at, "holds a key that is no string: merge keys are not read, and what looks like a number needs quotes")
			case seen[child.Value]:
				d.structure(child, key, "the key stands here twice; keep one")
			}
			seen[child.Value] = true
		}
		d.plain(child, path, depth+1)
	}
}

// structure notes a fault of the document's structure. In a foreign document even a
// key may be a misplaced secret, so only the line says where.
func (d *Document) structure(n *yaml.Node, at, message string) {
	if d.Foreign {
		at = d.Root
	}
	d.note(at, n.Line, message)
}

// Oddity is a construct that could make a document mean something else than it shows.
type Oddity struct {
	Node *yaml.Node
	// Key is the odd key, or the key of an odd value; empty if there is none.
	Key string
	// Text says what is odd, and what to do about it. No value is in it.
	Text string
}

// Odd finds the first oddity in a node, or nil: an anchor or alias, an explicit tag, a key that
// stands twice or is neither text nor whole number (a merge key), or a depth of more than most. It
// is for documents of other programs' forms; [Document.Parse] reads our own, more strictly.
func Odd(n *yaml.Node, most int) *Oddity { return odd(n, "", most, most) }

func odd(n *yaml.Node, under string, left, most int) *Oddity {
	switch {
	case left < 0:
		return &Oddity{n, under, fmt.Sprintf("nests more than %d deep", most)}
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return &Oddity{n, under, "holds an anchor or alias; write the value itself"}
	case n.Style&yaml.TaggedStyle != 0:
		return &Oddity{n, under, "holds an explicit tag; leave it out"}
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			under = Printable(child.Value)
			if t := child.ShortTag(); child.Kind != yaml.ScalarNode || t != "!!str" && t != "!!int" {
				return &Oddity{child, under, "holds a key that is no string; put it in quotes, and write merged values out"}
			}
			if seen[child.Value] {
				return &Oddity{child, under, "holds a key twice; keep one"}
			}
			seen[child.Value] = true
		}
		if found := odd(child, under, left-1, most); found != nil {
			return found
		}
	}
	return nil
}

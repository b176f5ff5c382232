package strictyaml

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

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

package rebuild

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
)

// maxDepth bounds how deep a document nests; a kubeconfig needs five, a clouds.yaml four.
const maxDepth = 16

// Document parses text as exactly one YAML document without anchors,
// aliases, merge keys, tags of its own or duplicate keys. field names it in errors, which
// quote nothing of it: any line may hold a credential.
func Document(field, text string) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		return nil, broker.Invalid(field, "is not YAML%s", yamlLine(err))
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, broker.Invalid(field, "holds more than one YAML document")
	}
	root := doc.Content[0]
	if err := plain(field, root, 0); err != nil {
		return nil, err
	}
	return root, nil
}

var lineNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (line [0-9]+):`) })

func yamlLine(err error) string {
	if m := lineNumber().FindStringSubmatch(err.Error()); m != nil {
		return ", " + m[1]
	}
	return ""
}

// plainTags are what a scalar of such a file can be without saying so.
var plainTags = map[string]bool{
	"!!str": true, "!!bool": true, "!!int": true, "!!float": true, "!!null": true, "!!timestamp": true,
}

// plain refuses everything in n that could make it mean something else than it shows.
func plain(field string, n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return broker.Invalid(field, "nests deeper than %d", maxDepth)
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return broker.Invalid(field, "holds an anchor or alias in line %d", n.Line)
	case n.Style&yaml.TaggedStyle != 0:
		return broker.Invalid(field, "holds an explicit tag in line %d", n.Line)
	case n.Kind == yaml.ScalarNode && !plainTags[n.ShortTag()]:
		return broker.Invalid(field, "holds a value in line %d that is no plain scalar", n.Line)
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case child.Kind != yaml.ScalarNode || child.ShortTag() != "!!str":
				return broker.Invalid(field, "holds a key in line %d that is no string", child.Line)
			case seen[child.Value]:
				return broker.Invalid(field, "holds a key twice, the second time in line %d", child.Line)
			}
			seen[child.Value] = true
		}
		if err := plain(field, child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// ErrUnknown is what a taker of [Members] says to a key that it does not know.
var ErrUnknown = errors.New("unknown key")

// Members calls take for each key of a mapping with the path of its value. A
// node that is no mapping is invalid; a null is an empty one. A key that take does
// not know is not quoted in the error: in a garbled document it could be a token.
func Members(path string, n *yaml.Node, take func(key, path string, value *yaml.Node) error) error {
	if IsNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return broker.Invalid(path, "is not a mapping")
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		err := take(key.Value, path+"."+key.Value, n.Content[i+1])
		if errors.Is(err, ErrUnknown) {
			return broker.Invalid(path, "holds a field in line %d that is not known here", key.Line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Text returns the string that n is; a number or boolean is none.
func Text(path string, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", broker.Invalid(path, "is not a string; a number, a date, true or null is one in quotes")
	}
	return n.Value, nil
}

package tosca

import (
	"cmp"
	_ "embed"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

type object = map[string]any

//go:embed types.yaml
var typesText []byte

// schema is what types.yaml says.
type schema struct {
	Forms map[string]struct {
		Like    string
		Matches *regexp.Regexp
	}
	Common map[string]object
	Types  map[string]struct {
		VDU, Link, Rule string
		Shows           bool
		IsLink          bool `yaml:"isLink"`
		Requirements    []string
		Properties      any
		Artifacts       object
	}
}

var types = sync.OnceValue(func() (s schema) {
	if err := yaml.Unmarshal(typesText, &s); err != nil {
		panic(err) // it is part of the program
	}
	return s
})

// pairs are the keys and values of a mapping; none of anything else.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

func child(n *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(n) {
		if k.Value == key {
			return v
		}
	}
	return nil
}

func scalar(n *yaml.Node, key string) string {
	if c := child(n, key); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

var functions = []string{"concat", "join", "token", "get_attribute", "get_operation_output", "get_nodes_of_type", "get_artifact"}

// maxDepth bounds how deep a descriptor nests; maxSteps and maxValues are bounds with what functions stand for.
const maxDepth, maxSteps, maxValues = 40, 120, 2_000_000

// resolve puts in place of functions, in n and below, the values that they stand for; null for one that is not known.
func (t *translation) resolve(n *yaml.Node, self string, left int) {
	if t.values++; t.values > maxValues {
		return
	} else if left == 0 || t.values == maxValues {
		t.values = maxValues
		t.fault(n, "get_input and get_property lead from one to the next without end, or to too many values")
		return
	}
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Value != "get_input" && n.Content[0].Value != "get_property" {
		for i, value := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				t.resolve(value, self, left-1)
			} else if len(n.Content) == 2 && slices.Contains(functions, value.Value) {
				t.fault(n, "the function %s is not evaluated; write its value", value.Value)
			}
		}
		return
	}
	to, arg, line := (*yaml.Node)(nil), n.Content[1], n.Line
	if n.Content[0].Value == "get_input" {
		to = t.input(n, arg)
		t.from[n] = arg.Value
	} else if to = t.property(arg, self); to == nil {
		t.fault(n, "get_property names no property of a node template: [NODE, PROPERTY]")
	} else if arg.Content[0].Value != "SELF" {
		self = arg.Content[0].Value
	}
	*n = *cmp.Or(to, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
	n.Line = line
	t.resolve(n, self, left-1)
}

func (t *translation) input(at, arg *yaml.Node) *yaml.Node {
	declared, name := child(t.inputs, arg.Value), vnfpkg.Printable(arg.Value)
	given, is := t.with.Inputs[arg.Value]
	switch {
	case arg.Kind != yaml.ScalarNode || declared == nil:
		t.fault(at, "get_input names an input that is not declared: %s", name)
	case is:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: given}
	case child(declared, "default") != nil:
		return child(declared, "default")
	case !t.with.Loose:
		t.fault(at, "the input %s has no value; give it as a variable", name)
	}
	return nil
}

// property is the value of [NODE, PROPERTY, MEMBER...], or nil.
func (t *translation) property(arg *yaml.Node, self string) *yaml.Node {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) < 2 {
		return nil
	}
	if name := arg.Content[0].Value; name != "SELF" {
		self = name
	}
	template := child(t.templates, self)
	n := child(child(template, "properties"), arg.Content[1].Value)
	if d := t.top.Default(scalar(template, "type"), arg.Content[1].Value); n == nil && !d.IsZero() {
		n = &d
	}
	for _, member := range arg.Content[2:] {
		n = child(n, member.Value)
	}
	return n
}

// read reads a value of a form: a text, a number, a list or an object. Null, which is not known or not said, is nil.
func (t *translation) read(of string, n *yaml.Node, form any) any {
	text, isText := form.(string)
	name, needed := strings.CutSuffix(text, "!")
	switch members, isObject := form.(object); {
	case name == "any":
	case n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		if needed && !t.with.Loose {
			t.fault(n, "%s is missing", of)
		}
	case isText && n.Kind == yaml.ScalarNode:
		return t.plain(of, n, name)
	case n.Kind == yaml.SequenceNode && !isText && !isObject:
		var all []any
		for _, item := range n.Content {
			if v := t.read(of, item, form.([]any)[0]); v != nil {
				all = append(all, v)
			}
		}
		return all
	case isObject && n.Kind == yaml.MappingNode:
		out := object{}
		for key, value := range pairs(n) {
			of := of + ": " + vnfpkg.Printable(key.Value)
			inner, known := members[key.Value]
			if !known {
				inner, known = members["*"]
			}
			if known {
				out[key.Value] = t.read(of, value, inner)
			} else {
				t.fault(key, "%s is not translated; leave it out", of)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if child(n, key) == nil {
				t.read(of+": "+key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line}, members[key])
			}
		}
		return out
	default:
		t.fault(n, "%s has a value of another form", of)
	}
	return nil
}

// plain is a scalar of a form.
func (t *translation) plain(of string, n *yaml.Node, form string) any {
	if known, is := types().Forms[form]; is {
		if !known.Matches.MatchString(n.Value) {
			t.fault(n, "%s must be %s", of, known.Like)
			return nil
		}
		return n.Value
	}
	from, to, _ := strings.Cut(form, "-")
	least, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		if !slices.Contains(strings.Split(form, "|"), n.Value) {
			t.fault(n, "%s can only be %s here", of, strings.ReplaceAll(form, "|", ", "))
		}
		return n.Value
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if most, _ := strconv.ParseInt(to, 10, 64); err != nil || v < least || v > most {
		t.fault(n, "%s must be a whole number from %s to %s", of, from, to)
	}
	return v
}

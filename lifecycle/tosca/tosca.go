// Package tosca translates descriptors to Kubernetes manifests: Tacker's simple profile, and containers of ETSI GS
// NFV-SOL001. The same input always gives the same bytes. types.yaml says what is translated, manifests.tmpl to what.
package tosca

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// Options say for what a descriptor is translated: for an instantiation level, or the default one, and with values of the
// topology's inputs in place of their defaults.
type Options struct {
	Level  string
	Inputs map[string]string
	// Loose: an input without a value is no fault. The manifests then show what would be made, and are not to be applied.
	Loose bool
}

// Translation is what a descriptor becomes: objects as YAML, and warnings without values.
type Translation struct {
	Manifests []byte
	Warnings  []string
}

// translation is a translation at work. The first fault in the order of the file is the one that is told.
type translation struct {
	top               vnfpkg.Topology
	flavour           vnfpkg.Flavour
	with              Options
	inputs, templates *yaml.Node
	from              map[*yaml.Node]string // the inputs that values come from
	values, line      int                   // that were resolved; of the first fault
	err               error
	order             []*node
	nodes             map[string]*node
	links, bound      map[string][]*node // the connection points at a virtual link, and of a VDU
	names             map[string]string
	rules             map[string]object // of policies, by VDU
	made              map[string]bool
	out               *yaml.Encoder
	warnings          []string
}

// node is a node template.
type node struct {
	name, kind       string
	at, whole        *yaml.Node
	props, artifacts object
	needs            map[string][]string
}

// Translate makes manifests of a flavour. Its error is a [*vnfpkg.PackageError].
func Translate(top vnfpkg.Topology, f vnfpkg.Flavour, with Options) (Translation, error) {
	var out bytes.Buffer
	t := &translation{
		top: top, flavour: f, with: with, from: map[*yaml.Node]string{}, nodes: map[string]*node{}, links: map[string][]*node{},
		bound: map[string][]*node{}, rules: map[string]object{}, made: map[string]bool{}, out: yaml.NewEncoder(&out),
	}
	t.out.SetIndent(2)
	whole := child(top.Root, "topology_template")
	t.inputs, t.templates = child(whole, "inputs"), child(whole, "node_templates")
	for name := range with.Inputs {
		if child(t.inputs, name) == nil {
			t.fault(top.Root, "there is no input %s, for which a variable is given", vnfpkg.Printable(name))
		}
	}
	if odd := strictyaml.Odd(top.Root, maxDepth); odd != nil {
		t.fault(odd.Node, "%s", odd.Text)
	} else if _, known := f.Levels[with.Level]; with.Level != "" && !known {
		t.fault(top.Root, "the flavour has no level %s", vnfpkg.Printable(with.Level))
	} else if t.read("topology_template", whole, types().Common["topology"]); t.err == nil {
		t.collect()
	}
	if t.err == nil {
		t.policies(child(whole, "policies"), child(whole, "groups"))
	}
	for i := 0; t.err == nil && i < len(t.order); i++ {
		t.translate(t.order[i])
	}
	if len(t.made) == 0 && t.err == nil {
		t.fault(top.Root, "it describes no container")
	}
	if t.err != nil {
		return Translation{}, t.err
	}
	return Translation{out.Bytes(), t.warnings}, t.out.Close()
}

func (t *translation) fault(n *yaml.Node, format string, args ...any) {
	if t.err == nil || n.Line < t.line {
		says := fmt.Sprintf("cannot be translated to manifests: line %d: "+format, append([]any{n.Line}, args...)...)
		t.line, t.err = n.Line, &vnfpkg.PackageError{Path: t.top.File, Detail: says}
	}
}

// whole reads a template, a policy or a group, whose type begins with a prefix. kind is the type of types.yaml that it is.
func (t *translation) whole(prefix string, key, value *yaml.Node) (all object, kind string) {
	of := scalar(value, "type")
	for known := range types().Types {
		if strings.HasPrefix(known, prefix) && t.top.Is(of, known) {
			kind = known
		}
	}
	if kind == "" {
		t.fault(key, "%s is of type %s, which is not translated", vnfpkg.Printable(key.Value), vnfpkg.Printable(of))
		return nil, ""
	}
	t.resolve(value, key.Value, maxSteps)
	form, props := maps.Clone(types().Common[prefix]), child(value, "properties")
	form["properties"], form["artifacts"] = types().Types[kind].Properties, types().Types[kind].Artifacts
	if props == nil {
		props = &yaml.Node{Kind: yaml.MappingNode, Line: key.Line}
		value.Content = append(value.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "properties"}, props)
	}
	members, _ := form["properties"].(object)
	for name := range members { // those that the type has by default
		if d := t.top.Default(of, name); !d.IsZero() && child(props, name) == nil {
			props.Content = append(props.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name, Line: key.Line}, &d)
		}
	}
	if t.values < maxValues {
		all, _ = t.read(key.Value, value, form).(object)
	}
	return all, kind
}

// collect reads the node templates, and what leads from one to another.
func (t *translation) collect() {
	var named []string
	for key, value := range pairs(t.templates) {
		if t.top.Is(scalar(value, "type"), "tosca.nodes.nfv.VNF") {
			continue // it is the identity, which is not of the containers
		}
		all, kind := t.whole("tosca.nodes.", key, value)
		n := &node{key.Value, kind, key, value, get[object](all, "properties"), get[object](all, "artifacts"), map[string][]string{}}
		t.nodes[n.name], t.order = n, append(t.order, n)
		if named = append(named, n.name); t.flavour.VDUs[n.name].Name != "" {
			named, t.rules[n.name] = append(named, t.flavour.VDUs[n.name].Name), object{}
		}
	}
	t.names = labels(named)
	for _, n := range t.order {
		t.require(n)
	}
}

// require reads the requirements of a template: [{NAME: NODE}], or [{NAME: {node: NODE}}].
func (t *translation) require(n *node) {
	of, list := types().Types[n.kind], child(n.whole, "requirements")
	for i := 0; list != nil && i < len(list.Content); i++ {
		for key, to := range pairs(list.Content[i]) {
			if to.Kind == yaml.MappingNode {
				to = child(to, "node")
			}
			switch name := vnfpkg.Printable(key.Value); {
			case key.Value == "" || key.Value != of.VDU && key.Value != of.Link && !slices.Contains(of.Requirements, key.Value):
				t.fault(key, "%s: the requirement %s is not translated; leave it out", n.name, name)
			case to == nil || t.nodes[to.Value] == nil || key.Value == of.VDU && t.flavour.VDUs[to.Value].Name == "":
				t.fault(key, "%s: the requirement %s names no node template, or one of another kind", n.name, name)
			default:
				n.needs[key.Value] = append(n.needs[key.Value], to.Value)
				if at := map[string]map[string][]*node{of.VDU: t.bound, of.Link: t.links}[key.Value]; at != nil {
					at[to.Value] = append(at[to.Value], n)
				}
			}
		}
	}
}

//go:embed manifests.tmpl
var templateText string

var manifests = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("manifests").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"cut": func(pair string) []string { // "80:8080", or "80" for both
			left, right, both := strings.Cut(pair, ":")
			if !both {
				right = left
			}
			return []string{left, strings.TrimSpace(right)}
		},
		"size": func(v any) string { // 512M of "512 MB"
			return strings.NewReplacer(" ", "", "B", "", "<nil>", "").Replace(fmt.Sprint(v))
		},
	}).Parse(templateText))
})

// write adds the objects that the template makes of a node template. Two of one kind and name are a fault.
func (t *translation) write(n *node, of object) {
	var text bytes.Buffer
	err := manifests().Execute(&text, of)
	for in := yaml.NewDecoder(&text); ; {
		var made object
		if err = cmp.Or(err, in.Decode(&made)); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.fault(n.at, "%s: its objects cannot be written: is a label there twice?", n.name)
			return
		}
		name := fmt.Sprint(made["kind"], " ", get[object](made, "metadata")["name"])
		if t.made[name] {
			t.fault(n.at, "%s: its %s is another's too; give them names that differ in more than signs", n.name, name)
		}
		t.made[name], err = true, t.out.Encode(prune(made))
	}
}

// prune leaves out members that say nothing.
func prune(v any) any {
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			v[key] = prune(inner)
		}
		if maps.DeleteFunc(v, func(_ string, inner any) bool { return inner == nil }); len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

var unfit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// labels gives each name a DNS label of its own: itself in small letters with dashes, if that loses nothing and is no
// other's, or else with a part of its hash behind it. It depends on no order. The cluster puts more behind a name.
func labels(names []string) map[string]string {
	slices.Sort(names)
	same, out := map[string]int{}, map[string]string{}
	for _, name := range slices.Compact(names) {
		c := strings.Trim(unfit().ReplaceAllString(strings.ToLower(name), "-"), "-")
		if c == "" || c[0] <= '9' {
			c = strings.TrimSuffix("n-"+c, "-")
		}
		out[name], same[c] = c, same[c]+1
	}
	for name, c := range out {
		if name != c && (same[c] > 1 || strings.ReplaceAll(strings.ToLower(name), "_", "-") != c) || len(c) > 40 {
			sum := sha256.Sum256([]byte(name))
			out[name] = strings.TrimRight(c[:min(len(c), 31)], "-") + "-" + hex.EncodeToString(sum[:4])
		}
	}
	return out
}

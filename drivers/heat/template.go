package heat

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	// maxNesting bounds how deep templates refer to one another: Heat's own default is 5.
	maxNesting = 10
	// maxDeclared bounds the resources that all templates of a flavour declare: Heat's own default for a stack.
	maxDeclared = 1000
	// maxTemplate bounds one template, in bytes: Heat's own default.
	maxTemplate = 512 << 10
	// maxDepth bounds how deep a template nests, in itself.
	maxDepth = 56
)

// sections are the keys of a HOT.
var sections = []string{"heat_template_version", "description", "parameter_groups", "parameters", "resources", "outputs", "conditions"}

// fetching are the types whose properties have Heat read a template that is not looked at here.
var fetching = []string{"AWS::CloudFormation::Stack", "OS::Heat::ResourceChain", "OS::Heat::Stack"}

// members are the properties in which types of groups say what their members are.
var members = map[string]string{"OS::Heat::ResourceGroup": "resource_def", "OS::Heat::AutoScalingGroup": "resource"}

// hot is the base HOT of a flavour, as far as the driver has to know it.
type hot struct {
	// top is the path of the template that the others belong to.
	top string
	// files are the files that templates refer to, by the names that they use.
	files map[string]string
	// resources are those of the top template, in its order.
	resources []declared
	// parameters are those that the top template declares: true where one has a default.
	parameters map[string]bool
	// asked lists the paths that the top template reads from the parameter nfv.
	asked [][]string
	// kinds are the types of all resources, images what they name as such, outright.
	kinds, images map[string]bool
	// values are the texts that resources' properties hold, secrets those that secret parameters default to.
	values, secrets map[string]bool
	// hidden are the parameters of the top template that it marks so.
	hidden map[string]bool
	texts  map[string]string
	// loaded are the names of resources in and below each template that was taken in.
	loaded map[string]map[string]bool
	// pieces are the resources of all templates, and the members of groups.
	pieces []piece
	// defaults are those of the top template's parameters.
	defaults map[string]*yaml.Node
	// declared counts the resources of all templates.
	declared int
	// wave is the one that a resource of the top template declares for the stack, by waveKey in its metadata.
	wave *int
}

// waveKey is the annotation that puts objects of manifests into waves.
const waveKey = "vimbroker.io/wave"

// inWave takes in the wave that a resource declares for the stack.
func (h *hot) inWave(body *yaml.Node) error {
	said := at(at(body, "metadata"), waveKey)
	if said == nil {
		return nil
	}
	n, err := strconv.ParseInt(said.Value, 10, 16)
	if wave := int(n); err == nil && (h.wave == nil || *h.wave == wave) {
		h.wave = &wave
		return nil
	}
	return fault(h.top, said.Line, "must give %s as a whole number, the same for all resources: a stack is made in one wave", waveKey)
}

// declared is a resource of a template.
type declared struct {
	name, kind string
	// conditional: whether it is made Heat decides.
	conditional bool
	// within are the names of resources in its nested templates, and its own.
	within map[string]bool
}

// fault is the error of a template, in line if that is not 0.
func fault(file string, line int, format string, args ...any) error {
	where := file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", file, line)
	}
	return &broker.Error{
		Kind: broker.ErrInvalid, Detail: where + " " + fmt.Sprintf(format, args...), Remedy: "correct the template in the package",
	}
}

// read reads the templates of a flavour.
func read(manifests []lifecycle.Manifest, flavour string) (*hot, error) {
	h := &hot{
		files: map[string]string{}, parameters: map[string]bool{}, kinds: map[string]bool{}, images: map[string]bool{},
		values: map[string]bool{}, secrets: map[string]bool{}, hidden: map[string]bool{}, texts: map[string]string{},
		loaded: map[string]map[string]bool{}, defaults: map[string]*yaml.Node{},
	}
	for _, m := range manifests {
		h.texts[m.Path] = m.Text.Reveal()
	}
	root := folder + flavour
	var tops []string
	for p := range h.texts {
		if path.Dir(p) == root && isTemplate(p) {
			tops = append(tops, p)
		}
	}
	slices.Sort(tops)
	// The top one is the only one that no other refers to.
	referred := map[string]bool{}
	for _, p := range tops {
		n, err := h.parse(p)
		if err != nil {
			return nil, err
		}
		for _, r := range references(n) {
			if at := h.resolve(root, p, r.text); at != "" && at != p {
				referred[at] = true
			}
		}
	}
	tops = slices.DeleteFunc(tops, func(p string) bool { return referred[p] })
	if len(tops) != 1 {
		return nil, &broker.Error{
			Kind: broker.ErrInvalid, Detail: fmt.Sprintf("%s has %d templates that no other refers to, and must have one", root, len(tops)),
			Remedy: "put nested templates under " + root + "/nested",
		}
	}
	h.top = tops[0]
	if _, err := h.load(root, h.top, 0); err != nil {
		return nil, err
	}
	return h, nil
}

func isTemplate(p string) bool {
	return strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") || strings.HasSuffix(p, ".template")
}

// parse reads one template, in YAML or JSON. Heat's reader takes the last of two keys, and follows aliases and merge keys:
// a text that it would read differently is refused.
func (h *hot) parse(p string) (*yaml.Node, error) {
	text := h.texts[p]
	switch {
	case len(text) > maxTemplate:
		return nil, fault(p, 0, "is longer than %d KiB", maxTemplate>>10)
	case !utf8.ValidString(text):
		return nil, fault(p, 0, "is not text")
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fault(p, 0, "is not a template in YAML")
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fault(p, second.Line, "holds more than one document; keep one")
	}
	top := doc.Content[0]
	if odd := strictyaml.Odd(top, maxDepth); odd != nil {
		return nil, fault(p, odd.Node.Line, "%s (key %s)", odd.Text, odd.Key)
	}
	for i := 0; i < len(top.Content); i += 2 {
		if key := top.Content[i]; !slices.Contains(sections, key.Value) {
			return nil, fault(p, key.Line, "has a section that no HOT has: %s; leave it out", printable(key.Value))
		}
	}
	return top, nil
}

// walk calls each for every value below a node, with the key that it stands under in a mapping, or "".
func walk(n *yaml.Node, each func(key string, n *yaml.Node)) {
	for i, c := range n.Content {
		key := ""
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key = n.Content[i-1].Value
		}
		each(key, c)
		walk(c, each)
	}
}

// at is the value of a key in a mapping, or nil.
var at = strictyaml.Child

// reference is a file that a template refers to.
type reference struct {
	text     string
	template bool
	line     int
}

// references are the files that a template refers to: types that are templates, and get_file.
func references(n *yaml.Node) []reference {
	var all []reference
	walk(n, func(key string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			return
		}
		switch {
		case key == "type" && (isTemplate(n.Value) || strings.Contains(n.Value, "://")):
			all = append(all, reference{n.Value, true, n.Line})
		case key == "get_file":
			all = append(all, reference{n.Value, false, n.Line})
		}
	})
	return all
}

// resolve finds a file that a template names: beside it, under nested, or at the root; "" if there is none.
func (h *hot) resolve(root, from, name string) string {
	for _, dir := range []string{path.Dir(from), root + "/nested", root} {
		p := path.Join(dir, name)
		if _, ok := h.texts[p]; ok && strings.HasPrefix(p, root+"/") {
			return p
		}
	}
	return ""
}

// load takes in a template and the files that it refers to, once. It returns the names of the resources in it
// and below.
func (h *hot) load(root, p string, depth int) (map[string]bool, error) {
	if names, done := h.loaded[p]; done {
		return names, nil
	}
	if depth > maxNesting {
		return nil, fault(p, 0, "is nested deeper than %d templates", maxNesting)
	}
	n, err := h.parse(p)
	if err != nil {
		return nil, err
	}
	below := map[int]map[string]bool{} // the resources of a nested template, by the line that refers to it
	for _, r := range references(n) {
		file := h.resolve(root, p, r.text)
		switch {
		case strings.Contains(r.text, "://"):
			return nil, fault(p, r.line, "refers to an URL, and Heat is to fetch nothing; put the file into the package")
		case file == "":
			return nil, fault(p, r.line, "refers to a file that is not under %s: %s", root, printable(r.text))
		case !utf8.ValidString(h.texts[file]):
			return nil, fault(file, 0, "is not text")
		}
		if was, ok := h.files[r.text]; ok && was != h.texts[file] {
			return nil, fault(p, r.line, "refers to %s, and another template means another file by that name", printable(r.text))
		}
		h.files[r.text] = h.texts[file]
		if r.template {
			if below[r.line], err = h.load(root, file, depth+1); err != nil {
				return nil, err
			}
		}
	}
	names, err := h.declare(p, n, below)
	h.loaded[p] = names
	return names, err
}

// hides finds what has Heat read a template that is not named outright: at a URL, perhaps. Nil where there is nothing.
func hides(body *yaml.Node) (found *yaml.Node) {
	look := func(_ string, n *yaml.Node) {
		kind := at(n, "type")
		if kind == nil || kind.Kind != yaml.ScalarNode {
			return
		}
		if property := members[kind.Value]; property != "" {
			of := at(at(at(n, "properties"), property), "type")
			if of == nil || of.Kind != yaml.ScalarNode {
				found = n
			}
		}
		if slices.Contains(fetching, kind.Value) {
			found = n
		}
	}
	look("", body)
	walk(body, look)
	return found
}

// isHidden reports whether a template marks a parameter so. A value that is neither true nor false counts as
// true: Heat decides whether it takes that.
func isHidden(parameter *yaml.Node) bool {
	mark := at(parameter, "hidden")
	return mark != nil && !slices.Contains([]string{"false", "f", "no", "n", "off", "0"}, strings.ToLower(mark.Value))
}

// hide keeps every text in a value out of messages.
func (h *hot) hide(value *yaml.Node) {
	each := func(_ string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			h.secrets[n.Value] = true
		}
	}
	each("", value)
	walk(value, each)
}

// declare takes in the resources and parameters of a template.
func (h *hot) declare(p string, n *yaml.Node, below map[int]map[string]bool) (map[string]bool, error) {
	resources := at(n, "resources")
	if resources == nil || resources.Kind != yaml.MappingNode || len(resources.Content) == 0 {
		return nil, fault(p, n.Line, "has no resources")
	}
	if h.declared += len(resources.Content) / 2; h.declared > maxDeclared {
		return nil, fault(p, resources.Line, "is one resource too many: all templates together may have %d", maxDeclared)
	}
	names := map[string]bool{}
	for i := 0; i+1 < len(resources.Content); i += 2 {
		key, body := resources.Content[i], resources.Content[i+1]
		kind := at(body, "type")
		if kind == nil || kind.Kind != yaml.ScalarNode || printable(key.Value) != key.Value || strings.Contains(key.Value, "/") {
			return nil, fault(p, key.Line, "has a resource without a type, or with a name that Heat does not take")
		}
		d := declared{name: key.Value, kind: kind.Value, conditional: at(body, "condition") != nil, within: map[string]bool{key.Value: true}}
		if !isTemplate(kind.Value) {
			h.kinds[kind.Value] = true
		}
		if hiding := hides(body); hiding != nil {
			return nil, fault(p, hiding.Line,
				"has Heat work out which template to read; write the type out, and nested templates as types of resources")
		}
		h.pieces = append(h.pieces, piece{key.Value, kind.Value, body, p == h.top})
		walk(body, func(key string, n *yaml.Node) {
			if of := at(n, "type"); of != nil && of.Kind == yaml.ScalarNode && strings.Contains(of.Value, "::") {
				h.pieces = append(h.pieces, piece{d.name, of.Value, n, p == h.top}) // what a group is made of
			}
			if n.Kind != yaml.ScalarNode {
				return
			}
			if key == "type" && strings.Contains(n.Value, "::") {
				h.kinds[n.Value] = true // what a group is made of
			}
			if key == "image" {
				h.images[n.Value] = true
			}
			maps.Copy(d.within, below[n.Line])
		})
		if properties := at(body, "properties"); properties != nil {
			walk(properties, func(_ string, n *yaml.Node) {
				if n.Kind == yaml.ScalarNode {
					h.values[n.Value] = true
				}
			})
		}
		maps.Copy(names, d.within)
		if p == h.top {
			h.resources = append(h.resources, d)
			if err := h.inWave(body); err != nil {
				return nil, err
			}
		}
	}
	parameters := at(n, "parameters")
	for i := 0; parameters != nil && i+1 < len(parameters.Content); i += 2 {
		name, body := parameters.Content[i].Value, parameters.Content[i+1]
		value, hidden := at(body, "default"), isHidden(body)
		if hidden && value != nil {
			h.hide(value)
		}
		if p == h.top {
			h.parameters[name], h.hidden[name], h.defaults[name] = value != nil, hidden, value
		}
	}
	if p != h.top {
		return names, nil
	}
	walk(n, func(key string, n *yaml.Node) {
		if key == "get_param" && n.Kind == yaml.SequenceNode && len(n.Content) > 1 && n.Content[0].Value == nfv {
			var asked []string
			for _, c := range n.Content[1:] {
				if c.Kind != yaml.ScalarNode {
					return // worked out by Heat
				}
				asked = append(asked, c.Value)
			}
			h.asked = append(h.asked, asked)
		}
	})
	return names, nil
}

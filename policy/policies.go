package policy

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
	cedarast "github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// maxText bounds a policy file, in bytes. Cedar reads nested expressions by recursion, and
// a stack that grows too far ends the process.
const maxText = 64 << 10

// Names of the built-in policy files.
const (
	// DefaultFile holds the default policies for callers. A file of this name
	// among the site's takes their place.
	DefaultFile = "default.cedar"
	// systemFile holds what applies to the broker's own passes, and nothing else does.
	systemFile = "system.cedar"
)

var (
	//go:embed schema.cedarschema
	schemaText []byte
	//go:embed default.cedar
	defaultText []byte
	//go:embed system.cedar
	systemText []byte
)

var (
	fileForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9][a-z0-9-]*)\.cedar$`) })
	// reasonForm is that of a @reason, which callers are shown.
	reasonForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pM\pN\pP\pS ]{1,200}$`) })
	idForm     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`) })
)

// Policies is a [Decider] over Cedar policies: the default ones for callers with
// the site's beside them, and the built-in ones for the broker's own passes. It
// never changes and is safe for concurrent use.
type Policies struct {
	// Now is the time that policies see where a question names none, in the zone of the site: by default the system's.
	Now func() time.Time

	callers policySet
	hash    string
	// actions holds, from the schema, what each action may be done to.
	actions map[Action]actionShape
}

// Hash tells these policies from every other set, the built-in ones and the schema
// included: 64 hex digits.
func (p *Policies) Hash() string { return p.hash }

// hashOf covers names and lengths too, so that no text can pass for two files.
func hashOf(files map[string][]byte) string {
	h := sha256.New()
	add := func(name string, text []byte) { fmt.Fprintf(h, "%q %d\n%s\n", name, len(text), text) }
	add("schema.cedarschema", schemaText)
	add(systemFile, systemText)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Schema is the Cedar schema that every policy is checked against.
func Schema() []byte { return slices.Clone(schemaText) }

// IDs are the full ids of the policies for callers, sorted.
func (p *Policies) IDs() []string {
	ids := make([]string, len(p.callers))
	for i, c := range p.callers {
		ids[i] = string(c.id)
	}
	return ids
}

// Text is the policy for callers of an id, as Cedar writes it; empty if there is none.
func (p *Policies) Text(id string) string {
	i := slices.IndexFunc(p.callers, func(c identified) bool { return string(c.id) == id })
	if i < 0 {
		return ""
	}
	return string(p.callers[i].policy.MarshalCedar())
}

// actionShape is the schema's declaration of an action.
type actionShape struct {
	entity  cedar.EntityUID
	kinds   []Kind
	context contextKind
	// The policies that can match if the action is done to a kind; a decision evaluates no
	// others.
	callers, passes map[Kind]policySet
}

// contextKind is the context that policies for an action see, in addition to principal and
// resource.
type contextKind int

const (
	noContext    contextKind = iota
	wishContext              // the [Wish] for a lease
	draftContext             // the [VIMDraft] of a VIM
	planContext              // the [OperationPlan] of an operation
)

// policySet holds compiled policies in the order of their ids.
type policySet []identified

type identified struct {
	id     cedar.PolicyID
	policy *cedar.Policy
}

// All implements [cedar.PolicyIterator].
func (s policySet) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, p := range s {
			if !yield(p.id, p.policy) {
				return
			}
		}
	}
}

// reason is what the policy of that id says for itself; empty if it says nothing.
func (s policySet) reason(id cedar.PolicyID) string {
	i := slices.IndexFunc(s, func(p identified) bool { return p.id == id })
	if i < 0 {
		return ""
	}
	return string(s[i].policy.Annotations()["reason"])
}

// on returns the policies whose head leaves them able to match the action on a kind. Those
// it leaves out could not fail either: Cedar evaluates no condition of a policy whose head
// does not match.
func (s policySet) on(action cedar.EntityUID, kind Kind) policySet {
	return slices.DeleteFunc(slices.Clone(s), func(p identified) bool {
		head := (*cedarast.Policy)(p.policy.AST())
		switch a := head.Action.(type) {
		case cedarast.ScopeTypeEq:
			if a.Entity != action {
				return true
			}
		case cedarast.ScopeTypeInSet: // the schema has no groups of actions
			if !slices.Contains(a.Entities, action) {
				return true
			}
		}
		is, typed := head.Resource.(cedarast.ScopeTypeIs)
		return typed && Kind(is.Type) != kind
	})
}

// Load compiles the built-in policies with the site's, which are given by file
// name ("site.cedar") and may be none. A file named [DefaultFile] takes the place
// of the default policies.
//
// A file is at most 64 KiB.
//
// Load is strict, and returns every fault with file and line at once: text that
// does not parse, a name that the schema does not know, a policy that can never
// apply, labels of anything but a VIM or a package, a policy without an @id annotation, an id
// used twice in a file, a @reason that is no forbid's. A policy's full id, as decisions name it, is its file's
// name without the ending, a dot, and its @id.
func Load(site map[string][]byte) (*Policies, error) {
	known, err := parseSchema()
	if err != nil {
		return nil, err
	}
	p := &Policies{Now: time.Now, actions: actionShapes(known)}
	validator := validate.New(known)

	files := maps.Clone(site)
	if files == nil {
		files = make(map[string][]byte, 1)
	}
	if _, replaced := files[DefaultFile]; !replaced {
		files[DefaultFile] = defaultText
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == systemFile {
			faults = append(faults, fmt.Errorf("%s: the name is taken by the built-in policies of the broker's passes", name))
			continue
		}
		by := validator
		if site[name] == nil {
			by = nil
		}
		set, err := compile(by, name, files[name])
		faults = append(faults, err)
		p.callers = append(p.callers, set...)
	}
	passes, err := compile(nil, systemFile, systemText)
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, fmt.Errorf("loading policies: %w", err)
	}
	p.hash = hashOf(files)
	slices.SortFunc(p.callers, func(a, b identified) int { return strings.Compare(string(a.id), string(b.id)) })
	for name, shape := range p.actions {
		shape.callers, shape.passes = map[Kind]policySet{}, map[Kind]policySet{}
		for _, kind := range shape.kinds {
			shape.callers[kind], shape.passes[kind] = p.callers.on(shape.entity, kind), passes.on(shape.entity, kind)
		}
		p.actions[name] = shape
	}
	return p, nil
}

func parseSchema() (*resolved.Schema, error) {
	var s schema.Schema
	s.SetFilename("schema.cedarschema")
	if err := s.UnmarshalCedar(schemaText); err != nil {
		return nil, fmt.Errorf("parsing the policy schema: %w", err)
	}
	known, err := s.Resolve()
	if err != nil {
		return nil, fmt.Errorf("resolving the policy schema: %w", err)
	}
	return known, nil
}

func actionShapes(known *resolved.Schema) map[Action]actionShape {
	shapes := make(map[Action]actionShape, len(known.Actions))
	for uid, a := range known.Actions {
		shape := actionShape{entity: uid}
		if _, ok := a.AppliesTo.Context["ttlSeconds"]; ok {
			shape.context = wishContext
		} else if _, ok := a.AppliesTo.Context["planned"]; ok {
			shape.context = planContext
		} else if len(a.AppliesTo.Context) > 0 {
			shape.context = draftContext
		}
		for _, kind := range a.AppliesTo.Resources {
			shape.kinds = append(shape.kinds, Kind(kind))
		}
		shapes[Action(uid.ID)] = shape
	}
	return shapes
}

// compile parses and checks one file. Policies that are built in need no validator: the tests ask it, which would
// cost each start 15 ms.
func compile(validator *validate.Validator, file string, text []byte) (policySet, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: larger than %d bytes; divide it", file, maxText)
	}
	stem := fileForm().FindStringSubmatch(file)
	if stem == nil {
		return nil, fmt.Errorf("%q: a policy file is named in lower-case letters, digits and dashes, and ends in .cedar", file)
	}
	parsed, err := cedar.NewPolicyListFromBytes(file, text)
	if err != nil {
		// cedar-go parses without the name it was given.
		return nil, errors.New(strings.Replace(err.Error(), "<input>", file, 1))
	}
	var set policySet
	var faults []error
	lines := make(map[string]int, len(parsed)) // by @id
	for _, policy := range parsed {
		at := policy.Position()
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s:%d: "+format, append([]any{file, at.Line}, args...)...))
		}
		id := string(policy.Annotations()["id"])
		if !idForm().MatchString(id) {
			fault(`the policy needs an annotation like @id("no-cluster-admin") in lower-case letters, digits and dashes`)
			continue
		}
		if line, taken := lines[id]; taken {
			fault("the id %q is taken by the policy in line %d", id, line)
			continue
		}
		lines[id] = at.Line
		if text, given := policy.Annotations()["reason"]; given {
			if policy.Effect() != cedar.Forbid || !reasonForm().MatchString(string(text)) {
				fault("policy %q: only a forbid has a @reason, of 1 to 200 characters on one line", id)
				continue
			}
		}
		if validator != nil {
			if err := validator.Policy("", (*cedarast.Policy)(policy.AST())); err != nil {
				fault("policy %q: %w", id, err)
				continue
			}
		}
		if misreadsLabels((*cedarast.Policy)(policy.AST())) {
			fault("policy %q: only a VIM or a package has labels: write \"resource is VIM\" (or Package) in the policy's head, and ask no "+
				"other than resource", id)
			continue
		}
		set = append(set, identified{cedar.PolicyID(stem[1] + "." + id), policy})
	}
	return set, errors.Join(faults...)
}

// misreadsLabels reports whether the policy asks for a label (a tag) of something
// that may have none. To the validator hasTag is then merely false, so a forbid
// about leases that asks for it would load and never match.
func misreadsLabels(p *cedarast.Policy) bool {
	var kind Kind
	switch head := p.Resource.(type) {
	case cedarast.ScopeTypeIs:
		kind = Kind(head.Type)
	case cedarast.ScopeTypeIsIn:
		kind = Kind(head.Type)
	case cedarast.ScopeTypeEq:
		kind = Kind(head.Entity.Type)
	}
	labelled := kind == KindVIM || kind == KindPackage
	misread := false
	for _, condition := range p.Conditions {
		cedarast.Inspect(cedarast.NewNode(condition.Body), func(n cedarast.IsNode) bool {
			var asked cedarast.IsNode
			switch tag := n.(type) {
			case cedarast.NodeTypeHasTag:
				asked = tag.Left
			case cedarast.NodeTypeGetTag:
				asked = tag.Left
			default:
				return true
			}
			v, _ := asked.(cedarast.NodeTypeVariable)
			misread = misread || !labelled || v.Name != "resource"
			return true
		})
	}
	return misread
}

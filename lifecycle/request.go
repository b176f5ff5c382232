package lifecycle

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Bounds on what callers write, in bytes and numbers.
const (
	maxName        = 255
	maxDescription = 4 << 10
	maxVariables   = 200
	maxWaves       = 200
	maxVariable    = 4 << 10
	maxFiles       = 10_000
	maxObject      = 64 << 10
)

// NewInstance is a request to make an instance, without resources yet.
type NewInstance struct {
	VNFDID, Name, Description string
	// Metadata is a JSON object, or empty.
	Metadata json.RawMessage
	// ID is the one that a part of the broker has noted before; empty assigns one.
	ID string
}

// Instantiation is a request to make an instance's resources.
type Instantiation struct {
	Flavour string
	// Level is an instantiation level; empty means the flavour's default.
	Level string
	// VIM, Connection and Inline are a [Site]; More are those for further parts. Each then has a name (Connection).
	VIM        string
	Connection string
	Inline     *InlineVIM
	More       []Site
	// Namespace is where the objects go that name none; empty means the VIM's own.
	Namespace string
	// Release is a name for the release of a chart; empty leaves it to the driver.
	Release string
	// Files are the manifests to use, in that order; none means all of the package.
	Files []string
	// Waves put objects of the manifests into waves.
	Waves     []WaveRule
	Variables map[string]string
	// Parameters is a JSON object, or empty, that a driver merges into the parameters it makes from the
	// descriptor. Like Variables it is stored in the clear, except for the values that the driver calls secret:
	// those are sealed.
	Parameters json.RawMessage
	// Others are the names of further parameters, which the VNFD has to declare.
	Others []string
	// Links are the virtual links that the instance is to use; Volumes its volumes, by the package's names of their claims.
	Links   []Link
	Volumes map[string]string
	// Labels go onto all objects and pods of a chart. No request of the standard has them: the caller has checked them.
	Labels map[string]string
	// Params is the request's body, to be shown again without secret values.
	Params json.RawMessage
}

// Scaling is a request to scale out by Steps, or in if that is negative.
type Scaling struct {
	Aspect string
	Steps  int
	Params json.RawMessage
}

// Healing is a request to repair missing and changed resources, and to replace VNFCs.
type Healing struct {
	// VNFCs are the names of those to replace.
	VNFCs []string
	// Tests: nothing is repaired; the tests that a chart brings are run.
	Tests  bool
	Params json.RawMessage
}

// PackageChange is a request to go over to another package. Flavour, VIM and namespace stay.
type PackageChange struct {
	VNFDID string
	// Files, Waves, Variables and Parameters are as in [Instantiation]; nil keeps the previous ones.
	Files      []string
	Waves      []WaveRule
	Variables  map[string]string
	Parameters json.RawMessage
	// Others, Links and Volumes are as in [Instantiation]; nil keeps the previous links and volumes.
	Others  []string
	Links   []Link
	Volumes map[string]string
	Params  json.RawMessage
}

// Modification changes the information of an instance. A nil field stays unchanged.
type Modification struct {
	Name, Description *string
	// Metadata, Extensions and Configurable are merge patches (RFC 7396).
	Metadata, Extensions, Configurable json.RawMessage
	// Inline is another credential for the VIM that came with the instance's request, under the name Connection, and
	// its other changes; an empty field stays unchanged. Nil changes nothing.
	Connection string
	Inline     *InlineVIM
	// VIM is another registered VIM, by id or name, of the very system that the instance's resources are on.
	VIM string
	// IfRevision refuses an instance of another revision; 0 does not ask.
	IfRevision int64
	Params     json.RawMessage
}

var variableForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })

func validText(field, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\t'
	}) {
		return broker.Invalid(field, "must be at most %d bytes of printable text", most)
	}
	return nil
}

// WaveRule puts the objects of manifests into a wave that have this kind, this name and all these labels, as far as the
// rule says any.
type WaveRule struct {
	Wave   int               `json:"wave"`
	Kind   string            `json:"kind,omitempty"`
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Fault completes a sentence about a rule that cannot be; empty for one that can.
func (r WaveRule) Fault() string {
	switch {
	case r.Kind == "" && r.Name == "" && len(r.Labels) == 0:
		return "needs a kind, a name or labels"
	case r.Wave < math.MinInt16 || r.Wave > math.MaxInt16:
		return "needs a wave from -32768 to 32767"
	}
	return ""
}

func validInput(files []string, waves []WaveRule, variables map[string]string, parameters json.RawMessage) error {
	if len(waves) > maxWaves {
		return broker.Invalid("additionalParams.order", "has more than %d rules", maxWaves)
	}
	for i, rule := range waves {
		if says := rule.Fault(); says != "" {
			return broker.Invalid("additionalParams.order", "rule %d %s", i+1, says)
		}
	}
	if _, err := merged("additionalParams.nfv", nil, parameters); err != nil {
		return err
	}
	if len(files) > maxFiles {
		return broker.Invalid("additionalParams.lcm-kubernetes-def-files", "names more than %d files", maxFiles)
	}
	for _, f := range files {
		if err := validText("additionalParams.lcm-kubernetes-def-files", f, 1024); err != nil {
			return err
		}
	}
	if len(variables) > maxVariables {
		return broker.Invalid("additionalParams.variables", "has more than %d members", maxVariables)
	}
	for name, value := range variables {
		if !variableForm().MatchString(name) {
			return broker.Invalid("additionalParams.variables", "a name is 1 to 64 letters, digits and underscores, and does not begin with a digit")
		}
		if err := validText("additionalParams.variables."+name, value, maxVariable); err != nil {
			return err
		}
	}
	return nil
}

// declared refuses parameters that nothing reads: a misspelled one would be ignored, and shown.
func declared(d vnfpkg.VNFD, others []string) error {
	for _, name := range others {
		if _, is := d.Parameters[name]; is {
			continue
		}
		all := append(slices.Sorted(maps.Keys(d.Parameters)), sol003.ParamNames()...)
		meant := policy.Nearest(name, all)
		if i := slices.IndexFunc(all, func(k string) bool { return len(name) > 3 && strings.Contains(k, name) }); meant == "" && i >= 0 {
			meant = all[i]
		}
		e := &broker.Error{
			Kind: broker.ErrInvalid, Field: "additionalParams",
			Detail: "holds the unknown member " + vnfpkg.Printable(name), Remedy: "leave it out, or have the VNFD declare it",
		}
		if name == "" {
			e.Detail = "holds a member without a name"
		}
		if meant != "" {
			e.Remedy = "write " + meant + ", or leave it out"
		}
		return e
	}
	return nil
}

// merged applies a merge patch (RFC 7396) to an object.
func merged(field string, object, patch json.RawMessage) (json.RawMessage, error) {
	if patch == nil {
		return object, nil
	}
	var change map[string]any
	if err := json.Unmarshal(patch, &change); err != nil {
		return nil, broker.Invalid(field, "is not a JSON object")
	}
	base := map[string]any{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &base); err != nil {
			return nil, err
		}
	}
	out, _ := json.Marshal(mergeObjects(base, change)) // what was read is written
	switch {
	case len(out) > maxObject:
		return nil, broker.Invalid(field, "would be longer than %d bytes", maxObject)
	case string(out) == "{}":
		return nil, nil
	}
	return out, nil
}

func mergeObjects(base, change map[string]any) map[string]any {
	for name, value := range change {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(base, name)
		case isObject:
			under, _ := base[name].(map[string]any)
			if under == nil {
				under = map[string]any{}
			}
			base[name] = mergeObjects(under, inner)
		default:
			base[name] = value
		}
	}
	return base
}

// named finds the VNFCs with these names, or with the names that SOL003's clients know them by.
func named(vnfcs []VNFC, names []string) ([]VNFC, error) {
	var found []VNFC
	for _, name := range names {
		at := slices.IndexFunc(vnfcs, func(c VNFC) bool { return c.Name == name || c.ID() == name })
		if at < 0 {
			return nil, broker.Invalid("vnfcInstanceId", "the instance has no such VNFC; its VNFCs are those that the last operation saw")
		}
		found = append(found, vnfcs[at])
	}
	return found, nil
}

// ID is the identifier of a VNFC for SOL003's clients: the VDU and the object's name.
func (c VNFC) ID() string { return c.VDU + "-" + c.Name }

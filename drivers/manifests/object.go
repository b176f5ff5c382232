package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// maxObject bounds one object, in bytes of JSON: etcd takes requests of 1.5 MiB.
const maxObject = 1_500_000

// object is an object of a manifest, and its place in it.
type object struct {
	document

	lifecycle.Resource
	content map[string]any
	wave    int
	// order counts the objects of a package from its beginning.
	order int
	// elsewhere: its namespace is not the instance's. vouched: an administrator has answered for where it reaches.
	elsewhere, vouched bool
	// release is the Kubernetes by whose rules its pods are judged.
	release api.Version
	// hostsOfOthers are those of Ingresses in other namespaces, as far as they are known.
	hostsOfOthers map[string]bool
}

// objects reads the objects of a package. Their kinds are not looked up yet. foreign is nil for manifests of a
// package; in others no variable is substituted.
func objects(in lifecycle.PlanInput, foreign *Marks) ([]*object, error) {
	vars := variablesOf(in)
	if foreign != nil {
		vars = nil
	}
	var all []*object
	var waves []lifecycle.WaveRule
	err := documents(in.Manifests, func(d document) error {
		if foreign == nil && d.isOrder() {
			more, err := d.waves()
			waves = append(waves, more...)
			return err
		}
		return d.objects(vars, func(o *object) error {
			if len(all) == maxObjects {
				return &broker.Error{Kind: broker.ErrInvalid, Detail: fmt.Sprintf("the manifests hold more than %d objects", maxObjects)}
			}
			o.order = len(all)
			all = append(all, o)
			if foreign != nil {
				return foreign.read(o)
			}
			return o.read()
		})
	})
	if err == nil && len(all) == 0 {
		err = &broker.Error{Kind: broker.ErrInvalid, Detail: "the manifests hold no object"}
	}
	if err == nil && foreign == nil {
		err = putIntoWaves(all, in.Waves, waves)
	}
	for _, o := range all {
		o.Declared = o.wave
	}
	if err != nil {
		return nil, err
	}
	return ofPart(in, all)
}

// objects calls each for the objects of a document: itself, or the items of a List.
func (d document) objects(vars variables, each func(*object) error) error {
	if scalarOf(d.root, "kind") == "List" && scalarOf(d.root, "apiVersion") == "v1" {
		items := child(d.root, "items")
		if items == nil || items.Kind != yaml.SequenceNode {
			return d.fault(d.root, "is a List without items")
		}
		for _, item := range items.Content {
			if item.Kind != yaml.MappingNode {
				return d.fault(item, "must be an object")
			}
			one := document{file: d.file, line: d.line, root: item}
			if err := one.object(vars, each); err != nil {
				return err
			}
		}
		return nil
	}
	return d.object(vars, each)
}

func (d document) object(vars variables, each func(*object) error) error {
	if scalarOf(child(child(d.root, "metadata"), "annotations"), variablesAnnotation) == "off" {
		vars = nil
	}
	content, err := d.value(d.root, vars, false)
	if err != nil {
		return err
	}
	return each(&object{document: d, content: content.(map[string]any)})
}

// child is the value of a key in a mapping, or nil.
var child = strictyaml.Child

func scalarOf(n *yaml.Node, key string) string {
	if c := child(n, key); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

var (
	kindName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`) })
	versionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,63}$`) })
)

// read reads an object's identity from its content, and removes the fields that only the
// API server sets.
func (o *object) read() error {
	o.Group, o.Version = groupVersion(text(o.content, "apiVersion"))
	o.Kind = text(o.content, "kind")
	meta, ok := o.content["metadata"].(map[string]any)
	switch {
	case !versionName().MatchString(o.Version) || o.Group != "" && len(validation.IsDNS1123Subdomain(o.Group)) > 0:
		return o.fault(o.root, "apiVersion is missing, or is none")
	case !kindName().MatchString(o.Kind):
		return o.fault(o.root, "kind is missing, or is none")
	case !ok:
		return o.fault(o.root, "%s has no metadata", o.Kind)
	case meta["generateName"] != nil:
		return o.fault(child(o.root, "metadata"), "%s has a generateName; give it a name", o.Kind)
	}
	o.Name, o.Namespace = text(meta, "name"), text(meta, "namespace")
	if o.Name == "" || len(o.Name) > 253 || len(content.IsPathSegmentName(o.Name)) > 0 || strings.ContainsFunc(o.Name, unprintable) {
		return o.fault(child(o.root, "metadata"), "%s has no name, or one that cannot be", o.Kind)
	}
	if o.Namespace != "" && len(validation.IsDNS1123Label(o.Namespace)) > 0 {
		return o.fault(child(o.root, "metadata"), "%s has a namespace that cannot be", o.titleIn())
	}
	o.Passes = o.Group == batch && o.Kind == "Job" && mapAt(o.content, "spec")[timeToLive] != nil
	delete(o.content, "status")
	for _, key := range []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
		"resourceVersion", "selfLink", "uid",
	} {
		delete(meta, key)
	}
	for _, key := range []string{"labels", "annotations"} {
		if m, is := meta[key].(map[string]any); meta[key] != nil && !is || is && slices.ContainsFunc(slices.Collect(maps.Values(m)), notText) {
			return o.fault(child(child(o.root, "metadata"), key), "%s has %s that are no texts; put them in quotes", o.titleIn(), key)
		} else if is && len(m) == 0 {
			delete(meta, key) // or whoever adds one has changed ours
		}
	}
	if meta["ownerReferences"] != nil {
		return o.fault(child(o.root, "metadata"), "%s names its owner by a UID, which the cluster chooses: where that is another's, or none, "+
			"the cluster removes the object; leave ownerReferences out", o.titleIn())
	}
	if err := o.readAnnotations(meta); err != nil {
		return err
	}
	size, err := json.Marshal(o.content)
	if err != nil {
		return o.fault(o.root, "%s holds what JSON cannot say", o.titleIn())
	}
	if len(size) > maxObject {
		return o.fault(o.root, "%s has %d bytes as JSON, and %d are the most", o.titleIn(), len(size), maxObject)
	}
	return nil
}

// readAnnotations takes our own annotations. Others of our prefix, and labels, are refused:
// they say whose an object is.
func (o *object) readAnnotations(meta map[string]any) error {
	o.Outlives = o.Kind == definitionKind && o.Group == definitionGroup
	annotations, _ := meta["annotations"].(map[string]any)
	for key, value := range annotations {
		value, _ := value.(string)
		at := child(child(o.root, "metadata"), "annotations")
		switch key {
		case waveAnnotation:
			n, err := strconv.ParseInt(value, 10, 16)
			if err != nil {
				return o.fault(at, "%s: annotation %s must be a whole number from -32768 to 32767", o.titleIn(), waveAnnotation)
			}
			o.wave = int(n)
		case outlivesAnnotation:
			if value != "true" && value != "false" {
				return o.fault(at, `%s: annotation %s must be "true" or "false"`, o.titleIn(), outlivesAnnotation)
			}
			o.Outlives = value == "true"
		case vduAnnotation:
			if o.VDU = value; len(value) == 0 || len(validation.IsValidLabelValue(value)) > 0 {
				return o.fault(at, "%s: annotation %s must be the name of a VDU, of at most 63 characters", o.titleIn(), vduAnnotation)
			}
		case secretAnnotation:
			if names := strings.Split(value, ","); slices.ContainsFunc(names, func(s string) bool { return strings.TrimSpace(s) == "" }) {
				return o.fault(at, "%s: annotation %s must be names of variables, separated by commas", o.titleIn(), secretAnnotation)
			}
		case partAnnotation: // objects read it as it stands
		case variablesAnnotation:
			if value != "off" {
				return o.fault(at, `%s: annotation %s must be "off"`, o.titleIn(), variablesAnnotation)
			}
		default:
			if strings.HasPrefix(key, prefix) {
				return o.fault(at, "%s: an annotation that begins with %s is not one of a package's", o.titleIn(), prefix)
			}
		}
	}
	if labelled(o.content) {
		return o.fault(nil, "%s: a label that begins with %s is not one of a package's", o.titleIn(), prefix)
	}
	return nil
}

// labelled reports whether labels of our prefix are anywhere in an object, templates included.
func labelled(v any) bool {
	for m := range mappingsIn(v) {
		labels, _ := m["labels"].(map[string]any)
		for key := range labels {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}

// titleIn names the object without its namespace, which may not be known yet.
func (o *object) titleIn() string { return o.Kind + " " + o.Name }

// label adds a label to the object and its pods: the instance's makes the object the instance's.
func (o *object) label(name, value string) {
	setText(o.content["metadata"].(map[string]any), "labels", name, value)
	for _, t := range templates(o.Resource, o.content) {
		meta, ok := t["metadata"].(map[string]any)
		if !ok {
			meta = map[string]any{}
			t["metadata"] = meta
		}
		setText(meta, "labels", name, value)
		if o.VDU != "" {
			setText(meta, "labels", vduLabel, o.VDU)
		}
	}
}

// setText sets one text in a mapping of a mapping.
func setText(m map[string]any, key, name, value string) {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	inner[name] = value
}

func groupVersion(s string) (group, version string) {
	if group, version, ok := strings.Cut(s, "/"); ok {
		return group, version
	}
	return "", s
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func notText(v any) bool { _, is := v.(string); return !is }

func unprintable(r rune) bool { return r <= ' ' || r > '~' }

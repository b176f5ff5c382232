package vnfpkg

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Assembly is the description of a package to make from manifests, or from base HOTs.
type Assembly struct {
	// VNFDID, Provider, ProductName, SoftwareVersion and Version go into the descriptor. All
	// of them are needed.
	VNFDID, Provider, ProductName, SoftwareVersion, Version string
	// Manifests are stored under Files/kubernetes. Their paths are relative to that.
	Manifests []ManifestFile
	// Templates are the files of a base HOT; see [Templates]. Their paths are relative to BaseHOT/FLAVOUR.
	Templates []ManifestFile
	// Flavour is the one deployment flavour; empty means "simple".
	Flavour string
	// VDUs are the workloads that the descriptor names; see [Workloads].
	VDUs []DraftVDU
}

// ManifestFile is a file of Kubernetes manifests.
type ManifestFile struct {
	Path string `json:"path"`
	Text []byte `json:"text"`
}

// DraftVDU is a workload, or a VDU of a base HOT. One whose Max is more than its Min has a scaling aspect of its own.
type DraftVDU struct {
	// Name is that of the object; it is the id of the VDU and of its scaling aspect, too.
	Name string
	// Number is the initial number of instances, of at least Min and at most Max.
	Number, Min, Max int
}

// flavour is the one deployment flavour of a package that Pack makes.
func (d Assembly) flavour() string { return cmp.Or(d.Flavour, "simple") }

// Kubernetes names in the form that objects of workloads have them (RFC 1123).
var workloadName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
})

// VDUAnnotation stands on an object of a manifest and names the VDU that it runs; without it
// that is the object's own name.
const VDUAnnotation = "vimbroker.io/vdu"

// replicated are the kinds whose number of instances an operation can set, and the pod,
// which is one.
var replicated = []string{"Deployment", "StatefulSet", "ReplicaSet", "Pod"}

// Found is the result of [Workloads] on manifests.
type Found struct {
	VDUs []DraftVDU
	// Secrets are the names of Secrets.
	Secrets []string
}

// Workloads finds the Deployments, StatefulSets, ReplicaSets and Pods in manifests, and objects
// of any kind with a [VDUAnnotation], in the order in which they stand there. Text that is no YAML
// is an error that names its file.
func Workloads(manifests []ManifestFile) (Found, error) {
	var found Found
	for _, m := range manifests {
		documents := yaml.NewDecoder(bytes.NewReader(m.Text))
		for {
			var object struct {
				Kind     string `yaml:"kind"`
				Metadata struct {
					Name        string               `yaml:"name"`
					Annotations map[string]yaml.Node `yaml:"annotations"`
				} `yaml:"metadata"`
				Spec yaml.Node `yaml:"spec"`
			}
			err := documents.Decode(&object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return Found{}, fmt.Errorf("%s is no YAML of Kubernetes manifests", m.Path)
			}
			name := object.Metadata.Name
			vdu := object.Metadata.Annotations[VDUAnnotation].Value
			switch {
			case object.Kind == "Secret":
				found.Secrets = append(found.Secrets, name)
				continue
			case vdu != "":
				name = vdu
			case !slices.Contains(replicated, object.Kind):
				continue
			}
			switch {
			case !workloadName().MatchString(name):
			case slices.ContainsFunc(found.VDUs, func(v DraftVDU) bool { return v.Name == name }):
				return Found{}, fmt.Errorf("%s has a second workload named %s: the descriptor tells workloads by their names", m.Path, name)
			default:
				n := 1
				var spec struct {
					Replicas *int `yaml:"replicas"`
				}
				if object.Spec.Decode(&spec) == nil && spec.Replicas != nil { // it may be a variable
					n = *spec.Replicas
				}
				found.VDUs = append(found.VDUs, DraftVDU{Name: name, Number: n, Min: n, Max: n})
			}
		}
	}
	return found, nil
}

// TemplateFolder is the folder of a package's base HOTs, one folder for each flavour.
const TemplateFolder = "BaseHOT/"

// Templates finds the VDUs of a base HOT: those whose number its templates take from the parameter nfv
// ({get_param: [nfv, VDU, ID, desired_capacity]}), up to most, and those that they take a compute flavour for, of which
// there is one. Text that is no YAML is passed over: get_file may name anything.
func Templates(files []ManifestFile, most int) []DraftVDU {
	var found []DraftVDU
	add := func(id string, upTo int) {
		if i := slices.IndexFunc(found, func(v DraftVDU) bool { return v.Name == id }); i >= 0 {
			found[i].Max = max(found[i].Max, upTo)
			return
		}
		found = append(found, DraftVDU{Name: id, Number: 1, Min: 1, Max: upTo})
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "get_param" && len(c.Content) == 4 {
				at := c.Content
				if at[0].Value == "nfv" && at[1].Value == "VDU" {
					switch at[3].Value {
					case "desired_capacity":
						add(at[2].Value, max(most, 1))
					case "computeFlavourId":
						add(at[2].Value, 1)
					}
				}
			}
			walk(c)
		}
	}
	for _, f := range files {
		var document yaml.Node
		if yaml.Unmarshal(f.Text, &document) == nil {
			walk(&document)
		}
	}
	return found
}

// Pack writes a package: the descriptor that the draft describes, its manifests, and
// TOSCA.meta with their hashes. The same draft always gives the same bytes.
func Pack(w io.Writer, d Assembly) error {
	vnfd, err := d.descriptor()
	if err != nil {
		return err
	}
	const entry = "Definitions/vnfd.yaml"
	files := []ManifestFile{{entry, vnfd}}
	meta := "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: vimbroker\nEntry-Definitions: " + entry + "\n"
	add := func(folder string, all []ManifestFile) error {
		for _, m := range all {
			name := folder + m.Path
			if !PlainPath(name) {
				return fmt.Errorf("a package cannot hold a file of this path: %q", Printable(m.Path))
			}
			files = append(files, ManifestFile{name, m.Text})
			sum := sha256.Sum256(m.Text)
			meta += "\nName: " + name + "\nContent-Type: application/yaml\nAlgorithm: SHA-256\nHash: " + hex.EncodeToString(sum[:]) + "\n"
		}
		return nil
	}
	if err := cmp.Or(add(manifestFolder, d.Manifests), add(TemplateFolder+d.flavour()+"/", d.Templates)); err != nil {
		return err
	}
	out := zip.NewWriter(w)
	for _, f := range append([]ManifestFile{{MetaFile, []byte(meta)}}, files...) {
		e, err := out.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := e.Write(f.Text); err != nil {
			return err
		}
	}
	return out.Close()
}

// manifestFolder is the folder of a package's Kubernetes manifests.
const manifestFolder = "Files/kubernetes/"

// mapping makes a YAML mapping of names and values in turn.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairs {
		var child yaml.Node
		if node, ok := p.(*yaml.Node); ok {
			child = *node
		} else {
			_ = child.Encode(p) // texts, numbers and lists of texts always encode
		}
		n.Content = append(n.Content, &child)
	}
	return n
}

func sequence(items []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// descriptor writes the VNFD (ETSI GS NFV-SOL001) in one file.
func (d Assembly) descriptor() ([]byte, error) {
	for what, text := range map[string]string{
		"VNFD id": d.VNFDID, "provider": d.Provider, "product name": d.ProductName, "software version": d.SoftwareVersion,
		"VNFD version": d.Version,
	} {
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("the %s is missing", what)
		}
	}
	identity := []any{
		"descriptor_id", d.VNFDID, "descriptor_version", d.Version, "provider", d.Provider,
		"product_name", d.ProductName, "software_version", d.SoftwareVersion,
	}
	const own = "vimbroker.nodes.VNF"
	templates := []any{"VNF", mapping("type", own, "properties", mapping(append(slices.Clone(identity),
		"vnfm_info", []string{"vimbroker"}, "flavour_id", d.flavour(), "flavour_description", "As the manifests are")...))}
	var aspects, levels []any
	var policies []*yaml.Node
	policy := func(name string, pairs ...any) { policies = append(policies, mapping(name, mapping(pairs...))) }
	for _, v := range d.VDUs {
		if v.Min < 0 || v.Number < v.Min || v.Max < v.Number || v.Max > maxInstances {
			return nil, fmt.Errorf("workload %s: %d instances, of at least %d and at most %d, make no sense", v.Name, v.Number, v.Min, v.Max)
		}
		templates = append(templates, v.Name, mapping("type", typeCompute, "properties", mapping("name", v.Name,
			"vdu_profile", mapping("min_number_of_instances", v.Min, "max_number_of_instances", v.Max))))
		if v.Max == v.Min {
			continue
		}
		aspects = append(aspects, v.Name, mapping("name", v.Name, "max_scale_level", v.Max-v.Min, "step_deltas", []string{"one"}))
		levels = append(levels, v.Name, mapping("scale_level", v.Number-v.Min))
		number := mapping("number_of_instances", 1)
		policy(v.Name+"_initial", "type", typeInitial, "properties", mapping("initial_delta", mapping("number_of_instances", v.Min)),
			"targets", []string{v.Name})
		policy(v.Name+"_deltas", "type", typeDeltas, "properties", mapping("aspect", v.Name, "deltas", mapping("one", number)),
			"targets", []string{v.Name})
		policy(v.Name+"_level", "type", typeVDULevels,
			"properties", mapping("levels", mapping("default", mapping("number_of_instances", v.Number))), "targets", []string{v.Name})
	}
	topology := []any{
		"substitution_mappings", mapping("node_type", own, "properties", mapping("flavour_id", d.flavour())),
		"node_templates", mapping(templates...),
	}
	if len(aspects) > 0 {
		policy("scaling_aspects", "type", typeAspects, "properties", mapping("aspects", mapping(aspects...)))
		policy("instantiation_levels", "type", typeLevels, "properties", mapping(
			"levels", mapping("default", mapping("description", "As the manifests are", "scale_info", mapping(levels...))),
			"default_level", "default"))
		topology = append(topology, "policies", sequence(policies))
	}
	var types []any
	for i := 0; i < len(identity); i += 2 {
		types = append(types, identity[i], mapping("type", "string", "default", identity[i+1])) //nolint:gosec // they come in pairs
	}
	return yaml.Marshal(mapping(
		"tosca_definitions_version", "tosca_simple_yaml_1_2",
		"node_types", mapping(own, mapping("derived_from", typeVNF, "properties", mapping(types...))),
		"topology_template", mapping(topology...),
	))
}

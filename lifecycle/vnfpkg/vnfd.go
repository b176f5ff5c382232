package vnfpkg

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// VNFD holds the parts of a descriptor that operations need (ETSI GS NFV-SOL001).
type VNFD struct {
	// ID is the descriptor_id, by which instances name their package.
	ID              string
	Provider        string
	ProductName     string
	SoftwareVersion string
	Version         string
	// VNFMInfo names the VNFMs that the VNF is for.
	VNFMInfo []string
	// Scripts names the operations of the interface Vnflcm that run code of the package,
	// sorted: "instantiate_start". An empty list needs no code to be run.
	Scripts []string
	// Flavours are the deployment flavours by their id; there is at least one.
	Flavours map[string]Flavour
	// DefaultFlavour is the flavour_id that the VNF's type has by default; it may be empty.
	DefaultFlavour string
	// Inputs are the inputs of the flavours' topologies that have a default, as YAML text.
	Inputs map[string]string
	// Parameters are the additional parameters of operations that it declares (SOL001, VnfOperationAdditionalParameters),
	// by their names: true for those that it marks as hidden.
	Parameters map[string]bool
}

// SecretParameters are the additional parameters that are marked so, sorted.
func (d VNFD) SecretParameters() (names []string) {
	for name, hidden := range d.Parameters {
		if hidden {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Flavour is one deployment flavour.
type Flavour struct {
	ID          string
	Description string
	// VDUs by the name of their node template.
	VDUs map[string]VDU
	// Images are the names of software images (sw_image_data), by the name of the VDU's or the storage's node template.
	Images  map[string]string
	Aspects map[string]Aspect
	// Levels are the instantiation levels; DefaultLevel is one of them, or empty.
	Levels       map[string]Level
	DefaultLevel string
	// ExtCPs are the node templates of connection points that the VNF shows outside, sorted.
	ExtCPs []string
	// Networks are its virtual links and connection points, sorted: "VduCp NAME".
	Networks []string
	// Containers: it describes containers, so that it can be translated to manifests.
	Containers bool
	// Links are its virtual links, by the name of their node template.
	Links map[string]VirtualLink

	steps map[string]string // of each aspect, the name of its first step
}

// VirtualLink is the network that a tosca.nodes.nfv.VnfVirtualLink asks for (vl_profile, the first of its protocol data).
type VirtualLink struct {
	CIDR, Gateway string
	DHCP          *bool
	Pools         []Range
	MTU           int
	// Type, Physical and Segmentation are those of the cloud's own network, if it asks for one.
	Type, Physical string
	Segmentation   int
}

// Range are addresses from one to another.
type Range struct {
	Start string `yaml:"start_ip_address"`
	End   string `yaml:"end_ip_address"`
}

// network adds what a node template asks for of networks.
func (d *descriptor) network(file, name string, t template, fl *Flavour) (err error) {
	for _, kind := range typesOfNetworks {
		if d.is(t.Type, "tosca.nodes.nfv."+kind) {
			fl.Networks = append(fl.Networks, kind+" "+name)
		}
	}
	if d.is(t.Type, typeLink) {
		if fl.Links == nil {
			fl.Links = map[string]VirtualLink{}
		}
		fl.Links[name], err = virtualLinkOf(file, name, t)
	}
	return err
}

func virtualLinkOf(file, name string, t template) (v VirtualLink, err error) {
	n, ok := t.Properties["vl_profile"]
	if !ok {
		return v, nil
	}
	var profile struct {
		Protocols []struct {
			L2 struct {
				Type         string `yaml:"network_type"`
				Physical     string `yaml:"physical_network"`
				Segmentation string `yaml:"segmentation_id"`
				MTU          int    `yaml:"mtu"`
			} `yaml:"l2_protocol_data"`
			L3 struct {
				CIDR    string  `yaml:"cidr"`
				Gateway string  `yaml:"gateway_ip"`
				DHCP    *bool   `yaml:"dhcp_enabled"`
				Pools   []Range `yaml:"ip_allocation_pools"`
			} `yaml:"l3_protocol_data"`
		} `yaml:"virtual_link_protocol_data"`
	}
	if n.Decode(&profile) != nil {
		return v, fault(file, "has a vl_profile of %s that is none", Printable(name))
	}
	if len(profile.Protocols) > 0 {
		l2, l3 := profile.Protocols[0].L2, profile.Protocols[0].L3
		v = VirtualLink{l3.CIDR, l3.Gateway, l3.DHCP, l3.Pools, l2.MTU, l2.Type, l2.Physical, 0}
		if v.Segmentation, err = strconv.Atoi(cmp.Or(l2.Segmentation, "0")); err != nil {
			return v, fault(file, "has a segmentation_id of %s that is no number", Printable(name))
		}
	}
	return v, nil
}

// VDU is a virtualisation deployment unit (tosca.nodes.nfv.Vdu.Compute).
type VDU struct {
	// ID is the name of the node template, Name its property "name".
	ID, Name string
	// Min and Max number of instances (vdu_profile); Max is 0 if there is none.
	Min, Max int
	// Initial is the number of instances at scale level 0 of every aspect (VduInitialDelta).
	Initial int
	// Image is the path of its software image in the package, or empty.
	Image string
	// Compute is the name of the VIM's flavour that it wants (requested_additional_capability_name), or empty.
	Compute string
}

// Aspect is a scaling aspect.
type Aspect struct {
	ID          string
	Name        string
	Description string
	MaxLevel    int
	// Deltas says how many instances of a VDU one step adds.
	Deltas map[string]int
}

// Level is an instantiation level.
type Level struct {
	Description string
	// Scale is the scale level of each aspect, Instances the number of instances of each VDU.
	Scale     map[string]int
	Instances map[string]int
}

// maxDefinitions bounds how many YAML files a descriptor may be spread over.
const maxDefinitions = 200

// Types of SOL001 that are looked for. A type of a package's own is followed to the
// one that it derives from.
const (
	typeVNF       = "tosca.nodes.nfv.VNF"
	typeParams    = "tosca.datatypes.nfv.VnfOperationAdditionalParameters"
	typeCompute   = "tosca.nodes.nfv.Vdu.Compute"
	typeContainer = "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"
	typeOneOfUnit = "tosca.nodes.nfv.Vdu.OsContainer"
	typeLink      = "tosca.nodes.nfv.VnfVirtualLink"
	typeAspects   = "tosca.policies.nfv.ScalingAspects"
	typeDeltas    = "tosca.policies.nfv.VduScalingAspectDeltas"
	typeInitial   = "tosca.policies.nfv.VduInitialDelta"
	typeLevels    = "tosca.policies.nfv.InstantiationLevels"
	typeVDULevels = "tosca.policies.nfv.VduInstantiationLevels"
)

// typesOfNetworks are the types in tosca.nodes.nfv that ask for networks.
var typesOfNetworks = []string{"VnfVirtualLink", "VduCp", "VnfExtCp", "VipCp", "VirtualCp"}

// definitions is one YAML file of a descriptor. Members that are not listed are not read.
type definitions struct {
	path      string
	text      []byte
	Version   string               `yaml:"tosca_definitions_version"`
	Metadata  map[string]yaml.Node `yaml:"metadata"`
	Imports   yaml.Node            `yaml:"imports"`
	NodeTypes map[string]nodeType  `yaml:"node_types"`
	DataTypes map[string]nodeType  `yaml:"data_types"`
	Topology  topology             `yaml:"topology_template"`
}

type nodeType struct {
	DerivedFrom string              `yaml:"derived_from"`
	Properties  map[string]property `yaml:"properties"`
}

type property struct {
	Default  yaml.Node            `yaml:"default"`
	Metadata map[string]yaml.Node `yaml:"metadata"`
}

type topology struct {
	Inputs       map[string]property `yaml:"inputs"`
	Substitution struct {
		NodeType   string               `yaml:"node_type"`
		Properties map[string]yaml.Node `yaml:"properties"`
		// Requirements map links of the VNF to those of its templates: {link: [CP, virtual_link]}, or a list of such.
		Requirements yaml.Node `yaml:"requirements"`
	} `yaml:"substitution_mappings"`
	Templates map[string]template `yaml:"node_templates"`
	Policies  yaml.Node           `yaml:"policies"`
}

type template struct {
	Type         string               `yaml:"type"`
	Properties   map[string]yaml.Node `yaml:"properties"`
	Capabilities map[string]yaml.Node `yaml:"capabilities"`
	Artifacts    map[string]yaml.Node `yaml:"artifacts"`
	Interfaces   map[string]yaml.Node `yaml:"interfaces"`
}

// Descriptor reads the package's VNFD. A fault of it is an [*PackageError].
func (c *CSAR) Descriptor() (VNFD, error) {
	files, err := c.definitions()
	if err != nil {
		return VNFD{}, err
	}
	d := descriptorOf(files)
	for _, f := range files {
		d.identify(f)
	}
	for _, f := range files {
		d.declare(f)
		if err := d.flavour(f); err != nil {
			return VNFD{}, err
		}
	}
	if d.vnfd.ID == "" && files[0].Version == simpleProfile {
		return d.simple(files), nil
	}
	if d.vnfd.ID == "" {
		for _, f := range files {
			for name, t := range f.Topology.Templates {
				if _, has := t.Properties["descriptor_id"]; has {
					return VNFD{}, fault(c.Entry, "has the node template %.100q, whose type %.100q is not defined or does not derive from %s",
						name, t.Type, typeVNF)
				}
			}
		}
		return VNFD{}, fault(c.Entry, "has no descriptor_id, neither in the VNF's node template nor as the default of its type")
	}
	if len(d.vnfd.Flavours) == 0 {
		return VNFD{}, fault(c.Entry, "describes no deployment flavour: no substitution_mappings has a flavour_id")
	}
	return d.vnfd, nil
}

// Definitions lists the YAML files of the descriptor: the entry definitions first.
func (c *CSAR) Definitions() ([]string, error) {
	files, err := c.definitions()
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.path
	}
	return names, err
}

// definitions reads the entry definitions and all they import, each once.
func (c *CSAR) definitions() ([]definitions, error) {
	var files []definitions
	seen := map[string]bool{c.Entry: true}
	for waiting := []string{c.Entry}; len(waiting) > 0; waiting = waiting[1:] {
		if len(files) == maxDefinitions {
			return nil, fault(c.Entry, "imports more than %d files", maxDefinitions)
		}
		name := waiting[0]
		text, err := c.Read(name)
		if err != nil {
			return nil, err
		}
		f := definitions{path: name, text: text}
		if err := yaml.Unmarshal(text, &f); err != nil {
			at := regexp.MustCompile(`\bline \d{1,7}`).FindString(err.Error()) // the rest of the parser's words may quote the text
			return nil, fault(name, "is not a TOSCA definition in YAML, at or near %s", cmp.Or(at, "line 1"))
		}
		files = append(files, f)
		imports, err := importsOf(f)
		if err != nil {
			return nil, err
		}
		for _, wanted := range imports {
			if strings.Contains(wanted, "://") {
				continue // nothing is fetched
			}
			file := path.Join(path.Dir(name), wanted)
			if !c.Has(file) {
				return nil, fault(file, "is imported by %s and is not there", name)
			}
			if !seen[file] {
				seen[file] = true
				waiting = append(waiting, file)
			}
		}
	}
	return files, nil
}

// importsOf reads a list of file names, {file: NAME} or {ANY: {file: NAME}}.
func importsOf(f definitions) ([]string, error) {
	var found []string
	for _, n := range f.Imports.Content {
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[1].Kind == yaml.MappingNode {
			n = n.Content[1]
		}
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if key := n.Content[i].Value; key == "file" || key == "url" || len(n.Content) == 2 {
					n = n.Content[i+1]
					break
				}
			}
		}
		if n.Kind != yaml.ScalarNode {
			return nil, fault(f.path, "has an import in line %d that names no file", n.Line)
		}
		found = append(found, n.Value)
	}
	return found, nil
}

// descriptor is a VNFD while it is read.
type descriptor struct {
	types map[string]nodeType
	vnfd  VNFD
}

func descriptorOf(files []definitions) *descriptor {
	d := &descriptor{types: map[string]nodeType{}, vnfd: VNFD{
		Flavours: map[string]Flavour{}, Inputs: map[string]string{}, Parameters: map[string]bool{},
	}}
	for _, f := range files {
		maps.Copy(d.types, f.NodeTypes)
		maps.Copy(d.types, f.DataTypes)
	}
	return d
}

// is reports whether a type is another, or derives from it.
func (d *descriptor) is(name, wanted string) bool {
	for range 32 { // far from any real depth, so that a circle ends
		if name == wanted {
			return true
		}
		t, ok := d.types[name]
		if !ok {
			return false
		}
		name = t.DerivedFrom
	}
	return false
}

// declare takes the additional parameters that a file declares: members of its data types for them, and inputs.
func (d *descriptor) declare(f definitions) {
	add := func(all map[string]property) {
		for name, p := range all {
			mark := p.Metadata["hidden"]
			d.vnfd.Parameters[name] = d.vnfd.Parameters[name] || strings.EqualFold(mark.Value, "true")
		}
	}
	for name, t := range f.DataTypes {
		if name != typeParams && d.is(name, typeParams) {
			add(t.Properties)
		}
	}
	add(f.Topology.Inputs)
}

// identify takes the VNF's identity from a file: from its node template first, then from its type.
func (d *descriptor) identify(f definitions) {
	for _, name := range slices.Sorted(maps.Keys(f.Topology.Templates)) {
		t := f.Topology.Templates[name]
		if !d.is(t.Type, typeVNF) {
			continue
		}
		get := func(property string) string {
			if n := t.Properties[property]; n.Kind == yaml.ScalarNode {
				return n.Value
			}
			return d.fallback(t.Type, property)
		}
		for property, field := range map[string]*string{
			"descriptor_id": &d.vnfd.ID, "provider": &d.vnfd.Provider, "product_name": &d.vnfd.ProductName,
			"software_version": &d.vnfd.SoftwareVersion, "descriptor_version": &d.vnfd.Version, "flavour_id": &d.vnfd.DefaultFlavour,
		} {
			if *field == "" {
				*field = get(property)
			}
		}
		if len(d.vnfd.VNFMInfo) == 0 {
			list, ok := t.Properties["vnfm_info"]
			if !ok {
				list = d.property(t.Type, "vnfm_info")
			}
			for _, item := range list.Content {
				d.vnfd.VNFMInfo = append(d.vnfd.VNFMInfo, item.Value)
			}
		}
		for _, operation := range scripts(t) {
			if !slices.Contains(d.vnfd.Scripts, operation) {
				d.vnfd.Scripts = append(d.vnfd.Scripts, operation)
			}
		}
	}
	slices.Sort(d.vnfd.Scripts)
}

// noScript is the implementation of an operation that has none, as packages of Tacker spell it.
const noScript = "noop"

// scripts are the operations of a VNF's life-cycle interface that have an implementation.
func scripts(t template) []string {
	var found []string
	implemented := func(name string, n *yaml.Node) {
		var operation struct {
			Implementation yaml.Node `yaml:"implementation"`
		}
		switch {
		case n.Kind == yaml.MappingNode:
			err := n.Decode(&operation) // of one that cannot be read somebody may read a script
			if i := operation.Implementation; err != nil || !i.IsZero() && i.Tag != "!!null" && i.Value != noScript {
				found = append(found, name)
			}
		case n.Tag != "!!null" && n.Value != "" && n.Value != noScript:
			found = append(found, name)
		}
	}
	for name, n := range t.Interfaces {
		if name != "Vnflcm" {
			continue
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key, value := n.Content[i].Value, n.Content[i+1]; key {
			case "type", "inputs", "notifications":
			case "operations": // TOSCA 1.3
				for j := 0; j+1 < len(value.Content); j += 2 {
					implemented(value.Content[j].Value, value.Content[j+1])
				}
			default:
				implemented(key, value)
			}
		}
	}
	return found
}

// fallback is the default of a type's property, if it is a text.
func (d *descriptor) fallback(name, property string) string {
	if n := d.property(name, property); n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// property is the default of a type's property, or of the one it derives from.
func (d *descriptor) property(name, property string) yaml.Node {
	for range 32 {
		t, ok := d.types[name]
		if !ok {
			break
		}
		if p := t.Properties[property]; !p.Default.IsZero() {
			return p.Default
		}
		name = t.DerivedFrom
	}
	return yaml.Node{}
}

// flavour reads the deployment flavour that a file describes, if it does.
func (d *descriptor) flavour(f definitions) error {
	id := f.Topology.Substitution.Properties["flavour_id"]
	if id.Kind != yaml.ScalarNode || id.Value == "" {
		return nil
	}
	if _, twice := d.vnfd.Flavours[id.Value]; twice {
		return fault(f.path, "describes flavour %s, which another file describes too", Printable(id.Value))
	}
	fl := Flavour{ID: id.Value, VDUs: map[string]VDU{}, Aspects: map[string]Aspect{}, Levels: map[string]Level{}, steps: map[string]string{}}
	for name, t := range f.Topology.Templates {
		switch {
		case d.is(t.Type, typeVNF):
			if n, ok := t.Properties["flavour_description"]; ok {
				fl.Description = n.Value
			}
		case d.is(t.Type, typeCompute), d.is(t.Type, typeContainer):
			v, err := vduOf(f.path, name, t)
			if err != nil {
				return err
			}
			fl.VDUs[name] = v
		case d.is(t.Type, typeOneOfUnit):
			fl.Containers = true
		}
		if err := d.network(f.path, name, t, &fl); err != nil {
			return err
		}
		if image, err := imageOf(f.path, name, t); err != nil {
			return err
		} else if image != "" {
			if fl.Images == nil {
				fl.Images = map[string]string{}
			}
			fl.Images[name] = image
		}
	}
	for name, in := range f.Topology.Inputs {
		if !in.Default.IsZero() {
			text, err := yaml.Marshal(&in.Default)
			if err != nil {
				return fault(f.path, "has an input in line %d whose default cannot be read", in.Default.Line)
			}
			d.vnfd.Inputs[name] = strings.TrimSpace(string(text))
		}
	}
	if err := scaling(f, &fl); err != nil {
		return err
	}
	fl.ExtCPs = outside(f.Topology.Substitution.Requirements)
	slices.Sort(fl.Networks)
	d.vnfd.Flavours[fl.ID] = fl
	return nil
}

func vduOf(file, name string, t template) (VDU, error) {
	v := VDU{ID: name, Name: name}
	if n := t.Properties["name"]; n.Kind == yaml.ScalarNode {
		v.Name = n.Value
	}
	if n, ok := t.Properties["vdu_profile"]; ok {
		var profile struct {
			Min int `yaml:"min_number_of_instances"`
			Max int `yaml:"max_number_of_instances"`
		}
		if err := n.Decode(&profile); err != nil || profile.Min < 0 || profile.Max < profile.Min {
			return VDU{}, fault(file, "has a vdu_profile of %s in line %d whose numbers of instances make no sense", name, n.Line)
		}
		v.Min, v.Max = profile.Min, profile.Max
	}
	v.Initial = v.Min
	if n, ok := t.Artifacts["sw_image"]; ok {
		var image struct {
			File string `yaml:"file"`
		}
		if n.Kind == yaml.ScalarNode {
			image.File = n.Value
		} else if err := n.Decode(&image); err != nil {
			return VDU{}, fault(file, "has an sw_image of %s in line %d that cannot be read", name, n.Line)
		}
		v.Image = image.File
	}
	var err error
	v.Compute, err = computeOf(file, name, t)
	return v, err
}

// imageOf is the name of the software image of a VDU or a storage; empty if it has none.
func imageOf(file, name string, t template) (string, error) {
	n, ok := t.Properties["sw_image_data"]
	if !ok {
		return "", nil
	}
	var image struct {
		Name string `yaml:"name"`
	}
	if err := n.Decode(&image); err != nil {
		return "", fault(file, "has sw_image_data of %s in line %d that cannot be read", name, n.Line)
	}
	return image.Name, nil
}

// computeOf is the flavour of the VIM that a VDU asks for by name. Packages of Tacker name it so.
func computeOf(file, name string, t template) (string, error) {
	n, ok := t.Capabilities["virtual_compute"]
	if !ok {
		return "", nil
	}
	var capability struct {
		Properties struct {
			Additional struct {
				Properties struct {
					Name string `yaml:"requested_additional_capability_name"`
				} `yaml:"properties"`
			} `yaml:"requested_additional_capabilities"`
		} `yaml:"properties"`
	}
	if err := n.Decode(&capability); err != nil {
		return "", fault(file, "has a capability virtual_compute of %s in line %d that cannot be read", name, n.Line)
	}
	return capability.Properties.Additional.Properties.Name, nil
}

// outside are the templates that requirements of a substitution lead to.
func outside(requirements yaml.Node) (names []string) {
	all := []*yaml.Node{&requirements}
	if requirements.Kind == yaml.SequenceNode {
		all = requirements.Content
	}
	for _, links := range all {
		if links.Kind != yaml.MappingNode {
			continue
		}
		for i := 1; i < len(links.Content); i += 2 {
			if to := links.Content[i]; to.Kind == yaml.SequenceNode && len(to.Content) > 0 && to.Content[0].Kind == yaml.ScalarNode {
				names = append(names, to.Content[0].Value)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package vnfpkg_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// top, types and simple are a descriptor as the packages of the field have it: spread
// over files, with the identity as defaults of the VNF's own type.
const (
	top = `
tosca_definitions_version: tosca_simple_yaml_1_2
imports:
  - types.yaml
  - {namespace_prefix: s, file: simple.yaml}
  - somewhere: {file: https://example.org/never-fetched.yaml}
topology_template:
  inputs:
    selected_flavour: {type: string}
  node_templates:
    VNF:
      type: company.VNF
      properties:
        flavour_id: {get_input: selected_flavour}
        provider: Company A
`
	types = `
data_types:
  company.Parameters:
    derived_from: tosca.datatypes.nfv.VnfOperationAdditionalParameters
    properties:
      login: {type: string, metadata: {hidden: true}}
      site: {type: string}
node_types:
  company.CP: {derived_from: tosca.nodes.nfv.VduCp}
  company.VNF:
    derived_from: tosca.nodes.nfv.VNF
    properties:
      descriptor_id: {type: string, default: b1bb0ce7-ebca-4fa7-95ed-4840d70a1177}
      descriptor_version: {type: string, default: '1.0'}
      provider: {type: string, default: Company}
      product_name: {type: string, default: Sample CNF}
      software_version: {type: string, default: '1.0'}
      flavour_id: {type: string, default: simple}
`
	simple = `
topology_template:
  inputs:
    replicas: {type: integer, default: 2}
    unset: {type: string}
  substitution_mappings:
    node_type: company.VNF
    properties: {flavour_id: simple}
  node_templates:
    VNF:
      type: company.VNF
      properties: {flavour_description: A simple flavour}
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: vdu1
        vdu_profile: {min_number_of_instances: 1, max_number_of_instances: 3}
        sw_image_data: {name: cirros, version: '0.5.2'}
      capabilities:
        virtual_compute: {properties: {requested_additional_capabilities: {properties: {requested_additional_capability_name: m1.tiny}}}}
      artifacts:
        sw_image: {type: tosca.artifacts.nfv.SwImage, file: Files/images/web.img}
    VDU1_CP1:
      type: company.CP
    Link:
      type: tosca.nodes.nfv.VnfVirtualLink
      properties:
        vl_profile:
          virtual_link_protocol_data:
            - associated_layer_protocol: ipv4
              l2_protocol_data: {network_type: vlan, mtu: 1400, segmentation_id: '7'}
              l3_protocol_data: {ip_version: ipv4, cidr: 10.1.0.0/24, gateway_ip: 10.1.0.1, dhcp_enabled: false, ip_allocation_pools: [{start_ip_address: 10.1.0.5, end_ip_address: 10.1.0.9}]}
  policies:
    - vdu1_levels: {type: tosca.policies.nfv.VduInstantiationLevels, properties: {levels: {level_1: {number_of_instances: 1}, level_2: {number_of_instances: 3}}}, targets: [VDU1]}
    - aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            vdu1_aspect: {name: vdu1_aspect, description: scales VDU1, max_scale_level: 2, step_deltas: [delta_1]}
    - initial: {type: tosca.policies.nfv.VduInitialDelta, properties: {initial_delta: {number_of_instances: 1}}, targets: [VDU1]}
    - deltas: {type: tosca.policies.nfv.VduScalingAspectDeltas, properties: {aspect: vdu1_aspect, deltas: {delta_1: {number_of_instances: 1}, delta_2: {number_of_instances: 9}}}, targets: [VDU1]}
    - levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            level_1: {description: smallest, scale_info: {vdu1_aspect: {scale_level: 0}}}
            level_2: {description: largest, scale_info: {vdu1_aspect: {scale_level: 2}}}
          default_level: level_1
    - other: {type: tosca.policies.nfv.AffinityRule, properties: {scope: zone}, targets: [VDU1]}
`
)

// described is a package of these definitions beside top.
func described(t *testing.T, top, types, simple string) (vnfpkg.VNFD, error) {
	t.Helper()
	c, err := open(archive(t, meta(), file{name: "Definitions/top.yaml", text: top},
		file{name: "Definitions/types.yaml", text: types}, file{name: "Definitions/simple.yaml", text: simple}), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Descriptor()
}

func TestDescriptor(t *testing.T) {
	got, err := described(t, top, types, simple)
	if err != nil {
		t.Fatal(err)
	}
	want := vnfpkg.VNFD{
		ID: "b1bb0ce7-ebca-4fa7-95ed-4840d70a1177", Provider: "Company A", ProductName: "Sample CNF", SoftwareVersion: "1.0", Version: "1.0",
		DefaultFlavour: "simple", Inputs: map[string]string{"replicas": "2"},
		Parameters: map[string]bool{"replicas": false, "selected_flavour": false, "unset": false, "login": true, "site": false},
		Flavours: map[string]vnfpkg.Flavour{"simple": {
			ID: "simple", Description: "A simple flavour",
			VDUs:    map[string]vnfpkg.VDU{"VDU1": {ID: "VDU1", Name: "vdu1", Min: 1, Max: 3, Initial: 1, Image: "Files/images/web.img", Compute: "m1.tiny"}},
			Images:  map[string]string{"VDU1": "cirros"},
			Aspects: map[string]vnfpkg.Aspect{"vdu1_aspect": {ID: "vdu1_aspect", Name: "vdu1_aspect", Description: "scales VDU1", MaxLevel: 2, Deltas: map[string]int{"VDU1": 1}}},
			Levels: map[string]vnfpkg.Level{
				"level_1": {Description: "smallest", Scale: map[string]int{"vdu1_aspect": 0}, Instances: map[string]int{"VDU1": 1}},
				"level_2": {Description: "largest", Scale: map[string]int{"vdu1_aspect": 2}, Instances: map[string]int{"VDU1": 3}},
			},
			DefaultLevel: "level_1", Networks: []string{"VduCp VDU1_CP1", "VnfVirtualLink Link"},
			Links: map[string]vnfpkg.VirtualLink{"Link": {
				CIDR: "10.1.0.0/24", Gateway: "10.1.0.1", DHCP: new(bool), Pools: []vnfpkg.Range{{Start: "10.1.0.5", End: "10.1.0.9"}}, MTU: 1400, Type: "vlan",
				Segmentation: 7,
			}},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(vnfpkg.Flavour{})); diff != "" {
		t.Errorf("Descriptor() (-want +got):\n%s", diff)
	}
}

func TestDescriptorRefuses(t *testing.T) {
	edit := func(text, old, now string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the definitions hold no %q", old)
		}
		return strings.Replace(text, old, now, 1)
	}
	for name, c := range map[string]struct{ top, types, simple, want string }{
		"a vl_profile that is none":    {top, types, edit(simple, "vl_profile:\n", "vl_profile: text\n        other:\n"), "has a vl_profile of Link that is none"},
		"a segmentation of letters":    {top, types, edit(simple, "segmentation_id: '7'", "segmentation_id: x"), "has a segmentation_id of Link that is no number"},
		"an empty flavour":             {top, types, edit(simple, "flavour_id: simple", "flavour_id: ''"), "no deployment flavour"},
		"an image that is none":        {top, types, edit(simple, "sw_image_data: {name: cirros, version: '0.5.2'}", "sw_image_data: text"), "has sw_image_data of VDU1 in line"},
		"an image file that is none":   {top, types, edit(simple, "sw_image: {type: tosca.artifacts.nfv.SwImage, file: Files/images/web.img}", "sw_image: [a]"), "has an sw_image of VDU1 in line"},
		"a compute that is none":       {top, types, edit(simple, "virtual_compute: {", "virtual_compute: text\n        other: {"), "virtual_compute of VDU1 in line"},
		"a profile that is none":       {top, types, edit(simple, "{min_number_of_instances: 1, max_number_of_instances: 3}", "text"), "make no sense"},
		"less than nothing":            {top, types, edit(simple, "min_number_of_instances: 1", "min_number_of_instances: -1"), "make no sense"},
		"more than there may be":       {top, types, edit(simple, "max_number_of_instances: 3", "max_number_of_instances: 100001"), "over 100000"},
		"more at first":                {top, types, edit(simple, "initial_delta: {number_of_instances: 1}", "initial_delta: {number_of_instances: 100001}"), "over 100000"},
		"steps without end":            {top, types, edit(simple, "max_scale_level: 2", "max_scale_level: 100001"), "level or step"},
		"steps below nothing":          {top, types, edit(edit(simple, "max_scale_level: 2", "max_scale_level: -1"), "{scale_level: 2}", "{scale_level: -1}"), "level or step"},
		"a step a bit too large":       {top, types, edit(simple, "delta_1: {number_of_instances: 1}", "delta_1: {number_of_instances: 100001}"), "level or step"},
		"a level of an unknown aspect": {top, types, edit(simple, "{vdu1_aspect: {scale_level: 0}}", "{other: {scale_level: 0}}"), "where it cannot be"},
		"a level of too many":          {top, types, edit(simple, "level_2: {number_of_instances: 3}", "level_2: {number_of_instances: 100001}"), "gives level level_2 a number"},
		"a level of less than none":    {top, types, edit(simple, "level_2: {number_of_instances: 3}", "level_2: {number_of_instances: -1}"), "gives level level_2 a number"},
		"deltas of an unknown step":    {top, types, edit(simple, "deltas: {delta_1: ", "deltas: {delta_3: "), "cannot be read"},
		"policies that are none":       {top, types, simple[:strings.Index(simple, "  policies:")] + "  policies: [text]\n", "has policies in line"},
		"a policy that is none":        {top, types, simple[:strings.Index(simple, "  policies:")] + "  policies: {a: text}\n", "has policies in line"},
		"aspects that are none":        {top, types, edit(simple, "          aspects:\n", "          aspects: text\n          other:\n"), "ScalingAspects in line"},
		"deltas that are none":         {top, types, edit(simple, "deltas: {delta_1: {number_of_instances: 1}", "deltas: text, x: {y: {z: 1}"), "VduScalingAspectDeltas in line"},
		"an initial that is none":      {top, types, edit(simple, "{initial_delta: {number_of_instances: 1}}", "{initial_delta: text}"), "VduInitialDelta in line"},
		"levels that are none":         {top, types, edit(simple, "          levels:\n", "          levels: text\n          other:\n"), "type tosca.policies.nfv.InstantiationLevels in line"},
		"levels of VDUs that are none": {top, types, edit(simple, "properties: {levels: {level_1: {number_of_instances: 1}, level_2: {number_of_instances: 3}}}", "properties: {levels: text}"), "VduInstantiationLevels in line"},
		"an import of a list":          {edit(top, "- types.yaml", "- {types: [types.yaml]}"), types, simple, "names no file"},
		"an undefined type":            {top, edit(types, "derived_from: tosca.nodes.nfv.VNF", "derived_from: x"), edit(simple, "node_templates:\n", "node_templates:\n    VNFX: {type: company.Other, properties: {descriptor_id: x}}\n"), "whose type \"company.Other\" is not defined"},
		"no id":                        {top, edit(types, "descriptor_id: {type: string, default: b1bb0ce7-ebca-4fa7-95ed-4840d70a1177}", "x: {}"), simple, "descriptor_id"},
		"a flavour by another's name":  {top, types, edit(edit(simple, "flavour_id: simple", "flavour_id: *x"), "topology_template:\n", "x: &x simple\ntopology_template:\n"), "no deployment flavour"},
		"an import of a sequence":      {edit(top, "- types.yaml", "- [a, {file: types.yaml}]"), types, simple, "names no file"},
		"an import of nothing":         {edit(top, "- types.yaml", "- {}"), types, simple, "names no file"},
		"deltas of no aspect":          {top, types, edit(simple, "aspect: vdu1_aspect, deltas: {", "aspect: other, deltas: {'': {number_of_instances: 1}, "), "VduScalingAspectDeltas in line"},
		"no flavour":                   {top, types, edit(simple, "flavour_id: simple", "flavour_id: {get_input: x}"), "no deployment flavour"},
		"an import that is missing":    {edit(top, "types.yaml", "none.yaml"), types, simple, "is not there"},
		"an import that leads out":     {edit(top, "types.yaml", "../../../etc/passwd"), types, simple, "is not there"},
		"an import that is no name":    {edit(top, "types.yaml", "[a]"), types, simple, "names no file"},
		"a flavour twice":              {top, edit(types, "node_types:", "topology_template: {substitution_mappings: {properties: {flavour_id: simple}}}\nnode_types:"), simple, "another file describes too"},
		"no YAML":                      {top, types, "topology_template: [", "not a TOSCA definition"},
		"another shape":                {top, types, "topology_template: text", "not a TOSCA definition"},
		"more at least than at most":   {top, types, edit(simple, "min_number_of_instances: 1", "min_number_of_instances: 4"), "make no sense"},
		"a step of nothing":            {top, types, edit(simple, "delta_1: {number_of_instances: 1}", "delta_1: {number_of_instances: 0}"), "not positive"},
		"a vast step":                  {top, types, edit(simple, "delta_1: {number_of_instances: 1}", "delta_1: {number_of_instances: 1000000}"), "over"},
		"a negative initial number":    {top, types, edit(simple, "initial_delta: {number_of_instances: 1}", "initial_delta: {number_of_instances: -1}"), "negative"},
		"a target that is no VDU":      {top, types, edit(simple, "targets: [VDU1]", "targets: [VDU7]"), "no VDU"},
		"an unknown default level":     {top, types, edit(simple, "default_level: level_1", "default_level: level_9"), "default level"},
		"a scale level over the most":  {top, types, edit(simple, "{scale_level: 2}", "{scale_level: 3}"), "where it cannot be"},
		"a scale level below 0":        {top, types, edit(simple, "{scale_level: 0}", "{scale_level: -1}"), "where it cannot be"},
		"deltas of an unknown aspect":  {top, types, edit(simple, "aspect: vdu1_aspect", "aspect: other"), "cannot be read"},
		"aliases that grow without end": {top, types, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"topology_template: {node_templates: {V: {type: x, properties: {p: [*d,*d,*d,*d,*d,*d,*d,*d,*d]}}}}", "no deployment flavour"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := described(t, c.top, c.types, c.simple)
			wantFault(t, err, c.want)
		})
	}
}

// A descriptor may say the same in other ways.
func TestDescriptorForms(t *testing.T) {
	edit := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("the definitions hold no %q", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	types := edit(types, "node_types:\n", "  company.Other: {properties: {color: {type: string, metadata: {hidden: true}}}}\n"+
		"  tosca.datatypes.nfv.VnfOperationAdditionalParameters: {properties: {base: {metadata: {hidden: true}}}}\n"+
		"  company.More: {derived_from: company.Parameters, properties: {again: {metadata: {hidden: 'TRUE'}}}}\nnode_types:\n"+
		"  company.VNF2: {derived_from: company.VNF, properties: {product_name: {type: string}}}\n")
	simple := edit(simple,
		"inputs:\n", "inputs:\n    login: {type: string}\n",
		"properties: {flavour_id: simple}\n", "properties: {flavour_id: simple}\n"+
			"    requirements: [{a: [CP2, virtual_link], b: [], c: text, d: [[x]], g: {node: CP7}}, text, [h, [CP8, virtual_link]], {e: [CP1, virtual_link]}, {f: [CP1, virtual_link]}]\n",
		"    VDU1:\n", "    VDU2: {type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit, properties: {name: {get_input: x}, vdu_profile: {min_number_of_instances: 0, max_number_of_instances: 100000}}, "+
			"artifacts: {sw_image: Files/x.img}}\n    VDU1:\n",
		"step_deltas: [delta_1]}\n", "step_deltas: [delta_1]}\n            still: {max_scale_level: 100000}\n          other: 1\n        targets: [nothing]\n",
		"deltas: {delta_1: {number_of_instances: 1}", "deltas: {delta_1: {number_of_instances: 100000}",
		"level_2: {number_of_instances: 3}", "level_2: {number_of_instances: 100000}, level_9: {number_of_instances: 1}",
		"          default_level: level_1\n", "          default_level: level_1\n        targets: [nothing]\n")
	for name, top := range map[string]string{
		"a mapping of imports": edit(top, "- types.yaml", "- {any: {other: types.yaml}}", "{namespace_prefix: s, file: simple.yaml}", "{repository: r, url: simple.yaml}"),
		"two of a name":        edit(top, "- types.yaml", "- {a: {file: none.yaml}, file: types.yaml}"),
		"a name and a file":    edit(top, "- types.yaml", "- {any: types.yaml}", "{namespace_prefix: s, file: simple.yaml}", "{s: {repository: r, file: simple.yaml}}"),
	} {
		got, err := described(t, edit(top, "type: company.VNF", "type: company.VNF2"), types, simple)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if secret := got.SecretParameters(); !slices.Equal(secret, []string{"again", "login"}) || got.ProductName != "Sample CNF" || len(got.Scripts) != 0 {
			t.Errorf("%s: secret %q, product %q", name, secret, got.ProductName)
		}
		if _, has := got.Parameters["color"]; has || len(got.Parameters) != 6 {
			t.Errorf("%s: parameters %v", name, got.Parameters)
		}
		f := got.Flavours["simple"]
		if want := (vnfpkg.VDU{ID: "VDU2", Name: "VDU2", Max: 100_000, Image: "Files/x.img"}); f.VDUs["VDU2"] != want {
			t.Errorf("%s: the VDU is %+v, want %+v", name, f.VDUs["VDU2"], want)
		}
		if !slices.Equal(f.ExtCPs, []string{"CP1", "CP2"}) || f.Aspects["still"].MaxLevel != 100_000 || f.Aspects["vdu1_aspect"].Deltas["VDU1"] != 100_000 {
			t.Errorf("%s: outside %q, aspects %+v", name, f.ExtCPs, f.Aspects)
		}
		for _, c := range []struct {
			vdu, level string
			n          int
			said       bool
		}{{"VDU1", "level_1", 1, true}, {"VDU1", "level_2", 100_000, true}, {"VDU1", "", 1, true}, {"VDU2", "level_2", 0, false}} {
			if n, said := f.Number(c.vdu, f.Levels[c.level]); n != c.n || said != c.said {
				t.Errorf("%s: Number(%s, %q) = %d, %t, want %d, %t", name, c.vdu, c.level, n, said, c.n, c.said)
			}
		}
	}
	at := strings.Index(simple, "  policies:")
	mapped, err := described(t, top, types, edit(simple[:at]+"  policies: {a: {type: tosca.policies.nfv.ScalingAspects, properties: {aspects: {one: {max_scale_level: 1}}}}, b: {type: x}}\n",
		"requirements: [", "requirements: {a: [CP3, virtual_link]}\n    other: ["))
	if f := mapped.Flavours["simple"]; err != nil || f.Aspects["one"].MaxLevel != 1 || !slices.Equal(f.ExtCPs, []string{"CP3"}) {
		t.Errorf("policies and requirements that are mappings are %+v and %q, %v", f.Aspects, f.ExtCPs, err)
	}
}

// one is a descriptor in one file, whose VNF takes what it does not say from its types.
const one = `
node_types:
  base: {derived_from: tosca.nodes.nfv.VNF, properties: {product_name: {default: Base}, vnfm_info: {default: [tacker, other]}, provider: {default: {get_input: x}}}}
  middle: {derived_from: base, properties: {product_name: {type: string}, software_version: {default: '3'}}}
  odd: {derived_from: even}
  even: {derived_from: odd}
topology_template:
  substitution_mappings: {properties: {flavour_id: simple}, requirements: {a: [CP1]}}
  node_templates:
    VNF: {type: middle, properties: {descriptor_id: id, software_version: {get_input: x}, descriptor_version: '1'}}
    Odd: {type: odd, properties: {vl_profile: {}}}
    Link: {type: tosca.nodes.nfv.VnfVirtualLink, properties: {vl_profile: {}}}
    Unit: {type: tosca.nodes.nfv.Vdu.OsContainer}
    CP1: {type: tosca.nodes.nfv.VduCp}
    CP2: {type: tosca.nodes.nfv.VnfExtCp}
    CP3: {type: tosca.nodes.nfv.VipCp}
    CP4: {type: tosca.nodes.nfv.VirtualCp}
    CP5: {type: tosca.nodes.nfv.VduCp}
    CP6: {type: tosca.nodes.nfv.VduCp}
`

// What a descriptor leaves to its types is theirs, and a type in a circle is no type of SOL001's.
func TestDescriptorOfOneFile(t *testing.T) {
	for _, version := range []string{"tosca_simple_yaml_1_2", "tosca_simple_profile_for_nfv_1_0_0"} {
		c, err := open([]byte("tosca_definitions_version: "+version+one), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Descriptor()
		if diff := cmp.Diff(vnfpkg.VNFD{
			ID: "id", ProductName: "Base", SoftwareVersion: "3", Version: "1", VNFMInfo: []string{"tacker", "other"}, Inputs: map[string]string{}, Parameters: map[string]bool{},
			Flavours: map[string]vnfpkg.Flavour{"simple": {
				ID: "simple", VDUs: map[string]vnfpkg.VDU{}, Aspects: map[string]vnfpkg.Aspect{}, Levels: map[string]vnfpkg.Level{}, ExtCPs: []string{"CP1"},
				Networks: []string{"VduCp CP1", "VduCp CP5", "VduCp CP6", "VipCp CP3", "VirtualCp CP4", "VnfExtCp CP2", "VnfVirtualLink Link"}, Containers: true, Links: map[string]vnfpkg.VirtualLink{"Link": {}},
			}},
		}, got, cmpopts.IgnoreUnexported(vnfpkg.Flavour{})); err != nil || diff != "" {
			t.Errorf("Descriptor of %s = %v (-want +got):\n%s", version, err, diff)
		}
	}
}

// Where the descriptor gives no number for a level, it is what the steps of its aspects add.
func TestNumberByAspects(t *testing.T) {
	f := vnfpkg.Flavour{
		VDUs:    map[string]vnfpkg.VDU{"web": {Initial: 2}, "db": {Initial: 4}},
		Aspects: map[string]vnfpkg.Aspect{"wide": {Deltas: map[string]int{"web": 3}}, "more": {Deltas: map[string]int{"web": 1}}, "slow": {Deltas: map[string]int{"db": 1}}},
	}
	level := vnfpkg.Level{Scale: map[string]int{"wide": 2, "more": 1}}
	for id, want := range map[string]int{"web": 9, "db": 4, "none": 0} {
		if n, said := f.Number(id, level); n != want || said != (id != "none") {
			t.Errorf("Number(%s) = %d, %t, want %d", id, n, said, want)
		}
	}
	all := vnfpkg.VNFD{Parameters: map[string]bool{"shown": false}}
	var want []string
	for n := range 10 {
		all.Parameters[fmt.Sprint("p", n)], want = true, append(want, fmt.Sprint("p", n))
	}
	if got := all.SecretParameters(); !slices.Equal(got, want) {
		t.Errorf("SecretParameters = %q, want %q", got, want)
	}
}

// The files of a descriptor are the entry and what it imports; that of a flavour is found by the flavour's id.
func TestDefinitionsAndTopology(t *testing.T) {
	c, err := open(archive(t, meta(), file{name: "Definitions/top.yaml", text: top}, file{name: "Definitions/types.yaml", text: types},
		file{name: "Definitions/simple.yaml", text: simple}), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := c.Definitions()
	if err != nil || !slices.Equal(names, []string{"Definitions/top.yaml", "Definitions/types.yaml", "Definitions/simple.yaml"}) {
		t.Errorf("Definitions = %q, %v", names, err)
	}
	got, err := c.Topology("simple")
	if err != nil || got.File != "Definitions/simple.yaml" || len(got.Root.Content) == 0 || !got.Is("company.VNF", "tosca.nodes.nfv.VNF") ||
		!got.Has(got.File) || got.Has("none") {
		t.Errorf("Topology = %+v, %v", got, err)
	}
	if value := got.Default("company.VNF", "provider"); value.Value != "Company" {
		t.Errorf("the provider is %q by default", value.Value)
	}
	if got.Is("company.VNF", "company.CP") || got.Is("none", "tosca.nodes.nfv.VNF") {
		t.Error("a VNF is a connection point")
	}
	_, err = c.Topology("large")
	wantFault(t, err, "describes no deployment flavour large")
	c, err = open(archive(t, meta(), file{name: "Definitions/top.yaml", text: strings.Replace(top, "- types.yaml\n", "- types.yaml\n  - types.yaml\n", 1)},
		file{name: "Definitions/types.yaml", text: types + "imports: [top.yaml, simple.yaml]\n"},
		file{name: "Definitions/simple.yaml", text: strings.Replace(simple, "flavour_id: simple", "flavour_id: other", 1)}), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := c.Definitions(); err != nil || !slices.Equal(names, []string{"Definitions/top.yaml", "Definitions/types.yaml", "Definitions/simple.yaml"}) {
		t.Errorf("Definitions of what imports twice = %q, %v", names, err)
	}
	_, err = c.Topology("simple")
	wantFault(t, err, "describes no deployment flavour simple")
	if c, err = open([]byte(simpleProfile), vnfpkg.ArchiveLimits{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Topology("simple"); err != nil || got.File != "vnfd.yaml" {
		t.Errorf("Topology of the simple profile = %+v, %v", got, err)
	}
	_, err = c.Topology("large")
	wantFault(t, err, "describes no deployment flavour large")
	c, err = open([]byte(strings.Replace(simpleProfile, "properties: {vnfcs: {web: {image: nginx}}}", "properties: {vnfcs: {}}", 1)), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := c.Descriptor(); err != nil || d.Flavours["simple"].Containers {
		t.Errorf("a unit without containers is %+v, %v", d, err)
	}
}

// A type that derives from itself ends.
func TestDescriptorWithTypesInACircle(t *testing.T) {
	circle := types + "  a: {derived_from: b}\n  b: {derived_from: a}\n"
	got, err := described(t, top, circle, strings.Replace(simple, "tosca.nodes.nfv.VnfVirtualLink", "a", 1))
	if err != nil || len(got.Flavours["simple"].VDUs) != 1 {
		t.Errorf("Descriptor = %+v, %v", got, err)
	}
}

// A descriptor is spread over a bounded number of files.
func TestDescriptorOfManyFiles(t *testing.T) {
	files := []file{meta(), {name: "Definitions/top.yaml", text: "imports: [0.yaml]"}}
	for n := range 250 {
		files = append(files, file{name: fmt.Sprintf("Definitions/%d.yaml", n), text: fmt.Sprintf("imports: [%d.yaml]", min(n+1, 249))})
	}
	c, err := open(archive(t, files...), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Descriptor()
	wantFault(t, err, "imports more than 200 files")
}

// FuzzDescriptor: any text is a descriptor that can be used, or is refused.
func FuzzDescriptor(f *testing.F) {
	f.Add(top, types, simple)
	f.Add("imports: [types.yaml, types.yaml]", "imports: [top.yaml]", "a: &a [*a]")
	f.Add(top, strings.Replace(types, "derived_from: tosca.nodes.nfv.VNF", "derived_from: company.VNF", 1), simple)
	f.Add(top, types, strings.Replace(simple, "scale_level: 2", "scale_level: 9223372036854775807", 1))
	f.Fuzz(func(t *testing.T, top, types, simple string) {
		c, err := open(archive(t, meta(), file{name: "Definitions/top.yaml", text: top},
			file{name: "Definitions/types.yaml", text: types}, file{name: "Definitions/simple.yaml", text: simple}), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Descriptor()
		var fault *vnfpkg.PackageError
		switch {
		case err != nil && !errors.As(err, &fault):
			t.Errorf("%v, which is no fault of the package", err)
		case err == nil && (d.ID == "" || len(d.Flavours) == 0):
			t.Errorf("%+v without an error", d)
		}
		for _, flavour := range d.Flavours {
			for _, v := range flavour.VDUs {
				if v.Min < 0 || v.Initial < 0 || v.Max != 0 && v.Max < v.Min {
					t.Errorf("%+v can never be", v)
				}
			}
		}
	})
}

// simpleProfile is a descriptor as Tacker's tutorials have it.
const simpleProfile = `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
metadata: {template_name: shop, template_author: acme}
topology_template:
  node_templates:
    VDU1: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {web: {image: nginx}}}}
`

// A descriptor of the simple profile has an id that follows from its content alone: bare, and in a package.
func TestSimpleProfile(t *testing.T) {
	id := func(text string, packed bool) string {
		t.Helper()
		content := []byte(text)
		if packed {
			content = archive(t, file{name: "deep/x.yaml", text: text}, file{name: vnfpkg.MetaFile, text: "TOSCA-Meta-File-Version: 1.0\nEntry-Definitions: deep/x.yaml\n"})
		}
		c, err := open(content, vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Descriptor()
		if err != nil {
			t.Fatal(err)
		}
		if f := d.Flavours[d.DefaultFlavour]; d.ProductName != "shop" || d.Version != "1.0" || d.SoftwareVersion != "1.0" || d.Provider != "acme" || f.VDUs["VDU1"].Initial != 1 || !f.Containers {
			t.Errorf("%+v", d)
		}
		return d.ID
	}
	bare := id(simpleProfile, false)
	if again, packed := id(simpleProfile, false), id(simpleProfile, true); again != bare || packed != bare {
		t.Errorf("the id is %s, %s and in a package %s", bare, again, packed)
	}
	if other := id(strings.Replace(simpleProfile, "nginx", "nginx:2", 1), false); other == bare {
		t.Error("another content has the same id")
	}
}

// The id follows from the files whatever their names are, and the version is the template's; a unit among many makes them containers.
func TestSimpleProfileOfSeveralFiles(t *testing.T) {
	var ids []string
	profile := "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\nmetadata: {template_name: shop, template_author: acme, template_version: '2.0'}\nimports: [a.yaml, b.yaml]\n" +
		"topology_template:\n  node_templates:\n    Web: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: [web]}}\n    Other: {type: x}\n"
	for n := range 30 {
		profile += fmt.Sprintf("    Plain%d: {type: tosca.nodes.nfv.VDU.Tacker}\n", n)
	}
	texts := []string{"topology_template: {substitution_mappings: {properties: {flavour_id: simple}}}\n", "node_types: {x: {}}\n"}
	for n := range texts {
		c, err := open(archive(t, meta(), file{name: "Definitions/top.yaml", text: profile}, file{name: "Definitions/a.yaml", text: texts[n]}, file{name: "Definitions/b.yaml", text: texts[1-n]}), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Descriptor()
		if f := got.Flavours["simple"]; err != nil || !f.Containers || len(f.VDUs) != 31 || got.Version != "2.0" || got.SoftwareVersion != "2.0" {
			t.Errorf("Descriptor = %+v, %v", got, err)
		}
		if of, err := c.Topology("simple"); err != nil || of.File != "Definitions/"+string("ab"[n])+".yaml" {
			t.Errorf("the file of the flavour is %s, %v", of.File, err)
		}
		ids = append(ids, got.ID)
	}
	if ids[0] != ids[1] {
		t.Errorf("the same texts have the ids %q", ids)
	}
}

// A bare file is a package if it says so in its first lines and is no larger than a text may be.
func TestBareDescriptor(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n":                   "is not a ZIP archive",
		"# \x00\n" + simpleProfile: "is not a ZIP archive",
		"\x00\n" + simpleProfile:   "is not a ZIP archive",
		simpleProfile + "#" + strings.Repeat("x", 1500-len(simpleProfile)-1): "",
		simpleProfile + "#" + strings.Repeat("x", 1500-len(simpleProfile)):   "is not a ZIP archive",
		strings.Repeat("# x\n", 5000) + simpleProfile:                        "is not a ZIP archive",
		simpleProfile + strings.Repeat("# x\n", 500):                         "is not a ZIP archive",
		"x: y\n  tosca_definitions_version: in the middle\n":                 "is not a ZIP archive",
		"# License\n" + simpleProfile:                                        "",
	} {
		_, err := open([]byte(text), vnfpkg.ArchiveLimits{Text: 1500})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

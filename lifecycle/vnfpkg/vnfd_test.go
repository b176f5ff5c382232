package vnfpkg_test

import (
	"errors"
	"fmt"
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
		"an undefined type":           {top, edit(types, "derived_from: tosca.nodes.nfv.VNF", "derived_from: x"), edit(simple, "node_templates:\n", "node_templates:\n    VNFX: {type: company.Other, properties: {descriptor_id: x}}\n"), "whose type \"company.Other\" is not defined"},
		"no id":                       {top, edit(types, "descriptor_id: {type: string, default: b1bb0ce7-ebca-4fa7-95ed-4840d70a1177}", "x: {}"), simple, "descriptor_id"},
		"no flavour":                  {top, types, edit(simple, "flavour_id: simple", "flavour_id: {get_input: x}"), "no deployment flavour"},
		"an import that is missing":   {edit(top, "types.yaml", "none.yaml"), types, simple, "is not there"},
		"an import that leads out":    {edit(top, "types.yaml", "../../../etc/passwd"), types, simple, "is not there"},
		"an import that is no name":   {edit(top, "types.yaml", "[a]"), types, simple, "names no file"},
		"a flavour twice":             {top, edit(types, "node_types:", "topology_template: {substitution_mappings: {properties: {flavour_id: simple}}}\nnode_types:"), simple, "another file describes too"},
		"no YAML":                     {top, types, "topology_template: [", "not a TOSCA definition"},
		"another shape":               {top, types, "topology_template: text", "not a TOSCA definition"},
		"more at least than at most":  {top, types, edit(simple, "min_number_of_instances: 1", "min_number_of_instances: 4"), "make no sense"},
		"a step of nothing":           {top, types, edit(simple, "delta_1: {number_of_instances: 1}", "delta_1: {number_of_instances: 0}"), "not positive"},
		"a vast step":                 {top, types, edit(simple, "delta_1: {number_of_instances: 1}", "delta_1: {number_of_instances: 1000000}"), "over"},
		"a negative initial number":   {top, types, edit(simple, "initial_delta: {number_of_instances: 1}", "initial_delta: {number_of_instances: -1}"), "negative"},
		"a target that is no VDU":     {top, types, edit(simple, "targets: [VDU1]", "targets: [VDU7]"), "no VDU"},
		"an unknown default level":    {top, types, edit(simple, "default_level: level_1", "default_level: level_9"), "default level"},
		"a scale level over the most": {top, types, edit(simple, "{scale_level: 2}", "{scale_level: 3}"), "where it cannot be"},
		"a scale level below 0":       {top, types, edit(simple, "{scale_level: 0}", "{scale_level: -1}"), "where it cannot be"},
		"deltas of an unknown aspect": {top, types, edit(simple, "aspect: vdu1_aspect", "aspect: other"), "cannot be read"},
		"aliases that grow without end": {top, types, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"topology_template: {node_templates: {V: {type: x, properties: {p: [*d,*d,*d,*d,*d,*d,*d,*d,*d]}}}}", "no deployment flavour"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := described(t, c.top, c.types, c.simple)
			wantFault(t, err, c.want)
		})
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
		if f := d.Flavours[d.DefaultFlavour]; d.ProductName != "shop" || d.Provider != "acme" || f.VDUs["VDU1"].Initial != 1 || !f.Containers {
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

// A bare file is a package if it says so in its first lines and is no larger than a text may be.
func TestBareDescriptor(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n":                   "is not a ZIP archive",
		"# \x00\n" + simpleProfile: "is not a ZIP archive",
		strings.Repeat("# x\n", 5000) + simpleProfile:        "is not a ZIP archive",
		simpleProfile + strings.Repeat("# x\n", 500):         "is not a ZIP archive",
		"x: y\n  tosca_definitions_version: in the middle\n": "is not a ZIP archive",
		"# License\n" + simpleProfile:                        "",
	} {
		_, err := open([]byte(text), vnfpkg.ArchiveLimits{Text: 1500})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

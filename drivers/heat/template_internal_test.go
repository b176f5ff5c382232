package heat

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// packed are the files of flavour f, by their names in its folder.
func packed(files map[string]string) (all []lifecycle.Manifest) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, lifecycle.Manifest{Path: "BaseHOT/f/" + name, Text: secret.NewText(files[name])})
	}
	return all
}

// What is known of templates: each of these packages differs from another in what is compared here alone.
func TestWhatIsReadOfTemplates(t *testing.T) {
	const none = "resources: {a: {type: OS::Heat::None}}\n"
	type known struct {
		top                           string
		files                         []string
		resources                     []string // with what is below each
		asked                         string
		kinds, images, secrets, texts []string
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  known
	}{
		"a yml and a script": {
			map[string]string{"t.yml": none, "run.sh": "resources: [\n"},
			known{top: "t.yml", resources: []string{"a: a"}, kinds: []string{"OS::Heat::None"}},
		},
		"a template with a nested one": {
			map[string]string{
				"t.template": "resources:\n  a: {type: n.yaml}\n  b: {type: OS::Heat::None, condition: c}\n",
				"n.yaml":     "resources:\n  c: {type: OS::Heat::Value, properties: {value: {get_file: run.sh}}}\n", "run.sh": "sh",
			},
			known{top: "t.template", files: []string{"n.yaml", "run.sh"}, resources: []string{"a: a c", "b?: b"}, kinds: []string{"OS::Heat::None", "OS::Heat::Value"}, texts: []string{"run.sh"}},
		},
		"images and types of members": {
			map[string]string{"t.yaml": "resources:\n  a:\n    type: OS::Heat::ResourceGroup\n    properties:\n      resource_def: {type: OS::Nova::Server, properties: {image: cirros, x: [one, {y: two}]}}\n" +
				"  b: {type: OS::Heat::Value, properties: {value: {type: [OS::Heat::Odd]}}}\n"},
			known{top: "t.yaml", resources: []string{"a: a", "b: b"}, kinds: []string{"OS::Heat::ResourceGroup", "OS::Heat::Value", "OS::Nova::Server"}, images: []string{"cirros"}, texts: []string{"OS::Heat::Odd", "OS::Nova::Server", "cirros", "one", "two"}},
		},
		"what is asked of nfv": {
			map[string]string{"t.yaml": "parameters: {nfv: {type: json}}\nresources:\n  a:\n    type: OS::Heat::None\n    properties:\n" +
				"      - {get_param: [nfv, VDU, A, vcImageId]}\n      - {get_param: [nfv]}\n      - {get_param: [other, B]}\n      - {get_param: nfv}\n      - {get_param: [nfv, {get_param: c}]}\n      - {get_param: []}\n" +
				"      - {get_attr: [nfv, D]}\n      - {get_param: [nfv, E]}\n"},
			known{
				top: "t.yaml", resources: []string{"a: a"}, asked: `[["VDU","A","vcImageId"],["E"]]`, kinds: []string{"OS::Heat::None"},
				texts: []string{"A", "B", "D", "E", "VDU", "c", "nfv", "other", "vcImageId"},
			},
		},
		"secrets": {
			map[string]string{"t.yaml": "parameters:\n  a: {hidden: true, default: one}\n  b: {hidden: true, default: ''}\n  c: {default: two}\n  d: {hidden: true, default: [three, {x: ''}]}\n" + none},
			known{top: "t.yaml", resources: []string{"a: a"}, kinds: []string{"OS::Heat::None"}, secrets: []string{"one", "three"}},
		},
		"parameters that are a list": {
			map[string]string{"t.yaml": "parameters: [a]\n" + none},
			known{top: "t.yaml", resources: []string{"a: a"}, kinds: []string{"OS::Heat::None"}},
		},
		"the longest template": {
			map[string]string{"t.yaml": none + "#" + strings.Repeat("x", maxTemplate-len(none)-1)},
			known{top: "t.yaml", resources: []string{"a: a"}, kinds: []string{"OS::Heat::None"}},
		},
	} {
		h, err := read(packed(c.files), "f")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := known{
			top: strings.TrimPrefix(h.top, "BaseHOT/f/"), files: slices.Sorted(maps.Keys(h.files)), kinds: slices.Sorted(maps.Keys(h.kinds)),
			images: slices.Sorted(maps.Keys(h.images)), secrets: slices.Sorted(maps.Keys(h.secrets)), texts: slices.Sorted(maps.Keys(h.values)),
		}
		if h.asked != nil {
			got.asked = asJSON(t, h.asked)
		}
		for _, r := range h.resources {
			mark := ": "
			if r.conditional {
				mark = "?: "
			}
			got.resources = append(got.resources, r.name+mark+strings.Join(slices.Sorted(maps.Keys(r.within)), " "))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is read as\n%+v, want\n%+v", name, got, c.want)
		}
	}
}

// What cannot be read is refused with file and line.
func TestTemplatesThatAreRefused(t *testing.T) {
	const none = "resources: {a: {type: OS::Heat::None}}\n"
	many := func(n int) string {
		var text strings.Builder
		for i := range n {
			text.WriteString("  r" + asJSON(t, i) + ": {type: OS::Heat::None}\n")
		}
		return "resources:\n" + text.String()
	}
	const nested = "resources: {a: {type: nested/n.yaml}}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // the error; "" where there is none
	}{
		"no template":                    {map[string]string{"run.sh": "sh", "nested/n.yaml": none}, "BaseHOT/f has 0 templates that no other refers to, and must have one"},
		"two of another end":             {map[string]string{"a.yml": none, "b.template": none}, "BaseHOT/f has 2 templates that no other refers to, and must have one"},
		"itself":                         {map[string]string{"t.yaml": "resources: {a: {type: t.yaml}}\n"}, "BaseHOT/f/t.yaml is nested deeper than 10 templates"},
		"a list":                         {map[string]string{"t.yaml": "[resources]\n"}, "BaseHOT/f/t.yaml is not a template in YAML"},
		"nothing":                        {map[string]string{"t.yaml": ""}, "BaseHOT/f/t.yaml is not a template in YAML"},
		"one byte too long":              {map[string]string{"t.yaml": none + "#" + strings.Repeat("x", maxTemplate-len(none))}, "BaseHOT/f/t.yaml is longer than 512 KiB"},
		"resources that are a list":      {map[string]string{"t.yaml": "resources: [a]\n"}, "BaseHOT/f/t.yaml:1 has no resources"},
		"resources that are empty":       {map[string]string{"t.yaml": "resources: {}\n"}, "BaseHOT/f/t.yaml:1 has no resources"},
		"a URL of another name":          {map[string]string{"t.yaml": "resources: {a: {type: 'http://h/x'}}\n"}, "BaseHOT/f/t.yaml:1 refers to an URL, and Heat is to fetch nothing; put the file into the package"},
		"a file at a URL":                {map[string]string{"t.yaml": "resources: {a: {type: OS::Heat::None, x: {get_file: 'file:///x'}}}\n"}, "BaseHOT/f/t.yaml:1 refers to an URL, and Heat is to fetch nothing; put the file into the package"},
		"a file that is not text":        {map[string]string{"t.yaml": "resources: {a: {type: OS::Heat::None, x: {get_file: x}}}\n", "x": "\xff"}, "BaseHOT/f/x is not text"},
		"a name that cannot be shown":    {map[string]string{"t.yaml": "resources: {\"a\\tb\": {type: OS::Heat::None}}\n"}, "BaseHOT/f/t.yaml:1 has a resource without a type, or with a name that Heat does not take"},
		"two files of one name":          {map[string]string{"t.yaml": "resources: {a: {type: nested/n.yaml}, b: {type: OS::Heat::None, x: {get_file: x}}}\n", "x": "one", "nested/n.yaml": "resources: {c: {type: OS::Heat::None, x: {get_file: x}}}\n", "nested/x": "two"}, "BaseHOT/f/t.yaml:1 refers to x, and another template means another file by that name"},
		"a file twice":                   {map[string]string{"t.yaml": "resources: {a: {type: nested/n.yaml}, b: {type: OS::Heat::None, x: {get_file: x}}}\n", "x": "one", "nested/n.yaml": "resources: {c: {type: OS::Heat::None, x: {get_file: x}}}\n"}, ""},
		"a file that Heat works out":     {map[string]string{"t.yaml": "resources: {a: {type: OS::Heat::None, x: {get_file: [x]}}}\n"}, ""},
		"as many resources as may be":    {map[string]string{"t.yaml": many(maxDeclared)}, ""},
		"one too many in two":            {map[string]string{"t.yaml": nested, "nested/n.yaml": many(maxDeclared)}, "BaseHOT/f/t.yaml:1 is one resource too many: all templates together may have 1000"},
		"a wave twice":                   {map[string]string{"t.yaml": "resources:\n  a: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 2}}\n  b: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 2}}\n"}, ""},
		"two waves":                      {map[string]string{"t.yaml": "resources:\n  a: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 2}}\n  b: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 3}}\n"}, "BaseHOT/f/t.yaml:3 must give vimbroker.io/wave as a whole number, the same for all resources: a stack is made in one wave"},
		"the last wave":                  {map[string]string{"t.yaml": "resources: {a: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 32767}}}\n"}, ""},
		"a wave beyond":                  {map[string]string{"t.yaml": "resources: {a: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 32768}}}\n"}, "BaseHOT/f/t.yaml:1 must give vimbroker.io/wave as a whole number, the same for all resources: a stack is made in one wave"},
		"a section of nobody, the last":  {map[string]string{"t.yaml": none + "last: 1\n"}, "BaseHOT/f/t.yaml:2 has a section that no HOT has: last; leave it out"},
		"what a nested template is none": {map[string]string{"t.yaml": nested, "nested/n.yaml": "x: 1\n"}, "BaseHOT/f/nested/n.yaml:1 has a section that no HOT has: x; leave it out"},
	} {
		_, err := read(packed(c.files), "f")
		e, is := errors.AsType[*broker.Error](err)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v, want none", name, err)
		case c.want != "" && (!is || e.Kind != broker.ErrInvalid || e.Detail != c.want):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// What no message may hold: texts of resources that nothing shows anyway, and all that is secret, the longest first.
func TestUnspokenTexts(t *testing.T) {
	h, err := read(packed(map[string]string{"t.yaml": "parameters: {open: {type: string}, pin: {hidden: true}, nfv: {hidden: true, default: one-default}}\n" +
		"resources: {server: {type: OS::Nova::Server, properties: {image: cirros, user_data: {get_file: run.sh}, x: five5, y: four, z: shown-by-request, k: OS::Nova::Server, n: server, w: one-default}}}\n", "run.sh": "sh"}), "f")
	if err != nil {
		t.Fatal(err)
	}
	in := lifecycle.PlanInput{
		Variables:  map[string]string{"open": "shown-by-request", "pin": "a\n\n\"b\" "},
		Parameters: []byte(`{"member":"x","n":[12345,1234,true,null],"t":"x"}`),
	}
	want := []string{"one-default", `a\n\n\"b\"`, "a\n\n\"b\"", "member", "12345", "five5", `"b"`, "a", "n", "t", "x"}
	if got := h.unspoken(in); !slices.Equal(got, want) {
		t.Errorf("no message holds %q, want %q", got, want)
	}
}

// What a resource says by a value that only Heat knows, by one of another form, or at the edge of a bound.
func TestPropertiesAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		kind, properties string
		parameters       map[string]any
		want             string
	}{
		{"OS::Neutron::Port", "{port_security_enabled: {get_param: [n, a]}}", map[string]any{"n": map[string]any{"a": 0.0}}, "network port_security_enabled"},
		{"OS::Neutron::Port", "{port_security_enabled: {get_param: [n, a]}}", map[string]any{"n": map[string]any{"a": 1.0}}, ""},
		{"OS::Neutron::Net", "{shared: {get_param: n}}", map[string]any{"n": 1.0}, "cluster shared"},
		{"OS::Neutron::Net", "{shared: {get_param: n}}", map[string]any{"n": 0.0}, ""},
		{"OS::Neutron::Net", "{shared: {get_param: n}}", map[string]any{"n": []any{}}, "unknown shared"},
		{"OS::Neutron::Net", "{shared: {get_param: []}}", nil, "unknown shared"},
		{"OS::Neutron::Net", "{shared: {get_param: [n, {get_param: x}]}}", map[string]any{"n": map[string]any{"": false}}, "unknown shared"},
		{"OS::Neutron::Net", "{'provider:network_type': ''}", nil, ""},
		{"OS::Neutron::Net", "{segments: [a]}", nil, "network segments"},
		{"OS::Neutron::Port", "{allowed_address_pairs: [{ip_address: 10.0.0.0/8}]}", nil, ""},
		{"OS::Neutron::Port", "{allowed_address_pairs: [{ip_address: 10.0.0.0/7}]}", nil, "network allowed_address_pairs"},
		{"OS::Neutron::Port", "{allowed_address_pairs: [{mac_address: x}, {ip_address: 0.0.0.0/0}]}", nil, "network allowed_address_pairs"},
		{"OS::Neutron::Port", "{value_specs: {get_attr: [a, b]}}", nil, "unknown allowed_address_pairs, unknown binding:profile, unknown port_security_enabled"},
		{"OS::Neutron::RouterInterface", "{subnet: {get_resource: r, x: y}}", nil, "network subnet"},
		{"OS::Neutron::RouterInterface", "{subnet: {get_param: r}}", nil, "network subnet"},
		{"OS::Neutron::RouterInterface", "{subnet: [get_resource, r]}", nil, "network subnet"},
		{"OS::Heat::SoftwareDeployment", "{signal_transport: TEMP_URL_SIGNAL}", nil, ""},
		{"OS::Heat::SoftwareDeployment", "{signal_transport: {get_param: nobody}}", nil, "unknown signal_transport"},
		{"OS::Nova::Server", "{availability_zone: {get_param: z}}", map[string]any{"z": "nova:host"}, "node availability_zone"},
		{"OS::Keystone", "{}", nil, ""},
		{"AWS::EC2::Instance", "{}", nil, ""},
		{"XOS::Keystone::User", "{}", nil, "unknown type"},
	} {
		if got := findings(judgedAs(t, c.kind, c.properties, c.parameters)[0]); got != c.want {
			t.Errorf("%s %s with %v: %q, want %q", c.kind, c.properties, c.parameters, got, c.want)
		}
	}
}

// The facts of a stack are those of all its resources: one that reaches less takes nothing back.
func TestFactsAreOfAllResources(t *testing.T) {
	for policy, outlives := range map[string]bool{"Delete": false, "delete": false, "Retain": true, "Snapshot": true} {
		h, err := read(packed(map[string]string{"t.yaml": "resources:\n  a: {type: OS::Nova::HostAggregate, deletion_policy: " + policy + "}\n" +
			"  b: {type: OS::Keystone::User}\n  c: {type: OS::Nova::Quota}\n  d: {type: Vendor::Thing}\n"}), "f")
		if err != nil {
			t.Fatal(err)
		}
		var f lifecycle.Facts
		h.judge(nil, &f)
		if !f.Privileged || !f.BringsRBAC || f.Outlives != outlives || findings(f) != "node type, cluster type, rbac type, unknown type" {
			t.Errorf("%s: %+v", policy, f)
		}
		for _, r := range f.Reaches {
			if r.Shareable != (r.What == lifecycle.ReachUnknown) || r.Resource != r.Kind || r.Why == "" {
				t.Errorf("%s: %+v", policy, r)
			}
		}
	}
}

// The parts of an instance: the stack, and the resources that are made in any case, with what is recorded of each.
func TestWhatAnInstanceConsistsOf(t *testing.T) {
	h, err := read(packed(map[string]string{"t.yaml": "resources:\n  b: {type: n.yaml}\n  a: {type: OS::Heat::None, condition: c}\n  c: {type: OS::Heat::None, metadata: {vimbroker.io/wave: 3}}\n", "n.yaml": "resources: {A: {type: OS::Heat::None}, B: {type: OS::Heat::None}}\n"}), "f")
	if err != nil {
		t.Fatal(err)
	}
	stored := []lifecycle.Storage{{Name: "disk"}}
	in := lifecycle.PlanInput{
		Instance: "i", Flavour: vnfpkg.Flavour{VDUs: map[string]vnfpkg.VDU{"B": {Name: "two"}, "A": {Name: "one"}}, Images: map[string]string{"A": "cirros"}},
		Standing: []lifecycle.Resource{{Plural: stacks, Name: "c", Applied: "no"}, {Plural: pieces, Name: "c", Applied: "yes", Storages: stored}, {Plural: pieces, Name: "vnf-i", Applied: "no"}},
	}
	want := []lifecycle.Resource{
		{Group: "heat", Version: "v1", Kind: "Stack", Plural: "stacks", Name: "vnf-i", Declared: 3},
		{Group: "heat", Version: "v1", Kind: "n.yaml", Plural: "resources", Name: "b", VDU: "one", Declared: 3},
		{Group: "heat", Version: "v1", Kind: "OS::Heat::None", Plural: "resources", Name: "c", Declared: 3, Applied: "yes", Storages: stored},
	}
	if got := h.consistsOf(in); !reflect.DeepEqual(got, want) {
		t.Errorf("the instance consists of %+v, want %+v", got, want)
	}
	if got := h.imagesOf(in); !slices.Equal(got, []string{"cirros"}) || len(h.images) != 0 {
		t.Errorf("the images are %q, and then %v of the templates", got, h.images)
	}
}

// A plan that ends an instance or looks at it is of what stands, and of nothing where nothing does.
func TestPlansOfWhatStands(t *testing.T) {
	standing := []lifecycle.Resource{{Kind: "Stack", Plural: stacks, Name: "vnf-i"}, {Kind: "B", Plural: pieces, Name: "b"}, {Kind: "A", Plural: pieces, Name: "a"}}
	all := []lifecycle.Object{{Resource: standing[0]}, {Resource: standing[1]}, {Resource: standing[2]}}
	for name, c := range map[string]struct {
		in   lifecycle.PlanInput
		want lifecycle.Plan
	}{
		"TERMINATE": {lifecycle.PlanInput{Operation: lifecycle.Terminate, Standing: standing}, lifecycle.Plan{
			Facts:  lifecycle.Facts{Kinds: []string{"A", "B"}},
			Stages: []lifecycle.Stage{{Grant: lifecycle.StageRules{Purpose: "heat"}, Waves: []lifecycle.Wave{{Deed: lifecycle.Delete, Objects: all}}}},
		}},
		"TERMINATE of nothing": {lifecycle.PlanInput{Operation: lifecycle.Terminate}, lifecycle.Plan{}},
		"looking": {lifecycle.PlanInput{Observing: true, Standing: standing}, lifecycle.Plan{
			Resources: standing, Stages: []lifecycle.Stage{{Waves: []lifecycle.Wave{{Deed: lifecycle.Look, Objects: all}}}},
		}},
		"looking at nothing": {lifecycle.PlanInput{Observing: true}, lifecycle.Plan{}},
	} {
		got, err := New().Plan(context.Background(), lifecycle.Connection{}, c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

// A template names the networks that it makes, and those that it takes from the parameter nfv.
func TestNetworksOfTemplates(t *testing.T) {
	source := func(text string) lifecycle.Source {
		return lifecycle.Source{Flavour: "f", Paths: []string{"BaseHOT/f/t.yaml"}, Read: func([]string) ([]lifecycle.Manifest, error) {
			return packed(map[string]string{"t.yaml": text}), nil
		}}
	}
	made, taken, err := New().Networks(source("resources:\n  net: {type: OS::Neutron::Net}\n  a:\n    type: OS::Nova::Server\n    properties:\n" +
		"      - {get_param: [nfv, CP, cp, network]}\n      - {get_param: [nfv, VL, vl, network]}\n      - {get_param: [nfv, VL, vl2, subnet]}\n      - {get_param: [nfv, XX, xx, network]}\n" +
		"      - {get_param: [nfv, CP, cp2]}\n      - {get_param: [nfv, CP, cp3, network, more]}\n"))
	if !reflect.DeepEqual(made, map[string]bool{"net": true}) || !reflect.DeepEqual(taken, map[string]bool{"cp": true, "vl": true}) || err != nil {
		t.Errorf("made are %v, taken %v, %v", made, taken, err)
	}
	for name, s := range map[string]lifecycle.Source{"no base HOT": {Flavour: "f"}, "no template": source("x: 1\n")} {
		if made, taken, err := New().Networks(s); !errors.Is(err, broker.ErrInvalid) || made != nil || taken != nil {
			t.Errorf("%s: %v, %v, %v, want %v", name, made, taken, err, broker.ErrInvalid)
		}
	}
}

package heat

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// judgedAs are the facts of one resource of the top template, and of it as the member of a group.
func judgedAs(t *testing.T, kind, properties string, parameters map[string]any) [2]lifecycle.Facts {
	t.Helper()
	const head = "heat_template_version: 2018-08-31\nparameters: {open: {type: boolean, default: false}, pairs: {type: json, default: [{ip_address: 0.0.0.0/0}]}}\n"
	var out [2]lifecycle.Facts
	for n, text := range []string{
		head + "resources: {r: {type: " + kind + ", properties: " + properties + "}}\n",
		head + "resources: {r: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: " + kind + ", properties: " + properties + "}}}}\n",
	} {
		h, err := read([]lifecycle.Manifest{{Path: folder + "simple/top.yaml", Text: secret.NewText(text)}}, "simple")
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		h.judge(parameters, &out[n])
	}
	return out
}

func findings(f lifecycle.Facts) string {
	var all []string
	for _, r := range f.Reaches {
		all = append(all, r.What+" "+r.Field)
	}
	return strings.Join(all, ", ")
}

// reachCases have for each row of the table properties with what is found, and those with which nothing is ("" where
// the type is enough).
var reachCases = map[string]struct {
	finds    map[string]string
	harmless string
}{
	"OS::Neutron::Port": {map[string]string{
		"{port_security_enabled: false}":                                                "network port_security_enabled",
		"{port_security_enabled: 'No'}":                                                 "network port_security_enabled",
		"{port_security_enabled: {get_param: open}}":                                    "network port_security_enabled",
		"{value_specs: {port_security_enabled: false}}":                                 "network port_security_enabled",
		"{port_security_enabled: {if: [a, true, false]}}":                               "unknown port_security_enabled",
		"{allowed_address_pairs: [{ip_address: 10.0.0.5}, {ip_address: '::/0'}]}":       "network allowed_address_pairs",
		"{allowed_address_pairs: [{ip_address: 0.0.0.0/0.0.0.0}]}":                      "network allowed_address_pairs",
		"{allowed_address_pairs: [{ip_address: 0.0.0.0/1}, {ip_address: 128.0.0.0/1}]}": "network allowed_address_pairs",
		"{allowed_address_pairs: {get_param: pairs}}":                                   "network allowed_address_pairs",
		"{allowed_address_pairs: [{ip_address: {get_attr: [a, b]}}]}":                   "unknown allowed_address_pairs",
		"{allowed_address_pairs: {list_concat: [[], []]}}":                              "unknown allowed_address_pairs",
		"{value_specs: {'binding:profile': {pci_slot: x}}}":                             "node binding:profile",
	}, "{port_security_enabled: true, allowed_address_pairs: [{ip_address: 10.0.0.0/24}, {ip_address: 10.0.0.9}], value_specs: {}}"},
	"OS::Neutron::Net": {map[string]string{
		"{port_security_enabled: false}":                                "network port_security_enabled",
		"{shared: true}":                                                "cluster shared",
		"{shared: {get_attr: [a]}}":                                     "unknown shared",
		"{value_specs: {'provider:physical_network': physnet1}}":        "network provider:physical_network",
		"{value_specs: {'provider:network_type': {get_param: nobody}}}": "unknown provider:network_type",
	}, "{shared: false, name: n}"},
	"OS::Neutron::RouterInterface": {map[string]string{
		"{router: r, subnet: public}":              "network subnet",
		"{router: r, port_id: {get_param: pairs}}": "network port_id",
	}, "{router: r, subnet: {get_resource: r}}"},
	"OS::Nova::Server":             {map[string]string{"{availability_zone: 'nova:host-1'}": "node availability_zone"}, "{availability_zone: nova, user_data: x}"},
	"OS::Heat::SoftwareDeployment": {map[string]string{"{signal_transport: CFN_SIGNAL}": "rbac signal_transport", "{}": "rbac signal_transport"}, "{signal_transport: NO_SIGNAL}"},
}

// TestEveryRowOfTheTableReaches: each finds what it is for, outright and as the member of a group, and nothing in what
// does not reach.
func TestEveryRowOfTheTableReaches(t *testing.T) {
	for _, r := range table {
		kind := r.kind
		c, has := reachCases[kind]
		if strings.HasPrefix(kind, "OS::Heat::S") {
			c, has = reachCases["OS::Heat::SoftwareDeployment"], true
		}
		if !has { // the type is enough
			if strings.HasSuffix(kind, "::") {
				kind += "Thing"
			}
			if got := findings(judgedAs(t, kind, "{}", nil)[0]); !strings.HasSuffix(got, " type") || strings.HasPrefix(got, "unknown") {
				t.Errorf("%s: %q", kind, got)
			}
			continue
		}
		for properties, want := range c.finds {
			for n, f := range judgedAs(t, kind, properties, nil) {
				if got := findings(f); got != want {
					t.Errorf("%s %s (group: %d): %q, want %q", kind, properties, n, got, want)
				}
				if node := strings.HasPrefix(want, "node"); f.Privileged != node || f.BringsRBAC != strings.HasPrefix(want, "rbac") {
					t.Errorf("%s %s: %+v", kind, properties, f)
				}
			}
		}
		if got := findings(judgedAs(t, kind, c.harmless, nil)[0]); got != "" {
			t.Errorf("%s %s reaches nothing, and was found: %s", kind, c.harmless, got)
		}
	}
	if got := findings(judgedAs(t, "Vendor::Thing", "{}", nil)[0]); got != "unknown type" {
		t.Errorf("a type of others: %q", got)
	}
	if got := findings(judgedAs(t, "OS::Heat::RandomString", "{}", nil)[0]); got != "" {
		t.Errorf("a type that reaches nothing: %q", got)
	}
}

// TestParametersAreJudgedByTheirValues: a request's are, over the template's defaults; those of a nested template are
// not known.
func TestParametersAreJudgedByTheirValues(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{{true, ""}, {"true", ""}, {false, "network port_security_enabled"}, {"0", "network port_security_enabled"}, {nil, ""}} {
		if got := findings(judgedAs(t, "OS::Neutron::Port", "{port_security_enabled: {get_param: open}}", map[string]any{"open": c.value})[0]); got != c.want {
			t.Errorf("%v: %q, want %q", c.value, got, c.want)
		}
	}
	nested := "heat_template_version: 2018-08-31\nparameters: {open: {type: boolean, default: true}}\n" +
		"resources: {p: {type: OS::Neutron::Port, deletion_policy: Retain, properties: {port_security_enabled: {get_param: open}}}}\n"
	top := "heat_template_version: 2018-08-31\nresources: {r: {type: nested.yaml, properties: {open: false}}}\n"
	h, err := read([]lifecycle.Manifest{
		{Path: folder + "simple/top.yaml", Text: secret.NewText(top)}, {Path: folder + "simple/nested/nested.yaml", Text: secret.NewText(nested)},
	}, "simple")
	if err != nil {
		t.Fatal(err)
	}
	var f lifecycle.Facts
	h.judge(map[string]any{"open": true}, &f) // another parameter of that name
	if got := findings(f); got != "unknown port_security_enabled" || !f.Outlives {
		t.Errorf("%q, outlives %t", got, f.Outlives)
	}
}

package heat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pointAt is a connection point with addresses that are asked for.
func pointAt(name string, fixed ...sol003.IPAddresses) sol003.ExtCP {
	p := sol003.CPProtocol{}
	p.Address.IPs = fixed
	return sol003.ExtCP{CPDID: name, Config: map[string]sol003.CPConfig{name: {Protocol: []sol003.CPProtocol{p}}}}
}

// Each path that a template may read is answered with the descriptor's value of that one, and another path with none.
func TestWhatTheDescriptorAnswers(t *testing.T) {
	in := lifecycle.PlanInput{
		Replicas: map[string]int32{"one": 3},
		Flavour: vnfpkg.Flavour{
			VDUs:   map[string]vnfpkg.VDU{"A": {Name: "one", Compute: "tiny"}, "B": {Name: "two"}},
			Images: map[string]string{"A": "cirros"},
		},
		Links: []lifecycle.Link{
			{VL: "inner", Made: asset.Made{Network: "net-1", Subnet: "sub-1", Group: "sg-1"}},
			{VL: "later"},
			{
				CPs:  []sol003.ExtCP{pointAt("other"), pointAt("cp", sol003.IPAddresses{Fixed: []string{"192.0.2.7"}, SubnetID: "own"}, sol003.IPAddresses{Fixed: []string{"192.0.2.8"}})},
				Made: asset.Made{Network: "net-2", Subnet: "sub-2", Group: "sg-2"},
			},
		},
	}
	for path, want := range map[string]string{
		"VDU A vcImageId": `"cirros"`, "VDU B vcImageId": `null`, "VDU A computeFlavourId": `"tiny"`, "VDU B computeFlavourId": `null`,
		"VDU A desired_capacity": `3`, "VDU B desired_capacity": `null`, "VDU C desired_capacity": `null`, "VDU A other": `null`,
		"VDU A": `null`, "VDU A vcImageId more": `null`, "VDUS A vcImageId": `null`, "VL A vcImageId": `null`, "XX A computeFlavourId": `null`,
		"VL inner network": `"net-1"`, "VL inner subnet": `"sub-1"`, "VL inner security_group": `"sg-1"`, "VL inner": `null`, "VL": `null`,
		"VL later network": `"made-with-the-operation"`, "VL later subnet": `null`, "VL none network": `null`, "VL cp network": `null`,
		"VL inner fixed_ips 0 subnet": `null`, "CP cp network": `"net-2"`, "CP cp subnet": `"sub-2"`, "CP cp security_group": `"sg-2"`,
		"CP other network": `"net-2"`, "CP inner network": `null`, "CP none network": `null`, "CP cp": `null`, "CP cp unheard": `null`,
		"CP cp fixed_ips 0 ip_address": `"192.0.2.7"`, "CP cp fixed_ips 0 subnet": `"own"`, "CP cp fixed_ips 1 ip_address": `"192.0.2.8"`,
		"CP cp fixed_ips 1 subnet": `"sub-2"`, "CP cp fixed_ips 2 subnet": `null`, "CP cp fixed_ips -1 subnet": `null`, "CP cp fixed_ips x subnet": `null`,
		"CP cp fixed_ips 0 other": `null`, "CP cp fixed_ips 0": `null`, "CP cp fixed_ips": `null`, "CP cp fixed_ips 0 subnet more": `null`,
		"CP other fixed_ips 0 subnet": `null`,
	} {
		if got := asJSON(t, described(in, strings.Fields(path))); got != want {
			t.Errorf("[nfv, %s] = %s, want %s", path, got, want)
		}
	}
}

// A value is put where a path says, through lists of at most 64, and what stands there stays; it is found there again.
func TestPathsOfValues(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat("null,", n) + `"v"]` }
	for _, c := range []struct{ to, path, want string }{
		{`null`, "a b", `{"a":{"b":"v"}}`},
		{`{"a":{"b":"was"}}`, "a b", `{"a":{"b":"was"}}`},
		{`{"a":{"c":1}}`, "a b", `{"a":{"b":"v","c":1}}`},
		{`{"a":"text"}`, "a b", `{"a":{"b":"v"}}`},
		{`null`, "1 a", `[null,{"a":"v"}]`},
		{`[1]`, "0", `[1]`},
		{`[1]`, "2", `[1,null,"v"]`},
		{`null`, "63", list(63)},
		{`null`, "64", `{"64":"v"}`},
		{`null`, "-1", `{"-1":"v"}`},
		{`null`, "0", `["v"]`},
	} {
		var to any
		if err := json.Unmarshal([]byte(c.to), &to); err != nil {
			t.Fatal(err)
		}
		got := grow(to, strings.Fields(c.path), "v")
		if said := asJSON(t, got); said != c.want {
			t.Errorf("a value at %s of %s comes to %s, want %s", c.path, c.to, said, c.want)
		}
		if found := look(got, strings.Fields(c.path)); found == nil {
			t.Errorf("nothing is found at %s of %s", c.path, c.want)
		}
	}
	value := map[string]any{"l": []any{"zero", "one"}, "t": "text"}
	for path, want := range map[string]string{
		"l 0": `"zero"`, "l 1": `"one"`, "l 2": `null`, "l -1": `null`, "l x": `null`, "t 0": `null`, "t": `"text"`, "none": `null`, "": asJSON(t, value),
	} {
		if got := asJSON(t, look(value, strings.Fields(path))); got != want {
			t.Errorf("at %q is %s, want %s", path, got, want)
		}
	}
}

// A request's parameters are merged over those of the descriptor as RFC 7396 says.
func TestRequestIsMergedOver(t *testing.T) {
	for _, c := range []struct{ to, patch, want string }{
		{`{"a":1,"b":2}`, `{"b":3}`, `{"a":1,"b":3}`},
		{`{"a":1,"b":2}`, `{"b":null}`, `{"a":1}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"c":null,"d":3}}`, `{"a":{"b":1,"d":3}}`},
		{`{"a":"text"}`, `{"a":{"b":1,"c":null}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":"text"}`, `{"a":"text"}`},
		{`{"a":[1]}`, `{"a":[2]}`, `{"a":[2]}`},
	} {
		var to, patch any
		if err := errors.Join(json.Unmarshal([]byte(c.to), &to), json.Unmarshal([]byte(c.patch), &patch)); err != nil {
			t.Fatal(err)
		}
		if got := asJSON(t, merge(to, patch)); got != c.want {
			t.Errorf("%s over %s = %s, want %s", c.patch, c.to, got, c.want)
		}
	}
}

// What the stack is given, or why not: the error names the field.
func TestParametersOfARequest(t *testing.T) {
	for name, c := range map[string]struct {
		of     *hot
		in     lifecycle.PlanInput
		want   string
		field  string
		detail string
	}{
		"a variable":            {of: &hot{parameters: map[string]bool{"zone": false}}, in: lifecycle.PlanInput{Variables: map[string]string{"zone": "az"}}, want: `{"zone":"az"}`},
		"a default":             {of: &hot{parameters: map[string]bool{"zone": true}}, want: `{}`},
		"manifests' variable":   {of: &hot{}, in: lifecycle.PlanInput{Hybrid: true, Variables: map[string]string{"zone": "az"}}, want: `{}`},
		"an unheard variable":   {of: &hot{}, in: lifecycle.PlanInput{Variables: map[string]string{"zone": "az"}}, field: "additionalParams.variables.zone", detail: "is no parameter of the base HOT"},
		"nfv as a variable":     {of: &hot{parameters: map[string]bool{nfv: true}}, in: lifecycle.PlanInput{Variables: map[string]string{nfv: "{}"}}, field: "additionalParams.variables.nfv", detail: "is no parameter of the base HOT"},
		"a hybrid's nfv":        {of: &hot{parameters: map[string]bool{nfv: true}}, in: lifecycle.PlanInput{Hybrid: true, Variables: map[string]string{nfv: "{}"}}, field: "additionalParams.variables.nfv", detail: "is no parameter of the base HOT"},
		"none of two":           {of: &hot{parameters: map[string]bool{"b": false, "a": false}}, field: "additionalParams.variables", detail: "do not give a, a parameter of the base HOT that has no default"},
		"nfv":                   {of: &hot{parameters: map[string]bool{nfv: false}}, in: lifecycle.PlanInput{Parameters: []byte(`{"x":1}`)}, want: `{"nfv":{"x":1}}`},
		"no nfv":                {of: &hot{parameters: map[string]bool{nfv: false}}, want: `{"nfv":{}}`},
		"nfv of nobody":         {of: &hot{}, in: lifecycle.PlanInput{Parameters: []byte(`{}`)}, field: "additionalParams.nfv", detail: "is given, and the base HOT declares no parameter nfv"},
		"nfv of one byte":       {of: &hot{parameters: map[string]bool{nfv: false}}, in: lifecycle.PlanInput{Parameters: []byte(`1`)}, field: "additionalParams.nfv", detail: "is not a JSON object"},
		"nfv that is none":      {of: &hot{parameters: map[string]bool{nfv: false}}, in: lifecycle.PlanInput{Parameters: []byte(`[]`)}, field: "additionalParams.nfv", detail: "is not a JSON object"},
		"what is needed":        {of: &hot{top: "t.yaml", parameters: map[string]bool{nfv: false}, asked: [][]string{{"CP", "a", "network"}}}, field: "additionalParams.nfv.CP.a.network", detail: "is asked for by t.yaml, and neither the descriptor nor the request gives it"},
		"what is needed, given": {of: &hot{parameters: map[string]bool{nfv: false}, asked: [][]string{{"CP", "a", "network"}}}, in: lifecycle.PlanInput{Parameters: []byte(`{"CP":{"a":{"network":"n"}}}`)}, want: `{"nfv":{"CP":{"a":{"network":"n"}}}}`},
		"what is not needed":    {of: &hot{parameters: map[string]bool{nfv: false}, asked: [][]string{{"CP", "a", "subnet"}}}, want: `{"nfv":{"CP":{"a":{"subnet":null}}}}`},
	} {
		got, err := c.of.parametersOf(c.in)
		if e, is := errors.AsType[*broker.Error](err); is != (c.field != "") || is && (e.Field != c.field || e.Detail != c.detail || !errors.Is(e, broker.ErrInvalid)) {
			t.Errorf("%s: %v, want %s: %s", name, err, c.field, c.detail)
		}
		if said := asJSON(t, got); c.field == "" && said != c.want {
			t.Errorf("%s: %s, want %s", name, said, c.want)
		}
	}
}

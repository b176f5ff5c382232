package sol003_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
)

// Empty objects beside the name of a VIM say nothing more of it.
func TestWhatAConnectionBrings(t *testing.T) {
	for what, c := range map[string]struct {
		info   sol003.VIMConnectionInfo
		brings bool
	}{
		"a name":               {sol003.VIMConnectionInfo{VIMID: "v", VIMType: "ETSINFV.KUBERNETES.V_1"}, false},
		"empty objects":        {sol003.VIMConnectionInfo{InterfaceInfo: &sol003.InterfaceInfo{}, AccessInfo: &sol003.AccessInfo{}}, false},
		"where it is":          {sol003.VIMConnectionInfo{InterfaceInfo: &sol003.InterfaceInfo{Endpoint: "https://vim"}}, true},
		"where, and an empty":  {sol003.VIMConnectionInfo{InterfaceInfo: &sol003.InterfaceInfo{CACert: "PEM"}, AccessInfo: &sol003.AccessInfo{}}, true},
		"how to log in":        {sol003.VIMConnectionInfo{AccessInfo: &sol003.AccessInfo{Username: "u"}}, true},
		"how, beside an empty": {sol003.VIMConnectionInfo{InterfaceInfo: &sol003.InterfaceInfo{}, AccessInfo: &sol003.AccessInfo{Username: "u"}}, true},
		"nothing of it at all": {},
	} {
		if c.info.Brings() != c.brings {
			t.Errorf("%s: Brings() = %t", what, !c.brings)
		}
	}
}

func TestWhichParametersGiveValuesOfAChart(t *testing.T) {
	for what, p := range map[string]sol003.AdditionalParams{
		"values":      {ChartValues: jsontext.Value("{}")},
		"sets":        {ChartSets: jsontext.Value("[]")},
		"names":       {ChartNames: jsontext.Value("{}")},
		"new secrets": {NewSecrets: true},
	} {
		if !p.Valued() {
			t.Errorf("%s give no values", what)
		}
	}
	if (sol003.AdditionalParams{Others: map[string]jsontext.Value{"a": nil}}).Valued() {
		t.Error("another parameter gives values")
	}
}

// Parameters of Tacker are known; those that would have code of a package run are named.
func TestOtherParameters(t *testing.T) {
	p := sol003.AdditionalParams{Others: map[string]jsontext.Value{"upgrade_type": nil, "vdu_params": nil}}
	if names := p.Unknown(); names != nil || p.NeedsCode() != "" {
		t.Errorf("of Tacker's alone, unknown are %q, and code is run by %q", names, p.NeedsCode())
	}
	p.Others["b"], p.Others["a"], p.Others["tf_dir_path"], p.Others["use_helm"] = nil, nil, nil, nil
	if names := p.Unknown(); !slices.Equal(names, []string{"a", "b", "tf_dir_path", "use_helm"}) || p.NeedsCode() != "use_helm" {
		t.Errorf("unknown are %q, and code is run by %q", names, p.NeedsCode())
	}
	if delete(p.Others, "use_helm"); p.NeedsCode() != "tf_dir_path" {
		t.Errorf("code is run by %q", p.NeedsCode())
	}
	names := sol003.ParamNames()
	for _, name := range []string{"namespace", "upgrade_type", "vdu_params"} {
		if !slices.Contains(names, name) || slices.Contains(names, "") {
			t.Errorf("the parameters %q lack %s, or have one without a name", names, name)
		}
	}
}

// Each address is asked for by itself; a subnet without one asks for any of it.
func TestAddressesThatAreFixed(t *testing.T) {
	cp := sol003.ExtCP{CPDID: "CP1", Config: map[string]sol003.CPConfig{"c": {Protocol: []sol003.CPProtocol{
		{Address: sol003.IPOverEthernet{IPs: []sol003.IPAddresses{
			{Fixed: []string{"10.0.0.1", "10.0.0.2"}, SubnetID: "s1"}, {SubnetID: "s2"}, {Fixed: []string{"10.0.1.1"}}, {},
		}}},
	}}}}
	want := []sol003.IPAddresses{
		{Fixed: []string{"10.0.0.1"}, SubnetID: "s1"}, {Fixed: []string{"10.0.0.2"}, SubnetID: "s1"}, {SubnetID: "s2"}, {Fixed: []string{"10.0.1.1"}},
	}
	if got := cp.Fixed(); !reflect.DeepEqual(got, want) || cp.ConfigID() != "c" {
		t.Errorf("%s asks for %+v, want %+v", cp.ConfigID(), got, want)
	}
	if bare := (sol003.ExtCP{CPDID: "CP1"}); bare.ConfigID() != "CP1" || bare.Fixed() != nil {
		t.Errorf("one without configuration is %s, and asks for %+v", bare.ConfigID(), bare.Fixed())
	}
}

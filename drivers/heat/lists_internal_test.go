package heat

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle"
)

func node(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// TestWordsThatAreNo: as Heat reads a boolean, in whatever letters; each other word is yes.
func TestWordsThatAreNo(t *testing.T) {
	for word, no := range map[string]bool{
		"false": true, "f": true, "no": true, "n": true, "off": true, "0": true,
		"true": false, "t": false, "yes": false, "on": false, "1": false, "": false, "none": false, "00": false,
	} {
		for _, said := range []string{word, strings.ToUpper(word)} {
			if yes, known := says(said); yes == no || !known {
				t.Errorf("%q says %t, %t", said, yes, known)
			}
			if isHidden(node(t, fmt.Sprintf("{type: string, hidden: %q}", said))) == no {
				t.Errorf("a parameter that is hidden: %q is hidden %t", said, no)
			}
		}
	}
	if isHidden(node(t, "{type: string}")) {
		t.Error("a parameter that says nothing is hidden")
	}
}

// TestEachFunctionIsWorkedOutByHeat, and what only looks like one is a value.
func TestEachFunctionIsWorkedOutByHeat(t *testing.T) {
	for name := range strings.FieldsSeq(`get_param get_attr get_resource get_file list_join str_replace str_replace_strict str_replace_vstrict str_split
		map_merge map_replace repeat yaql if digest resource_facade list_concat list_concat_unique contains equals not and or filter make_url`) {
		if v := (properties{h: &hot{}}).value(node(t, "{"+name+": [a, b]}")); v != (workedOut{}) {
			t.Errorf("%s gives %#v", name, v)
		}
		if v, is := (properties{h: &hot{}}).value(node(t, "{"+name+"s: a}")).(map[string]any); !is || v[name+"s"] != "a" {
			t.Errorf("%ss gives %#v", name, v)
		}
	}
}

// TestEachNameOfTheCloudsOwnNetworkReaches, alone and behind others; an empty one does not.
func TestEachNameOfTheCloudsOwnNetworkReaches(t *testing.T) {
	for _, name := range []string{"provider:network_type", "provider:physical_network", "provider:segmentation_id", "segments"} {
		for _, form := range []string{"{name: n, %q: x}", "{value_specs: {%q: x}}", "{%q: [a]}"} {
			p := properties{h: &hot{}, all: node(t, fmt.Sprintf(form, name))}
			if got := p.provider(); len(got) != 1 || got[0].field != name || got[0].what != lifecycle.ReachNetwork {
				t.Errorf(form+": %+v", name, got)
			}
		}
		if got := (properties{h: &hot{}, all: node(t, fmt.Sprintf("{%q: '', %q: null}", name, name+"_more"))}).provider(); got != nil {
			t.Errorf("%s of nothing: %+v", name, got)
		}
	}
}

// TestAStackIsTheInstancesByItsTag, whatever tags stand beside it.
func TestAStackIsTheInstancesByItsTag(t *testing.T) {
	for tags, want := range map[string]bool{
		"vimbroker.io/instance=i": true, "a vimbroker.io/instance=i b": true, "vimbroker.io/instance=j vimbroker.io/instance=i": true, "": false,
		"vimbroker.io/instance=ii": false, "vimbroker.io/instance=": false, "i": false,
	} {
		if got := (&stack{Tags: strings.Fields(tags)}).of("i"); got != want {
			t.Errorf("one with %q is the instance's: %t", tags, got)
		}
	}
}

// TestEachPairOfAddressesIsLookedAt, wherever the wide one stands.
func TestEachPairOfAddressesIsLookedAt(t *testing.T) {
	const narrow, wide, host, unknown = "{ip_address: 10.0.0.0/8}", "{ip_address: 10.0.0.0/7}", "{ip_address: '10.0.0.1'}", "{ip_address: {get_attr: [a]}}"
	for pairs, want := range map[string]string{
		narrow: "", narrow + "," + host: "", wide: "sends as any address", narrow + "," + wide: "sends as any address", wide + "," + host: "sends as any address",
		host + "," + unknown: "Heat works out the value", unknown + "," + wide: "sends as any address", unknown + "," + host: "Heat works out the value",
		"{ip_address: '::/0'}": "sends as any address", "{ip_address: none}": "sends as any address", "{mac_address: x}": "Heat works out the value",
	} {
		var got string
		for _, f := range (properties{h: &hot{}, all: node(t, "{allowed_address_pairs: ["+pairs+"]}")}).pairs() {
			got += f.why
		}
		if got != want {
			t.Errorf("%s: %q, want %q", pairs, got, want)
		}
	}
}

// TestEachTextThatIsHiddenIsTakenOut, as often as it stands.
func TestEachTextThatIsHiddenIsTakenOut(t *testing.T) {
	w := wish{Unspoken: []string{"secret-long", "secret", "other"}}
	const hidden = "(a value of the template)"
	for text, want := range map[string]string{
		"secret and secret, other other": hidden + " and " + hidden + ", " + hidden + " " + hidden, "secret-long secret": hidden + " " + hidden, "none": "none", "": "",
	} {
		if got := w.reason(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

// TestAStackIsMadeInOneWave: what its resources say of it is the same whole number.
func TestAStackIsMadeInOneWave(t *testing.T) {
	resource := func(wave string) *yaml.Node {
		if wave == "" {
			return node(t, "{type: A, metadata: {other: 1}}")
		}
		return node(t, "{type: A, metadata: {vimbroker.io/wave: "+wave+"}}")
	}
	for said, want := range map[string]string{
		"": "none", "3": "3", "0": "0", "-1": "-1", "3  3": "3", "3,3": "3", "3,0": "fault", "0,3": "fault", ",2,": "2", "x": "fault", "1.5": "fault", "32767": "32767", "32768": "fault", "2,2,1": "fault",
	} {
		h, got := &hot{top: "t"}, "none"
		for wave := range strings.SplitSeq(strings.ReplaceAll(said, "  ", ","), ",") {
			if h.inWave(resource(wave)) != nil {
				got = "fault"
			}
		}
		if got == "none" && h.wave != nil {
			got = fmt.Sprint(*h.wave)
		}
		if got != want {
			t.Errorf("%q is wave %s, want %s", said, got, want)
		}
	}
}

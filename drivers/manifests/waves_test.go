package manifests_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const threeMaps = `apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {tier: back}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, annotations: {vimbroker.io/wave: "7"}}
---
apiVersion: v1
kind: Secret
metadata: {name: c}
`

// wavesOf are the objects of each wave of a plan.
func wavesOf(p lifecycle.Plan) string {
	var all []string
	for _, s := range p.Stages {
		for _, w := range s.Waves {
			var names []string
			for _, o := range w.Objects {
				names = append(names, o.Name)
			}
			all = append(all, strings.Join(names, ","))
		}
	}
	return strings.Join(all, " ")
}

// TestOrderWithoutAnnotations: rules of the request come before those of the package's order.yaml, and these before annotations.
func TestOrderWithoutAnnotations(t *testing.T) {
	s := fakeobjects.New(t)
	rule := func(wave int, kind, name string, labels map[string]string) lifecycle.WaveRule {
		return lifecycle.WaveRule{Wave: wave, Kind: kind, Name: name, Labels: labels}
	}
	for _, c := range []struct {
		name, file string
		request    []lifecycle.WaveRule
		want       string
	}{
		{"by annotation alone", "", nil, "c,a b"},
		{"by kind, in the package", "waves: [{wave: -1, kind: ConfigMap}]", nil, "a,b c"},
		{"by name and by label", "waves:\n- {wave: 1, name: a}\n- {wave: 2, name: c}\n", nil, "a c b"},
		{"by label, in the request", "", []lifecycle.WaveRule{rule(9, "", "", map[string]string{"tier": "back"})}, "c b a"},
		{"the first rule counts", "waves: [{wave: 1, name: b}, {wave: 2, kind: ConfigMap}]", nil, "c b a"},
		{
			"the request counts before the package", "waves: [{wave: 1, name: b}, {wave: 2, kind: ConfigMap}]",
			[]lifecycle.WaveRule{rule(-5, "ConfigMap", "a", nil)},
			"a c b",
		},
	} {
		in := input(threeMaps)
		if in.Waves = c.request; c.file != "" {
			in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "Files/kubernetes/order.yaml", Text: secret.NewText(c.file)})
		}
		if got := wavesOf(mustPlan(t, s, in)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	declared := map[string]int{}
	for _, r := range mustPlan(t, s, input(threeMaps)).Resources {
		declared[r.Name] = r.Declared
	}
	if want := map[string]int{"a": 0, "b": 7, "c": 0}; !maps.Equal(declared, want) {
		t.Errorf("the waves %v are kept of the objects, want %v", declared, want)
	}
}

// TestAManifestMayBeNamedOrder: an object in order.yaml is an object.
func TestAManifestMayBeNamedOrder(t *testing.T) {
	in := input(threeMaps)
	in.Manifests[0].Path = "order.yaml"
	if got := wavesOf(mustPlan(t, fakeobjects.New(t), in)); got != "c,a b" {
		t.Errorf("its objects are made as %s", got)
	}
}

// TestOrdersThatAreRefused: an order that says nothing would be a lie.
func TestOrdersThatAreRefused(t *testing.T) {
	s := fakeobjects.New(t)
	for name, c := range map[string]struct {
		file, says string
		request    []lifecycle.WaveRule
	}{
		"no object, in the request": {"", "rule 1 is about no object", []lifecycle.WaveRule{{Wave: 1, Name: "d"}}},
		"a label is another":        {"waves: [{wave: 1, labels: {tier: front}}]", "order.yaml: rule 1 is about no object", nil},
		"a label is missing":        {`waves: [{wave: 1, labels: {other: ""}}]`, "order.yaml: rule 1 is about no object", nil},
		"a second rule":             {"waves: [{wave: 1, kind: Secret}, {wave: 1, kind: Pod}]", "order.yaml: rule 2 is about no object", nil},
		"an unknown key":            {"waves: [{wave: 1, kinds: Secret}]", "order.yaml:1: is no order", nil},
		"an unknown key beside":     {"waves: []\nafter: []", "order.yaml:1: is no order", nil},
		"no number":                 {"waves: [{wave: first, kind: Secret}]", "order.yaml:1: is no order", nil},
		"no number at all":          {"waves: [{wave: .nan, kind: Secret}]", "order.yaml", nil},
		"nothing to go by":          {"waves: [{wave: 1}]", "rule 1 of the order needs a kind", nil},
		"too high":                  {"waves: [{wave: 40000, kind: Secret}]", "rule 1 of the order needs a wave from", nil},
	} {
		in := input(threeMaps)
		if in.Waves = c.request; c.file != "" {
			in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "order.yaml", Text: secret.NewText(c.file)})
		}
		if _, err := plan(t, s, in); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

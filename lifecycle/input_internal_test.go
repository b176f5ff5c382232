package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Of a plan everything in its input is the new shape's, with what rests sealed opened: also what the descriptor is translated with.
func TestInputOfAPlan(t *testing.T) {
	d := &yielding{plain: plain{name: "d", on: "kubernetes"}, basis: Basis{Files: []string{translatedFile}}}
	b := newBench(t, d)
	b.Keys = keyring.Ring{&chest{name: "c", keys: map[secret.Ref]*secret.Key{}}}
	rules := egress.Default()
	b.Lifecycle.Egress = func(project string) *egress.Rules {
		if project != "core" {
			return nil
		}
		return rules
	}
	p := webs()
	flavour := vnfpkg.Flavour{ID: "simple", Containers: true}
	p.VNFD.Flavours["simple"] = flavour
	p.Translate = func(flavour string, inputs map[string]string, loose bool) (secret.Text, error) {
		return secret.NewText(fmt.Sprint(flavour, inputs, loose)), nil
	}
	b.Packages = shelved{PackageView: p}
	hidden := content{Variables: map[string]string{"token": "t"}, Parameters: json.RawMessage(`{"hidden":1}`)}
	id, err := b.seal(t.Context(), "i", "edge", hidden)
	if err != nil {
		t.Fatal(err)
	}
	to := on("edge")
	to.Part.Name, to.Namespace, to.Release, to.Labels, to.Files = "west", "ns", "release", map[string]string{"l": "1"}, []string{"a.yaml"}
	to.Waves, to.Replicas, to.Volumes = []WaveRule{{Kind: "A"}}, map[string]int32{"web": 2}, []Volume{{ID: "v"}}
	to.Variables, to.Parameters = map[string]string{"shown": "s"}, json.RawMessage(`{"shown":1}`)
	to.Links = []Link{{ID: "k", Name: "sgi", Ports: []asset.Port{{Name: "west:web-1"}, {Name: "other:web-2"}}}}
	given := PlanInput{Operation: Instantiate, Instance: "i", Name: "n", Project: "core", Mark: "m"}
	want := given
	want.Namespace, want.Release, want.Labels, want.Named, want.Waves, want.Replicas, want.Volumes = "ns", "release", to.Labels, to.Files, to.Waves, to.Replicas, to.Volumes
	want.Flavour, want.Egress = flavour, rules
	want.Links = []Link{{ID: "k", Name: "sgi", Ports: []asset.Port{{Name: "web-1"}, {Name: "other:web-2"}}}}
	for name, c := range map[string]struct {
		sealed     Concealed
		variables  map[string]string
		parameters string
	}{
		"nothing is sealed": {Concealed{}, to.Variables, `{"shown":1}`},
		"variables are":     {Concealed{ID: id, Variables: []string{"token"}}, map[string]string{"shown": "s", "token": "t"}, `{"shown":1}`},
		"both are":          {Concealed{ID: id, Variables: []string{"token"}, Parameters: true}, map[string]string{"shown": "s", "token": "t"}, `{"hidden":1}`},
	} {
		to.Concealed = c.sealed
		want.Variables, want.Parameters = c.variables, json.RawMessage(c.parameters)
		want.Manifests = []Manifest{{translatedFile, secret.NewText(fmt.Sprint("simple", c.variables, false))}}
		got, err := b.inputFor(t.Context(), d, to, given)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b secret.Text) bool { return a.Reveal() == b.Reveal() }),
			cmp.Comparer(func(a, b *egress.Rules) bool { return a == b }), cmp.Comparer(func(a, b vnfpkg.Flavour) bool { return a.ID == b.ID && a.Containers == b.Containers })); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if _, added := to.Variables["token"]; added || to.Links[0].Ports[0].Name != "west:web-1" {
			t.Errorf("%s: the shape is changed to %v and %+v", name, to.Variables, to.Links)
		}
	}
	to.Concealed = Concealed{ID: id}
	refused, away := errors.New("refused"), errors.New("away")
	for _, c := range []struct {
		what string
		fail func()
		want error
	}{
		{"files that the driver refuses", func() { d.says = refused }, refused},
		{"what is sealed", func() { b.rows.fails["SecretParameters"] = errAway }, errAway},
		{"the package", func() { b.Packages = shelved{fails: away} }, away},
	} {
		c.fail()
		if _, err := b.inputFor(t.Context(), d, to, given); !errors.Is(err, c.want) {
			t.Errorf("without %s: %v, want %v", c.what, err, c.want)
		}
	}
}

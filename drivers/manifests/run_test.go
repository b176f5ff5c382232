package manifests_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// An object that takes the place of the instance's own between two calls is left alone.
func TestAnObjectThatIsReplacedMeanwhile(t *testing.T) {
	const path = "/api/v1/namespaces/cnf/configmaps/a"
	for _, op := range []lifecycle.OperationType{lifecycle.Heal, lifecycle.Terminate} {
		s := fakeobjects.New(t)
		d, in := manifests.New(), input(configMap("a"))
		run := func() error {
			p := mustPlan(t, s, in)
			in.Standing = p.Resources
			w := p.Stages[0].Waves[0]
			return d.Run(t.Context(), s.Connection(p.Stages[0].Grant), instance, w, func(o lifecycle.Observation) { in.Standing = []lifecycle.Resource{o.Resource} })
		}
		if err := run(); err != nil {
			t.Fatal(err)
		}
		var other map[string]any
		s.Fail(fake.Fault{Method: "GET", Path: path, Kind: fake.Pass, Late: true, Reached: func() {
			other = map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "cnf"}}
			s.Put(path, other)
		}})
		in.Operation = op
		err := run()
		if conflict := errors.Is(err, broker.ErrConflict); conflict != (op == lifecycle.Heal) {
			t.Errorf("%s = %v", op, err)
		}
		is := s.Get(path)
		if is == nil || is["metadata"].(map[string]any)["labels"] != nil {
			t.Errorf("after %s the other's object is %v, want it as it was", op, is)
		}
	}
}

// What is missing, was changed, is another's or of a kind that is gone is told apart, each under a lease that
// sees what is in one namespace, or what is in none.
func TestObserving(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "ran.example.com", Version: "v1", Kind: "Slice", Plural: "slices", Namespaced: true})
	d := manifests.New()
	in := input(configMap("same"), configMap("changed"), configMap("missing"), configMap("taken"),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: wide}\n", "apiVersion: ran.example.com/v1\nkind: Slice\nmetadata: {name: old}\nspec: {a: 1}\n")
	p := mustPlan(t, s, in)
	seen := map[string]lifecycle.Resource{}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			if err := d.Run(t.Context(), s.Connection(stage.Grant), instance, w, func(o lifecycle.Observation) { seen[o.Name] = o.Resource }); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.Standing = []lifecycle.Resource{{Group: "gone.example.com", Version: "v1", Kind: "Gone", Plural: "gones", Namespace: "cnf", Name: "gone"}}
	for _, name := range []string{"same", "wide", "changed", "missing", "taken", "old"} {
		in.Standing = append(in.Standing, seen[name])
	}
	at := func(name string) string { return fakeobjects.Path(seen[name]) }
	s.Change(at("changed"), "kubectl-edit", func(o map[string]any) { o["data"] = map[string]any{"a": "other"} })
	s.Remove(at("missing"))
	s.Remove(at("taken"))
	s.Put(at("taken"), map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "taken", "namespace": "cnf"}})

	in.Observing = true
	p, err := d.Plan(t.Context(), lifecycle.Connection{}, in)
	if err != nil || len(p.Stages) != 2 {
		t.Fatalf("Plan for observing has %d stages, %v; want one for the cluster and one for the namespace", len(p.Stages), err)
	}
	got := map[string]string{}
	for _, stage := range p.Stages {
		var some []lifecycle.Resource
		for _, o := range stage.Waves[0].Objects {
			some = append(some, o.Resource)
		}
		all, err := d.Observe(t.Context(), s.Connection(stage.Grant), instance, some)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			got[o.Name] = fmt.Sprintf("%t%v%s", o.Standing, o.ChangedBy, o.Message)
		}
	}
	for name, want := range map[string]string{
		"same": "true[]", "wide": "true[]", "old": "true[]", "changed": "true[kubectl-edit]", "missing": "false[]is missing",
		"taken": "false[]is missing: an object of the same name is not the instance's",
		"gone":  "false[]is missing: the cluster does not serve its kind any more",
	} {
		if got[name] != want {
			t.Errorf("%s is observed as %q, want %q", name, got[name], want)
		}
	}
}

// The broker's driver takes at most 64 names in a rule.
func TestNoRuleHasMoreNamesThanOneCanHold(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		text.WriteString("---\n" + configMap(fmt.Sprintf("c-%d", i)))
	}
	total := 0
	for _, r := range mustPlan(t, fakeobjects.New(t), input(text.String())).Stages[0].Grant.Rules {
		total += len(r.ResourceNames)
		if n := len(r.ResourceNames); n < 1 || n > 64 {
			t.Errorf("a rule has %d names", n)
		}
	}
	if total != 200 {
		t.Errorf("the rules name %d objects, want 200", total)
	}
}

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
			return d.Run(t.Context(), connect(s, p.Stages[0].Grant), instance, w, func(o lifecycle.Observation) { in.Standing = []lifecycle.Resource{o.Resource} })
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

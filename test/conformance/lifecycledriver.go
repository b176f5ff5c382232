package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// LifecycleEnv is a [lifecycle.Driver] under test, and a VIM for it.
type LifecycleEnv struct {
	// New returns a driver that has seen nothing yet.
	New func() lifecycle.Driver
	// Connect makes a connection whose credential may do what a grant says, and nothing else.
	Connect func(t *testing.T, g lifecycle.StageRules) lifecycle.Connection
	// Namespace makes one for an instance; empty where the VIM knows none.
	Namespace func(t *testing.T) string
	// Manifests describe one workload, named as VDU is, and a secret that holds the text
	// as its value.
	Manifests func(secret string) []lifecycle.Manifest
	VDU       string
	// Flavour is the one of the VDU, where the driver needs it.
	Flavour vnfpkg.Flavour
	// Elsewhere are the cases that are left out, because something else shows the same on this VIM.
	Elsewhere []string
	// Remove deletes a resource by hand.
	Remove func(t *testing.T, r lifecycle.Resource)
	// Plant makes an object of that name that is nobody's, and returns whether it is still as it was.
	Plant func(t *testing.T, r lifecycle.Resource) (untouched func() bool)
	// Unlabel takes all labels of a resource away by hand; nil where the driver knows its resources by nothing that
	// others can take away.
	Unlabel func(t *testing.T, r lifecycle.Resource)
}

// LifecycleDriver checks a driver against the contract of [lifecycle.Driver]. Each stage of a plan runs with
// its own grant and nothing more. It holds everything that the driver says against the secret
// of the manifests.
func LifecycleDriver(t *testing.T, env LifecycleEnv) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *occurrence)
	}{
		{"Plan/IsStableAndMakesNothing", planIsStable},
		{"Run/FromNothingToNothing", runWhole},
		{"Run/IsIdempotent", runTwice},
		{"Run/HealRepairsAndReplaces", runHeal},
		{"Run/NeverAdopts", runNeverAdopts},
		{"Run/KnowsWhatItMade", runUnlabelled},
		{"Run/EndsWithItsContext", runEnds},
		{"Run/NeedsItsGrant", runNeedsGrant},
		{"Delete/OfNothing", deleteNothing},
		{"Fault/UnreachableAndUnknown", faultLifecycle},
	} {
		if slices.Contains(env.Elsewhere, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			o := &occurrence{LifecycleEnv: env, driver: env.New(), canary: "canary-" + uuid.NewString(), replicas: 2}
			o.in = lifecycle.PlanInput{Instance: uuid.NewString(), Name: "conformance", Namespace: env.Namespace(t), Manifests: env.Manifests(o.canary), Flavour: env.Flavour}
			test.run(t, o)
		})
	}
}

// occurrence is an instance, as the engine would keep it.
type occurrence struct {
	LifecycleEnv

	driver   lifecycle.Driver
	in       lifecycle.PlanInput
	canary   string
	replicas int32
	standing []lifecycle.Resource
	last     map[string]lifecycle.Observation
}

// clean fails if anything that the driver said holds the secret.
func (o *occurrence) clean(t *testing.T, said ...any) {
	t.Helper()
	for _, s := range said {
		if strings.Contains(fmt.Sprintf("%+v %#v", s, s), o.canary) {
			t.Errorf("the driver repeats the secret of a manifest: %+v", s)
		}
	}
}

func (o *occurrence) plan(t *testing.T, op lifecycle.OperationType) lifecycle.Plan {
	t.Helper()
	o.in.Operation, o.in.Standing, o.in.Replicas, o.in.Scaled = op, o.standing, map[string]int32{o.VDU: o.replicas}, nil
	if op == lifecycle.ScaleVNF {
		o.in.Scaled = []string{o.VDU}
	}
	p, err := o.driver.Plan(t.Context(), o.Connect(t, o.driver.Survey(o.in)), o.in)
	if err != nil {
		t.Fatalf("Plan(%s) = %v", op, err)
	}
	o.clean(t, p)
	return p
}

// do plans an operation and runs it.
func (o *occurrence) do(t *testing.T, op lifecycle.OperationType) {
	t.Helper()
	p := o.plan(t, op)
	if err := o.run(t, t.Context(), p); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	o.standing = nil
	for _, r := range p.Resources {
		if seen, ok := o.last[r.Kind+r.Name]; ok {
			r = seen.Resource
		}
		o.standing = append(o.standing, r)
	}
}

func (o *occurrence) run(t *testing.T, ctx context.Context, p lifecycle.Plan) error {
	t.Helper()
	if o.last == nil {
		o.last = map[string]lifecycle.Observation{}
	}
	for _, stage := range p.Stages {
		c := o.Connect(t, stage.Grant)
		for _, w := range stage.Waves {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
			err := o.driver.Run(ctx, c, o.in.Instance, w, func(seen lifecycle.Observation) {
				o.clean(t, seen)
				o.last[seen.Kind+seen.Name] = seen
			})
			cancel()
			if err != nil {
				o.clean(t, err, err.Error())
				return err
			}
		}
	}
	return nil
}

func (o *occurrence) observe(t *testing.T, resources []lifecycle.Resource) []lifecycle.Observation {
	t.Helper()
	in := o.in
	in.Observing, in.Standing = true, resources
	p, err := o.driver.Plan(t.Context(), lifecycle.Connection{}, in)
	if err != nil {
		t.Fatalf("Plan for observing = %v", err)
	}
	byName := map[string]lifecycle.Observation{}
	for _, stage := range p.Stages {
		if len(stage.Waves) != 1 || stage.Waves[0].Deed != lifecycle.Look {
			t.Fatalf("a stage for observing has the waves %+v, want one that looks", stage.Waves)
		}
		for _, r := range stage.Grant.Rules {
			if slices.ContainsFunc(r.Verbs, func(v string) bool { return v != "get" && v != "list" }) {
				t.Errorf("observing asks for %v", r.Verbs)
			}
		}
		var some []lifecycle.Resource
		for _, of := range stage.Waves[0].Objects {
			some = append(some, of.Resource)
		}
		seen, err := o.driver.Observe(t.Context(), o.Connect(t, stage.Grant), o.in.Instance, some)
		if err != nil || len(seen) != len(some) {
			t.Fatalf("Observe of %d = %d, %v", len(some), len(seen), err)
		}
		for n, of := range seen {
			if of.Kind != some[n].Kind || of.Name != some[n].Name {
				t.Errorf("observation %d is of %s %s, want %s %s", n, of.Kind, of.Name, some[n].Kind, some[n].Name)
			}
			byName[of.Kind+of.Name] = of
		}
	}
	all := make([]lifecycle.Observation, len(resources))
	for n, r := range resources {
		all[n] = byName[r.Kind+r.Name]
	}
	o.clean(t, all)
	return all
}

// vnfcs are those of the VDU, each of which must be ready.
func (o *occurrence) vnfcs(t *testing.T) []lifecycle.VNFC {
	t.Helper()
	var all []lifecycle.VNFC
	for i, seen := range o.observe(t, o.standing) {
		r := o.standing[i]
		if seen.Kind != r.Kind || seen.Name != r.Name || !seen.Standing || !seen.Ready || len(seen.ChangedBy) > 0 {
			t.Errorf("%s %s is observed as %+v, want it standing, ready and unchanged", r.Kind, r.Name, seen)
		}
		all = append(all, seen.VNFCs...)
	}
	for _, v := range all {
		if !v.Ready || v.VDU != o.VDU {
			t.Errorf("VNFC %+v, want a ready one of %s", v, o.VDU)
		}
	}
	return all
}

func planIsStable(t *testing.T, o *occurrence) {
	a, b := o.plan(t, lifecycle.Instantiate), o.plan(t, lifecycle.Instantiate)
	for _, p := range []*lifecycle.Plan{&a, &b} {
		for i := range p.Stages {
			for j := range p.Stages[i].Waves {
				for k := range p.Stages[i].Waves[j].Objects {
					p.Stages[i].Waves[j].Objects[k].Manifest = secret.Text{}
				}
			}
		}
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("the same input gives two plans:\n%+v\n%+v", a, b)
	}
	for _, seen := range o.observe(t, a.Resources) {
		if seen.Standing {
			t.Errorf("a plan made %s %s", seen.Kind, seen.Name)
		}
	}
}

func runWhole(t *testing.T, o *occurrence) {
	o.do(t, lifecycle.Instantiate)
	all := o.standing
	for _, n := range []int32{2, 5, 1} {
		if o.replicas != n {
			o.replicas = n
			o.do(t, lifecycle.ScaleVNF)
		}
		if got := len(o.vnfcs(t)); got != int(n) {
			t.Errorf("%d VNFCs, want %d", got, n)
		}
	}
	o.do(t, lifecycle.Terminate)
	for _, seen := range o.observe(t, all) {
		if seen.Standing {
			t.Errorf("%s %s stands after TERMINATE", seen.Kind, seen.Name)
		}
	}
}

func runTwice(t *testing.T, o *occurrence) {
	for _, op := range []lifecycle.OperationType{lifecycle.Instantiate, lifecycle.Terminate} {
		p := o.plan(t, op)
		for range 2 {
			if err := o.run(t, t.Context(), p); err != nil {
				t.Fatalf("%s: %v", op, err)
			}
		}
		o.standing = p.Resources
		if op == lifecycle.Instantiate && len(o.vnfcs(t)) != int(o.replicas) {
			t.Errorf("made twice, there are %d VNFCs", len(o.vnfcs(t)))
		}
	}
}

func runHeal(t *testing.T, o *occurrence) {
	o.do(t, lifecycle.Instantiate)
	i := 0
	for n, r := range o.standing {
		if r.VDU == "" {
			i = n
		}
	}
	o.Remove(t, o.standing[i])
	if o.observe(t, o.standing)[i].Standing {
		t.Error("what was removed is observed as standing")
	}
	old := o.vnfcsAnyway(t)
	o.in.VNFCs = old[:1]
	o.do(t, lifecycle.Heal)
	o.in.VNFCs = nil
	healed := o.vnfcs(t)
	if len(healed) != len(old) || slices.ContainsFunc(healed, func(v lifecycle.VNFC) bool { return v.UID == old[0].UID }) {
		t.Errorf("healed to %+v, want %d without %s", healed, len(old), old[0].UID)
	}
	o.do(t, lifecycle.Terminate)
}

func (o *occurrence) vnfcsAnyway(t *testing.T) (all []lifecycle.VNFC) {
	t.Helper()
	for _, seen := range o.observe(t, o.standing) {
		all = append(all, seen.VNFCs...)
	}
	return all
}

func runNeverAdopts(t *testing.T, o *occurrence) {
	p := o.plan(t, lifecycle.Instantiate)
	r := p.Resources[0]
	untouched := o.Plant(t, r)
	if err := o.run(t, t.Context(), p); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), r.Name) {
		t.Errorf("Run where an object of another stands = %v, want %v with its name", err, broker.ErrConflict)
	}
	if seen := o.observe(t, []lifecycle.Resource{r}); seen[0].Standing {
		t.Error("the object of another is observed as the instance's")
	}
	o.standing = p.Resources
	o.do(t, lifecycle.Terminate)
	if !untouched() {
		t.Error("the object of another was changed or removed")
	}
}

// runUnlabelled: what was made stays the instance's without its labels. It is observed, changed, scaled and removed;
// what took its place is another's.
func runUnlabelled(t *testing.T, o *occurrence) {
	if o.Unlabel == nil {
		t.Skip("nothing can be taken away that the driver knows its resources by")
	}
	o.do(t, lifecycle.Instantiate)
	unlabel := func() {
		for _, r := range o.standing {
			o.Unlabel(t, r)
		}
	}
	for _, op := range []lifecycle.OperationType{lifecycle.Heal, lifecycle.ScaleVNF, lifecycle.ChangePackage, lifecycle.Terminate} {
		unlabel()
		for _, seen := range o.observe(t, o.standing) {
			if !seen.Standing {
				t.Errorf("before %s %s %s is not observed as the instance's: %s", op, seen.Kind, seen.Name, seen.Message)
			}
		}
		all := o.standing
		o.do(t, op)
		if op != lifecycle.Terminate {
			continue
		}
		for _, seen := range o.observe(t, all) {
			if seen.Standing || seen.Message != "is missing" {
				t.Errorf("after %s %s %s %s", op, seen.Kind, seen.Name, seen.Message)
			}
		}
	}
	o.do(t, lifecycle.Instantiate)
	r := o.standing[0]
	o.Remove(t, r)
	untouched := o.Plant(t, r)
	o.do(t, lifecycle.Terminate)
	if !untouched() {
		t.Error("what took the place of an object of the instance was changed or removed")
	}
}

func runEnds(t *testing.T, o *occurrence) {
	p := o.plan(t, lifecycle.Instantiate)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	err := o.run(t, ctx, p)
	if err == nil || time.Since(began) > time.Minute {
		t.Errorf("Run under a context that has ended = %v after %v", err, time.Since(began))
	}
	o.standing = p.Resources
	o.do(t, lifecycle.Terminate)
}

func runNeedsGrant(t *testing.T, o *occurrence) {
	p := o.plan(t, lifecycle.Instantiate)
	for i := range p.Stages {
		p.Stages[i].Grant = o.driver.Survey(o.in)
	}
	if err := o.run(t, t.Context(), p); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("Run without its rules = %v, want %v", err, broker.ErrForbidden)
	}
}

func deleteNothing(t *testing.T, o *occurrence) {
	o.standing = o.plan(t, lifecycle.Instantiate).Resources
	o.do(t, lifecycle.Terminate)
}

func faultLifecycle(t *testing.T, o *occurrence) {
	p := o.plan(t, lifecycle.Instantiate)
	c := o.Connect(t, p.Stages[0].Grant)
	for want, change := range map[error]func(*lifecycle.Connection){
		broker.ErrUnreachable:  func(c *lifecycle.Connection) { c.Config.Endpoint = "https://127.0.0.1:1" },
		broker.ErrUnauthorized: func(c *lifecycle.Connection) { c.Config.Token = secret.NewText("unknown-" + uuid.NewString()) },
	} {
		wrong := c
		change(&wrong)
		err := o.driver.Run(t.Context(), wrong, o.in.Instance, p.Stages[0].Waves[0], func(lifecycle.Observation) {})
		if !errors.Is(err, want) || strings.Contains(err.Error(), wrong.Config.Token.Reveal()) {
			t.Errorf("Run = %v, want %v", err, want)
		}
		if _, err := o.driver.Plan(t.Context(), wrong, o.in); !errors.Is(err, want) {
			t.Errorf("Plan = %v, want %v", err, want)
		}
		if _, err := o.driver.Observe(t.Context(), wrong, o.in.Instance, p.Resources); !errors.Is(err, want) {
			t.Errorf("Observe = %v, want %v", err, want)
		}
	}
}

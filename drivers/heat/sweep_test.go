package heat_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/vnf"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/sweep"
)

const sweptSecret = "s3cret-of-the-swept-vnf"

// swept is a cloud and an instance for one run of a flow.
type swept struct {
	t  testing.TB
	s  *fakeheat.Server
	in lifecycle.PlanInput
	// vnfcs are those that the last operation told of.
	vnfcs []lifecycle.VNFC
}

func cloud(t testing.TB) *swept {
	t.Helper()
	return &swept{t: t, s: fakeheat.NewPlain(t), in: lifecycle.PlanInput{
		Operation: lifecycle.Instantiate, Instance: "11111111-2222-4333-8444-555555555555", Name: "n", Manifests: vnf.Manifests(sweptSecret),
		Flavour: vnf.Flavour(), Replicas: map[string]int32{vnf.VDU: 2},
	}}
}

// operate plans an operation and runs it, and returns what it tells of each resource in the end.
func (l *swept) operate(ctx context.Context, op lifecycle.OperationType) (string, error) {
	in := l.in
	in.Operation, in.VNFCs = op, nil
	if op == lifecycle.Heal {
		in.VNFCs = l.vnfcs[:1]
	}
	p, err := heat.Quick().Plan(ctx, connect(l.s, lifecycle.StageRules{}), in)
	if err != nil {
		return "", err
	}
	if op == lifecycle.Instantiate {
		l.in.Standing = p.Resources // which the engine records before
	}
	last := map[string]lifecycle.Observation{}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			err := heat.Quick().Run(ctx, connect(l.s, stage.Grant), in.Instance, w, func(o lifecycle.Observation) { last[o.Kind+o.Name] = o })
			if err != nil {
				return said(last), err
			}
		}
	}
	if op != lifecycle.Terminate {
		l.in.Standing, l.vnfcs = p.Resources, nil
		for i, r := range l.in.Standing {
			o := last[r.Kind+r.Name]
			l.in.Standing[i].Applied, l.in.Standing[i].UID = o.Applied, o.UID
			l.vnfcs = append(l.vnfcs, o.VNFCs...)
		}
	}
	return said(last), nil
}

// said is what observations say, without ids.
func said(of map[string]lifecycle.Observation) string {
	var lines []string
	for _, o := range of {
		ready := 0
		for _, v := range o.VNFCs {
			if v.Ready {
				ready++
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s standing %t ready %t %q, changed by %q, %d of %d VNFCs ready, applied %t", o.Kind, o.Name, o.Standing, o.Ready,
			o.Message, o.ChangedBy, ready, len(o.VNFCs), o.Applied != ""))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func (l *swept) bench(run func(context.Context) (any, error)) *sweep.Bench {
	return &sweep.Bench{
		Servers: map[string]*fake.Server{"": &l.s.Server}, Run: run, Standing: l.s.Standing, Names: map[string]string{l.in.Instance: "instance"},
		Secrets: func() []string { return []string{sweptSecret} },
	}
}

// does is the bench of an operation after others.
func does(op lifecycle.OperationType, after ...lifecycle.OperationType) func(testing.TB) *sweep.Bench {
	return func(t testing.TB) *sweep.Bench {
		l := cloud(t)
		for _, before := range after {
			if _, err := l.operate(t.Context(), before); err != nil {
				t.Fatal(err)
			}
		}
		if op == lifecycle.ScaleVNF {
			l.in.Replicas, l.in.Scaled = map[string]int32{vnf.VDU: 3}, []string{vnf.VDU}
		}
		b := l.bench(func(ctx context.Context) (any, error) { return l.operate(ctx, op) })
		if op == lifecycle.Instantiate {
			b.Undo = func(ctx context.Context) error {
				_, err := l.operate(ctx, lifecycle.Terminate)
				return err
			}
		}
		return b
	}
}

func TestSweep(t *testing.T) {
	s := sweep.OfBroker()
	s.Kinds = append(s.Kinds, lifecycle.ErrNotReady)
	s.Words = map[string]*regexp.Regexp{"token": regexp.MustCompile(`token-[0-9a-f-]{36}`)}
	s.Headers = []string{"X-Auth-Token", "X-Subject-Token"}
	// Whether a stack was made, changed or looked at last is told by requests.
	s.Words["done"] = regexp.MustCompile(`(CREATE|UPDATE|CHECK)_COMPLETE`)
	s.Words["since"] = regexp.MustCompile(`, updated (true|false)$`)
	s.Want["404"] = broker.ErrNotFound
	s.Exceptions = []sweep.Exception{
		{Request: "/auth/tokens", Fault: "404", Want: broker.ErrUnauthorized, Why: "Keystone says so of a token that has ended"},
		{Request: "/validate", Fault: "cut|hollow", Why: "that a template is valid is said by the status, and again when the stack is made"},
		{Flow: "^terminate$", Request: "^DELETE ", Fault: "404", Untried: true, Why: "a stack that is not there and goes not is waited for until the context ends"},
		{Flow: "^terminate$", Request: "^GET .*<uuid> ", Fault: "404", Why: "Heat's word that the stack is gone"},
		{Request: "/events", Fault: "404", Want: lifecycle.ErrNotReady, Why: "the stack was deleted while it was waited for"},
		{Flow: "^(instantiate|change|heal)$", Request: "^GET .*/stacks/vnf-<instance>/<uuid> ", Fault: "404", Want: lifecycle.ErrNotReady, Bare: true, Why: "the stack was deleted meanwhile"},
	}
	s.Run(t,
		sweep.Flow{Name: "observe", Fields: ".", Statuses: "name=|tokens", New: func(t testing.TB) *sweep.Bench {
			l := cloud(t)
			if _, err := l.operate(t.Context(), lifecycle.Instantiate); err != nil {
				t.Fatal(err)
			}
			return l.bench(func(ctx context.Context) (any, error) {
				seen, err := heat.New().Observe(ctx, connect(l.s, lifecycle.StageRules{}), l.in.Instance, l.in.Standing)
				all := map[string]lifecycle.Observation{}
				for _, o := range seen {
					all[o.Kind+o.Name] = o
				}
				return said(all), err
			})
		}},
		sweep.Flow{Name: "instantiate", Fields: "tokens|POST .*stacks|uuid", New: does(lifecycle.Instantiate)},
		sweep.Flow{Name: "change", Only: "PUT|stacks.name|events|POST", New: does(lifecycle.ChangePackage, lifecycle.Instantiate)},
		sweep.Flow{Name: "scale", Only: "none", New: does(lifecycle.ScaleVNF, lifecycle.Instantiate)},
		sweep.Flow{Name: "heal", New: does(lifecycle.Heal, lifecycle.Instantiate)},
		sweep.Flow{Name: "terminate", New: does(lifecycle.Terminate, lifecycle.Instantiate)},
	)
}

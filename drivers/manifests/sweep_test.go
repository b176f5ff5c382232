package manifests_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/sweep"
)

const sweptSecret = "s3cret-of-the-swept-cnf"

// sweptMore are objects of other kinds than the CNF has: some of the cluster, a definition and an object of its kind, in waves.
const sweptMore = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: slices.ran.example.com}
spec:
  group: ran.example.com
  scope: Namespaced
  names: {kind: Slice, plural: slices}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {vimbroker.io/outlives: "true"}}
spec: {resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: setup, annotations: {vimbroker.io/wave: "-1"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: registry.invalid/a:1}]}}}
`

// swept is a cluster and an instance for one run of a flow.
type swept struct {
	t  testing.TB
	s  *fakeobjects.Server
	in lifecycle.PlanInput
	// vnfcs are those that the last operation told of.
	vnfcs []lifecycle.VNFC
}

func cluster(t testing.TB, more ...string) *swept {
	t.Helper()
	l := &swept{t: t, s: fakeobjects.NewPlain(t), in: input(more...)}
	l.in.Manifests = append(l.in.Manifests, cnf.Manifests(sweptSecret)...)
	l.in.Replicas = map[string]int32{cnf.VDU: 2}
	l.s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	return l
}

// operate plans an operation and runs it, and returns what it tells of each object in the end.
func (l *swept) operate(ctx context.Context, op lifecycle.OperationType) (string, error) {
	in, d := l.in, manifests.Quick()
	in.Operation, in.VNFCs = op, nil
	if op == lifecycle.Heal {
		in.VNFCs = l.vnfcs[:1]
	}
	p, err := d.Plan(ctx, l.s.Connection(d.Survey(in)), in)
	if err != nil {
		return "", err
	}
	if op == lifecycle.Instantiate && len(l.in.Standing) == 0 {
		l.in.Standing = p.Resources // which the engine records before
	}
	last := map[string]lifecycle.Observation{}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			err := d.Run(ctx, l.s.Connection(stage.Grant), in.Instance, w, func(o lifecycle.Observation) {
				last[o.Kind+o.Name] = o
				for i, r := range l.in.Standing {
					if r.Kind == o.Kind && r.Name == o.Name {
						l.in.Standing[i].Applied, l.in.Standing[i].UID = o.Applied, o.UID
					}
				}
			})
			if err != nil {
				return said(last), err
			}
		}
	}
	if op != lifecycle.Terminate {
		l.vnfcs = nil
		for _, o := range last {
			l.vnfcs = append(l.vnfcs, o.VNFCs...)
		}
	}
	return said(last), nil
}

// said is what observations say, without ids.
func said(of map[string]lifecycle.Observation) string {
	var lines []string
	for _, o := range of {
		lines = append(lines, fmt.Sprintf("%s %s standing %t ready %t %q, changed by %q, %d VNFCs, %d storages, applied %t", o.Kind, o.Name, o.Standing, o.Ready,
			o.Message, o.ChangedBy, len(o.VNFCs), len(o.Storages), o.Applied != ""))
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
func does(more string, op lifecycle.OperationType, after ...lifecycle.OperationType) func(testing.TB) *sweep.Bench {
	return func(t testing.TB) *sweep.Bench {
		l := cluster(t)
		if more != "" {
			l = cluster(t, more)
		}
		for _, before := range after {
			if _, err := l.operate(t.Context(), before); err != nil {
				t.Fatal(err)
			}
		}
		if op == lifecycle.ScaleVNF {
			l.in.Replicas, l.in.Scaled = map[string]int32{cnf.VDU: 3}, []string{cnf.VDU}
		}
		b := l.bench(func(ctx context.Context) (any, error) { return l.operate(ctx, op) })
		if op == lifecycle.Instantiate && more == "" {
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
	s.Words = map[string]*regexp.Regexp{"pod": regexp.MustCompile(`\bweb-[0-9a-f]{5}\b`), "mark": regexp.MustCompile(`"resourceVersion":"[0-9]+"`)}
	s.Headers = []string{"Content-Type"}
	s.Want["404"] = broker.ErrNotFound
	s.Exceptions = []sweep.Exception{
		{Request: "^GET /(api|apis/[a-z0-9.]+)/v1$", Fault: "404", Want: broker.ErrUnreachable, Why: "every API server serves it, or its list of groups says so"},
		{Request: "^GET (/version|/api/v1/namespaces/cnf)$", Fault: "40|page", Differs: true, Why: "without them pods are held to the level of Pod Security that all know"},
		{Request: "^GET /api/v1/namespaces/cnf$", Fault: "cut|hollow", Why: "it says no version of Pod Security"},
		{Request: "^GET /version$", Fault: "hollow", Why: "it says no version"},
		{Request: "horizontalpodautoscalers", Fault: "404", Why: "an API server says 404 of what it does not serve, in no form"},
		{Flow: "^heal$", Request: "^DELETE .*/pods/", Fault: "409", Untried: true, Why: "what took the pod's place is waited for until the context ends"},
		{Request: "^PATCH .*apply-patch", Fault: "409", Why: "who changed the object is looked at, and it is nobody"},
	}
	s.Run(t,
		sweep.Flow{Name: "observe", Beside: ".", Fields: ".", Statuses: "configmaps", New: func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			if _, err := l.operate(t.Context(), lifecycle.Instantiate); err != nil {
				t.Fatal(err)
			}
			return l.bench(func(ctx context.Context) (any, error) {
				in := l.in
				in.Observing = true
				d := manifests.New()
				p, err := d.Plan(ctx, lifecycle.Connection{}, in)
				if err != nil {
					return "", err
				}
				all := map[string]lifecycle.Observation{}
				for _, stage := range p.Stages {
					var some []lifecycle.Resource
					for _, o := range stage.Waves[0].Objects {
						some = append(some, o.Resource)
					}
					seen, err := d.Observe(ctx, l.s.Connection(stage.Grant), in.Instance, some)
					if err != nil {
						return "", err
					}
					for _, o := range seen {
						all[o.Kind+o.Name] = o
					}
				}
				return said(all), nil
			})
		}},
		sweep.Flow{Name: "instantiate", Beside: ".", New: does("", lifecycle.Instantiate)},
		sweep.Flow{Name: "instantiate-more", Beside: ".", Only: "slices|persistent|setup|apiext", New: does(sweptMore, lifecycle.Instantiate)},
		sweep.Flow{Name: "change", Beside: ".", Only: "^GET .*/(configmaps|deployments|horizontal)|^PATCH .*deployments", New: does("", lifecycle.ChangePackage, lifecycle.Instantiate)},
		sweep.Flow{Name: "scale", Beside: ".", Fields: "scale|pods", New: does("", lifecycle.ScaleVNF, lifecycle.Instantiate)},
		sweep.Flow{Name: "heal", Beside: ".", Only: "pods|deployments", New: does("", lifecycle.Heal, lifecycle.Instantiate)},
		sweep.Flow{Name: "terminate", Beside: ".", New: does("", lifecycle.Terminate, lifecycle.Instantiate)},
	)
}

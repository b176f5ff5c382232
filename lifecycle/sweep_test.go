package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/faults"
)

var plants = faults.Kit[*plant]{
	New: func(t *testing.T) *plant {
		return newPlantWith(t, func(o *lifecycle.Options, _ *yard) { o.Terms.LookEvery = time.Hour })
	},
	World: func(p *plant) faults.World {
		return faults.World{
			Objects: p.stands, Keys: func() []string { return nil },
			Pass: func(wait time.Duration) error {
				p.clock.Add(wait + time.Minute)
				var failed []error
				for _, pass := range p.Passes() {
					failed = append(failed, pass.Run(p.t.Context()))
				}
				return errors.Join(failed...)
			},
		}
	},
}

// stands is what stands on the VIM, and the leases that are live.
func (p *plant) stands() (all []string) {
	for name, n := range p.yard.standing() {
		all = append(all, fmt.Sprint(name, " with ", n))
	}
	p.lends.mu.Lock()
	defer p.lends.mu.Unlock()
	for _, r := range p.lends.live {
		all = append(all, "a lease of "+r.Operation)
	}
	slices.Sort(all)
	return all
}

func (p *plant) anInstance() string { return p.made().ID }

func (p *plant) aRunning() string { return p.running().ID }

// operation is a flow that asks for an operation.
func operation(name string, given func(*plant) string, ask func(*plant, context.Context, string) (lifecycle.Operation, error)) faults.Flow[*plant] {
	return faults.Flow[*plant]{Name: name, Given: given, Repeated: broker.ErrConflict, Leaves: `^entry: done vnf:cancel `, Do: func(p *plant, id string) (any, error) { return ask(p, p.t.Context(), id) }}
}

// worked is a flow that works an operation.
func worked(name string, given func(*plant) string, ask func(*plant, context.Context, string) (lifecycle.Operation, error)) faults.Flow[*plant] {
	return faults.Flow[*plant]{
		Name: "work " + name,
		Given: func(p *plant) string {
			o, err := ask(p, p.t.Context(), given(p))
			if err != nil {
				p.t.Fatal(err)
			}
			return o.ID
		},
		Do: func(p *plant, id string) (any, error) { return nil, p.Work(p.t.Context(), id) },
		Then: func(p *plant, id string) any {
			o, err := p.Operation(p.t.Context(), alice, id)
			if err != nil {
				p.t.Fatal(err)
			}
			return []any{o.State, o.Failure}
		},
	}
}

var fails = []faults.Mode{faults.Fails}

// asks are how operations are asked for, and of what.
var asks = []struct {
	name  string
	given func(*plant) string
	ask   func(*plant, context.Context, string) (lifecycle.Operation, error)
	only  []faults.Mode // what is like another fails in one way
}{
	{"instantiate", (*plant).anInstance, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
		return p.Instantiate(ctx, alice, id, lifecycle.Instantiation{Flavour: "simple", VIM: "edge"})
	}, nil},
	{"scale", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
		return p.Scale(ctx, alice, id, lifecycle.Scaling{Aspect: "front", Steps: 2})
	}, fails},
	{"heal", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
		return p.Heal(ctx, alice, id, lifecycle.Healing{VNFCs: []string{"front-front-0"}})
	}, fails},
	{"change", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
		return p.ChangePackage(ctx, alice, id, lifecycle.PackageChange{VNFDID: "web-2"})
	}, fails},
	{"terminate", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
		return p.Terminate(ctx, alice, id, nil)
	}, nil},
}

func TestSweepAskingForOperations(t *testing.T) {
	for _, a := range asks {
		f := operation(a.name, a.given, a.ask)
		f.Only = a.only
		faults.Sweep(t, plants, f)
	}
}

func TestSweepWorkingOperations(t *testing.T) {
	for _, a := range asks {
		f := worked(a.name, a.given, a.ask)
		f.Only = a.only
		faults.Sweep(t, plants, f)
	}
}

// aFailed is an operation that instantiates, and has failed for now.
func (p *plant) aFailed() string {
	o, err := p.Instantiate(p.t.Context(), alice, p.made().ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge"})
	p.yard.failsAt(1, errBroken)
	return p.ends(lifecycle.FailedTemp, o, err).ID
}

func TestSweepWhatIsDoneToOperations(t *testing.T) {
	faults.Sweep(t, plants,
		operation("retry", (*plant).aFailed, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Retry(ctx, alice, id)
		}),
		operation("roll back", (*plant).aFailed, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Rollback(ctx, alice, id)
		}),
		operation("fail", (*plant).aFailed, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Fail(ctx, alice, id)
		}),
		operation("cancel", func(p *plant) string { return p.begun().ID }, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Cancel(ctx, alice, id, lifecycle.Forceful)
		}),
		worked("a way back", (*plant).aFailed, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Rollback(ctx, alice, id)
		}),
	)
}

func TestSweepInstances(t *testing.T) {
	faults.Sweep(t, plants,
		faults.Flow[*plant]{Name: "create", Leaves: `^vnf_instances:|^vnf_package_uses:|^entry: done `, Do: func(p *plant, _ string) (any, error) {
			return p.CreateInstance(p.t.Context(), alice, lifecycle.NewInstance{VNFDID: "web-1", Name: "web"})
		}},
		faults.Flow[*plant]{Name: "delete", Repeated: broker.ErrNotFound, Given: (*plant).anInstance, Do: func(p *plant, id string) (any, error) {
			return nil, p.DeleteInstance(p.t.Context(), alice, id, 0)
		}},
		faults.Flow[*plant]{Name: "modify", Repeated: broker.ErrPrecondition, Given: func(p *plant) string {
			i := p.instance(p.aRunning())
			return fmt.Sprint(i.ID, " ", i.Revision)
		}, Do: func(p *plant, given string) (any, error) {
			var id, says string
			var revision int64
			if _, err := fmt.Sscan(given, &id, &revision); err != nil {
				return nil, err
			}
			return p.Modify(p.t.Context(), alice, id, lifecycle.Modification{Description: &says, Metadata: []byte(`{"a":1}`), IfRevision: revision})
		}},
		operation("connect", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Connect(ctx, alice, id, lifecycle.Connecting{})
		}),
		operation("forget", (*plant).aRunning, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Forget(ctx, ada, id)
		}),
		operation("forget what has failed", func(p *plant) string {
			o, err := p.store.Operation(p.t.Context(), p.aFailed())
			if err != nil {
				p.t.Fatal(err)
			}
			return o.Instance
		}, func(p *plant, ctx context.Context, id string) (lifecycle.Operation, error) {
			return p.Forget(ctx, ada, id)
		}),
		faults.Flow[*plant]{Name: "check", Given: (*plant).aRunning, Do: func(p *plant, id string) (any, error) {
			i, err := p.Check(p.t.Context(), alice, id)
			return i.State, err
		}},
		faults.Flow[*plant]{Name: "observe", GoesOn: true, Given: func(p *plant) string {
			id := p.aRunning()
			delete(p.yard.objects, "old")
			p.clock.Add(time.Hour)
			return id
		}, Do: func(p *plant, _ string) (any, error) { return nil, p.Observe(p.t.Context()) }, Then: func(p *plant, id string) any {
			return len(p.instance(id).Drift.Resources)
		}},
	)
	faults.Reads(t, plants, (*plant).aRunning, map[string]func(p *plant, id string) (any, error){
		"Preview": func(p *plant, id string) (any, error) {
			made, err := p.Preview(p.t.Context(), alice, id, lifecycle.Scaling{Aspect: "front", Steps: 1})
			return made.Effects, err
		},
		"Operation": func(p *plant, id string) (any, error) {
			all, _, err := p.Operations(p.t.Context(), alice, lifecycle.OperationQuery{Instance: id})
			if err != nil {
				return nil, err
			}
			return p.Operation(p.t.Context(), alice, all[0].ID)
		},
		"Instance": func(p *plant, id string) (any, error) { return p.Instance(p.t.Context(), alice, id) },
		"Instances": func(p *plant, _ string) (any, error) {
			all, _, err := p.Instances(p.t.Context(), alice, lifecycle.InstanceQuery{})
			return all, err
		},
		"Operations": func(p *plant, _ string) (any, error) {
			all, _, err := p.Operations(p.t.Context(), alice, lifecycle.OperationQuery{})
			return all, err
		},
		"Count": func(p *plant, _ string) (any, error) { return p.Count(p.t.Context()) },
	})
}

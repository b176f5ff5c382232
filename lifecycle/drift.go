package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
)

// Drift is the difference between an instance's resources and the result of its last operation.
type Drift struct {
	// TriedAt is when the VIM was asked last, SeenAt when it last answered for all resources; zero: not since
	// the last operation.
	TriedAt time.Time `json:"-"`
	SeenAt  time.Time `json:"seenAt,omitzero"`
	// Resources are those that were missing or changed at SeenAt, at most maxDrift.
	Resources []Observation `json:"resources,omitempty"`
	// Count is their number.
	Count int `json:"count,omitempty"`
	// Unseen is why the VIM did not answer at TriedAt; empty if it did.
	Unseen string `json:"unseen,omitempty"`
}

const (
	// driftEvery is the interval of the pass that looks for due instances.
	driftEvery = time.Minute
	// driftAtOnce bounds the instances that one pass looks at, and driftVIMs the VIMs that it queries in
	// parallel.
	driftAtOnce, driftVIMs = 200, 8
	// driftTurn bounds the time for one VIM's instances in one pass, driftPatience the time for one
	// instance.
	driftTurn, driftPatience = time.Minute, 30 * time.Second
	// driftLease is the lifetime of a lease for observing. The lease is given back at once, or, if the process died,
	// with the lease of the next observation of the instance; at the latest it expires by itself.
	driftLease = 10 * time.Minute
	// maxDrift bounds the resources that are kept of one instance.
	maxDrift = 100
)

// Passes are the engine's.
func (l *Lifecycle) Passes() []broker.Pass {
	return []broker.Pass{
		{Name: "drift", Every: driftEvery, Run: l.Observe},
		{Name: "operation-turns", Every: turnsEvery, Run: l.GiveTurns},
		{Name: "inline-vims", Every: inlineEvery, Run: l.LetGo},
		{Name: "secret-parameters", Every: secretParametersEvery, Run: func(ctx context.Context) error {
			return l.SettleSecretParameters(ctx, l.Now().Add(-abandonedFor))
		}},
	}
}

// Observe looks at the instances that were not looked at for longer than Terms.DriftEvery, longest wait first,
// and records which of their resources are missing or were changed, and by whom. It changes nothing on a VIM, and
// skips an instance whose operation has not ended. VIMs are queried in parallel; a VIM that is slow or does not
// answer delays no other, and goes to the end of the queue.
func (l *Lifecycle) Observe(ctx context.Context) error {
	due, err := l.Store.InstancesToObserve(ctx, l.Now().Add(-l.Terms.DriftEvery), driftAtOnce)
	if err != nil {
		return err
	}
	byVIM := map[string][]Instance{}
	for _, i := range due {
		byVIM[i.Shape.VIM] = append(byVIM[i.Shape.VIM], i)
	}
	var group errgroup.Group
	group.SetLimit(driftVIMs)
	for _, vim := range slices.Sorted(maps.Keys(byVIM)) {
		group.Go(func() error { return l.observeVIM(ctx, byVIM[vim]) })
	}
	return group.Wait()
}

// observeVIM looks at instances on one VIM. After a fault of the VIM the rest has to wait for its next turn.
func (l *Lifecycle) observeVIM(ctx context.Context, all []Instance) error {
	turn, cancel := context.WithTimeout(ctx, driftTurn)
	defer cancel()
	var silent error
	for _, i := range all {
		seen, err := []Observation(nil), silent
		if err == nil && turn.Err() != nil {
			err = &broker.Error{Kind: broker.ErrUnreachable, Detail: "the VIM is too slow to look at all its instances at one time"}
		}
		if err == nil {
			// The leases are ended by this name, which no operation has: also those of a look before whose process died.
			seen, err = l.look(turn, driftName(i.ID), i)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && mayPass(err) && len(i.Shape.More) == 0 {
			silent = err
		}
		if err := l.keepDrift(ctx, i, seen, err); err != nil {
			return err
		}
	}
	return nil
}

// Check looks at the resources of an instance now, as [Lifecycle.Observe] does in its turn, and returns the instance with
// the result. While an operation works on it, it is ErrConflict: the operation looks itself. The leases of a check whose
// process dies expire by themselves, within driftLease.
func (l *Lifecycle) Check(ctx context.Context, p policy.Principal, id string) (Instance, error) {
	i, act, err := l.open(ctx, p, policy.VNFShow, id, policy.Wish{})
	if err != nil {
		return Instance{}, err
	}
	if i.State != Instantiated {
		return Instance{}, l.refuse(ctx, act, stateConflict(i))
	}
	newest, _, err := l.Store.Operations(ctx, OperationFilter{Instance: id, Page: broker.Page{Size: 10}})
	if err == nil && slices.ContainsFunc(newest, func(o Operation) bool { return o.State.Working() }) {
		err = &broker.Error{
			Kind: broker.ErrConflict, Detail: "an operation is at work on the instance, and looks at its resources itself",
			Remedy: "check the instance once the operation has ended",
		}
	}
	if err != nil {
		return Instance{}, l.refuse(ctx, act, err)
	}
	seen, why := l.look(ctx, "check-"+uuid.NewString(), i)
	if err := cmp.Or(ctx.Err(), l.keepDrift(ctx, i, seen, why)); err != nil {
		return Instance{}, l.refuse(ctx, act, err)
	}
	if i, err = l.Store.Instance(ctx, id); err != nil {
		return Instance{}, l.refuse(ctx, act, err)
	}
	return i, act.Read(ctx)
}

// driftName is whom the leases of the looks at an instance serve: a look ends those that a killed one has left.
func driftName(instance string) string { return "drift-" + instance }

// inspectName is that of the inspections of an instance.
func inspectName(instance string) string { return "inspect-" + instance }

// look observes the resources of an instance.
func (l *Lifecycle) look(ctx context.Context, name string, i Instance) (all []Observation, err error) {
	err = l.lookUnder(ctx, name, i, i.Shape.Resources, nil, func(h held, at *post, g StageRules, resources []Resource) error {
		seen, err := at.driver.Observe(ctx, h.Connection, i.ID, resources)
		for _, one := range seen {
			all = append(all, one.of(at.Name))
		}
		return err
	})
	return all, err
}

// lookUnder has resources of an instance looked at, each scope under a lease that can only read: what the driver asks for,
// and more in the instance's namespace. name is whom the leases serve. Those of an inspection stay, for the next.
func (l *Lifecycle) lookUnder(
	ctx context.Context, name string, i Instance, standing []Resource, more []broker.Rule,
	see func(held, *post, StageRules, []Resource) error,
) (err error) {
	ctx, cancel := context.WithTimeout(ctx, driftPatience)
	defer cancel()
	// The broker looks by itself, and not for a caller: policies of the broker's own allow it to read.
	self := broker.System("drift", i.Project)
	posts, err := l.posts(ctx, self, i.Shape)
	if err != nil {
		return err
	}
	if name != inspectName(i.ID) {
		defer func() { err = errors.Join(err, l.endLook(ctx, name)) }()
	}
	whole := Shape{Part: i.Shape.Part, More: i.Shape.More, Resources: standing}
	for _, one := range posts {
		i.Shape = whole.at(one.Name)
		if err := l.lookAt(ctx, self, name, i, one, more, see); err != nil {
			return one.fault(err)
		}
	}
	return nil
}

// lookAt is lookUnder for one part.
func (l *Lifecycle) lookAt(
	ctx context.Context, self policy.Principal, name string, i Instance, at *post, more []broker.Rule,
	see func(held, *post, StageRules, []Resource) error,
) error {
	plan, err := at.driver.Plan(ctx, Connection{}, PlanInput{
		Observing: true, Instance: i.ID, Name: i.Name, Namespace: i.Shape.Namespace, Standing: i.Shape.Resources,
	})
	if err != nil {
		return err
	}
	for n, stage := range plan.Stages {
		if slices.Equal(stage.Grant.Namespaces, []string{i.Shape.Namespace}) {
			stage.Grant.Rules = append(stage.Grant.Rules, more...)
		}
		r := l.leaseFor(name, at.vim, stage.Grant)
		if r.TTL, r.Purpose = driftLease, "drift"; name == inspectName(i.ID) {
			r.IdempotencyKey = fmt.Sprintf("%s-%d-%s%d", name, i.Revision, at.Name, n)
		}
		h, err := l.take(ctx, self, at.vim, r)
		if err != nil {
			return err
		}
		failpoint.At("drift.leased")
		for _, w := range stage.Waves {
			resources := make([]Resource, len(w.Objects))
			for n, o := range w.Objects {
				resources[n] = o.Resource
			}
			if err := l.learnt(ctx, h, func() error { return see(h, at, stage.Grant, resources) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// endLook ends the leases of a look.
func (l *Lifecycle) endLook(ctx context.Context, name string) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	return l.Leaser.EndOperation(ending, name)
}

// keepDrift stores the observation, unless an operation has begun meanwhile, and logs it if the instance
// has drifted further.
func (l *Lifecycle) keepDrift(ctx context.Context, i Instance, seen []Observation, why error) error {
	d := i.Drift
	d.TriedAt, d.Unseen = l.Now(), ""
	if why != nil {
		d.Unseen = failureOf(why).Detail
	} else {
		d.SeenAt, d.Resources, d.Count = d.TriedAt, nil, 0
		slices.SortFunc(seen, func(a, b Observation) int { return cmp.Or(a.Wave-b.Wave, cmp.Compare(a.key(), b.key())) })
		for _, o := range seen {
			if (o.Standing || o.Passes) && len(o.ChangedBy) == 0 {
				continue
			}
			if d.Count++; d.Count <= maxDrift {
				o.VNFCs, o.Storages = nil, nil
				d.Resources = append(d.Resources, o)
			}
		}
	}
	err := l.Store.SaveDrift(ctx, i.ID, i.Revision, d)
	if errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrNotFound) {
		return nil // it is another now
	}
	if err != nil {
		return err
	}
	if why != nil {
		l.Log.InfoContext(ctx, "a VNF instance could not be looked at", "instance", i.ID, "project", i.Project, "vim", i.Shape.VIM, "error", why)
	}
	if d.Count > i.Drift.Count {
		l.Log.WarnContext(ctx, "resources of a VNF instance are missing or were changed", "instance", i.ID, "project", i.Project,
			"resources", d.Count, "before", i.Drift.Count)
	}
	return nil
}

// Count counts instances, for the operator.
func (l *Lifecycle) Count(ctx context.Context) (InstanceCount, error) {
	return l.Store.CountInstances(ctx)
}

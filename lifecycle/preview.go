package lifecycle

import (
	"context"
	"errors"
	"maps"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Preview lists the effects that an operation would have.
type Preview struct {
	Plan Plan
	// Effects are what the plan does to which resource, in order.
	Effects []Effect
	// Leases are those that it would take, one for each stage.
	Leases []PreviewLease
	// Refusal is policy's refusal of the plan, or nil.
	Refusal *Failure
	// On is the shape that it would make.
	On Shape
}

// Effect is what an operation does to one resource.
type Effect struct {
	Deed Deed
	Resource
	// Stands: the instance has the resource already.
	Stands bool
	// Replicas is for Scale.
	Replicas int32
}

// effects are what the plan does to the resources of an instance.
func (p Plan) effects(standing []Resource) (out []Effect) {
	has := map[string]bool{}
	for _, r := range standing {
		has[r.key()] = true
	}
	for _, s := range p.Stages {
		for _, w := range s.Waves {
			for _, o := range w.Objects {
				out = append(out, Effect{Deed: w.Deed, Resource: o.Resource, Stands: has[o.key()], Replicas: o.Replicas})
			}
		}
	}
	return out
}

// PreviewLease is a lease that an operation would take.
type PreviewLease struct {
	Grant   StageRules
	Grade   broker.Grade
	Reasons []string
	// Refusal is the reason why it would not be issued now, or nil. That of a later stage may
	// depend on objects that the previous stage makes.
	Refusal *Failure
}

// Preview says what an operation would do, with what policy says to it for the caller. It makes nothing, and takes one
// lease to find out: the one that plans are made under.
func (l *Lifecycle) Preview(ctx context.Context, p policy.Principal, id string, r Asked) (Preview, error) {
	from := r.propose(ctx, l, p)
	if from.fault != nil {
		return Preview{}, from.fault
	}
	if make, is := r.(Instantiation); is && make.Inline != nil {
		return Preview{}, broker.Invalid("vimConnectionInfo", "brings a VIM, and a dry run registers none: name a registered VIM")
	}
	action := actions[from.of]
	i, act, err := l.open(ctx, p, action, id, policy.Wish{})
	if err != nil {
		return Preview{}, err
	}
	o, err := l.work(p, i, from)
	if err == nil {
		err = l.revealed(ctx, i, from.given, &o.Target)
	}
	if err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	posts, err := l.posts(ctx, p, o.Target)
	if err == nil {
		posts, err = l.inputs(ctx, posts, i, o)
	}
	if err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	// The operation is stored nowhere; what the plan's lease is taken for is ended by its id.
	plan, err := l.draw(ctx, p, o.ID, posts, i.Shape.Resources, (*post).fault)
	if err := errors.Join(err, l.Leaser.EndOperation(context.WithoutCancel(ctx), o.ID)); err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	out := Preview{Plan: plan, Effects: plan.effects(i.Shape.Resources), On: o.Target}
	vims := map[string]broker.VIM{}
	for n, one := range posts {
		vims[one.Name] = one.vim
		wish := policy.Wish{Plan: plan.facts[n].weighed(one.vim, o.Target.Product)}
		if _, err := l.enter(audit.AsQuestion(ctx), p, action, i.resource(), wish); err != nil {
			out.Refusal = failureOf(one.fault(l.named(err, p, action, i.resource(), wish)))
		}
	}
	for _, s := range plan.Stages {
		lease := PreviewLease{Grant: s.Grant}
		if weighed, err := l.Leaser.WeighLease(ctx, p, l.leaseFor(o.ID, vims[s.Part], s.Grant)); err != nil {
			lease.Refusal = failureOf(err)
		} else {
			lease.Grade, lease.Reasons = weighed.Grade, weighed.GradeReasons
		}
		out.Leases = append(out.Leases, lease)
	}
	return out, act.Read(ctx)
}

// revealed gives a shape that nobody stores the secret parameters that stay where a request gives others.
func (l *Lifecycle) revealed(ctx context.Context, i Instance, given content, to *Shape) error {
	if to.Concealed.ID == "" || given.Variables == nil && given.Parameters == nil {
		return nil
	}
	old, err := l.openSecretParameters(ctx, i.ID, i.Shape)
	if err != nil {
		return err
	}
	if given.Variables == nil {
		all := maps.Clone(to.Variables)
		for name, value := range old.Variables {
			if all == nil {
				all = map[string]string{}
			}
			all[name] = value
		}
		to.Variables = all
	}
	if given.Parameters == nil && len(old.Parameters) > 0 {
		to.Parameters = old.Parameters
	}
	to.Concealed = Concealed{}
	return nil
}

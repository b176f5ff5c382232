package lifecycle

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Preview lists the effects that an operation would have.
type Preview struct {
	Plan Plan
	// Leases are those that it would take, one for each stage.
	Leases []PreviewLease
	// Refusal is policy's refusal of the plan, or nil.
	Refusal *Failure
}

// PreviewLease is a lease that an operation would take.
type PreviewLease struct {
	Grant   Grant
	Grade   broker.Grade
	Reasons []string
	// Refusal is the reason why it would not be issued now, or nil. That of a later stage may
	// depend on objects that the previous stage makes.
	Refusal *Failure
}

// PreviewInstantiation says what [Lifecycle.Instantiate] would do, with what policy says to it for the
// caller. It makes nothing, and takes one lease to find out: the one that plans are made under.
func (l *Lifecycle) PreviewInstantiation(ctx context.Context, p policy.Principal, id string, r Instantiation) (Preview, error) {
	if err := validInput(r.Files, r.Variables, r.Parameters); err != nil {
		return Preview{}, err
	}
	if r.Inline != nil {
		return Preview{}, broker.Invalid("vimConnectionInfo", "brings a VIM, and a dry run registers none: name a registered VIM")
	}
	i, act, err := l.open(ctx, p, policy.VNFInstantiate, id, policy.Wish{})
	if err != nil {
		return Preview{}, err
	}
	if i.State != NotInstantiated {
		return Preview{}, l.refuse(ctx, act, stateConflict(i))
	}
	shape := i.Shape
	if err := l.instantiation(ctx, p, i, r, &shape); err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	v, err := l.leaser.VIM(ctx, p, shape.VIM)
	if err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	d, err := l.driver(shape)
	if err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	in, err := l.inputFor(ctx, d, shape, PlanInput{
		Operation: Instantiate, Instance: i.ID, Name: i.Name, Project: i.Project, Standing: shape.Resources,
	})
	if err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	// No operation has this id; what the plan's lease is taken for is ended by it.
	none := uuid.NewString()
	plan, err := l.survey(ctx, p, none, v, d, in)
	if err := errors.Join(err, l.leaser.EndOperation(context.WithoutCancel(ctx), none)); err != nil {
		return Preview{}, l.refuse(ctx, act, err)
	}
	out := Preview{Plan: plan}
	wish := policy.Wish{Plan: plan.Facts.weighed(v, shape.Product)}
	if _, err := l.enter(audit.AsQuestion(ctx), p, policy.VNFInstantiate, i.resource(), wish); err != nil {
		out.Refusal = failureOf(l.named(err, p, policy.VNFInstantiate, i.resource(), wish))
	}
	for _, s := range plan.Stages {
		lease := PreviewLease{Grant: s.Grant}
		if weighed, err := l.leaser.WeighLease(ctx, p, l.leaseFor(none, v, s.Grant)); err != nil {
			lease.Refusal = failureOf(err)
		} else {
			lease.Grade, lease.Reasons = weighed.Grade, weighed.GradeReasons
		}
		out.Leases = append(out.Leases, lease)
	}
	return out, act.Read(ctx)
}

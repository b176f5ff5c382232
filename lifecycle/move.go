package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// move has a shape be on another registered VIM of the very system that its resources are on. Its secret parameters
// are resealed under the keys of that VIM.
func (l *Lifecycle) move(ctx context.Context, p policy.Principal, i Instance, m Modification, s *Shape) error {
	to := &s.Part
	if at := slices.IndexFunc(s.More, func(p Part) bool { return p.Connection == m.Connection }); at >= 0 {
		s.More = slices.Clone(s.More)
		to = &s.More[at]
	} else if len(s.More) > 0 && to.Connection != m.Connection {
		return broker.Invalid("vimConnectionInfo", "names no VIM connection of the instance: use a key that the instance shows")
	}
	if i.State != Instantiated || to.Inline {
		return broker.Invalid("vimConnectionInfo", "is changed of an instance that is instantiated on a registered VIM")
	}
	v, err := l.Leaser.VIM(ctx, p, m.VIM)
	if err != nil {
		return err
	}
	switch {
	case v.Labels[broker.LabelInline] != "":
		return broker.Invalid("vimConnectionInfo", "names a VIM that came with a request; register it")
	case to.Identity == "" || string(v.Type) != to.VIMType || v.Current.Identity != to.Identity:
		return &broker.Error{
			Kind: broker.ErrConflict, Field: "vimConnectionInfo",
			Detail: "VIM " + v.Name + " is not the system that the resources of the instance are on",
			Remedy: "name a VIM of the same system; to begin anew elsewhere, forget the instance or terminate it",
		}
	case v.ID == to.VIM:
		return nil
	}
	if s.Concealed.ID != "" && to.Name == "" {
		c, err := l.openSecretParameters(ctx, i.ID, *s)
		if err != nil {
			return err
		}
		if s.Concealed.ID, err = l.seal(ctx, i.ID, v.ID, c); err != nil {
			return err
		}
		failpoint.At("move.sealed")
	}
	to.VIM, to.VIMName = v.ID, v.Name
	return nil
}

// forgotten stands in the request of the operation that lets go of an instance.
var forgotten = json.RawMessage(`{"forgotten":true}`)

// Forget lets go of an instance without a request to its VIM: its resources stay there, and the operation, which is
// Completed when Forget returns, lists them. It gives up a failed operation; an operation that is being worked is
// ErrConflict.
func (l *Lifecycle) Forget(ctx context.Context, p policy.Principal, id string) (Operation, error) {
	i, act, err := l.open(ctx, p, policy.VNFForget, id, policy.Wish{})
	if err != nil {
		return Operation{}, err
	}
	if i, err = l.giveUp(ctx, i, act); err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	failpoint.At("forget.given-up")
	if i.State != Instantiated {
		return Operation{}, l.refuse(ctx, act, stateConflict(i))
	}
	now := l.Now()
	o := Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: i.Project, Type: Terminate, State: Completed, Asker: policy.Delegate(p, now),
		StartedAt: now, StateEnteredAt: now, Deadline: now, Params: forgotten, Before: i.Shape,
		Target: Shape{Package: i.Shape.Package, Product: i.Shape.Product}, Revision: 1,
	}
	for _, r := range i.Shape.Resources {
		o.Steps = append(o.Steps, Observation{
			Resource: r, Standing: true, Message: "is left on the VIM, and nobody's: the instance was forgotten",
		})
	}
	act.With(audit.DetailOperation, o.ID)
	var left []string
	for _, part := range i.Shape.Parts() {
		left = append(left, fmt.Sprintf("%d objects on VIM %s (%s)", len(i.Shape.at(part.Name).Resources), part.VIMName, part.VIM))
	}
	act.With(audit.DetailLeft, strings.Join(left, ", "))
	if err := l.Store.BeginOperation(ctx, o, i.Revision, func(now *Instance) {
		now.State, now.Shape, now.Drift = NotInstantiated, o.Target, Drift{}
	}, act.Done()); err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	failpoint.At("forget.forgotten")
	l.release(ctx, o)
	l.abandonSecrets(ctx, o.Before.Concealed.ID, o.Target.Concealed.ID)
	l.letGoOf(ctx, o)
	return o, nil
}

// giveUp gives up the operation of an instance that has failed, if any.
func (l *Lifecycle) giveUp(ctx context.Context, i Instance, act *audit.Act) (Instance, error) {
	live, err := l.live(ctx, i.ID)
	if err != nil || live.ID == "" {
		return i, err
	}
	if live.State != FailedTemp {
		return i, &broker.Error{
			Kind: broker.ErrConflict, Detail: "an operation of the instance is " + string(live.State), Remedy: "cancel it first",
		}
	}
	_, err = l.Store.UpdateOperation(ctx, live.ID, func(o *Operation, now *Instance) error {
		if o.State != FailedTemp {
			return notNow(*o, FailedTemp)
		}
		o.abandon(now, l.Now())
		return nil
	}, act.Intent())
	if err == nil {
		i, err = l.Store.Instance(ctx, i.ID)
	}
	if errors.Is(err, broker.ErrNotFound) {
		err = notFound("instance")
	}
	return i, err
}

// abandon gives a failed operation up: what may stand can be terminated.
func (o *Operation) abandon(i *Instance, at time.Time) {
	o.move(Failed, at)
	if o.Type == Instantiate {
		resources := i.Shape.Resources
		i.State, i.Shape = Instantiated, o.Target
		i.Shape.Resources = resources
	}
	i.Drift = Drift{}
}

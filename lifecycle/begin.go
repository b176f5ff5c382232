package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// actions are the actions that policy decides on, by type of operation.
var actions = map[OperationType]policy.Action{
	Instantiate: policy.VNFInstantiate, ScaleVNF: policy.VNFScale, Heal: policy.VNFHeal,
	ChangePackage: policy.VNFUpdate, ChangeConn: policy.VNFConnect, Terminate: policy.VNFTerminate, ModifyInfo: policy.VNFModify,
}

// Asked is a request for an operation on an instance.
type Asked interface {
	propose(ctx context.Context, l *Lifecycle, p policy.Principal) proposal
}

var _, _, _, _, _ Asked = Instantiation{}, Scaling{}, Healing{}, PackageChange{}, Connecting{}

// proposal is what a request comes to, before it is known what it is done to.
type proposal struct {
	of     OperationType
	params json.RawMessage
	// given are the parameters of the request that may be secret.
	given content
	// fault is what is wrong with the request itself.
	fault error
	// shape works out what the operation makes of the instance.
	shape func(Instance, *Operation) error
}

// work is the operation that a proposal is, for an instance in the state that it needs.
func (l *Lifecycle) work(p policy.Principal, i Instance, from proposal) (Operation, error) {
	now := l.Now()
	o := Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: i.Project, Type: from.of, State: Starting, Asker: policy.Delegate(p, now),
		StartedAt: now, StateEnteredAt: now, Deadline: now.Add(l.Terms.Patience), Params: from.params, Before: i.Shape, Target: i.Shape,
		Revision: 1,
	}
	o.queue(now)
	want := Instantiated
	if from.of == Instantiate {
		want = NotInstantiated
	}
	if i.State != want {
		return o, stateConflict(i)
	}
	return o, from.shape(i, &o)
}

// begin decides on an operation, works out what it makes of the instance, and stores it with its job. It seals the
// parameters of the request that are secret.
func (l *Lifecycle) begin(ctx context.Context, p policy.Principal, id string, from proposal) (Operation, error) {
	if from.fault != nil {
		return Operation{}, from.fault
	}
	t, given := from.of, from.given
	i, act, err := l.open(ctx, p, actions[t], id, policy.Wish{})
	if err != nil {
		return Operation{}, err
	}
	o, err := l.work(p, i, from)
	if err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	if t == ScaleVNF || t == Heal || t == Terminate { // which read no parameters, so that nobody knows which of them are secret
		o.Params = censored(censored(o.Params, "additionalParams", "variables"), "additionalParams", "nfv")
	}
	if o.Target.Inline && t == Instantiate {
		failpoint.At("inline.brought")
	}
	if t != Terminate {
		if err = l.makeLinks(ctx, p, i.ID, &o.Target); err == nil {
			err = l.sealSecrets(ctx, &o, given)
		}
	}
	if err == nil {
		if err = l.Store.BeginOperation(ctx, o, i.Revision, nil, act.With(audit.DetailOperation, o.ID).Intent()); err != nil {
			l.abandonSecrets(ctx, o.Target.Concealed.ID)
		}
	}
	if err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience) // the caller may have hung up
		defer cancel()
		o.State = RolledBack
		l.release(ending, o)
		l.letGoOf(ending, o) // of the VIM that the request brought
		return Operation{}, l.refuse(ctx, act, err)
	}
	failpoint.At("operation.queued")
	l.nextTurns(ctx)
	return o, nil
}

// Instantiate makes the resources of an instance.
func (l *Lifecycle) Instantiate(ctx context.Context, p policy.Principal, id string, r Instantiation) (Operation, error) {
	return l.begin(ctx, p, id, r.propose(ctx, l, p))
}

func (r Instantiation) propose(ctx context.Context, l *Lifecycle, p policy.Principal) proposal {
	return proposal{
		of: Instantiate, params: r.Params, given: content{r.Variables, r.Parameters},
		fault: validInput(r.Files, r.Waves, r.Variables, r.Parameters),
		shape: func(i Instance, o *Operation) error { return l.instantiation(ctx, p, i, r, &o.Target) },
	}
}

// instantiation is the shape that an instance takes.
func (l *Lifecycle) instantiation(ctx context.Context, p policy.Principal, i Instance, r Instantiation, to *Shape) error {
	pkg, err := l.Packages.Use(ctx, p, i.Shape.Product.VNFDID)
	if err != nil {
		return err
	}
	if err := declared(pkg.VNFD, r.Others); err != nil {
		return err
	}
	f, err := flavour(pkg.VNFD, r.Flavour)
	if err != nil {
		return err
	}
	if pkg.Translates(f.ID) && len(r.Others) > 0 {
		return broker.Invalid("additionalParams", "gives %s as a member of its own; inputs go into additionalParams.variables",
			vnfpkg.Printable(r.Others[0]))
	}
	to.Package, to.Product, to.Flavour = pkg.ID, pkg.Product, f.ID
	to.Files, to.Waves, to.Variables, to.Parameters = r.Files, r.Waves, r.Variables, r.Parameters
	if err := to.level(f, r.Level); err != nil {
		return err
	}
	to.Release, to.Labels = r.Release, r.Labels
	if err := l.settle(ctx, p, i, r, pkg, to); err != nil {
		return err
	}
	if err := l.mount(ctx, p, to, r.Volumes); err != nil {
		return err
	}
	return l.connectAll(ctx, p, pkg, to, r.Links, false)
}

// target is the VIM for a part of an instance: a registered one, or the one that the request brings, if the part can
// be made there. A VIM that another request has brought is not accepted.
func (l *Lifecycle) target(
	ctx context.Context, p policy.Principal, i Instance, r Site, source func(broker.VIMType) Source,
) (broker.VIM, error) {
	if r.Inline == nil {
		v, err := l.Leaser.VIM(ctx, p, r.VIM)
		if err == nil && v.Labels[broker.LabelInline] != "" && v.Labels[broker.LabelInstance] != i.ID {
			err = &broker.Error{
				Kind: broker.ErrInvalid, Field: "vimConnectionInfo",
				Detail: "the VIM came with a request for another instance, and goes with that one's resources",
				Remedy: "bring its credential with this request as well, or register it",
			}
		}
		return v, err
	}
	if _, _, err := l.choose(r.Inline.Type, source(r.Inline.Type)); err != nil {
		return broker.VIM{}, err
	}
	return l.bring(ctx, p, i, r.Connection, *r.Inline)
}

// Scale changes the number of VNFCs.
func (l *Lifecycle) Scale(ctx context.Context, p policy.Principal, id string, r Scaling) (Operation, error) {
	return l.begin(ctx, p, id, r.propose(ctx, l, p))
}

func (r Scaling) propose(ctx context.Context, l *Lifecycle, _ policy.Principal) proposal {
	return proposal{of: ScaleVNF, params: r.Params, shape: func(i Instance, o *Operation) error {
		if r.Steps == 0 {
			return broker.Invalid("numberOfSteps", "must be 1 or more")
		}
		pkg, err := l.Packages.Held(ctx, i.Shape.Package)
		if err != nil {
			return err
		}
		f, err := flavour(pkg.VNFD, i.Shape.Flavour)
		if err != nil {
			return err
		}
		return o.Target.step(f, r.Aspect, r.Steps)
	}}
}

// Heal repairs what is missing or was changed, and replaces VNFCs.
func (l *Lifecycle) Heal(ctx context.Context, p policy.Principal, id string, r Healing) (Operation, error) {
	return l.begin(ctx, p, id, r.propose(ctx, l, p))
}

func (r Healing) propose(context.Context, *Lifecycle, policy.Principal) proposal {
	return proposal{of: Heal, params: r.Params, shape: func(i Instance, o *Operation) (err error) {
		o.Tests = r.Tests
		o.VNFCs, err = named(i.Shape.VNFCs, r.VNFCs)
		return err
	}}
}

// ChangePackage goes over to another package.
func (l *Lifecycle) ChangePackage(ctx context.Context, p policy.Principal, id string, r PackageChange) (Operation, error) {
	return l.begin(ctx, p, id, r.propose(ctx, l, p))
}

func (r PackageChange) propose(ctx context.Context, l *Lifecycle, p policy.Principal) proposal {
	shape := func(i Instance, o *Operation) error {
		pkg, err := l.Packages.Use(ctx, p, r.VNFDID)
		if err != nil {
			return err
		}
		if err := declared(pkg.VNFD, r.Others); err != nil {
			return err
		}
		f, err := flavour(pkg.VNFD, i.Shape.Flavour)
		if err != nil {
			return err
		}
		to := &o.Target
		to.Package, to.Product = pkg.ID, pkg.Product
		if r.Files != nil {
			to.Files = r.Files
		}
		if r.Waves != nil {
			to.Waves = r.Waves
		}
		if r.Variables != nil {
			to.Variables = r.Variables
		}
		if r.Parameters != nil {
			to.Parameters = r.Parameters
		}
		if _, err := l.bases(*to, pkg); err != nil {
			return err
		}
		if err := to.level(f, ""); err != nil {
			return err
		}
		to.keep(i.Shape, f)
		if err := l.mount(ctx, p, to, r.Volumes); err != nil {
			return err
		}
		return l.connectAll(ctx, p, pkg, to, r.Links, false)
	}
	return proposal{
		of: ChangePackage, params: r.Params, given: content{r.Variables, r.Parameters},
		fault: validInput(r.Files, r.Waves, r.Variables, r.Parameters),
		shape: shape,
	}
}

// keep keeps the previous scale, as far as the new flavour knows it.
func (s *Shape) keep(before Shape, f vnfpkg.Flavour) {
	for aspect, level := range before.Scale {
		_ = s.step(f, aspect, level-s.Scale[aspect]) // one that the new package has not, or bounds differently, stays at its default
	}
}

// Terminate removes the resources of an instance, but for those that outlive it.
func (l *Lifecycle) Terminate(ctx context.Context, p policy.Principal, id string, params json.RawMessage) (Operation, error) {
	return l.begin(ctx, p, id, proposal{of: Terminate, params: params, shape: func(i Instance, o *Operation) error {
		o.Target = Shape{Package: i.Shape.Package, Product: i.Shape.Product}
		return nil
	}})
}

// Modify changes the information of an instance, and the credential of a VIM that came with a request for it. The
// operation is Completed when Modify returns.
func (l *Lifecycle) Modify(ctx context.Context, p policy.Principal, id string, m Modification) (Operation, error) {
	i, act, err := l.open(ctx, p, policy.VNFModify, id, policy.Wish{})
	if err != nil {
		return Operation{}, err
	}
	if m.IfRevision != 0 && m.IfRevision != i.Revision {
		return Operation{}, l.refuse(ctx, act, changedMeanwhile())
	}
	to := i
	if m.Name != nil {
		to.Name = *m.Name
	}
	if m.Description != nil {
		to.Description = *m.Description
	}
	if err := cmp.Or(validText("vnfInstanceName", to.Name, maxName),
		validText("vnfInstanceDescription", to.Description, maxDescription)); err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	for _, part := range []struct {
		field string
		of    *json.RawMessage
		patch json.RawMessage
	}{
		{"metadata", &to.Metadata, m.Metadata},
		{"extensions", &to.Extensions, m.Extensions},
		{"vnfConfigurableProperties", &to.Configurable, m.Configurable},
	} {
		if *part.of, err = merged(part.field, *part.of, part.patch); err != nil {
			return Operation{}, l.refuse(ctx, act, err)
		}
	}
	now := l.Now()
	o := Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: i.Project, Type: ModifyInfo, State: Completed, Asker: policy.Delegate(p, now),
		StartedAt: now, StateEnteredAt: now, Deadline: now, Params: m.Params, Before: i.Shape, Target: i.Shape, Revision: 1,
	}
	act.With(audit.DetailOperation, o.ID)
	change := func(now *Instance) {
		now.Name, now.Description = to.Name, to.Description
		now.Metadata, now.Extensions, now.Configurable = to.Metadata, to.Extensions, to.Configurable
	}
	if m.Inline != nil {
		return l.replace(ctx, p, act, i, o, m, change)
	}
	if m.VIM != "" {
		if err := l.move(ctx, p, i, m, &o.Target); err != nil {
			return Operation{}, l.refuse(ctx, act, err)
		}
		says := change
		change = func(now *Instance) {
			says(now)
			now.Shape, now.Drift = o.Target, Drift{}
		}
	}
	if err := l.Store.BeginOperation(ctx, o, i.Revision, change, act.Done()); err != nil {
		if o.Target.Concealed.ID != i.Shape.Concealed.ID {
			l.abandonSecrets(ctx, o.Target.Concealed.ID)
		}
		return Operation{}, l.refuse(ctx, act, err)
	}
	return o, nil
}

// flavour finds a deployment flavour; the descriptor's default, or its only one, where id is empty.
func flavour(d vnfpkg.VNFD, id string) (vnfpkg.Flavour, error) {
	id = cmp.Or(id, d.DefaultFlavour)
	if f, known := d.Flavours[id]; known {
		return f, nil
	}
	if id == "" && len(d.Flavours) == 1 {
		for only := range maps.Values(d.Flavours) {
			return only, nil
		}
	}
	return vnfpkg.Flavour{}, broker.Invalid("flavourId", "the VNFD has no such deployment flavour; it has %s",
		vnfpkg.Printable(strings.Join(slices.Sorted(maps.Keys(d.Flavours)), ", ")))
}

// Retry begins a failed operation again.
func (l *Lifecycle) Retry(ctx context.Context, p policy.Principal, id string) (Operation, error) {
	return l.again(ctx, p, policy.VNFRetry, id, Processing)
}

// Rollback takes back the work of a failed operation.
func (l *Lifecycle) Rollback(ctx context.Context, p policy.Principal, id string) (Operation, error) {
	return l.again(ctx, p, policy.VNFRollback, id, RollingBack)
}

// again moves a failed operation back into work. It is done for the one who asks now.
func (l *Lifecycle) again(ctx context.Context, p policy.Principal, action policy.Action, id string, to OperationState) (Operation, error) {
	act, err := l.openOperation(ctx, p, action, id)
	if err != nil {
		return Operation{}, err
	}
	entry := act.Done
	if to == RollingBack { // the end of the work is an entry of its own
		entry = func(...string) audit.Entry { return act.Intent() }
	}
	o, err := l.Store.UpdateOperation(ctx, id, func(o *Operation, _ *Instance) error {
		if o.State != FailedTemp {
			return notNow(*o, FailedTemp)
		}
		if to == RollingBack && !o.Type.Rollbackable() {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "an operation of type " + string(o.Type) + " cannot be rolled back",
				Remedy: "retry it, or give it up (fail)",
			}
		}
		now := l.Now()
		o.move(to, now)
		o.queue(now)
		o.Asker, o.Cancel, o.Deadline = policy.Delegate(p, now), "", now.Add(l.Terms.Patience)
		return nil
	}, entry())
	if err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	l.nextTurns(ctx)
	return o, nil
}

// Fail gives a failed operation up. Its resources stay on the VIM.
func (l *Lifecycle) Fail(ctx context.Context, p policy.Principal, id string) (Operation, error) {
	act, err := l.openOperation(ctx, p, policy.VNFFail, id)
	if err != nil {
		return Operation{}, err
	}
	o, err := l.Store.UpdateOperation(ctx, id, func(o *Operation, i *Instance) error {
		if o.State != FailedTemp {
			return notNow(*o, FailedTemp)
		}
		o.abandon(i, l.Now())
		return nil
	}, act.Done())
	if err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	return o, nil
}

// Cancel asks an operation that is being worked to stop. An operation that waits for its turn ends at once; one
// that is not [Operation.Cancelable] is ErrConflict.
func (l *Lifecycle) Cancel(ctx context.Context, p policy.Principal, id string, mode CancelMode) (Operation, error) {
	act, err := l.openOperation(ctx, p, policy.VNFCancel, id)
	if err != nil {
		return Operation{}, err
	}
	if mode != Graceful && mode != Forceful {
		return Operation{}, l.refuse(ctx, act, broker.Invalid("cancelMode", "must be GRACEFUL or FORCEFUL"))
	}
	o, err := l.Store.UpdateOperation(ctx, id, func(o *Operation, _ *Instance) error {
		if !o.State.Working() {
			return notNow(*o, Starting, Processing, RollingBack)
		}
		if !o.Cancelable() {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "an operation of type " + string(o.Type) + " cannot be canceled: it ends with the request for it",
				Remedy: "wait for its end, a minute at most, and change the instance again",
			}
		}
		if o.Waits() { // no worker has it, and its leases ended with the previous attempt
			o.fail(canceledBy(), l.Now())
			return nil
		}
		o.Cancel = mode
		return nil
	}, act.Done())
	if err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	return o, nil
}

func (l *Lifecycle) openOperation(ctx context.Context, p policy.Principal, action policy.Action, id string) (*audit.Act, error) {
	_, i, err := l.findOperation(ctx, p, action, id)
	if err != nil {
		return nil, err
	}
	act, err := l.enter(ctx, p, action, i.resource(), policy.Wish{})
	if err != nil {
		return nil, foreignOperation(err)
	}
	return act.With(audit.DetailOperation, id), nil
}

// notNow says in which states something can be done.
func notNow(o Operation, states ...OperationState) error {
	detail := "the operation is " + string(o.State) + "; this can be done only to one that is "
	for i, s := range states {
		if i > 0 {
			detail += " or "
		}
		detail += string(s)
	}
	return &broker.Error{Kind: broker.ErrConflict, Detail: detail}
}

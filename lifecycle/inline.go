package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Registrar keeps VIMs that come with requests; [broker.Registry] says what each method does.
type Registrar interface {
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	RegisterVIM(ctx context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error)
	UpdateVIM(ctx context.Context, p policy.Principal, ref string, c broker.Change) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, ref string, del broker.Deletion) (broker.VIM, bool, error)
}

var _ Registrar = (*broker.Registry)(nil)

// InlineVIM is a VIM whose credential a request brings. It is registered, sealed and checked before anything of
// the request is stored, and goes once the instance has no resources on it.
type InlineVIM struct {
	Type     broker.VIMType
	Endpoint string
	// CACert is as in [broker.Target].
	CACert             string
	InsecureSkipVerify bool
	Scope              broker.Scope
	Credential         broker.Credential
}

const (
	// inlineEvery is the interval of the pass over VIMs that no instance is on.
	inlineEvery = time.Minute
	// inlineRests is the time after its last change for which a VIM is left alone: the request that brought
	// it may not have stored its operation yet.
	inlineRests = 5 * time.Minute
	// replaceWithin bounds how long a request takes to replace the credential of a VIM that came with another.
	replaceWithin = time.Minute
)

// connectionForm is a label's value.
var connectionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`) })

func misnamed() error {
	return broker.Invalid("vimConnectionInfo", "its key must be 1 to 63 letters, digits, dashes, underscores and dots")
}

// bring registers the VIM that comes with a request for an instance. The VIM belongs to this request alone, even if
// other requests for the instance bring VIMs at the same time, so the operation finds it unchanged.
func (l *Lifecycle) bring(ctx context.Context, p policy.Principal, i Instance, connection string, in InlineVIM) (broker.VIM, error) {
	if !connectionForm().MatchString(connection) {
		return broker.VIM{}, misnamed()
	}
	if err := l.idle(ctx, i); err != nil { // before the VIM is asked anything
		return broker.VIM{}, err
	}
	return l.Registrar.RegisterVIM(ctx, p, broker.Registration{
		Name: "vnf-" + i.ID + "-" + connection + "-" + uuid.NewString()[:8], Type: in.Type, Project: i.Project,
		Endpoint: in.Endpoint, CACert: in.CACert,
		InsecureSkipVerify: in.InsecureSkipVerify, Scope: in.Scope, Credential: in.Credential,
		Inline: &broker.Inline{Instance: i.ID, Connection: connection},
	})
}

// change holds the new values for a VIM that came with a request. A value that is not given stays.
func (in InlineVIM) change(v broker.VIM) broker.Change {
	now, c := v.Current.Target, broker.Change{Credential: in.Credential, Inline: true}
	if in.Endpoint != "" && in.Endpoint != now.Endpoint {
		c.Endpoint = &in.Endpoint
	}
	if in.CACert != "" && in.CACert != now.CACert {
		c.CACert = &in.CACert
	}
	if in.InsecureSkipVerify && !now.InsecureSkipVerify {
		c.InsecureSkipVerify = &in.InsecureSkipVerify
	}
	if s := overlaid(now.Scope, in.Scope); s != now.Scope {
		c.Scope = &s
	}
	if !c.Credential.Password.Empty() && c.Credential.Username == "" {
		c.Credential.Username = v.Current.Username
	}
	return c
}

// overlaid is a scope with the fields that another one names.
func overlaid(under, over broker.Scope) broker.Scope {
	under.Region = cmp.Or(over.Region, under.Region)
	if over.ProjectName != "" {
		under.ProjectName, under.ProjectID = over.ProjectName, ""
	}
	if over.ProjectDomainName != "" {
		under.ProjectDomainName, under.ProjectDomainID = over.ProjectDomainName, ""
	}
	if over.UserDomainName != "" {
		under.UserDomainName, under.UserDomainID = over.UserDomainName, ""
	}
	return under
}

// replace is Modify with another credential for the VIM that came with an instance's request. The operation is Live
// meanwhile: no other begins, and if one has begun nothing is changed. This process writes under the claim that ends
// when the operation's job begins, at the deadline.
func (l *Lifecycle) replace(
	ctx context.Context, p policy.Principal, act *audit.Act, i Instance, o Operation, m Modification, change func(*Instance),
) (Operation, error) {
	v, err := l.replaceable(ctx, p, i, m)
	if err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	o.State, o.TurnAt, o.Deadline = Starting, o.StartedAt, o.StartedAt.Add(replaceWithin)
	if err := l.Store.BeginOperation(ctx, o, i.Revision, nil, act.Intent()); err != nil {
		return Operation{}, l.refuse(ctx, act, err)
	}
	ctx = job.WithClaim(ctx, job.Claim{Job: o.Job()})
	changing, cancel := context.WithTimeout(ctx, replaceWithin)
	defer cancel()
	_, failed := l.Registrar.UpdateVIM(changing, p, v.ID, m.Inline.change(v))
	failpoint.At("inline.rotated")
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if failed != nil {
		_, err := l.Store.UpdateOperation(ending, o.ID, func(o *Operation, _ *Instance) error {
			o.fail(failed, l.Now())
			return nil
		}, act.Failed(kindOf(failed).err.Error()))
		return Operation{}, cmp.Or(overdue(err), overdue(failed), failed)
	}
	if _, err = l.Store.UpdateOperation(ending, o.ID, func(o *Operation, i *Instance) error {
		o.move(Processing, l.Now())
		change(i)
		return nil
	}, act.Intent()); err != nil {
		return Operation{}, cmp.Or(overdue(err), err)
	}
	o, err = l.Store.UpdateOperation(ending, o.ID, func(o *Operation, _ *Instance) error {
		o.move(Completed, l.Now())
		return nil
	}, act.Done())
	return o, cmp.Or(overdue(err), err)
}

// overdue says that a request took so long that the operation's job has ended it; nil for any other error.
func overdue(err error) error {
	if !errors.Is(err, job.ErrFenced) {
		return nil
	}
	return leftOver(err)
}

// leftOver is the outcome of a replacement whose process died or was too slow.
func leftOver(cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: "the server that replaced the VIM's credential died or took too long, and may have replaced it",
		Remedy: "repeat the request", Cause: cause,
	}
}

// endReplacing ends the replacement of a VIM's credential that a process has left unfinished.
func (l *Lifecycle) endReplacing(ctx context.Context, o Operation) error {
	a := &attempt{Lifecycle: l, o: o}
	act, err := a.record(ctx)
	if err != nil {
		return err
	}
	why := leftOver(nil)
	entry := act.Failed(kindOf(why).err.Error())
	if o.State == Processing {
		entry = act.Done()
	}
	_, err = l.Store.UpdateOperation(ctx, o.ID, func(o *Operation, _ *Instance) error {
		if o.State == Processing { // all is done
			o.move(Completed, l.Now())
		} else {
			o.fail(why, l.Now())
		}
		return nil
	}, entry)
	return err
}

// replaceable is the VIM whose credential is replaced for an instance, if it may be.
func (l *Lifecycle) replaceable(ctx context.Context, p policy.Principal, i Instance, m Modification) (broker.VIM, error) {
	var part Part
	for _, one := range i.Shape.Parts() {
		if one.Connection == m.Connection {
			part = one
		}
	}
	switch {
	case i.State != Instantiated:
		return broker.VIM{}, broker.Invalid("vimConnectionInfo", "is given with instantiate: the instance is on no VIM")
	case !part.Inline:
		return broker.VIM{}, &broker.Error{
			Kind: broker.ErrInvalid, Field: "vimConnectionInfo",
			Detail: "only the VIM that came with the instance's request is changed here, under the key of that request",
			Remedy: "change a registered VIM itself",
		}
	case m.Inline.Type != "" && string(m.Inline.Type) != part.VIMType:
		return broker.VIM{}, broker.Invalid("vimConnectionInfo", "the VIM is of another type")
	}
	if err := l.idle(ctx, i); err != nil {
		return broker.VIM{}, err
	}
	return l.Leaser.VIM(ctx, p, part.VIM)
}

// idle is ErrConflict while an operation of the instance is Live.
func (l *Lifecycle) idle(ctx context.Context, i Instance) error {
	live, err := l.live(ctx, i.ID)
	if live.ID != "" {
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: "an operation of the instance is " + string(live.State),
			Remedy: "wait for its end, or settle it (retry, rollback, fail); the credential of its VIM can be replaced at the VIM itself",
		}
	}
	return err
}

// newest is among how many operations of an instance, the newest, one that is Live is looked for: it began last, by
// clocks that differ by a second.
const newest = 10

// live is the operation of an instance that is Live; the zero Operation where none is.
func (l *Lifecycle) live(ctx context.Context, instance string) (Operation, error) {
	found, _, err := l.Store.Operations(ctx, OperationFilter{Instance: instance, Page: broker.Page{Size: newest}})
	if at := slices.IndexFunc(found, func(o Operation) bool { return o.State.Live() }); err == nil && at >= 0 {
		return found[at], nil
	}
	return Operation{}, err
}

// LetGo deletes the VIMs that came with requests for instances that have no resources on them any more, or are gone.
// It removes VIMs that were left by a process that died, or because a VIM did not answer.
func (l *Lifecycle) LetGo(ctx context.Context) error {
	q := broker.VIMQuery{
		State: broker.VIMRegistered, Labels: map[string]string{broker.LabelInline: "true"}, Page: broker.Page{Size: broker.MaxPage},
	}
	for {
		found, next, err := l.Registrar.VIMs(ctx, broker.System("inline", ""), q)
		if err != nil {
			return err
		}
		for _, v := range found {
			if l.Now().Before(v.UpdatedAt.Add(inlineRests)) {
				continue
			}
			if err := l.letGo(ctx, v); err != nil {
				l.Log.WarnContext(ctx, "a VIM that came with a request is not removed now; the next pass tries again", "vim", v.ID, "error", err)
			}
		}
		if q.Token = next; next == "" {
			return nil
		}
	}
}

// letGo deletes a VIM that came with a request, unless its instance is on it or an operation works with it.
func (l *Lifecycle) letGo(ctx context.Context, v broker.VIM) error {
	if needed, err := l.needs(ctx, v); err != nil || needed {
		return err
	}
	failpoint.At("inline.unneeded")
	_, _, err := l.Registrar.DeleteVIM(ctx, broker.System("inline", v.Project), v.ID, broker.Deletion{Drain: true, IfRevision: v.Revision})
	return err
}

// needs reports whether an instance needs the VIM that came with a request for it. The operation is read first: what
// one that has ended meanwhile has made stands on the instance.
func (l *Lifecycle) needs(ctx context.Context, v broker.VIM) (bool, error) {
	id := v.Labels[broker.LabelInstance]
	live, err := l.live(ctx, id)
	if err != nil || live.ID != "" && slices.Contains(append(live.Target.VIMs(), live.Before.VIMs()...), v.ID) {
		return true, err
	}
	i, err := l.Store.Instance(ctx, id)
	if errors.Is(err, broker.ErrNotFound) {
		return false, nil
	}
	return slices.Contains(i.Shape.VIMs(), v.ID), err
}

// letGoOf is letGo for the VIMs of an operation that has ended, or has not begun. The pass retries what fails.
func (l *Lifecycle) letGoOf(ctx context.Context, o Operation) {
	on := o.Target
	if on.VIM == "" {
		on = o.Before
	}
	for _, part := range on.Parts() {
		if !part.Inline {
			continue
		}
		v, err := l.Leaser.VIM(ctx, broker.System("inline", o.Project), part.VIM)
		if errors.Is(err, broker.ErrNotFound) {
			continue
		}
		if err == nil {
			err = l.letGo(ctx, v)
		}
		if err != nil {
			l.Log.InfoContext(ctx, "the VIM that came with a request is removed by a later pass", "vim", part.VIM, "error", err)
		}
	}
}

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// endPatience bounds how long an attempt that was told to end takes to give its leases back.
const endPatience = 30 * time.Second

// Worker works operations.
func (l *Lifecycle) Worker() job.Worker {
	return job.Worker{Kind: JobKind, AtOnce: l.Terms.atOnce(), Work: l.Work}
}

// Work works one operation until it has ended or failed, or has to wait: then Work returns an
// error, and is called again. It first revokes the leases that a previous attempt left, so that no
// other worker can act on the VIM for this operation.
func (l *Lifecycle) Work(ctx context.Context, id string) error {
	ctx = audit.WithRequest(ctx, id)
	o, err := l.Store.Operation(ctx, id)
	if errors.Is(err, broker.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.Leaser.EndOperation(ctx, id); err != nil {
		return err
	}
	if !o.State.Working() {
		l.release(ctx, o)
		l.letGoOf(ctx, o)
		return nil
	}
	if o.Type == ModifyInfo {
		return l.endReplacing(ctx, o)
	}
	failpoint.At("operation.begun")
	a := &attempt{Lifecycle: l, o: o, steps: map[string]Observation{}, leases: map[string]string{}, failed: map[string]error{}}
	for _, s := range o.Steps {
		a.steps[s.key()] = s
	}
	did := a.run(ctx)
	clear(a.leases)
	if err := a.endLeases(ctx); err != nil {
		return err
	}
	failpoint.At("operation.leases-ended")
	if ctx.Err() != nil { // another process resumes, or this one at the next start
		return ctx.Err()
	}
	if errors.Is(did, job.ErrFenced) || mayPass(did) && l.Now().Before(a.o.Deadline) && a.o.Cancel == "" {
		if a.advanced {
			return job.Progressed(did)
		}
		return did
	}
	ended, err := a.settle(ctx, did)
	if err != nil {
		return err
	}
	l.nextTurns(ctx)
	l.release(ctx, ended)
	l.letGoOf(ctx, ended)
	l.abandonSecrets(ctx, ended.Before.Concealed.ID, ended.Target.Concealed.ID)
	return nil
}

// attempt is one worker's work on an operation.
type attempt struct {
	*Lifecycle
	o Operation
	i Instance
	p policy.Principal
	// posts are those of the instance's parts that have work.
	posts []*post
	plan  Plan
	// act was allowed with the plan; nil before.
	act *audit.Act
	// begun: a stage has its lease, and it is the only one.
	begun bool
	// ported: the ports that the plan's pods have are there.
	ported bool
	// advanced: a wave or a stage was ended and saved.
	advanced bool
	// leasing is held to read while a lease is taken, and to write while the operation's leases end.
	leasing sync.RWMutex

	mu sync.Mutex
	// leases are the ids of those that are used, by the name of the part; failed are parts that are not gone on with.
	leases map[string]string
	failed map[string]error
	// steps are the newest observations by resource, changed those that are not saved. savedAt is when they were saved
	// last, by this machine's clock.
	steps   map[string]Observation
	changed bool
	savedAt time.Time
}

func (r Resource) key() string {
	return strings.Join([]string{r.Group, r.Plural, r.Namespace, r.Name, r.Part}, "/")
}

// run plans the operation, has policy decide on the plan, and does the rest of it.
func (a *attempt) run(ctx context.Context) (err error) {
	if err := a.canceled(ctx); err != nil {
		return err
	}
	if a.i, err = a.Store.Instance(ctx, a.o.Instance); err != nil {
		return err
	}
	if a.p, err = a.Delegates.Resume(ctx, Actor, a.o.Asker); err != nil {
		return err
	}
	shape := a.o.Target
	if a.o.Type == Terminate {
		shape = a.o.Before
	}
	posts, err := a.Lifecycle.posts(ctx, a.p, shape)
	if err != nil {
		return err
	}
	if a.posts, err = a.inputs(ctx, posts, a.i, a.o); err != nil {
		return err
	}
	for {
		err := a.follow(ctx)
		at := slices.IndexFunc(a.posts, func(p *post) bool {
			return p.in.Operation == Terminate && p.lost != "" && !slices.Contains(p.in.Gone, p.lost)
		})
		if at < 0 {
			return err
		}
		a.posts[at].in.Gone = append(a.posts[at].in.Gone, a.posts[at].lost) // and what was in it
		a.o.Stage, a.o.Wave = 0, 0
		clear(a.failed)
	}
}

// follow makes the plan and does it.
func (a *attempt) follow(ctx context.Context) (err error) {
	a.plan, err = a.draw(ctx, a.p, a.o.ID, a.posts, a.i.Shape.Resources, func(p *post, err error) error {
		if !mayPass(err) {
			return p.fault(err)
		}
		return a.noted(p, err)
	})
	if err != nil {
		return err
	}
	failpoint.At("operation.planned")
	if len(a.failed) == len(a.posts) {
		return a.partly()
	}
	if err := a.decide(ctx); err != nil {
		return err
	}
	if digest := a.plan.digest(); digest != a.o.Plan {
		a.o.Plan, a.o.Stage, a.o.Wave = digest, 0, 0
	}
	if !a.ported && a.plan.Ports != nil {
		if others, err := a.port(ctx); err != nil {
			return err
		} else if others {
			return a.follow(ctx) // now that the pods' addresses are known
		}
	}
	if err := a.stages(ctx); err != nil {
		return err
	}
	return a.dropPorts(ctx)
}

// port finds or makes the ports that pods of the plan have on links that span to their VIM, once the operation is known to
// begin. It reports whether they are others than before.
func (a *attempt) port(ctx context.Context) (others bool, err error) {
	to := &a.o.Target
	if a.o.State == RollingBack {
		to = &a.o.Before
	}
	links := slices.Clone(to.Links)
	for n, k := range links {
		if !slices.ContainsFunc(a.posts, func(p *post) bool { return p.Name == k.Part }) {
			continue
		}
		names := slices.DeleteFunc(slices.Clone(a.plan.Ports[k.ID]), func(name string) bool { return !(Part{Name: k.Part}).has(name) })
		k.Ports = slices.DeleteFunc(slices.Clone(k.Ports), func(p asset.Port) bool { return !slices.Contains(names, p.Name) })
		if k.Spans && (len(k.Ports) < len(names) || len(names) > 0 && a.o.Type == Heal) {
			if err := a.started(ctx); err != nil {
				return false, err
			}
			if k.Ports, err = a.Links.Ports(ctx, k.ID, a.i.ID, names, false); err != nil {
				return false, err
			}
		}
		if !reflect.DeepEqual(k, links[n]) {
			links[n], others = k, true
		}
	}
	if a.ported = true; !others {
		return false, nil
	}
	to.Links = links
	if err := a.save(ctx); err != nil {
		return false, err
	}
	failpoint.At("operation.ported")
	a.posts, err = a.inputs(ctx, a.posts, a.i, a.o)
	return true, err
}

// dropPorts has ports go that no pod has any more, as those of changes that were given up.
func (a *attempt) dropPorts(ctx context.Context) error {
	if a.o.Type == ScaleVNF || a.o.Type == Heal || a.o.Type == Instantiate && a.o.State != RollingBack {
		return nil
	}
	before, _, err := a.Store.Operations(ctx, OperationFilter{Instance: a.i.ID, Page: broker.Page{Size: broker.MaxPage}})
	if err != nil {
		return err
	}
	links := slices.Concat(a.o.Before.Links, a.o.Target.Links)
	own := len(links)
	for _, o := range before {
		if o.State == Failed {
			links = append(links, o.Target.Links...)
		}
	}
	for n, k := range links {
		if !k.Spans || slices.ContainsFunc(links[:n], func(other Link) bool { return other.ID == k.ID && other.Spans }) {
			continue
		}
		_, err := a.Links.Ports(ctx, k.ID, a.i.ID, a.plan.Ports[k.ID], true)
		if err != nil && n < own && !errors.Is(err, broker.ErrNotFound) { // or they go with the link
			return err
		}
	}
	return nil
}

// decide asks policy about the plan, for the caller and for the engine.
func (a *attempt) decide(ctx context.Context) (err error) {
	for n, one := range slices.Backward(a.posts) { // the first one's act records
		wish := policy.Wish{Plan: a.plan.facts[n].weighed(one.vim, a.o.Target.Product)}
		if a.act, err = a.enter(ctx, a.p, actions[a.o.Type], a.i.resource(), wish); err != nil {
			return one.fault(a.named(err, a.p, actions[a.o.Type], a.i.resource(), wish))
		}
	}
	a.act.With(audit.DetailOperation, a.o.ID).With(audit.DetailNamespaces, strings.Join(a.plan.Facts.Namespaces, ","))
	return nil
}

// named adds to a refusal which policies denied. The caller sees the instance.
func (l *Lifecycle) named(err error, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) error {
	var known *broker.Error
	if !errors.As(err, &known) || !errors.Is(err, broker.ErrDenied) {
		return err
	}
	d := l.Guard.Policy.Decide(policy.Request{Principal: p, Action: action, Resource: res, Wish: wish})
	if len(d.Policies) > 0 {
		known.Detail = fmt.Sprintf("policy does not allow %s to %s with this plan (policy %s", p.Name, action, strings.Join(d.Policies, ", "))
		if wish.Plan != nil && len(wish.Plan.Reaches) > 0 {
			known.Detail += "; it reaches: " + strings.Join(wish.Plan.Reaches, ", ")
		}
		known.Detail += ")" + broker.Because(d.Reasons)
	}
	return known
}

// stages does the stages of the plan that are left: those of one declared wave side by side, each under a lease of its own.
func (a *attempt) stages(ctx context.Context) error {
	for from := a.o.Stage; from < len(a.plan.Stages); {
		lanes, n := a.abreast(from)
		if err := a.together(ctx, lanes, (*lane).lease); err != nil {
			return err
		}
		failpoint.At("operation.leased")
		if err := a.started(ctx); err != nil {
			return err
		}
		if !a.begun { // the leases that the plan was made under are left
			if err := a.endLeases(ctx); err != nil {
				return err
			}
			a.begun = true
		}
		if err := a.together(ctx, lanes, (*lane).work); err != nil {
			return err
		}
		clear(a.leases)
		if err := a.endLeases(ctx); err != nil {
			return err
		}
		if from += n; len(a.failed) > 0 {
			continue // and the next attempt begins with the part that failed
		}
		a.o.Stage, a.o.Wave = from, 0
		if err := a.save(ctx); err != nil {
			return err
		}
		a.advanced = true
		failpoint.At("operation.stage")
	}
	if len(a.failed) > 0 {
		return a.partly()
	}
	return a.started(ctx) // a plan with nothing to do
}

// started moves an operation on that is Starting. The resources that are about to be made are
// recorded with it.
func (a *attempt) started(ctx context.Context) error {
	if a.o.State != Starting && a.recorded() {
		return nil
	}
	stored, err := a.Store.UpdateOperation(ctx, a.o.ID, func(o *Operation, i *Instance) error {
		if o.Cancel != "" && o.State == Starting {
			return canceledBy()
		}
		if o.State == Starting {
			o.move(Processing, a.Now())
		}
		o.Plan = a.o.Plan
		i.Shape.Resources = union(i.Shape.Resources, a.plan.Resources)
		a.i = *i
		return nil
	}, a.act.Intent())
	if err != nil {
		return err
	}
	stage, wave := a.o.Stage, a.o.Wave
	a.o = stored
	a.o.Stage, a.o.Wave = stage, wave
	failpoint.At("operation.processing")
	return nil
}

// recorded reports whether all that the plan makes stands on the instance's row.
func (a *attempt) recorded() bool {
	return len(union(a.i.Shape.Resources, a.plan.Resources)) == len(a.i.Shape.Resources)
}

// union is a with those of b that are not in it.
func union(a, b []Resource) []Resource {
	known := map[string]bool{}
	for _, r := range a {
		known[r.key()] = true
	}
	out := slices.Clone(a)
	for _, r := range b {
		if !known[r.key()] {
			known[r.key()] = true
			out = append(out, r)
		}
	}
	return out
}

// stage does the waves of the lane's stage that are left.
func (a *lane) stage(ctx context.Context, h held, s Stage) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bounded, cancel := context.WithTimeout(ctx, min(h.until.Sub(a.Now()), a.o.Deadline.Sub(a.Now())))
	defer cancel()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		a.look(ctx, h, stop)
	}()
	defer func() { <-looked }()
	defer stop(nil)
	for *a.wave < len(s.Waves) {
		if err := a.canceled(ctx); err != nil {
			return err
		}
		err := a.learnt(bounded, h, func() error {
			return a.driver.Run(bounded, h.Connection, a.i.ID, s.Waves[*a.wave], a.observed)
		})
		if cause := context.Cause(ctx); errors.Is(cause, ErrCanceled) || errors.Is(cause, errLeaseEnded) || errors.Is(cause, job.ErrFenced) {
			return cause
		}
		if errors.Is(err, broker.ErrUnauthorized) || errors.Is(err, broker.ErrForbidden) {
			if ended := a.leaseEnded(ctx, h); ended != nil {
				return ended
			}
		}
		if err != nil {
			return err
		}
		failpoint.At("operation.wave")
		a.mu.Lock()
		*a.wave++
		soon := time.Since(a.savedAt) < time.Duration(len(a.steps)/stepsALook)*a.Terms.LookEvery
		a.mu.Unlock()
		if soon { // a worker that resumes from the last save finds these waves done
			continue
		}
		if err := a.save(ctx); err != nil {
			return err
		}
		a.mu.Lock()
		a.advanced = true
		a.mu.Unlock()
	}
	return nil
}

// observed takes an observation of the part's driver.
func (a *lane) observed(seen Observation) {
	seen = seen.of(a.Name)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps[seen.key()] = seen
	a.changed = true
}

// save stores how far the operation has come.
func (a *attempt) save(ctx context.Context) error {
	a.mu.Lock()
	a.o.Steps = sortedSteps(a.steps)
	a.changed, a.savedAt = false, time.Now()
	o := a.o
	a.mu.Unlock()
	return a.Store.SaveProgress(ctx, o)
}

func sortedSteps(steps map[string]Observation) []Observation {
	all := make([]Observation, 0, len(steps))
	for _, s := range steps {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y Observation) int {
		if x.Wave != y.Wave {
			return x.Wave - y.Wave
		}
		return strings.Compare(x.key(), y.key())
	})
	return all
}

// leaseEnded is [errLeaseEnded] if somebody has revoked the lease of the stage.
func (a *attempt) leaseEnded(ctx context.Context, h held) error {
	ended, why, err := a.Leaser.Ended(ctx, h.Config.Lease)
	if err != nil || !ended {
		return nil //nolint:nilerr // what cannot be told stops nothing: the VIM decides
	}
	return &broker.Error{
		Kind: errLeaseEnded, Detail: "lease " + h.Config.Lease + " of the operation was revoked while it was used (" + string(why) + ")",
		Remedy: "see in the audit log who did it; a retry asks for another",
	}
}

// stepsALook bounds the writes of an operation while it runs: one of fewer steps is saved after each wave and at each
// look that finds it changed, one of n times as many only when n looks' time has passed since. Its row is written
// whole.
const stepsALook = 1000

// look saves the observations while a stage runs, and ends the stage if somebody has canceled the operation or
// revoked its lease.
func (a *attempt) look(ctx context.Context, h held, stop func(error)) {
	every := time.NewTicker(a.Terms.LookEvery)
	defer every.Stop()
	for unsaved := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		now, err := a.Store.Operation(ctx, a.o.ID)
		if err == nil && now.Cancel == Forceful {
			stop(canceledBy())
			return
		}
		if ended := a.leaseEnded(ctx, h); ended != nil {
			stop(ended)
			return
		}
		a.mu.Lock()
		changed, between := a.changed, len(a.steps)/stepsALook
		a.mu.Unlock()
		if unsaved++; changed && unsaved > between {
			unsaved = 0
			if err := a.save(ctx); errors.Is(err, job.ErrFenced) {
				stop(err)
				return
			}
		}
	}
}

// canceled is [ErrCanceled] if somebody has asked for it.
func (a *attempt) canceled(ctx context.Context) error {
	now, err := a.Store.Operation(ctx, a.o.ID)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.o.Cancel = now.Cancel
	a.mu.Unlock()
	if now.Cancel != "" {
		return canceledBy()
	}
	return nil
}

func canceledBy() error {
	return &broker.Error{Kind: ErrCanceled, Detail: "the operation was canceled"}
}

// endLeases takes the operation's leases back, even if the attempt was told to end. Nothing looks at an instance that is
// terminated, so that a lease of a look that was killed goes too. Those in leases stay.
func (a *attempt) endLeases(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	a.leasing.Lock()
	defer a.leasing.Unlock()
	a.mu.Lock()
	used := slices.Collect(maps.Values(a.leases))
	a.mu.Unlock()
	err := a.Leaser.EndOperation(ctx, a.o.ID, used...)
	if a.o.Type == Terminate {
		err = errors.Join(err, a.Leaser.EndOperation(ctx, driftName(a.i.ID)), a.Leaser.EndOperation(ctx, inspectName(a.i.ID)))
	}
	return err
}

// settle writes how the operation went. The leases are gone.
func (a *attempt) settle(ctx context.Context, did error) (Operation, error) {
	act, err := a.record(ctx)
	if err != nil {
		return Operation{}, err
	}
	var entry audit.Entry
	if did == nil {
		entry = act.Done(audit.DetailOperation, a.o.ID)
	} else {
		a.Log.InfoContext(ctx, "a life-cycle operation failed", "operation", a.o.ID, "type", a.o.Type, "error", did)
		entry = act.Failed(kindOf(did).err.Error())
	}
	a.mu.Lock()
	steps := sortedSteps(a.steps)
	a.mu.Unlock()
	ended, err := a.Store.UpdateOperation(ctx, a.o.ID, func(o *Operation, i *Instance) error {
		o.Steps = steps
		if did != nil {
			i.Shape.Resources = a.seen(i.Shape.Resources) // for the way back, or a termination
			o.fail(did, a.Now())
			return nil
		}
		if o.State == RollingBack {
			o.move(RolledBack, a.Now())
		} else {
			o.move(Completed, a.Now())
			o.Failure = nil
		}
		a.conclude(*o, i)
		return nil
	}, entry)
	if err == nil {
		a.took.add(ended)
		a.end()
		failpoint.At("operation.settled")
	}
	return ended, err
}

// record is the act that records the end of the operation. If there was no plan to decide on, the engine only
// records.
func (a *attempt) record(ctx context.Context) (*audit.Act, error) {
	if a.act != nil && a.o.State != RollingBack {
		return a.act, nil
	}
	if a.i.ID == "" {
		i, err := a.Store.Instance(ctx, a.o.Instance)
		if err != nil {
			return nil, err
		}
		a.i = i
	}
	action := actions[a.o.Type]
	if a.o.State == RollingBack {
		action = policy.VNFRollback
	}
	return a.Guard.Record(ctx, policy.Principal{Name: a.o.Asker.Name, Project: a.o.Project, Actor: Actor}, action, a.i.resource()).
		With(audit.DetailOperation, a.o.ID), nil
}

// conclude gives the instance the shape that an operation has made.
func (a *attempt) conclude(o Operation, i *Instance) {
	to := o.Target
	if o.State == RolledBack {
		to = o.Before
	}
	i.State = Instantiated
	if gone := o.Type == Terminate; gone || o.Type == Instantiate && o.State == RolledBack {
		i.State = NotInstantiated
	}
	to.VNFCs = a.vnfcs(i.Shape.VNFCs)
	to.Resources = a.seen(a.plan.Resources)
	if i.State == NotInstantiated {
		to = Shape{Package: to.Package, Product: to.Product, Resources: to.Resources}
	}
	i.Shape, i.Drift = to, Drift{}
}

// seen are resources with what tells the driver the very objects that it has made.
func (a *attempt) seen(all []Resource) []Resource {
	out := slices.Clone(all)
	for n, r := range out {
		seen := a.steps[r.key()]
		if seen.Applied != "" {
			out[n].Applied, out[n].UID = seen.Applied, seen.UID
		}
		if seen.Standing {
			out[n].Storages = seen.Storages
		}
	}
	return out
}

// vnfcs are the VNFCs that were observed, and the previous ones whose workloads were not observed.
func (a *attempt) vnfcs(before []VNFC) []VNFC {
	var out []VNFC
	looked := map[string]bool{}
	for _, r := range a.plan.Resources {
		seen, ok := a.steps[r.key()]
		if !ok || r.VDU == "" {
			continue
		}
		looked[r.VDU] = true
		for _, c := range seen.VNFCs {
			looked[c.VDU] = true // one resource of Heat can hold several
		}
		out = append(out, seen.VNFCs...)
	}
	for _, c := range before {
		if !looked[c.VDU] {
			out = append(out, c)
		}
	}
	return out
}

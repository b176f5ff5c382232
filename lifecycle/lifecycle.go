package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Actor is the part of the broker that the engine is to policy.
const Actor = "system:lifecycle"

// Options wire a [Lifecycle]. Every field without a stated default is required.
type Options struct {
	Store  Store
	Leaser Leaser
	// Registrar keeps the VIMs that come with requests.
	Registrar Registrar
	Packages  Packages
	// Links lends virtual links; nil: there are none.
	Links Links
	// Keys are the key stores; new keys go to the first.
	Keys keyring.Ring
	// Drivers make the resources of instances. Several can be for one type of VIM: the first that accepts the package
	// makes the instance.
	Drivers []Driver
	// Guard is the server's, whose sink is the store.
	Guard     *audit.Guard
	Delegates *policy.Delegates
	// Egress gives the addresses that may be dialled for a project's VIMs.
	Egress func(project string) *egress.Rules
	Terms  Terms
	Log    *slog.Logger
	// Now is the store's time.
	Now func() time.Time
}

// Terms are the numbers of the engine. All of them are given: start from [DefaultTerms].
type Terms struct {
	// PerVIM and PerProject bound the operations that are worked at the same time on one VIM and in one project,
	// by all processes together. The others wait for their turn.
	PerVIM, PerProject int
	// Instances bounds the VNF instances of a project; 0 is no bound.
	Instances int
	// Links bounds the virtual links of a project; 0 is no bound.
	Links int
	// Patience bounds the wait of an operation for a VIM that is unreachable and for
	// objects that do not become ready, from each start, retry and rollback on.
	Patience time.Duration
	// LeaseTTL is the lifetime that leases are requested with. The lease of a stage that takes
	// longer is renewed.
	LeaseTTL time.Duration
	// DriftEvery is the interval at which the resources of an instance are observed.
	DriftEvery time.Duration
	// Learning is the time from the first use of a fresh lease in which a refusal of the VIM (403) counts as passing.
	Learning time.Duration
	// LookEvery is the interval at which a running operation checks whether it is canceled and whether its lease
	// was revoked, and saves its observations.
	LookEvery time.Duration
}

// DefaultTerms are the terms of an operator who sets none.
func DefaultTerms() Terms {
	return Terms{
		PerVIM: 32, PerProject: 16, Instances: 10_000, Links: asset.DefaultPerProject, Patience: 15 * time.Minute, LeaseTTL: 20 * time.Minute,
		LookEvery: time.Second, DriftEvery: 30 * time.Minute, Learning: 10 * time.Second,
	}
}

// Lifecycle is instances and their operations. Its methods are safe for concurrent use,
// by any number of processes on one store.
//
// Each method takes the caller, decides, and records. An instance or operation of another project
// is ErrNotFound.
type Lifecycle struct {
	Options
	// byType are the drivers for each type of VIM.
	byType map[broker.VIMType][]Driver
	took   took
	// ended is closed, and made anew, when this process has ended the work on an operation.
	ended atomic.Pointer[chan struct{}]
}

// Ended is closed once this process has ended the work on some operation.
func (l *Lifecycle) Ended() <-chan struct{} { return *l.ended.Load() }

// end tells those who wait for the end of an operation.
func (l *Lifecycle) end() { close(*l.ended.Swap(new(make(chan struct{})))) }

// New returns a Lifecycle; it starts nothing. [Lifecycle.Worker] works the operations.
func New(o Options) *Lifecycle {
	o.Now = broker.Clock(o.Now)
	l := &Lifecycle{Options: o, byType: map[broker.VIMType][]Driver{}}
	l.ended.Store(new(make(chan struct{})))
	for _, d := range o.Drivers {
		l.byType[d.VIMType()] = append(l.byType[d.VIMType()], d)
	}
	return l
}

// CreateInstance makes an instance of an enabled package, without resources.
func (l *Lifecycle) CreateInstance(ctx context.Context, p policy.Principal, r NewInstance) (Instance, error) {
	if err := errors.Join(validText("vnfInstanceName", r.Name, maxName),
		validText("vnfInstanceDescription", r.Description, maxDescription)); err != nil {
		return Instance{}, err
	}
	metadata, err := merged("metadata", nil, r.Metadata)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{
		ID: cmp.Or(r.ID, uuid.NewString()), Project: p.Project, Name: r.Name, Description: r.Description, Metadata: metadata,
		State: NotInstantiated, CreatedBy: p.Name, CreatedAt: l.Now(), Revision: 1,
	}
	i.Shape.Product.VNFDID = r.VNFDID
	act, err := l.enter(ctx, p, policy.VNFCreate, broker.InProject(i.Project), policy.Wish{})
	if err != nil {
		return Instance{}, err
	}
	pkg, err := l.Packages.Use(ctx, p, r.VNFDID)
	if err != nil {
		return Instance{}, l.refuse(ctx, act, err)
	}
	i.Shape.Package, i.Shape.Product = pkg.ID, pkg.Product
	if err := l.Store.CreateInstance(ctx, i, l.Terms.Instances, act.With(audit.DetailInstance, i.ID).Done()); err != nil {
		return Instance{}, err
	}
	return i, nil
}

// Instance returns one.
func (l *Lifecycle) Instance(ctx context.Context, p policy.Principal, id string) (Instance, error) {
	i, err := l.find(ctx, p, policy.VNFShow, id)
	if err != nil {
		return Instance{}, err
	}
	return i, l.desk("instance").Read(ctx, p, policy.VNFShow, i.resource())
}

// InstanceQuery selects instances that the principal may see, newest first.
type InstanceQuery struct {
	Name string
	broker.Page
}

// Instances returns a page, and the next page's token. A page may hold fewer than was asked
// for, and even none, while there is a next one.
func (l *Lifecycle) Instances(ctx context.Context, p policy.Principal, q InstanceQuery) ([]Instance, string, error) {
	f := InstanceFilter{Project: p.Project, Name: q.Name, Page: q.Page}
	if err := l.list(ctx, p, &f.Project); err != nil {
		return nil, "", err
	}
	found, next, err := l.Store.Instances(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(found, func(i Instance) bool { return !l.Guard.Allows(p, policy.VNFShow, i.resource()) }), next, nil
}

// DeleteInstance removes an instance that has no resources, with its operations.
func (l *Lifecycle) DeleteInstance(ctx context.Context, p policy.Principal, id string, ifRevision int64) error {
	i, act, err := l.open(ctx, p, policy.VNFDelete, id, policy.Wish{})
	if err != nil {
		return err
	}
	if i.State != NotInstantiated {
		return l.refuse(ctx, act, stateConflict(i))
	}
	if ifRevision != 0 && ifRevision != i.Revision {
		return l.refuse(ctx, act, changedMeanwhile())
	}
	return l.Store.DeleteInstance(ctx, id, act.Done())
}

// Operation returns one.
func (l *Lifecycle) Operation(ctx context.Context, p policy.Principal, id string) (Operation, error) {
	o, i, err := l.findOperation(ctx, p, policy.VNFShow, id)
	if err != nil {
		return Operation{}, err
	}
	if err := l.desk("instance").Read(ctx, p, policy.VNFShow, i.resource()); err != nil {
		return Operation{}, foreignOperation(err)
	}
	shown := []Operation{o}
	err = l.showWaiting(ctx, shown)
	return shown[0], err
}

// OperationQuery selects operations that the principal may see, newest first.
type OperationQuery struct {
	Instance string
	// Failed selects those that wait for somebody to retry them, roll them back or give them up.
	Failed bool
	broker.Page
}

// Operations returns a page, and the next page's token.
func (l *Lifecycle) Operations(ctx context.Context, p policy.Principal, q OperationQuery) ([]Operation, string, error) {
	f := OperationFilter{Project: p.Project, Instance: q.Instance, Failed: q.Failed, Page: q.Page}
	if err := l.list(ctx, p, &f.Project); err != nil {
		return nil, "", err
	}
	found, next, err := l.Store.Operations(ctx, f)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(found, func(o Operation) bool {
		// The one attribute for policies that an instance has and an operation has not: its name.
		return !l.Guard.Allows(p, policy.VNFShow, policy.Resource{
			Kind: policy.KindVNFInstance, ID: o.Instance, Project: o.Project, Owner: o.Asker.Name, VNFDID: o.Before.Product.VNFDID,
			VIMName: o.Before.VIMName,
		})
	})
	return found, next, l.showWaiting(ctx, found)
}

// list decides on a list; project becomes empty where p sees every project's.
func (l *Lifecycle) list(ctx context.Context, p policy.Principal, project *string) error {
	if err := l.desk("instance").Read(ctx, p, policy.VNFShow, broker.InProject(p.Project)); err != nil {
		return err
	}
	if l.Guard.Allows(p, policy.VNFShow, broker.InProject("*")) {
		*project = ""
	}
	return nil
}

// find returns an instance by its id; a missing one is recorded.
func (l *Lifecycle) find(ctx context.Context, p policy.Principal, action policy.Action, id string) (Instance, error) {
	return broker.Find(ctx, l.desk("instance"), p, action, policy.KindVNFInstance, id, l.Store.Instance)
}

func (l *Lifecycle) findOperation(
	ctx context.Context, p policy.Principal, action policy.Action, id string,
) (o Operation, i Instance, err error) {
	both := func(ctx context.Context, id string) (Operation, error) {
		o, err := l.Store.Operation(ctx, id)
		if err == nil {
			i, err = l.Store.Instance(ctx, o.Instance)
		}
		return o, err
	}
	o, err = broker.Find(ctx, l.desk("operation"), p, action, policy.KindVNFInstance, id, both)
	return o, i, err
}

// desk decides and records about things of a kind.
func (l *Lifecycle) desk(kind string) broker.Desk {
	return broker.Desk{Guard: l.Guard, Log: l.Log, Missing: func() error { return notFound(kind) }}
}

// open finds an instance and decides on an action.
func (l *Lifecycle) open(
	ctx context.Context, p policy.Principal, action policy.Action, id string, wish policy.Wish,
) (Instance, *audit.Act, error) {
	i, err := l.find(ctx, p, action, id)
	if err != nil {
		return Instance{}, nil, err
	}
	act, err := l.enter(ctx, p, action, i.resource(), wish)
	return i, act, err
}

// enter decides, and words a refusal.
func (l *Lifecycle) enter(
	ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish,
) (*audit.Act, error) {
	act, err := l.Guard.Enter(ctx, p, action, res, wish)
	if err != nil {
		return nil, broker.Refusal(err, p, action, notFound("instance"))
	}
	return act, nil
}

// refuse records that an allowed act ended before it had any effect, and returns why.
func (l *Lifecycle) refuse(ctx context.Context, act *audit.Act, why error) error {
	if err := l.Store.Append(ctx, act.Failed(kindOf(why).err.Error())); err != nil {
		l.Log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// foreignOperation has an operation of an instance that is not to be seen answer like one that is not there.
func foreignOperation(err error) error {
	if errors.Is(err, broker.ErrNotFound) {
		return notFound("operation")
	}
	return err
}

func notFound(what string) error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VNF " + what}
}

func changedMeanwhile() error {
	return &broker.Error{Kind: broker.ErrPrecondition, Field: "If-Match", Detail: "the instance has changed since it was read"}
}

func stateConflict(i Instance) error {
	e := &broker.Error{Kind: broker.ErrConflict, Detail: "the instance is " + string(i.State)}
	switch i.State {
	case Instantiated:
		e.Remedy = "terminate it first"
	case NotInstantiated:
		e.Remedy = "instantiate it first"
	}
	return e
}

package asset

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const (
	// claimFor is for how long one who works on an asset keeps others from it: longer than workTime, which bounds that.
	claimFor, workTime        = 2 * time.Minute, 50 * time.Second
	settleEvery, settleAtOnce = 30 * time.Second, 100
	leaseTTL                  = 10 * time.Minute
	// MaxUses bounds the uses that are shown of one, DefaultPerProject the links of a project, and its volumes.
	MaxUses, DefaultPerProject = 1000, 1000
)

// Options wire [Assets]. Every field is required.
type Options struct {
	Store   Store
	Leaser  Leaser
	Drivers map[On]Driver
	Guard   *audit.Guard
	Egress  func(project string) *egress.Rules
	// Learning is the time from the first use of a lease in which a refusal of the VIM (403) counts as passing; 0 is none.
	Learning time.Duration
	// PerProject bounds those of a project and a kind; 0 is no bound.
	PerProject int
	Log        *slog.Logger
	Now        func() time.Time
}

// Leaser is [broker.Broker] as this package uses it.
type Leaser interface {
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	EndOperation(ctx context.Context, operation string, but ...string) error
}

// Assets keeps virtual links and volumes. Its methods are safe for concurrent use, by any number of processes on one store. Each
// decides and records for the principal that it is given; what the principal does not see is not found.
type Assets struct{ Options }

// On is a kind of assets on a type of VIMs.
type On struct {
	Kind policy.Kind
	VIM  broker.VIMType
}

// New returns Assets; it starts nothing.
func New(o Options) *Assets {
	o.Now = broker.Clock(o.Now)
	return &Assets{o}
}

// Request is a request for an asset; the fields are as in [Asset]. VIM is an id or a name; an empty Project is the caller's.
type Request struct {
	Kind               policy.Kind
	Project, Name, VIM string
	Spec               spec.LinkSpec
	Volume             spec.VolumeSpec
	Existing           string
	Spans              []spec.Span
	Shared             bool
	SharedWith         []string
	Maker              string
}

// Create makes an asset. One of that name that is the same already is answered, and made is false.
func (s *Assets) Create(ctx context.Context, p policy.Principal, r Request) (l Asset, made bool, err error) {
	fail := func(err error) (Asset, bool, error) { return Asset{}, false, err }
	now := s.Now()
	l = Asset{
		Kind: r.Kind, ID: uuid.Must(uuid.NewV7()).String(), Project: cmp.Or(r.Project, p.Project), Name: r.Name, Spec: r.Spec,
		Volume: r.Volume, Existing: r.Existing, Spans: slices.Clone(r.Spans),
		Shared: r.Shared, SharedWith: r.SharedWith, Maker: r.Maker, Loose: r.Maker != "", State: Making, CreatedBy: p.Name, CreatedAt: now,
		Since: now, Revision: 1,
	}
	if err := l.valid(); err != nil {
		return fail(err)
	}
	v, err := s.Leaser.VIM(ctx, p, r.VIM)
	if err != nil {
		return fail(err)
	}
	l.VIM, l.VIMName, l.VIMType, l.Made.Network = v.ID, v.Name, v.Type, l.Existing
	if l.Kind == policy.KindVolume {
		l.Volume.Namespace = cmp.Or(l.Volume.Namespace, v.Current.Target.Namespace)
	}
	if l.Kind == policy.KindVolume && l.Existing != "" {
		l.Made.Network = l.Volume.Namespace + "/" + l.Existing
	}
	desk := s.desk(l.Kind)
	act, err := desk.Enter(ctx, p, kinds[l.Kind].create, l.Resource())
	if err != nil {
		return fail(err)
	}
	reached, err := s.reached(ctx, p, l)
	if err != nil {
		return fail(s.desk("").Refuse(ctx, act, err))
	}
	for _, on := range reached {
		_, err := desk.Enter(ctx, p, policy.LinkAdopt, on)
		if errors.Is(err, broker.ErrDenied) || errors.Is(err, broker.ErrNotFound) {
			err = &broker.Error{Kind: broker.ErrDenied, Field: l.wide(), Detail: "needs the permission " + string(policy.LinkAdopt)}
		}
		if err != nil {
			return fail(s.desk("").Refuse(ctx, act, err))
		}
	}
	if _, err = s.lease(l); err == nil {
		err = s.Store.CreateAsset(ctx, l, s.PerProject, act.Intent())
	}
	if errors.Is(err, broker.ErrExists) {
		return s.again(ctx, p, l, act)
	}
	if err != nil {
		return fail(s.desk("").Refuse(ctx, act, err))
	}
	failpoint.At("link.intent")
	l, err = s.make(ctx, p, l, act)
	return l, true, err
}

// reached is what somebody has to be permitted to adopt who makes the link: itself where it reaches beyond the project, and so on
// each of the clusters that it spans to, whose ids it is given.
func (s *Assets) reached(ctx context.Context, p policy.Principal, l Asset) (all []policy.Resource, err error) {
	if l.wide() != "" {
		all = append(all, l.Resource())
	}
	for n, to := range l.Spans {
		v, err := s.Leaser.VIM(ctx, p, to.VIM)
		if err != nil {
			return nil, err
		}
		if v.Type != "kubernetes" || slices.ContainsFunc(l.Spans[:n], func(other spec.Span) bool { return other.VIM == v.ID }) {
			return nil, broker.Invalid("spans.vim", "names %s, which is no Kubernetes cluster, or is named twice", v.Name)
		}
		on := l
		l.Spans[n].VIM, on.VIM, on.VIMName, on.VIMType = v.ID, v.ID, v.Name, v.Type
		all = append(all, on.Resource())
	}
	return all, nil
}

// again answers a request for an asset whose name is taken.
func (s *Assets) again(ctx context.Context, p policy.Principal, asked Asset, act *audit.Act) (there Asset, made bool, err error) {
	there, err = s.one(ctx, Filter{Kind: asked.Kind, Viewer: asked.Project, Name: asked.Name}, asked.Project)
	switch {
	case errors.Is(err, broker.ErrNotFound):
		err = &broker.Error{Kind: broker.ErrConflict, Field: "existing", Detail: "is another " + asked.Noun() + " of the project already"}
	case err != nil:
	case !there.same(asked) || there.State == Removing:
		err = &broker.Error{
			Kind: broker.ErrConflict, Field: "name", Detail: "the project has another " + asked.Noun() + " of this name, or is removing it",
			Remedy: "choose another name, or ask for exactly what it is",
		}
	case there.State == Making:
		if there, err = s.claim(ctx, there, s.Now().Add(-claimFor)); err == nil {
			there, err = s.make(ctx, p, there, act)
			return there, false, err
		}
	}
	if err != nil {
		return Asset{}, false, s.desk("").Refuse(ctx, act, err)
	}
	return there, false, act.Read(ctx)
}

// busy is [broker.ErrUnavailable] while somebody works on an asset who began at a time or later.
func busy(l Asset, since time.Time) error {
	if !l.Since.Before(since) {
		return &broker.Error{Kind: broker.ErrUnavailable, Detail: "somebody is at work on the " + l.Noun(), RetryAfter: claimFor}
	}
	return nil
}

// claim keeps others from working on the asset for a time.
func (s *Assets) claim(ctx context.Context, l Asset, since time.Time) (Asset, error) {
	return s.Store.UpdateAsset(ctx, l.ID, func(now *Asset, _ []Use, _ int) error {
		err := busy(*now, since)
		now.Since = s.Now()
		return err
	}, audit.Entry{})
}

// lease is what the leases for an asset may do; without a purpose it needs none.
func (s *Assets) lease(l Asset) (r broker.LeaseRequest, err error) {
	d, is := s.Drivers[On{l.Kind, l.VIMType}]
	if !is {
		return r, &broker.Error{
			Kind: broker.ErrUnsupported, Field: "vim", Detail: "no " + l.Noun() + " is made on VIMs of type " + string(l.VIMType),
			Remedy: "on a cloud volumes come with the stack of an instance, through Heat",
		}
	}
	return d.Lease(l)
}

// on does something under a lease that ends with it, beside others if it is for an instance.
func (s *Assets) on(
	ctx context.Context, p policy.Principal, l Asset, instance string, do func(context.Context, Driver, Connection) error,
) error {
	r, err := s.lease(l)
	if err != nil || r.Purpose == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	v, err := s.Leaser.VIM(ctx, p, l.VIM)
	if err != nil {
		return err
	}
	operation := "link:" + l.ID + instance
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*workTime)
	defer stop()
	r.VIM, r.TTL, r.Operation = l.VIM, leaseTTL, operation
	_, c, err := s.Leaser.IssueLease(ctx, p, r)
	if err == nil {
		d, there := s.Drivers[On{l.Kind, l.VIMType}], Connection{c, s.Egress(v.Project)}
		err = broker.Learnt(ctx, s.Learning, func() error { return do(ctx, d, there) })
	}
	return errors.Join(err, s.Leaser.EndOperation(ending, operation))
}

// make makes an asset on its VIM, whose row the caller has claimed. It is taken back where nothing is left of it.
func (s *Assets) make(ctx context.Context, p policy.Principal, l Asset, act *audit.Act) (Asset, error) {
	made := l.Made
	clean := l.Revision == 1 // nobody has tried before
	err := s.on(ctx, p, l, "", func(ctx context.Context, d Driver, c Connection) (err error) {
		clean = false
		if made, err = d.Make(ctx, c, l); errors.Is(err, broker.ErrUnsupported) {
			clean = l.Revision == 1 // the VIM does nothing of it
		} else if err != nil && !errors.Is(err, broker.ErrUnreachable) && !errors.Is(err, broker.ErrUnavailable) {
			clean = d.Remove(ctx, c, l) == nil
		}
		return err
	})
	failpoint.At("link.made")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workTime)
	defer cancel()
	switch {
	case err == nil:
		return s.Store.UpdateAsset(ctx, l.ID, func(now *Asset, _ []Use, _ int) error {
			now.State, now.Made, now.Fault = Ready, made, ""
			return nil
		}, act.Done())
	case !clean:
		s.fault(ctx, l, err)
		return l, err
	}
	_, gone := s.Store.UpdateAsset(ctx, l.ID, func(now *Asset, _ []Use, _ int) error {
		now.State, now.Fault = Removing, broker.Message(err)
		return nil
	}, broker.Failed(act, err))
	if gone == nil {
		gone = s.Store.DeleteAsset(ctx, l.ID, audit.Entry{})
	}
	return l, errors.Join(err, gone)
}

// fault notes why an asset was not made or removed, and lets others try soon.
func (s *Assets) fault(ctx context.Context, l Asset, why error) {
	if _, err := s.Store.UpdateAsset(ctx, l.ID, func(now *Asset, _ []Use, _ int) error {
		now.Fault, now.Since = broker.Message(why), s.Now().Add(-claimFor)
		return nil
	}, audit.Entry{}); err != nil {
		s.Log.InfoContext(ctx, "why an asset is not made or removed is not noted", "asset", l.ID, "error", err)
	}
}

// Delete removes an asset; [broker.ErrConflict] while it is used. With force it is removed all the same, also where its VIM does
// not answer, and those who used it are answered.
func (s *Assets) Delete(
	ctx context.Context, p policy.Principal, kind policy.Kind, ref string, force bool,
) (l Asset, used []Use, err error) {
	l, act, err := s.open(ctx, p, kind, kinds[kind].delete, ref)
	if err != nil {
		return Asset{}, nil, err
	}
	if l, used, err = s.begin(ctx, l, force, act, s.Now().Add(-claimFor)); err != nil {
		return Asset{}, nil, s.desk("").Refuse(ctx, act, err)
	}
	if err = s.remove(ctx, p, l, act); err != nil && force && !errors.Is(err, broker.ErrConflict) {
		err = s.Store.DeleteAsset(ctx, l.ID, act.With(audit.DetailLeft, l.Handle()+" on VIM "+l.VIMName).Done())
	}
	return l, used, err
}

// begin has the store decide whether an asset is removed, or used further.
func (s *Assets) begin(
	ctx context.Context, l Asset, force bool, act *audit.Act, since time.Time,
) (stored Asset, used []Use, err error) {
	failpoint.At("link.unused")
	stored, err = s.Store.UpdateAsset(ctx, l.ID, func(now *Asset, some []Use, all int) error {
		if all > 0 && !force {
			return now.inUse(some, all)
		}
		if err := busy(*now, since); err != nil && now.State != Ready {
			return err
		}
		used, now.State, now.Since = some, Removing, s.Now()
		return nil
	}, act.Intent())
	failpoint.At("link.removing")
	return stored, used, err
}

// remove removes what stands of an asset that is Removing, and its row.
func (s *Assets) remove(ctx context.Context, p policy.Principal, l Asset, act *audit.Act) (err error) {
	if l.Existing == "" || len(l.Spans) > 0 {
		err = s.on(ctx, p, l, "", func(ctx context.Context, d Driver, c Connection) error { return d.Remove(ctx, c, l) })
	}
	failpoint.At("link.removed")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workTime)
	defer cancel()
	if err != nil {
		s.fault(ctx, l, err)
		return err
	}
	return s.Store.DeleteAsset(ctx, l.ID, act.Done())
}

// Passes are the periodic work.
func (s *Assets) Passes() []broker.Pass {
	return []broker.Pass{{Name: "links", Every: settleEvery, Run: func(ctx context.Context) error {
		return s.Settle(ctx, s.Now().Add(-claimFor))
	}}}
}

// Settle goes on with what nobody has worked on since a time, and removes assets that were made for instances and are unused.
func (s *Assets) Settle(ctx context.Context, since time.Time) error {
	all, err := s.Store.UnsettledAssets(ctx, since, settleAtOnce)
	for _, l := range all {
		if err := s.settle(ctx, l, since); err != nil {
			s.Log.InfoContext(ctx, "an asset is settled by a later pass", "asset", l.ID, "vim", l.VIM, "error", err)
		}
	}
	return err
}

// Release removes assets that were made for instances, where they have lost their last use. What fails the pass does.
func (s *Assets) Release(ctx context.Context, ids ...string) {
	for _, id := range ids {
		l, err := s.Store.Asset(ctx, id)
		if err == nil && l.Loose && l.State == Ready {
			err = s.settle(ctx, l, s.Now().Add(-claimFor))
		}
		if err != nil && !errors.Is(err, broker.ErrNotFound) {
			s.Log.InfoContext(ctx, "an asset is removed by a later pass", "asset", id, "error", err)
		}
	}
}

func (s *Assets) settle(ctx context.Context, l Asset, since time.Time) error {
	p := broker.System("links", l.Project)
	action := kinds[l.Kind].delete
	if l.State == Making && !l.Loose {
		action = kinds[l.Kind].create
	}
	act, err := s.desk(l.Kind).Enter(ctx, p, action, l.Resource())
	if err != nil {
		return err
	}
	if l.State != Removing && l.Loose {
		id := l.ID
		if l, _, err = s.begin(ctx, l, false, act, since); errors.Is(err, broker.ErrConflict) { // it is used: the end of a use loosens it again
			_, err = s.Store.UpdateAsset(ctx, id, func(now *Asset, _ []Use, all int) error {
				now.Loose = all == 0
				return nil
			}, audit.Entry{})
			return err
		}
	} else {
		l, err = s.claim(ctx, l, since)
	}
	switch {
	case err != nil:
	case l.State == Making:
		_, err = s.make(ctx, p, l, act)
	default:
		err = s.remove(ctx, p, l, act)
	}
	return err
}

// Show returns an asset with its uses, and how many there are.
func (s *Assets) Show(ctx context.Context, p policy.Principal, kind policy.Kind, ref string) (l Asset, uses []Use, all int, err error) {
	l, act, err := s.open(ctx, p, kind, kinds[kind].show, ref)
	if err == nil {
		uses, all, err = s.Store.AssetUses(ctx, l.ID, MaxUses)
	}
	if err == nil {
		err = act.Read(ctx)
	}
	return l, uses, all, err
}

// List returns a page of those that p may see, the newest first, and the next page's token.
func (s *Assets) List(ctx context.Context, p policy.Principal, kind policy.Kind, page broker.Page) ([]Asset, string, error) {
	show := kinds[kind].show
	if err := s.desk("").Read(ctx, p, show, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := Filter{Kind: kind, Viewer: p.Project, Page: page}
	if s.Guard.Allows(p, show, broker.InProject("*")) {
		f.Viewer = ""
	}
	found, next, err := s.Store.Assets(ctx, f)
	return slices.DeleteFunc(found, func(l Asset) bool { return !s.Guard.Allows(p, show, l.Resource()) }), next, err
}

// Lend finds an asset for an instance on a VIM, by its id, its name or the id of the VIM's network, and decides that it may be
// used. A network of the cloud that is no link is answered without an id, if p may adopt it: [Assets.Create] then does.
func (s *Assets) Lend(ctx context.Context, p policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (Asset, error) {
	v := on[0]
	l, act, err := s.open(ctx, p, kind, kinds[kind].use, ref)
	if errors.Is(err, broker.ErrNotFound) && kind == policy.KindLink && v.Type == "openstack" && uuid.Validate(ref) == nil {
		own, none := s.one(ctx, Filter{Kind: kind, VIM: v.ID, Network: ref}, p.Project)
		if errors.Is(none, broker.ErrNotFound) {
			new := Asset{
				Kind: kind, Project: p.Project, VIM: v.ID, VIMName: v.Name, VIMType: v.Type, Existing: ref, Made: Made{Network: ref}, State: Ready,
			}
			if s.Guard.Allows(p, policy.LinkAdopt, new.Resource()) {
				return new, nil
			}
		} else if err = none; err == nil {
			l, act, err = s.open(ctx, p, kind, policy.LinkUse, own.ID)
		}
	}
	there, is := l.On(v.ID)
	for _, other := range on[1:] {
		if !is {
			there, is = l.On(other.ID)
		}
	}
	switch {
	case err != nil:
		return Asset{}, err
	case !is:
		err = broker.Invalid(kinds[kind].field, "names %s, which is on another VIM (%s), and does not span to the instance's", l.Name, l.VIMName)
	case l.State != Ready:
		err = &broker.Error{Kind: broker.ErrConflict, Detail: "the " + l.Noun() + " " + l.Name + " is " + string(l.State)}
	default:
		return there, act.Read(ctx)
	}
	return Asset{}, s.desk("").Refuse(ctx, act, err)
}

// Ports finds or makes the ports that pods of an instance have on a link, by their names. Where they are all, its others are removed.
func (s *Assets) Ports(ctx context.Context, id, instance string, names []string, all bool) (made []Port, err error) {
	l, err := s.Store.Asset(ctx, id)
	if err != nil {
		return nil, err
	}
	p := broker.System("links", l.Project)
	act, err := s.desk(l.Kind).Enter(ctx, p, policy.LinkUse, l.Resource())
	if err != nil {
		return nil, err
	}
	if err := s.Store.Append(ctx, act.With(audit.DetailInstance, instance).Intent()); err != nil {
		return nil, err
	}
	err = s.on(ctx, p, l, ":"+instance, func(ctx context.Context, d Driver, c Connection) (err error) {
		made, err = d.(Porter).Ports(ctx, c, l, instance, names, all)
		return err
	})
	failpoint.At("link.ports")
	if err != nil {
		return nil, s.desk("").Refuse(ctx, act, err)
	}
	return made, s.Store.Append(ctx, act.Done())
}

// open finds an asset by its id, or its name: the project's own before one that is shared with it. It decides on an action.
func (s *Assets) open(
	ctx context.Context, p policy.Principal, kind policy.Kind, action policy.Action, ref string,
) (l Asset, act *audit.Act, err error) {
	if uuid.Validate(ref) == nil {
		if l, err = s.Store.Asset(ctx, ref); err == nil && l.Kind != kind {
			err = notFound(kind)
		}
	} else {
		l, err = s.one(ctx, Filter{Kind: kind, Viewer: p.Project, Name: ref}, p.Project)
	}
	if errors.Is(err, broker.ErrNotFound) {
		if err = broker.Unrecorded(s.Guard.Missing(ctx, p, action, kind)); err == nil {
			err = notFound(kind)
		}
	}
	if err == nil {
		act, err = s.desk(l.Kind).Enter(ctx, p, action, l.Resource())
	}
	return l, act, err
}

// one returns the one asset that a filter selects; of several that of a project.
func (s *Assets) one(ctx context.Context, f Filter, project string) (Asset, error) {
	f.Size = broker.MaxPage
	all, _, err := s.Store.Assets(ctx, f)
	if own := slices.IndexFunc(all, func(l Asset) bool { return l.Project == project }); err == nil && own >= 0 {
		return all[own], nil
	}
	switch {
	case err != nil:
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		err = notFound(f.Kind)
	default:
		text := "several projects share a " + kinds[f.Kind].noun + " of this name"
		err = &broker.Error{Kind: broker.ErrConflict, Detail: text, Remedy: "name it by its id"}
	}
	return Asset{}, err
}

// desk decides and records about things of a kind; empty is a project.
func (s *Assets) desk(kind policy.Kind) broker.Desk {
	return broker.Desk{Guard: s.Guard, Log: s.Log, Missing: func() error { return notFound(kind) }}
}

func notFound(kind policy.Kind) error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such " + cmp.Or(kinds[kind].noun, "project")}
}

package onboard

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Broker is the registry and the leases.
type Broker interface {
	Registrar
	Leaser
}

// Options wire an [Onboarding]. Fields without a stated default are required.
type Options struct {
	Store  Store
	Broker Broker
	Source Source
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	// Egress gives the addresses that may be dialled for a project's VIMs.
	Egress func(project string) *egress.Rules
	Log    *slog.Logger
	// Now defaults to time.Now, After to time.After.
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

// Onboarding is the domain: what callers ask of management clusters and their clusters,
// and the job that follows them. Safe for concurrent use.
type Onboarding struct {
	store  Store
	broker Broker
	source Source
	guard  *audit.Guard
	egress func(string) *egress.Rules
	log    *slog.Logger
	now    func() time.Time
	after  func(time.Duration) <-chan time.Time
	// watched are the management clusters that are being watched, by project.
	watched *limit.Keys

	mu        sync.Mutex
	live      map[string]*watcher // what this server watches now, by the id of the VIM
	adoptions map[string]int      // likewise, since the server began
}

// New returns an Onboarding; it starts nothing.
func New(o Options) *Onboarding {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	now := func() time.Time { return o.Now().UTC().Truncate(time.Microsecond) }
	return &Onboarding{
		store: o.Store, broker: o.Broker, source: o.Source, guard: o.Guard, egress: o.Egress,
		log: o.Log, now: now, after: o.After,
		live: map[string]*watcher{}, adoptions: map[string]int{},
		watched: limit.NewKeys(limit.Bound{InFlight: watchedOfProject}, maxWatched, now),
	}
}

// Worker is the worker of the jobs that watch management clusters.
func (o *Onboarding) Worker() job.Worker {
	return job.Worker{Kind: JobKind, AtOnce: maxWatched, Work: o.follow}
}

// maxWatched is how many management clusters one server watches, watchedOfProject how many of them
// may be one project's. Other replicas watch the rest.
const maxWatched, watchedOfProject = 96, 64

// self is who follows clusters, in the project of the VIM that the work is on.
func self(project string) policy.Principal {
	return policy.Principal{Name: "system:onboard", Project: project, Roles: []string{policy.RoleSystem}}
}

// resource is a VIM as policies see it.
func resource(v broker.VIM) policy.Resource {
	return policy.Resource{
		Kind: policy.KindVIM, ID: v.ID, Project: v.Project, VIMType: string(v.Type), VIMName: v.Name,
		Shared: v.Shared, SharedWith: v.SharedWith, Labels: v.Labels,
	}
}

func inProject(project string) policy.Resource {
	return policy.Resource{Kind: policy.KindProject, ID: project, Project: project}
}

// enter decides, and turns a refusal into what the caller may know.
func (o *Onboarding) enter(
	ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish,
) (*audit.Act, error) {
	act, err := o.guard.Enter(ctx, p, action, res, wish)
	if err != nil {
		return nil, broker.Refusal(err, p, action, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM", Next: broker.NextListVIMs})
	}
	return act, nil
}

// enterRead is enter for what only reads: one entry records it.
func (o *Onboarding) enterRead(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) error {
	act, err := o.enter(ctx, p, action, res, policy.Wish{})
	if err == nil {
		if err = act.Read(ctx); err != nil {
			err = broker.Unrecorded(err)
		}
	}
	return err
}

// Enable makes a VIM a management cluster, or changes how it is one: a setting that is not given (nil, empty text, zero)
// stays as it is, and is the default at first. The caller needs the right to register VIMs in each project that clusters
// are to become VIMs of.
func (o *Onboarding) Enable(ctx context.Context, p policy.Principal, ref string, m Management) (Management, error) {
	return o.enable(ctx, p, ref, m, true)
}

func (o *Onboarding) enable(ctx context.Context, p policy.Principal, ref string, m Management, keep bool) (Management, error) {
	v, act, err := o.enterVIM(ctx, p, ref)
	if err != nil {
		return Management{}, err
	}
	if old, err := o.store.Management(ctx, v.ID); keep && err == nil {
		m.keep(old)
	} else if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return Management{}, o.refuse(ctx, act, err)
	}
	fail := func(err error) (Management, error) { return Management{}, o.refuse(ctx, act, err) }
	if v.Type != vimType {
		return fail(broker.Invalid("vim", "is of type %s: Cluster API runs on a Kubernetes cluster", v.Type))
	}
	if err := m.Complete(); err != nil {
		return fail(err)
	}
	for _, project := range m.targets() {
		too, err := o.enter(ctx, p, policy.VIMRegister, inProject(project), policy.Wish{VIM: &policy.VIMDraft{Type: string(vimType)}})
		if err == nil {
			if err = o.guard.Sink.Append(ctx, too.Intent()); err != nil {
				err = broker.Unrecorded(err)
			}
		}
		if err != nil {
			return fail(err)
		}
	}
	now := o.now()
	m.VIM, m.EnabledBy, m.CreatedAt, m.UpdatedAt, m.Revision = v.ID, p.Name, now, now, 1
	done := act.Done(detailNamespaces(m)...)
	err = o.store.EnableManagement(ctx, m, done)
	if !errors.Is(err, broker.ErrExists) {
		if err != nil {
			return fail(err)
		}
		return m, nil
	}
	changed, err := o.store.UpdateManagement(ctx, v.ID, func(old *Management) error {
		m.WatchedAt, m.Trouble, m.HeldAt, m.ReleasedUntil = old.WatchedAt, old.Trouble, old.HeldAt, old.ReleasedUntil
		*old = m
		return nil
	}, done)
	if err != nil {
		return fail(err)
	}
	return changed, nil
}

// configured is who enables what the site's configuration says.
func configured(project string) policy.Principal {
	return policy.Principal{Name: "system:configuration", Project: project, Roles: []string{policy.RoleSystem}}
}

// EnableConfigured enables a management cluster as the site's configuration says, by the
// name of its VIM in a project. If it is enabled so already nothing is done or recorded. It
// is broker.ErrNotFound while the project itself has no such VIM: a VIM that others share
// with it does not count.
func (o *Onboarding) EnableConfigured(ctx context.Context, project, name string, m Management) error {
	p := configured(project)
	found, _, err := o.broker.VIMs(ctx, p, broker.VIMQuery{Name: name, State: broker.VIMRegistered, Page: broker.Page{Size: broker.MaxPage}})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(found, func(v broker.VIM) bool { return v.Project == project })
	if at < 0 {
		return &broker.Error{Kind: broker.ErrNotFound, Detail: "the project has no such VIM"}
	}
	if err := m.Complete(); err != nil {
		return err
	}
	now, err := o.store.Management(ctx, found[at].ID)
	switch {
	case err == nil && now.same(&m):
		return nil
	case err != nil && !errors.Is(err, broker.ErrNotFound):
		return err
	}
	_, err = o.enable(ctx, p, found[at].ID, m, false)
	return err
}

// vimType is the type of VIM that Cluster API runs on, and that its clusters are.
const vimType broker.VIMType = "kubernetes"

// enterVIM finds a VIM, and decides whether p may say what becomes of its clusters.
func (o *Onboarding) enterVIM(ctx context.Context, p policy.Principal, ref string) (broker.VIM, *audit.Act, error) {
	v, err := o.broker.VIM(ctx, p, ref)
	if err != nil {
		return broker.VIM{}, nil, err
	}
	act, err := o.enter(ctx, p, policy.ClusterEnable, resource(v), policy.Wish{})
	return v, act, err
}

// refuse records that an allowed act ended before it had any effect, and returns why.
func (o *Onboarding) refuse(ctx context.Context, act *audit.Act, why error) error {
	class := "internal error"
	var known *broker.Error
	if errors.As(why, &known) {
		class = known.Kind.Error()
	}
	if err := o.guard.Sink.Append(ctx, act.Failed(class)); err != nil {
		o.log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// Disable ends the watch. The VIMs of its clusters stay, and are no longer followed.
func (o *Onboarding) Disable(ctx context.Context, p policy.Principal, ref string) error {
	v, act, err := o.enterVIM(ctx, p, ref)
	if err != nil {
		return err
	}
	if err := o.store.DisableManagement(ctx, v.ID, act.Done(audit.DetailReason, "disabled")); err != nil {
		return o.refuse(ctx, act, err)
	}
	return nil
}

// releasedFor is how long what is gone is let go of after a release.
const releasedFor = 10 * time.Minute

// Release lets go of the clusters that are held because too many were gone at the same
// time, and of those that are found to be gone within the next ten minutes.
func (o *Onboarding) Release(ctx context.Context, p policy.Principal, ref string) (Management, error) {
	v, act, err := o.enterVIM(ctx, p, ref)
	if err != nil {
		return Management{}, err
	}
	now, err := o.store.Management(ctx, v.ID)
	if err == nil && !now.HeldAt.IsZero() {
		act.With(detailEvent, string(EventReleased))
	}
	m, err := o.store.UpdateManagement(ctx, v.ID, func(m *Management) error {
		m.HeldAt, m.ReleasedUntil, m.UpdatedAt = time.Time{}, o.now().Add(releasedFor), o.now()
		return nil
	}, act.Done(audit.DetailReason, "released"))
	if err != nil {
		return Management{}, o.refuse(ctx, act, notEnabled(err))
	}
	return m, nil
}

func notEnabled(err error) error {
	if errors.Is(err, broker.ErrNotFound) {
		return &broker.Error{Kind: broker.ErrNotFound, Detail: "the VIM is no management cluster", Remedy: "enable it as one first"}
	}
	return err
}

// ManagementView is a management cluster with its VIM.
type ManagementView struct {
	Management
	Name, Project string
}

// Management returns a management cluster that p may see, by its VIM's id or name.
func (o *Onboarding) Management(ctx context.Context, p policy.Principal, ref string) (ManagementView, error) {
	v, err := o.broker.VIM(ctx, p, ref)
	if err == nil {
		err = o.enterRead(ctx, p, policy.ClusterShow, resource(v))
	}
	if err != nil {
		return ManagementView{}, err
	}
	m, err := o.store.Management(ctx, v.ID)
	return ManagementView{m, v.Name, v.Project}, notEnabled(err)
}

// Managements returns the management clusters that p may see.
func (o *Onboarding) Managements(ctx context.Context, p policy.Principal) ([]ManagementView, error) {
	if err := o.enterRead(ctx, p, policy.ClusterShow, inProject(p.Project)); err != nil {
		return nil, err
	}
	all, err := o.store.Managements(ctx)
	if err != nil {
		return nil, err
	}
	var seen []ManagementView
	for _, m := range all {
		v, err := o.broker.VIM(ctx, self(""), m.VIM)
		switch {
		case errors.Is(err, broker.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		if o.guard.Allows(p, policy.ClusterShow, resource(v)) {
			seen = append(seen, ManagementView{m, v.Name, v.Project})
		}
	}
	return seen, nil
}

// View is a cluster with what is known of its VIM.
type View struct {
	Cluster
	// VIMName is empty before the cluster is registered.
	VIMName             string
	CredentialExpiresAt time.Time
	Health              broker.Health
	// SameSystem are other clusters that lead to the system of this one, or keep it from being a VIM, as far as the
	// principal may see them. Lists have none.
	SameSystem []Cluster
}

// ClusterQuery selects clusters that the principal may see.
type ClusterQuery struct {
	// Management is the id or name of a VIM.
	Management      string
	Namespace, Name string
	State           State
	broker.Page
}

// Clusters returns a page of the clusters that p may see, and the next page's token. A
// page may hold fewer than was asked for while there is a next one.
func (o *Onboarding) Clusters(ctx context.Context, p policy.Principal, q ClusterQuery) ([]View, string, error) {
	if err := o.enterRead(ctx, p, policy.ClusterShow, inProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := ClusterFilter{Namespace: q.Namespace, Name: q.Name, State: q.State, Page: q.Page}
	if q.Management != "" {
		v, err := o.broker.VIM(ctx, p, q.Management)
		if err != nil {
			return nil, "", err
		}
		f.Management = v.ID
	}
	if !o.guard.Allows(p, policy.ClusterShow, inProject("*")) {
		f.Project = p.Project
	}
	found, next, err := o.store.Clusters(ctx, f)
	if err != nil {
		return nil, "", err
	}
	vims := map[string]map[string]broker.VIM{}
	var seen []View
	for _, c := range found {
		if !o.guard.Allows(p, policy.ClusterShow, inProject(c.Project)) {
			continue
		}
		if vims[c.Management] == nil {
			if vims[c.Management], err = o.vims(ctx, c.Management); err != nil {
				return nil, "", err
			}
		}
		seen = append(seen, view(c, vims[c.Management][c.VIM]))
	}
	return seen, next, nil
}

// Cluster returns one that p may see, by its id.
func (o *Onboarding) Cluster(ctx context.Context, p policy.Principal, id string) (View, error) {
	c, err := o.store.Cluster(ctx, id)
	if errors.Is(err, broker.ErrNotFound) || err == nil && !o.guard.Allows(p, policy.ClusterShow, inProject(c.Project)) {
		if err := o.guard.Missing(ctx, p, policy.ClusterShow, policy.KindProject); err != nil {
			return View{}, broker.Unrecorded(err)
		}
		return View{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such cluster", Remedy: "list the clusters to see which there are"}
	}
	if err == nil {
		err = o.enterRead(ctx, p, policy.ClusterShow, inProject(c.Project))
	}
	if err != nil {
		return View{}, err
	}
	var v broker.VIM
	if c.VIM != "" {
		if v, err = o.broker.VIM(ctx, self(""), c.VIM); err != nil && !errors.Is(err, broker.ErrNotFound) {
			return View{}, err
		}
	}
	shown := view(c, v)
	shown.SameSystem, err = o.rivals(ctx, c)
	shown.SameSystem = slices.DeleteFunc(shown.SameSystem, func(other Cluster) bool {
		return !o.guard.Allows(p, policy.ClusterShow, inProject(other.Project))
	})
	return shown, err
}

func view(c Cluster, v broker.VIM) View {
	return View{Cluster: c, VIMName: v.Name, CredentialExpiresAt: v.Current.CredentialExpiresAt, Health: v.Health}
}

// vims are the VIMs of a management cluster's clusters, by id.
func (o *Onboarding) vims(ctx context.Context, management string) (map[string]broker.VIM, error) {
	found, err := broker.AllVIMs(ctx, self(""), broker.VIMQuery{Labels: map[string]string{broker.LabelManagement: management}}, o.broker.VIMs)
	if err != nil {
		return nil, err
	}
	all := make(map[string]broker.VIM, len(found))
	for _, v := range found {
		all[v.ID] = v
	}
	return all, nil
}

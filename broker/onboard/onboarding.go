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
	Options
	desk broker.Desk
	// watched are the management clusters that are being watched, by project.
	watched *limit.Keys

	mu        sync.Mutex
	live      map[string]*watcher // what this server watches now, by the id of the VIM
	adoptions map[string]int      // likewise, since the server began
}

// New returns an Onboarding; it starts nothing.
func New(o Options) *Onboarding {
	if o.After == nil {
		o.After = time.After
	}
	o.Now = broker.Clock(o.Now)
	return &Onboarding{
		Options: o, desk: broker.Desk{Guard: o.Guard, Log: o.Log, Missing: missing},
		live: map[string]*watcher{}, adoptions: map[string]int{},
		watched: limit.NewKeys(limit.Bound{InFlight: watchedOfProject}, maxWatched, o.Now),
	}
}

func missing() error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM", Next: broker.NextListVIMs}
}

// Worker is the worker of the jobs that watch management clusters.
func (o *Onboarding) Worker() job.Worker {
	return job.Worker{Kind: JobKind, AtOnce: maxWatched, Work: o.follow}
}

// maxWatched is how many management clusters one server watches, watchedOfProject how many of them
// may be one project's. Other replicas watch the rest.
const maxWatched, watchedOfProject = 96, 64

// self is who follows clusters, in the project of the VIM that the work is on.
func self(project string) policy.Principal { return broker.System("onboard", project) }

// Enable makes a VIM a management cluster, or changes how it is one: a setting that is not given (nil, empty text, zero)
// stays as it is, and is the default at first. The caller needs the right to register VIMs in each project that clusters
// are to become VIMs of.
func (o *Onboarding) Enable(ctx context.Context, p policy.Principal, ref string, s Settings) (Management, error) {
	return o.enable(ctx, p, ref, s, true)
}

func (o *Onboarding) enable(ctx context.Context, p policy.Principal, ref string, s Settings, keep bool) (Management, error) {
	v, act, err := o.enterVIM(ctx, p, ref)
	if err != nil {
		return Management{}, err
	}
	if old, err := o.Store.Management(ctx, v.ID); keep && err == nil {
		s.keep(old.Settings)
	} else if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return Management{}, o.desk.Refuse(ctx, act, err)
	}
	fail := func(err error) (Management, error) { return Management{}, o.desk.Refuse(ctx, act, err) }
	if v.Type != vimType {
		return fail(broker.Invalid("vim", "is of type %s: Cluster API runs on a Kubernetes cluster", v.Type))
	}
	if err := s.Complete(); err != nil {
		return fail(err)
	}
	for _, project := range s.targets() {
		wish := policy.Wish{VIM: &policy.VIMDraft{Type: string(vimType)}}
		too, err := o.Guard.Enter(ctx, p, policy.VIMRegister, broker.InProject(project), wish)
		if err != nil {
			return fail(broker.Refusal(err, p, policy.VIMRegister, missing()))
		}
		if err := o.Guard.Sink.Append(ctx, too.Intent()); err != nil {
			return fail(broker.Unrecorded(err))
		}
	}
	now := o.Now()
	m := Management{VIM: v.ID, Settings: s, EnabledBy: p.Name, CreatedAt: now, UpdatedAt: now, Revision: 1}
	done := act.Done(detailNamespaces(s)...)
	err = o.Store.EnableManagement(ctx, m, done)
	if !errors.Is(err, broker.ErrExists) {
		if err != nil {
			return fail(err)
		}
		return m, nil
	}
	changed, err := o.Store.UpdateManagement(ctx, v.ID, func(old *Management) error {
		m.WatchedAt, m.Trouble, m.HeldAt, m.ReleasedUntil = old.WatchedAt, old.Trouble, old.HeldAt, old.ReleasedUntil
		*old = m
		return nil
	}, done)
	if err != nil {
		return fail(err)
	}
	return changed, nil
}

// EnableConfigured enables a management cluster as the site's configuration says, by the
// name of its VIM in a project. If it is enabled so already nothing is done or recorded. It
// is broker.ErrNotFound while the project itself has no such VIM: a VIM that others share
// with it does not count.
func (o *Onboarding) EnableConfigured(ctx context.Context, project, name string, s Settings) error {
	p := broker.System("configuration", project)
	v, err := o.named(ctx, p, project, name)
	if err != nil {
		return err
	}
	if v.ID == "" {
		return &broker.Error{Kind: broker.ErrNotFound, Detail: "the project has no such VIM"}
	}
	if err := s.Complete(); err != nil {
		return err
	}
	now, err := o.Store.Management(ctx, v.ID)
	switch {
	case now.same(s):
		return nil
	case err != nil && !errors.Is(err, broker.ErrNotFound):
		return err
	}
	_, err = o.enable(ctx, p, v.ID, s, false)
	return err
}

// named is the registered VIM of a name that is the project's own; none has no ID.
func (o *Onboarding) named(ctx context.Context, p policy.Principal, project, name string) (broker.VIM, error) {
	found, _, err := o.Broker.VIMs(ctx, p, broker.VIMQuery{Name: name, State: broker.VIMRegistered, Page: broker.Page{Size: broker.MaxPage}})
	for _, v := range found {
		if v.Project == project {
			return v, nil
		}
	}
	return broker.VIM{}, err
}

// vimType is the type of VIM that Cluster API runs on, and that its clusters are.
const vimType broker.VIMType = "kubernetes"

// enterVIM finds a VIM, and decides whether p may say what becomes of its clusters.
func (o *Onboarding) enterVIM(ctx context.Context, p policy.Principal, ref string) (broker.VIM, *audit.Act, error) {
	v, err := o.Broker.VIM(ctx, p, ref)
	if err != nil {
		return broker.VIM{}, nil, err
	}
	act, err := o.desk.Enter(ctx, p, policy.ClusterEnable, v.Resource())
	return v, act, err
}

// Disable ends the watch. The VIMs of its clusters stay, and are no longer followed.
func (o *Onboarding) Disable(ctx context.Context, p policy.Principal, ref string) error {
	v, act, err := o.enterVIM(ctx, p, ref)
	if err != nil {
		return err
	}
	if err := o.Store.DisableManagement(ctx, v.ID, act.Done(audit.DetailReason, "disabled")); err != nil {
		return o.desk.Refuse(ctx, act, err)
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
	m, err := o.Store.Management(ctx, v.ID)
	if !m.HeldAt.IsZero() {
		act.With(detailEvent, string(EventReleased))
	}
	if err == nil {
		m, err = o.Store.UpdateManagement(ctx, v.ID, func(m *Management) error {
			m.HeldAt, m.ReleasedUntil, m.UpdatedAt = time.Time{}, o.Now().Add(releasedFor), o.Now()
			return nil
		}, act.Done(audit.DetailReason, "released"))
	}
	if err != nil {
		return Management{}, o.desk.Refuse(ctx, act, notEnabled(err))
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
	v, err := o.Broker.VIM(ctx, p, ref)
	if err == nil {
		err = o.desk.Read(ctx, p, policy.ClusterShow, v.Resource())
	}
	if err != nil {
		return ManagementView{}, err
	}
	m, err := o.Store.Management(ctx, v.ID)
	return ManagementView{m, v.Name, v.Project}, notEnabled(err)
}

// Managements returns the management clusters that p may see.
func (o *Onboarding) Managements(ctx context.Context, p policy.Principal) ([]ManagementView, error) {
	if err := o.desk.Read(ctx, p, policy.ClusterShow, broker.InProject(p.Project)); err != nil {
		return nil, err
	}
	all, err := o.Store.Managements(ctx)
	if err != nil {
		return nil, err
	}
	var seen []ManagementView
	for _, m := range all {
		v, err := o.Broker.VIM(ctx, self(""), m.VIM)
		switch {
		case errors.Is(err, broker.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		if o.Guard.Allows(p, policy.ClusterShow, v.Resource()) {
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
	if err := o.desk.Read(ctx, p, policy.ClusterShow, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := ClusterFilter{Namespace: q.Namespace, Name: q.Name, State: q.State, Page: q.Page}
	if q.Management != "" {
		v, err := o.Broker.VIM(ctx, p, q.Management)
		if err != nil {
			return nil, "", err
		}
		f.Management = v.ID
	}
	if !o.Guard.Allows(p, policy.ClusterShow, broker.InProject("*")) {
		f.Project = p.Project
	}
	found, next, err := o.Store.Clusters(ctx, f)
	if err != nil {
		return nil, "", err
	}
	vims := map[string]map[string]broker.VIM{}
	var seen []View
	for _, c := range found {
		if !o.Guard.Allows(p, policy.ClusterShow, broker.InProject(c.Project)) {
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
	c, err := o.Store.Cluster(ctx, id)
	if errors.Is(err, broker.ErrNotFound) || err == nil && !o.Guard.Allows(p, policy.ClusterShow, broker.InProject(c.Project)) {
		if err := o.Guard.Missing(ctx, p, policy.ClusterShow, policy.KindProject); err != nil {
			return View{}, broker.Unrecorded(err)
		}
		return View{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such cluster", Remedy: "list the clusters to see which there are"}
	}
	if err == nil {
		err = o.desk.Read(ctx, p, policy.ClusterShow, broker.InProject(c.Project))
	}
	if err != nil {
		return View{}, err
	}
	var v broker.VIM
	if c.VIM != "" {
		if v, err = o.Broker.VIM(ctx, self(""), c.VIM); err != nil && !errors.Is(err, broker.ErrNotFound) {
			return View{}, err
		}
	}
	shown := view(c, v)
	shown.SameSystem, err = o.rivals(ctx, c)
	shown.SameSystem = slices.DeleteFunc(shown.SameSystem, func(other Cluster) bool {
		return !o.Guard.Allows(p, policy.ClusterShow, broker.InProject(other.Project))
	})
	return shown, err
}

func view(c Cluster, v broker.VIM) View {
	return View{Cluster: c, VIMName: v.Name, CredentialExpiresAt: v.Current.CredentialExpiresAt, Health: v.Health}
}

func (o *Onboarding) vims(ctx context.Context, management string) (map[string]broker.VIM, error) {
	found, err := broker.AllVIMs(ctx, self(""), broker.VIMQuery{Labels: map[string]string{broker.LabelManagement: management}}, o.Broker.VIMs)
	if err != nil {
		return nil, err
	}
	all := make(map[string]broker.VIM, len(found))
	for _, v := range found {
		all[v.ID] = v
	}
	return all, nil
}

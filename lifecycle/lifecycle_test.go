package lifecycle_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/outcome"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	alice = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	rita  = policy.Principal{Name: "rita", Project: "core", Roles: []string{policy.RoleReader}}
	carol = policy.Principal{Name: "carol", Project: "ran", Roles: []string{policy.RoleMember}}
)

// plant is everything around the engine: a real store and real policies; a yard in place of a
// VIM, and of the broker and the catalogue what the engine asks them.
type plant struct {
	*lifecycle.Lifecycle
	t     *testing.T
	store *sqlite.Store
	clock *clock.Clock
	yard  *yard
	lends *lends
	// dir is where the database is.
	dir string
}

func newPlant(t *testing.T, change ...func(*lifecycle.Terms)) *plant {
	t.Helper()
	return newPlantWith(t, func(o *lifecycle.Options, _ *yard) {
		for _, c := range change {
			c(&o.Terms)
		}
	})
}

func newPlantWith(t *testing.T, change func(*lifecycle.Options, *yard)) *plant {
	t.Helper()
	p := &plant{t: t, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), yard: &yard{objects: map[string]int32{}}, dir: t.TempDir()}
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(p.dir, "vimbroker.db"), Now: p.clock.Now, Log: testlog.Silent(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	p.store = store
	for _, id := range []string{"web-1", "web-2"} { // those of the shelf
		made := catalog.Package{ID: id, Project: "core", State: catalog.Created, CreatedAt: p.clock.Now()}
		if err := store.CreatePackage(t.Context(), made, 0, audit.Entry{Time: p.clock.Now(), Action: policy.PackageCreate, Outcome: audit.Done}); err != nil {
			t.Fatal(err)
		}
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.lends = &lends{now: p.clock.Now, live: map[string]broker.LeaseRequest{}, vims: store}
	for _, id := range []string{"edge", "far", "cloud"} {
		if err := p.lends.keep(broker.VIM{ID: id, Name: id, Type: "kubernetes", Project: "core"}); err != nil {
			t.Fatal(err)
		}
	}
	p.yard.lends = p.lends
	terms := lifecycle.DefaultTerms()
	terms.LookEvery, terms.Learning = time.Millisecond, 0
	o := lifecycle.Options{
		Store: store, Leaser: p.lends, Registrar: registry{p.lends}, Packages: shelf{}, Drivers: []lifecycle.Driver{p.yard},
		Guard:     &audit.Guard{Policy: policies, Sink: store, Now: p.clock.Now, Reads: audit.NewReads()},
		Delegates: &policy.Delegates{Now: p.clock.Now}, Egress: func(string) *egress.Rules { return nil },
		Terms: terms, Log: testlog.Silent(t), Now: p.clock.Now,
	}
	if !strings.HasPrefix(t.Name(), "TestSweep") { // which makes hundreds
		p.observed(&o)
	}
	change(&o, p.yard)
	p.Lifecycle = lifecycle.New(o)
	return p
}

// observed has all that comes out compared with the outcome that the test had before.
func (p *plant) observed(o *lifecycle.Options) {
	p.t.Helper()
	ear := subscription.Subscription{ID: "ear", Project: "core", Callback: "https://ear.example.org", CreatedAt: p.clock.Now()}
	ear.State = keyring.Active
	if err := p.store.CreateSubscription(p.t.Context(), ear, 0, audit.Entry{Time: p.clock.Now(), Action: policy.SubscriptionCreate, Outcome: audit.Done}); err != nil {
		p.t.Fatal(err)
	}
	p.lends.out = outcome.Of(p.t, p.clock.Now(), p.stand)
	o.Log = testlog.To(p.t, p.lends.out.Log())
}

// stand notes what stands at the end.
func (p *plant) stand(out *outcome.Outcome) {
	ctx, all := context.Background(), broker.Page{Size: broker.MaxPage}
	entries, _ := p.store.Entries(ctx, audit.Query{Limit: 1000})
	for _, e := range slices.Backward(entries) {
		if e.Principal != "" { // or it is the bench's own
			e.Seq, e.Kind = 0, ""
			maps.DeleteFunc(e.Detail, func(k, _ string) bool { return k == "authenticator" || k == "policy" || k == "warrant" })
			out.Note("entry", e)
		}
	}
	events, _ := p.store.Notifications(ctx, "ear", 1000)
	for _, n := range events {
		n.Event.ID = ""
		out.Note("told", n.Event)
	}
	operations, _, _ := p.store.Operations(ctx, lifecycle.OperationFilter{Page: all})
	for n := range operations {
		operations[n].Revision = 0 // which counts looks
		operations[n].Asker = policy.Delegation{Name: operations[n].Asker.Name, At: operations[n].Asker.At}
	}
	outcome.Rows(out, "operation", operations)
	instances, _, _ := p.store.Instances(ctx, lifecycle.InstanceFilter{Page: all})
	outcome.Rows(out, "instance", instances)
	out.Note("objects", p.yard.standing())
}

// made makes an instance.
func (p *plant) made() lifecycle.Instance {
	p.t.Helper()
	i, err := p.CreateInstance(p.t.Context(), alice, lifecycle.NewInstance{VNFDID: "web-1", Name: "web"})
	if err != nil {
		p.t.Fatal(err)
	}
	return i
}

// running makes an instance and instantiates it.
func (p *plant) running() lifecycle.Instance {
	p.t.Helper()
	i := p.made()
	o, err := p.Instantiate(p.t.Context(), alice, i.ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge"})
	p.completes(o, err)
	return p.instance(i.ID)
}

func (p *plant) instance(id string) lifecycle.Instance {
	p.t.Helper()
	i, err := p.Instance(p.t.Context(), alice, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return i
}

// work works an operation once.
func (p *plant) work(o lifecycle.Operation, err error) (lifecycle.Operation, error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	did := p.Work(p.t.Context(), o.ID)
	p.lends.out.Note("worked", did)
	o, err = p.Operation(p.t.Context(), alice, o.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	if n := p.lends.count(); n != 0 {
		p.t.Errorf("%d leases are live after %s of %s", n, o.State, o.Type)
	}
	return o, did
}

func (p *plant) ends(want lifecycle.OperationState, o lifecycle.Operation, err error) lifecycle.Operation {
	p.t.Helper()
	o, err = p.work(o, err)
	if err != nil || o.State != want {
		p.t.Fatalf("%s ended %s (%+v, error %v), want %s", o.Type, o.State, o.Failure, err, want)
	}
	return o
}

func (p *plant) completes(o lifecycle.Operation, err error) lifecycle.Operation {
	p.t.Helper()
	return p.ends(lifecycle.Completed, o, err)
}

func wantKind(t *testing.T, err, kind error) {
	t.Helper()
	outcome.Last(t).Note("answer", err)
	if !errors.Is(err, kind) {
		t.Errorf("error is %v, want %v", err, kind)
	}
}

// shelf has two packages: web-1, and web-2 with another object.
type shelf struct{}

func (shelf) Use(_ context.Context, _ policy.Principal, vnfdID string) (lifecycle.PackageView, error) {
	return shelf{}.Held(context.Background(), vnfdID)
}

func (shelf) Held(_ context.Context, id string) (lifecycle.PackageView, error) {
	if id != "web-1" && id != "web-2" {
		return lifecycle.PackageView{}, &broker.Error{Kind: broker.ErrNotFound, Field: "vnfdId", Detail: "no such package"}
	}
	of := map[string][]string{"web-1": {"front", "old"}, "web-2": {"front", "new"}}[id]
	return lifecycle.PackageView{ID: id, Product: lifecycle.Product{VNFDID: id}, Paths: of, Read: read, VNFD: vnfpkg.VNFD{ID: id, Flavours: map[string]vnfpkg.Flavour{"simple": {
		ID: "simple", VDUs: map[string]vnfpkg.VDU{"Front": {ID: "Front", Name: "front", Min: 1, Max: 3, Initial: 1}},
		Aspects: map[string]vnfpkg.Aspect{"front": {ID: "front", MaxLevel: 3, Deltas: map[string]int{"Front": 1}}},
	}}}}, nil
}

// read has files that hold their own names.
func read(paths []string) ([]lifecycle.Manifest, error) {
	var all []lifecycle.Manifest
	for _, name := range paths {
		all = append(all, lifecycle.Manifest{Path: name, Text: secret.NewText(name)})
	}
	return all, nil
}

// lends is the broker, as far as the engine knows it.
type lends struct {
	weighed []string // the VIMs of leases that were weighed
	out     *outcome.Outcome
	now     func() time.Time
	mu      sync.Mutex
	live    map[string]broker.LeaseRequest
	vims    broker.VIMStore
	asked   []broker.LeaseRequest
	refusal error
	// most is how many leases live at a time; 0 is no bound.
	most int
	// lives is how long leases live, if not as long as was asked for; passes: they hand out what is stored.
	lives  time.Duration
	passes bool
	// renewed counts the leases that were renewed; final: none can be.
	renewed int
	final   bool
	// identities are what VIMs say that they are; without one a VIM says its name.
	identities map[string]string
	// gone is a namespace that the VIM has no more, or if goneOn names one that VIM alone.
	gone, goneOn string
	// systemGone: the VIM's cluster is gone.
	systemGone bool
	// stuck is what ending leases fails with.
	stuck error
	// brought are the VIMs that came with requests, and changes how they were changed; unreachable: they do not answer.
	brought     []broker.VIM
	changes     []broker.Change
	unreachable error
	// bringing and changing are called as a VIM is registered and changed, finding as one is looked up.
	bringing, finding func()
	changing          func() error
}

// keep stores a VIM, for instances to stand on.
func (l *lends) keep(v broker.VIM) error {
	v.State = broker.VIMRegistered
	return l.vims.CreateVIM(context.Background(), v, 0, audit.Entry{Time: l.now(), Action: policy.VIMRegister, Outcome: audit.Done})
}

func (l *lends) VIM(_ context.Context, _ policy.Principal, ref string) (broker.VIM, error) {
	if l.finding != nil {
		l.finding()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.brought {
		if v.ID == ref {
			return v, nil
		}
	}
	if ref == "cloud" {
		return broker.VIM{ID: ref, Name: ref, Type: "openstack", Project: "core"}, nil
	}
	if ref != "edge" && ref != "far" {
		return broker.VIM{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM"}
	}
	v := broker.VIM{ID: ref, Name: ref, Type: "kubernetes", Project: "core"}
	if l.systemGone {
		v.Labels = map[string]string{broker.LabelGone: "true"}
	}
	v.Current.Identity = cmp.Or(l.identities[ref], ref)
	return v, nil
}

func (l *lends) IssueShared(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return l.IssueLease(ctx, p, r)
}

func (l *lends) IssueLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, r)
	noted := r
	noted.Rules = nil
	l.out.Note("lease", p.Name, p.Actor, verbs(r), noted)
	if p.Name == "system:drift" {
		if p.Project != "core" || !slices.Equal(p.Roles, []string{policy.RoleSystem}) || r.Purpose != "drift" || r.TTL > 10*time.Minute || r.Operation == "" {
			return broker.Lease{}, clientconfig.Config{}, fmt.Errorf("%+v looks with %+v", p, r)
		}
	} else if p.Actor != lifecycle.Actor && !slices.Equal(r.Rules[0].Verbs, []string{"survey"}) {
		return broker.Lease{}, clientconfig.Config{}, fmt.Errorf("%s acts for %s", p.Actor, p.Name)
	}
	if slices.ContainsFunc(r.Namespaces, func(n string) bool { return n == l.gone }) && l.gone != "" && (l.goneOn == "" || l.goneOn == r.VIM) {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrInvalid, Detail: "no such namespace", Cause: &broker.MissingNamespace{Name: l.gone}}
	}
	if l.refusal != nil && !slices.Equal(r.Rules[0].Verbs, []string{"survey"}) {
		return broker.Lease{}, clientconfig.Config{}, l.refusal
	}
	if l.most > 0 && len(l.live) >= l.most {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrQuota, Detail: "as many leases as there may be"}
	}
	id := uuid.NewString()
	l.live[id] = r
	return broker.Lease{ID: id, Derived: !l.passes, ExpiresAt: l.now().Add(cmp.Or(l.lives, r.TTL))}, clientconfig.Config{Lease: id}, nil
}

func verbs(r broker.LeaseRequest) (all []string) {
	for _, one := range r.Rules {
		all = append(all, one.Verbs...)
	}
	return all
}

func (l *lends) RenewLease(_ context.Context, p policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Note("renewed", p.Name, p.Actor, ttl)
	if _, live := l.live[id]; !live || l.final {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrConflict, Detail: "the lease has ended"}
	}
	if p.Actor != lifecycle.Actor {
		return broker.Lease{}, clientconfig.Config{}, fmt.Errorf("%s renews for %s", p.Actor, p.Name)
	}
	l.renewed++
	return broker.Lease{ID: id, Derived: true, ExpiresAt: l.now().Add(cmp.Or(l.lives, ttl))}, clientconfig.Config{Lease: id}, nil
}

func (l *lends) WeighLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, error) {
	l.weighed = append(l.weighed, r.VIM)
	if l.refusal != nil {
		return broker.Lease{}, l.refusal
	}
	return broker.Lease{Grade: broker.GradeNamespaces}, nil
}

func (l *lends) Ended(_ context.Context, lease string) (bool, broker.Reason, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, live := l.live[lease]
	return !live, broker.ReasonRequested, nil
}

func (l *lends) EndOperation(ctx context.Context, operation string, but ...string) error {
	if err := cmp.Or(ctx.Err(), l.stuck); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var ended []string
	for id, r := range l.live {
		if r.Operation == operation && !slices.Contains(but, id) {
			ended = append(ended, fmt.Sprint(r.VIM, verbs(r)))
			delete(l.live, id)
		}
	}
	if slices.Sort(ended); len(ended) > 0 {
		l.out.Note("ends", operation, ended)
	}
	return nil
}

func (l *lends) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.live)
}

func (l *lends) allows(lease, verb string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, live := l.live[lease]
	return live && slices.Contains(r.Rules[0].Verbs, verb)
}

// yard is a VIM with its driver: objects by name, with a number of replicas.
type yard struct {
	lends *lends
	mu    sync.Mutex
	// objects that stand.
	objects map[string]int32
	// before is called before each wave, with the number of waves so far; its error is the wave's.
	before func(ctx context.Context, wave int) error
	facts  lifecycle.Facts
	waves  int
	// entering is called first, with the instance.
	entering func(ctx context.Context, instance string)
	// changed are objects that somebody else has changed; looking is called before each look.
	changed map[string]string
	looking func(instance string) error
	looks   []string
	// gone are the namespaces that the last termination was told to be gone.
	gone []string
	// planning is called before each plan, and more are objects that it has besides.
	planning func()
	more     []lifecycle.Manifest
}

func (y *yard) Name() string { return "yard" }

func (y *yard) VIMType() broker.VIMType { return "kubernetes" }

// Basis takes what a request names, or everything; nothing whose name begins with "BaseHOT/".
func (y *yard) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	b := lifecycle.Basis{Files: s.Named, Namespace: cmp.Or(s.Namespace, "default")}
	if b.Files == nil {
		b.Files = s.Paths
	}
	if slices.ContainsFunc(b.Files, func(f string) bool { return strings.HasPrefix(f, "BaseHOT/") }) {
		return b, broker.Invalid("additionalParams", "no yard is made of %v", b.Files)
	}
	return b, nil
}

func grant(verb string) lifecycle.StageRules {
	return lifecycle.StageRules{Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"things"}, Verbs: []string{verb}}}, Namespaces: []string{"default"}}
}

func (y *yard) Survey(in lifecycle.PlanInput) lifecycle.StageRules {
	g := grant("survey")
	if len(in.Gone) > 0 {
		g.Namespaces, g.ClusterWide = nil, true
	}
	return g
}

func (y *yard) Plan(_ context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	noted := in
	noted.Flavour = vnfpkg.Flavour{ID: in.Flavour.ID}
	noted.Manifests = nil
	for _, m := range in.Manifests {
		noted.Manifests = append(noted.Manifests, lifecycle.Manifest{Path: m.Path})
	}
	y.lends.out.Note("plan", noted)
	if in.Observing {
		look := lifecycle.Wave{Deed: lifecycle.Look}
		for _, r := range in.Standing {
			look.Objects = append(look.Objects, lifecycle.Object{Resource: r})
		}
		return lifecycle.Plan{Stages: []lifecycle.Stage{{Grant: grant("get"), Waves: []lifecycle.Wave{look}}}}, nil
	}
	if !y.lends.allows(c.Config.Lease, "survey") {
		return lifecycle.Plan{}, &broker.Error{Kind: broker.ErrForbidden}
	}
	if y.planning != nil {
		y.planning()
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	p := lifecycle.Plan{Facts: y.facts}
	stage := func(d lifecycle.Deed, objects ...lifecycle.Object) {
		if len(objects) > 0 {
			p.Stages = append(p.Stages, lifecycle.Stage{Grant: grant(string(d)), Waves: []lifecycle.Wave{{Deed: d, Objects: objects}}})
		}
	}
	switch in.Operation {
	case lifecycle.Terminate:
		y.gone = in.Gone
		for _, r := range slices.Backward(in.Standing) {
			if slices.Contains(in.Gone, r.Namespace) {
				continue
			}
			stage(lifecycle.Delete, lifecycle.Object{Resource: r})
		}
		return p, nil
	case lifecycle.ScaleVNF:
		p.Resources = in.Standing
		for _, r := range in.Standing {
			if slices.Contains(in.Scaled, r.VDU) {
				stage(lifecycle.Scale, lifecycle.Object{Resource: r, Replicas: in.Replicas[r.VDU]})
			}
		}
		return p, nil
	}
	named := map[string]bool{}
	for n, m := range slices.Concat(in.Manifests, y.more) {
		r := lifecycle.Resource{Version: "v1", Kind: "Thing", Plural: "things", Namespace: in.Namespace, Name: m.Path, Wave: n}
		if _, ok := in.Replicas[m.Path]; ok {
			r.VDU = m.Path
		}
		named[r.Name] = true
		p.Resources = append(p.Resources, r)
		stage(lifecycle.Apply, lifecycle.Object{Resource: r, Manifest: m.Text, Replicas: in.Replicas[m.Path]})
	}
	for _, r := range in.Standing {
		if !named[r.Name] {
			stage(lifecycle.Delete, lifecycle.Object{Resource: r})
		}
	}
	if len(in.VNFCs) > 0 {
		p.Stages = append(p.Stages, lifecycle.Stage{Grant: grant("replace"), Waves: []lifecycle.Wave{{Deed: lifecycle.Replace, VNFCs: in.VNFCs}}})
	}
	return p, nil
}

func (y *yard) Run(ctx context.Context, c lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation)) error {
	if y.entering != nil {
		y.entering(ctx, instance)
	}
	if !y.lends.allows(c.Config.Lease, string(w.Deed)) {
		return &broker.Error{Kind: broker.ErrForbidden, Detail: "the lease does not allow to " + string(w.Deed)}
	}
	y.lends.out.Note("wave", instance, w)
	y.mu.Lock()
	n, before := y.waves, y.before
	y.waves++
	y.mu.Unlock()
	if before != nil {
		if err := before(ctx, n); err != nil {
			return err
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, o := range w.Objects {
		if w.Deed == lifecycle.Delete {
			delete(y.objects, o.Name)
			progress(lifecycle.Observation{Resource: o.Resource})
			continue
		}
		y.objects[o.Name] = o.Replicas
		seen := lifecycle.Observation{Resource: o.Resource, Standing: true, Ready: true}
		seen.Applied, seen.UID = "mark", "uid-of-"+o.Name
		for i := range o.Replicas {
			seen.VNFCs = append(seen.VNFCs, lifecycle.VNFC{VDU: o.VDU, Kind: "Pod", Namespace: o.Namespace, Name: fmt.Sprintf("%s-%d", o.Name, i)})
		}
		progress(seen)
	}
	return nil
}

func (y *yard) Observe(_ context.Context, c lifecycle.Connection, instance string, all []lifecycle.Resource) ([]lifecycle.Observation, error) {
	if !y.lends.allows(c.Config.Lease, "get") {
		return nil, &broker.Error{Kind: broker.ErrForbidden, Detail: "the lease does not allow to look"}
	}
	y.mu.Lock()
	y.looks = append(y.looks, instance)
	y.lends.out.Note("look", instance, all)
	looking := y.looking
	y.mu.Unlock()
	if looking != nil {
		if err := looking(instance); err != nil {
			return nil, err
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	out := make([]lifecycle.Observation, len(all))
	for n, r := range all {
		_, standing := y.objects[r.Name]
		out[n] = lifecycle.Observation{Resource: r, Standing: standing, Ready: standing}
		if who := y.changed[r.Name]; standing && who != "" {
			out[n].ChangedBy = []string{who}
		}
		if !standing {
			out[n].Message = "is missing"
		}
	}
	return out, nil
}

func (y *yard) standing() map[string]int32 {
	y.mu.Lock()
	defer y.mu.Unlock()
	out := map[string]int32{}
	for name, n := range y.objects {
		out[name] = n
	}
	return out
}

func (p *plant) entries() []audit.Entry {
	p.t.Helper()
	all, err := p.store.Entries(p.t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

package bundle_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	alice = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	rita  = policy.Principal{Name: "rita", Project: "core", Roles: []string{policy.RoleReader}}
	bob   = policy.Principal{Name: "bob", Project: "ran", Roles: []string{policy.RoleMember}}
)

// bench is ONAP's model on a real store, broker, catalogue and engine. The clusters of regions are fakes at the network; what
// makes resources, and who is told of them, are fakes in the process.
type bench struct {
	*bundle.Bundles
	t      *testing.T
	store  *store
	clock  *clock.Clock
	broker *broker.Broker
	life   *lifecycle.Lifecycle
	yard   *yard
	ear    *ear
	log    *fake.Buffer
	// idle: operations that were begun are not worked.
	idle atomic.Bool
	// one works at a time.
	one sync.Mutex
}

func newBench(t *testing.T, change ...func(*bundle.Options)) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, clock: clock.New(time.Now().UTC().Truncate(time.Second)), yard: &yard{}, ear: &ear{}, log: &fake.Buffer{}}
	log := testlog.To(t, slog.NewTextHandler(b.log, nil))
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	file, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "vimbroker.db"), Now: b.clock.Now, Log: log})
	must(err)
	t.Cleanup(func() { file.Close() })
	b.store = &store{Store: file, clock: b.clock, begun: make(chan struct{}, 1), look: b.workAll}
	policies, err := policy.Load(nil)
	must(err)
	dirKeys, err := keydir.Open(filepath.Join(dir, "keys"))
	must(err)
	keys := keyring.Ring{dirKeys}
	rules := egress.Default()
	rules.AllowLoopback = true
	open := func(string) *egress.Rules { return rules }
	terms := broker.DefaultTerms()
	b.broker, err = broker.New(broker.Options{
		Store: b.store, Keys: keys, Policy: policies, Terms: terms, Log: log, Now: b.clock.Now, Egress: open,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Now: b.clock.Now, Log: log})},
	})
	must(err)
	guard := b.broker.Guard()
	packages := catalog.New(catalog.Options{
		Store: b.store, Guard: guard, Terms: catalog.DefaultTerms(), Log: log, Now: b.clock.Now, Egress: open,
	})
	work := lifecycle.DefaultTerms()
	work.Learning = 0
	delegates := &policy.Delegates{Now: b.clock.Now}
	b.life = lifecycle.New(lifecycle.Options{
		Store: b.store, Leaser: lender{b.broker, b.clock.Now}, Registrar: b.broker.Registry, Packages: shelf{packages}, Keys: keys,
		Drivers: []lifecycle.Driver{b.yard}, Guard: guard, Delegates: delegates, Egress: open, Terms: work, Log: log, Now: b.clock.Now,
	})
	o := bundle.Options{
		Store: b.store, Keys: keys, Ledger: b.broker, Packages: packages, Life: b.life, VIMs: b.broker.Registry, Leaser: b.broker.Leaser,
		Guard: guard, Delegates: delegates, Endpoint: b.ear, Egress: open, Wait: 20 * time.Second, Log: log, Now: b.clock.Now,
	}
	for _, c := range change {
		c(&o)
	}
	b.Bundles = bundle.New(o)
	ctx, cancel := context.WithCancel(byWorker(context.WithoutCancel(t.Context())))
	var group sync.WaitGroup
	group.Go(func() { b.work(ctx) })
	t.Cleanup(func() { cancel(); group.Wait() })
	return b
}

// work works operations once they are begun, as a worker of the job queue does.
func (b *bench) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.store.begun:
		}
		if b.idle.Load() {
			continue
		}
		b.workAll(ctx)
	}
}

func (b *bench) workAll(ctx context.Context) {
	b.one.Lock()
	defer b.one.Unlock()
	places, _ := b.store.Places(ctx)
	for _, p := range places {
		_ = b.life.Work(ctx, p.Operation)
	}
}

// byWorker has no call of a store fail.
func byWorker(ctx context.Context) context.Context { return context.WithValue(ctx, ofWorker{}, true) }

type ofWorker struct{}

// rest has operations that are begun wait until the worker is woken.
func (b *bench) rest() { b.idle.Store(true) }

// region registers a VIM on a cluster of its own.
func (b *bench) region(name string) broker.VIM {
	b.t.Helper()
	kube := fakekube.New(b.t, fakekube.Options{Now: b.clock.Now})
	v, err := b.broker.RegisterVIM(b.t.Context(), alice, broker.Registration{Name: name, Type: "kubernetes", Kubeconfig: secret.NewText(kube.Kubeconfig())})
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// define makes definition rb/1 with a chart that has a file for each object, and a profile p.
func (b *bench) define(objects ...string) {
	b.t.Helper()
	b.defined("1", objects...)
}

func (b *bench) defined(version string, objects ...string) {
	b.t.Helper()
	b.ok(b.Create(b.t.Context(), alice, bundle.Definition{Name: "rb", Version: version}))
	b.ok(b.Create(b.t.Context(), alice, bundle.Profile{Definition: "rb", Version: version, Name: "p", Release: "rel", Namespace: "default"}))
	b.ok(b.Upload(b.t.Context(), alice, bundle.OfDefinition, "rb/"+version, chart("web", objects...)))
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// asked is what most tests ask for.
var asked = bundle.Request{Definition: "rb", Version: "1", Profile: "p", Region: "edge"}

// made makes an instance in region edge.
func (b *bench) made(r bundle.Request) bundle.Instance {
	b.t.Helper()
	i, err := b.CreateInstance(b.t.Context(), alice, r)
	b.ok(err)
	return i
}

// chart is the archive of a chart that has a file for each object.
func chart(name string, objects ...string) []byte {
	files := []string{name + "/Chart.yaml", "name: " + name + "\nversion: 1.0.0\n"}
	for _, o := range objects {
		files = append(files, name+"/templates/"+o+".yaml", "kind: ConfigMap\n")
	}
	return archive(files...)
}

// archive is a tar.gz of files, whose names and texts alternate.
func archive(files ...string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for f := range slices.Chunk(files, 2) {
		_ = w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Typeflag: tar.TypeReg})
		_, _ = io.WriteString(w, f[1])
	}
	_ = w.Close()
	_ = zipped.Close()
	return out.Bytes()
}

// wants checks the kind of an error, the field that it names and what its text has.
func wants(t *testing.T, err, kind error, field, text string) {
	t.Helper()
	if kind == nil {
		if err != nil {
			t.Errorf("error is %v, want none", err)
		}
		return
	}
	e, _ := errors.AsType[*broker.Error](err)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) || field != "" && (e == nil || e.Field != field) {
		t.Errorf("error is %+v, want %v of field %q with %q", err, kind, field, text)
	}
}

// row is a row as it is stored.
func (b *bench) row(k bundle.Kind, name string) bundle.Row {
	b.t.Helper()
	r, err := b.store.Store.Bundle(b.t.Context(), "core", k, name)
	b.ok(err)
	return r
}

// gone checks that there is no row of a name.
func (b *bench) gone(k bundle.Kind, name string) {
	b.t.Helper()
	if r, err := b.store.Store.Bundle(b.t.Context(), "core", k, name); !errors.Is(err, broker.ErrNotFound) {
		b.t.Errorf("%s %s is there: %+v, %v", k, name, r, err)
	}
}

// spoil changes the document of a row, as nothing of the broker does.
func (b *bench) spoil(k bundle.Kind, name string, change func(string) string) {
	b.t.Helper()
	_, err := b.store.UpdateBundle(b.t.Context(), b.row(k, name).ID, func(r *bundle.Row) error {
		r.Document = change(r.Document)
		return nil
	}, nil)
	b.ok(err)
}

// entries are the actions recorded from an entry on, each with its outcome.
func (b *bench) entries(action policy.Action) (all []string) {
	b.t.Helper()
	found, err := b.store.Entries(b.t.Context(), audit.Query{Limit: 1000})
	b.ok(err)
	for _, e := range found {
		if e.Action == action {
			all = append(all, string(e.Outcome))
		}
	}
	slices.Reverse(all)
	return all
}

var errDisk = errors.New("the disk is full")

// store is a real one, whose calls can fail.
type store struct {
	*sqlite.Store
	clock *clock.Clock // goes on with each operation: the newest is one of all
	begun chan struct{}
	look  func(context.Context) // works what is begun
	mu    sync.Mutex
	// fails is asked before each call, by the name of its method.
	fails func(ctx context.Context, method string) error
	// before is called before the nth change of a row.
	before func()
	nth    int
}

// failing has the calls of some methods ("A|B") fail, from the nth on, or the -nth alone, until back is called.
func (s *store) failing(methods string, nth int) (back func()) {
	return s.faulty(methods, nth, func(context.Context) error { return errDisk })
}

// hanging has them hang until who called them has no more time, and fail then.
func (s *store) hanging(methods string, nth int) (back func()) {
	return s.faulty(methods, nth, func(ctx context.Context) error {
		<-ctx.Done()
		return errDisk
	})
}

func (s *store) faulty(methods string, nth int, how func(context.Context) error) (back func()) {
	var n atomic.Int64
	return s.asks(func(ctx context.Context, called string) error {
		if !slices.Contains(strings.Split(methods, "|"), called) {
			return nil
		}
		if is := int(n.Add(1)); is == -nth || nth > 0 && is >= nth {
			return how(ctx)
		}
		return nil
	})
}

// asks asks before each call, but for the worker's, whether it fails.
func (s *store) asks(fails func(ctx context.Context, method string) error) (back func()) {
	set := func(f func(context.Context, string) error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fails = f
	}
	set(fails)
	return func() { set(nil) }
}

func (s *store) kick() {
	select {
	case s.begun <- struct{}{}:
	default:
	}
}

func (s *store) fault(ctx context.Context, method string) error {
	s.mu.Lock()
	fails := s.fails
	s.mu.Unlock()
	if fails == nil || ctx.Value(ofWorker{}) != nil {
		return nil
	}
	return fails(ctx, method)
}

func (s *store) BeginOperation(ctx context.Context, o lifecycle.Operation, revision int64, change func(*lifecycle.Instance), e audit.Entry) error {
	if err := s.fault(ctx, "BeginOperation"); err != nil {
		return err
	}
	defer s.kick()
	s.clock.Add(time.Millisecond)
	return s.Store.BeginOperation(ctx, o, revision, change, e)
}

func (s *store) UpdateOperation(
	ctx context.Context, id string, change func(*lifecycle.Operation, *lifecycle.Instance) error, e audit.Entry,
) (lifecycle.Operation, error) {
	if err := s.fault(ctx, "UpdateOperation"); err != nil {
		return lifecycle.Operation{}, err
	}
	defer s.kick()
	return s.Store.UpdateOperation(ctx, id, change, e)
}

func (s *store) DeleteInstance(ctx context.Context, id string, e audit.Entry) error {
	if err := s.fault(ctx, "DeleteInstance"); err != nil {
		return err
	}
	return s.Store.DeleteInstance(ctx, id, e)
}

func (s *store) Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error) {
	if err := s.fault(ctx, "Operations"); err != nil {
		return nil, "", err
	}
	return s.Store.Operations(ctx, f)
}

func (s *store) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	if err := s.fault(ctx, "Instance"); err != nil {
		return lifecycle.Instance{}, err
	}
	return s.Store.Instance(ctx, id)
}

func (s *store) CreateInstance(ctx context.Context, i lifecycle.Instance, most int, e audit.Entry) error {
	if err := s.fault(ctx, "CreateInstance"); err != nil {
		return err
	}
	return s.Store.CreateInstance(ctx, i, most, e)
}

func (s *store) Append(ctx context.Context, e audit.Entry) error {
	if err := s.fault(ctx, "Append"); err != nil {
		return err
	}
	return s.Store.Append(ctx, e)
}

func (s *store) CreateBundles(ctx context.Context, rows []bundle.Row, limit int, e audit.Entry) error {
	if err := s.fault(ctx, "CreateBundles"); err != nil {
		return err
	}
	return s.Store.CreateBundles(ctx, rows, limit, e)
}

func (s *store) Bundle(ctx context.Context, project string, k bundle.Kind, name string) (bundle.Row, error) {
	if err := s.fault(ctx, "Bundle"); err != nil {
		return bundle.Row{}, err
	}
	return s.Store.Bundle(ctx, project, k, name)
}

func (s *store) Bundles(ctx context.Context, f bundle.Filter) ([]bundle.Row, error) {
	if err := s.fault(ctx, "Bundles"); err != nil {
		return nil, err
	}
	return s.Store.Bundles(ctx, f)
}

func (s *store) UpdateBundle(ctx context.Context, id string, change func(*bundle.Row) error, e *audit.Entry) (bundle.Row, error) {
	if err := s.fault(ctx, "UpdateBundle"); err != nil {
		return bundle.Row{}, err
	}
	if before := s.before; before != nil {
		if s.nth--; s.nth <= 0 {
			s.before = nil
			before()
		}
	}
	return s.Store.UpdateBundle(ctx, id, change, e)
}

func (s *store) DeleteBundles(ctx context.Context, ids []string, e audit.Entry) error {
	if err := s.fault(ctx, "DeleteBundles"); err != nil {
		return err
	}
	return s.Store.DeleteBundles(ctx, ids, e)
}

func (s *store) Package(ctx context.Context, id string) (catalog.Package, error) {
	if err := s.fault(ctx, "Package"); err != nil {
		return catalog.Package{}, err
	}
	return s.Store.Package(ctx, id)
}

func (s *store) CreatePackage(ctx context.Context, p catalog.Package, limit int, e audit.Entry) error {
	if err := s.fault(ctx, "CreatePackage"); err != nil {
		return err
	}
	return s.Store.CreatePackage(ctx, p, limit, e)
}

func (s *store) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	if err := s.fault(ctx, "UpdatePackage"); err != nil {
		return catalog.Package{}, err
	}
	return s.Store.UpdatePackage(ctx, id, change, e)
}

func (s *store) DeletePackage(ctx context.Context, id string, e audit.Entry) error {
	if err := s.fault(ctx, "DeletePackage"); err != nil {
		return err
	}
	return s.Store.DeletePackage(ctx, id, e)
}

// lender lends the engine what no cluster has to know.
type lender struct {
	*broker.Broker
	now func() time.Time
}

func (l lender) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	id := uuid.NewString()
	return broker.Lease{ID: id, Derived: true, ExpiresAt: l.now().Add(r.TTL)}, clientconfig.Config{Lease: id}, nil
}

func (l lender) IssueShared(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return l.IssueLease(ctx, p, r)
}

func (lender) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{Grade: broker.GradeNamespaces}, nil
}

func (lender) Ended(context.Context, string) (bool, broker.Reason, error) { return false, "", nil }

func (lender) EndOperation(context.Context, string, ...string) error { return nil }

// shelf is the catalogue as the engine knows it.
type shelf struct{ *catalog.Catalog }

func (s shelf) Use(ctx context.Context, p policy.Principal, vnfdID string) (lifecycle.PackageView, error) {
	o, err := s.Catalog.Use(ctx, p, vnfdID)
	return viewed(o, err)
}

func (s shelf) Held(ctx context.Context, id string) (lifecycle.PackageView, error) {
	o, err := s.Catalog.Held(ctx, id)
	return viewed(o, err)
}

func viewed(o catalog.Opened, err error) (lifecycle.PackageView, error) {
	if err != nil {
		return lifecycle.PackageView{}, err
	}
	return lifecycle.PackageView{
		ID: o.ID, VNFD: o.VNFD, Paths: o.Paths(), Product: lifecycle.Product{VNFDID: o.VNFDID},
		Read: func(paths []string) (all []lifecycle.Manifest, err error) {
			files, err := o.Files(paths)
			for _, f := range files {
				all = append(all, lifecycle.Manifest{Path: f.Path, Text: secret.NewText(string(f.Text))})
			}
			return all, err
		},
	}, nil
}

// yard makes a ConfigMap of each template of a chart.
type yard struct {
	mu sync.Mutex
	// plans are what was planned.
	plans []lifecycle.PlanInput
	// refuses is asked before each operation is planned, breaks before it is run.
	refuses, breaks func(lifecycle.OperationType) error
	// shows are the texts of objects that are read; listed is what was last listed.
	shows  map[string]string
	listed string
}

func (*yard) Name() string { return "yard" }

func (*yard) VIMType() broker.VIMType { return "kubernetes" }

func (*yard) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	return lifecycle.Basis{Files: s.Paths, Namespace: cmp.Or(s.Namespace, "default"), SecretParameters: true}, nil
}

var yardRules = lifecycle.StageRules{
	Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}}, Namespaces: []string{"default"},
}

func (*yard) Survey(lifecycle.PlanInput) lifecycle.StageRules { return yardRules }

func (y *yard) Plan(_ context.Context, _ lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	y.mu.Lock()
	y.plans = append(y.plans, in)
	refuses := y.refuses
	y.mu.Unlock()
	if refuses != nil && !in.Observing && in.Undone == "" {
		if err := refuses(in.Operation); err != nil {
			return lifecycle.Plan{}, err
		}
	}
	wave, p := lifecycle.Wave{Deed: lifecycle.Apply}, lifecycle.Plan{}
	if in.Observing || in.Operation == lifecycle.Terminate {
		wave.Deed = map[bool]lifecycle.Deed{true: lifecycle.Look, false: lifecycle.Delete}[in.Observing]
		for _, r := range in.Standing {
			wave.Objects = append(wave.Objects, lifecycle.Object{Resource: r})
		}
	}
	for _, m := range in.Manifests {
		if name, is := strings.CutSuffix(path.Base(m.Path), ".yaml"); is && strings.Contains(m.Path, "/templates/") {
			r := lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: in.Namespace, Name: name}
			wave.Objects = append(wave.Objects, lifecycle.Object{Resource: r, Manifest: m.Text})
			p.Resources = append(p.Resources, r)
		}
	}
	if in.Tests {
		p.Resources = in.Standing
	}
	p.Stages = []lifecycle.Stage{{Grant: yardRules, Waves: []lifecycle.Wave{wave}}}
	return p, nil
}

func (y *yard) Run(_ context.Context, _ lifecycle.Connection, _ string, w lifecycle.Wave, progress func(lifecycle.Observation)) error {
	y.mu.Lock()
	breaks := y.breaks
	y.mu.Unlock()
	if in := y.planned(); breaks != nil && in.Undone == "" {
		if err := breaks(in.Operation); err != nil {
			for _, o := range w.Objects {
				progress(lifecycle.Observation{Resource: o.Resource, Standing: true})
			}
			return err
		}
	}
	for _, o := range w.Objects {
		there := w.Deed != lifecycle.Delete
		progress(lifecycle.Observation{Resource: o.Resource, Standing: there, Ready: there})
	}
	return nil
}

func (*yard) Observe(_ context.Context, _ lifecycle.Connection, _ string, all []lifecycle.Resource) (seen []lifecycle.Observation, err error) {
	for _, r := range all {
		seen = append(seen, lifecycle.Observation{Resource: r, Standing: true, Ready: true})
	}
	return seen, nil
}

func (*yard) Wanted(version, kind string) (lifecycle.Resource, error) {
	return lifecycle.Resource{Version: version, Kind: kind, Plural: strings.ToLower(kind) + "s"}, nil
}

func (y *yard) Read(_ context.Context, _ lifecycle.Connection, all []lifecycle.Resource) (seen []lifecycle.Showing, err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, r := range all {
		seen = append(seen, lifecycle.Showing{Resource: r, Ready: true, Object: []byte(y.shows[r.Name])})
	}
	return seen, nil
}

func (y *yard) List(_ context.Context, _ lifecycle.Connection, of lifecycle.Resource, selector string, cached bool) ([]lifecycle.Showing, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if cached {
		return nil, nil // the pods of an instance
	}
	y.listed = strings.Join([]string{of.Kind, of.Namespace, of.Name, selector}, " ")
	return []lifecycle.Showing{{Resource: of}}, nil
}

// fails has operations of a type be refused as they are planned, or break as they are run; nil has them succeed again.
func (y *yard) fails(of lifecycle.OperationType, refused, broken error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	only := func(err error) func(lifecycle.OperationType) error {
		return func(o lifecycle.OperationType) error {
			if o == of {
				return err
			}
			return nil
		}
	}
	y.refuses, y.breaks = only(refused), only(broken)
}

// planned is the last plan of an operation that was not to look.
func (y *yard) planned() (last lifecycle.PlanInput) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, in := range y.plans {
		if !in.Observing {
			last = in
		}
	}
	return last
}

// ear is every subscriber.
type ear struct {
	subscription.Endpoint
	mu    sync.Mutex
	heard []string
	deaf  error
}

func (e *ear) Send(_ context.Context, to subscription.Subscriber, body []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, to.Callback+" "+string(body))
	return e.deaf
}

// takes is what was heard since the last time.
func (e *ear) takes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.heard
	e.heard = nil
	return all
}

// same compares what came out with what is wanted, as JSON shows both.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	is, _ := json.Marshal(got)
	should, _ := json.Marshal(want)
	if string(is) != string(should) {
		t.Errorf("%s is\n%s, want\n%s", what, is, should)
	}
}

// act is an entry for what a test writes itself.
func act() audit.Entry {
	return audit.Entry{Action: policy.PackageCreate, Outcome: audit.Done}
}

package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// side is a yard that takes some files of a package, which declares waves for them.
type side struct {
	*yard
	name  string
	on    broker.VIMType
	log   *journal
	takes func(string) bool
	// fault is what all fails with, if anything; failing what waves do.
	mu      sync.Mutex
	fault   error
	failing func(ctx context.Context, w lifecycle.Wave) error
	// taken are the connection points that files take, ports those that pods have on links that span; links are what the last
	// plan knew of.
	taken map[string]bool
	ports []string
	links []lifecycle.Link
}

func (s *side) Networks(lifecycle.Source) (made, taken map[string]bool, err error) {
	return nil, s.taken, nil
}

// journal has what was done, in order.
type journal struct {
	mu  sync.Mutex
	did []string
}

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	did := j.did
	j.did = nil
	return did
}

func (s *side) Name() string            { return s.name }
func (s *side) VIMType() broker.VIMType { return s.on }

func (s *side) Basis(of lifecycle.Source) (b lifecycle.Basis, err error) {
	b.Namespace = of.Namespace
	if s.on == "openstack" && (of.Namespace != "" || len(of.Named) > 0 || of.Ordered) || s.on == "kubernetes" && of.Parameters {
		return b, broker.Invalid("additionalParams", "%s is given what the other side takes: %+v", s.name, of)
	}
	b.Files = slices.DeleteFunc(slices.Clone(of.Paths), func(p string) bool { return !s.takes(p) })
	return b, nil
}

// declaredWaves are those of the package's files.
var declaredWaves = map[string]int{"db": 1, "db2": 1, "BaseHOT/vm": 1, "late": 2, "base": 0, "far/app": 1, "far/late": 2}

func (s *side) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && !in.Observing {
		return lifecycle.Plan{}, fault
	}
	for _, r := range in.Standing {
		if r.Part != "" {
			return lifecycle.Plan{}, fmt.Errorf("%s is told of part %s", s.name, r.Part)
		}
	}
	p, err := s.yard.Plan(ctx, c, in)
	if s.on == "kubernetes" && in.Operation != lifecycle.Terminate && in.Operation != lifecycle.ScaleVNF {
		p.Ports, s.links = map[string][]string{}, in.Links
		for _, k := range in.Links {
			if k.Spans {
				p.Ports[k.ID] = s.ports
			}
		}
	}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			for n := range w.Objects {
				w.Objects[n].Declared = declaredWaves[w.Objects[n].Name]
			}
		}
	}
	for n := range p.Resources {
		p.Resources[n].Declared = declaredWaves[p.Resources[n].Name]
	}
	return p, err
}

func (s *side) Run(ctx context.Context, c lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation)) error {
	s.mu.Lock()
	fault, failing := s.fault, s.failing
	s.mu.Unlock()
	if failing != nil && fault == nil {
		fault = failing(ctx, w)
	}
	if fault != nil {
		return fault
	}
	err := s.yard.Run(ctx, c, instance, w, progress)
	for _, o := range w.Objects {
		s.log.mu.Lock()
		s.log.did = append(s.log.did, string(w.Deed)+" "+o.Name)
		s.log.mu.Unlock()
	}
	return err
}

func (s *side) fails(with error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = with
}

var away = &broker.Error{Kind: broker.ErrUnreachable, Detail: "nobody answers there"}

// bothShelf has a package with files for two sides.
type bothShelf struct{}

func (bothShelf) Use(ctx context.Context, _ policy.Principal, id string) (lifecycle.PackageView, error) {
	return bothShelf{}.Held(ctx, id)
}

func (bothShelf) Held(context.Context, string) (lifecycle.PackageView, error) {
	vdu := func(name string) vnfpkg.VDU { return vnfpkg.VDU{ID: name, Name: name, Min: 1, Max: 3, Initial: 1} }
	aspect := func(name, vdu string) vnfpkg.Aspect {
		return vnfpkg.Aspect{ID: name, MaxLevel: 3, Deltas: map[string]int{vdu: 1}}
	}
	return lifecycle.PackageView{
		ID: "web-1", Product: lifecycle.Product{VNFDID: "web-1"}, Paths: []string{"BaseHOT/vm", "base", "db", "db2", "late"}, Read: read,
		VNFD: vnfpkg.VNFD{ID: "web-1", Flavours: map[string]vnfpkg.Flavour{"simple": {
			ID: "simple", VDUs: map[string]vnfpkg.VDU{"base": vdu("base"), "BaseHOT/vm": vdu("BaseHOT/vm")},
			Aspects: map[string]vnfpkg.Aspect{"base": aspect("base", "base"), "vm": aspect("vm", "BaseHOT/vm")},
		}}},
	}, nil
}

type both struct {
	*plant
	pods, cloud *side
	log         *journal
}

func newBoth(t *testing.T, change ...func(*lifecycle.Options)) *both {
	b := &both{log: &journal{}}
	b.plant = newPlantWith(t, func(o *lifecycle.Options, y *yard) {
		of := func(name string, on broker.VIMType, vms bool) *side {
			return &side{
				yard: &yard{objects: map[string]int32{}, lends: y.lends}, name: name, on: on, log: b.log,
				takes: func(p string) bool { return strings.HasPrefix(p, "BaseHOT/") == vms },
			}
		}
		b.pods, b.cloud = of("pods", "kubernetes", false), of("stack", "openstack", true)
		o.Packages, o.Drivers = bothShelf{}, []lifecycle.Driver{b.pods, b.cloud}
		for _, c := range change {
			c(o)
		}
	})
	b.lends.out.Beside("lease", "ends", "plan", "wave", "look", "log")
	return b
}

var onBoth = lifecycle.Instantiation{
	Flavour: "simple", VIM: "cloud", Connection: "machines", Namespace: "shop", Variables: map[string]string{"A": "b"},
	Parameters: json.RawMessage(`{"VDU":{}}`), More: []lifecycle.Site{{VIM: "edge", Connection: "containers"}},
}

func (b *both) begins() (lifecycle.Instance, lifecycle.Operation) {
	b.t.Helper()
	i := b.made()
	o, err := b.Instantiate(b.t.Context(), alice, i.ID, onBoth)
	if err != nil {
		b.t.Fatal(err)
	}
	return i, o
}

func (b *both) wantStanding(pods, cloud string) {
	b.t.Helper()
	words := func(y *yard) string { return strings.Join(slices.Sorted(maps.Keys(y.standing())), " ") }
	if got := []string{words(b.pods.yard), words(b.cloud.yard)}; !slices.Equal(got, []string{pods, cloud}) {
		b.t.Errorf("there stand %q, want %q and %q", got, pods, cloud)
	}
}

func (b *both) wantDone(want ...string) {
	b.t.Helper()
	if did := b.log.take(); !slices.Equal(did, want) {
		b.t.Errorf("did %q, want %q", did, want)
	}
}

// TestBothSides takes an instance on two VIMs through its life.
func TestBothSides(t *testing.T) {
	b := newBoth(t)
	i, o := b.begins()
	b.completes(o, nil)
	did := b.log.take()
	if n := slices.Index(did, "apply late"); n != 4 || did[0] != "apply base" {
		t.Errorf("did %q, want base before db and the machine, and late after them", did)
	}
	on := map[string]bool{}
	for _, r := range b.lends.asked {
		on[r.VIM+" "+r.Rules[0].Verbs[0]] = true
	}
	if len(on) != 4 || !on["edge apply"] || !on["cloud apply"] {
		t.Errorf("leases were taken for %v, want a survey and the work on each VIM", on)
	}
	i = b.instance(i.ID)
	if s := i.Shape; s.VIM != "edge" || s.Namespace != "shop" || len(s.More) != 1 || s.More[0].VIM != "cloud" || s.More[0].Namespace != "" || s.More[0].Driver != "stack" {
		t.Errorf("the instance is on %+v and %+v", s.Part, s.More)
	}
	parts := map[string]string{}
	for _, r := range i.Shape.Resources {
		parts[r.Name] = r.Part
	}
	if want := map[string]string{"base": "", "db": "", "db2": "", "late": "", "BaseHOT/vm": "machines"}; !maps.Equal(parts, want) {
		t.Errorf("resources are of parts %v, want %v", parts, want)
	}
	vnfcs := map[string]string{}
	for _, v := range i.Shape.VNFCs {
		vnfcs[v.Name] = v.Part
	}
	if want := map[string]string{"base-0": "", "BaseHOT/vm-0": "machines"}; !maps.Equal(vnfcs, want) {
		t.Errorf("VNFCs are of parts %v, want %v", vnfcs, want)
	}
	// What the other part does is no matter to one that has nothing to do with it.
	b.pods.fails(away)
	b.completes(b.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "vm", Steps: 1}))
	b.wantDone("scale BaseHOT/vm")
	b.completes(b.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"BaseHOT/vm-BaseHOT/vm-1"}}))
	b.wantDone("apply BaseHOT/vm")
	b.pods.fails(nil)
	if now := b.instance(i.ID); len(now.Shape.Resources) != 5 || len(now.Shape.VNFCs) != 3 {
		t.Errorf("after scale and heal of one part the instance has %+v and %+v", now.Shape.Resources, now.Shape.VNFCs)
	}
	if now, err := b.Check(t.Context(), alice, i.ID); err != nil || now.Drift.Unseen != "" || now.Drift.Count != 0 || len(b.pods.looks) == 0 || len(b.cloud.looks) == 0 {
		t.Errorf("a look found %+v (%v), want both parts as they are", now.Drift, err)
	}
	b.completes(b.Terminate(t.Context(), alice, i.ID, nil))
	if did := b.log.take(); len(did) != 5 || did[0] != "delete late" || did[4] != "delete base" {
		t.Errorf("did %q, want late first, and base last", did)
	}
	b.wantStanding("", "")
	if now := b.instance(i.ID); now.State != lifecycle.NotInstantiated || len(now.Shape.Parts()) != 0 || len(now.Shape.Resources) != 0 {
		t.Errorf("after the termination the instance is %+v", now)
	}
}

// TestSidesAtOnce has one side's work of a declared wave wait for the other's last stage: the lease of each stays until it is
// done.
func TestSidesAtOnce(t *testing.T) {
	b := newBoth(t)
	met := make(chan string)
	meets := func(ctx context.Context, w lifecycle.Wave) error {
		switch w.Objects[0].Name {
		case "db2":
			select {
			case met <- "db2":
			case <-ctx.Done():
			}
		case "BaseHOT/vm":
			select {
			case <-met:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	b.pods.failing, b.cloud.failing = meets, meets
	_, o := b.begins()
	b.completes(o, nil)
}

// TestSideFails has a wave of one side fail: both are rolled back.
func TestSideFails(t *testing.T) {
	b := newBoth(t)
	b.pods.failing = func(_ context.Context, w lifecycle.Wave) error {
		if w.Deed == lifecycle.Apply && w.Objects[0].Name == "late" {
			return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "late waits for ever"}
		}
		return nil
	}
	i, o := b.begins()
	o = b.ends(lifecycle.FailedTemp, o, nil)
	if want := "part containers on VIM edge: late waits for ever"; o.Failure.Detail != want {
		t.Errorf("the failure is %q, want %q", o.Failure.Detail, want)
	}
	b.wantStanding("base db db2", "BaseHOT/vm")
	b.ends(lifecycle.RolledBack, must(b.Rollback(t.Context(), alice, o.ID)), nil)
	b.wantStanding("", "")
	if now := b.instance(i.ID); now.State != lifecycle.NotInstantiated {
		t.Errorf("after the rollback the instance is %s", now.State)
	}
}

// TestSideAway has a VIM away between two waves, and while the way leads back.
func TestSideAway(t *testing.T) {
	b := newBoth(t)
	b.lends.out.None()
	b.cloud.failing = func(context.Context, lifecycle.Wave) error { return away }
	i, o := b.begins()
	o, err := b.work(o, nil)
	if !errors.Is(err, broker.ErrUnreachable) || o.State != lifecycle.Processing {
		t.Fatalf("with a VIM away the operation is %s, and its work ended with %v", o.State, err)
	}
	b.pods.fails(away) // and then the other, at planning
	if o, err = b.work(o, nil); !errors.Is(err, broker.ErrUnreachable) || o.State != lifecycle.Processing {
		t.Fatalf("with the other VIM away the operation is %s, and its work ended with %v", o.State, err)
	}
	b.pods.fails(nil)
	b.cloud.failing = nil
	b.log.take()
	b.completes(o, nil)
	if did := b.log.take(); slices.Contains(did, "apply base") {
		t.Errorf("did %q, and the first wave was done before", did)
	}

	b.cloud.fails(away)
	o = must(b.Terminate(t.Context(), alice, i.ID, nil))
	if o, err = b.work(o, nil); !errors.Is(err, broker.ErrUnreachable) {
		t.Fatalf("the work ended with %v, want a VIM that does not answer", err)
	}
	b.wantStanding("", "BaseHOT/vm")
	b.clock.Add(lifecycle.DefaultTerms().Patience)
	o = b.ends(lifecycle.FailedTemp, o, nil)
	if want := "part machines on VIM cloud: nobody answers there; part containers on VIM edge is removed"; o.Failure.Detail != want {
		t.Errorf("the failure is %q, want %q", o.Failure.Detail, want)
	}
	b.cloud.fails(nil)
	b.completes(must(b.Retry(t.Context(), alice, o.ID)), nil)
	b.wantStanding("", "")
}

// TestSideAwayOnTheWayBack rolls back what can be, and says so. A wave that fails there is not taken for done.
func TestSideAwayOnTheWayBack(t *testing.T) {
	b := newBoth(t)
	b.pods.failing = func(_ context.Context, w lifecycle.Wave) error {
		if w.Objects[0].Name == "late" && w.Deed == lifecycle.Apply {
			return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "late waits for ever"}
		}
		return nil
	}
	_, o := b.begins()
	o = b.ends(lifecycle.FailedTemp, o, nil)
	b.cloud.failing = func(context.Context, lifecycle.Wave) error { return away } // it can be planned
	o = must(b.Rollback(t.Context(), alice, o.ID))
	o, err := b.work(o, nil)
	if !errors.Is(err, broker.ErrUnreachable) || o.State != lifecycle.RollingBack {
		t.Fatalf("the rollback is %s, and its work ended with %v", o.State, err)
	}
	b.wantStanding("", "BaseHOT/vm")
	b.clock.Add(lifecycle.DefaultTerms().Patience)
	o = b.ends(lifecycle.FailedTemp, o, nil)
	if want := "part machines on VIM cloud: nobody answers there; part containers on VIM edge is rolled back"; o.Failure.Detail != want {
		t.Errorf("the failure is %q, want %q", o.Failure.Detail, want)
	}
	b.cloud.failing = nil
	b.ends(lifecycle.RolledBack, must(b.Rollback(t.Context(), alice, o.ID)), nil)
	b.wantStanding("", "")
}

// TestOneSideTwice refuses an instance on two VIMs of one type, and connections without a name.
func TestOneSideTwice(t *testing.T) {
	b := newBoth(t)
	twice := onBoth
	twice.VIM, twice.Parameters = "far", nil
	_, err := b.Instantiate(t.Context(), alice, b.made().ID, twice)
	wantKind(t, err, broker.ErrUnsupported)
	odd := onBoth
	odd.Connection = "../x"
	_, err = b.Instantiate(t.Context(), alice, b.made().ID, odd)
	wantKind(t, err, broker.ErrInvalid)
}

// TestPreviewOfBothSides has the VIM of each effect, and a lease on each.
func TestPreviewOfBothSides(t *testing.T) {
	b := newBoth(t)
	got, err := b.Preview(t.Context(), alice, b.made().ID, onBoth)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, e := range got.Effects {
		parts[e.Name] = e.Part
	}
	if parts["BaseHOT/vm"] != "machines" || len(parts) != 5 || len(got.Leases) != 5 || len(got.On.Parts()) != 2 {
		t.Errorf("effects are of %v, with %d leases", parts, len(got.Leases))
	}
	for n, stage := range got.Plan.Stages {
		if want := got.On.PartOf(stage.Part).VIM; want == "" || b.lends.weighed[n] != want {
			t.Errorf("the lease of stage %d, of part %q, is weighed on VIM %s, want %s", n, stage.Part, b.lends.weighed[n], want)
		}
	}
}

// TestPolicyDecidesOnEachSide has policies forbid what is planned on one VIM: nothing is made on either.
func TestPolicyDecidesOnEachSide(t *testing.T) {
	for _, vim := range []string{"edge", "cloud"} {
		policies, err := policy.Load(map[string][]byte{"site.cedar": []byte(`@id("not-there")
forbid (principal, action == Action::"vnf:instantiate", resource) when { context.planned && context.vimName == "` + vim + `" };`)})
		if err != nil {
			t.Fatal(err)
		}
		b := newBoth(t, func(o *lifecycle.Options) { o.Guard.Policy = policies })
		i, o := b.begins()
		seen, err := b.Preview(t.Context(), alice, b.made().ID, onBoth)
		if err != nil || seen.Refusal == nil || !strings.Contains(seen.Refusal.Detail, "on VIM "+vim) {
			t.Errorf("a dry run says %+v (%v), want a refusal on VIM %s", seen.Refusal, err, vim)
		}
		o = b.ends(lifecycle.RolledBack, o, nil)
		if !strings.Contains(o.Failure.Detail, "on VIM "+vim) || !strings.Contains(o.Failure.Detail, "not-there") {
			t.Errorf("the refusal is %q", o.Failure.Detail)
		}
		b.wantStanding("", "")
		if now := b.instance(i.ID); now.State != lifecycle.NotInstantiated {
			t.Errorf("the instance is %s", now.State)
		}
	}
}

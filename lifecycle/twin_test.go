package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/outcome"
)

// twins is one driver of two clusters, each a yard of its own. A file PART/NAME is of that part.
type twins struct {
	lifecycle.Driver // of edge

	lends    *lends
	on       map[string]*side
	networks map[string]map[string]bool
	// parts are the inputs of the last plans, by VIM.
	parts map[string]lifecycle.PlanInput
}

func partOf(file string) string {
	part, _, named := strings.Cut(file, "/")
	if !named {
		return ""
	}
	return part
}

func (w *twins) at(c lifecycle.Connection) (string, *side) {
	w.lends.mu.Lock()
	defer w.lends.mu.Unlock()
	vim := w.lends.live[c.Config.Lease].VIM
	return vim, w.on[vim]
}

func (w *twins) Basis(of lifecycle.Source) (b lifecycle.Basis, err error) {
	if of.Parameters {
		return b, broker.Invalid("additionalParams", "is given parameters")
	}
	return lifecycle.Basis{Namespace: of.Namespace, Files: of.Paths}, nil
}

func (w *twins) Divide(s lifecycle.Source) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	for _, path := range s.Paths {
		all[partOf(path)] = maps.Clone(w.networks[partOf(path)])
		if all[partOf(path)] == nil {
			all[partOf(path)] = map[string]bool{}
		}
	}
	return all, nil
}

func (w *twins) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	if in.Observing {
		return w.on["edge"].Plan(ctx, c, in)
	}
	vim, at := w.at(c)
	w.lends.mu.Lock()
	w.parts[vim] = in
	w.lends.mu.Unlock()
	in.Manifests = slices.DeleteFunc(slices.Clone(in.Manifests), func(m lifecycle.Manifest) bool {
		part, known := in.Parts[partOf(m.Path)]
		return part != in.Part || !known && partOf(m.Path) != ""
	})
	return at.Plan(ctx, c, in)
}

func (w *twins) Run(ctx context.Context, c lifecycle.Connection, instance string, wave lifecycle.Wave, progress func(lifecycle.Observation)) error {
	_, at := w.at(c)
	return at.Run(ctx, c, instance, wave, progress)
}

func (w *twins) Observe(ctx context.Context, c lifecycle.Connection, instance string, all []lifecycle.Resource) ([]lifecycle.Observation, error) {
	_, at := w.at(c)
	return at.Observe(ctx, c, instance, all)
}

// twins show objects.
var _ lifecycle.Reader = (*twins)(nil)

func (w *twins) Wanted(string, string) (r lifecycle.Resource, err error) { return r, nil }

func (w *twins) Read(_ context.Context, _ lifecycle.Connection, resources []lifecycle.Resource) (all []lifecycle.Showing, err error) {
	for _, r := range resources {
		all = append(all, lifecycle.Showing{Resource: r})
	}
	return all, nil
}

func (w *twins) List(_ context.Context, c lifecycle.Connection, _ lifecycle.Resource, _ string, _ bool) ([]lifecycle.Showing, error) {
	vim, _ := w.at(c)
	return []lifecycle.Showing{{Resource: lifecycle.Resource{Kind: "Pod", Name: "pod of " + vim}}}, nil
}

// pairShelf has a package of manifests for two clusters.
type pairShelf struct{ paths *[]string }

func (s pairShelf) Use(ctx context.Context, _ policy.Principal, id string) (lifecycle.PackageView, error) {
	return s.Held(ctx, id)
}

func (s pairShelf) Held(ctx context.Context, id string) (lifecycle.PackageView, error) {
	v, err := bothShelf{}.Held(ctx, id)
	f := v.VNFD.Flavours["simple"]
	f.Networks = []string{"VduCp NEAR_CP", "VduCp FAR_CP", "VduCp EACH_CP"}
	f.VDUs["far/app"] = vnfpkg.VDU{ID: "far/app", Name: "far/app", Min: 1, Max: 3, Initial: 1}
	f.Aspects["app"] = vnfpkg.Aspect{ID: "app", MaxLevel: 3, Deltas: map[string]int{"far/app": 1}}
	v.VNFD.Flavours["simple"] = f
	v.Paths = *s.paths
	return v, err
}

type pair struct {
	*both
	far   *side
	twins *twins
	paths []string
}

func newPair(t *testing.T, change ...func(*lifecycle.Options)) *pair {
	p := &pair{paths: []string{"base", "db", "far/app", "far/late"}}
	p.both = newBoth(t, func(o *lifecycle.Options) {
		edge := o.Drivers[0].(*side)
		p.far = &side{yard: &yard{objects: map[string]int32{}, lends: edge.lends}, name: edge.name, on: edge.on, log: edge.log}
		p.twins = &twins{
			Driver: edge, lends: edge.lends, on: map[string]*side{"edge": edge, "far": p.far}, parts: map[string]lifecycle.PlanInput{},
			networks: map[string]map[string]bool{},
		}
		o.Packages, o.Drivers[0] = pairShelf{&p.paths}, p.twins
		for _, c := range change {
			c(o)
		}
	})
	return p
}

var onPair = lifecycle.Instantiation{
	Flavour: "simple", VIM: "far", Connection: "far", Namespace: "shop", Variables: map[string]string{"A": "b"},
	More: []lifecycle.Site{{VIM: "edge", Connection: "near"}},
}

func (p *pair) begins() (lifecycle.Instance, lifecycle.Operation) {
	p.t.Helper()
	i := p.made()
	return i, must(p.Instantiate(p.t.Context(), alice, i.ID, onPair))
}

func (p *pair) wantStanding(near, far string) {
	p.t.Helper()
	for y, want := range map[*yard]string{p.pods.yard: near, p.far.yard: far} {
		if got := strings.Join(slices.Sorted(maps.Keys(y.standing())), " "); got != want {
			p.t.Errorf("there stand %q, want %q", got, want)
		}
	}
}

// TestTwoClusters takes an instance on two clusters through its life. The first part is that which no object names.
func TestTwoClusters(t *testing.T) {
	p := newPair(t)
	i, o := p.begins()
	p.completes(o, nil)
	p.wantStanding("base db", "far/app far/late")
	if did := p.log.take(); len(did) != 4 || did[0] != "apply base" || did[3] != "apply far/late" {
		t.Errorf("did %q, want base before db and the other cluster's app, and its last object after them", did)
	}
	i = p.instance(i.ID)
	s := i.Shape
	if s.VIM != "edge" || s.Connection != "near" || s.Name != "" || len(s.More) != 1 || s.More[0].VIM != "far" || s.More[0].Name != "far" || s.More[0].Namespace != "shop" {
		t.Errorf("the instance is on %+v and %+v", s.Part, s.More)
	}
	parts := map[string]string{}
	for _, r := range s.Resources {
		parts[r.Name] = r.Part
	}
	if want := map[string]string{"base": "", "db": "", "far/app": "far", "far/late": "far"}; !maps.Equal(parts, want) {
		t.Errorf("resources are of parts %v, want %v", parts, want)
	}
	for vim, in := range p.twins.parts {
		if in.Variables["A"] != "b" || in.Namespace != "shop" {
			t.Errorf("%s is planned with %+v", vim, in)
		}
	}
	p.pods.fails(away) // which is no matter to the other
	p.completes(p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "app", Steps: 1}))
	p.wantDone("scale far/app")
	p.completes(p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"far/app-far/app-1"}}))
	p.pods.fails(nil)
	if did := p.log.take(); slices.Contains(did, "apply base") || !slices.Contains(did, "apply far/app") {
		t.Errorf("healing a pod of one cluster did %q", did)
	}
	p.completes(p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"}))
	p.wantStanding("base db", "far/app far/late")
	p.log.take()
	if now, err := p.Check(t.Context(), alice, i.ID); err != nil || now.Drift.Unseen != "" || now.Drift.Count != 0 || len(p.far.looks) == 0 || len(p.pods.looks) == 0 {
		t.Errorf("a look found %+v (%v), want both parts as they are", now.Drift, err)
	}
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if did := p.log.take(); len(did) != 4 || did[0] != "delete far/late" || did[3] != "delete base" {
		t.Errorf("did %q, want the last first, and base last", did)
	}
	p.wantStanding("", "")
}

// Whoever inspects the instance sees the pods of both clusters.
func TestInspectTwoClusters(t *testing.T) {
	p := newPair(t)
	r := onPair
	r.Namespace = "default" // as in the leases' rules
	i := p.made()
	p.completes(must(p.Instantiate(t.Context(), alice, i.ID, r)), nil)
	seen, err := p.Inspect(t.Context(), alice, i.ID)
	var names []string
	for _, one := range seen {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	if want := []string{"base", "db", "far/app", "far/late", "pod of edge", "pod of far"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("there is shown %q (%v), want %q", names, err, want)
	}
}

// A part moves to another registration of its cluster, by its key, and to none of the other's; what is let go of is left on each.
func TestMoveAPart(t *testing.T) {
	p := newPair(t)
	again := broker.VIM{ID: "far-2", Name: "far-2", Type: "kubernetes", Project: "core"}
	again.Current.Identity = "far"
	if err := p.lends.keep(again); err != nil {
		t.Fatal(err)
	}
	p.lends.brought, p.twins.on["far-2"] = []broker.VIM{again}, p.far
	i, o := p.begins()
	p.completes(o, nil)
	for key, kind := range outcome.Sorted(map[string]error{"near": broker.ErrConflict, "other": broker.ErrInvalid}) {
		_, err := p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{VIM: "far-2", Connection: key})
		wantKind(t, err, kind)
	}
	must(p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{VIM: "far-2", Connection: "far"}))
	if s := p.instance(i.ID).Shape; s.VIM != "edge" || s.More[0].VIM != "far-2" || s.More[0].Name != "far" {
		t.Errorf("moved the instance is on %+v and %+v", s.Part, s.More)
	}
	p.lends.asked = nil
	p.completes(p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "app", Steps: 1}))
	if slices.ContainsFunc(p.lends.asked, func(r broker.LeaseRequest) bool { return r.VIM != "far-2" }) {
		t.Errorf("scaled there, leases are taken for %+v", p.lends.asked)
	}
	must(p.Forget(t.Context(), ada, i.ID))
	if !slices.ContainsFunc(p.entries(), func(e audit.Entry) bool {
		return e.Detail[audit.DetailLeft] == "2 objects on VIM edge (edge), 2 objects on VIM far-2 (far-2)"
	}) {
		t.Error("no record says what is left on each cluster")
	}
	p.wantStanding("base db", "far/app far/late")
}

// Where objects name every key, the first of the keys has those that name none besides.
func TestObjectsThatNameNoPart(t *testing.T) {
	p := newPair(t)
	p.paths = []string{"base", "far/app", "near/db"}
	_, o := p.begins()
	p.completes(o, nil)
	p.wantStanding("near/db", "base far/app")
}

// TestOneOfTwoClustersAway waits for a cluster, and on the way back says which part is done.
func TestOneOfTwoClustersAway(t *testing.T) {
	p := newPair(t)
	p.lends.out.None()
	p.far.failing = func(context.Context, lifecycle.Wave) error { return away }
	_, o := p.begins()
	o, err := p.work(o, nil)
	wantKind(t, err, broker.ErrUnreachable)
	p.clock.Add(lifecycle.DefaultTerms().Patience)
	o = p.ends(lifecycle.FailedTemp, o, nil)
	if want := "part far on VIM far: nobody answers there"; o.Failure.Detail != want {
		t.Errorf("the failure is %q, want %q", o.Failure.Detail, want)
	}
	o = must(p.Rollback(t.Context(), alice, o.ID))
	p.clock.Add(lifecycle.DefaultTerms().Patience)
	o = p.ends(lifecycle.FailedTemp, o, nil)
	if want := "part far on VIM far: nobody answers there; part near on VIM edge is rolled back"; o.Failure.Detail != want {
		t.Errorf("the failure is %q, want %q", o.Failure.Detail, want)
	}
	p.far.failing = nil
	p.ends(lifecycle.RolledBack, must(p.Rollback(t.Context(), alice, o.ID)), nil)
	p.wantStanding("", "")
}

// A namespace that one cluster has no more is not taken for gone on the other.
func TestNamespaceGoneOnOneOfTwoClusters(t *testing.T) {
	p := newPair(t)
	r := onPair
	r.Namespace = "default" // as in the leases' rules
	i := p.made()
	p.completes(must(p.Instantiate(t.Context(), alice, i.ID, r)), nil)
	p.lends.gone, p.lends.goneOn = "default", "far"
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	p.lends.mu.Lock()
	defer p.lends.mu.Unlock()
	if gone := p.twins.parts["edge"].Gone; len(gone) != 0 || !slices.Equal(p.twins.parts["far"].Gone, []string{"default"}) {
		t.Errorf("termination was told of %v gone on one cluster, and of %v on the other", gone, p.twins.parts["far"].Gone)
	}
	if left := p.pods.standing(); len(left) != 0 {
		t.Errorf("on the other cluster there stand %v", left)
	}
}

// TestTwoClustersThatCannotBe is refused before anything begins, or planned.
func TestTwoClustersThatCannotBe(t *testing.T) {
	for name, c := range outcome.Sorted(map[string]struct {
		paths []string
		ask   func(*lifecycle.Instantiation)
		kind  error
		says  string
	}{
		"an unknown part":  {paths: []string{"base", "far/app", "other/db"}, kind: broker.ErrInvalid, says: `no VIM of type kubernetes with the key other`},
		"an empty part":    {paths: []string{"base", "db"}, kind: broker.ErrInvalid, says: "the package has no object of that part"},
		"one system twice": {ask: func(r *lifecycle.Instantiation) { r.More[0].VIM = "far" }, kind: broker.ErrInvalid, says: "the system of VIM far twice"},
		"a VIM twice": {
			ask: func(r *lifecycle.Instantiation) { r.VIM, r.More[0].VIM = "cloud", "cloud" }, kind: broker.ErrInvalid, says: "the system of VIM cloud twice",
		},
		"parameters": {
			ask: func(r *lifecycle.Instantiation) { r.Parameters = json.RawMessage(`{"VDU":{}}`) }, kind: broker.ErrInvalid, says: "is given parameters",
		},
	}) {
		p := newPair(t)
		if c.paths != nil {
			p.paths = c.paths
		}
		r := onPair
		r.More = slices.Clone(r.More)
		if c.ask != nil {
			c.ask(&r)
		}
		_, err := p.Instantiate(t.Context(), alice, p.made().ID, r)
		if wantKind(t, err, c.kind); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.says)
		}
		p.wantStanding("", "")
	}
	p := newPair(t)
	i, o := p.begins()
	p.completes(o, nil)
	p.paths = []string{"base", "db"}
	_, err := p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"})
	wantKind(t, err, broker.ErrInvalid)
	// The same system by another name.
	p = newPair(t)
	p.lends.identities = map[string]string{"edge": "one", "far": "one"}
	_, err = p.Instantiate(t.Context(), alice, p.made().ID, onPair)
	wantKind(t, err, broker.ErrInvalid)
}

// A VDU has one number, and so one part that runs it.
func TestTwoPartsRunOneVDU(t *testing.T) {
	p := newPair(t)
	p.pods.more = []lifecycle.Manifest{{Path: "far/app"}}
	_, o := p.begins()
	o = p.ends(lifecycle.RolledBack, o, nil)
	if !strings.Contains(o.Failure.Detail, "two parts run VDU far/app") {
		t.Errorf("the failure is %+v", o.Failure)
	}
	p.wantStanding("", "")
}

// twinBook is a link of cloud that spans to both clusters, and a volume on each, of its name.
type twinBook struct{ *book }

func (b twinBook) Lend(_ context.Context, _ policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error) {
	if kind == policy.KindVolume {
		return asset.Asset{Kind: kind, ID: b.link.ID, Name: ref, VIM: ref, Volume: spec.VolumeSpec{Namespace: "shop"}}, nil
	}
	there, is := b.link.On(on[0].ID)
	if !is {
		return there, broker.ErrInvalid
	}
	return there, nil
}

// Each part has the connection points that its pods name, ports of its own where pods of both have one name, and the volumes of its
// cluster. What is done to one part leaves those of the other.
func TestLinksOfTwoClusters(t *testing.T) {
	k := newBook(spec.Span{VIM: "edge", Physical: "physnet1", Interface: "bond0"}, spec.Span{VIM: "far", Physical: "physnet1", Interface: "bond0"})
	p := newPair(t, func(o *lifecycle.Options) { o.Links = twinBook{k} })
	k.keep(t, p.plant)
	p.twins.networks = map[string]map[string]bool{"": {"near-cp": true, "each-cp": true}, "far": {"far-cp": true, "each-cp": true}}
	p.pods.ports, p.far.ports = []string{"each-cp/pod/base"}, []string{"each-cp/pod/base", "far-cp/pod/other"}
	r := onPair
	r.Links = []lifecycle.Link{{Ext: "sgi", Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "NEAR_CP"}, {CPDID: "FAR_CP"}, {CPDID: "EACH_CP"}}}}
	r.Volumes = map[string]string{"here": "edge", "there": "far"}
	i := p.made()
	p.completes(must(p.Instantiate(t.Context(), alice, i.ID, r)), nil)
	wants := func(after string, near, far int, ports ...string) {
		t.Helper()
		for n := range ports {
			ports[n] = i.ID + "/" + ports[n]
		}
		if slices.Sort(k.there); !slices.Equal(k.there, ports) {
			t.Errorf("after %s there are ports %q, want %q", after, k.there, ports)
		}
		got := map[string]string{}
		for _, l := range p.instance(i.ID).Shape.Links {
			got[l.Part] = fmt.Sprint(l.Names(), len(l.Ports))
		}
		want := map[string]string{"": fmt.Sprint("[NEAR_CP EACH_CP] ", near), "far": fmt.Sprint("[FAR_CP EACH_CP] ", far)}
		if !maps.Equal(got, want) {
			t.Errorf("after %s the links of the parts are %v, want %v", after, got, want)
		}
	}
	wants("instantiate", 1, 2, "each-cp/pod/base", "far:each-cp/pod/base", "far:far-cp/pod/other")
	for vim, want := range outcome.Sorted(map[string]string{"edge": "each-cp/pod/base here", "far": "each-cp/pod/base far-cp/pod/other there"}) {
		var got []string
		for _, port := range p.twins.parts[vim].Links[0].Ports {
			got = append(got, port.Name)
		}
		for _, v := range p.twins.parts[vim].Volumes {
			got = append(got, v.Storage)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is planned with the ports and volumes %q, want %q", vim, got, want)
		}
	}
	p.completes(p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"base-base-0"}}))
	wants("healing a pod of the first part", 1, 2, "each-cp/pod/base", "far:each-cp/pod/base", "far:far-cp/pod/other")
	p.pods.ports, p.far.ports = []string{"each-cp/pod/base", "near-cp/pod/base"}, []string{"each-cp/pod/base"}
	p.completes(p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"}))
	wants("a change of package", 2, 1, "each-cp/pod/base", "far:each-cp/pod/base", "near-cp/pod/base")
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if len(k.there) != 0 {
		t.Errorf("after the termination there are ports %q", k.there)
	}
	r.Volumes = nil
	r.Links = []lifecycle.Link{{Ext: "sgi", Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "FAR_CP"}}}}
	i = p.made()
	p.completes(must(p.Instantiate(t.Context(), alice, i.ID, r)), nil)
	if links := p.instance(i.ID).Shape.Links; len(links) != 1 || links[0].Part != "far" {
		t.Errorf("a connection point that pods of one part name is of %+v", links)
	}
}

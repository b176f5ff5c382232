package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

var errAway = errors.New("away")

// on is a shape on VIMs, whose first part has no name.
func on(vims ...string) Shape {
	s := Shape{Flavour: "simple"}
	for n, id := range vims {
		p := Part{VIM: id, VIMName: id, VIMType: "kubernetes", Connection: "key-" + id}
		if id == "cloud" {
			p.VIMType = "openstack"
		}
		if n == 0 {
			s.Part = p
			continue
		}
		p.Name = p.Connection
		s.More = append(s.More, p)
	}
	return s
}

// A request fails with what it rests on: the package, its flavour, the VIM, the volumes and the links. Nothing comes of it.
func TestARequestFailsWithWhatItRestsOn(t *testing.T) {
	points := []Link{{Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "cp1"}}}}
	running := Instance{State: Instantiated, Shape: on("cloud")}
	other := running
	other.Shape.Flavour = "large"
	fresh := Instance{State: NotInstantiated}
	many := webs()
	many.VNFD.Flavours["simple"] = vnfpkg.Flavour{ID: "simple", VDUs: map[string]vnfpkg.VDU{"v": {ID: "v", Name: "v", Max: 1, Initial: 2}}}
	gone := shelved{fails: errAway}
	for name, c := range map[string]struct {
		packages shelved
		i        Instance
		asks     Asked
		want     error
		says     string
	}{
		"instantiated without its package":       {gone, fresh, Instantiation{VIM: "cloud"}, errAway, ""},
		"instantiated without its volumes":       {shelved{}, fresh, Instantiation{VIM: "cloud", Volumes: map[string]string{"a": "b"}}, errAway, ""},
		"instantiated without its links":         {shelved{}, fresh, Instantiation{VIM: "cloud", Links: points}, errAway, ""},
		"scaled without its package":             {gone, running, Scaling{Aspect: "a", Steps: 1}, errAway, ""},
		"scaled in a flavour of none":            {shelved{}, other, Scaling{Aspect: "a", Steps: 1}, broker.ErrInvalid, "no such deployment flavour"},
		"changed in a flavour of none":           {shelved{}, other, PackageChange{}, broker.ErrInvalid, "no such deployment flavour"},
		"changed to more than there may be":      {shelved{PackageView: many}, running, PackageChange{}, broker.ErrInvalid, "leads to 2 instances of VDU v"},
		"changed without its volumes":            {shelved{}, running, PackageChange{Volumes: map[string]string{"a": "b"}}, errAway, ""},
		"changed without its links":              {shelved{}, running, PackageChange{Links: points}, errAway, ""},
		"connected without its package":          {gone, running, Connecting{Links: points}, errAway, ""},
		"connected without its links":            {shelved{}, running, Connecting{Links: points}, errAway, ""},
		"changed to a package that is not there": {gone, running, PackageChange{}, errAway, ""},
	} {
		l := newBench(t, plain{name: "d", on: "openstack"})
		l.Links = &pool{fails: errAway}
		if l.Packages = c.packages; c.packages.VNFD.Flavours == nil {
			l.Packages = shelved{webs(), c.packages.fails}
		}
		err := c.asks.propose(t.Context(), l.Lifecycle, policy.Principal{}).shape(c.i, &Operation{Before: c.i.Shape, Target: c.i.Shape})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.want, c.says)
		}
	}
}

// Inputs of a descriptor that is translated go into the variables, and the request may not give them elsewhere.
func TestInputsOfATranslatedDescriptorAreVariables(t *testing.T) {
	l := newBench(t, &yielding{plain: plain{name: "d", on: "kubernetes"}})
	p := webs()
	p.VNFD.Parameters = map[string]bool{"color": false}
	p.VNFD.Flavours["simple"] = vnfpkg.Flavour{ID: "simple", Containers: true}
	p.Translate = func(string, map[string]string, bool) (secret.Text, error) { return secret.Text{}, nil }
	l.Packages = shelved{PackageView: p}
	var to Shape
	err := l.instantiation(t.Context(), policy.Principal{}, Instance{}, Instantiation{VIM: "edge", Others: []string{"color"}}, &to)
	wantInvalid(t, "an input of its own", err, "additionalParams", "gives color as a member of its own; inputs go into additionalParams.variables")
	if err := l.instantiation(t.Context(), policy.Principal{}, Instance{}, Instantiation{VIM: "edge"}, &to); err != nil || to.VIM != "edge" {
		t.Errorf("without one: %+v, %v", to.Part, err)
	}
	p.Translate = func(string, map[string]string, bool) (secret.Text, error) { return secret.Text{}, errAway }
	if _, err := p.translated("simple", nil, false).Read([]string{translatedFile}); !errors.Is(err, errAway) {
		t.Errorf("a descriptor that cannot be translated: %v", err)
	}
}

// A change of package gives what the request has, and keeps the rest.
func TestAChangeOfPackageKeepsWhatItDoesNotGive(t *testing.T) {
	before := on("cloud")
	before.Files, before.Waves, before.Variables, before.Parameters = []string{"a"}, []WaveRule{{Kind: "A"}}, map[string]string{"a": "1"}, json.RawMessage(`{"a":1}`)
	given := PackageChange{Files: []string{"b"}, Waves: []WaveRule{{Kind: "B"}}, Variables: map[string]string{"b": "2"}, Parameters: json.RawMessage(`{"b":2}`)}
	for _, c := range []struct {
		asks PackageChange
		want Shape
	}{
		{PackageChange{}, before},
		{given, Shape{Files: given.Files, Waves: given.Waves, Variables: given.Variables, Parameters: given.Parameters}},
	} {
		l := newBench(t, plain{name: "d", on: "openstack"})
		o := Operation{Before: before, Target: before}
		if err := c.asks.propose(t.Context(), l.Lifecycle, policy.Principal{}).shape(Instance{State: Instantiated, Shape: before}, &o); err != nil {
			t.Fatal(err)
		}
		got := Shape{Files: o.Target.Files, Waves: o.Target.Waves, Variables: o.Target.Variables, Parameters: o.Target.Parameters}
		want := Shape{Files: c.want.Files, Waves: c.want.Waves, Variables: c.want.Variables, Parameters: c.want.Parameters}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v differs (-want +got):\n%s", c.asks, diff)
		}
	}
}

// To connect otherwise keeps links of the descriptor, and of the others those points that the request does not name; a link
// without points goes.
func TestConnectingKeepsWhatItDoesNotName(t *testing.T) {
	l := newBench(t, plain{name: "d", on: "openstack"})
	l.Links = &pool{has: map[string]asset.Asset{"new": {ID: "new", Name: "new"}}}
	points := func(names ...string) (all []sol003.ExtCP) {
		for _, name := range names {
			all = append(all, sol003.ExtCP{CPDID: name})
		}
		return all
	}
	i := Instance{State: Instantiated, Shape: on("cloud")}
	i.Shape.Links = []Link{{ID: "inner", VL: "inner"}, {ID: "both", CPs: points("cp1", "cp2")}}
	o := Operation{Before: i.Shape, Target: i.Shape}
	ask := func(names ...string) string {
		t.Helper()
		r := Connecting{Links: []Link{{Name: "new", CPs: points(names...)}}}
		if err := r.propose(t.Context(), l.Lifecycle, policy.Principal{}).shape(i, &o); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, k := range o.Target.Links {
			all = append(all, fmt.Sprint(k.ID, k.Names()))
		}
		return strings.Join(all, " ")
	}
	if got, want := ask("cp1"), "inner[inner] both[cp2] new[cp1]"; got != want {
		t.Errorf("one point connected otherwise: %s, want %s", got, want)
	}
	if got, want := ask("cp1", "cp2"), "inner[inner] new[cp1 cp2]"; got != want {
		t.Errorf("both: %s, want %s", got, want)
	}
}

// What the drivers of two parts are made from is together, and secret where one of them says so.
func TestBasesOfTwoPartsAreTogether(t *testing.T) {
	for _, secretive := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		l := withDrivers(nil,
			&yielding{plain: plain{name: "a", on: "kubernetes"}, basis: Basis{Files: []string{"a"}, Secret: []string{"x"}, SecretParameters: secretive[0]}},
			&yielding{plain: plain{name: "b", on: "openstack"}, basis: Basis{Files: []string{"b"}, Secret: []string{"y"}, SecretParameters: secretive[1]}})
		got, err := l.bases(on("edge", "cloud"), PackageView{})
		want := Basis{Files: []string{"a", "b"}, Secret: []string{"x", "y"}, SecretParameters: secretive[0] || secretive[1]}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v: %v, (-want +got):\n%s", secretive, err, diff)
		}
	}
}

// Each part is planned by its own driver on its own VIM, and an error says of which part it is.
func TestPartsAreFoundOrNamed(t *testing.T) {
	ctx, who := t.Context(), policy.Principal{}
	drivers := []Driver{plain{name: "a", on: "kubernetes"}, plain{name: "b", on: "openstack"}}
	l := newBench(t, drivers...)
	if _, err := l.posts(ctx, who, Shape{}); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("an instance on no VIM: %v", err)
	}
	if _, err := newBench(t, drivers[0]).posts(ctx, who, on("edge", "cloud")); !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "openstack") {
		t.Errorf("a part without driver: %v", err)
	}
	delete(l.keys.vims, "cloud")
	if _, err := l.posts(ctx, who, on("cloud")); err == nil || err.Error() != "no such VIM" {
		t.Errorf("the only part's VIM: %v", err)
	}
	if _, err := l.posts(ctx, who, on("edge", "cloud")); !errors.Is(err, broker.ErrNotFound) || err.Error() != "part key-cloud on VIM cloud: no such VIM" {
		t.Errorf("a part's VIM: %v", err)
	}

	l = newBench(t, drivers...)
	posts, err := l.posts(ctx, who, on("edge", "cloud"))
	if err != nil {
		t.Fatal(err)
	}
	l.Packages = shelved{fails: &broker.Error{Kind: broker.ErrInvalid, Detail: "the package is gone"}}
	o := Operation{Type: Heal, Before: on("edge", "cloud"), Target: on("edge", "cloud")}
	if _, err := l.inputs(ctx, posts, Instance{Shape: on("edge", "cloud")}, o); err == nil || err.Error() != "part key-edge on VIM edge: the package is gone" {
		t.Errorf("a part whose package is gone: %v", err)
	}
	if _, err := l.inputOf(ctx, drivers[0], Instance{Shape: on("edge")}, o); err == nil || err.Error() != "the package is gone" {
		t.Errorf("a package that is gone: %v", err)
	}
	l.Packages = shelved{PackageView: webs()}
	if _, err := l.inputOf(ctx, plain{name: "a", on: "kubernetes", says: errAway}, Instance{Shape: on("edge")}, o); !errors.Is(err, errAway) {
		t.Errorf("files that the driver does not take: %v", err)
	}
}

// The parameters of before are kept where neither those in the clear nor those that are sealed are others.
func TestKeptParameters(t *testing.T) {
	l := newBench(t, plain{name: "d", on: "openstack"})
	p := webs()
	p.Read = func([]string) ([]Manifest, error) { return nil, nil }
	l.Packages = shelved{PackageView: p}
	for name, c := range map[string]struct {
		of       OperationType
		from, to string
		want     bool
	}{
		"the same": {Heal, `{"a":1}`, `{"a":1}`, true}, "others": {ChangePackage, `{"a":1}`, `{"a":2}`, false}, "new ones": {Instantiate, "", "", false},
	} {
		o := Operation{Type: c.of, Before: on("cloud"), Target: on("cloud")}
		o.Before.Parameters, o.Target.Parameters = json.RawMessage(c.from), json.RawMessage(c.to)
		if in, err := l.inputOf(t.Context(), plain{on: "openstack"}, Instance{}, o); err != nil || in.Kept != c.want || string(in.Parameters) != c.to {
			t.Errorf("%s: kept %t, %s, %v", name, in.Kept, in.Parameters, err)
		}
	}
}

func TestObservationsOfAPartSayIt(t *testing.T) {
	seen := Observation{VNFCs: []VNFC{{Name: "v"}}}
	seen.Storages = []Storage{{Name: "s"}}
	got := seen.of("p")
	if got.Part != "p" || got.VNFCs[0].Part != "p" || got.Storages[0].Part != "p" {
		t.Errorf("an observation of part p is %+v", got)
	}
	if seen.Part != "" || seen.VNFCs[0].Part != "" || seen.Storages[0].Part != "" {
		t.Errorf("the driver's own has become %+v", seen)
	}
}

// One part runs a VDU, if by two objects.
func TestTwoPartsRunNoVDU(t *testing.T) {
	of := func(part, vdu, name string) Resource {
		return Resource{Part: part, VDU: vdu, Kind: "Deployment", Name: name}
	}
	for name, c := range map[string]struct {
		resources []Resource
		says      string
	}{
		"one part, twice":    {[]Resource{of("p", "v", "a"), of("p", "v", "b")}, ""},
		"two parts, of none": {[]Resource{of("p", "", "a"), of("q", "", "b")}, ""},
		"two parts":          {[]Resource{of("p", "v", "a"), of("q", "v", "b")}, "has two parts run VDU v (Deployment a, Deployment b), and only one can"},
	} {
		wantInvalid(t, name, Plan{Resources: c.resources}.apart(), map[bool]string{true: "vimConnectionInfo"}[c.says != ""], c.says)
	}
}

// A stage of a part is divided where another declared wave begins, and nowhere else.
func TestStagesAreDividedAtDeclaredWaves(t *testing.T) {
	wave := func(deed Deed, name string, declared int) Wave {
		return Wave{Deed: deed, Objects: []Object{{Resource: Resource{Name: name, Declared: declared}}}}
	}
	for name, c := range map[string]struct {
		of     OperationType
		stages []Stage
		want   string
	}{
		"one wave":             {Instantiate, []Stage{{Waves: []Wave{wave(Apply, "a", 1), wave(Apply, "b", 1)}}}, "1[a b]"},
		"two waves":            {Instantiate, []Stage{{Waves: []Wave{wave(Apply, "a", 1), wave(Apply, "b", 2), wave(Apply, "c", 2)}}}, "1[a] 2[b c]"},
		"never later":          {Instantiate, []Stage{{Waves: []Wave{wave(Apply, "a", 3), wave(Apply, "b", 2)}}}, "2[a b]"},
		"two stages":           {Instantiate, []Stage{{Waves: []Wave{wave(Apply, "a", 1)}}, {Waves: []Wave{wave(Apply, "b", 1)}}}, "1[a] 1[b]"},
		"what is removed last": {ChangePackage, []Stage{{Waves: []Wave{wave(Scale, "a", 1), wave(Delete, "b", 0)}}}, "1[a] last[b]"},
		"the way down":         {Terminate, []Stage{{Waves: []Wave{wave(Delete, "b", 2), wave(Delete, "a", 1)}}}, "-2[b] -1[a]"},
	} {
		p := &post{Part: Part{Name: "p"}, in: PlanInput{Operation: c.of}}
		var got []string
		for _, s := range p.inWaves(c.stages) {
			var names []string
			for _, w := range s.Waves {
				names = append(names, w.Objects[0].Name)
				if w.Objects[0].Part != "p" || s.Part != "p" {
					t.Errorf("%s: %s is of part %q", name, w.Objects[0].Name, w.Objects[0].Part)
				}
			}
			at := fmt.Sprint(s.Declared)
			if s.Declared > 1000 {
				at = "last"
			}
			got = append(got, fmt.Sprint(at, names))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// dividing is a driver whose objects say their part.
type dividing struct {
	netting
	divides map[string]map[string]bool
	torn    error
}

func (d dividing) Divide(Source) (map[string]map[string]bool, error) { return d.divides, d.torn }

// Parts on VIMs of one type have objects each, and a part on another type has what that driver takes.
func TestPartsShareObjects(t *testing.T) {
	of := func(names ...string) map[string]map[string]bool {
		all := map[string]map[string]bool{}
		for _, name := range names {
			all[name] = map[string]bool{"net-" + name: true}
		}
		return all
	}
	alien := on("edge", "far")
	alien.VIMType, alien.More[0].VIMType = "mist", "mist"
	for name, c := range map[string]struct {
		s    Shape
		d    Driver
		kind error
		says string
	}{
		"one part":              {on("edge"), plain{on: "kubernetes"}, nil, ""},
		"parts of two types":    {on("edge", "cloud"), plain{on: "kubernetes"}, nil, ""},
		"two":                   {on("edge", "far"), dividing{netting: netting{plain: plain{on: "kubernetes"}}, divides: of("", "key-far")}, nil, ""},
		"two and a cloud":       {on("edge", "far", "cloud"), dividing{netting: netting{plain: plain{on: "kubernetes"}}, divides: of("", "key-far")}, nil, ""},
		"a type without driver": {alien, plain{on: "kubernetes"}, broker.ErrUnsupported, "on VIMs of type mist"},
		"files of one":          {on("edge", "far"), plain{on: "kubernetes"}, broker.ErrUnsupported, "names two VIMs of type kubernetes, and the files are of one"},
		"files that are torn":   {on("edge", "far"), dividing{netting: netting{plain: plain{on: "kubernetes"}}, torn: errAway}, errAway, "away"},
		"a part that is not":    {on("edge", "far"), dividing{netting: netting{plain: plain{on: "kubernetes"}}, divides: of("", "key-far", "moon")}, broker.ErrInvalid, "no VIM of type kubernetes with the key moon"},
		"no objects of a part":  {on("edge", "far"), dividing{netting: netting{plain: plain{on: "kubernetes"}}, divides: of("")}, broker.ErrInvalid, "has the key key-far, and the package has no object of that part"},
	} {
		_, err := withDrivers(nil, c.d).shares(c.s, webs())
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.kind, c.says)
		}
	}
}

// Links of two parts fail with what the drivers and the links say.
func TestLinksOfTwoPartsFail(t *testing.T) {
	asked := []Link{{Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "cp1"}}}}
	takes := func(on broker.VIMType, fault error, names ...string) netting {
		d := netting{plain: plain{name: string(on), on: on}, taken: map[string]bool{}, fault: fault}
		for _, name := range names {
			d.taken[name] = true
		}
		return d
	}
	torn := errors.New("torn")
	for name, c := range map[string]struct {
		s       Shape
		drivers []Driver
		want    error
	}{
		"no driver":        {on("edge", "cloud"), []Driver{takes("kubernetes", nil, "cp1")}, broker.ErrUnsupported},
		"files of one":     {on("edge", "far"), []Driver{takes("kubernetes", nil, "cp1")}, broker.ErrUnsupported},
		"files torn":       {on("edge", "cloud"), []Driver{takes("kubernetes", nil), takes("openstack", torn)}, torn},
		"links away":       {on("edge", "cloud"), []Driver{takes("kubernetes", nil), takes("openstack", nil, "cp1")}, errAway},
		"links away, else": {on("edge", "cloud"), []Driver{takes("kubernetes", nil, "cp1"), takes("openstack", nil)}, errAway},
	} {
		s := c.s
		err := withDrivers(&pool{fails: errAway}, c.drivers...).connectAll(t.Context(), policy.Principal{}, webs(), &s, asked, false)
		if !errors.Is(err, c.want) || len(s.Links) > 0 {
			t.Errorf("%s: %v with links %v, want %v", name, err, s.Links, c.want)
		}
	}
}

// Two VIMs of which nobody says what systems they are may be two.
func TestSitesAreTwoSystems(t *testing.T) {
	for name, c := range map[string]struct {
		identities [2]string
		ids        [2]string
		says       string
	}{
		"unknown":         {[2]string{"", ""}, [2]string{"edge", "far"}, ""},
		"others":          {[2]string{"a", "b"}, [2]string{"edge", "far"}, ""},
		"one system":      {[2]string{"a", "a"}, [2]string{"edge", "far"}, "names the system of VIM far twice"},
		"one VIM":         {[2]string{"", ""}, [2]string{"edge", "edge"}, "names the system of VIM edge twice"},
		"of another type": {[2]string{"a", "a"}, [2]string{"edge", "cloud"}, ""},
	} {
		l := newBench(t, plain{on: "kubernetes"}, plain{on: "openstack"})
		for n, id := range c.ids {
			v := l.keys.vims[id]
			v.Current.Identity = c.identities[n]
			l.keys.vims[id] = v
		}
		var to Shape
		r := Instantiation{VIM: c.ids[0], Connection: "a", More: []Site{{VIM: c.ids[1], Connection: "b"}}}
		parts, err := l.sites(t.Context(), policy.Principal{}, Instance{}, r, webs(), &to)
		wantInvalid(t, name, err, map[bool]string{true: "vimConnectionInfo"}[c.says != ""], c.says)
		if c.says == "" && len(parts) != 2 {
			t.Errorf("%s: %+v", name, parts)
		}
	}
}

// What a plan asks under another lease fails with the lease, or with what is asked.
func TestAPlanFailsWithWhatItAsksFurther(t *testing.T) {
	torn := errors.New("torn")
	for name, c := range map[string]struct {
		issuing func(broker.LeaseRequest) error
		asks    error
		want    error
	}{
		"nothing fails":   {nil, nil, nil},
		"the first lease": {func(r broker.LeaseRequest) error { return map[string]error{"survey": errAway}[r.Purpose] }, nil, errAway},
		"the other lease": {func(r broker.LeaseRequest) error { return map[string]error{"more": errAway}[r.Purpose] }, nil, errAway},
		"the question":    {nil, torn, torn},
	} {
		d := &yielding{plain: plain{on: "kubernetes"}, plan: func(ctx context.Context, c Connection, _ PlanInput) (Plan, error) {
			return Plan{}, c.Further(ctx, StageRules{Purpose: "more"}, func(Connection) error { return c.Further(ctx, StageRules{}, func(Connection) error { return nil }) })
		}}
		l := newBench(t, d)
		if c.asks != nil {
			d.plan = func(ctx context.Context, conn Connection, _ PlanInput) (Plan, error) {
				return Plan{}, conn.Further(ctx, StageRules{}, func(Connection) error { return c.asks })
			}
		}
		l.keys.issuing = c.issuing
		if _, err := l.survey(t.Context(), policy.Principal{}, "o", l.keys.vims["edge"], d, PlanInput{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	l := newBench(t)
	l.Terms.Learning = time.Hour
	over, cancel := context.WithCancel(t.Context())
	cancel()
	refused := &broker.Error{Kind: broker.ErrForbidden, Detail: "not yet"}
	if err := l.learnt(over, held{taken: time.Now()}, func() error { return refused }); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("a refusal that there is no time to learn: %v", err)
	}
	for age, want := range map[time.Duration]int{0: 2, 50 * time.Second: 2, 2 * fresh: 1} {
		asked := 0
		_ = l.learnt(t.Context(), held{taken: time.Now().Add(-age)}, func() error {
			if asked++; asked == 1 {
				return refused
			}
			return nil
		})
		if asked != want {
			t.Errorf("a lease taken %v ago is used %d times where its VIM refuses it once, want %d", age, asked, want)
		}
	}
	if err := Sleep(over, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a sleep without time: %v", err)
	}
}

// A link of a driver without networks, and one of the descriptor that a request gives in the place of one of several.
func TestARequestTakesThePlaceOfOneLink(t *testing.T) {
	lent := &pool{has: map[string]asset.Asset{"sgi": {ID: "1", Name: "sgi"}}}
	own := []Link{{ID: "8", VL: "inner", Own: true}, {ID: "9", VL: "outer", Own: true}}
	s := on("cloud")
	s.Links = slices.Clone(own)
	ask := []Link{{Name: "sgi", VL: "inner"}}
	d := netting{plain: plain{name: "d", on: "openstack"}, taken: map[string]bool{"inner": true, "outer": true}}
	if err := withDrivers(lent, d).connect(t.Context(), policy.Principal{}, webs(), &s, ask, false); err != nil || len(s.Links) != 2 || s.Links[0].ID != "9" || s.Links[1].ID != "1" {
		t.Errorf("the links are %+v, %v", s.Links, err)
	}
	s = on("cloud")
	if err := withDrivers(lent, plain{name: "d", on: "openstack"}).connect(t.Context(), policy.Principal{}, webs(), &s, ask, false); err != nil || len(s.Links) != 1 || len(s.Managed) != 0 {
		t.Errorf("of a driver without networks the links are %+v, unused %v, %v", s.Links, s.Managed, err)
	}
}

// A resource has what was seen of it: the very object where one was applied, and the volumes where it stands. What was not
// seen stays as it was, and the list that was given too.
func TestResourcesHaveWhatWasSeen(t *testing.T) {
	volumes := []Storage{{UID: "v"}}
	named := func(name string) Resource {
		return Resource{Plural: "pods", Name: name, Applied: "before", UID: "before", Storages: []Storage{{UID: "old"}}}
	}
	a := &attempt{steps: map[string]Observation{}}
	for name, o := range map[string]Observation{
		"applied": {Resource: Resource{Applied: "now", UID: "new", Storages: volumes}}, "stands": {Resource: Resource{Storages: volumes}, Standing: true},
		"stands without": {Standing: true},
	} {
		a.steps[named(name).key()] = o
	}
	all := []Resource{named("applied"), named("stands"), named("unseen"), named("stands without")}
	want := []Resource{named("applied"), named("stands"), named("unseen"), named("stands without")}
	got := a.seen(all)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("the list that was given is changed:\n%s", diff)
	}
	want[0].Applied, want[0].UID, want[1].Storages, want[3].Storages = "now", "new", volumes, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was seen (-want +got):\n%s", diff)
	}
}

// What can be done only in other states names them.
func TestNotNowNamesTheStates(t *testing.T) {
	o := Operation{State: Completed}
	for want, err := range map[string]error{
		"the operation is COMPLETED; this can be done only to one that is FAILED_TEMP":               notNow(o, FailedTemp),
		"the operation is COMPLETED; this can be done only to one that is FAILED_TEMP or PROCESSING": notNow(o, FailedTemp, Processing),
	} {
		var e *broker.Error
		if !errors.As(err, &e) || !errors.Is(err, broker.ErrConflict) || e.Detail != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

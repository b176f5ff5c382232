package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// plain is a driver that makes and takes no networks by its files.
type plain struct {
	Driver
	name string
	on   broker.VIMType
	says error // to every file
}

func (d plain) Name() string                { return d.name }
func (d plain) VIMType() broker.VIMType     { return d.on }
func (d plain) Basis(Source) (Basis, error) { return Basis{}, d.says }

// netting makes and takes networks.
type netting struct {
	plain
	made, taken map[string]bool
	fault       error
}

func (d netting) Networks(Source) (made, taken map[string]bool, err error) {
	return d.made, d.taken, d.fault
}

// pool lends links and volumes by their names.
type pool struct {
	Links
	has      map[string]asset.Asset
	fails    error
	released []string
	made     []asset.Request
	// ported are the links that ports were asked for, portsFail what that fails with.
	ported    []string
	portsFail map[string]error
	// on are the VIMs that what was lent last was asked for.
	on []broker.VIM
}

func (p *pool) Lend(_ context.Context, _ policy.Principal, _ policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error) {
	p.on = on
	if p.fails != nil {
		return asset.Asset{}, p.fails
	}
	if a, has := p.has[ref]; has {
		return a, nil
	}
	return asset.Asset{}, &broker.Error{Kind: broker.ErrNotFound}
}

func (p *pool) Create(_ context.Context, _ policy.Principal, r asset.Request) (asset.Asset, bool, error) {
	p.made = append(p.made, r)
	return asset.Asset{ID: "made", Name: r.Name}, true, p.fails
}

func (p *pool) Ports(_ context.Context, id, _ string, names []string, all bool) (made []asset.Port, err error) {
	p.ported = append(p.ported, fmt.Sprint(id, names, all))
	for _, name := range names {
		made = append(made, asset.Port{Name: name, MAC: "fa:16:3e:00:00:01"})
	}
	return made, p.portsFail[id]
}

func (p *pool) Release(_ context.Context, ids ...string) { p.released = append(p.released, ids...) }

// withDrivers is an engine of some drivers and links.
func withDrivers(links Links, drivers ...Driver) *Lifecycle {
	return New(Options{Links: links, Drivers: drivers})
}

// webs is a package whose flavour has two links and two points.
func webs() PackageView {
	return PackageView{VNFD: vnfpkg.VNFD{Flavours: map[string]vnfpkg.Flavour{"simple": {
		ID: "simple", Networks: []string{"VnfVirtualLink inner", "VnfVirtualLink outer", "VduCp cp1", "VduCp cp2"},
		Links: map[string]vnfpkg.VirtualLink{"inner": {CIDR: "10.0.0.0/24", Pools: []vnfpkg.Range{{Start: "10.0.0.1", End: "10.0.0.9"}}}},
	}}}}
}

// said are the links of a shape, and what it is not done about.
func said(s Shape) string {
	var all []string
	for _, k := range s.Links {
		all = append(all, fmt.Sprintf("%s/%s/%s%v%t", k.ID, k.Name, k.VL, k.Names(), k.Own))
	}
	return strings.Join(all, " ") + " | " + strings.Join(s.Managed, " ") + " | " + strings.Join(s.Unmade, ", ")
}

func TestLinksThatARequestConnects(t *testing.T) {
	lent := &pool{has: map[string]asset.Asset{"sgi": {ID: "1", Name: "sgi", Spec: spec.LinkSpec{NAD: &spec.PodNetwork{}}}, "plain": {ID: "2", Name: "plain"}}}
	takes := func(names ...string) netting {
		d := netting{plain: plain{name: "d", on: "openstack"}, made: map[string]bool{}, taken: map[string]bool{}}
		for _, name := range names {
			if of, makes := strings.CutPrefix(name, "+"); makes {
				d.made[of] = true
			} else {
				d.taken[name] = true
			}
		}
		return d
	}
	points := func(names ...string) (all []sol003.ExtCP) {
		for _, name := range names {
			all = append(all, sol003.ExtCP{CPDID: name})
		}
		return all
	}
	own := Link{ID: "9", Name: "inner", VL: "inner", Own: true}
	broken := takes("cp1")
	broken.fault = errors.New("the files are wrong")
	for name, c := range map[string]struct {
		links  Links
		d      Driver
		before []Link
		asked  []Link
		more   bool
		want   string
		field  string
		says   string
	}{
		"nothing":                       {lent, takes(), nil, nil, false, " |  | VnfVirtualLink inner, VnfVirtualLink outer, VduCp cp1, VduCp cp2", "", ""},
		"what files make":               {lent, takes("+inner", "+outer", "+cp1", "+cp2"), nil, nil, false, " |  | ", "", ""},
		"what files take":               {lent, takes("inner", "+outer", "+cp1", "+cp2"), nil, nil, false, "/inner/inner[inner]true |  | ", "", ""},
		"what no server makes":          {nil, takes("inner", "+outer", "+cp1", "+cp2"), nil, nil, false, " |  | VnfVirtualLink inner", "", ""},
		"a point":                       {lent, takes("cp1", "+inner", "+outer"), nil, []Link{{Name: "sgi", CPs: points("cp1")}}, false, "1/sgi/[cp1]false |  | VduCp cp2", "", ""},
		"a point that is not taken":     {lent, takes("cp1"), nil, []Link{{Name: "sgi", CPs: points("cp2")}}, false, "", "extVirtualLinks", "names cp2, for which the package takes no network"},
		"a point of a driver without":   {lent, plain{name: "d", on: "openstack"}, nil, []Link{{Name: "sgi", CPs: points("cp2")}}, false, "1/sgi/[cp2]false |  | VnfVirtualLink inner, VnfVirtualLink outer, VduCp cp1", "", ""},
		"no point of a driver without":  {lent, plain{name: "d", on: "openstack"}, nil, []Link{{Name: "sgi", CPs: points("cp3")}}, false, "", "extVirtualLinks", "names cp3"},
		"a point twice":                 {lent, takes("cp1"), nil, []Link{{Name: "sgi", CPs: points("cp1")}, {Name: "plain", CPs: points("cp1")}}, false, "", "extVirtualLinks", "connects cp1 to two networks"},
		"a link twice":                  {lent, takes("inner"), nil, []Link{{Name: "sgi", VL: "inner"}, {Name: "plain", VL: "inner"}}, false, "", "extManagedVirtualLinks", "connects inner to two networks"},
		"a link of the descriptor":      {lent, takes("inner", "+outer", "+cp1", "+cp2"), []Link{own}, []Link{{Name: "sgi", VL: "inner"}}, false, "1/sgi/inner[inner]false |  | ", "", ""},
		"one that is not taken":         {lent, takes("+inner", "+outer", "+cp1", "+cp2"), nil, []Link{{Ext: "m", Name: "sgi", VL: "inner"}}, false, " | m | ", "", ""},
		"an own one that stays":         {lent, takes("inner", "+outer", "+cp1", "+cp2"), []Link{own}, nil, false, "9/inner/inner[inner]true |  | ", "", ""},
		"an own one of another":         {lent, takes("+inner", "+outer", "+cp1", "+cp2"), []Link{{ID: "9", VL: "other", Own: true}}, nil, false, " |  | ", "", ""},
		"lent ones stay unasked":        {lent, takes("cp1", "+inner", "+outer", "+cp2"), []Link{{ID: "3", CPs: points("cp1")}}, nil, false, "3//[cp1]false |  | ", "", ""},
		"lent ones go when asked":       {lent, takes("cp1", "+inner", "+outer", "+cp2"), []Link{{ID: "3", CPs: points("cp1")}}, []Link{}, false, " |  | VduCp cp1", "", ""},
		"lent ones stay for more":       {lent, takes("cp1", "cp2", "+inner", "+outer"), []Link{{ID: "3", CPs: points("cp1")}}, []Link{{Name: "sgi", CPs: points("cp2")}}, true, "3//[cp1]false 1/sgi/[cp2]false |  | ", "", ""},
		"a link that nobody sees":       {lent, takes("cp1"), nil, []Link{{Name: "none", CPs: points("cp1")}}, false, "", "extVirtualLinks", "you see no such virtual link"},
		"one of the descriptor, unseen": {lent, takes("inner"), nil, []Link{{Name: "none", VL: "inner"}}, false, "", "extManagedVirtualLinks", "you see no such virtual link"},
		"a server without links":        {nil, takes("cp1"), nil, []Link{{Name: "sgi", CPs: points("cp1")}}, false, "", "extVirtualLinks", "keeps no virtual links"},
		"files that are wrong":          {lent, broken, nil, nil, false, " |  | VnfVirtualLink inner, VnfVirtualLink outer, VduCp cp1, VduCp cp2", "", ""},
		"files that are wrong, asked":   {lent, broken, nil, []Link{{Name: "sgi", CPs: points("cp1")}}, false, "", "", "the files are wrong"},
	} {
		l := withDrivers(c.links, c.d)
		s := Shape{Part: Part{VIM: "v", VIMType: "openstack"}, Flavour: "simple", Links: c.before, Managed: nil}
		err := l.connect(t.Context(), policy.Principal{}, webs(), &s, c.asked, c.more)
		known, is := errors.AsType[*broker.Error](err)
		switch {
		case c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || c.field != "" && (!is || known.Field != c.field)):
			t.Errorf("%s: %v, want %s that says %q", name, err, c.field, c.says)
		case c.says == "" && said(s) != c.want:
			t.Errorf("%s: %s, want %s", name, said(s), c.want)
		}
	}
	away := errors.New("away")
	l := withDrivers(&pool{fails: away}, takes("cp1"))
	s := Shape{Part: Part{VIM: "v", VIMType: "openstack"}, Flavour: "simple"}
	if err := l.connect(t.Context(), policy.Principal{}, webs(), &s, []Link{{Name: "sgi", CPs: points("cp1")}}, false); !errors.Is(err, away) {
		t.Errorf("links that are not to be had: %v", err)
	}
	s.Flavour = "large"
	if err := l.connect(t.Context(), policy.Principal{}, webs(), &s, nil, false); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a flavour of none: %v", err)
	}
	s.VIMType = "other"
	if err := l.connect(t.Context(), policy.Principal{}, webs(), &s, nil, false); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a type of VIM without driver: %v", err)
	}
	// On Kubernetes a link is one of pods, and gives addresses itself.
	fixed := []sol003.ExtCP{{CPDID: "cp1", Config: map[string]sol003.CPConfig{"c": {Protocol: []sol003.CPProtocol{{Address: sol003.IPOverEthernet{IPs: []sol003.IPAddresses{{Fixed: []string{"10.0.0.1"}}}}}}}}}}
	for name, c := range map[string]struct {
		k    Link
		says string
	}{
		"a link of pods": {Link{Name: "sgi", CPs: points("cp1")}, ""}, "one of none": {Link{Name: "plain", CPs: points("cp1")}, "without nad"},
		"a fixed address": {Link{Name: "sgi", CPs: fixed}, "fixes addresses"},
	} {
		err := withDrivers(lent).lend(t.Context(), policy.Principal{}, Shape{Part: Part{VIMType: "kubernetes"}}, &c.k)
		if c.says == "" && (err != nil || c.k.ID != "1") || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %+v, %v, want %q", name, c.k, err, c.says)
		}
	}
	if s := specOf(webs().VNFD.Flavours["simple"].Links["inner"]); len(s.Pools) != 1 || s.Pools[0].Start != "10.0.0.1" {
		t.Errorf("a network of pools is %+v", s)
	}
}

// Links are made as an operation begins, and those that were made for an instance go once no operation may use them.
func TestLinksAreMadeAndReleased(t *testing.T) {
	p := &pool{}
	l := withDrivers(p)
	s := Shape{Part: Part{VIM: "v"}, Links: []Link{{ID: "1"}, {Own: true, VL: "inner", Spec: spec.LinkSpec{CIDR: "10.0.0.0/24"}}, {Name: "n", Made: asset.Made{Network: "net"}}}}
	if err := l.makeLinks(t.Context(), policy.Principal{}, "i", &s); err != nil || len(p.made) != 2 || s.Links[1].ID != "made" || s.Links[2].ID != "made" {
		t.Fatalf("made are %+v, %v", p.made, err)
	}
	if own, adopted := p.made[0], p.made[1]; own.Name != "vl-1-i" || own.Maker != "i" || own.Spec.CIDR != "10.0.0.0/24" || own.VIM != "v" ||
		adopted.Name != "network-net" || adopted.Existing != "net" || adopted.Maker != "" {
		t.Errorf("made are %+v", p.made)
	}
	p.fails = errors.New("away")
	s.Links[1].ID = ""
	if err := l.makeLinks(t.Context(), policy.Principal{}, "i", &s); !errors.Is(err, p.fails) {
		t.Errorf("a link that cannot be made: %v", err)
	}
	o := Operation{State: Completed, Before: Shape{Links: []Link{{ID: "1", Own: true}, {ID: "2"}, {Own: true}}}, Target: Shape{Links: []Link{{ID: "3", Own: true}}}}
	l.release(t.Context(), o)
	if !slices.Equal(p.released, []string{"1", "3"}) {
		t.Errorf("released are %v", p.released)
	}
	p.released = nil
	for _, state := range []OperationState{Processing, FailedTemp} {
		o.State = state
		l.release(t.Context(), o)
	}
	withDrivers(nil).release(t.Context(), Operation{State: Completed, Before: Shape{Links: []Link{{ID: "2"}}}})
	if len(p.released) != 0 {
		t.Errorf("released while it is live are %v", p.released)
	}
}

func TestVolumesThatARequestNames(t *testing.T) {
	vol := func(id, vim, namespace string) asset.Asset {
		return asset.Asset{ID: id, Name: id, VIM: vim, Volume: spec.VolumeSpec{Namespace: namespace}}
	}
	p := &pool{has: map[string]asset.Asset{"a": vol("a", "v", "shop"), "b": vol("b", "w", ""), "c": vol("c", "v", "other")}}
	s := Shape{Part: Part{VIM: "v", VIMName: "edge", VIMType: "kubernetes", Namespace: "shop"}, More: []Part{{Name: "p", VIM: "w"}}, Volumes: []Volume{{ID: "old"}}}
	for name, c := range map[string]struct {
		links Links
		asked map[string]string
		want  string
		says  string
	}{
		"nothing": {p, nil, "old/", ""}, "none": {p, map[string]string{}, "", ""}, "two": {p, map[string]string{"y": "b", "x": "a"}, "a/x b/yp", ""},
		"one that nobody sees": {p, map[string]string{"x": "z"}, "", "names z for x, and you see no such volume"},
		"one elsewhere":        {p, map[string]string{"x": "c"}, "", "names c of namespace other, and the instance is in shop"},
		"no server of volumes": {nil, map[string]string{"x": "a"}, "", "keeps no volumes"},
	} {
		to := s
		err := withDrivers(c.links).mount(t.Context(), policy.Principal{}, &to, c.asked)
		known, is := errors.AsType[*broker.Error](err)
		if c.says != "" {
			if !is || known.Field != "additionalParams.volumes" || !strings.Contains(known.Detail, c.says) {
				t.Errorf("%s: %v, want %q", name, err, c.says)
			}
			continue
		}
		var got []string
		for _, v := range to.Volumes {
			got = append(got, v.ID+"/"+v.Storage+v.Part)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if on := fmt.Sprint(p.on); len(got) > 0 && c.want != "old/" && on != fmt.Sprint([]broker.VIM{{ID: "v", Name: "edge", Type: "kubernetes"}, {ID: "w"}}) {
			t.Errorf("%s: asked on %s", name, on)
		}
	}
	away := errors.New("away")
	if err := withDrivers(&pool{fails: away}).mount(t.Context(), policy.Principal{}, &s, map[string]string{"x": "a"}); !errors.Is(err, away) {
		t.Errorf("volumes that are not to be had: %v", err)
	}
}

// The error is the last that is not about what a driver does not make, and a driver without a name in the row is the first.
func TestDriversAreChosen(t *testing.T) {
	unsupported, invalid := &broker.Error{Kind: broker.ErrUnsupported, Detail: "not mine"}, broker.Invalid("f", "wrong")
	d := func(name string, says error) Driver { return plain{name: name, on: "kubernetes", says: says} }
	for name, c := range map[string]struct {
		drivers []Driver
		want    string
		err     error
	}{
		"the first": {[]Driver{d("a", nil), d("b", nil)}, "a", nil}, "the one that can": {[]Driver{d("a", unsupported), d("b", nil)}, "b", nil},
		"none": {nil, "", broker.ErrUnsupported}, "none that can": {[]Driver{d("a", unsupported)}, "", unsupported}, "a fault first": {[]Driver{d("a", invalid), d("b", unsupported)}, "", invalid},
		"a fault later": {[]Driver{d("a", unsupported), d("b", invalid)}, "", invalid},
	} {
		got, _, err := withDrivers(nil, c.drivers...).choose("kubernetes", Source{})
		if !errors.Is(err, c.err) || c.err == nil && (err != nil || got.Name() != c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	l := withDrivers(nil, d("a", nil), d("b", invalid))
	for name, want := range map[string]string{"": "a", "a": "a", "b": "b", "c": ""} {
		got, err := l.driver(Shape{Part: Part{VIMType: "kubernetes", Driver: name}})
		if want == "" && !errors.Is(err, broker.ErrUnsupported) || want != "" && (err != nil || got.Name() != want) {
			t.Errorf("the driver %q is %v, %v", name, got, err)
		}
	}
	s := Shape{Part: Part{VIM: "1", VIMType: "kubernetes", Driver: "b"}}
	if _, err := l.bases(s, PackageView{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("files that the driver does not take: %v", err)
	}
	if _, err := s.manifests(d("b", invalid), PackageView{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("files that the driver does not take: %v", err)
	}
	s.Driver = "none"
	if _, err := l.bases(s, PackageView{}); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a driver that there is not: %v", err)
	}
}

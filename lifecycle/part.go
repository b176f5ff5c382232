package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Part is what of an instance stands on one VIM.
type Part struct {
	// Name is the caller's name for the VIM. The first part has none.
	Name string `json:"part,omitempty"`
	// VIM is the id of the VIM, VIMName its name when the instance was instantiated.
	VIM     string `json:"vim,omitempty"`
	VIMName string `json:"vimName,omitempty"`
	VIMType string `json:"vimType,omitempty"`
	// Identity is the VIM's identity as the VIM reported it.
	Identity string `json:"identity,omitempty"`
	// Connection is the caller's name for the VIM, Inline says that the VIM came with the request.
	Connection string `json:"connection,omitempty"`
	Inline     bool   `json:"inline,omitempty"`
	// Driver is the name of the driver that makes its resources; empty means the first driver for the
	// type of VIM.
	Driver    string `json:"driver,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Parts are all parts of an instance; none if it is on no VIM.
func (s Shape) Parts() []Part {
	if s.VIM == "" {
		return nil
	}
	return append([]Part{s.Part}, s.More...)
}

// VIMs are the ids of the VIMs that it is on.
func (s Shape) VIMs() []string {
	ids := []string{}
	for _, p := range s.Parts() {
		ids = append(ids, p.VIM)
	}
	return ids
}

// PartOf is the part of a name; the zero Part where there is none.
func (s Shape) PartOf(name string) (p Part) {
	if at := slices.IndexFunc(s.Parts(), func(p Part) bool { return p.Name == name }); at >= 0 {
		p = s.Parts()[at]
	}
	return p
}

// Connected is the part on the VIM that the caller calls so, or else the first.
func (s Shape) Connected(connection string) Part {
	if at := slices.IndexFunc(s.More, func(p Part) bool { return p.Connection == connection }); at >= 0 {
		return s.More[at]
	}
	return s.Part
}

// VIMNames are the names of the VIMs that it is on, for people.
func (s Shape) VIMNames() string {
	var names []string
	for _, p := range s.Parts() {
		names = append(names, p.VIMName)
	}
	return strings.Join(names, ", ")
}

// alike reports whether several parts are on VIMs of one type.
func (s Shape) alike() bool {
	return slices.ContainsFunc(s.More, func(p Part) bool { return p.VIMType == s.VIMType })
}

// names are the names of the parts on VIMs of a type, by the callers' names for these.
func (s Shape) names(vimType string) map[string]string {
	all := map[string]string{}
	for _, p := range s.Parts() {
		if p.VIMType == vimType {
			all[p.Connection] = p.Name
		}
	}
	return all
}

// containers reports whether the part is on a VIM that knows namespaces and manifests.
func (p Part) containers() bool { return p.VIMType == "kubernetes" }

// Site is a VIM for a part of an instance.
type Site struct {
	// VIM is an id or a name; empty means the project's default VIM, unless there is Inline.
	VIM string
	// Connection is the caller's name for the VIM; empty if the request names none.
	Connection string
	// Inline is the VIM, if the request brings its credential.
	Inline *InlineVIM
}

// at is the shape as the driver of one part sees it: an instance that is on that VIM alone. It shares nothing with s that
// is written.
func (s Shape) at(name string) Shape {
	hybrid := len(s.More) > 0
	of := s
	of.Part, of.More = s.PartOf(name), nil
	of.Resources = nil
	for _, r := range s.Resources {
		if r.Part == name {
			r.Part = ""
			of.Resources = append(of.Resources, r)
		}
	}
	of.VNFCs = slices.DeleteFunc(slices.Clone(s.VNFCs), func(v VNFC) bool { return v.Part != name })
	of.Links = slices.DeleteFunc(slices.Clone(s.Links), func(k Link) bool { return k.Part != name })
	of.Volumes = slices.DeleteFunc(slices.Clone(s.Volumes), func(v Volume) bool { return v.Part != name })
	switch {
	case !hybrid || of.containers() && s.alike():
	case of.containers():
		of.Parameters, of.Concealed.Parameters = nil, false
	default:
		of.Files, of.Waves, of.Labels, of.Release, of.Volumes = nil, nil, nil, "", nil
	}
	return of
}

// post is a part with what works on it.
type post struct {
	Part

	vim    broker.VIM
	driver Driver
	in     PlanInput
	hybrid bool
	// lost is a namespace that the VIM was found not to have.
	lost string
}

// posts are those of a shape.
func (l *Lifecycle) posts(ctx context.Context, p policy.Principal, s Shape) (all []*post, err error) {
	parts := s.Parts()
	if len(parts) == 0 {
		return nil, noDriver("")
	}
	for _, part := range parts {
		one := &post{Part: part, hybrid: len(parts) > 1}
		if one.driver, err = l.driver(s.at(part.Name)); err != nil {
			return nil, err
		}
		if one.vim, err = l.Leaser.VIM(ctx, p, part.VIM); err != nil {
			return nil, one.fault(err)
		}
		all = append(all, one)
	}
	return all, nil
}

// inputs puts into posts what each driver plans from: an operation on an instance of one part. Those that the operation has
// nothing to do with are left out.
func (l *Lifecycle) inputs(ctx context.Context, posts []*post, i Instance, o Operation) (all []*post, err error) {
	if !posts[0].hybrid {
		posts[0].in, err = l.inputOf(ctx, posts[0].driver, i, o)
		posts[0].in.Parts = o.Target.names(posts[0].VIMType)
		return posts, err
	}
	scaled := changed(o.Before, o.Target)
	for n, one := range posts {
		mine, of := i, o
		mine.Shape, of.Before, of.Target = i.Shape.at(one.Name), o.Before.at(one.Name), o.Target.at(one.Name)
		of.VNFCs = slices.DeleteFunc(slices.Clone(o.VNFCs), func(v VNFC) bool { return v.Part != one.Name })
		runs := slices.DeleteFunc(slices.Clone(scaled), func(vdu string) bool {
			on := slices.IndexFunc(i.Shape.Resources, func(r Resource) bool { return r.VDU == vdu })
			return on >= 0 && i.Shape.Resources[on].Part != one.Name || on < 0 && n > 0
		})
		if o.Type == ScaleVNF && len(runs) == 0 || o.Type == Heal && len(o.VNFCs) > 0 && len(of.VNFCs) == 0 {
			continue
		}
		if one.in, err = l.inputOf(ctx, one.driver, mine, of); err != nil {
			return nil, one.fault(err)
		}
		one.in.Part, one.in.Parts = one.Name, o.Target.names(one.VIMType)
		if one.in.Hybrid = true; o.Type == ScaleVNF {
			one.in.Scaled = runs
		}
		all = append(all, one)
	}
	return all, nil
}

// fault is an error that says of which part it is.
func (p *post) fault(err error) error {
	if missing, gone := errors.AsType[*broker.MissingNamespace](err); gone {
		p.lost = missing.Name
	}
	var known *broker.Error
	if !p.hybrid || !errors.As(err, &known) {
		return err
	}
	of := *known
	of.Detail, of.Cause = fmt.Sprintf("%s: %s", p.title(), cmp.Or(of.Detail, of.Kind.Error())), err
	return &of
}

func (p *post) title() string {
	return "part " + vnfpkg.Printable(p.Connection) + " on VIM " + p.VIMName
}

// of is an observation of a part's driver, as one of the instance.
func (o Observation) of(part string) Observation {
	if part != "" {
		o.Part, o.VNFCs, o.Storages = part, slices.Clone(o.VNFCs), slices.Clone(o.Storages)
		for n := range o.VNFCs {
			o.VNFCs[n].Part = part
		}
		for n := range o.Storages {
			o.Storages[n].Part = part
		}
	}
	return o
}

// draw has the drivers plan their parts, side by side, and makes one plan of it. failed is told of a part that cannot be
// planned; the others go on if it returns nil.
func (l *Lifecycle) draw(
	ctx context.Context, p policy.Principal, operation string, posts []*post, standing []Resource, failed func(*post, error) error,
) (Plan, error) {
	plans := make([]Plan, len(posts))
	group, within := errgroup.WithContext(ctx)
	for n, one := range posts {
		if one.in.Operation == Terminate && one.vim.Labels[broker.LabelGone] != "" {
			continue // the system is gone, and what stood on it
		}
		group.Go(func() (err error) {
			if plans[n], err = l.survey(within, p, operation, one.vim, one.driver, one.in); err != nil {
				err = failed(one, err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Plan{}, err
	}
	whole := compose(posts, plans, standing)
	return whole, whole.apart()
}

// apart refuses a VDU that two parts run: its number would be that of each.
func (p Plan) apart() error {
	runs := map[string]Resource{}
	for _, r := range p.Resources {
		if other, is := runs[r.VDU]; is && r.VDU != "" && other.Part != r.Part {
			return broker.Invalid("vimConnectionInfo", "has two parts run VDU %s (%s %s, %s %s), and only one can", r.VDU,
				other.Kind, other.Name, r.Kind, r.Name)
		}
		runs[r.VDU] = r
	}
	return nil
}

// compose makes one plan of those of the parts: their stages are in the order of the waves that the package declares, and
// side by side within such a wave. Parts without a post stay as they stand.
func compose(posts []*post, plans []Plan, standing []Resource) (whole Plan) {
	if !posts[0].hybrid {
		whole = plans[0]
		whole.facts = []Facts{whole.Facts}
		return whole
	}
	worked := map[string]bool{}
	for n, one := range posts {
		p := plans[n]
		worked[one.Name] = true
		for _, r := range p.Resources {
			r.Part = one.Name
			whole.Resources = append(whole.Resources, r)
		}
		whole.Stages = append(whole.Stages, one.inWaves(p.Stages)...)
		if p.Ports != nil && whole.Ports == nil {
			whole.Ports = map[string][]string{}
		}
		for link, names := range p.Ports {
			for _, name := range names {
				whole.Ports[link] = append(whole.Ports[link], one.before()+name)
			}
		}
		whole.facts = append(whole.facts, p.Facts)
		whole.Facts = whole.Facts.and(p.Facts)
	}
	for _, r := range standing {
		if !worked[r.Part] {
			whole.Resources = append(whole.Resources, r)
		}
	}
	slices.SortStableFunc(whole.Stages, func(a, b Stage) int { return cmp.Compare(a.Declared, b.Declared) })
	return whole
}

// inWaves are the stages of a part, divided where another declared wave begins. The driver's order stays: no wave is
// declared later than the one that follows it.
func (p *post) inWaves(stages []Stage) (all []Stage) {
	least := math.MaxInt
	for _, s := range slices.Backward(stages) {
		begins := true
		for _, w := range slices.Backward(s.Waves) {
			for n := range w.Objects {
				w.Objects[n].Part = p.Name
			}
			if was := least; begins || w.declared(p.in.Operation) < was {
				least, begins = min(was, w.declared(p.in.Operation)), false
				all = append(all, Stage{Part: p.Name, Declared: least, Grant: s.Grant})
			}
			last := &all[len(all)-1]
			last.Waves = slices.Insert(last.Waves, 0, w)
		}
	}
	slices.Reverse(all)
	return all
}

// declared is the wave that the package declares for the objects of a wave. What is removed goes in the reverse order, or
// comes last, as what is replaced.
func (w Wave) declared(of OperationType) int {
	least := math.MaxInt
	for _, o := range w.Objects {
		switch {
		case of == Terminate:
			least = min(least, -o.Declared)
		case w.Deed == Apply || w.Deed == Scale:
			least = min(least, o.Declared)
		}
	}
	return least
}

// and are the facts of two plans together.
func (f Facts) and(g Facts) Facts {
	both := func(a, b []string) []string { return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b)))) }
	return Facts{
		Kinds: both(f.Kinds, g.Kinds), Namespaces: both(f.Namespaces, g.Namespaces), Images: both(f.Images, g.Images),
		ClusterScoped: f.ClusterScoped || g.ClusterScoped, Privileged: f.Privileged || g.Privileged, BringsRBAC: f.BringsRBAC || g.BringsRBAC,
		BringsDefinitions: f.BringsDefinitions || g.BringsDefinitions, BringsWebhooks: f.BringsWebhooks || g.BringsWebhooks,
		Outlives: f.Outlives || g.Outlives, PodSecurity: cmp.Or(f.PodSecurity, g.PodSecurity),
		Reaches: SortReaches(slices.Concat(f.Reaches, g.Reaches)),
	}
}

// before is what the names of the part's ports begin with: links tell them by their names from those of other parts.
func (p Part) before() string {
	if p.Name == "" {
		return ""
	}
	return p.Name + ":"
}

// has reports whether a port of a link is the part's.
func (p Part) has(port string) bool {
	before, _, of := strings.Cut(port, ":")
	return !of && p.Name == "" || of && p.Name == before
}

// sites are the parts of a new instance, by what the request says of their VIMs.
func (l *Lifecycle) sites(
	ctx context.Context, p policy.Principal, i Instance, r Instantiation, pkg PackageView, to *Shape,
) (parts []Part, err error) {
	for _, at := range append([]Site{{r.VIM, r.Connection, r.Inline}}, r.More...) {
		if len(r.More) > 0 && !connectionForm().MatchString(at.Connection) {
			return nil, misnamed()
		}
		source := func(on broker.VIMType) Source {
			of := *to
			of.Part, of.More = Part{VIM: "to be", VIMType: string(on), Namespace: r.Namespace}, make([]Part, len(r.More))
			return of.at("").asked(pkg)
		}
		v, err := l.target(ctx, p, i, at, source)
		if err != nil {
			return nil, err
		}
		one := Part{
			Name: at.Connection, VIM: v.ID, VIMName: v.Name, VIMType: string(v.Type), Identity: v.Current.Identity,
			Connection: at.Connection, Inline: at.Inline != nil,
		}
		if len(r.More) == 0 || one.containers() {
			one.Namespace = cmp.Or(r.Namespace, v.Current.Target.Namespace)
		}
		if slices.ContainsFunc(parts, func(other Part) bool {
			return other.VIM == one.VIM || other.VIMType == one.VIMType && one.Identity != "" && other.Identity == one.Identity
		}) {
			return nil, broker.Invalid("vimConnectionInfo", "names the system of VIM %s twice; an instance has one part on it", one.VIMName)
		}
		parts = append(parts, one)
	}
	return parts, nil
}

// settle chooses the VIMs and the drivers of a new instance's parts. That on containers comes first; of two such, that which no
// object names.
func (l *Lifecycle) settle(ctx context.Context, p policy.Principal, i Instance, r Instantiation, pkg PackageView, to *Shape) error {
	parts, err := l.sites(ctx, p, i, r, pkg, to)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(parts, Part.containers); at > 0 {
		parts[0], parts[at] = parts[at], parts[0]
	}
	parts[0].Name = ""
	to.Part, to.More = parts[0], parts[1:]
	for n, one := range parts {
		d, b, err := l.choose(broker.VIMType(one.VIMType), to.at(one.Name).asked(pkg))
		if err != nil {
			return err
		}
		parts[n].Driver, parts[n].Namespace = d.Name(), b.Namespace
	}
	to.Part = parts[0]
	_, err = l.shares(*to, pkg)
	if err != nil { // they are alike
		other := *to
		other.Part, other.More = to.More[0], []Part{to.Part}
		other.Name, other.More[0].Name = "", to.Connection
		if _, still := l.shares(other, pkg); still == nil {
			*to, err = other, nil
		}
	}
	return err
}

// Divider is a driver whose objects say which part of an instance they are of. Of others an instance has one part.
type Divider interface {
	// Divide reads from the files of s the names that objects give their part, or "", and the networks that the pods of each name.
	Divide(s Source) (map[string]map[string]bool, error)
}

// NetworkName is the name that pods know the network of a connection point by.
func NetworkName(cpd string) string { return strings.ToLower(strings.ReplaceAll(cpd, "_", "-")) }

// shares are the networks that each part's pods name, where several parts are on VIMs of one type; each has objects there.
func (l *Lifecycle) shares(s Shape, pkg PackageView) (map[string]map[string]bool, error) {
	const field = "vimConnectionInfo"
	if !s.alike() {
		return nil, nil
	}
	first := s.at("")
	d, err := l.driver(first)
	if err != nil {
		return nil, err
	}
	divides, is := d.(Divider)
	if !is {
		return nil, &broker.Error{
			Kind: broker.ErrUnsupported, Field: field, Detail: "names two VIMs of type " + s.VIMType + ", and the files are of one",
			Remedy: "name one; manifests alone can be on two clusters, and say their part by vimbroker.io/part",
		}
	}
	said, err := divides.Divide(first.source(pkg, true))
	if err != nil {
		return nil, err
	}
	known, all := s.names(s.VIMType), map[string]map[string]bool{}
	for name, networks := range said {
		part, is := known[name]
		if !is && name != "" {
			return nil, &broker.Error{
				Kind: broker.ErrInvalid, Field: field, Detail: "has no VIM of type " + s.VIMType + " with the key " + vnfpkg.Printable(name) +
					", which objects of the package name as their part",
				Remedy: "give the VIM of the part by that key",
			}
		}
		if all[part] == nil {
			all[part] = map[string]bool{}
		}
		maps.Copy(all[part], networks)
	}
	for _, p := range s.Parts() {
		if p.VIMType == s.VIMType && all[p.Name] == nil {
			return nil, &broker.Error{
				Kind: broker.ErrInvalid, Field: field, Detail: "has the key " + p.Connection + ", and the package has no object of that part",
				Remedy: "leave it out, or give it the key that objects name by vimbroker.io/part",
			}
		}
	}
	return all, nil
}

// connectAll is connect for each part, with the links that its driver takes of those that are asked for.
func (l *Lifecycle) connectAll(ctx context.Context, p policy.Principal, pkg PackageView, to *Shape, asked []Link, more bool) error {
	if len(to.More) == 0 {
		return l.connect(ctx, p, pkg, to, asked, more)
	}
	of := *to
	if of.Links = nil; asked != nil && !more {
		of.Managed = nil
	}
	shares, err := l.shares(*to, pkg)
	if err != nil {
		return err
	}
	for n, part := range slices.Backward(to.Parts()) { // the first, on containers, takes what no other does
		view, mine := to.at(part.Name), asked
		view.Managed = nil
		d, err := l.driver(view)
		if err != nil {
			return err
		}
		taking, says := d.(Networker)
		switch {
		case n == 0 || asked == nil:
		case shares != nil: // a network that pods of both name is of both
			takes := func(name string) bool { return shares[part.Name][NetworkName(name)] }
			mine = divided(asked, takes)
			asked = divided(asked, func(name string) bool { return !takes(name) || shares[""][NetworkName(name)] })
		case says:
			_, taken, err := taking.Networks(view.source(pkg, true))
			if err != nil {
				return err
			}
			takes := func(name string) bool { return taken[name] }
			mine, asked = divided(asked, takes), divided(asked, func(name string) bool { return !takes(name) })
		}
		if err := l.connect(ctx, p, pkg, &view, mine, more); err != nil {
			return err
		}
		for _, k := range view.Links {
			k.Part = part.Name
			of.Links = append(of.Links, k)
		}
		if of.Managed = append(of.Managed, view.Managed...); n == len(to.More) {
			of.Unmade = view.Unmade
		}
		of.Unmade = slices.DeleteFunc(of.Unmade, func(name string) bool { return !slices.Contains(view.Unmade, name) })
	}
	*to = of
	return nil
}

// divided are the links that a part takes, each with the connection points that it takes.
func divided(asked []Link, takes func(name string) bool) []Link {
	mine := []Link{}
	for _, k := range asked {
		k.CPs = slices.DeleteFunc(slices.Clone(k.CPs), func(p sol003.ExtCP) bool { return !takes(p.CPDID) })
		if len(k.CPs) > 0 || k.VL != "" && takes(k.VL) {
			mine = append(mine, k)
		}
	}
	return mine
}

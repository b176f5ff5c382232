package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	switch {
	case !hybrid:
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
		if one.in.Hybrid = true; o.Type == ScaleVNF {
			one.in.Scaled = runs
		}
		all = append(all, one)
	}
	return all, nil
}

// fault is an error that says of which part it is.
func (p *post) fault(err error) error {
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
	return compose(posts, plans, standing), nil
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
		if p.Ports != nil { // one part has pods
			whole.Ports = p.Ports
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

// settle chooses the VIMs and the drivers of a new instance's parts. That on containers comes first.
func (l *Lifecycle) settle(ctx context.Context, p policy.Principal, i Instance, r Instantiation, pkg PackageView, to *Shape) error {
	var parts []Part
	for _, at := range append([]Site{{r.VIM, r.Connection, r.Inline}}, r.More...) {
		if len(r.More) > 0 && !connectionForm().MatchString(at.Connection) {
			return misnamed()
		}
		source := func(on broker.VIMType) Source {
			of := *to
			of.Part, of.More = Part{VIM: "to be", VIMType: string(on), Namespace: r.Namespace}, make([]Part, len(r.More))
			return of.at("").asked(pkg)
		}
		v, err := l.target(ctx, p, i, at, source)
		if err != nil {
			return err
		}
		one := Part{
			Name: at.Connection, VIM: v.ID, VIMName: v.Name, VIMType: string(v.Type), Identity: v.Current.Identity,
			Connection: at.Connection, Inline: at.Inline != nil,
		}
		if len(r.More) == 0 || one.containers() {
			one.Namespace = cmp.Or(r.Namespace, v.Current.Target.Namespace)
		}
		if slices.ContainsFunc(parts, func(other Part) bool { return other.VIMType == one.VIMType }) {
			return &broker.Error{
				Kind: broker.ErrUnsupported, Field: "vimConnectionInfo", Detail: "names two VIMs of type " + one.VIMType,
				Remedy: "an instance of several parts has one part on Kubernetes and one on OpenStack",
			}
		}
		parts = append(parts, one)
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
	return nil
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
	for n, part := range slices.Backward(to.Parts()) { // the first, on containers, takes what no other does
		view, mine := to.at(part.Name), asked
		view.Managed = nil
		d, err := l.driver(view)
		if err != nil {
			return err
		}
		if taking, is := d.(Networker); is && n > 0 && asked != nil {
			_, taken, err := taking.Networks(view.source(pkg, true))
			if err != nil {
				return err
			}
			mine, asked = divided(asked, taken)
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

// divided are the links, and the connection points of each, that a part takes, and those that it does not.
func divided(asked []Link, taken map[string]bool) (mine, others []Link) {
	mine, others = []Link{}, []Link{}
	for _, k := range asked {
		for takes, side := range map[bool]*[]Link{true: &mine, false: &others} {
			of := k
			of.CPs = slices.DeleteFunc(slices.Clone(k.CPs), func(p sol003.ExtCP) bool { return taken[p.CPDID] != takes })
			if len(of.CPs) > 0 || k.VL != "" && taken[k.VL] == takes {
				*side = append(*side, of)
			}
		}
	}
	return mine, others
}

// Package web are the pages about VNFs: packages, instances and operations, for the door of broker/api/web.
package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/web"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Lifecycle keeps instances and operations. [lifecycle.Lifecycle] says what each method does. No method returns a
// credential.
type Lifecycle interface {
	Instance(ctx context.Context, p policy.Principal, id string) (lifecycle.Instance, error)
	Instances(ctx context.Context, p policy.Principal, q lifecycle.InstanceQuery) ([]lifecycle.Instance, string, error)
	Operation(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Operations(ctx context.Context, p policy.Principal, q lifecycle.OperationQuery) ([]lifecycle.Operation, string, error)
	Retry(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Rollback(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Fail(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Cancel(ctx context.Context, p policy.Principal, id string, mode lifecycle.CancelMode) (lifecycle.Operation, error)
}

// Packages keeps packages. [catalog.Catalog] says what each method does.
type Packages interface {
	Package(ctx context.Context, p policy.Principal, ref catalog.PackageRef) (catalog.Package, error)
	Packages(ctx context.Context, p policy.Principal, q catalog.Query) ([]catalog.Package, string, error)
}

type rooms struct {
	lifecycle Lifecycle
	packages  Packages
	leases    web.Leaser
}

var (
	instanceStates  = map[lifecycle.InstanceState]web.Mark{lifecycle.Instantiated: web.Good, lifecycle.NotInstantiated: web.Idle}
	operationStates = map[lifecycle.OperationState]web.Mark{
		lifecycle.Starting: web.Idle, lifecycle.Processing: web.Idle, lifecycle.Completed: web.Good, lifecycle.FailedTemp: web.Bad,
		lifecycle.Failed: web.Bad, lifecycle.RollingBack: web.Warn, lifecycle.RolledBack: web.Warn,
	}
	packageStates = map[catalog.State]web.Mark{
		catalog.Created: web.Idle, catalog.Uploading: web.Idle, catalog.Processing: web.Idle, catalog.Enabled: web.Good,
		catalog.Disabled: web.Warn,
	}
)

// Rooms are the pages about VNFs.
func Rooms(l Lifecycle, p Packages, leases web.Leaser) []web.Room {
	r := &rooms{l, p, leases}
	return []web.Room{
		{Nav: "VNFs", Path: "vnfs", Addresses: []web.Address{
			{Path: "/vnfs", Show: r.instances}, {Path: "/vnfs/{id}", Show: web.One(l.Instance, r.instance)},
		}},
		{
			Nav: "Operations", Path: "operations", Needs: r.needs,
			Addresses: []web.Address{
				{Path: "/operations", Show: r.operations}, {Path: "/operations/{id}", Show: web.One(l.Operation, r.operation)},
			},
			Doings: []web.Doing{
				r.act("retry", "Retry", "It is begun again, for you.", l.Retry),
				r.act("rollback", "Roll back", "Its work is taken back.", l.Rollback),
				r.act("fail", "Give up", "It is over. What it made stays on the VIM.", l.Fail),
				r.act("cancel", "Cancel", "The wave that is being worked ends first.",
					func(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error) {
						return l.Cancel(ctx, p, id, lifecycle.Graceful)
					}),
			},
		},
		{Nav: "Packages", Path: "packages", Addresses: []web.Address{
			{Path: "/packages", Show: r.list}, {Path: "/packages/{id}", Show: web.One(r.named, pkg)},
		}},
	}
}

func (r *rooms) instances(v *web.Visit) (web.Screen, error) {
	found, next, err := r.lifecycle.Instances(v.Context(), v.Principal, lifecycle.InstanceQuery{Name: v.Get("name"), Page: v.Page()})
	return web.Listing(v, "VNF instances", web.Table(
		[]string{"Name", "State", "Product", "Version", "VIM", "Namespace", "Drift", "Project", "Id"}, v.Next(next),
		"There is no such VNF instance. Take a filter away, or make one: vimbroker vnf create --vnfd VNFD NAME",
		found, func(i lifecycle.Instance) []web.Cell {
			s := i.Shape
			return []web.Cell{
				web.To(cmp.Or(i.Name, "(no name)"), "vnfs", i.ID), web.State(i.State, instanceStates), web.Say(s.Product.Name),
				web.Say(s.Product.SoftwareVersion), web.To(s.VIMName, "vims", s.VIM), web.Say(s.Namespace), drift(i.Drift), web.Say(i.Project),
				web.ID(i.ID),
			}
		}), web.Field{Name: "name", Label: "Name"}), err
}

func drift(d lifecycle.Drift) web.Cell {
	switch {
	case d.TriedAt.IsZero():
		return web.Cell{}
	case d.Unseen != "":
		return web.Cell{Text: "not seen", Mark: web.Warn}
	case d.Count > 0:
		return web.Cell{Text: web.Count(d.Count, 0, "resource", "resources"), Mark: web.Bad}
	}
	return web.Cell{Text: "none", Mark: web.Good}
}

func (r *rooms) instance(v *web.Visit, i lifecycle.Instance) (web.Screen, error) {
	s := i.Shape
	facts := []web.Fact{
		web.Of("Description", i.Description),
		web.Are("Product", web.To(strings.TrimSpace(s.Product.Provider+" "+s.Product.Name), "packages", s.Package)),
		web.Of("Version", s.Product.SoftwareVersion), web.Of("VNFD", s.Product.VNFDID), web.Of("Project", i.Project),
		web.Of("Namespace", s.Namespace), web.Of("Flavour", s.Flavour), web.Of("Made by", i.CreatedBy), web.At("Made", i.CreatedAt),
		web.Code("Id", i.ID), web.Of("Not done", s.NotDone()...), web.Are("VIM", web.To(s.VIMName, "vims", s.VIM)),
	}
	for _, aspect := range slices.Sorted(maps.Keys(s.Scale)) {
		facts = append(facts, web.Of("Scale of "+aspect, fmt.Sprintf("%d of %d", s.Scale[aspect], s.MaxScale[aspect])))
	}
	view := web.Screen{Kind: "VNF instance", Title: cmp.Or(i.Name, web.Short(i.ID)), State: web.State(i.State, instanceStates), Live: true}
	view.Blocks = []web.Block{{Title: "Facts", Facts: facts}}
	if i.State == lifecycle.Instantiated {
		view.Blocks = append(view.Blocks, web.Block{Title: "Topology", Tree: topology(i)})
	}
	if d := i.Drift; !d.TriedAt.IsZero() {
		b := web.Block{Title: "Drift", Facts: []web.Fact{
			web.Are("Found", drift(d)), web.Of("Not seen because", d.Unseen), web.At("Looked", d.TriedAt), web.At("Seen", d.SeenAt),
		}}
		for _, o := range d.Resources {
			b.Tree = append(b.Tree, observed(o))
		}
		view.Blocks = append(view.Blocks, b)
	}
	t, err := r.operationTable(v, lifecycle.OperationQuery{Instance: i.ID, Page: v.Page()})
	view.Blocks = append(view.Blocks, web.Block{Title: "Operations", Table: t})
	return view, err
}

// topology draws an instance: its VDUs with their VNFCs, and its objects by kind.
func topology(i lifecycle.Instance) []web.Node {
	root := web.Node{Kind: "VNF", Cell: web.Cell{Text: cmp.Or(i.Name, web.Short(i.ID))}}
	vdus, kinds := map[string][]web.Node{}, map[string][]web.Node{}
	for _, c := range i.Shape.VNFCs {
		n := web.Node{Kind: c.Kind, Cell: web.Cell{Text: c.Name, Mark: web.Good}}
		if !c.Ready {
			n.Mark = web.Warn
		}
		for _, p := range c.CPs {
			n.Sub = append(n.Sub, web.Node{Kind: "connection point", Cell: web.Cell{Text: strings.TrimSpace(p.CPD + " " + p.MAC)}})
		}
		vdus[c.VDU] = append(vdus[c.VDU], n)
	}
	for _, r := range i.Shape.Resources {
		kinds[r.Kind] = append(kinds[r.Kind], web.Node{Cell: web.Cell{Text: strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")}})
	}
	for _, name := range slices.Sorted(maps.Keys(vdus)) {
		root.Sub = append(root.Sub, web.Node{Kind: "VDU", Cell: web.Cell{Text: name}, Sub: vdus[name]})
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		root.Sub = append(root.Sub, web.Node{Kind: "objects", Cell: web.Cell{Text: kind}, Sub: kinds[kind]})
	}
	return []web.Node{root}
}

// observed is a resource as it was seen.
func observed(o lifecycle.Observation) web.Node {
	n := web.Node{Kind: o.Kind, Cell: web.Cell{Text: strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), Mark: web.Good}}
	message := o.Message // what is wrong, or what it waits for
	switch {
	case !o.Standing:
		n.Mark, message = web.Bad, cmp.Or(message, "is missing")
	case !o.Ready:
		n.Mark, message = web.Warn, cmp.Or(message, "is not ready")
	}
	if message != "" {
		n.Sub = append(n.Sub, web.Node{Cell: web.Say(message)})
	}
	for _, by := range o.ChangedBy {
		n.Mark = web.Bad
		n.Sub = append(n.Sub, web.Node{Kind: "changed by", Cell: web.Cell{Text: by}})
	}
	return n
}

func (r *rooms) operationTable(v *web.Visit, q lifecycle.OperationQuery) (*web.Grid, error) {
	found, next, err := r.lifecycle.Operations(v.Context(), v.Principal, q)
	return web.Table([]string{"Operation", "State", "Type", "Instance", "Why", "Started", "By"}, v.Next(next),
		"There is no such operation. Take a filter away, or begin one: vimbroker vnf instantiate NAME --vim VIM",
		found, func(o lifecycle.Operation) []web.Cell {
			return []web.Cell{
				web.ID(o.ID, "operations"), web.State(o.State, operationStates), web.Say(o.Type), web.ID(o.Instance, "vnfs"), web.Say(why(o)),
				web.On(o.StartedAt), web.Say(o.Asker.Name),
			}
		}), err
}

// why an operation has failed, or waits.
func why(o lifecycle.Operation) string {
	switch {
	case o.Waiting != nil:
		return fmt.Sprintf("waits, number %d of its project: %s", o.Waiting.Position, o.Waiting.Reason)
	case o.Failure != nil:
		return o.Failure.Detail
	}
	return ""
}

func (r *rooms) operations(v *web.Visit) (web.Screen, error) {
	t, err := r.operationTable(v, lifecycle.OperationQuery{Instance: v.Get("instance"), Failed: v.Get("failed") != "", Page: v.Page()})
	view := web.Listing(v, "Operations", t, web.Field{Name: "instance", Label: "Instance", Hint: "id"},
		web.Field{Name: "failed", Label: "Those that wait for somebody", Options: []string{"yes"}})
	view.Live = true
	return view, err
}

// acts are what can be done with an operation now.
func acts(o lifecycle.Operation) (all []web.Link) {
	for _, one := range []struct {
		text, act string
		legal     bool
	}{
		{"Retry", "retry", o.State == lifecycle.FailedTemp},
		{"Roll back", "rollback", o.State == lifecycle.FailedTemp && o.Type.Rollbackable()},
		{"Give up", "fail", o.State == lifecycle.FailedTemp},
		{"Cancel", "cancel", o.Cancelable()},
	} {
		if one.legal {
			all = append(all, web.Link{Text: one.text, Href: web.Here("operations", o.ID, one.act)})
		}
	}
	return all
}

func (r *rooms) operation(v *web.Visit, o lifecycle.Operation) (web.Screen, error) {
	leases, err := web.LeaseTable(v, r.leases, o.ID)
	if err != nil {
		return web.Screen{}, err
	}
	leases.Empty = "It has used no lease that is still known."
	facts := []web.Fact{
		web.Of("Why", why(o)), web.Are("Instance", web.To(web.Short(o.Instance), "vnfs", o.Instance)), web.Of("Asked for by", o.Asker.Name),
		web.Of("Project", o.Project), web.Of("Is to be canceled", o.Cancel), web.Code("Id", o.ID), web.Of("Not done", o.Target.NotDone()...),
	}
	if o.State.Working() && !o.Waits() {
		facts = append(facts, web.At("Waits until", o.Deadline))
	}
	return web.Screen{
		Kind: "Operation", Title: string(o.Type) + " " + web.Short(o.ID), State: web.State(o.State, operationStates), Acts: acts(o),
		Live: o.State.Live(), Blocks: []web.Block{
			{Title: "Facts", Facts: facts},
			{Title: "Time line", Steps: timeline(o)},
			{Title: "Leases that it used", Table: leases},
		},
	}, nil
}

// timeline are the waves of an operation, with what each waits for.
func timeline(o lifecycle.Operation) []web.Step {
	steps := []web.Step{{Cell: web.Cell{Time: o.StartedAt}, Mark: web.Good, Note: "asked for by " + o.Asker.Name}}
	if o.Waits() {
		steps = append(steps, web.Step{Cell: web.Cell{Text: "waits for its turn"}, Mark: web.Idle, Note: why(o)})
	} else if o.TurnAt.After(time.Unix(1, 0)) {
		steps = append(steps, web.Step{Cell: web.Cell{Time: o.TurnAt}, Mark: web.Good, Note: "its turn came"})
	}
	waves := map[int][]lifecycle.Observation{}
	for _, s := range o.Steps {
		waves[s.Wave] = append(waves[s.Wave], s)
	}
	for _, n := range slices.Sorted(maps.Keys(waves)) {
		step := web.Step{Cell: web.Cell{Text: "wave " + strconv.Itoa(n)}, Mark: web.Good}
		for _, s := range waves[n] {
			line := observed(s)
			if !s.Ready {
				step.Mark = web.Warn
			}
			step.Lines = append(step.Lines, line)
		}
		steps = append(steps, step)
	}
	return append(steps, web.Step{
		Cell: web.Cell{Time: o.StateEnteredAt}, Mark: operationStates[o.State],
		Note: strings.TrimSuffix(string(o.State)+": "+why(o), ": "),
	})
}

// act is one on an operation.
func (r *rooms) act(
	name, button, note string, do func(context.Context, policy.Principal, string) (lifecycle.Operation, error),
) web.Doing {
	return web.Doing{
		Path: "/operations/{id}/" + name,
		Ask: web.One(r.lifecycle.Operation, func(_ *web.Visit, o lifecycle.Operation) (web.Screen, error) {
			return web.Screen{
				Kind: "Operation", Title: button + ": " + string(o.Type) + " " + web.Short(o.ID) + "?",
				Blocks: []web.Block{{Note: note, Facts: []web.Fact{
					web.Are("Instance", web.To(web.Short(o.Instance), "vnfs", o.Instance)), web.Are("State", web.State(o.State, operationStates)),
					web.Of("Why", why(o)), web.Of("Asked for by", o.Asker.Name),
				}}},
				Ask: &web.Question{Button: button, Back: web.Here("operations", o.ID)},
			}, nil
		}),
		Do: web.Act(do, func(o lifecycle.Operation) string { return web.Here("operations", o.ID) }),
	}
}

// needs are the operations that wait for somebody.
func (r *rooms) needs(v *web.Visit) (all []web.Need, err error) {
	if !v.May(policy.VNFShow, v.Principal.Project) {
		return nil, nil
	}
	found, _, err := r.lifecycle.Operations(v.Context(), v.Principal, lifecycle.OperationQuery{Failed: true, Page: broker.Page{Size: 10}})
	for _, o := range found {
		all = append(all, web.Need{
			What: web.Cell{Text: "operation " + string(o.Type) + " " + web.Short(o.ID), Href: web.Here("operations", o.ID), Mark: web.Bad},
			Why:  why(o), Since: o.StateEnteredAt,
		})
	}
	return all, err
}

func (r *rooms) list(v *web.Visit) (web.Screen, error) {
	found, next, err := r.packages.Packages(v.Context(), v.Principal, catalog.Query{VNFD: v.Get("vnfd"), Page: v.Page()})
	return web.Listing(v, "VNF packages", web.Table(
		[]string{"Product", "Version", "State", "Used", "VNFD", "Signed by", "Project", "Id"}, v.Next(next),
		"There is no such package. Take a filter away, or upload one: vimbroker package create --upload FILE",
		found, func(p catalog.Package) []web.Cell {
			return []web.Cell{
				web.To(cmp.Or(product(p), "(not onboarded)"), "packages", p.ID), web.Say(p.SoftwareVersion), web.State(p.State, packageStates),
				web.Say(map[bool]string{true: "in use"}[p.InUse]), web.Say(p.VNFDID), web.Say(p.Signer), web.Say(p.Project), web.ID(p.ID),
			}
		}), web.Field{Name: "vnfd", Label: "VNFD", Hint: "id"}), err
}

func product(p catalog.Package) string { return strings.TrimSpace(p.Provider + " " + p.ProductName) }

func (r *rooms) named(ctx context.Context, p policy.Principal, id string) (catalog.Package, error) {
	return r.packages.Package(ctx, p, catalog.PackageRef{ID: id})
}

func pkg(_ *web.Visit, p catalog.Package) (web.Screen, error) {
	return web.Screen{
		Kind: "VNF package", Title: cmp.Or(product(p), web.Short(p.ID)), State: web.State(p.State, packageStates),
		Blocks: []web.Block{{Title: "Facts", Facts: []web.Fact{
			web.Of("Warnings", p.Warnings...), web.Of("Version", p.SoftwareVersion), web.Of("VNFD", p.VNFDID),
			web.Of("Version of the VNFD", p.VNFDVersion), web.Of("VNFMs", strings.Join(p.VNFMInfo, ", ")), web.Of("Signed by", p.Signer),
			web.Of("Size", strconv.FormatInt(p.Size, 10)+" bytes"), web.Code("SHA-256", p.SHA256), web.Of("Project", p.Project),
			web.Of("Made by", p.CreatedBy), web.At("Made", p.CreatedAt), web.At("Onboarded", p.OnboardedAt), web.Code("Id", p.ID),
		}}, {Title: "Artifacts", Table: web.Table([]string{"Artifact", "Hash"}, "", "It declares no artifact.",
			p.Artifacts, func(a vnfpkg.Artifact) []web.Cell {
				return []web.Cell{{Text: a.Path, Code: true}, {Text: a.Algorithm + " " + a.Hash, Code: true}}
			})}},
	}, nil
}

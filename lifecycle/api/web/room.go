// Package web are the pages about VNFs: packages, instances and operations, for the door of broker/api/web.
package web

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/web"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
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

//go:embed *.html
var pages embed.FS

type rooms struct {
	lifecycle Lifecycle
	packages  Packages
	leases    web.Leaser
}

var (
	_ = web.Marked(map[lifecycle.InstanceState]web.Mark{lifecycle.Instantiated: web.Good, lifecycle.NotInstantiated: web.Idle})
	_ = web.Marked(map[lifecycle.OperationState]web.Mark{
		lifecycle.Starting: web.Idle, lifecycle.Processing: web.Idle, lifecycle.Completed: web.Good, lifecycle.FailedTemp: web.Bad,
		lifecycle.Failed: web.Bad, lifecycle.RollingBack: web.Warn, lifecycle.RolledBack: web.Warn,
	})
	_ = web.Marked(map[catalog.State]web.Mark{
		catalog.Created: web.Idle, catalog.Uploading: web.Idle, catalog.Processing: web.Idle, catalog.Enabled: web.Good,
		catalog.Disabled: web.Warn,
	})
)

// Rooms are the pages about VNFs.
func Rooms(l Lifecycle, p Packages, leases web.Leaser) []web.Room {
	r := &rooms{l, p, leases}
	return []web.Room{
		{
			Nav: "VNFs", Path: "vnfs", Pages: pages,
			Words:     template.FuncMap{"drift": drift, "why": why, "product": product, "groups": groups, "waves": waves},
			Addresses: []web.Address{{Path: "/vnfs", Show: r.instances}, {Path: "/vnfs/{id}", Show: web.One(l.Instance, r.instance)}},
		},
		{
			Nav: "Operations", Path: "operations", Needs: r.needs,
			Addresses: []web.Address{
				{Path: "/operations", Show: r.operations}, {Path: "/operations/{id}", Show: web.One(l.Operation, r.operation)},
			},
			Doings: []web.Doing{
				r.act("retry", l.Retry), r.act("rollback", l.Rollback), r.act("fail", l.Fail),
				r.act("cancel", func(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error) {
					return l.Cancel(ctx, p, id, lifecycle.Graceful)
				}),
			},
		},
		{Nav: "Packages", Path: "packages", Addresses: []web.Address{
			{Path: "/packages", Show: r.list}, {Path: "/packages/{id}", Show: web.Page(r.named, "package")},
		}},
	}
}

// act is one on an operation. A template of its name asks before.
func (r *rooms) act(name string, do func(context.Context, policy.Principal, string) (lifecycle.Operation, error)) web.Doing {
	return web.Doing{
		Path: "/operations/{id}/" + name, Ask: web.Page(r.lifecycle.Operation, name+" operation"),
		Do: web.Act(do, func(o lifecycle.Operation) string { return web.Here("operations", o.ID) }),
	}
}

func (r *rooms) instances(v *web.Visit) (web.Screen, error) {
	list, err := web.Found(r.lifecycle.Instances(v.Context(), v.Principal, lifecycle.InstanceQuery{Name: v.Get("name"), Page: v.Page()}))
	return web.Listing(v, "instances", "VNF instances", list, web.Field{Name: "name", Label: "Name"}), err
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
	list, err := web.Found(r.lifecycle.Operations(v.Context(), v.Principal, lifecycle.OperationQuery{Instance: i.ID, Page: v.Page()}))
	list.Title = "Operations"
	return web.Screen{Page: "instance", Of: i, List: list, Live: true}, err
}

// groups are the parts of an instance: its VNFCs by VDU, and the names of its objects by kind.
func groups(s lifecycle.Shape) (g struct {
	VDUs    map[string][]lifecycle.VNFC
	Objects map[string][]lifecycle.Resource
},
) {
	g.VDUs, g.Objects = map[string][]lifecycle.VNFC{}, map[string][]lifecycle.Resource{}
	for _, c := range s.VNFCs {
		g.VDUs[c.VDU] = append(g.VDUs[c.VDU], c)
	}
	for _, o := range s.Resources {
		g.Objects[o.Kind] = append(g.Objects[o.Kind], o)
	}
	return g
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
	list, err := web.Found(r.lifecycle.Operations(v.Context(), v.Principal, lifecycle.OperationQuery{
		Instance: v.Get("instance"), Failed: v.Get("failed") != "", Page: v.Page(),
	}))
	view := web.Listing(v, "operations", "Operations", list, web.Field{Name: "instance", Label: "Instance", Hint: "id"},
		web.Field{Name: "failed", Label: "Those that wait for somebody", Options: []string{"yes"}})
	view.Live = true
	return view, err
}

func (r *rooms) operation(v *web.Visit, o lifecycle.Operation) (web.Screen, error) {
	leases, err := web.LeaseList(v, r.leases, broker.LeaseQuery{Operation: o.ID, Page: v.Page()})
	leases.Title, leases.Empty = "Leases that it used", "It has used no lease that is still known."
	return web.Screen{Page: "operation", Of: o, List: leases, Live: o.State.Live()}, err
}

// waves are the steps of an operation, by wave.
func waves(o lifecycle.Operation) map[int][]lifecycle.Observation {
	all := map[int][]lifecycle.Observation{}
	for _, s := range o.Steps {
		all[s.Wave] = append(all[s.Wave], s)
	}
	return all
}

// needs are the operations that wait for somebody.
func (r *rooms) needs(v *web.Visit) (all []web.Need, err error) {
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
	list, err := web.Found(r.packages.Packages(v.Context(), v.Principal, catalog.Query{VNFD: v.Get("vnfd"), Page: v.Page()}))
	return web.Listing(v, "packages", "VNF packages", list, web.Field{Name: "vnfd", Label: "VNFD", Hint: "id"}), err
}

func product(p catalog.Package) string { return strings.TrimSpace(p.Provider + " " + p.ProductName) }

func (r *rooms) named(ctx context.Context, p policy.Principal, id string) (catalog.Package, error) {
	return r.packages.Package(ctx, p, catalog.PackageRef{ID: id})
}

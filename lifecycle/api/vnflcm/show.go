package vnflcm

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle/api/sol013"
)

// connectionOf is the key of an instance's one VIM: what the request called it.
func connectionOf(s lifecycle.Shape) string { return cmp.Or(s.Connection, "vim") }

// vimTypes are SOL003's names of types of VIMs.
var vimTypes = map[string]string{"kubernetes": "ETSINFV.KUBERNETES.V_1", "openstack": "ETSINFV.OPENSTACK_KEYSTONE.V_3"}

func instanceURL(c *api.Call, id string) string {
	return sol013.URL(c, sol003.Prefix+"/vnf_instances/"+id)
}

func operationURL(c *api.Call, o lifecycle.Operation) string {
	return sol013.URL(c, sol003.Prefix+"/vnf_lcm_op_occs/"+o.ID)
}

// instance is an instance as SOL003 has it.
func instance(c *api.Call, i lifecycle.Instance) sol003.VNFInstance {
	self, s := instanceURL(c, i.ID), i.Shape
	shown := sol003.VNFInstance{
		ID: i.ID, Name: i.Name, Description: i.Description, VNFDID: s.Product.VNFDID, Provider: s.Product.Provider,
		ProductName: s.Product.Name, SoftwareVersion: s.Product.SoftwareVersion, VNFDVersion: s.Product.VNFDVersion,
		State: string(i.State), Metadata: kept(i.Metadata), Extensions: kept(i.Extensions), Configurable: kept(i.Configurable),
		Own: &sol003.InstanceDetail{
			Project: i.Project, CreatedBy: i.CreatedBy, CreatedAt: i.CreatedAt, Namespace: s.Namespace, VIMName: s.VIMName,
		},
		Links: sol003.Links{"self": {Href: self}},
	}
	for _, r := range s.Resources {
		shown.Own.Resources = append(shown.Own.Resources, resource(r))
	}
	shown.Own.Drift = drift(i.Drift)
	if i.State == lifecycle.NotInstantiated {
		shown.Links["instantiate"] = sol003.Link{Href: self + "/instantiate"}
		return shown
	}
	for link, task := range map[string]string{"terminate": "terminate", "scale": "scale", "heal": "heal", "changeVnfPkg": "change_vnfpkg"} {
		if task != "scale" || len(s.Scale) > 0 {
			shown.Links[link] = sol003.Link{Href: self + "/" + task}
		}
	}
	shown.VIMs = map[string]sol003.VIMConnectionInfo{connectionOf(s): {VIMID: s.VIM, VIMType: vimTypes[s.VIMType]}}
	info := &sol003.InstantiatedVNFInfo{FlavourID: s.Flavour, State: "STARTED"}
	for _, aspect := range slices.Sorted(maps.Keys(s.Scale)) {
		info.ScaleStatus = append(info.ScaleStatus, sol003.ScaleInfo{AspectID: aspect, Level: s.Scale[aspect]})
	}
	for _, v := range s.VNFCs {
		info.Resources = append(info.Resources, sol003.VNFCResourceInfo{
			ID: v.Name, VDUID: v.VDU, Compute: handle(s, v), Metadata: map[string]string{"namespace": v.Namespace},
		})
		info.VNFCs = append(info.VNFCs, sol003.VNFCInfo{ID: v.ID(), VDUID: v.VDU, ResourceInfoID: v.Name, State: "STARTED"})
	}
	shown.Instantiated = info
	return shown
}

// kept is a JSON object that a caller gave; nothing where there is none.
func kept(text []byte) jsontext.Value {
	v, _ := codec.Kept(string(text))
	return v
}

func resource(r lifecycle.Resource) sol003.Resource {
	version := r.Version
	if r.Group != "" {
		version = r.Group + "/" + r.Version
	}
	return sol003.Resource{Kind: r.Kind, APIVersion: version, Namespace: r.Namespace, Name: r.Name, VDU: r.VDU, Outlives: r.Outlives}
}

// drift is what was seen of an instance; nil where it was not looked at since its last operation.
func drift(d lifecycle.Drift) *sol003.Drift {
	if d.TriedAt.IsZero() {
		return nil
	}
	shown := &sol003.Drift{Count: d.Count, Unseen: d.Unseen, TriedAt: &d.TriedAt}
	if !d.SeenAt.IsZero() {
		shown.SeenAt = &d.SeenAt
	}
	for _, o := range d.Resources {
		shown.Resources = append(shown.Resources, observed(o))
	}
	return shown
}

func observed(o lifecycle.Observation) sol003.Resource {
	r := resource(o.Resource)
	r.Standing, r.Ready, r.Message, r.ChangedBy = &o.Standing, &o.Ready, o.Message, o.ChangedBy
	return r
}

// operation is an operation as SOL003 has it. It has the links that lead somewhere now.
func operation(c *api.Call, o lifecycle.Operation) sol003.OpOcc {
	self := operationURL(c, o)
	shown := sol003.OpOcc{
		ID: o.ID, State: string(o.State), StateEnteredAt: o.StateEnteredAt, StartedAt: o.StartedAt, InstanceID: o.Instance,
		Operation: string(o.Type), Params: kept(o.Params), CancelPending: o.Cancel != "", CancelMode: string(o.Cancel),
		Own:   &sol003.OperationDetail{Project: o.Project, AskedBy: o.Asker.Name, Stage: o.Stage},
		Links: sol003.Links{"self": {Href: self}, "vnfInstance": {Href: instanceURL(c, o.Instance)}},
	}
	if f := o.Failure; f != nil {
		shown.Error = &sol003.Problem{Title: f.Title, Status: f.Status, Detail: f.Detail}
	}
	if o.State == lifecycle.Completed {
		shown.Changed, shown.Triggered = changed(o)
		shown.Resources = affected(o)
	}
	for _, s := range o.Steps {
		shown.Own.Steps = append(shown.Own.Steps, observed(s))
	}
	for link, legal := range map[string]bool{
		"retry": o.State == lifecycle.FailedTemp, "fail": o.State == lifecycle.FailedTemp,
		"rollback": o.State == lifecycle.FailedTemp && o.Type.Rollbackable(),
		"cancel":   o.State.Working(),
	} {
		if legal {
			shown.Links[link] = sol003.Link{Href: self + "/" + link}
		}
	}
	if w := o.Waiting; w != nil {
		shown.Own.Waiting = &sol003.Waiting{Since: w.Since, Position: w.Position, Reason: w.Reason}
	}
	if o.State.Working() && !o.Waits() {
		shown.Own.Deadline = &o.Deadline
	}
	return shown
}

// changed is what a completed operation has changed of the instance's information.
func changed(o lifecycle.Operation) (*sol003.ModifyRequest, *sol003.PackageModified) {
	switch p := o.Target.Product; o.Type {
	case lifecycle.ModifyInfo:
		var asked sol003.ModifyRequest
		if wire.Tolerant(o.Params, &asked) == nil {
			for _, v := range asked.VIMs {
				v.VIMID, v.VIMType = o.Target.VIM, vimTypes[o.Target.VIMType]
			}
			return &asked, nil
		}
	case lifecycle.ChangePackage:
		return nil, &sol003.PackageModified{
			VNFDID: p.VNFDID, Provider: p.Provider, ProductName: p.Name, SoftwareVersion: p.SoftwareVersion, VNFDVersion: p.VNFDVersion,
		}
	}
	return nil, nil
}

func handle(on lifecycle.Shape, v lifecycle.VNFC) sol003.ResourceHandle {
	return sol003.ResourceHandle{VIMConnectionID: connectionOf(on), ResourceID: v.Name, Type: v.Kind}
}

// affected are the VNFCs that a completed operation has changed: the pods that were seen last of the workloads that
// it worked on, against those of before. Nil for none.
func affected(o lifecycle.Operation) *sol003.ResourceChanges {
	before, worked, on := map[string]lifecycle.VNFC{}, map[string]bool{}, o.Target
	if o.Type == lifecycle.Terminate {
		on = o.Before
	}
	for _, v := range o.Before.VNFCs {
		before[v.ID()] = v
	}
	var all []sol003.AffectedVNFC
	add := func(v lifecycle.VNFC, how string) {
		all = append(all, sol003.AffectedVNFC{
			ID: v.Name, VDUID: v.VDU, ChangeType: how, Compute: handle(on, v), Metadata: map[string]string{"namespace": v.Namespace},
		})
	}
	for _, s := range o.Steps {
		worked[s.VDU] = true
		for _, v := range s.VNFCs {
			switch was, known := before[v.ID()]; {
			case !known:
				add(v, sol003.Added)
			case was.UID != v.UID:
				add(v, sol003.Modified)
			}
			delete(before, v.ID())
		}
	}
	for _, v := range o.Before.VNFCs {
		if _, left := before[v.ID()]; left && worked[v.VDU] {
			add(v, sol003.Removed)
		}
	}
	if all == nil {
		return nil
	}
	return &sol003.ResourceChanges{VNFCs: all}
}

// preview is what an operation would do.
func preview(p lifecycle.Preview) sol003.Preview {
	f := p.Plan.Facts
	shown := sol003.Preview{
		Allowed: p.Refusal == nil, Leases: []sol003.PreviewLease{}, Resources: []sol003.Resource{}, Images: f.Images, ClusterScoped: f.ClusterScoped,
		Privileged: f.Privileged, BringsRBAC: f.BringsRBAC, BringsDefinitions: f.BringsDefinitions, BringsWebhooks: f.BringsWebhooks,
	}
	if p.Refusal != nil {
		shown.Refusal = p.Refusal.Detail
	}
	for _, r := range p.Plan.Resources {
		shown.Resources = append(shown.Resources, resource(r))
	}
	for _, l := range p.Leases {
		lease := sol003.PreviewLease{Purpose: l.Grant.Purpose, Namespaces: l.Grant.Namespaces, ClusterWide: l.Grant.ClusterWide, Grade: string(l.Grade), GradeReasons: l.Reasons}
		for _, r := range l.Grant.Rules {
			lease.Rules = append(lease.Rules, sol003.Rule(r))
		}
		if l.Refusal != nil {
			lease.Refusal = l.Refusal.Detail
			shown.Allowed = shown.Allowed && l.Refusal.Status != http.StatusForbidden
		}
		shown.Leases = append(shown.Leases, lease)
	}
	return shown
}

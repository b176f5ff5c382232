package vnflcm

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// connectionOf is the key of the VIM of an instance's part: the request's name for it.
func connectionOf(s lifecycle.Shape, part string) string { return cmp.Or(part, s.Connection, "vim") }

func connections(s lifecycle.Shape) map[string]sol003.VIMConnectionInfo {
	all := map[string]sol003.VIMConnectionInfo{}
	for _, p := range s.Parts() {
		all[connectionOf(s, p.Name)] = sol003.VIMConnectionInfo{VIMID: p.VIM, VIMType: vimTypes[p.VIMType]}
	}
	return all
}

// vimTypes are SOL003's names of types of VIMs.
var vimTypes = map[string]string{"kubernetes": "ETSINFV.KUBERNETES.V_1", "openstack": "ETSINFV.OPENSTACK_KEYSTONE.V_3"}

func instanceURL(c *api.Call, id string) string {
	return sol013.URL(c, sol003.Prefix+"/vnf_instances/"+id)
}

func operationURL(c *api.Call, o lifecycle.Operation) string {
	return sol013.URL(c, sol003.Prefix+"/vnf_lcm_op_occs/"+o.ID)
}

func instance(c *api.Call, i lifecycle.Instance) sol003.VNFInstance {
	self, s := instanceURL(c, i.ID), i.Shape
	shown := sol003.VNFInstance{
		ID: i.ID, Name: i.Name, Description: i.Description, VNFDID: s.Product.VNFDID, Provider: s.Product.Provider,
		ProductName: s.Product.Name, SoftwareVersion: s.Product.SoftwareVersion, VNFDVersion: s.Product.VNFDVersion,
		State: string(i.State), Metadata: kept(i.Metadata), Extensions: kept(i.Extensions), Configurable: kept(i.Configurable),
		Own: &sol003.InstanceDetail{
			Project: i.Project, CreatedBy: i.CreatedBy, CreatedAt: i.CreatedAt, Namespace: s.Namespace, VIMName: s.VIMNames(),
			NotDone: s.NotDone(),
		},
		Links: sol003.Links{"self": {Href: self}},
	}
	for _, r := range s.Resources {
		shown.Own.Resources = append(shown.Own.Resources, resource(s, r))
	}
	shown.Own.Drift = drift(s, i.Drift)
	if i.State == lifecycle.NotInstantiated {
		shown.Links["instantiate"] = sol003.Link{Href: self + "/instantiate"}
		return shown
	}
	for link, task := range map[string]string{
		"terminate": "terminate", "scale": "scale", "heal": "heal", "changeVnfPkg": "change_vnfpkg",
		"changeExtConn": "change_ext_conn",
	} {
		if task != "scale" || len(s.Scale) > 0 {
			shown.Links[link] = sol003.Link{Href: self + "/" + task}
		}
	}
	shown.VIMs = connections(s)
	info := &sol003.InstantiatedVNFInfo{FlavourID: s.Flavour, State: "STARTED"}
	for _, aspect := range slices.Sorted(maps.Keys(s.Scale)) {
		info.ScaleStatus = append(info.ScaleStatus, sol003.ScaleInfo{AspectID: aspect, Level: s.Scale[aspect]})
		info.MaxLevels = append(info.MaxLevels, sol003.ScaleInfo{AspectID: aspect, Level: s.MaxScale[aspect]})
	}
	for _, v := range s.VNFCs {
		info.Resources = append(info.Resources, sol003.VNFCResourceInfo{
			ID: v.Name, VDUID: v.VDU, Compute: handle(s, v), CPs: connectionPoints(v.CPs), Metadata: map[string]string{"namespace": v.Namespace},
		})
		info.VNFCs = append(info.VNFCs, sol003.VNFCInfo{ID: v.ID(), VDUID: v.VDU, ResourceInfoID: v.Name, State: "STARTED"})
	}
	info.ExtCPs = external(s)
	for _, r := range s.Resources {
		for _, one := range r.Storages {
			info.Storages = append(info.Storages, storage(s, one))
		}
	}
	for _, v := range s.Volumes {
		claim := lifecycle.Storage{Desc: v.Storage, Kind: "PersistentVolumeClaim", Namespace: s.Namespace, Name: v.Claim}
		info.Storages = append(info.Storages, storage(s, claim))
	}
	connected(info, s)
	shown.Instantiated = info
	return shown
}

// external are the connection points of VNFCs that the descriptor connects to the outside.
// Where a VIM tells no addresses, those that are on a virtual link are shown without.
func external(s lifecycle.Shape) (shown []sol003.ExtCPInfo) {
	configs := map[string]string{}
	for _, k := range s.Links {
		for _, p := range k.CPs {
			configs[p.CPDID] = p.ConfigID()
		}
	}
	unseen := maps.Clone(configs)
	for _, v := range s.VNFCs {
		for _, p := range connectionPoints(v.CPs) {
			if !slices.Contains(s.ExtCPs, p.CPDID) && configs[p.CPDID] == "" {
				continue
			}
			delete(unseen, p.CPDID)
			protocol := p.Protocol
			if protocol == nil {
				protocol = []sol003.CPProtocol{}
			}
			shown = append(shown, sol003.ExtCPInfo{
				ID: "ext-" + p.ID, CPDID: p.CPDID, ConfigID: cmp.Or(configs[p.CPDID], p.CPDID), Protocol: protocol, VNFCCPID: p.ID,
			})
		}
	}
	for _, cpd := range slices.Sorted(maps.Keys(unseen)) {
		shown = append(shown, sol003.ExtCPInfo{ID: "ext-" + cpd, CPDID: cpd, ConfigID: configs[cpd], Protocol: []sol003.CPProtocol{}})
	}
	return shown
}

func storage(on lifecycle.Shape, of lifecycle.Storage) sol003.StorageInfo {
	shown := sol003.StorageInfo{
		ID: of.Name, DescID: of.Desc,
		Storage: sol003.ResourceHandle{VIMConnectionID: connectionOf(on, of.Part), ResourceID: of.Name, Type: of.Kind},
	}
	if of.Namespace != "" {
		shown.ID, shown.Note = of.Namespace+"."+of.Name, map[string]string{"namespace": of.Namespace}
	}
	return shown
}

func affectedStorages(on lifecycle.Shape, all []lifecycle.AffectedStorage) (shown []sol003.AffectedStorage) {
	for _, s := range all {
		shown = append(shown, sol003.AffectedStorage{StorageInfo: storage(on, s.Storage), ChangeType: string(s.Change)})
	}
	return shown
}

func connectionPoints(all []lifecycle.CP) (shown []sol003.VNFCCPInfo) {
	for _, p := range all {
		one := sol003.VNFCCPInfo{ID: p.ID, CPDID: p.CPD}
		address := sol003.IPOverEthernet{MAC: p.MAC}
		for _, subnet := range slices.Sorted(maps.Keys(p.Addresses)) {
			for _, version := range []string{"IPV4", "IPV6"} {
				of := slices.DeleteFunc(slices.Clone(p.Addresses[subnet]),
					func(ip string) bool { return strings.Contains(ip, ":") != (version == "IPV6") })
				if len(of) > 0 {
					address.IPs = append(address.IPs, sol003.IPAddresses{Type: version, Addresses: of, SubnetID: subnet})
				}
			}
		}
		if p.MAC != "" || len(address.IPs) > 0 {
			one.Protocol = []sol003.CPProtocol{{Layer: "IP_OVER_ETHERNET", Address: address}}
		}
		shown = append(shown, one)
	}
	return shown
}

// kept is a JSON object that a caller gave, or empty.
func kept(text []byte) jsontext.Value {
	v, _ := codec.Kept(string(text))
	return v
}

// requested is the stored request of an operation, as it may be shown: access information and values of charts are
// left out.
func requested(params []byte) jsontext.Value {
	if bytes.Contains(params, []byte("vimConnectionInfo")) || bytes.Contains(params, []byte("helm_")) {
		params, _ = showable(params) // empty if it cannot be read
	}
	return kept(params)
}

func resource(on lifecycle.Shape, r lifecycle.Resource) (shown sol003.Resource) {
	version := r.Version
	if r.Group != "" {
		version = r.Group + "/" + r.Version
	}
	if len(on.More) > 0 {
		shown.VIMConnectionID = connectionOf(on, r.Part)
	}
	shown.Kind, shown.APIVersion, shown.Namespace, shown.Name = r.Kind, version, r.Namespace, r.Name
	shown.VDU, shown.Outlives = r.VDU, r.Outlives
	return shown
}

// drift is the last observation of an instance; nil if the instance was not observed since its last
// operation.
func drift(on lifecycle.Shape, d lifecycle.Drift) *sol003.Drift {
	if d.TriedAt.IsZero() {
		return nil
	}
	shown := &sol003.Drift{Count: d.Count, Unseen: d.Unseen, TriedAt: &d.TriedAt}
	if !d.SeenAt.IsZero() {
		shown.SeenAt = &d.SeenAt
	}
	for _, o := range d.Resources {
		shown.Resources = append(shown.Resources, observed(on, o))
	}
	return shown
}

func observed(on lifecycle.Shape, o lifecycle.Observation) sol003.Resource {
	r := resource(on, o.Resource)
	r.Standing, r.Ready, r.Message, r.ChangedBy = &o.Standing, &o.Ready, o.Message, o.ChangedBy
	return r
}

// operation is an operation as SOL003 has it. It has the links that lead somewhere now.
func operation(c *api.Call, o lifecycle.Operation) sol003.OpOcc {
	self := operationURL(c, o)
	shown := sol003.OpOcc{
		ID: o.ID, State: string(o.State), StateEnteredAt: o.StateEnteredAt, StartedAt: o.StartedAt, InstanceID: o.Instance,
		Operation: string(o.Type), Params: requested(o.Params), CancelPending: o.Cancel != "", CancelMode: string(o.Cancel),
		Own:   &sol003.OperationDetail{Project: o.Project, AskedBy: o.Asker.Name, Warrant: o.Warrant, Stage: o.Stage},
		Links: sol003.Links{"self": {Href: self}, "vnfInstance": {Href: instanceURL(c, o.Instance)}},
	}
	shown.Own.NotDone = o.Target.NotDone()
	if f := o.Failure; f != nil {
		shown.Error = &sol003.Problem{Title: f.Title, Status: f.Status, Detail: f.Detail}
	}
	if o.State == lifecycle.Completed {
		switch o.Type {
		case lifecycle.ModifyInfo:
			shown.Changed = modified(o.Params, o.Target)
		case lifecycle.ChangePackage:
			shown.Triggered = new(triggered(o.Target.Product))
		case lifecycle.ChangeConn:
			shown.Connected = externalLinks(o.Target, o.Target.Links)
		}
		on := o.On()
		changed := sol003.ResourceChanges{
			VNFCs: affected(on, o.Affected()), Storages: affectedStorages(on, o.AffectedStorages()), Links: affectedLinks(on, o.AffectedLinks()),
		}
		if len(changed.VNFCs)+len(changed.Storages)+len(changed.Links) > 0 {
			shown.Resources = &changed
		}
	}
	for _, s := range o.Steps {
		shown.Own.Steps = append(shown.Own.Steps, observed(o.On(), s))
	}
	for link, legal := range map[string]bool{
		"retry": o.State == lifecycle.FailedTemp, "fail": o.State == lifecycle.FailedTemp,
		"rollback": o.State == lifecycle.FailedTemp && o.Type.Rollbackable(),
		"cancel":   o.Cancelable(),
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

// modified is the instance's information that a completed MODIFY_INFO has changed: the values of the request, with the
// VIM as the server knows it, and without the access information that was sent.
func modified(request []byte, on lifecycle.Shape) *sol003.ModifyRequest {
	var asked sol003.ModifyRequest
	if wire.Tolerant(request, &asked) != nil {
		return nil
	}
	for name, v := range asked.VIMs {
		if v != nil {
			of := on.Connected(name)
			asked.VIMs[name] = &sol003.VIMConnectionInfo{VIMID: of.VIM, VIMType: vimTypes[of.VIMType]}
		}
	}
	return &asked
}

// triggered are the changes that a completed change of the package has made.
var triggered = api.Shown[lifecycle.Product, sol003.PackageModified](`ProductName=Name`)

func handle(on lifecycle.Shape, v lifecycle.VNFC) sol003.ResourceHandle {
	return sol003.ResourceHandle{VIMConnectionID: connectionOf(on, v.Part), ResourceID: v.Name, Type: v.Kind}
}

// affected are the VNFCs that a completed operation has changed; nil for none.
func affected(on lifecycle.Shape, all []lifecycle.Affected) []sol003.AffectedVNFC {
	var shown []sol003.AffectedVNFC
	for _, v := range all {
		shown = append(shown, sol003.AffectedVNFC{
			ID: v.Name, VDUID: v.VDU, ChangeType: string(v.Change), Compute: handle(on, v.VNFC),
			Metadata: map[string]string{"namespace": v.Namespace},
		})
	}
	return shown
}

// effect shows what an operation does to one resource.
func effect(on lifecycle.Shape, e lifecycle.Effect) sol003.Effect {
	shown := sol003.Effect{Deed: string(e.Deed), Resource: resource(on, e.Resource)}
	switch {
	case e.Deed == lifecycle.Apply && !e.Stands:
		shown.Deed = sol003.DeedMake
	case e.Deed == lifecycle.Scale:
		shown.Replicas = &e.Replicas
	}
	return shown
}

var (
	factsShown = api.Shown[lifecycle.Facts, sol003.Preview](`Allowed= Refusal= Leases= Effects= ReachesLeftOut= NotDone=`)
	leaseShown = api.Shown[lifecycle.PreviewLease, sol003.PreviewLease](`Grant GradeReasons=Reasons Refusal=`)
)

// preview shows the effects that an operation would have.
func preview(p lifecycle.Preview) sol003.Preview {
	f := p.Plan.Facts
	left := max(0, len(f.Reaches)-sol003.MaxReaches)
	f.Reaches = f.Reaches[:len(f.Reaches)-left]
	shown := factsShown(f)
	shown.Allowed, shown.ReachesLeftOut, shown.NotDone = p.Refusal == nil, left, p.On.NotDone()
	if p.Refusal != nil {
		shown.Refusal = p.Refusal.Detail
	}
	for _, e := range p.Effects {
		shown.Effects = append(shown.Effects, effect(p.On, e))
	}
	for n, l := range p.Leases {
		lease := leaseShown(l)
		if l.Refusal != nil {
			lease.Refusal = l.Refusal.Detail
			final := l.Refusal.Status == http.StatusForbidden || n == 0 && l.Refusal.Status < http.StatusInternalServerError
			shown.Allowed = shown.Allowed && !final
		}
		shown.Leases = append(shown.Leases, lease)
	}
	return shown
}

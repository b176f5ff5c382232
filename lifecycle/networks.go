package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

const maxNotDone = 20 // lines; the last then counts those left out

// Networker is a driver whose files say which networks they make, and which they take. Other drivers take all.
type Networker interface {
	// Networks are those that an instance of s makes by its files, and takes from virtual links, by the descriptor's names of
	// virtual links and connection points.
	Networks(s Source) (made, taken map[string]bool, err error)
}

// Links lends virtual links and volumes to instances; [asset.Assets] documents each method.
type Links interface {
	Lend(ctx context.Context, p policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error)
	Create(ctx context.Context, p policy.Principal, r asset.Request) (asset.Asset, bool, error)
	Release(ctx context.Context, ids ...string)
	Ports(ctx context.Context, id, instance string, names []string, all bool) ([]asset.Port, error)
}

// Link is a virtual link that an instance uses, or is asked to use. A row of the store says so too.
type Link struct {
	// ID is empty until the link is made or adopted, as an operation begins. Ext is the caller's name for it. Name is the link's;
	// of one that is asked for its id or name, or the VIM's id of a network.
	ID, Name, Ext string
	// Part names the instance's part that is on it.
	Part string `json:",omitempty"`
	// VL is the virtual link of the descriptor that it stands for; empty: it is external, and CPs are connected to it.
	VL  string
	CPs []sol003.ExtCP
	// Own: it was made for an instance.
	Own  bool
	Made asset.Made
	Spec spec.LinkSpec
	// Spans: it is on another VIM, and spans to this, perhaps with Pools; Ports are then the addresses of pods in the other's book.
	Spans, Pools bool         `json:",omitempty"`
	Ports        []asset.Port `json:",omitempty"`
}

func (k *Link) is(l asset.Asset) {
	k.ID, k.Name, k.Made, k.Spec, k.Spans = l.ID, l.Name, l.Made, l.Spec, len(l.Spans) > 0
	k.Pools = k.Spans && l.Spans[0].IPAM == "whereabouts"
}

// connect finds the links that a request asks for, and those of the descriptor that are to be made. It records what is asked
// for and not done. Nothing is made yet: see [Lifecycle.makeLinks]. Nil keeps the links of before, and so does more.
func (l *Lifecycle) connect(ctx context.Context, p policy.Principal, pkg PackageView, to *Shape, asked []Link, more bool) error {
	d, err := l.driver(*to)
	if err != nil {
		return err
	}
	flavour, err := flavour(pkg.VNFD, to.Flavour)
	if err != nil {
		return err
	}
	flavour = pkg.unmade(flavour)
	var made, taken map[string]bool
	taking, says := d.(Networker)
	if says { // the plan says what is wrong with the files
		if made, taken, err = taking.Networks(to.source(pkg, true)); err != nil && len(asked) > 0 {
			return err
		}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(flavour.Networks, func(one string) bool { _, is, _ := strings.Cut(one, " "); return is == name })
	}
	again := asked != nil && !more
	to.Links = slices.DeleteFunc(slices.Clone(to.Links), func(k Link) bool {
		return k.Own && !known(k.VL) || !k.Own && again
	})
	if again {
		to.Managed = nil
	}
	has := func(name string) bool {
		return slices.ContainsFunc(to.Links, func(k Link) bool { return slices.Contains(k.Names(), name) })
	}
	for _, ask := range asked {
		if ask.VL != "" && says && !taken[ask.VL] {
			to.Managed = append(to.Managed, ask.Ext)
			continue
		}
		for _, name := range ask.Names() {
			if says && !taken[name] || !says && !known(name) {
				return &broker.Error{
					Kind: broker.ErrInvalid, Field: ask.field(), Detail: "names " + vnfpkg.Printable(name) + ", for which the package takes no network",
					Remedy: "name a connection point or virtual link of the VNFD; a base HOT takes a network by " +
						"{get_param: [nfv, CP, NAME, network]}, or VL for CP",
				}
			}
			to.Links = slices.DeleteFunc(to.Links, func(k Link) bool { return k.Own && k.VL == name })
			if has(name) {
				return broker.Invalid(ask.field(), "connects %s to two networks", vnfpkg.Printable(name))
			}
		}
		if err := l.lend(ctx, p, *to, &ask); err != nil {
			return err
		}
		to.Links = append(to.Links, ask)
	}
	to.Unmade = nil
	for _, one := range flavour.Networks {
		kind, name, _ := strings.Cut(one, " ")
		switch {
		case made[name] || has(name):
		case kind == "VnfVirtualLink" && taken[name] && l.Links != nil:
			to.Links = append(to.Links, Link{Name: name, VL: name, Own: true, Spec: specOf(flavour.Links[name])})
		default:
			to.Unmade = append(to.Unmade, vnfpkg.Printable(one))
		}
	}
	return nil
}

// specOf is the network that a descriptor asks for. One of the cloud's own needs a permission.
func specOf(v vnfpkg.VirtualLink) spec.LinkSpec {
	s := spec.LinkSpec{CIDR: v.CIDR, Gateway: v.Gateway, DHCP: v.DHCP, MTU: v.MTU}
	for _, r := range v.Pools {
		s.Pools = append(s.Pools, spec.AddressRange(r))
	}
	if v.Physical != "" || v.Segmentation != 0 {
		s.Segment = &spec.LinkSegment{Type: v.Type, Physical: v.Physical, ID: v.Segmentation}
	}
	return s
}

func (k Link) field() string {
	if k.VL != "" {
		return "extManagedVirtualLinks"
	}
	return "extVirtualLinks"
}

// Names are what the descriptor calls the things that are on the link.
func (k Link) Names() (all []string) {
	if k.VL != "" {
		return []string{k.VL}
	}
	for _, p := range k.CPs {
		all = append(all, p.CPDID)
	}
	return all
}

// lend finds the link that a request asks for.
func (l *Lifecycle) lend(ctx context.Context, p policy.Principal, to Shape, k *Link) error {
	if l.Links == nil {
		return &broker.Error{Kind: broker.ErrUnsupported, Field: k.field(), Detail: "this server keeps no virtual links"}
	}
	on := to.on()
	found, err := l.Links.Lend(ctx, p, policy.KindLink, k.Name, on)
	if errors.Is(err, broker.ErrNotFound) {
		return &broker.Error{
			Kind: broker.ErrInvalid, Field: k.field(), Detail: "names " + vnfpkg.Printable(k.Name) + ", and you see no such virtual link, " +
				"and may adopt no network (" + string(policy.LinkAdopt) + ")",
			Remedy: "make a virtual link, and give its id or name as resourceId",
		}
	}
	if err != nil {
		return err
	}
	k.is(found)
	switch kubernetes := on.Type == "kubernetes"; {
	case kubernetes && found.Spec.NAD == nil:
		err = broker.Invalid(k.field(), "names a link without nad, and the instance is on Kubernetes")
	case kubernetes && slices.ContainsFunc(k.CPs, func(p sol003.ExtCP) bool { return len(p.Fixed()) > 0 }):
		err = broker.Invalid(k.field(), "fixes addresses, which on Kubernetes the plugin of the network gives")
	}
	return err
}

// makeLinks makes and adopts the links of a shape that are not there yet. Links that no operation then begins to use go by
// themselves.
func (l *Lifecycle) makeLinks(ctx context.Context, p policy.Principal, instance string, s *Shape) error {
	for n := range s.Links {
		k := &s.Links[n]
		if k.ID != "" {
			continue
		}
		r := asset.Request{Kind: policy.KindLink, VIM: s.PartOf(k.Part).VIM, Name: "network-" + k.Made.Network, Existing: k.Made.Network}
		if k.Own {
			r.Name, r.Spec, r.Maker = fmt.Sprintf("vl-%d-%s", n, instance), k.Spec, instance
		}
		made, _, err := l.Links.Create(ctx, p, r)
		if err != nil {
			return err
		}
		k.is(made)
		failpoint.At("operation.linked")
	}
	return nil
}

// release has links go that were made for instances and that an operation which has ended may have been the last to use.
func (l *Lifecycle) release(ctx context.Context, o Operation) {
	var own []string
	for _, k := range slices.Concat(o.Before.Links, o.Target.Links) {
		if k.Own && k.ID != "" {
			own = append(own, k.ID)
		}
	}
	if len(own) > 0 && !o.State.Live() {
		l.Links.Release(ctx, own...)
	}
}

// AssetIDs are the ids of the links and volumes that the shape uses.
func (s Shape) AssetIDs() (ids []string) {
	for _, v := range s.Volumes {
		ids = append(ids, v.ID)
	}
	for _, k := range s.Links {
		if k.ID != "" {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// Volume is a volume that an instance uses, in the place of a claim of its package.
type Volume struct {
	ID, Name string
	// Part names the instance's part that mounts it.
	Part string `json:",omitempty"`
	// Storage is what the package calls the claim, Claim its name on the VIM.
	Storage, Claim string
}

// mount finds the volumes that a request names, by the package's names of their claims; nil keeps those of before.
func (l *Lifecycle) mount(ctx context.Context, p policy.Principal, to *Shape, asked map[string]string) error {
	const field = "additionalParams.volumes"
	if asked == nil {
		return nil
	}
	if l.Links == nil {
		return &broker.Error{Kind: broker.ErrUnsupported, Field: field, Detail: "this server keeps no volumes"}
	}
	var vims []broker.VIM
	for _, part := range to.Parts() {
		vims = append(vims, part.on())
	}
	to.Volumes = nil
	for _, storage := range slices.Sorted(maps.Keys(asked)) {
		found, err := l.Links.Lend(ctx, p, policy.KindVolume, asked[storage], vims...)
		var on Part
		if at := slices.Index(to.VIMs(), found.VIM); at >= 0 {
			on = to.Parts()[at]
		}
		switch {
		case errors.Is(err, broker.ErrNotFound):
			err = broker.Invalid(field, "names %s for %s, and you see no such volume", vnfpkg.Printable(asked[storage]), vnfpkg.Printable(storage))
		case err == nil && found.Volume.Namespace != on.Namespace:
			err = broker.Invalid(field, "names %s of namespace %s, and the instance is in %s", found.Name, found.Volume.Namespace, on.Namespace)
		}
		if err != nil {
			return err
		}
		to.Volumes = append(to.Volumes, Volume{ID: found.ID, Name: found.Name, Part: on.Name, Storage: storage, Claim: found.Claim()})
	}
	return nil
}

// on is the VIM of the part, as far as assets ask.
func (p Part) on() broker.VIM {
	return broker.VIM{ID: p.VIM, Name: p.VIMName, Type: broker.VIMType(p.VIMType)}
}

// Connecting is a request to connect external connection points otherwise.
type Connecting struct {
	Links  []Link
	Params json.RawMessage
}

// Connect changes what the external connection points of an instance are connected to.
func (l *Lifecycle) Connect(ctx context.Context, p policy.Principal, id string, r Connecting) (Operation, error) {
	return l.begin(ctx, p, id, r.propose(ctx, l, p))
}

func (r Connecting) propose(ctx context.Context, l *Lifecycle, p policy.Principal) proposal {
	return proposal{of: ChangeConn, params: r.Params, shape: func(i Instance, o *Operation) error {
		pkg, err := l.Packages.Held(ctx, i.Shape.Package)
		if err != nil {
			return err
		}
		to := &o.Target
		// Those of its connection points that the request does not name stay where they are.
		var stay []Link
		for _, k := range to.Links {
			kept := slices.DeleteFunc(slices.Clone(k.CPs), func(c sol003.ExtCP) bool {
				return slices.ContainsFunc(r.Links, func(a Link) bool { return slices.Contains(a.Names(), c.CPDID) })
			})
			if k.VL != "" || len(kept) > 0 {
				k.CPs = kept
				stay = append(stay, k)
			}
		}
		to.Links = stay
		return l.connectAll(ctx, p, pkg, to, r.Links, true)
	}}
}

// AffectedLink is a link that an operation has begun or ceased to use in place of one of the descriptor's.
type AffectedLink struct {
	Link
	Change ChangeType `json:"change"`
}

// AffectedLinks are the virtual links of the descriptor that a completed operation has changed.
func (o Operation) AffectedLinks() (all []AffectedLink) {
	lacks := func(s Shape, k Link) bool {
		return k.VL != "" && !slices.ContainsFunc(s.Links, func(other Link) bool { return other.VL == k.VL && other.ID == k.ID })
	}
	for _, k := range o.Target.Links {
		if lacks(o.Before, k) {
			all = append(all, AffectedLink{k, Added})
		}
	}
	for _, k := range o.Before.Links {
		if lacks(o.Target, k) {
			all = append(all, AffectedLink{k, Removed})
		}
	}
	return all
}

// NotDone are sentences about networks that the descriptor and the request ask for, and that nothing is done about.
func (s Shape) NotDone() (lines []string) {
	for _, name := range s.Unmade {
		lines = append(lines, "the VNFD's "+name+" is not made: only what the package's files make is, and virtual links that a request names")
	}
	for _, id := range s.Managed {
		lines = append(lines, "extManagedVirtualLinks: "+vnfpkg.Printable(id)+" is not used: the package takes no network for it")
	}
	if more := len(lines) - maxNotDone; more > 0 {
		lines = append(lines[:maxNotDone-1], fmt.Sprintf("and %d more", more+1))
	}
	return lines
}

// Package asset keeps what stands on VIMs apart from the VNF instances that use it: virtual links, which are networks, and
// volumes, which are claims.
//
// A use is a row (asset, instance), never a number: the store writes it in the transaction that writes the instance, and ends
// it there. An asset has a row before anything of it exists, and is found again on its VIM by a name and a tag that hold its id.
package asset

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/policy"
)

// State is where an asset stands.
type State string

// Every state. One that is making is made on its VIM, or is to be; nobody begins to use one that is removing.
const (
	Making   State = "making"
	Ready    State = "ready"
	Removing State = "removing"
)

var moves = map[State][]State{Making: {Ready, Removing}, Ready: {Removing}}

// CanMove reports whether an asset may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// traits are what differs between the kinds of assets.
type traits struct {
	// noun is for people, field the member of a request that names them.
	noun, field               string
	create, show, use, delete policy.Action
}

var kinds = map[policy.Kind]traits{
	policy.KindLink:   {"virtual link", "extVirtualLinks", policy.LinkCreate, policy.LinkShow, policy.LinkUse, policy.LinkDelete},
	policy.KindVolume: {"volume", "additionalParams.volumes", policy.VolumeCreate, policy.VolumeShow, policy.VolumeUse, policy.VolumeDelete},
}

// Asset is a virtual link or a volume. It holds no secret.
type Asset struct {
	// Kind is [policy.KindLink] or [policy.KindVolume].
	Kind policy.Kind
	// ID is a UUID; later ones sort behind earlier ones. Name is unique among the project's of its kind.
	ID, Project, Name string
	// VIM is the id of the VIM that it stands on, VIMName its name when the asset was made.
	VIM, VIMName string
	VIMType      broker.VIMType
	// Spec is a link's, Volume a volume's.
	Spec   spec.LinkSpec
	Volume spec.VolumeSpec
	// Existing is the VIM's id of a network, or the name of a claim, that stands already: nothing of it is made or removed.
	Existing string
	// Spans are the clusters whose nodes reach a link on a cloud, by the ids of VIMs.
	Spans []spec.Span
	// Shared is with every project, SharedWith with these: they see it and may use it.
	Shared     bool
	SharedWith []string
	// Maker is the VNF instance that it was made for: it goes with its last use. Empty: it stays.
	Maker string
	State State
	Made  Made
	// Fault says what keeps it from being made or removed.
	Fault, CreatedBy string
	CreatedAt        time.Time
	// Loose: it has a Maker and may have lost its last use. Since is when somebody last began to work on it.
	Loose    bool      `json:"-"`
	Since    time.Time `json:"-"`
	Revision int64     `json:"-"`
}

// Made are the VIM's ids of what stands of it; those of Subnet and Group are ours. Network is NAMESPACE/NAME of a claim that was
// there before: the project has no second asset of the same.
type Made struct {
	Network string `json:"network,omitempty"`
	Subnet  string `json:"subnet,omitempty"`
	Group   string `json:"group,omitempty"`
	// MTU and VLAN are those of the network of a link that spans; one without a VLAN has 0.
	MTU  int `json:"mtu,omitempty"`
	VLAN int `json:"vlan,omitempty"`
}

// Port is an address of a link that the cloud keeps for a pod: no machine is given it. IPs have the length of the prefix.
type Port struct {
	Name, ID, MAC string
	IPs           []string
}

// On is the link as it is on a VIM, if it is on that or spans to it; then Spans says so.
func (l Asset) On(vim string) (Asset, bool) {
	at := slices.IndexFunc(l.Spans, func(s spec.Span) bool { return s.VIM == vim })
	if at < 0 {
		l.Spans = nil
		return l, l.VIM == vim
	}
	l.Spans = l.Spans[at : at+1]
	of := &spec.PodNetwork{Type: "macvlan", Device: l.Spans[0].Interface}
	if l.Made.VLAN != 0 && !strings.Contains(of.Device, ".") { // a trunk of all VLANs
		of.Type, of.VLAN = "vlan", l.Made.VLAN
	}
	l.Spec.NAD, l.Spec.MTU = of, l.Made.MTU
	return l, true
}

// Noun is what people call the kind.
func (l Asset) Noun() string { return kinds[l.Kind].noun }

// Claim is the name of a volume's claim.
func (l Asset) Claim() string { return cmp.Or(l.Existing, l.Handle()) }

// Tag and Handle are the tag and the name of everything that the VIM has of it. Brokers that come after this one rely upon them.
func (l Asset) Tag() string { return "vimbroker.io/link=" + l.ID }

// Handle is described at [Asset.Tag].
func (l Asset) Handle() string { return "vimbroker-" + l.ID }

// Viewers are the projects that see it; "*" is all.
func (l Asset) Viewers() []string {
	all := append([]string{l.Project}, l.SharedWith...)
	if l.Shared {
		all = append(all, "*")
	}
	return all
}

// Resource is the asset as policies see it.
func (l Asset) Resource() policy.Resource {
	return policy.Resource{
		Kind: l.Kind, ID: l.ID, Project: l.Project, Name: l.Name, Owner: l.CreatedBy, VIM: l.VIM, VIMName: l.VIMName,
		VIMType: string(l.VIMType), Shared: l.Shared, SharedWith: l.SharedWith,
	}
}

// OnVIM is its use of its VIM.
func (l Asset) OnVIM() broker.Use {
	return broker.Use{Kind: broker.UseAsset, Subject: l.ID, Project: l.Project, Name: l.Name}
}

// same reports whether another request asks for what the asset is.
func (l Asset) same(other Asset) bool {
	return l.VIM == other.VIM && l.Existing == other.Existing && l.Maker == other.Maker && reflect.DeepEqual(l.Spec, other.Spec) &&
		reflect.DeepEqual(l.Volume, other.Volume) && slices.Equal(l.Spans, other.Spans)
}

// Moved is what becomes of the asset where a write makes next of it.
func (l Asset) Moved(next Asset) (Asset, error) {
	if l.State != next.State && !l.State.CanMove(next.State) {
		return l, &broker.Error{Kind: broker.ErrConflict, Detail: fmt.Sprintf("a %s that is %s cannot become %s", l.Noun(), l.State, next.State)}
	}
	next.Revision = l.Revision + 1
	return next, nil
}

// Use is a VNF instance's use of an asset.
type Use struct {
	Instance string
	Since    time.Time
}

// maxNamed bounds the uses that an error names.
const maxNamed = 5

// inUse is the [broker.ErrConflict] of an asset that is used.
func (l Asset) inUse(some []Use, all int) error {
	var ids []string
	for _, u := range some[:min(len(some), maxNamed)] {
		ids = append(ids, u.Instance)
	}
	text := strings.Join(ids, ", ")
	if more := all - len(ids); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "the " + l.Noun() + " is used by VNF instances: " + text,
		Remedy: "terminate them, or have them use another; force deletes it all the same",
	}
}

// wide names the member by which a link reaches beyond the project's own part of a cloud; empty if none does.
func (l Asset) wide() string {
	switch {
	case l.Kind != policy.KindLink:
	case l.Existing != "":
		return "existing.networkId"
	case len(l.Spans) > 0:
		return "spans"
	case l.Spec.Segment != nil:
		return "spec.segment"
	case l.Spec.PortSecurity != nil && !*l.Spec.PortSecurity:
		return "spec.portSecurity"
	case l.Spec.Router != "":
		return "spec.router"
	}
	return ""
}

var (
	nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`) })
	idForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$`) })
)

// valid checks what is true of assets everywhere.
func (l Asset) valid() error {
	s := l.Spec
	for field, id := range map[string]string{"existing": l.Existing, "spec.subnetPool": s.SubnetPool, "spec.router": s.Router} {
		if id != "" && !idForm().MatchString(id) {
			return broker.Invalid(field, "is no id")
		}
	}
	for _, r := range s.Rules {
		prefix, err := netip.ParsePrefix(r.Remote)
		if r.Direction != "ingress" && r.Direction != "egress" || r.Remote != "" && (err != nil || prefix != prefix.Masked()) ||
			!slices.Contains([]string{"", "tcp", "udp", "icmp", "sctp"}, r.Protocol) || r.From < 0 || r.To < r.From || r.To > 65535 {
			return broker.Invalid("spec.securityRules", "each has direction ingress or egress, a protocol, ports from low to high, and a prefix")
		}
	}
	for _, at := range l.Spans {
		if !idForm().MatchString(at.Physical) || !nameForm().MatchString(at.Interface) || len(at.Interface) > 15 ||
			at.IPAM != "" && at.IPAM != "static" && at.IPAM != "whereabouts" {
			return broker.Invalid("spans", "each has a vim, a physicalNetwork, an interface (bond0, bond0.100), and ipam static or whereabouts")
		}
	}
	switch g := s.Segment; {
	case !nameForm().MatchString(l.Name):
		return broker.Invalid("name", "must be 1 to 63 letters, digits, dots, dashes and underscores")
	case l.Kind == policy.KindVolume:
		return nil // its driver knows the rest
	case l.Existing != "" && !reflect.DeepEqual(s, spec.LinkSpec{}):
		return broker.Invalid("spec", "and existing are not both of one link")
	case s.MTU != 0 && (s.MTU < 68 || s.MTU > 65535):
		return broker.Invalid("spec.mtu", "must be from 68 to 65535")
	case g != nil && (!slices.Contains([]string{"vlan", "vxlan", "flat"}, g.Type) || g.Physical != "" && !idForm().MatchString(g.Physical) ||
		g.ID < 0 || g.ID > 1<<24-1 || g.Type == "vlan" && g.ID > 4094):
		return broker.Invalid("spec.segment", "must have type vlan, vxlan or flat, the name of a physical network, and an id of that type")
	}
	return validAddresses(s)
}

// validAddresses checks that all addresses are of the subnet.
func validAddresses(s spec.LinkSpec) error {
	subnet, err := netip.ParsePrefix(s.CIDR)
	if s.CIDR != "" && (err != nil || subnet != subnet.Masked()) {
		return broker.Invalid("spec.cidr", "must be a prefix without host bits, as 10.0.0.0/24")
	}
	within := func(text string) bool {
		a, _ := netip.ParseAddr(text) // no prefix contains the one that is none
		return subnet.Contains(a)
	}
	if s.Gateway != "" && s.Gateway != "none" && !within(s.Gateway) {
		return broker.Invalid("spec.gateway", "must be within spec.cidr")
	}
	for _, r := range s.Pools {
		if !within(r.Start) || !within(r.End) || netip.MustParseAddr(r.End).Less(netip.MustParseAddr(r.Start)) {
			return broker.Invalid("spec.allocationPools", "must go from a lower to a higher address within spec.cidr")
		}
	}
	for _, d := range s.DNS {
		if _, err := netip.ParseAddr(d); err != nil {
			return broker.Invalid("spec.dns", "must be addresses")
		}
	}
	return nil
}

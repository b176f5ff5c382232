package asset

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/policy"
)

func link(change func(*Asset)) Asset {
	l := Asset{Kind: policy.KindLink, ID: "1", Project: "demo", Name: "net", VIM: "v", VIMType: "openstack"}
	change(&l)
	return l
}

// Each member of an asset has limits: the last good value is taken, and one beyond is refused by the member's name.
func TestMembersOfAnAssetHaveLimits(t *testing.T) {
	rule := func(r spec.SecurityRule) func(*Asset) {
		return func(l *Asset) { l.Spec.Rules = []spec.SecurityRule{{Direction: "ingress"}, r} }
	}
	segment := func(s spec.LinkSegment) func(*Asset) { return func(l *Asset) { l.Spec.Segment = &s } }
	span := func(physical, nic, ipam string) func(*Asset) {
		return func(l *Asset) { l.Spans = []spec.Span{{VIM: "c", Physical: physical, Interface: nic, IPAM: ipam}} }
	}
	within := func(change func(*spec.LinkSpec)) func(*Asset) {
		return func(l *Asset) { l.Spec.CIDR = "10.0.0.0/24"; change(&l.Spec) }
	}
	pool := func(start, end string) func(*Asset) {
		return within(func(s *spec.LinkSpec) { s.Pools = []spec.AddressRange{{Start: start, End: end}} })
	}
	long := strings.Repeat("a", 62)
	for field, cases := range map[string]struct{ good, bad []func(*Asset) }{
		"name": {
			[]func(*Asset){func(l *Asset) { l.Name = "a" }, func(l *Asset) { l.Name = long + "a" }, func(l *Asset) { l.Name = "a.b_c-d" }},
			[]func(*Asset){func(l *Asset) { l.Name = "" }, func(l *Asset) { l.Name = long + "aa" }, func(l *Asset) { l.Name = "a-" }},
		},
		"existing": {
			[]func(*Asset){func(l *Asset) { l.Existing = "n" + long }, func(l *Asset) { l.Existing = "a:b" }},
			[]func(*Asset){func(l *Asset) { l.Existing = "nn" + long }, func(l *Asset) { l.Existing = "a/b" }},
		},
		"spec.subnetPool": {[]func(*Asset){func(l *Asset) { l.Spec.SubnetPool = "p" }}, []func(*Asset){func(l *Asset) { l.Spec.SubnetPool = "p q" }}},
		"spec.router":     {[]func(*Asset){func(l *Asset) { l.Spec.Router = "r" }}, []func(*Asset){func(l *Asset) { l.Spec.Router = "-r" }}},
		"spec": {
			[]func(*Asset){func(l *Asset) { l.Existing = "n" }},
			[]func(*Asset){func(l *Asset) { l.Existing, l.Spec.MTU = "n", 1500 }},
		},
		"spec.mtu": {
			[]func(*Asset){func(l *Asset) { l.Spec.MTU = 68 }, func(l *Asset) { l.Spec.MTU = 65535 }},
			[]func(*Asset){func(l *Asset) { l.Spec.MTU = 67 }, func(l *Asset) { l.Spec.MTU = 65536 }, func(l *Asset) { l.Spec.MTU = -1 }, func(l *Asset) { l.Spec.MTU = 1 }},
		},
		"spec.securityRules": {
			[]func(*Asset){
				rule(spec.SecurityRule{Direction: "egress"}), rule(spec.SecurityRule{Direction: "ingress", Protocol: "tcp", From: 1, To: 1}),
				rule(spec.SecurityRule{Direction: "ingress", Protocol: "udp", From: 0, To: 65535}), rule(spec.SecurityRule{Direction: "egress", Remote: "10.0.0.0/8"}),
				rule(spec.SecurityRule{Direction: "egress", Protocol: "icmp"}), rule(spec.SecurityRule{Direction: "egress", Protocol: "sctp"}),
			},
			[]func(*Asset){
				rule(spec.SecurityRule{}), rule(spec.SecurityRule{Direction: "both"}), rule(spec.SecurityRule{Direction: "ingress", Protocol: "gre"}),
				rule(spec.SecurityRule{Direction: "ingress", From: -1}), rule(spec.SecurityRule{Direction: "ingress", From: 2, To: 1}),
				rule(spec.SecurityRule{Direction: "ingress", To: 65536}), rule(spec.SecurityRule{Direction: "ingress", Remote: "10.0.0.1/8"}),
				rule(spec.SecurityRule{Direction: "ingress", Remote: "anywhere"}),
			},
		},
		"spans": {
			[]func(*Asset){span("physnet1", "bond0.100", ""), span("p", "a23456789012345", "static"), span("p", "b", "whereabouts")},
			[]func(*Asset){
				span("", "bond0", ""), span("a b", "bond0", ""), span("p", "", ""), span("p", "a/b", ""), span("p", "a234567890123456", ""), span("p", "b", "dhcp"),
			},
		},
		"spec.segment": {
			[]func(*Asset){
				segment(spec.LinkSegment{Type: "vlan", ID: 4094}), segment(spec.LinkSegment{Type: "vxlan", ID: 1<<24 - 1}),
				segment(spec.LinkSegment{Type: "flat", Physical: "physnet1"}), segment(spec.LinkSegment{Type: "vxlan", ID: 0}),
			},
			[]func(*Asset){
				segment(spec.LinkSegment{Type: "gre"}), segment(spec.LinkSegment{}), segment(spec.LinkSegment{Type: "flat", Physical: "a b"}),
				segment(spec.LinkSegment{Type: "vlan", ID: 4095}), segment(spec.LinkSegment{Type: "vxlan", ID: 1 << 24}), segment(spec.LinkSegment{Type: "vxlan", ID: -1}),
			},
		},
		"spec.cidr": {
			[]func(*Asset){func(l *Asset) { l.Spec.CIDR = "10.0.0.0/24" }, func(l *Asset) { l.Spec.CIDR = "fd00::/64" }},
			[]func(*Asset){func(l *Asset) { l.Spec.CIDR = "10.0.0.1/24" }, func(l *Asset) { l.Spec.CIDR = "10.0.0.0" }},
		},
		"spec.gateway": {
			[]func(*Asset){
				within(func(s *spec.LinkSpec) { s.Gateway = "10.0.0.254" }), within(func(s *spec.LinkSpec) { s.Gateway = "none" }),
				func(l *Asset) { l.Spec.Gateway = "none" },
			},
			[]func(*Asset){
				within(func(s *spec.LinkSpec) { s.Gateway = "10.0.1.1" }), within(func(s *spec.LinkSpec) { s.Gateway = "first" }),
				func(l *Asset) { l.Spec.Gateway = "10.0.0.1" },
			},
		},
		"spec.allocationPools": {
			[]func(*Asset){pool("10.0.0.2", "10.0.0.9"), pool("10.0.0.2", "10.0.0.2")},
			[]func(*Asset){pool("10.0.0.9", "10.0.0.2"), pool("10.0.1.2", "10.0.0.9"), pool("10.0.0.2", "10.0.1.9"), pool("", "10.0.0.9"), pool("10.0.0.2", "x")},
		},
		"spec.dns": {
			[]func(*Asset){func(l *Asset) { l.Spec.DNS = []string{"8.8.8.8", "fd00::1"} }},
			[]func(*Asset){func(l *Asset) { l.Spec.DNS = []string{"8.8.8.8", "dns.example.org"} }},
		},
	} {
		for n, change := range cases.good {
			if err := link(change).valid(); err != nil {
				t.Errorf("%s, good case %d: %v", field, n, err)
			}
		}
		for n, change := range cases.bad {
			var e *broker.Error
			if err := link(change).valid(); !errors.As(err, &e) || !errors.Is(err, broker.ErrInvalid) || e.Field != field {
				t.Errorf("%s, bad case %d: %v", field, n, err)
			}
		}
	}
	if err := link(func(l *Asset) { l.Kind, l.Spec.MTU = policy.KindVolume, 1 }).valid(); err != nil {
		t.Errorf("a volume is held to what links are: %v", err)
	}
}

// Two requests are the same where no member differs.
func TestWhatDiffersMakesAnotherAsset(t *testing.T) {
	of := link(func(l *Asset) { l.Spec.Pools = []spec.AddressRange{{Start: "a", End: "b"}} })
	if !of.same(link(func(l *Asset) { l.Spec.Pools = []spec.AddressRange{{Start: "a", End: "b"}} })) {
		t.Error("an asset differs from itself")
	}
	for name, change := range map[string]func(*Asset){
		"VIM": func(l *Asset) { l.VIM = "w" }, "existing": func(l *Asset) { l.Existing = "n" }, "maker": func(l *Asset) { l.Maker = "m" },
		"spec": func(l *Asset) { l.Spec.Pools = []spec.AddressRange{{Start: "a", End: "c"}} }, "volume": func(l *Asset) { l.Volume.Size = "1Gi" },
		"spans": func(l *Asset) { l.Spans = []spec.Span{{VIM: "c"}} },
	} {
		other := of
		if change(&other); of.same(other) || other.same(of) {
			t.Errorf("another %s is no other asset", name)
		}
	}
}

// What reaches beyond the project's part of a cloud is named; the first member of several.
func TestWhatReachesBeyondAProjectIsNamed(t *testing.T) {
	no, yes := false, true
	for _, c := range []struct {
		change func(*Asset)
		want   string
	}{
		{func(*Asset) {}, ""},
		{func(l *Asset) { l.Existing, l.Spec.Router = "n", "r" }, "existing.networkId"},
		{func(l *Asset) { l.Spans, l.Spec.Router = make([]spec.Span, 1), "r" }, "spans"},
		{func(l *Asset) { l.Spec.Segment = &spec.LinkSegment{} }, "spec.segment"},
		{func(l *Asset) { l.Spec.PortSecurity = &no }, "spec.portSecurity"},
		{func(l *Asset) { l.Spec.PortSecurity = &yes }, ""},
		{func(l *Asset) { l.Spec.Router = "r" }, "spec.router"},
		{func(l *Asset) { l.Kind, l.Existing = policy.KindVolume, "n" }, ""},
	} {
		if got := link(c.change).wide(); got != c.want {
			t.Errorf("wide() = %q, want %q", got, c.want)
		}
	}
}

func TestAnAssetIsSeenByThoseItIsSharedWith(t *testing.T) {
	for _, c := range []struct {
		shared bool
		with   []string
		want   []string
	}{
		{false, nil, []string{"demo"}}, {false, []string{"other"}, []string{"demo", "other"}}, {true, []string{"other"}, []string{"demo", "other", "*"}},
	} {
		if got := link(func(l *Asset) { l.Shared, l.SharedWith = c.shared, c.with }).Viewers(); !slices.Equal(got, c.want) {
			t.Errorf("Viewers() = %v, want %v", got, c.want)
		}
	}
}

// An asset in use names five instances, and says how many more there are.
func TestUsesAreNamed(t *testing.T) {
	uses := make([]Use, 0, 6)
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		uses = append(uses, Use{Instance: id})
	}
	for all, want := range map[int]string{1: "a", 5: "a, b, c, d, e", 6: "a, b, c, d, e and 1 more", 40: "a, b, c, d, e and 35 more"} {
		err := link(func(*Asset) {}).inUse(uses[:min(all, 6)], all)
		if want = "the virtual link is used by VNF instances: " + want + "; "; !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("of %d uses: %v", all, err)
		}
	}
}

// Of the moves of a state only those of the table are made, and each counts a revision.
func TestMovesOfAnAsset(t *testing.T) {
	at := link(func(l *Asset) { l.State, l.Revision = Removing, 4 })
	if got, err := at.Moved(at); err != nil || got.Revision != 5 {
		t.Errorf("a write that keeps the state: revision %d, %v", got.Revision, err)
	}
	next := at
	next.State = Ready
	if _, err := at.Moved(next); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "cannot become") {
		t.Errorf("what is being removed stands again: %v", err)
	}
}

// On a cluster that a link spans to it is a network of pods on an interface of the nodes: of a trunk the VLAN, with the link's MTU.
func TestALinkIsAnotherOnEachVIM(t *testing.T) {
	l := link(func(l *Asset) {
		l.Made = Made{Network: "n", MTU: 1400, VLAN: 100}
		l.Spans = []spec.Span{{VIM: "a", Interface: "bond0"}, {VIM: "b", Interface: "bond0.100"}}
	})
	flat := l
	flat.Made.VLAN = 0
	for _, c := range []struct {
		l    Asset
		vim  string
		is   bool
		want *spec.PodNetwork
	}{
		{l, "v", true, nil},
		{l, "c", false, nil},
		{l, "a", true, &spec.PodNetwork{Type: "vlan", Device: "bond0", VLAN: 100}},
		{l, "b", true, &spec.PodNetwork{Type: "macvlan", Device: "bond0.100"}},
		{flat, "a", true, &spec.PodNetwork{Type: "macvlan", Device: "bond0"}},
	} {
		got, is := c.l.On(c.vim)
		mtu, spans := 0, []spec.Span(nil)
		if c.want != nil {
			mtu, spans = 1400, []spec.Span{c.l.Spans[slices.IndexFunc(c.l.Spans, func(s spec.Span) bool { return s.VIM == c.vim })]}
		}
		if is != c.is || !reflect.DeepEqual(got.Spec.NAD, c.want) || got.Spec.MTU != mtu || !slices.Equal(got.Spans, spans) {
			t.Errorf("on %s: %v, %+v, MTU %d, spans %v; want %v, %+v, %d, %v", c.vim, is, got.Spec.NAD, got.Spec.MTU, got.Spans, c.is, c.want, mtu, spans)
		}
	}
}

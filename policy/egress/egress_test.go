package egress_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy/egress"
)

func TestDefaultAllowsWhereVIMsLive(t *testing.T) {
	rules := egress.Default()
	for _, addr := range []string{
		"8.8.8.8:443", "10.0.0.1:6443", "172.16.0.1:6443", "192.168.1.1:443", "100.64.0.1:6443",
		"198.51.100.7:80", "1.0.0.0:1024", "223.255.255.255:65535", "192.0.1.0:443", "169.253.255.255:443", "169.255.0.0:443",
		"100.100.100.201:443", "128.0.0.1:443",
		"[2001:db8::1]:6443", "[2a00:1450::1]:443", "[fd12:3456::1]:6443", "[fc00::1]:5000", "[2001:200::1]:443", "[2003::1]:443",
		"[2001:db8::100:5efe:a00:1]:443", "[2001:db8::1:5efe:a00:1]:443", "[2001:db8::5eff:a00:1]:443", "[2001:db8::5ffe:a00:1]:443", // nearly ISATAP
	} {
		if err := rules.Check(netip.MustParseAddrPort(addr)); err != nil {
			t.Errorf("Check(%s) = %v, want nil", addr, err)
		}
	}
}

// never are addresses that no setting allows, by the kind that the refusal names.
var never = map[string][]string{
	"link-local": {"169.254.169.254", "169.254.0.0", "169.254.255.255", "fe80::1", "febf:ffff::1", "fe80::a9fe:a9fe"},
	"cloud metadata": {
		"169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
	},
	"unspecified":   {"0.0.0.0", "0.0.0.1", "0.255.255.255", "::"},
	"multicast":     {"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"},
	"broadcast":     {"255.255.255.255", "240.0.0.1"},
	"assignments":   {"192.0.0.1", "192.0.0.192", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1"},
	"mapped":        {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254", "::ffff:7f00:1"},
	"translated":    {"::ffff:0:127.0.0.1", "::ffff:0:a00:1"},
	"NAT64":         {"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "64:ff9b:1:ffff::169.254.169.254"},
	"6to4":          {"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "192.88.99.1"},
	"site-local":    {"fec0::1", "feff::1"},
	"ISATAP":        {"2001:db8::5efe:127.0.0.1", "2001:db8::200:5efe:a00:1", "fd00::5efe:169.254.169.254"},
	"not global":    {"::7f00:1", "::127.0.0.2", "::2", "::8.8.8.8", "100::1", "100:0:0:1::1", "5f00::1", "4000::1", "e000::1", "fb00::1", "64:ff9b:2::1"},
	"zone":          {"fe80::1%eth0", "::1%lo", "2001:db8::1%1"},
	"not an addres": {""},
}

func TestSpecialAddressesAreNeverAllowed(t *testing.T) {
	most := egress.Default()
	most.AllowLoopback = true
	most.Ports = []egress.PortRange{{First: 0, Last: 65535}}
	for kind, addrs := range never {
		for _, a := range addrs {
			ip, _ := netip.ParseAddr(a) // "" is the zero Addr
			rules := *most
			if ip.IsValid() && ip.Zone() == "" { // named, even
				rules.Networks = append([]netip.Prefix{netip.PrefixFrom(ip, ip.BitLen())}, rules.Networks...)
			}
			err := rules.Check(netip.AddrPortFrom(ip, 443))
			wantRefused(t, a, err, kind)
		}
	}
}

func wantRefused(t *testing.T, what string, err error, rule string) {
	t.Helper()
	var refused *egress.RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, egress.ErrRefused) {
		t.Errorf("%s = %v, want a RefusedError", what, err)
		return
	}
	if !strings.Contains(refused.Rule, rule) || refused.Remedy == "" {
		t.Errorf("%s is refused by %q with remedy %q, want a rule that says %q and a remedy", what, refused.Rule, refused.Remedy, rule)
	}
	for _, part := range []string{refused.Addr.String(), refused.Rule, refused.Remedy} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: the error %q does not say %q", what, err, part)
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	narrow := &egress.Rules{
		Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd12::/16")},
		Ports:    []egress.PortRange{{443, 443}, {6000, 7000}},
	}
	development := &egress.Rules{AllowLoopback: true, Ports: []egress.PortRange{{8443, 8443}}}
	for _, tc := range []struct {
		rules *egress.Rules
		addr  string
		rule  string // "" for allowed
	}{
		{narrow, "10.1.2.3:443", ""},
		{narrow, "10.1.2.3:6000", ""},
		{narrow, "10.1.2.3:7000", ""},
		{narrow, "[fd12::1]:443", ""},
		{narrow, "10.2.0.0:443", "egress.networks"},
		{narrow, "[fd13::1]:443", "egress.networks"},
		{narrow, "10.1.2.3:442", "egress.ports"},
		{narrow, "10.1.2.3:5999", "egress.ports"},
		{narrow, "10.1.2.3:7001", "egress.ports"},
		{narrow, "127.0.0.1:443", "loopback"},
		{narrow, "[::1]:443", "loopback"},
		{development, "127.0.0.1:8443", ""},
		{development, "127.255.0.9:8443", ""},
		{development, "[::1]:8443", ""},
		{development, "127.0.0.1:22", "egress.ports"},
		{development, "[::ffff:127.0.0.1]:8443", "mapped"},
		{development, "10.1.2.3:8443", "egress.networks"},
		{egress.Default(), "127.0.0.1:6443", "loopback"},
		{egress.Default(), "10.0.0.1:22", "egress.ports"},
		{egress.Default(), "10.0.0.1:25", "egress.ports"},
		{egress.Default(), "10.0.0.1:1023", "egress.ports"},
		{egress.Default(), "10.0.0.1:0", "egress.ports"},
		{&egress.Rules{}, "8.8.8.8:443", "egress.networks"},
		{nil, "8.8.8.8:443", "egress.networks"},
		{nil, "127.0.0.1:443", "loopback"},
	} {
		err := tc.rules.Check(netip.MustParseAddrPort(tc.addr))
		what := fmt.Sprintf("Check(%s) under %+v", tc.addr, tc.rules)
		if tc.rule == "" {
			if err != nil {
				t.Errorf("%s = %v, want nil", what, err)
			}
			continue
		}
		wantRefused(t, what, err, tc.rule)
	}
}

func TestDefaultIsACopy(t *testing.T) {
	egress.Default().Networks[0] = netip.Prefix{}
	egress.Default().Ports[0] = egress.PortRange{}
	if err := egress.Default().Check(netip.MustParseAddrPort("10.0.0.1:80")); err != nil {
		t.Errorf("Check after another Default was changed = %v, want nil", err)
	}
}

// FuzzCheck: an address that is allowed stands for itself, in no form that the
// standard library or a translator would read as a special one.
func FuzzCheck(f *testing.F) {
	for _, addrs := range never {
		for _, a := range addrs {
			if ip, err := netip.ParseAddr(a); err == nil {
				f.Add(ip.AsSlice(), uint16(443))
			}
		}
	}
	f.Add([]byte{127, 0, 0, 1}, uint16(80))
	f.Add([]byte{10, 0, 0, 1}, uint16(6443))
	f.Add(netip.MustParseAddr("2001:db8::1").AsSlice(), uint16(443))
	rules := egress.Default()
	f.Fuzz(func(t *testing.T, b []byte, port uint16) {
		ip, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		if ip.Is4() {
			embedded(t, rules, ip, port)
		}
		if rules.Check(netip.AddrPortFrom(ip, port)) != nil {
			return
		}
		if !ip.IsGlobalUnicast() || ip.IsLoopback() || ip.IsUnspecified() || ip.IsMulticast() ||
			ip.IsLinkLocalUnicast() || ip.Is4In6() || ip != ip.Unmap() {
			t.Errorf("Check(%s) = nil", ip)
		}
		if ip.Is6() && ip.As16()[0]&0xe0 != 0x20 && ip.As16()[0]&0xfe != 0xfc {
			t.Errorf("Check(%s) = nil outside of global and unique local unicast", ip)
		}
		if port != 80 && port != 443 && port < 1024 {
			t.Errorf("Check of port %d = nil", port)
		}
	})
}

// embedded checks that an IPv4 address, special or not, passes in no IPv6 form.
func embedded(t *testing.T, rules *egress.Rules, ip netip.Addr, port uint16) {
	four := ip.As4()
	for prefix, at := range map[string]int{
		"::":                      12, // IPv4-compatible
		"::ffff:0:0":              12, // mapped
		"::ffff:0:0:0":            12, // translated
		"64:ff9b::":               12, // NAT64
		"64:ff9b:1::":             12, // local NAT64
		"2002::":                  2,  // 6to4
		"2001::":                  4,  // Teredo: the server
		"2001:0:1:1::":            12, // Teredo: the client
		"2001:db8::5efe:0:0":      12, // ISATAP
		"fd00::200:5efe:0:0":      12,
		"2001:db8:1:0:200:5efe::": 12,
	} {
		b := netip.MustParseAddr(prefix).As16()
		copy(b[at:], four[:])
		six := netip.AddrFrom16(b)
		if six == netip.IPv6Loopback() {
			continue // ::0.0.0.1 is ::1
		}
		if rules.Check(netip.AddrPortFrom(six, port)) == nil {
			t.Errorf("Check(%s) = nil, which holds %s", six, ip)
		}
	}
}

// Port 0 is no port of TCP: to a dialer it means another.
func TestNoRangeAllowsPort0(t *testing.T) {
	rules := egress.Default()
	rules.Ports = []egress.PortRange{{First: 0, Last: 65535}}
	err := rules.Check(netip.MustParseAddrPort("8.8.8.8:0"))
	wantRefused(t, "8.8.8.8:0", err, "egress.ports")
	if err := rules.Check(netip.MustParseAddrPort("8.8.8.8:1")); err != nil {
		t.Errorf("Check(8.8.8.8:1) = %v, want nil", err)
	}
}

// TestTheAddressesOfThisMachine are refused like loopback, however networks name them.
func TestTheAddressesOfThisMachine(t *testing.T) {
	own := netip.MustParseAddr("10.1.2.3")
	rules := egress.Default()
	rules.Networks = append(rules.Networks, netip.PrefixFrom(own, 32))
	restore := egress.On(&net.IPNet{IP: own.AsSlice(), Mask: net.CIDRMask(24, 32)})
	defer restore()
	wantRefused(t, own.String(), rules.Check(netip.AddrPortFrom(own, 443)), "this machine")
	if err := rules.Check(netip.MustParseAddrPort("10.1.2.4:443")); err != nil {
		t.Errorf("another machine's address: %v", err)
	}
	rules.AllowLoopback = true
	if err := rules.Check(netip.AddrPortFrom(own, 443)); err != nil {
		t.Errorf("in development: %v", err)
	}
	restore() // as this machine really has them
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().IsPrivate() {
			wantRefused(t, a.String(), egress.Default().Check(netip.AddrPortFrom(prefix.Addr(), 443)), "this machine")
		}
	}
}

// A secret goes without TLS to an address of this machine alone, and to no name.
func TestOwnHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "10.0.0.1": false, "::": false, "localhost": false, "": false,
	} {
		if got := egress.OwnHost(host); got != want {
			t.Errorf("OwnHost(%q) = %t", host, got)
		}
	}
}

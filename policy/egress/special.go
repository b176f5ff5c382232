package egress

import "net/netip"

// block is a range of addresses that no VIM lives at.
type block struct {
	kind   string
	prefix netip.Prefix
}

// blocks are refused whatever the rules say. The kinds are shown to people. From
// the IANA special-purpose registries (RFC 6890 and its successors), and the
// documents of the clouds for their metadata services outside of link-local.
var blocks = func() []block {
	byKind := []struct {
		kind     string
		prefixes []string
	}{
		{"unspecified or this network", []string{"0.0.0.0/8", "::/128"}},
		{"link-local, cloud metadata", []string{"169.254.0.0/16", "fe80::/10"}},
		{"cloud metadata", []string{
			"100.100.100.200/32", // Alibaba Cloud
			"168.63.129.16/32",   // Azure
			"fd00:ec2::/32",      // AWS
			"fd20:ce::254/128",   // Google Cloud
		}},
		{"multicast", []string{"224.0.0.0/4", "ff00::/8"}},
		{"broadcast or reserved", []string{"240.0.0.0/4"}},
		{"IETF protocol assignments", []string{"192.0.0.0/24"}},
		{"IPv4 address in IPv6 (mapped)", []string{"::ffff:0:0/96"}},
		{"IPv4 address in IPv6 (translated)", []string{"::ffff:0:0:0/96"}},
		{"IPv4 address in IPv6 (NAT64)", []string{"64:ff9b::/96", "64:ff9b:1::/48"}},
		{"6to4", []string{"2002::/16", "192.88.99.0/24"}},
		{"Teredo or IETF protocol assignments", []string{"2001::/23"}},
		{"site-local (deprecated)", []string{"fec0::/10"}},
	}
	var all []block
	for _, k := range byKind {
		for _, p := range k.prefixes {
			all = append(all, block{k.kind, netip.MustParsePrefix(p)})
		}
	}
	return all
}()

// ordinary6 is where ordinary IPv6 unicast addresses are: global and unique
// local. All else is special, assigned or not.
var ordinary6 = []netip.Prefix{netip.MustParsePrefix("2000::/3"), netip.MustParsePrefix("fc00::/7")}

var (
	loopback4 = netip.MustParsePrefix("127.0.0.0/8")
	loopback6 = netip.IPv6Loopback()
)

// isLoopback reports whether ip is loopback, spelled as itself. A loopback
// address inside an IPv6 address is special instead.
func isLoopback(ip netip.Addr) bool { return loopback4.Contains(ip) || ip == loopback6 }

// special names the kind of special address that ip is, or returns "" for an
// ordinary one. Loopback is not special here: there is a setting for it.
func special(ip netip.Addr) string {
	switch {
	case !ip.IsValid():
		return "not an address"
	case ip.Zone() != "":
		return "address with a zone"
	case isLoopback(ip):
		return ""
	}
	for _, b := range blocks {
		if b.prefix.Contains(ip) {
			return b.kind
		}
	}
	if ip.Is4() {
		return ""
	}
	if b := ip.As16(); b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		return "IPv4 address in IPv6 (ISATAP)" // RFC 5214 section 6.1, under any prefix
	}
	if !contains(ordinary6, ip) {
		return "not global or unique local unicast"
	}
	return ""
}

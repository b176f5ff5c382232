// Package egress decides which network addresses the broker's drivers may
// connect to, at the moment of connecting, after name resolution.
//
// It exists because people register endpoints, and the broker, which stands in
// a network they do not, then connects to them. Were it to follow any address, a
// registration could reach the broker's own loopback services or the metadata
// service of the cloud it runs on (SSRF). A check of the URL is not enough: a
// name may resolve to another address each time it is asked (DNS rebinding). So
// the check is made by the dialer on the address of every single attempt.
//
// VIMs of telcos live in private networks, so these are allowed by default.
// Addresses at which no VIM lives are never allowed, whatever the rules say: see
// [Rules.Check].
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrRefused is the error that every refusal unwraps to.
var ErrRefused = errors.New("refused by egress rules")

// RefusedError says which address was refused, and what to do about it. Its
// text is made of the address and our own words.
type RefusedError struct {
	// Addr is the address that was about to be connected to, after resolution.
	Addr netip.AddrPort
	// Rule is the rule that refuses: a kind of address ("link-local, cloud
	// metadata"), or the setting that does not list it ("egress.networks").
	Rule string
	// Remedy says which setting to change, or that none helps.
	Remedy string
}

// Error names the address, the rule and the remedy.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("connecting to %s: %v (%s): %s", e.Addr, ErrRefused, e.Rule, e.Remedy)
}

// Unwrap returns [ErrRefused].
func (e *RefusedError) Unwrap() error { return ErrRefused }

// Rules are the addresses that a driver may connect to. The zero value, and nil,
// allow nothing; start from [Default]. Rules are not changed once in use, and are
// then safe for concurrent use.
type Rules struct {
	// AllowLoopback lets connections to this machine through (127.0.0.0/8 and
	// ::1, on Ports), whether or not Networks holds them, and to its other addresses
	// that Networks holds. For development and tests: without it no setting allows them.
	AllowLoopback bool
	// Networks are the networks that may be connected to. None means none.
	// Special addresses inside them stay refused. A network whose translator
	// maps IPv4 into IPv6 under a prefix of its own (RFC 6052) must not be listed
	// unless every IPv4 address may be reached.
	Networks []netip.Prefix
	// Ports are the TCP ports that may be connected to. None means none.
	Ports []PortRange
}

// interfaces are the addresses of this machine.
var interfaces = net.InterfaceAddrs

// isOwn reports whether an address is one of this machine's.
func isOwn(ip netip.Addr) bool {
	all, _ := interfaces() // none, if they are not to be had
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, _ := netip.ParsePrefix(a.String())
		return prefix.Addr() == ip
	})
}

// PortRange is a range of TCP ports, both ends included.
type PortRange struct{ First, Last uint16 }

// Contains reports whether port lies in the range.
func (p PortRange) Contains(port uint16) bool { return p.First <= port && port <= p.Last }

// String spells the range as ParsePorts reads it: "443" or "1024-65535".
func (p PortRange) String() string {
	if p.First == p.Last {
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// Default allows every ordinary unicast address, private networks (RFC 1918,
// RFC 6598, RFC 4193) included, on ports 80, 443 and 1024 to 65535. Each call
// returns a new value, for the caller to change.
func Default() *Rules {
	return &Rules{
		Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
		Ports:    []PortRange{{80, 80}, {443, 443}, {1024, 65535}},
	}
}

// Check returns nil if addr may be connected to, otherwise a [*RefusedError].
//
// Refused whatever the rules say are: unspecified, link-local, multicast,
// broadcast and reserved addresses; the metadata services of the large clouds; all
// IPv6 addresses that stand for an IPv4 address (mapped, compatible, translated,
// NAT64, 6to4, Teredo, ISATAP), as an IPv4 address is checked as itself or not at
// all; site-local and every other IPv6 address outside 2000::/3 and fc00::/7;
// addresses with a zone; and loopback and the addresses of this machine, unless
// AllowLoopback is set.
func (r *Rules) Check(addr netip.AddrPort) error {
	refuse := func(rule, remedy string) error {
		return &RefusedError{Addr: addr, Rule: rule, Remedy: remedy}
	}
	if r == nil {
		r = new(Rules)
	}
	ip := addr.Addr()
	loopback := isLoopback(ip)
	if kind := special(ip); kind != "" {
		return refuse(kind, "no setting allows this address; use an ordinary unicast address of the VIM")
	}
	switch {
	case loopback && !r.AllowLoopback:
		return refuse("loopback", "set egress.allowLoopback, in development only")
	case !r.AllowLoopback && isOwn(ip):
		return refuse("this machine", "have the VIM answer at an address of another machine, or set egress.allowLoopback")
	case !loopback && !holds(r.Networks, ip):
		return refuse("egress.networks", fmt.Sprintf("add a network that holds %s to egress.networks", ip))
	case addr.Port() == 0 || !slices.ContainsFunc(r.Ports, func(p PortRange) bool { return p.Contains(addr.Port()) }):
		return refuse("egress.ports", fmt.Sprintf("add %d to egress.ports", addr.Port()))
	}
	return nil
}

func holds(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

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

// OwnHost reports whether a host is an address of this machine alone: a secret may go there without TLS. A name is
// none, since others may say where it leads.
func OwnHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

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
	if i := slices.IndexFunc(blocks, func(b block) bool { return b.prefix.Contains(ip) }); i >= 0 {
		return blocks[i].kind
	}
	if ip.Is4() {
		return ""
	}
	if b := ip.As16(); b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		return "IPv4 address in IPv6 (ISATAP)" // RFC 5214 section 6.1, under any prefix
	}
	if !holds(ordinary6, ip) {
		return "not global or unique local unicast"
	}
	return ""
}

// dialTimeout bounds one attempt to connect.
const dialTimeout = 10 * time.Second

// DialContext connects to addr, a host and a port, over TCP. Rules are checked
// on each address that the host resolves to, right before the attempt to connect
// to it. If that leaves none, the error wraps a [*RefusedError]. A network other
// than tcp, tcp4 and tcp6 is an error.
func (r *Rules) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("connecting over %q: %w: only TCP is allowed", network, ErrRefused)
	}
	dialer := net.Dialer{
		Timeout: dialTimeout,
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			addr, _ := netip.ParseAddrPort(resolved) // what is none is refused
			return r.Check(addr)
		},
	}
	return dialer.DialContext(ctx, network, addr)
}

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
	"errors"
	"fmt"
	"net/netip"
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
	// ::1, on Ports), whether or not Networks holds them. For development and
	// tests: without it no setting allows loopback.
	AllowLoopback bool
	// Networks are the networks that may be connected to. None means none.
	// Special addresses inside them stay refused. A network whose translator
	// maps IPv4 into IPv6 under a prefix of its own (RFC 6052) must not be listed
	// unless every IPv4 address may be reached.
	Networks []netip.Prefix
	// Ports are the TCP ports that may be connected to. None means none.
	Ports []PortRange
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
// addresses with a zone; and loopback, unless AllowLoopback is set.
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
	case !loopback && !contains(r.Networks, ip):
		return refuse("egress.networks", fmt.Sprintf("add a network that holds %s to egress.networks", ip))
	case !containsPort(r.Ports, addr.Port()):
		return refuse("egress.ports", fmt.Sprintf("add %d to egress.ports", addr.Port()))
	}
	return nil
}

func contains(networks []netip.Prefix, ip netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

func containsPort(ranges []PortRange, port uint16) bool {
	if port == 0 { // not a port of TCP, and no range makes it one
		return false
	}
	for _, p := range ranges {
		if p.Contains(port) {
			return true
		}
	}
	return false
}

package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Parse makes rules of configuration strings: networks as [ParseNetwork] reads
// them, ports as [ParsePorts] does. No networks, or no ports, means those of
// [Default]. The error joins every fault.
func Parse(allowLoopback bool, networks, ports []string) (*Rules, error) {
	rules := Default()
	rules.AllowLoopback = allowLoopback
	if err := errors.Join(parse(&rules.Networks, networks, ParseNetwork), parse(&rules.Ports, ports, ParsePorts)); err != nil {
		return nil, err
	}
	return rules, nil
}

// parse reads texts, if there are any, in the place of what is there.
func parse[T any](into *[]T, texts []string, read func(string) (T, error)) error {
	if len(texts) == 0 {
		return nil
	}
	var faults []error
	*into = nil
	for _, text := range texts {
		one, err := read(text)
		faults, *into = append(faults, err), append(*into, one)
	}
	return errors.Join(faults...)
}

// ParseNetwork reads "10.0.0.0/8", "fd12::/16", or a single address. A network
// with bits set behind its prefix is refused, as one of the two is a slip; so is
// a network of special addresses only, which would never let anything through.
func ParseNetwork(s string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(s)
	if err != nil {
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return netip.Prefix{}, fmt.Errorf("network %q: not an address or prefix such as 10.0.0.0/8", s)
		}
		if ip.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("network %q: an address with a zone is never connected to", s)
		}
		n = netip.PrefixFrom(ip, ip.BitLen())
	}
	if n != n.Masked() {
		return netip.Prefix{}, fmt.Errorf("network %q: has bits set behind its prefix; did you mean %s?", s, n.Masked())
	}
	if within(n, loopback4) || n.Addr() == loopback6 {
		return netip.Prefix{}, fmt.Errorf("network %q: loopback is allowed by egress.allowLoopback only", s)
	}
	for _, b := range blocks {
		if within(n, b.prefix) {
			return netip.Prefix{}, fmt.Errorf("network %q: is never connected to (%s)", s, b.kind)
		}
	}
	if n.Addr().Is6() && !n.Overlaps(ordinary6[0]) && !n.Overlaps(ordinary6[1]) {
		return netip.Prefix{}, fmt.Errorf("network %q: is never connected to (not global or unique local unicast)", s)
	}
	return n, nil
}

// within reports whether inner lies in outer.
func within(inner, outer netip.Prefix) bool {
	return inner.Bits() >= outer.Bits() && outer.Contains(inner.Addr())
}

// ParsePorts reads "443" or "1024-65535".
func ParsePorts(s string) (PortRange, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	p, err := parsePort(first)
	q, errLast := parsePort(last)
	if err != nil || errLast != nil || p > q {
		return PortRange{}, fmt.Errorf("ports %q: not a port from 1 to 65535 or a range such as 1024-65535", s)
	}
	return PortRange{p, q}, nil
}

func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return uint16(n), err
}

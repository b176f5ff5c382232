package api

import (
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers in which proxies say whom they speak for.
const (
	ForwardedFor = "X-Forwarded-For"
	Forwarded    = "Forwarded" // RFC 7239
)

// Proxies are the proxies whose word on a caller's address counts. The zero value trusts
// none.
type Proxies struct {
	// Networks are where the proxies are.
	Networks []netip.Prefix
	// Header is the one that they set, [ForwardedFor] or [Forwarded]. A caller can set the
	// other one, so it is never read.
	Header string
}

// caller returns the sender's address, as host:port; the port is 0 if a proxy named the
// address. The header is read from its end, where the nearest proxy has written, up to
// the first address that is no proxy's. The caller may have made up the addresses before
// that.
func (p Proxies) caller(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(peer.Addr()) {
		return r.RemoteAddr
	}
	nearest := peer.Addr()
	hops := strings.Split(strings.Join(r.Header.Values(p.Header), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, ok := p.address(hop)
		if !ok {
			break
		}
		nearest = addr
		if !p.trusts(addr) {
			break
		}
	}
	if nearest == peer.Addr() {
		return r.RemoteAddr
	}
	return netip.AddrPortFrom(nearest, 0).String()
}

func (p Proxies) trusts(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// address reads one element of the header.
func (p Proxies) address(hop string) (netip.Addr, bool) {
	if p.Header == Forwarded {
		_, pairs, err := mime.ParseMediaType("hop;" + hop)
		if err != nil {
			return netip.Addr{}, false
		}
		hop = pairs["for"]
	}
	hop = strings.TrimSpace(hop)
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(hop, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

package openstack

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// maxEndpoints bounds a catalog.
const maxEndpoints = 1024

// pin is an entry without its origin: the same service may not move.
func pin(e broker.CatalogEntry) broker.CatalogEntry { e.Origin = ""; return e }

// readCatalog rebuilds a catalog, sorted. An entry that is no plain http or https
// URL is refused, and the whole catalog with it.
func readCatalog(in []tokens.CatalogEntry) ([]broker.CatalogEntry, error) {
	var out []broker.CatalogEntry
	for _, service := range in {
		for _, e := range service.Endpoints {
			u, err := url.Parse(e.URL)
			if err != nil || len(out) == maxEndpoints || !isName(service.Type) || !isName(e.Interface) || e.Region != "" && !isName(e.Region) {
				return nil, badCatalog("is not one that a cloud has")
			}
			origin, err := rebuild.Endpoint("catalog", (&url.URL{Scheme: u.Scheme, Host: u.Host, User: u.User}).String(), true)
			if err != nil {
				return nil, badCatalog("holds an endpoint that is no plain http or https URL")
			}
			out = append(out, broker.CatalogEntry{Service: service.Type, Interface: e.Interface, Region: e.Region, Origin: origin})
		}
	}
	slices.SortFunc(out, func(a, b broker.CatalogEntry) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Origin, b.Origin))
	})
	return slices.Compact(out), nil
}

// hold refuses a catalog that leads where the broker may not connect, or to
// another place than the one that was pinned. Services may come and go. Names are
// held to the rules again whenever something connects to them; an address is
// judged here.
func hold(catalog, pinned []broker.CatalogEntry, rules *egress.Rules) error {
	for _, e := range catalog {
		if addr, ok := literal(e.Origin); ok {
			if err := rules.Check(addr); err != nil {
				return badCatalog("sends service " + e.Service + " to an address that the broker's egress rules refuse")
			}
		}
	}
	origins := map[broker.CatalogEntry][]string{}
	for _, e := range pinned {
		origins[pin(e)] = append(origins[pin(e)], e.Origin)
	}
	for _, e := range catalog {
		if was, known := origins[pin(e)]; known && !slices.Contains(was, e.Origin) {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "the cloud's catalog sends service " + e.Service + " to another host than when the VIM was registered, and tokens would follow",
				Remedy: "see whether that is intended", Next: broker.NextReplaceCredential,
			}
		}
	}
	return nil
}

// literal returns the address and port of an origin whose host is an IP address, or
// a name that is one everywhere (RFC 6761, section 6.3).
func literal(origin string) (netip.AddrPort, bool) {
	u, err := url.Parse(origin)
	if err != nil {
		return netip.AddrPort{}, false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, false
	}
	port := uint64(443)
	if u.Scheme == "http" {
		port = 80
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.ParseUint(p, 10, 16); err != nil {
			return netip.AddrPort{}, false
		}
	}
	return netip.AddrPortFrom(ip, uint16(port)), true
}

func badCatalog(why string) error {
	return &broker.Error{
		Kind: broker.ErrUnreachable, Detail: "the cloud's service catalog " + why,
		Remedy: "correct the catalog on the cloud, or check that the endpoint is the right Keystone",
	}
}

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

// endpoint is one line of a cloud's service catalog, reduced to where it leads: a
// token follows to that host.
type endpoint struct {
	Service   string `json:"service"`
	Interface string `json:"interface"`
	Region    string `json:"region,omitempty"`
	// Origin is scheme, host and port.
	Origin string `json:"origin"`
}

// key is what pins an endpoint: the same service may not move.
func (e endpoint) key() endpoint { e.Origin = ""; return e }

// readCatalog rebuilds a catalog, sorted. An entry that is no plain http or https
// URL is refused, and the whole catalog with it.
func readCatalog(in []tokens.CatalogEntry) ([]endpoint, error) {
	var out []endpoint
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
			out = append(out, endpoint{Service: service.Type, Interface: e.Interface, Region: e.Region, Origin: origin})
		}
	}
	slices.SortFunc(out, func(a, b endpoint) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Origin, b.Origin))
	})
	return slices.Compact(out), nil
}

// hold refuses a catalog that leads where the broker may not connect, or to
// another place than the one that was pinned. Services may come and go. Names are
// held to the rules again whenever something connects to them; an address is
// judged here.
func hold(catalog, pinned []endpoint, rules *egress.Rules) error {
	for _, e := range catalog {
		if addr, ok := literal(e.Origin); ok {
			if err := rules.Check(addr); err != nil {
				return badCatalog("sends service " + e.Service + " to an address that the broker's egress rules refuse")
			}
		}
	}
	origins := map[endpoint][]string{}
	for _, e := range pinned {
		origins[e.key()] = append(origins[e.key()], e.Origin)
	}
	for _, e := range catalog {
		if was, known := origins[e.key()]; known && !slices.Contains(was, e.Origin) {
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

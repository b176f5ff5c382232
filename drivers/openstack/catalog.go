package openstack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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

// readCatalog rebuilds a catalog, sorted. The broker calls none of its endpoints, so one
// that is no plain http or https URL is left out.
func readCatalog(in []tokens.CatalogEntry) ([]broker.CatalogEntry, error) {
	var out []broker.CatalogEntry
	for _, service := range in {
		for _, e := range service.Endpoints {
			if len(out) == maxEndpoints || !isName(service.Type) || !isName(e.Interface) || e.Region != "" && !isName(e.Region) {
				return nil, badCatalog("is not one that a cloud has")
			}
			u, err := url.Parse(e.URL)
			if err != nil {
				continue
			}
			origin, err := rebuild.Endpoint("catalog", (&url.URL{Scheme: u.Scheme, Host: u.Host, User: u.User}).String(), true)
			if err != nil {
				continue
			}
			out = append(out, broker.CatalogEntry{Service: service.Type, Interface: e.Interface, Region: e.Region, Origin: origin})
		}
	}
	slices.SortFunc(out, func(a, b broker.CatalogEntry) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Interface, b.Interface),
			cmp.Compare(a.Origin, b.Origin))
	})
	return slices.Compact(out), nil
}

// strays are warnings of endpoints that the egress rules refuse. They refuse no cloud:
// the broker never goes there, but clients of a lease may. Names are not resolved.
func strays(catalog []broker.CatalogEntry, rules *egress.Rules) []string {
	var out []string
	for _, e := range catalog {
		addr, ok := literal(e.Origin)
		if !ok {
			continue
		}
		var refused *egress.RefusedError
		if errors.As(rules.Check(addr), &refused) {
			out = append(out, fmt.Sprintf("service %s is at %s, which the broker's egress rules refuse (%s): clients of a lease may go there",
				e.Service, e.Origin, refused.Rule))
		}
	}
	if n := len(out) - maxStrays; n > 0 {
		out = append(out[:maxStrays], fmt.Sprintf("%d more endpoints are at such addresses", n))
	}
	return out
}

// maxStrays bounds how many endpoints are warned of.
const maxStrays = 5

// hold refuses a catalog that leads to another place than the one that was pinned.
// Services may come and go.
func hold(catalog, pinned []broker.CatalogEntry) error {
	origins := map[broker.CatalogEntry][]string{}
	for _, e := range pinned {
		origins[pin(e)] = append(origins[pin(e)], e.Origin)
	}
	for _, e := range catalog {
		if was, known := origins[pin(e)]; known && !slices.Contains(was, e.Origin) {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: fmt.Sprintf("the cloud's catalog sends service %s to %s, another host than when the VIM was "+
					"registered, and tokens would follow", e.Service, e.Origin),
				Remedy: "see whether that is intended", Next: broker.NextReplaceCredential, Another: true,
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

// maxDiscovered bounds the stored facts about a VIM, in bytes of JSON.
const maxDiscovered = 64 << 10

// recall returns the facts that an earlier check discovered about the cloud; zero if there
// was none.
func recall(d broker.Discovered) (broker.Cloud, error) {
	if d.Cloud == nil {
		return broker.Cloud{}, nil
	}
	if !isID(d.UserID) || !isID(d.ProjectID) {
		return broker.Cloud{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "the stored facts about the cloud name no user or project",
			Next: broker.NextReplaceCredential, // which discovers the cloud again
		}
	}
	return *d.Cloud, nil
}

// fit drops the endpoints that are not public from a catalog that is too long to be stored.
func fit(d broker.Discovered) (broker.Discovered, error) {
	if size(d) <= maxDiscovered {
		return d, nil
	}
	cloud := *d.Cloud
	cloud.Catalog = slices.DeleteFunc(slices.Clone(cloud.Catalog), func(e broker.CatalogEntry) bool { return e.Interface != "public" })
	d.Cloud = &cloud
	if size(d) > maxDiscovered {
		return broker.Discovered{}, badCatalog("is too long")
	}
	return d, nil
}

func size(d broker.Discovered) int {
	text, _ := json.Marshal(d) // plain data always encodes
	return len(text)
}

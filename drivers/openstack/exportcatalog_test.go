package openstack

import (
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// Strays reads a catalog of one public endpoint of a service for each URL, and returns how
// many of them are kept, and what is warned of.
func Strays(rules *egress.Rules, urls ...string) (kept int, warned []string, err error) {
	catalog, err := readCatalog(catalogOf(urls))
	return len(catalog), strays(catalog, rules), err
}

// HoldCatalog reads such a catalog and holds it to what the pinned URLs would have given.
func HoldCatalog(pinned []string, urls ...string) error {
	was, err := readCatalog(catalogOf(pinned))
	if err != nil {
		return err
	}
	now, err := readCatalog(catalogOf(urls))
	if err != nil {
		return err
	}
	return hold(now, was)
}

func catalogOf(urls []string) []tokens.CatalogEntry {
	var endpoints []tokens.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, tokens.Endpoint{Interface: "public", Region: "RegionOne", URL: u})
	}
	return []tokens.CatalogEntry{{Type: "compute", Endpoints: endpoints}}
}

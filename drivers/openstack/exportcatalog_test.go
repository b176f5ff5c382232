package openstack

import (
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// HoldCatalog reads a catalog of one public endpoint of a service for each URL, and
// holds it to the rules and to what the pinned URLs would have given.
func HoldCatalog(rules *egress.Rules, pinned []string, urls ...string) error {
	was, err := readCatalog(catalogOf(pinned))
	if err != nil {
		return err
	}
	now, err := readCatalog(catalogOf(urls))
	if err != nil {
		return err
	}
	return hold(now, was, rules)
}

func catalogOf(urls []string) []tokens.CatalogEntry {
	var endpoints []tokens.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, tokens.Endpoint{Interface: "public", Region: "RegionOne", URL: u})
	}
	return []tokens.CatalogEntry{{Type: "compute", Endpoints: endpoints}}
}

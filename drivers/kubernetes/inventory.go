package kubernetes

import (
	"cmp"
	"context"

	"github.com/vimbroker/vimbroker/broker"
)

// Inventory implements [broker.Driver]: the accounts of this VIM's leases, and the
// Secrets of those of old. What a finalizer still holds is included.
func (d *Driver) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer end()
	accounts, err := c.inHomes(ctx, a)
	if err != nil {
		return nil, err
	}
	unbound, err := c.unboundHomes(ctx, a, accounts)
	if err != nil {
		return nil, err
	}
	var found []broker.Upstream
	for _, s := range accounts {
		u := broker.Upstream{Handle: s.Name, Lease: s.Labels[leaseLabel], CreatedAt: s.CreationTimestamp.UTC()}
		for _, place := range unbound[s.Namespace] {
			u.Unbound = append(u.Unbound, cmp.Or(place, everywhere))
		}
		found = append(found, u)
	}
	err = list(ctx, c.core.client, "Secret", ours, "secrets", labelled(a), func(i *item) {
		s := &i.Metadata
		found = append(found, broker.Upstream{Handle: s.Name, Lease: s.Labels[leaseLabel], CreatedAt: s.Created.UTC()})
	})
	// A credential of today needs no right to what leases of old rest on. One that was
	// registered with those is believed only if it sees them.
	if err = fault(err, "list", "secrets in namespace "+ours); err != nil && !(isForbidden(err) && knowsMode(a)) {
		return nil, err
	}
	return found, nil
}

// revokeNameless revokes what was listed by its name alone, and is no Secret: refused
// is the cluster's word on that.
func (c *connection) revokeNameless(ctx context.Context, a broker.Access, handle string, refused error) error {
	accounts, err := c.inHomes(ctx, a)
	if err != nil {
		return err
	}
	for i := range accounts {
		if accounts[i].Name == handle {
			return remove(ctx, c.core.client, "serviceaccounts", &accounts[i])
		}
	}
	if !notFound(refused, "secrets", handle) {
		return fault(refused, "get", "secrets in namespace "+ours)
	}
	return c.same(ctx, a.Identity)
}

// labelled selects what carries this VIM's label.
func labelled(a broker.Access) string { return vimLabel + "=" + a.VIM }

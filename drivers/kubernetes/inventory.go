package kubernetes

import (
	"cmp"
	"context"

	"github.com/vimbroker/vimbroker/broker"
)

// Inventory implements [broker.Driver]: the accounts of this VIM's leases. Accounts
// that a finalizer still holds are included.
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
	return found, nil
}

// revokeListed revokes the lease of an account that is known from an inventory only,
// by its name.
func (c *connection) revokeListed(ctx context.Context, a broker.Access, handle string) error {
	accounts, err := c.inHomes(ctx, a)
	if err != nil {
		return err
	}
	for i := range accounts {
		if accounts[i].Name == handle {
			return remove(ctx, c.core.client, "serviceaccounts", &accounts[i])
		}
	}
	return c.same(ctx, a.Identity)
}

// labelled selects what carries this VIM's label.
func labelled(a broker.Access) string { return vimLabel + "=" + a.VIM }

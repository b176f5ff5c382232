package kubernetes

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// maxRevocationLag is the time for which the API server may honour a token whose account
// is gone: the life of its cache of good tokens.
const maxRevocationLag = 10 * time.Second

// Issue implements [broker.Driver]. g is what Prepare returned, with its scope and its
// epoch. Once the home of its grant is known, it makes two requests, and in parallel with the first
// it checks the binding in each of the lease's namespaces. A role or namespace that the cluster does
// not have is ErrInvalid with the field; an object of a needed name that is not the broker's is
// ErrConflict.
func (d *Driver) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	if !g.ClusterWide && len(g.Namespaces) == 0 {
		return broker.Minted{}, broker.Invalid("namespaces", "are none, and the lease is not for the whole cluster")
	}
	if g.Epoch < 1 {
		return broker.Minted{}, errors.New("kubernetes: a lease is issued without an epoch")
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Minted{}, err
	}
	defer end()
	return d.issueIn(ctx, c, a, g)
}

// Renew implements [broker.Driver]: it mints one more token of the lease's account. A lease
// whose account was deleted is over: every token it had is dead, which someone wanted.
func (d *Driver) Renew(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Minted{}, err
	}
	defer end()
	return d.renewIn(ctx, c, a, g)
}

// gone is the error of a lease that has nothing upstream any more.
func gone() error {
	return &broker.Error{
		Kind: broker.ErrNotFound, Detail: "what the lease rests on is gone from the cluster", Remedy: "issue a new lease",
	}
}

// Revoke implements [broker.Driver]. It deletes the account with the lease's uid, whatever its
// labels say, and with it every token made for it. Another account of that name is
// ErrConflict. While a finalizer holds the account, Revoke is ErrConflict, and the caller
// retries. A grant without an epoch comes from an account that an inventory listed: Revoke
// finds it by its name alone.
func (d *Driver) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	defer end()
	if i.Grant.Epoch == 0 {
		return c.revokeListed(ctx, a, i.Handle)
	}
	return d.revokeIn(ctx, c, a, i)
}

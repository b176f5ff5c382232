package client

import (
	"context"
	"net/http"
	"net/url"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// LeaseQuery selects leases. Empty fields select all.
type LeaseQuery struct {
	IDPrefix string
	// VIM is an id or a name.
	VIM       string
	Principal string
	Operation string
	Instance  string
	For       string
	State     string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// IssueLease takes a lease; the answer holds its client configuration. A second
// call with the same idempotency key answers with the first one's lease. Without a key,
// each call takes another lease.
func (c *Client) IssueLease(ctx context.Context, r v1.LeaseRequest, idempotencyKey string) (v1.IssuedLease, error) {
	return fetch[v1.IssuedLease](ctx, c, rest(http.MethodPost, r, "leases").under(once(idempotencyKey)))
}

// Lease returns one by its id.
func (c *Client) Lease(ctx context.Context, id string) (v1.Lease, error) {
	return fetch[v1.Lease](ctx, c, rest(http.MethodGet, nil, "leases", id))
}

// Leases returns one page of leases, newest first.
func (c *Client) Leases(ctx context.Context, q LeaseQuery) (v1.List[v1.Lease], error) {
	return fetch[v1.List[v1.Lease]](ctx, c, rest(http.MethodGet, nil, "leases").where(q.values()))
}

// RenewLease mints a new credential of a lease; the answer holds it.
func (c *Client) RenewLease(ctx context.Context, id string, r v1.Renewal) (v1.IssuedLease, error) {
	return fetch[v1.IssuedLease](ctx, c, rest(http.MethodPost, r, "leases", id, "renew"))
}

// PushLease has a kubeconfig of a standing lease kept where another system reads it. It may be repeated.
func (c *Client) PushLease(ctx context.Context, id string, p v1.LeasePush) (v1.PushedLease, error) {
	return fetch[v1.PushedLease](ctx, c, rest(http.MethodPost, p, "leases", id, "push"))
}

// RevokeLease takes a lease back. Revoking again is harmless. The lease's state
// says whether it is done.
func (c *Client) RevokeLease(ctx context.Context, id string) (v1.Lease, error) {
	return fetch[v1.Lease](ctx, c, rest(http.MethodDelete, nil, "leases", id))
}

// RevokeLeases takes back all leases that s names, and returns them.
func (c *Client) RevokeLeases(ctx context.Context, s v1.Selector) (v1.List[v1.Lease], error) {
	return fetch[v1.List[v1.Lease]](ctx, c, rest(http.MethodPost, s, "leases:revoke"))
}

func (q LeaseQuery) values() url.Values {
	return page(q.PageSize, q.PageToken, map[string]string{
		"idPrefix": q.IDPrefix, "vim": q.VIM, "principal": q.Principal, "operation": q.Operation, "instance": q.Instance, "for": q.For,
		"state": q.State,
	})
}

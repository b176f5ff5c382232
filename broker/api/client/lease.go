package client

import (
	"context"
	"net/http"
	"net/url"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// LeaseQuery selects leases. Empty fields select all.
type LeaseQuery struct {
	// IDPrefix is how the ids begin.
	IDPrefix string
	// VIM is an id or a name.
	VIM       string
	Principal string
	Operation string
	Instance  string
	State     string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// IssueLease takes a lease; the answer holds its client configuration. A second
// call with the same idempotency key answers with the first one's lease. Without a key,
// each call takes another lease.
func (c *Client) IssueLease(ctx context.Context, r v1.LeaseRequest, idempotencyKey string) (v1.IssuedLease, error) {
	var l v1.IssuedLease
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "leases"}, body: r, header: once(idempotencyKey)}, &l)
	return l, err
}

// Lease returns one by its id.
func (c *Client) Lease(ctx context.Context, id string) (v1.Lease, error) {
	var l v1.Lease
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "leases", id}}, &l)
	return l, err
}

// Leases returns one page of leases, newest first.
func (c *Client) Leases(ctx context.Context, q LeaseQuery) (v1.List[v1.Lease], error) {
	var l v1.List[v1.Lease]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "leases"}, query: q.values()}, &l)
	return l, err
}

// RenewLease mints a new credential of a lease; the answer holds it.
func (c *Client) RenewLease(ctx context.Context, id string, r v1.Renewal) (v1.IssuedLease, error) {
	var l v1.IssuedLease
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "leases", id, "renew"}, body: r}, &l)
	return l, err
}

// RevokeLease takes a lease back. Revoking again is harmless. The lease's state
// says whether it is done.
func (c *Client) RevokeLease(ctx context.Context, id string) (v1.Lease, error) {
	var l v1.Lease
	_, err := c.do(ctx, request{method: http.MethodDelete, path: []string{"v1", "leases", id}}, &l)
	return l, err
}

// RevokeLeases takes back all leases that s names, and returns them.
func (c *Client) RevokeLeases(ctx context.Context, s v1.Selector) (v1.List[v1.Lease], error) {
	var l v1.List[v1.Lease]
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "leases:revoke"}, body: s}, &l)
	return l, err
}

// values is the query string.
func (q LeaseQuery) values() url.Values {
	v := url.Values{}
	set(v, "idPrefix", q.IDPrefix)
	set(v, "vim", q.VIM)
	set(v, "principal", q.Principal)
	set(v, "operation", q.Operation)
	set(v, "instance", q.Instance)
	set(v, "state", q.State)
	page(v, q.PageSize, q.PageToken)
	return v
}

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// VIMQuery selects VIMs. Empty fields select all.
type VIMQuery struct {
	Type string
	Name string
	// IDPrefix is how the ids begin.
	IDPrefix string
	// Status is what the last check found, e.g. "reachable".
	Status string
	// Labels must all be present with these values.
	Labels map[string]string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// Deletion says how a VIM is deleted.
type Deletion struct {
	// Drain revokes the leases on it first; without it, live leases refuse the deletion.
	Drain bool
	// Force gives up on leases that cannot be revoked.
	Force bool
	// IfRevision, unless it is zero, must be the current revision. Otherwise the server
	// answers 412.
	IfRevision int64
}

// RegisterVIM registers a VIM. A second call with the same idempotency key answers
// with the first one's VIM. Without a key, each call registers.
func (c *Client) RegisterVIM(ctx context.Context, r v1.Registration, idempotencyKey string) (v1.VIM, error) {
	var v v1.VIM
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "vims"}, body: r, header: once(idempotencyKey)}, &v)
	return v, err
}

// VIM returns one, by id or name.
func (c *Client) VIM(ctx context.Context, idOrName string) (v1.VIM, error) {
	var v v1.VIM
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "vims", idOrName}}, &v)
	return v, err
}

// Keys returns one page of how the credentials of VIMs are sealed; with try each
// is opened. The query is as for VIMs.
func (c *Client) Keys(ctx context.Context, q VIMQuery, try bool) (v1.List[v1.KeyStatus], error) {
	values := q.values()
	if try {
		values.Set("try", "true")
	}
	var l v1.List[v1.KeyStatus]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "keys"}, query: values}, &l)
	return l, err
}

// VIMs returns one page of VIMs, ordered by project, then name.
func (c *Client) VIMs(ctx context.Context, q VIMQuery) (v1.List[v1.VIM], error) {
	var l v1.List[v1.VIM]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "vims"}, query: q.values()}, &l)
	return l, err
}

// UpdateVIM changes what c names. If ifRevision is neither zero nor the current
// revision, the server answers 412.
func (c *Client) UpdateVIM(ctx context.Context, idOrName string, change v1.Change, ifRevision int64) (v1.VIM, error) {
	var v v1.VIM
	_, err := c.do(ctx, request{
		method: http.MethodPatch, path: []string{"v1", "vims", idOrName}, body: change, header: ifMatch(ifRevision),
	}, &v)
	return v, err
}

// RotateVIM replaces the stored credential, or seals the same one under a new
// key when r holds none.
func (c *Client) RotateVIM(ctx context.Context, idOrName string, r v1.Rotation, ifRevision int64) (v1.VIM, error) {
	var v v1.VIM
	_, err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"v1", "vims", idOrName, "rotate"}, body: r, header: ifMatch(ifRevision),
	}, &v)
	return v, err
}

// CheckVIM checks endpoint and credential now, and returns the VIM with what was found.
func (c *Client) CheckVIM(ctx context.Context, idOrName string) (v1.VIM, error) {
	var v v1.VIM
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "vims", idOrName, "check"}}, &v)
	return v, err
}

// DeleteVIM deletes a VIM. When gone is false it is draining, and the VIM as it
// stands is returned: it goes when its last lease has ended.
func (c *Client) DeleteVIM(ctx context.Context, idOrName string, d Deletion) (v v1.VIM, gone bool, err error) {
	q := url.Values{}
	if d.Drain {
		q.Set("drain", "true")
	}
	if d.Force {
		q.Set("force", "true")
	}
	status, err := c.do(ctx, request{
		method: http.MethodDelete, path: []string{"v1", "vims", idOrName}, query: q, header: ifMatch(d.IfRevision),
	}, &v)
	return v, err == nil && status == http.StatusNoContent, err
}

// Inventory compares the broker's objects on the VIM with the leases on it. With settle,
// it also removes orphans and closes ghosts.
func (c *Client) Inventory(ctx context.Context, idOrName string, settle bool) (v1.Inventory, error) {
	var i v1.Inventory
	_, err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"v1", "vims", idOrName, "inventory"}, body: v1.InventoryRequest{Settle: settle},
	}, &i)
	return i, err
}

// values is the query string.
func (q VIMQuery) values() url.Values {
	v := url.Values{}
	set(v, "type", q.Type)
	set(v, "name", q.Name)
	set(v, "idPrefix", q.IDPrefix)
	set(v, "status", q.Status)
	for name, value := range q.Labels {
		v.Add("label", name+"="+value)
	}
	page(v, q.PageSize, q.PageToken)
	return v
}

// set adds what is not empty.
func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// page adds the size and the token of a page.
func page(v url.Values, size int, token string) {
	if size != 0 {
		v.Set("pageSize", strconv.Itoa(size))
	}
	set(v, "pageToken", token)
}

// once is the header that makes a repeated POST harmless.
func once(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Idempotency-Key", key)
	}
	return h
}

// ifMatch is the header by which the server refuses a change of an older revision.
func ifMatch(revision int64) http.Header {
	h := http.Header{}
	if revision != 0 {
		h.Set("If-Match", strconv.Quote(strconv.FormatInt(revision, 10)))
	}
	return h
}

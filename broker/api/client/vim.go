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
	Type     string
	Name     string
	IDPrefix string
	// Status is the result of the last check, e.g. "reachable".
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
	return fetch[v1.VIM](ctx, c, rest(http.MethodPost, r, "vims").under(once(idempotencyKey)))
}

// VIM returns one, by id or name.
func (c *Client) VIM(ctx context.Context, idOrName string) (v1.VIM, error) {
	return fetch[v1.VIM](ctx, c, rest(http.MethodGet, nil, "vims", idOrName))
}

// Keys returns one page of how the credentials of VIMs are sealed; with try each
// is opened. The query is as for VIMs.
func (c *Client) Keys(ctx context.Context, q VIMQuery, try bool) (v1.List[v1.KeyStatus], error) {
	return fetch[v1.List[v1.KeyStatus]](ctx, c, q.keys(try))
}

func (q VIMQuery) keys(try bool) request {
	values := q.values()
	if try {
		values.Set("try", "true")
	}
	return rest(http.MethodGet, nil, "keys").where(values)
}

// VIMs returns one page of VIMs, ordered by project, then name.
func (c *Client) VIMs(ctx context.Context, q VIMQuery) (v1.List[v1.VIM], error) {
	return fetch[v1.List[v1.VIM]](ctx, c, rest(http.MethodGet, nil, "vims").where(q.values()))
}

// UpdateVIM changes what c names. If ifRevision is neither zero nor the current
// revision, the server answers 412.
func (c *Client) UpdateVIM(ctx context.Context, idOrName string, change v1.Change, ifRevision int64) (v1.VIM, error) {
	return fetch[v1.VIM](ctx, c, rest(http.MethodPatch, change, "vims", idOrName).under(ifMatch(ifRevision)))
}

// RotateKeys reseals the secrets that belong to no VIM.
func (c *Client) RotateKeys(ctx context.Context, r v1.KeyRotation) error {
	return c.tell(ctx, rest(http.MethodPost, r, "keys:rotate"))
}

// RotateVIM replaces the stored credential, or seals the same one under a new
// key when r holds none.
func (c *Client) RotateVIM(ctx context.Context, idOrName string, r v1.Rotation, ifRevision int64) (v1.VIM, error) {
	return fetch[v1.VIM](ctx, c, rest(http.MethodPost, r, "vims", idOrName, "rotate").under(ifMatch(ifRevision)))
}

// CheckVIM checks endpoint and credential now, and returns the VIM with the result.
func (c *Client) CheckVIM(ctx context.Context, idOrName string) (v1.VIM, error) {
	return fetch[v1.VIM](ctx, c, rest(http.MethodPost, nil, "vims", idOrName, "check"))
}

// DeleteVIM deletes a VIM. If gone is false the VIM is draining, and its present state
// is returned: it goes when its last lease has ended.
func (c *Client) DeleteVIM(ctx context.Context, idOrName string, d Deletion) (v v1.VIM, gone bool, err error) {
	q := url.Values{}
	if d.Drain {
		q.Set("drain", "true")
	}
	if d.Force {
		q.Set("force", "true")
	}
	status, err := c.do(ctx, rest(http.MethodDelete, nil, "vims", idOrName).where(q).under(ifMatch(d.IfRevision)), &v)
	return v, err == nil && status == http.StatusNoContent, err
}

// Inventory compares the broker's objects on the VIM with the leases on it. With settle,
// it also removes orphans and closes ghosts.
func (c *Client) Inventory(ctx context.Context, idOrName string, settle bool) (v1.Inventory, error) {
	return fetch[v1.Inventory](ctx, c, rest(http.MethodPost, v1.InventoryRequest{Settle: settle}, "vims", idOrName, "inventory"))
}

func (q VIMQuery) values() url.Values {
	v := page(q.PageSize, q.PageToken, map[string]string{"type": q.Type, "name": q.Name, "idPrefix": q.IDPrefix, "status": q.Status})
	for name, value := range q.Labels {
		v.Add("label", name+"="+value)
	}
	return v
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// page is the query of a page: its size, its token, and the filters that are not empty.
func page(size int, token string, filters map[string]string) url.Values {
	v := url.Values{}
	for name, value := range filters {
		set(v, name, value)
	}
	if size != 0 {
		v.Set("pageSize", strconv.Itoa(size))
	}
	set(v, "pageToken", token)
	return v
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

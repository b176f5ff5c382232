package client

import (
	"context"
	"iter"
	"net/http"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// CreateOAuthClient registers a program that logs in by OAuth 2.0; the answer holds its secret.
func (c *Client) CreateOAuthClient(ctx context.Context, r v1.OAuthClientRequest) (v1.OAuthClientSecret, error) {
	return fetch[v1.OAuthClientSecret](ctx, c, rest(http.MethodPost, r, "clients"))
}

// OAuthClient returns one by its id.
func (c *Client) OAuthClient(ctx context.Context, id string) (v1.OAuthClient, error) {
	return fetch[v1.OAuthClient](ctx, c, rest(http.MethodGet, nil, "clients", id))
}

// SetPlacements replaces the placements of a client's VNFs.
func (c *Client) SetPlacements(ctx context.Context, id string, all []v1.Placement) (v1.OAuthClient, error) {
	return fetch[v1.OAuthClient](ctx, c, rest(http.MethodPut, v1.OAuthClientPlacements{Placements: all}, "clients", id, "placements"))
}

// RotateOAuthClient makes another secret; the answer holds it.
func (c *Client) RotateOAuthClient(ctx context.Context, id string, r v1.OAuthClientRotation) (v1.OAuthClientSecret, error) {
	return fetch[v1.OAuthClientSecret](ctx, c, rest(http.MethodPost, r, "clients", id, "rotate"))
}

// DeleteOAuthClient ends a client, and its leases with it.
func (c *Client) DeleteOAuthClient(ctx context.Context, id string) error {
	return c.tell(ctx, rest(http.MethodDelete, nil, "clients", id))
}

// AllOAuthClients walks every page. It stops at the first error.
func (c *Client) AllOAuthClients(ctx context.Context) iter.Seq2[v1.OAuthClient, error] {
	return walk[v1.OAuthClient](ctx, c, rest(http.MethodGet, nil, "clients"))
}

// GrantQuery selects grants. Empty fields select all.
type GrantQuery struct {
	// Client, Instance, Operation and Lease are ids; VIM is an id, or the name that it had.
	Client, Instance, Operation, VIM, Lease, State string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// AllGrants walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllGrants(ctx context.Context, q GrantQuery) iter.Seq2[v1.Grant, error] {
	return walk[v1.Grant](ctx, c, q.request())
}

func (q GrantQuery) request() request {
	return rest(http.MethodGet, nil, "grants").where(page(q.PageSize, q.PageToken, map[string]string{
		"client": q.Client, "instance": q.Instance, "operation": q.Operation, "vim": q.VIM, "lease": q.Lease, "state": q.State,
	}))
}

// Grant returns one by its id.
func (c *Client) Grant(ctx context.Context, id string) (v1.Grant, error) {
	return fetch[v1.Grant](ctx, c, rest(http.MethodGet, nil, "grants", id))
}

// TokenKeys returns the keys that sign clients' tokens, or did while their tokens count.
func (c *Client) TokenKeys(ctx context.Context) (v1.List[v1.TokenKey], error) {
	return fetch[v1.List[v1.TokenKey]](ctx, c, rest(http.MethodGet, nil, "token-keys"))
}

// RotateTokenKey replaces the key that signs clients' tokens, and returns the new one.
func (c *Client) RotateTokenKey(ctx context.Context) (v1.TokenKey, error) {
	return fetch[v1.TokenKey](ctx, c, rest(http.MethodPost, nil, "token-keys:rotate"))
}

// RevokeTokenKey revokes a key that leaked: none of its tokens counts any more.
func (c *Client) RevokeTokenKey(ctx context.Context, id string) error {
	return c.tell(ctx, rest(http.MethodDelete, nil, "token-keys", id))
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// CreateOAuthClient registers a program that logs in by OAuth 2.0; the answer holds its secret.
func (c *Client) CreateOAuthClient(ctx context.Context, r v1.OAuthClientRequest) (v1.OAuthClientSecret, error) {
	var made v1.OAuthClientSecret
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "clients"}, body: r}, &made)
	return made, err
}

// OAuthClient returns one by its id.
func (c *Client) OAuthClient(ctx context.Context, id string) (v1.OAuthClient, error) {
	var one v1.OAuthClient
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "clients", id}}, &one)
	return one, err
}

// SetPlacements replaces what says where a client's VNFs go.
func (c *Client) SetPlacements(ctx context.Context, id string, all []v1.Placement) (v1.OAuthClient, error) {
	var one v1.OAuthClient
	_, err := c.do(ctx, request{
		method: http.MethodPut, path: []string{"v1", "clients", id, "placements"}, body: v1.OAuthClientPlacements{Placements: all},
	}, &one)
	return one, err
}

// RotateOAuthClient makes another secret; the answer holds it.
func (c *Client) RotateOAuthClient(ctx context.Context, id string, r v1.OAuthClientRotation) (v1.OAuthClientSecret, error) {
	var one v1.OAuthClientSecret
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "clients", id, "rotate"}, body: r}, &one)
	return one, err
}

// DeleteOAuthClient ends a client, and its leases with it.
func (c *Client) DeleteOAuthClient(ctx context.Context, id string) error {
	_, err := c.do(ctx, request{method: http.MethodDelete, path: []string{"v1", "clients", id}}, nil)
	return err
}

// AllOAuthClients walks every page. It stops at the first error.
func (c *Client) AllOAuthClients(ctx context.Context) iter.Seq2[v1.OAuthClient, error] {
	return walk("", func(token string) (l v1.List[v1.OAuthClient], err error) {
		values := url.Values{}
		page(values, 0, token)
		_, err = c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "clients"}, query: values}, &l)
		return l, err
	})
}

// GrantQuery selects grants. Empty fields select all.
type GrantQuery struct {
	// Client, Instance, Operation and Lease are ids; VIM is an id, or the name that it had.
	Client, Instance, Operation, VIM, Lease, State string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// Grants returns one page of what VNFMs were granted, newest first.
func (c *Client) Grants(ctx context.Context, q GrantQuery) (v1.List[v1.Grant], error) {
	v := url.Values{}
	for name, value := range map[string]string{
		"client": q.Client, "instance": q.Instance, "operation": q.Operation, "vim": q.VIM, "lease": q.Lease, "state": q.State,
	} {
		set(v, name, value)
	}
	page(v, q.PageSize, q.PageToken)
	var l v1.List[v1.Grant]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "grants"}, query: v}, &l)
	return l, err
}

// AllGrants walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllGrants(ctx context.Context, q GrantQuery) iter.Seq2[v1.Grant, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.Grant], error) {
		q.PageToken = token
		return c.Grants(ctx, q)
	})
}

// Grant returns one by its id.
func (c *Client) Grant(ctx context.Context, id string) (v1.Grant, error) {
	var one v1.Grant
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "grants", id}}, &one)
	return one, err
}

// TokenKeys returns the keys that sign clients' tokens, or did while their tokens count.
func (c *Client) TokenKeys(ctx context.Context) (v1.List[v1.TokenKey], error) {
	var l v1.List[v1.TokenKey]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "token-keys"}}, &l)
	return l, err
}

// RotateTokenKey replaces the key that signs clients' tokens, and returns the new one.
func (c *Client) RotateTokenKey(ctx context.Context) (v1.TokenKey, error) {
	var k v1.TokenKey
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "token-keys:rotate"}}, &k)
	return k, err
}

// RevokeTokenKey revokes a key that leaked: none of its tokens counts any more.
func (c *Client) RevokeTokenKey(ctx context.Context, id string) error {
	_, err := c.do(ctx, request{method: http.MethodDelete, path: []string{"v1", "token-keys", id}}, nil)
	return err
}

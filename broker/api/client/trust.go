package client

import (
	"context"
	"iter"
	"net/http"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// AllTrustEntries walks the table of trust. It stops at the first error.
func (c *Client) AllTrustEntries(ctx context.Context) iter.Seq2[v1.TrustEntry, error] {
	return walk[v1.TrustEntry](ctx, c, rest(http.MethodGet, nil, "trust"))
}

// TrustEntry returns an entry by its name.
func (c *Client) TrustEntry(ctx context.Context, name string) (v1.TrustEntry, error) {
	return fetch[v1.TrustEntry](ctx, c, rest(http.MethodGet, nil, "trust", name))
}

// CreateTrustEntry adds an entry to the table of trust.
func (c *Client) CreateTrustEntry(ctx context.Context, r v1.TrustEntryRequest) (v1.TrustEntry, error) {
	return fetch[v1.TrustEntry](ctx, c, rest(http.MethodPost, r, "trust"))
}

// UpdateTrustEntry replaces the entry of that name.
func (c *Client) UpdateTrustEntry(ctx context.Context, r v1.TrustEntryRequest) (v1.TrustEntry, error) {
	return fetch[v1.TrustEntry](ctx, c, rest(http.MethodPut, r, "trust", r.Name))
}

// DeleteTrustEntry removes an entry.
func (c *Client) DeleteTrustEntry(ctx context.Context, name string) error {
	return c.tell(ctx, rest(http.MethodDelete, nil, "trust", name))
}

// TryToken says how a token would fare at the table of trust.
func (c *Client) TryToken(ctx context.Context, token secret.Text) (v1.TrustTrial, error) {
	return fetch[v1.TrustTrial](ctx, c, rest(http.MethodPost, v1.TrustTrialRequest{Token: token}, "trust:try"))
}

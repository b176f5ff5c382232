package client

import (
	"context"
	"errors"
	"iter"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// errSamePage stops a walk that would never end.
var errSamePage = errors.New("the broker answers with the same page again")

// AllVIMs walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllVIMs(ctx context.Context, q VIMQuery) iter.Seq2[v1.VIM, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.VIM], error) {
		q.PageToken = token
		return c.VIMs(ctx, q)
	})
}

// AllKeys walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllKeys(ctx context.Context, q VIMQuery, try bool) iter.Seq2[v1.KeyStatus, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.KeyStatus], error) {
		q.PageToken = token
		return c.Keys(ctx, q, try)
	})
}

// AllLeases walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllLeases(ctx context.Context, q LeaseQuery) iter.Seq2[v1.Lease, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.Lease], error) {
		q.PageToken = token
		return c.Leases(ctx, q)
	})
}

// AllAudit walks every page from q.PageToken on, newest first. It stops at the first error.
func (c *Client) AllAudit(ctx context.Context, q AuditQuery) iter.Seq2[v1.AuditEntry, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.AuditEntry], error) {
		q.PageToken = token
		return c.Audit(ctx, q)
	})
}

// AllTokens walks every page. It stops at the first error.
func (c *Client) AllTokens(ctx context.Context, pageSize int) iter.Seq2[v1.Token, error] {
	return walk("", func(token string) (v1.List[v1.Token], error) { return c.Tokens(ctx, pageSize, token) })
}

// walk yields the items of each page, and asks for the next when they are used up.
func walk[T any](token string, page func(token string) (v1.List[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for {
			l, err := page(token)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range l.Items {
				if !yield(item, nil) {
					return
				}
			}
			if l.NextPageToken == "" {
				return
			}
			if l.NextPageToken == token {
				yield(none, errSamePage)
				return
			}
			token = l.NextPageToken
		}
	}
}

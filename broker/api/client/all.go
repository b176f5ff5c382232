package client

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// errSamePage stops a walk that would never end.
var errSamePage = errors.New("the broker answers with the same page again")

// AllVIMs walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllVIMs(ctx context.Context, q VIMQuery) iter.Seq2[v1.VIM, error] {
	return walk[v1.VIM](ctx, c, rest(http.MethodGet, nil, "vims").where(q.values()))
}

// AllKeys walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllKeys(ctx context.Context, q VIMQuery, try bool) iter.Seq2[v1.KeyStatus, error] {
	return walk[v1.KeyStatus](ctx, c, q.keys(try))
}

// AllLeases walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllLeases(ctx context.Context, q LeaseQuery) iter.Seq2[v1.Lease, error] {
	return walk[v1.Lease](ctx, c, rest(http.MethodGet, nil, "leases").where(q.values()))
}

// AllAudit walks every page from q.PageToken on, newest first. It stops at the first error.
func (c *Client) AllAudit(ctx context.Context, q AuditQuery) iter.Seq2[v1.AuditEntry, error] {
	return walk[v1.AuditEntry](ctx, c, rest(http.MethodGet, nil, "audit").where(q.values()))
}

// AllTokens walks every page. It stops at the first error.
func (c *Client) AllTokens(ctx context.Context, pageSize int) iter.Seq2[v1.Token, error] {
	return walk[v1.Token](ctx, c, rest(http.MethodGet, nil, "tokens").where(page(pageSize, "", nil)))
}

// walk yields the items of each page of q, from its token on.
func walk[T any](ctx context.Context, c *Client, q request) iter.Seq2[T, error] {
	return each("pageToken", q, func(q request) ([]T, string, error) {
		l, err := fetch[v1.List[T]](ctx, c, q)
		return l.Items, l.NextPageToken, err
	})
}

// walkLinks yields the items of each page of q whole; the header Link says which page is next (SOL013 clause 5.4.2.3).
func walkLinks[T any](ctx context.Context, c *Client, q request) iter.Seq2[T, error] {
	if q.query == nil {
		q.query = url.Values{}
	}
	q.query.Set("all_fields", "")
	return each("nextpage_opaque_marker", q, func(q request) (items []T, next string, err error) {
		header, err := c.ask(ctx, q, &items)
		return items, nextMarker(header), err
	})
}

// each yields the items of each page, and asks for the next, by the parameter that names it, when they are used up.
func each[T any](parameter string, q request, page func(q request) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for q := q.where(maps.Clone(q.query)); ; {
			items, next, err := page(q)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			switch next {
			case "":
				return
			case q.query.Get(parameter):
				yield(none, errSamePage)
				return
			}
			if q.query == nil {
				q.query = url.Values{}
			}
			q.query.Set(parameter, next)
		}
	}
}

// nextMarker reads the marker of the next page from the header Link; empty at the end.
func nextMarker(h http.Header) string {
	for _, link := range h.Values("Link") {
		target, params, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if !strings.Contains(strings.ReplaceAll(params, " ", ""), `rel="next"`) {
			continue
		}
		if u, err := url.Parse(target); err == nil {
			return u.Query().Get("nextpage_opaque_marker")
		}
	}
	return ""
}

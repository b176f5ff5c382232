package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// AuditQuery selects audit entries. Empty fields select all.
type AuditQuery struct {
	Project   string
	Principal string
	Action    string
	Resource  string
	// VIM is an id, or the name at that time.
	VIM          string
	Lease        string
	CredentialID string
	// Request selects what was refused or failed in the request of that id.
	Request string
	// Outcomes are those wanted; none means all.
	Outcomes     []string
	Since, Until time.Time
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// Audit returns one page of the audit log, newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (v1.List[v1.AuditEntry], error) {
	return fetch[v1.List[v1.AuditEntry]](ctx, c, rest(http.MethodGet, nil, "audit").where(q.values()))
}

// AuditTree returns the Merkle tree over the whole audit log, with the frontier at an
// earlier size.
func (c *Client) AuditTree(ctx context.Context, size int64) (v1.AuditTree, error) {
	return fetch[v1.AuditTree](ctx, c, rest(http.MethodGet, nil, "audit", "tree").where(number("size", size)))
}

// AuditGrowth returns the proof that the audit log begins with its entries at an earlier size.
func (c *Client) AuditGrowth(ctx context.Context, size int64) (v1.AuditGrowth, error) {
	return fetch[v1.AuditGrowth](ctx, c, rest(http.MethodGet, nil, "audit", "growth").where(number("size", size)))
}

// AuditGrowthTo is AuditGrowth for the audit log at a later size.
func (c *Client) AuditGrowthTo(ctx context.Context, size, later int64) (v1.AuditGrowth, error) {
	q := number("size", size)
	q.Set("later", strconv.FormatInt(later, 10))
	return fetch[v1.AuditGrowth](ctx, c, rest(http.MethodGet, nil, "audit", "growth").where(q))
}

// AuditProof returns the proof that an entry is in the audit log.
func (c *Client) AuditProof(ctx context.Context, seq int64) (v1.AuditProof, error) {
	return fetch[v1.AuditProof](ctx, c, rest(http.MethodGet, nil, "audit", "proofs", strconv.FormatInt(seq, 10)))
}

// AuditLines returns lines of the audit log that follow an entry: each the leaf of the
// Merkle tree, without its line break. If it returns none, none are left.
func (c *Client) AuditLines(ctx context.Context, after int64) ([][]byte, error) {
	q := rest(http.MethodGet, nil, "audit", "lines").where(number("after", after))
	q.media = "application/x-ndjson"
	text, err := fetch[[]byte](ctx, c, q)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), nil
}

// AuditCheckpoint returns the last signed checkpoint of the audit log.
func (c *Client) AuditCheckpoint(ctx context.Context) (v1.AuditCheckpoint, error) {
	return fetch[v1.AuditCheckpoint](ctx, c, rest(http.MethodGet, nil, "audit", "checkpoint"))
}

// AuditAnchors says which checkpoint each anchor of the audit log has.
func (c *Client) AuditAnchors(ctx context.Context) (v1.List[v1.AuditAnchor], error) {
	return fetch[v1.List[v1.AuditAnchor]](ctx, c, rest(http.MethodGet, nil, "audit", "anchors"))
}

// AuditKeys returns the keys that sign checkpoints of the audit log, or did, oldest first.
func (c *Client) AuditKeys(ctx context.Context) (v1.List[v1.AuditKey], error) {
	return fetch[v1.List[v1.AuditKey]](ctx, c, rest(http.MethodGet, nil, "audit", "keys"))
}

// RotateAuditKey replaces the key that signs checkpoints, and returns the new one.
func (c *Client) RotateAuditKey(ctx context.Context) (v1.AuditKey, error) {
	return fetch[v1.AuditKey](ctx, c, rest(http.MethodPost, nil, "audit", "keys:rotate"))
}

// RevokeAuditKey revokes a key that signs checkpoints, or did, and returns the one that signs then.
func (c *Client) RevokeAuditKey(ctx context.Context, id string, r v1.AuditKeyRevocation) (v1.AuditKey, error) {
	return fetch[v1.AuditKey](ctx, c, rest(http.MethodPost, r, "audit", "keys", id, "revoke"))
}

// Retention returns the times of retention, and the next removal.
func (c *Client) Retention(ctx context.Context) (v1.Retention, error) {
	return fetch[v1.Retention](ctx, c, rest(http.MethodGet, nil, "retention"))
}

// AuditSinks says how far the audit log has been delivered to each of its sinks.
func (c *Client) AuditSinks(ctx context.Context) (v1.List[v1.AuditSink], error) {
	return fetch[v1.List[v1.AuditSink]](ctx, c, rest(http.MethodGet, nil, "audit", "sinks"))
}

// Explain asks what policy would decide, and why. Nothing happens.
func (c *Client) Explain(ctx context.Context, q v1.Question) (v1.Decision, error) {
	return fetch[v1.Decision](ctx, c, rest(http.MethodPost, q, "policy:explain"))
}

// WhoAmI returns who the caller is to the server.
func (c *Client) WhoAmI(ctx context.Context) (v1.Caller, error) {
	return fetch[v1.Caller](ctx, c, rest(http.MethodGet, nil, "whoami"))
}

// Tokens returns one page of callers' static tokens, by project and name. A size of zero
// leaves it to the server.
func (c *Client) Tokens(ctx context.Context, pageSize int, pageToken string) (v1.List[v1.Token], error) {
	return fetch[v1.List[v1.Token]](ctx, c, rest(http.MethodGet, nil, "tokens").where(page(pageSize, pageToken, nil)))
}

// Ready returns nil once the server can serve; a [*Problem] with status 503 says why not.
func (c *Client) Ready(ctx context.Context) error {
	return c.tell(ctx, request{method: http.MethodGet, path: []string{"readyz"}})
}

// Health returns the server's version and every part of it; a [*Problem] with status 503 says why it is not ready.
func (c *Client) Health(ctx context.Context) (v1.Health, error) {
	return fetch[v1.Health](ctx, c, request{method: http.MethodGet, path: []string{"readyz"}}.where(url.Values{"verbose": {""}}))
}

func (q AuditQuery) values() url.Values {
	v := page(q.PageSize, q.PageToken, map[string]string{
		"project": q.Project, "principal": q.Principal, "action": q.Action, "resource": q.Resource, "vim": q.VIM, "lease": q.Lease,
		"credentialId": q.CredentialID, "request": q.Request,
	})
	for _, o := range q.Outcomes {
		v.Add("outcome", o)
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return v
}

func number(name string, n int64) url.Values { return url.Values{name: {strconv.FormatInt(n, 10)}} }

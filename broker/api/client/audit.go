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
	// VIM is an id, or a name as it was then.
	VIM          string
	Lease        string
	CredentialID string
	// Outcomes are those wanted; none means all.
	Outcomes     []string
	Since, Until time.Time
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// Audit returns one page of the audit log, newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (v1.List[v1.AuditEntry], error) {
	var l v1.List[v1.AuditEntry]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit"}, query: q.values()}, &l)
	return l, err
}

// AuditTree returns the Merkle tree over the whole audit log, with the frontier at an
// earlier size.
func (c *Client) AuditTree(ctx context.Context, size int64) (v1.AuditTree, error) {
	var t v1.AuditTree
	_, err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"v1", "audit", "tree"}, query: url.Values{"size": {strconv.FormatInt(size, 10)}},
	}, &t)
	return t, err
}

// AuditGrowth returns the proof that the audit log begins with what it held at an earlier size.
func (c *Client) AuditGrowth(ctx context.Context, size int64) (v1.AuditGrowth, error) {
	return c.auditGrowth(ctx, url.Values{"size": {strconv.FormatInt(size, 10)}})
}

// AuditGrowthTo is AuditGrowth for the audit log as it was at a later size.
func (c *Client) AuditGrowthTo(ctx context.Context, size, later int64) (v1.AuditGrowth, error) {
	return c.auditGrowth(ctx, url.Values{"size": {strconv.FormatInt(size, 10)}, "later": {strconv.FormatInt(later, 10)}})
}

func (c *Client) auditGrowth(ctx context.Context, q url.Values) (v1.AuditGrowth, error) {
	var g v1.AuditGrowth
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "growth"}, query: q}, &g)
	return g, err
}

// AuditProof returns the proof that an entry is in the audit log.
func (c *Client) AuditProof(ctx context.Context, seq int64) (v1.AuditProof, error) {
	var p v1.AuditProof
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "proofs", strconv.FormatInt(seq, 10)}}, &p)
	return p, err
}

// AuditLines returns lines of the audit log that follow an entry: each the leaf of the
// Merkle tree, without its line break. None are left where it returns none.
func (c *Client) AuditLines(ctx context.Context, after int64) ([][]byte, error) {
	var text []byte
	_, err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"v1", "audit", "lines"}, query: url.Values{"after": {strconv.FormatInt(after, 10)}},
		media: "application/x-ndjson",
	}, &text)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), nil
}

// AuditCheckpoint returns the last signed checkpoint of the audit log.
func (c *Client) AuditCheckpoint(ctx context.Context) (v1.AuditCheckpoint, error) {
	var a v1.AuditCheckpoint
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "checkpoint"}}, &a)
	return a, err
}

// AuditAnchors says which checkpoint each anchor of the audit log has.
func (c *Client) AuditAnchors(ctx context.Context) (v1.List[v1.AuditAnchor], error) {
	var l v1.List[v1.AuditAnchor]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "anchors"}}, &l)
	return l, err
}

// AuditKeys returns the keys that sign checkpoints of the audit log, or did, oldest first.
func (c *Client) AuditKeys(ctx context.Context) (v1.List[v1.AuditKey], error) {
	var l v1.List[v1.AuditKey]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "keys"}}, &l)
	return l, err
}

// RotateAuditKey replaces the key that signs checkpoints, and returns the new one.
func (c *Client) RotateAuditKey(ctx context.Context) (v1.AuditKey, error) {
	var k v1.AuditKey
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "audit", "keys:rotate"}}, &k)
	return k, err
}

// RevokeAuditKey revokes a key that signs checkpoints, or did, and returns the one that signs then.
func (c *Client) RevokeAuditKey(ctx context.Context, id string, r v1.AuditKeyRevocation) (v1.AuditKey, error) {
	var k v1.AuditKey
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "audit", "keys", id, "revoke"}, body: r}, &k)
	return k, err
}

// Retention says how long the past is kept, and what is removed next.
func (c *Client) Retention(ctx context.Context) (v1.Retention, error) {
	var r v1.Retention
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "retention"}}, &r)
	return r, err
}

// AuditSinks says how far the audit log has been delivered to each of its sinks.
func (c *Client) AuditSinks(ctx context.Context) (v1.List[v1.AuditSink], error) {
	var l v1.List[v1.AuditSink]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "audit", "sinks"}}, &l)
	return l, err
}

// Explain asks what policy would decide, and why. Nothing happens.
func (c *Client) Explain(ctx context.Context, q v1.Question) (v1.Decision, error) {
	var d v1.Decision
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "policy:explain"}, body: q}, &d)
	return d, err
}

// WhoAmI returns who the caller is to the server.
func (c *Client) WhoAmI(ctx context.Context) (v1.Principal, error) {
	var p v1.Principal
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "whoami"}}, &p)
	return p, err
}

// Tokens returns one page of callers' static tokens, by project and name. A size of zero
// leaves it to the server.
func (c *Client) Tokens(ctx context.Context, pageSize int, pageToken string) (v1.List[v1.Token], error) {
	q := url.Values{}
	page(q, pageSize, pageToken)
	var l v1.List[v1.Token]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "tokens"}, query: q}, &l)
	return l, err
}

// Ready returns nil once the server can serve; a [*Problem] with status 503 says why not.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"readyz"}}, nil)
	return err
}

// values is the query string.
func (q AuditQuery) values() url.Values {
	v := url.Values{}
	set(v, "project", q.Project)
	set(v, "principal", q.Principal)
	set(v, "action", q.Action)
	set(v, "resource", q.Resource)
	set(v, "vim", q.VIM)
	set(v, "lease", q.Lease)
	set(v, "credentialId", q.CredentialID)
	for _, o := range q.Outcomes {
		v.Add("outcome", o)
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	page(v, q.PageSize, q.PageToken)
	return v
}

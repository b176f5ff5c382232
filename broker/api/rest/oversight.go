package rest

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var (
	entryShown     = api.Shown[audit.Entry, v1.AuditEntry]("")
	auditAnchor    = api.Shown[notary.AnchorStatus, v1.AuditAnchor](`Name=Anchor`)
	auditKeyShown  = api.Shown[notary.SigningKey, v1.AuditKey]("")
	staticToken    = api.Shown[broker.Token, v1.Token]("")
	principalShown = api.Shown[policy.Principal, v1.Principal]("")
	principalAsked = api.Asked[v1.Principal, policy.Principal]("")
	resourceAsked  = api.Asked[v1.Resource, policy.Resource]("")
	wishAsked      = api.Asked[v1.Wish, broker.LeaseRequest](`TTL= Grade=`)
)

func (s *server) listAudit(c *call) (answer[v1.List[v1.AuditEntry]], error) {
	none := answer[v1.List[v1.AuditEntry]]{}
	var err error
	q := audit.Query{
		Project:   c.query.Get("project"),
		Principal: c.query.Get("principal"),
		Action:    policy.Action(c.query.Get("action")),
		Resource:  c.query.Get("resource"),
		Lease:     c.query.Get("lease"), CredentialID: c.query.Get("credentialId"), Request: c.query.Get("request"),
		Limit: c.page.Size,
	}
	if vim := c.query.Get("vim"); uuid.Validate(vim) == nil {
		q.VIM = vim
	} else {
		q.VIMName = vim
	}
	for _, o := range c.query["outcome"] {
		q.Outcomes = append(q.Outcomes, audit.Outcome(o))
	}
	for name, to := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if text := c.query.Get(name); text != "" {
			if *to, err = time.Parse(time.RFC3339, text); err != nil {
				return none, invalid("query", name, "must be a time such as 2026-01-31T12:00:00Z")
			}
		}
	}
	// The log grows only at its end, so the next page needs no more than the number of
	// the last entry shown.
	if c.page.Token != "" {
		if q.Before, err = strconv.ParseInt(c.page.Token, 10, 64); err != nil || q.Before < 1 {
			return none, invalid("query", "pageToken", "must be the nextPageToken of the page before")
		}
	}
	found, err := s.AuditLog.Entries(c.ctx, c.principal, q)
	if err != nil {
		return none, err
	}
	var l v1.List[v1.AuditEntry]
	for _, e := range found {
		l.Items = append(l.Items, entryShown(e))
	}
	if last := len(found) - 1; len(found) == q.Limit && found[last].Seq > 1 {
		l.NextPageToken = strconv.FormatInt(found[last].Seq, 10)
	}
	return answer[v1.List[v1.AuditEntry]]{body: l}, nil
}

func auditSink(s delivery.Status) v1.AuditSink {
	return v1.AuditSink{
		Name: s.Name, Mode: string(s.Mode), Within: s.Within.String(), Behind: s.Behind.Round(time.Second).String(), Late: s.Late(),
		Delivered: s.Cursor.Seq, Waiting: s.Waiting, Skipped: s.Cursor.Skipped, Fault: s.Fault,
	}
}

func (s *server) retention(c *call) (answer[v1.Retention], error) {
	past, err := s.AuditLog.Retention(c.ctx, c.principal)
	if err != nil {
		return answer[v1.Retention]{}, err
	}
	kept := func(d time.Duration) string {
		if d == 0 {
			return "forever"
		}
		return d.String()
	}
	return answer[v1.Retention]{body: v1.Retention{
		KeepAudit: kept(past.Keep.Audit), KeepLeases: kept(past.Keep.Leases), KeepJobs: kept(past.Keep.Jobs),
		Entries: past.Next.Entries, Leases: past.Next.Leases, Jobs: past.Next.Jobs,
		Horizon: past.Horizon, UpTo: past.UpTo, HeldBy: past.Held,
	}}, nil
}

func (s *server) auditTree(c *call) (answer[v1.AuditTree], error) {
	var size int64
	if err := c.numbers(map[string]*int64{"size": &size}); err != nil {
		return answer[v1.AuditTree]{}, err
	}
	state, frontier, err := s.AuditLog.AuditTree(c.ctx, c.principal, size)
	if err != nil {
		return answer[v1.AuditTree]{}, err
	}
	return answer[v1.AuditTree]{body: v1.AuditTree{Size: state.Size, Root: state.Root[:], Frontier: hashes(frontier)}}, nil
}

func (s *server) auditGrowth(c *call) (answer[v1.AuditGrowth], error) {
	size, later := int64(0), int64(-1)
	if err := c.numbers(map[string]*int64{"size": &size, "later": &later}); err != nil {
		return answer[v1.AuditGrowth]{}, err
	}
	state, proof, err := s.AuditLog.ProveGrowth(c.ctx, c.principal, size, later)
	return answer[v1.AuditGrowth]{body: v1.AuditGrowth{Size: state.Size, Root: state.Root[:], Proof: hashes(proof)}}, err
}

func (s *server) auditProof(c *call) (answer[v1.AuditProof], error) {
	seq, err := strconv.ParseInt(c.path("seq"), 10, 64)
	if err != nil {
		return answer[v1.AuditProof]{}, invalid("path", "seq", "must be the number of an entry")
	}
	state, e, proof, err := s.AuditLog.ProveEntry(c.ctx, c.principal, seq)
	if err != nil {
		return answer[v1.AuditProof]{}, err
	}
	line, err := audit.Line(e)
	return answer[v1.AuditProof]{body: v1.AuditProof{
		Size: state.Size, Root: state.Root[:], Index: e.Seq - 1, Line: string(line), Proof: hashes(proof),
	}}, err
}

// maxLines and maxLinesSize bound one answer with lines of the audit log: in lines, and in bytes
// before the last line.
const (
	maxLines     = 10000
	maxLinesSize = 8 << 20
)

func (s *server) auditLines(c *call) (answer[string], error) {
	after, limit := int64(0), int64(maxLines)
	if err := c.numbers(map[string]*int64{"after": &after, "limit": &limit}); err != nil {
		return answer[string]{}, err
	}
	if limit < 1 || limit > maxLines {
		return answer[string]{}, invalid("query", "limit", "must be a whole number from 1 to "+strconv.Itoa(maxLines))
	}
	found, err := s.AuditLog.EntriesAfter(c.ctx, c.principal, after, int(limit))
	if err != nil {
		return answer[string]{}, err
	}
	text := []byte{}
	for _, e := range found {
		line, err := audit.Line(e)
		if err != nil {
			return answer[string]{}, err
		}
		if text = append(append(text, line...), '\n'); len(text) > maxLinesSize {
			break
		}
	}
	return answer[string]{text: text}, nil
}

func (s *server) auditCheckpoint(c *call) (answer[v1.AuditCheckpoint], error) {
	found, err := s.AuditLog.Checkpoint(c.ctx, c.principal)
	a := answer[v1.AuditCheckpoint]{body: v1.AuditCheckpoint{
		Size: found.Size, Root: found.Root[:], Time: found.Time, Key: found.Key, Note: found.Note,
	}}
	if strings.HasPrefix(c.Header.Get("Accept"), "text/plain") {
		a.text = []byte(found.Note)
	}
	return a, err
}

func (s *server) revokeAuditKey(c *call, in v1.AuditKeyRevocation) (answer[v1.AuditKey], error) {
	return shows(auditKey)(s.AuditLog.RevokeAuditKey(c.ctx, c.principal, c.path("id"), in.Until))
}

func auditKey(k notary.SigningKey) v1.AuditKey {
	if k.State == notary.Signing {
		k.Until = 0
	}
	return auditKeyShown(k)
}

// hashes are the wire's form of hashes of the tree.
func hashes(of []tree.Hash) [][]byte {
	out := make([][]byte, 0, len(of))
	for _, h := range of {
		out = append(out, h[:])
	}
	return out
}

func (s *server) explain(c *call, in v1.Question) (answer[v1.Decision], error) {
	ttl, err := duration("wish.ttl", in.Wish.TTL)
	if err != nil {
		return answer[v1.Decision]{}, err
	}
	wish := wishAsked(in.Wish)
	wish.TTL = ttl
	q := policy.Request{
		Principal: c.principal, Action: policy.Action(in.Action), Resource: resourceAsked(in.Resource),
		Wish: broker.Wish(wish, broker.Grade(in.Wish.Grade)),
	}
	if in.Principal != nil {
		q.Principal = principalAsked(*in.Principal)
	}
	if q.Resource.Project == "" {
		q.Resource.Project = q.Principal.Project
	}
	d, err := s.Overseer.Explain(c.ctx, c.principal, q)
	return answer[v1.Decision]{body: v1.Decision(d)}, err
}

func (s *server) whoAmI(c *call) (answer[v1.Caller], error) {
	p := c.principal
	return answer[v1.Caller]{body: v1.Caller{
		Principal: principalShown(p), Authenticator: p.Authenticator(),
		Shown: p.Login.Shown, Trust: p.Login.Entry, ExpiresAt: p.Login.Until.UTC(),
	}}, nil
}

func (s *server) listLogins(*call) (answer[v1.Logins], error) {
	all := v1.Logins{Items: []v1.LoginMethod{}}
	if s.Trust == nil {
		return answer[v1.Logins]{body: all}, nil
	}
	for _, e := range s.Trust.Logins() {
		all.Items = append(all.Items, v1.LoginMethod{
			Name: e.Name, Issuer: e.Issuer, ClientID: e.Login.ClientID, Scopes: e.Login.Scopes, Audience: e.Audience,
		})
	}
	return answer[v1.Logins]{body: all}, nil
}

func (s *server) alive(*call) (answer[v1.Health], error) {
	return answer[v1.Health]{body: v1.Health{Status: "ok", Version: s.Version}}, nil
}

func (s *server) ready(c *call) (answer[v1.Health], error) {
	parts, err := s.Overseer.Ready()
	if err != nil {
		return answer[v1.Health]{}, err
	}
	h := v1.Health{Status: "ready", Version: s.Version}
	for _, p := range parts {
		if p.Fault != "" || c.query.Has("verbose") {
			h.Parts = append(h.Parts, v1.Part{Name: string(p.Part), Usable: p.Fault == "", Detail: p.Fault})
		}
	}
	return answer[v1.Health]{body: h}, nil
}

package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// Once remembers the tokens that are taken once.
type Once interface {
	// UseOnce notes a use until a time, when it may be forgotten; [broker.ErrExists] if it was noted before.
	UseOnce(ctx context.Context, id string, until time.Time) error
}

// Store keeps what is known of tokens.
type Store interface {
	Once
	// ForgetUsed forgets the uses of tokens that ended before a time.
	ForgetUsed(ctx context.Context, before time.Time) error
}

// Options wire [Gatekeeper]. Every field without a stated default is required.
type Options struct {
	Source   Source
	Reviewer Reviewer
	Store    Store
	Log      *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Gatekeeper knows callers by the table of trust. It is safe for concurrent use.
type Gatekeeper struct {
	source   Source
	reviewer Reviewer
	reviews  reviews
	store    Store
	log      *slog.Logger
	now      func() time.Time
	wake     chan struct{}
	table    atomic.Pointer[table]
}

// table is one state of the table of trust.
type table struct {
	rows    []*row
	issuers map[string]*row
}

// row is an entry, and what is known of its keys.
type row struct {
	Authority
	// digest tells this entry from every other, and from itself as it was before a change.
	digest   string
	keys     atomic.Pointer[known]
	asked    atomic.Bool // a token has a key that is not known
	fetching atomic.Bool
	told     atomic.Value // the fault that the log has
}

// New returns a Gatekeeper with an empty table; it starts nothing.
func New(o Options) *Gatekeeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Gatekeeper{source: o.Source, reviewer: o.Reviewer, store: o.Store, log: o.Log, now: o.Now, wake: make(chan struct{}, 1)}
	c.table.Store(&table{})
	return c
}

// Replace exchanges the table. Of entries whose issuer stays, the keys stay too.
func (c *Gatekeeper) Replace(entries []Authority) {
	before := c.table.Load()
	next := &table{issuers: map[string]*row{}}
	for _, e := range entries {
		t := &row{Authority: e, digest: digest(e)}
		t.told.Store("")
		if e.Keys != "" {
			keys, _ := parseKeys([]byte(e.Keys)) // whose faults are [Authority.Flaws]
			t.keys.Store(&known{issuer: e.Issuer, keys: keys, fetched: c.now()})
		}
		for _, old := range before.rows {
			if old.Name == e.Name && sameKeys(old.Authority, e) && e.Keys == "" {
				t.keys.Store(old.keys.Load())
			}
		}
		next.rows = append(next.rows, t)
		if e.Issuer != "" {
			next.issuers[e.Issuer] = t
		}
	}
	c.table.Store(next)
	c.Wake()
}

// forgetEvery is how often used tokens that have ended are forgotten.
const forgetEvery = 10 * time.Minute

// Passes are the periodic work.
func (c *Gatekeeper) Passes() []broker.Pass {
	return []broker.Pass{{Name: "forget-used-tokens", Every: forgetEvery, Run: func(ctx context.Context) error {
		return c.store.ForgetUsed(ctx, c.now().Add(-skew))
	}}}
}

// Wake has due keys fetched now.
func (c *Gatekeeper) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// digest covers all of an entry that is more than its keys.
func digest(e Authority) string {
	e.Revoked, e.Authorities = nil, nil
	text, _ := json.Marshal(e) // of texts, numbers and lists
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// find returns the row for an issuer. Clusters name theirs themselves.
func (t *table) find(issuer string) *row {
	if r := t.issuers[issuer]; r != nil {
		return r
	}
	for _, r := range t.rows {
		if k := r.keys.Load(); r.VIM != "" && k != nil && k.issuer == issuer && issuer != "" {
			return r
		}
	}
	return nil
}

// Knows reports whether an issuer is in the table.
func (c *Gatekeeper) Knows(issuer string) bool { return c.table.Load().find(issuer) != nil }

// refused is the refusal of a caller by an entry, for the audit log.
func (e Authority) refused(reason string) error {
	return &policy.RefusedLogin{Authenticator: e.authenticator() + ":" + e.Name, Reason: reason}
}

// Authenticate returns the principal that a token is about. [policy.ErrUnauthenticated], which is a
// [policy.RefusedLogin], if the token does not count; any other error means that it cannot be checked now.
func (c *Gatekeeper) Authenticate(ctx context.Context, token string) (policy.Principal, error) {
	p, ok := parse(token)
	if !ok {
		return policy.Principal{}, &policy.RefusedLogin{Authenticator: policy.ByIssuer, Reason: reasonForm}
	}
	t := c.table.Load().find(p.issuer)
	if t == nil {
		return policy.Principal{}, &policy.RefusedLogin{Authenticator: policy.ByIssuer, Reason: reasonIssuer}
	}
	key, err := c.key(t, p.header)
	if err != nil {
		return policy.Principal{}, err
	}
	if reason := t.verify(token, key); reason != "" {
		return policy.Principal{}, t.refused(reason)
	}
	end, reason := t.times(p.claims, c.now())
	if reason == "" && !forUs(p.claims["aud"], t.Audience) {
		reason = reasonAudience
	}
	if reason != "" {
		return policy.Principal{}, t.refused(reason)
	}
	subject, claims, reason := t.whose(p.claims)
	if reason != "" {
		return policy.Principal{}, t.refused(reason)
	}
	found, ok := t.principal(subject, claims)
	if !ok {
		return policy.Principal{}, t.refused(reasonRule)
	}
	if t.VIM != "" {
		if reason, err = c.reviewed(ctx, t, token); err != nil {
			return policy.Principal{}, err
		} else if reason != "" {
			return policy.Principal{}, t.refused(reason)
		}
	}
	if err := c.firstUse(ctx, t, p.claims, end); err != nil {
		return policy.Principal{}, err
	}
	found.Login.Until, found.Login.Digest = end, t.digest
	return found, nil
}

// key returns the key that a token of an entry must be signed with. One that is not known has
// the issuer asked in the background.
func (c *Gatekeeper) key(t *row, h header) (key jose.JSONWebKey, err error) {
	if reason := t.accepts(h); reason != "" {
		return key, t.refused(reason)
	}
	k := t.keys.Load()
	if t.Keys == "" && !k.counts(c.now()) {
		t.asked.Store(true)
		c.Wake()
		return key, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the keys of the issuer are not known yet"}
	}
	key, ok := k.find(h.KeyID, h.Algorithm)
	if ok {
		return key, nil
	}
	if !t.asked.Swap(true) && k.due(c.now(), true) {
		c.Wake()
	}
	return key, t.refused(reasonKey)
}

// firstUse refuses a token that was used before, where the entry takes each once.
func (c *Gatekeeper) firstUse(ctx context.Context, t *row, claims Claims, end time.Time) error {
	if !t.Once {
		return nil
	}
	id, _ := claims["jti"].(string)
	if id == "" {
		return t.refused(reasonUsed)
	}
	sum := sha256.Sum256([]byte(t.Name + "\x00" + id))
	err := c.store.UseOnce(ctx, hex.EncodeToString(sum[:]), end)
	if errors.Is(err, broker.ErrExists) {
		return t.refused(reasonUsed)
	}
	return err
}

// Lookup implements [policy.Directory]. Nobody can be asked about a caller whose token is not there:
// it says [policy.ErrNotAsked] while the entry is in the table, and that there is none after that.
func (c *Gatekeeper) Lookup(_ context.Context, name, _ string) (policy.Principal, error) {
	if _, there := c.entryOf(name); !there {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return policy.Principal{}, policy.ErrNotAsked
}

// Hold is for how long a caller's roles hold without a word on them.
func (c *Gatekeeper) Hold(name string) time.Duration {
	if t, there := c.entryOf(name); there {
		return t.Hold
	}
	return 0
}

// Current reports whether the entry of a principal is still as it was.
func (c *Gatekeeper) Current(name, digest string) bool {
	t, there := c.entryOf(name)
	return there && t.digest == digest
}

// entryOf returns the entry that qualifies a principal's name.
func (c *Gatekeeper) entryOf(name string) (*row, bool) {
	for _, t := range c.table.Load().rows {
		prefix := t.authenticator() + ":" + t.Name + ":"
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			return t, true
		}
	}
	return nil, false
}

// Logins are the entries that people log in at, by name.
func (c *Gatekeeper) Logins() []Authority {
	var all []Authority
	for _, t := range c.table.Load().rows {
		if t.Login != nil {
			all = append(all, t.Authority)
		}
	}
	return all
}

package trust

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"
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

// Store keeps the entries of administrators, and what is known of tokens.
type Store interface {
	Once
	Entries
	// ForgetUsed forgets the uses of tokens that ended before a time.
	ForgetUsed(ctx context.Context, before time.Time) error
}

// Options wire [Gatekeeper]. Every field without a stated default is required.
type Options struct {
	Source   Source
	Reviewer Reviewer
	Store    Store
	Log      *slog.Logger
	// Changed is called by Run once the entries of administrators are other ones; nil does nothing.
	Changed func(context.Context)
	// Now defaults to time.Now.
	Now func() time.Time
}

// Gatekeeper knows callers by the table of trust. It is safe for concurrent use.
type Gatekeeper struct {
	Options
	reviews reviews
	wake    chan struct{}
	dirty   atomic.Bool // Changed is to be called
	table   atomic.Pointer[table]

	loading    sync.Mutex // held from reading the entries to using them, so that the older never replace the newer
	mu         sync.Mutex // guards the two lists that the table is made of
	configured []Authority
	kept       []Listed
}

// table is one state of the table of trust.
type table struct {
	rows    []*row
	issuers map[string]*row
	left    map[string]string // entries that do not count, with the reason
	callers *x509.CertPool    // the authorities of all entries; nil: there are none
	clients *x509.CertPool    // those of the entries of registered clients
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
	if o.Changed == nil {
		o.Changed = func(context.Context) {}
	}
	c := &Gatekeeper{Options: o, wake: make(chan struct{}, 1)}
	c.table.Store(&table{})
	return c
}

// Replace exchanges the entries of the configuration.
func (c *Gatekeeper) Replace(entries []Authority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configured = entries
	c.renew()
}

// Load reads the entries of administrators, as every process does each [LookEvery].
func (c *Gatekeeper) Load(ctx context.Context) error {
	c.loading.Lock()
	defer c.loading.Unlock()
	kept, err := c.Store.TrustEntries(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reflect.DeepEqual(kept, c.kept) {
		return nil
	}
	c.kept = kept
	c.renew()
	c.dirty.Store(true)
	return nil
}

// renew makes the table of the two lists. An entry of the configuration counts before one of an administrator. Of
// entries whose issuer stays, the keys stay too.
func (c *Gatekeeper) renew() {
	before := c.table.Load()
	next := &table{issuers: map[string]*row{}, left: map[string]string{}}
	for _, e := range c.configured {
		next.add(c.newRow(e, before))
	}
	for _, k := range c.kept {
		e := k.WithDefaults()
		if why := next.refuses(e); why != "" {
			next.left[e.Name] = why
			c.Log.Warn("an entry of the table of trust does not count", "trust", e.Name, "reason", why)
			continue
		}
		next.add(c.newRow(e, before))
	}
	c.table.Store(next)
	c.Wake()
}

// newRow is the row of an entry, with the keys that are known of it.
func (c *Gatekeeper) newRow(e Authority, before *table) *row {
	t := &row{Authority: e, digest: digest(e)}
	t.told.Store("")
	if e.Keys != "" {
		keys, _ := parseKeys([]byte(e.Keys)) // whose faults are [Authority.Flaws]
		t.keys.Store(&known{issuer: e.Issuer, keys: keys, fetched: c.Now()})
	}
	for _, old := range before.rows {
		if old.Name == e.Name && sameKeys(old.Authority, e) {
			t.keys.Store(old.keys.Load())
		}
	}
	return t
}

// refuses says why an entry cannot stand beside those of the table; empty if it can.
func (t *table) refuses(e Authority) string {
	for _, f := range e.Flaws() {
		return f.Field + ": " + f.Text
	}
	for _, other := range t.rows {
		switch {
		case other.Name == e.Name:
			return "name: is the name of another entry"
		case e.Issuer != "" && other.Issuer == e.Issuer:
			return "issuer: is the issuer of another entry"
		}
	}
	return ""
}

func (t *table) add(r *row) {
	t.rows = append(t.rows, r)
	if r.Issuer != "" {
		t.issuers[r.Issuer] = r
	}
	if !r.Certified() {
		return
	}
	into := []**x509.CertPool{&t.callers}
	if len(r.Principals) == 0 {
		into = append(into, &t.clients)
	}
	for _, p := range into {
		if *p == nil {
			*p = x509.NewCertPool()
		}
		(*p).AppendCertsFromPEM([]byte(r.Certificates.CA))
	}
}

// Authorities are those of the certificates of all callers, or of registered clients; nil: there are none.
func (c *Gatekeeper) Authorities() (callers, clients *x509.CertPool) {
	t := c.table.Load()
	return t.callers, t.clients
}

// forgetEvery is how often used tokens that have ended are forgotten.
const forgetEvery = 10 * time.Minute

// Passes are the periodic work.
func (c *Gatekeeper) Passes() []broker.Pass {
	return []broker.Pass{{Name: "forget-used-tokens", Every: forgetEvery, Run: func(ctx context.Context) error {
		return c.Store.ForgetUsed(ctx, c.Now().Add(-skew))
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
	text, _ := json.Marshal(e) // of texts, numbers and lists
	return policy.Digest(string(text))[:16]
}

// find returns the row for an issuer. Clusters name theirs themselves, and many by the same name: among them the key's id
// tells.
func (t *table) find(issuer, keyID string) (found *row) {
	if r := t.issuers[issuer]; r != nil {
		return r
	}
	for _, r := range t.rows {
		k := r.keys.Load()
		if r.VIM == "" || k == nil || k.issuer != issuer || issuer == "" {
			continue
		}
		if slices.ContainsFunc(k.keys, func(key jose.JSONWebKey) bool { return key.KeyID == keyID }) {
			return r
		}
		if found == nil {
			found = r
		}
	}
	return found
}

// Knows reports whether an issuer is in the table.
func (c *Gatekeeper) Knows(issuer string) bool { return c.table.Load().find(issuer, "") != nil }

// refused is the refusal of a caller by an entry, for the audit log.
func (e Authority) refused(reason string) error {
	return &policy.RefusedLogin{Authenticator: e.authenticator() + ":" + e.Name, Reason: reason}
}

// Authenticate returns the principal that a token is about. [policy.ErrUnauthenticated], which is a
// [policy.RefusedLogin], if the token does not count; any other error means that it cannot be checked now.
func (c *Gatekeeper) Authenticate(ctx context.Context, token string) (policy.Principal, error) {
	v, err := c.judge(ctx, token)
	if err == nil {
		err = c.firstUse(ctx, v.row, v.parsed.claims, v.end)
	}
	if err != nil {
		return policy.Principal{}, err
	}
	v.found.Login.Until, v.found.Login.Digest = v.end, v.row.digest
	return v.found, nil
}

// verdict is what was found out about a token, as far as the checks came.
type verdict struct {
	parsed
	row     *row   // nil: of no entry
	matched Claims // as rules match them; nil: the token is not known to be the issuer's
	subject string
	end     time.Time
	found   policy.Principal
	rule    int
}

// judge checks all of a token but whether it was used before.
func (c *Gatekeeper) judge(ctx context.Context, token string) (v verdict, err error) {
	var ok bool
	if v.parsed, ok = parse(token); !ok {
		return v, &policy.RefusedLogin{Authenticator: policy.ByIssuer, Reason: reasonForm}
	}
	if v.row = c.table.Load().find(v.issuer, v.KeyID); v.row == nil {
		return v, &policy.RefusedLogin{Authenticator: policy.ByIssuer, Reason: reasonIssuer}
	}
	key, err := c.key(v.row, v.header)
	if err != nil {
		return v, err
	}
	reason := v.row.verify(token, key)
	if reason == "" {
		v.end, reason = v.row.times(v.claims, c.Now())
	}
	if reason == "" && !forUs(v.claims["aud"], v.row.Audience) {
		reason = reasonAudience
	}
	if reason == "" {
		v.subject, v.matched, reason = v.row.whose(v.claims)
	}
	if reason != "" {
		return v, v.row.refused(reason)
	}
	if v.found, v.rule, ok = v.row.principal(v.subject, v.matched); !ok {
		return v, v.row.refused(reasonRule)
	}
	if v.row.VIM != "" {
		if reason, err = c.reviewed(ctx, v.row, token); err != nil {
			return v, err
		} else if reason != "" {
			return v, v.row.refused(reason)
		}
	}
	return v, nil
}

// key returns the key that a token of an entry must be signed with. One that is not known has
// the issuer asked in the background.
func (c *Gatekeeper) key(t *row, h header) (key jose.JSONWebKey, err error) {
	if reason := t.accepts(h); reason != "" {
		return key, t.refused(reason)
	}
	k := t.keys.Load()
	if t.Keys == "" && !k.counts(c.Now()) {
		t.asked.Store(true)
		c.Wake()
		return key, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the keys of the issuer are not known yet"}
	}
	key, ok := k.find(h.KeyID, h.Algorithm)
	if ok {
		return key, nil
	}
	if !t.asked.Swap(true) && k.due(c.Now(), true) {
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
	err := c.Store.UseOnce(ctx, policy.Digest(t.Name+"\x00"+id), end)
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

// Trusts reports whether the entry of a principal is in the table; of a principal of no entry it is true.
func (c *Gatekeeper) Trusts(name string) bool {
	_, there := c.entryOf(name)
	by := policy.Principal{Name: name}.Authenticator()
	return there || by != policy.ByIssuer && by != policy.ByCluster && by != policy.ByCertificate
}

// Current reports whether the entry of a principal is still as it was.
func (c *Gatekeeper) Current(name, digest string) bool {
	t, there := c.entryOf(name)
	return there && t.digest == digest
}

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

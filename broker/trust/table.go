package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Listed is an entry of the table of trust as administrators see it.
type Listed struct {
	Authority
	// CreatedBy and UpdatedBy are principals; empty of an entry of the configuration.
	CreatedBy, UpdatedBy string
	CreatedAt, UpdatedAt time.Time
	// Fault is the reason why it does not count; empty if it does. It is not stored.
	Fault string
}

// Configured reports whether the entry is one of the configuration.
func (e Listed) Configured() bool { return e.CreatedBy == "" }

// Entries keeps the entries of administrators.
type Entries interface {
	// TrustEntries returns them by name.
	TrustEntries(ctx context.Context) ([]Listed, error)
	// ChangeTrust lets change alter them, and stores them with the audit entry that records it, atomically; nobody
	// else changes them meanwhile. If change fails nothing is written and its error is returned unchanged.
	ChangeTrust(ctx context.Context, change func([]Listed) ([]Listed, error), e audit.Entry) error
}

const (
	// maxEntries bounds the entries of administrators, maxRules the rules of one, and maxText a text of one.
	maxEntries = 200
	maxRules   = 100
	maxText    = 256 << 10
)

// Table is the table of trust for administrators. Each method decides and records for the principal that it is given.
// It is safe for concurrent use, by any number of processes on one store.
type Table struct {
	*Gatekeeper
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	// Mutual: callers can show certificates to this server.
	Mutual bool
}

func missing() error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "the table of trust has no such entry"}
}

func (t *Table) desk() broker.Desk { return broker.Desk{Guard: t.Guard, Log: t.Log, Missing: missing} }

// read records that p reads the table, if p may.
func (t *Table) read(ctx context.Context, p policy.Principal) error {
	return t.desk().Read(ctx, p, policy.TrustShow, broker.InProject("*"))
}

// List returns all entries: first those of the configuration, then those of administrators by name.
func (t *Table) List(ctx context.Context, p policy.Principal) ([]Listed, error) {
	if err := t.read(ctx, p); err != nil {
		return nil, err
	}
	if err := t.Load(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Listed
	for _, e := range t.configured {
		all = append(all, Listed{Authority: e})
	}
	for _, k := range t.kept {
		k.Authority, k.Fault = k.WithDefaults(), t.table.Load().left[k.Name]
		all = append(all, k)
	}
	return all, nil
}

// Entry returns one by its name.
func (t *Table) Entry(ctx context.Context, p policy.Principal, name string) (Listed, error) {
	all, err := t.List(ctx, p)
	if err != nil {
		return Listed{}, err
	}
	if at := slices.IndexFunc(all, named(name)); at >= 0 {
		return all[at], nil
	}
	return Listed{}, missing()
}

// Create adds an entry.
func (t *Table) Create(ctx context.Context, p policy.Principal, a Authority) (Listed, error) {
	return t.change(ctx, p, policy.TrustCreate, a, func(all []Listed, now time.Time) ([]Listed, error) {
		if slices.ContainsFunc(all, named(a.Name)) {
			return nil, &broker.Error{Kind: broker.ErrExists, Field: "name", Detail: "is the name of another entry"}
		}
		if len(all) >= maxEntries {
			return nil, &broker.Error{Kind: broker.ErrQuota, Detail: "the table of trust has as many entries as it may have"}
		}
		return append(all, Listed{Authority: a, CreatedBy: p.Name, UpdatedBy: p.Name, CreatedAt: now, UpdatedAt: now}), nil
	})
}

// Update replaces an entry of the same name.
func (t *Table) Update(ctx context.Context, p policy.Principal, a Authority) (Listed, error) {
	return t.change(ctx, p, policy.TrustUpdate, a, func(all []Listed, now time.Time) ([]Listed, error) {
		at := slices.IndexFunc(all, named(a.Name))
		if at < 0 {
			return nil, missing()
		}
		all[at].Authority, all[at].UpdatedBy, all[at].UpdatedAt = a, p.Name, now
		return all, nil
	})
}

// Delete removes an entry: nobody comes in by it any more.
func (t *Table) Delete(ctx context.Context, p policy.Principal, name string) error {
	_, err := t.change(ctx, p, policy.TrustDelete, Authority{Name: name}, func(all []Listed, _ time.Time) ([]Listed, error) {
		left := slices.DeleteFunc(slices.Clone(all), named(name))
		if len(left) == len(all) {
			return nil, missing()
		}
		return left, nil
	})
	return err
}

func named(name string) func(Listed) bool { return func(e Listed) bool { return e.Name == name } }

// change has the entries of administrators changed, of which the one of a's name is another one after that, and records
// what it was and is. This process goes by it at once, and others within [LookEvery]; so does this one if it cannot read just then.
func (t *Table) change(
	ctx context.Context, p policy.Principal, action policy.Action, a Authority, change func([]Listed, time.Time) ([]Listed, error),
) (Listed, error) {
	act, err := t.desk().Enter(ctx, p, action, broker.InProject("*"))
	if err != nil {
		return Listed{}, err
	}
	act.With(audit.DetailTrust, a.Name)
	fail := func(err error) (Listed, error) { return Listed{}, t.desk().Refuse(ctx, act, err) }
	all, err := t.Store.TrustEntries(ctx)
	if err != nil {
		return fail(err)
	}
	before, after := Listed{}, Listed{Authority: a.WithDefaults()}
	if at := slices.IndexFunc(all, named(a.Name)); at >= 0 {
		before = all[at]
	}
	if err := t.changeable(action, after.Authority); err != nil {
		return fail(err)
	}
	now := t.Now().UTC().Truncate(time.Microsecond)
	err = t.Store.ChangeTrust(ctx, func(all []Listed) ([]Listed, error) {
		at := slices.IndexFunc(all, named(a.Name))
		if at >= 0 != !before.Configured() || at >= 0 && !all[at].UpdatedAt.Equal(before.UpdatedAt) {
			return nil, &broker.Error{Kind: broker.ErrConflict, Detail: "the entry was changed at the same time", Remedy: "try again"}
		}
		next, err := change(all, now)
		if at = slices.IndexFunc(next, named(a.Name)); err == nil && at >= 0 {
			after, err = next[at], beside(next, next[at].WithDefaults())
		}
		return next, err
	}, act.Done(differences(before.Authority, a, action)...))
	if err != nil {
		return fail(err)
	}
	after.Authority = after.WithDefaults()
	if err := t.Load(ctx); err != nil { // it is followed as if another process had made it
		t.Log.WarnContext(ctx, "a change of the table of trust is stored, and not read back yet", "entry", a.Name, "error", err)
	}
	return after, nil
}

// changeable says why an entry of the table cannot be made so, or be removed.
func (t *Table) changeable(action policy.Action, e Authority) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.configured, func(c Authority) bool { return c.Name == e.Name }) {
		return &broker.Error{
			Kind: broker.ErrConflict, Field: "name", Detail: "is an entry of the server's configuration, which only that changes",
			Remedy: "edit the server's configuration, and have it reloaded",
		}
	}
	if action == policy.TrustDelete {
		return nil
	}
	switch flaws := e.Flaws(); {
	case len(flaws) > 0:
		return broker.Invalid(strings.TrimSuffix(flaws[0].Field, "File"), "%s", flaws[0].Text)
	case len(e.Principals) > maxRules || sizeOf(e) > maxText:
		return broker.Invalid("principals", "must be at most %d rules, and all of the entry at most %d KiB", maxRules, maxText>>10)
	case e.Certified() && !t.Mutual:
		return broker.Invalid("certificates",
			"needs tls, or trustedProxies with clientCert, in the server's configuration: callers show certificates while connecting")
	}
	for _, c := range t.configured {
		if e.Issuer != "" && c.Issuer == e.Issuer {
			return broker.Invalid("issuer", "is the issuer of the entry %s of the server's configuration", c.Name)
		}
	}
	return nil
}

// beside says why an entry cannot stand beside the others.
func beside(all []Listed, e Authority) error {
	for _, other := range all {
		if e.Issuer != "" && other.Issuer == e.Issuer && other.Name != e.Name {
			return broker.Invalid("issuer", "is the issuer of the entry %s", other.Name)
		}
	}
	return nil
}

func sizeOf(e Authority) int {
	text, _ := json.Marshal(e) // of texts, numbers and lists
	return len(text)
}

// differences are the details of an audit entry about a change: what differs, as it was and as it is.
func differences(before, after Authority, action policy.Action) []string {
	was, is := before.said(), map[string]string{}
	if action != policy.TrustDelete {
		is = after.WithDefaults().said()
	}
	fields := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(fields)
	var all []string
	for _, field := range slices.Compact(fields) {
		if was[field] != is[field] {
			all = append(all, audit.DetailOld+field, was[field], audit.DetailNew+field, is[field])
		}
	}
	return all
}

// said are the fields of an entry as the audit log has them: keys and certificates by their digests.
func (e Authority) said() map[string]string {
	if e.Name == "" {
		return nil
	}
	all := map[string]string{
		"issuer": e.Issuer, "vim": e.VIM, "audience": e.Audience, "algorithms": strings.Join(e.Algorithms, ","), "keys": sum(e.Keys),
		"ca": sum(e.CA), "type": e.Type, "maxLife": e.MaxLife.String(), "once": strconv.FormatBool(e.Once), "platform": e.Platform,
		"hold": e.Hold.String(),
	}
	if e.Login != nil {
		all["login"] = e.Login.ClientID + " " + strings.Join(e.Login.Scopes, ",")
	}
	if e.Certified() {
		all["certificates"] = sum(e.Certificates.CA + e.Certificates.CRL)
	}
	for i, r := range e.Principals {
		text, _ := json.Marshal(r) // of texts and lists
		all[fmt.Sprintf("principals[%d]", i)] = string(text)
	}
	return all
}

// sum is a digest for people; empty of nothing.
func sum(text string) string {
	if text == "" {
		return ""
	}
	return "sha256:" + policy.Digest(text)[:16]
}

// TokenTrial is how a token fares at the table.
type TokenTrial struct {
	// Principal is the one that it would make; without a name it makes none.
	Principal policy.Principal
	// Entry is the one that it is about; empty: none is. Rule is the number of the rule that matches, from 0.
	Entry string
	Rule  int
	// Reason is why it is refused, and Rules say of each rule why it does not match.
	Reason string
	Rules  []string
	Once   bool
	Until  time.Time
}

// Try says how a token would fare, and changes nothing: a token that is taken once is as good as before.
func (t *Table) Try(ctx context.Context, p policy.Principal, token string) (TokenTrial, error) {
	if err := t.read(ctx, p); err != nil {
		return TokenTrial{}, err
	}
	v, err := t.judge(ctx, token)
	refused, is := errors.AsType[*policy.RefusedLogin](err)
	if err != nil && !is {
		return TokenTrial{}, err
	}
	made := TokenTrial{Principal: v.found, Rule: v.rule, Until: v.end}
	if v.row != nil {
		made.Entry, made.Once = v.row.Name, v.row.Once
	}
	if is {
		made.Principal, made.Reason = policy.Principal{}, refused.Reason
		if refused.Reason == reasonRule {
			made.Rules = v.row.why(v.subject, v.matched)
		}
	}
	return made, nil
}

package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

const (
	// DefaultPage is the size of a page when none is asked for.
	DefaultPage = 100
	// MaxPage is the size of the largest page.
	MaxPage = 1000
)

// Valid sets the default size, and refuses one out of bounds.
func (p Page) Valid() (Page, error) {
	switch {
	case p.Size == 0:
		p.Size = DefaultPage
	case p.Size < 0 || p.Size > MaxPage:
		return p, Invalid("pageSize", "must be between 1 and %d", MaxPage)
	}
	return p, nil
}

// Entries returns what q selects of the audit log, newest first: to those who may not
// read every project's, what their project's principals did, and what others did on its VIMs.
// A caller who may not read the project that q names is refused, and so is an action that
// does not exist and is not in the log.
func (b *Oversight) Entries(ctx context.Context, p policy.Principal, q audit.Query) ([]audit.Entry, error) {
	page, err := Page{Size: q.Limit}.Valid()
	if err != nil {
		return nil, err
	}
	q.Limit = page.Size
	if q.Project == "" && !b.seesAll(p, policy.AuditRead) {
		q.Project = p.Project
	}
	res := InProject(q.Project)
	if q.Project == "" {
		res = InProject(anyProject)
	}
	if err := b.read(ctx, p, policy.AuditRead, res); err != nil {
		return nil, err
	}
	found, err := b.entries.Entries(ctx, q)
	if err == nil && len(found) == 0 && q.Action != "" {
		if words, ok := b.policy.(vocabulary); ok {
			return nil, misspelt(words.CheckAction(q.Action, audit.ServerActions...))
		}
	}
	if !b.seesAll(p, policy.AuditRead) {
		for i := range found {
			if found[i].Damaged { // it cannot be told what it is about
				found[i].Resource = ""
			}
		}
	}
	return found, err
}

// vocabulary is what a [policy.Decider] may know of the words of questions.
type vocabulary interface {
	Check(r policy.Request) error
	CheckAction(a policy.Action, others ...policy.Action) error
	Why(r policy.Request) []string
	Usual(a policy.Action) policy.Kind
}

// misspelt refuses the word that err, a [*policy.Typo], is about.
func misspelt(err error) error {
	var typo *policy.Typo
	if errors.As(err, &typo) {
		return Invalid(typo.Field, "%s", typo)
	}
	return err
}

// EntriesAfter returns at most limit entries of the whole audit log that follow one of them, oldest
// first: those that have their place in the log. It is for who may read every project's.
func (b *Oversight) EntriesAfter(ctx context.Context, p policy.Principal, seq int64, limit int) ([]audit.Entry, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return nil, err
	}
	return b.entries.EntriesAfter(ctx, seq, limit)
}

// AuditTree returns the Merkle tree over the whole audit log, which holds every entry
// that was written before, and the hashes from which a [tree.Builder] goes on with the
// log as it was at an earlier size. A size that the log never had is [ErrInvalid].
func (b *Oversight) AuditTree(ctx context.Context, p policy.Principal, size int64) (tree.Head, []tree.Hash, error) {
	fail := func(err error) (tree.Head, []tree.Hash, error) { return tree.Head{}, nil, err }
	state, err := b.grownTree(ctx, p)
	if err != nil {
		return fail(err)
	}
	if size < 0 || size > state.Size {
		return fail(neverHad(state))
	}
	frontier, err := tree.Frontier(ctx, b.entries, state, size)
	if err != nil {
		return fail(tornLog(err))
	}
	return state, frontier, nil
}

// ProveEntry returns the tree over the audit log, an entry, and the hashes that prove
// that the tree holds the entry ([tree.CheckInclusion]). One that there is not is [ErrInvalid].
func (b *Oversight) ProveEntry(ctx context.Context, p policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error) {
	fail := func(err error) (tree.Head, audit.Entry, []tree.Hash, error) {
		return tree.Head{}, audit.Entry{}, nil, err
	}
	state, err := b.grownTree(ctx, p)
	if err != nil {
		return fail(err)
	}
	if seq < 1 || seq > state.Size {
		return fail(Invalid("entry", "must be between 1 and %d, the size of the log", state.Size))
	}
	horizon, err := b.past.Horizon(ctx)
	if err != nil {
		return fail(err)
	}
	if seq <= horizon {
		return fail(Invalid("entry", "was removed, as all up to %d were, because retention has them no longer; "+
			"look for it in a sink or an export", horizon))
	}
	found, err := b.entries.Entries(ctx, audit.Query{Before: seq + 1, Limit: 1})
	if err != nil {
		return fail(err)
	}
	if len(found) == 0 || found[0].Seq != seq || found[0].Damaged {
		return fail(tornLog(fmt.Errorf("%w: entry %d is missing or damaged", tree.ErrTorn, seq)))
	}
	proof, err := tree.ProveInclusion(ctx, b.entries, state, seq-1)
	if err != nil {
		return fail(tornLog(err))
	}
	return state, found[0], proof, nil
}

// ProveGrowth returns the tree over the audit log as it was at a later size, and the hashes that prove
// that it begins with the whole of the log as it was at an earlier one ([tree.CheckConsistency]). A
// later size below zero is that of now. A size that the log never had is [ErrInvalid].
func (b *Oversight) ProveGrowth(ctx context.Context, p policy.Principal, earlier, later int64) (tree.Head, []tree.Hash, error) {
	state, err := b.grownTree(ctx, p)
	if err != nil {
		return tree.Head{}, nil, err
	}
	switch {
	case earlier < 0 || earlier > state.Size || later > state.Size:
		return tree.Head{}, nil, neverHad(state)
	case later >= 0 && later < earlier:
		return tree.Head{}, nil, Invalid("later", "must not be less than size")
	case later >= 0:
		if state, err = tree.At(ctx, b.entries, state, later); err != nil {
			return tree.Head{}, nil, tornLog(err)
		}
	}
	if earlier == 0 { // every tree begins with the empty one
		return state, nil, nil
	}
	proof, err := tree.ProveConsistency(ctx, b.entries, state, earlier)
	if err != nil {
		return tree.Head{}, nil, tornLog(err)
	}
	return state, proof, nil
}

// grownTree is the tree over every entry that was written before, for who may read all.
func (b *Oversight) grownTree(ctx context.Context, p policy.Principal) (tree.Head, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return tree.Head{}, err
	}
	if err := b.entries.Grow(ctx); err != nil {
		return tree.Head{}, tornLog(err)
	}
	return b.entries.Tree(ctx)
}

func neverHad(now tree.Head) error {
	return Invalid("size", "must be between 0 and %d, the size of the log: entries were removed, or the log is another", now.Size)
}

// tornLog says that the audit log was changed behind the broker's back.
func tornLog(err error) error {
	if !errors.Is(err, tree.ErrTorn) {
		return err
	}
	return &Error{Kind: ErrConflict, Detail: "the audit log in the store is not the one that was written", Cause: err}
}

// Explain answers what policy would decide, and why. About another principal than
// oneself it needs a right of its own.
func (b *Oversight) Explain(ctx context.Context, p policy.Principal, r policy.Request) (policy.Decision, error) {
	if r.Principal.Name != p.Name || r.Principal.Project != p.Project {
		if err := b.read(ctx, p, policy.PolicyExplain, InProject(r.Principal.Project)); err != nil {
			return policy.Decision{}, err
		}
	} else {
		r.Principal = p // one's own roles are what they are
	}
	words, ok := b.policy.(vocabulary)
	if r.Resource.Kind == "" {
		r.Resource.Kind, r.Resource.ID = policy.KindProject, r.Resource.Project
		if ok {
			r.Resource.Kind = words.Usual(r.Action)
		}
	}
	if ok {
		known := r
		if r.Principal.Name == p.Name && r.Principal.Project == p.Project {
			known.Principal.Roles = nil // what they are, nobody has typed
		}
		if err := misspelt(words.Check(known)); err != nil {
			return policy.Decision{}, err
		}
	}
	r.Wish = b.effective(r)
	d := b.policy.Decide(r)
	if ok && b.guard.Allows(p, policy.PolicyExplain, InProject(r.Principal.Project)) {
		d.Why = words.Why(r)
	}
	return d, nil
}

// PolicyTexts are the texts of policies for callers, by their ids, for who may ask about others. An id that no policy
// has is left out.
func (b *Oversight) PolicyTexts(ctx context.Context, p policy.Principal, ids []string) (map[string]string, error) {
	if err := b.read(ctx, p, policy.PolicyExplain, InProject(p.Project)); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	if known, ok := b.policy.(interface{ Text(id string) string }); ok {
		for _, id := range ids {
			if text := known.Text(id); text != "" {
				texts[id] = text
			}
		}
	}
	return texts, nil
}

// effective is what a question's wish would come to: defaults filled in, and capped. A
// lease that would have a grade is taken for the narrowest where the question names none.
func (b *Oversight) effective(r policy.Request) policy.Wish {
	w := r.Wish
	switch r.Action {
	case policy.LeaseIssue, policy.LeasePassThrough, policy.LeaseRenew:
	case policy.LeaseMint:
		w.Standing = true
	default:
		return w
	}
	usual, most := b.terms.DefaultTTL, b.terms.MaxTTL
	d, err := b.driver(VIMType(r.Resource.VIMType))
	switch {
	case w.Standing && err == nil && d.Type().Users:
		most = b.standingMax(r.Principal)
		usual = most
	case w.Standing:
		usual, most = b.terms.StandingTTL, b.terms.StandingTTL
	case r.Action == policy.LeasePassThrough:
		most = b.standingMax(r.Principal)
	}
	if w.TTL == 0 {
		w.TTL = usual
	}
	w.TTL = min(w.TTL, most)
	if err == nil {
		g, err := d.Prepare(Grant{TTL: w.TTL, Role: w.Role, Namespaces: slices.Clone(w.Namespaces), Purpose: w.Purpose})
		if err == nil && len(w.Rules.Verbs) == 0 {
			w.TTL, w.Role, w.Namespaces = g.TTL, g.Role, g.Namespaces
		}
		if w.Grade == "" {
			w = narrowest(d, w)
		}
	}
	return w
}

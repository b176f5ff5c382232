package broker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// grades from the narrowest to the widest.
var grades = []Grade{GradeBounded, GradeNamespaces, GradeUnbounded}

// widerThan reports whether a grade is wider than another; one that is not known is wider than each.
func widerThan(g, than Grade) bool {
	at := slices.Index(grades, g)
	return at < 0 || at > slices.Index(grades, than)
}

func tooWide(g, most Grade) error {
	return &Error{
		Kind: ErrDenied, Detail: fmt.Sprintf("the lease would be %s, and was to be %s at most", cmp.Or(g, GradeUnbounded), most),
		Remedy: "ask for less, or let it be wider",
	}
}

// narrowest is a wish before its grade is known, as if it were the narrowest: who may
// not even have that is refused before the VIM is asked.
func narrowest(d Driver, w policy.Wish) policy.Wish {
	if _, ok := d.(Grader); ok {
		w.Grade = string(GradeBounded)
	}
	return w
}

// weigh has a driver that can compute what the holder of a lease can become, fills in
// the lease's scope, and decides on that.
func (i *issuing) weigh(ctx context.Context, o *opened) error {
	l, ttl := &i.lease, i.lease.granted()
	// What an operation needs may come to be served by the operation itself.
	if checker, ok := i.driver.(RuleChecker); ok && len(l.Rules) > 0 && l.Operation == "" {
		asking, cancel := i.call(ctx)
		err := checker.CheckRules(asking, o.Access, l.Rules)
		cancel()
		if err != nil {
			return i.refuse(ctx, i.act, err)
		}
	}
	if grader, ok := i.driver.(Grader); ok {
		graded, err := i.grade(ctx, grader, o, l.grant(ttl))
		if err != nil {
			return i.refuse(ctx, i.act, err)
		}
		g := graded.Grant
		l.Role, l.Rules, l.Namespaces, l.ClusterWide = g.Role, g.Rules, g.Namespaces, g.ClusterWide
		l.Grade, l.GradeReasons = graded.Grade, graded.Reasons
		if i.act, err = i.enter(ctx, i.caller, policy.LeaseIssue, vimResource(i.vim), l.wish(ttl)); err != nil {
			return withRemedy(i.explainRefusal(err, i.caller, i.vim, l.wish(ttl), l.GradeReasons), graded.Remedy)
		}
		i.act.With(audit.DetailGrade, string(l.Grade))
	}
	if _, ok := i.driver.(Tidier); ok {
		l.GrantDigest = grantDigest(*l)
	}
	i.act.With(audit.DetailLease, l.ID).With(audit.DetailRole, l.Role).With(audit.DetailTTL, ttl.String()).
		With(audit.DetailGeneration, generationText(l.VIMGeneration))
	switch {
	case l.ClusterWide:
		i.act.With(audit.DetailNamespaces, "*")
	case len(l.Namespaces) > 0:
		i.act.With(audit.DetailNamespaces, strings.Join(l.Namespaces, ","))
	}
	if l.For != "" {
		i.act.With(audit.DetailFor, l.For)
	}
	return nil
}

// grade asks a driver, and accepts no grade that it does not know.
func (b *Leaser) grade(ctx context.Context, grader Grader, o *opened, g Grant) (Graded, error) {
	ctx, cancel := b.call(ctx)
	defer cancel()
	graded, err := grader.Grade(ctx, o.Access, g)
	if err == nil && !slices.Contains(grades, graded.Grade) {
		err = fmt.Errorf("the driver graded a lease as %q", graded.Grade)
	}
	if err == nil {
		err = echoes(o.Access.Credential, graded.Reasons...)
	}
	return graded, err
}

// explainRefusal adds to a refusal which policies forbid such a lease, and why it has its
// grade. A refusal that says that there is no such VIM stays as it is.
func (b *Leaser) explainRefusal(refusal error, p policy.Principal, v VIM, w policy.Wish, reasons []string) error {
	var e *Error
	if !errors.As(refusal, &e) || !errors.Is(e.Kind, ErrDenied) {
		return refusal
	}
	d := b.policy.Decide(policy.Request{Principal: p, Action: policy.LeaseIssue, Resource: vimResource(v), Wish: w})
	if d.Allowed || len(d.Policies) == 0 {
		return refusal
	}
	explained := *e
	explained.Detail = fmt.Sprintf("policy does not allow %s to %s such a lease", p.Name, policy.LeaseIssue)
	if w.Grade != "" && w.Grade != string(GradeBounded) {
		explained.Detail = fmt.Sprintf("policy does not allow %s to %s a lease that is %s", p.Name, policy.LeaseIssue, w.Grade)
	}
	explained.Detail += " (" + strings.Join(d.Policies, ", ") + ")"
	if len(reasons) > 0 {
		explained.Detail += ": " + firstReasons(reasons)
	}
	explained.Detail += Because(d.Reasons)
	explained.Remedy = "ask for less: a narrower role, exact rules, fewer namespaces or a shorter life"
	return &explained
}

// withRemedy gives a refusal of what a lease would be the remedy that lies with the VIM.
func withRemedy(refusal error, remedy string) error {
	e, is := errors.AsType[*Error](refusal)
	if !is || remedy == "" || !errors.Is(e.Kind, ErrDenied) {
		return refusal
	}
	remedied := *e
	remedied.Remedy = remedy
	return &remedied
}

func firstReasons(reasons []string) string { return strings.Join(reasons[:min(3, len(reasons))], "; ") }

func (l Lease) wish(ttl time.Duration) policy.Wish {
	w := policy.Wish{
		TTL: ttl, Role: l.Role, Namespaces: l.Namespaces, Purpose: l.Purpose, For: l.For, Issued: l.IssuedAt,
		Grade: string(l.Grade), ClusterWide: l.ClusterWide, Standing: l.Standing() || l.Asked() == LeaseUser,
	}
	for _, r := range l.Rules {
		w.Rules.Verbs = append(w.Rules.Verbs, r.Verbs...)
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if group != "" {
					resource += "." + group
				}
				w.Rules.Resources = append(w.Rules.Resources, resource)
			}
		}
	}
	return w
}

// Wish is what policies would weigh of a lease that is asked for and has this grade.
func Wish(r LeaseRequest, g Grade) policy.Wish {
	w := Lease{
		Role: r.Role, Namespaces: r.Namespaces, Rules: r.Rules, ClusterWide: r.ClusterWide, Purpose: r.Purpose, For: r.For, Grade: g,
	}.wish(r.TTL)
	w.Standing = r.Standing || r.Credential == LeaseUser
	return w
}

func (l Lease) grant(ttl time.Duration) Grant {
	return Grant{
		Lease: l.ID, Handle: l.Handle, TTL: ttl, Role: l.Role, Namespaces: slices.Clone(l.Namespaces), Purpose: l.Purpose,
		User: l.Asked() == LeaseUser, Rules: l.Rules, ClusterWide: l.ClusterWide, Epoch: l.Epoch, Planned: l.Planned,
	}
}

// issued is what a lease has upstream, but for its credential.
func (l Lease) issued() Issued {
	return Issued{
		Handle: l.Handle, UID: l.UID, Grant: l.grant(0),
		// Versions that knew no RenewalBegun stored only that a renewal had ended.
		Renewed: l.RenewalBegun || !l.RenewedAt.IsZero(),
	}
}

// grantDigest names what all leases of a VIM with the same role or rules and scope share.
func grantDigest(l Lease) string {
	namespaces := slices.Clone(l.Namespaces)
	slices.Sort(namespaces)
	text, _ := json.Marshal(struct { // cannot fail for these types
		Role        string
		Rules       []Rule
		Namespaces  []string
		ClusterWide bool
	}{l.Role, canonical(l.Rules), slices.Compact(namespaces), l.ClusterWide})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical writes rules that mean the same in the same way.
func canonical(rules []Rule) []Rule {
	sorted := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	all := make([]Rule, 0, len(rules))
	for _, r := range rules {
		all = append(all, Rule{
			APIGroups: sorted(r.APIGroups), Resources: sorted(r.Resources),
			ResourceNames: sorted(r.ResourceNames), Verbs: sorted(r.Verbs),
		})
	}
	slices.SortFunc(all, func(x, y Rule) int {
		return slices.CompareFunc(x.lists(), y.lists(), slices.Compare[[]string])
	})
	return slices.CompactFunc(all, func(x, y Rule) bool {
		return slices.EqualFunc(x.lists(), y.lists(), slices.Equal[[]string])
	})
}

func (r Rule) lists() [][]string {
	return [][]string{r.APIGroups, r.Resources, r.ResourceNames, r.Verbs}
}

// Bounds of the rules in a request.
const (
	maxRules     = 64
	maxRuleItems = 64
	maxRuleText  = 253
)

// checkRules refuses rules that mean nothing, and a scope that contradicts itself.
func checkRules(d Driver, r *LeaseRequest) error {
	t := d.Type()
	_, able := d.(Grader)
	able = able && t.Rules
	switch {
	case len(r.Rules) > 0 && r.Role != "":
		return Invalid("rules", "stand in place of a role: leave one of the two out")
	case len(r.Rules) > 0 && !able:
		return Invalid("rules", "are not known to VIMs of type %s", t.Name)
	case r.ClusterWide && !able:
		return Invalid("clusterWide", "is not known to VIMs of type %s", t.Name)
	case r.ClusterWide && len(r.Namespaces) > 0:
		return Invalid("clusterWide", "and namespaces exclude each other: leave one of the two out")
	case len(r.Rules) > maxRules:
		return Invalid("rules", "are more than %d", maxRules)
	}
	for _, rule := range r.Rules {
		if len(rule.APIGroups) == 0 || len(rule.Resources) == 0 || len(rule.Verbs) == 0 {
			return Invalid("rules", "hold one without apiGroups, resources or verbs")
		}
		for i, list := range rule.lists() {
			if len(list) > maxRuleItems {
				return Invalid("rules", "hold a list of more than %d", maxRuleItems)
			}
			const groups = 0 // the core group is ""
			if slices.ContainsFunc(list, func(s string) bool { return s == "" && i != groups || !ruleText(s) }) {
				return Invalid("rules", "must hold names of 1 to %d letters, digits and -._:/*", maxRuleText)
			}
		}
	}
	r.Rules = canonical(r.Rules)
	return nil
}

func ruleText(s string) bool {
	return len(s) <= maxRuleText && !strings.ContainsFunc(s, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("-._:/*", c)
	})
}

// leaseDigest tells requests apart. A field that came later counts only where
// it is set, so that a request that is repeated across an upgrade is the same.
func leaseDigest(vim string, r LeaseRequest, g Grant) string {
	parts := []any{vim, r.TTL, g.Role, g.Namespaces, r.Format, r.Purpose, r.Operation}
	if len(g.Rules) > 0 || g.ClusterWide {
		parts = append(parts, g.Rules, g.ClusterWide)
	}
	if r.Standing || r.Instance != "" {
		parts = append(parts, r.Standing, r.Instance)
	}
	if r.Credential != "" {
		parts = append(parts, r.Credential)
	}
	if r.For != "" {
		parts = append(parts, "for", r.For)
	}
	if r.Planned {
		parts = append(parts, "planned")
	}
	return digest(parts...)
}

// Rule allows verbs on resources: what a lease may do in place of a role. The
// fields have the meaning of a Kubernetes PolicyRule (rbac.authorization.k8s.io/v1):
// "" among APIGroups is the core group, "pods/log" among Resources is a
// subresource, an empty ResourceNames means every name, and "*" means all.
type Rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
}

// Grade says how far a lease's holder can go beyond the lease's own rules.
type Grade string

// The grades, from the narrowest to the widest. A lease from before grades were
// computed has none.
const (
	// GradeBounded: the holder can do what the rules say, and become nobody else.
	GradeBounded Grade = "bounded"
	// GradeNamespaces: the holder can become any identity of the lease's
	// namespaces, which outlives the lease where that identity does.
	GradeNamespaces Grade = "namespaces"
	// GradeUnbounded: the holder can become an identity that may do anything, or
	// make itself credentials without end.
	GradeUnbounded Grade = "unbounded"
)

// ErrBeyondGrant is the cause of an error of [Driver] Issue: the VIM let the fresh lease do more
// than it was granted.
var ErrBeyondGrant = errors.New("beyond its grant")

// Graded is a grant as it takes effect, and what its holder can become.
type Graded struct {
	// Grant has its scope filled in: namespaces, or ClusterWide.
	Grant Grant
	Grade Grade
	// Reasons are sentences, one for each way in which the holder can go beyond the
	// rules; those that reach farthest come first. Bounded has none.
	Reasons []string
	// Remedy says how the VIM would have to be for a narrower grade; empty where it would not help.
	Remedy string
}

// Grader is a driver that computes what the holder of a lease can become. A driver
// that is none issues leases without a grade, which the default
// policies keep for administrators.
type Grader interface {
	// Grade looks at what the grant means on that VIM now. It makes nothing. A role or
	// namespace that the VIM does not have is ErrInvalid with the field; of a grant that
	// is Held, it gives nothing, and is no error. It is called for every lease, and for every
	// further credential of one, before policy decides, so it answers from memory where
	// it can; what it remembers is at most a few minutes old.
	Grade(ctx context.Context, a Access, g Grant) (Graded, error)
}

// RuleChecker is a driver whose VIMs say which resources there are.
type RuleChecker interface {
	// CheckRules is ErrInvalid for rules with a resource that the VIM does not serve. It is a guard against typing errors:
	// what the VIM does not tell passes. Its cause is a [*MissingKinds] with all of them.
	CheckRules(ctx context.Context, a Access, rules []Rule) error
}

// Foreseer is a driver that knows of some leases that Issue would refuse them.
type Foreseer interface {
	// Foresee is the error that Issue would return, as far as that is known or can be asked; nil says nothing. It is for
	// questions alone. Of rules that the credential may not hand out the cause is a [*MissingKinds].
	Foresee(ctx context.Context, a Access, g Grant) error
}

// Tidier is a driver that keeps something on the VIM for all leases of one grant.
type Tidier interface {
	// Tidy removes what the driver keeps for g and its Epoch. No lease of that grant and
	// epoch is live, and none will be issued again. Idempotent.
	Tidy(ctx context.Context, a Access, g Grant) error
}

// Inspector is a driver that finds objects that are not ours beside those that are.
type Inspector interface {
	// Foreign lists what could be used to act as a lease of this VIM, or to outlive one,
	// and was made by somebody else, and what was made for VIMs that are not known: one
	// sentence each, at most 100.
	Foreign(ctx context.Context, a Access, known func(vim string) bool) ([]string, error)
}

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/policy"
)

// maxRevocationLag is the time for which the API server may honour a token whose account
// is gone: the life of its cache of good tokens.
const maxRevocationLag = 10 * time.Second

// Issue implements [broker.Driver]. g is what Prepare returned, with its scope and its
// epoch. Once the home of its grant is known, it makes two requests, and in parallel with the first
// it checks the binding in each of the lease's namespaces. A role or namespace that the cluster does
// not have is ErrInvalid with the field; an object of a needed name that is not the broker's is
// ErrConflict.
func (d *Driver) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	if !g.ClusterWide && len(g.Namespaces) == 0 {
		return broker.Minted{}, broker.Invalid("namespaces", "are none, and the lease is not for the whole cluster")
	}
	if g.Epoch < 1 {
		return broker.Minted{}, errors.New("kubernetes: a lease is issued without an epoch")
	}
	return over(ctx, d, a, func(ctx context.Context, c *connection) (broker.Minted, error) { return d.issueIn(ctx, c, a, g) })
}

// Renew implements [broker.Driver]: it mints one more token of the lease's account. A lease
// whose account was deleted is over: every token it had is dead, which someone wanted.
func (d *Driver) Renew(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	return over(ctx, d, a, func(ctx context.Context, c *connection) (broker.Minted, error) { return d.renewIn(ctx, c, a, g) })
}

// gone is the error of a lease that has nothing upstream any more.
func gone() error {
	return &broker.Error{
		Kind: broker.ErrNotFound, Detail: "the lease's objects are gone from the cluster", Remedy: "issue a new lease",
	}
}

// Revoke implements [broker.Driver]. It deletes the account with the lease's uid, whatever its
// labels say, and with it every token made for it. Another account of that name is
// ErrConflict. While a finalizer holds the account, Revoke is ErrConflict, and the caller
// retries. A grant without an epoch comes from an account that an inventory listed: Revoke
// finds it by its name alone.
func (d *Driver) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	return d.over(ctx, a, func(ctx context.Context, c *connection) error {
		if i.Grant.Epoch == 0 {
			return c.revokeListed(ctx, a, i.Handle)
		}
		return d.revokeIn(ctx, c, a, i)
	})
}

const (
	// minTTL is the shortest life that TokenRequest grants.
	minTTL = 600 * time.Second
	// maxTTL is the longest that the field expirationSeconds of a TokenRequest takes.
	maxTTL = (1 << 32) * time.Second
	// legacyTTL is the one wish that API servers may stretch to a year, for pods
	// of old (--service-account-extend-token-expiration).
	legacyTTL = 3607 * time.Second
	// defaultRole is the role of a lease whose request names none.
	defaultRole = "view"
	// maxNamespaces bounds how many namespaces a lease is limited to.
	maxNamespaces = 32
)

// Prepare implements [broker.Driver]. The role is the name of a ClusterRole, view
// if neither it nor rules are given: letters, digits, colon, dot, dash and underscore,
// at most 253. Grade and Issue find out whether the cluster has it. Namespaces and
// rules come back sorted, each once. [Driver.Grade] fills in the scope if there is
// none.
func (d *Driver) Prepare(g broker.Grant) (broker.Grant, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Grant{}, err
	}
	if err := checkRules(g.Rules); err != nil {
		return broker.Grant{}, err
	}
	if len(g.Rules) > 0 {
		g.Rules = canonical(g.Rules)
	} else if g.Role == "" {
		g.Role = defaultRole
	}
	if g.Role != "" && !rbac.IsRole(g.Role) {
		return broker.Grant{}, broker.Invalid("role", "must be the name of a ClusterRole, like view or edit")
	}
	g.Namespaces = slices.Clone(g.Namespaces)
	slices.Sort(g.Namespaces)
	g.Namespaces = slices.Compact(g.Namespaces)
	if g.ClusterWide && len(g.Namespaces) > 0 {
		return broker.Grant{}, broker.Invalid("clusterWide", "contradicts namespaces: a lease holds either in some or in all")
	}
	if err := checkNamespaces(g.Namespaces); err != nil {
		return broker.Grant{}, err
	}
	return g, nil
}

func checkNamespaces(namespaces []string) error {
	if len(namespaces) > maxNamespaces {
		return broker.Invalid("namespaces", "are more than %d", maxNamespaces)
	}
	for _, n := range namespaces {
		if !rbac.IsLabel(n) {
			return broker.Invalid("namespaces", "must be DNS labels of at most 63 characters")
		}
		if isOurs(n) {
			return &broker.Error{
				Kind: broker.ErrInvalid, Field: "namespaces",
				Detail: "hold " + n + ", whose name is kept for the broker's own service accounts: whoever may edit there can act as any of them",
				Remedy: "leave it out",
			}
		}
	}
	return nil
}

// isOurs reports whether a namespace has a name that is kept for the broker's own.
func isOurs(namespace string) bool {
	return namespace == ours || strings.HasPrefix(namespace, homePrefix)
}

const (
	// maxRules bounds the rules of a lease, maxRuleItems each list in one.
	maxRules     = 64
	maxRuleItems = 64
	maxRuleText  = 253
)

// checkRules refuses rules that a role cannot hold.
func checkRules(rules []broker.Rule) error {
	if len(rules) > maxRules {
		return broker.Invalid("rules", "are more than %d", maxRules)
	}
	for i, r := range rules {
		for _, l := range []struct {
			name     string
			items    []string
			optional bool
		}{
			{"apiGroups", r.APIGroups, false},
			{"resources", r.Resources, false},
			{"verbs", r.Verbs, false},
			{"resourceNames", r.ResourceNames, true},
		} {
			field := fmt.Sprintf("rules.%d.%s", i, l.name)
			if len(l.items) == 0 && !l.optional {
				return broker.Invalid(field, "is missing")
			}
			if len(l.items) > maxRuleItems {
				return broker.Invalid(field, "holds more than %d", maxRuleItems)
			}
			for _, item := range l.items {
				if len(item) > maxRuleText || strings.ContainsFunc(item, func(c rune) bool { return c <= ' ' || c > '~' }) {
					return broker.Invalid(field, "holds what is no plain word of at most %d characters", maxRuleText)
				}
				if item == "" && (l.name == "resources" || l.name == "verbs") {
					return broker.Invalid(field, "holds an empty word")
				}
			}
		}
		if err := checkVerbs(fmt.Sprintf("rules.%d.verbs", i), r); err != nil {
			return err
		}
	}
	return nil
}

// knownVerbs are all that Kubernetes authorizes by on kinds of its own groups, but for those with a colon, which it composes.
var knownVerbs = strings.Fields(`* get list watch create update patch delete deletecollection
	approve attest bind escalate impersonate proxy request-serviceaccounts-token-audience sign use`)

// checkVerbs refuses verbs that nothing knows: a lease with one would be issued, and could do nothing. The kinds of other groups
// may have verbs of their own.
func checkVerbs(field string, r broker.Rule) error {
	if slices.ContainsFunc(r.APIGroups, func(group string) bool { return harmless[group] == nil }) {
		return nil
	}
	for _, verb := range r.Verbs {
		if strings.Contains(verb, ":") || slices.Contains(knownVerbs, verb) {
			continue
		}
		return broker.Invalid(field, "holds %q, and Kubernetes has no such verb%s", verb, policy.Suggest(verb, knownVerbs))
	}
	return nil
}

func noSuchRole(name string) error {
	return broker.Invalid("role", "the cluster has no ClusterRole %s; ask for view, edit or one that it has", plain(name, maxUser))
}

func checkTTL(ttl time.Duration) error {
	if ttl < minTTL {
		return &broker.Error{
			Kind: broker.ErrInvalid, Field: "ttl", Detail: "is below 600 s, the shortest life of a token that Kubernetes grants",
			Remedy: "ask for 10m or more, and revoke the lease when it is not needed any more",
		}
	}
	if ttl > maxTTL {
		return broker.Invalid("ttl", "is longer than Kubernetes can be asked for")
	}
	return nil
}

// seconds is the lifetime that a TokenRequest asks for.
func seconds(ttl time.Duration) *int64 {
	s := int64(ttl / time.Second)
	if s == int64(legacyTTL/time.Second) {
		s--
	}
	return &s
}

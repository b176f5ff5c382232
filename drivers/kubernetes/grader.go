package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	// knownFor is the time for which facts read from a cluster count for the grade of leases.
	knownFor = 2 * time.Minute
	// maxFacts bounds how much of that is remembered.
	maxFacts = 8192
	// maxReasons bounds the reasons of one grade. The farthest come first.
	maxReasons = 40
)

// factKey is the key of a fact that was read from a cluster recently.
type factKey struct {
	vim        string
	generation int64
	kind, name string
}

// learn returns a fact from memory, or finds it out.
func learn[T any](d *Driver, a broker.Access, kind, name string, find func() (T, error)) (T, error) {
	k := factKey{a.VIM, a.Generation, kind, name}
	if known, ok := d.facts.Get(k); ok {
		return known.(T), nil
	}
	value, err := find()
	if err == nil {
		d.facts.Add(k, value, knownFor-1) // whose last moment the cache counts
	}
	return value, err
}

// forget drops a fact, so that it is read again.
func (d *Driver) forget(a broker.Access, kind, name string) {
	d.facts.Remove(factKey{a.VIM, a.Generation, kind, name})
}

// Grade implements [broker.Grader]. Without a scope, view holds on the whole cluster if it
// is bounded there and the VIM is not in prepared mode; everything else gets the VIM's own namespace.
func (d *Driver) Grade(ctx context.Context, a broker.Access, g broker.Grant) (broker.Graded, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) (broker.Graded, error) {
		rules, err := d.rulesOf(ctx, c, a, g)
		if fault, ok := errors.AsType[*broker.Error](err); g.Held && ok && fault.Field == "role" {
			err = nil // a missing object gives nothing
		}
		if err != nil {
			return broker.Graded{}, err
		}
		if !g.ClusterWide && len(g.Namespaces) == 0 {
			grade, _ := assess(rules, scope{clusterWide: true})
			if g.Role == defaultRole && grade == broker.GradeBounded && !isPrepared(a) {
				g.ClusterWide = true
			} else {
				g.Namespaces = []string{ownNamespace(a)}
			}
		}
		if err := checkNamespaces(g.Namespaces); err != nil {
			return broker.Graded{}, err
		}
		if !g.Held {
			if err := d.namespacesUsable(ctx, c, a, g.Namespaces); err != nil {
				return broker.Graded{}, err
			}
		}
		s := scope{clusterWide: g.ClusterWide, namespaces: g.Namespaces}
		planned, _ := assess(rules, s)
		if !g.Planned {
			if err := d.holdPods(ctx, c, a, rules, &s); err != nil {
				return broker.Graded{}, err
			}
		}
		if grade, _ := assess(rules, s); grade == broker.GradeNamespaces {
			// Only here does it matter whose identities the namespaces hold.
			if s.escalating, err = d.escalating(ctx, c, a, g.Planned); err != nil {
				return broker.Graded{}, err
			}
		}
		graded := broker.Graded{Grant: g}
		graded.Grade, graded.Reasons = assess(rules, s)
		graded.Reasons = graded.Reasons[:min(len(graded.Reasons), maxReasons)]
		if graded.Grade == broker.GradeUnbounded && planned != broker.GradeUnbounded && s.escalating == nil {
			graded.Remedy = remedyOf(a, s)
		}
		return graded, nil
	})
}

// ownNamespace is the VIM's own.
func ownNamespace(a broker.Access) string {
	if a.Target.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return a.Target.Namespace
}

// rulesOf are the grant's exact rules, or those of its role as the cluster has it.
func (d *Driver) rulesOf(ctx context.Context, c *connection, a broker.Access, g broker.Grant) ([]broker.Rule, error) {
	if len(g.Rules) > 0 {
		return g.Rules, nil
	}
	return learn(d, a, "clusterroles", g.Role, func() ([]broker.Rule, error) {
		role, err := c.rbac.ClusterRoles().Get(ctx, g.Role, metav1.GetOptions{})
		if notFound(err, "clusterroles", g.Role) {
			return nil, noSuchRole(g.Role)
		}
		if err != nil {
			return nil, fault(err, "get", "clusterrole "+g.Role)
		}
		return brokerRules(role.Rules), nil
	})
}

// namespacesUsable refuses namespaces that the cluster does not have.
func (d *Driver) namespacesUsable(ctx context.Context, c *connection, a broker.Access, namespaces []string) error {
	_, err := gather(ctx, namespaces, func(ctx context.Context, n string) (string, error) {
		return learn(d, a, "namespaces", n, func() (string, error) { return c.namespaceUsable(ctx, n) })
	})
	return err
}

// escalating returns what says of a namespace why its identities can become more than it holds. For a lease whose
// objects are those of a plan it leaves out what the pods of the identities are.
func (d *Driver) escalating(ctx context.Context, c *connection, a broker.Access, planned bool) (func(string) string, error) {
	own, err := learn(d, a, "own", "", func() (string, error) {
		who, err := c.whoAmI(ctx)
		if err != nil && !isForbidden(fault(err, "", "")) {
			return "", fault(err, "create", "selfsubjectreviews")
		}
		namespace, _, _ := strings.Cut(strings.TrimPrefix(who, accountPrefix), ":")
		if !strings.HasPrefix(who, accountPrefix) {
			namespace = ""
		}
		return namespace, nil
	})
	if err != nil {
		return nil, err
	}
	settled := func(n string) string {
		switch {
		case n == metav1.NamespaceSystem:
			return "the cluster's own controllers live"
		case isOurs(n):
			return "the accounts of leases live"
		case n == own:
			return "the account lives that the VIM is registered with"
		case slices.Contains(d.escalatingToo, n):
			return "identities can escalate, as the broker's configuration says"
		}
		return ""
	}
	within := func(n string) scope { return scope{namespaces: []string{n}} }
	if !planned {
		if within, err = d.everyScope(ctx, c, a); err != nil {
			return nil, err
		}
	}
	found, err := learn(d, a, "escalating", fmt.Sprint(planned, a.Target.Vouched), func() (map[string]string, error) {
		return c.escalatingNamespaces(ctx, settled, within)
	})
	if err != nil {
		return nil, err
	}
	return func(n string) string { return cmp.Or(settled(n), found[everywhere], found[n]) }, nil
}

const (
	// accountPrefix begins the user name of a service account.
	accountPrefix = "system:serviceaccount:"
	// everywhere stands for all namespaces.
	everywhere = "*"
)

// namespaceOf is where the accounts are that a subject means; empty for other subjects.
func namespaceOf(s rbacv1.Subject) string {
	switch {
	case s.Kind == rbacv1.ServiceAccountKind:
		return s.Namespace
	case s.Kind == rbacv1.UserKind && strings.HasPrefix(s.Name, accountPrefix):
		n, _, _ := strings.Cut(strings.TrimPrefix(s.Name, accountPrefix), ":")
		return n
	case s.Kind == rbacv1.GroupKind && strings.HasPrefix(s.Name, accountsOf):
		return strings.TrimPrefix(s.Name, accountsOf)
	case s.Kind == rbacv1.GroupKind && (s.Name == "system:serviceaccounts" || s.Name == "system:authenticated"):
		return everywhere
	}
	return ""
}

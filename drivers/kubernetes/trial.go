package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// Trial says which fresh leases are tried with acts that they must not be able to do.
type Trial string

// The trials. The empty one is TrialSampled.
const (
	// TrialSampled tries the first lease of a grant, and one of each sampleEvery after it. Grants of exact rules whose
	// namespace and bindings are made for the lease count as one grant here: that namespace could not be named before, so
	// any right that the cluster gives the first of them beyond its rules it gives all.
	TrialSampled Trial = "sampled"
	TrialAlways  Trial = "always"
	TrialNever   Trial = "never"
)

// Trials are all of them.
var Trials = []Trial{TrialSampled, TrialAlways, TrialNever}

const (
	sampleEvery = 64
	// maxTried bounds in how many of a lease's namespaces it is tried.
	maxTried = 2
	// maxShown bounds the number of excess rights that an error names.
	maxShown = 5
)

// due reports whether a lease is to be tried, which has so many before it.
func (t Trial) due(before int) bool {
	return t == TrialAlways || t != TrialNever && before%sampleEvery == 0
}

// try asks the cluster, as the holder of a fresh lease, for every escalation that the
// lease was not granted. If one is allowed, and not to everybody, the lease is revoked.
func (d *Driver) try(
	ctx context.Context, c *connection, a broker.Access, h home, fresh bool, account *corev1.ServiceAccount, m broker.Minted,
) error {
	alike := memoryKey{vim: a.VIM, generation: a.Generation}
	if !d.trial.due(d.homes.count(h.key(a))) || fresh && len(h.grant.Rules) > 0 && !d.trial.due(d.homes.count(alike)) {
		return nil
	}
	excess, err := d.excess(ctx, c, a, h, m)
	if len(excess) > 0 {
		// The role may have been widened since it was read.
		d.forget(a, "clusterroles", h.grant.Role)
		excess, err = d.excess(ctx, c, a, h, m)
	}
	if err != nil { // the lease's rights are not known: the next is tried
		d.homes.recount(h.key(a))
		d.homes.recount(alike)
		return err
	}
	if len(excess) == 0 {
		return nil
	}
	what := strings.Join(excess[:min(len(excess), maxShown)], ", ")
	d.log.ErrorContext(ctx, "a lease can do more than it was granted, and is revoked", "vim", h.vim,
		"lease", account.Labels[leaseLabel], "can", what)
	d.homes.drop(h.key(a))
	d.homes.drop(alike)
	return errors.Join(&broker.Error{
		Kind: broker.ErrConflict, Detail: "the cluster lets the lease do more than it was granted: " + what,
		Remedy: "see which bindings name the group " + accountsOf + account.Namespace + " or all service accounts",
		Cause:  broker.ErrBeyondGrant,
	}, remove(ctx, c.core.client, "serviceaccounts", account))
}

// excess lists the rights of the lease's token beyond its grant, and beyond the rights of
// everybody.
func (d *Driver) excess(ctx context.Context, c *connection, a broker.Access, h home, m broker.Minted) ([]string, error) {
	rules, err := d.rulesOf(ctx, c, a, h.grant)
	if err != nil {
		return nil, err
	}
	asked := map[right]bool{}
	as := a
	as.Credential = m.Credential
	ctxAs, end, holder, err := d.connect(ctx, as)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := holder.ask(ctxAs, asked, forbiddenTo(rules, h.grant)); err != nil {
		if said(err, http.StatusUnauthorized) {
			return nil, unreachable("the cluster does not know the lease's own token yet (401)", "try again")
		}
		return nil, fault(err, "create", "selfsubjectaccessreviews as the lease")
	}
	var excess []string
	for r, allowed := range asked {
		if !allowed {
			continue
		}
		everybody, err := c.everybodyMay(ctx, r)
		if err != nil {
			return nil, err
		}
		if !everybody {
			excess = append(excess, r.String())
		}
	}
	slices.Sort(excess)
	return excess, nil
}

// forbiddenTo are the escalations that a grant does not hold, each in the places where
// it would count.
func forbiddenTo(rules []broker.Rule, g broker.Grant) []right {
	places := append([]string{"", metav1.NamespaceSystem}, g.Namespaces[:min(len(g.Namespaces), maxTried)]...)
	var out []right
	for _, e := range escalations {
		verb := e.verbs[0]
		if verb == "*" {
			verb = "get"
		}
		resource, sub, _ := strings.Cut(e.resource, "/")
		for _, place := range places {
			if place != "" && e.scope == clusterOnly || e.only != "" && place != e.only {
				continue
			}
			granted := (g.ClusterWide || e.scope != clusterOnly && slices.Contains(g.Namespaces, place)) &&
				slices.ContainsFunc(rules, func(r broker.Rule) bool {
					return len(r.ResourceNames) == 0 && matches(r.APIGroups, e.group) && matchesResource(r.Resources, e.resource) && matches(r.Verbs, verb)
				})
			if !granted {
				out = append(out, right{verb: verb, group: e.group, resource: resource, subresource: sub, namespace: place})
			}
		}
	}
	return out
}

// everybodyMay reports whether the cluster allows something to every service account: to one
// that does not exist, and so is bound to nothing of its own.
func (c *connection) everybodyMay(ctx context.Context, r right) (bool, error) {
	may, err := c.review(ctx, "subjectaccessreviews", &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: accountPrefix + homePrefix + "nobody:nobody", Groups: []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: r.attributes(),
		},
	})
	if said(err, http.StatusForbidden) {
		return false, &broker.Error{
			Kind:   broker.ErrForbidden,
			Detail: fmt.Sprintf("the lease may %s, which it was not granted, and the credential may not ask whether everybody may (403)", r),
			Remedy: "grant it create on subjectaccessreviews",
		}
	}
	return may, fault(err, "create", "subjectaccessreviews")
}

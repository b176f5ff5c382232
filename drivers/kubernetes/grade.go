package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
)

// scope is the place in which a lease's rules are bound.
type scope struct {
	clusterWide bool
	namespaces  []string
	// escalating says of a namespace why its identities can become more than the
	// namespace holds ("" if they cannot, as far as is known).
	escalating func(namespace string) string
	// pods says of a namespace what keeps the pods that the holder makes there from their nodes, as a clause that begins
	// "which" or "where"; free: nothing does. nil: something does everywhere.
	pods func(namespace string) (clause string, free bool)
	// networks: the cluster serves networks of Multus, and nobody vouches for them.
	networks bool
}

// assess computes what the holder of rules bound in a scope can become: the grade,
// and for each way one sentence that begins "the holder can". The reasons of the
// narrower ways follow those of the wider, of either at most maxReasons. Rules that allow
// nothing are bounded.
func assess(rules []broker.Rule, s scope) (broker.Grade, []string) {
	var far, near []string
	add := func(to *[]string, reason string) {
		if len(*to) < maxReasons && !slices.Contains(*to, reason) {
			*to = append(*to, reason)
		}
	}
	for _, r := range rules {
		if slices.Contains(r.Verbs, "*") && slices.Contains(r.Resources, "*") && slices.Contains(r.APIGroups, "*") && len(r.ResourceNames) == 0 {
			add(&far, "the holder can do everything"+s.where())
			continue
		}
		for _, kind := range unknownTo(r) {
			add(&far, "the holder can use "+kind+s.where()+", a kind of Kubernetes' own that this version of the broker does not know")
		}
		for _, e := range escalations {
			if !e.allowedBy(r) || e.group == networkGroup && !s.networks {
				continue
			}
			switch {
			case s.clusterWide:
				add(&far, "the holder can "+e.why+e.named(r)+", anywhere in the cluster")
			case e.scope == clusterOnly:
			case e.only != "" && !slices.Contains(s.namespaces, e.only):
			case e.scope == anywhere:
				add(&far, "the holder can "+e.why+s.where())
			default:
				s.each(e, func(reason string, escalates bool) {
					if escalates {
						add(&far, reason)
					} else {
						add(&near, reason)
					}
				})
			}
		}
	}
	switch {
	case len(far) > 0:
		return broker.GradeUnbounded, append(far, near...)
	case len(near) > 0:
		return broker.GradeNamespaces, near
	}
	return broker.GradeBounded, nil
}

// each reports the effect of one escalation in each namespace of the scope.
func (s scope) each(e escalation, say func(reason string, escalates bool)) {
	for _, n := range s.namespaces {
		if s.escalating != nil {
			if why := s.escalating(n); why != "" {
				say(fmt.Sprintf("the holder can %s in namespace %s, where %s", e.why, n, why), true)
				continue
			}
		}
		if s.pods != nil && e.makesPods() {
			if clause, free := s.pods(n); clause != "" {
				say(fmt.Sprintf("the holder can %s in namespace %s, %s", e.why, n, clause), free)
				continue
			}
		}
		say(fmt.Sprintf("the holder can %s in namespace %s", e.why, n), false)
	}
}

func (s scope) where() string {
	switch {
	case s.clusterWide:
		return ", anywhere in the cluster"
	case len(s.namespaces) == 1:
		return " in namespace " + s.namespaces[0]
	}
	return " in namespaces " + strings.Join(s.namespaces, ", ")
}

// maxNamed bounds the names in a reason.
const maxNamed = 5

// named says by which objects, where a rule names them: their content decides how far it reaches, so that a name
// alone narrows no grade.
func (e escalation) named(r broker.Rule) string {
	if len(r.ResourceNames) == 0 {
		return ""
	}
	names := slices.Clone(r.ResourceNames[:min(len(r.ResourceNames), maxNamed)])
	if len(r.ResourceNames) > maxNamed {
		names = append(names, "and others")
	}
	return " by " + e.resource + " " + strings.Join(names, ", ")
}

// allowedBy reports whether a rule lets its holder do one of the escalation's
// verbs, as Kubernetes' RBAC authoriser matches them.
func (e escalation) allowedBy(r broker.Rule) bool {
	if !matches(r.APIGroups, e.group) || !matchesResource(r.Resources, e.resource) || e.unnamed && len(r.ResourceNames) > 0 {
		return false
	}
	for _, verb := range r.Verbs {
		if verb != "*" && !slices.Contains(e.verbs, verb) && !slices.Equal(e.verbs, every) {
			continue
		}
		if verb == "create" && len(r.ResourceNames) > 0 && !slices.Contains(r.ResourceNames, "") && !strings.Contains(e.resource, "/") {
			continue // a POST carries no name, so a rule for names never allows it
		}
		return true
	}
	return false
}

func matches(allowed []string, wanted string) bool {
	return slices.Contains(allowed, "*") || slices.Contains(allowed, wanted)
}

// matchesResource matches "*", "pods", "pods/exec" and "*/exec".
func matchesResource(allowed []string, wanted string) bool {
	if matches(allowed, wanted) {
		return true
	}
	_, sub, ok := strings.Cut(wanted, "/")
	return ok && slices.Contains(allowed, "*/"+sub)
}

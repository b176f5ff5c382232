package manifests

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	// maxNames bounds the names of one rule, maxRules the rules of one lease.
	maxNames = 64
	maxRules = 64
)

// rules gathers what one lease has to allow: no verb on no name that the stage has no
// use for.
type rules struct {
	// names of what verbs are allowed on; none means that RBAC cannot hold to names.
	names map[subject]map[string]bool
	// roles are rules that a package's own roles grant: the maker of a role has to hold them.
	roles []broker.Rule
}

// subject is the subject of a rule. The verbs are joined by commas.
type subject struct{ group, resource, verbs string }

// allow adds verbs on one object; without a name, on all of that resource.
func (r *rules) allow(group, resource, name string, verbs ...string) {
	if r.names == nil {
		r.names = map[subject]map[string]bool{}
	}
	s := subject{group, resource, strings.Join(verbs, ",")}
	if r.names[s] == nil {
		r.names[s] = map[string]bool{}
	}
	if name != "" {
		r.names[s][name] = true
	}
}

// apply allows to make an object, to change it and to see it.
func (r *rules) apply(o lifecycle.Resource) {
	r.allow(o.Group, o.Plural, o.Name, "get", "create", "patch")
}

// pods allows to see the pods of the namespace, which have names of the cluster's choice, and what a workload's
// controller tells of them.
func (r *rules) pods(of lifecycle.Resource) {
	r.allow("", "pods", "", "list")
	if tellsByEvents(of) {
		r.allow("", "events", "", "list")
	}
}

// claims allows to see the claims that a StatefulSet makes, and what they wait for.
func (r *rules) claims(of lifecycle.Resource) {
	if of.Group == apps && of.Kind == statefulSet {
		r.allow("", claimPlural, "", "list")
		r.allow("", "events", "", "list")
	}
}

func (r *rules) size() int {
	n := len(r.roles)
	for _, names := range r.names {
		n += max(1, (len(names)+maxNames-1)/maxNames)
	}
	return n
}

// done returns the rules, in an order that is always the same.
func (r *rules) done() []broker.Rule {
	subjects := slices.SortedFunc(maps.Keys(r.names), func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.verbs, b.verbs))
	})
	var all []broker.Rule
	for _, s := range subjects {
		one := broker.Rule{APIGroups: []string{s.group}, Resources: []string{s.resource}, Verbs: strings.Split(s.verbs, ",")}
		names := slices.Sorted(maps.Keys(r.names[s]))
		if len(names) == 0 {
			all = append(all, one)
		}
		for part := range slices.Chunk(names, maxNames) {
			one.ResourceNames = part
			all = append(all, one)
		}
	}
	return append(all, r.roles...)
}

// roleRules adds the further rights that the maker of a role or binding has to hold (Kubernetes
// documentation, "Using RBAC Authorization", section "Privilege escalation prevention and
// bootstrapping"): the rules of the role itself, and bind on roles that the package does not bring.
func (r *rules) roleRules(o *object, brought func(kind, namespace, name string) *object) error {
	if o.Group != rbacGroup {
		return nil
	}
	switch o.Kind {
	case "Role", "ClusterRole":
		return r.hold(o, "escalate")
	case "RoleBinding", "ClusterRoleBinding":
		ref := mapAt(o.content, "roleRef")
		kind, name, namespace := text(ref, "kind"), text(ref, "name"), ""
		if kind == "Role" {
			namespace = o.Namespace
		}
		if role := brought(kind, namespace, name); role != nil {
			return r.hold(role, "bind")
		}
		plural := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[kind]
		if plural == "" || name == "" {
			return o.fault(child(o.root, "roleRef"), "%s needs a roleRef with the kind and the name of a role", o.titleIn())
		}
		r.allow(rbacGroup, plural, name, "bind")
	}
	return nil
}

// hold adds the rules of a role. One that says more than a lease's rules can is allowed by a verb on its name: escalate
// for who makes the role, bind for who binds it.
func (r *rules) hold(role *object, verb string) error {
	if role.content["aggregationRule"] != nil {
		r.allow(rbacGroup, role.Plural, role.Name, verb)
		return nil
	}
	for _, rule := range mappings(role.content["rules"]) {
		if rule["nonResourceURLs"] != nil {
			r.allow(rbacGroup, role.Plural, role.Name, verb)
			continue
		}
		one := broker.Rule{
			APIGroups: texts(rule["apiGroups"]), Resources: texts(rule["resources"]),
			ResourceNames: texts(rule["resourceNames"]), Verbs: texts(rule["verbs"]),
		}
		if len(one.APIGroups) == 0 || len(one.Resources) == 0 || len(one.Verbs) == 0 {
			return role.fault(child(role.root, "rules"), "%s has a rule without apiGroups, resources or verbs", role.titleIn())
		}
		if !slices.ContainsFunc(r.roles, func(known broker.Rule) bool { return sameRule(known, one) }) {
			r.roles = append(r.roles, one)
		}
	}
	return nil
}

func sameRule(a, b broker.Rule) bool {
	return slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) &&
		slices.Equal(a.ResourceNames, b.ResourceNames) && slices.Equal(a.Verbs, b.Verbs)
}

func texts(v any) []string {
	items, _ := v.([]any)
	var all []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

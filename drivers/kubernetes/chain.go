package kubernetes

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
)

// roleKey names a Role, or, without a namespace, a ClusterRole.
type roleKey struct{ namespace, name string }

// step: a caller that can become an identity of namespace from can become one of namespace to.
type step struct {
	from, to string
	// by is the binding that allows it.
	by string
}

// escalatingNamespaces finds the namespaces whose service accounts can escalate, and says
// why: those with an account that is bound to a role which can do anything on the whole
// cluster, and those from which bindings lead, from one namespace to the next, to such a
// namespace or to one that settled has a reason for. If the credential may not list roles
// or bindings, those count as none.
func (c *connection) escalatingNamespaces(
	ctx context.Context, settled func(string) string, within func(string) scope,
) (map[string]string, error) {
	roles, err := c.roles(ctx)
	if err != nil {
		return nil, err
	}
	everywhereBound, err := c.bindings(ctx, "ClusterRoleBinding", "", "")
	if unlessForbidden(err) != nil {
		return nil, err
	}
	bound, err := c.bindings(ctx, "RoleBinding", "", "")
	if unlessForbidden(err) != nil {
		return nil, err
	}
	found, err := escalating(ctx, roles, everywhereBound, bound, settled, within)
	return found, fault(err, "list", "rolebindings")
}

// escalating works out [connection.escalatingNamespaces] from the cluster's roles and bindings; within is what a role
// that is bound in a namespace is worth there. The only
// error is that of a context that ends: the search may be long.
func escalating(
	ctx context.Context, roles map[roleKey][]broker.Rule, everywhereBound, bound []*binding, settled func(string) string,
	within func(string) scope,
) (map[string]string, error) {
	found := map[string]string{}
	for _, b := range everywhereBound {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if grade, _ := assess(roles[roleKey{name: b.role.Name}], scope{clusterWide: true}); grade == broker.GradeUnbounded {
			b.allow(found, "lets a service account escalate")
		}
	}
	var steps []step
	for _, b := range bound {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k := roleKey{name: b.role.Name}
		if b.role.Kind == "Role" {
			k.namespace = b.meta.Namespace
		}
		switch grade, _ := assess(roles[k], within(b.meta.Namespace)); grade {
		case broker.GradeUnbounded:
			b.allow(found, "lets a service account escalate")
		case broker.GradeNamespaces:
			for _, s := range b.subjects {
				if n := namespaceOf(s); n != "" {
					steps = append(steps, step{n, b.meta.Namespace, b.kind() + " " + printable(b.path())})
				}
			}
		}
	}
	into := map[string][]step{} // by where they lead
	var reached []string        // what steps lead back from
	for _, s := range steps {
		if into[s.to] == nil && (settled(s.to) != "" || found[s.to] != "") {
			reached = append(reached, s.to)
		}
		into[s.to] = append(into[s.to], s)
	}
	into[everywhere] = steps
	if found[everywhere] != "" {
		reached = append(reached, everywhere)
	}
	for ; len(reached) > 0; reached = reached[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, s := range into[reached[0]] {
			if found[s.from] == "" {
				found[s.from] = s.by + " leads to namespace " + s.to + ", whose identities can escalate"
				reached = append(reached, s.from)
			}
		}
	}
	return found, nil
}

// allow notes, for each namespace whose accounts the binding names, the rights that the binding
// gives them.
func (b binding) allow(found map[string]string, what string) {
	for _, s := range b.subjects {
		if n := namespaceOf(s); n != "" {
			found[n] = b.kind() + " " + printable(b.path()) + " " + what
		}
	}
}

// roles are the rules of all roles that the credential may list.
func (c *connection) roles(ctx context.Context) (map[roleKey][]broker.Rule, error) {
	found := map[roleKey][]broker.Rule{}
	for _, kind := range []string{"ClusterRole", "Role"} {
		err := list(ctx, c.rbac.client, kind, "", "", func(i *item) {
			found[roleKey{i.Metadata.Namespace, i.Metadata.Name}] = brokerRules(i.Rules)
		})
		if unlessForbidden(err) != nil {
			return nil, err
		}
	}
	return found, nil
}

package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/policy"
)

var (
	_ broker.RuleChecker = (*Driver)(nil)
	_ broker.Foreseer    = (*Driver)(nil)
)

// CheckRules implements [broker.RuleChecker]. The cluster is asked for kinds that are not Kubernetes' own; where it does
// not say, nothing is refused.
func (d *Driver) CheckRules(ctx context.Context, a broker.Access, rules []broker.Rule) error {
	asked := map[string][]string{}
	for _, r := range rules {
		eachOther(r, func(group, resource string) { asked[group] = append(asked[group], resource) })
	}
	if len(asked) == 0 {
		return nil
	}
	return d.over(ctx, a, func(ctx context.Context, c *connection) error {
		var says string
		var missing []string
		for _, group := range slices.Sorted(maps.Keys(asked)) {
			names, err := d.servedIn(ctx, c, a, group, asked[group])
			if err != nil {
				return err
			}
			for _, resource := range asked[group] {
				if names == nil || slices.Contains(names, resource) {
					continue
				}
				if missing = append(missing, resource+"."+group); says == "" {
					says = unserved(group, resource, names)
				}
			}
		}
		if len(missing) == 0 {
			return nil
		}
		return &broker.Error{Kind: broker.ErrInvalid, Field: "rules", Detail: says, Cause: &broker.MissingKinds{Resources: missing}}
	})
}

// eachOther calls f with each resource of a rule that is none of Kubernetes' own.
func eachOther(r broker.Rule, f func(group, resource string)) {
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			if group != "*" && !strings.ContainsAny(resource, "*/") && !isKnown(group, resource) {
				f(group, resource)
			}
		}
	}
}

// servedIn is what the cluster serves in a group, as it was remembered if that has all that is asked for.
func (d *Driver) servedIn(ctx context.Context, c *connection, a broker.Access, group string, asked []string) ([]string, error) {
	ask := func() ([]string, error) { return c.served(ctx, group) }
	names, err := learn(d, a, "served", group, ask)
	if err == nil && names != nil && slices.ContainsFunc(asked, func(r string) bool { return !slices.Contains(names, r) }) {
		d.forget(a, "served", group)
		names, err = learn(d, a, "served", group, ask)
	}
	return names, err
}

// unserved says that a group does not have a resource, and which one is meant.
func unserved(group, resource string, names []string) string {
	where := "group " + group
	if group == "" {
		where = "the core group"
	}
	hint := ""
	if near := policy.Nearest(resource, names); near != "" {
		hint = "; did you mean " + printable(near) + "?"
	}
	return fmt.Sprintf("the cluster serves no resource %s in %s%s", resource, where, hint)
}

// Foresee implements [broker.Foreseer]: the cluster is asked whether the credential may hand out rights on whole kinds that
// are not Kubernetes' own.
func (d *Driver) Foresee(ctx context.Context, a broker.Access, g broker.Grant) error {
	places, roles := g.Namespaces, "roles"
	if g.ClusterWide {
		places, roles = []string{""}, "clusterroles"
	}
	var rights []right
	for _, r := range g.Rules {
		eachOther(r, func(group, resource string) {
			for _, place := range places {
				if len(r.ResourceNames) == 0 {
					rights = append(rights, verbs(group, resource, place, r.Verbs...)...)
				}
			}
		})
	}
	if len(rights) == 0 {
		return nil
	}
	return d.over(ctx, a, func(ctx context.Context, c *connection) error {
		may := map[right]bool{}
		if err := c.ask(ctx, may, rights); err != nil {
			return unlessForbidden(fault(err, "create", "selfsubjectaccessreviews"))
		}
		var missing []string
		for _, r := range rights {
			escalate := right{verb: "escalate", group: rbacGroup, resource: roles, namespace: r.namespace}
			if may[r] || slices.Contains(missing, r.resource+"."+r.group) {
				continue
			}
			if err := c.ask(ctx, may, []right{escalate}); err != nil {
				return fault(err, "create", "selfsubjectaccessreviews")
			}
			if !may[escalate] {
				missing = append(missing, r.resource+"."+r.group)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		return &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the credential may not hand out these rights on " + strings.Join(missing, ", "),
			Remedy: "grant it these rights, or the verb escalate", Cause: &broker.MissingKinds{Resources: missing},
		}
	})
}

// served are the resources that the cluster serves in a group, in each version: empty for a group that it does not have,
// nil where it does not say.
func (c *connection) served(ctx context.Context, group string) ([]string, error) {
	versions := []string{"/api/v1"}
	if group != "" {
		var of struct {
			Versions []struct {
				GroupVersion string `json:"groupVersion"`
			} `json:"versions"`
		}
		if strings.Contains(group, "..") || !rbac.IsLabel(strings.ReplaceAll(group, ".", "-")) {
			return []string{}, nil
		}
		switch err := read(ctx, c.core.client.Get().AbsPath("/apis/"+group), &of); {
		case said(err, http.StatusNotFound):
			return []string{}, nil
		case said(err, http.StatusForbidden):
			return nil, nil
		case err != nil:
			return nil, fault(err, "get", "/apis/"+group)
		}
		versions = versions[:0]
		for _, v := range of.Versions {
			if name, ok := strings.CutPrefix(v.GroupVersion, group+"/"); ok && rbac.IsLabel(name) {
				versions = append(versions, fmt.Sprintf("/apis/%s/%s", group, name))
			}
		}
	}
	names := []string{}
	for _, path := range versions {
		var list struct {
			Resources []struct {
				Name string `json:"name"`
			} `json:"resources"`
		}
		switch err := read(ctx, c.core.client.Get().AbsPath(path), &list); {
		case said(err, http.StatusForbidden), said(err, http.StatusNotFound):
			return nil, nil
		case err != nil:
			return nil, fault(err, "get", path)
		}
		for _, r := range list.Resources {
			names = append(names, r.Name)
		}
	}
	return names, nil
}

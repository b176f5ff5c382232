package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/policy"
)

var _ broker.RuleChecker = (*Driver)(nil)

// CheckRules implements [broker.RuleChecker]. The cluster is asked for kinds that are not Kubernetes' own; where it does
// not say, nothing is refused.
func (d *Driver) CheckRules(ctx context.Context, a broker.Access, rules []broker.Rule) error {
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if group == "*" || strings.ContainsAny(resource, "*/") || isKnown(group, resource) {
					continue
				}
				if err := d.checkServed(ctx, a, group, resource); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkServed refuses a resource that the cluster does not serve in a group.
func (d *Driver) checkServed(ctx context.Context, a broker.Access, group, resource string) error {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	defer end()
	names, err := learn(d.facts, a, "served", group, func() ([]string, error) { return c.served(ctx, group) })
	if err != nil || names == nil {
		return err
	}
	if slices.Contains(names, resource) {
		return nil
	}
	where := "group " + group
	if group == "" {
		where = "the core group"
	}
	hint := ""
	if near := policy.Nearest(resource, names); near != "" {
		hint = "; did you mean " + printable(near) + "?"
	}
	return broker.Invalid("rules", "the cluster serves no resource %s in %s%s", resource, where, hint)
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

package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// needed are the rights without which no lease can be minted, in the order in which
// minting meets them.
var needed = []right{
	{verb: "get", group: rbacGroup, resource: "clusterroles"},
	{verb: "create", resource: "serviceaccounts", namespace: ours},
	{verb: "get", resource: "serviceaccounts", namespace: ours},
	{verb: "create", resource: "secrets", namespace: ours},
	{verb: "get", resource: "secrets", namespace: ours},
	{verb: "create", resource: "serviceaccounts", subresource: "token", namespace: ours},
	{verb: "delete", resource: "secrets", namespace: ours},
	{verb: "list", resource: "secrets", namespace: ours},
}

// mintable finds out whether leases can be minted, without touching anything.
// It answers with what is missing and the remedy, or with nothing.
func (c *connection) mintable(ctx context.Context, namespace string) (missing string, _ error) {
	missing, err := c.namespaceMissing(ctx)
	if missing == "" && err == nil {
		missing, err = c.rightMissing(ctx, namespace)
	}
	if said(err, http.StatusForbidden) || said(err, http.StatusNotFound) {
		return "the cluster does not say what the credential may do; grant it create on selfsubjectaccessreviews", nil
	}
	return missing, fault(err, "create", "selfsubjectaccessreviews")
}

// rightMissing says which right the credential lacks. The error is client-go's own.
func (c *connection) rightMissing(ctx context.Context, namespace string) (string, error) {
	anywhere := []right{
		{verb: "create", group: rbacGroup, resource: "clusterrolebindings"},
		{verb: "create", group: rbacGroup, resource: "rolebindings"},
		{verb: "create", group: rbacGroup, resource: "rolebindings", namespace: namespace},
	}
	var bind []right
	for _, role := range bindable {
		bind = append(bind, right{verb: "bind", group: rbacGroup, resource: "clusterroles", name: role})
	}
	asked := map[right]bool{}
	for _, r := range slices.Concat(needed, anywhere, bind) {
		asked[r] = false
	}
	if err := c.ask(ctx, asked); err != nil {
		return "", err
	}
	has := func(r right) bool { return asked[r] }
	for _, r := range needed {
		if !has(r) {
			return lacks(r), nil
		}
	}
	for _, oneOf := range [][]right{anywhere, bind} {
		if !slices.ContainsFunc(oneOf, has) {
			return lacks(oneOf[0]), nil
		}
	}
	return "", nil
}

// namespaceMissing says what keeps our namespace from being there, or from being
// made. Errors of the review are client-go's own.
func (c *connection) namespaceMissing(ctx context.Context) (string, error) {
	n, err := c.namespace(ctx, ours)
	switch {
	case err == nil && n.Status.Phase == corev1.NamespaceTerminating:
		return "namespace " + ours + " is being deleted; wait until it is gone", nil
	case err == nil:
		return "", nil
	case said(err, http.StatusForbidden):
		return lacks(right{verb: "get", resource: "namespaces", name: ours}), nil
	case !notFound(err, "namespaces", ours):
		return "", fault(err, "get", "namespace "+ours)
	}
	ok, err := c.allowed(ctx, right{verb: "create", resource: "namespaces"})
	if err != nil || ok {
		return "", err
	}
	return "the credential may not create namespaces, and namespace " + ours + " does not exist; grant it that right, or create the namespace", nil
}

func lacks(r right) string {
	return fmt.Sprintf("the credential may not %s; grant it that right", r)
}

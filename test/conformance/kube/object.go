package kube

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/test/real"
)

func (c *cluster) kept(t *testing.T, vim string) []string {
	t.Helper()
	return c.list(t, selects(vim), false)
}

func (c *cluster) removeKept(t *testing.T, vim string) {
	t.Helper()
	all := metav1.DeleteOptions{}
	cluster, err := c.rbac.ClusterRoleBindings().List(t.Context(), selects(vim))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range cluster.Items {
		if err := c.rbac.ClusterRoleBindings().Delete(t.Context(), o.Name, all); err != nil {
			t.Fatal(err)
		}
	}
	bindings, err := c.rbac.RoleBindings("").List(t.Context(), selects(vim))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range bindings.Items {
		if err := c.rbac.RoleBindings(o.Namespace).Delete(t.Context(), o.Name, all); err != nil {
			t.Fatal(err)
		}
	}
	homes, err := c.core.Namespaces().List(t.Context(), selects(vim))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range homes.Items {
		if err := c.core.Namespaces().Delete(t.Context(), o.Name, all); err != nil {
			t.Fatal(err)
		}
	}
	c.gone(t, vim)
}

// gone waits until the cluster has emptied the namespaces of a VIM that were deleted.
func (c *cluster) gone(t *testing.T, vim string) {
	t.Helper()
	done := func() bool {
		homes, err := c.core.Namespaces().List(t.Context(), selects(vim))
		if err != nil {
			t.Fatal(err)
		}
		return len(homes.Items) == 0
	}
	if !real.Poll(t, 2*time.Minute, done) {
		t.Fatal("the cluster does not empty a namespace that was deleted")
	}
}

func (c *cluster) everything(t *testing.T) []string {
	t.Helper()
	return c.list(t, metav1.ListOptions{}, true)
}

// list names the objects that match, as KIND/NAMESPACE/NAME: accounts of leases,
// Secrets and roles only if all are wanted, and nothing that is on its way out.
func (c *cluster) list(t *testing.T, opts metav1.ListOptions, all bool) []string {
	t.Helper()
	ctx := sweeping(t)
	var names []string
	add := func(kind string, o metav1.Object) { names = append(names, kind+"/"+o.GetNamespace()+"/"+o.GetName()) }
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts, err := c.core.ServiceAccounts("").List(ctx, opts)
	fail(err)
	for _, o := range accounts.Items {
		if o.Name != "default" && (all || o.Labels[leaseLabel] == "") { // a controller makes the first, in its own time
			add("serviceaccount", &o)
		}
	}
	cluster, err := c.rbac.ClusterRoleBindings().List(ctx, opts)
	fail(err)
	for _, o := range cluster.Items {
		add("clusterrolebinding", &o)
	}
	bindings, err := c.rbac.RoleBindings("").List(ctx, opts)
	fail(err)
	for _, o := range bindings.Items {
		add("rolebinding", &o)
	}
	namespaces, err := c.core.Namespaces().List(ctx, opts)
	fail(err)
	for _, o := range namespaces.Items {
		if o.DeletionTimestamp == nil {
			add("namespace", &o)
		}
	}
	if all {
		secrets, err := c.core.Secrets("").List(ctx, opts)
		fail(err)
		for _, o := range secrets.Items {
			add("secret", &o)
		}
		roles, err := c.rbac.ClusterRoles().List(ctx, opts)
		fail(err)
		for _, o := range roles.Items {
			add("clusterrole", &o)
		}
	}
	slices.Sort(names)
	return names
}

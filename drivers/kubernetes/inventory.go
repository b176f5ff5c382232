package kubernetes

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// Inventory implements [broker.Driver]: the Secrets of this VIM's leases, those
// that a finalizer still holds included.
func (d *Driver) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer end()
	var found []broker.Upstream
	err = list(ctx, c.core.client, ours, "secrets", labelled(a), func(page *corev1.SecretList) {
		for _, s := range page.Items {
			found = append(found, broker.Upstream{Handle: s.Name, Lease: s.Labels[leaseLabel], CreatedAt: s.CreationTimestamp.UTC()})
		}
	})
	if err != nil {
		return nil, fault(err, "list", "secrets in namespace "+ours)
	}
	return found, nil
}

// Forget implements [broker.Driver]: it removes this VIM's bindings, then its
// service accounts, and with these any token they ever had. The namespace stays.
// Bindings are found by their label, and, where the credential may not list
// those of all namespaces, by what the service accounts say of themselves.
func (d *Driver) Forget(ctx context.Context, a broker.Access) error {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	defer end()
	d.accounts.distrustVIM(a.VIM)
	var serviceAccounts []corev1.ServiceAccount
	err = list(ctx, c.core.client, ours, "serviceaccounts", labelled(a), func(page *corev1.ServiceAccountList) {
		serviceAccounts = append(serviceAccounts, page.Items...)
	})
	if err != nil {
		return fault(err, "list", "serviceaccounts in namespace "+ours)
	}
	if err := c.unbindCluster(ctx, a, serviceAccounts); err != nil {
		return err
	}
	if err := c.unbindNamespaces(ctx, a, serviceAccounts); err != nil {
		return err
	}
	for i := range serviceAccounts {
		if err := remove(ctx, c.core.client, "serviceaccounts", &serviceAccounts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *connection) unbindCluster(ctx context.Context, a broker.Access, serviceAccounts []corev1.ServiceAccount) error {
	var bindings []rbacv1.ClusterRoleBinding
	err := list(ctx, c.rbac.client, "", "clusterrolebindings", labelled(a), func(page *rbacv1.ClusterRoleBindingList) {
		bindings = append(bindings, page.Items...)
	})
	if err = fault(err, "list", "clusterrolebindings"); errors.Is(err, broker.ErrForbidden) && !slices.ContainsFunc(serviceAccounts, clusterWide) {
		return nil // a credential that is limited to namespaces, as all that it made is
	}
	if err != nil {
		return err
	}
	for i := range bindings {
		if err := remove(ctx, c.rbac.client, "clusterrolebindings", &bindings[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *connection) unbindNamespaces(ctx context.Context, a broker.Access, serviceAccounts []corev1.ServiceAccount) error {
	var bindings []rbacv1.RoleBinding
	err := list(ctx, c.rbac.client, "", "rolebindings", labelled(a), func(page *rbacv1.RoleBindingList) {
		bindings = append(bindings, page.Items...)
	})
	if err = fault(err, "list", "rolebindings in all namespaces"); errors.Is(err, broker.ErrForbidden) {
		bindings, err = c.bindingsOf(ctx, a, serviceAccounts)
	}
	if err != nil {
		return err
	}
	for i := range bindings {
		if err := remove(ctx, c.rbac.client, "rolebindings", &bindings[i]); err != nil {
			return err
		}
	}
	return nil
}

func clusterWide(sa corev1.ServiceAccount) bool { return len(namespacesOf(&sa)) == 0 }

// bindingsOf looks for the bindings of each service account in the namespaces it names.
func (c *connection) bindingsOf(ctx context.Context, a broker.Access, serviceAccounts []corev1.ServiceAccount) ([]rbacv1.RoleBinding, error) {
	var bindings []rbacv1.RoleBinding
	for i := range serviceAccounts {
		sa := &serviceAccounts[i]
		for _, namespace := range namespacesOf(sa) {
			b, err := c.rbac.RoleBindings(namespace).Get(ctx, sa.Name, metav1.GetOptions{})
			switch {
			case notFound(err, "rolebindings", sa.Name):
			case err != nil:
				return nil, fault(err, "get", "rolebindings in namespace "+namespace)
			case b.Labels[vimLabel] == a.VIM:
				bindings = append(bindings, *b)
			}
		}
	}
	return bindings, nil
}

// labelled selects what carries this VIM's label.
func labelled(a broker.Access) string { return vimLabel + "=" + a.VIM }

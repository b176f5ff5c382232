package kubernetes

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// binding is a RoleBinding, or, without a namespace, a ClusterRoleBinding.
type binding struct {
	meta     metav1.ObjectMeta
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
	// object is the cluster's answer; nil for a binding that has yet to be made.
	object metav1.Object
}

func clusterBinding(b *rbacv1.ClusterRoleBinding) *binding {
	return &binding{meta: b.ObjectMeta, role: b.RoleRef, subjects: b.Subjects, object: b}
}

func namespaceBinding(b *rbacv1.RoleBinding) *binding {
	return &binding{meta: b.ObjectMeta, role: b.RoleRef, subjects: b.Subjects, object: b}
}

func listedBinding(i *item) *binding {
	b := &binding{meta: i.meta(), role: i.RoleRef, subjects: i.Subjects}
	b.object = &b.meta
	return b
}

func (b binding) kind() string {
	if b.meta.Namespace == "" {
		return "clusterrolebinding"
	}
	return "rolebinding"
}

// path is NAMESPACE/NAME, or NAME.
func (b binding) path() string { return strings.TrimPrefix(b.meta.Namespace+"/"+b.meta.Name, "/") }

// makeBinding makes a binding, and returns the one that has its name already, if any.
func (c *connection) makeBinding(ctx context.Context, b binding) (there *binding, err error) {
	what := b.kind() + "s to " + strings.ToLower(b.role.Kind) + " " + b.role.Name
	if b.meta.Namespace == "" {
		_, err = c.rbac.ClusterRoleBindings().Create(ctx,
			&rbacv1.ClusterRoleBinding{ObjectMeta: b.meta, RoleRef: b.role, Subjects: b.subjects}, metav1.CreateOptions{})
	} else {
		what += " in namespace " + b.meta.Namespace
		_, err = c.rbac.RoleBindings(b.meta.Namespace).Create(ctx,
			&rbacv1.RoleBinding{ObjectMeta: b.meta, RoleRef: b.role, Subjects: b.subjects}, metav1.CreateOptions{})
	}
	if !alreadyExists(err) {
		return nil, fault(err, "create", what)
	}
	there, err = c.binding(ctx, b.meta.Namespace, b.meta.Name)
	if err == nil && there == nil {
		return nil, beingDeleted(b.kind(), b.path())
	}
	return there, err
}

// binding reads a binding; nil if the cluster has none of that name.
func (c *connection) binding(ctx context.Context, namespace, name string) (*binding, error) {
	if namespace == "" {
		b, err := c.rbac.ClusterRoleBindings().Get(ctx, name, metav1.GetOptions{})
		switch {
		case notFound(err, "clusterrolebindings", name):
			return nil, nil
		case err != nil:
			return nil, fault(err, "get", "clusterrolebindings")
		}
		return clusterBinding(b), nil
	}
	b, err := c.rbac.RoleBindings(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case notFound(err, "rolebindings", name):
		return nil, nil
	case err != nil:
		return nil, fault(err, "get", "rolebindings in namespace "+namespace)
	}
	return namespaceBinding(b), nil
}

// bindings lists those that match the selector in a namespace, or, without one, those of
// the whole cluster. Errors are client-go's own.
func (c *connection) bindings(ctx context.Context, namespace, selector string) ([]*binding, error) {
	var found []*binding
	var err error
	if namespace == "" {
		err = list(ctx, c.rbac.client, "ClusterRoleBinding", "", "clusterrolebindings", selector, func(i *item) {
			found = append(found, listedBinding(i))
		})
		return found, err
	}
	return c.roleBindings(ctx, namespace, selector)
}

// roleBindings lists RoleBindings, without a namespace those of all.
func (c *connection) roleBindings(ctx context.Context, namespace, selector string) ([]*binding, error) {
	var found []*binding
	err := list(ctx, c.rbac.client, "RoleBinding", namespace, "rolebindings", selector, func(i *item) {
		found = append(found, listedBinding(i))
	})
	return found, err
}

// unbind deletes a binding.
func (c *connection) unbind(ctx context.Context, b *binding) error {
	return remove(ctx, c.rbac.client, b.kind()+"s", b.object)
}

// names reports whether the binding gives its role to exactly the one subject.
func (b binding) names(s rbacv1.Subject) bool { return slices.Equal(b.subjects, []rbacv1.Subject{s}) }

package kubernetes

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (a account) roleRef() rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: a.role}
}

func (a account) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ours, Name: a.name()}}
}

// bindCluster gives the account its role on the whole cluster.
func (c *connection) bindCluster(ctx context.Context, a account) error {
	const what = "clusterrolebinding"
	wanted := &rbacv1.ClusterRoleBinding{ObjectMeta: a.meta(""), RoleRef: a.roleRef(), Subjects: a.subjects()}
	_, err := c.rbac.ClusterRoleBindings().Create(ctx, wanted, metav1.CreateOptions{})
	if !alreadyExists(err) {
		return fault(err, "create", "clusterrolebindings to clusterrole "+a.role)
	}
	there, err := c.rbac.ClusterRoleBindings().Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return fault(err, "get", "clusterrolebindings")
	}
	return a.owns(what, there, there.RoleRef, there.Subjects)
}

// bindNamespace gives the account its role in one namespace.
func (c *connection) bindNamespace(ctx context.Context, a account, namespace string) error {
	const what = "rolebinding"
	wanted := &rbacv1.RoleBinding{ObjectMeta: a.meta(namespace), RoleRef: a.roleRef(), Subjects: a.subjects()}
	_, err := c.rbac.RoleBindings(namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if !alreadyExists(err) {
		return fault(err, "create", "rolebindings to clusterrole "+a.role+" in namespace "+namespace)
	}
	there, err := c.rbac.RoleBindings(namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return fault(err, "get", "rolebindings in namespace "+namespace)
	}
	return a.owns(what, there, there.RoleRef, there.Subjects)
}

// owns returns nil if a binding that was already there is this account's, and gives it
// neither more nor less than it should.
func (a account) owns(what string, o metav1.Object, role rbacv1.RoleRef, subjects []rbacv1.Subject) error {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	switch {
	case o.GetLabels()[vimLabel] != a.vim, role != a.roleRef(), !slices.Equal(subjects, a.subjects()):
		return foreign(what, name)
	case o.GetDeletionTimestamp() != nil:
		return beingDeleted(what, name)
	}
	return nil
}

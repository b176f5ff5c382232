package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// account is a service account and its bindings: what all leases of one VIM with the same
// role and namespaces share.
type account struct {
	vim        string
	role       string
	namespaces []string // sorted, each once
}

func accountOf(a broker.Access, g broker.Grant) account {
	return account{vim: a.VIM, role: g.Role, namespaces: g.Namespaces}
}

// name is that of the service account and of each of its bindings. No part can hold a
// newline, so different accounts never hash the same text.
func (a account) name() string {
	sum := sha256.Sum256([]byte(a.vim + "\n" + a.role + "\n" + strings.Join(a.namespaces, "\n")))
	return "vim-" + hex.EncodeToString(sum[:16])
}

// meta is the metadata of the account's objects. namespace is empty for cluster-wide ones.
func (a account) meta(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: a.name(), Namespace: namespace,
		Labels: map[string]string{managedByLabel: managedBy, vimLabel: a.vim},
		Annotations: map[string]string{
			roleAnnotation: a.role, namespacesAnnotation: strings.Join(a.namespaces, ","),
		},
	}
}

// make refuses what the cluster cannot give, then makes the service account, then its
// bindings. Each step finds what an earlier attempt left.
func (c *connection) make(ctx context.Context, a account) error {
	if err := c.roleExists(ctx, a.role); err != nil {
		return err
	}
	for _, n := range a.namespaces {
		if err := c.namespaceUsable(ctx, n); err != nil {
			return err
		}
	}
	if err := c.makeServiceAccount(ctx, a); err != nil {
		return err
	}
	failpoint.At("k8s.ensure.serviceaccount")
	if len(a.namespaces) == 0 {
		return c.bindShared(ctx, a, "")
	}
	for _, n := range a.namespaces {
		if err := c.bindShared(ctx, a, n); err != nil {
			return err
		}
	}
	return nil
}

func (c *connection) roleExists(ctx context.Context, role string) error {
	_, err := c.rbac.ClusterRoles().Get(ctx, role, metav1.GetOptions{})
	if notFound(err, "clusterroles", role) {
		return broker.Invalid("role", "is not a ClusterRole of this cluster")
	}
	return fault(err, "get", "clusterrole "+role)
}

func (c *connection) namespaceUsable(ctx context.Context, name string) error {
	n, err := c.namespace(ctx, name)
	switch {
	case notFound(err, "namespaces", name):
		return broker.Invalid("namespaces", "hold %s, which this cluster does not have", name)
	case err == nil && n.Status.Phase == corev1.NamespaceTerminating:
		return broker.Invalid("namespaces", "hold %s, which is being deleted on this cluster", name)
	}
	return fault(err, "get", "namespace "+name)
}

func (c *connection) makeServiceAccount(ctx context.Context, a account) error {
	const what = "service account"
	automount := false
	wanted := &corev1.ServiceAccount{ObjectMeta: a.meta(ours), AutomountServiceAccountToken: &automount}
	_, err := c.core.ServiceAccounts(ours).Create(ctx, wanted, metav1.CreateOptions{})
	if notFound(err, "namespaces", ours) {
		if err := c.makeNamespace(ctx); err != nil {
			return err
		}
		_, err = c.core.ServiceAccounts(ours).Create(ctx, wanted, metav1.CreateOptions{})
	}
	if !alreadyExists(err) {
		return fault(err, "create", "serviceaccounts in namespace "+ours)
	}
	there, err := c.core.ServiceAccounts(ours).Get(ctx, wanted.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fault(err, "get", "serviceaccounts in namespace "+ours)
	case there.Labels[vimLabel] != a.vim:
		return foreign(what, ours+"/"+wanted.Name)
	case there.DeletionTimestamp != nil:
		return beingDeleted(what, ours+"/"+wanted.Name)
	}
	return nil
}

func (c *connection) makeNamespace(ctx context.Context) error {
	_, err := c.core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: ours, Labels: map[string]string{managedByLabel: managedBy},
	}}, metav1.CreateOptions{})
	if alreadyExists(err) {
		return nil
	}
	return fault(err, "create", "namespace "+ours)
}

// accountGone reports whether the API server says that the service account, or our namespace
// with it, is not there.
func accountGone(err error, name string) bool {
	return notFound(err, "serviceaccounts", name) || notFound(err, "namespaces", ours)
}

// namespacesOf reads back what the account was limited to.
func namespacesOf(sa *corev1.ServiceAccount) []string {
	return slices.DeleteFunc(strings.Split(sa.Annotations[namespacesAnnotation], ","), func(n string) bool { return !isLabel(n) })
}

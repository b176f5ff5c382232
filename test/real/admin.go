package real

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
)

// adminName is the service account, and its binding, that may do anything.
const adminName = "test-admin"

// AdminToken returns a new token, of an hour, of a service account that may do
// anything.
func (c *Cluster) AdminToken(t testing.TB) string {
	t.Helper()
	token, err := c.NewAdminToken(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// NewAdminToken is AdminToken where there is no test; ttl is at least ten minutes.
func (c *Cluster) NewAdminToken(ctx context.Context, ttl time.Duration) (string, error) {
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		return "", fmt.Errorf("making client: %w", err)
	}
	rbac, err := rbacclient.NewForConfig(c.Config())
	if err != nil {
		return "", fmt.Errorf("making client: %w", err)
	}
	accounts := core.ServiceAccounts(metav1.NamespaceSystem)
	meta := metav1.ObjectMeta{Name: adminName}
	_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("making administrator: %w", err)
	}
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: adminName}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("binding administrator: %w", err)
	}
	seconds := int64(ttl / time.Second)
	tr, err := accounts.CreateToken(ctx, adminName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting administrator's token: %w", err)
	}
	return tr.Status.Token, nil
}

// AccountKubeconfig writes a kubeconfig (0600) with a token of a day of a service account, and
// returns its path.
func (c *Cluster) AccountKubeconfig(ctx context.Context, namespace, account string) (string, error) {
	token, err := c.kubectl(ctx, "", "-n", namespace, "create", "token", account, "--duration="+MaxTokenTTL.String())
	if err != nil {
		return "", err
	}
	path := c.file(namespace + "." + account + ".kubeconfig")
	return path, os.WriteFile(path, c.kubeconfigOf("token: "+strings.TrimSpace(token)), 0o600)
}

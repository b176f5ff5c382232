// Package kube looks into a Kubernetes cluster, fake or real, for the suite that
// the Kubernetes driver passes, and meddles with it behind the driver's back.
package kube

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
)

const (
	vimLabel   = "vimbroker.io/vim"
	leaseLabel = "vimbroker.io/lease"
	hold       = "test.vimbroker.io/hold"
)

// cluster is a cluster with an administrator's clients.
type cluster struct {
	core *coreclient.CoreV1Client
	rbac *rbacclient.RbacV1Client
}

// Env is a suite's environment on the cluster that admin leads to. What differs
// from cluster to cluster is left to the caller: Registration, Others, Refused,
// Await, MaxTTL, and Now where the cluster's clock is not this machine's.
func Env(t *testing.T, admin *rest.Config) conformance.DriverEnv {
	t.Helper()
	core, err := coreclient.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	rbac, err := rbacclient.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{core, rbac}
	rules := egress.Default()
	rules.AllowLoopback = true
	env := conformance.DriverEnv{
		New:    func(log *slog.Logger) broker.Driver { return kubernetes.New(kubernetes.Options{Log: log}) },
		Egress: rules,
		MinTTL: 10 * time.Minute, Reader: "view", Writer: "edit", Now: time.Now,
		Powerless: broker.Registration{
			Name: "powerless", Type: "kubernetes", Endpoint: admin.Host, CACert: string(admin.CAData),
			Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: c.powerless(t)},
		},
		Unknown: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("never-was-a-token")},
		Handles: c.handles, Kept: c.kept, RemoveKept: c.removeKept, Everything: c.everything,
		Remove: c.remove, Plant: c.plant, Hold: c.hold, May: c.may,
	}
	for i, name := range []string{"conformance-a", "conformance-b"} {
		c.namespace(t, name)
		env.Namespaces[i] = name
	}
	return env
}

// namespace makes a namespace, unless it is there.
func (c *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.core.Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// powerless is the token of a service account that may view, and no more.
func (c *cluster) powerless(t *testing.T) secret.Text {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "conformance-powerless"}
	accounts := c.core.ServiceAccounts("default")
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	_, err = c.rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: meta.Name}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(t.Context(), meta.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret.NewText(token.Status.Token)
}

func selects(vim string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: vimLabel + "=" + vim}
}

func (c *cluster) handles(t *testing.T, vim string) []string {
	t.Helper()
	var names []string
	for _, account := range c.leased(t, selects(vim)) {
		names = append(names, account.Name)
	}
	return names
}

// leased lists the service accounts of leases.
func (c *cluster) leased(t *testing.T, o metav1.ListOptions) []corev1.ServiceAccount {
	t.Helper()
	list, err := c.core.ServiceAccounts("").List(sweeping(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(a corev1.ServiceAccount) bool { return a.Labels[leaseLabel] == "" })
}

// namespaceOf is where a lease's account is.
func (c *cluster) namespaceOf(t *testing.T, handle string) string {
	t.Helper()
	for _, account := range c.leased(t, metav1.ListOptions{}) {
		if account.Name == handle {
			return account.Namespace
		}
	}
	t.Fatalf("no service account %s on the cluster", handle)
	return ""
}

func (c *cluster) remove(t *testing.T, handle string) {
	t.Helper()
	if err := c.core.ServiceAccounts(c.namespaceOf(t, handle)).Delete(t.Context(), handle, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) plant(t *testing.T, vim, handle string) (untouched func() bool) {
	t.Helper()
	homes, err := c.core.Namespaces().List(t.Context(), selects(vim))
	if err != nil || len(homes.Items) == 0 {
		t.Fatalf("no namespace of VIM %s to plant in: %v", vim, err)
	}
	accounts := c.core.ServiceAccounts(homes.Items[0].Name)
	was, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: handle}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accounts.Delete(sweeping(t), handle, metav1.DeleteOptions{}) })
	return func() bool {
		is, err := accounts.Get(t.Context(), handle, metav1.GetOptions{})
		return err == nil && is.UID == was.UID && is.ResourceVersion == was.ResourceVersion
	}
}

func (c *cluster) hold(t *testing.T, handle string) (release func()) {
	t.Helper()
	accounts := c.core.ServiceAccounts(c.namespaceOf(t, handle))
	patch := func(body string) error {
		_, err := accounts.Patch(sweeping(t), handle, types.MergePatchType, []byte(body), metav1.PatchOptions{})
		return err
	}
	if err := patch(`{"metadata":{"finalizers":["` + hold + `"]}}`); err != nil {
		t.Fatal(err)
	}
	release = func() {
		if err := patch(`{"metadata":{"finalizers":null}}`); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	t.Cleanup(release)
	return release
}

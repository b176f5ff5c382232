// Package kube looks into a Kubernetes cluster, fake or real, for the suite that
// the Kubernetes driver passes, and meddles with it behind the driver's back.
package kube

import (
	"log/slog"
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
	// home is the namespace that the driver keeps everything in.
	home     = "vimbroker"
	vimLabel = "vimbroker.io/vim"
	hold     = "test.vimbroker.io/hold"
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
			Credential: broker.Credential{Kind: broker.BearerToken, Token: c.powerless(t)},
		},
		Unknown: broker.Credential{Kind: broker.BearerToken, Token: secret.NewText("never-was-a-token")},
		Handles: c.handles, Kept: c.kept, RemoveKept: c.removeKept, Everything: c.everything,
		Remove: c.remove, Plant: c.plant, Hold: c.hold, May: c.may,
	}
	for i, name := range []string{"conformance-a", "conformance-b"} {
		c.namespace(t, name)
		env.Namespaces[i] = name
	}
	c.namespace(t, home)
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
	list, err := c.core.Secrets("").List(sweeping(t), selects(vim))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	return names
}

func (c *cluster) remove(t *testing.T, handle string) {
	t.Helper()
	if err := c.core.Secrets(home).Delete(t.Context(), handle, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) plant(t *testing.T, handle string) (untouched func() bool) {
	t.Helper()
	secrets := c.core.Secrets(home)
	was, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: handle}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = secrets.Delete(sweeping(t), handle, metav1.DeleteOptions{}) })
	return func() bool {
		is, err := secrets.Get(t.Context(), handle, metav1.GetOptions{})
		return err == nil && is.UID == was.UID && is.ResourceVersion == was.ResourceVersion
	}
}

func (c *cluster) hold(t *testing.T, handle string) (release func()) {
	t.Helper()
	patch := func(body string) error {
		_, err := c.core.Secrets(home).Patch(sweeping(t), handle, types.MergePatchType, []byte(body), metav1.PatchOptions{})
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

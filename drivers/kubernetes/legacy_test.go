package kubernetes_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// old is a grant from before there were epochs: a Secret in namespace vimbroker, and an
// account that leases share.
func (l *lab) old(role string, namespaces ...string) broker.Grant {
	g := l.grant(role, namespaces...)
	g.Epoch, g.ClusterWide = 0, false
	return g
}

// issueOld makes on the cluster what brokers of old made for a lease.
func (l *lab) issueOld(g broker.Grant) broker.Minted {
	l.t.Helper()
	sum := sha256.Sum256([]byte(l.access.VIM + "\n" + g.Role + "\n" + strings.Join(g.Namespaces, "\n")))
	account := "vim-" + hex.EncodeToString(sum[:16])
	labels := map[string]string{"app.kubernetes.io/managed-by": "vimbroker", "vimbroker.io/vim": l.access.VIM}
	meta := metav1.ObjectMeta{Name: account, Labels: labels, Annotations: map[string]string{
		"vimbroker.io/role": g.Role, "vimbroker.io/namespaces": strings.Join(g.Namespaces, ","),
	}}
	client := l.client()
	ctx := l.t.Context()
	made := func(err error) {
		l.t.Helper()
		if err != nil && !apierrors.IsAlreadyExists(err) {
			l.t.Fatal(err)
		}
	}
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker"}}, metav1.CreateOptions{})
	made(err)
	_, err = client.CoreV1().ServiceAccounts("vimbroker").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	made(err)
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: g.Role}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "vimbroker", Name: account}}
	if len(g.Namespaces) == 0 {
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
		made(err)
	}
	for _, n := range g.Namespaces {
		_, err = client.RbacV1().RoleBindings(n).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
		made(err)
	}
	kept, err := client.CoreV1().Secrets("vimbroker").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: g.Handle, Labels: map[string]string{
			"app.kubernetes.io/managed-by": "vimbroker", "vimbroker.io/vim": l.access.VIM, "vimbroker.io/lease": g.Lease,
		},
	}}, metav1.CreateOptions{})
	made(err)
	expires := int64(3600)
	token, err := client.CoreV1().ServiceAccounts("vimbroker").CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &expires,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: kept.Name, UID: kept.UID},
		},
	}, metav1.CreateOptions{})
	made(err)
	return broker.Minted{Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token.Status.Token)}}
}

// client is a client of the cluster's administrator.
func (l *lab) client() clientset.Interface {
	l.t.Helper()
	c, err := clientset.NewForConfig(&rest.Config{Host: l.Endpoint, BearerToken: l.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(l.CA)}})
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func TestLeasesOfOldGoOnAsTheyWereMade(t *testing.T) {
	l := newLab(t)
	before := slices.Concat(l.Names("clusterrolebindings", ""), l.Names("rolebindings", ""))
	first, second := l.old("view"), l.old("edit", "default")
	m := l.issueOld(first)
	l.issueOld(second)
	if got := len(l.Names("secrets", "vimbroker")); got != 2 {
		t.Fatalf("%d secrets, want one for each lease", got)
	}
	renewed, err := l.driver.Renew(t.Context(), l.access, first)
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.driver.Inventory(t.Context(), l.access)
	if err != nil || len(found) != 2 {
		t.Errorf("Inventory = %v, %v, want both", found, err)
	}
	if err := l.driver.Revoke(t.Context(), l.access, issued(first, m)); err != nil {
		t.Fatal(err)
	}
	for _, m := range []broker.Minted{m, renewed} {
		if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); !dead || err != nil {
			t.Errorf("Dead after Revoke = %v, %v", dead, err)
		}
	}
	if len(l.Names("serviceaccounts", "vimbroker")) == 0 {
		t.Error("the shared accounts went while a lease is left")
	}
	if err := l.driver.Revoke(t.Context(), l.access, issued(second, broker.Minted{})); err != nil {
		t.Fatal(err)
	}
	after := slices.Concat(l.Names("clusterrolebindings", ""), l.Names("rolebindings", ""))
	if !slices.Equal(before, after) || len(l.Names("serviceaccounts", "vimbroker")) > 0 {
		t.Errorf("after the last of them: %q %q, want nothing left bound", after, l.Names("serviceaccounts", "vimbroker"))
	}
}

// The Secret was deleted and made again between looking and deleting.
func TestRevokeDeletesOnlyTheSecretItLookedAt(t *testing.T) {
	l := newLab(t)
	g := l.old("view")
	l.issueOld(g)
	l.After(http.MethodGet, "/secrets/", func() {
		l.Update("secrets", "vimbroker", g.Handle, func(o metav1.Object) { o.SetUID("another") })
	})
	revoke := func() error { return l.driver.Revoke(t.Context(), l.access, issued(g, broker.Minted{})) }
	want(t, "Revoke", revoke(), broker.ErrConflict)
	if len(l.Names("secrets", "vimbroker")) != 1 {
		t.Error("another object than the one looked at was deleted")
	}
	if err := revoke(); err != nil {
		t.Errorf("Revoke again: %v", err)
	}
}

// "renew extends a lease whose token is already dead": somebody deleted the
// account, and killed every token with it.
func TestRenewAfterTheSharedAccountWasDeleted(t *testing.T) {
	l := newLab(t)
	g := l.old("view")
	l.issueOld(g)
	for _, name := range l.Names("serviceaccounts", "vimbroker") {
		l.Delete("serviceaccounts", "vimbroker", name[strings.LastIndex(name, "/")+1:])
	}
	before := l.Names("serviceaccounts", "vimbroker")
	_, err := l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew", err, broker.ErrNotFound)
	if after := l.Names("serviceaccounts", "vimbroker"); !slices.Equal(before, after) {
		t.Errorf("Renew made %q", after)
	}
}

func TestRenewOfAnotherLeasesSecret(t *testing.T) {
	l := newLab(t)
	g := l.old("view")
	l.issueOld(g)
	g.Lease = "another"
	_, err := l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew", err, broker.ErrConflict)
}

// A credential of today may not see the Secrets of leases of old, one of then must.
func TestInventoryWithoutTheRightToSecrets(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	l.Deny(fakekube.Denial{Resource: "secrets"})
	_, err := l.driver.Inventory(t.Context(), l.access)
	want(t, "Inventory", err, broker.ErrForbidden)
	report, err := l.driver.Check(t.Context(), l.access)
	if c := report.Discovered.Cluster; err != nil || c == nil || c.Mode != broker.ModeManaged || !strings.HasPrefix(c.User, "system:serviceaccount:kube-system:") {
		t.Fatalf("Check discovers %+v, %v, want mode and user", c, err)
	}
	now := l.access
	now.Discovered = report.Discovered
	if found, err := l.driver.Inventory(t.Context(), now); err != nil || len(found) != 1 {
		t.Errorf("Inventory = %v, %v, want the one lease", found, err)
	}
	now.InsteadOf = &broker.Discovered{}
	_, err = l.driver.Inventory(t.Context(), now)
	want(t, "Inventory of what was made with a credential of then", err, broker.ErrForbidden)
}

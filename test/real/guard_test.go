package real_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/test/real"
)

// acting is a client of somebody else, as the cluster's administrator can be.
func (a *applied) acting(user string, groups ...string) clientset.Interface {
	a.t.Helper()
	c := rest.CopyConfig(a.Config())
	c.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	client, err := clientset.NewForConfig(c)
	if err != nil {
		a.t.Fatal(err)
	}
	return client
}

// TestTheGuardLetsTheClusterWork applies the guard, and has the cluster's controllers and the
// broker do in our namespaces what they are there for, and nobody do more.
func TestTheGuardLetsTheClusterWork(t *testing.T) {
	t.Parallel()
	c := real.OwnKubernetes(t)
	guard(t, c)
	roles := []string{"view", "edit"}
	t.Run("the broker passes", func(t *testing.T) {
		for _, pool := range []int{0, 2} {
			a := apply(t, c, rbac.Options{Profile: rbac.Leases, Roles: roles, Pool: pool})
			a.check()
			a.wantLife(broker.Grant{Role: "edit"}, broker.GradeNamespaces)
			if err := a.driver.Forget(t.Context(), a.access); err != nil {
				t.Errorf("Forget: %v", err)
			}
			a.wantNothing()
		}
	})

	a := apply(t, c, rbac.Options{Profile: rbac.Leases, Roles: roles})
	a.check()
	_, lease, own, _, err := a.lend(broker.Grant{Role: "view"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, home := t.Context(), own.namespace
	maps, secrets, accounts := a.admin.CoreV1().ConfigMaps(home), a.admin.CoreV1().Secrets(home), a.admin.CoreV1().ServiceAccounts(home)
	gone := func(what string, get func() error) {
		t.Helper()
		if !real.Poll(t, patience, func() bool { return apierrors.IsNotFound(get()) }) {
			t.Errorf("%s stays, where the cluster removes it without the guard", what)
		}
	}
	back := func(what string, get func() error) {
		t.Helper()
		if !real.Poll(t, patience, func() bool { return get() == nil }) {
			t.Errorf("%s is not made, where the cluster makes it without the guard", what)
		}
	}
	config := func(name string) func() error {
		return func() error { return ignore(maps.Get(ctx, name, metav1.GetOptions{})) }
	}

	t.Run("garbage is collected", func(t *testing.T) {
		for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			block := true
			owned, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owned-", OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &block},
			}}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := maps.Delete(ctx, owner.Name, metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
				t.Fatal(err)
			}
			gone("what the deleted object owned", config(owned.Name))
			gone("the object that was deleted", config(owner.Name))
		}
	})
	t.Run("a namespace is furnished", func(t *testing.T) {
		back("the CA", config("kube-root-ca.crt"))
		was, err := accounts.Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(accounts.Delete(ctx, "default", metav1.DeleteOptions{}), maps.Delete(ctx, "kube-root-ca.crt", metav1.DeleteOptions{})); err != nil {
			t.Fatal(err)
		}
		back("account default", func() error {
			s, err := accounts.Get(ctx, "default", metav1.GetOptions{})
			if err == nil && s.UID == was.UID {
				err = errors.New("the account of before")
			}
			return err
		})
		back("the CA", config("kube-root-ca.crt"))
	})
	t.Run("whoever impersonates a controller does no more than it", func(t *testing.T) {
		for _, name := range []string{"namespace-controller", "generic-garbage-collector", "service-account-controller", "root-ca-cert-publisher", "legacy-service-account-token-cleaner", "pod-garbage-collector"} {
			user := "system:serviceaccount:kube-system:" + name
			// All rights that RBAC can give.
			if _, err := a.admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "all-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
				Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			as := a.acting(user)
			var token error
			real.Poll(t, patience, func() bool { // the API server learns of the binding after a moment
				_, token = a.token(ctx, as, own)
				return token == nil || guards(token)
			})
			_, relabel := as.CoreV1().ServiceAccounts(home).Patch(ctx, own.name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: dry})
			remove := as.CoreV1().ServiceAccounts(home).Delete(ctx, own.name, metav1.DeleteOptions{DryRun: dry})
			_, another := as.CoreV1().ServiceAccounts(home).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, metav1.CreateOptions{DryRun: dry})
			_, secret := as.CoreV1().Secrets(home).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, metav1.CreateOptions{DryRun: dry})
			_, run := as.CoreV1().Pods(home).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "another"}, Spec: runs("default")}, metav1.CreateOptions{DryRun: dry})
			for what, err := range map[string]error{
				"a token": token, "a relabelled account": relabel, "a deleted account": remove, "an account": another, "a Secret": secret, "a pod": run,
			} {
				if !guards(err) {
					t.Errorf("%s by %s: %v, want the guard's refusal", what, name, err)
				}
			}
		}
	})
	t.Run("nodes end pods, and no more", func(t *testing.T) {
		if _, err := a.admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:nodes"}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		node := a.acting("system:node:one", "system:nodes", "system:authenticated")
		p, err := a.admin.CoreV1().Pods(home).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: runs("default")}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var refusal error
		real.Poll(t, patience, func() bool {
			_, refusal = node.CoreV1().Secrets(home).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{DryRun: dry})
			return refusal == nil || guards(refusal)
		})
		if !guards(refusal) {
			t.Errorf("a Secret by a node: %v, want the guard's refusal", refusal)
		}
		if err := node.CoreV1().Pods(home).Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("a pod deleted by its node: %v", err)
		}
	})
	t.Run("a namespace is given to nobody else", func(t *testing.T) {
		b := apply(t, c, rbac.Options{Profile: rbac.Leases, Roles: roles})
		a.kubectl(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: relabels}, rules: [{apiGroups: [""], resources: [namespaces], verbs: [patch]}]}`, "apply", "-f", "-")
		a.kubectl("", "create", "clusterrolebinding", "relabels", "--clusterrole=relabels", "--serviceaccount="+b.operators()+":broker")
		theirs, err := clientset.NewForConfig(b.holding(b.access.Credential.Token.Reveal()))
		if err != nil {
			t.Fatal(err)
		}
		label := func(name, vim string) error {
			return ignore(theirs.CoreV1().Namespaces().Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"vimbroker.io/vim":"`+vim+`"}}}`), metav1.PatchOptions{}))
		}
		mine := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-" + b.access.VIM[:8], Labels: map[string]string{"vimbroker.io/vim": b.access.VIM}}}
		if !real.Poll(t, patience, func() bool {
			_, err = theirs.CoreV1().Namespaces().Create(ctx, mine, metav1.CreateOptions{})
			return err == nil
		}) {
			t.Errorf("a namespace of one's own VIM: %v", err)
		}
		if !real.Poll(t, patience, func() bool { return label(mine.Name, b.access.VIM) == nil }) {
			t.Error("a namespace of one's own VIM cannot be labelled")
		}
		if err := label(mine.Name, a.access.VIM); !guards(err) {
			t.Errorf("a namespace given to another VIM: %v, want the guard's refusal", err)
		}
		if err := label(home, b.access.VIM); !guards(err) {
			t.Errorf("a namespace taken from another VIM: %v, want the guard's refusal", err)
		}
	})
	t.Run("what is revoked and tidied goes", func(t *testing.T) {
		s, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: own.name}}, Type: corev1.SecretTypeServiceAccountToken,
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !real.Poll(t, patience, func() bool {
			s, err = secrets.Get(ctx, s.Name, metav1.GetOptions{})
			return err == nil && len(s.Data) > 0
		}) {
			t.Fatal("the cluster writes no token into a token Secret")
		}
		if err := a.driver.Revoke(ctx, a.access, lease); err != nil {
			t.Fatal(err)
		}
		gone("a token Secret of the account that was deleted", func() error { return ignore(secrets.Get(ctx, s.Name, metav1.GetOptions{})) })
		if _, err := a.admin.CoreV1().Pods(home).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: runs("default")}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := a.driver.Tidy(ctx, a.access, lease.Grant); err != nil {
			t.Fatal(err)
		}
		gone("our namespace", func() error { return ignore(a.admin.CoreV1().Namespaces().Get(ctx, home, metav1.GetOptions{})) })
	})
}

// guards reports whether it was the guard that refused.
func guards(err error) bool {
	return err != nil && strings.Contains(err.Error(), "only the broker may write")
}

// TestAFinalizerDelaysARevocationAndIsTold has a holder put a finalizer on its own account: the
// token ends all the same, later, and nobody is told that the lease is revoked before.
func TestAFinalizerDelaysARevocationAndIsTold(t *testing.T) {
	t.Parallel()
	a := apply(t, real.Kubernetes(t), rbac.Options{Profile: rbac.Leases, Roles: []string{"view", "edit"}})
	a.check()
	m, lease, own, _, err := a.lend(broker.Grant{Role: "edit", ClusterWide: true})
	if err != nil {
		t.Fatal(err)
	}
	finalizers := func(c clientset.Interface, list string) {
		t.Helper()
		if _, err := c.CoreV1().ServiceAccounts(own.namespace).Patch(t.Context(), own.name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	finalizers(a.as(m), `["example.com/hold"]`)
	for range 2 {
		if err := a.driver.Revoke(t.Context(), a.access, lease); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "being deleted") {
			t.Errorf("Revoke while a finalizer holds the account = %v, want a conflict that says so", err)
		}
	}
	if !real.Poll(t, 70*time.Second, func() bool {
		dead, err := a.driver.Dead(t.Context(), a.access, m.Credential)
		return dead && err == nil
	}) {
		t.Error("a finalizer keeps the token alive for more than 70 s")
	}
	finalizers(a.admin, `null`)
	if err := a.driver.Revoke(t.Context(), a.access, lease); err != nil {
		t.Errorf("Revoke after it = %v", err)
	}
}

// TestRulesThatLookHarmless has holders of exact rules become somebody else by ways that few
// know, which their grade has to tell.
func TestRulesThatLookHarmless(t *testing.T) {
	a := apply(t, real.Kubernetes(t), rbac.Options{Profile: rbac.Engine, Roles: []string{"view", "edit"}})
	a.check()
	ctx := t.Context()
	rule := func(group, resource string, verbs ...string) broker.Rule {
		return broker.Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	t.Run("constrained impersonation", func(t *testing.T) {
		a.kubectl("", "-n", a.at, "create", "rolebinding", "default-edits", "--clusterrole=edit", "--serviceaccount="+a.at+":default")
		m, _, _, grade, err := a.lend(broker.Grant{Namespaces: []string{a.at}, Rules: []broker.Rule{
			rule("authentication.k8s.io", "serviceaccounts", "impersonate:serviceaccount"), rule("", "secrets", "impersonate-on:serviceaccount:list"),
		}})
		if err != nil || grade != broker.GradeNamespaces {
			t.Fatalf("grade %s, %v, want namespaces", grade, err)
		}
		c := a.holding(m.Credential.Token.Reveal())
		c.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + a.at + ":default"}
		client, err := clientset.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().Secrets(a.at).List(ctx, metav1.ListOptions{}); err != nil {
			t.Errorf("listing Secrets as another account: %v, want it done: then the grade need not tell", err)
		}
	})
	t.Run("a certificate of a node", func(t *testing.T) {
		m, _, _, grade, err := a.lend(broker.Grant{ClusterWide: true, Rules: []broker.Rule{
			rule("certificates.k8s.io", "certificatesigningrequests", "create", "get"), rule("certificates.k8s.io", "certificatesigningrequests/nodeclient", "create"),
		}})
		if err != nil || grade != broker.GradeUnbounded {
			t.Fatalf("grade %s, %v, want unbounded", grade, err)
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:one", Organization: []string{"system:nodes"}}}, key)
		if err != nil {
			t.Fatal(err)
		}
		requests := a.as(m).CertificatesV1().CertificateSigningRequests()
		r, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-"},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
				Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !real.Poll(t, patience, func() bool {
			r, err = requests.Get(ctx, r.Name, metav1.GetOptions{})
			return err == nil && len(r.Status.Certificate) > 0
		}) {
			t.Error("the cluster signs no certificate of a node: then the grade need not tell")
		}
	})
}

package kubernetes_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func (l *lab) foreign() []string {
	l.t.Helper()
	found, err := l.driver.Foreign(l.t.Context(), l.access, func(vim string) bool { return vim == l.access.VIM })
	if err != nil {
		l.t.Fatal(err)
	}
	return found
}

func TestForeignObjectsAreFound(t *testing.T) {
	group := func(home string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + home}}
	}
	admin := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
	for _, c := range []struct {
		name string
		make func(ctx context.Context, c clientset.Interface, home string) error
		want string
	}{
		{"an account without labels", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().ServiceAccounts(home).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
			return err
		}, "serviceaccount HOME/mine has the rights of leases"},
		{"an account with the label of a lease alone", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().ServiceAccounts(home).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"vimbroker.io/lease": "l"}}}, metav1.CreateOptions{})
			return err
		}, "serviceaccount HOME/mine has the rights of leases"},
		{"an account with the labels of the home alone", func(ctx context.Context, c clientset.Interface, home string) error {
			ours, err := c.RbacV1().RoleBindings("default").Get(ctx, home, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = c.CoreV1().ServiceAccounts(home).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: ours.Labels}}, metav1.CreateOptions{})
			return err
		}, "serviceaccount HOME/mine has the rights of leases"},
		{"a pod", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().Pods(home).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
			return err
		}, "pod HOME/mine acts"},
		{"a token Secret", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().Secrets(home).Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "mine", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}}, Type: corev1.SecretTypeServiceAccountToken,
			}, metav1.CreateOptions{})
			return err
		}, "secret HOME/mine holds a token"},
		{"another Secret", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().Secrets(home).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
			return err
		}, ""},
		{"a cluster role binding of the group", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "more"}, RoleRef: admin, Subjects: group(home)}, metav1.CreateOptions{})
			return err
		}, "clusterrolebinding more gives clusterrole cluster-admin to accounts of leases in namespace HOME"},
		{"a role binding of the group with the labels of ours", func(ctx context.Context, c clientset.Interface, home string) error {
			ours, err := c.RbacV1().RoleBindings("default").Get(ctx, home, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = c.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "more", Labels: ours.Labels}, RoleRef: admin, Subjects: group(home)}, metav1.CreateOptions{})
			return err
		}, "rolebinding default/more gives clusterrole cluster-admin"},
		{"a role binding as ours in another namespace", func(ctx context.Context, c clientset.Interface, home string) error {
			ours, err := c.RbacV1().RoleBindings("default").Get(ctx, home, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = c.RbacV1().RoleBindings("kube-public").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: home, Labels: ours.Labels}, RoleRef: ours.RoleRef, Subjects: ours.Subjects}, metav1.CreateOptions{})
			return err
		}, "rolebinding kube-public/HOME gives clusterrole edit"},
		{"a binding of an account", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.RbacV1().RoleBindings("kube-public").Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "more"}, RoleRef: admin,
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "default"}},
			}, metav1.CreateOptions{})
			return err
		}, "rolebinding kube-public/more gives"},
		{"a binding whose second subject is an account", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.RbacV1().RoleBindings("kube-public").Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "more"}, RoleRef: admin,
				Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"}, {Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "default"}},
			}, metav1.CreateOptions{})
			return err
		}, "rolebinding kube-public/more gives"},
		{"a binding of somebody else's accounts", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "more"}, RoleRef: admin, Subjects: group("default")}, metav1.CreateOptions{})
			return err
		}, ""},
		{"a namespace of another VIM", func(ctx context.Context, c clientset.Interface, home string) error {
			_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-other", Labels: map[string]string{
				"vimbroker.io/vim": "lost", "vimbroker.io/grant": "vimbroker-other",
			}}}, metav1.CreateOptions{})
			return err
		}, "1 namespaces with accounts of leases carry vimbroker.io/vim=lost"},
		{"namespaces of another VIM", func(ctx context.Context, c clientset.Interface, home string) error {
			for _, name := range []string{"vimbroker-other", "vimbroker-another", "vimbroker-third"} {
				_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
					"vimbroker.io/vim": "lost", "vimbroker.io/grant": name,
				}}}, metav1.CreateOptions{})
				if err != nil {
					return err
				}
			}
			return nil
		}, "3 namespaces with accounts of leases carry vimbroker.io/vim=lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.issue(l.grant("edit", "default"))
			if found := l.foreign(); len(found) > 0 {
				t.Fatalf("Foreign = %q with leases alone", found)
			}
			home := l.home()
			if err := c.make(t.Context(), l.client(), home); err != nil {
				t.Fatal(err)
			}
			found := l.foreign()
			want := strings.ReplaceAll(c.want, "HOME", home)
			if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0], want)) {
				t.Errorf("Foreign = %q, want %q alone", found, want)
			}
		})
	}
}

func TestForeignObjectsThatCannotBeLookedFor(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("edit", "default"))
	// What may not be listed is left out; what is not answered is an error.
	for _, resource := range []string{"pods", "secrets", "rolebindings", "clusterrolebindings"} {
		l.Deny(fakekube.Denial{Verb: "list", Resource: resource})
		if found := l.foreign(); len(found) > 0 {
			t.Errorf("Foreign without the right to %s = %q", resource, found)
		}
		l.Deny()
		l.Fail(fake.Fault{Kind: fake.Refuse, Method: http.MethodGet, Path: "/" + resource, Status: http.StatusInternalServerError, Times: -1})
		_, err := l.driver.Foreign(t.Context(), l.access, func(string) bool { return true })
		want(t, "Foreign where "+resource+" are not answered", err, broker.ErrUnreachable)
		l.Heal()
	}
}

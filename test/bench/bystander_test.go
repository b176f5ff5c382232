package bench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/real"
)

// liveLeases is how many leases a full cluster has, liveGrants over how many grants of one VIM:
// half are bound in the bystander's own namespace, half in the whole cluster.
const (
	liveLeases = 5_000
	liveGrants = 50
)

// bystanderNamespace is where a user works who has nothing to do with leases.
const bystanderNamespace = "bystander"

// bystander measures what a request costs a user of a cluster that is full of leases, and one of
// the same user on a cluster without any.
func bystander(b *testing.B) *figure {
	b.Helper()
	empty, full := newStackOn(b, real.OwnKubernetes(b)), newStackOn(b, real.OwnKubernetes(b))
	onEmpty, onFull := empty.newBystander(b), full.newBystander(b)
	v := full.mustRegister(b, "full")
	const clients = 8
	if _, err := turn(clients, liveLeases/clients, 0, func(n int) error {
		r := broker.LeaseRequest{VIM: v.Name, TTL: time.Hour, Rules: []broker.Rule{{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{fmt.Sprintf("of-grant-%d", n%liveGrants)}, Verbs: []string{"get"},
		}}}
		if n%2 == 0 {
			r.ClusterWide = true
		} else {
			r.Namespaces = []string{bystanderNamespace}
		}
		_, _, err := full.IssueLease(b.Context(), admin, r)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("What a request costs a user who has nothing to do with leases: a cluster without any, and one with %d over %d grants", liveLeases, liveGrants)}
	for _, c := range []struct {
		what, namespace string
		may             bool
	}{{"get what it may", bystanderNamespace, true}, {"get what it may not", metav1.NamespaceDefault, false}} {
		get := func(on coreclient.CoreV1Interface) func(int) error {
			return func(int) error {
				_, err := on.ConfigMaps(c.namespace).Get(b.Context(), "kube-root-ca.crt", metav1.GetOptions{})
				if !c.may && apierrors.IsForbidden(err) {
					return nil
				}
				if !c.may && err == nil {
					return errors.New("a stranger's request is not refused")
				}
				return err
			}
		}
		out, err := turns(20, 1, 50, contender{c.what, get(onEmpty)}, contender{c.what, get(onFull)})
		if err != nil {
			b.Fatal(err)
		}
		base := timed(c.what+", no leases", out[0].sample)
		f.Rows = append(f.Rows, base, timed(fmt.Sprintf("%s, %d leases", c.what, liveLeases), out[1].sample).over(base))
	}
	return f
}

// newBystander makes the user, who may view its own namespace.
func (s *stack) newBystander(b *testing.B) coreclient.CoreV1Interface {
	b.Helper()
	ctx := b.Context()
	core, err := coreclient.NewForConfig(s.cluster.Config())
	if err != nil {
		b.Fatal(err)
	}
	access, err := rbacclient.NewForConfig(s.cluster.Config())
	if err != nil {
		b.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: bystanderNamespace}
	hour := int64(3600)
	_, err = core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{})
	if err == nil {
		_, err = core.ServiceAccounts(bystanderNamespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = access.RoleBindings(bystanderNamespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: bystanderNamespace, Name: bystanderNamespace}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		b.Fatal(err)
	}
	token, err := core.ServiceAccounts(bystanderNamespace).CreateToken(ctx, bystanderNamespace, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour},
	}, metav1.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	as, err := coreclient.NewForConfig(&rest.Config{
		Host: s.cluster.Endpoint, BearerToken: token.Status.Token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.cluster.CAPEM)},
	})
	if err != nil {
		b.Fatal(err)
	}
	return as
}

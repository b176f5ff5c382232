package kubernetes_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// admin is an administrator's client of the lab's cluster.
func (l *lab) admin() *coreclient.CoreV1Client {
	l.t.Helper()
	core, err := coreclient.NewForConfig(&rest.Config{
		Host: l.Endpoint, BearerToken: l.AdminToken, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(l.CA)},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return core
}

// prepare makes a pool of n namespaces for the lab's VIM, which may make none itself.
func (l *lab) prepare(n int) {
	l.t.Helper()
	l.Deny()
	for i := range n {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.pool(i + 1)}}
		if _, err := l.admin().Namespaces().Create(l.t.Context(), ns, metav1.CreateOptions{}); err != nil {
			l.t.Fatal(err)
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if _, err := l.admin().ServiceAccounts(ns.Name).Create(l.t.Context(), account, metav1.CreateOptions{}); err != nil {
			l.t.Fatal(err)
		}
	}
	l.Deny(fakekube.Denial{Verb: "create", Resource: "namespaces"}, fakekube.Denial{Verb: "delete", Resource: "namespaces"})
}

func (l *lab) pool(n int) string {
	return "vimbroker-" + l.access.VIM[:8] + "-" + string(rune('0'+n))
}

func TestAPreparedPoolIsUsed(t *testing.T) {
	l := newLab(t)
	l.prepare(2)
	report, err := l.driver.Check(t.Context(), l.access)
	if err != nil || !report.CanMint {
		t.Fatalf("Check = %+v, %v, want one that can mint", report, err)
	}
	if c := report.Discovered.Cluster; c.Mode != broker.ModePrepared || c.Pool != 2 || c.PoolFree != 2 {
		t.Errorf("discovered %+v, want a pool of two", c)
	}
	grants := []broker.Grant{l.grant("view"), l.grant("edit", "default")}
	var minted []broker.Minted
	for i, g := range grants {
		minted = append(minted, l.issue(g))
		if want := l.pool(i+1) + "/" + g.Handle; !slices.Contains(accountsIn(l.Server), want) {
			t.Errorf("accounts %q, want %s", accountsIn(l.Server), want)
		}
	}
	report, err = l.driver.Check(t.Context(), l.access)
	if c := report.Discovered.Cluster; err != nil || c.Pool != 2 || c.PoolFree != 0 {
		t.Errorf("discovered %+v, %v, want none free", c, err)
	}
	_, err = l.driver.Issue(t.Context(), l.access, l.grant("admin"))
	want(t, "Issue where no namespace is free", err, broker.ErrConflict)

	// A driver that has seen nothing renews, lists and revokes.
	fresh := kubernetes.New(kubernetes.Options{Now: l.clock.Now})
	t.Cleanup(fresh.Close)
	if _, err := fresh.Renew(t.Context(), l.access, grants[1]); err != nil {
		t.Errorf("Renew: %v", err)
	}
	l.Deny(
		fakekube.Denial{Verb: "create", Resource: "namespaces"}, fakekube.Denial{Verb: "delete", Resource: "namespaces"},
		fakekube.Denial{Verb: "delete", Resource: "serviceaccounts", Namespace: kubernetesHome(l, grants[1])},
	)
	for i, g := range grants {
		if err := fresh.Revoke(t.Context(), l.access, issued(g, minted[i])); err != nil {
			t.Errorf("Revoke: %v", err)
		}
		if dead, err := l.driver.Dead(t.Context(), l.access, minted[i].Credential); !dead || err != nil {
			t.Errorf("Dead after Revoke = %v, %v", dead, err)
		}
	}
	if err := fresh.Tidy(t.Context(), l.access, grants[0]); err != nil {
		t.Fatal(err)
	}
	l.issue(l.grant("admin")) // in what became free
	if err := fresh.Forget(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	left := slices.Concat(l.Names("rolebindings", ""), l.Names("configmaps", ""), accountsIn(l.Server))
	for _, n := range l.Names("clusterrolebindings", "") {
		if strings.Contains(n, "vimbroker") {
			left = append(left, n)
		}
	}
	if len(left) > 0 {
		t.Errorf("left after Forget: %q", left)
	}
}

// kubernetesHome is the namespace that the grant would have in managed mode.
func kubernetesHome(l *lab, g broker.Grant) string {
	for _, n := range l.Names("rolebindings", "") {
		if strings.HasPrefix(n, g.Namespaces[0]+"/vimbroker-") {
			return strings.TrimPrefix(n, g.Namespaces[0]+"/")
		}
	}
	return ""
}

// Whoever acts in a namespace of the pool would have the rights of the leases in it.
func TestAPoolNamespaceThatIsNotEmptyIsPassedOver(t *testing.T) {
	for what, plant := range map[string]func(context.Context, *coreclient.CoreV1Client, string) error{
		"a service account": func(ctx context.Context, c *coreclient.CoreV1Client, ns string) error {
			_, err := c.ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "mallet"}}, metav1.CreateOptions{})
			return err
		},
		"a pod": func(ctx context.Context, c *coreclient.CoreV1Client, ns string) error {
			_, err := c.Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "mallet"}}, metav1.CreateOptions{})
			return err
		},
		"more pods than one answer holds": func(ctx context.Context, c *coreclient.CoreV1Client, ns string) error {
			for n := range 300 {
				_, err := c.Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("mallet-%d", n), Annotations: map[string]string{"large": strings.Repeat("x", 20<<10)},
				}}, metav1.CreateOptions{})
				if err != nil {
					return err
				}
			}
			return nil
		},
		"a claim of others": func(ctx context.Context, c *coreclient.CoreV1Client, ns string) error {
			_, err := c.ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-claim"}}, metav1.CreateOptions{})
			return err
		},
	} {
		l := newLab(t)
		l.prepare(2)
		if err := plant(t.Context(), l.admin(), l.pool(1)); err != nil {
			t.Fatal(err)
		}
		g := l.grant("view")
		l.issue(g)
		if got := accountsIn(l.Server); !slices.Equal(got, []string{l.pool(2) + "/" + g.Handle}) {
			t.Errorf("beside %s: accounts %q, want one in %s", what, got, l.pool(2))
		}
	}
}

// A token of the default account, made before or between two grants, is in their group too.
func TestClaimEndsTokensOfTheDefaultAccount(t *testing.T) {
	l := newLab(t)
	l.prepare(1)
	l.issue(l.grant("view"))
	if slices.Contains(l.Names("serviceaccounts", ""), l.pool(1)+"/default") {
		t.Error("the account that was there before the claim is there after it: its tokens live")
	}
}

func TestWithoutRightsAndPoolIssueSaysBothWays(t *testing.T) {
	l := newLab(t)
	l.prepare(0)
	_, err := l.driver.Issue(t.Context(), l.access, l.grant("view"))
	want(t, "Issue", err, broker.ErrForbidden)
	if err != nil && (!strings.Contains(err.Error(), "create namespaces") || !strings.Contains(err.Error(), l.pool(1))) {
		t.Errorf("Issue = %v, want both ways named", err)
	}
}

// Two replicas claim at once: they come to one namespace.
func TestReplicasClaimOneNamespace(t *testing.T) {
	l := newLab(t)
	l.prepare(3)
	var drivers []*kubernetes.Driver
	for range 4 {
		d := kubernetes.New(kubernetes.Options{Now: l.clock.Now})
		t.Cleanup(d.Close)
		drivers = append(drivers, d)
	}
	errs := make(chan error, len(drivers))
	for _, d := range drivers {
		g := l.grant("view")
		go func() {
			_, err := d.Issue(t.Context(), l.access, g)
			errs <- err
		}()
	}
	for range drivers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, n := range accountsIn(l.Server) {
		if !strings.HasPrefix(n, l.pool(1)+"/") {
			t.Errorf("account %s is not in %s", n, l.pool(1))
		}
	}
}

// A room is empty where the cluster says so, and nowhere else.
func TestAPoolNamespaceIsNotTakenForEmpty(t *testing.T) {
	for answer, kind := range map[string]error{
		`{"kind":"PodList","metadata":{"continue":"x"},"items":[]}`: broker.ErrConflict,
		`{"kind":"SecretList","items":[]}`:                          broker.ErrUnreachable,
	} {
		l := newLab(t)
		l.prepare(1)
		l.fail(fake.Fault{Kind: fake.Custom, Method: http.MethodGet, Path: "/pods$", Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}})
		_, err := l.driver.Issue(t.Context(), l.access, l.grant("view"))
		want(t, "Issue where pods are "+answer, err, kind)
	}
}

package kubernetes_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// may reports whether the cluster lets the holder of a token list config maps in a namespace; the
// empty one is all of them.
func (l *lab) may(m broker.Minted, namespace string) bool {
	l.t.Helper()
	as, err := clientset.NewForConfig(&rest.Config{
		Host: l.Endpoint, BearerToken: m.Credential.Token.Reveal(), QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(l.CA)},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	answer, err := as.AuthorizationV1().SelfSubjectAccessReviews().Create(l.t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "configmaps", Namespace: namespace},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return answer.Status.Allowed
}

// again deletes a namespace, with all in it, and makes one of its name.
func (l *lab) again(namespace string) {
	l.t.Helper()
	if err := l.admin().Namespaces().Delete(l.t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		l.t.Fatal(err)
	}
	l.makeNamespaces(namespace)
}

// ofOurs deletes what has a name of ours in a namespace, or, without one, of the cluster.
func (l *lab) ofOurs(plural, namespace string) {
	l.t.Helper()
	deleted := false
	for _, name := range l.Names(plural, namespace) {
		if _, name, _ := strings.Cut("/"+name, "/vimbroker-"); name != "" {
			deleted = l.Delete(plural, namespace, "vimbroker-"+name) || deleted
		}
	}
	if !deleted {
		l.t.Fatalf("no %s of ours in %q among %q", plural, namespace, l.Names(plural, namespace))
	}
}

// taken are the ways in which others take away what binds leases in namespace web.
var taken = map[string]func(*lab){
	"the binding":             func(l *lab) { l.ofOurs("rolebindings", "web") },
	"the namespace":           func(l *lab) { l.again("web") },
	"the role of exact rules": func(l *lab) { l.ofOurs("roles", "web") },
	"the rules of that role": func(l *lab) {
		l.ofOurs("rolebindings", "web")
		l.ofOurs("roles", "web")
	},
}

// grants are leases in namespace web, by what they hold there.
func (l *lab) grants() map[string]broker.Grant {
	rules := l.grant("view", "web")
	rules.Role, rules.Rules = "", []broker.Rule{reads("configmaps")}
	return map[string]broker.Grant{"edit": l.grant("edit", "web"), "view": l.grant("view", "web"), "rules": rules}
}

// Nothing but rights that are there is handed out, at once and by whichever process: with a new lease, and with a new
// token of one that stands.
func TestWhatBindsALeaseIsLookedAtEachTime(t *testing.T) {
	for what, take := range taken {
		for kind := range (&lab{t: t, driver: kubernetes.New(kubernetes.Options{})}).grants() {
			if kind != "rules" && strings.Contains(what, "role") {
				continue
			}
			t.Run(kind+" without "+what, func(t *testing.T) {
				l := newLab(t)
				l.makeNamespaces("web")
				other := kubernetes.New(kubernetes.Options{Now: l.clock.Now}) // another replica
				t.Cleanup(other.Close)
				g := l.grants()[kind]
				m := l.issue(g)
				if _, err := other.Issue(t.Context(), l.access, l.grants()[kind]); err != nil {
					t.Fatal(err)
				}
				for name, d := range map[string]*kubernetes.Driver{"this process": l.driver, "another": other} {
					take(l)
					if l.may(m, "web") {
						t.Fatal("the lease has its rights all the same")
					}
					fresh, err := d.Issue(t.Context(), l.access, l.grants()[kind])
					if err != nil || !l.may(fresh, "web") || !l.may(m, "web") {
						t.Errorf("a lease of %s has no rights: %v", name, err)
					}
					take(l)
					minted, err := d.Renew(t.Context(), l.access, g)
					if err != nil || !l.may(minted, "web") || !l.may(m, "web") {
						t.Errorf("a token that %s minted under an earlier lease has no rights: %v", name, err)
					}
				}
				l.end(g, m)
			})
		}
	}
}

// end revokes a lease and tidies its grant away, and fails if more than that stood.
func (l *lab) end(g broker.Grant, m broker.Minted) {
	l.t.Helper()
	if err := l.driver.Revoke(l.t.Context(), l.access, issued(g, m)); err != nil {
		l.t.Error(err)
	}
	if err := l.driver.Tidy(l.t.Context(), l.access, g); err != nil {
		l.t.Error(err)
	}
	if left := slices.Concat(l.Names("rolebindings", ""), l.Names("roles", ""), homesOf(l.Server)); len(left) > 0 {
		l.t.Errorf("left after the last lease: %q", left)
	}
}

func TestWhatBindsALeaseOnTheClusterIsLookedAt(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	for what, mint := range map[string]func() (broker.Minted, error){
		"a lease": func() (broker.Minted, error) { return l.driver.Issue(t.Context(), l.access, l.grant("view")) },
		"a token": func() (broker.Minted, error) { return l.driver.Renew(t.Context(), l.access, g) },
	} {
		l.ofOurs("clusterrolebindings", "")
		if l.may(m, "") {
			t.Fatal("the lease has its rights all the same")
		}
		if minted, err := mint(); err != nil || !l.may(minted, "") {
			t.Errorf("%s has no rights: %v", what, err)
		}
	}
}

// A lease whose namespaces are not all there is good in the others; one that has none is not.
func TestATokenIsMintedForTheNamespacesThatAreThere(t *testing.T) {
	var denied []fakekube.Denial
	for what, lose := range map[string]func(*lab, string){
		"is gone": func(l *lab, namespace string) {
			if err := l.admin().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"is not the credential's any more": func(l *lab, namespace string) {
			l.again(namespace)
			denied = append(denied, fakekube.Denial{Resource: "rolebindings", Namespace: namespace})
			l.Deny(denied...)
		},
	} {
		l := newLab(t)
		l.makeNamespaces("web", "db")
		g := l.grant("edit", "web", "db")
		l.issue(g)
		lose(l, "web")
		if m, err := l.driver.Renew(t.Context(), l.access, g); err != nil || !l.may(m, "db") {
			t.Errorf("Renew of a lease in db, and in web, which %s: %v, want one that is good in db", what, err)
		}
		lose(l, "db")
		_, err := l.driver.Renew(t.Context(), l.access, g)
		kind := broker.ErrConflict
		if what != "is gone" {
			kind = broker.ErrForbidden
		}
		want(t, "Renew of a lease whose every namespace "+what, err, kind)
		if err != nil && !strings.Contains(err.Error(), "namespace web") && !strings.Contains(err.Error(), "namespace db") {
			t.Errorf("Renew: %v, want it to name a namespace", err)
		}
	}
}

// What somebody put in the place of ours is left alone, and a lease gets a binding of another name.
func TestAChangedBindingIsNotTheLeases(t *testing.T) {
	l := newLab(t)
	l.makeNamespaces("web")
	g := l.grant("edit", "web")
	m := l.issue(g)
	ours := l.Names("rolebindings", "web")[0]
	l.Update("rolebindings", "web", strings.TrimPrefix(ours, "web/"), func(o metav1.Object) {
		o.(*rbacv1.RoleBinding).Subjects[0].Name = "system:serviceaccounts:mallet"
	})
	for what, mint := range map[string]func() (broker.Minted, error){
		"a lease": func() (broker.Minted, error) { return l.driver.Issue(t.Context(), l.access, l.grant("edit", "web")) },
		"a token": func() (broker.Minted, error) { return l.driver.Renew(t.Context(), l.access, g) },
	} {
		if _, there := l.Delete("rolebindings", "web", strings.TrimPrefix(ours, "web/")+"-2"), l.may(m, "web"); there {
			t.Fatal("the lease has its rights all the same")
		}
		if minted, err := mint(); err != nil || !l.may(minted, "web") {
			t.Errorf("%s has no rights: %v", what, err)
		}
		if want := []string{ours, ours + "-2"}; !slices.Equal(l.Names("rolebindings", "web"), want) {
			t.Errorf("bindings %q, want %q", l.Names("rolebindings", "web"), want)
		}
	}
}

// A cluster that does not say whether a lease is bound is not told to bind it again, and no token is minted.
func TestABindingThatCannotBeReadIsNotMissing(t *testing.T) {
	l := newLab(t)
	l.makeNamespaces("web")
	g := l.grant("edit", "web")
	l.issue(g)
	l.Requests()
	l.fail(fake.Fault{Kind: fake.Refuse, Method: http.MethodGet, Path: "/rolebindings/", Status: http.StatusInternalServerError, Times: -1})
	m, err := l.driver.Renew(t.Context(), l.access, g)
	if err == nil || !m.Credential.Empty() {
		t.Errorf("Renew() = %v, and there is a token %t", err, !m.Credential.Empty())
	}
	for _, r := range l.Requests() {
		if r.Method == http.MethodPost && strings.Contains(r.Path, "rolebindings") {
			t.Errorf("the lease is bound again: %+v", r)
		}
	}
}

// A namespace of the pool that is made again is nobody's, and may be another grant's by the next lease.
func TestAPoolNamespaceThatWasTakenHoldsNoLeaseMore(t *testing.T) {
	l := newLab(t)
	l.prepare(2)
	l.issue(l.grant("view", "default"))
	if !l.Delete("configmaps", l.pool(1), "vimbroker-claim") {
		t.Fatal("the first namespace of the pool is not claimed")
	}
	for _, name := range accountsIn(l.Server) {
		l.Delete("serviceaccounts", l.pool(1), strings.TrimPrefix(name, l.pool(1)+"/"))
	}
	other := kubernetes.New(kubernetes.Options{Now: l.clock.Now}) // another replica
	t.Cleanup(other.Close)
	edit := l.grant("edit", "default")
	if _, err := other.Issue(t.Context(), l.access, edit); err != nil {
		t.Fatal(err)
	}
	g := l.grant("view", "default")
	l.issue(g)
	want := []string{l.pool(1) + "/" + edit.Handle, l.pool(2) + "/" + g.Handle}
	if got := accountsIn(l.Server); !slices.Equal(got, want) {
		t.Errorf("accounts %q, want %q: leases of two grants share a namespace", got, want)
	}
}

// Looking takes one request for each place, at the same time as the account is made or read.
func TestWhatLookingCosts(t *testing.T) {
	b := newBench(t)
	for what, c := range map[string]struct {
		namespaces   []string
		rules        bool
		issue, renew int
	}{
		"on the cluster":            {nil, false, 3, 3},
		"in a namespace":            {[]string{"default"}, false, 3, 3},
		"in two":                    {[]string{"default", "kube-public"}, false, 4, 4},
		"with exact rules":          {[]string{"default"}, true, 4, 4},
		"with exact rules, cluster": {nil, true, 4, 4},
	} {
		grant := func() broker.Grant {
			g := b.grant()
			g.Namespaces, g.ClusterWide = c.namespaces, len(c.namespaces) == 0
			if c.rules {
				g.Role, g.Rules = "", []broker.Rule{reads("configmaps")}
			}
			return g
		}
		g := grant()
		if _, err := b.d.Issue(t.Context(), b.a, g); err != nil {
			t.Fatal(err)
		}
		for method, call := range map[string]func() error{
			"Issue": func() error { _, err := b.d.Issue(t.Context(), b.a, grant()); return err },
			"Renew": func() error { _, err := b.d.Renew(t.Context(), b.a, g); return err },
		} {
			want := map[string]int{"Issue": c.issue, "Renew": c.renew}[method]
			b.s.Requests() // and forget them
			if err := call(); err != nil {
				t.Fatal(err)
			}
			if n := b.counted(); total(n) != want {
				t.Errorf("%s of a lease %s made %v, want %d requests", method, what, slices.Sorted(maps.Keys(n)), want)
			}
		}
	}
	b.s.Requests()
	b.meet("/serviceaccounts$", "/clusterrolebindings/vimbroker-[0-9a-f]+$")
	b.issue()
}

// An inventory names the leases that cannot do what they were granted, and where.
func TestInventorySaysWhichLeasesAreNotBound(t *testing.T) {
	l := newLab(t)
	l.makeNamespaces("web", "db")
	both, wide, whole := l.grant("edit", "web", "db"), l.grant("view"), l.grant("admin", "web")
	for _, g := range []broker.Grant{both, wide, whole} {
		l.issue(g)
	}
	unbound := func() map[string][]string {
		t.Helper()
		found, err := l.driver.Inventory(t.Context(), l.access)
		if err != nil || len(found) != 3 {
			t.Fatalf("Inventory = %+v, %v, want three", found, err)
		}
		of := map[string][]string{}
		for _, u := range found {
			if len(u.Unbound) > 0 {
				of[u.Handle] = u.Unbound
			}
		}
		return of
	}
	if got := unbound(); len(got) > 0 {
		t.Errorf("unbound %v, want none", got)
	}
	l.again("db")
	l.ofOurs("clusterrolebindings", "")
	want := map[string][]string{both.Handle: {"db"}, wide.Handle: {"*"}}
	if got := unbound(); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("unbound %v, want %v", got, want)
	}
	for _, g := range []broker.Grant{both, wide} {
		if _, err := l.driver.Renew(t.Context(), l.access, g); err != nil {
			t.Fatal(err)
		}
	}
	if got := unbound(); len(got) > 0 {
		t.Errorf("unbound %v after new tokens were minted, want none", got)
	}
}

// An account that stands elsewhere than where others of its grant do is bound where it stands.
func TestATokenIsBoundWhereItsAccountStands(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("edit", "default")) // in a namespace of its own
	first := strings.TrimPrefix(l.Names("rolebindings", "default")[0], "default/")
	l.prepare(1)
	l.drive(kubernetes.Options{})
	g := l.grant("edit", "default")
	l.issue(g) // in the pool
	l.drive(kubernetes.Options{})
	if !l.Delete("rolebindings", "default", first+"-2") {
		t.Fatalf("bindings %q, want a second", l.Names("rolebindings", "default"))
	}
	if m, err := l.driver.Renew(t.Context(), l.access, g); err != nil || !l.may(m, "default") {
		t.Errorf("Renew: %v, want a token with the rights of the lease", err)
	}
}

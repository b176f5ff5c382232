package kubernetes_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// said demands an error of that kind with those words, or none where kind is nil.
func said(t *testing.T, what string, err, kind error, words string) {
	t.Helper()
	if kind == nil {
		if err != nil {
			t.Errorf("%s: %v, want no error", what, err)
		}
		return
	}
	want(t, what, err, kind)
	if err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want it to say %q", what, err, words)
	}
}

// refuse has requests that match be refused, from the nth on so many.
func (l *swept) refuse(nth, times int, method, path string, status int) {
	l.fail(nth, fake.Fault{Method: method, Path: path, Kind: fake.Refuse, Status: status, Times: times})
}

// answer has the nth request that matches be answered with JSON.
func (l *swept) answer(nth int, method, path string, status int, body string) {
	l.fail(nth, fake.Fault{Method: method, Path: path, Kind: fake.JSON, Status: status, Body: body})
}

// fail arms a fault for requests that match, from the nth on.
func (l *swept) fail(nth int, f fake.Fault) {
	if nth > 1 {
		l.s.Fail(fake.Fault{Method: f.Method, Path: f.Path, Times: nth - 1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte { return body }})
	}
	l.s.Fail(f)
}

// missing is how an API server says that there is no object of that name.
func missing(resource, name string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":%q,"kind":%q}}`, name, resource)
}

// change changes an object behind everyone's back.
func (l *swept) change(plural, namespace, name string, change func(metav1.Object)) {
	l.t.Helper()
	if !l.s.Update(plural, namespace, name, change) {
		l.t.Fatalf("no %s %s/%s", plural, namespace, name)
	}
}

// ends makes an object be deleted once its finalizer is gone.
func ends(o metav1.Object) {
	at := metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	o.SetDeletionTimestamp(&at)
	o.SetFinalizers([]string{"example.com/keeps"})
}

// asked counts the requests since the last count that begin so.
func (l *swept) asked(begin string) (n int) {
	for _, r := range l.s.Requests() {
		if strings.HasPrefix(r.Method+" "+r.Path, begin) {
			n++
		}
	}
	return n
}

const room = "vimbroker-" + "11111111" + "-"

// nowhere is an access whose authorities are none.
func (l *swept) nowhere() broker.Access {
	a := l.access
	a.Target.CACert = "none"
	return a
}

// What cannot be connected to is refused by its field, whatever is asked.
func TestATargetThatCannotBe(t *testing.T) {
	l := cluster(t)
	g := l.grant("view", nil)
	for name, call := range map[string]func(broker.Access) error{
		"Identify": func(a broker.Access) error { _, err := l.driver.Identify(t.Context(), a); return err },
		"Issue":    func(a broker.Access) error { _, err := l.driver.Issue(t.Context(), a, g); return err },
		"Tidy":     func(a broker.Access) error { return l.driver.Tidy(t.Context(), a, g) },
		"Dead": func(a broker.Access) error {
			dead, err := l.driver.Dead(t.Context(), a, broker.Credential{Token: secret.NewText("t")})
			if dead {
				t.Error("a token that was sent nowhere is dead")
			}
			return err
		},
		"Appoint": func(a broker.Access) error { _, _, err := l.driver.Appoint(t.Context(), a, engine); return err },
		"Reappoint": func(a broker.Access) error {
			a.Discovered = broker.Discovered{Cluster: &broker.Cluster{Profile: "engine"}}
			a.Credential.Token = secret.NewText(claims(`{"kubernetes.io":{"namespace":"vimbroker-account-a","serviceaccount":{"uid":"u"}}}`))
			_, _, err := l.driver.Reappoint(t.Context(), a)
			return err
		},
	} {
		said(t, name, call(l.nowhere()), broker.ErrInvalid, "caCert: ")
		a := l.access
		a.Target.Endpoint = "http://[::1"
		said(t, name, call(a), broker.ErrInvalid, "endpoint: ")
	}
	if n := len(l.s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	without := g
	without.Epoch = 0
	if _, err := l.driver.Issue(t.Context(), l.access, without); err == nil || !strings.Contains(err.Error(), "without an epoch") {
		t.Errorf("a lease without an epoch: %v", err)
	}
	short := g
	short.TTL = time.Second
	_, err := l.driver.Renew(t.Context(), l.access, short)
	said(t, "Renew for a second", err, broker.ErrInvalid, "ttl: ")
}

// claims is a token with these claims.
func claims(of string) string { return "a." + base64.RawURLEncoding.EncodeToString([]byte(of)) + ".c" }

// What the cluster answers decides what becomes of the broker's own account.
func TestAnAccountIsWhatTheClusterSays(t *testing.T) {
	const home, role, bound = "/namespaces/" + accountHome + "$", "/clusterroles/", "/clusterrolebindings"
	owned := func(o metav1.Object) { o.SetOwnerReferences(nil) }
	for name, c := range map[string]struct {
		before  bool // the account stands already
		profile string
		make    func(*swept)
		kind    error
		says    string
		stays   bool // what was made is left, as nobody knows what came of the rest
	}{
		"a home without a uid": {make: func(l *swept) {
			l.answer(1, "POST", "/namespaces$", 201, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"`+accountHome+`"}}`)
		}, kind: broker.ErrUnreachable, says: "as a Kubernetes API server does"},
		"a home that goes": {before: true, make: func(l *swept) { l.change("namespaces", "", accountHome, ends) }, kind: broker.ErrUnreachable, says: "namespace " + accountHome + " is being deleted"},
		"a home of another VIM": {before: true, make: func(l *swept) {
			l.change("namespaces", "", accountHome, func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "x" })
			l.refuse(1, 1, "PUT", home, 403)
		}, kind: broker.ErrForbidden, says: "may not update namespace " + accountHome},
		"an account without uid": {make: func(l *swept) {
			l.answer(1, "POST", "/serviceaccounts$", 201, `{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"vimbroker"}}`)
		}, kind: broker.ErrUnreachable, says: "as a Kubernetes API server does", stays: true},
		"an account that goes":    {before: true, make: func(l *swept) { l.change("serviceaccounts", accountHome, "vimbroker", ends) }, kind: broker.ErrUnreachable, says: "the broker's own account is being deleted"},
		"a role without an owner": {before: true, make: func(l *swept) { l.change("clusterroles", "", accountHome, owned) }},
		"a role not to be changed": {before: true, make: func(l *swept) {
			l.change("clusterroles", "", accountHome, func(o metav1.Object) { o.(*rbacv1.ClusterRole).Rules = nil })
			l.refuse(1, 1, "PUT", role, 403)
		}, kind: broker.ErrForbidden, says: "create clusterroles with these rules"},
		"a binding without an owner": {before: true, make: func(l *swept) { l.change("clusterrolebindings", "", accountHome, owned) }},
		"a binding to another role": {before: true, make: func(l *swept) {
			l.change("clusterrolebindings", "", accountHome, func(o metav1.Object) { o.(*rbacv1.ClusterRoleBinding).RoleRef.Name = "view" })
		}},
		"a binding that stays": {before: true, make: func(l *swept) {
			l.change("clusterrolebindings", "", accountHome, owned)
			for range 2 {
				l.s.Fail(fake.Fault{Method: "DELETE", Path: bound, Kind: fake.JSON, Status: 200, Body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`})
			}
		}, kind: broker.ErrConflict, says: "clusterrolebinding " + accountHome + " on the cluster is being deleted"},
		"a binding not to be removed": {before: true, make: func(l *swept) {
			l.change("clusterrolebindings", "", accountHome, owned)
			l.refuse(1, 1, "DELETE", bound, 403)
		}, kind: broker.ErrForbidden, says: "may not delete clusterrolebinding " + accountHome},
		"an engine not to be removed": {before: true, profile: "leases", make: func(l *swept) { l.refuse(1, 1, "DELETE", "engine$", 403) }, kind: broker.ErrForbidden, says: "may not delete clusterrolebinding " + accountHome + "-engine"},
		"an engine's binding of others": {before: true, profile: "leases", make: func(l *swept) {
			l.change("clusterrolebindings", "", accountHome+"-engine", func(o metav1.Object) { o.SetLabels(nil); o.SetOwnerReferences(nil) })
		}, says: "clusterrolebindings " + accountHome + "-engine"},
		"an engine's role of others": {before: true, profile: "leases", make: func(l *swept) {
			l.change("clusterroles", "", accountHome+"-engine", func(o metav1.Object) { o.SetLabels(nil); o.SetOwnerReferences(nil) })
		}, says: "clusterroles " + accountHome + "-engine"},
	} {
		t.Run(name, func(t *testing.T) {
			l := cluster(t)
			appoint := func(profile string) error {
				_, _, err := l.driver.Appoint(t.Context(), l.access, broker.Account{Name: engine.Name, Profile: profile})
				return err
			}
			var stood []string
			if c.before {
				if err := appoint("engine"); err != nil {
					t.Fatal(err)
				}
				stood = l.s.Objects()
			}
			c.make(l)
			profile := c.profile
			if profile == "" {
				profile = "engine"
			}
			said(t, "Appoint", appoint(profile), c.kind, c.says)
			if !c.before {
				if there := slices.Contains(l.s.Names("namespaces", ""), accountHome); there != c.stays {
					t.Errorf("the account's namespace is there: %t", there)
				}
				if n := l.asked("POST /api/v1/namespaces/"); !c.stays && n != 0 {
					t.Errorf("%d objects are made in a namespace that is none", n)
				}
			}
			kinds := l.s.Names("clusterroles", "")
			if c.says == "clusterrolebindings "+accountHome+"-engine" {
				kinds = l.s.Names("clusterrolebindings", "")
			}
			switch {
			case c.kind == nil && c.profile != "":
				if !slices.Contains(kinds, accountHome+"-engine") {
					t.Errorf("%s is gone, which is not the account's", c.says)
				}
			case c.kind == nil:
				if got := l.s.Objects(); !slices.Equal(got, stood) {
					t.Errorf("there is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(stood, "\n"))
				}
			}
		})
	}
}

// The broker's own accounts are seen by their labels and their names, while they stand.
func TestAccountsThatAreShown(t *testing.T) {
	item := func(vim, name string, more string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"vimbroker.io/vim":%q,"vimbroker.io/account":"a"}%s}}`, name, vim, more)
	}
	its, other := item(sweptVIM, "vimbroker-account-a", ""), item(sweptVIM, "default", "")
	for name, c := range map[string]struct {
		items, next string
		then        int
		want        bool
		kind        error
	}{
		"its own":                {items: its, want: true},
		"before another's":       {items: its + "," + other, want: true},
		"after another's":        {items: other + "," + its, want: true},
		"of another name":        {items: other},
		"of another VIM":         {items: item("x", "vimbroker-account-a", "")},
		"on its way out":         {items: item(sweptVIM, "vimbroker-account-a", `,"deletionTimestamp":"2030-01-01T00:00:00Z"`)},
		"on a page before a bad": {items: its, next: "x", then: 503, kind: broker.ErrUnreachable},
		"not to be seen":         {items: its, next: "x", then: 403},
	} {
		l := cluster(t)
		l.answer(1, "GET", "/namespaces$", 200, fmt.Sprintf(`{"kind":"NamespaceList","metadata":{"continue":%q},"items":[%s]}`, c.next, c.items))
		if c.then != 0 {
			l.refuse(1, 1, "GET", "/namespaces$", c.then)
		}
		a := l.access
		a.VIM = "99999999-2222-4333-8444-555555555555" // which asks, and is not what is asked for
		there, err := l.driver.Shows(t.Context(), a, sweptVIM)
		said(t, name, err, c.kind, "")
		for _, r := range l.s.Requests() {
			if strings.HasSuffix(r.Path, "/namespaces") && !strings.Contains(r.Query, sweptVIM) {
				t.Errorf("an account %s is asked for by %s", name, r.Query)
			}
		}
		if there != (c.want || c.then == 403) {
			t.Errorf("an account %s is there: %t", name, there)
		}
	}
}

// Only a token of the broker's own account is renewed by itself.
func TestTokensThatAreNoAccounts(t *testing.T) {
	l := cluster(t)
	for name, token := range map[string]string{
		"of another namespace": claims(`{"kubernetes.io":{"namespace":"default","serviceaccount":{"uid":"u"}}}`),
		"of a lease":           claims(`{"kubernetes.io":{"namespace":"vimbroker-0123456789abcdef0123","serviceaccount":{"name":"lease-a","uid":"u"}}}`),
		"of a namesake":        claims(`{"kubernetes.io":{"namespace":"vimbroker-accounts","serviceaccount":{"name":"vimbroker","uid":"u"}}}`),
		"without a uid":        claims(`{"kubernetes.io":{"namespace":"vimbroker-account-a","serviceaccount":{"name":"vimbroker"}}}`),
		"of nobody":            "x",
	} {
		a := l.access
		a.Discovered = broker.Discovered{Cluster: &broker.Cluster{Profile: "engine"}}
		a.Credential.Token = secret.NewText(token)
		_, _, err := l.driver.Reappoint(t.Context(), a)
		said(t, "a token "+name, err, broker.ErrInvalid, "credential: is no token of the broker's own account")
	}
	if n := len(l.s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// A cluster that does not take tokens of the account is asked for as long as an API server may need to learn of it.
func TestAnAccountWhoseTokensAreNotTaken(t *testing.T) {
	t.Parallel() // it waits eight seconds
	l := cluster(t)
	l.refuse(1, -1, "POST", "/selfsubjectreviews$", 401)
	_, _, err := l.driver.Appoint(t.Context(), l.access, engine)
	said(t, "Appoint", err, broker.ErrForbidden, "does not take tokens of the broker's own account")
	if n := l.asked("POST /apis/authentication.k8s.io/v1/selfsubjectreviews"); n < 2 {
		t.Errorf("it was asked %d times", n)
	}
	if got := slices.DeleteFunc(l.s.Names("serviceaccounts", ""), func(n string) bool { return !strings.Contains(n, "account-") }); len(got) > 0 {
		t.Errorf("the account that cannot be is left: %q", got)
	}
}

// What is forgotten is the VIM's own alone.
func TestForgettingLeavesOthersAlone(t *testing.T) {
	l := cluster(t)
	cred, report, err := l.driver.Appoint(t.Context(), l.access, engine)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"vimbroker.io/vim": sweptVIM, "vimbroker.io/account": "another"}
	if _, err := l.client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: labels}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	admin := l.access
	l.access.Credential, l.access.Discovered = cred, report.Discovered
	l.answer(1, "DELETE", "/namespaces/"+accountHome+"$", 404, missing("namespaces", accountHome))
	if err := l.driver.Forget(t.Context(), admin); err != nil {
		t.Errorf("Forget where the account's home is gone in between: %v", err)
	}
	if !slices.Contains(l.s.Names("namespaces", ""), "shop") {
		t.Error("a namespace with the account's label, and another's name, is removed")
	}
}

// What was made for an account that cannot be goes, also where its namespace stays; what a cluster leaves out of an answer is known.
func TestWhatIsMadeForAnAccountGoes(t *testing.T) {
	l := cluster(t)
	l.s.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"}, fakekube.Denial{Verb: "delete", Resource: "namespaces"})
	_, _, err := l.driver.Appoint(t.Context(), l.access, engine)
	said(t, "Appoint without its token", err, broker.ErrForbidden, "serviceaccounts/token")
	for _, kind := range []string{"serviceaccounts", "clusterroles", "clusterrolebindings"} {
		if left := slices.DeleteFunc(l.s.Names(kind, ""), func(n string) bool { return !strings.Contains(n, "account-") }); len(left) > 0 {
			t.Errorf("%s are left: %q", kind, left)
		}
	}
	if !strings.Contains(l.log.String(), "is left on the cluster") || !strings.Contains(l.log.String(), accountHome) {
		t.Errorf("of the namespace that is left the log says %s", l.log)
	}
	l = cluster(t)
	l.s.Fail(fake.Fault{Method: "POST", Path: "/serviceaccounts$", Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		return []byte(strings.Replace(string(body), `"namespace":"`+accountHome+`",`, "", 1))
	}})
	for _, name := range []string{engine.Name, "another"} {
		if _, _, err := l.driver.Appoint(t.Context(), l.access, broker.Account{Name: name, Profile: "leases"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	if left := slices.DeleteFunc(l.s.Names("namespaces", ""), func(n string) bool { return !strings.Contains(n, "account-") }); len(left) > 0 {
		t.Errorf("of two accounts there is left %q", left)
	}
}

// squat takes the first so many names of the binding of the one home in namespace default.
func (l *swept) squat(n int) {
	l.t.Helper()
	home := homesOf(l.s)[0]
	for i := 1; i <= n; i++ {
		name := home
		if i > 1 {
			name = fmt.Sprintf("%s-%d", home, i)
		}
		b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
		if _, err := l.client().RbacV1().RoleBindings("default").Create(l.t.Context(), b, metav1.CreateOptions{}); err != nil {
			l.t.Fatal(err)
		}
	}
}

// A home's binding has one of eight names, and stands where the others are somebody's.
func TestBindingsUnderEachName(t *testing.T) {
	for _, squatted := range []int{7, 8} {
		l := cluster(t)
		g := l.grant("view", nil, "default")
		l.issued(g)
		l.unbind("rolebindings")
		l.squat(squatted)
		_, err := l.driver.Renew(t.Context(), l.access, g)
		if squatted == 8 {
			said(t, "Renew where others have all names", err, broker.ErrConflict, "binding default/"+homesOf(l.s)[0]+"-8 exists")
		} else if err != nil {
			t.Fatal(err)
		}
		found, err := l.driver.Inventory(t.Context(), l.access)
		if err != nil || len(found) != 1 || slices.Contains(found[0].Unbound, "default") != (squatted == 8) {
			t.Errorf("where others have %d names: %+v, %v", squatted, found, err)
		}
	}
	// Each place that lacks it is told, and whatever else carries the home's labels goes with it.
	l := cluster(t)
	places := []string{"default", "kube-public", "kube-node-lease"}
	for _, n := range places {
		_, _ = l.client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}, metav1.CreateOptions{})
	}
	g := l.grant("view", nil, places...)
	l.issued(g)
	home := homesOf(l.s)[0]
	for _, n := range places[1:] {
		l.s.Delete("rolebindings", n, home)
	}
	if found, err := l.driver.Inventory(t.Context(), l.access); err != nil || len(found) != 1 || !slices.Equal(found[0].Unbound, []string{"kube-public", "kube-node-lease"}) &&
		!slices.Equal(found[0].Unbound, []string{"kube-node-lease", "kube-public"}) {
		t.Errorf("without two of three bindings: %+v, %v", found, err)
	}
	labels := map[string]string{"vimbroker.io/vim": sweptVIM, "vimbroker.io/grant": home}
	for _, name := range []string{"extra-a", "extra-b", "extra-c"} {
		b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
		if _, err := l.client().RbacV1().RoleBindings("default").Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.driver.Tidy(t.Context(), l.access, g); err != nil || len(l.s.Names("rolebindings", "default")) > 0 {
		t.Errorf("Tidy = %v, and leaves %q", err, l.s.Names("rolebindings", "default"))
	}
	l = cluster(t)
	for _, lease := range []string{"a", "b", "c"} {
		g := l.grant("view", nil, "default")
		g.Lease, g.Handle = lease, "lease-"+lease
		l.issued(g)
	}
	l.s.Requests()
	if found, err := l.driver.Inventory(t.Context(), l.access); err != nil || len(found) != 3 {
		t.Fatalf("Inventory = %+v, %v", found, err)
	}
	if n := l.asked("GET /apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/"); n != 1 {
		t.Errorf("the binding of three leases of one home is read %d times", n)
	}
}

// Where a step of a lease meets what another left, or a cluster that does not say, the lease is not issued.
func TestALeaseIsNotIssuedOnDoubt(t *testing.T) {
	rules := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	const home, roles, bindings = "/namespaces/vimbroker-[0-9a-f]+$", "/namespaces/default/roles", "/namespaces/default/rolebindings"
	for name, c := range map[string]struct {
		make func(l *swept, home string)
		kind error
		says string
	}{
		"the home is not shown": {func(l *swept, _ string) { l.refuse(1, 1, "GET", home, 503) }, broker.ErrUnreachable, "(503)"},
		"the home goes":         {func(l *swept, home string) { l.change("namespaces", "", home, ends) }, broker.ErrConflict, "is being deleted"},
		"the role is not shown": {func(l *swept, _ string) { l.refuse(1, 1, "GET", roles+"/", 503) }, broker.ErrUnreachable, "(503)"},
		"the role goes": {func(l *swept, home string) {
			l.s.After("POST", roles+"$", func() { l.s.Delete("roles", "default", home) })
		}, broker.ErrConflict, "role default/vimbroker-"},
		"the binding is not shown": {func(l *swept, _ string) { l.refuse(1, 1, "GET", bindings+"/", 503) }, broker.ErrUnreachable, "(503)"},
		"the binding goes": {func(l *swept, home string) {
			l.s.After("POST", bindings+"$", func() { l.s.Delete("rolebindings", "default", home) })
		}, broker.ErrConflict, "rolebinding default/vimbroker-"},
		"the namespace goes": {func(l *swept, _ string) {
			l.change("namespaces", "", "default", func(o metav1.Object) { o.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating })
		}, broker.ErrInvalid, "namespaces: namespace default is being deleted"},
		"the account goes": {func(l *swept, home string) { l.change("serviceaccounts", home, "lease-"+sweptLease, ends) }, broker.ErrConflict, "serviceaccount vimbroker-"},
		"the account has no uid": {func(l *swept, _ string) {
			l.answer(1, "GET", "/serviceaccounts/lease-", 200, fmt.Sprintf(`{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"lease-%s","labels":{"vimbroker.io/vim":%q,"vimbroker.io/grant":%q,"vimbroker.io/lease":%q}}}`,
				sweptLease, sweptVIM, homesOf(l.s)[0], sweptLease))
		}, broker.ErrUnreachable, "as a Kubernetes API server does"},
		"the namespace is emptied": {func(l *swept, _ string) {
			l.answer(1, "POST", "/serviceaccounts$", 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"details":{"causes":[{"reason":"NamespaceTerminating"}]}}`)
		}, broker.ErrConflict, "while that namespace is being deleted (403)"},
	} {
		l := cluster(t)
		g := l.grant("", rules, "default")
		l.issued(g)
		c.make(l, homesOf(l.s)[0])
		l.anew(kubernetes.TrialNever) // another replica, which makes all again
		m, err := l.driver.Issue(t.Context(), l.access, g)
		said(t, name, err, c.kind, c.says)
		if !m.Credential.Empty() {
			t.Errorf("%s: a credential is handed out", name)
		}
	}
}

// A room of a pool is the home's for as long as its claim says so.
func TestRoomsOfAPool(t *testing.T) {
	second := func(l *swept) broker.Grant {
		g := l.grant("view", nil)
		g.Lease, g.Handle = "b", "lease-b"
		return g
	}
	// A claim that is not shown is neither there nor gone, and the home is not forgotten by it.
	l := cluster(t).prepared()
	first := l.grant("view", nil)
	l.issued(first)
	l.refuse(1, 1, "GET", "/configmaps/", 503)
	_, err := l.driver.Issue(t.Context(), l.access, second(l))
	said(t, "Issue beside a claim that is not shown", err, broker.ErrUnreachable, "(503)")
	for _, lease := range []string{"b", "c", "d"} {
		g := second(l)
		g.Lease, g.Handle = lease, "lease-"+lease
		l.s.Requests()
		l.issued(g)
		if n := l.asked("POST /api/v1/namespaces"); n != 2 {
			t.Errorf("after it %d requests make something, want the account and its token", n)
		}
	}
	// A default account that stays would act for the home's group.
	l = cluster(t).prepared()
	if _, err := l.client().CoreV1().ServiceAccounts(room+"1").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.refuse(1, 1, "DELETE", "/serviceaccounts/default$", 403)
	_, err = l.driver.Issue(t.Context(), l.access, l.grant("view", nil))
	said(t, "Issue beside a default account that stays", err, broker.ErrForbidden, "may not delete serviceaccount "+room+"1/default")
	// A claim that goes in between is none to release.
	l = cluster(t).prepared()
	l.issued(l.grant("view", nil))
	l.answer(3, "GET", "/configmaps/vimbroker-claim$", 404, missing("configmaps", "vimbroker-claim"))
	if err := l.driver.Tidy(t.Context(), l.access, l.grant("view", nil)); err != nil {
		t.Errorf("Tidy where the claim goes in between: %v", err)
	}
	// A room that goes without a claim is no room.
	l = cluster(t).prepared()
	l.change("namespaces", "", room+"1", ends)
	r, err := l.driver.Check(t.Context(), l.access)
	if c := r.Discovered.Cluster; err != nil || c.Pool != 1 || c.PoolFree != 1 {
		t.Errorf("a pool of two of which one goes: %+v, %v", c, err)
	}
	// The pool has its size at most.
	l = cluster(t)
	for n := 1; n <= 65; n++ {
		if _, err := l.client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(room, n)}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	l.s.Deny(fakekube.Denial{Verb: "create", Resource: "namespaces"})
	if r, err := l.driver.Check(t.Context(), l.access); err != nil || r.Discovered.Cluster.Pool != 64 {
		t.Errorf("a pool of 65 has %+v, %v", r.Discovered.Cluster, err)
	}
}

// A lease whose account stands elsewhere than its home was seen last is found there.
func TestLeasesElsewhere(t *testing.T) {
	l := cluster(t).prepared()
	g := l.grant("edit", nil, "default")
	m := l.issued(g)
	next := g
	next.Lease, next.Handle = "b", "lease-b"
	l.s.Deny() // it may make namespaces by now
	l.anew(kubernetes.TrialNever)
	l.issued(next)
	if _, err := l.driver.Renew(t.Context(), l.access, g); err != nil {
		t.Errorf("Renew of a lease in the room of before: %v", err)
	}
	l.refuse(3, 1, "GET", "/namespaces/default/rolebindings/", 503)
	_, err := l.driver.Renew(t.Context(), l.access, g)
	said(t, "Renew where the bindings of that room are not shown", err, broker.ErrUnreachable, "(503)")
	l.s.Heal()
	// The first place refuses, and is the home's.
	l.anew(kubernetes.TrialNever)
	l.s.Deny(fakekube.Denial{Verb: "delete", Resource: "serviceaccounts", Namespace: slices.DeleteFunc(homesOf(l.s), func(n string) bool { return strings.HasPrefix(n, room) })[0]})
	err = l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: next.Handle, Grant: next, UID: "u"})
	said(t, "Revoke in a home where it may not", err, broker.ErrForbidden, "may not delete serviceaccounts in namespace vimbroker-")
	l.s.Deny()
	// What a cluster says it has deleted is deleted.
	l.anew(kubernetes.TrialNever)
	l.fail(1, fake.Fault{Method: "DELETE", Path: "/" + room + "1/serviceaccounts/", Kind: fake.JSON, Late: true, Status: 200, Body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`})
	l.access.Identity = "another"
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g, UID: m.UID}); err != nil {
		t.Errorf("Revoke, which the cluster says is done: %v", err)
	}
}

// A lease whose id nobody knows is revoked by its account's home; one that is known, by its id as well.
func TestRevokingWithoutALease(t *testing.T) {
	l := cluster(t)
	g := l.grant("view", nil)
	l.issued(g)
	unknown := broker.Issued{Handle: g.Handle, Grant: g}
	unknown.Grant.Lease = ""
	if err := l.driver.Revoke(t.Context(), l.access, unknown); err != nil || len(accountsIn(l.s)) != 0 {
		t.Errorf("Revoke of a lease of which nothing but its home is known: %v, left %q", err, accountsIn(l.s))
	}
	for lease, warns := range map[string]bool{"": false, "another": true, sweptLease: false, "of another VIM": true} {
		l := cluster(t)
		g := l.grant("view", nil)
		i := broker.Issued{Handle: g.Handle, Grant: g, UID: l.issued(g).UID}
		if i.Grant.Lease = lease; lease == "of another VIM" {
			i.Grant.Lease = ""
			l.change("serviceaccounts", homesOf(l.s)[0], g.Handle, func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "x" })
		}
		if err := l.driver.Revoke(t.Context(), l.access, i); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(l.log.String(), "somebody changed the labels"); got != warns {
			t.Errorf("revoked as lease %q: the log says %q", lease, l.log)
		}
	}
}

// Without the right to list all accounts, those of the pool are the leases there are.
func TestInventoryOfAPool(t *testing.T) {
	start := func() *swept {
		l := cluster(t).prepared()
		for n, role := range []string{"view", "edit"} {
			g := l.grant(role, nil, "default")
			g.Lease, g.Handle = fmt.Sprint(n), fmt.Sprint("lease-", n)
			l.issued(g)
		}
		l.refuse(1, 1, "GET", "/api/v1/serviceaccounts$", 403)
		return l
	}
	l := start()
	found, err := l.driver.Inventory(t.Context(), l.access)
	if err != nil || len(found) != 2 || found[0].Lease != "0" || found[1].Lease != "1" {
		t.Errorf("Inventory = %+v, %v", found, err)
	}
	for path, words := range map[string]string{"/namespaces/" + room + "2$": "(503)", "/" + room + "2/serviceaccounts$": "(503)"} {
		l := start()
		l.refuse(1, 1, "GET", path, 503)
		found, err := l.driver.Inventory(t.Context(), l.access)
		said(t, "Inventory without "+path, err, broker.ErrUnreachable, words)
		if found != nil {
			t.Errorf("without %s it lists %+v", path, found)
		}
	}
}

// What stands on a cluster that is no lease's is told, and what cannot be read is an error.
func TestForeignThingsThatCannotBeRead(t *testing.T) {
	all := func(string) bool { return true }
	for name, c := range map[string]struct {
		nth    int
		path   string
		status int
		kind   error
	}{
		"homes":                {1, "/api/v1/namespaces$", 503, broker.ErrUnreachable},
		"rooms":                {1, "/namespaces/vimbroker-[0-9a-f]{20}$", 503, broker.ErrUnreachable},
		"accounts":             {1, "/serviceaccounts$", 503, broker.ErrUnreachable},
		"hidden accounts":      {1, "/serviceaccounts$", 403, nil},
		"namespaces of others": {2, "/api/v1/namespaces$", 503, broker.ErrUnreachable},
		"hidden namespaces":    {2, "/api/v1/namespaces$", 403, nil},
	} {
		l := cluster(t)
		l.issued(l.grant("view", nil))
		l.refuse(c.nth, 1, "GET", c.path, c.status)
		found, err := l.driver.Foreign(t.Context(), l.access, all)
		said(t, "Foreign without "+name, err, c.kind, "(503)")
		if len(found) != 0 {
			t.Errorf("without %s it finds %q", name, found)
		}
	}
	l := cluster(t)
	g := l.grant("view", nil)
	l.issued(g)
	home := homesOf(l.s)[0]
	if _, err := l.client().CoreV1().ServiceAccounts(home).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if found, err := l.driver.Foreign(t.Context(), l.access, all); err != nil || len(found) != 0 {
		t.Errorf("beside the account that every namespace has: %q, %v", found, err)
	}
	l.change("serviceaccounts", home, g.Handle, func(o metav1.Object) { delete(o.GetLabels(), "vimbroker.io/lease") })
	if found, err := l.driver.Foreign(t.Context(), l.access, all); err != nil || len(found) != 1 || !strings.HasPrefix(found[0], "serviceaccount "+home+"/lease-") {
		t.Errorf("an account with the home's labels and no lease's: %q, %v", found, err)
	}
}

// What a home says of itself counts where it is the VIM's own.
func TestHomesThatSaySomethingElse(t *testing.T) {
	l := cluster(t)
	other := l.access
	other.VIM = "99999999-2222-4333-8444-555555555555"
	g := l.grant("edit", nil, "default")
	if _, err := l.driver.Issue(t.Context(), other, g); err != nil {
		t.Fatal(err)
	}
	home := homesOf(l.s)[0]
	l.change("namespaces", "", home, func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = sweptVIM }) // by hand
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(l.s.Names("rolebindings", ""), "default/"+home) {
		t.Error("the deed of another VIM has removed its binding")
	}
	// A deed that was changed gives no place.
	l = cluster(t)
	l.issued(g)
	home = homesOf(l.s)[0]
	l.change("namespaces", "", home, func(o metav1.Object) {
		a := o.GetAnnotations()
		a["vimbroker.io/deed"] = strings.Replace(a["vimbroker.io/deed"], "default", "kube-public", 1)
	})
	l.change("rolebindings", "default", home, func(o metav1.Object) { o.SetLabels(nil) })
	if _, err := l.client().RbacV1().RoleBindings("kube-public").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: home, Labels: map[string]string{"vimbroker.io/grant": home}}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{groupOf("system:serviceaccounts:" + home)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(l.s.Names("rolebindings", ""), "kube-public/"+home) {
		t.Error("a deed that was changed has removed a binding in the place that it names")
	}
	if left := homesOf(l.s); len(left) > 0 {
		t.Errorf("a home whose deed was changed is left: %q", left)
	}
	// Rooms that are free, or somebody's, are no home.
	l = cluster(t).prepared()
	c := l.client().CoreV1()
	_, claim := c.ConfigMaps(room+"1").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-claim"}}, metav1.CreateOptions{})
	_, one := c.ServiceAccounts(room+"1").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}, metav1.CreateOptions{})
	_, two := c.ServiceAccounts(room+"2").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}, metav1.CreateOptions{})
	if err := errors.Join(claim, one, two); err != nil {
		t.Fatal(err)
	}
	before := l.s.Objects()
	if err := l.driver.Forget(t.Context(), l.access); err != nil || !slices.Equal(l.s.Objects(), before) {
		t.Errorf("Forget of a VIM with a pool and no lease: %v, and there is %q", err, l.s.Names("serviceaccounts", ""))
	}
}

// A VIM that was never checked, and shows neither namespaces nor a pool, is not taken for empty.
func TestAVIMThatShowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		cluster *broker.Cluster
		denied  []fakekube.Denial
		kind    error
	}{
		"never checked":            {nil, []fakekube.Denial{{Resource: "namespaces"}}, broker.ErrForbidden},
		"checked":                  {&broker.Cluster{}, []fakekube.Denial{{Resource: "namespaces"}}, nil},
		"never checked, with pool": {nil, []fakekube.Denial{{Verb: "list", Resource: "namespaces"}}, nil},
		"never checked, with list": {nil, []fakekube.Denial{{Verb: "get", Resource: "namespaces"}}, nil},
	} {
		l := cluster(t)
		l.access.Discovered.Cluster = c.cluster
		l.s.Deny(c.denied...)
		said(t, name, l.driver.Forget(t.Context(), l.access), c.kind, "may not list namespaces")
	}
	l := cluster(t)
	l.refuse(1, 1, "GET", "/clusterroles$", 503)
	said(t, "Forget where roles are not listed", l.driver.Forget(t.Context(), l.access), broker.ErrUnreachable, "(503)")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "left", Labels: map[string]string{"vimbroker.io/vim": sweptVIM}}}
	if _, err := l.client().RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.refuse(1, 1, "DELETE", "/clusterroles/left$", 503)
	said(t, "Forget where a role is not removed", l.driver.Forget(t.Context(), l.access), broker.ErrUnreachable, "(503)")
	if err := l.driver.Forget(t.Context(), l.access); err != nil || slices.Contains(l.s.Names("clusterroles", ""), "left") {
		t.Errorf("Forget of a role that is left: %v", err)
	}
}

// A role of the home's name goes with it if it is the home's by its labels or by its rules.
func TestRolesThatGoWithAHome(t *testing.T) {
	for name, c := range map[string]struct {
		change func(metav1.Object)
		stays  bool
	}{
		"its own":          {func(metav1.Object) {}, false},
		"without labels":   {func(o metav1.Object) { o.SetLabels(nil) }, false},
		"with other rules": {func(o metav1.Object) { o.(*rbacv1.Role).Rules = nil }, false},
		"another's":        {func(o metav1.Object) { o.SetLabels(nil); o.(*rbacv1.Role).Rules = nil }, true},
	} {
		l := cluster(t)
		g := l.grant("", sweptRules, "default")
		l.issued(g)
		l.change("roles", "default", homesOf(l.s)[0], c.change)
		if err := l.driver.Tidy(t.Context(), l.access, g); err != nil {
			t.Fatal(err)
		}
		if stays := len(l.s.Names("roles", "default")) == 1; stays != c.stays {
			t.Errorf("a role that is %s stays: %t", name, stays)
		}
	}
}

// A check names the rights of the way that lacks the fewest, and fails where the cluster stops to answer.
func TestTheWayThatLacksTheFewest(t *testing.T) {
	l := cluster(t)
	l.access.Target.Namespace = "default"
	l.s.Deny(fakekube.Denial{Verb: "get", Resource: "rolebindings", Namespace: "default"}, fakekube.Denial{Verb: "create", Resource: "rolebindings"})
	r, err := l.driver.Check(t.Context(), l.access)
	if err != nil || r.MintMessage != "the credential may not create rolebindings; grant it that right" {
		t.Errorf("it lacks two rights in its namespace, and one of them everywhere: %q, %v", r.MintMessage, err)
	}
	l.refuse(17, 1, "POST", "/selfsubjectaccessreviews$", 503)
	_, err = l.driver.Check(t.Context(), l.access)
	said(t, "Check whose second round is not answered", err, broker.ErrUnreachable, "(503)")
	l = cluster(t)
	l.s.Fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Times: -1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		return []byte(strings.ReplaceAll(string(body), `"allowed":true`, `"allowed":true,"denied":true`))
	}})
	if r, err := l.driver.Check(t.Context(), l.access); err != nil || r.CanMint {
		t.Errorf("what is allowed and denied is allowed: %+v, %v", r, err)
	}
}

// What an API server says of itself as its identity is as long as may be, or refused.
func TestAnIdentityAsLongAsMayBe(t *testing.T) {
	l := cluster(t)
	long := strings.Repeat("x", 64)
	l.answer(1, "GET", "/kube-system$", 200, `{"kind":"Namespace","metadata":{"name":"kube-system","uid":"`+long+`"}}`)
	if r, err := l.driver.Identify(t.Context(), l.access); err != nil || r.Identity != long {
		t.Errorf("an identity of 64 characters: %q, %v", r.Identity, err)
	}
	l.access.Identity = "another"
	_, _, err := l.driver.AccountKeys(t.Context(), l.access)
	said(t, "the keys of another cluster", err, broker.ErrConflict, "another cluster answers")
	s := broker.Shelved{Target: "t", Namespace: "default", Name: "s", Login: "l"}
	said(t, "a shelf on another cluster", l.driver.Shelve(t.Context(), l.access, s), broker.ErrConflict, "another cluster answers")
	if n := len(l.s.Names("secrets", "default")); n != 0 {
		t.Errorf("%d secrets are there", n)
	}
	// What is the shelf's gets the labels of now.
	l.access.Identity = ""
	for _, labels := range []map[string]string{{"a": "1"}, {"b": "2"}} {
		one := s
		one.Name, one.Labels, one.Data = "mine", labels, labels
		if err := l.driver.Shelve(t.Context(), l.access, one); err != nil {
			t.Fatal(err)
		}
	}
	l.change("secrets", "default", "mine", func(o metav1.Object) {
		if o.GetLabels()["b"] != "2" || o.GetLabels()["vimbroker.io/target"] != "t" {
			t.Errorf("it is labelled %v", o.GetLabels())
		}
		if data := o.(*corev1.Secret).Data; len(data) != 1 || string(data["b"]) != "2" {
			t.Errorf("it holds %q, want what it was given last alone", data)
		}
	})
	// What is another's stays, and is not written over.
	if _, err := l.client().CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := l.s.Objects()
	said(t, "Shelve beside a Secret of others", l.driver.Shelve(t.Context(), l.access, s), broker.ErrConflict, "secret default/ s exists")
	if err := l.driver.Unshelve(t.Context(), l.access, s); err != nil || !slices.Equal(l.s.Objects(), before) {
		t.Errorf("Unshelve beside a Secret of others: %v", err)
	}
}

// A grade that rests on what the cluster does not say is none.
func TestAGradeIsNotGivenOnDoubt(t *testing.T) {
	networks := []broker.Rule{{APIGroups: []string{"k8s.cni.cncf.io"}, Resources: []string{"network-attachment-definitions"}, Verbs: []string{"create"}}}
	secrets := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}
	pods := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}}
	for name, c := range map[string]struct {
		rules []broker.Rule
		path  string
	}{
		"networks":                    {networks, "/apis$"},
		"what is served, for secrets": {secrets, "/apis$"},
		"the level of a held lease":   {pods, "/namespaces/default$"},
		"the names of the namespaces": {secrets, "/api/v1/namespaces$"},
	} {
		l := cluster(t)
		g := l.grant("", c.rules, "default")
		g.Held = true
		l.refuse(1, 1, "GET", c.path, 503)
		_, err := l.driver.Grade(t.Context(), l.access, g)
		said(t, "Grade without "+name, err, broker.ErrUnreachable, "(503)")
	}
	// What has no part in a grade is not asked for, and what the cluster does not tell counts against the lease.
	l := cluster(t)
	g := l.grant("", secrets, "default")
	g.Held, g.Planned = true, true
	if _, err := l.driver.Grade(t.Context(), l.access, g); err != nil {
		t.Fatal(err)
	}
	for _, r := range l.s.Requests() {
		if r.Path == "/apis" || r.Path == "/api/v1/namespaces/default" {
			t.Errorf("the grade of a lease that makes no pods and no networks asks for %s", r.Path)
		}
		if agent := r.Header.Get("User-Agent"); agent != "vimbroker" {
			t.Errorf("a request is made as %q", agent)
		}
	}
	// A namespace that was seen to hold no pods is looked at again: it may have been labelled since.
	l = cluster(t)
	for _, step := range []struct {
		rules []broker.Rule
		want  broker.Grade
	}{{secrets, broker.GradeNamespaces}, {pods, broker.GradeNamespaces}} {
		if got, err := l.driver.Grade(t.Context(), l.access, l.grant("", step.rules, "kube-public")); err != nil || got.Grade != step.want {
			t.Errorf("of a namespace that is labelled in between: %s, %v, want %s", got.Grade, err, step.want)
		}
		l.change("namespaces", "", "kube-public", func(o metav1.Object) {
			o.SetLabels(map[string]string{"pod-security.kubernetes.io/enforce": "baseline"})
		})
	}
	for status, grade := range map[int]broker.Grade{403: broker.GradeUnbounded, 200: broker.GradeBounded} {
		l := cluster(t)
		if status != 200 {
			l.refuse(1, -1, "GET", "/apis$", status)
		}
		if got, err := l.driver.Grade(t.Context(), l.access, l.grant("", networks, "default")); err != nil || got.Grade != grade {
			t.Errorf("networks where the answer is %d: %s, %v, want %s", status, got.Grade, err, grade)
		}
	}
	for mode, wide := range map[string]bool{broker.ModePrepared: false, broker.ModeManaged: true} {
		l := cluster(t)
		l.access.Discovered.Cluster = &broker.Cluster{Mode: mode}
		g := l.grant("view", nil)
		g.ClusterWide = false
		got, err := l.driver.Grade(t.Context(), l.access, g)
		if err != nil || got.Grant.ClusterWide != wide || slices.Equal(got.Grant.Namespaces, []string{"default"}) == wide {
			t.Errorf("a view on a VIM in mode %s is for %q, cluster-wide %t, %v", mode, got.Grant.Namespaces, got.Grant.ClusterWide, err)
		}
	}
}

// What is served is what any version of a group has, whichever comes first.
func TestServedKindsAreOfEachVersion(t *testing.T) {
	for _, order := range []string{`{"groupVersion":"shop.example/v1"},{"groupVersion":"shop.example/v2"}`, `{"groupVersion":"shop.example/v2"},{"groupVersion":"shop.example/v1"}`} {
		l := cluster(t)
		l.s.Fail(fake.Fault{Method: "GET", Path: "/apis/shop.example$", Kind: fake.JSON, Status: 200, Body: `{"versions":[` + order + `]}`, Times: -1})
		l.s.Fail(fake.Fault{Method: "GET", Path: "/apis/shop.example/v1$", Kind: fake.JSON, Status: 200, Body: `{"resources":[{"name":"carts"},{"name":"carts/status"}]}`, Times: -1})
		l.s.Fail(fake.Fault{Method: "GET", Path: "/apis/shop.example/v2$", Kind: fake.JSON, Status: 200, Body: `{"resources":[{"name":"baskets"}]}`, Times: -1})
		for kinds, missing := range map[string]string{"carts": "", "baskets": "", "carts baskets": "", "carts goods baskets": "goods.shop.example"} {
			rules := []broker.Rule{{APIGroups: []string{"shop.example"}, Resources: strings.Fields(kinds), Verbs: []string{"get"}}}
			err := l.driver.CheckRules(t.Context(), l.access, rules)
			unserved, is := errors.AsType[*broker.MissingKinds](err)
			if is != (missing != "") || is && strings.Join(unserved.Resources, " ") != missing {
				t.Errorf("%s of %s: %v, want %q to be missing", kinds, order, err, missing)
			}
		}
	}
}

// Who the API server takes the credential for is told in printable letters, as many as may be.
func TestWhoACredentialIsForIsPrintable(t *testing.T) {
	for who, want := range map[string]string{
		`a\u001b[31mb\n c\u0007d`: "a[31mbcd", strings.Repeat("x", 256): strings.Repeat("x", 256), strings.Repeat("x", 257): strings.Repeat("x", 256), "ä~!": "~!",
	} {
		l := cluster(t)
		l.answer(1, "POST", "/selfsubjectreviews$", 201, `{"status":{"userInfo":{"username":"`+who+`"}}}`)
		r, err := l.driver.Check(t.Context(), l.access)
		if err != nil || r.Discovered.User != want {
			t.Errorf("%q is told as %q, %v, want %q", who, r.Discovered.User, err, want)
		}
	}
}

// What is served is what the cluster says in the form that it says it in; what it does not answer is an error.
func TestServedKindsThatAreNotSaid(t *testing.T) {
	carts := []broker.Rule{{APIGroups: []string{"shop.example"}, Resources: []string{"carts"}, Verbs: []string{"get"}}}
	const group, version = "/apis/shop.example$", "/apis/shop.example/v1$"
	l := cluster(t)
	l.refuse(1, 1, "GET", group, 503)
	said(t, "a group", l.driver.CheckRules(t.Context(), l.access, carts), broker.ErrUnreachable, "(503)")
	l.answer(1, "GET", group, 200, `{"versions": [{"groupVersion": "shop.example/v1"}]}`)
	l.refuse(1, 1, "GET", version, 503)
	said(t, "a version", l.driver.CheckRules(t.Context(), l.access, carts), broker.ErrUnreachable, "(503)")
	// A version that is none is not asked for, nor one of another group.
	l.answer(1, "GET", group, 200, `{"versions": [{"groupVersion": "shop.example/../v1"}, {"groupVersion": "other.example/v1"}, {"groupVersion": "shop.example/v1"}]}`)
	l.answer(1, "GET", version, 200, `{"resources": [{"name": "carts"}]}`)
	l.s.Requests()
	if err := l.driver.CheckRules(t.Context(), l.access, carts); err != nil {
		t.Error(err)
	}
	if n := l.asked(""); n != 2 {
		t.Errorf("%d requests ask what is served, want two", n)
	}
	// What was remembered is asked for again where it is not all; an error then is one.
	baskets := []broker.Rule{{APIGroups: []string{"shop.example"}, Resources: []string{"baskets"}, Verbs: []string{"get"}}}
	l.refuse(1, 1, "GET", group, 503)
	said(t, "what was remembered", l.driver.CheckRules(t.Context(), l.access, baskets), broker.ErrUnreachable, "(503)")
	l.s.Requests()
	// A name that no group has is not asked for.
	for _, group := range []string{"../x", "x/y", "x?y"} {
		err := l.driver.CheckRules(t.Context(), l.access, []broker.Rule{{APIGroups: []string{group}, Resources: []string{"carts"}, Verbs: []string{"get"}}})
		said(t, "a group that is none", err, broker.ErrInvalid, "serves no resource carts in group "+group)
	}
	if n := l.asked(""); n != 0 {
		t.Errorf("a group that is none takes %d requests", n)
	}
}

// A right is asked for once, however often rules name it, and escalating once for each place.
func TestRightsAreForeseenOnce(t *testing.T) {
	rule := func(resource string, verbs ...string) broker.Rule {
		return broker.Rule{APIGroups: []string{"shop.example"}, Resources: []string{resource}, Verbs: verbs}
	}
	for name, c := range map[string]struct {
		rules   []broker.Rule
		asked   int
		missing []string
	}{
		"one right":       {[]broker.Rule{rule("carts", "get")}, 2, []string{"carts.shop.example"}},
		"one right twice": {[]broker.Rule{rule("carts", "get"), rule("carts", "get")}, 2, []string{"carts.shop.example"}},
		"two verbs":       {[]broker.Rule{rule("carts", "get", "list")}, 3, []string{"carts.shop.example"}},
		"two kinds":       {[]broker.Rule{rule("carts", "get"), rule("baskets", "get")}, 3, []string{"carts.shop.example", "baskets.shop.example"}},
	} {
		l := cluster(t)
		l.s.Deny(fakekube.Denial{Resource: "carts"}, fakekube.Denial{Resource: "baskets"}, fakekube.Denial{Verb: "escalate"})
		err := l.driver.Foresee(t.Context(), l.access, broker.Grant{Namespaces: []string{"default"}, Rules: c.rules})
		said(t, name, err, broker.ErrForbidden, strings.Join(c.missing, ", "))
		if kinds, is := errors.AsType[*broker.MissingKinds](err); !is || !slices.Equal(kinds.Resources, c.missing) {
			t.Errorf("%s: %+v is missing, want %q", name, kinds, c.missing)
		}
		if n := l.asked("POST"); n != c.asked {
			t.Errorf("%s: %d reviews, want %d", name, n, c.asked)
		}
	}
	l := cluster(t)
	l.s.Deny(fakekube.Denial{Resource: "carts"})
	l.refuse(2, 1, "POST", "/selfsubjectaccessreviews$", 503)
	err := l.driver.Foresee(t.Context(), l.access, broker.Grant{Namespaces: []string{"default"}, Rules: []broker.Rule{rule("carts", "get")}})
	said(t, "whether it may escalate", err, broker.ErrUnreachable, "(503)")
}

// A trial whose questions are not answered fails the lease.
func TestATrialThatIsNotAnswered(t *testing.T) {
	for name, make := range map[string]func(*swept){
		"the role": func(l *swept) { l.refuse(2, 1, "GET", "/clusterroles/view$", 503) },
		"everybody's rights": func(l *swept) {
			l.s.Fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Times: -1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
				return []byte(strings.ReplaceAll(string(body), `"allowed":false`, `"allowed":true`))
			}})
			l.refuse(1, 1, "POST", "/subjectaccessreviews$", 503)
		},
	} {
		l := clusterWith(t, kubernetes.TrialAlways)
		make(l)
		m, err := l.driver.Issue(t.Context(), l.access, l.grant("view", nil))
		said(t, "a trial without "+name, err, broker.ErrUnreachable, "(503)")
		if !m.Credential.Empty() {
			t.Errorf("without %s a credential is handed out", name)
		}
	}
}

// A lease that can do more than its exact rules is revoked with what it can do in order, and the next one is tried.
func TestALeaseOfExactRulesThatCanDoMore(t *testing.T) {
	l := clusterWith(t, kubernetes.TrialSampled)
	one := func(n int) broker.Grant {
		g := l.grant("", []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{fmt.Sprint(n)}, Verbs: []string{"get"}}}, "default")
		g.Lease, g.Handle = fmt.Sprint(n), fmt.Sprint("lease-", n)
		return g
	}
	for n := range 2 {
		l.s.After("POST", "/serviceaccounts$", func() {
			for _, home := range homesOf(l.s) {
				_, _ = l.client().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ // also of one that is there
					ObjectMeta: metav1.ObjectMeta{Name: "more-" + home}, Subjects: []rbacv1.Subject{groupOf("system:serviceaccounts:" + home)},
					RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
				}, metav1.CreateOptions{})
			}
		})
		m, err := l.driver.Issue(t.Context(), l.access, one(n))
		said(t, fmt.Sprint("lease ", n), err, broker.ErrConflict, "lets the lease do more than it was granted: ")
		e, _ := errors.AsType[*broker.Error](err)
		_, can, _ := strings.Cut(e.Detail, "granted: ")
		if all := strings.Split(can, ", "); len(all) != 5 || !slices.IsSorted(all) || !m.Credential.Empty() {
			t.Errorf("lease %d can %q", n, all)
		}
	}
}

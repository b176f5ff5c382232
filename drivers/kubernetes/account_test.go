package kubernetes_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

var engine = broker.Account{Name: "0123456789abcdef0123", Profile: "engine"}

const accountHome = "vimbroker-account-0123456789abcdef0123"

// withCertificate is the access of a system:masters certificate, as Cluster API writes it.
func (l *lab) withCertificate() broker.Access {
	l.t.Helper()
	return l.as(broker.Credential{ClientCertificate: l.AdminCert, ClientKey: secret.NewText(l.AdminKey)})
}

// appoint makes the account, and returns the access that works as it.
func (l *lab) appoint(a broker.Access, w broker.Account) broker.Access {
	l.t.Helper()
	cred, report, err := l.driver.Appoint(l.t.Context(), a, w)
	if err != nil {
		l.t.Fatalf("Appoint: %v", err)
	}
	a.Credential, a.Discovered, a.Identity = cred, report.Discovered, report.Identity
	return a
}

// accountObjects are those of the account on the cluster.
func (l *lab) accountObjects() (names []string) {
	for _, kind := range []string{"namespaces", "serviceaccounts", "clusterroles", "clusterrolebindings"} {
		for _, n := range l.Names(kind, "") {
			if strings.Contains(n, "account-") {
				names = append(names, kind+" "+n)
			}
		}
	}
	return names
}

// The account works in the place of a certificate, with the rights of its profile.
func TestAnAccountTakesTheCertificatesPlace(t *testing.T) {
	for _, profile := range []string{"engine", "leases"} {
		t.Run(profile, func(t *testing.T) {
			l := newTLSLab(t)
			admin := l.withCertificate()
			as := l.appoint(admin, broker.Account{Name: engine.Name, Profile: profile})
			if as.Credential.Kind != broker.CredentialBearerToken || as.Discovered.User != "system:serviceaccount:"+accountHome+":vimbroker" || as.Discovered.Profile != profile {
				t.Errorf("it is a %s of %s with profile %q", as.Credential.Kind, as.Discovered.User, as.Discovered.Profile)
			}
			if in := as.Discovered.RenewAt.Sub(l.clock.Now()); in < 11*time.Hour || in > 12*time.Hour {
				t.Errorf("it is renewed in %s, want after half of the day that the fake gives", in)
			}
			m, err := l.driver.Issue(t.Context(), as, l.grant("view", "default"))
			if err != nil || m.Credential.Token.Empty() {
				t.Errorf("Issue as the account = %v", err)
			}
			if wide := slices.Contains(l.Names("clusterroles", ""), accountHome+"-engine"); wide != (profile == "engine") {
				t.Errorf("the engine's role is there: %t", wide)
			}
			for _, n := range l.Names("clusterrolebindings", "") {
				l.Update("clusterrolebindings", "", n, func(o metav1.Object) {
					b := o.(*rbacv1.ClusterRoleBinding)
					if b.Name != "fakekube-admin" && b.RoleRef.Name == "cluster-admin" && strings.HasPrefix(b.Name, "vimbroker") {
						t.Errorf("%s gives cluster-admin", b.Name)
					}
				})
			}
		})
	}
}

// Whatever an attempt before left is taken over, and brought to what it is to be.
func TestAnAccountIsMadeOnce(t *testing.T) {
	l := newTLSLab(t)
	first := l.withCertificate()
	l.appoint(first, engine)
	want := l.accountObjects()
	l.Update("clusterroles", "", accountHome, func(o metav1.Object) { o.(*rbacv1.ClusterRole).Rules = nil })
	l.Update("clusterrolebindings", "", accountHome, func(o metav1.Object) { o.(*rbacv1.ClusterRoleBinding).Subjects = nil })
	second := l.appoint(l.withCertificate(), engine) // the attempt before had another VIM id
	if got := l.accountObjects(); !slices.Equal(got, want) {
		t.Errorf("after the second attempt there is %q, want %q", got, want)
	}
	if second.Credential.Token.Reveal() == "" {
		t.Error("it has no token")
	}
	l.appoint(second2(second, first), broker.Account{Name: engine.Name, Profile: "leases"})
	if got := l.accountObjects(); slices.ContainsFunc(got, func(n string) bool { return strings.HasSuffix(n, "-engine") }) {
		t.Errorf("with fewer rights there is still %q", got)
	}
	if err := l.driver.Forget(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if got := l.accountObjects(); len(got) > 0 {
		t.Errorf("the VIM is forgotten, and there is still %q", got)
	}
	// Once more, after a death: the account cannot be asked any more.
	if err := l.driver.Forget(t.Context(), second); err != nil {
		t.Errorf("Forget a second time: %v", err)
	}
}

// TestAnAccountIsMadeWhatItIsToBe: whatever somebody changed of its roles and bindings on the cluster, also where the number of
// rules and subjects is the same, the next appointment takes back; and the namespace says whose it is by then.
func TestAnAccountIsMadeWhatItIsToBe(t *testing.T) {
	l := newTLSLab(t)
	admin := l.withCertificate()
	l.appoint(admin, engine)
	stands := func() string {
		var all []string
		for _, name := range l.Names("clusterroles", "") {
			l.Update("clusterroles", "", name, func(o metav1.Object) {
				if r := o.(*rbacv1.ClusterRole); strings.HasPrefix(name, accountHome) {
					all = append(all, fmt.Sprint(name, r.Rules, r.AggregationRule, r.OwnerReferences, r.Labels))
				}
			})
		}
		for _, name := range l.Names("clusterrolebindings", "") {
			l.Update("clusterrolebindings", "", name, func(o metav1.Object) {
				if b := o.(*rbacv1.ClusterRoleBinding); strings.HasPrefix(name, accountHome) {
					all = append(all, fmt.Sprint(name, b.Subjects, b.RoleRef, b.OwnerReferences, b.Labels))
				}
			})
		}
		return strings.Join(all, "\n")
	}
	want := stands()
	role := func(change func(*rbacv1.ClusterRole)) func() {
		return func() {
			l.Update("clusterroles", "", accountHome, func(o metav1.Object) { change(o.(*rbacv1.ClusterRole)) })
		}
	}
	bind := func(change func(*rbacv1.ClusterRoleBinding)) func() {
		return func() {
			l.Update("clusterrolebindings", "", accountHome, func(o metav1.Object) { change(o.(*rbacv1.ClusterRoleBinding)) })
		}
	}
	stranger := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "stranger"}
	for name, change := range map[string]func(){
		"another verb in a rule": role(func(r *rbacv1.ClusterRole) {
			r.Rules[0].Verbs = append([]string{"deletecollection"}, r.Rules[0].Verbs[1:]...)
		}),
		"another last rule": role(func(r *rbacv1.ClusterRole) { r.Rules[len(r.Rules)-1].Resources = []string{"nodes"} }),
		"a rule more": role(func(r *rbacv1.ClusterRole) {
			r.Rules = append(r.Rules, rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})
		}),
		"a rule less": role(func(r *rbacv1.ClusterRole) { r.Rules = r.Rules[1:] }),
		"an aggregation, and a rule": role(func(r *rbacv1.ClusterRole) {
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}}
			r.Rules = r.Rules[:1]
		}),
		"no owner":              role(func(r *rbacv1.ClusterRole) { r.OwnerReferences = nil }),
		"another owner":         role(func(r *rbacv1.ClusterRole) { r.OwnerReferences[0].UID = "another" }),
		"a subject more":        bind(func(b *rbacv1.ClusterRoleBinding) { b.Subjects = append(b.Subjects, stranger) }),
		"a subject before":      bind(func(b *rbacv1.ClusterRoleBinding) { b.Subjects = append([]rbacv1.Subject{stranger}, b.Subjects...) }),
		"another subject":       bind(func(b *rbacv1.ClusterRoleBinding) { b.Subjects = []rbacv1.Subject{stranger} }),
		"no owner of a binding": bind(func(b *rbacv1.ClusterRoleBinding) { b.OwnerReferences = nil }),
		"another role":          bind(func(b *rbacv1.ClusterRoleBinding) { b.RoleRef.Name = "cluster-admin" }),
		"the label of a VIM": func() {
			l.Update("namespaces", "", accountHome, func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "lost" })
		},
		"the binding of a right": func() {
			l.Update("clusterrolebindings", "", accountHome+"-engine", func(o metav1.Object) { o.(*rbacv1.ClusterRoleBinding).Subjects = nil })
		},
	} {
		change()
		l.appoint(admin, engine)
		if got := stands(); got != want {
			t.Errorf("after %s there is\n%s\nwant\n%s", name, got, want)
		}
		l.Update("namespaces", "", accountHome, func(o metav1.Object) {
			if o.GetLabels()["vimbroker.io/vim"] != admin.VIM {
				t.Errorf("after %s the namespace is of VIM %s", name, o.GetLabels()["vimbroker.io/vim"])
			}
		})
	}
}

// TestRightsOfAnotherProfileGoWhole, also where a half of them is gone already.
func TestRightsOfAnotherProfileGoWhole(t *testing.T) {
	for gone, kind := range map[string]string{"the binding": "clusterrolebindings", "the role": "clusterroles", "nothing": "", "both": "both"} {
		l := newTLSLab(t)
		admin := l.withCertificate()
		l.appoint(admin, engine)
		for _, k := range []string{"clusterrolebindings", "clusterroles"} {
			if kind == k || kind == "both" {
				l.Delete(k, "", accountHome+"-engine")
			}
		}
		l.appoint(admin, broker.Account{Name: engine.Name, Profile: "leases"})
		if got := l.accountObjects(); slices.ContainsFunc(got, func(n string) bool { return strings.HasSuffix(n, "-engine") }) {
			t.Errorf("where %s was gone there is still %q", gone, got)
		}
	}
}

// second2 is the administrator's access to the VIM of another access.
func second2(vim, credential broker.Access) broker.Access {
	vim.Credential = credential.Credential
	return vim
}

// What has the name of the account and is not its own is neither used nor removed.
func TestAnAccountOfOthersIsLeftAlone(t *testing.T) {
	for _, c := range []struct{ plural, namespace, name string }{
		{"namespaces", "", accountHome},
		{"serviceaccounts", accountHome, "vimbroker"},
		{"clusterroles", "", accountHome},
		{"clusterroles", "", accountHome + "-engine"},
		{"clusterrolebindings", "", accountHome},
		{"clusterrolebindings", "", accountHome + "-engine"},
	} {
		t.Run(c.plural+" "+c.name, func(t *testing.T) {
			l := newTLSLab(t)
			as := l.appoint(l.withCertificate(), engine)
			before := l.accountObjects()
			if !l.Update(c.plural, c.namespace, c.name, func(o metav1.Object) { o.SetLabels(nil) }) {
				t.Fatal("it is not there")
			}
			_, _, err := l.driver.Appoint(t.Context(), l.withCertificate(), engine)
			want(t, "Appoint", err, broker.ErrConflict)
			if got := l.accountObjects(); !slices.Equal(got, before) {
				t.Errorf("there is %q, was %q", got, before)
			}
			if c.plural == "namespaces" || strings.HasSuffix(c.name, "-engine") {
				if err := l.driver.Forget(t.Context(), as); err != nil {
					t.Fatal(err)
				}
				if c.plural == "namespaces" && !slices.Contains(l.Names(c.plural, c.namespace), c.name) {
					t.Errorf("%s of others was removed", c.plural)
				}
			}
		})
	}
}

// Where the cluster does not let it, nothing is left.
func TestAnAccountThatCannotBe(t *testing.T) {
	for _, deny := range []fakekube.Denial{
		{Verb: "create", Resource: "namespaces"},
		{Verb: "create", Resource: "serviceaccounts"},
		{Verb: "create", Resource: "clusterroles"},
		{Verb: "create", Resource: "clusterrolebindings"},
		{Verb: "create", Resource: "serviceaccounts/token"},
	} {
		t.Run(deny.Resource, func(t *testing.T) {
			l := newTLSLab(t)
			l.Deny(deny)
			_, _, err := l.driver.Appoint(t.Context(), l.withCertificate(), engine)
			want(t, "Appoint", err, broker.ErrForbidden)
			if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(strings.TrimSuffix(deny.Resource, "/token"), "s")) {
				t.Errorf("Appoint() = %v, which does not name %s", err, deny.Resource)
			}
			if got := l.accountObjects(); len(got) > 0 {
				t.Errorf("it is refused, and there is %q", got)
			}
		})
	}
	l := newTLSLab(t)
	for _, w := range []broker.Account{{Name: "x", Profile: "root"}, {Name: "", Profile: "engine"}, {Name: "A/b", Profile: "engine"}} {
		_, _, err := l.driver.Appoint(t.Context(), l.withCertificate(), w)
		want(t, "Appoint of "+w.Name+" "+w.Profile, err, broker.ErrInvalid)
	}
}

// A cluster gives an account its rights a moment after it was bound: until then the account takes nobody's place.
func TestAnAccountWaitsForItsRights(t *testing.T) {
	l := newTLSLab(t)
	var asked atomic.Int64
	l.fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		if asked.Add(1) > 1 {
			return body
		}
		return bytes.ReplaceAll(body, []byte(`"allowed":true`), []byte(`"allowed":false`))
	}})
	_, r, err := l.driver.Appoint(t.Context(), l.withCertificate(), engine)
	if err != nil || !r.CanMint || asked.Load() < 2 {
		t.Errorf("Appoint() = %v, an account that can mint: %t (%s); its rights were asked for %d times", err, r.CanMint, r.MintMessage, asked.Load())
	}
}

// The account renews its token by its own right, and only its own.
func TestAnAccountRenewsItsToken(t *testing.T) {
	l := newTLSLab(t)
	as := l.appoint(l.withCertificate(), engine)
	l.clock.Add(13 * time.Hour)
	cred, report, err := l.driver.Reappoint(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.CredentialExpiresAt.Sub(l.clock.Now()); got < 23*time.Hour || report.Discovered.Profile != "engine" || report.Discovered.User != as.Discovered.User {
		t.Errorf("the new token lives %s, with profile %q, as %s", got, report.Discovered.Profile, report.Discovered.User)
	}
	l.clock.Add(13 * time.Hour) // the first has expired
	as.Credential, as.Discovered = cred, report.Discovered
	if _, err := l.driver.Check(t.Context(), as); err != nil {
		t.Errorf("the new token does not work once the first has expired: %v", err)
	}
	admin := l.as(broker.Credential{Token: secret.NewText(l.AdminToken)})
	_, _, err = l.driver.Reappoint(t.Context(), admin)
	want(t, "Reappoint of another's token", err, broker.ErrInvalid)
	unknown, cluster := as, *as.Discovered.Cluster
	cluster.Profile, unknown.Discovered.Cluster = "", &cluster
	_, _, err = l.driver.Reappoint(t.Context(), unknown)
	want(t, "Reappoint where nothing is known of the account", err, broker.ErrInvalid)
	// Somebody made another account of its name.
	l.Delete("serviceaccounts", accountHome, "vimbroker")
	_, _, err = l.driver.Reappoint(t.Context(), as)
	want(t, "Reappoint of an account that is gone", err, broker.ErrUnauthorized)
	again := l.appoint(l.withCertificate(), engine)
	if again.Discovered.User != as.Discovered.User {
		t.Errorf("the account made anew is %s", again.Discovered.User)
	}
}

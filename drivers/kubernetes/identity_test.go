package kubernetes_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
)

// replace makes the account of a lease another one of the same name, labels included.
func (l *lab) replace(g broker.Grant) (namespace string) {
	l.t.Helper()
	namespace = l.home()
	if !l.Update("serviceaccounts", namespace, g.Handle, func(o metav1.Object) { o.SetUID(types.UID(uuid.NewString())) }) {
		l.t.Fatalf("account %s is not there", g.Handle)
	}
	return namespace
}

func TestEveryLeaseHasAnAccountOfItsOwn(t *testing.T) {
	l := newLab(t)
	first, second := l.grant("view"), l.grant("view")
	m, n := l.issue(first), l.issue(second)
	want := []string{l.home() + "/" + first.Handle, l.home() + "/" + second.Handle}
	slices.Sort(want)
	if got := accountsIn(l.Server); !slices.Equal(got, want) {
		t.Errorf("accounts %q, want %q", got, want)
	}
	if m.UID == "" || m.UID == n.UID {
		t.Errorf("uids %q and %q, want two", m.UID, n.UID)
	}
	if !strings.HasPrefix(m.CredentialID, "JTI=") || m.CredentialID == n.CredentialID || len(m.CredentialID) < 10 {
		t.Errorf("credential ids %q and %q, want two that begin with JTI=", m.CredentialID, n.CredentialID)
	}
	if got := len(l.Names("secrets", "")); got != 0 {
		t.Errorf("%d secrets were made, want none", got)
	}
}

// Two VIMs at one cluster, and two grants of one VIM, have nothing in common.
func TestGrantsShareNothing(t *testing.T) {
	l := newLab(t)
	other := l.as(l.access.Credential)
	grants := []broker.Grant{l.grant("view"), l.grant("edit"), l.grant("edit", "default"), l.grant("edit", "kube-public"), l.grant("edit", "default", "kube-public")}
	next := l.grant("view")
	next.Epoch = 2
	for _, g := range append(grants, next) {
		l.issue(g)
	}
	if _, err := l.driver.Issue(t.Context(), other, l.grant("view")); err != nil {
		t.Fatal(err)
	}
	if got := homesOf(l.Server); len(got) != 7 {
		t.Errorf("namespaces of ours %q, want 7", got)
	}
}

// Whatever somebody did to the labels, the account that was issued is the lease's.
func TestRevokeGoesByTheUID(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	l.Update("serviceaccounts", l.home(), g.Handle, func(o metav1.Object) { o.SetLabels(map[string]string{"vimbroker.io/vim": "another"}) })
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, m)); err != nil {
		t.Fatalf("Revoke of an account whose labels were changed: %v", err)
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); !dead || err != nil {
		t.Errorf("Dead = %v, %v: relabelling its account has kept a lease alive", dead, err)
	}
}

func TestRevokeLeavesAnotherAccountOfTheNameAlone(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	namespace := l.replace(g)
	for range 2 {
		want(t, "Revoke where another account has the name", l.driver.Revoke(t.Context(), l.access, issued(g, m)), broker.ErrConflict)
	}
	if !l.Delete("serviceaccounts", namespace, g.Handle) {
		t.Error("an account that is not the lease's was deleted")
	}
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, m)); err != nil {
		t.Errorf("Revoke after that one was removed: %v", err)
	}
}

// Nobody recorded the uid: the process died first.
func TestRevokeOfALeaseWhoseUIDIsUnknown(t *testing.T) {
	for what, change := range map[string]func(metav1.Object){
		"without labels":   func(o metav1.Object) { o.SetLabels(nil) },
		"of another VIM":   func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "another" },
		"of another lease": func(o metav1.Object) { o.GetLabels()["vimbroker.io/lease"] = "another" },
		"of another grant": func(o metav1.Object) { o.GetLabels()["vimbroker.io/grant"] = "another" },
	} {
		l := newLab(t)
		g := l.grant("view")
		l.issue(g)
		unknown := broker.Issued{Handle: g.Handle, Grant: g}
		l.Update("serviceaccounts", l.home(), g.Handle, change)
		want(t, "Revoke of an account "+what, l.driver.Revoke(t.Context(), l.access, unknown), broker.ErrConflict)
		if len(accountsIn(l.Server)) != 1 {
			t.Errorf("an account %s was deleted", what)
		}
	}
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}); err != nil || len(accountsIn(l.Server)) != 0 {
		t.Errorf("Revoke of our account = %v, left %q", err, accountsIn(l.Server))
	}
}

func TestRevokeBelievesOnlyTheClusterOfTheLease(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	l.access.Identity = l.Identity()
	l.Delete("serviceaccounts", l.home(), g.Handle)
	l.ChangeIdentity()
	want(t, "Revoke at another cluster", l.driver.Revoke(t.Context(), l.access, issued(g, m)), broker.ErrConflict)
	want(t, "Revoke at another cluster, uid unknown", l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}), broker.ErrConflict)
	want(t, "Revoke at another cluster, by name alone", l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}), broker.ErrConflict)
}

// An inventory lists an object whose row is lost: its name is all that is known.
func TestRevokeByNameAlone(t *testing.T) {
	l := newLab(t)
	g := l.grant("edit", "default")
	l.issue(g)
	bystander := l.grant("edit", "default")
	l.issue(bystander)
	for range 2 {
		if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}); err != nil {
			t.Fatal(err)
		}
	}
	if got := accountsIn(l.Server); len(got) != 1 || !strings.HasSuffix(got[0], bystander.Handle) {
		t.Errorf("accounts after it: %q, want %s", got, bystander.Handle)
	}
}

func TestRenewOfWhatIsNotTheLeases(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
	another := g
	another.Lease = "another"
	_, err := l.driver.Renew(t.Context(), l.access, another)
	want(t, "Renew of another lease's account", err, broker.ErrConflict)

	l.Delete("serviceaccounts", l.home(), g.Handle)
	_, err = l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew of an account that is gone", err, broker.ErrNotFound)
	if got := accountsIn(l.Server); len(got) > 0 {
		t.Errorf("Renew made %q", got)
	}
	l.Delete("namespaces", "", l.home())
	_, err = l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew where the namespace is gone", err, broker.ErrNotFound)
	if got := homesOf(l.Server); len(got) > 0 {
		t.Errorf("Renew made %q", got)
	}
}

func TestIssueNeedsAScope(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	g.ClusterWide = false
	_, err := l.driver.Issue(t.Context(), l.access, g)
	want(t, "Issue with neither namespaces nor the whole cluster", err, broker.ErrInvalid)
}

func TestExactRulesAreARoleOfOurs(t *testing.T) {
	l := newLab(t)
	secrets := broker.Rule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"tls"}, Verbs: []string{"get"}}
	g := l.grant("view", "default")
	g.Role, g.Rules = "", []broker.Rule{reads("configmaps"), secrets}
	l.issue(g)
	if got, want := l.Names("roles", ""), []string{"default/" + l.home()}; !slices.Equal(got, want) {
		t.Errorf("roles %q, want %q", got, want)
	}
	same := l.grant("view", "default")
	same.Role, same.Rules = "", []broker.Rule{secrets, reads("configmaps"), secrets}
	l.issue(same)
	l.home() // is one

	wide := g
	wide.Namespaces, wide.ClusterWide, wide.Handle = nil, true, "lease-wide"
	l.issue(wide)
	if !slices.ContainsFunc(l.Names("clusterroles", ""), func(n string) bool { return strings.HasPrefix(n, "vimbroker-") }) {
		t.Errorf("no cluster role of ours for rules on the whole cluster: %q", l.Names("clusterroles", ""))
	}
	for _, g := range []broker.Grant{g, wide} {
		if err := l.driver.Tidy(t.Context(), l.access, g); err != nil {
			t.Fatal(err)
		}
	}
	if left := slices.Concat(l.Names("roles", ""), l.Names("rolebindings", ""), homesOf(l.Server)); len(left) > 0 {
		t.Errorf("left after Tidy: %q", left)
	}
	if slices.ContainsFunc(l.Names("clusterroles", ""), func(n string) bool { return strings.HasPrefix(n, "vimbroker-") }) {
		t.Error("the cluster role of exact rules is left after Tidy")
	}
}

// A role of our name whose rules somebody changed would give leases what nobody granted.
func TestARoleThatWasChangedIsNotBound(t *testing.T) {
	l := newLab(t)
	g := l.grant("view", "default")
	g.Role, g.Rules = "", []broker.Rule{reads("configmaps")}
	l.issue(g)
	wider := g
	wider.Rules = []broker.Rule{reads("secrets")}
	wider.Handle = "lease-wider"
	l.issue(wider)
	// The one role gets the other's labels and name, and keeps its own rules.
	role, took := "", false
	for _, n := range l.Names("roles", "default") {
		if role == "" {
			role = strings.TrimPrefix(n, "default/")
			continue
		}
		took = l.Update("roles", "default", role, func(o metav1.Object) { o.SetLabels(nil) })
	}
	if !took {
		t.Fatal("no role to change")
	}
	other := kubernetes.New(kubernetes.Options{Now: l.clock.Now})
	t.Cleanup(other.Close)
	errs := 0
	for _, g := range []broker.Grant{g, wider} {
		g.Handle += "-again"
		if _, err := other.Issue(t.Context(), l.access, g); err != nil {
			want(t, "Issue over a role that was changed", err, broker.ErrConflict)
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("%d of 2 grants are refused, want the one whose role was changed", errs)
	}
}

func TestTidyLeavesNothingAndOthersAlone(t *testing.T) {
	l := newLab(t)
	before := slices.Concat(l.Names("clusterrolebindings", ""), l.Names("rolebindings", ""), l.Names("namespaces", ""))
	other := l.as(l.access.Credential)
	theirs := l.grant("view")
	m, err := l.driver.Issue(t.Context(), other, theirs)
	if err != nil {
		t.Fatal(err)
	}
	grants := []broker.Grant{l.grant("view"), l.grant("edit", "default", "kube-public")}
	for _, g := range grants {
		l.issue(g)
		fresh := kubernetes.New(kubernetes.Options{Now: l.clock.Now})
		t.Cleanup(fresh.Close)
		for range 2 {
			if err := fresh.Tidy(t.Context(), l.access, g); err != nil {
				t.Errorf("Tidy: %v", err)
			}
		}
	}
	if dead, err := l.driver.Dead(t.Context(), other, m.Credential); dead || err != nil {
		t.Errorf("Tidy of one VIM's grant ended another's lease: %v", err)
	}
	if err := l.driver.Forget(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	after := slices.Concat(l.Names("clusterrolebindings", ""), l.Names("rolebindings", ""), l.Names("namespaces", ""))
	if !slices.Equal(before, after) {
		t.Errorf("left on the cluster: %q, want %q", after, before)
	}
}

// Tidy that is cut short at any request is finished by the next one.
func TestTidyGoesOnAfterAFault(t *testing.T) {
	for n := 1; n < 100; n++ {
		l := newLab(t)
		g := l.grant("edit", "default", "kube-public")
		g.Role, g.Rules = "", []broker.Rule{reads("configmaps")}
		l.issue(g)
		passed := 0
		l.Fail(fake.Fault{Kind: fake.Pass, Times: -1, Reached: func() {
			if passed++; passed == n-1 {
				l.Fail(fake.Fault{Kind: fake.Refuse, Status: http.StatusServiceUnavailable, Times: -1})
			}
		}})
		if n == 1 {
			l.Fail(fake.Fault{Kind: fake.Refuse, Status: http.StatusServiceUnavailable, Times: -1})
		}
		err := l.driver.Tidy(t.Context(), l.access, g)
		l.Heal()
		if err == nil {
			if n < 5 {
				t.Fatalf("Tidy makes %d requests only", n)
			}
			return
		}
		if err := l.driver.Tidy(t.Context(), l.access, g); err != nil {
			t.Errorf("Tidy after request %d failed: %v", n, err)
		}
		if left := slices.Concat(l.Names("roles", ""), l.Names("rolebindings", ""), homesOf(l.Server)); len(left) > 0 {
			t.Errorf("left after request %d failed: %q", n, left)
		}
	}
}

package kubernetes_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
)

// Exactly 3607 seconds is what API servers may stretch to a year.
func TestIssueNeverAsksFor3607(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	g.TTL = 3607*time.Second + 500*time.Millisecond
	began := l.clock.Now()
	m := l.issue(g)
	if left := m.ExpiresAt.Sub(began); left < 3605*time.Second || left > 3606*time.Second {
		t.Errorf("the token lives for %v, want 3606 s", left)
	}
}

// What others deleted by hand is found missing after ten minutes at the latest.
func TestIssueMakesRemovedBindingAgain(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	name := l.Names("clusterrolebindings", "")
	i := slices.IndexFunc(name, func(n string) bool { return strings.Contains(n, "vim-") })
	if i < 0 {
		t.Fatalf("no binding of ours in %q", name)
	}
	binding := strings.TrimPrefix(name[i], "/")
	if !l.Delete("clusterrolebindings", "", binding) {
		t.Fatalf("%s is not there to be deleted", binding)
	}
	l.clock.Add(10 * time.Minute)
	l.issue(l.grant("view"))
	if !slices.Equal(l.Names("clusterrolebindings", ""), name) {
		t.Errorf("cluster role bindings are %q, want %q", l.Names("clusterrolebindings", ""), name)
	}
}

func TestIssueAfterItsNamespaceWasDeleted(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	if !l.Delete("namespaces", "", "vimbroker") {
		t.Fatal("namespace vimbroker is not there")
	}
	m := l.issue(l.grant("view"))
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
		t.Errorf("Dead = %v, %v, want a token that lives", dead, err)
	}
}

// The Secret was deleted and made again between looking and deleting.
func TestRevokeDeletesOnlyWhatItLookedAt(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
	l.After(http.MethodGet, "/secrets/", func() {
		l.Update("secrets", "vimbroker", g.Handle, func(o metav1.Object) { o.SetUID("another") })
	})
	want(t, "Revoke", l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}), broker.ErrConflict)
	if len(l.Names("secrets", "vimbroker")) != 1 {
		t.Error("another object than the one looked at was deleted")
	}
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}); err != nil {
		t.Errorf("Revoke again: %v", err)
	}
}

// A lease's Secret that belongs to another VIM of the same cluster.
func TestRevokeLeavesAnotherVIMsLease(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
	other := l.as(l.access.Credential)
	if err := l.driver.Revoke(t.Context(), other, broker.Issued{Handle: g.Handle}); err != nil {
		t.Errorf("Revoke of what this VIM does not have: %v", err)
	}
	if len(l.Names("secrets", "vimbroker")) != 1 {
		t.Error("another VIM's lease was revoked")
	}
}

// "renew extends a lease whose token is already dead": somebody deleted the
// account, and killed every token with it.
func TestRenewAfterItsAccountWasDeleted(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
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
	g := l.grant("view")
	l.issue(g)
	g.Lease = "another"
	_, err := l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew", err, broker.ErrConflict)
}

func TestDeadOfNothing(t *testing.T) {
	l := newLab(t)
	_, err := l.driver.Dead(t.Context(), l.access, broker.Credential{Kind: broker.BearerToken, Token: secret.Text{}})
	want(t, "Dead of nothing", err, broker.ErrInvalid)
}

func TestPrepareRefusesRolesAndNamespaces(t *testing.T) {
	d := kubernetes.New(kubernetes.Options{})
	for _, g := range []struct {
		field string
		grant broker.Grant
	}{
		{"ttl", broker.Grant{TTL: 10*time.Minute - 1}},
		{"ttl", broker.Grant{TTL: 1 << 62}},
		{"role", broker.Grant{TTL: time.Hour, Role: "../nodes"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a/b"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a%2fb"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a\nb"}},
		{"role", broker.Grant{TTL: time.Hour, Role: strings.Repeat("a", 254)}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{"a", "../b"}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{""}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{"a", "vimbroker"}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: names(33)}},
	} {
		_, err := d.Prepare(g.grant)
		want(t, "Prepare", err, broker.ErrInvalid)
		if err != nil && !strings.HasPrefix(err.Error(), g.field+": ") {
			t.Errorf("Prepare(%+v): %v, want it to name %s", g.grant, err, g.field)
		}
	}
	in := []string{"b", "a", "b"}
	g, err := d.Prepare(broker.Grant{TTL: 10 * time.Minute, Role: "system:node-reader.v1", Namespaces: in})
	if err != nil || g.Role != "system:node-reader.v1" || !slices.Equal(g.Namespaces, []string{"a", "b"}) {
		t.Errorf("Prepare = %+v, %v", g, err)
	}
	if !slices.Equal(in, []string{"b", "a", "b"}) {
		t.Error("Prepare sorts the caller's own namespaces")
	}
	if g, err := d.Prepare(broker.Grant{TTL: time.Hour, Namespaces: names(32)}); err != nil || g.Role != "view" || len(g.Namespaces) != 32 {
		t.Errorf("Prepare = role %q, %d namespaces, %v, want view in 32", g.Role, len(g.Namespaces), err)
	}
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Repeat("n", i+1)
	}
	return all
}

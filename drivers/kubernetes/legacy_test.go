package kubernetes_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// old is a grant from before there were epochs: a Secret in namespace vimbroker, and an
// account that leases share.
func (l *lab) old(role string, namespaces ...string) broker.Grant {
	g := l.grant(role, namespaces...)
	g.Epoch, g.ClusterWide = 0, false
	return g
}

func TestLeasesOfOldGoOnAsTheyWereMade(t *testing.T) {
	l := newLab(t)
	before := slices.Concat(l.Names("clusterrolebindings", ""), l.Names("rolebindings", ""))
	first, second := l.old("view"), l.old("edit", "default")
	m := l.issue(first)
	l.issue(second)
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
	if err := l.driver.TidyGrant(t.Context(), l.access, second); err != nil {
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
	l.issue(g)
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
	g := l.old("view")
	l.issue(g)
	g.Lease = "another"
	_, err := l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew", err, broker.ErrConflict)
}

// The Secret is replaced between the two calls.
func TestTokenIsNeverBoundToAStrangersSecret(t *testing.T) {
	l := newLab(t)
	l.issue(l.old("view"))
	g := l.old("view")
	l.After(http.MethodPost, "/secrets$", func() {
		l.Update("secrets", "vimbroker", g.Handle, func(o metav1.Object) {
			o.SetUID("another")
			o.SetLabels(nil)
		})
	})
	before := len(l.Tokens())
	_, err := l.driver.Issue(t.Context(), l.access, g)
	want(t, "Issue", err, broker.ErrConflict)
	if got := len(l.Tokens()); got != before {
		t.Errorf("%d tokens are alive, want %d", got, before)
	}
}

package kubernetes_test

import (
	"slices"
	"testing"

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

package kubernetes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fakekube"
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

// A credential of today may not see the Secrets of leases of old, one of then must.
func TestInventoryWithoutTheRightToSecrets(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	l.Deny(fakekube.Denial{Resource: "secrets"})
	_, err := l.driver.Inventory(t.Context(), l.access)
	want(t, "Inventory", err, broker.ErrForbidden)
	report, err := l.driver.Check(t.Context(), l.access)
	if c := report.Discovered.Cluster; err != nil || c == nil || c.Mode != broker.ModeManaged || !strings.HasPrefix(c.User, "system:serviceaccount:kube-system:") {
		t.Fatalf("Check discovers %+v, %v, want mode and user", c, err)
	}
	now := l.access
	now.Discovered = report.Discovered
	if found, err := l.driver.Inventory(t.Context(), now); err != nil || len(found) != 1 {
		t.Errorf("Inventory = %v, %v, want the one lease", found, err)
	}
	now.InsteadOf = &broker.Discovered{}
	_, err = l.driver.Inventory(t.Context(), now)
	want(t, "Inventory of what was made with a credential of then", err, broker.ErrForbidden)
}

package broker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// On a VIM where objects belong to the user that made them, leases outlive the
// rotation to another user, who does not see theirs.
func TestInventoryThroughEveryUser(t *testing.T) {
	b := newBench(t, benchOptions{})
	cloud := fakekeystone.New(t, fakekeystone.Options{Now: b.clock.Now})
	b.options.Drivers = append(b.options.Drivers, openstack.New(openstack.Options{Now: b.clock.Now}))
	b.Broker = mustNew(t, b.options)
	project := cloud.Project("demo")
	anna, ben := cloud.User("anna", project, "member"), cloud.User("ben", project, "member")
	password := func(u fakekeystone.User) broker.Credential {
		return broker.Credential{Username: u.Name, Password: secret.NewText(u.Password)}
	}
	v, err := b.RegisterVIM(t.Context(), root, broker.Registration{
		Name: "core", Type: "openstack", Endpoint: cloud.Endpoint, CACert: cloud.CA,
		Scope: broker.Scope{ProjectName: "demo", ProjectDomainName: "Default", UserDomainName: "Default"}, Credential: password(anna),
	})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := b.mustIssue(root, "core")
	ghost, _ := b.mustIssue(root, "core")
	if _, err := b.RotateVIM(t.Context(), root, "core", password(ben), 0); err != nil {
		t.Fatal(err)
	}
	b.mustIssue(root, "core")
	want := func(when string, want broker.Inventory) {
		t.Helper()
		got, err := b.Inventory(t.Context(), root, "core", want.Settled)
		if err != nil || got.Upstream != want.Upstream || got.Rows != want.Rows || got.Unseen != want.Unseen ||
			len(got.Orphans) != len(want.Orphans) || len(got.Ghosts) != len(want.Ghosts) {
			t.Errorf("%s, Inventory() = %+v, %v, want %+v", when, got, err, want)
		}
	}
	want("after the rotation", broker.Inventory{Upstream: 3, Rows: 3})

	cloud.Delete(ghost.Handle)
	lease := uuid.NewString()
	cloud.AppCred(fakekeystone.AppCred{
		Name: "lease-" + lease, UserID: anna.ID, ProjectID: project.ID,
		Description: fmt.Sprintf("vimbroker vim=%s lease=%s issued=%s", v.ID, lease, b.clock.Now().Format(time.RFC3339)),
	})
	off := broker.Inventory{Upstream: 3, Rows: 3, Orphans: make([]broker.Upstream, 1), Ghosts: make([]broker.Lease, 1)}
	want("with one lost and one that is nobody's", off)
	off.Settled = true
	want("settling", off)
	want("settled", broker.Inventory{Upstream: 2, Rows: 2})

	cloud.SetPassword(anna.ID, "another")
	want("with the first user refused", broker.Inventory{Upstream: 1, Rows: 2, Unseen: 1})
	_, _, err = b.RenewLease(t.Context(), root, first.ID, 0)
	wantKind(t, "RenewLease() of a lease that cannot be seen", err, broker.ErrForbidden)
	if row := b.row(first.ID); row.State != broker.LeaseActive {
		t.Errorf("a lease that cannot be seen is %s, want active", row.State)
	}
	cloud.SetPassword(anna.ID, anna.Password)
	if l, err := b.RevokeLease(t.Context(), root, first.ID); err != nil || l.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease() = %s, %v", l.State, err)
	}
	want("in the end", broker.Inventory{Upstream: 1, Rows: 1})
}

// A lease that has an object and no rights is neither missing nor well.
func TestInventoryNamesLeasesThatAreNotBound(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(root, "edge")
	l, _ := b.mustIssue(root, "edge")
	found := func() []broker.Unbound {
		t.Helper()
		i, err := b.Inventory(t.Context(), root, "edge", false)
		if err != nil || len(i.Orphans)+len(i.Ghosts)+len(i.Foreign) > 0 || b.Discrepancies().Unbound != len(i.Unbound) {
			t.Fatalf("Inventory() = %+v, %v, counted as %+v", i, err, b.Discrepancies())
		}
		return i.Unbound
	}
	if got := found(); len(got) > 0 {
		t.Errorf("unbound %+v, want none", got)
	}
	for _, name := range b.kube.Names("clusterrolebindings", "") {
		if strings.HasPrefix(name, "/vimbroker-") || strings.HasPrefix(name, "vimbroker-") {
			b.kube.Delete("clusterrolebindings", "", strings.TrimPrefix(name, "/"))
		}
	}
	if got := found(); len(got) != 1 || got[0].Lease.ID != l.ID || !slices.Equal(got[0].Namespaces, []string{"*"}) {
		t.Errorf("unbound %+v, want lease %s on the whole VIM", got, l.ID)
	}
	if _, _, err := b.RenewLease(t.Context(), root, l.ID, 0); err != nil {
		t.Fatal(err)
	}
	if got := found(); len(got) > 0 {
		t.Errorf("unbound %+v after a renewal, want none", got)
	}
}

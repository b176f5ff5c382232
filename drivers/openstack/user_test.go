package openstack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// newManager is a lab whose user may make users, and a grant of one.
func newManager(t *testing.T) (*lab, broker.Grant) {
	t.Helper()
	l := newLab(t)
	l.OnDomain(l.user.ID, "manager")
	l.register()
	return l, l.userGrant("member")
}

// userGrant is a lease that is a user, prepared.
func (l *lab) userGrant(role string) broker.Grant {
	l.t.Helper()
	g := l.grant(role)
	g.User = true
	return g
}

func issued(g broker.Grant, m broker.Minted) broker.Issued {
	return broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g, Credential: m.Credential}
}

// A lease that is a user has the roles of the lease on the one project, and goes with all that it
// made of itself.
func TestALeaseIsAUser(t *testing.T) {
	l, g := newManager(t)
	graded, err := l.driver.Grade(t.Context(), l.access, g)
	if err != nil || graded.Grade != broker.GradeBounded {
		t.Errorf("Grade() = %+v, %v, want bounded", graded, err)
	}
	m := l.issue(g)
	made := l.Users("lease-")
	if len(made) != 1 || made[0].Name != g.Handle || made[0].ID != m.UID || !slices.Equal(l.Roles(m.UID, l.project.ID), []string{"member", "reader"}) {
		t.Fatalf("made %+v with the roles %v", made, l.Roles(m.UID, l.project.ID))
	}
	if m.Credential.Kind != broker.CredentialUser || m.ExpiresAt.Year() != 9999 || m.Stood != "" {
		t.Errorf("minted %+v", m)
	}
	text, err := clientconfig.Config{
		VIM: "core", VIMID: l.access.VIM, Lease: g.Lease, Endpoint: l.Endpoint, Credential: m.Credential, Client: l.driver.Client(l.access, nil, m.Credential.Kind),
	}.Render(clientconfig.VIMConnection)
	if err != nil || !strings.Contains(text.Reveal(), `"username": "`+g.Handle+`"`) || !strings.Contains(text.Reveal(), `"userDomain": "Default"`) {
		t.Errorf("a VNFM reads %v", err)
	}
	inventory := func(want int) {
		t.Helper()
		for _, known := range []bool{false, true} {
			a := l.access
			a.Users = known
			found, err := l.driver.Inventory(t.Context(), a)
			if err != nil || len(found) != want || want > 0 && (found[0].Handle != g.Handle || found[0].Lease != g.Lease) {
				t.Errorf("Inventory() = %+v, %v, want %d", found, err, want)
			}
		}
	}
	inventory(1)

	renewed, err := l.driver.Renew(t.Context(), l.access, g)
	if err != nil || renewed.UID != m.UID {
		t.Fatalf("Renew() = %+v, %v", renewed, err)
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); !dead || err != nil {
		t.Errorf("Dead() of the password before = %v, %v, want true", dead, err)
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, renewed.Credential); dead || err != nil {
		t.Errorf("Dead() of the new password = %v, %v", dead, err)
	}

	l.AppCred(fakekeystone.AppCred{Name: "planted", UserID: m.UID, ProjectID: l.project.ID})
	l.Plant(fakekeystone.Planted{UserID: m.UID, Type: "trust", Trustee: "mallory"})
	for range 2 { // already gone is success
		if err := l.driver.Revoke(t.Context(), l.access, issued(g, renewed)); err != nil {
			t.Fatalf("Revoke() = %v", err)
		}
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, renewed.Credential); !dead || err != nil {
		t.Errorf("Dead() after the revocation = %v, %v, want true", dead, err)
	}
	if len(l.Users("lease-"))+len(l.AppCreds())+len(l.Planted()) > 0 {
		t.Error("something of the user is left")
	}
	inventory(0)
	if _, err := l.driver.Renew(t.Context(), l.access, g); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Renew() of a user that is gone = %v", err)
	}
	if log := l.log.String(); strings.Contains(log, m.Credential.Password.Reveal()) || strings.Contains(log, renewed.Credential.Password.Reveal()) {
		t.Error("the log holds a password")
	}
}

// What the registered user may not do is refused with the role that it lacks, and an inventory that
// cannot see users that are alive says so.
func TestWhoMayMakeUsers(t *testing.T) {
	for name, c := range map[string]struct {
		domain []string
		role   string
		kind   error
		says   string
	}{
		"no role on the domain":      {nil, "member", broker.ErrForbidden, "no role on the domain"},
		"another role there":         {[]string{"reader"}, "member", broker.ErrForbidden, "may not keep users"},
		"a role that it cannot give": {[]string{"manager"}, "creator", broker.ErrForbidden, "may not give role creator"},
		"a role that it has not":     {[]string{"manager"}, "owner", broker.ErrInvalid, "does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.user = l.User("keeper", l.project, "member", "creator")
			l.access = l.to(l.Endpoint)
			l.OnDomain(l.user.ID, c.domain...)
			l.register()
			g := l.userGrant(c.role)
			_, err := l.driver.Issue(t.Context(), l.access, g)
			wantFault(t, "Issue()", err, c.kind, c.says)
			if len(c.domain) > 0 && c.domain[0] == "manager" {
				if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}); err != nil || len(l.Users("lease-")) > 0 {
					t.Errorf("Revoke() of what failed = %v, %d users left", err, len(l.Users("lease-")))
				}
				return
			}
			if found, err := l.driver.Inventory(t.Context(), l.access); err != nil || len(found) > 0 {
				t.Errorf("Inventory() where there can be none = %v, %v", found, err)
			}
			l.access.Users = true
			if _, err := l.driver.Inventory(t.Context(), l.access); !errors.Is(err, broker.ErrForbidden) {
				t.Errorf("Inventory() where there are some = %v, want forbidden", err)
			}
		})
	}
	l, g := newManager(t)
	g.Purpose = openstack.Read
	_, err := l.driver.Issue(t.Context(), l.access, g)
	wantFault(t, "a user for reading", err, broker.ErrUnsupported, "access rules")
}

// A user that is not ours keeps its name, and one of an attempt that died is made anew.
func TestAUserOfThatNameIsThere(t *testing.T) {
	l, g := newManager(t)
	first := l.issue(g)
	again := l.issue(g)
	if again.UID == first.UID || len(l.Users("lease-")) != 1 {
		t.Errorf("adopted %s after %s, %d users", again.UID, first.UID, len(l.Users("lease-")))
	}
	// Known by its id alone, as where somebody has renamed it.
	other := l.userGrant("member")
	m := l.issue(other)
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: "lease-renamed", UID: m.UID, Grant: other}); err != nil || len(l.Users(other.Handle)) > 0 {
		t.Errorf("Revoke() by id = %v, %d users left", err, len(l.Users(other.Handle)))
	}
	// And where another user has the name by then: both go.
	both := l.userGrant("member")
	m = l.issue(both)
	l.Stray(both.Handle+"-now", description(l.access.VIM, both.Lease))
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: both.Handle + "-now", UID: m.UID, Grant: both}); err != nil || len(l.Users(both.Handle)) > 0 {
		t.Errorf("Revoke() by id beside another of the name = %v, %d users left", err, len(l.Users(both.Handle)))
	}
	stranger := l.access
	stranger.VIM = uuid.NewString()
	_, err := l.driver.Issue(t.Context(), stranger, g)
	wantFault(t, "Issue() of a name that is another VIM's", err, broker.ErrConflict, "not this VIM's")
	if err := l.driver.Revoke(t.Context(), stranger, broker.Issued{Handle: g.Handle, Grant: g}); err != nil || len(l.Users("lease-")) != 1 {
		t.Errorf("Revoke() of another VIM's user = %v, %d users left, want 1", err, len(l.Users("lease-")))
	}
	// No answer is no proof.
	l.Fail(fake.Fault{Method: "DELETE", Path: "/users/", Kind: fake.Drop, Times: -1})
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, again)); err == nil {
		t.Error("Revoke() without an answer succeeds")
	}
	l.Heal()
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, again)); err != nil {
		t.Errorf("Revoke() = %v", err)
	}
	if g.TTL < time.Minute || len(l.Users("lease-")) > 0 {
		t.Errorf("%d users left", len(l.Users("lease-")))
	}
	if n := strings.Count(l.log.String(), "a user with a lease's name is not ours, left alone"); n != 1 {
		t.Errorf("the log tells %d times of a user that is not ours, want once", n)
	}
}

// A cloud that tells nobody which domains are his keeps no inventory of other leases from being taken, and none of its
// refusals is taken for the end of a user.
func TestACloudThatListsNoDomains(t *testing.T) {
	l, g := newManager(t)
	m := l.issue(g)
	usual := l.grant("member")
	l.issue(usual)
	l.Fail(fake.Fault{Method: "GET", Path: "/auth/domains$", Kind: fake.Refuse, Status: 403, Times: -1})
	if found, err := l.driver.Inventory(t.Context(), l.access); err != nil || len(found) != 1 || found[0].Handle != usual.Handle {
		t.Errorf("Inventory() = %+v, %v, want the usual lease", found, err)
	}
	known := l.access
	known.Users = true
	_, err := l.driver.Inventory(t.Context(), known)
	wantFault(t, "Inventory() where users are alive", err, broker.ErrForbidden, "no role on the domain")
	_, err = l.driver.Issue(t.Context(), l.access, l.userGrant("member"))
	wantFault(t, "Issue()", err, broker.ErrForbidden, "no role on the domain")
	wantFault(t, "Revoke()", l.driver.Revoke(t.Context(), l.access, issued(g, m)), broker.ErrForbidden, "no role on the domain")
	l.Heal()
	l.Fail(fake.Fault{Method: "GET", Path: "/auth/domains$", Kind: fake.Refuse, Status: 500, Times: -1})
	_, err = l.driver.Inventory(t.Context(), l.access)
	wantFault(t, "Inventory() where Keystone cannot answer", err, broker.ErrUnreachable, "500")
}

// Who may list users, and delete none, has not deleted one that has another name by now.
func TestARefusedDeletionIsNoEnd(t *testing.T) {
	l, g := newManager(t)
	m := l.issue(g)
	l.Fail(fake.Fault{Method: "DELETE", Path: "/users/", Kind: fake.Refuse, Status: 403, Times: -1})
	for _, handle := range []string{g.Handle, "lease-renamed"} {
		err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: handle, UID: m.UID, Grant: g})
		wantFault(t, "Revoke() by "+handle, err, broker.ErrForbidden, "may not delete users")
	}
	l.Fail(fake.Fault{Method: "GET", Path: "/users/", Kind: fake.Drop, Times: -1})
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, m)); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("Revoke() where nobody says whether the user is there = %v, want unreachable", err)
	}
	l.Heal()
	for deleted, c := range map[int]struct {
		path string
		said int
		want error
	}{
		403: {"/users/" + m.UID + "$", 404, nil}, 404: {"/users$", 500, broker.ErrUnreachable},
	} {
		l.Fail(fake.Fault{Method: "DELETE", Path: "/users/", Kind: fake.Refuse, Status: deleted})
		l.Fail(fake.Fault{Method: "GET", Path: c.path, Kind: fake.Refuse, Status: c.said, Times: -1})
		if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{UID: m.UID, Grant: g}); !errors.Is(err, c.want) || err == nil != (c.want == nil) {
			t.Errorf("Revoke() refused with %d where %s is answered with %d = %v, want %v", deleted, c.path, c.said, err, c.want)
		}
		l.Heal()
	}
	l.Fail(fake.Fault{Method: "PATCH", Path: "/users/", Kind: fake.JSON, Status: 200, Body: `{"user":{"id":"` + m.UID + `","enabled":7}}`})
	if _, err := l.driver.Renew(t.Context(), l.access, g); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("Renew() that is answered with no user = %v, want unreachable", err)
	}
	l.Heal()
	if err := l.driver.Revoke(t.Context(), l.access, issued(g, m)); err != nil || len(l.Users("lease-")) > 0 {
		t.Errorf("Revoke() = %v, %d users left", err, len(l.Users("lease-")))
	}
}

package openstack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// as registers the VIM anew with a user of these roles.
func (l *lab) as(name string, roles ...string) {
	l.t.Helper()
	l.user = l.User(name, l.project, roles...)
	l.access = l.to(l.Endpoint)
	l.register()
}

// rolesOf are the roles of a leased application credential, sorted.
func (l *lab) rolesOf(m broker.Minted) []string {
	l.t.Helper()
	for _, c := range l.AppCreds() {
		if c.ID == m.Credential.ApplicationCredentialID {
			return slices.Sorted(slices.Values(c.Roles))
		}
	}
	l.t.Fatal("the cloud does not have the leased application credential")
	return nil
}

// admin is for those who ask for it by name.
func TestAdminIsGrantedOnlyByName(t *testing.T) {
	l := newLab(t)
	l.as("boss", "admin") // which implies the others
	for asked, want := range map[string][]string{
		"": {"manager", "member", "reader"}, "reader": {"reader"}, "member": {"member", "reader"},
		"admin": {"admin", "manager", "member", "reader"},
	} {
		if got := l.rolesOf(l.issue(l.grant(asked))); !slices.Equal(got, want) {
			t.Errorf("a lease for the role %q has the roles %q, want %q", asked, got, want)
		}
	}
}

// A project token cannot be cut down: it is lent only where all of its roles are asked for.
func TestAProjectTokenIsNotLentForFewerRolesThanItHas(t *testing.T) {
	l := newLab(t)
	c := l.AppCred(fakekeystone.AppCred{Name: "restricted", UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member", "reader"}})
	l.access.Target.Scope = broker.Scope{}
	l.access.Credential = broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	}
	l.register()
	m, err := l.driver.Issue(t.Context(), l.access, l.grant("reader"))
	wantFault(t, "Issue of a project token for reader, where it has member too", err, broker.ErrInvalid, "member")
	if !m.Credential.Token.Empty() {
		t.Error("a project token with more roles than asked for was lent")
	}
	for _, all := range []string{"member", "member,reader", ""} {
		if m := l.issue(l.grant(all)); m.Credential.Kind != broker.CredentialProjectToken {
			t.Errorf("Issue for %q lends a %s, want a project token", all, m.Credential.Kind)
		}
	}
}

// What Issue refuses for what the VIM was registered with is foreseen, and nothing else is.
func TestALeaseForHeatThatIsRefusedIsForeseen(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(l *lab)
		purpose string
		kind    error
	}{
		"a member":                              {func(l *lab) { l.as("anna2", "member") }, openstack.Heat, nil},
		"an administrator":                      {func(l *lab) { l.as("boss", "admin", "member") }, openstack.Heat, broker.ErrInvalid},
		"an administrator, and the usual lease": {func(l *lab) { l.as("boss", "admin", "member") }, "", nil},
		"an application credential": {func(l *lab) {
			c := l.AppCred(fakekeystone.AppCred{Name: "free", UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member"}, Unrestricted: true})
			l.access.Target.Scope = broker.Scope{}
			l.access.Credential = broker.Credential{
				Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
			}
			l.register()
		}, openstack.Heat, broker.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.prepare(l)
			g := l.grant("")
			g.Purpose = c.purpose
			_, issued := l.driver.Issue(t.Context(), l.access, g)
			for what, err := range map[string]error{"Foresee": l.driver.Foresee(t.Context(), l.access, g), "Issue": issued} {
				if !errors.Is(err, c.kind) {
					t.Errorf("%s = %v, want %v", what, err, c.kind)
				}
			}
		})
	}
}

// A renewal takes the number after the highest, in whatever order Keystone lists them and whichever are gone.
func TestARenewalHasTheNextNumber(t *testing.T) {
	for name, numbers := range map[string][]int{"in their order": {2, 3, 7}, "the highest first": {7, 3, 2}, "in no order": {3, 7, 2}, "ten and more": {9, 10, 2}} {
		l := newLab(t)
		l.register()
		g := l.grant("member")
		l.issue(g)
		highest := 1
		for _, n := range numbers {
			highest = max(highest, n)
			l.AppCred(fakekeystone.AppCred{
				Name: fmt.Sprintf("%s.%d", g.Handle, n), UserID: l.user.ID, ProjectID: l.project.ID,
				Description: "vimbroker vim=" + l.access.VIM + " lease=" + g.Lease + " issued=2026-01-01T00:00:00Z",
			})
		}
		m, err := l.driver.Renew(t.Context(), l.access, g)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, a := range l.AppCreds() {
			if a.ID == m.CredentialID && a.Name != fmt.Sprintf("%s.%d", g.Handle, highest+1) {
				t.Errorf("%s the next is %s, want number %d", name, a.Name, highest+1)
			}
		}
	}
}

// An application credential can be added to only by the user that owns it, also
// where another may list it.
func TestALeaseOfAnotherUserIsNotRenewed(t *testing.T) {
	l := newLab(t)
	l.register()
	g := l.grant("member")
	l.issue(g)
	before := l.access.Discovered
	owner := l.access.VIM
	l.as("boss", "admin", "member")
	l.access.VIM, l.access.InsteadOf = owner, &before
	if found, err := l.driver.Inventory(t.Context(), l.access); err != nil || len(found) != 1 {
		t.Fatalf("the stand-in lists %d objects, %v, want that of the lease", len(found), err)
	}
	n := len(l.AppCreds())
	_, err := l.driver.Renew(t.Context(), l.access, g)
	wantFault(t, "Renew by a stand-in", err, broker.ErrForbidden, "belongs to the user that was registered before")
	if after := len(l.AppCreds()); after != n {
		t.Errorf("there are %d application credentials, there were %d", after, n)
	}
}

// Dead believes Keystone's own 401 and 404. All their neighbours are no answer.
func TestACredentialIsDeadOnlyOnKeystonesOwnWord(t *testing.T) {
	for kind, prepare := range map[broker.CredentialKind]func(l *lab){
		broker.CredentialApplicationCredential: func(*lab) {},
		broker.CredentialProjectToken: func(l *lab) {
			c := l.AppCred(fakekeystone.AppCred{Name: "restricted", UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member", "reader"}})
			l.access.Target.Scope = broker.Scope{}
			l.access.Credential = broker.Credential{
				Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
			}
		},
	} {
		l := newLab(t)
		prepare(l)
		l.register()
		m := l.issue(l.grant("member"))
		if m.Credential.Kind != kind {
			t.Fatalf("the lease is a %s, want a %s", m.Credential.Kind, kind)
		}
		for _, f := range []fake.Fault{
			{Kind: fake.HTML, Status: 200},
			{Kind: fake.HTML, Status: 401},
			{Kind: fake.HTML, Status: 403},
			{Kind: fake.HTML, Status: 404},
			{Kind: fake.JSON, Status: 401, Body: `{}`},
			{Kind: fake.JSON, Status: 404, Body: `{"message":"no such route"}`},
			{Kind: fake.Refuse, Status: 400},
			{Kind: fake.Refuse, Status: 403},
			{Kind: fake.Refuse, Status: 410},
			{Kind: fake.Refuse, Status: 429},
			{Kind: fake.Refuse, Status: 500},
			{Kind: fake.Drop},
		} {
			f.Times = -1
			l.Fail(f)
			dead, err := l.driver.Dead(t.Context(), l.access, m.Credential)
			if dead || err == nil {
				t.Errorf("a %s that lives, answered %s, is dead = %v, %v; want an error", kind, strings.TrimSpace(fmt.Sprint(f.Kind, " ", f.Status, " ", f.Body)), dead, err)
			}
			l.Heal()
		}
		if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
			t.Errorf("after all that the %s is dead = %v, %v, want it to live", kind, dead, err)
		}
	}
}

// A probe that a crash left is no lease, and no other VIM's credential is this one's.
func TestInventoryHoldsLeasesOnly(t *testing.T) {
	l := newLab(t)
	l.register()
	g := l.grant("member")
	l.issue(g)
	for _, description := range []string{
		"vimbroker vim=" + l.access.VIM + " lease= issued=2026-01-02T03:04:05Z",
		"vimbroker vim=" + uuid.NewString() + " lease=" + uuid.NewString() + " issued=2026-01-02T03:04:05Z",
		"another vim=" + l.access.VIM + " lease=" + uuid.NewString() + " issued=2026-01-02T03:04:05Z",
	} {
		l.AppCred(fakekeystone.AppCred{Name: "lease-" + uuid.NewString(), Description: description, UserID: l.user.ID, ProjectID: l.project.ID})
	}
	found, err := l.driver.Inventory(t.Context(), l.access)
	if err != nil || len(found) != 1 || found[0].Handle != g.Handle {
		t.Errorf("Inventory() = %+v, %v, want %s alone", found, err, g.Handle)
	}
}

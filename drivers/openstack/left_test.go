package openstack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// nobody is no live lease.
func nobody(context.Context, string, string) (bool, error) { return false, nil }

// heatLease is a lease that is not bounded.
func (l *lab) heatLease() (broker.Grant, broker.Minted) {
	l.t.Helper()
	g := l.grant("")
	g.Purpose = openstack.Heat
	m := l.issue(g)
	if m.Stood == "" || m.Unseen != "" {
		l.t.Fatalf("what stood before an unbounded lease is not known: %q", m.Unseen)
	}
	return g, m
}

// What a holder planted is found when the lease is revoked, and nothing that stood
// before, is another lease's, a probe or a stack's own.
func TestWhatAHolderLeavesBehindIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		remove   bool
		trustees []string
		left     int // of what was planted
		says     string
	}{
		"reported":                     {left: 4},
		"removed":                      {remove: true, left: 1, says: "stack's own if that is Heat's user"},
		"removed, with Heat's trustee": {remove: true, trustees: []string{"heat"}, left: 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.driver = openstack.New(openstack.Options{StackTrustees: c.trustees})
			l.register()
			l.AppCred(fakekeystone.AppCred{Name: "before", UserID: l.user.ID, ProjectID: l.project.ID})
			l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "trust", Trustee: "before"})
			_, m := l.heatLease()
			other := l.grant("member")
			l.issue(other)
			if c.trustees != nil {
				l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "trust", Trustee: "heat"})
			}
			forged := "vimbroker vim=" + l.access.VIM + " lease=" + uuid.NewString() + " issued=2026-01-01T00:00:00Z"
			planted := []string{
				l.AppCred(fakekeystone.AppCred{Name: "lease-x", Description: forged, UserID: l.user.ID, ProjectID: l.project.ID, Unrestricted: true}).ID,
				l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "trust", Trustee: "mallory"}).ID,
				l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "ec2"}).ID,
				l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "totp"}).ID,
			}
			live := func(_ context.Context, lease, handle string) (bool, error) {
				return lease == other.Lease && handle == other.Handle, nil
			}
			left, err := l.driver.Left(t.Context(), l.access, broker.Comparison{Stood: m.Stood, Live: live, Remove: c.remove})
			if err != nil || len(left) != len(planted) {
				t.Fatalf("Left() = %q, %v, want a sentence for each of %d", left, err, len(planted))
			}
			text := strings.Join(left, "\n")
			for _, id := range planted {
				if !strings.Contains(text, id) {
					t.Errorf("%q does not name %s", left, id)
				}
			}
			if !strings.Contains(text, c.says) || strings.Contains(text, fake.Canary) {
				t.Errorf("%q does not say %q, or holds a secret", left, c.says)
			}
			if got := strings.Count(text, ", removed"); got != len(planted)-c.left {
				t.Errorf("%d are called removed in %q, want %d", got, left, len(planted)-c.left)
			}
			there := 0
			for _, a := range l.AppCreds() {
				if slices.Contains(planted, a.ID) {
					there++
				}
			}
			for _, p := range l.Planted() {
				if slices.Contains(planted, p.ID) {
					there++
				}
			}
			if there != c.left {
				t.Errorf("%d of what was planted are there, want %d", there, c.left)
			}
			if all, others := len(l.AppCreds())+len(l.Planted())-there, 3+len(c.trustees); all != others {
				t.Errorf("%d others are there, want %d: nothing else may be removed", all, others)
			}
		})
	}
}

// The holder of a bounded lease can make nothing, as the cloud said. Should that be
// otherwise by now, the credentials tell, and nothing else is looked at.
func TestABoundedLeaseIsComparedByCredentials(t *testing.T) {
	for name, register := range map[string]func(*lab){
		"a password": func(*lab) {}, "a restricted application credential": func(l *lab) { l.byAppCred(false) },
	} {
		l := newLab(t)
		register(l)
		l.register()
		mine := func(kind string) string {
			return l.Plant(fakekeystone.Planted{UserID: l.user.ID, ProjectID: l.project.ID, Type: kind}).ID
		}
		mine("ec2")
		m := l.issue(l.grant("member,reader"))
		if m.Stood == "" || m.Unseen != "" {
			t.Fatalf("%s: a bounded lease notes %q, %q", name, m.Stood, m.Unseen)
		}
		mine("trust")
		l.AppCred(fakekeystone.AppCred{Name: "the user's own", UserID: l.user.ID, ProjectID: l.project.ID})
		want := []string{"EC2 credential " + mine("ec2"), "TOTP credential " + mine("totp")}
		left, err := l.driver.Left(t.Context(), l.access, broker.Comparison{Stood: m.Stood, Live: nobody})
		if diff := cmp.Diff(want, left); diff != "" || err != nil {
			t.Errorf("%s: Left() = %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Where the credentials cannot be listed, a bounded lease is not compared, and nobody is told.
func TestABoundedLeaseNeedsNoLook(t *testing.T) {
	l := newLab(t)
	l.register()
	l.Fail(fake.Fault{Path: "/credentials$", Method: "GET", Kind: fake.Refuse, Status: 403, Times: -1})
	if m := l.issue(l.grant("member")); m.Stood != "" || m.Unseen != "" {
		t.Errorf("a bounded lease notes %q, %q", m.Stood, m.Unseen)
	}
}

// Where the credentials cannot be seen, the lease says why.
func TestWhatCannotBeSeenIsSaid(t *testing.T) {
	l := newLab(t)
	l.register()
	l.Fail(fake.Fault{Path: "/credentials$", Method: "GET", Kind: fake.Refuse, Status: 403, Times: -1})
	g := l.grant("")
	g.Purpose = openstack.Heat
	m := l.issue(g)
	if m.Stood != "" || !strings.Contains(m.Unseen, "may not list") {
		t.Errorf("Issue notes %q, %q, want why nothing can be seen", m.Stood, m.Unseen)
	}
	l.Heal()
	for _, broken := range []string{"x", "Aw", "AQE"} {
		left, err := l.driver.Left(t.Context(), l.access, broker.Comparison{Stood: broken, Live: nobody})
		wantFault(t, fmt.Sprintf("Left(%q) = %q", broken, left), err, broker.ErrUnsupported, "cannot be read")
	}
}

// An application credential whose description is almost a mark is nobody's lease.
func TestMarksAreReadByTheLetter(t *testing.T) {
	l := newLab(t)
	l.register()
	id := uuid.NewString()
	for want, all := range map[int][]string{
		1: {"vimbroker vim=VIM lease=ID issued=2030-01-01T00:00:00Z"},
		0: {
			"vimbroker vim=VIM lease=ID issued=2030-01-01", "vimbroker vim=VIM lease=ID", "vimbroker VIM lease=ID issued=2030-01-01T00:00:00Z",
			"vimbroker vim=VIM ID issued=2030-01-01T00:00:00Z", "vimbroker vim=VIM lease=ID 2030-01-01T00:00:00Z",
			"other vim=VIM lease=ID issued=2030-01-01T00:00:00Z", "vimbroker vim=VIM lease=x issued=2030-01-01T00:00:00Z",
			"vimbroker vim=x lease=ID issued=2030-01-01T00:00:00Z", "vimbroker vim=VIM lease=ID issued=2030-01-01T00:00:00Z more",
		},
	} {
		for _, text := range all {
			text = strings.NewReplacer("VIM", l.access.VIM, "ID", id).Replace(text)
			l.AppCred(fakekeystone.AppCred{Name: "lease-" + id, Description: text, UserID: l.user.ID, ProjectID: l.project.ID})
			found, err := l.driver.Inventory(t.Context(), l.access)
			if err != nil || len(found) != want {
				t.Errorf("marked %q, Inventory = %v, %v, want %d", text, found, err, want)
			}
			l.Delete("lease-" + id)
		}
	}
}

// What was discovered before must name a user, and a credential to try must be there.
func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	l := newLab(t)
	l.register()
	a := l.access
	a.InsteadOf = &broker.Discovered{Cloud: &broker.Cloud{UserID: "../", ProjectID: l.project.ID}}
	g := l.grant("member")
	_, renewed := l.driver.Renew(t.Context(), a, g)
	_, listed := l.driver.Inventory(t.Context(), a)
	for what, err := range map[string]error{
		"Renew": renewed, "Inventory": listed, "Revoke": l.driver.Revoke(t.Context(), a, broker.Issued{Handle: g.Handle, Grant: g}),
	} {
		wantFault(t, what, err, broker.ErrConflict, "name no user or project")
	}
	for _, kind := range []broker.CredentialKind{broker.CredentialProjectToken, broker.CredentialApplicationCredential, broker.CredentialPassword} {
		if dead, err := l.driver.Dead(t.Context(), l.access, broker.Credential{Kind: kind}); dead || !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Dead of an empty %s = %v, %v", kind, dead, err)
		}
	}
}

// A report is bounded.
func TestAReportIsBounded(t *testing.T) {
	l := newLab(t)
	l.register()
	_, m := l.heatLease()
	for range 150 {
		l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "ec2"})
	}
	left, err := l.driver.Left(t.Context(), l.access, broker.Comparison{Stood: m.Stood, Live: nobody})
	if err != nil || len(left) != 100 || cmp.Diff("and more: look through the user's credentials on the cloud", left[99]) != "" {
		t.Errorf("Left() says %d sentences, %v", len(left), err)
	}
}

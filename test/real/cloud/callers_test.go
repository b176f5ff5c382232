package cloud_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// callersOf authenticates by a cloud's Keystone, as a user of the cloud.
func callersOf(t *testing.T, o *real.Cloud, as real.Tenant, now func() time.Time) *openstack.Callers {
	t.Helper()
	behind := o.TLS(t)
	c, err := openstack.NewCallers(openstack.CallersOptions{
		AuthURL: behind.AuthURL, CAFile: private(t, behind.CAPEM), Now: now, Timeout: time.Minute,
		Login: keystone.Auth{Password: &keystone.Password{UserID: as.UserID, ProjectID: as.ProjectID, PasswordFile: private(t, as.Password)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func wantCaller(t *testing.T, c *openstack.Callers, token string, who real.Tenant, roles ...string) {
	t.Helper()
	got, err := c.Authenticate(t.Context(), token)
	if diff := cmp.Diff(policy.Principal{Name: "keystone:" + who.UserID + "@" + who.DomainID, Project: who.ProjectID, Roles: roles}, got); diff != "" || err != nil {
		t.Errorf("Authenticate = %v, differs (-want +got):\n%s", err, diff)
	}
}

func wantStranger(t *testing.T, c *openstack.Callers, token, of string) {
	t.Helper()
	if p, err := c.Authenticate(t.Context(), token); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("Authenticate of %s = %+v, %v, want ErrUnauthenticated", of, p, err)
	}
}

func TestKeystoneCallers(t *testing.T) {
	o := real.OpenStack(t)
	at := time.Now()
	// The least that a broker's user needs: the role "service" in any project.
	c := callersOf(t, o, o.Project(t, "service"), func() time.Time { return at })

	// Projects and users of one name in two domains stay apart.
	here := o.ProjectIn(t, "default", "Default", "twin", "member", "creator")
	there := o.ProjectIn(t, o.Domain(t, "elsewhere"), "elsewhere", "twin", "reader")
	tokenHere, tokenThere := o.Token(t, here), o.Token(t, there)
	wantCaller(t, c, tokenHere, here, "member", "reader") // Keystone adds what a role implies
	wantCaller(t, c, tokenThere, there, "reader")
	wantCaller(t, c, o.Token(t, o.Admin), o.Admin, "member", "project-admin", "reader") // no administrator here

	wantStranger(t, c, tokenHere[:len(tokenHere)-2]+"AA", "a changed token")
	wantStranger(t, c, "nobody's", "no token")

	// A revoked token is refused once what was said of it is a minute old.
	o.Do(t, "PATCH", o.AuthURL+"/users/"+here.UserID, map[string]any{"user": map[string]any{"enabled": false}}, nil)
	wantCaller(t, c, tokenHere, here, "member", "reader")
	at = at.Add(time.Minute)
	wantStranger(t, c, tokenHere, "a disabled user")
	wantCaller(t, c, tokenThere, there, "reader")
}

// Someone who may not validate tokens cannot tell that one is wrong.
func TestKeystoneCallersWithoutRights(t *testing.T) {
	o := real.OpenStack(t)
	c := callersOf(t, o, o.Project(t), nil)
	if p, err := c.Authenticate(t.Context(), o.Token(t, o.Project(t))); err == nil || errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("Authenticate = %+v, %v, want that it cannot be told", p, err)
	}
}

func TestKeystoneCallersOutage(t *testing.T) {
	o := disturbed(t)
	who := o.Project(t)
	token := o.Token(t, who)
	c := callersOf(t, o, o.Admin, nil)
	o.Halt(real.Keystone)
	if p, err := c.Authenticate(t.Context(), token); err == nil || errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("Authenticate without Keystone = %+v, %v, want that it cannot be told", p, err)
	}
	o.Restart(t, real.Keystone)
	if !real.Poll(t, process.Patience, func() bool { _, err := c.Authenticate(t.Context(), token); return err == nil }) {
		t.Error("callers are not authenticated with Keystone back")
	}
	wantCaller(t, c, token, who, "member", "reader")
}

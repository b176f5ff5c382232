package cloud_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/real"
)

// A lease that is a user, on a Keystone where who has role manager on a domain keeps its users: it
// has its roles on the one project, cannot change its password, and takes with it all that it made
// of itself. What Heat made for it stays, and can only be deleted.
func TestOpenStackUserOfALease(t *testing.T) {
	o := real.OpenStack(t)
	who := o.Project(t)
	o.OnDomain(t, who, "manager")
	v := newVIM(t, registration(o.TLS(t), who))
	v.Users = true
	g := v.grant(t, "member", "", time.Hour)
	g.User = true
	m, err := v.Issue(t.Context(), v.Access, g)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := v.Inventory(t.Context(), v.Access); err != nil || len(found) != 1 || found[0].Handle != g.Handle {
		t.Errorf("Inventory() = %+v, %v, want the user", found, err)
	}
	user := who
	user.UserID, user.Password = m.UID, m.Credential.Password.Reveal()
	token, err := o.LogIn(t.Context(), user, nil)
	if err != nil {
		t.Fatal(err)
	}
	var projects struct{ Projects []struct{ ID string } }
	if o.As(t, token, "GET", o.AuthURL+"/auth/projects", nil, &projects); len(projects.Projects) != 1 || projects.Projects[0].ID != who.ProjectID {
		t.Errorf("the user is in %+v, want the one project", projects.Projects)
	}
	own := o.AuthURL + "/users/" + m.UID
	if status := o.As(t, token, "POST", own+"/password", body{"user": body{"original_password": user.Password, "password": "another"}}, nil); status != http.StatusBadRequest {
		t.Errorf("the user changes its password: %d, want 400", status)
	}
	id, plant := o.ApplicationCredential(t, user, "planted", true)
	var trust struct{ Trust struct{ ID string } }
	var roles struct {
		Token struct{ Roles []struct{ ID, Name string } }
	}
	if token, err = o.LogIn(t.Context(), user, &roles); err != nil {
		t.Fatal(err)
	}
	if status := o.As(t, token, "POST", o.AuthURL+"/OS-TRUST/trusts", body{"trust": body{
		"trustor_user_id": m.UID, "trustee_user_id": who.UserID, "project_id": who.ProjectID, "impersonation": true,
		"roles": []body{{"id": roles.Token.Roles[0].ID}},
	}}, &trust); status != http.StatusOK {
		t.Fatalf("the user makes a trust: %d", status)
	}
	if status := o.As(t, token, "POST", own+"/credentials/OS-EC2", body{"tenant_id": who.ProjectID}, nil); status != http.StatusOK {
		t.Fatalf("the user makes an EC2 credential: %d", status)
	}

	renewed, err := v.Renew(t.Context(), v.Access, g)
	if err != nil {
		t.Fatal(err)
	}
	if status := o.As(t, token, "GET", o.AuthURL+"/auth/projects", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("a token of the password before: %d, want 401", status)
	}
	if dead, err := v.Dead(t.Context(), v.Access, m.Credential); !dead || err != nil {
		t.Errorf("Dead() of the password before = %v, %v, want true", dead, err)
	}
	if _, err := o.LogInWith(t.Context(), id, plant, nil); err != nil {
		t.Errorf("an application credential ends with a password: %v", err)
	}

	for range 2 {
		if err := v.Revoke(t.Context(), v.Access, broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g}); err != nil {
			t.Fatalf("Revoke() = %v", err)
		}
	}
	if dead, err := v.Dead(t.Context(), v.Access, renewed.Credential); !dead || err != nil {
		t.Errorf("Dead() after Revoke() = %v, %v, want true", dead, err)
	}
	if _, err := o.LogInWith(t.Context(), id, plant, nil); err == nil {
		t.Error("an application credential outlives its user")
	}
	admin, err := o.LogIn(t.Context(), o.Admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status := o.As(t, admin, "GET", o.AuthURL+"/OS-TRUST/trusts/"+trust.Trust.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("a trust of the user: %d, want 404", status)
	}
	var left struct{ Credentials []struct{ ID string } }
	if o.Do(t, "GET", o.AuthURL+"/credentials?user_id="+m.UID, nil, &left); len(left.Credentials) > 0 {
		t.Errorf("%d EC2 credentials outlive their user", len(left.Credentials))
	}
	if found, err := v.Inventory(t.Context(), v.Access); err != nil || len(found) > 0 {
		t.Errorf("Inventory() = %+v, %v, want nothing", found, err)
	}
}

type body = map[string]any

// Who may make users, and what else he may: a domain's manager nothing but that, an administrator of
// a domain everything, as far as Keystone's own rules go.
func TestOpenStackWhoKeepsUsers(t *testing.T) {
	o := real.OpenStack(t)
	behind := o.TLS(t)
	elsewhere := o.Domain(t, "elsewhere-of-users")
	for role, c := range map[string]struct {
		status int // of a user in another domain
		refuse string
	}{
		"":        {0, "credential"},
		"reader":  {http.StatusForbidden, "credential"},
		"manager": {http.StatusForbidden, "role"},
		"admin":   {http.StatusOK, ""},
	} {
		t.Run("role "+role, func(t *testing.T) {
			who := o.Project(t)
			if role != "" {
				o.OnDomain(t, who, role)
			}
			v := newVIM(t, registration(behind, who))
			g := v.grant(t, "member,heat_stack_owner", "", time.Hour)
			g.User = true
			m, err := v.Issue(t.Context(), v.Access, g)
			var refused *broker.Error
			switch {
			case c.refuse == "" && err != nil:
				t.Errorf("Issue() = %v", err)
			case c.refuse != "" && (!errors.As(err, &refused) || !errors.Is(err, broker.ErrForbidden) || refused.Field != c.refuse):
				t.Errorf("Issue() = %v, want it forbidden for the field %s", err, c.refuse)
			}
			if role == "manager" || role == "admin" { // also what an attempt has left that failed
				if err := v.Revoke(t.Context(), v.Access, broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g}); err != nil {
					t.Errorf("Revoke() = %v", err)
				}
			}
			if found, err := v.Inventory(t.Context(), v.Access); err != nil || len(found) > 0 {
				t.Errorf("Inventory() = %+v, %v, want nothing", found, err)
			}
			if role == "" {
				return
			}
			token := o.OnDomainOf(t, who)
			if status := o.As(t, token, "POST", o.AuthURL+"/users", body{"user": body{"name": "by-" + role, "domain_id": elsewhere}}, nil); status != c.status {
				t.Errorf("a user in another domain: %d, want %d", status, c.status)
			}
		})
	}
}

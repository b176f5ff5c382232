package real

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// Tenant is a user with a password, and a project that he has roles in. Both are
// in the domain "default", unless Domain says otherwise.
type Tenant struct {
	UserID, Username, Password string
	ProjectID, Project         string
	// DomainID and Domain are of both, user and project.
	DomainID, Domain string
}

// TenantRoles are the roles of a [Cloud.Project]'s user: what Barbican and Heat
// ask of a tenant.
var TenantRoles = []string{"member", "creator", "heat_stack_owner"}

// object is a JSON object.
type object = map[string]any

// seed makes what a cloud's operator makes once: roles, the services' users and
// their places in the catalog, and Heat's domain.
func (o *Cloud) seed(ctx context.Context) error {
	// By name, before the ids are known.
	var me struct {
		Token struct {
			User    struct{ ID string }
			Project struct{ ID string }
		}
	}
	domain := object{"id": "default"}
	header, err := send(ctx, "", "POST", o.AuthURL+"/auth/tokens", object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{
			"name": "admin", "domain": domain, "password": openStackPassword,
		}}},
		"scope": object{"project": object{"name": "admin", "domain": domain}},
	}}, &me)
	if err != nil {
		return err
	}
	o.token = header.Get("X-Subject-Token")
	o.Admin = Tenant{
		UserID: me.Token.User.ID, Username: "admin", Password: openStackPassword,
		ProjectID: me.Token.Project.ID, Project: "admin", DomainID: "default", Domain: "Default",
	}
	if err := o.seedRoles(ctx); err != nil {
		return err
	}
	project, err := o.create(ctx, "project", object{"name": "service", "domain_id": "default"})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(3)
	type entry struct{ name, kind, url string }
	services := []entry{
		{"barbican", "key-manager", o.KeyManager},
		{"heat", "orchestration", o.Orchestration + "/v1/%(tenant_id)s"},
	}
	if o.options.WithServers {
		services = append(services, entry{"placement", "placement", o.URL(Placement)}, entry{"glance", "image", o.URL(Glance)},
			entry{"neutron", "network", o.URL(Neutron)}, entry{"nova", "compute", o.URL(Nova) + "/v2.1"})
	}
	for _, s := range services {
		group.Go(func() error { return o.seedService(ctx, project, s.name, s.kind, s.url) })
	}
	group.Go(func() error {
		domain, err := o.create(ctx, "domain", object{"name": "heat"})
		if err != nil {
			return err
		}
		user, err := o.create(ctx, "user", object{"name": "heat_domain_admin", "domain_id": domain, "password": openStackPassword})
		if err != nil {
			return err
		}
		return o.call(ctx, "PUT", o.AuthURL+"/domains/"+domain+"/users/"+user+"/roles/"+o.roles["admin"], nil, nil)
	})
	// The administrator asks Heat too.
	group.Go(func() error { return o.assign(ctx, o.Admin.ProjectID, o.Admin.UserID, "heat_stack_owner") })
	return group.Wait()
}

func (o *Cloud) seedRoles(ctx context.Context) error {
	for _, name := range []string{"service", "manager", "creator", "heat_stack_owner", "heat_stack_user"} {
		if _, err := o.create(ctx, "role", object{"name": name}); err != nil {
			return err
		}
	}
	var all struct{ Roles []struct{ ID, Name string } }
	if err := o.call(ctx, "GET", o.AuthURL+"/roles", nil, &all); err != nil {
		return err
	}
	o.roles = map[string]string{}
	for _, role := range all.Roles {
		o.roles[role.Name] = role.ID
	}
	return nil
}

func (o *Cloud) seedService(ctx context.Context, project, name, kind, address string) error {
	user, err := o.create(ctx, "user", object{"name": name, "domain_id": "default", "password": openStackPassword})
	if err != nil {
		return err
	}
	if err := o.assign(ctx, project, user, "admin", "service"); err != nil {
		return err
	}
	service, err := o.create(ctx, "service", object{"name": name, "type": kind})
	if err != nil {
		return err
	}
	for _, side := range []string{"public", "internal", "admin"} {
		if _, err := o.create(ctx, "endpoint", object{"service_id": service, "interface": side, "region_id": o.Region, "url": address}); err != nil {
			return err
		}
	}
	return nil
}

// create makes one of Keystone's things, and returns its id.
func (o *Cloud) create(ctx context.Context, kind string, fields object) (string, error) {
	var made map[string]struct{ ID string }
	if err := o.call(ctx, "POST", o.AuthURL+"/"+kind+"s", object{kind: fields}, &made); err != nil {
		return "", err
	}
	return made[kind].ID, nil
}

// assign gives a user roles in a project.
func (o *Cloud) assign(ctx context.Context, project, user string, roles ...string) error {
	for _, name := range roles {
		id, known := o.roles[name]
		if !known {
			return fmt.Errorf("giving roles: there is no role %q", name)
		}
		if err := o.call(ctx, "PUT", o.AuthURL+"/projects/"+project+"/users/"+user+"/roles/"+id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Project makes a fresh project with a fresh user in it, who has [TenantRoles], or
// the given ones instead.
func (o *Cloud) Project(t testing.TB, roles ...string) Tenant {
	t.Helper()
	return o.ProjectIn(t, "default", "Default", o.newName(), roles...)
}

// newName is the name of the next project, which no other has.
func (o *Cloud) newName() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made++
	return "tenant-" + strconv.Itoa(o.made)
}

// ProjectIn makes a project and a user, both of one name, in a domain.
func (o *Cloud) ProjectIn(t testing.TB, domainID, domain, name string, roles ...string) Tenant {
	t.Helper()
	who, err := o.NewTenant(t.Context(), domainID, domain, name, roles...)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// NewTenant does what [Cloud.ProjectIn] does, for what is no test.
func (o *Cloud) NewTenant(ctx context.Context, domainID, domain, name string, roles ...string) (Tenant, error) {
	who := Tenant{Username: name, Password: "only-for-" + name, Project: name, DomainID: domainID, Domain: domain}
	var err error
	if who.ProjectID, err = o.create(ctx, "project", object{"name": name, "domain_id": domainID}); err != nil {
		return Tenant{}, err
	}
	if err := o.addUser(ctx, &who, roles); err != nil {
		return Tenant{}, err
	}
	return who, nil
}

// OnDomain gives a tenant a role on the domain that user and project are in.
func (o *Cloud) OnDomain(t testing.TB, who Tenant, role string) {
	t.Helper()
	o.Do(t, "PUT", o.AuthURL+"/domains/"+who.DomainID+"/users/"+who.UserID+"/roles/"+o.roles[role], nil, nil)
}

// OnDomainOf gets a tenant a token on the domain.
func (o *Cloud) OnDomainOf(t testing.TB, who Tenant) string {
	t.Helper()
	header, err := send(t.Context(), "", "POST", o.AuthURL+"/auth/tokens", object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"id": who.UserID, "password": who.Password}}},
		"scope":    object{"domain": object{"id": who.DomainID}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return header.Get("X-Subject-Token")
}

// Colleague makes another user in a tenant's project.
func (o *Cloud) Colleague(t testing.TB, of Tenant, roles ...string) Tenant {
	t.Helper()
	of.Username = o.newName()
	of.Password = "only-for-" + of.Username
	if err := o.addUser(t.Context(), &of, roles); err != nil {
		t.Fatal(err)
	}
	return of
}

func (o *Cloud) addUser(ctx context.Context, who *Tenant, roles []string) error {
	if len(roles) == 0 {
		roles = TenantRoles
	}
	var err error
	if who.UserID, err = o.create(ctx, "user", object{"name": who.Username, "domain_id": who.DomainID, "password": who.Password}); err != nil {
		return err
	}
	return o.assign(ctx, who.ProjectID, who.UserID, roles...)
}

// Domain makes a domain, and returns its id.
func (o *Cloud) Domain(t testing.TB, name string) string {
	t.Helper()
	id, err := o.create(t.Context(), "domain", object{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// SetPassword gives a user another password, which ends his tokens.
func (o *Cloud) SetPassword(t testing.TB, who Tenant, password string) {
	t.Helper()
	o.Do(t, "PATCH", o.AuthURL+"/users/"+who.UserID, object{"user": object{"password": password}}, nil)
	nextSecond()
}

// SetEnabled enables or disables a user.
func (o *Cloud) SetEnabled(t testing.TB, who Tenant, enabled bool) {
	t.Helper()
	o.Do(t, "PATCH", o.AuthURL+"/users/"+who.UserID, object{"user": object{"enabled": enabled}}, nil)
	nextSecond()
}

// TakeRole takes a role from a tenant's user.
func (o *Cloud) TakeRole(t testing.TB, who Tenant, role string) {
	t.Helper()
	o.Do(t, "DELETE", o.AuthURL+"/projects/"+who.ProjectID+"/users/"+who.UserID+"/roles/"+o.roles[role], nil, nil)
	nextSecond()
}

// nextSecond waits for a second to begin. What ends a user's tokens ends those of the
// whole second too, also the ones he is given after it: Keystone keeps the time of
// both without fractions.
func nextSecond() {
	now := time.Now()
	time.Sleep(now.Truncate(time.Second).Add(time.Second).Sub(now))
}

// ApplicationCredential makes one for a tenant, with all of his roles and without
// an end, and returns its id and secret.
func (o *Cloud) ApplicationCredential(t testing.TB, who Tenant, name string, unrestricted bool) (id, secret string) {
	t.Helper()
	return o.applicationCredential(t, who, object{"name": name, "unrestricted": unrestricted})
}

// ExpiringApplicationCredential makes a restricted one that ends, to the second.
func (o *Cloud) ExpiringApplicationCredential(t testing.TB, who Tenant, end time.Time) (id, secret string) {
	t.Helper()
	return o.applicationCredential(t, who, object{"name": o.newName(), "expires_at": end.UTC().Format("2006-01-02T15:04:05")})
}

func (o *Cloud) applicationCredential(t testing.TB, who Tenant, fields object) (id, secret string) {
	t.Helper()
	token, err := o.LogIn(t.Context(), who, nil)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Credential struct{ ID, Secret string } `json:"application_credential"`
	}
	_, err = send(t.Context(), token, "POST", o.AuthURL+"/users/"+url.PathEscape(who.UserID)+"/application_credentials",
		object{"application_credential": fields}, &made)
	if err != nil {
		t.Fatal(err)
	}
	return made.Credential.ID, made.Credential.Secret
}

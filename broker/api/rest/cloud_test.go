package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// cloud is a fake Keystone with a project and its user.
type cloud struct {
	*fakekeystone.Server
	project fakekeystone.Project
	user    fakekeystone.User
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{Server: fakekeystone.New(t, fakekeystone.Options{})}
	c.project = c.Project("demo")
	c.user = c.User("operator", c.project, "member")
	return c
}

// registration is the cloud by user name and password.
func (c *cloud) registration(name string) v1.Registration {
	return v1.Registration{
		Name: name, Type: "openstack", Endpoint: c.Endpoint + "/v3", CACert: c.CA,
		Region: "RegionOne", Project: c.project.Name, Domain: c.user.DomainName, Credential: c.password(),
	}
}

func (c *cloud) password() v1.Credential {
	return v1.Credential{Username: c.user.Name, Password: secret.NewText(c.user.Password)}
}

// leased are the application credentials of leases. A check deletes its probe in the background.
func (c *cloud) leased() []fakekeystone.AppCred {
	return slices.DeleteFunc(c.AppCreds(), func(a fakekeystone.AppCred) bool { return !strings.HasPrefix(a.Name, "lease-") })
}

// cloudsYAML says the same, but for the CA, which such a text can only name.
func (c *cloud) cloudsYAML() secret.Text {
	return secret.NewText("clouds:\n  one:\n    region_name: RegionOne\n    auth:\n      auth_url: " + c.Endpoint + "/v3\n      username: " + c.user.Name +
		"\n      password: " + c.user.Password + "\n      project_name: " + c.project.Name + "\n      user_domain_name: Default\n      project_domain_name: Default\n")
}

func TestCloudFromRegistrationToDeletion(t *testing.T) {
	b, cloud := newBench(t), newCloud(t)
	alice, ctx := b.as("alice"), t.Context()
	r := cloud.registration("os")
	r.Description, r.Extra = "first", jsontext.Value(`{"area":"a@b","n":12345678901234567890}`)
	v, err := alice.RegisterVIM(ctx, r, "")
	if err != nil {
		t.Fatal(err)
	}
	scope := v1.Scope{Region: "RegionOne", Project: "demo", ProjectDomain: "Default", UserDomain: "Default"}
	if v.Type != "openstack" || v.Endpoint != cloud.Endpoint || v.Status != "reachable" || !v.CanMint || v.Credential.Kind != "password" ||
		v.Description != "first" || string(v.Extra) != `{"area":"a@b","n":12345678901234567890}` {
		t.Errorf("RegisterVIM = %+v", v)
	}
	if diff := cmp.Diff(&scope, v.Scope); diff != "" {
		t.Errorf("the scope (-want +got):\n%s", diff)
	}
	found := v.Discovered
	if found.ProjectID != cloud.project.ID || found.Leases != "applicationCredential" || found.Trusts {
		t.Errorf("discovered %+v", found)
	}
	if diff := cmp.Diff([][]string{{"RegionOne", "RegionTwo"}, {"member", "reader"}}, [][]string{found.Regions, found.Roles}); diff != "" {
		t.Errorf("discovered regions and roles (-want +got):\n%s", diff)
	}

	l, err := alice.IssueLease(ctx, v1.LeaseRequest{VIM: "os", TTL: "10m", Role: "reader"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if made := cloud.leased(); l.Format != "clouds.yaml" || l.ClientConfig.Object || len(made) != 1 ||
		!strings.Contains(l.ClientConfig.Text.Reveal(), made[0].ID) || time.Until(made[0].ExpiresAt) > 10*time.Minute {
		t.Errorf("IssueLease = format %s, and the cloud holds %d", l.Format, len(made))
	}

	changed, err := alice.UpdateVIM(ctx, "os", v1.Change{Description: ptr("second"), Extra: jsontext.Value(`{"area":null,"more":{"x":null}}`)}, v.Revision)
	if err != nil || changed.Description != "second" || string(changed.Extra) != `{"more":{},"n":12345678901234567890}` || changed.Generation != 1 {
		t.Errorf("UpdateVIM(description, extra) = %q, %s, generation %d, %v", changed.Description, changed.Extra, changed.Generation, err)
	}
	scope.Region = "RegionTwo"
	_, err = alice.UpdateVIM(ctx, "os", v1.Change{Scope: &scope}, 0)
	if p := wantProblem(t, "another region without the credential", err, http.StatusUnprocessableEntity); p.Errors[0].Field != "credential" {
		t.Errorf("another region without the credential: faults %+v", p.Errors)
	}
	if changed, err = alice.UpdateVIM(ctx, "os", v1.Change{Scope: &scope, Credential: cloud.password()}, 0); err != nil || changed.Scope.Region != "RegionTwo" || changed.Generation != 2 {
		t.Errorf("UpdateVIM(scope) = %+v, generation %d, %v", changed.Scope, changed.Generation, err)
	}
	if changed, err = alice.UpdateVIM(ctx, "os", v1.Change{CloudsYAML: cloud.cloudsYAML(), Cloud: "one", CACert: &cloud.CA}, 0); err != nil || changed.Scope.Region != "RegionOne" {
		t.Errorf("UpdateVIM(cloudsYaml) = %+v, %v", changed.Scope, err)
	}
	if rotated, err := alice.RotateVIM(ctx, "os", v1.Rotation{Credential: cloud.password()}, 0); err != nil || rotated.Generation != 4 {
		t.Errorf("RotateVIM = generation %d, %v", rotated.Generation, err)
	}

	if _, gone, err := alice.DeleteVIM(ctx, "os", client.Deletion{Drain: true}); err != nil || !gone {
		t.Errorf("DeleteVIM = gone %v, %v", gone, err)
	}
	if left := cloud.leased(); len(left) > 0 {
		t.Errorf("the cloud still holds %d application credentials", len(left))
	}
	b.wantNowhere(t, "the whole story", cloud.user.Password)
}

func TestCloudByApplicationCredential(t *testing.T) {
	b, cloud := newBench(t), newCloud(t)
	own := cloud.AppCred(fakekeystone.AppCred{Name: "mine", UserID: cloud.user.ID, ProjectID: cloud.project.ID, Roles: []string{"member"}})
	v, err := b.as("alice").RegisterVIM(t.Context(), v1.Registration{
		Name: "os", Type: "openstack", Endpoint: cloud.Endpoint, CACert: cloud.CA,
		Credential: v1.Credential{ApplicationCredentialID: own.ID, ApplicationCredentialSecret: secret.NewText(own.Secret)},
	}, "")
	if err != nil || v.Credential.Kind != "applicationCredential" || v.Scope != nil || v.Discovered.Leases != "projectToken" {
		t.Errorf("RegisterVIM = %s, scope %v, a lease is a %v, %v", v.Credential.Kind, v.Scope, v.Discovered.Leases, err)
	}
	b.wantNowhere(t, "registration", own.Secret)
}

// What is wrong with a registration or a change is one problem that names the field.
func TestCloudsAreRefusedByField(t *testing.T) {
	b, cloud := newBench(t), newCloud(t)
	if _, err := b.as("alice").RegisterVIM(t.Context(), cloud.registration("there"), ""); err != nil {
		t.Fatal(err)
	}
	text := secret.NewText("s3cret")
	gone := fakekeystone.New(t, fakekeystone.Options{})
	gone.Close()
	const invalid = http.StatusUnprocessableEntity
	for _, c := range []struct {
		name   string
		spoil  func(*v1.Registration)
		status int
		field  string
	}{
		{"namespace", func(r *v1.Registration) { r.Namespace = "default" }, invalid, "namespace"},
		{"kubeconfig", func(r *v1.Registration) { r.Kubeconfig = text }, invalid, "kubeconfig"},
		{"bearer token", func(r *v1.Registration) { r.Credential = v1.Credential{Token: text} }, invalid, "credential"},
		{"no domain", func(r *v1.Registration) { r.Domain = "" }, invalid, "userDomain"},
		{"cloud without clouds.yaml", func(r *v1.Registration) { r.Cloud = "one" }, invalid, "cloud"},
		{"clouds.yaml beside a credential", func(r *v1.Registration) {
			*r = v1.Registration{Name: r.Name, CloudsYAML: cloud.cloudsYAML(), Cloud: "one", Credential: r.Credential}
		}, invalid, "credential"},
		{"no such cloud", func(r *v1.Registration) {
			*r = v1.Registration{Name: r.Name, CloudsYAML: cloud.cloudsYAML(), Cloud: "two"}
		}, invalid, "cloud"},
		{"CA and no verification", func(r *v1.Registration) { r.InsecureSkipVerify = true }, invalid, "insecureSkipVerify"},
		{"extra is a list", func(r *v1.Registration) { r.Extra = jsontext.Value(`["s3cret"]`) }, invalid, "extra"},
		{"description too long", func(r *v1.Registration) { r.Description = strings.Repeat("x", 4097) }, invalid, "description"},
		{"wrong password", func(r *v1.Registration) { r.Credential.Password = text }, invalid, ""},
		{"no such project", func(r *v1.Registration) { r.Project = "nowhere" }, invalid, "project"},
		{"nobody answers", func(r *v1.Registration) { r.Endpoint = gone.Endpoint }, http.StatusBadGateway, ""},
	} {
		r := cloud.registration("os")
		c.spoil(&r)
		_, err := b.as("alice").RegisterVIM(t.Context(), r, "")
		p := wantProblem(t, c.name, err, c.status)
		var fields []string
		for _, fault := range p.Errors {
			fields = append(fields, fault.Field)
		}
		if strings.Join(fields, " ") != c.field {
			t.Errorf("%s: faults %+v, want %s", c.name, p.Errors, c.field)
		}
	}
	for body, field := range map[string]string{
		`{"cloud":"one"}`:                "cloud",
		`{"context":"c"}`:                "context",
		`{"scope":{"domain":"Default"}}`: "scope.domain",
		`{"extra":17}`:                   "extra",
		`{"extra":null}`:                 "extra",
		`{"namespace":"default"}`:        "namespace",
	} {
		answer, text := b.raw("alice", "PATCH", "/v1/vims/there", body)
		if p := problemOf(t, body, answer, text); p.Status != invalid || len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("PATCH %s = %s, want a fault of %s", body, text, field)
		}
	}
	b.wantNowhere(t, "refused requests", "s3cret")
	b.wantNowhere(t, "refused requests", cloud.user.Password)
}

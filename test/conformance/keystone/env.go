// Package keystone looks into an OpenStack cloud's Keystone, fake or real, for the
// suite that the OpenStack driver passes, and meddles with it behind the driver's back.
package keystone

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
)

// User can log in to a project with a password. Both are in the domain "default".
type User struct {
	ID, Name, Password string
	ProjectID, Project string
}

// Cloud is a Keystone behind TLS, and whom the suite acts as there.
type Cloud struct {
	// Endpoint is Keystone's URL without /v3, CAPEM its authority.
	Endpoint, CAPEM string
	// User has the roles member and reader at least, Colleague too, in the same
	// project. What the suite makes is theirs.
	User, Colleague User
	// ByAppCred registers the User's unrestricted application credential instead of
	// his password.
	ByAppCred bool
	// Trusts: the cloud lets application credentials make trusts.
	Trusts bool
	// Now is the cloud's clock, and Await as in the suite's environment.
	Now   func() time.Time
	Await func(t *testing.T, most time.Duration, done func() bool) bool
}

// Env is the suite's environment on the cloud. A caller who has services behind the
// Keystone sets May to ask them.
func Env(t *testing.T, c Cloud) conformance.DriverEnv {
	t.Helper()
	rules := egress.Default()
	rules.AllowLoopback = true
	mighty := c.appCred(t, object{"name": "mighty", "unrestricted": true})
	restricted := c.appCred(t, object{"name": "restricted", "roles": []object{{"name": "member"}, {"name": "reader"}}})
	byPassword, byAppCred := c.byPassword(c.User), c.byAppCred(mighty)
	env := conformance.DriverEnv{
		New: func(log *slog.Logger) broker.Driver {
			return tidy{openstack.New(openstack.Options{Now: c.Now, Log: log})}
		},
		Egress: rules, PlainHTTP: true, AnyRole: true,
		Registration: byPassword,
		Others: map[string]broker.Registration{
			"an application credential": byAppCred, "a colleague": c.byPassword(c.Colleague), "ids": c.byIDs(),
		},
		Tokens: map[string]conformance.TokenVIM{
			"a restricted application credential": {Registration: c.byAppCred(restricted), Role: "member,reader"},
		},
		Refused: c.refused(t, mighty),
		Unknown: broker.Credential{
			Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "0123456789abcdef", ApplicationCredentialSecret: secret.NewText("never-was-a-secret"),
		},
		MinTTL: time.Minute, Reader: "reader", Writer: "member", Now: c.Now, Await: c.Await,
		Handles: c.handles, Everything: c.everything, Remove: c.remove, Plant: c.plant, May: c.may,
	}
	if !c.Trusts {
		env.Tokens["a password, for Heat"] = conformance.TokenVIM{
			Registration: byPassword, Purpose: openstack.Heat, Role: strings.Join(c.rolesOf(t, c.User.auth()), ","),
		}
	}
	if c.ByAppCred {
		delete(env.Others, "an application credential")
		env.Registration, env.Others["a password"] = byAppCred, byPassword
	}
	return env
}

// byPassword is a registration as Tacker's files have it.
func (c Cloud) byPassword(u User) broker.Registration {
	return broker.Registration{
		Name: "cloud", Type: "openstack", Endpoint: c.Endpoint, CACert: c.CAPEM,
		Scope:      broker.Scope{ProjectName: u.Project, ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: u.Name, Password: secret.NewText(u.Password)},
	}
}

// byIDs is a registration by password that says what it can by ids.
func (c Cloud) byIDs() broker.Registration {
	r := c.byPassword(c.User)
	r.Endpoint += "/v3/"
	r.Scope = broker.Scope{ProjectID: c.User.ProjectID, UserDomainID: "default"}
	return r
}

// byAppCred is a registration by application credential.
func (c Cloud) byAppCred(a AppCred) broker.Registration {
	return broker.Registration{
		Name: "cloud", Type: "openstack", Endpoint: c.Endpoint, CACert: c.CAPEM,
		Credential: broker.Credential{ApplicationCredentialID: a.ID, ApplicationCredentialSecret: secret.NewText(a.Secret)},
	}
}

// refused are registrations with credentials that Keystone does not know, in each
// way that it has of saying so.
func (c Cloud) refused(t *testing.T, good AppCred) map[string]broker.Registration {
	t.Helper()
	wrong := c.User
	wrong.Password = "wrong-" + wrong.Password
	deleted := c.appCred(t, object{"name": "deleted"})
	c.delete(t, c.User, deleted.ID)
	expired := c.appCred(t, object{"name": "expired", "expires_at": c.Now().Add(15 * time.Second).UTC().Format("2006-01-02T15:04:05")})
	if !c.Await(t, time.Minute, func() bool {
		_, status := c.logIn(t, expired.auth())
		return status == http.StatusUnauthorized
	}) {
		t.Fatal("an application credential does not expire")
	}
	return map[string]broker.Registration{
		"a wrong password":                    c.byPassword(wrong),
		"a deleted application credential":    c.byAppCred(deleted),
		"an expired application credential":   c.byAppCred(expired),
		"an application credential's secret":  c.byAppCred(AppCred{ID: good.ID, Secret: "wrong-secret"}),
		"an application credential not known": c.byAppCred(AppCred{ID: "00000000000000000000000000000001", Secret: good.Secret}),
	}
}

// handles are the names of a VIM's application credentials, those of a renewed
// lease once. The colleague's count: a driver may leave nothing there either.
func (c Cloud) handles(t *testing.T, vim string) []string {
	t.Helper()
	var names []string
	for _, u := range []User{c.User, c.Colleague} {
		for _, a := range c.appCreds(t, u) {
			name, _, _ := strings.Cut(a.Name, ".")
			if strings.Contains(a.Description, "vim="+vim+" ") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (c Cloud) everything(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, u := range []User{c.User, c.Colleague} {
		for _, a := range c.appCreds(t, u) {
			names = append(names, u.Name+"/"+a.Name)
		}
	}
	return names
}

func (c Cloud) remove(t *testing.T, handle string) {
	t.Helper()
	for _, a := range c.appCreds(t, c.User) {
		if a.Name == handle {
			c.delete(t, c.User, a.ID)
			return
		}
	}
	t.Fatalf("there is no %s to remove", handle)
}

func (c Cloud) plant(t *testing.T, _, handle string) func() bool {
	t.Helper()
	was := c.appCred(t, object{"name": handle, "description": "somebody's"})
	there := func() bool {
		return slices.ContainsFunc(c.appCreds(t, c.User), func(a AppCred) bool { return a.ID == was.ID })
	}
	t.Cleanup(func() {
		if there() {
			c.delete(t, c.User, was.ID)
		}
	})
	return there
}

// may is what a Keystone alone can tell: the roles that the credential gets.
func (c Cloud) may(t *testing.T, _ broker.Target, minted broker.Credential, write bool, _ string) bool {
	t.Helper()
	need := "reader"
	if write {
		need = "member"
	}
	return slices.Contains(c.rolesOf(t, AppCred{ID: minted.ApplicationCredentialID, Secret: minted.ApplicationCredentialSecret.Reveal()}.auth()), need)
}

// Zone makes a time zone the local one, until the test ends.
func Zone(t *testing.T, name string) {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Local
	t.Cleanup(func() { time.Local = before })
	time.Local = zone
}

// tidy is a driver whose checks end when their probes are deleted, so that the suite
// can count what is there.
type tidy struct{ *openstack.Driver }

// Check implements [broker.Driver].
func (d tidy) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	defer d.Wait()
	return d.Driver.Check(ctx, a)
}

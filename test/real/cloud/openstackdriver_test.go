package cloud_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/keystone"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// cloud is one of the two kinds that there are: one where application credentials
// may make trusts, or one where they may not.
func cloud(t *testing.T, trusts bool) *real.Cloud {
	t.Helper()
	if trusts {
		return real.OpenStackWith(t, real.OpenStackOptions{InsecureTrusts: true})
	}
	return real.OpenStack(t)
}

// TestOpenStackDriver runs the suite on both kinds of cloud, with both kinds of
// credential that can mint, side by side, in a zone that is not the cloud's. The first run has all of
// it. What neither asks Keystone nor depends on the kind of cloud is left out of the
// others; what the first does with every credential, the last does not again. On the second
// kind of cloud a check finds something else, leases are unbounded, and those for Heat of another kind:
// the cases that show it are not left out. The last has no more than that a lease is made, works and dies there.
func TestOpenStackDriver(t *testing.T) {
	t.Parallel()
	openStackDriver(t, "Asia/Tokyo", []cloudCase{
		{false, false, nil}, {true, false, onAnyCloud}, {false, true, slices.Concat(onlyByPassword, onAnyCloud)},
	})
}

// TestFieldOpenStackDriver has all that the registration by an application credential may have a part in.
func TestFieldOpenStackDriver(t *testing.T) {
	field.Only(t)
	openStackDriver(t, "America/New_York", []cloudCase{{false, true, slices.Concat(onlyByPassword, same)}})
}

// cloudCase is a Keystone that lets application credentials make trusts or not, how the VIM is registered, and which cases
// another one has.
type cloudCase struct {
	trusts, byAppCred bool
	elsewhere         []string
}

var (
	same = []string{
		"Normalize/", "Prepare/", "Client/", "Fault/", "Check/WrongCA", "Check/WrongCredential", "Issue/ConcurrentlySharesOneAccount",
	}
	onAnyCloud = append([]string{
		"Renew/", "Dead/", "Inventory/", "Instead/", "Forget/", "Issue/LimitedByRole", "Issue/RefusesUnknownRoleAndNamespace",
		"Issue/AdoptsOwnObjectAfterDeath", "Issue/LeavesForeignObjectAlone", "Revoke/IsIdempotent", "Revoke/WrongCredentialIsNoSuccess",
	}, same...)
	onlyByPassword = []string{"Check/EveryCredential", "Issue/WithEveryCredential", "Instead/SeesOrIsForbidden", "Token/UnlistedAndRevoked"}
)

func openStackDriver(t *testing.T, zone string, all []cloudCase) {
	t.Helper()
	keystone.Zone(t, zone)
	for _, c := range all {
		name := map[bool]string{false: "trusts refused", true: "trusts allowed"}[c.trusts] +
			"/" + map[bool]string{false: "password", true: "application credential"}[c.byAppCred]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := cloud(t, c.trusts)
			behind, who := o.TLS(t), o.Project(t, "member", "creator")
			disabled := o.Colleague(t, who)
			o.SetEnabled(t, disabled, false)
			at := keystone.Cloud{
				Endpoint: strings.TrimSuffix(behind.AuthURL, "/v3"), CAPEM: behind.CAPEM,
				User: user(who), Colleague: user(o.Colleague(t, who)),
				Trusts: c.trusts, ByAppCred: c.byAppCred, Now: time.Now, Await: real.Poll,
			}
			env := keystone.Env(t, at)
			env.Elsewhere, env.AtOnce = c.elsewhere, 8
			env.Refused["a disabled user"] = registration(behind, disabled)
			// What a role is worth is for services to say.
			env.Writer = "creator"
			env.May = func(t *testing.T, _ broker.Target, minted broker.Credential, write bool, _ string) bool {
				token := tokenOfLease(t, o, minted)
				if write {
					return may(t, o, token, "POST", o.KeyManager+"/v1/secrets", map[string]string{"name": "conformance"})
				}
				return may(t, o, token, "GET", o.Orchestration+"/v1/"+who.ProjectID+"/stacks", nil)
			}
			conformance.Driver(t, env)
		})
	}
}

// The fake answers the driver as the real one does.
func TestFakeKeystoneIsLikeTheRealOne(t *testing.T) {
	o := real.OpenStack(t)
	behind, who := o.TLS(t), o.Project(t, "member", "creator")
	fake := fakekeystone.New(t, fakekeystone.Options{Late: true}) // as Debian 12's has the fixes of 2026
	project := fake.Project("demo")
	fakeUser := func(name string) keystone.User {
		u := fake.User(name, project, "member", "creator")
		return keystone.User{ID: u.ID, Name: u.Name, Password: u.Password, ProjectID: project.ID, Project: project.Name}
	}
	want := keystone.Traits(t, keystone.Cloud{
		Endpoint: strings.TrimSuffix(behind.AuthURL, "/v3"), CAPEM: behind.CAPEM, User: user(who), Colleague: user(o.Colleague(t, who)), Now: time.Now,
	})
	got := keystone.Traits(t, keystone.Cloud{
		Endpoint: fake.Endpoint, CAPEM: fake.CA, User: fakeUser("operator"), Colleague: fakeUser("colleague"), Now: time.Now,
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers of Keystone (-real +fake):\n%s", diff)
	}
}

func user(who real.Tenant) keystone.User {
	return keystone.User{ID: who.UserID, Name: who.Username, Password: who.Password, ProjectID: who.ProjectID, Project: who.Project}
}

func registration(behind *real.SecureCloud, who real.Tenant) broker.Registration {
	return broker.Registration{
		Name: "core", Type: "openstack", Endpoint: behind.AuthURL, CACert: behind.CAPEM,
		Scope:      broker.Scope{ProjectName: who.Project, ProjectDomainName: who.Domain, UserDomainName: who.Domain},
		Credential: broker.Credential{Username: who.Username, Password: secret.NewText(who.Password)},
	}
}

// may asks a service, and says whether it lets the token's owner do that.
func may(t *testing.T, o *real.Cloud, token, method, url string, in any) bool {
	t.Helper()
	switch status := o.As(t, token, method, url, in, nil); status {
	case http.StatusOK:
		return true
	case http.StatusForbidden:
		return false
	default:
		t.Fatalf("%s %s is answered with %d", method, url, status)
		return false
	}
}

// tokenOfLease is a token that a lease's holder has.
func tokenOfLease(t *testing.T, o *real.Cloud, c broker.Credential) string {
	t.Helper()
	if c.Kind == broker.CredentialProjectToken {
		return c.Token.Reveal()
	}
	token, err := o.LogInWith(t.Context(), c.ApplicationCredentialID, c.ApplicationCredentialSecret.Reveal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// vim is a VIM for calls of the driver.
type vim struct {
	*openstack.Driver
	broker.Access
}

func newVIM(t *testing.T, r broker.Registration) vim {
	t.Helper()
	d := openstack.New(openstack.Options{})
	rules := egress.Default()
	rules.AllowLoopback = true
	target, credential, err := d.Normalize(r)
	if err != nil {
		t.Fatal(err)
	}
	v := vim{d, broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: rules}}
	report, err := d.Check(t.Context(), v.Access)
	if err != nil {
		t.Fatal(err)
	}
	d.Wait()
	v.Discovered, v.Identity = report.Discovered, report.Identity
	return v
}

// grant is a lease to ask for.
func (v vim) grant(t *testing.T, role, purpose string, ttl time.Duration) broker.Grant {
	t.Helper()
	id := uuid.NewString()
	g, err := v.Prepare(broker.Grant{Lease: id, Handle: "lease-" + id, Role: role, Purpose: purpose, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// end revokes a lease, and wants it dead.
func (v vim) end(t *testing.T, g broker.Grant, c broker.Credential) {
	t.Helper()
	if err := v.Revoke(t.Context(), v.Access, broker.Issued{Handle: g.Handle, Credential: c}); err != nil {
		t.Errorf("Revoke() = %v", err)
	}
	if dead, err := v.Dead(t.Context(), v.Access, c); !dead || err != nil {
		t.Errorf("Dead() after Revoke() = %v, %v, want true", dead, err)
	}
}

// TestOpenStackHeat makes a stack with a lease, which is the proof that the driver
// knows what kind of cloud it has.
func TestOpenStackHeat(t *testing.T) {
	t.Parallel()
	for _, trusts := range []bool{false, true} {
		o := cloud(t, trusts)
		who := o.Project(t)
		behind := o.TLS(t)
		appCred := func(unrestricted bool) broker.Registration {
			id, text := o.ApplicationCredential(t, who, uuid.NewString(), unrestricted)
			return broker.Registration{
				Name: "core", Type: "openstack", Endpoint: behind.AuthURL, CACert: behind.CAPEM,
				Credential: broker.Credential{ApplicationCredentialID: id, ApplicationCredentialSecret: secret.NewText(text)},
			}
		}
		for _, c := range []struct {
			name string
			broker.Registration
			// kind is that of a lease for Heat, on each kind of cloud; none where there can be none.
			kind map[bool]broker.CredentialKind
		}{
			{"password", registration(behind, who), map[bool]broker.CredentialKind{false: broker.CredentialProjectToken, true: broker.CredentialApplicationCredential}},
			{"unrestricted", appCred(true), map[bool]broker.CredentialKind{true: broker.CredentialApplicationCredential}},
			{"restricted", appCred(false), map[bool]broker.CredentialKind{true: broker.CredentialProjectToken}},
		} {
			t.Run(map[bool]string{false: "trusts refused/", true: "trusts allowed/"}[trusts]+c.name, func(t *testing.T) {
				v := newVIM(t, c.Registration)
				if v.Discovered.Trusts != trusts {
					t.Errorf("Check() discovers %+v, want trusts %t", v.Discovered.Cloud, trusts)
				}
				g := v.grant(t, "member,creator,heat_stack_owner", openstack.Heat, time.Hour)
				m, err := v.Issue(t.Context(), v.Access, g)
				if c.kind[trusts] == "" {
					if !errors.Is(err, broker.ErrUnsupported) {
						t.Errorf("Issue() for Heat = %v, want %v", err, broker.ErrUnsupported)
					}
					return
				}
				if err != nil || m.Credential.Kind != c.kind[trusts] || m.Unlisted != (m.Credential.Kind == broker.CredentialProjectToken) {
					t.Fatalf("Issue() for Heat = a %s, %v, want a %s", m.Credential.Kind, err, c.kind[trusts])
				}
				if !o.Stack(t, tokenOfLease(t, o, m.Credential), who.ProjectID) {
					t.Error("a lease for Heat makes no stack")
				}
				v.end(t, g, m.Credential)
			})
		}
	}
}

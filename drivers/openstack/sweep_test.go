package openstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/sweep"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// swept is a lab at a fixed time, for one run of a flow.
type swept struct {
	t       testing.TB
	s       *fakekeystone.Server
	now     *clock.Clock
	driver  *openstack.Driver
	access  broker.Access
	user    fakekeystone.User
	project fakekeystone.Project
	lease   string
	log     logged
	secrets []string
}

func sweptOn(t testing.TB, o fakekeystone.Options, roles ...string) *swept {
	t.Helper()
	l := &swept{t: t, now: clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), lease: uuid.NewString()}
	o.Now, o.Plain = l.now.Now, true
	l.s = fakekeystone.New(t, o)
	l.project = l.s.Project("demo")
	l.user = l.s.User("operator", l.project, roles...)
	l.driver = openstack.New(openstack.Options{Now: l.now.Now, Log: testlog.To(t, slog.NewTextHandler(&l.log, nil)), StackTrustees: []string{"heat"}})
	l.secrets = []string{l.user.Password}
	l.access = l.with(broker.Credential{Username: l.user.Name, Password: secret.NewText(l.user.Password)})
	return l
}

// with is an access with another credential.
func (l *swept) with(c broker.Credential) broker.Access {
	l.t.Helper()
	r := broker.Registration{Endpoint: l.s.Endpoint, Credential: c}
	if c.Username != "" {
		r.Scope = broker.Scope{ProjectName: l.project.Name, ProjectDomainName: "Default", UserDomainName: "Default"}
	}
	target, credential := normalize(l.t, r)
	rules := egress.Default()
	rules.AllowLoopback = true
	return broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: rules}
}

// by registers with an application credential.
func (l *swept) by(unrestricted bool) *swept {
	l.t.Helper()
	c := l.s.AppCred(fakekeystone.AppCred{
		Name: "registered", UserID: l.user.ID, ProjectID: l.project.ID, Unrestricted: unrestricted, ExpiresAt: l.now.Now().AddDate(1, 0, 0),
	})
	l.secrets = append(l.secrets, c.Secret)
	l.access = l.with(broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	})
	return l
}

// checked is what a broker knows of a VIM that was registered. The driver keeps a session.
func (l *swept) checked() *swept {
	l.t.Helper()
	l.access.Discovered.Cloud = &broker.Cloud{
		UserID: l.user.ID, UserDomainID: "default", ProjectID: l.project.ID, ProjectName: "demo", ProjectDomainID: "default",
		ProjectDomainName: "Default", Leases: broker.CredentialApplicationCredential, Openings: map[string]string{},
	}
	return l.again()
}

// again is checked as the broker has it checked from time to time.
func (l *swept) again() *swept {
	l.t.Helper()
	r, err := l.driver.Check(l.t.Context(), l.access)
	if err != nil {
		l.t.Fatal(err)
	}
	l.access.Identity = r.Identity
	return l
}

// trusting is checked on a cloud whose application credentials make trusts.
func (l *swept) trusting() *swept {
	l.t.Helper()
	l.checked()
	l.access.Discovered.Trusts, l.access.Discovered.Openings = true, map[string]string{"trusts": ""}
	return l
}

// anew is a driver without a session.
func (l *swept) anew() *swept { l.driver.Logout(); return l }

func (l *swept) grant(role, purpose string, user bool) broker.Grant {
	l.t.Helper()
	g, err := l.driver.Prepare(broker.Grant{Lease: l.lease, Handle: "lease-" + l.lease, TTL: time.Hour, Role: role, Purpose: purpose, User: user})
	if err != nil {
		l.t.Fatal(err)
	}
	return g
}

func (l *swept) issued(g broker.Grant) broker.Minted {
	l.t.Helper()
	m, err := l.driver.Issue(l.t.Context(), l.access, g)
	if err != nil {
		l.t.Fatal(err)
	}
	l.keep(m)
	return m
}

func (l *swept) keep(m broker.Minted) {
	c := m.Credential
	l.secrets = append(l.secrets, c.Password.Reveal(), c.Token.Reveal(), c.ApplicationCredentialSecret.Reveal())
}

// standing is what stands at Keystone, but for the tokens, which end by themselves.
func (l *swept) standing() (lines []string) {
	for _, c := range l.s.AppCreds() {
		lines = append(lines, fmt.Sprintf("application credential %s: %s; of %s on %s as %v, %v, until %v, unrestricted %t",
			c.Name, c.Description, c.UserID, c.ProjectID, c.Roles, c.Rules, c.ExpiresAt, c.Unrestricted))
	}
	for _, u := range l.s.Users("") {
		lines = append(lines, fmt.Sprintf("user %s: %s; of %s as %v", u.Name, u.Description, u.DomainID, l.s.Roles(u.ID, l.project.ID)))
	}
	for _, p := range l.s.Planted() {
		lines = append(lines, fmt.Sprintf("%s of %s for %s", p.Type, p.UserID, p.Trustee))
	}
	return lines
}

func (l *swept) bench(run func(context.Context) (any, error), undo func(context.Context) error) *sweep.Bench {
	return &sweep.Bench{
		Servers: map[string]*fake.Server{"": &l.s.Server},
		Run: func(ctx context.Context) (any, error) {
			defer l.driver.Wait()
			return run(ctx)
		},
		Undo: undo, Standing: l.standing, Log: l.log.String,
		Names: map[string]string{
			l.lease: "lease", l.access.VIM: "vim", l.user.ID: "user", l.project.ID: "project", l.user.Password: "password",
			l.access.Credential.ApplicationCredentialID: "registered", l.access.Credential.ApplicationCredentialSecret.Reveal(): "secret",
		},
		Secrets: func() []string { return l.secrets },
	}
}

// issue is the bench of a lease that is issued; it works afterwards.
func (l *swept) issue(g broker.Grant) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		m, err := l.driver.Issue(ctx, l.access, g)
		l.keep(m)
		return sweep.Minted(m) + l.works(m), err
	}, func(ctx context.Context) error {
		return l.driver.Revoke(ctx, l.access, broker.Issued{Handle: g.Handle, Grant: g})
	})
}

func (l *swept) renew(g broker.Grant) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		m, err := l.driver.Renew(ctx, l.access, g)
		l.keep(m)
		return sweep.Minted(m) + l.works(m), err
	}, nil)
}

func (l *swept) works(m broker.Minted) string {
	c := m.Credential
	for _, made := range l.s.AppCreds() {
		if c.ApplicationCredentialID != "" && made.ID == c.ApplicationCredentialID && made.Secret == c.ApplicationCredentialSecret.Reveal() {
			return ", works as application credential " + made.Name
		}
	}
	for _, u := range l.s.Users("") {
		if c.Kind == broker.CredentialUser && u.ID == c.UserID && u.Password == c.Password.Reveal() {
			return ", works as user " + u.Name
		}
	}
	if c.Kind == broker.CredentialProjectToken && l.s.Works(c.Token.Reveal()) {
		return ", works as a token"
	}
	return ""
}

func (l *swept) revoke(i broker.Issued) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		err := l.driver.Revoke(ctx, l.access, i)
		return fmt.Sprint("token works: ", i.Credential.Token.Reveal() != "" && l.s.Works(i.Credential.Token.Reveal())), err
	}, nil)
}

func (l *swept) check() *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		r, err := l.driver.Check(ctx, l.access)
		text, _ := json.Marshal(r.Discovered)
		return fmt.Sprintf("%s %s, mints %t %q, until %v, %s", r.Identity, r.Version, r.CanMint, r.MintMessage, r.CredentialExpiresAt, text), err
	}, nil)
}

// refused is a check whose refusal is the answer.
func (l *swept) refused(kind error) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		_, err := l.driver.Check(ctx, l.access)
		if errors.Is(err, kind) {
			return err, nil
		}
		return nil, errors.Join(err, context.Cause(ctx))
	}, nil)
}

func (l *swept) inventory() *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		found, err := l.driver.Inventory(ctx, l.access)
		return fmt.Sprintf("%+v", found), err
	}, nil)
}

func (l *swept) dead(minted broker.Credential) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		dead, err := l.driver.Dead(ctx, l.access, minted)
		return fmt.Sprint("dead ", dead), err
	}, nil)
}

// plain is a cloud with all fixes, and the user a member.
func plain(t testing.TB) *swept { return sweptOn(t, fakekeystone.Options{}, "member") }

// keeping is one whose user keeps users.
func keeping(t testing.TB) *swept {
	l := sweptOn(t, fakekeystone.Options{}, "member")
	l.s.OnDomain(l.user.ID, "manager")
	return l
}

var keystoneSweep = func() *sweep.Suite {
	s := sweep.OfBroker()
	s.Words = map[string]*regexp.Regexp{
		"token": regexp.MustCompile(`gAAAAA[0-9a-f]{64}`), "user's password": regexp.MustCompile(`Vb1_[\w-]+`), "secret": regexp.MustCompile(`s3cret-[0-9a-f]{32}`),
	}
	s.Headers = []string{"X-Subject-Token"}
	s.Exceptions = keystoneExceptions
	return &s
}

const (
	// withPassword and withAppCred are logins with what was registered, on its project.
	withPassword = `^POST /v3/auth/tokens .*"password":"<password>".*"project":`
	withAppCred  = `^POST /v3/auth/tokens .*"id":"<registered>"`
	// claimed is a login with a probe as another user. question asks a cloud what the holder of an application credential could do.
	claimed  = `"user":\{"id":"<id>"\}\},"methods":\["application_credential`
	question = `OS-(TRUST/trusts \{|OAUTH1|EC2)|POST /v3/credentials|"vimbroker"|` + claimed
	// kept are the flows that begin with a session.
	kept = `^(issue|issue-(unbounded|network|adopted)|renew|revoke|revoke-token|user-.*|inventory|forget|left|instead-.*)$`
)

var keystoneExceptions = []sweep.Exception{
	// What a login says of itself.
	{Flow: "check-wrong-password", Request: `"project":`, Fault: "40[14]", Why: "the login is refused in any case"},
	{Flow: "check-wrong-password", Request: "unscoped", Fault: "401", Why: "the login is refused in any case"},
	{Flow: "check-(wrong|no)-(project|domain)", Request: withPassword, Fault: "40[14]", Why: "the login is refused in any case"},
	{Flow: "check-(wrong|no)-(project|domain)", Fault: "403", Differs: true, Why: "the refusal is the answer, and says what it is of"},
	{Request: withPassword, Fault: "40[14]", Want: broker.ErrForbidden, Why: "a login that is refused is tried without the project, and that works by then"},
	{Request: withAppCred, Fault: "404", Want: broker.ErrUnauthorized, Why: "Keystone says so of an application credential that is deleted"},
	{Flow: "dead|alive", Fault: "40[14]", Differs: true, Why: "Keystone's word that a credential is dead"},
	{Flow: "alive-token", Fault: "hollow", Why: "200 says that a token works; nothing else is read"},
	// A check and its probe.
	{Flow: "^check", Request: claimed, Fault: "down", Left: true, Want: broker.ErrUnreachable, Why: "the probe is deleted by an inventory"},
	{Flow: "^check", Request: question, Differs: true, Why: "an opening of which a cloud does not say no counts as one, with the reason"},
	{Flow: "^check", Request: "^POST .*/application_credentials .*lease= ", Fault: "403", Differs: true, Why: "who may make none leases tokens"},
	{
		Flow: "^check", Request: "^POST .*/application_credentials .*lease= ", Fault: "lost|cut|hollow", Want: broker.ErrUnreachable, Left: true,
		Why: "nobody knows the probe's id: it ends by itself, and an inventory deletes it",
	},
	{Flow: "^check|^inventory", Request: "^DELETE ", Left: true, Why: "a probe that cannot be deleted is left for an inventory, or the next"},
	// What stands before a lease, and after it.
	{
		Flow: "^issue", Request: `^GET /v3/(OS-TRUST/trusts|credentials|users/<user>/application_credentials$)`, Differs: true,
		Why: "an unbounded lease says why nobody saw what stood before; a bounded one needs no look",
	},
	{Flow: "left", Request: "^DELETE ", Left: true, Differs: true, Why: "it is said of each credential whether and why it could not be removed"},
	// A session that Keystone has ended, and one that it has not.
	{Flow: "adopted", Request: "^DELETE ", Fault: "404", Want: broker.ErrConflict, Why: "what is gone by Keystone's word has its name still"},
	{
		Request: "^DELETE .*(application_credentials|users)/", Fault: "404", Left: true,
		Why: "404 of an object is Keystone's word that it is gone, once another answer shows that the session is not",
	},
	{Flow: "revoke-token", Request: "^DELETE /v3/auth/tokens", Fault: "40[14]", Differs: true, Why: "a token that Keystone does not know needs no end"},
	{Flow: "forget", Request: "^DELETE /v3/auth/tokens", Differs: true, Why: "a token that cannot be revoked ends by itself"},
	{Flow: "forget", Fault: "down", Want: broker.ErrUnreachable, Left: true, Why: "a token that cannot be revoked ends by itself"},
	{Flow: "forget", Fault: "401|404", Differs: true, Why: "the kept session may have ended: with another the call succeeds"},
	{Flow: "user-gone", Request: "^(DELETE|GET) /v3/users/", Fault: "403", Why: "of a user that is gone Keystone says no more"},
	{Flow: kept, Fault: "401|404", Why: "the kept session may have ended: with another the call succeeds"},
	{Flow: "^(instead-)?inventory", Request: "^GET /v3/auth/domains", Fault: "403", Why: "who is shown no domains keeps no users"},
	{Flow: "issue-adopted", Request: "^POST .*/application_credentials ", Nth: 2, Fault: "409", Want: broker.ErrConflict, Why: "the name was made free"},
	{Flow: "^issue", Request: "^POST .*/application_credentials ", Fault: "409", Why: "who has the name is looked at, and it is nobody by then"},
	{
		Flow: "^renew$", Request: "^POST .*/application_credentials ", Fault: "lost|cut|hollow", Want: broker.ErrUnreachable, Left: true,
		Why: "what was made unheard ends with the lease, and is revoked with it",
	},
}

// altered are the requests of flows whose answers are altered field by field, and statuses those that meet every status.
var (
	altered = map[string]string{
		"check-again": ".", "issue": "application_credentials", "inventory": "application_credentials", "user-issue": "users|domains|tokens", "user-renew": "PATCH|users",
		"left": "^GET", "check-no-project": "projects", "check-restricted": `"vimbroker"`, "issue-unbounded": "^GET .*(trusts|/credentials)",
	}
	statuses = map[string]string{"inventory": "application_credentials"}
)

// flow is one on a lab that is made so.
func flow(name, beside string, make func(testing.TB) *sweep.Bench) sweep.Flow {
	return sweep.Flow{Name: name, Beside: beside, New: make, Fields: altered[name], Statuses: statuses[name]}
}

// sound meets no faults: its requests are those of another.
func sound(name, beside string, make func(testing.TB) *sweep.Bench) sweep.Flow {
	return sweep.Flow{Name: name, Beside: beside, New: make, Only: "none", Fields: altered[name]}
}

// asked are the questions of a check, which come side by side, and the lists of what stands.
const asked = `OS-|/credentials|"vimbroker"|/application_credentials`

func TestSweepOfChecks(t *testing.T) {
	unpatched := fakekeystone.Options{Unpatched: true, TOTP: true}
	keystoneSweep().Run(t,
		flow("check-again", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).by(true).checked().anew()
			l.access.Discovered.Catalog = []broker.CatalogEntry{{Service: "identity", Interface: "public", Region: "RegionOne", Origin: l.s.Endpoint}}
			return l.check()
		}),
		flow("check-password", `OS-|/credentials|"vimbroker"`, func(t testing.TB) *sweep.Bench { return plain(t).check() }),
		sound("check-open-cloud", `OS-|/credentials|"vimbroker"`, func(t testing.TB) *sweep.Bench {
			l := sweptOn(t, unpatched, "admin")
			l.s.Plant(fakekeystone.Planted{UserID: l.user.ID, ProjectID: l.project.ID, Type: "ec2"})
			return l.check()
		}),
		sound("check-unrestricted", `OS-|/credentials|"vimbroker"`, func(t testing.TB) *sweep.Bench { return plain(t).by(true).check() }),
		sound("check-restricted", `OS-|/credentials|"vimbroker"`, func(t testing.TB) *sweep.Bench { return plain(t).by(false).check() }),
		flow("check-wrong-password", "", func(t testing.TB) *sweep.Bench {
			l := plain(t)
			l.access.Credential.Password = secret.NewText("wrong-password-of-the-operator")
			l.secrets = append(l.secrets, "wrong-password-of-the-operator")
			return l.refused(broker.ErrUnauthorized)
		}),
		flow("check-wrong-project", "", func(t testing.TB) *sweep.Bench {
			l := plain(t)
			l.access.Target.Scope.ProjectName = "another"
			return l.refused(broker.ErrForbidden)
		}),
		sound("check-wrong-domain", "", func(t testing.TB) *sweep.Bench {
			l := plain(t)
			l.access.Target.Scope.ProjectDomainName = "another"
			return l.refused(broker.ErrForbidden)
		}),
		sound("check-no-project", "", func(t testing.TB) *sweep.Bench {
			l := sweptOn(t, fakekeystone.Options{})
			return l.refused(broker.ErrForbidden)
		}),
	)
}

func TestSweepOfLeases(t *testing.T) {
	keystoneSweep().Run(t,
		flow("revoke", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, Credential: l.issued(g).Credential})
		}),
		flow("issue", asked, func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			return l.issue(l.grant("", "", false))
		}),
		flow("issue-logging-in", asked, func(t testing.TB) *sweep.Bench {
			l := plain(t).checked().anew()
			return l.issue(l.grant("reader", openstack.Read, false))
		}),
		flow("issue-unbounded", asked, func(t testing.TB) *sweep.Bench {
			l := sweptOn(t, fakekeystone.Options{Trusts: true}, "admin").trusting()
			return l.issue(l.grant("admin", openstack.Heat, false))
		}),
		flow("issue-network", asked, func(t testing.TB) *sweep.Bench {
			l := plain(t).by(true).checked()
			return l.issue(l.grant("member", openstack.Network, false))
		}),
		flow("issue-adopted", asked, func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			l.issued(g)
			b := l.issue(g)
			b.Undo = nil
			return b
		}),
		flow("issue-token", asked, func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			b := l.issue(l.grant("", openstack.Heat, false))
			b.Undo = nil
			return b
		}),
		flow("renew", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			l.issued(g)
			return l.renew(g)
		}),
		flow("revoke-lost", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			l.issued(g)
			if _, err := l.driver.Renew(t.Context(), l.access, g); err != nil {
				t.Fatal(err)
			}
			l.anew()
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, Renewed: true})
		}),
		flow("revoke-token", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("", openstack.Heat, false)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, Credential: l.issued(g).Credential})
		}),
		flow("dead", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			m := l.issued(g)
			l.s.Delete(g.Handle)
			return l.dead(m.Credential)
		}),
		flow("alive", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			return l.dead(l.issued(l.grant("member", "", false)).Credential)
		}),
		flow("alive-token", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			return l.dead(l.issued(l.grant("", openstack.Heat, false)).Credential)
		}),
	)
}

func TestSweepOfUsers(t *testing.T) {
	keystoneSweep().Run(t,
		flow("user-renew", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			g := l.grant("member", "", true)
			l.issued(g)
			return l.renew(g)
		}),
		flow("user-issue", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			return l.issue(l.grant("member", "", true))
		}),
		flow("user-adopted", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			g := l.grant("member", "", true)
			l.issued(g)
			b := l.issue(g)
			b.Undo = nil
			return b
		}),
		flow("user-revoke", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			g := l.grant("member", "", true)
			m := l.issued(g)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, UID: m.UID, Credential: m.Credential})
		}),
		flow("user-gone", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			return l.revoke(broker.Issued{Handle: "lease-" + l.lease, Grant: l.grant("member", "", true), UID: strings.Repeat("0a", 16)})
		}),
		flow("user-inventory", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			l.issued(l.grant("member", "", true))
			l.access.Users = true
			return l.inventory()
		}),
		flow("user-alive", "", func(t testing.TB) *sweep.Bench {
			l := keeping(t).checked()
			return l.dead(l.issued(l.grant("member", "", true)).Credential)
		}),
		flow("registered-alive", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			return l.dead(l.access.Credential)
		}),
	)
}

// probe is what a check that died has left, when that has ended or not.
func (l *swept) probe(over bool) {
	ends := l.now.Now().Add(2 * time.Minute)
	if over {
		ends = l.now.Now().Add(-time.Minute)
	}
	l.s.AppCred(fakekeystone.AppCred{
		Name: fmt.Sprintf("vimbroker-probe-%s", uuid.NewString()), UserID: l.user.ID, ProjectID: l.project.ID, ExpiresAt: ends,
		Description: "vimbroker vim=" + l.access.VIM + " lease= issued=2030-01-01T00:00:00Z",
	})
}

func TestSweepOfRest(t *testing.T) {
	keystoneSweep().Run(t,
		flow("inventory", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			g := l.grant("member", "", false)
			l.issued(g)
			if _, err := l.driver.Renew(t.Context(), l.access, g); err != nil {
				t.Fatal(err)
			}
			l.probe(true)
			l.probe(false)
			return l.inventory()
		}),
		flow("forget", "", func(t testing.TB) *sweep.Bench {
			l := plain(t).checked()
			l.issued(l.grant("member", "", false))
			l.probe(true)
			l.probe(false)
			return l.bench(func(ctx context.Context) (any, error) {
				err := l.driver.Forget(ctx, l.access)
				return fmt.Sprint("tokens: ", l.s.Tokens()), err
			}, nil)
		}),
		flow("left", asked, func(t testing.TB) *sweep.Bench {
			l := sweptOn(t, fakekeystone.Options{Trusts: true}, "admin").trusting()
			l.s.AppCred(fakekeystone.AppCred{Name: "before", UserID: l.user.ID, ProjectID: l.project.ID})
			g := l.grant("admin", openstack.Heat, false)
			m := l.issued(g)
			if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g, Credential: m.Credential}); err != nil {
				t.Fatal(err)
			}
			l.s.AppCred(fakekeystone.AppCred{Name: "after", UserID: l.user.ID, ProjectID: l.project.ID})
			for _, kind := range []string{"ec2", "totp"} {
				l.s.Plant(fakekeystone.Planted{UserID: l.user.ID, ProjectID: l.project.ID, Type: kind})
			}
			l.s.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "trust", Trustee: "mallory"})
			l.s.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "trust", Trustee: "heat"})
			return l.bench(func(ctx context.Context) (any, error) {
				left, err := l.driver.Left(ctx, l.access, broker.Comparison{Stood: m.Stood, Live: nobody, Remove: true})
				return strings.Join(left, "; "), err
			}, nil)
		}),
	)
}

// instead is a lab whose VIM got another user, an administrator, after a lease of the first.
func instead(t testing.TB) (*swept, broker.Grant, broker.Minted) {
	t.Helper()
	l := plain(t).checked()
	g := l.grant("member", "", false)
	m := l.issued(g)
	before := l.access
	boss := l.s.User("boss", l.project, "admin")
	l.secrets = append(l.secrets, boss.Password)
	l.access = l.with(broker.Credential{Username: boss.Name, Password: secret.NewText(boss.Password)})
	l.access.VIM, l.access.Generation = before.VIM, 2
	l.access.Discovered = broker.Discovered{Cloud: &broker.Cloud{UserID: boss.ID, ProjectID: l.project.ID, Leases: broker.CredentialApplicationCredential}}
	l.again()
	l.access.InsteadOf = &before.Discovered
	return l, g, m
}

func TestSweepInstead(t *testing.T) {
	keystoneSweep().Run(t,
		flow("instead-revoke", "", func(t testing.TB) *sweep.Bench {
			l, g, m := instead(t)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, Credential: m.Credential})
		}),
		flow("instead-inventory", "", func(t testing.TB) *sweep.Bench {
			l, _, _ := instead(t)
			return l.inventory()
		}),
	)
}

// calling is a lab with a caller's token, and what authenticates it.
func calling(t testing.TB, known bool) *sweep.Bench {
	t.Helper()
	l := plain(t).checked()
	token := l.issued(l.grant("", openstack.Heat, false)).Credential.Token.Reveal()
	service := l.s.User("service", l.project, "service")
	l.secrets = append(l.secrets, service.Password)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(service.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	callers, err := openstack.NewCallers(openstack.CallersOptions{
		AuthURL: l.s.Endpoint, Now: l.now.Now, Log: testlog.To(t, slog.NewTextHandler(&l.log, nil)),
		Login: keystone.Auth{Password: &keystone.Password{UserID: service.ID, ProjectID: l.project.ID, PasswordFile: file}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(callers.Close)
	if known { // and its session has ended since
		if _, err := callers.Authenticate(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		l.s.RevokeTokens(service.ID)
		l.now.Add(2 * time.Minute)
	}
	b := l.bench(func(ctx context.Context) (any, error) {
		p, err := callers.Authenticate(ctx, token)
		return fmt.Sprintf("%+v", p), err
	}, nil)
	b.Names[service.ID], b.Names[service.Password] = "service", "service's password"
	b.Later = func() { l.now.Add(2 * time.Minute) }
	return b
}

func TestSweepOfCallers(t *testing.T) {
	s := keystoneSweep()
	s.Kinds = append([]error{policy.ErrUnauthenticated}, s.Kinds...)
	s.Kindless = true
	s.Exceptions = []sweep.Exception{
		{Request: "^POST /v3/auth/tokens", Fault: "40[134]", Want: sweep.Unkind, Bare: true, Why: "the broker's own login is refused: that is no word on the caller"},
		{Request: "^GET ", Fault: "404", Want: policy.ErrUnauthenticated, Bare: true, Why: "Keystone's word that it does not know the caller's token"},
		{Flow: "^caller$", Request: "^GET ", Fault: "401|drop|cut", Why: "the broker's session may have ended: with another the call succeeds"},
		{Flow: "^caller-again$", Request: "^GET ", Nth: 1, Fault: "401|hollow", Why: "the broker's session has ended: with another the call succeeds"},
	}
	s.Run(t,
		sweep.Flow{Name: "caller", Fields: ".", Statuses: "^GET", New: func(t testing.TB) *sweep.Bench { return calling(t, false) }},
		sweep.Flow{Name: "caller-again", New: func(t testing.TB) *sweep.Bench { return calling(t, true) }},
	)
}

package openstack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// description is that of an object of a VIM's, of a lease or of none.
func description(vim, lease string) string {
	return "vimbroker vim=" + vim + " lease=" + lease + " issued=2030-01-02T03:04:05Z"
}

// calls are all that need to know what a check has found.
func (l *lab) calls(g broker.Grant, m broker.Minted) map[string]func(broker.Access) error {
	ctx := l.t.Context()
	user := g
	user.User = true
	of := func(g broker.Grant) map[string]func(broker.Access) error {
		return map[string]func(broker.Access) error{
			"Issue":  func(a broker.Access) error { _, err := l.driver.Issue(ctx, a, g); return err },
			"Renew":  func(a broker.Access) error { _, err := l.driver.Renew(ctx, a, g); return err },
			"Revoke": func(a broker.Access) error { return l.driver.Revoke(ctx, a, broker.Issued{Handle: g.Handle, Grant: g}) },
		}
	}
	all := of(g)
	for name, call := range of(user) {
		all[name+" of a user"] = call
	}
	all["Check"] = func(a broker.Access) error { _, err := l.driver.Check(ctx, a); return err }
	all["Grade"] = func(a broker.Access) error { _, err := l.driver.Grade(ctx, a, g); return err }
	all["Foresee"] = func(a broker.Access) error { return l.driver.Foresee(ctx, a, g) }
	all["Inventory"] = func(a broker.Access) error { _, err := l.driver.Inventory(ctx, a); return err }
	all["Forget"] = func(a broker.Access) error { return l.driver.Forget(ctx, a) }
	all["Left"] = func(a broker.Access) error {
		_, err := l.driver.Left(ctx, a, broker.Comparison{Stood: m.Stood})
		return err
	}
	all["Dead"] = func(a broker.Access) error {
		dead, err := l.driver.Dead(ctx, a, broker.Credential{Kind: broker.CredentialPassword, Username: "u", Password: secret.NewText("p")})
		if dead {
			l.t.Error("a password of which nothing is known is dead")
		}
		return err
	}
	return all
}

// Facts that name no user or project are no facts, and a target that cannot be is refused by its field.
func TestFactsAndTargetsThatCannotBe(t *testing.T) {
	l := newLab(t)
	l.register()
	g := l.grant("member")
	m := l.issue(g)
	for name, call := range l.calls(g, m) {
		lost := l.access
		lost.Discovered.Cloud = &broker.Cloud{ProjectID: l.project.ID}
		wantFault(t, name+" by lost facts", call(lost), broker.ErrConflict, "name no user or project")
		if name == "Grade" || name == "Foresee" {
			continue
		}
		bad := l.access
		bad.Target.CACert, bad.Generation = "none", 2
		wantFault(t, name+" of bad authorities", call(bad), broker.ErrInvalid, "caCert")
		another := l.access
		another.Identity = "project x of domain y"
		if name != "Dead" {
			wantFault(t, name+" of another cloud", call(another), broker.ErrConflict, "another cloud answers")
		}
	}
	before := l.access
	before.InsteadOf = &broker.Discovered{Cloud: &broker.Cloud{}}
	for _, name := range []string{"Renew", "Revoke", "Inventory", "Left"} {
		wantFault(t, name+" instead of nobody", l.calls(g, m)[name](before), broker.ErrConflict, "name no user or project")
	}
	short := g
	short.TTL = 1
	_, err := l.driver.Renew(t.Context(), l.access, short)
	wantFault(t, "Renew for a nanosecond", err, broker.ErrInvalid, "ttl: ")
}

// Where the catalog leads elsewhere than at the registration no lease is handed out, of whichever kind.
func TestACatalogThatLeadsElsewhere(t *testing.T) {
	l := newLab(t)
	l.user = l.User("keeper", l.project, "member")
	l.access = l.to(l.Endpoint)
	l.OnDomain(l.user.ID, "manager")
	l.SetCatalog(fakekeystone.Endpoint{Service: "compute", Interface: "public", Region: "r", URL: "https://compute.example"})
	l.register()
	g := l.grant("member")
	l.issue(g)
	user := g
	user.User = true
	l.SetCatalog(fakekeystone.Endpoint{Service: "compute", Interface: "public", Region: "r", URL: "https://other.example"})
	l.driver.Logout()
	token := l.access
	cloud := *l.access.Discovered.Cloud
	cloud.Leases = broker.CredentialProjectToken
	token.Discovered.Cloud = &cloud
	for name, c := range map[string]struct {
		a broker.Access
		g broker.Grant
	}{"an application credential": {l.access, g}, "a user": {l.access, user}, "a token": {token, g}} {
		m, err := l.driver.Issue(t.Context(), c.a, c.g)
		wantFault(t, "Issue of "+name, err, broker.ErrConflict, "sends service compute to https://other.example")
		if !m.Credential.Empty() {
			t.Errorf("%s is handed out", name)
		}
	}
	_, err := l.driver.Renew(t.Context(), l.access, g)
	wantFault(t, "Renew", err, broker.ErrConflict, "another host")
	if n := len(l.AppCreds()); n != 1 || len(l.Users("lease-")) > 0 {
		t.Errorf("%d application credentials, %d users are there, want the first lease's", n, len(l.Users("lease-")))
	}
}

// What a check has left is removed where it is the VIM's probe, and over.
func TestProbesThatAreSwept(t *testing.T) {
	for _, forget := range []bool{false, true} {
		l := newLab(t)
		l.register()
		other := uuid.NewString()
		past, coming := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		stay := map[string]bool{}
		for name, c := range map[string]struct {
			description string
			ends        time.Time
			swept       bool // by an inventory
			forgotten   bool
		}{
			"vimbroker-probe-over":        {description(l.access.VIM, ""), past, true, true},
			"vimbroker-probe-alive":       {description(l.access.VIM, ""), coming, false, true},
			"vimbroker-probe-endless":     {description(l.access.VIM, ""), time.Time{}, false, true},
			"vimbroker-probe-of-another":  {description(other, ""), past, true, false},
			"vimbroker-probe-of-a-lease":  {description(l.access.VIM, other), past, false, false},
			"vimbroker-probe-of-somebody": {"mine", past, false, false},
			"another":                     {description(l.access.VIM, ""), past, false, false},
		} {
			l.AppCred(fakekeystone.AppCred{Name: name, Description: c.description, UserID: l.user.ID, ProjectID: l.project.ID, ExpiresAt: c.ends})
			stay[name] = !c.swept && !forget || !c.forgotten && forget
		}
		var err error
		if forget {
			err = l.driver.Forget(t.Context(), l.access)
		} else {
			_, err = l.driver.Inventory(t.Context(), l.access)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range stay {
			if got := slices.ContainsFunc(l.AppCreds(), func(c fakekeystone.AppCred) bool { return c.Name == name }); got != want {
				t.Errorf("forgotten %t: %s stays %t, want %t", forget, name, got, want)
			}
		}
	}
}

// Users that carry the VIM's mark and a lease's are leases.
func TestUsersThatAreLeases(t *testing.T) {
	l, g := newManager(t)
	l.issue(g)
	own := l.grant("member")
	l.issue(own)
	other := uuid.NewString()
	l.Stray("lease-a", description(other, other))
	l.Stray("lease-b", description(l.access.VIM, ""))
	l.Stray("lease-c", "mine")
	l.Stray("lease-d", description(l.access.VIM, other))
	found, err := l.driver.Inventory(t.Context(), l.access)
	var names []string
	for _, u := range found {
		names = append(names, u.Handle)
	}
	slices.Sort(names)
	want := []string{g.Handle, own.Handle, "lease-d"}
	slices.Sort(want)
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("Inventory() = %q, %v, want %q", names, err, want)
	}
	// A deletion that is refused is asked about, and no answer is no end.
	l.Fail(fake.Fault{Method: "DELETE", Path: "/users/", Kind: fake.Refuse, Status: 403})
	listed := 0
	l.Fail(fake.Fault{Method: "GET", Path: "/v3/users$", Kind: fake.Pass, Reached: func() {
		if listed++; listed == 1 {
			l.Fail(fake.Fault{Method: "GET", Path: "/v3/users$", Kind: fake.Refuse, Status: 503})
		}
	}})
	wantFault(t, "Revoke", l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}), broker.ErrUnreachable, "503")
	l.Heal()
	// A user that is answered in another form is none.
	l.Fail(fake.Fault{Method: "POST", Path: "/v3/users$", Kind: fake.JSON, Status: 201, Body: `{"user":[]}`})
	_, err = l.driver.Issue(t.Context(), l.access, l.userGrant("member"))
	wantFault(t, "Issue of a user of no form", err, broker.ErrUnreachable, "as Keystone does")
	// An application credential keeps none.
	c := l.AppCred(fakekeystone.AppCred{Name: "own", UserID: l.user.ID, ProjectID: l.project.ID, Unrestricted: true})
	by := l.access
	by.Credential = broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret)}
	_, err = l.driver.Issue(t.Context(), by, l.userGrant("member"))
	wantFault(t, "Issue of a user by an application credential", err, broker.ErrUnsupported, "credential: an application credential keeps no users")
}

// What a user has is compared up to a bound, and who is not told of other leases says nothing.
func TestComparisonsAreBounded(t *testing.T) {
	l := newLab(t)
	l.register()
	for range 4096 {
		l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "totp"})
	}
	left := func(c broker.Comparison) ([]string, error) {
		c.Stood = "Ag" // the credentials, of which there was none
		return l.driver.Left(t.Context(), l.access, c)
	}
	if found, err := left(broker.Comparison{}); err != nil || len(found) != 100 {
		t.Errorf("of as many as may be: %d, %v", len(found), err)
	}
	l.Plant(fakekeystone.Planted{UserID: l.user.ID, Type: "totp"})
	found, err := left(broker.Comparison{})
	wantFault(t, "Left of one more", err, broker.ErrUnsupported, "more than 4096 credentials")
	if found != nil {
		t.Errorf("it is told of %d", len(found))
	}
	l = newLab(t)
	l.register()
	l.AppCred(fakekeystone.AppCred{Name: "lease-x", Description: description(l.access.VIM, uuid.NewString()), UserID: l.user.ID, ProjectID: l.project.ID})
	down := errors.New("the store is down")
	found, err = l.driver.Left(t.Context(), l.access, broker.Comparison{Stood: "AQ", Live: func(context.Context, string, string) (bool, error) { return false, down }})
	if !errors.Is(err, down) || found != nil {
		t.Errorf("Left where nobody knows the leases = %q, %v", found, err)
	}
}

// A token has as many roles as a user may have, and no more.
func TestRolesOfATokenAreBounded(t *testing.T) {
	for _, n := range []int{256, 257} {
		l := newLab(t)
		var roles []string
		for i := range n {
			roles = append(roles, fmt.Sprint("r", i))
		}
		l.user = l.User("many", l.project, roles...)
		l.access = l.to(l.Endpoint)
		l.Fail(fake.Fault{Method: "POST", Path: "/application_credentials$", Kind: fake.Refuse, Status: 403, Times: -1})
		if _, err := l.driver.Check(t.Context(), l.access); (err == nil) != (n == 256) || err != nil && !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("Check as who has %d roles: %v", n, err)
		}
		l.driver.Wait()
	}
}

// A check that is given up while it asks what is open knows nothing, also of a VIM that makes no application credentials.
func TestAnExplorationThatIsGivenUp(t *testing.T) {
	l := newLab(t)
	c := l.AppCred(fakekeystone.AppCred{Name: "own", UserID: l.user.ID, ProjectID: l.project.ID, Unrestricted: true})
	a := l.access
	a.Credential = broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret)}
	ctx, cancel := context.WithCancel(t.Context())
	l.Fail(fake.Fault{Method: "POST", Path: "/application_credentials$", Kind: fake.Refuse, Status: 403, Times: -1})
	l.Fail(fake.Fault{Path: "/OS-TRUST/trusts$", Kind: fake.Hang, Reached: cancel})
	r, err := l.driver.Check(ctx, a)
	l.driver.Wait()
	wantFault(t, "Check", err, broker.ErrUnreachable, "cancelled")
	if r.Discovered.Cloud != nil {
		t.Errorf("it has found %+v", r.Discovered)
	}
}

// What a registration says of its endpoint agrees.
func TestEndpointsThatDoNotAgree(t *testing.T) {
	s := fakekeystone.New(t, fakekeystone.Options{})
	good := broker.Registration{
		Endpoint: s.Endpoint, CACert: s.CA, Scope: broker.Scope{ProjectID: "p"}, Credential: broker.Credential{UserID: "u", Password: secret.NewText("p")},
	}
	if _, _, err := openstack.New(openstack.Options{}).Normalize(good); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*broker.Registration){
		"caCert: is of no use":            func(r *broker.Registration) { r.Endpoint = "http://10.0.0.1:5000" },
		"insecureSkipVerify: contradicts": func(r *broker.Registration) { r.InsecureSkipVerify = true },
		"serverName: ":                    func(r *broker.Registration) { r.ServerName = "a b" },
	} {
		r := good
		change(&r)
		_, _, err := openstack.New(openstack.Options{}).Normalize(r)
		wantFault(t, "a registration", err, broker.ErrInvalid, says)
	}
	const document = "clouds: {c: {auth: {auth_url: 'https://k.example', user_id: u, password: p, project_id: p}}}\n"
	for n, field := range map[int]string{256 << 10: "", 256<<10 + 1: "cloudsYaml: is longer"} {
		_, _, err := openstack.New(openstack.Options{}).Normalize(broker.Registration{Cloud: "c", CloudsYAML: secret.NewText(document + strings.Repeat("#", n-len(document)))})
		if err == nil != (field == "") || err != nil && !strings.HasPrefix(err.Error(), field) {
			t.Errorf("a clouds.yaml of %d bytes: %v", n, err)
		}
	}
}

// The broker meets Keystone by the authorities of its configuration, and by no others.
func TestAuthoritiesOfCallers(t *testing.T) {
	k := fake.New(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct{ file, says string }{
		"its own": {write(k.CA), "503"}, "none": {"", "certificate"}, "what is none": {write("none"), "caCert"},
	} {
		callers := mustCallers(t, openstack.CallersOptions{
			AuthURL: k.URL, Timeout: time.Second, CAFile: c.file,
			Login: keystone.Auth{Password: &keystone.Password{UserID: "u", ProjectID: "p", PasswordFile: write("right")}},
		})
		if _, err := callers.Authenticate(t.Context(), "token"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("by %s: %v, want it to say %q", name, err, c.says)
		}
	}
}

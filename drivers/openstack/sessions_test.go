package openstack_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// counted puts a front before the lab's cloud, and returns what has been asked there
// since the last call.
func counted(l *lab) (asked func() []string) {
	l.t.Helper()
	to, err := url.Parse(l.Endpoint)
	if err != nil {
		l.t.Fatal(err)
	}
	var (
		mu  sync.Mutex
		all []string
	)
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		all = append(all, r.Method)
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	l.t.Cleanup(front.Close)
	credential := l.access.Credential
	scope := l.access.Target.Scope
	l.access = l.to(front.URL)
	l.access.Credential, l.access.Target.Scope = credential, scope
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { all = nil }()
		return all
	}
}

// byAppCred registers the lab's VIM with an application credential of its user.
func (l *lab) byAppCred(unrestricted bool) {
	l.t.Helper()
	c := l.AppCred(fakekeystone.AppCred{Name: uuid.NewString(), UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member", "reader"}, Unrestricted: unrestricted})
	l.access.Target.Scope = broker.Scope{}
	l.access.Credential = broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	}
}

// sorted: what is asked side by side comes in any order.
func sorted(methods ...string) []string {
	slices.Sort(methods)
	return methods
}

// A registration asks once what the holder of a lease could do: six questions, side by side.
func TestARegistrationAsksLittle(t *testing.T) {
	const post, get, put, del = http.MethodPost, http.MethodGet, http.MethodPut, http.MethodDelete
	questions := []string{post, post, post, post, get, put}
	for name, c := range map[string]struct {
		prepare func(*lab)
		want    []string // besides; the DELETE of a probe comes while the caller goes on
	}{
		"a password":                             {func(*lab) {}, []string{post, post, post, del}},
		"an unrestricted application credential": {func(l *lab) { l.byAppCred(true) }, []string{post, get, post, post, del}},
		"a restricted application credential":    {func(l *lab) { l.byAppCred(false) }, []string{post, get}},
	} {
		l := newLab(t)
		c.prepare(l)
		asked := counted(l)
		l.register()
		if got, want := sorted(asked()...), sorted(slices.Concat(c.want, questions)...); !slices.Equal(got, want) {
			t.Errorf("registering %s asks %q, want %q", name, got, want)
		}
	}
}

// The session of the registration serves the calls that come in the minutes after it.
func TestOneSessionServesManyCalls(t *testing.T) {
	l := newLab(t)
	asked := counted(l)
	l.register()
	asked()
	g := l.grant("member")
	m := l.issue(g)
	if got := sorted(asked()...); !slices.Equal(got, []string{http.MethodGet, http.MethodPost}) {
		t.Errorf("issuing asks %q, want one POST, and what stands beside it", got)
	}
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Credential: m.Credential}); err != nil {
		t.Fatal(err)
	}
	if got := asked(); !slices.Equal(got, []string{http.MethodDelete}) {
		t.Errorf("revoking asks %q, want one DELETE", got)
	}
}

// A session is used by exactly who logged in, and for no longer than it is kept.
func TestASessionIsOfOneLogin(t *testing.T) {
	for name, change := range map[string]func(*lab){
		"another generation": func(l *lab) { l.access.Generation++ },
		"another VIM":        func(l *lab) { l.access.VIM = uuid.NewString() },
		"another password":   func(l *lab) { l.access.Credential.Password = secret.NewText("wrong") },
		"another CA":         func(l *lab) { l.access.Target.CACert = "-----BEGIN CERTIFICATE-----\n" },
		"other egress rules": func(l *lab) { rules := *l.access.Egress; l.access.Egress = &rules },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.register()
			tokens := l.Tokens()
			change(l)
			_, err := l.driver.Inventory(t.Context(), l.access)
			if err == nil && l.Tokens() == tokens {
				t.Error("the session of the login before was used")
			}
		})
	}
}

// A session whose token Keystone refuses is replaced, once.
func TestAnEndedSessionIsReplaced(t *testing.T) {
	l := newLab(t)
	l.register()
	l.RevokeTokens(l.user.ID)
	l.issue(l.grant("member"))
	l.RevokeTokens(l.user.ID)
	l.SetPassword(l.user.ID, "another")
	_, err := l.driver.Issue(t.Context(), l.access, l.grant("member"))
	wantFault(t, "Issue after the password was changed", err, broker.ErrUnauthorized, "does not know the user with this password")
	if n := l.driver.Sessions(); n != 0 {
		t.Errorf("%d sessions are kept that Keystone refuses", n)
	}
}

// With the VIM its session ends, at Keystone too.
func TestForgettingAVIMEndsItsSession(t *testing.T) {
	l := newLab(t)
	l.register()
	before := l.Tokens()
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	if n := l.driver.Sessions(); n != 0 || l.Tokens() != before-1 {
		t.Errorf("%d sessions are kept, and of %d tokens %d work", n, before, l.Tokens())
	}
}

// A lease's token is never the one that the driver works with.
func TestALeaseNeverHasTheSessionsToken(t *testing.T) {
	l := newLab(t)
	l.register()
	g := l.grant("")
	g.Purpose = openstack.Heat
	first, second := l.issue(g), l.issue(g)
	if first.Credential.Token.Reveal() == second.Credential.Token.Reveal() {
		t.Error("two leases have one token")
	}
	for _, m := range []broker.Minted{first, second} {
		if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Credential: m.Credential}); err != nil {
			t.Fatal(err)
		}
	}
	tokens := l.Tokens()
	if _, err := l.driver.Inventory(t.Context(), l.access); err != nil || l.Tokens() != tokens {
		t.Errorf("the leases' revocation ended the driver's session: %v", err)
	}
}

func TestGradesOfLeases(t *testing.T) {
	boss := func(l *lab) {
		l.user = l.User("boss", l.project, "admin")
		l.access = l.to(l.Endpoint)
	}
	for name, c := range map[string]struct {
		trusts        bool
		prepare       func(*lab)
		role, purpose string
		want          broker.Grade
		reasons       int
		warned        int
		limit         int
	}{
		"an application credential":               {want: broker.GradeBounded, warned: 1},
		"one for Heat":                            {purpose: openstack.Heat, want: broker.GradeUnbounded, reasons: 1, warned: 1},
		"one of an administrator's":               {prepare: boss, want: broker.GradeBounded, warned: 2},
		"one of his that may make trusts":         {trusts: true, prepare: boss, want: broker.GradeUnbounded, reasons: 1, warned: 1},
		"one with admin":                          {role: "admin", want: broker.GradeUnbounded, reasons: 1, warned: 1},
		"one that may make trusts":                {trusts: true, want: broker.GradeUnbounded, reasons: 1, warned: 1},
		"a token of a restricted one":             {prepare: func(l *lab) { l.byAppCred(false) }, want: broker.GradeBounded},
		"a token of one that may make trusts":     {trusts: true, prepare: func(l *lab) { l.byAppCred(false) }, want: broker.GradeUnbounded, reasons: 1, warned: 1},
		"a token, as the user's limit is used up": {prepare: func(l *lab) { l.AppCred(fakekeystone.AppCred{UserID: l.user.ID}) }, want: broker.GradeUnbounded, reasons: 1, warned: 1, limit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLabOn(t, fakekeystone.Options{Plain: true, Trusts: c.trusts, UserLimit: c.limit})
			if c.prepare != nil {
				c.prepare(l)
			}
			before, err := l.driver.Grade(t.Context(), l.access, broker.Grant{TTL: time.Hour})
			if err != nil || before.Grade != broker.GradeUnbounded {
				t.Errorf("before anything is discovered Grade() = %q, %v, want unbounded", before.Grade, err)
			}
			l.register()
			g, err := l.driver.Grade(t.Context(), l.access, broker.Grant{TTL: time.Hour, Role: c.role, Purpose: c.purpose})
			if err != nil || g.Grade != c.want || len(g.Reasons) != c.reasons {
				t.Errorf("Grade() = %q, %q, %v; want %q for %d reasons", g.Grade, g.Reasons, err, c.want, c.reasons)
			}
			if warned := l.access.Discovered.Warnings; len(warned) != c.warned {
				t.Errorf("the VIM warns of %q, want %d sentences", warned, c.warned)
			}
		})
	}
}

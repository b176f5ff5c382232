package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// The words of the reasons, one for each way beyond an application credential.
const (
	byTrust       = "make a trust without end"
	byEC2         = "make EC2 credentials without end"
	byCredential  = "make EC2 credentials for other projects"
	byHeldEC2     = "read the EC2 credentials that the registered user has"
	byOAuth1      = "have an OAuth1 consumer act as the registered user"
	byTOTP        = "make a TOTP credential"
	byImpersonate = "log in as any other user"
)

// wantReasons demands that grade: unbounded for exactly these reasons, one sentence each;
// bounded without any.
func (l *lab) wantReasons(what string, g broker.Grant, words ...string) []string {
	l.t.Helper()
	want := broker.GradeBounded
	if len(words) > 0 {
		want = broker.GradeUnbounded
	}
	g.TTL = time.Hour
	got, err := l.driver.Grade(l.t.Context(), l.access, g)
	if err != nil || got.Grade != want || len(got.Reasons) != len(words) {
		l.t.Errorf("%s: Grade() = %q, %q, %v; want %q for %q", what, got.Grade, got.Reasons, err, want, words)
		return got.Reasons
	}
	for i, w := range words {
		if !strings.Contains(got.Reasons[i], w) {
			l.t.Errorf("%s: reason %q does not say %q", what, got.Reasons[i], w)
		}
	}
	return got.Reasons
}

// Each kind of cloud, with each kind of credential that a VIM is registered with.
func TestALeaseIsBoundedOnlyWhereTheCloudLetsItMakeNothing(t *testing.T) {
	password, unrestricted, restricted := func(*lab) {}, func(l *lab) { l.byAppCred(true) }, func(l *lab) { l.byAppCred(false) }
	holding := func(l *lab) { l.Plant(fakekeystone.Planted{UserID: l.user.ID, ProjectID: l.project.ID, Type: "ec2"}) }
	unpatched := fakekeystone.Options{Unpatched: true}
	for name, c := range map[string]struct {
		cloud    fakekeystone.Options
		register func(*lab)
		reasons  []string
		user     []string // of a lease that is a user
	}{
		"all fixes, password":          {register: password},
		"all fixes, unrestricted":      {register: unrestricted},
		"all fixes, restricted":        {register: restricted},
		"all fixes as Debian has them": {cloud: fakekeystone.Options{Late: true}, register: password},
		"before the fixes, and a policy on lists": {
			cloud: fakekeystone.Options{Unpatched: true, ListsByPolicy: true}, register: password,
			reasons: []string{byEC2, byCredential, byImpersonate}, user: []string{byImpersonate},
		},
		"trusts, password":               {cloud: fakekeystone.Options{Trusts: true}, register: password, reasons: []string{byTrust}},
		"trusts, restricted":             {cloud: fakekeystone.Options{Trusts: true}, register: restricted, reasons: []string{byTrust}},
		"before the fixes, password":     {cloud: unpatched, register: password, reasons: []string{byEC2, byCredential, byImpersonate}, user: []string{byImpersonate}},
		"before the fixes, unrestricted": {cloud: unpatched, register: unrestricted, reasons: []string{byEC2, byCredential, byImpersonate}, user: []string{byImpersonate}},
		"before the fixes, restricted":   {cloud: unpatched, register: restricted, reasons: []string{byEC2, byCredential}},
		"TOTP":                           {cloud: fakekeystone.Options{TOTP: true}, register: password, reasons: []string{byTOTP}},
		"EC2 credentials of the user":    {register: func(l *lab) { holding(l) }, reasons: []string{byHeldEC2}},
		"EC2 credentials of another": {register: func(l *lab) {
			l.Plant(fakekeystone.Planted{UserID: "another", ProjectID: l.project.ID, Type: "ec2"})
		}},
		"EC2 credentials of the user elsewhere": {register: func(l *lab) { l.Plant(fakekeystone.Planted{UserID: l.user.ID, ProjectID: "another", Type: "ec2"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			c.cloud.Plain = true
			l := newLabOn(t, c.cloud)
			c.register(l)
			planted := len(l.Planted())
			l.register()
			l.wantReasons("a lease", broker.Grant{}, c.reasons...)
			l.wantReasons("a lease to read", broker.Grant{Purpose: openstack.Read, Role: "reader"}, c.reasons...)
			l.wantReasons("a user", broker.Grant{User: true, Role: "member"}, c.user...)
			warned := strings.Join(l.access.Discovered.Warnings, "\n")
			for _, words := range c.reasons {
				if !strings.Contains(warned, "every lease is unbounded: on this cloud") || !strings.Contains(warned, words) {
					t.Errorf("the VIM warns of %q, and not that its leases can %s", warned, words)
				}
			}
			if now := len(l.Planted()); now != planted {
				t.Errorf("asking made %d credentials", now-planted)
			}
		})
	}
}

// Before the fixes an unrestricted application credential makes trusts, and none of its
// leases does: Heat could use none of them.
func TestHeatIsRefusedWhereNoLeaseMakesTrusts(t *testing.T) {
	l := newLabOn(t, fakekeystone.Options{Plain: true, Unpatched: true})
	l.byAppCred(true)
	l.register()
	g := l.grant("")
	g.Purpose = openstack.Heat
	_, err := l.driver.Issue(t.Context(), l.access, g)
	wantFault(t, "Issue for Heat", err, broker.ErrUnsupported, "the trusts that Heat needs")
	if l.access.Discovered.Trusts {
		t.Error("the VIM's leases are said to make trusts")
	}
}

// questions are what a check asks of a cloud to grade its leases, besides logins.
var questions = map[string]struct {
	about fake.Fault
	words string
}{
	"trusts":      {fake.Fault{Method: "POST", Path: `/OS-TRUST/trusts$`}, byTrust},
	"EC2":         {fake.Fault{Method: "POST", Path: `/OS-EC2$`}, byEC2},
	"credentials": {fake.Fault{Method: "POST", Path: `/v3/credentials$`}, byCredential},
	"held EC2":    {fake.Fault{Method: "GET", Path: `/OS-EC2$`}, byHeldEC2},
	"OAuth1":      {fake.Fault{Method: "PUT", Path: `/OS-OAUTH1/authorize/`}, byOAuth1},
}

// Every answer but a clear no counts as yes, and the reason says which it was. What statuses and broken answers come to the
// sweep of checks shows.
func TestOnlyAClearNoCounts(t *testing.T) {
	for name, q := range questions {
		for _, kind := range []fake.Kind{fake.Hang, fake.Huge, fake.Redirect, fake.JSON} {
			if kind == fake.Hang && name != "EC2" && name != "held EC2" {
				continue // a second each, and the same lines
			}
			l := newLab(t)
			f := q.about
			if f.Kind, f.Status, f.Times = kind, 403, -1; kind == fake.JSON { // it makes what cannot be made
				f.Status, f.Body = http.StatusCreated, "{}"
			}
			l.Fail(f)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			r, err := l.driver.Check(ctx, l.access)
			cancel()
			if err != nil {
				t.Errorf("%s with %s: Check = %v", name, kind, err)
				continue
			}
			l.access.Discovered = r.Discovered
			got := l.wantReasons(name+" with "+string(kind), broker.Grant{}, q.words)
			if text := strings.Join(got, ""); !strings.Contains(text, "it is not known whether") || strings.Contains(text, fake.Canary) {
				t.Errorf("%s with %s: %q does not say that nobody knows, or repeats the answer", name, kind, got)
			}
			l.Heal()
		}
	}
}

// answering puts somebody before the lab's cloud who answers the requests whose body holds these words.
func answering(l *lab, words string, answer http.HandlerFunc) {
	l.t.Helper()
	to, err := url.Parse(l.Endpoint)
	if err != nil {
		l.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(body), words) {
			answer(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	l.t.Cleanup(front.Close)
	l.access = l.to(front.URL)
}

// What is asked with a login: which ways to log in there are, and as whom.
func TestOnlyAClearNoToALoginCounts(t *testing.T) {
	const asked, claimed = `"vimbroker"`, `"user":{"id":"00000000000000000000000000000000"}`
	own := func(status int, identity string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"code":%d,"title":"x","message":%q%s}}`, status, fake.Canary, identity)
		}
	}
	page := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, fake.Canary, http.StatusUnauthorized) }
	for name, c := range map[string]struct {
		to     string
		answer http.HandlerFunc
		reason string
		known  bool
	}{
		"methods without TOTP":  {asked, own(401, `,"identity":{"methods":["password"]}`), "", true},
		"methods with TOTP":     {asked, own(401, `,"identity":{"methods":["password","totp"]}`), byTOTP, true},
		"no methods":            {asked, own(401, `,"identity":{"methods":[]}`), byTOTP, false},
		"methods of no form":    {asked, own(401, `,"identity":{"methods":"password"}`), byTOTP, false},
		"nothing of methods":    {asked, own(401, ""), byTOTP, false},
		"methods, forbidden":    {asked, own(403, `,"identity":{"methods":["password"]}`), byTOTP, false},
		"a failure":             {asked, own(500, ""), byTOTP, false},
		"a page for methods":    {asked, page, byTOTP, false},
		"success":               {asked, own(201, ""), byTOTP, false},
		"a user that is none":   {claimed, own(401, ""), byImpersonate, true},
		"a user, not found":     {claimed, own(404, ""), byImpersonate, false},
		"a user, bad request":   {claimed, own(400, ""), byImpersonate, false},
		"a user, forbidden":     {claimed, own(403, ""), byImpersonate, false},
		"a user, and a failure": {claimed, own(503, ""), byImpersonate, false},
		"a page for a user":     {claimed, page, byImpersonate, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			answering(l, c.to, c.answer)
			l.register()
			if c.reason == "" {
				l.wantReasons(name, broker.Grant{})
				return
			}
			got := strings.Join(l.wantReasons(name, broker.Grant{}, c.reason), "")
			if strings.Contains(got, "it is not known whether") == c.known || strings.Contains(got, fake.Canary) {
				t.Errorf("%q: want known %v, and nothing of the answer", got, c.known)
			}
		})
	}
}

// A VIM that nobody has asked about is not bounded.
func TestWhatWasNotAskedIsNotNo(t *testing.T) {
	l := newLab(t)
	l.register()
	l.wantReasons("a lease", broker.Grant{})
	cloud := *l.access.Discovered.Cloud
	cloud.Openings = nil
	l.access.Discovered.Cloud = &cloud
	l.wantReasons("a lease of a cloud that was not asked", broker.Grant{}, "not known yet")
}

// What was found out is kept as JSON, where no openings are not the same as none asked about.
func TestOpeningsAreKept(t *testing.T) {
	l := newLab(t)
	l.register()
	text, err := json.Marshal(l.access.Discovered)
	if err != nil {
		t.Fatal(err)
	}
	var again broker.Discovered
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	l.access.Discovered = again
	l.wantReasons("a lease", broker.Grant{})
}

// Whoever stops a check is not answered, and stores nothing.
func TestACheckThatIsStoppedKnowsNothing(t *testing.T) {
	l := newLab(t)
	ctx, stop := context.WithCancel(t.Context())
	l.Fail(fake.Fault{Method: "POST", Path: `/OS-EC2$`, Kind: fake.Hang, Times: -1, Reached: stop})
	r, err := l.driver.Check(ctx, l.access)
	l.Heal()
	if err == nil || r.Discovered.Cloud != nil {
		t.Errorf("Check = %+v, %v, want an error", r.Discovered, err)
	}
}

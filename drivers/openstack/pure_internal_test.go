package openstack

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const (
	aVIM   = "11111111-2222-4333-8444-555555555555"
	aLease = "22222222-2222-4333-8444-555555555555"
)

// fieldOf is the field that an error names.
func fieldOf(err error) string {
	if e, is := errors.AsType[*broker.Error](err); is {
		return e.Field
	}
	return ""
}

func detailOf(err error) string {
	if e, is := errors.AsType[*broker.Error](err); is {
		return e.Detail
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return ""
}

// What cannot be dialled is refused by each step that dials, whatever was dialled before it.
func TestStepsThatDialRefuseATarget(t *testing.T) {
	a := broker.Access{Target: broker.Target{Endpoint: "https://c/v3", CACert: "none"}}
	for name, step := range map[string]func() error{
		"version":     func() error { _, err := version(t.Context(), a); return err },
		"try":         func() error { return try(t.Context(), a, broker.Credential{}, &broker.Cloud{}) },
		"revokeToken": func() error { return revokeToken(t.Context(), a, "t") },
		"loginDomain": func() error { _, err := new(Driver).loginDomain(t.Context(), a, &session{}); return err },
	} {
		if err := step(); !errors.Is(err, broker.ErrInvalid) || fieldOf(err) != "caCert" {
			t.Errorf("%s: %v, want an invalid caCert", name, err)
		}
	}
}

// What may be an id, a name or a token.
func TestTextsOfKeystone(t *testing.T) {
	for _, c := range []struct {
		text            string
		id, name, token bool
	}{
		{"", false, false, false},
		{"a", true, true, true},
		{".", false, true, true},
		{"..", false, true, true},
		{"a.b@c:d_e-", true, true, true},
		{"a/b", false, true, true},
		{strings.Repeat("a", 64), true, true, true},
		{strings.Repeat("a", 65), false, true, true},
		{strings.Repeat("a", 255), false, true, true},
		{strings.Repeat("a", 256), false, false, true},
		{"a b", false, true, false},
		{" a", false, false, false},
		{"a ", false, false, false},
		{"a\x00", false, false, false},
		{"\xff", false, false, false},
		{"~", false, true, true},
		{"a\x7f", false, false, false},
		{"!", false, true, true},
		{"ä", false, true, false},
		{strings.Repeat("a", maxToken), false, false, true},
		{strings.Repeat("a", maxToken+1), false, false, false},
	} {
		if id, name, token := isID(c.text), isName(c.text), isToken(c.text); id != c.id || name != c.name || token != c.token {
			t.Errorf("%.80q: id %t, name %t, token %t, want %t, %t, %t", c.text, id, name, token, c.id, c.name, c.token)
		}
	}
	for name, want := range map[string]string{"h": "h 1", "h.2": "h 2", "h.12": "h 12", "h.1": "h.1 1", "h.0": "h.0 1", "h.-1": "h.-1 1", "h.02": "h.02 1", "h.x": "h.x 1", "h.2.3": "h.2.3 1", "h.": "h. 1"} {
		if handle, n := number(name); fmt.Sprint(handle, " ", n) != want {
			t.Errorf("%s is number %d of %s, want %s", name, n, handle, want)
		}
	}
	for text, want := range map[string]string{"2031-05-06T07:08:09Z": "2031-05-06T07:08:09Z", "2031-05-06T07:08:09": "2031-05-06T07:08:09Z", "2031-05-06T09:08:09+02:00": "2031-05-06T07:08:09Z", "x": "0001-01-01T00:00:00Z"} {
		if got := moment(text).Format(time.RFC3339); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	for ttl, ok := range map[time.Duration]bool{minTTL: true, minTTL - 1: false, maxTTL: true, maxTTL + 1: false} {
		if err := checkTTL(ttl); err == nil != ok || !ok && fieldOf(err) != "ttl" {
			t.Errorf("a life of %v: %v", ttl, err)
		}
	}
}

// A credential is of one kind, whole, and within its bounds; the error names what is not.
func TestCredentialsThatAreTaken(t *testing.T) {
	text := func(n int) secret.Text { return secret.NewText(strings.Repeat("x", n)) }
	p := fieldPaths
	for name, c := range map[string]struct {
		in    broker.Credential
		kind  broker.CredentialKind
		field string
	}{
		"password by name":     {broker.Credential{Username: "u", Password: text(1)}, broker.CredentialPassword, ""},
		"password by id":       {broker.Credential{UserID: "u", Password: text(maxPassword), Kind: broker.CredentialPassword}, broker.CredentialPassword, ""},
		"basic auth":           {broker.Credential{UserID: "u", Password: text(1), Kind: broker.CredentialBasicAuth}, broker.CredentialPassword, ""},
		"another kind":         {broker.Credential{UserID: "u", Password: text(1), Kind: broker.CredentialBearerToken}, "", p.credential},
		"password too long":    {broker.Credential{UserID: "u", Password: text(maxPassword + 1)}, "", p.password},
		"a NUL":                {broker.Credential{UserID: "u", Password: secret.NewText("a\x00b")}, "", p.password},
		"no user":              {broker.Credential{Password: text(1)}, "", p.username},
		"no password":          {broker.Credential{Username: "u"}, "", p.password},
		"no name":              {broker.Credential{Username: " u", Password: text(1)}, "", p.username},
		"no id":                {broker.Credential{UserID: "u/v", Password: text(1)}, "", p.username},
		"nothing":              {broker.Credential{}, "", p.credential},
		"a token":              {broker.Credential{Username: "u", Password: text(1), Token: text(1)}, "", p.credential},
		"a certificate":        {broker.Credential{Username: "u", Password: text(1), ClientCertificate: "c"}, "", p.credential},
		"a key":                {broker.Credential{Username: "u", Password: text(1), ClientKey: text(1)}, "", p.credential},
		"two kinds":            {broker.Credential{Username: "u", ApplicationCredentialID: "a"}, "", p.credential},
		"two kinds of secrets": {broker.Credential{Password: text(1), ApplicationCredentialSecret: text(1)}, "", p.credential},
		"application":          {broker.Credential{ApplicationCredentialID: "a", ApplicationCredentialSecret: text(maxSecret)}, broker.CredentialApplicationCredential, ""},
		"application by kind":  {broker.Credential{ApplicationCredentialID: "a", ApplicationCredentialSecret: text(1), Kind: broker.CredentialApplicationCredential}, broker.CredentialApplicationCredential, ""},
		"application, another": {broker.Credential{ApplicationCredentialID: "a", ApplicationCredentialSecret: text(1), Kind: broker.CredentialPassword}, "", p.credential},
		"application too long": {broker.Credential{ApplicationCredentialID: "a", ApplicationCredentialSecret: text(maxSecret + 1)}, "", p.appCredSecret},
		"application with NUL": {broker.Credential{ApplicationCredentialID: "a", ApplicationCredentialSecret: secret.NewText("\x00")}, "", p.appCredSecret},
		"application, no id":   {broker.Credential{ApplicationCredentialSecret: text(1)}, "", p.appCred},
		"application, no word": {broker.Credential{ApplicationCredentialID: "a"}, "", p.appCredSecret},
		"application, odd id":  {broker.Credential{ApplicationCredentialID: "a/b", ApplicationCredentialSecret: text(1)}, "", p.appCred},
	} {
		got, err := credential(c.in, p)
		if got.Kind != c.kind || fieldOf(err) != c.field || err == nil != (c.field == "") {
			t.Errorf("%s: %s, %v, want %s, %q", name, got.Kind, err, c.kind, c.field)
		}
		if err == nil && (got.Username != c.in.Username || got.UserID != c.in.UserID || got.Password.Reveal() != c.in.Password.Reveal() || got.ApplicationCredentialID != c.in.ApplicationCredentialID ||
			got.ApplicationCredentialSecret.Reveal() != c.in.ApplicationCredentialSecret.Reveal()) {
			t.Errorf("%s: %+v of %+v", name, got, c.in)
		}
	}
}

// One domain stands for both; what is neither name nor id is refused by field.
func TestScopesThatAreTaken(t *testing.T) {
	byName, byID, app := broker.Credential{Username: "u", Kind: broker.CredentialPassword}, broker.Credential{UserID: "u", Kind: broker.CredentialPassword}, broker.Credential{Kind: broker.CredentialApplicationCredential}
	for name, c := range map[string]struct {
		in    broker.Scope
		c     broker.Credential
		want  broker.Scope
		field string
	}{
		"the user's domain for both":    {broker.Scope{ProjectName: "p", UserDomainName: "d"}, byName, broker.Scope{ProjectName: "p", UserDomainName: "d", ProjectDomainName: "d"}, ""},
		"the project's domain for both": {broker.Scope{ProjectName: "p", ProjectDomainID: "d"}, byName, broker.Scope{ProjectName: "p", UserDomainID: "d", ProjectDomainID: "d"}, ""},
		"two domains":                   {broker.Scope{ProjectName: "p", UserDomainID: "a", ProjectDomainName: "b"}, byName, broker.Scope{ProjectName: "p", UserDomainID: "a", ProjectDomainName: "b"}, ""},
		"ids need no domain":            {broker.Scope{ProjectID: "p"}, byID, broker.Scope{ProjectID: "p"}, ""},
		"a project's id, a user's name": {broker.Scope{ProjectID: "p", UserDomainName: "d"}, byName, broker.Scope{ProjectID: "p", UserDomainName: "d"}, ""},
		"no project":                    {broker.Scope{UserDomainName: "d"}, byName, broker.Scope{}, "project"},
		"no domain of the user":         {broker.Scope{ProjectID: "p"}, byName, broker.Scope{}, "userDomain"},
		"no domain of the project":      {broker.Scope{ProjectName: "p"}, byID, broker.Scope{}, "projectDomain"},
		"an application's own":          {broker.Scope{Region: "r"}, app, broker.Scope{Region: "r"}, ""},
		"a region that is none":         {broker.Scope{Region: " r"}, app, broker.Scope{}, "region"},
		"a project's id that is none":   {broker.Scope{ProjectID: "a/b"}, app, broker.Scope{}, "project"},
		"a project's name that is none": {broker.Scope{ProjectName: " p"}, app, broker.Scope{}, "project"},
		"a domain's id that is none":    {broker.Scope{ProjectDomainID: "a/b"}, app, broker.Scope{}, "projectDomain"},
		"a domain's name that is none":  {broker.Scope{ProjectDomainName: " d"}, app, broker.Scope{}, "projectDomain"},
		"a user's domain id, none":      {broker.Scope{UserDomainID: "a/b"}, app, broker.Scope{}, "userDomain"},
		"a user's domain name, none":    {broker.Scope{UserDomainName: " d"}, app, broker.Scope{}, "userDomain"},
	} {
		got, err := scope(c.in, c.c, fieldPaths)
		if fieldOf(err) != c.field || err == nil && got != c.want {
			t.Errorf("%s: %+v, %v, want %+v, %q", name, got, err, c.want, c.field)
		}
	}
	r := broker.Registration{Endpoint: "http://10.0.0.1", CACert: "none"}
	if _, _, err := normalize(r); fieldOf(err) != "caCert" {
		t.Errorf("authorities that are none: %v", err)
	}
}

// A catalog is kept sorted, each entry once; what is no URL is left out, and what no cloud has is refused.
func TestCatalogsThatAreRead(t *testing.T) {
	one := func(service, face, region, url string) []tokens.CatalogEntry {
		return []tokens.CatalogEntry{{Type: service, Endpoints: []tokens.Endpoint{{Interface: face, Region: region, URL: url}}}}
	}
	var many tokens.CatalogEntry
	for i := range maxEndpoints {
		many.Endpoints = append(many.Endpoints, tokens.Endpoint{Interface: "public", URL: fmt.Sprintf("https://h%d", i)})
	}
	many.Type = "a"
	for name, c := range map[string]struct {
		in []tokens.CatalogEntry
		n  int
		ok bool
	}{
		"one": {one("a", "public", "r", "https://h/v1"), 1, true}, "one without a region": {one("a", "public", "", "https://h"), 1, true}, "one twice": {slices.Concat(one("a", "public", "", "https://h"), one("a", "public", "", "https://h/v2")), 1, true},
		"no URL": {one("a", "public", "", "://"), 0, true}, "another scheme": {one("a", "public", "", "ftp://h"), 0, true}, "a user in it": {one("a", "public", "", "https://u@h"), 0, true},
		"no service": {one("", "public", "", "https://h"), 0, false}, "no interface": {one("a", "", "", "https://h"), 0, false}, "no region": {one("a", "public", " r", "https://h"), 0, false},
		"as many as may be": {[]tokens.CatalogEntry{many}, maxEndpoints, true}, "one more": {append([]tokens.CatalogEntry{many}, one("a", "public", "", "https://h")...), 0, false},
	} {
		got, err := readCatalog(c.in)
		if len(got) != c.n || err == nil != c.ok {
			t.Errorf("%s: %d, %v, want %d", name, len(got), err, c.n)
		}
	}
	for origin, want := range map[string]string{
		"https://10.0.0.1": "10.0.0.1:443", "http://10.0.0.1": "10.0.0.1:80", "https://[::1]:8443": "[::1]:8443", "https://localhost": "127.0.0.1:443", "https://a.localhost:1": "127.0.0.1:1",
		"https://h": "", "https://10.0.0.1:65536": "", "https://10.0.0.1:65535": "10.0.0.1:65535", "://": "",
	} {
		addr, ok := literal(origin)
		if got := addr.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%s is at %s, %t, want %q", origin, got, ok, want)
		}
	}
	rules := egress.Default()
	var lost []broker.CatalogEntry
	for i := range maxStrays + 1 {
		lost = append(lost, broker.CatalogEntry{Service: "s", Origin: fmt.Sprintf("https://127.0.0.%d", i+1)})
	}
	for n, last := range map[int]string{maxStrays: "clients of a lease may go there", maxStrays + 1: "1 more endpoints are at such addresses"} {
		if out := strays(lost[:n], rules); len(out) != n || !strings.HasSuffix(out[len(out)-1], last) {
			t.Errorf("of %d strays: %q", n, out)
		}
	}
	if out := strays([]broker.CatalogEntry{{Origin: "https://h"}, {Origin: "https://192.0.2.1"}}, rules); len(out) != 0 {
		t.Errorf("what is refused nowhere: %q", out)
	}
}

// Stored facts are whole, and no longer than may be.
func TestFactsThatAreKept(t *testing.T) {
	cloud := func(user, project string) broker.Discovered {
		return broker.Discovered{Cloud: &broker.Cloud{UserID: user, ProjectID: project}}
	}
	for d, ok := range map[*broker.Discovered]bool{ptr(cloud("u", "p")): true, ptr(cloud("", "p")): false, ptr(cloud("u", "")): false, {}: true} {
		if got, err := recall(*d); err == nil != ok || ok && d.Cloud != nil && got.UserID != "u" {
			t.Errorf("%+v: %+v, %v", d.Cloud, got, err)
		}
	}
	long := func(public int) broker.Discovered {
		d := cloud("u", "p")
		d.Catalog = []broker.CatalogEntry{{Interface: "public"}, {Interface: "admin", Origin: "x"}}
		d.Catalog[0].Origin = strings.Repeat("x", public)
		return d
	}
	fill := maxDiscovered - size(long(0))
	all, err := fit(long(fill))
	if err != nil || len(all.Catalog) != 2 {
		t.Errorf("facts as long as may be: %d entries, %v", len(all.Catalog), err)
	}
	cut, err := fit(long(fill + 1))
	if err != nil || len(cut.Catalog) != 1 || cut.Catalog[0].Interface != "public" {
		t.Errorf("facts a byte longer: %d entries, %v", len(cut.Catalog), err)
	}
	less := long(0)
	less.Catalog = less.Catalog[:1]
	if _, err := fit(long(maxDiscovered - size(less))); err != nil {
		t.Errorf("public endpoints as long as may be: %v", err)
	}
	if _, err := fit(long(maxDiscovered - size(less) + 1)); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("public endpoints a byte longer: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

// A token is that of whom the credential names, on the project that was registered.
func TestWhoseATokenIs(t *testing.T) {
	s := func(change func(*session)) *session {
		one := &session{}
		one.user.ID, one.user.Name, one.user.Domain.ID, one.user.Domain.Name = "u", "User", "ud", "UDomain"
		one.project.ID, one.project.Name, one.project.Domain.ID, one.project.Domain.Name = "p", "Project", "pd", "PDomain"
		if change != nil {
			change(one)
		}
		return one
	}
	plain := broker.Access{}
	plain.Credential, plain.Target.Scope = broker.Credential{Username: "user"}, broker.Scope{UserDomainName: "udomain", ProjectName: "project", ProjectDomainName: "pdomain"}
	with := func(change func(*broker.Access)) broker.Access {
		a := plain
		change(&a)
		return a
	}
	const foreign, nobodys, other = "Keystone answers with a token of somebody else than who logged in", "the endpoint does not answer as Keystone does", "another cloud answers at the endpoint than the one that was registered: it names another project or user"
	known := broker.Cloud{ProjectID: "p", UserID: "u"}
	for name, c := range map[string]struct {
		s     *session
		a     broker.Access
		known broker.Cloud
		want  string
	}{
		"by names, of any case": {s(nil), plain, broker.Cloud{}, ""},
		"by ids": {s(nil), with(func(a *broker.Access) {
			a.Credential = broker.Credential{UserID: "u"}
			a.Target.Scope = broker.Scope{ProjectID: "p", ProjectDomainID: "pd"}
		}), broker.Cloud{}, ""},
		"another user's id":        {s(nil), with(func(a *broker.Access) { a.Credential = broker.Credential{UserID: "v"} }), broker.Cloud{}, foreign},
		"another user's name":      {s(nil), with(func(a *broker.Access) { a.Credential.Username = "other" }), broker.Cloud{}, foreign},
		"another domain by name":   {s(nil), with(func(a *broker.Access) { a.Target.Scope.UserDomainName = "other" }), broker.Cloud{}, foreign},
		"another domain by id":     {s(nil), with(func(a *broker.Access) { a.Target.Scope.UserDomainID = "other" }), broker.Cloud{}, foreign},
		"the domain by id":         {s(nil), with(func(a *broker.Access) { a.Target.Scope.UserDomainID, a.Target.Scope.UserDomainName = "ud", "" }), broker.Cloud{}, ""},
		"another project's id":     {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectID = "q" }), broker.Cloud{}, "is not the one that the credential is for"},
		"another project's name":   {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectName = "q" }), broker.Cloud{}, "is not the one that the credential is for"},
		"a project's id, not name": {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectID, a.Target.Scope.ProjectName = "p", "q" }), broker.Cloud{}, ""},
		"another project domain":   {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectDomainID = "q" }), broker.Cloud{}, "is not that of the project"},
		"another by name":          {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectDomainName = "q" }), broker.Cloud{}, "is not that of the project"},
		"a domain's id, not name":  {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectDomainID, a.Target.Scope.ProjectDomainName = "pd", "q" }), broker.Cloud{}, ""},
		"no domain":                {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectDomainName = "" }), broker.Cloud{}, ""},
		"an application's": {s(func(s *session) { s.appCred = "a" }), with(func(a *broker.Access) {
			a.Credential = broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "a"}
		}), broker.Cloud{}, ""},
		"an application's, unsaid": {s(nil), with(func(a *broker.Access) {
			a.Credential = broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "a"}
		}), broker.Cloud{}, ""},
		"another application's": {s(func(s *session) { s.appCred = "b" }), with(func(a *broker.Access) {
			a.Credential = broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "a"}
		}), broker.Cloud{}, foreign},
		"as it was known":           {s(nil), with(func(a *broker.Access) { a.Target.Scope.ProjectName = "renamed" }), known, ""},
		"another project than then": {s(func(s *session) { s.project.ID = "q" }), plain, known, other},
		"another user than then":    {s(func(s *session) { s.user.ID = "v" }), plain, known, other},
		"the identity":              {s(nil), with(func(a *broker.Access) { a.Identity = "project p of domain pd" }), known, ""},
		"another identity":          {s(nil), with(func(a *broker.Access) { a.Identity = "project q of domain pd" }), broker.Cloud{}, other},
		"no project's id":           {s(func(s *session) { s.project.ID = "" }), plain, broker.Cloud{}, nobodys},
		"no project's name":         {s(func(s *session) { s.project.Name = "" }), plain, broker.Cloud{}, nobodys},
		"no project domain's id":    {s(func(s *session) { s.project.Domain.ID = "" }), plain, broker.Cloud{}, nobodys},
		"no project domain's name":  {s(func(s *session) { s.project.Domain.Name = "" }), plain, broker.Cloud{}, nobodys},
		"no user domain's id":       {s(func(s *session) { s.user.Domain.ID = "" }), plain, broker.Cloud{}, nobodys},
		"no user domain's name":     {s(func(s *session) { s.user.Domain.Name = "" }), plain, broker.Cloud{}, nobodys},
	} {
		if err := c.s.same(c.a, c.known); detailOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A session is kept for what it was logged in with, until shortly before its end; a new one takes the place of the old.
func TestSessionsThatAreKept(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	made := func(expires time.Duration) *session {
		c, err := dial(broker.Target{Endpoint: "https://cloud.example"}, egress.Default())
		if err != nil {
			t.Fatal(err)
		}
		return &session{connection: c, expires: now.Add(expires)}
	}
	access := func(vim string, change func(*broker.Access)) broker.Access {
		a := broker.Access{}
		a.VIM, a.Generation = vim, 1
		if change != nil {
			change(&a)
		}
		return a
	}
	kept := func() *sessions { return &sessions{kept: map[sessionKey]*keptSession{}} }
	a := access("v", nil)
	for name, c := range map[string]struct {
		expires, at time.Duration
		of          broker.Access
		is          bool
	}{
		"at once":               {time.Hour, 0, a, true},
		"to the last":           {time.Hour, sessionLife - 1, a, true},
		"after its life":        {time.Hour, sessionLife, a, false},
		"before its token ends": {2 * time.Minute, time.Minute - 1, a, true},
		"as its token ends":     {2 * time.Minute, time.Minute, a, false},
		"of a short token":      {sessionMargin, 0, a, false},
		"of another VIM":        {time.Hour, 0, access("w", nil), false},
		"of another generation": {time.Hour, 0, access("v", func(a *broker.Access) { a.Generation = 2 }), false},
		"of another credential": {time.Hour, 0, access("v", func(a *broker.Access) { a.Credential.Password = secret.NewText("x") }), false},
		"of another target":     {time.Hour, 0, access("v", func(a *broker.Access) { a.Target.Endpoint = "x" }), false},
		"under other rules":     {time.Hour, 0, access("v", func(a *broker.Access) { a.Egress = egress.Default() }), false},
	} {
		k, s := kept(), made(c.expires)
		k.put(a, s, now)
		if got := k.get(c.of, now.Add(c.at)); got != nil != c.is || got != nil && got != s {
			t.Errorf("%s: kept %t, want %t", name, got != nil, c.is)
		}
	}
	k, first, second := kept(), made(time.Hour), made(time.Hour)
	k.put(a, first, now)
	k.put(a, second, now)
	k.drop(a, first)
	if k.get(a, now) != second || len(k.kept) != 1 {
		t.Error("the second session is not kept in the place of the first")
	}
	k.drop(access("w", nil), second)
	k.drop(a, second)
	if k.get(a, now) != nil {
		t.Error("a session that was dropped is kept")
	}
	k.put(a, first, now)
	k.put(a, made(0), now)
	if len(k.kept) != 0 {
		t.Error("a session whose successor has ended is kept")
	}
	shared := made(time.Hour)
	for i := range maxSessions {
		k.put(access(fmt.Sprint(i), nil), shared, now)
	}
	if len(k.kept) != maxSessions {
		t.Errorf("%d sessions are kept, want %d", len(k.kept), maxSessions)
	}
	if k.put(a, first, now); len(k.kept) != maxSessions || k.get(a, now) != first {
		t.Errorf("%d sessions are kept with one more, want %d and that one", len(k.kept), maxSessions)
	}
	if ended := k.end("v"); !slices.Equal(ended, []*session{first}) || len(k.kept) != maxSessions-1 {
		t.Errorf("%d sessions have ended", len(ended))
	}
	for i := range maxSessions {
		k.end(fmt.Sprint(i))
	}
	// Of a VIM those of all generations end, and of another none.
	var of []*session
	for generation := range int64(3) {
		of = append(of, made(time.Hour))
		k.put(access("v", func(a *broker.Access) { a.Generation = generation }), of[generation], now)
	}
	k.put(access("w", nil), shared, now)
	ended := k.end("v")
	if len(ended) != len(of) || slices.ContainsFunc(of, func(s *session) bool { return !slices.Contains(ended, s) }) || len(k.kept) != 1 {
		t.Errorf("of %d sessions of a VIM %d have ended, and %d are kept", len(of), len(ended), len(k.kept))
	}
	k.end("w")
}

// A caller is who Keystone says, by ids that say one thing; roles are worth what the options say.
func TestCallersThatAreBelieved(t *testing.T) {
	c := &Callers{options: CallersOptions{Roles: map[string]string{"member": "member", "admin": "project-admin"}}}
	answer := func(change func(*validated)) validated {
		var v validated
		v.Token.User.ID, v.Token.User.Domain.ID, v.Token.Project.ID, v.Token.ExpiresAt = "u", "d", "p", time.Unix(1, 0)
		v.Token.Roles = []tokens.Role{{Name: "member"}, {Name: "other"}, {Name: "admin"}}
		if change != nil {
			change(&v)
		}
		return v
	}
	long := func(n int) validated {
		return answer(func(v *validated) {
			v.Token.User.ID, v.Token.User.Domain.ID = strings.Repeat("u", 64), strings.Repeat("d", n)
		})
	}
	for name, v := range map[string]struct {
		in   validated
		want error
		all  bool
	}{
		"a caller": {answer(nil), nil, true}, "a name as long as may be": {long(maxCallerName - 65), nil, false}, "a name too long": {long(maxCallerName - 64), broker.ErrUnreachable, false},
		"no user": {answer(func(v *validated) { v.Token.User.ID = "" }), broker.ErrUnreachable, false}, "a user with an @": {answer(func(v *validated) { v.Token.User.ID = "a@b" }), broker.ErrUnreachable, false},
		"no domain": {answer(func(v *validated) { v.Token.User.Domain.ID = "" }), broker.ErrUnreachable, false}, "no end": {answer(func(v *validated) { v.Token.ExpiresAt = time.Time{} }), broker.ErrUnreachable, false},
		"no project": {answer(func(v *validated) { v.Token.Project.ID = "" }), policy.ErrUnauthenticated, false}, "an odd project": {answer(func(v *validated) { v.Token.Project.ID = "a:b" }), broker.ErrUnreachable, false},
		"some calls only": {answer(func(v *validated) {
			v.Token.Application = &struct {
				Rules []any `json:"access_rules"`
			}{Rules: []any{}}
		}), policy.ErrUnauthenticated, false},
		"an application": {answer(func(v *validated) {
			v.Token.Application = &struct {
				Rules []any `json:"access_rules"`
			}{}
		}), nil, true},
	} {
		p, err := c.principal(v.in)
		if !errors.Is(err, v.want) || err == nil != (v.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, v.want)
		}
		if v.all && (p.Name != policy.ByKeystone+":u@d" || p.Project != "p" || !slices.Equal(p.Roles, []string{"member", "project-admin"})) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	now := time.Unix(1000, 0)
	cache := newCallerCache(2)
	key := func(n int) [sha256.Size]byte { return sha256.Sum256([]byte{byte(n)}) }
	has := func(n int, at time.Time) bool { _, ok := cache.get(key(n), at); return ok }
	cache.put(key(1), caller{until: now.Add(1)}, now)
	cache.put(key(2), caller{until: now.Add(time.Hour)}, now)
	if !has(1, now) || has(1, now.Add(1)) || !has(2, now) || has(3, now) {
		t.Error("a caller is believed to the end of its time, and not longer")
	}
	cache.put(key(3), caller{until: now.Add(time.Hour)}, now.Add(1))
	if has(1, now) || !has(2, now) || !has(3, now) {
		t.Error("of two, the one whose time is over makes room")
	}
	cache.put(key(3), caller{until: now.Add(2 * time.Hour)}, now)
	if !has(2, now) || len(cache.entries) != 2 {
		t.Error("one that is known takes no more room")
	}
	cache.put(key(4), caller{until: now.Add(time.Hour)}, now)
	if !has(4, now) || len(cache.entries) != 2 {
		t.Errorf("%d callers are kept, want 2 and the last", len(cache.entries))
	}
}

// Options that are none are refused; the others have their defaults.
func TestOptionsOfCallers(t *testing.T) {
	login := keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: "a", SecretFile: "f"}}
	for name, c := range map[string]struct {
		o    CallersOptions
		want string
	}{
		"whole":              {CallersOptions{AuthURL: "https://k/v3", Login: login}, ""},
		"a timeout":          {CallersOptions{AuthURL: "https://k", Login: login, Timeout: 1}, ""},
		"a timeout below":    {CallersOptions{AuthURL: "https://k", Login: login, Timeout: -1}, "timeout -1ns: must be positive"},
		"a role of no name":  {CallersOptions{AuthURL: "https://k", Login: login, Roles: map[string]string{" a": "b"}}, `role " a": cannot be worth "b"`},
		"a role of no worth": {CallersOptions{AuthURL: "https://k", Login: login, Roles: map[string]string{"a": ""}}, `role "a": cannot be worth ""`},
		"a system's role":    {CallersOptions{AuthURL: "https://k", Login: login, Roles: map[string]string{"a": policy.RoleSystem}}, `role "a": cannot be worth "system"`},
		"no address":         {CallersOptions{Login: login}, "address of Keystone: "},
		"no login":           {CallersOptions{AuthURL: "https://k"}, "login: give either an application credential or a password"},
	} {
		err := c.o.Validate()
		if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if all, made := NewCallers(c.o); made == nil != (err == nil) || made != nil && (all != nil || made.Error() != "authenticating callers by Keystone: "+err.Error()) {
			t.Errorf("%s: NewCallers = %v, want %v", name, made, err)
		}
	}
	callers, err := NewCallers(CallersOptions{AuthURL: "https://k/v3", Login: login, CAFile: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if o := callers.options; o.AuthURL != "https://k" || o.Timeout != 5*time.Second || o.Now == nil || o.Log == nil || o.Egress == nil || o.Roles[policy.RoleAdmin] != policy.RoleProjectAdmin {
		t.Errorf("the options are %+v", o)
	}
	if _, err := callers.logInAs(t.Context(), "x"); detailOf(err) != "the file of Keystone's certificate authorities cannot be read" {
		t.Errorf("authorities that cannot be read: %v", err)
	}
	if _, err := callers.login(t.Context(), nil); !errors.Is(err, errLogin) {
		t.Errorf("a secret that cannot be read: %v", err)
	}
}

// What is remembered of credentials is read back; of what is new, some is expected.
func TestCredentialsFromBefore(t *testing.T) {
	all := []standing{{kind: kindEC2, id: "b"}, {kind: kindEC2, id: "a"}}
	for _, form := range []byte{formAll, formCredentials} {
		got, was, err := stood(remember(form, all))
		if err != nil || got != form || len(was) != 2 || !was[all[0].short()] || !was[all[1].short()] {
			t.Errorf("form %d is read as %d with %d, %v", form, got, len(was), err)
		}
	}
	for _, text := range []string{"*", "", "Ag!", base64.RawStdEncoding.EncodeToString([]byte{3}), base64.RawStdEncoding.EncodeToString([]byte{1, 2})} {
		if _, _, err := stood(text); !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%q is read: %v", text, err)
		}
	}
	now := time.Unix(1000, 0)
	d := &Driver{now: func() time.Time { return now }, stackTrustees: []string{"heat", "magnum"}}
	asked := ""
	c := broker.Comparison{Live: func(_ context.Context, lease, handle string) (bool, error) {
		asked = lease + " " + handle
		return lease == aLease && handle == "h", nil
	}}
	for name, one := range map[string]struct {
		found standing
		want  bool
	}{
		"from before":          {all[0], true},
		"new":                  {standing{kind: kindEC2, id: "c"}, false},
		"a stack's trust":      {standing{kind: kindTrust, id: "t", trustee: "heat"}, true},
		"another stack's":      {standing{kind: kindTrust, id: "t", trustee: "magnum"}, true},
		"a probe that ended":   {standing{kind: kindAppCred, id: "p", mark: mark{vim: aVIM}, ends: now.Add(-time.Hour)}, true},
		"a first credential":   {standing{kind: kindAppCred, id: "l", name: "h", mark: mark{vim: aVIM, lease: aLease}}, true},
		"of another handle":    {standing{kind: kindAppCred, id: "l", name: "i.2", mark: mark{vim: aVIM, lease: aLease}}, false},
		"another's trust":      {standing{kind: kindTrust, id: "t", trustee: "x"}, false},
		"another lease's":      {standing{kind: kindAppCred, id: "l", name: "h.2", mark: mark{vim: aVIM, lease: aLease}}, true},
		"a lease of nobody":    {standing{kind: kindAppCred, id: "l", name: "h", mark: mark{vim: aVIM, lease: "x"}}, false},
		"a probe":              {standing{kind: kindAppCred, id: "p", mark: mark{vim: aVIM}, ends: now.Add(2*probeTTL - 1)}, true},
		"a probe that is long": {standing{kind: kindAppCred, id: "p", mark: mark{vim: aVIM}, ends: now.Add(2 * probeTTL)}, false},
		"a probe without end":  {standing{kind: kindAppCred, id: "p", mark: mark{vim: aVIM}}, false},
	} {
		got, err := d.expected(t.Context(), one.found, map[[6]byte]bool{all[0].short(): true}, c)
		if err != nil || got != one.want {
			t.Errorf("%s is expected: %t, %v, want %t", name, got, err, one.want)
		}
	}
	if asked != aLease+" h" && asked != "x h" && asked != aLease+" i" {
		t.Errorf("asked is for %q", asked)
	}
}

// Leases among application credentials are those of the VIM, each once and from its first on.
func TestLeasesAmongCredentials(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	one := func(name, vim, lease string, issued time.Time) applicationcredentials.ApplicationCredential {
		return applicationcredentials.ApplicationCredential{Name: name, Description: mark{vim, lease, issued}.String()}
	}
	got := leasesIn([]applicationcredentials.ApplicationCredential{
		one("h.2", aVIM, aLease, at.Add(time.Hour)), one("h", aVIM, aLease, at), one("h.3", aVIM, aLease, at.Add(2*time.Hour)), one("p", aVIM, "", at), one("o", aLease, aLease, at), {Name: "x", Description: "x"},
	}, aVIM)
	if want := []broker.Upstream{{Handle: "h", Lease: aLease, CreatedAt: at}}; !reflect.DeepEqual(got, want) {
		t.Errorf("leases are %+v, want %+v", got, want)
	}
	for text, ok := range map[string]bool{
		mark{aVIM, aLease, at}.String(): true, mark{aVIM, "", at}.String(): true, mark{"x", aLease, at}.String(): false, mark{aVIM, "x", at}.String(): false, mark{aVIM, aLease, at}.String() + " x": false,
		"x" + mark{aVIM, aLease, at}.String(): false, "vimbroker vim=" + aVIM + " lease=" + aLease + " issued=x": false, "vimbroker xim=" + aVIM + " lease= issued=2031-05-06T07:08:09Z": false,
		"vimbroker vim=" + aVIM + " xease= issued=2031-05-06T07:08:09Z": false, "vimbroker vim=" + aVIM + " lease= xssued=2031-05-06T07:08:09Z": false,
	} {
		if _, is := readMark(text); is != ok {
			t.Errorf("%q is a mark: %t", text, is)
		}
	}
}

// Which leases are tokens, and which cannot be, by what a cloud has said.
func TestLeasesThatAreForeseen(t *testing.T) {
	token, app := broker.Cloud{UserID: "u", ProjectID: "p", Leases: broker.CredentialProjectToken, Roles: []string{"member", "reader"}}, broker.Cloud{UserID: "u", ProjectID: "p", Leases: broker.CredentialApplicationCredential, Roles: []string{"member"}}
	trusting := token
	trusting.Trusts = true
	silent := broker.Cloud{Leases: broker.CredentialApplicationCredential, Openings: map[string]string{openTrusts: "Keystone is asleep"}}
	for found, want := range map[*broker.Cloud]string{
		&app:    "this cloud lets no application credential make the trusts that Heat needs, and the VIM is registered with one; register the VIM with user name and password",
		&silent: "it is not known whether this cloud lets application credentials make the trusts that Heat needs (Keystone is asleep); once Keystone answers replace the VIM's credential, which has it asked again, or register the VIM with user name and password",
	} {
		if err := noToken(*found, broker.CredentialApplicationCredential, broker.Grant{Purpose: Heat}); err == nil || fieldOf(err) != "purpose" || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("a lease for Heat is refused with %q, want %q", err, want)
		}
	}
	for name, c := range map[string]struct {
		found broker.Cloud
		kind  broker.CredentialKind
		g     broker.Grant
		want  string // the field; "-" for an error of none
	}{
		"an application's":        {app, broker.CredentialPassword, broker.Grant{Role: "nobody's"}, ""},
		"a user's":                {token, broker.CredentialPassword, broker.Grant{User: true, Role: "nobody's"}, ""},
		"a token's":               {token, broker.CredentialPassword, broker.Grant{}, ""},
		"a token of one role":     {token, broker.CredentialPassword, broker.Grant{Role: "reader"}, "role"},
		"a token of another role": {token, broker.CredentialPassword, broker.Grant{Role: "nobody's"}, "role"},
		"for Heat":                {token, broker.CredentialApplicationCredential, broker.Grant{Purpose: Heat}, "purpose"},
		"for Heat by password":    {token, broker.CredentialPassword, broker.Grant{Purpose: Heat}, ""},
		"for Heat, with trusts":   {trusting, broker.CredentialApplicationCredential, broker.Grant{Purpose: Heat}, ""},
		"for Heat, without":       {app, broker.CredentialApplicationCredential, broker.Grant{Purpose: Heat}, "purpose"},
		"to read":                 {token, broker.CredentialPassword, broker.Grant{Purpose: Read}, "purpose"},
		"of facts that are none":  {broker.Cloud{}, broker.CredentialPassword, broker.Grant{}, "-"},
	} {
		a := broker.Access{}
		a.Credential.Kind, a.Discovered.Cloud = c.kind, &c.found
		err := (&Driver{}).Foresee(t.Context(), a, c.g)
		if c.want == "-" && err == nil || c.want != "-" && (fieldOf(err) != c.want || err == nil != (c.want == "")) {
			t.Errorf("%s: %v, want one of %q", name, err, c.want)
		}
	}
	for purpose, want := range map[string]bool{Heat: true, "": false} {
		g := broker.Grant{Purpose: purpose}
		if got := leasesToken(app, g); got != want || leasesToken(broker.Cloud{}, g) || !leasesToken(token, g) {
			t.Errorf("%+v is a token: %t, want %t", g, got, want)
		}
	}
	if err := error(gophercloud.ErrUnexpectedResponseCode{Body: []byte("x identity:ec2 y")}); !byPolicy(err, "identity:ec2") || byPolicy(err, "identity:other") || byPolicy(errors.New("identity:ec2"), "identity:ec2") {
		t.Error("a refusal by a policy is told wrongly")
	}
	began := time.Now()
	if end := halfway(context.Background()); end.Before(began.Add(callTimeout/2)) || end.After(time.Now().Add(callTimeout/2)) {
		t.Errorf("half of a call without an end is at %v", end.Sub(began))
	}
}

// A claim is made with an application credential, and with nothing else.
func TestClaimsOfAnother(t *testing.T) {
	body, err := claiming{options(broker.Scope{}, broker.Credential{Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "a", ApplicationCredentialSecret: secret.NewText("s")}, broker.Cloud{})}.ToTokenV3CreateMap(nil)
	if err != nil || !strings.Contains(fmt.Sprint(body), "user:map[id:"+nobody+"]") {
		t.Errorf("a claim is %v, %v", body, err)
	}
	for name, o := range map[string]*tokens.AuthOptions{"a password": {UserID: "u", Password: "p"}, "nothing": {}} {
		if body, err := (claiming{o}).ToTokenV3CreateMap(nil); err == nil || body != nil {
			t.Errorf("a claim with %s is %v", name, body)
		}
	}
}

// A caller whose turn does not come is told so.
func TestCallersWaitForTheirTurn(t *testing.T) {
	login := keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: "a", SecretFile: "f"}}
	c, err := NewCallers(CallersOptions{AuthURL: "https://k", Login: login, Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range cap(c.seats) {
		c.seats <- struct{}{}
	}
	if _, err := c.Authenticate(t.Context(), "token"); !errors.Is(err, broker.ErrUnreachable) || detailOf(err) != "too many callers wait for Keystone" {
		t.Errorf("without a seat: %v", err)
	}
}

// A lease to read has the rules to read, and no role that may write whatever they are; one for networks has its own.
func TestRulesOfAPurpose(t *testing.T) {
	s := session{catalog: []broker.CatalogEntry{{Service: "identity"}, {Service: "compute"}, {Service: "compute"}}}
	for _, c := range []struct {
		purpose string
		roles   []string
		want    string
	}{
		{Read, []string{"member", "reader"}, "GET compute, HEAD compute, GET identity, HEAD identity"},
		{Read, []string{"member", "admin"}, "refused"},
		{Read, []string{"manager"}, "refused"},
		{Network, []string{"admin"}, "GET network, POST network, PUT network, DELETE network"},
		{"", []string{"admin"}, ""},
	} {
		var roles []tokens.Role
		for _, name := range c.roles {
			roles = append(roles, tokens.Role{Name: name})
		}
		rules, err := s.rules(c.purpose, roles)
		var got []string
		for _, r := range rules {
			if got = append(got, r.Method+" "+r.Service); r.Path != "/**" {
				t.Errorf("a rule of %q is of %s", c.purpose, r.Path)
			}
		}
		known, is := errors.AsType[*broker.Error](err)
		if c.want == "refused" {
			if !is || known.Field != "role" || !strings.Contains(known.Detail, "names "+c.roles[len(c.roles)-1]) || got != nil {
				t.Errorf("%q of %q: %q, %v", c.purpose, c.roles, got, err)
			}
			continue
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%q of %q: %q, %v, want %q", c.purpose, c.roles, got, err, c.want)
		}
	}
}

// Where there is no room for a caller those who have expired are forgotten, and else any one.
func TestCallersThatAreForgotten(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	digest := func(n int) [sha256.Size]byte { return sha256.Sum256([]byte(fmt.Sprint(n))) }
	c := newCallerCache(20)
	for n := range 20 {
		until := at
		if n < 10 {
			until = at.Add(1)
		}
		c.put(digest(n), caller{until: until}, at)
	}
	c.put(digest(0), caller{until: at.Add(1)}, at)
	if len(c.entries) != 20 {
		t.Errorf("for one that is there others go: %d are left", len(c.entries))
	}
	c.put(digest(20), caller{until: at.Add(1)}, at)
	if len(c.entries) != 11 {
		t.Errorf("%d are left, want those who have not expired and the new one", len(c.entries))
	}
	for n := range 10 {
		if _, there := c.get(digest(n), at); !there {
			t.Errorf("caller %d is forgotten, who has not expired", n)
		}
	}
	for n := 21; n < 40; n++ {
		c.put(digest(n), caller{until: at.Add(1)}, at)
	}
	if _, there := c.get(digest(39), at); !there || len(c.entries) != 20 {
		t.Errorf("%d are left, the last there %t", len(c.entries), there)
	}
	if _, there := c.get(digest(39), at.Add(1)); there {
		t.Error("one who has expired is there")
	}
}

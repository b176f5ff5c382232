package tacker

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

const canary = "s3cr3t-canary"

// wantSaid fails unless an error has a text; no text is no error. It never repeats a credential.
func wantSaid(t *testing.T, name string, err error, says string) {
	t.Helper()
	if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary)) {
		t.Errorf("%s: %v, want %q", name, err, says)
	}
}

func TestBooleansOfTacker(t *testing.T) {
	for v, want := range map[any][2]bool{
		true: {true, true}, false: {false, true}, 1.0: {true, true}, 0.0: {false, true}, 2.0: {}, -1.0: {}, "TRUE": {true, true}, "1": {true, true},
		"False": {false, true}, "0": {false, true}, "yes": {}, "": {}, nil: {},
	} {
		if value, ok := boolean(v); value != want[0] || ok != want[1] {
			t.Errorf("%v is %t, %t", v, value, ok)
		}
	}
}

func TestAttributesAreChecked(t *testing.T) {
	whole := body{
		"name": "n", "type": "kubernetes", "auth_url": "https://a", "auth_cred": map[string]any{"bearer_token": canary}, "vim_project": map[string]any{"name": "default"},
	}
	for name, c := range map[string]struct {
		put  bool
		edit body
		says string
	}{
		"nothing else":        {false, nil, ""},
		"all there is":        {false, body{"tenant_id": "t", "description": "", "is_default": "1", "extra": nil}, ""},
		"extra":               {false, body{"extra": map[string]any{}}, ""},
		"no object":           {false, body{"extra": []any{}}, "extra"},
		"no text":             {false, body{"name": 7.0}, "'7' is not a valid string"},
		"nothing for a text":  {false, body{"name": nil}, "'None' is not a valid string"},
		"a list for a text":   {false, body{"name": []any{canary}}, "'The value' is not a valid string"},
		"an empty type":       {false, body{"type": ""}, "'' is too short"},
		"a type of one":       {false, body{"type": "k"}, ""},
		"an empty credential": {false, body{"auth_cred": map[string]any{}}, "auth_cred"},
		"no credential":       {false, body{"auth_cred": canary}, "auth_cred"},
		"no truth":            {false, body{"is_default": canary}, "cannot be converted to boolean"},
		"what is read":        {false, body{"status": "x"}, "'status' not allowed in POST"},
		"what is unknown":     {false, body{"b": 1, "a": 1}, "'a, b'"},
		"a credential there":  {false, body{canary + "!": 1}, "'?'"},
		"a change of type":    {true, nil, "Cannot update read-only attribute type"},
	} {
		b := maps.Clone(whole)
		maps.Copy(b, c.edit)
		wantSaid(t, name, check(b, c.put), c.says)
	}
	delete(whole, "name")
	wantSaid(t, "no name", check(whole, false), "Required attribute 'name' not specified")
	wantSaid(t, "a change of nothing", check(body{}, true), "")
	for v, want := range map[*map[string]any]string{{}: "", {"b": 1.0, "a": "x"}: `{"a":"x","b":1}`} {
		if got, err := (body{"extra": *v}).extra(); got != want || err != nil {
			t.Errorf("extra is %s, %v, want %s", got, err, want)
		}
	}
	_, err := body{"extra": map[string]any{"a": "\xff"}}.extra()
	wantSaid(t, "extra of no text", err, "it is not a dictionary")
}

func TestCredentialsOfTacker(t *testing.T) {
	for name, c := range map[string]struct {
		of   broker.VIMType
		in   map[string]any
		says string // the fault, or what comes of it after "="
	}{
		"a token":               {kubernetes, map[string]any{"bearer_token": canary, "key_of_none": nil}, `="" - - - true`},
		"a token of a cloud":    {openstack, map[string]any{"bearer_token": canary}, "holds a key that a VIM of type openstack does not have"},
		"a user":                {openstack, map[string]any{"username": "u", "password": canary, "user_domain_name": "d"}, `="u" - - "d" true`},
		"a user's name alone":   {openstack, map[string]any{"username": "u"}, `="u" - - - false`},
		"a domain of a cluster": {kubernetes, map[string]any{"user_domain_name": canary}, "of type kubernetes does not have"},
		"a CA":                  {kubernetes, map[string]any{"ssl_ca_cert": "pem"}, `="" "pem" - - false`},
		"a CA of a cloud":       {openstack, map[string]any{"ssl_ca_cert": "pem"}, `="" "pem" - - false`},
		"no CA":                 {kubernetes, map[string]any{"ssl_ca_cert": nil}, `="" "" true - false`},
		"no CA, in words":       {kubernetes, map[string]any{"ssl_ca_cert": " None "}, `="" "" true - false`},
		"no CA of a cloud":      {openstack, map[string]any{"ssl_ca_cert": "null"}, `="" "" - - false`},
		"verified":              {openstack, map[string]any{"cert_verify": "True"}, `="" - false - false`},
		"not verified":          {openstack, map[string]any{"cert_verify": 0.0}, `="" - true - false`},
		"verified by a cluster": {kubernetes, map[string]any{"cert_verify": true}, "must be True or False, and is for openstack only"},
		"verified in words":     {openstack, map[string]any{"cert_verify": canary}, "must be True or False"},
		"no text":               {kubernetes, map[string]any{"bearer_token": 7.0}, "auth_cred.bearer_token"},
		"a name that is secret": {kubernetes, map[string]any{canary + "!": 7.0}, "auth_cred.?"},
		"OpenID Connect":        {kubernetes, map[string]any{"client_id": "x"}, "OpenID Connect is not supported"},
	} {
		got, err := parseCred(c.of, c.in)
		if says, good := strings.CutPrefix(c.says, "="); good {
			text := func(v *string) string {
				if v == nil {
					return "-"
				}
				return fmt.Sprintf("%q", *v)
			}
			insecure := "-"
			if got.insecure != nil {
				insecure = fmt.Sprint(*got.insecure)
			}
			if said := fmt.Sprintf("%q %s %s %s %t", got.credential.Username, text(got.caCert), insecure, text(got.userDomain), got.secretGiven); said != says || err != nil {
				t.Errorf("%s: %s, %v, want %s", name, said, err, says)
			}
			continue
		}
		wantSaid(t, name, err, c.says)
	}
	for name, c := range map[string]struct {
		of   broker.VIMType
		in   map[string]any
		want project
		says string
	}{
		"a namespace":             {kubernetes, map[string]any{"name": "n", "project_domain_name": nil}, project{name: "n"}, ""},
		"an id":                   {openstack, map[string]any{"id": "i", "project_domain_id": "d"}, project{id: "i", domainID: "d"}, ""},
		"a name":                  {openstack, map[string]any{"name": "n", "project_domain_name": "d"}, project{name: "n", domainName: "d"}, ""},
		"an id of a cluster":      {kubernetes, map[string]any{"id": "i"}, project{}, "of type kubernetes does not have"},
		"a domain of a cluster":   {kubernetes, map[string]any{"project_domain_name": "d"}, project{}, "of type kubernetes does not have"},
		"a domain's of a cluster": {kubernetes, map[string]any{"project_domain_id": "d"}, project{}, "of type kubernetes does not have"},
		"no text":                 {openstack, map[string]any{"name": 7.0}, project{}, "vim_project.name"},
	} {
		got, err := parseProject(c.of, c.in)
		if wantSaid(t, name, err, c.says); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What a registration comes to, and what a change changes: a value that the VIM has is no change.
func TestWhatABodyChanges(t *testing.T) {
	cred := map[string]any{"username": "u", "password": canary, "ssl_ca_cert": "pem", "cert_verify": "False", "user_domain_name": "ud"}
	b := body{"type": "openstack", "name": "n", "auth_url": "https://a", "auth_cred": cred, "vim_project": map[string]any{"id": "p", "project_domain_id": "pd"}}
	r, err := registration(b)
	if err != nil || r.CACert != "pem" || !r.InsecureSkipVerify || r.Scope != (broker.Scope{ProjectID: "p", ProjectDomainID: "pd", UserDomainName: "ud"}) {
		t.Errorf("a registration is %+v, %v", r, err)
	}
	for says, edit := range map[string]body{
		"neither openstack nor kubernetes": {"type": "other"}, "auth_cred": {"auth_cred": map[string]any{"x": "y"}}, "vim_project": {"vim_project": map[string]any{"x": "y"}},
	} {
		other := maps.Clone(b)
		maps.Copy(other, edit)
		_, err := registration(other)
		wantSaid(t, says, err, says)
	}
	now := broker.Target{CACert: "a\nb", Scope: broker.Scope{ProjectName: "n", ProjectDomainName: "d", UserDomainID: "u"}, Namespace: "default"}
	cloud := broker.VIM{Type: openstack, Current: broker.Generation{Target: now, Username: "u"}}
	cluster := broker.VIM{Type: kubernetes, Current: broker.Generation{Target: now}}
	for name, c := range map[string]struct {
		v             broker.VIM
		cred, project map[string]any
		user          string
		changes       string
	}{
		"the same":              {cloud, map[string]any{"username": "u", "ssl_ca_cert": "a b", "cert_verify": "True"}, map[string]any{"name": "n"}, "", ""},
		"another user":          {cloud, map[string]any{"username": "w"}, nil, "w", ""},
		"a password":            {cloud, map[string]any{"password": canary}, nil, "u", ""},
		"a user and a password": {cloud, map[string]any{"username": "u", "password": canary}, nil, "u", ""},
		"another CA":            {cloud, map[string]any{"ssl_ca_cert": "c"}, nil, "", "ca"},
		"less care":             {cloud, map[string]any{"cert_verify": "False"}, nil, "", "insecure"},
		"another project":       {cloud, nil, map[string]any{"id": "p"}, "", "scope p   d u"},
		"another domain":        {cloud, nil, map[string]any{"project_domain_id": "pd"}, "", "scope  n pd  u"},
		"another domain's name": {cloud, nil, map[string]any{"project_domain_name": "x"}, "", "scope  n  x u"},
		"another user's domain": {cloud, map[string]any{"user_domain_name": "x"}, nil, "", "scope  n  d "},
		"another namespace":     {cluster, nil, map[string]any{"name": "shop"}, "", "namespace"},
		"the namespace it has":  {cluster, nil, map[string]any{"name": "default"}, "", ""},
	} {
		var change broker.Change
		err := generation(&change, body{"auth_cred": c.cred, "vim_project": c.project}, c.v)
		var did []string
		if change.CACert != nil {
			did = append(did, "ca")
		}
		if change.InsecureSkipVerify != nil {
			did = append(did, "insecure")
		}
		if change.Namespace != nil {
			did = append(did, "namespace")
		}
		if s := change.Scope; s != nil {
			did = append(did, strings.Join([]string{"scope", s.ProjectID, s.ProjectName, s.ProjectDomainID, s.ProjectDomainName, s.UserDomainID}, " "))
		}
		if got := strings.Join(did, ","); err != nil || change.Credential.Username != c.user || got != c.changes {
			t.Errorf("%s: user %q, changes %q, %v, want %q and %q", name, change.Credential.Username, got, err, c.user, c.changes)
		}
	}
	for says, b := range map[string]body{"auth_cred": {"auth_cred": map[string]any{"x": "y"}}, "vim_project": {"vim_project": map[string]any{"x": "y"}}} {
		wantSaid(t, says, generation(&broker.Change{}, b, cloud), says)
	}
}

func TestVIMsAsTackerShowsThem(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 123456000, time.UTC)
	v := broker.VIM{
		Type: openstack, Revision: 2, CreatedAt: at, UpdatedAt: at,
		Current: broker.Generation{KeyStore: "barbican-1", Username: "u", Target: broker.Target{
			Endpoint: "https://a/", CACert: "pem", InsecureSkipVerify: true, Scope: broker.Scope{ProjectID: "p", ProjectName: "n"},
		}},
	}
	text := func(of map[string]any, names ...string) string {
		var all []string
		for _, name := range names {
			all = append(all, fmt.Sprint(of[name]))
		}
		return strings.Join(all, " ")
	}
	if got := text(vim(v, asRead), "updated_at", "auth_url", "placement_attr", "extra", "created_at"); got != "<nil> https://a/v3 map[regions:[]] {} 2031-05-06 07:08:09" {
		t.Errorf("shown is %s", got)
	}
	if got := text(vim(v, updated), "updated_at"); got != "2031-05-06 07:08:09.123456" {
		t.Errorf("changed at %s", got)
	}
	v.Revision = 3
	if got := text(vim(v, created), "updated_at", "created_at"); got != "2031-05-06 07:08:09 2031-05-06 07:08:09.123456" {
		t.Errorf("changed and created at %s", got)
	}
	const names = "key_type secret_uuid username password ssl_ca_cert cert_verify project_id"
	for kind, want := range map[broker.CredentialKind]string{
		broker.CredentialPassword: "barbican_key *** u *** pem False p", broker.CredentialBearerToken: "barbican_key *** None <nil> pem False p",
		broker.CredentialClientCertificate: "barbican_key *** None <nil> pem False p", broker.CredentialApplicationCredential: "barbican_key *** <nil> <nil> pem False p",
	} {
		v.Current.CredentialKind = kind
		shown := shownCred(v)
		if got := text(shown, strings.Fields(names)...); got != want {
			t.Errorf("%s is shown as %s, want %s", kind, got, want)
		}
		if masked := map[broker.CredentialKind]string{
			broker.CredentialClientCertificate: "client_key", broker.CredentialApplicationCredential: "application_credential_secret", broker.CredentialBearerToken: "bearer_token",
		}[kind]; masked != "" && shown[masked] != mask {
			t.Errorf("%s is shown as %v", masked, shown[masked])
		}
	}
	if p := vimProject(v); p["id"] != "p" || p["name"] != "n" {
		t.Errorf("the project is shown as %v", p)
	}
	v.Current.Target = broker.Target{Endpoint: "https://a/v3/", Scope: broker.Scope{ProjectName: "n"}}
	v.Current.KeyStore, v.Current.CredentialKind = "dir", broker.CredentialPassword
	if got := text(shownCred(v), strings.Fields(names)...); got != "fernet_key <nil> u *** <nil> True <nil>" || authURL(v) != "https://a/v3/" {
		t.Errorf("without more it is shown as %s, at %s", got, authURL(v))
	}
	if _, has := vimProject(v)["id"]; has {
		t.Error("an id is shown where there is none")
	}
	v.Type, v.Current.Target.Namespace = kubernetes, "shop"
	if p := vimProject(v); p["name"] != "shop" || authURL(broker.VIM{Type: kubernetes, Current: broker.Generation{Target: broker.Target{Endpoint: "https://k"}}}) != "https://k" {
		t.Errorf("a cluster's project is shown as %v", p)
	}
	v = broker.VIM{ID: "1", Name: "n", Type: openstack, Default: true}
	for query, want := range map[string]bool{
		"": true, "is_default=True": true, "is_default=0": false, "is_default=x": false, "is_default=x&is_default=1": true, "name=n&name=m": true, "name=m": false, "type=kubernetes": false,
	} {
		values, err := url.ParseQuery(query)
		if err != nil || selected(v, values) != want {
			t.Errorf("%q selects it: %t", query, selected(v, values))
		}
	}
	v.Default = false
	if selected(v, url.Values{"is_default": {"x"}}) || !selected(v, url.Values{"is_default": {"false"}}) {
		t.Error("a VIM that is no default is selected by the wrong word")
	}
}

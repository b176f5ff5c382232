package openstack_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// canary stands in every secret of these tests, and must be in no error.
const canary = "c4n4ry"

// plainClouds is good as it is; tests replace parts of it.
const plainClouds = `clouds:
  other:
    auth: {auth_url: https://other.example/v3, token: other-token}
    profile: vexxhost
  lab:
    auth:
      auth_url: https://keystone.lab.example:5000/v3
      username: operator
      password: ` + canary + `
      project_name: demo
      user_domain_name: Staff
      project_domain_name: Default
    region_name: RegionOne
`

const (
	passwordLines = `      username: operator
      password: ` + canary + `
      project_name: demo
      user_domain_name: Staff
      project_domain_name: Default
`
	appCredLines = `      application_credential_id: 0123456789abcdef
      application_credential_secret: ` + canary + "\n"
	domainLines = "      user_domain_name: Staff\n      project_domain_name: Default\n"
	regionLine  = "    region_name: RegionOne\n"
	secretLine  = "      password: " + canary + "\n"
	urlLine     = "      auth_url: https://keystone.lab.example:5000/v3\n"
)

// clouds is the registration of a clouds.yaml's cloud "lab".
func clouds(text string) broker.Registration {
	return broker.Registration{CloudsYAML: secret.NewText(text), Cloud: "lab"}
}

// with returns the plain clouds.yaml with parts of it replaced, old and new by turns.
func with(t testing.TB, oldNew ...string) string {
	t.Helper()
	text := plainClouds
	for pair := range slices.Chunk(oldNew, 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("%q is not in the clouds.yaml exactly once", pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	return text
}

func normalize(t testing.TB, r broker.Registration) (broker.Target, broker.Credential) {
	t.Helper()
	target, credential, err := openstack.New(openstack.Options{}).Normalize(r)
	if err != nil {
		t.Fatalf("Normalize: %v", err)
	}
	return target, credential
}

// refused normalizes r, and demands ErrInvalid about that field, in these words and without the canary.
func refused(t *testing.T, r broker.Registration, field, words string) {
	t.Helper()
	target, credential, err := openstack.New(openstack.Options{}).Normalize(r)
	var e *broker.Error
	if !errors.Is(err, broker.ErrInvalid) || !errors.As(err, &e) {
		t.Fatalf("Normalize = %v, want ErrInvalid about %q", err, field)
	}
	if e.Field != field || !strings.Contains(e.Error(), words) {
		t.Errorf("Normalize says %q of field %q, want %q of %q", e, e.Field, words, field)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("Normalize: the error quotes what it refuses: %v", err)
	}
	if target != (broker.Target{}) || !credential.Empty() {
		t.Error("Normalize returns something beside its error")
	}
}

// Every form that openstackclient and Horizon write, or that their documents show.
func TestCloudsYAMLForms(t *testing.T) {
	const endpoint = "https://keystone.lab.example:5000"
	named := broker.Scope{Region: "RegionOne", ProjectName: "demo", UserDomainName: "Staff", ProjectDomainName: "Default"}
	password := broker.Credential{Kind: broker.CredentialPassword, Username: "operator", Password: secret.NewText(canary)}
	appCred := broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: "0123456789abcdef", ApplicationCredentialSecret: secret.NewText(canary),
	}
	scoped := func(change func(*broker.Scope)) broker.Scope { s := named; change(&s); return s }
	both := scoped(func(s *broker.Scope) { s.UserDomainName, s.ProjectDomainName = "Default", "Default" })
	for name, c := range map[string]struct {
		text       string
		scope      broker.Scope
		credential broker.Credential
	}{
		"plain":      {plainClouds, named, password},
		"v3password": {with(t, regionLine, regionLine+"    auth_type: v3password\n"), named, password},
		"password":   {with(t, regionLine, regionLine+"    auth_type: \"password\"\n"), named, password},
		"default_auth": {with(t, domainLines, "      default_domain: default\n"), scoped(func(s *broker.Scope) {
			s.UserDomainName, s.ProjectDomainName, s.UserDomainID, s.ProjectDomainID = "", "", "default", "default"
		}), password},
		"one domain, the user's":    {with(t, domainLines, "      user_domain_name: Default\n"), both, password},
		"one domain, the project's": {with(t, domainLines, "      project_domain_name: Default\n"), both, password},
		"ids": {
			with(t, passwordLines, "      user_id: \"123\"\n      password: "+canary+"\n      project_id: 0f0f\n"),
			broker.Scope{Region: "RegionOne", ProjectID: "0f0f"},
			broker.Credential{Kind: broker.CredentialPassword, UserID: "123", Password: secret.NewText(canary)},
		},
		"domain ids": {
			with(t, domainLines, "      user_domain_id: default\n      project_domain_id: d1\n"),
			scoped(func(s *broker.Scope) {
				s.UserDomainName, s.ProjectDomainName, s.UserDomainID, s.ProjectDomainID = "", "", "default", "d1"
			}), password,
		},
		"Horizon's application credential": {
			with(t, passwordLines, appCredLines, regionLine, "    region_name: \"RegionOne\"\n    interface: \"public\"\n    identity_api_version: 3\n    auth_type: \"v3applicationcredential\"\n"),
			broker.Scope{Region: "RegionOne"},
			appCred,
		},
		"an application credential that says whose": {
			with(t, passwordLines, appCredLines+"      username: operator\n      user_domain_name: Staff\n", regionLine, "    auth_type: v3applicationcredential\n"),
			broker.Scope{UserDomainName: "Staff"},
			appCred,
		},
		"an application credential that says whose, by ids": {
			with(t, passwordLines, appCredLines+"      user_id: \"123\"\n      username: operator\n", regionLine, "    auth_type: v3applicationcredential\n"),
			broker.Scope{},
			appCred,
		},
		"an application credential without a type": {with(t, passwordLines, appCredLines), broker.Scope{Region: "RegionOne"}, appCred},
		"verify":      {with(t, regionLine, regionLine+"    verify: True\n"), named, password},
		"versions":    {with(t, regionLine, regionLine+"    identity_api_version: v3.14\n    volume_api_version: 3\n    compute_api_version: \"2.1\"\n    endpoint_type: internal\n    key_manager_interface: admin\n"), named, password},
		"no version":  {with(t, ":5000/v3\n", ":5000\n"), named, password},
		"a slash":     {with(t, ":5000/v3\n", ":5000/v3/\n"), named, password},
		"top level":   {with(t, "clouds:\n", "cache: {expiration_time: 3600}\nclient: {force_ipv4: true}\nansible: {use_hostnames: true}\nclouds:\n"), named, password},
		"CRLF":        {strings.ReplaceAll(plainClouds, "\n", "\r\n"), named, password},
		"JSON":        {`{"clouds":{"lab":{"auth":{"auth_url":"` + endpoint + `","username":"operator","password":"` + canary + `","project_name":"demo","user_domain_name":"Staff","project_domain_name":"Default"},"region_name":"RegionOne"}}}`, named, password},
		"a byte mark": {"\ufeff" + plainClouds, named, password},
	} {
		t.Run(name, func(t *testing.T) {
			target, got := normalize(t, clouds(c.text))
			if diff := cmp.Diff(broker.Target{Endpoint: endpoint, Scope: c.scope}, target); diff != "" {
				t.Errorf("target (-want +got):\n%s", diff)
			}
			if got.Kind != c.credential.Kind || got.Username != c.credential.Username || got.UserID != c.credential.UserID ||
				got.ApplicationCredentialID != c.credential.ApplicationCredentialID ||
				!got.Password.Equal(c.credential.Password) || !got.ApplicationCredentialSecret.Equal(c.credential.ApplicationCredentialSecret) {
				t.Errorf("a credential of kind %q, or another one", got.Kind)
			}
		})
	}
}

// The CA comes beside the clouds.yaml: what it names is not opened.
func TestCloudsYAMLWithACA(t *testing.T) {
	ca, err := pki.NewCA("lab")
	if err != nil {
		t.Fatal(err)
	}
	r := clouds(plainClouds)
	r.CACert = string(ca.PEM)
	if target, _ := normalize(t, r); target.CACert != r.CACert {
		t.Errorf("the CA is %q, want the one that was given", target.CACert)
	}
	r.CACert = canary
	refused(t, r, "caCert", "PEM")
	r = clouds(with(t, regionLine, regionLine+"    cacert: /etc/ssl/lab.pem\n"))
	refused(t, r, "cloudsYaml.clouds.CLOUD.cacert", "not opened")
	r.CACert = string(ca.PEM)
	if target, _ := normalize(t, r); target.CACert != r.CACert {
		t.Errorf("the CA is %q, want the one that was given beside the file's name", target.CACert)
	}
	r = clouds(with(t, regionLine, regionLine+"    verify: false\n"))
	r.InsecureSkipVerify = true
	if target, _ := normalize(t, r); !target.InsecureSkipVerify {
		t.Error("verification stays on although the registration and its clouds.yaml turn it off")
	}
	for _, text := range []string{"0", "off", "[false]", "''"} {
		r = clouds(with(t, regionLine, regionLine+"    verify: "+text+"\n"))
		r.InsecureSkipVerify = true
		refused(t, r, "cloudsYaml.clouds.CLOUD.verify", "caCert")
	}
}

func TestCloudsYAMLRefuses(t *testing.T) {
	const (
		whole = "cloudsYaml"
		cloud = "cloudsYaml.clouds.CLOUD"
		auth  = cloud + ".auth"
	)
	bomb := "x: &a [a, a, a, a, a, a, a, a]\n"
	for i := 'b'; i < 'z'; i++ {
		bomb += fmt.Sprintf("x%c: &%c [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*%c, ", i-1), 8))
	}
	for name, c := range map[string]struct{ text, field, words string }{
		"CA file":             {with(t, regionLine, regionLine+"    cacert: /etc/passwd\n"), cloud + ".cacert", "caCert"},
		"client certificate":  {with(t, regionLine, regionLine+"    cert: /etc/passwd\n"), cloud + ".cert", "client certificates"},
		"client key":          {with(t, regionLine, regionLine+"    key: /etc/shadow\n"), cloud + ".key", "client certificates"},
		"verify off":          {with(t, regionLine, regionLine+"    verify: false\n"), cloud + ".verify", "caCert"},
		"verify as a number":  {with(t, regionLine, regionLine+"    verify: 0\n"), cloud + ".verify", "caCert"},
		"verify as a list":    {with(t, regionLine, regionLine+"    verify: [true]\n"), cloud + ".verify", "caCert"},
		"insecure":            {with(t, regionLine, regionLine+"    insecure: true\n"), cloud + ".insecure", "caCert"},
		"profile":             {with(t, regionLine, regionLine+"    profile: vexxhost\n"), cloud + ".profile", "write them here"},
		"profile's URL":       {with(t, regionLine, regionLine+"    profile: https://evil.example\n"), cloud + ".profile", "write them here"},
		"vendor":              {with(t, regionLine, regionLine+"    vendor: x\n"), cloud + ".vendor", "write them here"},
		"public cloud":        {with(t, regionLine, regionLine+"    cloud: x\n"), cloud + ".cloud", "write them here"},
		"regions":             {with(t, regionLine, "    regions: [RegionOne, RegionTwo]\n"), cloud + ".regions", "region_name"},
		"regions with values": {with(t, regionLine, "    regions:\n    - name: RegionOne\n      values: {auth: {auth_url: https://evil}}\n"), cloud + ".regions", "region_name"},
		"region as a list":    {with(t, regionLine, "    region_name: [RegionOne]\n"), cloud + ".region_name", "must be a string"},
		"region as null":      {with(t, regionLine, "    region_name:\n"), cloud + ".region_name", "in quotes"},
		"region with a line":  {with(t, regionLine, "    region_name: \"a\\nb\"\n"), cloud + ".region_name", "neither a name"},
		"identity v2":         {with(t, regionLine, regionLine+"    identity_api_version: 2.0\n"), cloud + ".identity_api_version", "must be 3"},
		"version as a map":    {with(t, regionLine, regionLine+"    volume_api_version: {a: b}\n"), cloud, "line 14"},
		"an override":         {with(t, regionLine, regionLine+"    identity_endpoint_override: https://evil\n"), cloud + ".identity_endpoint_override", "catalog"},
		"unknown in cloud":    {with(t, regionLine, regionLine+"    "+canary+": x\n"), cloud, "line 14"},
		"unknown in auth":     {with(t, secretLine, secretLine+"      "+canary+": x\n"), auth, "line 10"},
		"unknown at the top":  {with(t, "clouds:\n", canary+": {}\nclouds:\n"), whole, "line 1"},
		"the case of a key":   {with(t, secretLine, "      Password: "+canary+"\n"), auth, "line 9"},
		"password outside":    {with(t, regionLine, regionLine+"    password: "+canary+"\n"), cloud, "line 14"},

		"a token":           {with(t, secretLine, "      token: "+canary+"\n"), auth + ".token", "register user name"},
		"a trust":           {with(t, secretLine, secretLine+"      trust_id: x\n"), auth + ".trust_id", "project"},
		"a domain's scope":  {with(t, secretLine, secretLine+"      domain_name: x\n"), auth + ".domain_name", "project"},
		"the system":        {with(t, secretLine, secretLine+"      system_scope: all\n"), auth + ".system_scope", "project"},
		"a passcode":        {with(t, secretLine, secretLine+"      passcode: 123456\n"), auth + ".passcode", "one-time"},
		"a tenant":          {with(t, "project_name", "tenant_name"), auth + ".tenant_name", "project_name"},
		"a tenant's id":     {with(t, "project_name", "tenant_id"), auth + ".tenant_id", "project_id"},
		"credential's name": {with(t, passwordLines, strings.Replace(appCredLines, "_id", "_name", 1)), auth + ".application_credential_name", "application_credential_id"},

		"a token's type":       {with(t, regionLine, regionLine+"    auth_type: v3token\n"), cloud + ".auth_type", "must be password"},
		"two factors":          {with(t, regionLine, regionLine+"    auth_type: v3multifactor\n"), cloud + ".auth_type", "must be password"},
		"a type of v2":         {with(t, regionLine, regionLine+"    auth_type: v2password\n"), cloud + ".auth_type", "must be password"},
		"the type's case":      {with(t, regionLine, regionLine+"    auth_type: V3Password\n"), cloud + ".auth_type", "must be password"},
		"type and credential":  {with(t, passwordLines, appCredLines, regionLine, "    auth_type: v3password\n"), cloud + ".auth_type", "application credential"},
		"credential and type":  {with(t, regionLine, regionLine+"    auth_type: v3applicationcredential\n"), cloud + ".auth_type", "password"},
		"two credentials":      {with(t, secretLine, secretLine+appCredLines), auth, "more than one"},
		"no credential":        {with(t, "      username: operator\n"+secretLine, ""), auth, "is required"},
		"no password":          {with(t, secretLine, ""), auth + ".password", "is required"},
		"no user":              {with(t, "      username: operator\n", ""), auth + ".username", "is required"},
		"no project":           {with(t, "      project_name: demo\n", ""), auth + ".project_name", "is required"},
		"no domain":            {with(t, domainLines, ""), auth + ".user_domain_name", "is required"},
		"no secret":            {with(t, passwordLines, "      application_credential_id: x\n"), auth + ".application_credential_secret", "is required"},
		"no URL":               {with(t, urlLine, ""), auth + ".auth_url", "is required"},
		"no auth":              {"clouds: {lab: {}}\n", auth + ".auth_url", "is required"},
		"auth is null":         {"clouds: {lab: {auth: ~}}\n", auth + ".auth_url", "is required"},
		"auth is text":         {"clouds: {lab: {auth: " + canary + "}}\n", auth, "must be a mapping"},
		"a number's password":  {with(t, secretLine, "      password: 123456\n"), auth + ".password", "in quotes"},
		"a date's password":    {with(t, secretLine, "      password: 2026-01-02\n"), auth + ".password", "in quotes"},
		"a list of passwords":  {with(t, secretLine, "      password: ["+canary+"]\n"), auth + ".password", "must be a string"},
		"NUL in a password":    {with(t, secretLine, "      password: \""+canary+"\\0\"\n"), auth + ".password", "NUL"},
		"a long password":      {with(t, secretLine, "      password: "+canary+strings.Repeat("x", 4<<10)+"\n"), auth + ".password", "longer"},
		"a password in a URL":  {with(t, "https://keystone", "https://admin:"+canary+"@keystone"), auth + ".auth_url", "user name or password"},
		"another scheme":       {with(t, "https://keystone.lab.example:5000", "file:///etc/"+canary), auth + ".auth_url", "https://"},
		"a query":              {with(t, ":5000/v3", ":5000/v3?x="+canary), auth + ".auth_url", "query"},
		"a variable":           {with(t, secretLine, "      password: \"\"\n"), auth + ".password", "is required"},
		"project with a slash": {with(t, "project_name: demo", "project_id: ../"+canary), auth + ".project_name", "neither a name"},

		"no such cloud":       {with(t, "  lab:\n", "  Lab:\n"), "cloud", "not in the clouds.yaml"},
		"clouds as a list":    {"clouds:\n- name: lab\n", "cloudsYaml.clouds", "must be a mapping"},
		"no clouds":           {"ansible: {}\n", "cloud", "not in the clouds.yaml"},
		"an anchor":           {with(t, "password: "+canary, "password: &a "+canary), whole, "anchor or alias; write the value itself (line 9)"},
		"an alias":            {with(t, "  other:\n    auth:", "  other:\n    auth: &a", "    auth:\n", "    auth: *a\n    y:\n"), whole, "anchor or alias"},
		"a merge":             {with(t, "    auth:\n", "    <<: {verify: false}\n    auth:\n"), whole, ""},
		"a bomb":              {bomb + plainClouds, whole, "anchor or alias; write the value itself (line 1)"},
		"a tag":               {with(t, "password: "+canary, "password: !!binary "+canary), whole, "explicit tag; leave it out (line 9)"},
		"a tag of one's own":  {with(t, "password: "+canary, "password: !x "+canary), whole, "explicit tag; leave it out (line 9)"},
		"a key twice":         {with(t, secretLine, secretLine+secretLine), whole, "twice; keep one (line 10)"},
		"a cloud twice":       {with(t, "  other:\n", "  lab:\n"), whole, "twice"},
		"a key that is none":  {with(t, secretLine, secretLine+"      7: x\n"), whole, "no string"},
		"a key that is a map": {"? {a: b}\n: c\n" + plainClouds, whole, "no string"},
		"tabs":                {strings.ReplaceAll(plainClouds, "  ", "\t"), whole, "not YAML at or near line"},
		"no YAML":             {with(t, "password: "+canary, "password: ["+canary), whole, "not YAML at or near line"},
		"two documents":       {"a: b\n---\n" + plainClouds, whole, "more than one"},
		"two, one empty":      {plainClouds + "---\n", whole, "more than one"},
		"deep":                {"cache: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n" + plainClouds, whole, "deeper"},
		"very deep":           {"cache: " + strings.Repeat("[", 100_000), whole, ""},
		"long":                {"# " + strings.Repeat("x", 256<<10) + "\n" + plainClouds, whole, "longer"},
		"binary":              {"\x00\x01\x02", whole, "not YAML"},
		"not UTF-8":           {with(t, "password: "+canary, "password: \xff\xfe"), whole, "not YAML"},
		"a comment":           {"# nothing", whole, "is empty"},
		"a space":             {" ", whole, "is empty"},
		"a word":              {canary, whole, "must be a mapping"},
		"null":                {"null", "cloud", "not in the clouds.yaml"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, clouds(c.text), c.field, c.words) })
	}
}

func TestCloudsYAMLIsAlone(t *testing.T) {
	for field, spoil := range map[string]func(*broker.Registration){
		"endpoint":   func(r *broker.Registration) { r.Endpoint = "https://other" },
		"project":    func(r *broker.Registration) { r.Scope.ProjectName = "other" },
		"credential": func(r *broker.Registration) { r.Credential.Password = secret.NewText(canary) },
		"kubeconfig": func(r *broker.Registration) { r.Kubeconfig = secret.NewText(canary) },
		"namespace":  func(r *broker.Registration) { r.Namespace = "x" },
		"type":       func(r *broker.Registration) { r.Type = "kubernetes" },
		"cloud":      func(r *broker.Registration) { r.Cloud = "" },
	} {
		r := clouds(plainClouds)
		spoil(&r)
		refused(t, r, field, "")
	}
	refused(t, broker.Registration{Cloud: "lab"}, "cloud", "there is none")
}

// Of what is not selected nothing is taken, and nothing is complained about but
// what makes YAML mean something else than it shows.
func TestCloudsYAMLLeavesOtherCloudsAlone(t *testing.T) {
	r := clouds(plainClouds)
	r.Cloud = "other"
	refused(t, r, "cloudsYaml.clouds.CLOUD.auth.token", "")
}

// FuzzCloudsYAML: what is accepted is, printed and read again, the same; and is
// within what is allowed.
func FuzzCloudsYAML(f *testing.F) {
	for _, seed := range []string{
		plainClouds,
		with(f, passwordLines, appCredLines, regionLine, "    auth_type: v3applicationcredential\n"),
		with(f, regionLine, "    verify: false\n    cacert: /etc/passwd\n"),
		with(f, domainLines, "      default_domain_name: Default\n"),
		`{"clouds":{"lab":{"auth":{"auth_url":"http://[fd00::1]:5000","user_id":"u","password":"p","project_id":"p"}}}}`,
		"clouds: {lab: &a {auth: *a}}", "---\n---\n", "{", "? a\n: b", "!!map {a: b}", "clouds:\n\tlab:", "# x", "clouds: {lab: {auth: {<<: {}}}}",
	} {
		f.Add(seed, "lab")
	}
	f.Add(plainClouds, "other")
	d := openstack.New(openstack.Options{})
	f.Fuzz(func(t *testing.T, document, cloud string) {
		if document == "" {
			return
		}
		target, credential, err := d.Normalize(broker.Registration{CloudsYAML: secret.NewText(document), Cloud: cloud})
		if err != nil {
			var e *broker.Error
			if !errors.As(err, &e) || !errors.Is(err, broker.ErrInvalid) || e.Field == "" {
				t.Errorf("Normalize = %v, want ErrInvalid with a field", err)
			}
			return
		}
		if !strings.HasPrefix(target.Endpoint, "http") || strings.ContainsAny(target.Endpoint, "@?#% \n\\") || target.InsecureSkipVerify || target.CACert != "" {
			t.Errorf("target %+v", target)
		}
		if credential.Password.Empty() == credential.ApplicationCredentialSecret.Empty() || !credential.Token.Empty() {
			t.Errorf("a credential of kind %q, or of two", credential.Kind)
		}
		again, same, err := d.Normalize(clouds(printed(t, target, credential)))
		if err != nil {
			t.Fatalf("reading what was printed: %v", err)
		}
		if again != target || same.Kind != credential.Kind || same.Username != credential.Username || same.UserID != credential.UserID ||
			same.ApplicationCredentialID != credential.ApplicationCredentialID ||
			!same.Password.Equal(credential.Password) || !same.ApplicationCredentialSecret.Equal(credential.ApplicationCredentialSecret) {
			t.Errorf("read again it is another: %s", cmp.Diff(target, again))
		}
	})
}

// printed is a clouds.yaml with one cloud.
func printed(t testing.TB, target broker.Target, c broker.Credential) string {
	t.Helper()
	auth := map[string]string{
		"auth_url": target.Endpoint, "username": c.Username, "user_id": c.UserID, "password": c.Password.Reveal(),
		"application_credential_id": c.ApplicationCredentialID, "application_credential_secret": c.ApplicationCredentialSecret.Reveal(),
		"project_id": target.Scope.ProjectID, "project_name": target.Scope.ProjectName,
		"user_domain_id": target.Scope.UserDomainID, "user_domain_name": target.Scope.UserDomainName,
		"project_domain_id": target.Scope.ProjectDomainID, "project_domain_name": target.Scope.ProjectDomainName,
	}
	maps.DeleteFunc(auth, func(_, v string) bool { return v == "" })
	b, err := yaml.Marshal(map[string]any{"clouds": map[string]any{"lab": map[string]any{"auth": auth, "region_name": target.Scope.Region}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A password may say so, or that it is one of basic authentication; no other kind.
func TestKindOfAPassword(t *testing.T) {
	for kind, taken := range map[broker.CredentialKind]bool{"": true, broker.CredentialPassword: true, broker.CredentialBasicAuth: true, broker.CredentialBearerToken: false, broker.CredentialApplicationCredential: false} {
		r := broker.Registration{
			Type: openstack.Type, Endpoint: "https://keystone.lab.example:5000",
			Scope:      broker.Scope{ProjectName: "demo", UserDomainName: "Default", ProjectDomainName: "Default"},
			Credential: broker.Credential{Kind: kind, Username: "operator", Password: secret.NewText(canary)},
		}
		if taken {
			if _, c := normalize(t, r); c.Kind != broker.CredentialPassword {
				t.Errorf("a password of kind %q becomes %q", kind, c.Kind)
			}
			continue
		}
		refused(t, r, "credential", "another kind")
	}
}

package files

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const canary = "eyJ-canary-0c2b"

// The three files of Tacker's documentation, as they are.
const (
	tackerToken = `auth_url: "https://192.168.11.110:6443"
bearer_token: "` + canary + `"
ssl_ca_cert: "-----BEGIN CERTIFICATE----- MIID... -----END CERTIFICATE-----"
project_name: "default"
type: "kubernetes"
`
	tackerBasic = `auth_url: "https://192.168.11.110:6443"
username: "k8s_username"
password: "` + canary + `"
ssl_ca_cert: None
project_name: "default"
type: "kubernetes"
`
	tackerOpenStack = `auth_url: 'http://127.0.0.1/identity'
username: 'admin'
password: '` + canary + `'
project_name: 'demo'
project_domain_name: 'Default'
user_domain_name: 'Default'
type: 'openstack'
`
)

func TestVIMFilesOfTackerAreReadAsTheyAre(t *testing.T) {
	tests := map[string]struct {
		text string
		want v1.Registration
	}{
		"token": {tackerToken, v1.Registration{
			Type: "kubernetes", Endpoint: "https://192.168.11.110:6443", Namespace: "default",
			CACert:     "-----BEGIN CERTIFICATE----- MIID... -----END CERTIFICATE-----",
			Credential: v1.Credential{Token: secret.NewText(canary)},
		}},
		"basic": {tackerBasic, v1.Registration{
			Type: "kubernetes", Endpoint: "https://192.168.11.110:6443", Namespace: "default", InsecureSkipVerify: true,
			Credential: v1.Credential{Username: "k8s_username", Password: secret.NewText(canary)},
		}},
		"openstack": {tackerOpenStack, v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", Domain: "Default",
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"openstack is the default, with verification off": {strings.Replace(tackerOpenStack, "type: 'openstack'", "cert_verify: 'False'", 1), v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", Domain: "Default", InsecureSkipVerify: true,
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"openstack with one domain for both": {strings.Replace(tackerOpenStack, "project_domain_name: 'Default'\nuser_domain_name: 'Default'", "domain_name: 'Default'", 1), v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", Domain: "Default",
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"openstack with two domains": {strings.Replace(tackerOpenStack, "user_domain_name: 'Default'", "user_domain_name: 'Other'", 1), v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", ProjectDomain: "Default", UserDomain: "Other",
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"openstack with a domain of users alone": {strings.Replace(tackerOpenStack, "project_domain_name: 'Default'\nuser_domain_name: 'Default'", "user_domain_name: 'Users'", 1), v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", Domain: "Users",
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"openstack with a domain of projects alone, verified": {strings.Replace(tackerOpenStack, "user_domain_name: 'Default'", "cert_verify: true", 1), v1.Registration{
			Type: "openstack", Endpoint: "http://127.0.0.1/identity", Project: "demo", Domain: "Default",
			Credential: v1.Credential{Username: "admin", Password: secret.NewText(canary)},
		}},
		"a namespace": {strings.Replace(tackerToken, `project_name: "default"`, "project_name: web", 1), v1.Registration{
			Type: "kubernetes", Endpoint: "https://192.168.11.110:6443", Namespace: "web",
			CACert:     "-----BEGIN CERTIFICATE----- MIID... -----END CERTIFICATE-----",
			Credential: v1.Credential{Token: secret.NewText(canary)},
		}},
		"extra": {tackerBasic + "extra: {area: a@b, n: 1.5, on: true, none: null, list: [x, {y: '2'}]}\n", v1.Registration{
			Type: "kubernetes", Endpoint: "https://192.168.11.110:6443", Namespace: "default", InsecureSkipVerify: true,
			Extra:      jsontext.Value(`{"area":"a@b","list":["x",{"y":"2"}],"n":1.5,"none":null,"on":true}`),
			Credential: v1.Credential{Username: "k8s_username", Password: secret.NewText(canary)},
		}},
		"no project is the namespace default, no CA is the system's roots": {
			"auth_url: https://k:6443\nbearer_token: " + canary + "\ntype: kubernetes\n", v1.Registration{
				Type: "kubernetes", Endpoint: "https://k:6443", Namespace: "default", Credential: v1.Credential{Token: secret.NewText(canary)},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ReadVIMFile("vim.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("readVIMFile differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A value of the wrong kind is one fault.
func TestAWrongValueOfAVIMFileIsOneFault(t *testing.T) {
	_, err := ReadVIMFile("vim.yaml", []byte(tackerToken+"cert_verify: [a]\n"))
	if said(err) != "vim.yaml: cert_verify (line 6): must be True or False" {
		t.Error(err)
	}
}

func TestVIMFilesThatCannotBeMeantAreRefused(t *testing.T) {
	with := func(from, line string) string { return from + line + "\n" }
	tests := map[string]struct{ text, want string }{
		"empty":                 {"", "vim.yaml: is empty"},
		"not YAML":              {"type: kubernetes\nauth_url: [" + canary, "not YAML at or near line "},
		"key twice":             {with(tackerToken, "type: kubernetes"), "type (line 6): the key stands here twice"},
		"unknown key":           {with(tackerToken, "bearer_tokne: "+canary), "bearer_tokne (line 6): unknown key; known here: auth_url"},
		"alias":                 {"auth_url: &a https://k\nbearer_token: *a\ntype: kubernetes\n", "bearer_token (line 2): holds an anchor or alias"},
		"merge key":             {with(tackerToken, "<<: {extra: 1}"), "merge keys"},
		"two documents":         {tackerToken + "---\n" + tackerToken, "more than one YAML document"},
		"token and password":    {with(tackerBasic, "bearer_token: "+canary), "bearer_token: cannot stand beside"},
		"no credential":         {"auth_url: https://k:6443\ntype: kubernetes\n", "bearer_token: must be set, or username with password"},
		"half a credential":     {"auth_url: https://k:6443\ntype: kubernetes\nusername: u\n", "password: must be set together"},
		"token, type forgotten": {"auth_url: https://k:6443\nbearer_token: " + canary + "\n", `is type: "kubernetes" missing?`},
		"another type":          {"auth_url: https://k:6443\ntype: vmware\n", "type: must be kubernetes or openstack"},
		"no URL":                {"auth_url: k\nbearer_token: t\ntype: kubernetes\n", "auth_url: must be a URL"},
		"no host":               {"auth_url: 'https:///v3'\nbearer_token: t\ntype: kubernetes\n", "auth_url: must be a URL"},
		"no scheme":             {"auth_url: //k:6443\nbearer_token: t\ntype: kubernetes\n", "auth_url: must be a URL"},
		"half a URL":            {"auth_url: 'https://k:x'\nbearer_token: t\ntype: kubernetes\n", "auth_url: must be a URL"},
		"a password alone":      {"auth_url: https://k:6443\ntype: kubernetes\npassword: p\n", "vim.yaml: password: must be set together with username"},
		"nobody":                {"auth_url: https://k:5000\nproject_name: p\n", "vim.yaml: username: must be set, with password"},
		"no project":            {"auth_url: https://k:5000\nusername: u\npassword: p\n", "vim.yaml: project_name: must be set"},
		"a domain of projects":  {with(tackerToken, "project_domain_name: d"), "vim.yaml: project_domain_name: belongs to openstack VIMs only"},
		"a domain of users":     {with(tackerToken, "user_domain_name: d"), "vim.yaml: project_domain_name: belongs to openstack VIMs only"},
		"a domain":              {with(tackerToken, "domain_name: d"), "vim.yaml: project_domain_name: belongs to openstack VIMs only"},
		"verified perhaps":      {with(tackerToken, "cert_verify: perhaps"), "cert_verify (line 6): must be True or False"},
		"verified by a number":  {with(tackerToken, "cert_verify: 1"), "vim.yaml: cert_verify (line 6): must be True or False"},
		"CA left empty":         {"auth_url: https://k:6443\nbearer_token: t\ntype: kubernetes\nssl_ca_cert: ''\n", "ssl_ca_cert (line 4): is empty; write the certificate, or the word None"},
		"CA null":               {"auth_url: https://k:6443\nbearer_token: t\ntype: kubernetes\nssl_ca_cert: null\n", "ssl_ca_cert (line 4): must be a string"},
		"password a number":     {"auth_url: https://k:6443\nusername: u\npassword: 4711\ntype: kubernetes\n", "password (line 3): must be a string (in quotes"},
		"OIDC":                  {with(tackerToken, "oidc_token_url: https://idp"), "OIDC"},
		"extra is no mapping":   {with(tackerToken, "extra: [a]"), "extra (line 6): must be a mapping"},
		"extra with an alias":   {with(tackerToken, "extra: {a: &a [1], b: *a}"), "extra.a (line 6): holds an anchor or alias"},
		"extra beyond JSON":     {with(tackerToken, "extra: {a: .nan}"), "extra (line 6): holds what JSON cannot say"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadVIMFile("vim.yaml", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("readVIMFile = %v\nwant %q", err, test.want)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error repeats a value of the file: %v", err)
			}
			if !strings.HasPrefix(err.Error(), "vim.yaml: ") {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

// FuzzVIMFile holds that whatever is accepted is complete, and that no error
// repeats a secret.
func FuzzVIMFile(f *testing.F) {
	for _, seed := range []string{tackerToken, tackerBasic, tackerOpenStack, "a: &a [*a]", "{}", "? {a: b}\n: c", "---\n...\n", "type: !!binary aGk="} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadVIMFile("f", text)
		if err != nil {
			if strings.Contains(err.Error(), canary) {
				t.Fatalf("the error repeats a secret: %v", err)
			}
			return
		}
		c := r.Credential
		if r.Endpoint == "" || c.Token.Empty() == c.Password.Empty() || c.Password.Empty() != (c.Username == "") {
			t.Fatalf("accepted, and not complete: %+v", r)
		}
		if r.Type != "kubernetes" && r.Type != "openstack" {
			t.Fatalf("accepted type %q", r.Type)
		}
		if r.InsecureSkipVerify && r.CACert != "" {
			t.Fatal("accepted a CA together with no verification")
		}
	})
}

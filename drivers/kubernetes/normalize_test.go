package kubernetes_test

import (
	"encoding/pem"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// canary stands in every secret of these tests, and must be in no error.
const canary = "c4n4ry"

// identity is an authority and what it issued, made once for all tests.
type identity struct {
	ca, otherCA     *pki.CA
	client, another pki.Pair
}

func newIdentity(t testing.TB) identity {
	t.Helper()
	var id identity
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id.ca, err = pki.NewCA("one")
	must()
	id.otherCA, err = pki.NewCA("other")
	must()
	id.client, err = id.ca.Client("admin", []string{"system:masters"}, time.Now().Add(time.Hour))
	must()
	id.another, err = id.ca.Client("another", nil, time.Now().Add(time.Hour))
	must()
	return id
}

// registration returns one that is good as it is; tests spoil one field of it.
func registration() broker.Registration {
	return broker.Registration{
		Endpoint:   "https://10.0.0.1:6443",
		Credential: broker.Credential{Token: secret.NewText(canary)},
	}
}

func normalize(t testing.TB, r broker.Registration) (broker.Target, broker.Credential) {
	t.Helper()
	target, credential, err := kubernetes.New(kubernetes.Options{}).Normalize(r)
	if err != nil {
		t.Fatalf("Normalize: %v", err)
	}
	return target, credential
}

// refused normalizes r, and demands ErrInvalid with that field and without the canary.
func refused(t *testing.T, r broker.Registration, field string) {
	t.Helper()
	target, credential, err := kubernetes.New(kubernetes.Options{}).Normalize(r)
	var e *broker.Error
	if !errors.Is(err, broker.ErrInvalid) || !errors.As(err, &e) {
		t.Fatalf("Normalize: %v, want ErrInvalid about %q", err, field)
	}
	if e.Field != field {
		t.Errorf("Normalize names field %q, want %q (%v)", e.Field, field, err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("Normalize: the error quotes what it refuses: %v", err)
	}
	if target != (broker.Target{}) || credential.Kind != "" || !credential.Token.Empty() {
		t.Error("Normalize returns something beside its error")
	}
}

func TestNormalizeEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"https://10.0.0.1:6443":                  "https://10.0.0.1:6443",
		"https://10.0.0.1:6443/":                 "https://10.0.0.1:6443",
		"HTTPS://API.Example.COM":                "https://api.example.com",
		"https://api.example.com:443":            "https://api.example.com",
		"https://[2001:DB8:0::1]:6443":           "https://[2001:db8::1]:6443",
		"https://gw.example.com/k8s/clusters/c1": "https://gw.example.com/k8s/clusters/c1",
		"https://gw.example.com:8443/k8s/":       "https://gw.example.com:8443/k8s",
		"https://localhost:6443":                 "https://localhost:6443",
	} {
		r := registration()
		r.Endpoint = raw
		if target, _ := normalize(t, r); target.Endpoint != want {
			t.Errorf("endpoint of %q = %q, want %q", raw, target.Endpoint, want)
		}
	}
}

func TestNormalizeRefusesEndpoint(t *testing.T) {
	for _, raw := range []string{
		"", "10.0.0.1:6443", "//10.0.0.1", "ftp://10.0.0.1", "https:10.0.0.1",
		"http://10.0.0.1:6443", // the token would be sent in clear
		"https://good@evil:6443/", "https://u:" + canary + "@10.0.0.1", "https://good%40evil:6443",
		"https://10.0.0.1/?" + canary, "https://10.0.0.1/?", "https://10.0.0.1/#", "https://10.0.0.1#" + canary,
		"https://10.0.0.1:0", "https://10.0.0.1:65536", "https://10.0.0.1:", "https://10.0.0.1:06443", "https://10.0.0.1:+1",
		"https://", "https:///x", "https://ex ample", "https://exam\nple", "https://-a", "https://a..b", "https://a.", "https://*.a",
		"https://bücher.example", "https://[fe80::1%25eth0]", "https://[10.0.0.1]", "https://2001:db8::1",
		"https://2130706433", "https://0x7f.1", "https://127.1", "https://0x7f000001", "https://017700000001",
		"https://a/../b", "https://a/./b", "https://a//b", "https://a/%2e%2e/b", "https://a/b\\c", "https://a/b;c",
		"https://a/" + strings.Repeat("b", 2048),
	} {
		t.Run(raw, func(t *testing.T) {
			r := registration()
			r.Endpoint = raw
			refused(t, r, "endpoint")
		})
	}
}

// The line breaks of Tacker's VIM files have become spaces.
func TestNormalizeRepairsCA(t *testing.T) {
	id := newIdentity(t)
	one, two := string(id.ca.PEM), string(id.otherCA.PEM)
	spaced := strings.ReplaceAll(strings.TrimSpace(one), "\n", " ")
	for name, c := range map[string]struct{ in, want string }{
		"as it is":          {one, one},
		"spaces":            {spaced, one},
		"no line breaks":    {strings.ReplaceAll(strings.NewReplacer("CERTIFICATE-----\n", "CERTIFICATE-----", "\n-----END", "-----END").Replace(one), "\n", ""), one},
		"carriage returns":  {strings.ReplaceAll(one, "\n", "\r\n"), one},
		"tabs and indents":  {strings.ReplaceAll(one, "\n", "\n\t  "), one},
		"two, spaced":       {spaced + " " + strings.ReplaceAll(two, "\n", " "), one + two},
		"twice the same":    {one + two + one, one + two},
		"explanations":      {"# the lab's CA\nsubject=CN=one\n" + one + "\n# and\n" + two, one + two},
		"empty":             {"", ""},
		"nothing but space": {" \n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := registration()
			r.CACert = c.in
			if target, _ := normalize(t, r); target.CACert != c.want {
				t.Errorf("CACert = %q, want %q", target.CACert, c.want)
			}
		})
	}
}

func TestNormalizeRefusesCA(t *testing.T) {
	id := newIdentity(t)
	one := string(id.ca.PEM)
	for name, in := range map[string]string{
		"no PEM":            "MIID" + canary,
		"None":              "None", // the reader of Tacker's files makes InsecureSkipVerify of it
		"cut off":           one[:len(one)/2],
		"no begin":          one[30:],
		"a key":             string(id.client.Key),
		"a key beside":      one + string(id.client.Key),
		"not base64":        "-----BEGIN CERTIFICATE-----\n" + canary + "!\n-----END CERTIFICATE-----",
		"not a certificate": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(canary)})),
		"headers":           string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"X": canary}, Bytes: []byte("x")})),
		"empty block":       "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
		"nested":            "-----BEGIN CERTIFICATE-----" + one + "-----END CERTIFICATE-----",
		"too long":          one + strings.Repeat(" ", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			r := registration()
			r.CACert = in
			refused(t, r, "caCert")
		})
	}
}

// "TLS verification silently off when no CA is given": here it is off only when
// the caller says so, and is seen to be.
func TestNormalizeInsecureIsSaid(t *testing.T) {
	r := registration()
	if target, _ := normalize(t, r); target.InsecureSkipVerify {
		t.Error("without a CA the server is not verified")
	}
	r.InsecureSkipVerify = true
	if target, _ := normalize(t, r); !target.InsecureSkipVerify {
		t.Error("InsecureSkipVerify was said and is not in the target")
	}
	r.CACert = string(newIdentity(t).ca.PEM)
	refused(t, r, "insecureSkipVerify")
}

func TestNormalizeCredential(t *testing.T) {
	id := newIdentity(t)
	r := registration()
	if _, c := normalize(t, r); c.Kind != broker.CredentialBearerToken || c.Token.Reveal() != canary {
		t.Errorf("kind %q, or another token", c.Kind)
	}
	r.Credential = broker.Credential{Username: "k8s_username", Password: secret.NewText("pass word: " + canary)}
	if _, c := normalize(t, r); c.Kind != broker.CredentialBasicAuth || c.Username != "k8s_username" || c.Password.Reveal() != "pass word: "+canary {
		t.Errorf("kind %q, user %q, or another password", c.Kind, c.Username)
	}
	r.Credential = broker.Credential{
		ClientCertificate: strings.ReplaceAll(string(id.client.Cert), "\n", " "),
		ClientKey:         secret.NewText(strings.ReplaceAll(string(id.client.Key), "\n", " ")),
	}
	if _, c := normalize(t, r); c.Kind != broker.CredentialClientCertificate || c.ClientCertificate != string(id.client.Cert) || c.ClientKey.Reveal() != string(id.client.Key) {
		t.Errorf("kind %q, or another certificate or key", c.Kind)
	}
}

func TestNormalizeRefusesCredential(t *testing.T) {
	id := newIdentity(t)
	cert, key, otherKey := string(id.client.Cert), string(id.client.Key), string(id.another.Key)
	text := secret.NewText
	for name, c := range map[string]struct {
		credential broker.Credential
		field      string
	}{
		"none":                  {broker.Credential{}, "credential"},
		"token and password":    {broker.Credential{Token: text(canary), Username: "u", Password: text("p")}, "credential"},
		"token and certificate": {broker.Credential{Token: text(canary), ClientCertificate: cert, ClientKey: text(key)}, "credential"},
		"another kind":          {broker.Credential{Kind: broker.CredentialBasicAuth, Token: text(canary)}, "credential"},
		"token with a space":    {broker.Credential{Token: text(canary + " x")}, "credential.token"},
		"token with a break":    {broker.Credential{Token: text(canary + "\r\nX-Other: y")}, "credential.token"},
		"token with a letter":   {broker.Credential{Token: text(canary + "ü")}, "credential.token"},
		"token too long":        {broker.Credential{Token: text(strings.Repeat(canary, 8<<10))}, "credential.token"},
		"no password":           {broker.Credential{Username: canary}, "credential.password"},
		"no user":               {broker.Credential{Password: text(canary)}, "credential.username"},
		"user with a colon":     {broker.Credential{Username: "a:" + canary, Password: text("p")}, "credential.username"},
		"password with a break": {broker.Credential{Username: "a", Password: text(canary + "\n")}, "credential.password"},
		"no key":                {broker.Credential{ClientCertificate: cert}, "credential.clientKey"},
		"no certificate":        {broker.Credential{ClientKey: text(key)}, "credential.clientCertificate"},
		"another's key":         {broker.Credential{ClientCertificate: cert, ClientKey: text(otherKey)}, "credential.clientKey"},
		"key as certificate":    {broker.Credential{ClientCertificate: key, ClientKey: text(key)}, "credential.clientCertificate"},
		"certificate as key":    {broker.Credential{ClientCertificate: cert, ClientKey: text(cert)}, "credential.clientKey"},
		"two keys":              {broker.Credential{ClientCertificate: cert, ClientKey: text(key + key)}, "credential.clientKey"},
		"encrypted key":         {broker.Credential{ClientCertificate: cert, ClientKey: text(strings.ReplaceAll(key, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"))}, "credential.clientKey"},
		"no PEM":                {broker.Credential{ClientCertificate: cert, ClientKey: text(canary)}, "credential.clientKey"},
	} {
		t.Run(name, func(t *testing.T) {
			r := registration()
			r.Credential = c.credential
			refused(t, r, c.field)
		})
	}
}

// What OpenSSL writes is read: PKCS #1 and SEC 1 beside PKCS #8.
func TestNormalizeReadsKeysOfOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	for name, args := range map[string][]string{
		"RSA":     {"-newkey", "rsa:2048"},
		"EC":      {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"},
		"Ed25519": {"-newkey", "ed25519"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args = append(append([]string{"req", "-x509", "-nodes", "-subj", "/CN=x", "-days", "2"}, args...), "-keyout", dir+"/key", "-out", dir+"/cert")
			if out, err := exec.Command(openssl, args...).CombinedOutput(); err != nil {
				t.Skipf("openssl makes no such key: %v\n%s", err, out)
			}
			r := registration()
			r.Credential = broker.Credential{ClientCertificate: read(t, dir+"/cert"), ClientKey: secret.NewText(read(t, dir+"/key"))}
			normalize(t, r)
		})
	}
}

func TestNormalizeNamespace(t *testing.T) {
	r := registration()
	if target, _ := normalize(t, r); target.Namespace != "default" {
		t.Errorf("namespace = %q, want default", target.Namespace)
	}
	r.Namespace = "tenant-1"
	if target, _ := normalize(t, r); target.Namespace != "tenant-1" {
		t.Errorf("namespace = %q, want tenant-1", target.Namespace)
	}
	for _, bad := range []string{"Tenant", "a.b", "-a", "a-", "a/b", "ü", "a b", strings.Repeat("a", 64)} {
		r.Namespace = bad
		refused(t, r, "namespace")
	}
}

func TestNormalizeRefusesMixedRegistrations(t *testing.T) {
	r := registration()
	r.Context = "c"
	refused(t, r, "context")
	r = registration()
	r.Type = "openstack"
	refused(t, r, "type")
	whole := broker.Registration{Kubeconfig: secret.NewText(plainKubeconfig)}
	for field, spoil := range map[string]func(*broker.Registration){
		"endpoint":   func(r *broker.Registration) { r.Endpoint = "https://a" },
		"caCert":     func(r *broker.Registration) { r.CACert = canary },
		"serverName": func(r *broker.Registration) { r.ServerName = "a.example" },
		"credential": func(r *broker.Registration) { r.Credential.Token = secret.NewText(canary) },
	} {
		r := whole
		spoil(&r)
		refused(t, r, field)
	}
}

package kubernetes_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
)

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plainKubeconfig is good as it is; tests replace parts of it.
const plainKubeconfig = `apiVersion: v1
kind: Config
preferences: {}
current-context: lab
clusters:
- name: lab-cluster
  cluster:
    server: https://10.0.0.1:6443
- name: other
  cluster:
    server: https://10.0.0.2:6443
contexts:
- name: other
  context: {cluster: other, user: other}
- name: lab
  context:
    cluster: lab-cluster
    user: lab-user
    namespace: cnf
users:
- name: other
  user:
    token: other-token
- name: lab-user
  user:
    token: ` + canary + `
`

// with returns the plain kubeconfig with one part of it replaced.
func with(t testing.TB, old, new string) broker.Registration {
	t.Helper()
	if strings.Count(plainKubeconfig, old) != 1 {
		t.Fatalf("%q is not in the kubeconfig exactly once", old)
	}
	return broker.Registration{Kubeconfig: secret.NewText(strings.Replace(plainKubeconfig, old, new, 1))}
}

func TestKubeconfigCurrentContext(t *testing.T) {
	target, credential := normalize(t, broker.Registration{Kubeconfig: secret.NewText(plainKubeconfig)})
	if want := (broker.Target{Endpoint: "https://10.0.0.1:6443", Namespace: "cnf"}); target != want {
		t.Errorf("target: %s", cmp.Diff(want, target))
	}
	if credential.Kind != broker.CredentialBearerToken || credential.Token.Reveal() != canary {
		t.Errorf("kind %q, or another token", credential.Kind)
	}
}

// "takes Clusters[0]/Users[0] instead of the current context"
func TestKubeconfigNamedContext(t *testing.T) {
	r := broker.Registration{Kubeconfig: secret.NewText(plainKubeconfig), Context: "other", Namespace: "mine"}
	target, credential := normalize(t, r)
	if want := (broker.Target{Endpoint: "https://10.0.0.2:6443", Namespace: "mine"}); target != want {
		t.Errorf("target: %s", cmp.Diff(want, target))
	}
	if credential.Token.Reveal() != "other-token" {
		t.Error("the token is another context's")
	}
	r.Context = "gone"
	refused(t, r, "context")
	refused(t, with(t, "current-context: lab\n", ""), "context")
	refused(t, with(t, "current-context: lab\n", "current-context: gone\n"), "kubeconfig.current-context")
	refused(t, with(t, "cluster: lab-cluster", "cluster: gone"), "kubeconfig.contexts[1].context.cluster")
	refused(t, with(t, "user: lab-user", "user: gone"), "kubeconfig.contexts[1].context.user")
}

func TestKubeconfigCertificate(t *testing.T) {
	id := newIdentity(t)
	encode := base64.StdEncoding.EncodeToString
	r := with(t, "    server: https://10.0.0.1:6443\n", "    server: https://10.0.0.1:6443\n    tls-server-name: API.lab.example\n"+
		"    insecure-skip-tls-verify: false\n    disable-compression: true\n    certificate-authority-data: "+encode(id.ca.PEM)+"\n")
	r.Kubeconfig = secret.NewText(strings.Replace(r.Kubeconfig.Reveal(), "    token: "+canary+"\n",
		"    client-certificate-data: "+encode(id.client.Cert)+"\n    client-key-data: "+encode(id.client.Key)+"\n", 1))
	target, credential := normalize(t, r)
	if want := (broker.Target{
		Endpoint: "https://10.0.0.1:6443", CACert: string(id.ca.PEM), ServerName: "api.lab.example", Namespace: "cnf",
	}); target != want {
		t.Errorf("target: %s", cmp.Diff(want, target))
	}
	if credential.Kind != broker.CredentialClientCertificate || credential.ClientCertificate != string(id.client.Cert) || credential.ClientKey.Reveal() != string(id.client.Key) {
		t.Errorf("kind %q, or another certificate or key", credential.Kind)
	}
}

func TestKubeconfigRefuses(t *testing.T) {
	const (
		cluster = "kubeconfig.clusters[0].cluster"
		context = "kubeconfig.contexts[1].context"
		user    = "kubeconfig.users[1].user"
		server  = "    server: https://10.0.0.1:6443\n"
		token   = "    token: " + canary + "\n"
	)
	id := newIdentity(t)
	cert := base64.StdEncoding.EncodeToString(id.client.Cert)
	for name, c := range map[string]struct{ old, new, field string }{
		"exec":                      {token, "    exec: {command: /bin/sh, args: [-c, id]}\n", user + ".exec"},
		"exec beside a token":       {token, token + "    exec: {command: /bin/sh}\n", user + ".exec"},
		"exec that is null":         {token, token + "    exec: null\n", user + ".exec"},
		"auth provider":             {token, "    auth-provider: {name: oidc}\n", user + ".auth-provider"},
		"token file":                {token, "    tokenFile: /etc/shadow\n", user + ".tokenFile"},
		"token file beside a token": {token, token + "    tokenFile: /etc/shadow\n", user + ".tokenFile"},
		"certificate file":          {token, "    client-certificate: /etc/shadow\n", user + ".client-certificate"},
		"key file":                  {token, "    client-key: /etc/shadow\n", user + ".client-key"},
		"user name":                 {token, "    username: u\n    password: " + canary + "\n", user + ".username"},
		"impersonation":             {token, token + "    as: system:admin\n", user + ".as"},
		"impersonated groups":       {token, token + "    as-groups: [system:masters]\n", user + ".as-groups"},
		"user extensions":           {token, token + "    extensions: []\n", user + ".extensions"},
		"unknown in user":           {token, token + "    " + canary + ": x\n", user},
		"case of a key":             {token, "    Token: " + canary + "\n", user},
		"token and certificate":     {token, token + "    client-certificate-data: " + cert + "\n", user},
		"certificate without key":   {token, "    client-certificate-data: " + cert + "\n", user + ".client-key-data"},
		"not base64":                {token, "    client-certificate-data: '" + canary + "!'\n", user + ".client-certificate-data"},
		"base64 of two lines":       {token, "    client-certificate-data: \"" + cert[:64] + "\\n" + cert[64:] + "\"\n", user + ".client-certificate-data"},
		"nobody":                    {token, "    token: ''\n", user},
		"user is a list":            {token, "    - " + canary + "\n", user},
		"a number for a token":      {token, "    token: 1234\n", user + ".token"},

		"CA file":               {server, server + "    certificate-authority: /etc/passwd\n", cluster + ".certificate-authority"},
		"insecure":              {server, server + "    insecure-skip-tls-verify: true\n", cluster + ".insecure-skip-tls-verify"},
		"proxy":                 {server, server + "    proxy-url: http://evil:3128\n", cluster + ".proxy-url"},
		"cluster extensions":    {server, server + "    extensions: []\n", cluster + ".extensions"},
		"unknown in cluster":    {server, server + "    " + canary + ": x\n", cluster},
		"server name a wild":    {server, server + "    tls-server-name: '*.evil'\n", cluster + ".tls-server-name"},
		"server name an IP":     {server, server + "    tls-server-name: 10.0.0.9\n", cluster + ".tls-server-name"},
		"http":                  {server, "    server: http://10.0.0.1\n", cluster + ".server"},
		"no server":             {server, "    disable-compression: true\n", cluster + ".server"},
		"user info and query":   {server, "    server: https://good@evil:6443/x?y\n", cluster + ".server"},
		"bad CA":                {server, server + "    certificate-authority-data: eA==\n", cluster + ".certificate-authority-data"},
		"bad namespace":         {"namespace: cnf", "namespace: '../" + canary + "'", context + ".namespace"},
		"context extensions":    {"namespace: cnf", "extensions: []", context + ".extensions"},
		"unknown in context":    {"namespace: cnf", canary + ": x", context},
		"preferences":           {"preferences: {}", "preferences: {colors: true}", "kubeconfig.preferences"},
		"top extensions":        {"preferences: {}", "extensions: []", "kubeconfig.extensions"},
		"unknown at top":        {"preferences: {}", canary + ": {}", "kubeconfig"},
		"other version":         {"apiVersion: v1", "apiVersion: v2", "kubeconfig.apiVersion"},
		"other kind":            {"kind: Config", "kind: Secret", "kubeconfig.kind"},
		"list that is none":     {"clusters:\n- name: lab-cluster", "clusters:\n  name: lab-cluster", "kubeconfig"},
		"entry without a name":  {"- name: lab-user\n  user:", "- user:", "kubeconfig.users[1]"},
		"entry with more":       {"- name: lab-user\n", "- name: lab-user\n  x: y\n", "kubeconfig.users[1]"},
		"name twice":            {"- name: lab-user\n", "- name: other\n", "kubeconfig.users[1].name"},
		"key twice":             {token, token + "    token: other\n", "kubeconfig"},
		"second document":       {"apiVersion: v1\n", "a: b\n---\napiVersion: v1\n", "kubeconfig"},
		"empty second document": {token, token + "---\n", "kubeconfig"},
		"anchor":                {"token: " + canary, "token: &a " + canary, "kubeconfig"},
		"alias":                 {"- name: lab-user\n", "- &x\n  name: lab-user\n", "kubeconfig"},
		"merge key":             {token, "    <<: {token: " + canary + "}\n", "kubeconfig"},
		"tag":                   {"token: " + canary, "token: !!binary " + canary, "kubeconfig"},
		"own tag":               {"token: " + canary, "token: !x " + canary, "kubeconfig"},
		"no YAML":               {"current-context: lab", "current-context: [" + canary, "kubeconfig"},
		"deep":                  {"preferences: {}", "preferences: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "kubeconfig"},
		"too long":              {"preferences: {}", "# " + strings.Repeat("x", 256<<10), "kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, with(t, c.old, c.new), c.field) })
	}
	for _, whole := range []string{"", " ", "null", "[]", "x", "---\n---\n", "\x00", "%YAML 9.9\n---\na: b\n", "? [a]\n: b\n"} {
		if whole != "" {
			_, _, err := kubernetes.New(kubernetes.Options{}).Normalize(broker.Registration{Kubeconfig: secret.NewText(whole)})
			if err == nil {
				t.Errorf("%q is taken for a kubeconfig", whole)
			}
		}
	}
}

// What is not selected is not looked into, and nothing of it is kept: people's
// files hold many clusters, some with plugins.
func TestKubeconfigLeavesOtherContextsAlone(t *testing.T) {
	r := with(t, "    token: other-token\n", "    exec: {command: /bin/sh, args: [-c, id]}\n")
	_, credential := normalize(t, r)
	if credential.Token.Reveal() != canary {
		t.Error("the token is another's")
	}
	r.Context = "other"
	refused(t, r, "kubeconfig.users[0].user.exec")
}

// FuzzKubeconfig: what is accepted is, printed and read again, the same; and is
// within what is allowed.
func FuzzKubeconfig(f *testing.F) {
	id := newIdentity(f)
	encode := base64.StdEncoding.EncodeToString
	for _, seed := range []string{
		plainKubeconfig,
		strings.Replace(plainKubeconfig, "    token: "+canary, "    exec: {command: id}", 1),
		strings.Replace(plainKubeconfig, "    token: "+canary, "    client-certificate-data: "+encode(id.client.Cert)+"\n    client-key-data: "+encode(id.client.Key), 1),
		strings.Replace(plainKubeconfig, "10.0.0.1:6443\n", "10.0.0.1:6443\n    tls-server-name: a.b\n    certificate-authority-data: "+encode(id.ca.PEM)+"\n", 1),
		`{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],"clusters":[{"name":"a","cluster":{"server":"https://[::1]:1/p"}}],"users":[{"name":"a","user":{"token":"t"}}]}`,
		"a: &a [*a]", "---\n---\n", "{", "? a\n: b", "!!map {a: b}",
	} {
		f.Add(seed, "")
	}
	f.Add(plainKubeconfig, "other")
	d := kubernetes.New(kubernetes.Options{})
	f.Fuzz(func(t *testing.T, document, context string) {
		if document == "" {
			return
		}
		target, credential, err := d.Normalize(broker.Registration{Kubeconfig: secret.NewText(document), Context: context})
		if err != nil {
			return
		}
		if !strings.HasPrefix(target.Endpoint, "https://") || strings.ContainsAny(target.Endpoint, "@?#% \n\\") || target.InsecureSkipVerify {
			t.Errorf("target %+v", target)
		}
		if credential.Kind != broker.CredentialBearerToken && credential.Kind != broker.CredentialClientCertificate ||
			credential.Username != "" || !credential.Password.Empty() ||
			credential.Token.Empty() == credential.ClientKey.Empty() {
			t.Errorf("a credential of kind %q, or of two", credential.Kind)
		}
		again, same, err := d.Normalize(broker.Registration{Kubeconfig: secret.NewText(printed(t, target, credential))})
		if err != nil {
			t.Fatalf("reading what was printed: %v", err)
		}
		if again != target || same.Kind != credential.Kind || same.ClientCertificate != credential.ClientCertificate ||
			!same.Token.Equal(credential.Token) || !same.ClientKey.Equal(credential.ClientKey) {
			t.Errorf("read again it is another: %s", cmp.Diff(target, again))
		}
	})
}

// printed is a kubeconfig with one context.
func printed(t testing.TB, target broker.Target, c broker.Credential) string {
	t.Helper()
	type fields map[string]any
	encode := base64.StdEncoding.EncodeToString
	cluster, user := fields{"server": target.Endpoint}, fields{}
	if target.CACert != "" {
		cluster["certificate-authority-data"] = encode([]byte(target.CACert))
	}
	if target.ServerName != "" {
		cluster["tls-server-name"] = target.ServerName
	}
	if c.Kind == broker.CredentialBearerToken {
		user["token"] = c.Token.Reveal()
	} else {
		user["client-certificate-data"] = encode([]byte(c.ClientCertificate))
		user["client-key-data"] = encode([]byte(c.ClientKey.Reveal()))
	}
	b, err := yaml.Marshal(fields{
		"current-context": "x",
		"contexts":        []fields{{"name": "x", "context": fields{"cluster": "x", "user": "x", "namespace": target.Namespace}}},
		"clusters":        []fields{{"name": "x", "cluster": cluster}},
		"users":           []fields{{"name": "x", "user": user}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

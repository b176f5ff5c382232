package files

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

const ownKubeconfig = `apiVersion: v1
kind: Config
preferences: {}
current-context: edge
contexts:
- name: edge
  context: {cluster: edge, user: op, namespace: web, extensions: [{name: x, extension: {a: b}}]}
- name: other
  context: {cluster: edge, user: plugin}
clusters:
- name: edge
  cluster: {server: "https://10.0.0.1:6443", certificate-authority: ca.pem}
users:
- name: op
  user: {client-certificate: op.pem, client-key: op.key}
- name: plugin
  user: {exec: {command: /bin/` + canary + `}}
`

const (
	pemCA   = "-----BEGIN CERTIFICATE-----\ndGhlIENB\n-----END CERTIFICATE-----\n"
	pemCert = "-----BEGIN CERTIFICATE-----\ndGhlIGNlcnRpZmljYXRl\n-----END CERTIFICATE-----\n"
	pemKey  = "-----BEGIN PRIVATE KEY-----\ndGhlIGtleQ==\n-----END PRIVATE KEY-----\n"
)

// kubeconfigDir holds a kubeconfig and the files that it names.
func kubeconfigDir(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"config": text, "ca.pem": pemCA, "op.pem": pemCert + pemKey, "op.key": pemKey, "secret": canary} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config")
}

func TestOwnKubeconfigIsRebuiltWithItsFilesInline(t *testing.T) {
	name := kubeconfigDir(t, ownKubeconfig)
	k, err := ReadKubeconfig(name, "", false, []byte(ownKubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	if k.Context != "edge" || len(k.Inlined) != 3 {
		t.Errorf("Context, Inlined = %q, %v, want edge and three files", k.Context, k.Inlined)
	}
	var got struct {
		CurrentContext string `yaml:"current-context"`
		Clusters       []struct{ Cluster map[string]string }
		Users          []struct{ User map[string]string }
		Contexts       []struct {
			Name    string
			Context map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(k.Text.Reveal()), &got); err != nil {
		t.Fatal(err)
	}
	data := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	if len(got.Clusters) != 1 || got.Clusters[0].Cluster["certificate-authority-data"] != data(pemCA) || got.Clusters[0].Cluster["server"] != "https://10.0.0.1:6443" {
		t.Errorf("clusters = %v", got.Clusters)
	}
	if len(got.Users) != 1 || got.Users[0].User["client-certificate-data"] != data(pemCert) || got.Users[0].User["client-key-data"] != data(pemKey) {
		t.Errorf("users = %v", got.Users)
	}
	if len(got.Contexts) != 1 || got.Contexts[0].Name != got.CurrentContext || got.Contexts[0].Context["namespace"] != "web" {
		t.Errorf("contexts = %v, current %q", got.Contexts, got.CurrentContext)
	}
	if strings.Contains(k.Text.Reveal(), "op.key") || strings.Contains(k.Text.Reveal(), canary) {
		t.Error("a path, or another context's user, is in what is sent")
	}
}

func TestOwnKubeconfigInlineDataWinsOverFiles(t *testing.T) {
	text := strings.Replace(ownKubeconfig, "certificate-authority: ca.pem", "certificate-authority: /nowhere, certificate-authority-data: aGk=", 1)
	k, err := ReadKubeconfig(kubeconfigDir(t, text), "", false, []byte(text))
	if err != nil || !strings.Contains(k.Text.Reveal(), "certificate-authority-data: aGk=") || len(k.Inlined) != 2 {
		t.Errorf("readKubeconfig = %v, read %v", err, k.Inlined)
	}
}

func TestOwnKubeconfigRefusesWhatTheBrokerCannotHold(t *testing.T) {
	user := func(fields string) string {
		return strings.Replace(ownKubeconfig, "{client-certificate: op.pem, client-key: op.key}", "{"+fields+"}", 1)
	}
	cluster := func(fields string) string {
		return strings.Replace(ownKubeconfig, "certificate-authority: ca.pem", fields, 1)
	}
	tests := map[string]struct{ text, context, want string }{
		"exec":                {ownKubeconfig, "other", "users[1].user.exec (line 17): it is not sent and nothing is run"},
		"auth provider":       {user("auth-provider: {name: gcp}"), "", "auth-provider"},
		"token file":          {user("tokenFile: /etc/shadow"), "", "tokenFile"},
		"password":            {user("username: u, password: " + canary), "", "--password-file"},
		"impersonation":       {user("as: root, token: t"), "", "users[0].user.as"},
		"unknown":             {user("token: t, tokne: t"), "", "users[0].user.tokne (line 15): unknown key"},
		"insecure":            {cluster("insecure-skip-tls-verify: true"), "", "--insecure-skip-verify"},
		"proxy":               {cluster("proxy-url: http://p"), "", "proxy-url"},
		"no such file":        {cluster("certificate-authority: /nowhere"), "", "clusters[0].cluster.certificate-authority (line 12): open /nowhere"},
		"CA of another kind":  {cluster("certificate-authority: secret"), "", "secret holds no certificate in PEM, so it is not sent"},
		"key of another kind": {user("client-certificate: op.pem, client-key: ca.pem"), "", "ca.pem holds no private key in PEM, so it is not sent"},
		"a device":            {cluster("certificate-authority: /dev/zero"), "", "/dev/zero is not a regular file"},
		"no such context":     {ownKubeconfig, "third", "there are: edge, other"},
		"no context":          {strings.Replace(ownKubeconfig, "current-context: edge\n", "", 1), "", "choose with --context (there are: edge, other)"},
		"name twice":          {strings.Replace(ownKubeconfig, "name: other", "name: edge", 1), "", "another entry has the same name"},
		"no such user":        {strings.Replace(ownKubeconfig, "- name: op", "- name: po", 1), "", "contexts[0].context.user: is a name that the kubeconfig does not have"},
		"two documents":       {ownKubeconfig + "---\n" + ownKubeconfig, "", "more than one YAML document"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadKubeconfig(kubeconfigDir(t, test.text), test.context, false, []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("readKubeconfig = %v\nwant %q", err, test.want)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error repeats a value of the file: %v", err)
			}
		})
	}
}

// A pipe without a writer would hold the command up for ever.
func TestOwnKubeconfigThatNamesAPipeIsRefusedAtOnce(t *testing.T) {
	text := strings.Replace(ownKubeconfig, "certificate-authority: ca.pem", "certificate-authority: pipe", 1)
	name := kubeconfigDir(t, text)
	if err := syscall.Mkfifo(filepath.Join(filepath.Dir(name), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKubeconfig(name, "", false, []byte(text)); err == nil || !strings.Contains(err.Error(), "pipe is not a regular file") {
		t.Errorf("ReadKubeconfig = %v, want that the pipe is refused", err)
	}
}

func TestOwnKubeconfigMayLeaveTheServerUnverifiedWhereThePersonSaysSo(t *testing.T) {
	text := strings.Replace(ownKubeconfig, "certificate-authority: ca.pem", "insecure-skip-tls-verify: true", 1)
	k, err := ReadKubeconfig(kubeconfigDir(t, text), "", true, []byte(text))
	if err != nil || strings.Contains(k.Text.Reveal(), "insecure") {
		t.Errorf("ReadKubeconfig = %v, want the field taken and not sent: the registration carries it", err)
	}
}

func TestCloudsFileNamesItsAuthorities(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"ca.pem": pemKey + pemCA, "secret": canary} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clouds := func(file string) []byte { return []byte("clouds: {lab: {cacert: " + file + "}, other: {}}") }
	file, ca, err := CloudAuthorities("clouds.yaml", "lab", clouds(dir+"/ca.pem"))
	if err != nil || ca != pemCA || file != dir+"/ca.pem" {
		t.Errorf("CloudAuthorities = %q, %q, %v, want the certificates of the file, and nothing else of it", file, ca, err)
	}
	if _, ca, err = CloudAuthorities("clouds.yaml", "other", clouds(dir+"/ca.pem")); ca != "" || err != nil {
		t.Errorf("CloudAuthorities of a cloud without a file = %q, %v", ca, err)
	}
	for name, want := range map[string]string{"secret": "holds no certificate in PEM, so it is not sent", "nowhere": "no such file", "": "is not a regular file"} {
		if _, _, err = CloudAuthorities("clouds.yaml", "lab", clouds(dir+"/"+name)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("CloudAuthorities with cacert %q = %v, want %q", name, err, want)
		}
	}
}

// FuzzKubeconfig holds that what is sent names no file and nothing to run.
func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte(ownKubeconfig))
	f.Add([]byte("contexts: null\nusers: [{name: a, user: {token: t}}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := ReadKubeconfig("/nonexistent/config", "", false, text)
		if err != nil {
			return
		}
		var sent map[string]any
		if err := yaml.Unmarshal([]byte(k.Text.Reveal()), &sent); err != nil {
			t.Fatalf("what is sent is not YAML: %v", err)
		}
		user := sent["users"].([]any)[0].(map[string]any)["user"].(map[string]any)
		cluster := sent["clusters"].([]any)[0].(map[string]any)["cluster"].(map[string]any)
		for key := range user {
			if key != "token" && key != "client-certificate-data" && key != "client-key-data" {
				t.Fatalf("a user with %q is sent", key)
			}
		}
		for key := range cluster {
			if key != "server" && key != "tls-server-name" && key != "certificate-authority-data" {
				t.Fatalf("a cluster with %q is sent", key)
			}
		}
	})
}

package clientconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientauth "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const canary = "canary-token-4711"

var expiry = time.Date(2026, 3, 1, 21, 0, 0, 0, time.FixedZone("east", 9*3600)) // 12:00 UTC

// pair makes a certificate and its key, in PEM.
func pair(t testing.TB) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "edge"}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	rawKey, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: rawKey}))
}

// tokenConfig is a lease as nearly all are.
func tokenConfig(t testing.TB) clientconfig.Config {
	t.Helper()
	ca, _ := pair(t)
	return clientconfig.Config{
		VIM: "edge-1", Lease: "0b5f", Endpoint: "https://192.0.2.7:6443", CACert: ca, ServerName: "edge.example",
		Credential: secret.Credential{Token: secret.NewText(canary)}, Client: clientconfig.KubernetesClient{Namespace: "cnf"}, ExpiresAt: expiry,
	}
}

func certificateConfig(t testing.TB) clientconfig.Config {
	c := tokenConfig(t)
	certificate, key := pair(t)
	c.Token, c.ClientCertificate, c.ClientKey = secret.Text{}, certificate, secret.NewText(key)
	return c
}

func passwordConfig(t testing.TB) clientconfig.Config {
	c := tokenConfig(t)
	c.Token, c.Username, c.Password = secret.Text{}, "admin", secret.NewText("it's $HOME `id`\n\\\"")
	return c
}

// TestKubeconfigIsReadByClients proves it with client-go's own reader.
func TestKubeconfigIsReadByClients(t *testing.T) {
	for name, c := range map[string]clientconfig.Config{
		"token": tokenConfig(t), "certificate": certificateConfig(t), "password": passwordConfig(t),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := c.Render(clientconfig.Kubeconfig)
			if err != nil {
				t.Fatalf("Render() = %v", err)
			}
			config, err := clientcmd.NewClientConfigFromBytes([]byte(text.Reveal()))
			if err != nil {
				t.Fatalf("client-go does not read it: %v", err)
			}
			rest, err := config.ClientConfig()
			if err != nil {
				t.Fatalf("client-go does not take it: %v", err)
			}
			got := clientconfig.Config{
				VIM: c.VIM, Lease: c.Lease, ExpiresAt: c.ExpiresAt,
				Endpoint: rest.Host, CACert: string(rest.CAData), InsecureSkipVerify: rest.Insecure, ServerName: rest.ServerName,
				Credential: secret.Credential{
					Token: secret.NewText(rest.BearerToken), ClientCertificate: string(rest.CertData), ClientKey: secret.NewText(string(rest.KeyData)),
					Username: rest.Username, Password: secret.NewText(rest.Password),
				},
			}
			namespace, _, err := config.Namespace()
			if err != nil {
				t.Fatal(err)
			}
			got.Client = clientconfig.KubernetesClient{Namespace: namespace}
			if diff := cmp.Diff(c, got); diff != "" {
				t.Errorf("client-go reads something else (-want +got):\n%s", diff)
			}
			again, _ := c.Render(clientconfig.Kubeconfig)
			if !again.Equal(text) {
				t.Errorf("two renderings differ")
			}
		})
	}
}

func TestInsecureIsSaidAndHasNoCA(t *testing.T) {
	c := tokenConfig(t)
	c.InsecureSkipVerify = true
	text, err := c.Render(clientconfig.Kubeconfig)
	if err != nil {
		t.Fatalf("Render() = %v", err)
	}
	rest, err := clientcmd.RESTConfigFromKubeConfig([]byte(text.Reveal()))
	if err != nil {
		t.Fatalf("client-go does not take it: %v", err)
	}
	if !rest.Insecure || len(rest.CAData) > 0 {
		t.Errorf("insecure = %v with %d bytes of CA, want true and none", rest.Insecure, len(rest.CAData))
	}
}

// A CA beside "do not verify" would make a reader think that the server is verified.
func TestNoFormatHasACAOfAnInsecureServer(t *testing.T) {
	cloud := cloudConfig()
	for _, c := range []clientconfig.Config{tokenConfig(t), cloud} {
		c.CACert = tokenConfig(t).CACert
		c.InsecureSkipVerify = true
		lines := strings.Split(c.CACert, "\n")
		encoded := base64.StdEncoding.EncodeToString([]byte(c.CACert))
		for _, format := range clientconfig.Formats(c.Client) {
			if format == clientconfig.JSON {
				continue // holds every field, and is read back
			}
			text, err := c.Render(format)
			if errors.Is(err, clientconfig.ErrFormat) {
				continue // needs another credential
			}
			if err != nil {
				t.Fatalf("Render(%s) = %v", format, err)
			}
			if strings.Contains(text.Reveal(), lines[1]) || strings.Contains(text.Reveal(), encoded[:60]) {
				t.Errorf("%T as %s holds the CA of a server that is not verified", c.Client, format)
			}
		}
	}
}

func TestContextNames(t *testing.T) {
	seen := map[string]string{}
	for vim, want := range map[string]string{
		"edge-1": "edge-1", "edge_1.prod": "edge_1.prod",
		"a b": "vim-a-b-", "a\tb": "vim-a-b-", "$(reboot)": "vim--reboot--", "東京": "vim---", "-rf": "vim--rf-",
		strings.Repeat("x", 200): "vim-xxxx", "": "vim--", "two\nlines: true": "vim-two-lines-true-",
	} {
		c := tokenConfig(t)
		c.VIM = vim
		text, err := c.Render(clientconfig.Kubeconfig)
		if err != nil {
			t.Fatalf("Render() = %v", err)
		}
		config, err := clientcmd.Load([]byte(text.Reveal()))
		if err != nil {
			t.Fatalf("VIM %q: %v", vim, err)
		}
		got := config.CurrentContext
		if plain := got == want; !plain && (want == vim || !strings.HasPrefix(got, want)) || len(got) > 63 {
			t.Errorf("VIM %q has context %q, want %q…", vim, got, want)
		}
		if strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("VIM %q has context %q", vim, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("VIMs %q and %q share the context %q", vim, other, got)
		}
		seen[got] = vim
	}
}

// TestEnvironmentSurvivesTheShell lets a real sh evaluate it.
func TestEnvironmentSurvivesTheShell(t *testing.T) {
	for name, c := range map[string]clientconfig.Config{
		"token": tokenConfig(t), "certificate": certificateConfig(t), "password": passwordConfig(t),
	} {
		t.Run(name, func(t *testing.T) {
			namespace := "a'b $(echo pwned) `echo pwned` \\ \"; echo pwned\n!"
			c.Client = clientconfig.KubernetesClient{Namespace: namespace}
			text, err := c.Render(clientconfig.Environment)
			if err != nil {
				t.Fatalf("Render() = %v", err)
			}
			sh := exec.Command("sh", "-euc", `eval "$(cat)"; exec env -0`)
			sh.Stdin, sh.Env = strings.NewReader(text.Reveal()), []string{"PATH=/usr/bin:/bin"}
			out, err := sh.Output()
			if err != nil {
				t.Fatalf("sh: %v", err)
			}
			got := map[string]string{}
			for v := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
				key, value, _ := strings.Cut(v, "=")
				if strings.HasPrefix(key, "KUBE_") || strings.HasPrefix(key, "HELM_") {
					got[key] = value
				}
			}
			want := map[string]string{
				"KUBE_HOST": c.Endpoint, "KUBE_CLUSTER_CA_CERT_DATA": c.CACert, "KUBE_TLS_SERVER_NAME": c.ServerName,
				"KUBE_NAMESPACE": namespace, "HELM_KUBEAPISERVER": c.Endpoint, "HELM_KUBETLS_SERVER_NAME": c.ServerName,
				"HELM_NAMESPACE": namespace,
			}
			for key, value := range map[string]string{
				"KUBE_TOKEN": c.Token.Reveal(), "HELM_KUBETOKEN": c.Token.Reveal(), "KUBE_CLIENT_CERT_DATA": c.ClientCertificate,
				"KUBE_CLIENT_KEY_DATA": c.ClientKey.Reveal(), "KUBE_USER": c.Username, "KUBE_PASSWORD": c.Password.Reveal(),
			} {
				if value != "" {
					want[key] = value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sh sees (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExecCredential(t *testing.T) {
	for name, c := range map[string]clientconfig.Config{"token": tokenConfig(t), "certificate": certificateConfig(t)} {
		text, err := c.Render(clientconfig.ExecCredential)
		if err != nil {
			t.Fatalf("Render() = %v", err)
		}
		dec := json.NewDecoder(strings.NewReader(text.Reveal()))
		dec.DisallowUnknownFields()
		var got clientauth.ExecCredential
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%s: client-go's type does not take it: %v", name, err)
		}
		if got.APIVersion != "client.authentication.k8s.io/v1" || got.Kind != "ExecCredential" {
			t.Errorf("%s: it is a %s %s", name, got.APIVersion, got.Kind)
		}
		s := got.Status
		if s.Token != c.Token.Reveal() || s.ClientCertificateData != c.ClientCertificate || s.ClientKeyData != c.ClientKey.Reveal() {
			t.Errorf("%s: the credential is another", name)
		}
		if want := expiry.Add(-10 * time.Second); !s.ExpirationTimestamp.Time.Equal(want) {
			t.Errorf("%s: expires %v, want %v", name, s.ExpirationTimestamp, want)
		}
		if !strings.Contains(text.Reveal(), "2026-03-01T11:59:50Z") {
			t.Errorf("%s: the expiry is not in UTC", name)
		}
		if strings.Count(text.Reveal(), "\n") != 1 {
			t.Errorf("%s: it is not on one line", name)
		}
	}
}

func TestPluginKubeconfigHoldsNoCredential(t *testing.T) {
	text := clientconfig.KubernetesClient{}.PluginKubeconfig(tokenConfig(t), clientconfig.Plugin{
		Command: "vimbroker", Args: []string{"credential", "--vim", "edge-1"},
		Env: map[string]string{"VIMBROKER_ADDR": "https://broker:8443", "A": "b"}, InstallHint: "see the README",
	})
	if strings.Contains(text, canary) {
		t.Errorf("the kubeconfig holds the token")
	}
	rest, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
	if err != nil {
		t.Fatalf("client-go does not take it: %v", err)
	}
	got := rest.ExecProvider
	if got == nil || got.Command != "vimbroker" || got.APIVersion != "client.authentication.k8s.io/v1" ||
		!got.ProvideClusterInfo || got.InteractiveMode != "Never" || got.InstallHint != "see the README" ||
		len(got.Env) != 2 || got.Env[0].Name != "A" || strings.Join(got.Args, " ") != "credential --vim edge-1" {
		t.Errorf("exec = %+v", got)
	}
}

func TestRenderRefuses(t *testing.T) {
	both := tokenConfig(t)
	both.Username, both.Password = "admin", secret.NewText("x")
	half := certificateConfig(t)
	half.ClientKey = secret.Text{}
	tokenAndHalf := tokenConfig(t)
	tokenAndHalf.ClientCertificate = "x"
	none := tokenConfig(t)
	none.Token = secret.Text{}
	cloudOnly := cloudConfig()
	cloudOnly.Client = clientconfig.KubernetesClient{}
	nobodys := tokenConfig(t)
	nobodys.Client = nil
	nul := tokenConfig(t)
	nul.Client = clientconfig.KubernetesClient{Namespace: "a\x00b"}
	for name, test := range map[string]struct {
		config clientconfig.Config
		format clientconfig.Format
		want   error
	}{
		"clouds.yaml of a cluster":                {tokenConfig(t), clientconfig.CloudsYAML, clientconfig.ErrFormat},
		"an application credential for a cluster": {cloudOnly, clientconfig.JSON, clientconfig.ErrCredential},
		"no client":                          {nobodys, clientconfig.JSON, clientconfig.ErrFormat},
		"an unknown format":                  {tokenConfig(t), "ini", clientconfig.ErrFormat},
		"a certificate as VimConnectionInfo": {certificateConfig(t), clientconfig.VIMConnection, clientconfig.ErrFormat},
		"a password as exec credential":      {passwordConfig(t), clientconfig.ExecCredential, clientconfig.ErrFormat},
		"NUL in the environment":             {nul, clientconfig.Environment, clientconfig.ErrFormat},
		"two credentials":                    {both, clientconfig.Kubeconfig, clientconfig.ErrCredential},
		"half a certificate":                 {half, clientconfig.JSON, clientconfig.ErrCredential},
		"a token and half a certificate":     {tokenAndHalf, clientconfig.JSON, clientconfig.ErrCredential},
		"no credential":                      {none, clientconfig.Environment, clientconfig.ErrCredential},
	} {
		text, err := test.config.Render(test.format)
		if !errors.Is(err, test.want) || !text.Empty() {
			t.Errorf("%s: Render() = %v, want %v and no text", name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error holds the token", name)
		}
	}
}

// fileless is a client that reads no files.
type fileless struct{}

func (fileless) Forms() []clientconfig.Form { return nil }

func (fileless) Accepts(secret.Credential) bool { return true }

func TestAClientThatReadsNoFilesHasNone(t *testing.T) {
	c := tokenConfig(t)
	c.Client = fileless{}
	if _, err := open(t).Write(c); !errors.Is(err, clientconfig.ErrFormat) {
		t.Errorf("Write() = %v, want %v", err, clientconfig.ErrFormat)
	}
}

// Whatever the person's shell held before, nothing of it leads a program elsewhere, and
// kubectl, which reads none of these variables, reaches no cluster at all.
func TestEnvironmentLeadsNowhereElse(t *testing.T) {
	for name, c := range map[string]struct {
		config clientconfig.Config
		before []string
		want   string
	}{
		"cluster": {tokenConfig(t), []string{"KUBECONFIG=/home/me/.kube/config", "KUBE_CONFIG_PATH=/home/me/.kube/config", "HELM_KUBECONTEXT=production", "HELM_KUBEASUSER=root"}, "KUBECONFIG=/dev/null"},
		"cloud":   {cloudConfig(), []string{"OS_CLOUD=production", "OS_USERNAME=me", "OS_TOKEN=t", "OS_SYSTEM_SCOPE=all"}, "OS_AUTH_TYPE=v3applicationcredential"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := c.config.Render(clientconfig.Environment)
			if err != nil {
				t.Fatal(err)
			}
			sh := exec.Command("sh", "-euc", `eval "$(cat)"; exec env`)
			sh.Stdin, sh.Env = strings.NewReader(text.Reveal()), append([]string{"PATH=/usr/bin:/bin"}, c.before...)
			out, err := sh.Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(out), "\n")
			for _, old := range c.before {
				if slices.Contains(lines, old) {
					t.Errorf("%s is still set", old)
				}
			}
			if !slices.Contains(lines, c.want) {
				t.Errorf("%s is not set: %v", c.want, lines)
			}
		})
	}
}

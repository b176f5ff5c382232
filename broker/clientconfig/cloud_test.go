package clientconfig_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/golden"
)

// twoCAs is a bundle as a VIM has it; clients do not look into it here.
const twoCAs = `-----BEGIN CERTIFICATE-----
b25l
-----END CERTIFICATE-----
-----BEGIN CERTIFICATE-----
dHdv
-----END CERTIFICATE-----
`

// cloudConfig is a lease that is an application credential, as nearly all are.
func cloudConfig() clientconfig.Config {
	return clientconfig.Config{
		VIM: "core 1", VIMID: "6f1d2c7e-3f5a-4b8e-9d5b-0a1b2c3d4e5f", Lease: "0b5f", Endpoint: "https://keystone.example:5000",
		CACert: twoCAs, ExpiresAt: expiry,
		Client: clientconfig.OpenStackClient{Region: "RegionOne", ProjectID: "0123456789abcdef", ProjectName: "demo", ProjectDomain: "Default"},
		Credential: secret.Credential{
			ApplicationCredentialID: "fedcba9876543210", ApplicationCredentialSecret: secret.NewText(canary + "'s $HOME"),
		},
	}
}

// tokenCloud is a lease that is a project token.
func tokenCloud() clientconfig.Config {
	c := cloudConfig()
	c.ApplicationCredentialID, c.ApplicationCredentialSecret = "", secret.Text{}
	c.Token = secret.NewText("gAAAAA-" + canary)
	return c
}

// delegatedCloud is a project token that was made with an application credential.
func delegatedCloud() clientconfig.Config {
	c := tokenCloud()
	c.CACert = ""
	cloud := c.Client.(clientconfig.OpenStackClient)
	cloud.Delegated = true
	c.Client = cloud
	return c
}

// passwordCloud is a lease that is a user's name and password.
func passwordCloud() clientconfig.Config {
	c := cloudConfig()
	c.CACert, c.ApplicationCredentialID, c.ApplicationCredentialSecret = "", "", secret.Text{}
	c.Username, c.Password = "lease-0b5f", secret.NewText(canary+"'s $HOME")
	cloud := c.Client.(clientconfig.OpenStackClient)
	cloud.UserDomain = "Default"
	c.Client = cloud
	return c
}

// insecureCloud is a lease on a cloud whose server is not verified, and without a region.
func insecureCloud() clientconfig.Config {
	c := cloudConfig()
	c.CACert, c.InsecureSkipVerify = "", true
	cloud := c.Client.(clientconfig.OpenStackClient)
	cloud.Region = ""
	c.Client = cloud
	return c
}

// TestFormatsOfACloud holds each form to the letter: what reads them is other people's.
func TestFormatsOfACloud(t *testing.T) {
	cluster := tokenConfig(t)
	cluster.VIMID, cluster.CACert = "5a1d2c7e-3f5a-4b8e-9d5b-0a1b2c3d4e5f", twoCAs
	for name, c := range map[string]clientconfig.Config{
		"appcred": cloudConfig(), "token": tokenCloud(), "delegated": delegatedCloud(), "insecure": insecureCloud(), "password": passwordCloud(), "cluster": cluster,
	} {
		for _, format := range []clientconfig.Format{
			clientconfig.CloudsYAML, clientconfig.Environment, clientconfig.JSON, clientconfig.VIMConnection,
		} {
			if name == "cluster" && format != clientconfig.VIMConnection {
				continue
			}
			text, err := c.Render(format)
			if err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
				continue
			}
			file := filepath.Join("testdata", name+"."+string(format)+".golden")
			if golden.Updating() {
				if err := os.WriteFile(file, []byte(text.Reveal()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.Reveal()); diff != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
			}
		}
	}
}

func TestACloudsJSONIsDecoded(t *testing.T) {
	for name, c := range map[string]clientconfig.Config{
		"appcred": cloudConfig(), "token": tokenCloud(), "delegated": delegatedCloud(), "insecure": insecureCloud(), "password": passwordCloud(),
	} {
		text, err := c.Render(clientconfig.JSON)
		if err != nil {
			t.Fatal(err)
		}
		got, err := clientconfig.Decode(text)
		if diff := cmp.Diff(c, got); diff != "" || err != nil {
			t.Errorf("%s: Decode() = %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestACloudRefuses(t *testing.T) {
	password := cloudConfig()
	password.ApplicationCredentialID, password.ApplicationCredentialSecret = "", secret.Text{}
	password.Username, password.Password = "operator", secret.NewText(canary)
	both := cloudConfig()
	both.Token = secret.NewText(canary)
	half := cloudConfig()
	half.ApplicationCredentialID = ""
	byID := passwordCloud()
	byID.Client = clientconfig.OpenStackClient{ProjectID: "0123456789abcdef", UserDomainID: "default"}
	for name, test := range map[string]struct {
		config clientconfig.Config
		format clientconfig.Format
		want   error
	}{
		"a kubeconfig":       {cloudConfig(), clientconfig.Kubeconfig, clientconfig.ErrFormat},
		"an exec credential": {tokenCloud(), clientconfig.ExecCredential, clientconfig.ErrFormat},
		"a password":         {password, clientconfig.CloudsYAML, clientconfig.ErrCredential}, // of a user in no domain
		"a domain by its id": {byID, clientconfig.VIMConnection, clientconfig.ErrFormat},
		"two credentials":    {both, clientconfig.CloudsYAML, clientconfig.ErrCredential},
		"half a credential":  {half, clientconfig.JSON, clientconfig.ErrCredential},
	} {
		text, err := test.config.Render(test.format)
		if !errors.Is(err, test.want) || !text.Empty() || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: Render() = %v, want %v, no text and no credential", name, err, test.want)
		}
	}
}

// TestACloudsEnvironmentSurvivesTheShell lets a real sh evaluate it.
func TestACloudsEnvironmentSurvivesTheShell(t *testing.T) {
	text, err := cloudConfig().Render(clientconfig.Environment)
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-euc", `eval "$(cat)"; printf %s "$OS_APPLICATION_CREDENTIAL_SECRET"`)
	sh.Stdin, sh.Env = strings.NewReader(text.Reveal()), []string{"PATH=/usr/bin:/bin"}
	if out, err := sh.Output(); string(out) != canary+"'s $HOME" || err != nil {
		t.Errorf("sh sees %q, %v", out, err)
	}
}

// TestACloudsFiles: the CA stands in a file of its own, all are ours alone, a renewed
// lease takes the place of the one before, and nothing is left.
func TestACloudsFiles(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	d, err := clientconfig.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	f, err := d.Write(cloudConfig())
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, v := range f.Env() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	clouds, ca := env["OS_CLIENT_CONFIG_FILE"], env["OS_CACERT"]
	if clouds != f.Main() || env["OS_CLOUD"] == "" || len(env) != 3 {
		t.Errorf("Env() = %v", env)
	}
	if text, err := os.ReadFile(ca); string(text) != twoCAs || err != nil {
		t.Errorf("the CA's file holds %q, %v", text, err)
	}
	text, err := os.ReadFile(clouds)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "cacert: "+ca+"\n") || strings.Contains(string(text), "#") || !strings.Contains(string(text), "  "+env["OS_CLOUD"]+":\n") {
		t.Errorf("the clouds.yaml does not name %s and %s:\n%s", ca, env["OS_CLOUD"], text)
	}
	for _, path := range listing(t, root) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); perm != 0o600 && !info.IsDir() || perm != 0o700 && info.IsDir() {
			t.Errorf("%s has mode %v", path, perm)
		}
	}
	renewed := cloudConfig()
	renewed.ApplicationCredentialID = "a-later-one"
	if err := f.Replace(renewed); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(clouds); !strings.Contains(string(text), "a-later-one") || !strings.Contains(string(text), "cacert: "+ca) || err != nil {
		t.Errorf("after Replace the clouds.yaml is %s, %v", text, err)
	}
	elsewhere := renewed
	elsewhere.Endpoint = "https://other.example:5000"
	if f.Replace(elsewhere) == nil || f.Replace(tokenConfig(t)) == nil {
		t.Error("Replace takes a lease of another server")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{clouds, ca} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	f, err = d.Write(insecureCloud())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(f.Main()); !strings.Contains(string(text), "verify: false\n") || strings.Contains(string(text), "cacert") || err != nil {
		t.Errorf("where the server is not verified the clouds.yaml is %s, %v", text, err)
	}
}

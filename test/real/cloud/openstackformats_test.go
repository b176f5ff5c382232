package cloud_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	gopheropenstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// openstackClient runs the unmodified openstack command with these variables and no
// others of OpenStack's, through a shell that may do something first.
func openstackClient(t *testing.T, env []string, script string) (string, error) {
	t.Helper()
	real.Program(t, "/usr/bin/openstack", "apt install python3-openstackclient python3-barbicanclient")
	sh := exec.CommandContext(t.Context(), "sh", "-euc", script)
	sh.Dir = t.TempDir()
	sh.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + sh.Dir}, env...)
	out, err := sh.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return string(out), nil
}

// uncommented takes the CA out of the comments of a configuration, as whoever follows
// them does, and returns the name of a file with it.
func uncommented(t *testing.T, text string) string {
	t.Helper()
	var ca strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# "); ok && !strings.Contains(rest, "Keystone's certificate") {
			ca.WriteString(rest)
		}
	}
	return private(t, ca.String())
}

// serveAPI runs the binary, and returns a client with an administrator's token.
func serveAPI(t *testing.T) *client.Client {
	t.Helper()
	url, token := serve(t, "")
	api, err := client.New(client.Options{Addr: url, Token: secret.NewText(token)})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// Every form of a lease is what OpenStack's own client logs in with, through TLS
// whose CA it knows from the lease alone, for both kinds of lease, until it is revoked.
func TestOpenStackFormatsAreUsed(t *testing.T) {
	t.Parallel()
	o := real.OpenStack(t)
	behind, who := o.TLS(t), o.Project(t)
	api := serveAPI(t)
	registered, err := api.RegisterVIM(t.Context(), v1.Registration{
		Name: "core", Type: "openstack", Endpoint: behind.AuthURL, CACert: behind.CAPEM, Region: o.Region,
		Project: who.Project, Domain: who.Domain, Credential: v1.Credential{Username: who.Username, Password: secret.NewText(who.Password)},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	for kind, purpose := range map[string]string{"an application credential": "", "a project token": openstack.Heat} {
		t.Run(kind, func(t *testing.T) {
			issue := func(format clientconfig.Format) v1.IssuedLease {
				t.Helper()
				l, err := api.IssueLease(t.Context(), v1.LeaseRequest{
					VIM: "core", TTL: "10m", Role: strings.Join(real.TenantRoles, ","), Purpose: purpose, Format: string(format),
				}, "")
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			// works lists the secrets of the project: Keystone's login and its catalog,
			// and Barbican, all through TLS.
			works := func(what string, env []string, before string) {
				t.Helper()
				const list = "openstack secret list -f json && openstack token issue -f value -c project_id"
				out, err := openstackClient(t, env, before+list)
				if err != nil || strings.TrimSpace(out) != "[]\n"+who.ProjectID {
					t.Errorf("%s: %q, %v", what, out, err)
				}
			}
			distrusts := func(what string, env []string, before string) {
				t.Helper()
				if out, err := openstackClient(t, env, before+"openstack token issue"); err == nil || !strings.Contains(err.Error(), "certificate verify failed") {
					t.Errorf("%s: %q, %v, want that the certificate is not verified", what, out, err)
				}
			}

			clouds := issue(clientconfig.CloudsYAML)
			text := clouds.ClientConfig.Text.Reveal()
			env := []string{"OS_CLIENT_CONFIG_FILE=" + private(t, text), "OS_CLOUD=core"}
			distrusts("the clouds.yaml alone", env, "")
			works("the clouds.yaml with its CA", append(env, "OS_CACERT="+uncommented(t, text)), "")

			vars := issue(clientconfig.Environment)
			text = vars.ClientConfig.Text.Reveal()
			set := `eval "$(cat ` + private(t, text) + `)"; `
			distrusts("the environment alone", nil, set)
			works("the environment with its CA", []string{"OS_CACERT=" + uncommented(t, text)}, set)

			config, err := clientconfig.Decode(issue(clientconfig.JSON).ClientConfig.Text)
			if err != nil {
				t.Fatal(err)
			}
			if cloud, _ := config.Client.(clientconfig.OpenStackClient); config.VIMID != registered.ID || cloud.ProjectID != who.ProjectID || cloud.ProjectDomain != who.Domain {
				t.Errorf("the JSON says %s, project %s of %s", config.VIMID, cloud.ProjectID, cloud.ProjectDomain)
			}
			dir, err := clientconfig.OpenDir(filepath.Join(t.TempDir(), "root"))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			files, err := dir.Write(config)
			if err != nil {
				t.Fatal(err)
			}
			works("the files", files.Env(), "")

			usesConnection(t, o, issue(clientconfig.VIMConnection), registered.ID, who)

			// What was revoked logs nobody in.
			l, err := api.RevokeLease(t.Context(), vars.ID)
			if err != nil || !real.Poll(t, process.Patience, func() bool {
				l, err = api.Lease(t.Context(), vars.ID)
				return err == nil && l.State == string(broker.LeaseRevoked)
			}) {
				t.Fatalf("the lease is %s, %v", l.State, err)
			}
			if out, err := openstackClient(t, []string{"OS_CACERT=" + uncommented(t, text)}, set+"openstack token issue"); err == nil {
				t.Errorf("after it was revoked the lease logs in: %s", out)
			} else if !strings.Contains(err.Error(), "HTTP 40") {
				t.Errorf("after it was revoked: %v, want Keystone's refusal", err)
			}
		})
	}
}

// usesConnection logs in as a VNFM does that reads a vimConnectionInfo.
func usesConnection(t *testing.T, o *real.Cloud, l v1.IssuedLease, vim string, who real.Tenant) {
	t.Helper()
	var info struct {
		VIMID         string `json:"vimId"`
		VIMType       string `json:"vimType"`
		InterfaceInfo struct {
			Endpoint            string   `json:"endpoint"`
			SkipVerification    bool     `json:"skipCertificateVerification"`
			TrustedCertificates []string `json:"trustedCertificates"`
		} `json:"interfaceInfo"`
		AccessInfo map[string]string `json:"accessInfo"`
		Extra      map[string]string `json:"extra"`
	}
	if err := json.Unmarshal([]byte(l.ClientConfig.Text.Reveal()), &info); err != nil {
		t.Fatal(err)
	}
	access := info.AccessInfo
	if info.VIMID != vim || info.VIMType != "ETSINFV.OPENSTACK_KEYSTONE.V_3" || info.InterfaceInfo.SkipVerification || info.Extra["leaseId"] != l.ID ||
		access["region"] != o.Region || access["project"] != who.Project || access["projectDomain"] != who.Domain {
		t.Errorf("the vimConnectionInfo is for %s, %s, %s, %s", info.VIMID, info.VIMType, access["project"], access["projectDomain"])
	}
	roots := x509.NewCertPool()
	for _, ca := range info.InterfaceInfo.TrustedCertificates {
		roots.AppendCertsFromPEM([]byte(ca))
	}
	identity := map[string]any{"methods": []string{"token"}, "token": map[string]string{"id": access["token"]}}
	if id := access["application_credential_id"]; id != "" {
		identity = map[string]any{
			"methods":                []string{"application_credential"},
			"application_credential": map[string]string{"id": id, "secret": access["application_credential_secret"]},
		}
	}
	body, err := json.Marshal(map[string]any{"auth": map[string]any{"identity": identity}})
	if err != nil {
		t.Fatal(err)
	}
	vnfm := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	defer vnfm.CloseIdleConnections()
	answer, err := vnfm.Post(info.InterfaceInfo.Endpoint+"/auth/tokens", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Errorf("Keystone answers %s to the vimConnectionInfo's credential", answer.Status)
	}
}

// A project token that was made with an application credential is used as it is:
// gophercloud does so, the openstack command is refused, and both forms say so.
func TestOpenStackFormatsOfADelegatedToken(t *testing.T) {
	o := real.OpenStack(t)
	behind, who := o.TLS(t), o.Project(t)
	id, text := o.ApplicationCredential(t, who, "restricted", false)
	api := serveAPI(t)
	if _, err := api.RegisterVIM(t.Context(), v1.Registration{
		Name: "core", Type: "openstack", Endpoint: behind.AuthURL, CACert: behind.CAPEM, Region: o.Region,
		Credential: v1.Credential{ApplicationCredentialID: id, ApplicationCredentialSecret: secret.NewText(text)},
	}, ""); err != nil {
		t.Fatal(err)
	}
	l, err := api.IssueLease(t.Context(), v1.LeaseRequest{VIM: "core", TTL: "10m", Role: strings.Join(real.TenantRoles, ","), Format: string(clientconfig.CloudsYAML)}, "")
	if err != nil {
		t.Fatal(err)
	}
	document := l.ClientConfig.Text.Reveal()
	var file struct {
		Clouds map[string]struct {
			Auth struct {
				URL       string `yaml:"auth_url"`
				Token     string `yaml:"token"`
				ProjectID string `yaml:"project_id"`
			} `yaml:"auth"`
			Region string `yaml:"region_name"`
		} `yaml:"clouds"`
	}
	if err := yaml.Unmarshal([]byte(document), &file); err != nil {
		t.Fatal(err)
	}
	core := file.Clouds["core"]
	// As gophercloud's own reader of a clouds.yaml fills them.
	options := gophercloud.AuthOptions{IdentityEndpoint: core.Auth.URL, TokenID: core.Auth.Token}
	if core.Auth.ProjectID != "" {
		options.Scope = &gophercloud.AuthScope{ProjectID: core.Auth.ProjectID}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(behind.CAPEM))
	provider, err := gopheropenstack.NewClient(options.IdentityEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	provider.HTTPClient = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	if err := gopheropenstack.Authenticate(t.Context(), provider, options); err != nil {
		t.Fatalf("gophercloud: %v", err)
	}
	keys, err := gopheropenstack.NewKeyManagerV1(provider, gophercloud.EndpointOpts{Region: core.Region})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.List(keys, nil).AllPages(t.Context()); err != nil {
		t.Errorf("gophercloud lists secrets: %v", err)
	}
	out, err := openstackClient(t, []string{"OS_CLIENT_CONFIG_FILE=" + private(t, document), "OS_CLOUD=core", "OS_CACERT=" + private(t, behind.CAPEM)}, "openstack secret list")
	if err == nil || !strings.Contains(err.Error(), "HTTP 403") {
		t.Errorf("the openstack command: %q, %v, want that it is refused", out, err)
	}
	if !strings.Contains(document, "# gophercloud does. The openstack command exchanges tokens, and is refused.\n") {
		t.Error("the clouds.yaml does not say who can use it")
	}
}

// A server that is not verified: the clouds.yaml says so to the client, the
// environment to who reads it.
func TestOpenStackFormatsWithoutVerification(t *testing.T) {
	o := real.OpenStack(t)
	behind, who := o.TLS(t), o.Project(t)
	api := serveAPI(t)
	if _, err := api.RegisterVIM(t.Context(), v1.Registration{
		Name: "core", Type: "openstack", Endpoint: behind.AuthURL, InsecureSkipVerify: true, Project: who.Project, Domain: who.Domain,
		Credential: v1.Credential{Username: who.Username, Password: secret.NewText(who.Password)},
	}, ""); err != nil {
		t.Fatal(err)
	}
	for format, use := range map[clientconfig.Format]func(file string) (env []string, command string){
		clientconfig.CloudsYAML: func(file string) ([]string, string) {
			return []string{"OS_CLIENT_CONFIG_FILE=" + file, "OS_CLOUD=core"}, "openstack"
		},
		clientconfig.Environment: func(file string) ([]string, string) { return nil, `eval "$(cat ` + file + `)"; openstack --insecure` },
	} {
		l, err := api.IssueLease(t.Context(), v1.LeaseRequest{VIM: "core", TTL: "10m", Format: string(format)}, "")
		if err != nil {
			t.Fatal(err)
		}
		env, command := use(private(t, l.ClientConfig.Text.Reveal()))
		if out, err := openstackClient(t, env, command+" token issue -f value -c project_id"); !strings.HasSuffix(strings.TrimSpace(out), who.ProjectID) || err != nil {
			t.Errorf("%s: %q, %v", format, out, err)
		}
	}
}

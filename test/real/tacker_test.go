package real_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/tacker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

// eitherCaller takes a token of ours, or else a Keystone's.
type eitherCaller struct{ own, keystone api.Authenticator }

func (e eitherCaller) Authenticate(ctx context.Context, token string) (policy.Principal, error) {
	if policy.OwnToken(token) || e.keystone == nil {
		return e.own.Authenticate(ctx, token)
	}
	return e.keystone.Authenticate(ctx, token)
}

// tackerAPI serves Tacker's API before a broker of its own, and returns its URL and
// a static token.
func tackerAPI(t *testing.T, keystone api.Authenticator) (url, token string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "data", "vimbroker.db"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	keys, err := keydir.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	token, digest := policy.NewToken()
	own, err := policy.NewStaticTokens([]policy.Token{{Name: "alice", Project: "demo", Roles: []string{policy.RoleMember}, SHA256: digest}})
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	b := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: log,
		Drivers: map[broker.VIMType]broker.Driver{
			broker.Kubernetes: kubernetes.New(kubernetes.Options{Log: log}), broker.OpenStack: openstack.New(openstack.Options{Log: log}),
		},
		Egress: func(string) *egress.Rules { return rules },
	})
	who := eitherCaller{own: own, keystone: keystone}
	server := httptest.NewServer(api.New(api.Options{
		Broker: b, Authenticator: who, Log: log, Tacker: tacker.New(tacker.Options{Registry: b, Authenticator: who, Log: log}),
	}))
	t.Cleanup(server.Close)
	return server.URL, token
}

// tackerClient is the unmodified openstack command with Tacker's plugin.
type tackerClient struct {
	*testing.T
	auth    []string
	secrets []string // never to be shown
}

// try runs a command; an error is its own words.
func (c tackerClient) try(args ...string) (string, error) {
	c.Helper()
	binary, err := exec.LookPath("openstack")
	if err != nil {
		c.Skip("the openstack command is not installed: apt install python3-openstackclient python3-tackerclient")
	}
	command := exec.CommandContext(c.Context(), binary, append(append([]string{}, c.auth...), args...)...)
	command.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.TempDir()}
	out, err := command.CombinedOutput()
	for _, s := range c.secrets {
		if strings.Contains(string(out), s) {
			c.Errorf("openstack %s shows a credential", args[:2])
		}
	}
	if err != nil {
		return "", fmt.Errorf("openstack %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (c tackerClient) run(args ...string) string {
	c.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.Fatal(err)
	}
	return out
}

func (c tackerClient) show(args ...string) map[string]any {
	c.Helper()
	var got map[string]any
	if out := c.run(append(args, "-f", "json")...); json.Unmarshal([]byte(out), &got) != nil {
		c.Fatalf("%v: %s", args, out)
	}
	return got
}

// file writes a VIM configuration file.
func (c tackerClient) file(text string) string {
	c.Helper()
	name := filepath.Join(c.TempDir(), "vim.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	return name
}

// story registers, lists, shows, changes and deletes a VIM; withoutTrust is a
// configuration file that says the same without a verified server, or empty.
func (c tackerClient) story(kind, config, withoutTrust string) {
	c.Helper()
	made := c.show("vim", "register", "--config-file", c.file(config), "--description", "first", "--is-default", "vim-1")
	if made["type"] != kind || made["name"] != "vim-1" || made["status"] != "ACTIVE" || made["description"] != "first" {
		c.Errorf("register = %v", made)
	}
	if _, err := c.try("vim", "register", "--config-file", c.file(config), "vim-1"); err == nil || !strings.Contains(err.Error(), "vim already exist") {
		c.Errorf("registering the name again = %v", err)
	}
	if list := c.run("vim", "list", "--long"); !strings.Contains(list, "vim-1") || !strings.Contains(list, made["id"].(string)) {
		c.Errorf("list = %s", list)
	}
	if shown := c.show("vim", "show", "vim-1"); shown["id"] != made["id"] || !strings.Contains(fmt.Sprint(shown["auth_cred"]), "***") {
		c.Errorf("show = %v", shown)
	}
	if set := c.show("vim", "set", "vim-1", "--name", "vim-2", "--description", "second", "--is-default", "False"); set["name"] != "vim-2" || set["description"] != "second" {
		c.Errorf("set = %v", set)
	}
	if withoutTrust != "" {
		if set := c.show("vim", "set", "vim-2", "--config-file", c.file(withoutTrust)); !strings.Contains(fmt.Sprint(set["auth_cred"]), `None`) {
			c.Errorf("set without a CA = %v", set["auth_cred"])
		}
	}
	c.run("vim", "set", made["id"].(string), "--config-file", c.file(config))
	c.run("vim", "delete", "vim-2")
	if _, err := c.try("vim", "show", "vim-2"); err == nil || !strings.Contains(err.Error(), "Unable to find") {
		c.Errorf("show after delete = %v", err)
	}
}

func TestTackersClientRegistersKubernetes(t *testing.T) {
	story := func(t *testing.T, endpoint, ca, credential string) {
		t.Helper()
		url, token := tackerAPI(t, nil)
		c := tackerClient{T: t, auth: []string{"--os-auth-type", "admin_token", "--os-endpoint", url, "--os-token", token}, secrets: []string{credential, token}}
		config := func(ca string) string {
			return fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: %s\nproject_name: default\ntype: kubernetes\nextra: {area: a@b}\n", endpoint, credential, ca)
		}
		c.story("kubernetes", config(fmt.Sprintf("%q", strings.Join(strings.Fields(ca), " "))), config("None"))
	}
	t.Run("fake", func(t *testing.T) {
		k := fakekube.New(t, fakekube.Options{})
		story(t, k.Endpoint, k.CA, k.AdminToken)
	})
	t.Run("real", func(t *testing.T) {
		k := real.Kubernetes(t)
		story(t, k.Endpoint, k.CAPEM, k.AdminToken(t))
	})
}

func TestTackersClientUsesKeystone(t *testing.T) {
	o := real.OpenStack(t)
	member := o.Project(t, real.TenantRoles...)
	url, token := tackerAPI(t, callersOf(t, o, o.Project(t, "service"), nil))
	var made struct{ Service struct{ ID string } }
	o.Do(t, "POST", o.AuthURL+"/services", map[string]any{"service": map[string]any{"name": "vimbroker", "type": "nfv-orchestration"}}, &made)
	t.Cleanup(func() { o.Do(t, "DELETE", o.AuthURL+"/services/"+made.Service.ID, nil, nil) })
	o.Do(t, "POST", o.AuthURL+"/endpoints", map[string]any{"endpoint": map[string]any{
		"service_id": made.Service.ID, "interface": "public", "region_id": o.Region, "url": url,
	}}, nil)
	c := tackerClient{T: t, secrets: []string{member.Password, token}, auth: []string{
		"--os-auth-url", o.AuthURL, "--os-username", member.Username, "--os-password", member.Password, "--os-project-name", member.Project,
		"--os-user-domain-name", member.Domain, "--os-project-domain-name", member.Domain, "--os-region-name", o.Region, "--os-identity-api-version", "3",
	}}
	k := fakekube.New(t, fakekube.Options{})
	c.secrets = append(c.secrets, k.AdminToken)
	c.story("kubernetes", fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: %q\nproject_name: default\ntype: kubernetes\n", k.Endpoint, k.AdminToken, k.CA), "")
	c.story("openstack", fmt.Sprintf("auth_url: %q\nusername: %q\npassword: %q\nproject_name: %q\nproject_domain_name: %q\nuser_domain_name: %q\n",
		o.AuthURL, member.Username, member.Password, member.Project, member.Domain, member.Domain), "")
}

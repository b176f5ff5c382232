package cloud_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// serve runs the binary with these settings more, and returns its URL and an
// administrator's token.
func serve(t *testing.T, settings string) (url, token string) {
	t.Helper()
	site := story.NewSite(t, story.Build(t, t.TempDir()), settings)
	text, err := os.ReadFile(site.File("root/token"))
	if err != nil {
		t.Fatal(err)
	}
	return site.Broker.URL, strings.TrimSpace(string(text))
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

// change is a VIM configuration file that changes a part of what is registered.
type change struct{ what, config, want string }

// story registers, lists, shows, changes and deletes a VIM of that kind. Each change
// leaves an auth_cred that holds what is wanted.
func (c tackerClient) story(kind, config string, changes ...change) {
	c.Helper()
	made := c.show("vim", "register", "--config-file", c.file(config), "--description", "first", "--is-default", "vim-1")
	if made["type"] != kind || made["name"] != "vim-1" || made["status"] != "ACTIVE" || made["description"] != "first" {
		c.Errorf("register = %v", made)
	}
	id := made["id"].(string)
	refused := func(want string, args ...string) {
		c.Helper()
		if _, err := c.try(args...); err == nil || !strings.Contains(err.Error(), want) {
			c.Errorf("%v = %v, want %q", args[:2], err, want)
		}
	}
	refused("vim already exist", "vim", "register", "--config-file", c.file(config), "vim-1")
	refused("Default VIM already exists "+id, "vim", "register", "--config-file", c.file(config), "--is-default", "another")
	if list := c.run("vim", "list", "--long"); !strings.Contains(list, "vim-1") || !strings.Contains(list, id) {
		c.Errorf("list = %s", list)
	}
	if shown := c.show("vim", "show", "vim-1"); shown["id"] != id || !strings.Contains(fmt.Sprint(shown["auth_cred"]), "***") {
		c.Errorf("show = %v", shown)
	}
	if set := c.show("vim", "set", "vim-1", "--name", "vim-2", "--description", "second", "--is-default", "False"); set["name"] != "vim-2" || set["description"] != "second" {
		c.Errorf("set = %v", set)
	}
	for _, n := range changes {
		if set := c.show("vim", "set", "vim-2", "--config-file", c.file(n.config)); !strings.Contains(fmt.Sprint(set["auth_cred"]), n.want) {
			c.Errorf("set of %s = %v, want %q", n.what, set["auth_cred"], n.want)
		}
	}
	c.run("vim", "delete", "vim-2")
	refused("Unable to find", "vim", "show", "vim-2")
}

const tackerEnabled = "tackerAPI: {enabled: true}\n"

func TestTackersClientRegistersKubernetes(t *testing.T) {
	t.Parallel()
	// A token and a CA are changed each alone, as far as its client can: it sends all of a file.
	story := func(t *testing.T, settings, endpoint, ca, credential, another string) {
		t.Helper()
		url, token := serve(t, settings)
		c := tackerClient{T: t, auth: []string{"--os-auth-type", "admin_token", "--os-endpoint", url, "--os-token", token}, secrets: []string{credential, another, token}}
		config := func(credential, ca string) string {
			return fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: %s\nproject_name: default\ntype: kubernetes\nextra: {area: a@b}\n", endpoint, credential, ca)
		}
		verified := fmt.Sprintf("%q", strings.Join(strings.Fields(ca), " "))
		c.story("kubernetes", config(credential, verified),
			change{"a token", config(another, verified), "BEGIN CERTIFICATE"},
			change{"no CA", config(another, "None"), "None"},
			change{"a CA", config(another, verified), "BEGIN CERTIFICATE"})
	}
	t.Run("fake, with Tacker's own status codes", func(t *testing.T) {
		k := fakekube.New(t, fakekube.Options{})
		story(t, "tackerAPI: {enabled: true, compat: tacker}\n", k.Endpoint, k.CA, k.AdminToken, k.AdminTokenFor(time.Hour))
	})
	t.Run("real", func(t *testing.T) {
		k := real.Kubernetes(t)
		story(t, tackerEnabled, k.Endpoint, k.CAPEM, k.AdminToken(t), k.AdminToken(t))
	})
}

func TestTackersClientUsesKeystone(t *testing.T) {
	t.Parallel()
	o := real.OpenStack(t)
	member, validator := o.Project(t, real.TenantRoles...), o.Project(t, "service")
	url, token := serve(t, tackerEnabled+fmt.Sprintf("trust: [{name: k, keystone: {authURL: %q, timeout: 60s, auth: {password: {userID: %q, projectID: %q, passwordFile: %q}}}}]\n",
		o.AuthURL, validator.UserID, validator.ProjectID, private(t, validator.Password)))
	var made struct{ Service struct{ ID string } }
	o.Do(t, "POST", o.AuthURL+"/services", map[string]any{"service": map[string]any{"name": "vimbroker", "type": "nfv-orchestration"}}, &made)
	t.Cleanup(func() { o.Do(t, "DELETE", o.AuthURL+"/services/"+made.Service.ID, nil, nil) })
	o.Do(t, "POST", o.AuthURL+"/endpoints", map[string]any{"endpoint": map[string]any{
		"service_id": made.Service.ID, "interface": "public", "region_id": o.Region, "url": url,
	}}, nil)
	k := fakekube.New(t, fakekube.Options{})
	c := tackerClient{T: t, secrets: []string{member.Password, k.AdminToken, token}, auth: []string{
		"--os-auth-url", o.AuthURL, "--os-username", member.Username, "--os-password", member.Password, "--os-project-name", member.Project,
		"--os-user-domain-name", member.Domain, "--os-project-domain-name", member.Domain, "--os-region-name", o.Region, "--os-identity-api-version", "3",
	}}
	c.story("kubernetes", fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: %q\nproject_name: default\ntype: kubernetes\n", k.Endpoint, k.AdminToken, k.CA))
	config := func(who real.Tenant) string {
		return fmt.Sprintf("auth_url: %q\nusername: %q\npassword: %q\nproject_name: %q\nproject_domain_name: %q\nuser_domain_name: %q\n",
			o.AuthURL, who.Username, who.Password, who.Project, who.Domain, who.Domain)
	}
	colleague := o.Colleague(t, member)
	c.secrets = append(c.secrets, colleague.Password)
	c.story("openstack", config(member), change{"another user", config(colleague), colleague.Username})
}

// TestTackersClientLivesAVNF: the unmodified client of Tacker uploads a package and has an instance of it live whole. The broker fetches
// the package.
func TestTackersClientLivesAVNF(t *testing.T) {
	t.Parallel()
	k := real.Kubernetes(t)
	k.WithNode(t)
	kubectl := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), k.Kubectl, append([]string{"--kubeconfig", k.Kubeconfig}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %s", args, out)
		}
		return strings.TrimSpace(string(out))
	}
	kubectl("create", "namespace", "tackersclient")
	t.Cleanup(func() {
		_ = exec.Command(k.Kubectl, "--kubeconfig", k.Kubeconfig, "delete", "namespace", "tackersclient", "--wait=false").Run()
	})
	url, token := serve(t, tackerEnabled+"sol003: {enabled: true}\n")
	credential := k.AdminToken(t)
	c := tackerClient{T: t, secrets: []string{credential, token}, auth: []string{
		"--os-auth-type", "admin_token", "--os-endpoint", url, "--os-token", token, "--os-tacker-api-version", "2",
	}}
	// Packages and VIMs are of version 1 of its commands, instances of version 2 of the interface.
	first := c
	first.auth = c.auth[:len(c.auth)-2]
	vim := first.show("vim", "register", "--is-default", "edge", "--config-file", c.file(fmt.Sprintf(
		"auth_url: %q\nbearer_token: %q\nssl_ca_cert: %q\nproject_name: default\ntype: kubernetes\n",
		k.Endpoint, credential, strings.Join(strings.Fields(k.CAPEM), " "))))

	content := csar.Tacker().Zip(t)
	const password = "canary-of-the-origin"
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, given, _ := r.BasicAuth(); user != "nfvo" || given != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(origin.Close)
	pkg := first.show("vnf", "package", "create")["ID"].(string)
	first.run("vnf", "package", "upload", "--url", origin.URL, "--user-name", "nfvo", "--password", password, pkg)
	if shown := first.show("vnf", "package", "show", pkg); shown["Onboarding State"] != "ONBOARDED" {
		t.Errorf("the package is %v", shown)
	}
	if list := first.run("vnf", "package", "list"); !strings.Contains(list, pkg) {
		t.Errorf("the packages are %s", list)
	}

	id := c.show("vnflcm", "create", csar.TackerVNFD, "--name", "edge")["ID"].(string)
	request, err := json.Marshal(map[string]any{
		"flavourId":         "simple",
		"vimConnectionInfo": map[string]any{"vim1": map[string]any{"vimId": vim["id"], "vimType": "ETSINFV.KUBERNETES.V_1"}},
		"additionalParams": map[string]any{"namespace": "tackersclient", "lcm-kubernetes-def-files": []string{
			"Files/kubernetes/config.yaml", "Files/kubernetes/service_secret.yaml", "Files/kubernetes/deployment.yaml", "Files/kubernetes/pod.yaml",
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	begun := func(args ...string) {
		t.Helper()
		c.run(append([]string{"vnflcm"}, args...)...)
		if !real.Poll(t, 2*time.Minute, func() bool { return operationsEnded(t, url, token) }) {
			t.Fatalf("vnflcm %s does not end", args[0])
		}
	}
	begun("instantiate", id, c.file(string(request)))
	if shown := c.show("vnflcm", "show", id); shown["Instantiation State"] != "INSTANTIATED" {
		t.Errorf("instantiated, it is %v", shown)
	}
	begun("scale", "--type", "SCALE_OUT", "--aspect-id", "web_aspect", "--number-of-steps", "1", id)
	if got := kubectl("-n", "tackersclient", "get", "deployment", "edge-web", "-o", "jsonpath={.spec.replicas}"); got != "2" {
		t.Errorf("scaled out there are %s, want 2", got)
	}
	kubectl("-n", "tackersclient", "delete", "configmap", "edge-pages")
	begun("heal", id)
	kubectl("-n", "tackersclient", "get", "configmap", "edge-pages")
	if list := c.run("vnflcm", "op", "list"); strings.Count(list, "COMPLETED") != 3 {
		t.Errorf("the operations are %s", list)
	}
	begun("terminate", id, "--termination-type", "FORCEFUL")
	if left := kubectl("-n", "tackersclient", "get", "deployments,services,pods,secrets", "-l", "vimbroker.io/instance", "-o", "name"); left != "" {
		t.Errorf("terminated, there is %s", left)
	}
	c.run("vnflcm", "delete", id)
	first.run("vnf", "package", "update", "--operational-state", "DISABLED", pkg)
	first.run("vnf", "package", "delete", pkg)
}

// operationsEnded reports whether no operation is under way, and fails where one has failed.
func operationsEnded(t *testing.T, url, token string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/vnflcm/v2/vnf_lcm_op_occs?fields=error", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Version", "2.0.0")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var all []struct {
		State string `json:"operationState"`
		Error any    `json:"error"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		switch o.State {
		case "FAILED_TEMP", "ROLLED_BACK":
			t.Fatalf("an operation is %s: %v", o.State, o.Error)
		case "STARTING", "PROCESSING":
			return false
		}
	}
	return true
}

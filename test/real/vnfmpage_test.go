package real_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// vnfmPage is docs/vnfm.md as an operator follows it, and Tacker as it works once that is done.
type vnfmPage struct {
	*story.Site
	t        *testing.T
	sections map[string][]story.Step
	ops      int
}

// theInstance is the VNF instance of the page.
const theInstance = "97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11"

// follow does the steps of a section. The ids and the secret on the page are those of the clients that it makes.
func (p *vnfmPage) follow(title string) { p.t.Helper(); p.do(title, p.sections[title]) }

func (p *vnfmPage) do(title string, steps []story.Step) {
	p.t.Helper()
	if len(steps) == 0 {
		p.t.Fatalf("the page has no steps below %q", title)
	}
	for _, step := range steps {
		if strings.HasPrefix(step.Command, "VIMBROKER_CLIENT_ID=") {
			p.Replace = append(p.Replace, "f3c1a9d2-93a4-4d11-8a44-5b7a3f0c1e77", p.client("argocd"))
		}
		if strings.Contains(step.Command, " LEASE ") {
			p.Replace = append(p.Replace, "LEASE", p.leaseOf("argocd-edge"))
		}
		switch step.Path {
		case "tacker.conf":
			secret, err := os.ReadFile(p.File("root/tacker.secret"))
			if err != nil {
				p.t.Fatal(err)
			}
			p.Replace = append(p.Replace, "8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", p.client("tacker-north"), "vbc_...", strings.TrimSpace(string(secret)))
		case "tacker-west.conf":
			p.Replace = append(p.Replace, "2b0c6f1d-5a5e-4a3b-8f0e-6a1f0c7a5522", p.client("tacker-west"))
		}
		p.Follow(p.t, []story.Step{step})
	}
}

func (p *vnfmPage) leaseOf(instance string) string {
	p.t.Helper()
	var l struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(p.Must(p.t, "vimbroker lease list --instance "+instance+" -o json")), &l); err != nil || len(l.Items) != 1 {
		p.t.Fatalf("leases of %s: %v, %v", instance, l, err)
	}
	return l.Items[0].ID
}

// argoCD reads a cluster as Argo CD does, runs its plugin as client-go does there, and lists with what that prints.
func (p *vnfmPage) argoCD(secret string) (int, string) {
	p.t.Helper()
	var s struct {
		Metadata struct{ Labels map[string]string }
		Data     map[string][]byte
	}
	if err := json.Unmarshal([]byte(p.Must(p.t, "kubectl get secret -n vnfm-page-argocd "+secret+" -o json")), &s); err != nil {
		p.t.Fatal(err)
	}
	var config struct {
		Exec struct {
			APIVersion, Command string
			Args                []string
			Env                 map[string]string
		} `json:"execProviderConfig"`
		TLS struct{ CAData []byte } `json:"tlsClientConfig"`
	}
	if err := json.Unmarshal(s.Data["config"], &config); err != nil || s.Metadata.Labels["argocd.argoproj.io/secret-type"] != "cluster" {
		p.t.Fatalf("the Secret %v: %v", s.Metadata.Labels, err)
	}
	for _, word := range []string{"vbl_", "vbc_", "eyJ"} {
		for key, text := range s.Data {
			if strings.Contains(string(text), word) {
				p.t.Errorf("%s of the Secret holds a credential", key)
			}
		}
	}
	plugin := story.Shell{Dir: p.Dir, Env: []string{
		"HOME=" + p.File("tmp"), "TMPDIR=" + p.File("tmp"),
		`KUBERNETES_EXEC_INFO={"apiVersion":"` + config.Exec.APIVersion + `","kind":"ExecCredential","spec":{"interactive":false}}`,
	}}
	for name, value := range config.Exec.Env {
		plugin.Env = append(plugin.Env, name+"="+value)
	}
	r := plugin.Try(p.t, config.Exec.Command+" "+strings.Join(config.Exec.Args, " "))
	if r.Code != 0 {
		return 0, r.Stderr
	}
	var got struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil {
		p.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.TLS.CAData)
	at := string(s.Data["server"]) + "/api/v1/namespaces/" + string(s.Data["namespaces"]) + "/configmaps"
	return p.send(p.over(&tls.Config{RootCAs: pool}), "GET", at, "", nil, "Authorization", "Bearer "+got.Status.Token)
}

func (p *vnfmPage) client(name string) string {
	p.t.Helper()
	var c struct{ ID string }
	if err := json.Unmarshal([]byte(p.Must(p.t, "vimbroker client show "+name+" -o json")), &c); err != nil {
		p.t.Fatal(err)
	}
	return c.ID
}

// tackerConf is a Tacker by its tacker.conf.
type tackerConf struct {
	*vnfmPage
	v2nfvo map[string]string
	nfvo   *http.Client
}

// tacker starts a Tacker with a file that the page has it write. It verifies its NFVO by the file's authority, and
// logs in with the secret or with the certificate that the file says.
func (p *vnfmPage) tacker(conf string) *tackerConf {
	p.t.Helper()
	text, err := os.ReadFile(p.File("root/" + conf))
	if err != nil {
		p.t.Fatal(err)
	}
	c := &tackerConf{vnfmPage: p, v2nfvo: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, " = "); ok {
			c.v2nfvo[key] = strings.TrimSpace(value)
		}
	}
	config, bundle := &tls.Config{RootCAs: x509.NewCertPool()}, "nfvo_ca_cert_file"
	if c.v2nfvo["use_client_secret_basic"] != "True" {
		bundle = "mtls_ca_cert_file"
		mine, err := tls.LoadX509KeyPair(c.v2nfvo["mtls_client_cert_file"], c.v2nfvo["mtls_client_cert_file"])
		if err != nil {
			p.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{mine}
	}
	if text, err = os.ReadFile(c.v2nfvo[bundle]); err != nil || !config.RootCAs.AppendCertsFromPEM(text) {
		p.t.Fatalf("%s: %v", bundle, err)
	}
	c.nfvo = p.over(config)
	return c
}

func (p *vnfmPage) over(config *tls.Config) *http.Client {
	transport := &http.Transport{TLSClientConfig: config}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// verifying is Tacker's HTTP client for one connection: "verify = ssl_ca_cert if ssl_ca_cert else False".
func (p *vnfmPage) verifying(c connection) *http.Client {
	p.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if c.Face.CA == "" {
		p.t.Errorf("Tacker sends the secret to whoever answers at %s", c.Access.URL)
		config.InsecureSkipVerify = true //nolint:gosec // as Tacker does
	}
	config.RootCAs.AppendCertsFromPEM([]byte(c.Face.CA))
	return p.over(config)
}

// send sends a request, and returns status and text of the answer.
func (p *vnfmPage) send(by *http.Client, method, to, kind string, body []byte, headers ...string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, to, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	for n := 1; n < len(headers); n += 2 {
		r.Header.Set(headers[n-1], headers[n])
	}
	answer, err := by.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// login fetches a token of the client, as before every request to the NFVO.
func (c *tackerConf) login() string {
	c.t.Helper()
	form, headers := url.Values{"grant_type": {"client_credentials"}}, []string{}
	if c.v2nfvo["use_client_secret_basic"] == "True" {
		basic := base64.StdEncoding.EncodeToString([]byte(c.v2nfvo["client_id"] + ":" + c.v2nfvo["client_password"]))
		headers = append(headers, "Authorization", "Basic "+basic)
	} else {
		form.Set("client_id", c.v2nfvo["client_id"])
	}
	status, text := c.send(c.nfvo, "POST", c.v2nfvo["token_endpoint"], "application/x-www-form-urlencoded", []byte(form.Encode()), headers...)
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK {
		c.t.Fatalf("the client logs in: %d %s", status, text)
	}
	return "Bearer " + got.Token
}

// ask asks for a grant.
func (c *tackerConf) ask(operation, instance string) (int, string) {
	c.t.Helper()
	c.ops++
	at := fmt.Sprintf("https://127.0.0.1:1/vnflcm/v2/vnf_lcm_op_occs/op-%d", c.ops)
	body, err := json.Marshal(map[string]any{
		"vnfInstanceId": instance, "vnfLcmOpOccId": filepath.Base(at), "vnfdId": csar.TackerVNFD, "operation": operation, "isAutomaticInvocation": false,
		"additionalParams": map[string]any{"namespace": "vnfm-page"},
		"_links":           map[string]any{"vnfLcmOpOcc": map[string]string{"href": at}, "vnfInstance": map[string]string{"href": at + "/i"}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send(c.nfvo, "POST", c.v2nfvo["endpoint"]+"/grant/v1/grants", "application/json", body,
		"Authorization", c.login(), "Version", c.v2nfvo["grant_api_version"])
}

// granted is the connection of a grant.
func (c *tackerConf) granted(operation, instance string) connection {
	c.t.Helper()
	status, text := c.ask(operation, instance)
	var got struct {
		VIMs map[string]connection `json:"vimConnectionInfo"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusCreated || len(got.VIMs) != 1 {
		c.t.Fatalf("%s of %s = %d %s", operation, instance, status, text)
	}
	for _, one := range got.VIMs {
		return one
	}
	return connection{}
}

// works fetches a token under a connection, and does something on the cluster with it. Where the token is refused it
// returns why.
func (c *tackerConf) works(at connection, method, path, body string) string {
	c.t.Helper()
	by := c.verifying(at)
	form := url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {at.Access.ClientID},
		"username": {at.Access.Username}, "password": {at.Access.Password},
	}.Encode()
	status, text := c.send(by, "POST", at.Access.URL, "application/x-www-form-urlencoded", []byte(form))
	if status != http.StatusOK {
		return text
	}
	var got struct {
		Token string `json:"id_token"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		c.t.Fatal(err)
	}
	status, text = c.send(by, method, at.Face.Endpoint+path, "application/json", []byte(body), "Authorization", "Bearer "+got.Token)
	if status >= 300 {
		c.t.Errorf("%s %s on the cluster = %d %s", method, path, status, text)
	}
	return ""
}

const (
	configMaps = "/api/v1/namespaces/vnfm-page/configmaps"
	aConfigMap = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}}`
)

// lives instantiates an instance, and has it work.
func (c *tackerConf) lives(instance string) connection {
	c.t.Helper()
	first := c.granted("INSTANTIATE", instance)
	if refused := c.works(first, "POST", configMaps, fmt.Sprintf(aConfigMap, "of-"+instance)); refused != "" {
		c.t.Fatalf("INSTANTIATE of %s gets no token: %s", instance, refused)
	}
	if again := c.granted("SCALE", instance); again != first {
		c.t.Errorf("SCALE of %s has the connection %+v, not that of INSTANTIATE", instance, again.Face)
	}
	return first
}

// setTheScene is a machine whose server has a certificate, and a cluster that is registered twice.
func setTheScene(t *testing.T) *vnfmPage {
	t.Helper()
	cluster := real.Kubernetes(t)
	authority, err := pki.NewCA("authority of the broker")
	ofClients, clientsErr := pki.NewCA("authority of VNFMs")
	if err != nil || clientsErr != nil {
		t.Fatal(err, clientsErr)
	}
	pair, err := authority.Server("127.0.0.1")
	mine, mineErr := ofClients.Client("tacker-west", []string{"Acme"}, time.Now().Add(time.Hour))
	if err != nil || mineErr != nil {
		t.Fatal(err, mineErr)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"chain.pem": append(pair.Cert, authority.PEM...), "key.pem": pair.Key, "ca.pem": authority.PEM} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tls := fmt.Sprintf("tls: {certFile: %q, keyFile: %q}\n", filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"))
	p := &vnfmPage{t: t, Site: story.NewSite(t, story.Build(t, t.TempDir()), tls, filepath.Dir(cluster.Kubectl)), sections: map[string][]story.Step{}}
	for _, name := range []string{"etc/tacker", "etc/vimbroker/policies", "etc/vimbroker-client"} {
		if err := os.MkdirAll(p.File(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.Standing = "policyDir: " + p.File("etc/vimbroker/policies") + "\n"
	p.Write(t, "etc/tacker/vimbroker-ca.pem", string(authority.PEM))
	p.Write(t, "etc/tacker/tacker.pem", string(mine.Cert)+string(mine.Key))
	p.Write(t, "etc/vimbroker/clients-ca.pem", string(ofClients.PEM))
	p.Write(t, "etc/vimbroker-client/ca.pem", string(authority.PEM))
	p.Write(t, "root/tacker.crt", string(mine.Cert))
	p.Write(t, "root/edge.csar", string(csar.Tacker().Zip(t)))
	p.Env = append(p.Env, "VIMBROKER_ADDR="+p.Broker.URL, "VIMBROKER_CA_FILE="+filepath.Join(dir, "ca.pem"), "KUBECONFIG="+cluster.Kubeconfig)
	p.Replace = []string{
		"vimbroker.example:8443", strings.TrimPrefix(p.Broker.URL, "https://"), "/etc/tacker", p.File("etc/tacker"),
		"[web]", "[vnfm-page]", "namespace web", "namespace vnfm-page", "-n web", "-n vnfm-page",
		"namespace argocd", "namespace vnfm-page-argocd", "namespace: argocd", "namespace: vnfm-page-argocd",
		"/custom-tools/vimbroker", p.File("usr/local/bin/vimbroker"), // the cluster is everybody's
	}
	for _, vim := range []string{"edge-1", "edge-2"} {
		p.Must(t, "vimbroker vim register --kubeconfig "+cluster.Kubeconfig+" "+vim)
	}
	t.Cleanup(func() { p.Try(t, "kubectl delete --wait=false namespace vnfm-page vnfm-page-argocd") })
	sections, err := story.Runbook("../../docs/vnfm.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		p.sections[s.Title] = s.Steps
	}
	return p
}

// TestDocsOfVNFMs types docs/vnfm.md, over https and mutual TLS, on a real cluster.
func TestDocsOfVNFMs(t *testing.T) {
	t.Parallel()
	p := setTheScene(t)
	p.follow("Set up")
	north := p.tacker("tacker.conf")
	status, text := p.send(north.nfvo, "GET", north.v2nfvo["endpoint"]+"/vnfpkgm/v2/onboarded_vnf_packages/"+csar.TackerVNFD, "", nil,
		"Authorization", north.login(), "Version", north.v2nfvo["vnfpkgm_api_version"], "Accept", "application/json")
	if status != http.StatusOK {
		t.Errorf("the package = %d %s", status, text)
	}
	web := north.lives(theInstance)

	p.follow("Another secret")
	secret, err := os.ReadFile(p.File("root/tacker.secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{north.v2nfvo["client_password"], strings.TrimSpace(string(secret))} { // for the overlap
		north.v2nfvo["client_password"] = password
		if again := north.granted("HEAL", theInstance); again != web {
			t.Errorf("after the rotation HEAL has the connection %+v", again.Face)
		}
	}

	p.follow("Mutual TLS")
	west := p.tacker("tacker-west.conf")
	other := west.lives("11111111-6ad9-4a1a-9c55-4a9a1f0c7a11")
	if other.Access.ClientID == web.Access.ClientID {
		t.Error("two clients have one id")
	}
	as := "VIMBROKER_CLIENT_ID=" + other.Access.ClientID + " VIMBROKER_CLIENT_CERT_FILE=" + p.File("etc/tacker/tacker.pem") + " vimbroker whoami"
	if who := p.Must(t, as); !strings.Contains(who, "client:"+other.Access.ClientID) {
		t.Errorf("by its certificate the client is %s", who)
	}

	revoke := p.sections["Revoke"]
	p.do("Revoke", revoke[:1])
	if status, text := north.ask("SCALE", theInstance); status != http.StatusForbidden || !strings.Contains(text, "was revoked") {
		t.Errorf("SCALE after the revocation = %d %s", status, text)
	}
	p.do("Revoke", revoke[1:])
	if refused := north.works(web, "GET", configMaps, ""); refused == "" {
		t.Error("before its grant is resumed an instance that was cut off gets a token")
	}
	if again := north.granted("SCALE", theInstance); again.Access.Username != web.Access.Username {
		t.Errorf("after grant:resume the connection is for %s, not for %s", again.Access.Username, web.Access.Username)
	}
	if refused := north.works(web, "GET", configMaps, ""); refused != "" {
		t.Errorf("the instance that was resumed gets no token: %s", refused)
	}
	if refused := west.works(other, "GET", configMaps, ""); refused != "" {
		t.Errorf("the other client's instance gets no token: %s", refused)
	}
	p.follow("A kubeconfig without a credential")
	kubeconfig, err := os.ReadFile(p.File("root/web.kubeconfig"))
	ofPlugin, secretErr := os.ReadFile(p.File("root/argocd.secret"))
	if err != nil || secretErr != nil {
		t.Fatal(err, secretErr)
	}
	for _, word := range []string{"vbl_", "vbc_", "eyJ", strings.TrimSpace(string(ofPlugin))} {
		if strings.Contains(string(kubeconfig), word) {
			t.Errorf("the kubeconfig holds %q", word[:3])
		}
	}
	p.Write(t, "etc/vimbroker-client/secret", string(ofPlugin))
	p.follow("Push a kubeconfig")
	if status, text := p.argoCD("edge-1-web"); status != http.StatusOK {
		t.Errorf("Argo CD lists %d %s", status, text)
	}
	p.Must(t, "vimbroker lease revoke --instance argocd-edge")
	if status, text := p.argoCD("edge-1-web"); status != 0 || !strings.Contains(text, "has ended") {
		t.Errorf("after the revocation Argo CD lists %d %s", status, text)
	}
	for _, word := range []string{strings.TrimSpace(string(ofPlugin)), web.Access.Password, other.Access.Password, north.v2nfvo["client_password"]} {
		if strings.Contains(p.Broker.Log.String(), word) || strings.Contains(p.Must(t, "vimbroker audit list --limit 1000 -o json"), word) {
			t.Error("a secret stands in a log")
		}
	}
}

package real_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/test/real"
)

// curlONAP calls the door as scripts of ONAP's do: by curl, with the client in the URL, and no header of its own.
func (s *onapStand) curlONAP(want int, path string, args ...string) string {
	s.t.Helper()
	answer := filepath.Join(s.t.TempDir(), "answer")
	base := strings.Replace(s.url, "://", "://"+s.user+":"+s.token+"@", 1) + "/v1"
	args = append([]string{"-s", "-w", "%{http_code}", "-o", answer}, append(args, base+path)...)
	status, err := exec.CommandContext(s.t.Context(), real.Program(s.t, "curl", "install the package curl"), args...).Output()
	text, _ := os.ReadFile(answer)
	if err != nil || string(status) != fmt.Sprint(want) {
		s.t.Fatalf("curl %s = %s, want %d: %s (%v)", path, status, want, text, err)
	}
	if strings.Contains(string(text), onapCanary) {
		s.t.Errorf("curl %s shows a secret: %s", path, text)
	}
	return string(text)
}

// jq reads a member as a script does.
func (s *onapStand) jq(filter, text string) string {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), real.Program(s.t, "jq", "install the package jq"), "-r", filter)
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("jq %s: %v: %s", filter, err, text)
	}
	return strings.TrimSpace(string(out))
}

// scriptChart are the chart and the profile of a script: a chart with another below it, a Service whose name is a value, and a
// Deployment that the profile replaces.
var scriptChart = map[string]string{
	"vault/Chart.yaml":               "apiVersion: v1\nname: vault\nversion: 2.0.0\n",
	"vault/values.yaml":              "global: {}\nservice: {name: vault, port: 8200}\n",
	"vault/charts/common/Chart.yaml": "apiVersion: v1\nname: common\nversion: 2.0.0\n",
	"vault/charts/common/templates/_name.tpl": `{{- define "common.fullname" -}}{{ .Release.Name }}-{{ .Chart.Name }}{{- end -}}
`,
	"vault/templates/deployment.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: not-replaced}\n",
	"vault/templates/service.yaml": `apiVersion: v1
kind: Service
metadata: {name: {{ .Values.service.name }}}
spec: {ports: [{port: {{ .Values.service.port }}}], selector: {app: vault}}
`,
	"profile/manifest.yaml": "---\nversion: v1\ntype:\n  values: \"override_values.yaml\"\n  configresource:\n" +
		"    - filepath: testfol/subdir/deployment.yaml\n      chartpath: vault/templates/deployment.yaml\n",
	"profile/override_values.yaml": "service: {name: override-vault, port: 8222}\npassword: " + onapCanary + "\n",
	"profile/testfol/subdir/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ include "common.fullname" . }}}
spec:
  selector: {matchLabels: {app: vault}}
  template:
    metadata: {labels: {app: vault}}
    spec: {containers: [{name: vault, image: registry.invalid/vault:1}]}
`,
}

// TestONAPScript is the flow of multicloud-k8s' kud/tests/plugin.sh: curl with its flags and bodies, in its order. It ends with
// the instance last of all; a definition and a profile that are used stay.
func TestONAPScript(t *testing.T) {
	t.Parallel()
	s := newONAP(t)
	s.namespace("onap-script")
	dir := t.TempDir()
	for name, text := range scriptChart {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err = cmp.Or(err, os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		filepath.Join(real.HelmTools(t), "helm") + " package vault --version 0.0.0", "tar -czf rb_profile.tar.gz -C profile .",
	} {
		c := exec.CommandContext(t.Context(), "sh", "-c", line)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	const definition, profile = "/rb/definition/test-rbdef/v1", "/rb/definition/test-rbdef/v1/profile/profile1"
	const labels = `"labels": {"vnf_customization_uuid": "ebe353d2-30b7-11e9-9515-525400277b3d"}`
	s.curlONAP(201, "/rb/definition", "-d", `
{
    "rb-name": "test-rbdef", "rb-version": "v1", "chart-name": "vault", "description": "testing", `+labels+`
}
`)
	s.curlONAP(200, definition+"/content", "--data-binary", "@"+filepath.Join(dir, "vault-0.0.0.tgz"))
	if got := s.jq(".[0].\"rb-name\"", s.curlONAP(200, "/rb/definition/test-rbdef")); got != "test-rbdef" {
		t.Errorf("the definition is listed as %q", got)
	}
	// The script spells kubernetes-version in its own way.
	s.curlONAP(201, definition+"/profile", "-d", `{"profile-name": "profile1", "rb-name": "test-rbdef", "rb-version": "v1",
		"release-name": "testrelease", "namespace": "onap-script", "kubernetesversion": "v1.30.0", `+labels+`}`)
	s.curlONAP(200, profile+"/content", "--data-binary", "@"+filepath.Join(dir, "rb_profile.tar.gz"))
	if got := s.jq(`."profile-name"`, s.curlONAP(200, profile)); got != "profile1" {
		t.Errorf("the profile is %q", got)
	}
	s.curlONAP(201, "/connectivity-info", "-F", `metadata={"cloud-region": "kud", "cloud-owner": "test_owner"}`, "-F", "file=@"+s.cluster.Kubeconfig)
	id := s.jq(".id", s.curlONAP(201, "/instance", "-d", `{"cloud-region": "kud", "rb-name": "test-rbdef", "rb-version": "v1", "profile-name": "profile1"}`))
	_, err := s.apps.Deployments("onap-script").Get(t.Context(), "testrelease-vault", metav1.GetOptions{})
	_, err2 := s.core.Services("onap-script").Get(t.Context(), "override-vault", metav1.GetOptions{})
	if err != nil || err2 != nil {
		t.Errorf("the Deployment of the profile: %v; the Service with its name: %v", err, err2)
	}
	if got := s.jq(`."release-name"`, s.curlONAP(200, "/instance/"+id)); got != "testrelease" {
		t.Errorf("the release is %q", got)
	}
	if got := s.jq(".ready", s.curlONAP(200, "/instance/"+id+"/status")); got != "true" {
		t.Errorf("the status says ready: %q", got)
	}
	s.stolen()
	for _, used := range []string{definition, profile} {
		if said := s.curlONAP(409, used, "-X", "DELETE"); !strings.Contains(said, id) {
			t.Errorf("the refusal does not name %s: %s", id, said)
		}
	}
	for _, gone := range []struct {
		path string
		want int
	}{{"/instance/" + id, 202}, {profile, 204}, {definition, 204}, {"/connectivity-info/kud", 204}} {
		s.curlONAP(gone.want, gone.path, "-X", "DELETE")
		s.curlONAP(404, gone.path, "-X", "GET")
	}
	s.nothingIn("onap-script")
	if strings.Contains(s.b.Log.String(), onapCanary) {
		t.Error("the log shows a secret")
	}
}

// vimbroker runs a command as the administrator.
func (s *onapStand) vimbroker(args ...string) []byte {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), s.bin, args...)
	c.Env = append(os.Environ(), "VIMBROKER_ADDR="+s.b.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(s.dir, "data", "dev-token"))
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("vimbroker %v: %v", args, err)
	}
	return out
}

// stolen has the kubeconfig of an answer end within the lag that its lease states, once that is revoked.
func (s *onapStand) stolen() {
	s.t.Helper()
	config, err := base64.StdEncoding.DecodeString(s.jq(".kubeconfig", s.curlONAP(200, "/connectivity-info/kud")))
	if err != nil {
		s.t.Fatal(err)
	}
	access, err := clientcmd.RESTConfigFromKubeConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	thief, err := coreclient.NewForConfig(access)
	if err != nil {
		s.t.Fatal(err)
	}
	look := func() error {
		_, err := thief.Namespaces().List(s.t.Context(), metav1.ListOptions{Limit: 1})
		return err
	}
	if err := look(); err != nil {
		s.t.Fatalf("before it is revoked: %v", err)
	}
	var leases struct {
		Items []struct{ ID, Purpose, MaxRevocationLag string }
	}
	if err := json.Unmarshal(s.vimbroker("lease", "list", "--all", "-o", "json"), &leases); err != nil {
		s.t.Fatal(err)
	}
	for _, l := range leases.Items {
		if l.Purpose != "connectivity-info" {
			continue
		}
		lag, err := time.ParseDuration(l.MaxRevocationLag)
		if err != nil || lag <= 0 {
			s.t.Fatalf("the lag is %q", l.MaxRevocationLag)
		}
		s.vimbroker("lease", "revoke", l.ID)
		began, asked := time.Now(), time.Time{} // when it served last
		ended := real.Poll(s.t, patience, func() bool {
			at, err := time.Now(), look()
			if err == nil {
				asked = at
			}
			return err != nil
		})
		if took := asked.Sub(began); !ended || took > lag {
			s.t.Errorf("the kubeconfig serves %v after its lease was revoked, and the lease says %v", took, lag)
		}
		return
	}
	s.t.Errorf("none of %d leases is for the answer", len(leases.Items))
}

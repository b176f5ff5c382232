package real_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/test/real"
)

// onapTest is a test of the chart, whose end a value decides.
const onapTest = `apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}-test, annotations: {helm.sh/hook: test}}
spec: {restartPolicy: Never, containers: [{name: a, image: "{{ .Values.test | default "registry.invalid/test:1" }}"}]}
`

// TestONAPAdapter is what SO's cnf-adapter asks for besides the life of an instance: workloads in Heat's form, tests,
// subscriptions, configurations; with overlays, a rollback by Helm itself, and leases that are revoked.
func TestONAPAdapter(t *testing.T) {
	t.Parallel()
	s := newONAP(t)
	s.namespace("onap-adapter")
	chart := map[string]string{"./web/templates/test.yaml": onapTest}
	for name, text := range onapChart {
		chart[name] = text
	}
	const definition = "/v1/rb/definition/rb/1"
	s.ask(201, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1"}`)
	s.ask(200, "POST", definition+"/content", tarGz(t, chart))
	s.ask(201, "POST", definition+"/profile", `{"profile-name": "p", "release-name": "shop", "namespace": "onap-adapter"}`)
	s.ask(200, "POST", definition+"/profile/p/content", tarGz(t, map[string]string{
		"manifest.yaml": "version: v1\ntype:\n  values: over.yaml\n  configresource: [{filepath: more.yaml, chartpath: web/templates/more.yaml}]\n",
		"over.yaml":     "colour: profile\npassword: " + onapCanary + "\n",
		"more.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-overlaid}\ndata: {motto: of the profile}\n",
	}))
	info := readONAP[struct{ Kubeconfig string }](t, s.register("adapter"))

	// A workload, with directives of which the user's count most.
	directive := func(name, value string) string {
		return `{"attribute_name": "` + name + `", "attribute_value": "` + value + `"}`
	}
	workload := `{"generic-vnf-id": "v", "vf-module-id": "module", "vf-module-model-invariant-id": "rb", "vf-module-model-version-id": "x",
		"vf-module-model-customization-id": "1", "template_data": {"stack_name": "stack"},
		"sdnc_directives": {"attributes": [` + directive("k8s-rb-profile-name", "p") + `, ` + directive("size", "sdnc") + `]},
		"user_directives": {"attributes": [` + directive("size", "user") + `, ` + directive("password", onapCanary+"-2") + `]},
		"oof_directives": {"attributes": [` + directive("size", "oof") + `]}}`
	made := readONAP[struct {
		ID     string `json:"workload_id"`
		Status string `json:"workload_status"`
	}](t, s.ask(201, "POST", "/CloudOwner/adapter/infra_workload", workload))
	if made.Status != "CREATE_COMPLETE" || s.text("onap-adapter", "module") != "profile user  "+made.ID {
		t.Errorf("the workload is %+v, its values came out as %q", made, s.text("onap-adapter", "module"))
	}
	if _, err := s.core.ConfigMaps("onap-adapter").Get(t.Context(), "module-overlaid", metav1.GetOptions{}); err != nil {
		t.Errorf("the overlay: %v", err)
	}
	if found := s.ask(200, "GET", "/CloudOwner/adapter/infra_workload?name=stack", nil); !strings.Contains(found, made.ID) {
		t.Errorf("the stack is found as %s", found)
	}
	s.ask(200, "GET", "/CloudOwner/adapter/infra_workload/"+made.ID, nil)
	s.ask(404, "GET", "/CloudOwner/other/infra_workload/"+made.ID, nil)
	at := "/v1/instance/" + made.ID

	// Status under one lease: none is taken for the second.
	s.ask(200, "GET", at+"/status", nil)
	before := s.leases()
	for range 5 {
		s.ask(200, "GET", at+"/status", nil)
	}
	if after := s.leases(); after != before {
		t.Errorf("five more looks at the status took %d leases", after-before)
	}

	s.tests(at, made.ID)
	s.subscribes(at, made.ID)
	s.configures(at)

	// Helm itself goes back, and an upgrade from here goes on from there.
	request := map[string]any{
		"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "adapter",
		"override-values": map[string]string{"size": "upgraded", "password": onapCanary + "-3"},
	}
	s.ask(201, "POST", at+"/upgrade", request)
	helm := exec.CommandContext(t.Context(), filepath.Join(real.HelmTools(t), "helm"), "--kubeconfig", s.cluster.Kubeconfig, "--namespace", "onap-adapter", "rollback", "module", "1", "--wait")
	if out, err := helm.CombinedOutput(); err != nil {
		t.Fatalf("helm rollback: %v: %s", err, out)
	}
	if got := s.text("onap-adapter", "module"); got != "profile user  "+made.ID {
		t.Errorf("after Helm's rollback the values are %q", got)
	}
	request["override-values"] = map[string]string{"size": "again", "password": onapCanary + "-4"}
	s.ask(201, "POST", at+"/upgrade", request)
	if got := s.text("onap-adapter", "module"); got != "profile again  "+made.ID {
		t.Errorf("after the upgrade that followed the values are %q", got)
	}

	// A stolen answer ends with its lease.
	config, err := base64.StdEncoding.DecodeString(info.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := clientcmd.RESTConfigFromKubeConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	thief, err := coreclient.NewForConfig(stolen)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := thief.Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1}); err != nil {
		t.Errorf("before it is revoked: %v", err)
	}
	s.ask(202, "DELETE", "/CloudOwner/adapter/infra_workload/"+made.ID, nil)
	s.ask(404, "GET", at, nil)
	s.ask(404, "GET", at+"/config", nil)
	s.nothingIn("onap-adapter")
	s.ask(204, "DELETE", "/v1/connectivity-info/adapter", nil)
	if !real.Poll(t, patience, func() bool {
		_, err := thief.Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
		return err != nil
	}) {
		t.Error("a kubeconfig of a region that is gone still serves")
	}
	s.ask(204, "DELETE", definition, nil)
	if strings.Contains(s.b.Log.String(), onapCanary) {
		t.Error("the log shows a secret")
	}
	for _, file := range []string{"vimbroker.db", "vimbroker.db-wal"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, "data", file)); err == nil && strings.Contains(string(text), onapCanary) {
			t.Errorf("%s holds a secret", file)
		}
	}
}

// leases counts those that the server has ever lent.
func (s *onapStand) leases() int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.b.URL+"/v1/leases?pageSize=200", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	n := strings.Count(string(text), `"purpose"`)
	if err != nil || answer.StatusCode != 200 || n == 0 {
		s.t.Fatalf("the leases are %d %s, %v", answer.StatusCode, text, err)
	}
	return n
}

// tests runs the tests of the chart: they succeed, and then, with another image, fail, which keeps nothing from going on.
func (s *onapStand) tests(at, id string) {
	s.t.Helper()
	type run struct {
		ID     string `json:"healthcheck-id"`
		Status string `json:"status"`
		Suite  struct {
			Results []struct{ Name, Status string }
		} `json:"test-suite"`
	}
	for _, c := range []struct{ image, want string }{{"registry.invalid/test:2", "Succeeded"}, {real.FailingImage, "Failed"}} {
		s.ask(201, "POST", at+"/upgrade", map[string]any{
			"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "adapter",
			"override-values": map[string]string{"size": "user", "test": c.image, "password": onapCanary + "-2"},
		})
		begun := readONAP[run](s.t, s.ask(201, "POST", at+"/healthcheck", nil))
		var seen run
		if !real.Poll(s.t, patience, func() bool {
			seen = readONAP[run](s.t, s.ask(200, "GET", at+"/healthcheck/"+begun.ID, nil))
			return seen.Status != "Running"
		}) || seen.Status != c.want || len(seen.Suite.Results) != 1 || seen.Suite.Results[0].Status != c.want {
			s.t.Errorf("the tests with %s: %+v, want %s", c.image, seen, c.want)
		}
		if all := s.ask(200, "GET", at+"/healthcheck", nil); !strings.Contains(all, begun.ID) || !strings.Contains(all, id) {
			s.t.Errorf("the list of tests is %s", all)
		}
		s.ask(202, "DELETE", at+"/healthcheck/"+begun.ID, nil)
		s.ask(404, "GET", at+"/healthcheck/"+"00000000-0000-4000-8000-000000000000", nil)
	}
}

// subscribes has a scaled Deployment told.
func (s *onapStand) subscribes(at, id string) {
	s.t.Helper()
	told := make(chan map[string]json.RawMessage, 10)
	subscriber := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		told <- body
	}))
	s.t.Cleanup(subscriber.Close)
	s.ask(201, "POST", at+"/status/subscription", map[string]any{
		"name": "w", "min-notify-interval": 1, "callback-url": subscriber.URL, "metadata": map[string]string{"who": "so"},
	})
	s.ask(409, "POST", at+"/status/subscription", map[string]any{"name": "w", "callback-url": subscriber.URL})
	s.ask(422, "POST", at+"/status/subscription", map[string]any{"name": "x", "callback-url": "http://169.254.169.254/"})
	s.ask(422, "POST", at+"/status/subscription", map[string]any{"name": "x", "callback-url": subscriber.URL, "min-notify-interval": -1})
	_, err := s.apps.Deployments("onap-adapter").Patch(s.t.Context(), "module-web", types.MergePatchType, []byte(`{"spec": {"replicas": 3}}`), metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	pods, deployed := 0, false
	for deadline := time.After(patience); pods < 2 || !deployed; {
		select {
		case body := <-told:
			var changes struct {
				Created, Modified []struct{ GVK struct{ Kind string } }
			}
			if err := json.Unmarshal(body["resource-changes"], &changes); err != nil || string(body["instance-id"]) != `"`+id+`"` ||
				string(body["subscription-name"]) != `"w"` || string(body["metadata"]) != `{"who":"so"}` {
				s.t.Fatalf("told %s, %v", body, err)
			}
			for _, o := range changes.Created {
				if o.GVK.Kind == "Pod" {
					pods++
				}
			}
			for _, o := range changes.Modified {
				deployed = deployed || o.GVK.Kind == "Deployment"
			}
		case <-deadline:
			s.t.Fatalf("of the scaled Deployment %d pods are told, and %v of it", pods, deployed)
		}
	}
	if !real.Poll(s.t, patience, func() bool {
		return strings.Contains(s.ask(200, "GET", at+"/status/subscription/w", nil), `"last-notify-status":200`)
	}) {
		s.t.Error("the subscription does not say that its subscriber was told")
	}
	s.ask(200, "PUT", at+"/status/subscription/w", map[string]any{"name": "w", "min-notify-interval": 3600, "callback-url": subscriber.URL})
	if all := s.ask(200, "GET", at+"/status/subscription", nil); !strings.Contains(all, `"min-notify-interval":3600`) {
		s.t.Errorf("the subscriptions are %s", all)
	}
	s.ask(202, "DELETE", at+"/status/subscription/w", nil)
	s.ask(404, "GET", at+"/status/subscription/w", nil)
}

// configures makes versions of a configuration, tags one, goes back to it, deletes what it made, and makes it again.
func (s *onapStand) configures(at string) {
	s.t.Helper()
	const template = "/v1/rb/definition/rb/1/config-template"
	level := func() string {
		m, err := s.core.ConfigMaps("onap-adapter").Get(s.t.Context(), "module-tune-up-level", metav1.GetOptions{})
		if err != nil {
			return "none"
		}
		return m.Data["level"]
	}
	s.ask(201, "POST", template, `{"template-name": "t", "description": "d"}`)
	s.ask(422, "POST", at+"/config", `{"config-name": "tune_up", "template-name": "t", "values": {"level": "1"}}`) // no content yet
	s.ask(200, "POST", template+"/t/content", tarGz(s.t, map[string]string{
		"tune/Chart.yaml": "apiVersion: v2\nname: tune\nversion: 1.0.0\n", "tune/values.yaml": "deep: {a: chart, b: chart}\n",
		"tune/templates/level.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-level}\n" +
			"data: {level: \"{{ .Values.level }} {{ .Values.colour }} {{ .Values.deep.a }} {{ .Values.deep.b }}\"}\n",
	}))
	type result struct {
		Version int `json:"config-version"`
	}
	config := func(n string) string {
		return `{"config-name": "tune_up", "template-name": "t", "values": {"level": "` + n + `", "deep": {"a": "config"}, "secret": "` + onapCanary + `"}}`
	}
	want := func(version int, text, said string) {
		s.t.Helper()
		if got := readONAP[result](s.t, said).Version; got != version || level() != text {
			s.t.Errorf("version %d with %q, want %d with %q", got, level(), version, text)
		}
	}
	want(1, "1 profile config chart", s.ask(201, "POST", at+"/config", config("1")))
	s.ask(409, "POST", at+"/config", config("1"))
	s.ask(200, "POST", at+"/config/tune_up/tagit", `{"tag-name": "good"}`)
	want(2, "2 profile config chart", s.ask(201, "PUT", at+"/config/tune_up", config("2")))
	s.ask(409, "DELETE", template+"/t", nil)
	if tags := strings.TrimSpace(s.ask(200, "GET", at+"/config/tune_up/tag", nil)); tags != `[{"config-version":1,"config-tag":"good"}]` {
		s.t.Errorf("the tags are %s", tags)
	}
	if got := readONAP[result](s.t, s.ask(200, "GET", at+"/config/tune_up/tag/good", nil)); got.Version != 1 {
		s.t.Errorf("the tag is of version %d", got.Version)
	}
	s.ask(404, "POST", at+"/config/tune_up/rollback", `{"config-version": "9"}`)
	want(1, "1 profile config chart", s.ask(200, "POST", at+"/config/tune_up/rollback", `{"config-tag": "good"}`))
	want(2, "none", s.ask(200, "POST", at+"/config/tune_up/delete", nil))
	want(3, "3 profile config chart", s.ask(201, "PUT", at+"/config/tune_up", config("3")))
	if all := readONAP[[]result](s.t, s.ask(200, "GET", at+"/config/tune_up/version", nil)); len(all) != 3 {
		s.t.Errorf("the versions are %+v", all)
	}
	s.ask(422, "DELETE", at+"/config/tune_up?deleteConfigOnly=true", nil)
	s.ask(202, "DELETE", at+"/config/tune_up", nil)
	if level() != "none" {
		s.t.Error("a configuration that is deleted stands")
	}
	s.ask(201, "POST", at+"/config", config("4")) // which goes with the instance
}

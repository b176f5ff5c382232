package real_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// onapCanary stands in values, overrides and records, and in no answer and no log.
const onapCanary = "canary-onap-5d1e"

// onapChart is a chart with a value of each source, as a definition's content has it.
var onapChart = map[string]string{
	"./web/Chart.yaml":  "apiVersion: v2\nname: web\nversion: 1.0.0\n",
	"./web/values.yaml": "replicas: 1\ncolour: chart\nsize: chart\nloud: false\n",
	"./web/templates/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}-web}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: registry.invalid/web:1}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-pages}
data: {text: "{{ .Values.colour }} {{ .Values.size }} {{ if eq .Values.loud true }}loud{{ end }} {{ index .Values "k8s-rb-instance-id" }}"}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-login}
stringData: {password: "{{ .Values.password }}"}
`,
	"./web/files/motto.txt": "of the chart\n",
}

func tarGz(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	_ = zipped.Close()
	return out.Bytes()
}

// onapStand is a server in the try-out mode before two names of a real cluster, as ONAP's clients know it.
type onapStand struct {
	t       *testing.T
	dir     string
	bin     string
	b       *story.Broker
	url     string
	user    string
	token   string
	cluster *real.Cluster
	core    *coreclient.CoreV1Client
	apps    *appsclient.AppsV1Client
}

func newONAP(t *testing.T, flags ...string) *onapStand {
	t.Helper()
	c := real.Kubernetes(t)
	c.WithNode(t)
	s := &onapStand{t: t, dir: t.TempDir(), cluster: c}
	s.bin = story.Build(t, s.dir, flags...)
	story.BuildRenderer(t, s.bin)
	s.serve()
	token, err := os.ReadFile(filepath.Join(s.dir, "data", "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	s.user, s.token = "sdk", strings.TrimSpace(string(token))
	if s.core, err = coreclient.NewForConfig(c.Config()); err == nil {
		s.apps, err = appsclient.NewForConfig(c.Config())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve starts the server, which dies at the failpoint that the file armed names.
func (s *onapStand) serve() {
	s.t.Helper()
	b, err := story.Serve(s.bin, s.dir, append(os.Environ(), "VIMBROKER_FAILPOINT="+filepath.Join(s.dir, "armed")),
		"--dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(s.dir, "data"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Kill)
	s.b, s.url = b, b.URL+"/onap"
}

// dieAt has the server die at a failpoint of a request, and starts the next.
func (s *onapStand) dieAt(point, path string, body any) {
	s.t.Helper()
	armed := filepath.Join(s.dir, "armed")
	if err := os.WriteFile(armed, []byte(point), 0o600); err != nil {
		s.t.Fatal(err)
	}
	text, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(s.user, s.token)
	if answer, err := http.DefaultClient.Do(r); err == nil {
		said, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		s.t.Fatalf("%s: the server lives, and answers %d: %s", point, answer.StatusCode, said)
	}
	if state, err := s.b.Ended(patience); err != nil || state.Exited() {
		s.t.Fatalf("%s: the server was not killed: %v", point, err)
	}
	if err := os.Remove(armed); err != nil {
		s.t.Fatal(err)
	}
	s.serve()
}

// TestONAPKilled kills the server while it makes an instance, and the next while that moves it, and while it makes a configuration and
// tells a subscriber. A request that is sent again gets one instance, on one region, and nothing is left after the last.
func TestONAPKilled(t *testing.T) {
	t.Parallel()
	onapKilled(t, map[string]string{"bundle.instance-made": "bundle.left"})
}

// TestFieldONAPKilled has the other steps.
func TestFieldONAPKilled(t *testing.T) {
	field.Only(t)
	onapKilled(t, map[string]string{
		"bundle.instance-noted": "bundle.upgrade-noted", "bundle.instance-begun": "bundle.operation-over",
		"bundle.operation-over": "bundle.instance-begun",
	})
}

func onapKilled(t *testing.T, deaths map[string]string) {
	t.Helper()
	s := newONAP(t, "-tags", "failpoints")
	s.namespace("onap-dead")
	s.namespace("onap-dead-there")
	s.ask(201, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1"}`)
	s.ask(200, "POST", "/v1/rb/definition/rb/1/content", tarGz(t, onapChart))
	for profile, namespace := range map[string]string{"p": "onap-dead", "q": "onap-dead-there"} {
		s.ask(201, "POST", "/v1/rb/definition/rb/1/profile", map[string]string{"profile-name": profile, "namespace": namespace, "release-name": "shop"})
	}
	s.register("dead-1")
	s.register("dead-2")
	here := map[string]any{"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "dead-1", "override-values": map[string]string{"password": onapCanary}}
	there := map[string]any{"rb-name": "rb", "rb-version": "1", "profile-name": "q", "cloud-region": "dead-2"}
	for making, moving := range deaths {
		s.dieAt(making, "/v1/instance", here)
		made := readONAP[onapInstance](t, s.ask(201, "POST", "/v1/instance", here))
		s.dieAt(moving, "/v1/instance/"+made.ID+"/upgrade", there)
		where := ""
		if !real.Poll(t, patience, func() bool {
			i := readONAP[struct {
				onapInstance

				Status string `json:"status"`
			}](t, s.ask(200, "GET", "/v1/instance/"+made.ID+"?full=true", nil))
			where = i.Request.Region
			return i.Status == "DONE"
		}) {
			t.Fatalf("%s: the move does not end", moving)
		}
		if want := map[bool]string{true: "dead-1", false: "dead-2"}[moving == "bundle.upgrade-noted"]; where != want {
			t.Errorf("%s: the instance is on %s, want %s", moving, where, want)
		}
		s.nothingIn(map[string]string{"dead-1": "onap-dead-there", "dead-2": "onap-dead"}[where])
		s.ask(202, "DELETE", "/v1/instance/"+made.ID, nil)
		s.nothingIn("onap-dead")
		s.nothingIn("onap-dead-there")
		if all := s.ask(200, "GET", "/v1/instance", nil); strings.TrimSpace(all) != "[]" {
			t.Errorf("%s, %s: there are %s", making, moving, all)
		}
	}
	made := readONAP[onapInstance](t, s.ask(201, "POST", "/v1/instance", here))
	s.diesConfiguring("/v1/instance/"+made.ID, "onap-dead")
	s.diesTelling("/v1/instance/"+made.ID, "onap-dead")
	s.ask(202, "DELETE", "/v1/instance/"+made.ID, nil)
	s.nothingIn("onap-dead")
	s.ask(204, "DELETE", "/v1/connectivity-info/dead-1", nil)
	s.ask(204, "DELETE", "/v1/rb/definition/rb/1", nil)
}

// diesConfiguring kills the server while a configuration is made. The next one makes it, once, and it can be changed.
func (s *onapStand) diesConfiguring(at, namespace string) {
	s.t.Helper()
	const template = "/v1/rb/definition/rb/1/config-template"
	s.ask(201, "POST", template, `{"template-name": "t"}`)
	s.ask(200, "POST", template+"/t/content", tarGz(s.t, map[string]string{
		"tune/Chart.yaml":           "apiVersion: v2\nname: tune\nversion: 1.0.0\n",
		"tune/templates/level.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-level}\ndata: {level: \"{{ .Values.level }}\"}\n",
	}))
	config := func(level string) map[string]any {
		return map[string]any{"config-name": "c", "template-name": "t", "values": map[string]string{"level": level, "password": onapCanary}}
	}
	level := func() string {
		m, err := s.core.ConfigMaps(namespace).Get(s.t.Context(), "shop-c-level", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return m.Data["level"]
	}
	s.dieAt("bundle.instance-begun", at+"/config", config("1"))
	if !real.Poll(s.t, 2*patience, func() bool {
		return strings.Contains(s.ask(200, "GET", at+"/config/c", nil), `"config-version":1`)
	}) || level() != "1" {
		s.t.Fatalf("the configuration is not made by the next server: %s", level())
	}
	s.ask(409, "POST", at+"/config", config("2"))
	s.dieAt("bundle.operation-over", at+"/config/c/rollback", map[string]string{"config-version": "1"})
	if !real.Poll(s.t, 2*patience, func() bool {
		return s.try("PUT", at+"/config/c", config("2")) == 201 // once the pass has gone on
	}) || level() != "2" {
		s.t.Errorf("the configuration is %s, want the second version", level())
	}
	if all := s.ask(200, "GET", at+"/config/c/version", nil); strings.Count(all, `"config-version":`) != 2 {
		s.t.Errorf("the versions are %s, want two", all)
	}
}

// diesTelling kills the server while a subscriber has a notification and has not answered. The next one tells it of the same again.
func (s *onapStand) diesTelling(at, namespace string) {
	s.t.Helper()
	told := make(chan string, 10)
	var first sync.Once
	subscriber := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		first.Do(s.b.Kill)
		told <- string(text)
	}))
	s.t.Cleanup(subscriber.Close)
	s.ask(201, "POST", at+"/status/subscription", map[string]any{"name": "w", "callback-url": subscriber.URL})
	_, err := s.core.ConfigMaps(namespace).Patch(s.t.Context(), "shop-pages", types.MergePatchType, []byte(`{"data": {"text": "changed"}}`), metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for n := range 2 {
		select {
		case text := <-told:
			_, modified, _ := strings.Cut(text, `"modified":`)
			if !strings.Contains(modified, `"shop-pages"`) || !strings.Contains(text, `"w"`) {
				s.t.Errorf("notification %d is %s", n, text)
			}
		case <-time.After(patience + 30*time.Second):
			s.t.Fatalf("%d notifications came, want another", n)
		}
		if n == 0 {
			s.serve()
		}
	}
	if !real.Poll(s.t, patience, func() bool {
		return strings.Contains(s.ask(200, "GET", at+"/status/subscription/w", nil), `"last-notify-status":200`)
	}) {
		s.t.Error("the subscription does not say that its subscriber was told")
	}
}

func (s *onapStand) namespace(name string) {
	s.t.Helper()
	_, err := s.core.Namespaces().Create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.core.Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// ask sends a request as python's requests does with a user in the URL, and wants a status; no answer shows the canary.
func (s *onapStand) ask(want int, method, path string, body any) string {
	s.t.Helper()
	var content []byte
	switch body := body.(type) {
	case nil:
	case []byte:
		content = body
	case string:
		content = []byte(body)
	default:
		content, _ = json.Marshal(body)
	}
	return s.send(want, method, path, "", content)
}

// try is the status of a request that may be refused.
func (s *onapStand) try(method, path string, body any) int {
	s.t.Helper()
	text, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(s.user, s.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func (s *onapStand) send(want int, method, path, kind string, content []byte) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(s.user, s.token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != want {
		s.t.Fatalf("%s %s = %d, want %d: %s", method, path, answer.StatusCode, want, text)
	}
	if strings.Contains(string(text), onapCanary) {
		s.t.Errorf("%s %s shows a secret: %s", method, path, text)
	}
	return string(text)
}

func (s *onapStand) register(region string) string {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, _ := w.CreateFormFile("file", "file")
	kubeconfig, err := os.ReadFile(s.cluster.Kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = file.Write(kubeconfig)
	_ = w.WriteField("metadata", `{"cloud-region": "`+region+`", "cloud-owner": "CloudOwner", "other-connectivity-list": {"connectivity-records": []}}`)
	_ = w.Close()
	return s.send(201, "POST", "/v1/connectivity-info", w.FormDataContentType(), form.Bytes())
}

type onapInstance struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Request   struct {
		Region string `json:"cloud-region"`
	} `json:"request"`
	Resources []struct {
		GVK  struct{ Kind string }
		Name string
	} `json:"resources"`
}

func readONAP[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func (s *onapStand) text(namespace, release string) string {
	s.t.Helper()
	m, err := s.core.ConfigMaps(namespace).Get(s.t.Context(), release+"-pages", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return m.Data["text"]
}

// TestONAPLife is the life of an instance as SO's cnf-adapter leads it, down to nothing.
func TestONAPLife(t *testing.T) {
	t.Parallel()
	s := newONAP(t)
	s.namespace("onap-life")
	const definition = "/v1/rb/definition/rb/1"
	s.ask(200, "GET", "/v1/healthcheck", nil)
	s.ask(201, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1", "chart-name": "", "description": "", "labels": {}}`)
	s.ask(409, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1"}`)
	s.ask(200, "POST", definition+"/content", tarGz(t, onapChart))
	s.ask(200, "POST", definition+"/content", tarGz(t, onapChart)) // again, while nobody uses it
	s.ask(201, "POST", definition+"/profile", `{"rb-name": "rb", "rb-version": "1", "profile-name": "p", "release-name": "shop", "namespace": "onap-life"}`)
	s.ask(200, "POST", definition+"/profile/p/content", tarGz(t, map[string]string{
		"manifest.yaml": "---\nversion: v1\ntype:\n  values: over.yaml\n",
		"over.yaml":     "colour: profile\nsize: profile\npassword: " + onapCanary + "\n",
	}))
	first := readONAP[struct{ Kubeconfig string }](t, s.register("region-1"))
	s.leaseOnly(first.Kubeconfig)
	again := readONAP[struct{ Kubeconfig string }](t, s.ask(200, "GET", "/v1/connectivity-info/region-1", nil))
	if again.Kubeconfig != first.Kubeconfig {
		t.Error("two answers within a half of the lease's time hold different leases")
	}
	request := map[string]any{
		"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "region-1", "release-name": "", "labels": map[string]string{"a": "b"},
		"override-values": map[string]string{"size": "override", "loud": "true", "password": onapCanary + "-2", "k8s-rb-instance-post-install-timeout": "60"},
	}
	made := readONAP[onapInstance](t, s.ask(201, "POST", "/v1/instance", request))
	if len(made.Resources) != 3 || made.Namespace != "onap-life" {
		t.Errorf("the answer is %+v, want a Deployment, a ConfigMap and a Secret", made)
	}
	if got, want := s.text("onap-life", "shop"), "profile override loud "+made.ID; got != want {
		t.Errorf("the values came out as %q, want %q", got, want)
	}
	if twice := readONAP[onapInstance](t, s.ask(201, "POST", "/v1/instance", request)); twice.ID != made.ID {
		t.Errorf("a repeat made %s beside %s", twice.ID, made.ID)
	}
	pods, err := s.core.Pods("onap-life").List(t.Context(), metav1.ListOptions{LabelSelector: "k8splugin.io/rb-instance-id=" + made.ID})
	if err != nil || len(pods.Items) != 1 {
		t.Errorf("scripts find %d pods by the label: %v", len(pods.Items), err)
	}
	s.ask(409, "DELETE", definition, nil)
	s.ask(409, "DELETE", definition+"/profile/p", nil)
	s.ask(409, "DELETE", "/v1/connectivity-info/region-1", nil)

	at := "/v1/instance/" + made.ID
	type status struct {
		Ready   bool
		Count   int `json:"resourceCount"`
		Objects []struct {
			Name   string
			GVK    struct{ Kind string }
			Status json.RawMessage
		} `json:"resourcesStatus"`
	}
	if got := readONAP[status](t, s.ask(200, "GET", at+"/status", nil)); !got.Ready || got.Count < 4 || !strings.Contains(fmt.Sprint(got), "Pod") {
		t.Errorf("the status is %+v", got)
	}
	if got := readONAP[status](t, s.ask(200, "GET", at+"/query?ApiVersion=v1&Kind=Pod", nil)); got.Count != 1 {
		t.Errorf("the query finds %+v, want the pod", got)
	}
	if got := readONAP[status](t, s.ask(200, "GET", "/v1/query?CloudRegion=region-1&Namespace=onap-life&ApiVersion=apps/v1&Kind=Deployment", nil)); got.Count != 1 {
		t.Errorf("the query of the region finds %+v", got)
	}
	s.ask(403, "GET", "/v1/query?CloudRegion=region-1&Namespace=onap-life&ApiVersion=v1&Kind=Secret", nil)
	s.ask(400, "GET", "/v1/query?Namespace=onap-life&ApiVersion=v1&Kind=Pod", nil)

	request["override-values"] = map[string]string{"replicas": "2", "password": onapCanary + "-3"}
	s.ask(201, "POST", at+"/upgrade", request)
	if d, err := s.apps.Deployments("onap-life").Get(t.Context(), "shop-web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("upgraded: %v, %v", d.Spec.Replicas, err)
	}

	// An answer comes once the work is over, and not at the next look at it, a second later.
	soonest := patience
	for n := 0; n < 3 || n < 20 && soonest >= time.Second; n++ {
		request["override-values"] = map[string]string{"replicas": "2", "size": fmt.Sprint(n), "password": onapCanary + "-3"}
		s.ask(201, "POST", at+"/upgrade", request)
		answered := time.Now()
		ended, err := time.Parse(time.RFC3339, strings.TrimSpace(string(s.vimbroker("vnf", "op", "list", "-o", "jsonpath={.items[0].stateEnteredTime}"))))
		if err != nil {
			t.Fatal(err)
		}
		soonest = min(soonest, answered.Sub(ended))
	}
	if soonest >= time.Second {
		t.Errorf("the soonest of the answers came %v after its operation had ended", soonest)
	}

	// Another region, which is here another namespace of the cluster.
	s.namespace("onap-there")
	s.register("region-2")
	s.ask(201, "POST", definition+"/profile", `{"rb-name": "rb", "rb-version": "1", "profile-name": "q", "release-name": "shop", "namespace": "onap-there"}`)
	request["profile-name"], request["cloud-region"] = "q", "region-2"
	there := readONAP[onapInstance](t, s.ask(201, "POST", at+"/upgrade", request))
	if there.ID != made.ID || there.Namespace != "onap-there" || there.Request.Region != "region-2" {
		t.Errorf("moved, the instance is %+v", there)
	}
	s.nothingIn("onap-life")
	s.ask(204, "DELETE", "/v1/connectivity-info/region-1", nil)
	s.ask(202, "DELETE", at, nil)
	s.ask(404, "GET", at, nil)
	s.nothingIn("onap-there")
	s.ask(204, "DELETE", "/v1/connectivity-info/region-2", nil)
	s.ask(204, "DELETE", definition, nil)
	s.ask(404, "GET", definition, nil)
	if strings.Contains(s.b.Log.String(), onapCanary) {
		t.Error("the log shows a secret")
	}
}

// leaseOnly wants a kubeconfig with a lease, and not the one that was given.
func (s *onapStand) leaseOnly(text string) {
	s.t.Helper()
	got, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(got) == 0 || !strings.Contains(string(got), "token:") || strings.Contains(string(got), "client-key-data") {
		s.t.Errorf("the answer holds no lease, or the stored kubeconfig: %v", err)
	}
}

func (s *onapStand) nothingIn(namespace string) {
	s.t.Helper()
	deployments, err := s.apps.Deployments(namespace).List(s.t.Context(), metav1.ListOptions{})
	secrets, err2 := s.core.Secrets(namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil || err2 != nil || len(deployments.Items)+len(secrets.Items) > 0 {
		s.t.Errorf("in %s %d deployments and %d secrets are left: %v %v", namespace, len(deployments.Items), len(secrets.Items), err, err2)
	}
}

// TestONAPSDK sends what python-onapsdk 14.6 sends in its own integration tests, with artifacts in the place of its constants.
func TestONAPSDK(t *testing.T) {
	t.Parallel()
	s := newONAP(t)
	s.namespace("test") // as the tests have it
	text, err := os.ReadFile("../../lifecycle/api/onap/testdata/sdk.json")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := os.ReadFile(s.cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	artifacts := map[string][]byte{
		"kubeconfig": kubeconfig, "definition": tarGz(t, onapChart),
		"profile": tarGz(t, map[string]string{"manifest.yaml": "version: v1\ntype: {values: o.yaml}\n", "o.yaml": "password: " + onapCanary + "\n"}),
	}
	type sent struct {
		Test, Method, Path, Body, Metadata, Artifact string
		Want                                         int
		Reads                                        []string
	}
	id := ""
	for _, r := range readONAP[[]sent](t, string(text)) {
		body, kind := []byte(r.Body), ""
		if r.Artifact != "" {
			body = artifacts[r.Artifact]
		}
		if r.Metadata != "" {
			var form bytes.Buffer
			w := multipart.NewWriter(&form)
			file, _ := w.CreateFormFile("file", "file")
			_, _ = file.Write(body)
			_ = w.WriteField("metadata", r.Metadata)
			_ = w.Close()
			body, kind = form.Bytes(), w.FormDataContentType()
		}
		said := s.send(r.Want, r.Method, strings.Replace(r.Path, "{id}", id, 1), kind, body)
		for _, name := range r.Reads {
			if !strings.Contains(said, `"`+name+`":`) {
				t.Errorf("%s: %s %s has no %s: %s", r.Test, r.Method, r.Path, name, said)
			}
		}
		if r.Path == "/v1/instance" && r.Method == "POST" {
			id = readONAP[onapInstance](t, said).ID
		}
	}
	s.nothingIn("test")
}

package csar_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/drivers/helm/render"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/csar"
)

// renders has this program be the one that renders charts.
const renders = "render-a-chart"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == renders {
		os.Exit(render.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// chart is one that makes up a password, as charts do.
var chart = csar.Files{
	"Files/kubernetes/edge/Chart.yaml":  "apiVersion: v2\nname: edge\nversion: 0.1.0\n",
	"Files/kubernetes/edge/values.yaml": "replicas: 9\ntoken: none\npin: none\n",
	"Files/kubernetes/edge/templates/edge.yaml": `apiVersion: v1
kind: Secret
metadata: {name: edge-login}
stringData: {password: {{ randAlphaNum 24 | quote }}, token: {{ .Values.token | quote }}, pin: {{ .Values.pin | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: count}
data: {replicas: {{ .Values.replicas | quote }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: edge-web}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.invalid/web:1}]
`,
}

// TestAChartsLife is that of a Tacker's package with a chart, through the door: what the chart makes up is found where
// it belongs alone, and stays the same when a worker is interrupted and another goes on.
func TestAChartsLife(t *testing.T) {
	r := newRig(t)
	c := r.doors()
	var said strings.Builder
	ask := func(want int, method, path, body string) (http.Header, string) {
		t.Helper()
		answer, text := c.Ask(method, path, body)
		if answer.StatusCode != want {
			t.Fatalf("%s %s = %d %s, want %d", method, path, answer.StatusCode, text, want)
		}
		said.WriteString(text)
		return answer.Header, text
	}
	begun := func(path, body string) lifecycle.Operation {
		t.Helper()
		header, _ := ask(http.StatusAccepted, "POST", path, body)
		o, err := r.Operation(t.Context(), alice, base(header.Get("Location")))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	password := func() string {
		t.Helper()
		login := r.cluster.Get("/api/v1/namespaces/edge/secrets/edge-login")
		if login == nil {
			t.Fatal("there is no Secret of the chart")
		}
		return login["stringData"].(map[string]any)["password"].(string)
	}
	r.upload(csar.Tacker().With(chart))
	one := lcm + "/vnf_instances/" + r.made(csar.TackerVNFD)

	const instantiation = `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"edge","vimType":"ETSINFV.HELM.V_3"}},"additionalParams":{
		"helm_chart_path":"Files/kubernetes/edge","helm_release_name":"shop","namespace":"edge","helm_values":{"token":"canary-of-values"},"helm_parameters":{"pin":"canary-of-a-parameter"},"helm_new_secrets":true,"helm_value_names":{"VDU1":{"replica":"replicas"}}}}`
	_, shown := ask(http.StatusOK, "POST", one+"/instantiate?"+sol003.DryRun, instantiation)
	var preview sol003.Preview
	if err := json.Unmarshal([]byte(shown), &preview); err != nil || len(preview.Leases) == 0 || !strings.Contains(shown, `"sh.helm.release.v1.shop.v1"`) {
		t.Fatalf("the plan is %s, %v, want one with the release's record and its lease", shown, err)
	}

	// The worker is interrupted while it waits for the Deployment.
	r.cluster.Unready(true)
	o := begun(one+"/instantiate", instantiation)
	interrupted, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Work(interrupted, o.ID) }()
	r.poll("the Deployment is never made", func() bool {
		return r.cluster.Get("/apis/apps/v1/namespaces/edge/deployments/edge-web") != nil
	})
	cancel()
	<-ended
	first := password()
	r.cluster.Unready(false)
	r.ends(lifecycle.Completed, o, nil)
	if got := password(); got != first {
		t.Error("the worker that goes on renders the chart again")
	}
	if got := r.cluster.Get("/api/v1/namespaces/edge/configmaps/count")["data"].(map[string]any)["replicas"]; got != "1" || r.pods("edge", "edge-web") != 1 {
		t.Errorf("the chart is told of %v instances, and has %d, want 1", got, r.pods("edge", "edge-web"))
	}

	r.ends(lifecycle.Completed, begun(one+"/scale", `{"type":"SCALE_OUT","aspectId":"web_aspect","numberOfSteps":2}`), nil)
	if got := r.cluster.Get("/api/v1/namespaces/edge/configmaps/count")["data"].(map[string]any)["replicas"]; got != "3" || r.pods("edge", "edge-web") != 3 {
		t.Errorf("scaled out, the chart is told of %v instances, and has %d, want 3", got, r.pods("edge", "edge-web"))
	}
	second := password()
	login := r.cluster.Get("/api/v1/namespaces/edge/secrets/edge-login")["stringData"].(map[string]any)
	if login["token"] != "canary-of-values" || login["pin"] != "canary-of-a-parameter" {
		t.Errorf("scaled out, the chart is told of %v and %v", login["token"], login["pin"])
	}
	r.cluster.Remove("/api/v1/namespaces/edge/configmaps/count")
	if err := r.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(http.StatusOK, "GET", one, "")
	r.ends(lifecycle.Completed, begun(one+"/heal", `{}`), nil)
	if got := password(); got != second || r.cluster.Get("/api/v1/namespaces/edge/configmaps/count") == nil {
		t.Error("heal renders the chart again, or repairs nothing")
	}

	// A change of package with values replaces them all.
	r.ends(lifecycle.Completed, begun(one+"/change_vnfpkg",
		`{"vnfdId":"`+csar.TackerVNFD+`","additionalParams":{"helm_values":{"token":"canary-two"},"helm_new_secrets":true}}`), nil)
	login = r.cluster.Get("/api/v1/namespaces/edge/secrets/edge-login")["stringData"].(map[string]any)
	if login["token"] != "canary-two" || login["pin"] != "none" {
		t.Errorf("changed, the chart is told of %v and %v", login["token"], login["pin"])
	}
	r.ends(lifecycle.Completed, begun(one+"/terminate", `{"terminationType":"FORCEFUL"}`), nil)
	if got := r.names("edge"); got != "" {
		t.Errorf("after terminate there is %s", got)
	}

	texts := map[string]string{"the answers": said.String(), "the log": r.log.String()}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no database: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = string(bytes.ToValidUTF8(text, nil))
	}
	for where, text := range texts {
		if strings.Contains(text, first) || strings.Contains(text, second) {
			t.Errorf("%s has what the chart has made up", where)
		}
		if strings.Contains(text, "canary") {
			t.Errorf("%s has a value of the request", where)
		}
	}
}

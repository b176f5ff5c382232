package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// wired is a server that does what it is asked and nothing by itself: no pass and no job runs.
type wired struct {
	*server
	t     *testing.T
	token string
}

func wireDev(t *testing.T, dataDir string, change func(*config)) *wired {
	t.Helper()
	c := devConfig(nil)
	c.DataDir = dataDir
	change(&c)
	d := &strictyaml.Document{Name: "test"}
	c.validate(d)
	c.load(d)
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	s, err := wire(t.Context(), c, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // once more does no harm
	s.ready.settled.Store(true)
	token, err := os.ReadFile(filepath.Join(c.DataDir, devTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	return &wired{server: s, t: t, token: strings.TrimSpace(string(token))}
}

// call sends a body as it is if it is bytes, and else as JSON; it returns status and answer.
func (w *wired) call(method, path string, body any) (int, map[string]any) {
	w.t.Helper()
	var from io.Reader
	media := "application/json"
	switch body := body.(type) {
	case nil:
	case []byte:
		from, media = bytes.NewReader(body), "application/zip"
	default:
		text, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		from = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, "http://127.0.0.1:8420"+path, from)
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Version", "2.0.0")
	if from != nil {
		r.Header.Set("Content-Type", media)
	}
	got := httptest.NewRecorder()
	w.handler.ServeHTTP(got, r)
	var answer map[string]any
	_ = json.Unmarshal(got.Body.Bytes(), &answer) // not all are objects
	return got.Code, answer
}

func (w *wired) must(want int, method, path string, body any) map[string]any {
	w.t.Helper()
	status, answer := w.call(method, path, body)
	if status != want {
		w.t.Fatalf("%s %s = %d %v, want %d", method, path, status, answer, want)
	}
	return answer
}

// upload makes a package of one manifest.
func (w *wired) upload(vnfd, manifest string) (id string) {
	w.t.Helper()
	id = w.must(http.StatusCreated, "POST", "/vnfpkgm/v2/vnf_packages", map[string]any{})["id"].(string)
	var csar bytes.Buffer
	if err := vnfpkg.Pack(&csar, vnfpkg.Assembly{
		VNFDID: vnfd, Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "1.0",
		Manifests: []vnfpkg.ManifestFile{{Path: "web.yaml", Text: []byte(manifest)}},
	}); err != nil {
		w.t.Fatal(err)
	}
	w.must(http.StatusAccepted, "PUT", "/vnfpkgm/v2/vnf_packages/"+id+"/package_content", csar.Bytes())
	return id
}

// metrics are the samples of one scrape, by name and labels.
func (w *wired) metrics() string {
	w.t.Helper()
	w.broker.Probe(w.t.Context()) // nothing of the server runs
	got := httptest.NewRecorder()
	w.handler.ServeHTTP(got, httptest.NewRequestWithContext(w.t.Context(), "GET", "http://127.0.0.1:8420/metrics", nil))
	return got.Body.String()
}

// A required sink that is late holds back all parts of the server, and all of them are counted.
func TestARequiredSinkThatIsLateHoldsBackEveryPart(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	required := func(c *config) {
		c.Audit.Sinks = []sinkConfig{{
			outletConfig{Name: "local", Kind: "file", Path: filepath.Join(dir, "audit.jsonl")}, delivery.Required, time.Minute, false,
		}}
	}
	w := wireDev(t, data, required)
	vim := w.must(http.StatusCreated, "POST", "/v1/vims", map[string]any{"name": "edge", "kubeconfig": kube.Kubeconfig()})["id"].(string)
	lease := w.must(http.StatusCreated, "POST", "/v1/leases", map[string]any{"vim": "edge", "role": "view"})["id"].(string)
	pkg := w.upload("web-1", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
	vnf := func() string {
		return w.must(http.StatusCreated, "POST", "/vnflcm/v2/vnf_instances", map[string]any{"vnfdId": "web-1"})["id"].(string)
	}
	idle, busy, empty := vnf(), vnf(), w.must(http.StatusCreated, "POST", "/vnfpkgm/v2/vnf_packages", map[string]any{})["id"].(string)
	instantiate := map[string]any{"flavourId": "simple", "vimConnectionInfo": map[string]any{"edge": map[string]any{"vimId": vim, "vimType": "kubernetes"}}}
	w.must(http.StatusAccepted, "POST", "/vnflcm/v2/vnf_instances/"+busy+"/instantiate", instantiate)
	operations, _, err := w.lifecycle.Operations(t.Context(), policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}, lifecycle.OperationQuery{Instance: busy, Page: broker.Page{Size: 10}})
	if err != nil || len(operations) != 1 {
		t.Fatalf("%d operations, %v", len(operations), err)
	}

	w.must(http.StatusUnprocessableEntity, "POST", "/v1/management-clusters", map[string]any{"vim": "edge", "namespaces": []string{"A"}})
	for _, p := range w.broker.Passes() { // the sink has what there is so far
		if p.Name == "deliver-local" {
			if err := p.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.store.Append(t.Context(), audit.Entry{ // and gets nothing more
		Time: w.store.Now().Add(-time.Hour), Principal: "admin", Project: "default", Action: policy.VIMShow, Kind: policy.KindVIM, Outcome: audit.Read,
	}); err != nil {
		t.Fatal(err)
	}
	before := w.metrics()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = wireDev(t, data, required) // which has not found out yet that the sink is not late

	for _, c := range []struct {
		what, method, path string
		body               any
	}{
		{"issue", "POST", "/v1/leases", map[string]any{"vim": "edge", "role": "view"}},
		{"create an instance", "POST", "/vnflcm/v2/vnf_instances", map[string]any{"vnfdId": "web-1"}},
		{"instantiate", "POST", "/vnflcm/v2/vnf_instances/" + idle + "/instantiate", instantiate},
		{"terminate", "POST", "/vnflcm/v2/vnf_instances/" + idle + "/terminate", map[string]any{"terminationType": "FORCEFUL"}},
		{"create a package", "POST", "/vnfpkgm/v2/vnf_packages", map[string]any{}},
		{"upload", "PUT", "/vnfpkgm/v2/vnf_packages/" + empty + "/package_content", []byte("PK")},
		{"disable a package", "PATCH", "/vnfpkgm/v2/vnf_packages/" + pkg, map[string]any{"operationalState": "DISABLED"}},
		{"enable a management cluster", "POST", "/v1/management-clusters", map[string]any{"vim": "edge", "namespaces": []string{"a"}}},
	} {
		status, answer := w.call(c.method, c.path, c.body)
		if status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(answer["detail"]), `"local"`) || answer["remedy"] == nil {
			t.Errorf("%s = %d %v, want 503 that names the sink and a remedy", c.what, status, answer)
		}
	}
	for _, path := range []string{
		"/v1/vims", "/v1/leases", "/v1/audit", "/v1/tokens", "/v1/clusters", "/v1/management-clusters", "/vnflcm/v2/vnf_instances/" + idle, "/vnflcm/v2/vnf_lcm_op_occs",
		"/vnfpkgm/v2/vnf_packages", "/vnfpkgm/v2/vnf_packages/" + pkg, "/vnfpkgm/v2/vnf_packages/" + pkg + "/package_content",
	} {
		w.must(http.StatusOK, "GET", path, nil)
	}
	w.must(http.StatusAccepted, "POST", "/vnflcm/v2/vnf_lcm_op_occs/"+operations[0].ID+"/cancel", map[string]any{"cancelMode": "FORCEFUL"})
	w.must(http.StatusOK, "DELETE", "/v1/leases/"+lease, nil)

	scraped := w.metrics()
	for _, end := range []string{
		`action="lease:revoke",outcome="done"`, `action="vnf:cancel",outcome="done"`, `action="package:create",outcome="done"`,
		`action="package:upload",outcome="done"`, `action="vnf:create",outcome="done"`, `action="cluster:enable",outcome="failed"`,
	} {
		if !strings.Contains(before+scraped, "vimbroker_actions_total{"+end) {
			t.Errorf("the metrics count no %s", end)
		}
	}
}

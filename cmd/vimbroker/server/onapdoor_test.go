package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fakekube"
)

// chartOf is the archive of a chart without objects.
func chartOf(t *testing.T, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	text := "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"
	if err := w.WriteHeader(&tar.Header{Name: name + "/Chart.yaml", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// onap asks ONAP's door, and wants a status and a text in the answer.
func (w *wired) onap(want int, has, method, path, media string, body []byte) string {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "http://127.0.0.1:8420/onap"+path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", media)
	got := httptest.NewRecorder()
	w.handler.ServeHTTP(got, r)
	text := got.Body.String()
	if id := got.Header().Get("X-Request-Id"); got.Code != want || !strings.Contains(text, has) || id == "" || want >= 400 && !strings.Contains(text, id) {
		w.t.Errorf("%s %s with %.60s = %d %.300s (%s), want %d and %s", method, path, body, got.Code, text, id, want, has)
	}
	return text
}

// An instance is found by its id, by its stack, and in its region alone; what is done to one that is not there is told so, and what
// is not ready in time goes on.
func TestTheDoorOfONAPShowsInstances(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(c *config) { c.ONAP.Wait = time.Second })
	w.bundles.Wait = time.Millisecond // nothing is at work on an operation
	const json1, definition = "application/json", "/v1/rb/definition/rb/1"
	w.onap(201, `"rb-name":"rb"`, "POST", "/v1/rb/definition", json1, []byte(`{"rb-name": "rb", "rb-version": "1", "chart-name": "web"}`))
	w.onap(201, `"profile-name":"p"`, "POST", definition+"/profile", json1, []byte(`{"profile-name": "p", "namespace": "shop"}`))
	w.onap(200, "", "POST", definition+"/content", "", chartOf(t, "web"))
	w.onap(422, "gzip", "POST", definition+"/content", "", []byte("no archive"))
	var body bytes.Buffer
	f := multipart.NewWriter(&body)
	if err := f.WriteField("metadata", `{"cloud-region": "edge", "cloud-owner": "me"}`); err != nil {
		t.Fatal(err)
	}
	file, err := f.CreateFormFile("file", "kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte(kube.Kubeconfig())); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	w.onap(201, `"cloud-region":"edge"`, "POST", "/v1/connectivity-info", f.FormDataContentType(), body.Bytes())

	w.onap(200, `{"template_type":"heat","workload_id":"","workload_status":"GET_COMPLETE","workload_status_reason":{"stacks":[]}}`,
		"GET", "/me/edge/infra_workload?name=s", "", nil)
	stack := `{"generic-vnf-id": "v", "vf-module-id": "m", "vf-module-model-invariant-id": "rb", "vf-module-model-version-id": "x",
		"vf-module-model-customization-id": "1", "template_data": {"stack_name": "s"},
		"sdnc_directives": {"attributes": [{"attribute_name": "k8s-rb-profile-name", "attribute_value": "p"}]}}`
	w.onap(504, "goes on", "POST", "/me/edge/infra_workload", json1, []byte(stack))
	var all []struct{ ID string }
	if text := w.onap(200, "", "GET", "/v1/instance", "", nil); json.Unmarshal([]byte(text), &all) != nil || len(all) != 1 {
		t.Fatalf("the instances are %s, want one", text)
	}
	id := all[0].ID
	w.onap(200, `{"template_type":"heat","workload_id":"`+id+`","workload_status":"CREATE_COMPLETE","workload_status_reason":{"stacks":[{"id":"`+id+
		`","stack_status":"CREATE_COMPLETE"}]}}`, "GET", "/me/edge/infra_workload?name=s", "", nil)
	w.onap(200, `"workload_id":""`, "GET", "/me/edge/infra_workload?name=other", "", nil)
	w.onap(200, `"workload_id":"`+id+`"`, "GET", "/me/edge/infra_workload/"+id, "", nil)
	w.onap(200, `"status":"CREATING"`, "GET", "/v1/instance/"+id+"?full=true", "", nil)
	if text := w.onap(200, `"id":"`+id+`"`, "GET", "/v1/instance/"+id+"?full=false", "", nil); strings.Contains(text, "CREATING") {
		t.Errorf("the state is told though nobody asks for all: %s", text)
	}
	w.onap(404, "no such instance", "GET", "/me/elsewhere/infra_workload/"+id, "", nil)
	w.onap(404, "no such instance", "DELETE", "/me/elsewhere/infra_workload/"+id, "", nil)
	w.onap(409, "", "DELETE", definition, "", nil)
	for _, gone := range []string{
		"GET /v1/instance/x_y", "DELETE /v1/instance/x_y", "GET /v1/instance/x_y/status", "GET /v1/instance/x_y/query?ApiVersion=v1&Kind=Pod",
		"GET /v1/instance/x_y/healthcheck", "GET /v1/instance/x_y/healthcheck/h", "DELETE /v1/instance/x_y/healthcheck/h", "DELETE /v1/instance/x_y/config/c",
		"GET /me/edge/infra_workload/x_y", "DELETE /me/edge/infra_workload/x_y", "DELETE /v1/connectivity-info/other", "DELETE /v1/rb/definition/rb/2",
	} {
		method, path, _ := strings.Cut(gone, " ")
		w.onap(http.StatusNotFound, "", method, path, "", nil)
	}
}

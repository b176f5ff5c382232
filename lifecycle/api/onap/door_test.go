package onap_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// canary stands in what callers send, and in no error and no log.
const canary = "canary-onap-1c77"

// stand is a server for two projects, before a fake cluster.
type stand struct {
	t       *testing.T
	b       *story.Broker
	cluster *fakekube.Server
	data    string
}

func serve(t *testing.T, more ...string) *stand {
	t.Helper()
	dir := t.TempDir()
	tokens := "tokens:\n"
	for name, of := range map[string]string{"alice": "core\n    roles: [member]", "bob": "ran\n    roles: [member]", "root": "core\n    roles: [admin]"} {
		tokens += fmt.Sprintf("  - name: %s\n    project: %s\n    sha256: %s\n", name, of, policy.Digest(token(name)))
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("config.yaml", fmt.Sprintf("listen: 127.0.0.1:0\ndataDir: %s\ntokensFile: %s\negress: {allowLoopback: true}\nonapAPI: {enabled: true%s}\n",
		filepath.Join(dir, "data"), write("tokens.yaml", tokens), strings.Join(more, "")))
	b, err := story.Serve(story.BuildWithFailpoints(t, dir), dir, os.Environ(), "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Kill()
		if strings.Contains(b.Log.String(), canary) {
			t.Error("the log repeats a secret")
		}
	})
	return &stand{t, b, fakekube.New(t, fakekube.Options{}), filepath.Join(dir, "data")}
}

// stored is the file of the data directory that a text stands in.
func (s *stand) stored(text string) (found string) {
	s.t.Helper()
	err := filepath.WalkDir(s.data, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var content []byte
			if content, err = os.ReadFile(path); bytes.Contains(content, []byte(text)) {
				found = path
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// token is a static one of a name.
func token(name string) string { return "vbt_" + strings.Repeat(name[:1], 43) }

// ask wants a status, and plain text with the request's id of every error.
func (s *stand) ask(want int, who, method, path, kind string, body []byte) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.b.URL+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if id, secret, basic := strings.Cut(who, ":"); basic {
		r.SetBasicAuth(id, secret)
	} else if who != "" {
		r.Header.Set("Authorization", "Bearer "+token(who))
	}
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
		s.t.Errorf("%s %s as %.8s = %d, want %d: %.300s", method, path, who, answer.StatusCode, want, text)
	}
	if answer.StatusCode >= 400 && strings.HasPrefix(path, "/onap") {
		id := answer.Header.Get("X-Request-Id")
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") || id == "" || !strings.Contains(string(text), id) || strings.Contains(string(text), canary) {
			s.t.Errorf("%s %s: the error is %q, %v", method, path, text, answer.Header)
		}
	}
	return string(text)
}

func (s *stand) alice(want int, method, path string, body any) string {
	s.t.Helper()
	text, is := body.([]byte)
	if !is && body != nil {
		text = []byte(fmt.Sprint(body))
	}
	return s.ask(want, "alice", method, "/onap"+path, "", text)
}

type entry struct {
	name, text string
	kind       byte
}

func tarGz(t testing.TB, files ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Typeflag: tar.TypeReg}
		if f.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = f.kind, "/etc/passwd", 0
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = io.WriteString(w, f.text)
		}
	}
	_ = w.Close()
	_ = zipped.Close()
	return out.Bytes()
}

func form(t testing.TB, parts ...[2]string) (string, []byte) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, p := range parts {
		if p[0] == "file" {
			f, _ := w.CreateFormFile("file", "file")
			_, _ = io.WriteString(f, p[1])
		} else {
			_ = w.WriteField(p[0], p[1])
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), out.Bytes()
}

const (
	definition = "/v1/rb/definition/rb/1"
	chart      = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
)

func (s *stand) define() {
	s.t.Helper()
	s.alice(201, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1", "chart-name": "web"}`)
	s.alice(201, "POST", definition+"/profile", `{"profile-name": "p", "namespace": "shop"}`)
}

// TestSDKUntouched sends what python-onapsdk 14.6's own integration tests send: those that bring a real artifact pass in
// test/real, and here those fail that bring none.
func TestSDKUntouched(t *testing.T) {
	s := serve(t)
	text, err := os.ReadFile("testdata/sdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Test, Method, Path, Body, Metadata string
		Want, Untouched                    int
		Reads                              []string
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		want, kind, body := r.Want, "", []byte(r.Body)
		if r.Untouched != 0 {
			want = r.Untouched
		}
		if r.Metadata != "" {
			kind, body = form(t, [2]string{"file", r.Body}, [2]string{"metadata", r.Metadata})
		}
		said := s.ask(want, "alice", r.Method, "/onap"+strings.Replace(r.Path, "{id}", "no_such", 1), kind, body)
		if want != http.StatusOK || len(r.Reads) == 0 {
			continue
		}
		if said = strings.TrimSpace(said); strings.HasPrefix(said, "[") {
			said = strings.TrimSuffix(strings.TrimPrefix(said, "["), "]")
			if said, _, _ = strings.Cut(said, "},{\"rb-name"); said == "" {
				continue
			}
			said = strings.TrimSuffix(said, "}") + "}"
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(said), &object); err != nil {
			t.Errorf("%s: %s %s answers %s", r.Test, r.Method, r.Path, said)
		}
		for _, name := range r.Reads {
			if _, has := object[name]; !has {
				t.Errorf("%s: %s %s has no %s", r.Test, r.Method, r.Path, name)
			}
		}
	}
}

func TestCallers(t *testing.T) {
	s := serve(t)
	var made struct {
		ID     string `json:"id"`
		Secret string `json:"clientSecret"`
	}
	answer := s.ask(201, "root", "POST", "/v1/clients", "application/json", []byte(`{"name": "so", "roles": ["member"]}`))
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Secret == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	s.ask(200, made.ID+":"+made.Secret, "GET", "/onap/v1/rb/definition", "", nil)
	s.ask(200, "alice", "GET", "/onap/v1/rb/definition", "", nil)
	s.ask(200, "alice", "GET", "/onap/v1/healthcheck", "", nil)
	for _, who := range []string{"", made.ID + ":" + made.Secret + "x", made.ID + ":", "sdk:" + token("alice"), "no"} {
		for _, path := range []string{"/onap/v1/rb/definition", "/onap/v1/healthcheck", "/onap/v1/nothing"} {
			s.ask(401, who, "GET", path, "", nil)
		}
	}
	s.alice(404, "GET", "/core/region/infra_workload/x", nil)
}

// TestTenants: another project's things answer as ones that do not exist.
func TestTenants(t *testing.T) {
	s := serve(t)
	s.define()
	s.alice(200, "POST", definition+"/content", tarGz(t, entry{"web/Chart.yaml", chart, 0}))
	kind, body := form(t, [2]string{"metadata", `{"cloud-region": "edge", "cloud-owner": "me"}`}, [2]string{"file", s.cluster.Kubeconfig()})
	if said := s.ask(201, "alice", "POST", "/onap/v1/connectivity-info", kind, body); strings.Contains(said, s.cluster.AdminToken) {
		t.Error("the answer shows what was stored")
	}
	const other = "/v1/instance/baba_baba"
	s.alice(201, "POST", definition+"/config-template", `{"template-name": "c", "has-content": true}`)
	if said := s.alice(200, "GET", definition+"/config-template/c", nil); !strings.Contains(said, `"has-content":false`) {
		t.Errorf("a template without content says %s", said)
	}
	for _, path := range []string{
		"GET 404 " + definition, "PUT 404 " + definition, "DELETE 404 " + definition, "POST 404 " + definition + "/content", "GET 404 " + definition + "/profile",
		"POST 404 " + definition + "/profile", "GET 404 " + definition + "/profile/p", "PUT 404 " + definition + "/profile/p", "DELETE 404 " + definition + "/profile/p",
		"POST 404 " + definition + "/profile/p/content", "GET 404 /v1/connectivity-info/edge", "DELETE 404 /v1/connectivity-info/edge", "POST 404 /v1/instance",
		"GET 404 /v1/instance/baba_baba", "DELETE 404 /v1/instance/baba_baba", "POST 404 /v1/instance/baba_baba/upgrade", "GET 404 /v1/instance/baba_baba/status",
		"GET 404 /v1/instance/baba_baba/query?ApiVersion=v1&Kind=Pod", "GET 404 /v1/query?CloudRegion=edge&ApiVersion=v1&Kind=Pod",
		"GET 404 " + definition + "/config-template", "POST 404 " + definition + "/config-template", "GET 404 " + definition + "/config-template/c",
		"PUT 404 " + definition + "/config-template/c", "DELETE 404 " + definition + "/config-template/c", "POST 404 " + definition + "/config-template/c/content",
		"GET 404 " + other + "/status/subscription", "POST 404 " + other + "/status/subscription", "GET 404 " + other + "/status/subscription/w",
		"PUT 404 " + other + "/status/subscription/w", "DELETE 404 " + other + "/status/subscription/w", "GET 404 " + other + "/healthcheck",
		"POST 404 " + other + "/healthcheck", "GET 404 " + other + "/healthcheck/h", "DELETE 404 " + other + "/healthcheck/h", "GET 404 " + other + "/config",
		"POST 404 " + other + "/config", "GET 404 " + other + "/config/c", "PUT 404 " + other + "/config/c", "DELETE 404 " + other + "/config/c",
		"POST 404 " + other + "/config/c/delete", "POST 404 " + other + "/config/c/rollback", "GET 404 " + other + "/config/c/version",
		"GET 404 " + other + "/config/c/version/1", "GET 404 " + other + "/config/c/tag", "GET 404 " + other + "/config/c/tag/t", "POST 404 " + other + "/config/c/tagit",
		"POST 404 /me/edge/infra_workload", "GET 404 /me/edge/infra_workload/baba_baba", "DELETE 404 /me/edge/infra_workload/baba_baba",
	} {
		part := strings.Split(path, " ")
		var body []byte
		switch {
		case strings.HasSuffix(part[2], "/content"):
			body = tarGz(t, entry{"web/Chart.yaml", chart, 0})
		case part[2] == definition+"/profile":
			body = []byte(`{"profile-name": "q", "namespace": "shop"}`)
		case strings.HasPrefix(part[2], "/v1/instance"):
			body = []byte(`{"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "edge"}`)
		case part[2] == definition+"/config-template":
			body = []byte(`{"template-name": "d"}`)
		case part[2] == "/me/edge/infra_workload":
			body = []byte(workload(profileDirective))
		case part[0] == "PUT":
			body = []byte(`{"namespace": "shop"}`)
		}
		if strings.HasPrefix(part[2], other) && part[2] != other+"/upgrade" {
			body = []byte(`{"name": "w", "callback-url": "http://192.0.2.9/", "config-name": "c", "tag-name": "t", "config-tag": "t"}`)
		}
		if part[0] == "GET" {
			body = nil
		}
		s.ask(404, "bob", part[0], "/onap"+part[2], "", body)
	}
	for _, path := range []string{"/v1/rb/definition", "/v1/rb/definition/rb", "/v1/instance"} {
		if said := strings.TrimSpace(s.ask(200, "bob", "GET", "/onap"+path, "", nil)); said != "[]" {
			t.Errorf("bob sees %s at %s", said, path)
		}
	}
	s.alice(200, "GET", definition, nil)
	s.alice(200, "GET", "/v1/connectivity-info/edge", nil)
	s.alice(409, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1"}`)
	s.alice(204, "DELETE", "/v1/connectivity-info/edge", nil)
	s.alice(204, "DELETE", definition, nil)
}

// TestArchives: each bad archive is refused with a reason, and nothing of it stays.
func TestArchives(t *testing.T) {
	s := serve(t)
	s.define()
	many := []entry{{"web/Chart.yaml", chart, 0}}
	for n := range 10_000 {
		many = append(many, entry{fmt.Sprintf("web/files/%d", n), "", 0})
	}
	for name, content := range map[string][]byte{
		"no archive": []byte(canary), "no tar": gzipped(t, canary), "nothing": tarGz(t), "no chart": tarGz(t, entry{"web/values.yaml", "a: b", 0}),
		"a chart at the top": tarGz(t, entry{"Chart.yaml", chart, 0}), "two charts": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"b/Chart.yaml", chart, 0}),
		"another name": tarGz(t, entry{"other/Chart.yaml", chart, 0}), "an absolute name": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"/etc/x", canary, 0}),
		"a way out": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"../x", canary, 0}), "a symbolic link": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"web/x", "", tar.TypeSymlink}),
		"a hard link": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"web/x", "", tar.TypeLink}), "a device": tarGz(t, entry{"web/x", "", tar.TypeChar}),
		"a file twice": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"./web/Chart.yaml", chart, 0}), "10 000 files": tarGz(t, many...),
		"a bomb": tarGz(t, entry{"web/Chart.yaml", chart, 0}, entry{"web/a", strings.Repeat("0", 33<<20), 0}), "cut off": tarGz(t, entry{"web/Chart.yaml", chart, 0})[:60],
	} {
		t.Log(name)
		s.alice(422, "POST", definition+"/content", content)
	}
	s.alice(400, "POST", definition+"/content", nil)
	s.alice(200, "POST", definition+"/content", tarGz(t, entry{"./web/Chart.yaml", chart, 0}))
	s.alice(409, "PUT", definition, `{"chart-name": "other"}`)

	with := func(manifest string, files ...entry) []byte {
		return tarGz(t, append(files, entry{"manifest.yaml", manifest, 0}, entry{"a.yaml", "password: " + canary, 0})...)
	}
	overlay := func(from, to string) string {
		return "version: v1\ntype:\n  configresource: [{filepath: " + from + ", chartpath: " + to + "}]\n"
	}
	for name, content := range map[string][]byte{
		"no archive": []byte(canary), "no manifest": tarGz(t, entry{"a.yaml", "a: b", 0}), "another version": with("version: v2\n"), "no YAML": with("{" + canary),
		"values that are not there": with("version: v1\ntype: {values: b.yaml}\n"), "values that are no mapping": with("version: v1\ntype: {values: c}\n", entry{"c", "- " + canary, 0}),
		"outside": with(overlay("a.yaml", "../x")), "absolute": with(overlay("a.yaml", "/x")), "Chart.yaml": with(overlay("a.yaml", "web/Chart.yaml")), "that of a chart below it": with(overlay("a.yaml", "web/charts/a/./Chart.yaml")),
		"from outside": with(overlay("../a.yaml", "x")), "too much": with("version: v1\ntype: {values: c}\n", entry{"c", "a: " + strings.Repeat("x", 70<<10), 0}),
	} {
		t.Log(name)
		s.alice(422, "POST", definition+"/profile/p/content", content)
	}
	s.alice(200, "POST", definition+"/profile/p/content", with("version: v1\ntype: {values: a.yaml}\n"))
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.Bytes()
}

func TestBadInput(t *testing.T) {
	s := serve(t)
	s.define()
	for body, want := range map[string]int{
		"": 400, "{": 400, "[]": 422, `{"rb-name": 1, "rb-version": "1"}`: 422, `{"rb-name": "a/b", "rb-version": "1"}`: 422, `{"rb-name": "a"}`: 422,
		`{"rb-name": "a", "rb-version": "1", "labels": {"x y": "z"}}`: 422, `{"rb-name": "a", "rb-version": "..", "description": ""}`: 422,
		`{"rb-name": "` + strings.Repeat("a", 300<<10) + `"}`: 413,
	} {
		s.alice(want, "POST", "/v1/rb/definition", body)
	}
	s.alice(400, "PUT", definition, `{"rb-name": "other"}`)
	for body, want := range map[string]int{
		`{"profile-name": "q", "namespace": "Shop"}`: 422, `{"profile-name": "q", "namespace": "shop", "release-name": "$(x)"}`: 422,
		`{"profile-name": "q", "namespace": "shop", "labels": {"a": "` + strings.Repeat("b", 64) + `"}}`: 422, `{"profile-name": "p", "namespace": "shop"}`: 409,
		`{"profile-name": "q", "namespace": "shop", "rb-name": "other"}`: 400,
	} {
		s.alice(want, "POST", definition+"/profile", body)
	}
	// A registered region, and the content that an instance needs: what follows is wrong for itself alone.
	s.alice(200, "POST", definition+"/content", tarGz(t, entry{"web/Chart.yaml", chart, 0}))
	meta := [2]string{"metadata", `{"cloud-region": "edge", "cloud-owner": "me"}`}
	good := [2]string{"file", s.cluster.Kubeconfig()}
	region := func(want int, parts ...[2]string) {
		t.Helper()
		kind, body := form(t, parts...)
		s.ask(want, "alice", "POST", "/onap/v1/connectivity-info", kind, body)
	}
	exec := strings.Replace(s.cluster.Kubeconfig(), fmt.Sprintf("token: %q", s.cluster.AdminToken), "exec: {command: "+canary+", apiVersion: client.authentication.k8s.io/v1}", 1)
	region(422, meta)
	region(422, good)
	region(422, meta, good, good)
	region(422, meta, meta, good)
	region(422, meta, [2]string{"file", "kubeconfig_content_test " + canary})
	region(422, meta, [2]string{"file", exec})
	region(422, [2]string{"metadata", `{"cloud-region": "a/b", "cloud-owner": "me"}`}, good)
	region(400, [2]string{"metadata", `{"cloud-region": "edge"}`}, good)
	recorded := func(records string) [2]string {
		return [2]string{"metadata", `{"cloud-region": "ovn", "cloud-owner": "me", "other-connectivity-list": {"connectivity-records": [` + records + `]}}`}
	}
	region(422, recorded(`{"password": "`+canary+`"}`), good)
	region(422, recorded(`{"connectivity-record-name": "a", "password": "`+strings.Repeat("x", 70<<10)+`"}`), good)
	region(413, meta, [2]string{"file", strings.Repeat("x", 17<<20)})
	s.ask(422, "alice", "POST", "/onap/v1/connectivity-info", "application/json", []byte("{}"))
	region(201, meta, good)
	region(409, meta, good)
	s.alice(404, "GET", "/v1/connectivity-info/a%2Fb", nil)
	region(201, recorded(`{"connectivity-record-name": "ovn", "password": "`+canary+`", "private-key": "`+canary+`"}`), good)
	shown := s.alice(200, "GET", "/v1/connectivity-info/ovn", nil)
	if !strings.Contains(shown, `"connectivity-records":[{"connectivity-record-name":"ovn"}]`) || strings.Contains(shown, canary) {
		t.Errorf("the region is shown as %s", shown)
	}
	for _, text := range []string{canary, "private-key"} {
		if found := s.stored(text); found != "" {
			t.Errorf("%s holds a record's %s", found, text)
		}
	}
	s.alice(204, "DELETE", "/v1/connectivity-info/ovn", nil)
	region(201, recorded(""), good) // and the name is free

	request := func(more string) string {
		return `{"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "edge"` + more + `}`
	}
	for body, want := range map[string]int{
		"": 400, "{}": 400, workload(""): 400, workload(profileDirective + `, {"attribute_name": "a b", "attribute_value": "` + canary + `"}`): 422,
		strings.Replace(workload(profileDirective), `"rb"`, `"other"`, 1): 404, strings.Replace(workload(profileDirective), `"m"`, `"M"`, 1): 422,
	} {
		s.alice(want, "POST", "/me/edge/infra_workload", body)
	}
	s.alice(404, "POST", "/me/nowhere/infra_workload", workload(profileDirective))
	s.alice(400, "GET", "/me/edge/infra_workload", nil)
	s.alice(404, "DELETE", "/me/edge/infra_workload/baba_baba", nil)
	if said := s.alice(200, "GET", "/me/edge/infra_workload?name=s", nil); !strings.Contains(said, `"GET_COMPLETE"`) {
		t.Errorf("a stack that is not there is found: %s", said)
	}
	for body, want := range map[string]int{
		request(`, "override-values": {"a": 1}`): 422, request(`, "override-values": {"a": "\u0000"}`): 422, request(`, "override-values": {"k8s-rb-instance-id": "x"}`): 422,
		request(`, "override-values": {"a b": "x"}`): 422, request(`, "override-values": {"k8s-rb-instance-post-install-timeout": "soon"}`): 422,
		request(`, "override-values": {"a": "` + strings.Repeat("x", 1<<20) + `"}`): 413, request(`, "override-values": {"a": "` + strings.Repeat("x", 100<<10) + `"}`): 422,
		request(`, "labels": {"a": "b c"}`): 422, request(`, "release-name": "a b"`): 422,
		strings.Replace(request(""), "edge", "nowhere", 1): 404, strings.Replace(request(""), `"edge"`, `"a/b"`, 1): 422, strings.Replace(request(""), `"p"`, `"q"`, 1): 404,
	} {
		s.alice(want, "POST", "/v1/instance", body)
	}
	s.alice(200, "POST", definition+"/profile/p/content", tarGz(t, entry{"a", canary, 0},
		entry{"manifest.yaml", "version: v1\ntype: {configresource: [{filepath: a, chartpath: templates/a}]}\n", 0}))
	if said := s.alice(422, "POST", "/v1/instance", request("")); !strings.Contains(said, "begin with web") {
		t.Errorf("an overlay outside the chart's folder is refused with %s", said)
	}
	if said := strings.TrimSpace(s.alice(200, "GET", "/v1/instance", nil)); said != "[]" {
		t.Errorf("of what was refused there is left %s", said)
	}
	s.ask(403, "root", "GET", "/onap/v1/query?CloudRegion=edge&ApiVersion=v1&Kind=Secret", "", nil) // who may read all
	s.alice(422, "GET", "/v1/query?CloudRegion=edge&ApiVersion=../v1&Kind=Pod", nil)
}

func workload(directives string) string {
	return `{"generic-vnf-id": "v", "vf-module-id": "m", "vf-module-model-invariant-id": "rb", "vf-module-model-version-id": "x",
		"vf-module-model-customization-id": "1", "template_data": {"stack_name": "s"}, "sdnc_directives": {"attributes": [` + directives + `]}}`
}

const profileDirective = `{"attribute_name": "k8s-rb-profile-name", "attribute_value": "p"}`

// TestCompat: with compat the statuses are upstream's; with connectivity none no answer holds a kubeconfig; and a request waits no
// longer than its limit, after which the work goes on, and a repeat waits for the same.
func TestCompat(t *testing.T) {
	s := serve(t, ", compat: true, connectivity: none, wait: 1s")
	s.define()
	s.alice(200, "POST", definition+"/content", tarGz(t, entry{"web/Chart.yaml", chart, 0}))
	kind, body := form(t, [2]string{"metadata", `{"cloud-region": "edge", "cloud-owner": "me"}`}, [2]string{"file", s.cluster.Kubeconfig()})
	for _, said := range []string{s.ask(201, "alice", "POST", "/onap/v1/connectivity-info", kind, body), s.alice(200, "GET", "/v1/connectivity-info/edge", nil)} {
		if !strings.Contains(said, `"kubeconfig":""`) {
			t.Errorf("the region is %s, want no kubeconfig", said)
		}
	}
	s.alice(500, "GET", "/v1/instance/baba_baba", nil)
	s.alice(500, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "1"}`)
	s.alice(422, "POST", "/v1/rb/definition", `{"rb-name": "a"}`)
	s.cluster.Fail(fake.Fault{Kind: fake.Hang})
	request := `{"rb-name": "rb", "rb-version": "1", "profile-name": "p", "cloud-region": "edge"}`
	for range 2 {
		if said := s.alice(504, "POST", "/v1/instance", request); !strings.Contains(said, "goes on") {
			t.Errorf("a limit that passes says %s", said)
		}
	}
	var all []struct{ ID string }
	if err := json.Unmarshal([]byte(s.alice(200, "GET", "/v1/instance", nil)), &all); err != nil || len(all) != 1 {
		t.Fatalf("there are %+v, %v, want one", all, err)
	}
	s.alice(500, "DELETE", definition, nil)
	at := "/v1/instance/" + all[0].ID
	if said := s.alice(200, "GET", at+"?full=true", nil); !strings.Contains(said, `"status":"CREATING"`) {
		t.Errorf("the instance is %s", said)
	}
	s.alice(500, "POST", at+"/config", `{"config-name": "c", "template-name": "t"}`)
	s.alice(500, "POST", at+"/healthcheck", nil)
	for url, want := range map[string]int{"http://169.254.169.254/latest": 422, "ftp://example.org": 422, "http://u:p@example.org/": 422, "": 422} {
		s.alice(want, "POST", at+"/status/subscription", fmt.Sprintf(`{"name": "w", "callback-url": %q}`, url))
	}
	s.alice(422, "POST", at+"/status/subscription", `{"name": "w", "callback-url": "http://192.0.2.9/", "min-notify-interval": -1}`)
	s.cluster.Heal()
}

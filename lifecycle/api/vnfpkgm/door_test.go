package vnfpkgm_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnfpkgm"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/doors"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// canary stands in a manifest, and in no error and no log.
const canary = "canary-77f0"

// client speaks with a door on a store of its own.
type client struct {
	*doors.Client

	t   *testing.T
	log *bytes.Buffer
	dir string
}

func serve(t *testing.T) *client {
	t.Helper()
	dir := t.TempDir()
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, log: &bytes.Buffer{}, dir: dir}
	log := testlog.To(t, slog.NewTextHandler(c.log, nil))
	terms := catalog.DefaultTerms()
	terms.MaxSize = 1 << 20
	allowed := egress.Default()
	allowed.AllowLoopback = true
	packages := catalog.New(catalog.Options{
		Store: store, Guard: &audit.Guard{Policy: policies, Sink: store, Now: time.Now}, Log: log, Terms: terms,
		Egress: func(string) *egress.Rules { return allowed },
	})
	t.Cleanup(func() {
		_ = store.Close()
		if strings.Contains(c.log.String(), canary) {
			t.Errorf("the log repeats a manifest:\n%s", c.log)
		}
	})
	c.Client = doors.Serve(t, log, vnfpkgm.Door(packages))
	c.Version = "2.1.0"
	return c
}

// ask is Ask, and fails where an error repeats a manifest.
func (c *client) ask(method, path, body string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	answer, text := c.Ask(method, "/vnfpkgm"+path, body, headers...)
	if answer.StatusCode >= 400 && strings.Contains(text, canary) {
		c.t.Errorf("%s %s: the error repeats a manifest: %s", method, path, text)
	}
	return answer, text
}

// want is ask, for a status and a text in the body.
func (c *client) want(status int, part, method, path, body string, headers ...string) string {
	c.t.Helper()
	answer, text := c.ask(method, path, body, headers...)
	if answer.StatusCode != status || !strings.Contains(text, part) {
		c.t.Errorf("%s %s = %d %s; want %d with %q", method, path, answer.StatusCode, text, status, part)
	}
	return text
}

// packed is a package with two manifests.
func packed(t *testing.T, vnfd string) string {
	t.Helper()
	var b bytes.Buffer
	err := vnfpkg.Pack(&b, vnfpkg.Assembly{
		VNFDID: vnfd, Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "2.0",
		Manifests: []vnfpkg.ManifestFile{
			{Path: "a b.yaml", Text: []byte("kind: Deployment\nmetadata: {name: web}\n")},
			{Path: "secret.yaml", Text: []byte("kind: Secret\nstringData: {password: " + canary + "}\n")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// create makes a package, and returns its id.
func (c *client) create(body string) string {
	c.t.Helper()
	var created struct{ ID string }
	if err := json.Unmarshal([]byte(c.want(201, `"CREATED"`, "POST", "/v2/vnf_packages", body)), &created); err != nil {
		c.t.Fatal(err)
	}
	return created.ID
}

const zipped = "application/zip"

func TestPackageByTheStandard(t *testing.T) {
	c := serve(t)
	id := c.create(`{"userDefinedData":{"stage":"test","n":{"a":1}}}`)
	self := "/v2/vnf_packages/" + id
	text := packed(t, "vnfd-1")

	c.want(409, "not onboarded", "GET", self+"/package_content", "")
	c.want(404, "no such VNF package", "GET", "/v2/onboarded_vnf_packages/vnfd-1", "")
	c.want(415, "application/zip", "PUT", self+"/package_content", text)
	c.want(422, "is not a ZIP archive", "PUT", self+"/package_content", "password: "+canary, "Content-Type", zipped)
	c.want(413, "1048576", "PUT", self+"/package_content", strings.Repeat("x", 1<<20+1), "Content-Type", zipped)
	c.want(202, "", "PUT", self+"/package_content", text, "Content-Type", zipped)

	for _, path := range []string{self, "/v2/onboarded_vnf_packages/vnfd-1"} {
		shown := c.want(200, `"onboardingState":"ONBOARDED"`, "GET", path, "")
		for _, part := range []string{
			`"operationalState":"ENABLED"`, `"usageState":"NOT_IN_USE"`, `"vnfdId":"vnfd-1"`, `"vnfProvider":"Acme"`, `"vnfProductName":"web"`,
			`"userDefinedData":{"n":{"a":1},"stage":"test"}`, `"artifactPath":"Files/kubernetes/secret.yaml"`, `"vnfmInfo":"vimbroker"`,
			`"href":"` + c.URL + `/vnfpkgm` + self + `/vnfd"`,
		} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s shows no %s: %s", path, part, shown)
			}
		}
		answer, whole := c.ask("GET", path+"/package_content", "")
		if answer.StatusCode != 200 || whole != text || answer.Header.Get("Content-Type") != zipped {
			t.Errorf("%s/package_content = %d, %d bytes of %s", path, answer.StatusCode, len(whole), answer.Header.Get("Content-Type"))
		}
		answer, part := c.ask("GET", path+"/package_content", "", "Range", "bytes=10-19")
		if answer.StatusCode != 206 || part != text[10:20] {
			t.Errorf("a range = %d %q", answer.StatusCode, part)
		}
		beyond, _ := c.ask("GET", path+"/package_content", "", "Range", "bytes=99999999-")
		if got, want := beyond.Header.Get("Content-Range"), fmt.Sprintf("bytes */%d", len(text)); beyond.StatusCode != 416 || got != want {
			t.Errorf("beyond the content = %d %q, want 416 %q", beyond.StatusCode, got, want)
		}
		c.want(304, "", "GET", path+"/package_content", "", "If-None-Match", answer.Header.Get("Etag"))
		c.want(200, "kind: Deployment", "GET", path+"/artifacts/Files/kubernetes/a%20b.yaml", "")
		c.want(206, "Deployment", "GET", path+"/artifacts/Files/kubernetes/a%20b.yaml", "", "Range", "bytes=6-")
		c.want(404, "no such artifact", "GET", path+"/artifacts/Files/none.yaml", "")
		c.want(404, "has no manifest", "GET", path+"/manifest", "")
		c.want(200, "tosca_definitions_version", "GET", path+"/vnfd", "", "Accept", "text/plain")
		// As Tacker asks.
		if got, want := entries(t, second(c.ask("GET", path+"/vnfd", "", "Accept", "application/json"))), []string{"TOSCA-Metadata/TOSCA.meta", "Definitions/vnfd.yaml"}; !cmp.Equal(got, want) {
			t.Errorf("%s/vnfd holds %v, want %v", path, got, want)
		}
		if got, want := entries(t, second(c.ask("GET", path+"/artifacts", ""))), []string{"Files/kubernetes/a b.yaml", "Files/kubernetes/secret.yaml"}; !cmp.Equal(got, want) {
			t.Errorf("%s/artifacts holds %v, want %v", path, got, want)
		}
	}

	c.want(409, "has its content already", "PUT", self+"/package_content", text, "Content-Type", zipped)
	c.want(409, "enabled", "DELETE", self, "")
	c.want(422, "must be ENABLED or DISABLED", "PATCH", self, `{"operationalState":"BROKEN"}`)
	c.want(400, "must have operationalState", "PATCH", self, `{"unknown":1}`)
	c.want(422, "userDefinedData: must be a JSON object", "PATCH", self, `{"userDefinedData":[1]}`)
	c.want(422, "userDefinedData: must be a JSON object", "POST", "/v2/vnf_packages", `{"userDefinedData":"stage"}`)
	c.want(409, "enabled already", "PATCH", self, `{"operationalState":"ENABLED"}`)
	c.want(200, `{"operationalState":"DISABLED","userDefinedData":{"m":2,"stage":"prod"}}`, "PATCH", self,
		`{"operationalState":"DISABLED","userDefinedData":{"stage":"prod","n":null,"m":2}}`, "Content-Type", "application/merge-patch+json")
	c.want(501, "no notifications", "POST", "/v2/subscriptions", `{}`)
	c.want(204, "", "DELETE", self, "")
	c.want(404, "no such VNF package", "GET", self, "")
}

func second(_ *http.Response, text string) string { return text }

func entries(t *testing.T, text string) (names []string) {
	t.Helper()
	r, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names
}

// TestVersionOne: as Tacker's clients ask, without a header Version.
func TestVersionOne(t *testing.T) {
	c := serve(t)
	c.want(400, "Version", "GET", "/v2/vnf_packages", "", "Version", "")
	c.want(406, "2.1.0", "GET", "/v2/vnf_packages", "", "Version", "9.0.0")
	var created struct{ ID string }
	if err := json.Unmarshal([]byte(c.want(201, `/vnfpkgm/v1/vnf_packages/`, "POST", "/v1/vnf_packages", `{}`, "Version", "")), &created); err != nil {
		t.Fatal(err)
	}
	c.want(202, "", "PUT", "/v1/vnf_packages/"+created.ID+"/package_content", packed(t, "v"), "Content-Type", zipped, "Version", "")
	c.want(200, `"checksum":{"algorithm":"SHA-512","hash":"`, "GET", "/v1/vnf_packages/"+created.ID, "", "Version", "")
	c.want(200, `"vnfmInfo":["vimbroker"]`, "GET", "/v1/vnf_packages/"+created.ID, "", "Version", "")
}

func TestLists(t *testing.T) {
	c := serve(t)
	first := c.create(``)
	c.want(202, "", "PUT", "/v2/vnf_packages/"+first+"/package_content", packed(t, "vnfd-1"), "Content-Type", zipped)
	empty := c.create(`{"userDefinedData":{"a":"b"}}`)
	all := c.want(200, first, "GET", "/v2/vnf_packages", "")
	if !strings.Contains(all, empty) || strings.Contains(all, "additionalArtifacts") || strings.Contains(all, "userDefinedData") || strings.Contains(all, "checksum") {
		t.Errorf("the list is %s", all)
	}
	for query, want := range map[string][2]bool{
		"?filter=(eq,onboardingState,ONBOARDED)":                     {true, false},
		"?filter=(eq,vnfdId,vnfd-1);(cont,vnfProductName,we)":        {true, false},
		"?filter=(neq,operationalState,ENABLED)":                     {false, true},
		"?all_fields&filter=(eq,userDefinedData/a,b)":                {false, true},
		"?filter=(eq,_links/self/href," + c.URL + "/vnfpkgm/v2/nil)": {false, false},
	} {
		text := c.want(200, "[", "GET", "/v2/vnf_packages"+query, "")
		if got := [2]bool{strings.Contains(text, first), strings.Contains(text, empty)}; got != want {
			t.Errorf("%s lists %s", query, text)
		}
	}
	if text := c.want(200, first, "GET", "/v2/onboarded_vnf_packages", ""); strings.Contains(text, empty) {
		t.Errorf("onboarded packages are %s", text)
	}
	c.want(400, "filter", "GET", "/v2/vnf_packages?filter=nonsense", "")
	c.want(200, "[]", "GET", "/v2/vnf_packages", "", "Authorization", "Bearer bob")
	c.want(404, "no such VNF package", "GET", "/v2/vnf_packages/"+first, "", "Authorization", "Bearer bob")
	c.want(401, "", "GET", "/v2/vnf_packages/"+first, "", "Authorization", "Bearer eve")
	c.want(400, "nextpage_opaque_marker", "GET", "/v2/vnf_packages?nextpage_opaque_marker=forged", "")
}

// TestArtifacts: none is sent as a page that a browser would run, and a large one is sent whole, and not from memory.
func TestArtifacts(t *testing.T) {
	c := serve(t)
	small, large := strings.Repeat("s", 4<<20), strings.Repeat("l", 4<<20+1)
	files := map[string]string{"page.html": "<script>", "text.yaml": "kind: Service", "small": small, "large": large}
	meta := "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nEntry-Definitions: Definitions/vnfd.yaml\n"
	for name, kind := range map[string]string{"page.html": "text/html; charset=utf-8", "text.yaml": "application/yaml", "small": "", "large": ""} {
		sum := sha256.Sum256([]byte(files[name]))
		meta += "\nName: " + name + "\nAlgorithm: SHA-256\nHash: " + hex.EncodeToString(sum[:]) + "\n"
		if kind != "" {
			meta += "Content-Type: " + kind + "\n"
		}
	}
	files["TOSCA-Metadata/TOSCA.meta"] = meta
	files["Definitions/vnfd.yaml"] = `
tosca_definitions_version: tosca_simple_yaml_1_2
topology_template:
  substitution_mappings: {properties: {flavour_id: simple}}
  node_templates:
    VNF: {type: tosca.nodes.nfv.VNF, properties: {descriptor_id: artifacts}}
`
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		e, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	self := "/v2/vnf_packages/" + c.create("")
	c.want(202, "", "PUT", self+"/package_content", b.String(), "Content-Type", zipped)
	for name, want := range map[string]struct {
		kind   string
		status int // of a range
	}{
		"page.html": {"application/octet-stream", 206}, "text.yaml": {"application/yaml", 206},
		"small": {"application/octet-stream", 206}, "large": {"application/octet-stream", 200},
	} {
		answer, text := c.ask("GET", self+"/artifacts/"+name, "")
		if answer.StatusCode != 200 || text != files[name] || answer.Header.Get("Content-Type") != want.kind || answer.ContentLength != int64(len(text)) {
			t.Errorf("%s = %d, %d bytes of %s, announced as %d", name, answer.StatusCode, len(text), answer.Header.Get("Content-Type"), answer.ContentLength)
		}
		answer, text = c.ask("GET", self+"/artifacts/"+name, "", "Range", "bytes=1-2")
		if answer.StatusCode != want.status || answer.StatusCode == 206 && text != files[name][1:3] {
			t.Errorf("a range of %s = %d, %d bytes", name, answer.StatusCode, len(text))
		}
	}
}

// half has a package whose descriptor is known, and which is not onboarded.
type half struct{ vnfpkgm.Catalog }

func (half) MaxSize() int64 { return 1 }

func (half) Package(context.Context, policy.Principal, catalog.PackageRef) (catalog.Package, error) {
	return catalog.Package{ID: "half", VNFDID: "vnfd-1", State: catalog.Processing}, nil
}

// TestOnboardedAreThoseThatAre: what is being processed is found by its id alone.
func TestOnboardedAreThoseThatAre(t *testing.T) {
	c := &client{Client: doors.Serve(t, nil, vnfpkgm.Door(half{})), t: t}
	c.Version = "2.1.0"
	c.want(200, `"onboardingState":"PROCESSING"`, "GET", "/v2/vnf_packages/half", "")
	c.want(404, "no such onboarded VNF package", "GET", "/v2/onboarded_vnf_packages/vnfd-1", "")
}

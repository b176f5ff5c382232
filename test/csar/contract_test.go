package csar_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnfpkgm"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/doors"
)

const lcm, pkgm = "/vnflcm/v2", "/vnfpkgm/v2"

// contract asks at the doors of ETSI's APIs, and compares every answer with ETSI's OpenAPI documents.
type contract struct {
	*rig

	*doors.Client

	// answers are what the documents say of a path, by what the paths of each document follow.
	answers map[string][]resource
	// seen are the operations of the documents that were answered with success, or with 501.
	seen map[string]bool
}

// resource is a path of a document.
type resource struct {
	template string
	matches  *regexp.Regexp
	*openapi3.PathItem
}

// newContract skips the test where ETSI's documents are not beside the repository; they are not part of it.
func newContract(t *testing.T) *contract {
	t.Helper()
	c := &contract{rig: newRig(t), answers: map[string][]resource{}, seen: map[string]bool{}}
	for prefix, name := range map[string]string{lcm: "sol003_lifecycle_openapi.json", pkgm: "sol003_package_openapi.json"} {
		doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join("../../../shared/sol003", name))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("ETSI's OpenAPI documents are not beside the repository, in ../shared/sol003")
		}
		if err != nil {
			t.Fatal(err)
		}
		for template, item := range doc.Paths.Map() {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(template), `\{artifactPath\}`, ".+")
			pattern = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(pattern, "[^/]+")
			c.answers[prefix] = append(c.answers[prefix], resource{template, regexp.MustCompile("^" + pattern + "$"), item})
		}
	}
	c.Client = c.doors()
	return c
}

func (r *rig) doors() *doors.Client {
	c := doors.Serve(r.t, nil, vnflcm.Door(r.Lifecycle, r.Lifecycle, r.subscriptions), vnfpkgm.Door(r.catalog))
	c.Version = "2.0.0"
	return c
}

// common are the statuses that any request of ETSI's APIs may be answered with (SOL013 clause 6.4).
var common = []int{400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 416, 422, 429, 500, 501, 503, 504}

// want asks, and compares the answer with the documents.
func (c *contract) want(status int, method, path, body string, headers ...string) (http.Header, string) {
	c.t.Helper()
	answer, text := c.Ask(method, path, body, headers...)
	if answer.StatusCode != status {
		c.t.Errorf("%s %s %s = %d %s, want %d", method, path, body, answer.StatusCode, text, status)
	}
	if answer.Header.Get("Version") == "" {
		c.t.Errorf("%s %s: the answer has no Version", method, path)
	}
	if challenge := answer.Header.Get("WWW-Authenticate"); (answer.StatusCode == http.StatusUnauthorized) != (challenge != "") {
		c.t.Errorf("%s %s = %d with WWW-Authenticate %q", method, path, answer.StatusCode, challenge)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		c.problem(method+" "+path, answer, text)
	}
	prefix := lcm
	if strings.HasPrefix(path, pkgm) {
		prefix = pkgm
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(path, prefix), "?")
	of := c.resource(prefix, bare)
	if of == nil || of.GetOperation(method) == nil {
		return answer.Header, text // of SOL005, or of nobody
	}
	name := method + " " + prefix + of.template
	said := of.GetOperation(method).Responses.Status(answer.StatusCode)
	if said == nil {
		if !slices.Contains(common, answer.StatusCode) {
			c.t.Errorf("%s = %d, which is no answer of the document", name, answer.StatusCode)
		}
		said = &openapi3.ResponseRef{Value: openapi3.NewResponse()}
	}
	if answer.StatusCode < http.StatusMultipleChoices || answer.StatusCode == http.StatusNotImplemented {
		c.seen[name] = true
	}
	for header, value := range said.Value.Headers {
		if value.Value.Required && answer.Header.Get(header) == "" || header == "Location" && answer.Header.Get(header) == "" {
			c.t.Errorf("%s = %d without the header %s", name, answer.StatusCode, header)
		}
	}
	if media := said.Value.Content.Get("application/json"); media != nil && text != "" {
		c.fits(name, media.Schema.Value, text)
	}
	return answer.Header, text
}

// resource is the path of a document that a path is, literal ones before those with names in them.
func (c *contract) resource(prefix, path string) *resource {
	var found *resource
	for _, r := range c.answers[prefix] {
		if r.matches.MatchString(path) && (found == nil || strings.Count(r.template, "{") < strings.Count(found.template, "{")) {
			found = &r
		}
	}
	return found
}

// fits compares a body with the schema of a document.
func (c *contract) fits(name string, schema *openapi3.Schema, text string) {
	c.t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		c.t.Errorf("%s: %v: %s", name, err, text)
		return
	}
	// The document wants one of two attributes in each operation that SOL003 clause 5.5.2.13 gives to two kinds of
	// them, and has the list of operations as one of them.
	plain := *schema
	plain.OneOf = nil
	items, isList := value.([]any)
	if !isList || !plain.Type.Is("object") {
		items = []any{value}
	}
	for _, item := range items {
		if err := plain.VisitJSON(item, openapi3.MultiErrors(), openapi3.SetSchemaErrorMessageCustomizer(func(e *openapi3.SchemaError) string {
			return "/" + strings.Join(e.JSONPointer(), "/") + " " + e.Reason
		})); err != nil {
			c.t.Errorf("%s does not fit the standard: %v\n%s", name, err, text)
		}
	}
}

// problem compares an error with SOL013 clause 6.3. (ETSI's documents have these bodies as application/json.)
func (c *contract) problem(name string, answer *http.Response, text string) {
	c.t.Helper()
	var p struct {
		Title, Detail string
		Status        int
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || kind != "application/problem+json" || json.Unmarshal([]byte(text), &p) != nil || p.Status != answer.StatusCode || p.Detail == "" {
		c.t.Errorf("%s = %d %q %s, and that is no problem detail", name, answer.StatusCode, kind, text)
	}
}

// created makes something, and returns its path from Location.
func (c *contract) created(status int, method, path, body string, headers ...string) string {
	c.t.Helper()
	h, _ := c.want(status, method, path, body, headers...)
	at, ok := strings.CutPrefix(h.Get("Location"), c.URL)
	if !ok {
		c.t.Fatalf("%s %s: Location %q is not the URL of something here", method, path, h.Get("Location"))
	}
	c.want(http.StatusOK, "GET", at, "")
	return at
}

// worked begins an operation, works it, and returns its path.
func (c *contract) worked(want lifecycle.OperationState, method, path, body string, headers ...string) string {
	c.t.Helper()
	at := c.created(http.StatusAccepted, method, path, body, headers...)
	o, err := c.Operation(c.t.Context(), alice, base(at))
	c.ends(want, o, err)
	c.want(http.StatusOK, "GET", at, "")
	return at
}

func base(p string) string { return path.Base(p) }

// TestContract: every operation of ETSI's documents is seen answering as they say, or answers 501; every other
// method of their paths answers 405.
func TestContract(t *testing.T) {
	c := newContract(t)
	c.packages()
	c.subscribes(c.lifeCycle)
	c.lists()
	c.refusals()
	known, err := c.CreateInstance(t.Context(), alice, lifecycle.NewInstance{VNFDID: csar.TackerVNFD})
	if err != nil {
		t.Fatal(err)
	}
	// That it is served is seen by real networks alone: here there are none.
	c.seen["POST "+lcm+"/vnf_instances/{vnfInstanceId}/change_ext_conn"] = true
	for prefix, all := range c.answers {
		for _, r := range all {
			at := prefix + strings.NewReplacer("{artifactPath}", "a/b", "{vnfInstanceId}", known.ID, "{", "", "}", "").Replace(r.template)
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				name := method + " " + prefix + r.template
				switch {
				case r.GetOperation(method) == nil && !slices.Contains(besides, name):
					if h, _ := c.want(http.StatusMethodNotAllowed, method, at, ""); h.Get("Allow") == "" {
						t.Errorf("%s = 405 without Allow", name)
					}
				case r.GetOperation(method) != nil && !c.seen[name]:
					c.want(http.StatusNotImplemented, method, at, "")
				}
			}
		}
	}
}

// besides are operations of SOL005 on paths of SOL003.
var besides = []string{
	"PATCH " + pkgm + "/vnf_packages/{vnfPkgId}", "DELETE " + pkgm + "/vnf_packages/{vnfPkgId}", "PUT " + pkgm + "/vnf_packages/{vnfPkgId}/package_content",
}

const nextVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40002"

// packages are put into the catalogue, and read in every way.
func (c *contract) packages() {
	c.upload(csar.Tacker().As(nextVNFD))
	at := c.created(http.StatusCreated, "POST", pkgm+"/vnf_packages", `{"userDefinedData":{"stage":"test"}}`)
	for _, path := range []string{"", "/vnfd", "/manifest", "/package_content", "/artifacts", "/artifacts/Files/kubernetes/pod.yaml"} {
		status := http.StatusConflict // it has no content yet
		if path == "" {
			status = http.StatusOK
		}
		c.want(status, "GET", at+path, "")
		c.want(http.StatusNotFound, "GET", pkgm+"/onboarded_vnf_packages/"+csar.TackerVNFD+path, "")
	}
	content := csar.Tacker().With(csar.Files{"edge.mf": "metadata:\n  vnf_product_name: Edge web\n\nSource: Files/kubernetes/pod.yaml\n"})
	c.want(http.StatusAccepted, "PUT", at+"/package_content", string(content.Zip(c.t)), "Content-Type", "application/zip")
	for _, self := range []string{at, pkgm + "/onboarded_vnf_packages/" + csar.TackerVNFD} {
		for _, path := range []string{"", "/vnfd", "/manifest", "/package_content", "/artifacts", "/artifacts/Files/kubernetes/pod.yaml"} {
			c.want(http.StatusOK, "GET", self+path, "", "Version", "2.1.0")
		}
		c.want(http.StatusNotAcceptable, "GET", self+"/vnfd", "", "Accept", "text/plain") // it has several files
		for _, path := range []string{"/package_content", "/artifacts/Files/kubernetes/pod.yaml"} {
			whole, _ := c.want(http.StatusOK, "GET", self+path, "")
			part, text := c.want(http.StatusPartialContent, "GET", self+path, "", "Range", "bytes=0-9")
			if whole.Get("Accept-Ranges") != "bytes" || !strings.HasPrefix(part.Get("Content-Range"), "bytes 0-9/") || len(text) != 10 {
				c.t.Errorf("%s: Accept-Ranges %q, Content-Range %q and %d bytes", path, whole.Get("Accept-Ranges"), part.Get("Content-Range"), len(text))
			}
			c.want(http.StatusRequestedRangeNotSatisfiable, "GET", self+path, "", "Range", "bytes=99999999-")
		}
		c.want(http.StatusNotFound, "GET", self+"/artifacts/Files/none", "")
	}
	c.want(http.StatusOK, "GET", pkgm+"/onboarded_vnf_packages?all_fields", "")
	c.want(http.StatusOK, "GET", pkgm+"/vnf_packages?all_fields", "")
}

// lifeCycle does everything with an instance that the door serves.
func (c *contract) lifeCycle() {
	c.want(http.StatusUnprocessableEntity, "POST", lcm+"/vnf_instances", `{"vnfdId":"nobody's"}`)
	at := c.created(http.StatusCreated, "POST", lcm+"/vnf_instances", `{"vnfdId":"`+csar.TackerVNFD+`","vnfInstanceName":"edge","x":{"y":1}}`)
	h, _ := c.want(http.StatusOK, "GET", at, "")
	c.want(http.StatusConflict, "POST", at+"/scale", `{"type":"SCALE_OUT","aspectId":"web_aspect"}`)
	c.want(http.StatusPreconditionFailed, "PATCH", at, `{"vnfInstanceName":"x"}`, "If-Match", `"99"`)
	c.want(http.StatusUnsupportedMediaType, "PATCH", at, `{}`, "Content-Type", "text/plain")
	c.worked(lifecycle.Completed, "PATCH", at, `{"vnfInstanceName":"web","metadata":{"a":"b","c":{"d":1}},"extensions":{"e":1},"vnfConfigurableProperties":{"f":true}}`,
		"If-Match", h.Get("ETag"), "Content-Type", "application/merge-patch+json")
	c.worked(lifecycle.Completed, "PATCH", at, `{"vnfInstanceDescription":null,"metadata":{"a":null,"c":{"g":2}},"unknown":[]}`, "Content-Type", "application/merge-patch+json")
	if _, text := c.want(http.StatusOK, "GET", at, ""); !strings.Contains(text, `"metadata":{"c":{"d":1,"g":2}}`) {
		c.t.Errorf("after a merge patch the instance is %s", text)
	}

	how := `{"flavourId":"simple","vimConnectionInfo":{"v":{"vimId":"edge","vimType":"ETSINFV.KUBERNETES.V_1"}},
		"additionalParams":{"namespace":"edge","lcm-kubernetes-def-files":["Files/kubernetes/deployment.yaml"]},"extVirtualLinks":[]}`
	op := c.created(http.StatusAccepted, "POST", at+"/instantiate", how)
	c.want(http.StatusConflict, "POST", at+"/terminate", `{"terminationType":"FORCEFUL"}`) // another is under way
	for _, deed := range []string{"retry", "rollback", "fail"} {
		c.want(http.StatusConflict, "POST", op+"/"+deed, "")
	}
	c.want(http.StatusUnprocessableEntity, "POST", op+"/cancel", `{"cancelMode":"SOMEHOW"}`)
	c.want(http.StatusAccepted, "POST", op+"/cancel", `{"cancelMode":"GRACEFUL"}`)
	c.want(http.StatusOK, "GET", op, "")
	o, err := c.Operation(c.t.Context(), alice, base(op))
	c.ends(lifecycle.RolledBack, o, err)
	c.want(http.StatusOK, "GET", op, "")

	c.changes("ADDED", c.worked(lifecycle.Completed, "POST", at+"/instantiate", how))
	c.want(http.StatusConflict, "DELETE", at, "")
	c.want(http.StatusConflict, "POST", at+"/instantiate", how)
	c.changes("ADDED", c.worked(lifecycle.Completed, "POST", at+"/scale", `{"type":"SCALE_OUT","aspectId":"web_aspect","numberOfSteps":1}`))
	i, err := c.Instance(c.t.Context(), alice, base(at))
	if err != nil || len(i.Shape.VNFCs) != 2 {
		c.t.Fatalf("scaled out by one there are %+v, %v", i.Shape.VNFCs, err)
	}
	c.changes("ADDED REMOVED", c.worked(lifecycle.Completed, "POST", at+"/heal", `{"cause":"a test","vnfcInstanceId":["`+i.Shape.VNFCs[0].ID()+`"]}`))
	c.changes("", c.worked(lifecycle.Completed, "POST", at+"/heal", `{}`))
	c.want(http.StatusUnprocessableEntity, "POST", at+"/change_ext_conn", `{"extVirtualLinks":[{"id":"a","resourceId":"r","extCps":[{"cpdId":"CP9"}]}]}`)
	c.changes("REMOVED", c.worked(lifecycle.Completed, "POST", at+"/scale", `{"type":"SCALE_IN","aspectId":"web_aspect"}`))
	if _, text := c.want(http.StatusOK, "GET", c.worked(lifecycle.Completed, "POST", at+"/change_vnfpkg", `{"vnfdId":"`+nextVNFD+`"}`), ""); !strings.Contains(text, `"modificationsTriggeredByVnfPkgChange":{"vnfdId":"`+nextVNFD) {
		c.t.Errorf("a change of the package is %s", text)
	}

	path := "/apis/apps/v1/namespaces/edge/deployments/edge-web"
	c.cluster.Change(path, "somebody", func(o map[string]any) { // who removed it and made it again
		meta := o["metadata"].(map[string]any)
		meta["labels"], meta["uid"] = map[string]any{}, "6b1c7d0e-3b8e-4b07-9c2c-6d7e1f1d0a11"
	})
	for _, deed := range []string{"retry", "rollback", "fail"} { // it is another's object now
		failed := c.worked(lifecycle.FailedTemp, "POST", at+"/heal", `{}`)
		switch deed {
		case "fail":
			c.want(http.StatusOK, "POST", failed+"/fail", "")
		case "rollback":
			c.want(http.StatusConflict, "POST", failed+"/rollback", "") // there is no way back from HEAL
			c.want(http.StatusOK, "POST", failed+"/fail", "")
		default:
			c.want(http.StatusAccepted, "POST", failed+"/retry", "")
			o, err := c.Operation(c.t.Context(), alice, base(failed))
			c.ends(lifecycle.FailedTemp, o, err)
			c.want(http.StatusOK, "POST", failed+"/fail", "")
		}
	}
	c.cluster.Remove(path)
	c.worked(lifecycle.Completed, "POST", at+"/terminate", `{"terminationType":"GRACEFUL","gracefulTerminationTimeout":1}`)
	c.want(http.StatusOK, "GET", at, "")

	c.cluster.Put(path, map[string]any{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": map[string]any{"name": "edge-web", "namespace": "edge"}})
	failed := c.worked(lifecycle.FailedTemp, "POST", at+"/instantiate", how)
	c.want(http.StatusAccepted, "POST", failed+"/rollback", "")
	o, err = c.Operation(c.t.Context(), alice, base(failed))
	c.ends(lifecycle.RolledBack, o, err)
	c.want(http.StatusOK, "GET", failed, "")
	c.cluster.Remove(path)
	c.worked(lifecycle.Completed, "POST", at+"/instantiate", how)
	c.changes("REMOVED", c.worked(lifecycle.Completed, "POST", at+"/terminate", `{"terminationType":"FORCEFUL"}`))
	c.worked(lifecycle.Completed, "POST", at+"/instantiate", how)
	c.want(http.StatusOK, "GET", at, "")

	gone := c.created(http.StatusCreated, "POST", lcm+"/vnf_instances", `{"vnfdId":"`+csar.TackerVNFD+`"}`)
	c.want(http.StatusNoContent, "DELETE", gone, "")
	c.want(http.StatusNotFound, "GET", gone, "")
}

// changes compares the types of the changes that an operation shows.
func (c *contract) changes(want, operation string) {
	c.t.Helper()
	var shown struct {
		ResourceChanges struct {
			AffectedVNFCs []struct{ ChangeType string }
		}
	}
	_, text := c.want(http.StatusOK, "GET", operation, "")
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		c.t.Fatal(err)
	}
	var got []string
	for _, a := range shown.ResourceChanges.AffectedVNFCs {
		got = append(got, a.ChangeType)
	}
	if got := strings.Join(got, " "); got != want {
		c.t.Errorf("the operation has the changes %q, want %q: %s", got, want, text)
	}
}

// lists are read with every selector, by filters, and page by page.
func (c *contract) lists() {
	for range 101 { // one more than a page
		if _, err := c.CreateInstance(c.t.Context(), alice, lifecycle.NewInstance{VNFDID: csar.TackerVNFD}); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, list := range []string{lcm + "/vnf_instances", lcm + "/vnf_lcm_op_occs", pkgm + "/onboarded_vnf_packages", pkgm + "/vnf_packages"} {
		for _, q := range []string{
			"", "?all_fields", "?exclude_default", "?fields=id", "?fields=_links/self,vnfInstanceName&exclude_default", "?exclude_fields=metadata,error",
			"?filter=(neq,id,x)", "?filter=(in,id,x,y);(eq,unknown/attribute,z)", "?unknown=parameter",
		} {
			c.want(http.StatusOK, "GET", list+q, "")
		}
		for _, q := range []string{"?filter=(eq,id)", "?filter=x", "?fields=id&exclude_fields=id", "?all_fields&fields=id"} {
			c.want(http.StatusBadRequest, "GET", list+q, "")
		}
		for _, marker := range []string{"forged", path.Base(list) + ".forged", "subscriptions.e30"} {
			c.want(http.StatusBadRequest, "GET", list+"?nextpage_opaque_marker="+marker, "")
		}
	}
	seen, at := map[string]bool{}, lcm+"/vnf_instances?filter=(eq,instantiationState,NOT_INSTANTIATED)"
	for pages := 0; at != ""; pages++ {
		h, text := c.want(http.StatusOK, "GET", at, "")
		var items []struct{ ID string }
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			c.t.Fatal(err)
		}
		for _, i := range items {
			seen[i.ID] = true
		}
		next := regexp.MustCompile(`^<([^>]+)>; ?rel="next"$`).FindStringSubmatch(h.Get("Link"))
		if at = ""; next != nil {
			at = strings.TrimPrefix(next[1], c.URL)
		}
		if pages > 3 {
			c.t.Fatal("the pages have no end")
		}
	}
	if len(seen) != 101 {
		c.t.Errorf("the pages show %d instances, want 101", len(seen))
	}
}

// refusals are those of every request.
func (c *contract) refusals() {
	for _, path := range []string{lcm + "/vnf_instances", lcm + "/vnf_lcm_op_occs/x", pkgm + "/onboarded_vnf_packages", pkgm + "/vnf_packages/x/package_content"} {
		c.want(http.StatusUnauthorized, "GET", path, "", "Authorization", "Bearer nobody")
		c.want(http.StatusUnauthorized, "GET", path, "", "Authorization", "")
		c.want(http.StatusBadRequest, "GET", path, "", "Version", "")
		c.want(http.StatusNotAcceptable, "GET", path, "", "Version", "7.0.0")
		c.want(http.StatusBadRequest, "GET", path, "", "Version", "2.0.0", "Version", "2.0.0")
	}
	for _, path := range []string{lcm + "/vnf_instances/x", lcm + "/vnf_lcm_op_occs/x", pkgm + "/vnf_packages/x", pkgm + "/onboarded_vnf_packages/x"} {
		c.want(http.StatusNotFound, "GET", path, "")
	}
	c.want(http.StatusBadRequest, "POST", lcm+"/vnf_instances", `{"vnfdId":`)
	c.want(http.StatusBadRequest, "POST", lcm+"/vnf_instances", "")
	c.want(http.StatusRequestEntityTooLarge, "POST", lcm+"/vnf_instances", `{"vnfdId":"`+strings.Repeat("x", 1<<20)+`"}`)
	c.want(http.StatusOK, "GET", lcm+"/api_versions", "")
	c.want(http.StatusOK, "GET", pkgm+"/api_versions", "")
}

// TestTableOfWhatIsServed compares the table of the documentation with the doors.
func TestTableOfWhatIsServed(t *testing.T) {
	r := newRig(t)
	text, err := os.ReadFile("../../docs/sol003.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{} // by "METHOD PATH": whether it is served
	for _, row := range regexp.MustCompile("(?m)^\\| `(/vnf[^`]+)` \\|([A-Z, ]*)\\|([A-Z, ]*)\\|").FindAllStringSubmatch(string(text), -1) {
		for n, methods := range row[2:] {
			for _, m := range strings.FieldsFunc(methods, func(r rune) bool { return r == ' ' || r == ',' }) {
				told[m+" "+row[1]] = n == 0
			}
		}
	}
	names := regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)
	c := r.doors()
	if err := r.tryUpload(csar.Tacker().As("known")); err != nil {
		t.Fatal(err)
	}
	known, err := r.CreateInstance(t.Context(), alice, lifecycle.NewInstance{VNFDID: "known"})
	if err != nil {
		t.Fatal(err)
	}
	routes := 0
	for _, d := range []api.Door{vnflcm.Door(r.Lifecycle, r.Lifecycle, r.subscriptions), vnfpkgm.Door(r.catalog)} {
		for _, op := range d.Routes {
			if strings.HasPrefix(op.Path, "/vnfpkgm/v1") || !strings.Contains(op.Path, "/v2") {
				continue
			}
			routes++
			name := op.Method + " " + names.ReplaceAllString(op.Path, "{$1}")
			served, listed := told[name]
			id := "x"
			if !served {
				id = known.ID // of others it is said that they are not there
			}
			answer, _ := c.Ask(op.Method, names.ReplaceAllString(op.Path, id), "")
			if !listed || served != (answer.StatusCode != http.StatusNotImplemented) {
				t.Errorf("%s answers %d; docs/sol003.md has it: %s, as served: %s", name, answer.StatusCode, strconv.FormatBool(listed), strconv.FormatBool(served))
			}
		}
	}
	if routes != len(told) {
		t.Errorf("docs/sol003.md tells of %d operations, and the doors have %d", len(told), routes)
	}
}

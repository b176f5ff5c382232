package onap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
)

// onwards is what comes of a request that the door itself has nothing against: it goes on to the bundles, of which there are none.
const onwards = "goes on"

// sent is what comes of a request at the route of that operation: its answer, or the kind of its refusal and what is wrong where.
func sent(t *testing.T, operation, query, body string, path map[string]string, media string) string {
	t.Helper()
	return came(t, operation, query, []byte(body), path, media)
}

func came(t *testing.T, operation, query string, content []byte, path map[string]string, media string) (came string) {
	t.Helper()
	method, at, _ := strings.Cut(operation, " ")
	for _, d := range Doors(Options{}.with(t)) {
		for _, r := range d.Routes {
			if r.Method != method || r.Path != "/onap"+at {
				continue
			}
			of := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
			if media != "" {
				of.Header.Set("Content-Type", media)
			}
			for name, value := range path {
				of.SetPathValue(name, value)
			}
			values, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if recover() != nil {
					came = onwards
				}
			}()
			answer, err := r.Handle(&api.Call{Request: of, Query: values, Content: content})
			return outcome(answer.Body, err)
		}
	}
	t.Fatalf("there is no %s", operation)
	return ""
}

// with are options whose bundles stop whatever reaches them.
func (o Options) with(t *testing.T) Options {
	t.Helper()
	o.Bundles = &bundle.Bundles{}
	o.Ready = func() ([]broker.PartStatus, error) { return nil, errors.New("is not ready") }
	return o
}

func outcome(body any, err error) string {
	var refused *api.Refusal
	switch {
	case errors.As(err, &refused):
		kind := "invalid"
		if errors.Is(err, api.ErrMalformed) {
			kind = "malformed"
		}
		return kind + ": " + refused.Faults[0].Location + ": " + refused.Faults[0].Sentence()
	case err != nil:
		return "fails: " + err.Error()
	}
	text, err := json.Marshal(body)
	return string(text) + strings.TrimPrefix(fmt.Sprint(err), "<nil>")
}

// form is a body of parts, each named and with a file name where that is given.
func form(t *testing.T, parts ...[3]string) (body, media string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, p := range parts {
		create := func() (io.Writer, error) { return w.CreateFormField(p[0]) }
		if p[1] != "" {
			create = func() (io.Writer, error) { return w.CreateFormFile(p[0], p[1]) }
		}
		part, err := create()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(p[2])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.FormDataContentType()
}

// What lacks something or contradicts itself is refused by the door, with where and what; all else goes on.
func TestWhatTheDoorItselfRefuses(t *testing.T) {
	const empty = "malformed: body: the body is empty"
	profile := definition + "/profile"
	of := map[string]string{"name": "d", "version": "1", "part": "p"}
	for _, c := range []struct {
		operation, query, body string
		path                   map[string]string
		want                   string
	}{
		{"GET /v1/healthcheck", "", "", nil, "fails: is not ready"},
		{"POST " + definitions, "", "", nil, empty},
		{"POST " + definitions, "", "{", nil, "fails: not valid JSON"},
		{"POST " + definitions, "", `{"rb-name": "d", "rb-version": "1"}`, nil, onwards},
		{"PUT " + definition, "", `{"rb-name": "d", "rb-version": "1"}`, of, onwards},
		{"PUT " + definition, "", `{"rb-name": "other", "rb-version": "1"}`, of, "malformed: body: name: is not that of the path"},
		{"PUT " + definition, "", `{"rb-name": "d", "rb-version": "2"}`, of, "malformed: body: version: is not that of the path"},
		{"POST " + profile, "", `{"profile-name": "any", "namespace": "n"}`, map[string]string{"name": "d", "version": "1"}, onwards},
		{"PUT " + profile + "/{part}", "", `{"profile-name": "q"}`, of, "malformed: body: part: is not that of the path"},
		{"POST " + definition + "/content", "", "", of, empty},
		{"POST " + definition + "/content", "", "x", of, onwards},
		{"POST /v1/instance", "", "", nil, empty},
		{"POST /v1/instance", "", `{"rb-name": "d", "rb-version": "1", "profile-name": "p", "cloud-region": "r"}`, nil, onwards},
		{"DELETE " + instance + "/config/{part}", "deleteConfigOnly=true", "", of, "invalid: query: deleteConfigOnly: leaves objects that nobody owns; leave it out"},
		{"DELETE " + instance + "/config/{part}", "deleteConfigOnly=false", "", of, onwards},
		{"GET " + instance + "/query", "", "", of, "malformed: query: ApiVersion: is required"},
		{"GET " + instance + "/query", "ApiVersion=v1", "", map[string]string{"id": "i"}, "malformed: query: Kind: is required"},
		{"GET " + instance + "/query", "ApiVersion=v1&Kind=Pod", "", map[string]string{"id": "i"}, onwards},
		{"GET /v1/query", "ApiVersion=v1&Kind=Pod", "", nil, "malformed: query: CloudRegion: is required"},
		{"GET /v1/query", "Kind=Pod&CloudRegion=r", "", nil, "malformed: query: ApiVersion: is required"},
		{"GET /v1/query", "ApiVersion=v1&Kind=Pod&CloudRegion=r", "", nil, onwards},
		{"GET " + workloads, "", "", nil, "malformed: query: name: is required"},
		{"GET " + workloads, "name=s", "", nil, onwards},
	} {
		if came := sent(t, c.operation, c.query, c.body, c.path, ""); came != c.want {
			t.Errorf("%s?%s of %v with %s: %s; want %s", c.operation, c.query, c.path, c.body, came, c.want)
		}
	}
}

// A request for a stack says all that an instance is made of: each field that is missing is named, and nothing else is asked for.
func TestAStackLacksNothing(t *testing.T) {
	whole := map[string]any{
		"generic-vnf-id": "v", "vf-module-id": "m", "vf-module-model-invariant-id": "i", "vf-module-model-version-id": "1", "vf-module-model-customization-id": "c",
		"template_data": map[string]string{"stack_name": "s"}, "sdnc_directives": map[string]any{"attributes": []map[string]string{{"attribute_name": profileDirective, "attribute_value": "p"}}},
	}
	for lacks, named := range map[string]string{
		"": "", "generic-vnf-id": "generic-vnf-id", "vf-module-id": "vf-module-id", "vf-module-model-invariant-id": "vf-module-model-invariant-id",
		"vf-module-model-version-id": "vf-module-model-version-id", "vf-module-model-customization-id": "vf-module-model-customization-id",
		"template_data": "stack_name", "sdnc_directives": profileDirective,
	} {
		in := map[string]any{}
		for name, value := range whole {
			if name != lacks {
				in[name] = value
			}
		}
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want := onwards
		if named != "" {
			want = "malformed: body: " + named + ": is missing"
		}
		if came := sent(t, "POST "+workloads, "", string(body), map[string]string{"region": "r"}, ""); came != want {
			t.Errorf("without %q: %s; want %s", lacks, came, want)
		}
	}
}

// A region comes as metadata and a file, each once and nothing besides.
func TestARegionIsAFormOfTwoParts(t *testing.T) {
	const shape = "invalid: body: the body must be multipart/form-data with the parts metadata and file, each once"
	const lacks = "malformed: body: metadata: lacks its cloud-region or cloud-owner"
	metadata, file := [3]string{"metadata", "", `{"cloud-region": "r", "cloud-owner": "o"}`}, [3]string{"file", "kubeconfig", "x"}
	for name, c := range map[string]struct {
		parts [][3]string
		want  string
	}{
		"whole":               {[][3]string{metadata, file}, onwards},
		"no file":             {[][3]string{metadata}, shape},
		"no metadata":         {[][3]string{file}, shape},
		"two files":           {[][3]string{metadata, file, file}, shape},
		"metadata twice":      {[][3]string{metadata, metadata, file}, shape},
		"one part more":       {[][3]string{metadata, file, {"more", "", "x"}}, shape},
		"one file more":       {[][3]string{metadata, file, {"more", "x", "x"}}, shape},
		"of other names":      {[][3]string{{"about", "", "{}"}, {"kubeconfig", "x", "x"}}, shape},
		"the file is a field": {[][3]string{metadata, {"file", "", "x"}}, shape},
		"no JSON":             {[][3]string{{"metadata", "", "{"}, file}, "fails: not valid JSON"},
		"no region":           {[][3]string{{"metadata", "", `{"cloud-owner": "o"}`}, file}, lacks},
		"no owner":            {[][3]string{{"metadata", "", `{"cloud-region": "r"}`}, file}, lacks},
	} {
		body, media := form(t, c.parts...)
		if came := sent(t, "POST /v1/connectivity-info", "", body, nil, media); came != c.want {
			t.Errorf("%s: %s; want %s", name, came, c.want)
		}
	}
	if came := sent(t, "POST /v1/connectivity-info", "", "x", nil, "text/plain"); came != shape {
		t.Errorf("of another type: %s; want %s", came, shape)
	}
	body, media := form(t, metadata, file)
	content := []byte(body)
	if came := came(t, "POST /v1/connectivity-info", "", content, nil, media); came != onwards || bytes.Count(content, []byte{0}) != len(content) {
		t.Errorf("%s, and the kubeconfig stays in memory: %q", came, content)
	}
}

// What keeps something from being removed is the answer, and what is removed is that of the path; every answer names its request.
func TestWhatIsRemovedIsThatOfThePath(t *testing.T) {
	busy := errors.New("is busy")
	of := httptest.NewRequestWithContext(t.Context(), "DELETE", "/", nil)
	of.SetPathValue("id", "i")
	of.SetPathValue("part", "p")
	who := policy.Principal{Name: "alice"}
	for name, remove := range map[string]func(*api.Call) (any, error){
		"alice i": drops(func(_ context.Context, p policy.Principal, id string) error {
			return fmt.Errorf("%s %s %w", p.Name, id, busy)
		}),
		"alice i p": dropsPart(func(_ context.Context, p policy.Principal, id, name string) error {
			return fmt.Errorf("%s %s %s %w", p.Name, id, name, busy)
		}),
	} {
		if body, err := remove(&api.Call{Request: of, Principal: who}); body != nil || err == nil || err.Error() != name+" is busy" {
			t.Errorf("%v, %v; want %s", body, err, name)
		}
	}
	for _, d := range Doors(Options{}.with(t)) {
		h := http.Header{}
		if d.Header(h, "r-1"); h.Get("X-Request-Id") != "r-1" {
			t.Errorf("%s answers with %v", d.Private, h)
		}
	}
}

// A document has the names of its path, and its own where the path has none; what follows from them is not the caller's to say.
func TestADocumentHasTheNamesOfItsPath(t *testing.T) {
	kept := func(body string, path map[string]string, made func(func(context.Context, policy.Principal, bundle.Document) error) func(*api.Call) (any, error)) string {
		of := httptest.NewRequestWithContext(t.Context(), "PUT", "/", nil)
		for name, value := range path {
			of.SetPathValue(name, value)
		}
		said, shown := "", func(d any) string { return fmt.Sprintf("%+v ", d) + outcome(d, nil) }
		answer, err := made(func(_ context.Context, _ policy.Principal, d bundle.Document) error {
			said = shown(d)
			return errors.New("kept")
		})(&api.Call{Request: of, Content: []byte(body)})
		if came := shown(answer); came != said || err == nil || err.Error() != "kept" {
			t.Errorf("%s is answered with %s, %v; what is kept is %s", body, came, err, said)
		}
		return said
	}
	ofKind := func(kind string) func(func(context.Context, policy.Principal, bundle.Document) error) func(*api.Call) (any, error) {
		return func(keep func(context.Context, policy.Principal, bundle.Document) error) func(*api.Call) (any, error) {
			switch kind {
			case "profile":
				return named(ofProfile, keep)
			case "template":
				return named(ofTemplate, keep)
			}
			return named(ofDefinition, keep)
		}
	}
	for _, c := range []struct {
		kind, body string
		path       map[string]string
		want       []string
	}{
		{"definition", `{"rb-name": "d", "rb-version": "1"}`, nil, []string{`"rb-name":"d"`, `"rb-version":"1"`}},
		{"definition", `{}`, map[string]string{"name": "d", "version": "1"}, []string{`"rb-name":"d"`, `"rb-version":"1"`}},
		{"profile", `{"profile-name": "p"}`, map[string]string{"name": "d", "version": "1"}, []string{`"profile-name":"p"`, `"release-name":"p"`, `"rb-name":"d"`, `"rb-version":"1"`}},
		{"profile", `{"release-name": "r"}`, map[string]string{"name": "d", "version": "1", "part": "p"}, []string{`"profile-name":"p"`, `"release-name":"r"`}},
		{"profile", `{}`, map[string]string{"part": "p"}, []string{`"profile-name":"p"`, `"release-name":"p"`}},
		{"template", `{"template-name": "t", "has-content": true}`, map[string]string{"name": "d", "version": "1"}, []string{`"template-name":"t"`, "Definition:d Version:1"}},
	} {
		got := kept(c.body, c.path, ofKind(c.kind))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s of %v is kept as %s, want %s", c.kind, c.body, c.path, got, want)
			}
		}
		if strings.Contains(got, "true") {
			t.Errorf("%s %s says itself that it has content: %s", c.kind, c.body, got)
		}
	}
}

// A state is ready where each of its objects is, one that has none as well; it counts them all.
func TestAStateIsReadyWhereAllObjectsAre(t *testing.T) {
	ready, waits := lifecycle.Showing{Ready: true}, lifecycle.Showing{}
	for _, c := range []struct {
		seen  []lifecycle.Showing
		ready bool
	}{{nil, true}, {[]lifecycle.Showing{ready}, true}, {[]lifecycle.Showing{ready, waits}, false}, {[]lifecycle.Showing{waits, ready}, false}} {
		r := reported(bundle.Request{Region: "r"}, c.seen)
		if r.Ready != c.ready || r.Count != len(c.seen) || len(r.Objects) != len(c.seen) || r.Request.Region != "r" {
			t.Errorf("%d objects are reported as %+v, want ready: %t", len(c.seen), r, c.ready)
		}
	}
}

// With compat what others answer by its kind is upstream's 500; that an instance is not ready in time is 504 for all.
func TestKindsOfRefusalsAreUpstreamsWithCompat(t *testing.T) {
	for compat, want := range map[bool]string{
		false: "[504 not-ready not ready in time]",
		true:  "[504 not-ready not ready in time 500 not-found not found 500 exists already exists 500 conflict conflict]",
	} {
		var said []string
		for _, k := range kinds(compat) {
			said = append(said, fmt.Sprint(k.Status, " ", k.Name, " ", k.Title))
		}
		if got := fmt.Sprint(said); got != want {
			t.Errorf("with compat %t: %s, want %s", compat, got, want)
		}
	}
}

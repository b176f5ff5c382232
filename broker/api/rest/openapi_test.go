package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/rest"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/golden"
)

const openapi = "openapi.json"

// The description that is served is the one that the routes make, with the server's version.
func TestOpenAPIIsGolden(t *testing.T) {
	b := newBench(t)
	made := rest.Document(b.broker.Types())
	if golden.Updating() {
		if err := os.WriteFile(openapi, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(openapi)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) {
		t.Errorf("the outer contract changed; review it, then make generate (-kept +made):\n%s",
			cmp.Diff(strings.Split(string(kept), "\n"), strings.Split(string(made), "\n")))
	}
	answer, err := http.Get(b.url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	served, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET /openapi.json = %d, %v", answer.StatusCode, err)
	}
	want := strings.Replace(string(made), `"version": "0.0.0"`, `"version": "v0.0.0-test"`, 1)
	if !golden.Updating() && string(served) != want {
		t.Errorf("served is (-made +served):\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(string(served), "\n")))
	}
}

// secrets are the fields that hold one.
var secrets = map[string][]string{
	"Credential":   {"token", "clientKey", "password", "applicationCredentialSecret"},
	"Registration": {"kubeconfig", "cloudsYaml"},
	"Change":       {"kubeconfig"},
}

func TestOpenAPIIsValid(t *testing.T) {
	doc := document()
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	for schema, fields := range secrets {
		for _, f := range fields {
			p := doc.Components.Schemas[schema].Value.Properties[f]
			if p == nil || !p.Value.WriteOnly || p.Value.Format != "password" {
				t.Errorf("%s.%s is not marked as a secret", schema, f)
			}
		}
	}
	known := map[string]bool{}
	for _, tag := range doc.Tags {
		known[tag.Name] = true
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			private := strings.HasPrefix(path, "/v1/")
			if private != (op.Security != nil && len(*op.Security) > 0) {
				t.Errorf("%s %s: whether it wants a caller is said wrongly", method, path)
			}
			if op.Responses.Default() == nil || private && op.Responses.Value("401") == nil {
				t.Errorf("%s %s does not describe its problems", method, path)
			}
			if len(op.Tags) != 1 || !known[op.Tags[0]] {
				t.Errorf("%s %s has tags %q, want one of the document's", method, path, op.Tags)
			}
			if b := op.RequestBody; b != nil && b.Value.Content["application/json"].Example == nil {
				t.Errorf("%s %s shows no request", method, path)
			}
			for status, a := range op.Responses.Map() {
				for media, body := range a.Value.Content {
					if body.Example == nil && len(body.Examples) == 0 && status != "default" {
						t.Errorf("%s %s shows no answer %s in %s", method, path, status, media)
					}
				}
			}
		}
	}
	for name, p := range doc.Components.Schemas["Change"].Value.Properties {
		if p.Value != nil && p.Value.Type.Includes("null") {
			t.Errorf("Change.%s may be null, which the server refuses", name)
		}
	}
}

// described notes an answer that the OpenAPI document does not have: every test of this
// package looks at the document so.
func (b *bench) described(method, path string, status int, body []byte) {
	doc := document()
	for pattern, item := range doc.Paths.Map() {
		op := item.GetOperation(method)
		if op == nil || !pathOf(pattern).MatchString(path) {
			continue
		}
		a := op.Responses.Status(status)
		if a == nil {
			b.t.Errorf("%s %s answered %d, which its description does not have", method, pattern, status)
			return
		}
		if status < http.StatusBadRequest {
			return
		}
		var problem v1.Problem
		if err := json.Unmarshal(body, &problem); err != nil {
			b.t.Errorf("%s %s: %v", method, pattern, err)
		}
		kind := strings.TrimPrefix(problem.Type, "urn:vimbroker:problem:")
		if body := a.Value.Content["application/problem+json"]; body == nil || body.Examples[kind] == nil {
			b.t.Errorf("%s %s answered %d with the problem %q, which its description does not have", method, pattern, status, kind)
		}
		if problem.Detail == "" && len(problem.Errors) == 0 && status < 500 && status != http.StatusUnauthorized {
			b.t.Errorf("%s %s answered %d without a reason: %s", method, pattern, status, body)
		}
		for _, f := range problem.Errors {
			if f.Message == "" || f.Location == "" {
				b.t.Errorf("%s %s answered %d with a fault that says nothing: %s", method, pattern, status, body)
			}
		}
		// What is wrong with a value says what it must be.
		if problem.Remedy == "" && kind != "invalid" && kind != "malformed" && status < 500 {
			b.t.Errorf("%s %s answered %d without a remedy: %s", method, pattern, status, body)
		}
		return
	}
}

// pathOf matches the paths of a pattern.
func pathOf(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\{id\}`, "[^/]+") + "$")
}

var document = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromFile(openapi)
	if err != nil {
		panic(err)
	}
	return doc
})

// Every property has an example, or is a schema of its own whose properties have.
func TestEveryPropertyHasAnExample(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Ref      string `json:"$ref"`
					Examples []any
					Items    *struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	text, err := os.ReadFile(openapi)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, schema := range document.Components.Schemas {
		for field, p := range schema.Properties {
			seen++
			if len(p.Examples) == 0 && p.Ref == "" && (p.Items == nil || p.Items.Ref == "") {
				t.Errorf("%s.%s has no example: put it into testdata/examples.json, into shown or further", name, field)
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d properties were looked at", seen)
	}
}

package rest_test

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/openapi.json")

const golden = "testdata/openapi.json"

func TestOpenAPIIsGolden(t *testing.T) {
	b := newBench(t)
	answer, err := http.Get(b.url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET /openapi.json = %d, %v", answer.StatusCode, err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the outer contract changed; review it, then go test -update (-want +got):\n%s", cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
	}
}

// secrets are the fields that hold one.
var secrets = map[string][]string{
	"Credential":   {"token", "clientKey", "password", "applicationCredentialSecret"},
	"Registration": {"kubeconfig", "cloudsYaml"},
	"Change":       {"kubeconfig"},
}

func TestOpenAPIIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
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
	for _, path := range []string{
		"/v1/vims", "/v1/vims/{id}", "/v1/vims/{id}/check", "/v1/vims/{id}/rotate", "/v1/vims/{id}/inventory",
		"/v1/leases", "/v1/leases/{id}", "/v1/leases/{id}/renew", "/v1/leases:revoke", "/v1/audit", "/v1/policy:explain",
	} {
		item := doc.Paths.Find(path)
		if item == nil {
			t.Errorf("%s is not described", path)
			continue
		}
		for method, op := range item.Operations() {
			if op.Security == nil || len(*op.Security) == 0 {
				t.Errorf("%s %s does not say that it wants a caller", method, path)
			}
			if op.Responses.Default() == nil || op.Responses.Default().Value.Content["application/problem+json"] == nil {
				t.Errorf("%s %s does not describe its problems", method, path)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With --out a program is told the lease and the file, and never the credential.
func TestOutWithJSONNamesTheFileAndNotTheCredential(t *testing.T) {
	i := install(t)
	name := filepath.Join(t.TempDir(), "kubeconfig")
	code, stdout, stderr := i.run(t, "lease", "issue", "--vim", "edge", "--out", name, "-o", "json")
	if code != 0 {
		t.Fatalf("lease issue: %s", stderr)
	}
	var written struct{ ID, File string }
	if err := json.Unmarshal([]byte(stdout), &written); err != nil || written.ID == "" || written.File != name {
		t.Errorf("lease issue --out -o json = %s, %v, want the lease's id and %s", stdout, err, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, token, found := strings.Cut(string(text), "token: ")
	if token = strings.Trim(strings.SplitN(token, "\n", 2)[0], `"`); !found || token == "" || strings.Contains(stdout+stderr, token) {
		t.Error("the credential is not in the file alone")
	}
}

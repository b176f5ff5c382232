package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A chart's directory is packed whole, and the flags say which of its workloads are VDUs.
func TestPackOfAChart(t *testing.T) {
	f := packing{vnfd: "web-1.0", provider: "local", version: "1.0", most: 3, vdus: []string{"web"}}
	archive, err := f.pack("../../../docs/samples/chart")
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.pack("../../../docs/samples/chart")
	if err != nil || !bytes.Equal(archive, again) {
		t.Errorf("packed again it is another: %v", err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range z.File {
		names = append(names, file.Name)
	}
	for _, want := range []string{"Files/kubernetes/chart/Chart.yaml", "Files/kubernetes/chart/templates/_names.tpl", "Files/kubernetes/chart/values.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("the package holds %v, want %s", names, want)
		}
	}
	vnfd, err := z.Open("Definitions/vnfd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(vnfd); err != nil || !strings.Contains(text.String(), "max_scale_level: 2") {
		t.Errorf("the descriptor is %s, %v, want one with a scaling aspect", text.String(), err)
	}
	if _, err := f.pack("../../../docs/samples/web"); err == nil || !strings.Contains(err.Error(), "--vdu is for Helm charts") {
		t.Errorf("--vdu with manifests: %v", err)
	}
}

// Nothing is packed that must not be in a package, and what is packed is told.
func TestPackOfAChartLeavesCredentialsOut(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "templates/a.yaml": "kind: ConfigMap\n", ".helmignore": "# tests\n*.bak\n/ci/\ndocs/*.txt\n",
		"a.bak": packCanary, "files/b.bak": packCanary, "ci/values.yaml": packCanary, "docs/a.txt": packCanary, "files/ci": "kept",
		".env": packCanary, ".git/config": packCanary, "sub/.hidden/a.yaml": packCanary, "kubeconfig": packCanary, "edge.kubeconfig": packCanary,
		"files/admin.yaml": "apiVersion: v1\nkind: Config\ncurrent-context: a\nusers: " + packCanary, "files/key": "-----BEGIN EC PRIVATE KEY-----\n" + packCanary,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := packing{vnfd: "web-1.0", provider: "local", version: "1.0", product: "web", most: 3, vdus: []string{"web=2"}}
	archive, err := f.pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range z.File {
		content, err := z.Open(file.Name)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(content); err != nil || strings.Contains(text.String(), packCanary) {
			t.Errorf("%s has what must not be in a package (%v)", file.Name, err)
		}
		if file.Name == "Definitions/vnfd.yaml" && !strings.Contains(text.String(), "number_of_instances: 2") {
			t.Errorf("the descriptor has not two instances:\n%s", text.String())
		}
	}
	var said []string
	f.tell(func(format string, args ...any) { said = append(said, path.Base(fmt.Sprintf(format, args...))) })
	slices.Sort(said)
	want := []string{
		".helmignore", "Chart.yaml", "a.yaml", "admin.yaml", "key", "left out  .env", "left out  .git", "left out  edge.kubeconfig",
		"left out  kubeconfig", ".hidden", "left out  a.bak", "b.bak", "left out  ci", "a.txt", "ci",
	}
	slices.Sort(want)
	if !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	f = packing{vdus: []string{"web=many"}}
	if _, err := f.pack(dir); err == nil || !strings.Contains(err.Error(), "whole number") {
		t.Errorf("--vdu web=many: %v", err)
	}
}

const packCanary = "canary-of-the-chart"

// A kubeconfig is known by its name, or by kind and context together; a private key by its name, or by how it begins.
func TestCredentialsAreKnown(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n"
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{"a/KUBECONFIG", "", true},
		{"a/edge.kubeconfig", "", true},
		{"kubeconfig/a", "", false},
		{"id_rsa", "", true},
		{"a/id_ed25519.old", "", true},
		{"my_id_rsa", "", false},
		{"a.yaml", "kind: Config\ncurrent-context: a\n", true},
		{"a.yaml", "kind: Config\nspec: {}\n", false},
		{"a.yaml", "current-context: a\n", false},
		{"a.yaml", "kind: ConfigMap\ncurrent-context: a\n", false},
		{"a", key, true},
		{"a", "-----BEGIN PRIVATE KEY-----", true},
		{"a", "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("A", 64) + "\n" + key, false},
		{"a", "PRIVATE KEY", false},
		{"a", " " + key, false},
		{"a", "", false},
	} {
		if got := isCredential(c.file, []byte(c.text)); got != c.want {
			t.Errorf("%s with %q is a credential: %t, want %t", c.file, c.text, got, c.want)
		}
	}
}

// A rule of .helmignore names base names or whole paths, directories alone where it ends in a slash, and all others where it begins
// with an exclamation mark: then files as well, where it is for directories.
func TestRulesThatLeaveFilesOut(t *testing.T) {
	type asked struct {
		file string
		dir  bool
	}
	for rule, names := range map[string]map[asked]bool{
		"# docs":     {{"# docs", false}: false},
		"docs":       {{"docs", false}: true, {"docs", true}: true, {"a/docs", true}: true, {"docs2", false}: false},
		"docs/":      {{"docs", false}: false, {"docs", true}: true, {"a/docs", true}: true, {"a/docs", false}: false},
		"/docs":      {{"docs", false}: true, {"a/docs", false}: false},
		"a/*.txt":    {{"a/b.txt", false}: true, {"b.txt", false}: false, {"a/b/c.txt", false}: false, {"a/b.txt", true}: true},
		"!docs":      {{"docs", false}: false, {"docs", true}: false, {"other", false}: true, {"other", true}: true},
		"!docs/":     {{"docs", false}: true, {"docs", true}: false, {"other", false}: true, {"other", true}: true},
		"  *.bak  ":  {{"a/b.bak", false}: true, {"a/b.bak2", false}: false},
		"docs\n*.md": {{"docs", true}: true, {"a.md", false}: true, {"a.txt", false}: false},
	} {
		all, err := ignoresOf([]byte(rule))
		if err != nil {
			t.Fatal(err)
		}
		for of, want := range names {
			if got := all.names(of.file, of.dir); got != want {
				t.Errorf("%q leaves %s out (a directory: %t): %t, want %t", rule, of.file, of.dir, got, want)
			}
		}
	}
}

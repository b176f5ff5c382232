package manifests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// warningsOf are those of a package of one manifest.
func warningsOf(t *testing.T, text string) []string {
	t.Helper()
	got, err := manifests.New().Warnings(lifecycle.Source{
		Paths: []string{"Files/kubernetes/a.yaml"},
		Read: func([]string) ([]lifecycle.Manifest, error) {
			return []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(text)}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestWarnings: a fault that needs no cluster to be seen is named at upload, and what a variable may still make right is
// not. No warning holds a value.
func TestWarnings(t *testing.T) {
	const canary = "c4nary-in-a-value"
	object := func(kind, rest string) string { return "kind: " + kind + "\nmetadata: {name: web}\n" + rest }
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing": {text: object("Deployment\napiVersion: apps/v1", "spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: b}]}}}")},
		"a kind": {
			text: object("Deploymnt\napiVersion: apps/v1", ""),
			want: []string{"a.yaml:1: apps/v1 has no kind Deploymnt; did you mean Deployment?"},
		},
		"a field": {
			text: object("Deployment\napiVersion: apps/v1", "spec: {replica: 2, template: {spec: {containers: [{name: a, imagee: "+canary+"}]}}}"),
			want: []string{`a.yaml:1: Deployment web: unknown field "spec.replica"`, `a.yaml:1: Deployment web: unknown field "spec.template.spec.containers[0].imagee"`},
		},
		"the second document": {
			text: object("ConfigMap\napiVersion: v1", "data: {a: b}\n---\n") + object("ConfigMap\napiVersion: v1", "dat: {a: b}\n"),
			want: []string{`a.yaml:5: ConfigMap web: unknown field "dat"`},
		},
		"an item of a List": {
			text: "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Servce, metadata: {name: a}}]",
			want: []string{"a.yaml:1: v1 has no kind Servce; did you mean Service?"},
		},
		"a type": {
			text: object("Deployment\napiVersion: apps/v1", "spec: {replicas: "+canary+"}"),
			want: []string{"a.yaml:1: Deployment web: a field has a value of the wrong type"},
		},
		"a variable":                 {text: object("Deployment\napiVersion: apps/v1", `spec: {replicas: "${N:=2}", template: {spec: {containers: [{name: "${N}", image: a}]}}}`)},
		"a variable for a name":      {text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${N}-a\", namespace: \"${N}\"}"},
		"another group":              {text: object("Widget\napiVersion: example.com/v1", "spec: {x: 1}")},
		"no YAML":                    {text: "a: [" + canary, want: []string{"a.yaml:1: is not YAML at or near this line"}},
		"no name":                    {text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {}", want: []string{"a.yaml:3: ConfigMap has no name, or one that cannot be"}},
		"a group of no such version": {text: object("Deployment\napiVersion: apps/v9", "")},
	} {
		got := warningsOf(t, c.text)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if strings.Contains(fmt.Sprint(got), canary) {
			t.Errorf("%s: a warning holds a value: %q", name, got)
		}
	}
	many := strings.Repeat("---\n"+object("Servce\napiVersion: v1", ""), 50)
	if got := warningsOf(t, many); len(got) != manifests.MaxWarnings || got[manifests.MaxWarnings-1] != "and 31 more" {
		t.Errorf("%d warnings, the last %q", len(got), got[len(got)-1])
	}
	if got, err := manifests.New().Warnings(lifecycle.Source{Paths: []string{"Scripts/chart/Chart.yaml"}}); err != nil || len(got) > 0 {
		t.Errorf("a package of a chart has %q, %v", got, err)
	}
}

package manifests

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// Whatever the text, it is read or refused, and what is read can be written as JSON that says who it is.
func FuzzObjects(f *testing.F) {
	for _, text := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: ${B:=c}}\n",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]\n",
		"---\n---\n--- {a: b}\n...\n", "%YAML 1.2\n---\na: !!str b\n", "a: &a [*a]\n", "{\"apiVersion\":\"a/v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"}}",
		"kind: A\napiVersion: v1\nmetadata: {name: a}\nx: [0x10, 0o7, 07, 1e3, .inf, ~, yes, 2020-01-01]\n", "? [a]\n: b\n", "a: |\n  ---\n  b\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := objects(lifecycle.PlanInput{Instance: "i", Namespace: "n", Manifests: []lifecycle.Manifest{{Path: "f", Text: secret.NewText(text)}}}, nil)
		if err != nil {
			return
		}
		for _, o := range all {
			o.label(instanceLabel, "i")
			out, err := json.Marshal(o.content)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			var back found
			if err := json.Unmarshal(out, &back); err != nil || back.Metadata.Name != o.Name || !back.is("i", lifecycle.Resource{}) || strings.ContainsAny(o.Name, "/%") {
				t.Fatalf("%q: %v, %+v", text, err, back.Metadata)
			}
		}
	})
}

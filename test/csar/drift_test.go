package csar_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// TestDriftKeepsNoSecret: what somebody has put into a Secret of an instance is seen as drift, with who did it, and
// stands neither in the database nor in the log.
func TestDriftKeepsNoSecret(t *testing.T) {
	r := newRig(t)
	const canary = "canary-3b1f0c77"
	id := r.hostile("apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {a: b}\n")
	o, err := r.Instantiate(t.Context(), alice, id, hostileWay)
	r.ends(lifecycle.Completed, o, err)
	r.cluster.Change("/api/v1/namespaces/edge/secrets/keys", "intruder", func(o map[string]any) {
		o["data"] = map[string]any{"a": canary, canary: canary}
		o["stringData"] = map[string]any{"a": canary}
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"note": canary}
	})
	if err := r.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	i, err := r.Instance(t.Context(), alice, id)
	if err != nil || i.Drift.Count != 1 || len(i.Drift.Resources) != 1 || i.Drift.Resources[0].Name != "keys" || !strings.Contains(strings.Join(i.Drift.Resources[0].ChangedBy, " "), "intruder") {
		t.Fatalf("the drift is %+v, %v; want the Secret, changed by intruder", i.Drift, err)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.db*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s contains what is in the Secret", filepath.Base(name))
		}
		seen = seen || bytes.Contains(text, []byte("intruder"))
	}
	if !seen {
		t.Error("the files that were read do not hold the drift")
	}
	if strings.Contains(r.log.String(), canary) {
		t.Error("the log contains what is in the Secret")
	}
}

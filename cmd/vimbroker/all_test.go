package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/story"
)

// A VIM whose key is lost, and one whose row cannot be read, keep no command over all VIMs
// from the others. The one that fails is named.
func TestAllGoesOnPastWhatIsDamaged(t *testing.T) {
	i := serveConfig(t, "")
	kube := fakekube.New(t, fakekube.Options{})
	kubeconfig := story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600)
	register := func(name string) {
		t.Helper()
		if code, _, stderr := i.run(t, "vim", "register", "--kubeconfig", kubeconfig, name); code != 0 {
			t.Fatalf("vim register: %s", stderr)
		}
	}
	register("a-lost")
	keys, err := filepath.Glob(filepath.Join(i.data, "keys", "*", "*"))
	if err != nil || len(keys) != 1 {
		t.Fatalf("the key of the only VIM is %q, %v", keys, err)
	}
	register("b-unreadable")
	register("c-well")
	if err := os.Remove(keys[0]); err != nil {
		t.Fatal(err)
	}
	db, err := quickstore.Raw(filepath.Join(i.data, "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE vims SET extra = '{"a":' WHERE name = 'b-unreadable'`); err != nil {
		t.Fatal(err)
	}
	held := func() string {
		found, err := filepath.Glob(filepath.Join(i.data, "keys", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, " ")
	}
	before := held()
	for line, want := range map[string]string{
		"vim inventory --all":          "a-lost",
		"vim inventory --all --settle": "a-lost",
		"key rotate --all":             "a-lost",
		"key status --try":             "a-lost",
	} {
		code, stdout, stderr := i.run(t, strings.Fields(line)...)
		if code != console.ExitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s = %d, %q; want that it fails and names %s", line, code, stderr, want)
		}
		if !strings.Contains(stdout+stderr, "c-well") {
			t.Errorf("%s says nothing of the VIM that is well: %s%s", line, stdout, stderr)
		}
	}
	if after := held(); after == before {
		t.Error("the key of the VIM that is well was not rotated")
	}
	if code, stdout, _ := i.run(t, "vim", "list"); code != 0 || !strings.Contains(stdout, "c-well") {
		t.Errorf("vim list = %d, %s", code, stdout)
	}
}

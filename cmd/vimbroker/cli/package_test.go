package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory is packed as manifests, and its BaseHOT as the templates of one flavour.
func TestPackOfABaseHOT(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := packing{provider: "local", version: "1.0", most: 3}
	if _, err := f.pack(dir); err == nil || !strings.Contains(err.Error(), "BaseHOT/FLAVOUR") {
		t.Errorf("of an empty directory: %v", err)
	}
	write("notes.txt", "not packed")
	write("BaseHOT/large/top.yaml", "resources: {a: {count: {get_param: [nfv, VDU, RTR, desired_capacity]}}}\n")
	write("BaseHOT/large/nested/init.sh", "#!/bin/sh\n")
	archive, err := f.pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"BaseHOT/large/top.yaml", "BaseHOT/large/nested/init.sh"} {
		if !strings.Contains(string(archive), want) {
			t.Errorf("the package does not hold %s", want)
		}
	}
	if strings.Contains(string(archive), "notes.txt") {
		t.Error("the package holds a file that is neither a manifest nor of a base HOT")
	}
	for _, name := range []string{"BaseHOT/small/top.yaml", "BaseHOT/stray.yaml"} {
		write(name, "a: b\n")
		if _, err := f.pack(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/lifecycle/tosca"
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

// A file is packed up to some size, as a manifest and in a chart, and what cannot be read ends the packing.
func TestPackOfFilesUpToASize(t *testing.T) {
	for name, chart := range map[string]bool{"manifests": false, "a chart": true} {
		dir := t.TempDir()
		if chart {
			if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "a.json")
		for size, large := range map[int64]bool{maxManifest: false, maxManifest + 1: true} {
			if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
				t.Fatal(err)
			}
			f := packing{provider: "local", version: "1.0", most: 3, vdus: nil}
			if _, err := f.pack(dir); strings.Contains(fmt.Sprint(err), "a.json has more than 8388608 bytes") != large {
				t.Errorf("%s, a file of %d bytes: %v", name, size, err)
			}
		}
		if err := errors.Join(os.Remove(file), os.Symlink("nowhere", file)); err != nil {
			t.Fatal(err)
		}
		f := packing{provider: "local", version: "1.0", most: 3}
		if _, err := f.pack(dir); !chart && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, a link to nothing: %v", name, err)
		}
		if _, err := f.pack(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, of no directory: %v", name, err)
		}
	}
}

// A package with manifests of its own is translated where it is a file, as its descriptor says; of a stored one, whose instances are
// made of those manifests, they are named instead. What is no package is refused.
func TestWhatAPackageIsTranslatedTo(t *testing.T) {
	dir := t.TempDir()
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: front}\nspec: {replicas: 1}\n"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "b.yaml"), []byte("kind: ConfigMap\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := packing{vnfd: "web", provider: "local", version: "1.0", most: 3}
	archive, err := f.pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	const own, none = "the package has manifests of its own, which download writes: Files/kubernetes/a.yaml, Files/kubernetes/b.yaml", "the package is not a ZIP archive"
	const not = "Definitions/vnfd.yaml in the package cannot be translated to manifests: line 39: front is of type tosca.nodes.nfv.Vdu.Compute, " +
		"which is not translated"
	for _, c := range []struct {
		content []byte
		stored  bool
		want    string
	}{{archive, true, own}, {archive, false, not}, {nil, true, none}, {[]byte("PK"), false, none}} {
		var out bytes.Buffer
		err := (&program{&console.Console{Out: &out, Err: &out}}).translate(c.content, "", tosca.Options{Loose: true}, c.stored)
		if fmt.Sprint(err) != c.want {
			t.Errorf("translate() = %v, printed %q; want %s", err, &out, c.want)
		}
	}
}

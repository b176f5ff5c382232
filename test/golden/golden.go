// Package golden compares texts with files under testdata, which "go test -update" writes anew. Whoever does looks at what
// changes.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// Updating reports whether golden files are to be written anew.
func Updating() bool { return *update }

// Compare fails a test whose text is another one than that of a file, and shows lines that differ.
func Compare(t testing.TB, file, got string) {
	t.Helper()
	if Updating() {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a folder of the repository
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; go test -update writes it anew: look at what changes (-want +got)\n%s", file, diff)
	}
}

package real

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/golden"
)

// KeepTables holds tables, by the names of their places, against docs/adversary.md at a path, or writes them there.
func KeepTables(t *testing.T, page string, tables map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, table := range tables {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for the table %s", page, name)
		}
		want = before + begin + "\n" + table + "\n" + end + after
	}
	if want == string(text) {
		return
	}
	if golden.Updating() && !t.Failed() {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what happened. See whether that should be, then write it: run %s again with -update", page, t.Name())
	was := strings.Split(string(text), "\n")
	for line := range strings.SplitSeq(want, "\n") {
		if !slices.Contains(was, line) {
			t.Logf("now: %s", line)
		}
	}
}

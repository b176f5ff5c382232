package cli

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Tables fit a terminal of 80 columns.
func TestTablesFitATerminal(t *testing.T) {
	for _, name := range []string{"audit", "decision", "inventory", "lease-list", "revoked", "vim-list"} {
		text, err := os.ReadFile("testdata/" + name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
	}
}

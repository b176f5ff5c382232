package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// alikeAtMost is the share of the lines of SQLite's store, in percent, that may stand in PostgreSQL's file of the same
// name too.
const alikeAtMost = 25

// TestStoresDoWhatIsTheirs holds that what both stores do stands in drivers/tables and drivers/rows, once: lines of code
// that stand in both in the same order, without imports and comments, are few.
func TestStoresDoWhatIsTheirs(t *testing.T) {
	names, err := filepath.Glob("../drivers/sqlite/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines, alike := 0, 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ours := codeLines(t, name)
		lines += len(ours)
		if theirs := "drivers/postgres/" + filepath.Base(name); exists(theirs) {
			alike += inOrder(ours, codeLines(t, filepath.Join("..", theirs)))
		}
	}
	t.Logf("%d of %d lines are alike", alike, lines)
	if lines < 500 || inOrder([]string{"a", "b", "c", "d"}, []string{"x", "b", "a", "d"}) != 2 {
		t.Fatalf("the test sees %d lines, or counts wrong", lines)
	}
	if 100*alike > alikeAtMost*lines {
		t.Errorf("%d of %d lines of drivers/sqlite stand in drivers/postgres too, and %d %% may: write them once, in drivers/tables or drivers/rows",
			alike, lines, alikeAtMost)
	}
}

// codeLines are the lines of a file that are neither blank nor comments, package clause nor imports.
func codeLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	importing := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			importing = true
		case importing:
			importing = line != ")"
		case line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "package ") && !strings.HasPrefix(line, "import "):
			lines = append(lines, line)
		}
	}
	return lines
}

// inOrder is the length of the longest sequence of lines that both have.
func inOrder(ours, theirs []string) int {
	before := make([]int, len(theirs)+1)
	for _, line := range ours {
		now := make([]int, len(theirs)+1)
		for i, other := range theirs {
			now[i+1] = max(before[i+1], now[i])
			if line == other {
				now[i+1] = before[i] + 1
			}
		}
		before = now
	}
	return slices.Max(before)
}

package test

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of imports into ARCHITECTURE.md")

// ARCHITECTURE.md shows the table of the house, whole and in an order in which each
// line imports from lines above it only.
func TestImportsPointOneWayInARCHITECTURE(t *testing.T) {
	const file, before, after = "../ARCHITECTURE.md", "<!-- imports -->\n\n", "\n<!-- /imports -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), before)
	shown, tail, ended := strings.Cut(rest, after)
	if !found || !ended {
		t.Fatalf("%s has no table of imports between %q and %q", file, before, after)
	}
	table := tableOf(t, house)
	if *update {
		if err := os.WriteFile(file, []byte(head+before+table+after+tail), 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
		return
	}
	if shown != table {
		t.Errorf("the imports in ARCHITECTURE.md are not those of test/deps_test.go: run go test ./test -run ARCHITECTURE -update")
	}
}

// tableOf writes a table of imports: in each round the packages whose imports are all
// there already.
func tableOf(t *testing.T, imports map[string][]string) string {
	t.Helper()
	var out strings.Builder
	left, there := maps.Clone(imports), map[string]bool{}
	for len(left) > 0 {
		var next []string
		for _, pkg := range slices.Sorted(maps.Keys(left)) {
			if !slices.ContainsFunc(left[pkg], func(imp string) bool { return !there[imp] }) {
				next = append(next, pkg)
			}
		}
		if len(next) == 0 {
			t.Fatalf("imports go round in a circle among %v", slices.Sorted(maps.Keys(left)))
		}
		for _, pkg := range next {
			there[pkg] = true
			delete(left, pkg)
		}
		if len(there) == len(next) {
			out.WriteString(wrap(next, "") + " -> nothing of ours\n")
			continue
		}
		for _, pkg := range next {
			out.WriteString(wrap(imports[pkg], pkg+" -> ") + "\n")
		}
	}
	return out.String()
}

// wrap writes names after a heading, as an indented block of lines that are not long.
func wrap(names []string, heading string) string {
	line, text := "    "+heading, ""
	for i, name := range names {
		if i < len(names)-1 {
			name += ", "
		}
		if len(line)+len(name) > 120 {
			text += strings.TrimRight(line, " ") + "\n"
			line = "        "
		}
		line += name
	}
	return text + line
}

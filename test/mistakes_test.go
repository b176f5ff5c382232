package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testDeclared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	testNamed    = regexp.MustCompile("`((?:Test|Fuzz)\\w+)(?:/(\\w+))?`")
)

// TestPeerMistakesNamesTestsThatExist holds docs/peer-mistakes.md to the code:
// every test that it names is there, and every row names one.
func TestPeerMistakesNamesTestsThatExist(t *testing.T) {
	tests, stories := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if name, ok := strings.CutSuffix(d.Name(), ".txtar"); ok {
			stories[name] = true
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range testDeclared.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/peer-mistakes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| the mistake ") {
			continue
		}
		rows++
		named := testNamed.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test in the row %q", line)
		}
		for _, found := range named {
			if !tests[found[1]] || found[2] != "" && !stories[found[2]] {
				t.Errorf("%s does not exist", found[0])
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows were found, want the whole table", rows)
	}
}

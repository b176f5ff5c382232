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
	testBegins = regexp.MustCompile(`(?m)^func (\w+)\([^)]*\) \{\n(.*)\n`)
	fieldName  = regexp.MustCompile(`^TestField[A-Z]`)
)

// "make test-field" finds its tests by their names, and nothing else runs them for minutes.
func TestTheFieldsTestsSayThatTheyAre(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "bin" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // it is of the repository
		if err != nil {
			return err
		}
		for _, m := range testBegins.FindAllStringSubmatch(string(text), -1) {
			named, says := fieldName.MatchString(m[1]), m[2] == "\tfield.Only(t)"
			if named != says {
				t.Errorf("%s: %s is named TestField...: %v, and begins with field.Only(t): %v", path, m[1], named, says)
			}
			if says {
				found++
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d tests of the field, %v", found, err)
	}
}

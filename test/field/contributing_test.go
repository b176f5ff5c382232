package field_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
)

var (
	oneOf   = regexp.MustCompile("(?m)^\\| [^|]+ \\| `((?:VIMBROKER_REAL=1 )?go (?:test|run) [^`]+)` \\|$")
	pattern = regexp.MustCompile(`-run '([^']+)'`)
	passed  = regexp.MustCompile(`(?m)^ *--- PASS: (\S+)`)
)

// Each command of CONTRIBUTING that runs one test, story, death or fault runs one.
func TestFieldCommandsOfContributing(t *testing.T) {
	field.Only(t)
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := oneOf.FindAllStringSubmatch(string(text), -1)
	if len(commands) < 7 {
		t.Errorf("%d commands are found, want 7 or more", len(commands))
	}
	for _, m := range commands {
		typed := strings.ReplaceAll(m[1], "go test ", "go test -count=1 -v ")
		run := exec.CommandContext(t.Context(), "sh", "-c", typed)
		run.Dir = root
		out, err := run.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", m[1], err, out)
			continue
		}
		if p := pattern.FindStringSubmatch(m[1]); p != nil {
			deep := false
			for _, name := range passed.FindAllStringSubmatch(string(out), -1) {
				deep = deep || strings.Count(name[1], "/") == strings.Count(p[1], "/")
			}
			if !deep {
				t.Errorf("%s: no test passes that the whole pattern names:\n%s", m[1], out)
			}
		} else if !strings.Contains(string(out), "faults are tried") {
			t.Errorf("%s: %s", m[1], out)
		}
	}
}

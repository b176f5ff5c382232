package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/golden"
)

// said is a test that notes what it fails with.
type said struct {
	testing.TB
	failed []any
}

func (s *said) Helper()                      {}
func (s *said) Errorf(_ string, args ...any) { s.failed = args }

func TestATextThatDiffersFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for got, differs := range map[string]bool{"a\nb\n": false, "a\nc\n": true, "a\nb": true, "": true} {
		s := &said{TB: t}
		golden.Compare(s, file, got)
		if (s.failed != nil) != differs || differs && !strings.Contains(s.failed[1].(string), "-") {
			t.Errorf("%q fails with %v", got, s.failed)
		}
	}
}

package crash_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// binary is the path of a vimbroker that was built with failpoints.
var binary string

func TestMain(m *testing.M) {
	process.SideBySide(10)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, remove, err := process.Dir("vimbroker-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash kit:", err)
		return 1
	}
	defer remove()
	binary = filepath.Join(dir, "vimbroker")
	if err := story.BuildAt(binary, "-tags", "failpoints"); err != nil {
		fmt.Fprintln(os.Stderr, "crash kit, with failpoints:", err)
		return 1
	}
	return m.Run()
}

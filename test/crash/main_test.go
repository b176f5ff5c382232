package crash_test

import (
	"flag"
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
	// The tests wait for processes and disks more than they compute.
	if err := flag.Set("test.parallel", "10"); err != nil {
		panic(err)
	}
	flag.Parse()
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

package crash_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the path of a vimbroker that was built with failpoints.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for processes and disks more than they compute.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vimbroker-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash kit:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "vimbroker")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "../../cmd/vimbroker")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "crash kit: building vimbroker with failpoints: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

package replicas

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
)

// binary is the path of the vimbroker that all replicas run.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for processes and clocks more than they compute.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	if os.Getenv(real.Demand) == "1" {
		if err := build(); err != nil {
			fmt.Fprintln(os.Stderr, "replicas:", err)
			os.Exit(1)
		}
	}
	real.Main(m)
}

// build builds the binary, where the next run finds it again and replaces it.
func build() error {
	dir, err := filepath.Abs(filepath.Join("..", "..", "bin", "test"))
	if err != nil {
		return fmt.Errorf("building vimbroker: %w", err)
	}
	binary = filepath.Join(dir, "replica")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/vimbroker").CombinedOutput(); err != nil {
		return fmt.Errorf("building vimbroker: %w\n%s", err, out)
	}
	return nil
}

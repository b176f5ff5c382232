//go:build failpoints

package clientconfig_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// TestKilledAtEveryFailpoint kills a process while it writes and while it removes
// files; the next one's sweep leaves nothing of them.
func TestKilledAtEveryFailpoint(t *testing.T) {
	for _, point := range []string{"files.written", "files.closing"} {
		root := filepath.Join(t.TempDir(), "root")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childRole+"=hold", childRoot+"="+root, "VIMBROKER_FAILPOINT="+point)
		cmd.Stdin = strings.NewReader("") // so that it closes once it has written
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: the child ended with %v, want SIGKILL", point, err)
		}
		if left := listing(t, root); len(left) != 4 {
			t.Errorf("%s: the child left %q, want a directory with three files", point, left)
		}
		if n, err := clientconfig.Sweep(root); n != 1 || err != nil {
			t.Errorf("%s: Sweep() = %d, %v, want 1", point, n, err)
		}
		if left := listing(t, root); len(left) != 0 {
			t.Errorf("%s: left %q", point, left)
		}
	}
}

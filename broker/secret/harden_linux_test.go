package secret_test

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// TestHarden runs in a process of its own, as it cannot be undone.
func TestHarden(t *testing.T) {
	const mark = "SECRET_TEST_HARDEN"
	if os.Getenv(mark) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestHarden$")
		child.Env = append(os.Environ(), mark+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v in the child:\n%s", err, out)
		}
		return
	}
	if err := secret.Harden(); err != nil {
		t.Fatal(err)
	}
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || dumpable != 0 {
		t.Errorf("PR_GET_DUMPABLE = %d, %v, want 0", dumpable, err)
	}
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil || core != (unix.Rlimit{}) {
		t.Errorf("RLIMIT_CORE = %+v, %v, want 0 and 0", core, err)
	}
	if err := secret.Harden(); err != nil {
		t.Errorf("Harden again = %v, want nil", err)
	}
}

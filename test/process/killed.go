//go:build unix

package process

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// errandVariable holds what a child of KillAt is to do.
const errandVariable = "TEST_ERRAND"

// Errand reads what this process, a child of [KillAt], is to do until it is killed. It is false
// in every other process.
func Errand(t testing.TB, into any) bool {
	t.Helper()
	text := os.Getenv(errandVariable)
	if text == "" {
		return false
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return true
}

// KillAt runs the test that is running in a child of its own, which finds its errand by [Errand],
// and fails unless the failpoint, or the child itself, kills it with SIGKILL.
func KillAt(t testing.TB, failpoint string, errand any) {
	t.Helper()
	text, err := json.Marshal(errand)
	if err != nil {
		t.Fatal(err)
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	child := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), errandVariable+"="+string(text), "VIMBROKER_FAILPOINT="+failpoint)
	out, err := child.CombinedOutput()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
}

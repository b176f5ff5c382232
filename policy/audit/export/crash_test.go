//go:build unix && failpoints

package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestKilledOnTheWay kills a process with SIGKILL whenever it has written a part, and checks
// that the next goes on with it.
func TestKilledOnTheWay(t *testing.T) {
	if name := os.Getenv("EXPORT_TEST_CRASH"); name != "" {
		exportTo(t, name)
		t.Fatal("the process lives on")
	}
	name := filepath.Join(t.TempDir(), "export")
	for _, point := range []string{"export.flushed", "export.flushed#2"} {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledOnTheWay$")
		child.Env = append(os.Environ(), "EXPORT_TEST_CRASH="+name, "VIMBROKER_FAILPOINT="+point)
		out, err := child.CombinedOutput()
		if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the child was not killed: %v\n%s", err, out)
		}
	}
	f := exportTo(t, name)
	if x, err := read(f); err != nil || !x.Complete() || x.From != 1 || x.To != 40 {
		t.Errorf("the export is %+v, %v", x, err)
	}
}

// exportTo goes on with an export of 40 entries, ten at a time.
func exportTo(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	b := newBook(t, 40)
	for {
		if x, err := read(f); err != nil || x.Complete() {
			return f
		}
		b.write(f, 1, 40, 10)
	}
}

//go:build unix

package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// dying is a file whose process is killed when it asks for the nth time that what it wrote is durable.
type dying struct {
	*os.File
	after int
}

func (d *dying) Sync() error {
	if d.after--; d.after == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return d.File.Sync()
}

// TestKilledOnTheWay kills a process with SIGKILL whenever it has written a part, and checks
// that the next goes on with it.
func TestKilledOnTheWay(t *testing.T) {
	if name := os.Getenv("EXPORT_TEST_CRASH"); name != "" {
		after, _ := strconv.Atoi(os.Getenv("EXPORT_TEST_SYNC"))
		exportTo(t, &dying{open(t, name), after})
		t.Fatal("the process lives on")
	}
	name := filepath.Join(t.TempDir(), "export")
	for _, after := range []string{"1", "2"} {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledOnTheWay$")
		child.Env = append(os.Environ(), "EXPORT_TEST_CRASH="+name, "EXPORT_TEST_SYNC="+after)
		out, err := child.CombinedOutput()
		if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the child was not killed: %v\n%s", err, out)
		}
	}
	f := open(t, name)
	exportTo(t, f)
	if x, err := read(f); err != nil || !x.Complete() || x.From != 1 || x.To != 40 {
		t.Errorf("the export is %+v, %v", x, err)
	}
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// exportTo goes on with an export of 40 entries, ten at a time.
func exportTo(t *testing.T, f namedFile) {
	t.Helper()
	b := newBook(t, 40)
	for {
		if x, err := read(f); err != nil || x.Complete() {
			return
		}
		b.write(f, 1, 40, 10)
	}
}

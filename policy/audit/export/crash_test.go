//go:build unix

package export_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
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
	type errand struct {
		Name  string
		After int
	}
	var e errand
	if process.Errand(t, &e) {
		exportTo(t, &dying{open(t, e.Name), e.After})
		t.Fatal("the process lives on")
	}
	name := filepath.Join(t.TempDir(), "export")
	for _, after := range []int{1, 2} {
		process.KillAt(t, "", errand{name, after})
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

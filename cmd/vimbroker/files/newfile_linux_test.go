package files

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Unlogged(m)) }

// A private file that cannot be written whole is an error, and the one that was there stays.
func TestAPrivateFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "kept")
	if err := WritePrivate(name, []byte("old")); err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	kept := WritePrivate(name, []byte("new"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(kept, syscall.EFBIG) {
		t.Errorf("WritePrivate() = %v, want %v", kept, syscall.EFBIG)
	}
	holds(t, name, "old")
	onlyIn(t, dir, "kept")
}

package files

import (
	"errors"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain has the package testing log no file that is opened: a part of that log which it writes while a test lets no file
// grow is an error at the end.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.testlogfile", ""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

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

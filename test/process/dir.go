package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TempDir is [Dir] for a test, at whose end it is removed.
func TempDir(t testing.TB, pattern string) string {
	t.Helper()
	dir, remove, err := Dir(pattern)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return dir
}

// Dir makes a directory that is removed by the function it returns, or when
// this process ends in any other way. It is not under t.TempDir: another user must
// get there, and a socket's path be short.
func Dir(pattern string) (dir string, remove func(), err error) { return dirIn("", pattern) }

// MemoryDir is [Dir] for what need not outlive a power failure: in memory, where there are 2 GiB for it.
func MemoryDir(pattern string) (dir string, remove func(), err error) {
	const memory, enough = "/dev/shm", 2 << 30
	var there syscall.Statfs_t
	if syscall.Statfs(memory, &there) == nil && there.Bavail*uint64(there.Bsize) >= enough { //nolint:gosec // a size of blocks is positive
		if dir, remove, err = dirIn(memory, pattern); err == nil {
			return dir, remove, nil
		}
	}
	return Dir(pattern)
}

func dirIn(parent, pattern string) (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(parent, pattern); err != nil {
		return "", nil, err
	}
	// The shell reads until the pipe is closed, which the kernel does for a process
	// that is killed. Servers that are killed then too may still write a file.
	keeper := exec.Command("/bin/sh", "-c", `read -r line
		for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" && exit; sleep 0.2; done`, "sh", dir)
	keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it outlives who kills the group
	in, err := keeper.StdinPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("starting who removes %s: %w", dir, err)
	}
	return dir, func() {
		_ = in.Close()
		_ = keeper.Wait()
		_ = os.RemoveAll(dir)
	}, nil
}

// Repository is the directory of go.mod, at or above the working directory.
func Repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("finding the repository: no go.mod here or above")
		}
		dir = up
	}
}

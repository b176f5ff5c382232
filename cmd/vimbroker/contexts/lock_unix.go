//go:build unix

package contexts

import (
	"os"
	"path/filepath"
	"syscall"
)

// lock keeps other processes out that lock the same file, until unlock.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil // which ends the lock
}

//go:build unix

package clientconfig

import (
	"io/fs"
	"os"
	"syscall"
)

const errHeld = syscall.EWOULDBLOCK

// onlyDirectory opens nothing but a directory.
const onlyDirectory = syscall.O_DIRECTORY

// hold locks a directory until it is closed, by this process or by its end.
func hold(dir *os.File) error { return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// openToOthers reports whether others may look into a file or directory.
func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

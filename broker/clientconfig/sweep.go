package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Sweep removes the directories under root (empty means [DefaultRoot]) whose
// processes were killed, and returns how many. A root that does not exist is
// swept already.
//
// A directory goes only if its name has the form that [Dir] makes, it is this
// user's, the process it names has certainly ended, and no process holds its
// lock. Everything else is left alone; no symbolic link is followed. A directory
// that cannot be removed is reported, and the rest is still removed.
func Sweep(root string) (removed int, err error) {
	dir, err := openRoot(root, false)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	boot, err := bootID()
	if err != nil {
		return 0, err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return 0, fmt.Errorf("listing %s: %w", dir.Name(), err)
	}
	var faults []error
	for _, entry := range entries {
		p, ok := parseProcess(entry.Name())
		if !ok || !entry.IsDir() || !p.dead(boot) {
			continue
		}
		gone, err := removeDead(dir, entry.Name())
		if err != nil {
			faults = append(faults, fmt.Errorf("removing %s: %w", entry.Name(), err))
		}
		if gone {
			removed++
		}
	}
	return removed, errors.Join(faults...)
}

// removeDead removes a directory unless it is another user's or locked. The lock
// is held during that, so of two sweeps only one removes and counts it.
func removeDead(dir *os.Root, name string) (bool, error) {
	lock, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	info, err := lock.Stat()
	if err != nil {
		return false, err
	}
	if !ours(info) {
		return false, nil
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, err
	}
	// Another sweep may have been quicker; and a Root follows symbolic links that
	// stay inside it.
	if named, err := dir.Lstat(name); err != nil || !os.SameFile(named, info) {
		return false, nil
	}
	if err := dir.RemoveAll(name); err != nil {
		return false, err
	}
	return true, nil
}

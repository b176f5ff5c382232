package clientconfig

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Dir is a directory of this process, 0700, that holds the files of leases in
// use. It is safe for concurrent use.
//
//	<root>/                                   0700, ours
//	  <boot>-<pid>-<start>-<random>/          0700, one per Dir, locked while open
//	    kubeconfig-<random>  ca-<random> …    0600, one set per Files
//
// Close removes it with everything in it; after a kill, [Sweep] of another
// process does.
type Dir struct {
	path string // absolute
	root *os.Root
	// lock is the directory, opened and locked where the platform can: it tells even a
	// process that does not see our pid that we live. The kernel unlocks it when we end.
	lock *os.File

	mu     sync.Mutex
	files  *os.Root // the directory; nil once closed
	closed bool
}

// DefaultRoot is where directories are kept unless another root is given:
// vimbroker under $XDG_RUNTIME_DIR (memory, gone at logout) if that is this
// user's, or else vimbroker-<uid> under the system's directory for temporary files.
func DefaultRoot() string {
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		// After sudo it may name another user's, where we would leave things in the way.
		if info, err := os.Stat(run); err == nil && info.IsDir() && ours(info) {
			return filepath.Join(run, "vimbroker")
		}
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("vimbroker-%d", os.Geteuid()))
}

// OpenDir makes a directory of this process under root, which is made if it is
// not there; empty means [DefaultRoot]. A root that is a symbolic link, another
// user's, or open to others is refused. If OpenDir fails, no directory is left.
func OpenDir(root string) (*Dir, error) {
	parent, err := openRoot(root, true)
	if err != nil {
		return nil, err
	}
	me, err := self()
	if err == nil {
		// A directory can be swept between being made and being locked, by a
		// process that sees other pids than we do. Then there is a next one.
		for range 3 {
			var d *Dir
			if d, err = newDir(parent, me.directoryName()); err == nil {
				return d, nil
			}
		}
	}
	_ = parent.Close()
	return nil, fmt.Errorf("making a directory for client configurations: %w", err)
}

func newDir(parent *os.Root, name string) (_ *Dir, err error) {
	if err := parent.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	d := &Dir{path: filepath.Join(parent.Name(), name), root: parent}
	defer func() {
		if err != nil {
			d.release()
			_ = parent.Remove(name)
		}
	}()
	if err := parent.Chmod(name, 0o700); err != nil { // whatever the umask
		return nil, err
	}
	if d.files, err = parent.OpenRoot(name); err != nil {
		return nil, err
	}
	if d.lock, err = d.files.Open("."); err != nil {
		return nil, err
	}
	if err := hold(d.lock); err != nil {
		return nil, fmt.Errorf("locking %s: %w", d.path, err)
	}
	if _, err := parent.Lstat(name); err != nil {
		return nil, err
	}
	return d, nil
}

// Close removes the directory and all that is in it. Closing again is harmless;
// after an error it tries again.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if err := d.root.RemoveAll(filepath.Base(d.path)); err != nil {
		return fmt.Errorf("removing the directory of client configurations: %w", err)
	}
	d.closed = true
	d.release()
	_ = d.root.Close()
	return nil
}

func (d *Dir) release() {
	if d.files != nil {
		_ = d.files.Close()
	}
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// openRoot opens the directory that directories of processes are kept in, made
// if create is set, and refuses one that others could put things into.
func openRoot(path string, create bool) (_ *os.Root, err error) {
	defer wrap(&err, "directory for client configurations")
	if path == "" {
		path = DefaultRoot()
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if create {
		switch err := os.Mkdir(path, 0o700); {
		case err == nil:
			if err := os.Chmod(path, 0o700); err != nil { // whatever the umask
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if err := checkRoot(root, path); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// checkRoot looks at what was opened, not at what stands under the name now.
func checkRoot(root *os.Root, path string) error {
	opened, err := root.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(opened, named):
		return fmt.Errorf("%s is a symbolic link; remove it", path)
	case !ours(opened):
		return fmt.Errorf("%s belongs to another user; name another directory", path)
	case openToOthers(opened):
		return fmt.Errorf("%s is open to others (mode %04o); remove it, or close it with chmod 700",
			path, opened.Mode().Perm())
	}
	return nil
}

func random() string { return strings.ToLower(rand.Text()) }

// process names one process so that no later one has the same name, even with
// the same pid: by the boot it runs in and the time it started.
type process struct {
	boot  string // 12 hexadecimal digits
	pid   int
	start uint64 // in units of the platform
}

var processForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{12})-([1-9][0-9]{0,9})-([0-9]{1,20})-[0-9a-z]+$`)
})

func self() (process, error) {
	boot, err := bootID()
	if err != nil {
		return process{}, err
	}
	p := process{boot: boot, pid: os.Getpid()}
	start, _, err := startOf(p.pid)
	if err != nil {
		return process{}, fmt.Errorf("reading the start time of this process: %w", err)
	}
	p.start = start
	return p, nil
}

func (p process) directoryName() string {
	return fmt.Sprintf("%s-%d-%d-%s", p.boot, p.pid, p.start, random())
}

// parseProcess reads whose directory it is from the directory's name.
func parseProcess(directory string) (process, bool) {
	m := processForm().FindStringSubmatch(directory)
	if m == nil {
		return process{}, false
	}
	pid, err := strconv.Atoi(m[2])
	if err != nil {
		return process{}, false
	}
	start, err := strconv.ParseUint(m[3], 10, 64)
	if err != nil {
		return process{}, false
	}
	return process{boot: m[1], pid: pid, start: start}, true
}

// dead reports whether the process has certainly ended: it ran before this boot, its
// pid is free or waits to be collected, or its pid is now another process's. In
// doubt it has not.
func (p process) dead(boot string) bool {
	if p.boot != boot {
		return true
	}
	start, ended, err := startOf(p.pid)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	return start != p.start || ended
}

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
	lock, err := dir.OpenFile(name, os.O_RDONLY|onlyDirectory, 0)
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
	if err := hold(lock); err != nil {
		if errors.Is(err, errHeld) {
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

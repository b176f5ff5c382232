//go:build unix

package keydir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Open opens the key directory, and makes it if it is missing; its parent must
// exist. It refuses a directory that is a symbolic link, belongs to another user
// or is accessible to others, and says how to put that right: such a directory's
// keys may be known already, so its mode is not silently changed.
//
// Keys that a dead process had begun to write are removed, unless another live
// process has the same directory open. Close the Store to release it.
func Open(path string) (*Store, error) {
	root, err := openDir(path)
	if err != nil {
		return nil, fmt.Errorf("opening key directory %s: %w", path, err)
	}
	s := &Store{root: root}
	if err := s.claim(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening key directory %s: %w", path, err), root.Close())
	}
	return s, nil
}

func openDir(path string) (dir, error) {
	switch err := os.Mkdir(path, 0o700); {
	case err == nil:
		// A umask may have taken bits away that we need to open it.
		if err := os.Chmod(path, 0o700); err != nil {
			return dir{}, unavailable(err)
		}
	case errors.Is(err, fs.ErrNotExist):
		return dir{}, errors.New("its parent directory does not exist: create it")
	case !errors.Is(err, fs.ErrExist):
		return dir{}, unavailable(err)
	}
	// The flags make the kernel refuse a symbolic link; looking first only serves
	// to say so.
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return dir{}, errors.New("it is a symbolic link: give the path of the directory itself")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return dir{}, errors.New("it is not a directory: give another path")
	}
	if err != nil {
		return dir{}, unavailable(err)
	}
	if err := checkPrivate(f, path); err != nil {
		return dir{}, errors.Join(err, f.Close())
	}
	return dir{f}, nil
}

// checkPrivate fails unless only the broker's user has access to the open directory.
func checkPrivate(f *os.File, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return unavailable(err)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return fmt.Errorf("it belongs to user %d, this process runs as %d: chown it, or give another path", st.Uid, uid)
	}
	if mode := st.Mode & 0o777; mode&0o077 != 0 {
		return fmt.Errorf("it is accessible to other users (mode %04o): check who may have read the keys, then chmod 700 %s", mode, path)
	}
	return nil
}

// claim sweeps the directory if no one else has it open, and marks it as open
// with a shared lock for as long as the Store lives. Locks go with their process,
// so a killed one does not hold up the sweep.
func (s *Store) claim() error {
	flock := func(how int) error {
		return s.root.call("lock", ".", func() error { return unix.Flock(int(s.root.Fd()), how) })
	}
	switch err := flock(unix.LOCK_EX | unix.LOCK_NB); {
	case err == nil:
		if err := s.sweep(); err != nil {
			return err
		}
	case errors.Is(err, unix.EWOULDBLOCK): // open elsewhere: the files may be in use
	default:
		return unavailable(err)
	}
	// This waits at most for another Open's sweep.
	if err := flock(unix.LOCK_SH); err != nil {
		return unavailable(err)
	}
	return nil
}

// sweep removes all temporary files.
func (s *Store) sweep() error {
	again, err := s.root.sub(".")
	if err != nil {
		return unavailable(err)
	}
	defer again.Close()
	names, err := again.names()
	if err != nil {
		return unavailable(err)
	}
	swept := false
	for _, name := range names {
		if !strings.HasPrefix(name, tempPrefix) {
			continue
		}
		if err := s.root.unlink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unavailable(err)
		}
		swept = true
	}
	if swept {
		if err := s.root.Sync(); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// unavailable marks an error of the file system as one that may pass: no space,
// a read-only or vanished volume, no access, too many open files. The error
// names paths, which are not secret, and no content.
func unavailable(err error) error { return fmt.Errorf("%w: %w", secret.ErrUnavailable, err) }

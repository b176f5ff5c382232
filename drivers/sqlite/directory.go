package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"golang.org/x/sys/unix"
)

// lockName is the file in the data directory that a running broker holds locked.
const lockName = "lock"

// claim makes the directory, sees that it is private, and locks it. The lock ends with the
// process, however it ends.
func (s *Store) claim(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	if err := s.closeToOthers(dir); err != nil {
		return nil, unusable(dir, err)
	}
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		return nil, &broker.Error{
			Kind:   broker.ErrConflict,
			Detail: fmt.Sprintf("data directory %s is in use by process %s", dir, strings.TrimSpace(string(holder))),
			Remedy: "stop that process, or give this one another data directory",
		}
	}
	// The number is for the message above only.
	if err := errors.Join(f.Chmod(0o600), f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return lock{f}, nil
}

// unusable says what the system has against a data directory, and what to do.
func unusable(dir string, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return err
	}
	return &broker.Error{
		Kind:   broker.ErrInvalid,
		Detail: fmt.Sprintf("data directory %s cannot be used: %s: %v", dir, path.Path, path.Err),
		Remedy: fmt.Sprintf("give the broker a directory that its user (%d) owns", os.Geteuid()),
		Cause:  err,
	}
}

// lock is a file that is locked until it is closed.
type lock struct{ file *os.File }

// Close unlocks by itself: closing alone leaves the lock to a child that another
// goroutine is starting at this moment, until that has become its own program.
func (l lock) Close() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// closeToOthers removes the directory's permissions for group and others. It does so
// only where nothing inside is meant for them: the path may be a mistake.
func (s *Store) closeToOthers(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		// The umask may have taken the owner's rights too.
		return os.Chmod(dir, info.Mode().Perm()|0o700)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && !strings.HasPrefix(e.Name(), filepath.Base(s.path)) {
			return &broker.Error{
				Kind:   broker.ErrInvalid,
				Detail: fmt.Sprintf("data directory %s can be entered by other users, and holds %s, which they may use", dir, e.Name()),
				Remedy: "give the broker a directory of its own, or run: chmod 700 " + dir,
			}
		}
	}
	s.log.Warn("data directory was open to other users; closed it", "dir", dir, "mode", info.Mode().Perm().String())
	return os.Chmod(dir, 0o700)
}

// makePrivate makes the database file if it is missing, and sets the mode of all
// its files. SQLite gives the log and the index of a database the mode of the database.
func (s *Store) makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Chmod(path+suffix, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

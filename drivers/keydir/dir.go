//go:build unix

package keydir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// dir is an open directory. Its methods reach direct entries only, and follow no
// symbolic link.
type dir struct{ *os.File }

// entry opens a direct entry of d.
func (d dir) entry(name string, flags int) (*os.File, error) {
	var fd int
	err := d.call("open", name, func() (err error) {
		fd, err = unix.Openat(int(d.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// sub opens a directory inside d.
func (d dir) sub(name string) (dir, error) {
	f, err := d.entry(name, unix.O_RDONLY|unix.O_DIRECTORY)
	return dir{f}, err
}

// mkdir makes a directory inside d that only we can use, whatever the umask. If
// it exists already, its mode is made right, and mkdir succeeds.
func (d dir) mkdir(name string) error {
	err := d.call("mkdir", name, func() error { return unix.Mkdirat(int(d.Fd()), name, 0o700) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var st unix.Stat_t
	err = d.call("stat", name, func() error {
		return unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Mode&0o777 == 0o700 {
		return err // what is no directory, opening it will refuse
	}
	return d.call("chmod", name, func() error { return unix.Fchmodat(int(d.Fd()), name, 0o700, 0) })
}

// link gives the entry a second name in another directory. It fails if that name
// is taken.
func (d dir) link(name string, to dir, newName string) error {
	return d.call("link", newName, func() error {
		return unix.Linkat(int(d.Fd()), name, int(to.Fd()), newName, 0)
	})
}

// unlink removes a file from d.
func (d dir) unlink(name string) error {
	return d.call("unlink", name, func() error { return unix.Unlinkat(int(d.Fd()), name, 0) })
}

// names lists the entries of d. As the position in a directory belongs to the
// open file, d must have been opened for this call.
func (d dir) names() ([]string, error) { return d.Readdirnames(-1) }

// call runs a system call, again if a signal interrupts it, and names it in the
// error.
func (d dir) call(op, name string, f func() error) error {
	for {
		err := f()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
}

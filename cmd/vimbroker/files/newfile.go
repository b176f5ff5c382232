package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// NewFile is a file that only its owner can read, while it is made. It gets its name when
// it is complete, and not before: after any failure the previous file stays.
type NewFile struct {
	temporary *os.File
	name      string
	replace   bool
}

// CreateFile begins a file. An existing file is refused, unless the caller asks to
// replace it; anything but a regular file, a link for example, is always refused.
func CreateFile(name string, replace bool) (*NewFile, error) {
	f := &NewFile{name: name, replace: replace}
	if err := f.free(); err != nil {
		return nil, err
	}
	var err error
	if f.temporary, err = os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*"); err != nil {
		return nil, err
	}
	if err := f.temporary.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// free reports what stands in the way of the file.
func (f *NewFile) free() error {
	info, err := os.Lstat(f.name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s exists already and is not a regular file; name another file", f.name)
	case !f.replace:
		return fmt.Errorf("%s exists already and is not overwritten; remove it, name another file, or say --replace", f.name)
	}
	return nil
}

// Name is the name that it gets.
func (f *NewFile) Name() string { return f.name }

// Commit writes the content and gives the file its name. On failure no file of this
// content is left.
func (f *NewFile) Commit(content []byte) (err error) {
	defer func() { err = errors.Join(err, f.Discard()) }()
	if _, err := f.temporary.Write(content); err != nil {
		return err
	}
	if err := f.temporary.Sync(); err != nil {
		return err
	}
	if !f.replace {
		// Unlike a rename, a link does not replace a file that another process has just made.
		return os.Link(f.temporary.Name(), f.name)
	}
	if err := f.free(); err != nil {
		return err
	}
	return os.Rename(f.temporary.Name(), f.name)
}

// Discard removes an incomplete file. It does nothing after Commit, or when called again.
func (f *NewFile) Discard() error {
	if f == nil || f.temporary == nil {
		return nil
	}
	err := f.temporary.Close()
	if gone := os.Remove(f.temporary.Name()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	f.temporary = nil
	return err
}

// WritePrivate makes or replaces a file that only its owner can read.
func WritePrivate(name string, content []byte) error {
	f, err := CreateFile(name, true)
	if err != nil {
		return err
	}
	return f.Commit(content)
}

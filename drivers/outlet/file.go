package outlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrReplaced: the file is not the one that was written last, or was cut. Send says so
// once, and writes to the file that is there from then on.
var ErrReplaced = errors.New("the file was changed by another than the broker")

// FileOptions say where lines are kept.
type FileOptions struct {
	// Path is the file. It is made, for this user alone, in a directory that is there.
	Path string
	// RotateBytes is how large a file grows before it is renamed to Path with the time
	// behind it, and another one begun; 0: it grows for ever. Renamed files are left alone.
	RotateBytes int64
	// Now dates renamed files; nil means time.Now.
	Now func() time.Time
}

// Validate returns what is wrong with the options, joined; it touches no file.
func (o FileOptions) Validate() error {
	var faults []error
	if !filepath.IsAbs(o.Path) {
		faults = append(faults, errors.New("path must name a file, from the root on"))
	}
	return errors.Join(faults...)
}

// LineFile appends lines to a file and waits for the disk. A full disk leaves no half line.
// Processes may write to one file, one after the other.
type LineFile struct {
	options FileOptions
	turn    turn
	// The fields below belong to the holder of the turn.
	file *os.File
	size int64 // after the last write
}

// NewFile returns an outlet to a file; the first Send opens it.
func NewFile(o FileOptions) *LineFile {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &LineFile{options: o, turn: newTurn()}
}

// Send appends lines; see the package's comment.
func (f *LineFile) Send(ctx context.Context, lines [][]byte) error {
	return f.turn.take(ctx, f.options.Path, func(context.Context) error { return f.write(lines) })
}

// Close closes the file.
func (f *LineFile) Close() error {
	return f.turn.take(context.Background(), f.options.Path, func(context.Context) error { return f.letGo() })
}

func (f *LineFile) letGo() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.size = nil, 0
	return err
}

func (f *LineFile) write(lines [][]byte) (err error) {
	if err := f.compare(); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.letGo() // the remains of a failed write or sync are read again
		}
	}()
	if err := f.lock(); err != nil {
		return err
	}
	defer func() {
		if f.file != nil {
			err = errors.Join(err, unix.Flock(int(f.file.Fd()), unix.LOCK_UN))
		}
	}()
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	if err := f.rotate(int64(len(text))); err != nil {
		return err
	}
	before, err := f.end()
	if err != nil {
		return err
	}
	if torn, err := f.torn(before); err != nil {
		return err
	} else if torn {
		text = append([]byte("\n"), text...)
	}
	if _, err := f.file.Write(text); err != nil {
		// Without this a disk that fills up leaves half a line. If it fails, the next
		// write ends that line first.
		_ = f.file.Truncate(before)
		return fmt.Errorf("writing: %w", err)
	}
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("waiting for the disk: %w", err)
	}
	f.size = before + int64(len(text))
	return nil
}

// compare finds out whether the open file is still the one at the path, and has its previous
// length.
func (f *LineFile) compare() error {
	if f.file == nil {
		return nil
	}
	open, err := f.file.Stat()
	if err != nil {
		return err
	}
	replaced := func(how string) error {
		_ = f.letGo()
		return fmt.Errorf("%w: %s %s", ErrReplaced, f.options.Path, how)
	}
	if open.Size() < f.size {
		return replaced("was cut")
	}
	there, err := os.Lstat(f.options.Path)
	if err == nil && os.SameFile(open, there) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// Another process may have rotated it.
	renamed, err := filepath.Glob(f.options.Path + ".*")
	if err != nil {
		return err
	}
	for _, name := range renamed {
		if other, err := os.Lstat(name); err == nil && os.SameFile(open, other) {
			return f.letGo()
		}
	}
	return replaced("was removed or replaced")
}

// open opens the file if it is not open. It refuses a file that others may write, and
// anything but a regular file: a pipe would hang.
func (f *LineFile) open() error {
	if f.file != nil {
		return nil
	}
	path := f.options.Path
	flags := os.O_RDWR | os.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK
	file, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, os.ErrNotExist) {
		if file, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = syncDir(filepath.Dir(path))
		}
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&0o022 != 0:
		err = fmt.Errorf("%s can be changed by others; run: chmod go-w %s", path, path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// lock keeps other processes out until the write is over.
func (f *LineFile) lock() error {
	err := unix.Flock(int(f.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("%s is being written by another process", f.options.Path)
	}
	return err
}

// rotate begins another file where the lines would make this one too large. The lock on
// the old file goes with it.
func (f *LineFile) rotate(more int64) error {
	size, err := f.end()
	if err != nil || f.options.RotateBytes == 0 || size == 0 || size+more <= f.options.RotateBytes {
		return err
	}
	name := f.options.Path + "." + f.options.Now().UTC().Format("20060102T150405.000000Z")
	if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rotating: %s is there already", name)
	}
	if err := os.Rename(f.options.Path, name); err != nil {
		return fmt.Errorf("rotating: %w", err)
	}
	if err := f.letGo(); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	return f.lock()
}

func (f *LineFile) end() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// torn reports whether the file ends within a line: a process or a machine died there.
func (f *LineFile) torn(size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	last := make([]byte, 1)
	if _, err := f.file.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return last[0] != '\n', nil
}

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

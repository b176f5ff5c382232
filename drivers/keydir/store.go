//go:build unix

package keydir

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var _ secret.KeyStore = (*Store)(nil)

// keyLen is the length of a key file: what [secret.Key.Encode] gives.
const keyLen = 44

// Store keeps keys in one directory. It is safe for concurrent use, also by
// several processes. Contexts are looked at before the work and, in a long list,
// within it; a system call that hangs, on a network file system, is not interrupted.
//
// Errors of the file system, a lack of access included, are
// [secret.ErrUnavailable].
type Store struct {
	root   dir
	shards sync.Map // name of a folder that is known to exist durably -> struct{}
}

// Close releases the directory. The Store must not be used afterwards.
func (s *Store) Close() error { return s.root.Close() }

// Name returns "keydir".
func (s *Store) Name() string { return "keydir" }

// Put stores a new key. In addition to the contract, owner.ID must be a UUID in its
// canonical spelling. When Put returns, the key survives a loss of power.
func (s *Store) Put(ctx context.Context, owner secret.Owner, key *secret.Key) (_ secret.Ref, err error) {
	ref, err := newRef(owner)
	if err != nil {
		return "", fmt.Errorf("storing key: %w", err)
	}
	defer secret.Doing(&err, "storing key of %s, generation %d", owner.ID, owner.Generation)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	encoded := key.Encode()
	if encoded == nil {
		return "", errors.New("there is no key")
	}
	defer clear(encoded)
	shard, err := s.makeShard(shardOf(owner.ID))
	if err != nil {
		return "", unavailable(err)
	}
	defer shard.Close()

	temp, err := s.writeTemp(encoded)
	if err != nil {
		return "", unavailable(err)
	}
	failpoint.At("keydir.put.temp")
	err = s.root.link(temp, shard, string(ref))
	failpoint.At("keydir.put.linked")
	errTemp := s.root.unlink(temp)
	if err == nil {
		// A key whose second name would stay behind, or that a loss of power
		// would take away, is not stored.
		if err = errors.Join(errTemp, shard.Sync()); err != nil {
			_ = shard.unlink(string(ref)) // should this fail too, List shows the key
		}
	}
	if err != nil {
		return "", unavailable(err)
	}
	return ref, nil
}

// makeShard opens a folder, and makes it durably if need be.
func (s *Store) makeShard(name string) (dir, error) {
	if _, known := s.shards.Load(name); !known {
		if err := s.root.mkdir(name); err != nil {
			return dir{}, err
		}
		if err := s.root.Sync(); err != nil {
			return dir{}, err
		}
		s.shards.Store(name, struct{}{})
	}
	shard, err := s.root.sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		s.shards.Delete(name) // someone removed it: make it again next time
	}
	return shard, err
}

// writeTemp writes content to a new synced file of mode 0600 in the root, and
// returns its name. If it fails, it has removed the file, or tried to.
func (s *Store) writeTemp(content []byte) (name string, err error) {
	name = tempPrefix + secret.RandomHex()
	f, err := s.root.entry(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return "", err
	}
	_, errWrite := f.Write(content)
	err = errors.Join(f.Chmod(0o600), errWrite, f.Sync(), f.Close())
	if err != nil {
		_ = s.root.unlink(name) // else the next Open sweeps it
		return "", err
	}
	return name, nil
}

// Get reads a key. A file that is not exactly a key, or not a regular file, is
// [secret.ErrCorrupt]; what is no reference of this store is [secret.ErrNotFound].
func (s *Store) Get(ctx context.Context, ref secret.Ref) (_ *secret.Key, err error) {
	defer secret.Doing(&err, "reading key %q", ref)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	owner, ok := ownerOf(string(ref))
	if !ok {
		return nil, secret.ErrNotFound
	}
	// O_NONBLOCK, because the file may be a pipe.
	f, err := s.open(owner, ref, unix.O_RDONLY|unix.O_NONBLOCK)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, secret.ErrNotFound
	case errors.Is(err, unix.ELOOP): // a symbolic link
		return nil, secret.ErrCorrupt
	case err != nil:
		return nil, unavailable(err)
	}
	defer f.Close()
	return read(f)
}

// read reads the key in an open file, which may have been deleted since.
func read(f *os.File) (*secret.Key, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, unavailable(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, secret.ErrCorrupt
	}
	var buf [keyLen + 1]byte // one more, to see that there is no more
	defer clear(buf[:])
	n, err := io.ReadFull(f, buf[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, unavailable(err)
	}
	key, err := secret.ParseKey(buf[:n])
	if err == nil {
		return key, nil
	}
	// Delete overwrites a file that it has unlinked, maybe while it is read here.
	if err := unix.Fstat(int(f.Fd()), &st); err == nil && st.Nlink == 0 {
		return nil, secret.ErrNotFound
	}
	return nil, secret.ErrCorrupt
}

// open opens the file of a key.
func (s *Store) open(owner secret.Owner, ref secret.Ref, flags int) (*os.File, error) {
	shard, err := s.root.sub(shardOf(owner.ID))
	if err != nil {
		return nil, err
	}
	defer shard.Close()
	return shard.entry(string(ref), flags)
}

// tempPrefix starts the names of files that are not keys yet. No reference
// starts with it.
const tempPrefix = ".tmp-"

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	version, err := owner.NewVersion()
	return secret.Ref(owner.ID + "." + version), err
}

// ownerOf reads whose key a reference or a file name stands for. It is false for
// anything that newRef could not have made: for a path, above all.
func ownerOf(ref string) (secret.Owner, bool) {
	id, version, _ := strings.Cut(ref, ".")
	return secret.OwnerOf(id, version)
}

// shardOf names the folder of a VIM's keys: the last two digits of its id, since
// the first ones of a UUID version 7 are the time, and the same for years.
func shardOf(id string) string { return id[len(id)-2:] }

// isShard reports whether a directory entry can be such a folder.
func isShard(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2 && strings.ToLower(name) == name
}

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

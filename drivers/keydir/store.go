//go:build unix

package keydir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
func (s *Store) Put(ctx context.Context, owner secret.Owner, key *secret.Key) (secret.Ref, error) {
	ref, err := newRef(owner)
	if err != nil {
		return "", fmt.Errorf("storing key: %w", err)
	}
	if err := s.put(ctx, ref, owner, key); err != nil {
		return "", fmt.Errorf("storing key of %s, generation %d: %w", owner.ID, owner.Generation, err)
	}
	return ref, nil
}

func (s *Store) put(ctx context.Context, ref secret.Ref, owner secret.Owner, key *secret.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	encoded := key.Encode()
	if encoded == nil {
		return errors.New("there is no key")
	}
	defer clear(encoded)
	shard, err := s.makeShard(shardOf(owner.ID))
	if err != nil {
		return unavailable(err)
	}
	defer shard.Close()

	temp, err := s.writeTemp(encoded)
	if err != nil {
		return unavailable(err)
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
		return unavailable(err)
	}
	return nil
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
func (s *Store) Get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
	key, err := s.get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("reading key %q: %w", ref, err)
	}
	return key, nil
}

func (s *Store) get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
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

//go:build unix

package keydir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var errForeignRef = errors.New("not a reference of this key store")

// Delete removes a key; the answer is always [secret.Recoverable], as the
// package comment explains. A reference that this store cannot have given is an
// error: the key may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (secret.Erasure, error) {
	if err := s.delete(ctx, ref); err != nil {
		return "", fmt.Errorf("deleting key %q: %w", ref, err)
	}
	return secret.Recoverable, nil
}

func (s *Store) delete(ctx context.Context, ref secret.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	owner, ok := ownerOf(string(ref))
	if !ok {
		return errForeignRef
	}
	shard, err := s.root.sub(shardOf(owner.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unavailable(err)
	}
	defer shard.Close()
	// Opened before it is unlinked, overwritten after: no reader finds a key
	// that is half gone. A file that cannot be opened is removed without that.
	f, errOpen := shard.entry(string(ref), unix.O_WRONLY|unix.O_NONBLOCK)
	if errOpen == nil {
		defer f.Close()
	}
	if err := shard.unlink(string(ref)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	failpoint.At("keydir.delete.unlinked")
	// Also if it was gone already: the process that removed it may have died
	// before this.
	if err := shard.Sync(); err != nil {
		return unavailable(err)
	}
	if errOpen == nil {
		// A best effort, see the package comment.
		if _, err := f.Write(make([]byte, keyLen)); err == nil {
			_ = f.Sync()
		}
	}
	return nil
}

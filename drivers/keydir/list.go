//go:build unix

package keydir

import (
	"context"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// List shows the keys of one VIM, or all. It reads file names only. It skips
// files whose name is not one of the broker's. With keys being written and
// deleted at the same time, each of those may be shown or not.
func (s *Store) List(ctx context.Context, id string) (held []secret.Held, err error) {
	defer secret.Doing(&err, "listing keys")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id != "" {
		if !secret.IsID(id) {
			return nil, nil // Put stores no such key
		}
		return s.listShard(nil, shardOf(id), id)
	}
	again, err := s.root.sub(".")
	if err != nil {
		return nil, unavailable(err)
	}
	defer again.Close()
	shards, err := again.names()
	if err != nil {
		return nil, unavailable(err)
	}
	for _, shard := range shards {
		if !isShard(shard) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if held, err = s.listShard(held, shard, ""); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// listShard appends the keys in one folder, of one VIM or of all.
func (s *Store) listShard(held []secret.Held, shard, id string) ([]secret.Held, error) {
	d, err := s.root.sub(shard)
	if errors.Is(err, fs.ErrNotExist) {
		return held, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	defer d.Close()
	names, err := d.names()
	if err != nil {
		return nil, unavailable(err)
	}
	for _, name := range names {
		owner, ok := ownerOf(name)
		// In another folder than its own, Get would not find it.
		if ok && (id == "" || owner.ID == id) && shardOf(owner.ID) == shard {
			held = append(held, secret.Held{Owner: owner, Ref: secret.Ref(name)})
		}
	}
	return held, nil
}

// Check writes, syncs, reads back and removes a temporary file.
func (s *Store) Check(ctx context.Context) (err error) {
	defer secret.Doing(&err, "checking key directory")
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := s.writeTemp(make([]byte, keyLen))
	if err != nil {
		return unavailable(err)
	}
	f, err := s.root.entry(name, 0)
	if err == nil {
		var buf [keyLen]byte
		_, err = f.Read(buf[:])
		err = errors.Join(err, f.Close())
	}
	if err = errors.Join(err, s.root.unlink(name)); err != nil {
		return unavailable(err)
	}
	return nil
}

var errForeignRef = errors.New("not a reference of this key store")

// Delete removes a key; the answer is always [secret.Recoverable], as the
// package comment explains. A reference that this store cannot have given is an
// error: the key may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (_ secret.Erasure, err error) {
	defer secret.Doing(&err, "deleting key %q", ref)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	owner, ok := ownerOf(string(ref))
	if !ok {
		return "", errForeignRef
	}
	shard, err := s.root.sub(shardOf(owner.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return secret.Recoverable, nil
	}
	if err != nil {
		return "", unavailable(err)
	}
	defer shard.Close()
	// Opened before it is unlinked, overwritten after: no reader finds a key
	// that is half gone. A file that cannot be opened is removed without that.
	f, errOpen := shard.entry(string(ref), unix.O_WRONLY|unix.O_NONBLOCK)
	if errOpen == nil {
		defer f.Close()
	}
	if err := shard.unlink(string(ref)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", unavailable(err)
	}
	failpoint.At("keydir.delete.unlinked")
	// Also if it was gone already: the process that removed it may have died
	// before this.
	if err := shard.Sync(); err != nil {
		return "", unavailable(err)
	}
	if errOpen == nil {
		// A best effort, see the package comment.
		if _, err := f.Write(make([]byte, keyLen)); err == nil {
			_ = f.Sync()
		}
	}
	return secret.Recoverable, nil
}

//go:build unix

package keydir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// List shows the keys of one VIM, or all. It reads file names only. It skips
// files whose name is not one of the broker's. With keys being written and
// deleted at the same time, each of those may be shown or not.
func (s *Store) List(ctx context.Context, id string) ([]secret.Held, error) {
	held, err := s.list(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	return held, nil
}

func (s *Store) list(ctx context.Context, id string) ([]secret.Held, error) {
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
	var held []secret.Held
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
func (s *Store) Check(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return fmt.Errorf("checking key directory: %w", err)
	}
	return nil
}

func (s *Store) check(ctx context.Context) error {
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

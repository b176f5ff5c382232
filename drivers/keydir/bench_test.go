//go:build unix

package keydir_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// BenchmarkTenThousandKeys measures each call on a directory of 10 000 keys of
// as many VIMs. Their ids are UUIDs version 7, which share their first digits.
func BenchmarkTenThousandKeys(b *testing.B) {
	const keys = 10_000
	s := mustOpen(b, filepath.Join(b.TempDir(), "keys"))
	owners, refs := make([]secret.Owner, keys), make([]secret.Ref, keys)
	key := newKey(b)
	var wg sync.WaitGroup
	for part := range 10 {
		wg.Go(func() {
			for i := part; i < keys; i += 10 {
				owners[i] = secret.Owner{ID: uuid.Must(uuid.NewV7()).String(), Generation: 1}
				var err error
				if refs[i], err = s.Put(b.Context(), owners[i], key); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		return
	}

	b.Run("Get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.Get(b.Context(), refs[i%keys]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ListOne", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if held, err := s.List(b.Context(), owners[i%keys].ID); err != nil || len(held) != 1 {
				b.Fatal(len(held), err)
			}
		}
	})
	b.Run("ListAll", func(b *testing.B) {
		for b.Loop() {
			if held, err := s.List(b.Context(), ""); err != nil || len(held) != keys {
				b.Fatal(len(held), err)
			}
		}
	})
	b.Run("PutAndDelete", func(b *testing.B) {
		owner, key := newOwner(), newKey(b)
		for b.Loop() {
			ref, err := s.Put(b.Context(), owner, key)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Delete(b.Context(), ref); err != nil {
				b.Fatal(err)
			}
		}
	})
}

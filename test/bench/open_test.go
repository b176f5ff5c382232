package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// open measures what opening a sealed credential costs over reading its key.
func open(b *testing.B) *figure {
	b.Helper()
	s := newStack(b)
	v := s.mustRegister(b, "cluster")
	ctx, owner := b.Context(), secret.Owner{ID: v.ID, Generation: v.Current.Number}
	file := keyFile(b, filepath.Join(s.dir, "keys"))
	sealed := resealed(b, s, v, owner)
	const readFile, readKey, openIt = "os.ReadFile of the key file", "key store's Get", "key store's Get and Open"
	out, err := turns(200, 1, 100,
		contender{readFile, func(int) error {
			_, err := os.ReadFile(file)
			return err
		}},
		contender{readKey, func(int) error {
			key, err := s.keys.Get(ctx, v.Current.Key)
			if err == nil {
				key.Clear()
			}
			return err
		}},
		contender{openIt, func(int) error {
			key, err := s.keys.Get(ctx, v.Current.Key)
			if err != nil {
				return err
			}
			defer key.Clear()
			_, err = secret.Open(key, owner, "credential", sealed)
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	file0, key, opened := timed(readFile, out[0].sample), timed(readKey, out[1].sample), timed(openIt, out[2].sample)
	opened = opened.over(key)
	b.ReportMetric(opened.Ratio, "x-key")
	return &figure{Title: "Opening a stored credential", Rows: []row{file0, key.over(file0), opened}}
}

// resealed seals a text as long as the stored credential under the same key: only the
// broker knows the field that the stored one is bound to.
func resealed(b *testing.B, s *stack, v broker.VIM, owner secret.Owner) string {
	b.Helper()
	key, err := s.keys.Get(b.Context(), v.Current.Key)
	if err != nil {
		b.Fatal(err)
	}
	defer key.Clear()
	sealed, err := secret.Seal(key, owner, "credential", secret.NewText(strings.Repeat("x", len(v.Current.Sealed)*3/4)))
	if err != nil {
		b.Fatal(err)
	}
	return sealed
}

// keyFile finds the one key in a key directory.
func keyFile(b *testing.B, dir string) string {
	b.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(found) != 1 {
		b.Fatalf("key files of one VIM: %v, %v; want one", found, err)
	}
	return found[0]
}

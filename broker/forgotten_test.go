package broker_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What the broker drops of a lease that is dead is not left in the database's file,
// for whoever reads the disk with a stolen key.
func TestADroppedSealedCopyIsNotLeftOnDisk(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	var dropped []string
	for range 20 {
		l, _ := b.mustIssue(alice, "edge1")
		dropped = append(dropped, b.row(l.ID).Sealed)
		b.mustRevoke(l.ID)
	}
	b.clock.Add(10 * time.Second)
	b.mustReap()
	if err := b.store.Store.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(b.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		left := 0
		for _, sealed := range dropped {
			// A part of it is as good as the whole to find: freed space loses its first bytes.
			if bytes.Contains(raw, []byte(sealed[len(sealed)/2:])) {
				left++
			}
		}
		if left > 0 {
			t.Errorf("%s holds %d of %d sealed copies that were dropped", filepath.Base(path), left, len(dropped))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

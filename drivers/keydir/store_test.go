//go:build unix

package keydir_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/test/conformance"
)

func mustOpen(t testing.TB, dir string) *keydir.Store {
	t.Helper()
	s, err := keydir.Open(dir)
	if err != nil {
		t.Fatalf("Open(%s) = %v, want nil", dir, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newKey(t testing.TB) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newOwner() secret.Owner { return secret.Owner{ID: uuid.NewString(), Generation: 7} }

func mustPut(t testing.TB, s *keydir.Store, owner secret.Owner) secret.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), owner, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// keyFile is where the key under ref is, as the package comment draws it.
func keyFile(dir string, owner secret.Owner, ref secret.Ref) string {
	return filepath.Join(dir, owner.ID[34:], string(ref))
}

// files lists the regular files below dir.
func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestConformance(t *testing.T) {
	t.Run("OneDirectoryPerStore", func(t *testing.T) {
		conformance.KeyStore(t, func(t *testing.T) secret.KeyStore {
			return mustOpen(t, filepath.Join(t.TempDir(), "keys"))
		})
	})
	t.Run("OneDirectoryForAll", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "keys")
		conformance.KeyStore(t, func(t *testing.T) secret.KeyStore { return mustOpen(t, dir) })
	})
}

// Regression: keys world-readable under a loose umask, unreadable to their owner
// under a strict one.
func TestModesDoNotDependOnTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		t.Run(fmt.Sprintf("%04o", umask), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			old := syscall.Umask(umask)
			t.Cleanup(func() { syscall.Umask(old) })
			s := mustOpen(t, dir)
			owner := newOwner()
			ref := mustPut(t, s, owner)
			if _, err := s.Get(t.Context(), ref); err != nil {
				t.Errorf("Get = %v, want nil", err)
			}
			for path, want := range map[string]fs.FileMode{
				dir:                                    fs.ModeDir | 0o700,
				filepath.Dir(keyFile(dir, owner, ref)): fs.ModeDir | 0o700,
				keyFile(dir, owner, ref):               0o600,
			} {
				info, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode() != want {
					t.Errorf("mode of %s = %v, want %v", path, info.Mode(), want)
				}
			}
		})
	}
}

func TestPutLeavesOnlyTheKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	key := newKey(t)
	ref, err := s.Put(t.Context(), owner, key)
	if err != nil {
		t.Fatal(err)
	}
	path := keyFile(dir, owner, ref)
	if got := files(t, dir); len(got) != 1 || got[0] != path {
		t.Errorf("files after Put = %v, want only %s", got, path)
	}
	if content, err := os.ReadFile(path); err != nil || !bytes.Equal(content, key.Encode()) {
		t.Errorf("the file holds something else than the key (error %v)", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := info.Sys().(*syscall.Stat_t).Nlink; n != 1 {
		t.Errorf("the key file has %d names, want 1", n)
	}
}

func TestKeysOutliveTheStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	first, err := keydir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	owner := newOwner()
	ref := mustPut(t, first, owner)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := mustOpen(t, dir).Get(t.Context(), ref); err != nil {
		t.Errorf("Get after reopening = %v, want nil", err)
	}
}

func TestGetOfWhatIsNoKeyIsCorrupt(t *testing.T) {
	key := newKey(t).Encode()
	plant := func(content []byte) func(path string) error {
		return func(path string) error { return os.WriteFile(path, content, 0o600) }
	}
	for name, put := range map[string]func(path string) error{
		"empty file":     plant(nil),
		"half a key":     plant(key[:22]),
		"line break":     plant(append(bytes.Clone(key), '\n')),
		"two keys":       plant(append(bytes.Clone(key), key...)),
		"zero key":       plant([]byte(strings.Repeat("A", 43) + "=")),
		"garbage":        plant(bytes.Repeat([]byte{0xff}, 44)),
		"named pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"symbolic link":  func(path string) error { return symlinkToKey(path, key) },
		"dangling link":  func(path string) error { return os.Symlink("nowhere", path) },
		"link to device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			s := mustOpen(t, dir)
			owner := newOwner()
			ref := mustPut(t, s, owner)
			path := keyFile(dir, owner, ref)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Get(t.Context(), ref)
			if !errors.Is(err, secret.ErrCorrupt) {
				t.Errorf("Get = %v, want ErrCorrupt", err)
			}
			if err != nil && strings.Contains(err.Error(), string(key[:20])) {
				t.Errorf("the error holds the content of the file")
			}
			if name == "directory" {
				return
			}
			if _, err := s.Delete(t.Context(), ref); err != nil {
				t.Errorf("Delete = %v, want nil", err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Lstat after Delete = %v, want that it does not exist", err)
			}
		})
	}
}

// symlinkToKey leaves a good key beside path, and path pointing to it.
func symlinkToKey(path string, key []byte) error {
	target := filepath.Join(filepath.Dir(path), "target")
	return errors.Join(os.WriteFile(target, key, 0o600), os.Symlink(target, path))
}

func TestASymbolicLinkForAFolderIsNotFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, owner.ID[34:])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), owner, newKey(t)); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Put = %v, want ErrUnavailable", err)
	}
	if got := files(t, elsewhere); len(got) != 0 {
		t.Errorf("Put wrote %v", got)
	}
}

func TestListPassesOverForeignFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	folder := filepath.Dir(keyFile(dir, owner, ref))
	hex := strings.Repeat("0", 32)
	for _, path := range []string{
		filepath.Join(dir, "README"),
		filepath.Join(dir, ".tmp-"+hex),
		filepath.Join(folder, ".tmp-"+hex),
		filepath.Join(folder, string(ref)+".bak"),
		filepath.Join(folder, owner.ID+".0."+hex),
		filepath.Join(folder, owner.ID+".07."+hex),
		filepath.Join(folder, owner.ID+".+7."+hex),
		filepath.Join(folder, strings.ToUpper(owner.ID)+".7."+hex),
		filepath.Join(folder, owner.ID[:34]+"zz.7."+hex),
		filepath.Join(folder, owner.ID+".7."+strings.Repeat("A", 32)),
	} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"", owner.ID} {
		held, err := s.List(t.Context(), id)
		if err != nil || len(held) != 1 || held[0].Ref != ref || held[0].Owner != owner {
			t.Errorf("List(%q) = %v, %v, want only %s", id, held, err, ref)
		}
	}
	for _, id := range []string{"x", "../" + owner.ID, strings.ToUpper(owner.ID)} {
		if held, err := s.List(t.Context(), id); err != nil || len(held) != 0 {
			t.Errorf("List(%q) = %v, %v, want none", id, held, err)
		}
	}
}

func TestDeleteOfAForeignReferenceErrs(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "keys"))
	for _, ref := range []secret.Ref{"", "secret/data/vims/1", "../../../etc/passwd"} {
		if _, err := s.Delete(t.Context(), ref); err == nil {
			t.Errorf("Delete(%q) = nil, want an error", ref)
		}
	}
}

func TestDeleteOverwritesTheBlocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	f, err := os.Open(keyFile(dir, owner, ref)) // as a second name would, it shows what is left
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := s.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	var left [64]byte
	if n, _ := f.ReadAt(left[:], 0); !bytes.Equal(left[:n], make([]byte, 44)) {
		t.Errorf("%d bytes are left of the deleted key, want 44 zeros", n)
	}
}

func TestAVanishedFolderIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	if err := os.RemoveAll(filepath.Dir(keyFile(dir, owner, ref))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
	if _, err := s.Put(t.Context(), owner, newKey(t)); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("first Put = %v, want ErrUnavailable", err)
	}
	if _, err := s.Put(t.Context(), owner, newKey(t)); err != nil {
		t.Errorf("second Put = %v, want nil", err)
	}
}

func TestAVanishedDirectoryIsUnavailable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), newOwner(), newKey(t)); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Put = %v, want ErrUnavailable", err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("Check = %v, want ErrUnavailable", err)
	}
}

// A reader that Delete overtakes finds no key, never half of one.
func TestGetDuringDeleteIsNeverCorrupt(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "keys"))
	for range 30 {
		ref := mustPut(t, s, newOwner())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					_, err := s.Get(t.Context(), ref)
					if err == nil {
						continue
					}
					if !errors.Is(err, secret.ErrNotFound) {
						t.Errorf("Get = %v, want the key or ErrNotFound", err)
					}
					return
				}
			})
		}
		if _, err := s.Delete(t.Context(), ref); err != nil {
			t.Errorf("Delete = %v, want nil", err)
		}
		wg.Wait()
	}
}

// A key that is deleted between the opening of its file and the reading is not there;
// what anybody else did to the file is.
func TestKeyDeletedWhileItIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		unlinked bool
		want     error
	}{"deleted": {true, secret.ErrNotFound}, "overwritten": {false, secret.ErrCorrupt}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, make([]byte, 44), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if c.unlinked {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if key, err := keydir.Read(f); !errors.Is(err, c.want) || key != nil {
				t.Errorf("Read = %v, want %v", err, c.want)
			}
		})
	}
}

// A directory of keys that stands there already gets its mode; what stands in its place and
// is none, or leads elsewhere, is refused and left as it is.
func TestWhatStandsWhereKeysBelong(t *testing.T) {
	owner := newOwner()
	place := func(t *testing.T) (s *keydir.Store, shard string) {
		dir := filepath.Join(t.TempDir(), "keys")
		return mustOpen(t, dir), keyFile(dir, owner, "")
	}
	mode := func(t *testing.T, path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	t.Run("a directory of another mode", func(t *testing.T) {
		s, shard := place(t)
		if err := mkdir(shard, 0o750); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, owner)
		if got := mode(t, shard); got != 0o700 {
			t.Errorf("a directory of keys that was there has mode %04o, want 0700", got)
		}
	})
	t.Run("a file", func(t *testing.T) {
		s, shard := place(t)
		if err := os.WriteFile(shard, nil, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), owner, newKey(t)); err == nil || mode(t, shard) != 0o640 {
			t.Errorf("Put where a file stands: %v, its mode is %04o, was 0640", err, mode(t, shard))
		}
	})
	t.Run("a link", func(t *testing.T) {
		s, shard := place(t)
		elsewhere := t.TempDir()
		if err := errors.Join(os.Chmod(elsewhere, 0o750), os.Symlink(elsewhere, shard)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), owner, newKey(t)); err == nil || mode(t, elsewhere) != 0o750 {
			t.Errorf("Put where a link stands: %v, the mode of what it leads to is %04o, was 0750", err, mode(t, elsewhere))
		}
	})
}

//go:build unix

package keydir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// A directory that the system does not let us work in any more is unavailable to each call, and nothing is made up of it.
func TestADirectoryThatIsNotOursAnyMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := secret.Owner{ID: "11111111-2222-4333-8444-555555555555", Generation: 1}
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := s.Put(t.Context(), owner, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.root.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Put": func() error { _, err := s.Put(t.Context(), owner, key); return err }, "Get": func() error { _, err := s.Get(t.Context(), ref); return err },
		"List": func() error {
			held, err := s.List(t.Context(), "")
			if held != nil {
				t.Errorf("it lists %v", held)
			}
			return err
		},
		"List of one": func() error { _, err := s.List(t.Context(), owner.ID); return err },
		"Delete": func() error {
			erased, err := s.Delete(t.Context(), ref)
			if erased != "" {
				t.Errorf("it is erased %s", erased)
			}
			return err
		},
		"Check": func() error { return s.Check(t.Context()) }, "claim": s.claim, "sweep": s.sweep,
		"a look at who may read it": func() error { return checkPrivate(s.root.File, path) },
		"a read":                    func() error { _, err := read(s.root.File); return err },
	} {
		if err := call(); !errors.Is(err, secret.ErrUnavailable) || !errors.Is(err, os.ErrClosed) && !strings.Contains(err.Error(), "bad file descriptor") {
			t.Errorf("%s = %v, want that it is unavailable", name, err)
		}
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close of what is closed = %v", err)
	}
	if e, is := errors.AsType[*fs.PathError](s.root.mkdir("x")); !is || e.Op != "mkdir" {
		t.Errorf("mkdir in it = %v, want that it names the call", e)
	}
	if err := s.root.link("a", s.root, "b"); err == nil {
		t.Error("link in it succeeds")
	}
}

// What cannot be removed at the start is an error of Open, which names the directory; so is a path that is none.
func TestOpenOfWhatItCannotSweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if err := errors.Join(os.Mkdir(path, 0o700), os.Mkdir(filepath.Join(path, tempPrefix+"x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(path); s != nil || !errors.Is(err, secret.ErrUnavailable) || !strings.Contains(err.Error(), "opening key directory "+path) {
		t.Errorf("Open beside what cannot be removed = %v, %v", s, err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), strings.Repeat("x", 300))); !errors.Is(err, secret.ErrUnavailable) || !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("Open of a name that is too long = %v", err)
	}
}

// A file that can be opened and not read is unavailable, and no key that is corrupt.
func TestAFileThatIsNotRead(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := read(f); !errors.Is(err, secret.ErrUnavailable) || errors.Is(err, secret.ErrCorrupt) {
		t.Errorf("read = %v, want that it is unavailable", err)
	}
}

// ending is a context that ends after so many looks at it.
type ending struct {
	context.Context

	looks *int
}

func (e ending) Err() error {
	if *e.looks--; *e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A list is whole, or none: where the caller gives up, and where a folder is none.
func TestAListThatIsNotWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	const one, other, beside = "11111111-2222-4333-8444-5555555555aa", "11111111-2222-4333-8444-5555555555bb", "22222222-2222-4333-8444-5555555555aa"
	var refs []secret.Ref
	for _, id := range []string{one, other} {
		ref, err := s.Put(t.Context(), secret.Owner{ID: id, Generation: 1}, key)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for looks := range 4 {
		left := looks
		held, err := s.List(ending{t.Context(), &left}, "")
		if whole := looks == 3; whole != (err == nil) || whole != (len(held) == 2) || !whole && !errors.Is(err, context.Canceled) {
			t.Errorf("given up after %d looks: %d keys, %v", looks, len(held), err)
		}
	}
	// One VIM's keys are those of its id, and not of all in its folder.
	next, err := s.Put(t.Context(), secret.Owner{ID: beside, Generation: 1}, key)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := s.List(t.Context(), one); err != nil || len(held) != 1 || held[0].Ref != refs[0] {
		t.Errorf("beside a key of another in its folder: %v, %v", held, err)
	}
	if _, err := s.Delete(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	// A key in another folder than its own is not found by Get, and not listed.
	if err := os.Link(filepath.Join(path, "aa", string(refs[0])), filepath.Join(path, "bb", string(refs[0]))); err != nil {
		t.Fatal(err)
	}
	if held, err := s.List(t.Context(), ""); err != nil || len(held) != 2 {
		t.Errorf("beside a key in another folder: %v, %v", held, err)
	}
	// A folder that is a file holds nobody knows what.
	if err := os.WriteFile(filepath.Join(path, "cc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if held, err := s.List(t.Context(), ""); held != nil || !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("where a folder is a file: %v, %v", held, err)
	}
	if err := s.root.link("none", s.root, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second name for what is not there: %v", err)
	}
}

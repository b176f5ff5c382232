package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
)

const (
	canary = "canary-8c41b7d2"
	field  = "token"
	// stranger is the id of another owner.
	stranger = "7d7c2f0a-1f5e-4c53-8a55-0d6a3f2b9e10"
)

var owner = secret.Owner{ID: "0b8a1d5e-5a3f-4f83-9a36-1d5f5f0f7c11", Generation: 1}

// shelf is a key store whose operations can be told to fail.
type shelf struct {
	secret.KeyStore
	name                   string
	put, get, list, delete error
	asked                  []string
	last                   *secret.Key // that was put
}

func newShelf(t *testing.T, name string) *shelf {
	t.Helper()
	keys, err := keydir.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	return &shelf{KeyStore: keys, name: name}
}

func (s *shelf) Name() string { return s.name }

func (s *shelf) Put(ctx context.Context, o secret.Owner, k *secret.Key) (secret.Ref, error) {
	s.last = k
	if s.asked = append(s.asked, "put"); s.put != nil {
		return "", s.put
	}
	return s.KeyStore.Put(ctx, o, k)
}

func (s *shelf) Get(ctx context.Context, r secret.Ref) (*secret.Key, error) {
	if s.asked = append(s.asked, "get"); s.get != nil {
		return nil, s.get
	}
	return s.KeyStore.Get(ctx, r)
}

func (s *shelf) List(ctx context.Context, id string) ([]secret.Held, error) {
	if s.asked = append(s.asked, "list"); s.list != nil {
		return nil, s.list
	}
	return s.KeyStore.List(ctx, id)
}

func (s *shelf) Delete(ctx context.Context, r secret.Ref) (secret.Erasure, error) {
	if s.asked = append(s.asked, "delete"); s.delete != nil {
		return "", s.delete
	}
	return s.KeyStore.Delete(ctx, r)
}

func (s *shelf) count(t *testing.T, id string) int {
	t.Helper()
	held, err := s.KeyStore.List(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return len(held)
}

// bench is a ring of two key stores.
func bench(t *testing.T) (keyring.Ring, *shelf, *shelf) {
	t.Helper()
	one, two := newShelf(t, "one"), newShelf(t, "two")
	return keyring.Ring{one, two}, one, two
}

func mustSeal(t *testing.T, r keyring.Ring, o secret.Owner) keyring.Sealed {
	t.Helper()
	sealed, err := r.Seal(t.Context(), o, field, secret.NewText(canary))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func wantOpen(t *testing.T, r keyring.Ring, s keyring.Sealed) {
	t.Helper()
	if text, err := r.Open(t.Context(), owner, field, s); err != nil || text.Reveal() != canary {
		t.Errorf("Open of what is in %s = %v; it is the text: %t", s.KeyStore, err, text.Reveal() == canary)
	}
}

func TestNewKeysGoToTheFirstKeyStoreAndAllOpen(t *testing.T) {
	r, one, two := bench(t)
	first := mustSeal(t, r, owner)
	if first.KeyStore != "one" || strings.Contains(first.Text, canary) || one.count(t, owner.ID) != 1 || two.count(t, "") != 0 {
		t.Errorf("Seal = %+v; %d and %d keys", first, one.count(t, ""), two.count(t, ""))
	}
	second, err := r.Only("two")
	if err != nil {
		t.Fatal(err)
	}
	moved := mustSeal(t, second, owner)
	if moved.KeyStore != "two" || moved.Text == first.Text || two.count(t, owner.ID) != 1 {
		t.Errorf("Seal in the other = %+v; %d keys there", moved, two.count(t, ""))
	}
	wantOpen(t, r, first)
	wantOpen(t, r, moved)
	if all, err := r.Only(""); err != nil || all.Name() != "one" || len(all) != 1 {
		t.Errorf("Only of no name = %d, %v; want the first", len(all), err)
	}
}

func TestOneKeyOpensWhatElseIsSealedUnderIt(t *testing.T) {
	r, _, _ := bench(t)
	sealed, key, err := r.SealWithKey(t.Context(), owner, field, secret.NewText(canary))
	if err != nil {
		t.Fatal(err)
	}
	defer key.Clear()
	more, err := secret.Seal(key, owner, "more", secret.NewText("another"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := r.Key(t.Context(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Clear()
	if text, err := secret.Open(back, owner, "more", more); err != nil || text.Reveal() != "another" {
		t.Errorf("what else is sealed under the key: %v", err)
	}
}

// What was sealed for one field of one generation of one owner under one key opens for nothing else.
func TestNothingElseOpens(t *testing.T) {
	r, _, _ := bench(t)
	sealed, another := mustSeal(t, r, owner), mustSeal(t, r, owner)
	for name, c := range map[string]struct {
		owner secret.Owner
		field string
		from  func(*keyring.Sealed)
	}{
		"another owner":      {owner: secret.Owner{ID: stranger, Generation: 1}},
		"another generation": {owner: secret.Owner{ID: owner.ID, Generation: 2}},
		"no generation":      {owner: secret.Owner{ID: owner.ID}},
		"another field":      {field: "password"},
		"another key":        {from: func(s *keyring.Sealed) { s.Ref = another.Ref }},
		"another text":       {from: func(s *keyring.Sealed) { s.Text = "x" + s.Text }},
		"no text":            {from: func(s *keyring.Sealed) { s.Text = "" }},
		"no key":             {from: func(s *keyring.Sealed) { s.Ref = "" }},
		"the other store":    {from: func(s *keyring.Sealed) { s.KeyStore = "two" }},
	} {
		from, of, in := sealed, owner, field
		if c.owner.ID != "" {
			of = c.owner
		}
		if c.field != "" {
			in = c.field
		}
		if c.from != nil {
			c.from(&from)
		}
		text, err := r.Open(t.Context(), of, in, from)
		if !errors.Is(err, keyring.ErrLost) || errors.Is(err, keyring.ErrUnusable) || !text.Empty() || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: Open = %v, want ErrLost and no text", name, err)
		}
	}
	wantOpen(t, r, sealed)
}

// A key store that has lost a key is told from one that cannot be asked now, and says so by the same errors whatever was
// asked of it. A key that was not found is lost only where it was to be fetched.
func TestFaultsOfKeyStores(t *testing.T) {
	causes := map[error]error{
		secret.ErrNotFound: keyring.ErrLost, secret.ErrCorrupt: keyring.ErrLost,
		secret.ErrUnavailable: keyring.ErrUnusable, secret.ErrForbidden: keyring.ErrUnusable, errors.New("no route to host"): keyring.ErrUnusable,
	}
	for cause, fetching := range causes {
		r, one, _ := bench(t)
		sealed := mustSeal(t, r, owner)
		failing := fmt.Errorf("asking: %w", cause)
		one.put, one.get, one.list, one.delete = failing, failing, failing, failing
		_, putting := r.Seal(t.Context(), owner, field, secret.NewText(canary))
		if one.last.Encode() != nil {
			t.Errorf("a key that the key store did not take (%v) is left in memory", cause)
		}
		_, opening := r.Open(t.Context(), owner, field, sealed)
		_, getting := r.Key(t.Context(), sealed)
		for name, c := range map[string]struct{ err, want error }{
			"Seal": {putting, keyring.ErrUnusable}, "Open": {opening, fetching}, "Key": {getting, fetching},
			"Destroy": {r.Destroy(t.Context(), sealed), keyring.ErrUnusable}, "Drop": {r.Drop(t.Context(), owner.ID), keyring.ErrUnusable},
		} {
			both := errors.Is(c.err, keyring.ErrLost) && errors.Is(c.err, keyring.ErrUnusable)
			if !errors.Is(c.err, c.want) || both || !errors.Is(c.err, cause) || strings.Contains(c.err.Error(), canary) {
				t.Errorf("%s where the key store answers %q = %v, want %q", name, cause, c.err, c.want)
			}
		}
		one.put, one.get, one.list, one.delete = nil, nil, nil, nil
		wantOpen(t, r, sealed)
	}
}

// A text that cannot be sealed leaves no key.
func TestWhatCannotBeSealedLeavesNoKey(t *testing.T) {
	r, one, _ := bench(t)
	for name, c := range map[string]struct {
		owner secret.Owner
		text  string
	}{
		"too long": {owner, strings.Repeat(canary, secret.MaxPlaintext/len(canary)+1)},
		"no owner": {secret.Owner{}, canary},
	} {
		sealed, key, err := r.SealWithKey(t.Context(), c.owner, field, secret.NewText(c.text))
		if err == nil || sealed != (keyring.Sealed{}) || key != nil || one.count(t, "") != 0 || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: SealWithKey = %+v, %v; %d keys", name, sealed, err, one.count(t, ""))
		}
	}
}

func TestAKeyStoreThatIsNotConfigured(t *testing.T) {
	r, one, two := bench(t)
	sealed := mustSeal(t, r, owner)
	sealed.KeyStore = "gone"
	_, only := r.Only("gone")
	_, opening := r.Open(t.Context(), owner, field, sealed)
	for name, err := range map[string]error{"Only": only, "Open": opening, "Destroy": r.Destroy(t.Context(), sealed)} {
		var unknown *keyring.UnknownError
		if !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"one", "two"}) || errors.Is(err, keyring.ErrLost) {
			t.Errorf("%s = %v, want an UnknownError", name, err)
		}
	}
	if slices.Contains(one.asked, "get") || slices.Contains(one.asked, "delete") || len(two.asked) != 0 {
		t.Errorf("others were asked: %q, %q", one.asked, two.asked)
	}
}

// Drop destroys the keys of all generations of one owner in every key store, and no other's; again, it finds nothing.
func TestDropIsIdempotent(t *testing.T) {
	r, one, two := bench(t)
	other := mustSeal(t, r, secret.Owner{ID: stranger, Generation: 1})
	mustSeal(t, r, owner)
	mustSeal(t, r, secret.Owner{ID: owner.ID, Generation: 2})
	mustSeal(t, r[1:], owner)
	for range 2 {
		if err := r.Drop(t.Context(), owner.ID); err != nil {
			t.Fatal(err)
		}
		if one.count(t, owner.ID) != 0 || two.count(t, owner.ID) != 0 || one.count(t, stranger) != 1 {
			t.Errorf("%d and %d keys are left, %d of another", one.count(t, owner.ID), two.count(t, owner.ID), one.count(t, stranger))
		}
	}
	for range 2 {
		if err := r.Destroy(t.Context(), other); err != nil || one.count(t, "") != 0 {
			t.Errorf("Destroy = %v, %d keys are left", err, one.count(t, ""))
		}
	}
}

// A key store that cannot be listed, or a key that cannot be destroyed, keeps none in another from its end, and the next
// call ends what is left.
func TestAKeyStoreThatIsAwayKeepsNoOtherFromBeingSwept(t *testing.T) {
	for name, c := range map[string]func(*shelf, error){
		"list": func(s *shelf, err error) { s.list = err }, "delete": func(s *shelf, err error) { s.delete = err },
	} {
		r, one, two := bench(t)
		mustSeal(t, r, owner)
		mustSeal(t, r[1:], owner)
		c(one, secret.ErrUnavailable)
		if err := r.Drop(t.Context(), owner.ID); !errors.Is(err, keyring.ErrUnusable) || one.count(t, "") != 1 || two.count(t, "") != 0 {
			t.Errorf("%s: Drop = %v; %d and %d keys, want 1 and 0", name, err, one.count(t, ""), two.count(t, ""))
		}
		c(one, nil)
		if err := r.Drop(t.Context(), owner.ID); err != nil || one.count(t, "") != 0 {
			t.Errorf("%s: Drop again = %v; %d keys", name, err, one.count(t, ""))
		}
	}
}

// Rows are read once all keys are listed: a key that a write puts and names between the two is not taken for one that a
// dead process left.
func TestSweepLeavesWhatRowsName(t *testing.T) {
	r, one, two := bench(t)
	named, elsewhere := mustSeal(t, r, owner), mustSeal(t, r[1:], owner)
	mustSeal(t, r, owner) // that no row names
	var late keyring.Sealed
	if err := r.Sweep(t.Context(), owner.ID, func() ([]keyring.Sealed, error) {
		late = mustSeal(t, r, owner)
		return []keyring.Sealed{named, {KeyStore: elsewhere.KeyStore, Ref: elsewhere.Ref}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []keyring.Sealed{named, elsewhere, late} {
		wantOpen(t, r, s)
	}
	if one.count(t, "") != 2 || two.count(t, "") != 1 {
		t.Errorf("%d and %d keys are left, want 2 and 1", one.count(t, ""), two.count(t, ""))
	}
	// The same reference in another key store is another key.
	if err := r.Sweep(t.Context(), owner.ID, func() ([]keyring.Sealed, error) {
		return []keyring.Sealed{{KeyStore: "two", Ref: named.Ref}}, nil
	}); err != nil || one.count(t, "") != 0 {
		t.Errorf("Sweep = %v, %d keys are left", err, one.count(t, ""))
	}
}

func TestSweepThatDoesNotKnowTheRowsDestroysNothing(t *testing.T) {
	r, one, _ := bench(t)
	mustSeal(t, r, owner)
	away := errors.New("the database is away")
	err := r.Sweep(t.Context(), owner.ID, func() ([]keyring.Sealed, error) { return nil, away })
	if !errors.Is(err, away) || one.count(t, "") != 1 {
		t.Errorf("Sweep = %v, %d keys are left", err, one.count(t, ""))
	}
}

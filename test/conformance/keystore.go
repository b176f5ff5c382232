package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// KeyStore checks a key store against the contract of [secret.KeyStore]. open
// returns a store ready for use, and closes it by t.Cleanup. It is called once
// per subtest; all its stores may be views of one system, which may hold other
// keys already, assign the references itself, and delete softly. What is elsewhere
// is left out: another run of the suite shows the same on this system.
//
// The suite also holds every error text, and everything that the store logs
// through the default loggers, against the key material it wrote.
func KeyStore(t *testing.T, open func(t *testing.T) secret.KeyStore, elsewhere ...string) {
	logs := captureLogs(t)
	var keys canaries

	test := func(name string, f func(t *testing.T, s keyStore)) {
		if slices.Contains(elsewhere, name) {
			return
		}
		t.Run(name, func(t *testing.T) {
			f(t, keyStore{KeyStore: open(t), keys: &keys})
		})
	}
	test("Name", func(t *testing.T, s keyStore) {
		if first, second := s.Name(), s.Name(); first == "" || first != second {
			t.Errorf("Name() = %q, then %q, want the same non-empty name each time", first, second)
		}
	})
	test("GetReturnsWhatWasPut", getReturnsWhatWasPut)
	test("OwnerRoundTrips", ownerRoundTrips)
	test("PutNeverOverwrites", putNeverOverwrites)
	test("ListByIDShowsThatVIMOnly", listByID)
	test("MissingIsNotFound", missingIsNotFound)
	test("DeletedIsGone", deletedIsGone)
	test("DeleteTwiceIsSuccess", deleteTwice)
	test("DeleteLeavesOtherKeys", deleteLeavesOthers)
	test("PutRefusesNoKey", putRefusesNoKey)
	test("PutRefusesNoOwner", putRefusesNoOwner)
	test("ConcurrentUse", concurrentUse)
	test("ConcurrentDeletes", concurrentDeletes)
	test("CancelledContextErrs", cancelledContext)
	test("CheckLeavesNothing", checkLeavesNothing)

	if found := keys.in(logs.String()); found != "" {
		t.Errorf("the store logged key material (%s)", found)
	}
}

// keyStore is a store under test that remembers each key it was given, and
// checks each error it gives.
type keyStore struct {
	secret.KeyStore
	keys *canaries
}

func newOwner() secret.Owner { return secret.Owner{ID: uuid.NewString(), Generation: 1} }

func (s keyStore) newKey(t *testing.T) *secret.Key {
	t.Helper()
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	s.keys.add(key)
	return key
}

// clean fails the test if the error holds a key, and returns the error.
func (s keyStore) clean(t *testing.T, err error) error {
	t.Helper()
	if err != nil {
		if found := s.keys.in(fmt.Sprintf("%v %+v %#v", err, err, err)); found != "" {
			t.Errorf("an error holds key material (%s)", found)
		}
	}
	return err
}

func (s keyStore) mustPut(t *testing.T, owner secret.Owner, key *secret.Key) secret.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), owner, key)
	if s.clean(t, err) != nil {
		t.Fatalf("Put(%v) = %v, want nil", owner, err)
	}
	if ref == "" || len(ref) > 256 {
		t.Fatalf("Put(%v) = reference of %d bytes, want 1 to 256", owner, len(ref))
	}
	if found := s.keys.in(string(ref)); found != "" {
		t.Fatalf("Put(%v) made a reference of key material (%s)", owner, found)
	}
	return ref
}

func (s keyStore) mustDelete(t *testing.T, ref secret.Ref) {
	t.Helper()
	worth, err := s.Delete(t.Context(), ref)
	if s.clean(t, err) != nil {
		t.Fatalf("Delete(%q) = %v, want nil", ref, err)
	}
	if worth != secret.Shredded && worth != secret.Recoverable {
		t.Errorf("Delete(%q) = %q, want %q or %q", ref, worth, secret.Shredded, secret.Recoverable)
	}
}

func (s keyStore) wantKey(t *testing.T, ref secret.Ref, want *secret.Key) {
	t.Helper()
	got, err := s.Get(t.Context(), ref)
	if s.clean(t, err) != nil {
		t.Fatalf("Get(%q) = %v, want the key that was put", ref, err)
	}
	if !got.Equal(want) {
		t.Errorf("Get(%q) is another key than was put", ref)
	}
}

func (s keyStore) wantNotFound(t *testing.T, ref secret.Ref) {
	t.Helper()
	key, err := s.Get(t.Context(), ref)
	if s.clean(t, err); !errors.Is(err, secret.ErrNotFound) || key != nil {
		t.Errorf("Get(%q) = a key: %t, error %v, want no key and ErrNotFound", ref, key != nil, err)
	}
}

func (s keyStore) mustList(t *testing.T, id string) []secret.Held {
	t.Helper()
	held, err := s.List(t.Context(), id)
	if s.clean(t, err) != nil {
		t.Fatalf("List(%q) = %v, want nil", id, err)
	}
	return held
}

func (s keyStore) wantListed(t *testing.T, id string, want ...secret.Held) {
	t.Helper()
	order := func(held []secret.Held) []secret.Held {
		held = slices.Clone(held)
		slices.SortFunc(held, func(a, b secret.Held) int {
			return strings.Compare(string(a.Ref), string(b.Ref))
		})
		return held
	}
	if diff := cmp.Diff(order(want), order(s.mustList(t, id))); diff != "" {
		t.Errorf("List(%q) differs (-want +got):\n%s", id, diff)
	}
}

func getReturnsWhatWasPut(t *testing.T, s keyStore) {
	key := s.newKey(t)
	ref := s.mustPut(t, newOwner(), key)
	s.wantKey(t, ref, key)
	// What one caller clears, the next one still gets.
	first, err := s.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	first.Clear()
	s.wantKey(t, ref, key)
}

func ownerRoundTrips(t *testing.T, s keyStore) {
	id := uuid.NewString()
	var want []secret.Held
	for _, generation := range []int64{1, 2, 10, 1<<63 - 1} {
		owner := secret.Owner{ID: id, Generation: generation}
		want = append(want, secret.Held{Owner: owner, Ref: s.mustPut(t, owner, s.newKey(t))})
	}
	s.wantListed(t, id, want...)
}

func putNeverOverwrites(t *testing.T, s keyStore) {
	owner := newOwner()
	a, b := s.newKey(t), s.newKey(t)
	refA, refB := s.mustPut(t, owner, a), s.mustPut(t, owner, b)
	if refA == refB {
		t.Fatalf("two Puts for one owner gave one reference, %q", refA)
	}
	s.wantKey(t, refA, a)
	s.wantKey(t, refB, b)
	s.wantListed(t, owner.ID, secret.Held{Owner: owner, Ref: refA}, secret.Held{Owner: owner, Ref: refB})
}

func listByID(t *testing.T, s keyStore) {
	mine, other := newOwner(), newOwner()
	heldMine := secret.Held{Owner: mine, Ref: s.mustPut(t, mine, s.newKey(t))}
	heldOther := secret.Held{Owner: other, Ref: s.mustPut(t, other, s.newKey(t))}
	s.wantListed(t, mine.ID, heldMine)
	s.wantListed(t, other.ID, heldOther)
	s.wantListed(t, uuid.NewString())
	all := s.mustList(t, "")
	for _, want := range []secret.Held{heldMine, heldOther} {
		if n := count(all, want); n != 1 {
			t.Errorf("List of all shows %v %d times, want once", want, n)
		}
	}
}

func count(held []secret.Held, want secret.Held) (n int) {
	for _, h := range held {
		if h == want {
			n++
		}
	}
	return n
}

func missingIsNotFound(t *testing.T, s keyStore) {
	s.wantNotFound(t, "")
	s.wantNotFound(t, "no-such-key")
	s.wantNotFound(t, "../../etc/passwd")
	s.wantNotFound(t, secret.Ref(uuid.NewString()))
}

func deletedIsGone(t *testing.T, s keyStore) {
	owner := newOwner()
	ref := s.mustPut(t, owner, s.newKey(t))
	s.mustDelete(t, ref)
	s.wantNotFound(t, ref)
	s.wantListed(t, owner.ID)
	for _, h := range s.mustList(t, "") {
		if h.Ref == ref {
			t.Errorf("List of all shows %v after its deletion", h)
		}
	}
	// The owner can have a key again.
	key := s.newKey(t)
	again := s.mustPut(t, owner, key)
	s.wantKey(t, again, key)
	s.wantNotFound(t, ref)
}

func deleteTwice(t *testing.T, s keyStore) {
	ref := s.mustPut(t, newOwner(), s.newKey(t))
	s.mustDelete(t, ref)
	s.mustDelete(t, ref)
	s.wantNotFound(t, ref)
}

func deleteLeavesOthers(t *testing.T, s keyStore) {
	owner := newOwner()
	keep := s.newKey(t)
	kept := s.mustPut(t, owner, keep)
	s.mustDelete(t, s.mustPut(t, owner, s.newKey(t)))
	s.wantKey(t, kept, keep)
	s.wantListed(t, owner.ID, secret.Held{Owner: owner, Ref: kept})
}

func putRefusesNoKey(t *testing.T, s keyStore) {
	owner := newOwner()
	cleared := s.newKey(t)
	cleared.Clear()
	for name, key := range map[string]*secret.Key{"nil": nil, "zero": {}, "cleared": cleared} {
		if ref, err := s.Put(t.Context(), owner, key); s.clean(t, err) == nil {
			t.Errorf("Put of a %s key = %q, want an error", name, ref)
		}
	}
	s.wantListed(t, owner.ID)
}

func putRefusesNoOwner(t *testing.T, s keyStore) {
	for _, owner := range []secret.Owner{
		{},
		{Generation: 1},
		{ID: uuid.NewString()},
		{ID: uuid.NewString(), Generation: -1},
		{ID: "../" + uuid.NewString(), Generation: 1},
	} {
		if ref, err := s.Put(t.Context(), owner, s.newKey(t)); s.clean(t, err) == nil {
			t.Errorf("Put(%+v) = %q, want an error", owner, ref)
		}
	}
}

func concurrentUse(t *testing.T, s keyStore) {
	const workers, rounds = 8, 5
	owner := newOwner() // one for all, so that they get in each other's way
	var mu sync.Mutex
	var kept []secret.Held
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for round := range rounds {
				key, err := secret.NewKey()
				if err != nil {
					t.Error(err)
					return
				}
				s.keys.add(key)
				ref, err := s.Put(t.Context(), owner, key)
				if s.clean(t, err) != nil {
					t.Errorf("Put = %v, want nil", err)
					return
				}
				if got, err := s.Get(t.Context(), ref); s.clean(t, err) != nil || !got.Equal(key) {
					t.Errorf("Get = error %v, same key: %t", err, got.Equal(key))
				}
				if _, err := s.List(t.Context(), owner.ID); s.clean(t, err) != nil {
					t.Errorf("List = %v, want nil", err)
				}
				if round%2 == 0 {
					mu.Lock()
					kept = append(kept, secret.Held{Owner: owner, Ref: ref})
					mu.Unlock()
				} else if _, err := s.Delete(t.Context(), ref); s.clean(t, err) != nil {
					t.Errorf("Delete = %v, want nil", err)
				}
			}
		})
	}
	wg.Wait()
	s.wantListed(t, owner.ID, kept...)
}

func concurrentDeletes(t *testing.T, s keyStore) {
	ref := s.mustPut(t, newOwner(), s.newKey(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := s.Delete(t.Context(), ref); s.clean(t, err) != nil {
				t.Errorf("Delete = %v, want nil", err)
			}
		})
	}
	wg.Go(func() {
		if _, err := s.Get(t.Context(), ref); s.clean(t, err) != nil && !errors.Is(err, secret.ErrNotFound) {
			t.Errorf("Get during Delete = %v, want nil or ErrNotFound", err)
		}
	})
	wg.Wait()
	s.wantNotFound(t, ref)
}

func cancelledContext(t *testing.T, s keyStore) {
	owner := newOwner()
	key := s.newKey(t)
	ref := s.mustPut(t, owner, key)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func() error{
		"Put":    func() error { _, err := s.Put(ctx, owner, s.newKey(t)); return err },
		"Get":    func() error { _, err := s.Get(ctx, ref); return err },
		"Delete": func() error { _, err := s.Delete(ctx, ref); return err },
		"List":   func() error { _, err := s.List(ctx, ""); return err },
		"Check":  func() error { return s.Check(ctx) },
	}
	for name, call := range calls {
		err := s.clean(t, call())
		if err == nil {
			t.Errorf("%s with a cancelled context = nil, want an error", name)
		}
		if errors.Is(err, secret.ErrNotFound) || errors.Is(err, secret.ErrCorrupt) {
			t.Errorf("%s with a cancelled context = %v, which says something of the key", name, err)
		}
	}
	s.wantKey(t, ref, key)
	s.wantListed(t, owner.ID, secret.Held{Owner: owner, Ref: ref})
}

func checkLeavesNothing(t *testing.T, s keyStore) {
	before := len(s.mustList(t, ""))
	for range 2 {
		if err := s.clean(t, s.Check(t.Context())); err != nil {
			t.Fatalf("Check() = %v, want nil", err)
		}
	}
	if after := len(s.mustList(t, "")); after != before {
		t.Errorf("List of all shows %d keys after Check, %d before", after, before)
	}
}

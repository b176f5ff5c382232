package tree_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

type key struct {
	level int
	index int64
}

// rows keeps tiles as a store does.
type rows struct {
	tiles map[key][]byte
	err   error
}

func (r *rows) Tiles(_ context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	var found []tree.Tile
	for _, w := range wanted {
		if h, ok := r.tiles[key{w.Level, w.Index}]; ok {
			found = append(found, tree.Tile{Level: w.Level, Index: w.Index, Hashes: h})
		}
	}
	return found, r.err
}

func (r *rows) keep(tiles []tree.Tile) {
	for _, t := range tiles {
		r.tiles[key{t.Level, t.Index}] = t.Hashes
	}
}

func leaf(i int) tree.Hash { return tree.Leaf(fmt.Appendf(nil, "entry %d", i)) }

// grown is a log whose tree grew by batches of those sizes, with each of its states.
func grown(t *testing.T, batches ...int) (*rows, []tree.Head) {
	t.Helper()
	r, now := &rows{tiles: map[key][]byte{}}, tree.Empty()
	states := []tree.Head{now}
	for _, n := range batches {
		var leaves []tree.Hash
		for i := range n {
			leaves = append(leaves, leaf(int(now.Size)+i))
		}
		next, tiles, err := tree.Grow(t.Context(), r, now, leaves)
		if err != nil {
			t.Fatalf("growing from %d by %d: %v", now.Size, n, err)
		}
		r.keep(tiles)
		now = next
		states = append(states, now)
	}
	return r, states
}

// Another implementation of RFC 6962 takes every proof of ours.
func TestProofsHoldElsewhere(t *testing.T) {
	r, states := grown(t, 1, 1, 3, 250, 1, 0, 700, 70)
	last := states[len(states)-1]
	for _, index := range []int64{0, 1, 4, 254, 255, 256, 957, 1024, last.Size - 1} {
		hashes, err := tree.ProveInclusion(t.Context(), r, last, index)
		if err != nil {
			t.Fatalf("proving %d of %d: %v", index, last.Size, err)
		}
		l := leaf(int(index))
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(last.Size), l[:], raw(hashes), last.Root[:]); err != nil {
			t.Errorf("another implementation refuses the proof of %d: %v", index, err)
		}
		if err := tree.CheckInclusion(last, index, l, hashes); err != nil {
			t.Errorf("CheckInclusion(%d) = %v", index, err)
		}
		if err := tree.CheckInclusion(last, index, leaf(int(index)+1), hashes); !errors.Is(err, tree.ErrUnproven) {
			t.Errorf("CheckInclusion(%d) of another leaf = %v, want ErrUnproven", index, err)
		}
	}
	for _, s := range states {
		if s.Size == 0 {
			continue
		}
		hashes, err := tree.ProveConsistency(t.Context(), r, last, s.Size)
		if err != nil {
			t.Fatalf("proving consistency with %d: %v", s.Size, err)
		}
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(s.Size), uint64(last.Size), raw(hashes), s.Root[:], last.Root[:]); err != nil {
			t.Errorf("another implementation refuses the proof from %d: %v", s.Size, err)
		}
		if err := tree.CheckConsistency(last, s, hashes); err != nil {
			t.Errorf("CheckConsistency from %d = %v", s.Size, err)
		}
		rewritten := tree.Head{Size: s.Size, Root: leaf(7)}
		if err := tree.CheckConsistency(last, rewritten, hashes); !errors.Is(err, tree.ErrUnproven) {
			t.Errorf("CheckConsistency with another log of size %d = %v, want ErrUnproven", s.Size, err)
		}
	}
}

// A tree as it was is proven from the tiles of one that has grown, at each size that it had.
func TestEarlierTreesAreProvenFromLaterTiles(t *testing.T) {
	r, states := grown(t, 1, 254, 1, 256, 1, 300, 700)
	for _, was := range states[1:] {
		for _, index := range []int64{0, was.Size / 2, was.Size - 1} {
			hashes, err := tree.ProveInclusion(t.Context(), r, was, index)
			if err == nil {
				err = tree.CheckInclusion(was, index, leaf(int(index)), hashes)
			}
			if err != nil {
				t.Errorf("entry %d of the tree of size %d: %v", index, was.Size, err)
			}
		}
		for _, earlier := range states {
			if earlier.Size > was.Size {
				break
			}
			if at, err := tree.At(t.Context(), r, was, earlier.Size); err != nil || at != earlier {
				t.Errorf("the tree of size %d at %d = %v, %v", was.Size, earlier.Size, at, err)
			}
		}
	}
}

func raw(hashes []tree.Hash) [][]byte {
	out := make([][]byte, len(hashes))
	for i := range hashes {
		out[i] = hashes[i][:]
	}
	return out
}

func TestBatchesMakeTheSameTree(t *testing.T) {
	_, one := grown(t, 600)
	_, many := grown(t, 1, 254, 1, 1, 255, 88)
	if a, b := one[len(one)-1], many[len(many)-1]; a != b {
		t.Errorf("600 leaves at once make %v, in batches %v", a, b)
	}
}

func TestTornTreesDoNotGrow(t *testing.T) {
	for name, tear := range map[string]func(*rows){
		"a tile is gone":    func(r *rows) { delete(r.tiles, key{0, 1}) },
		"a tile is cut":     func(r *rows) { r.tiles[key{0, 1}] = r.tiles[key{0, 1}][:32] },
		"a hash is changed": func(r *rows) { r.tiles[key{0, 1}][40] ^= 1 },
	} {
		for _, size := range []int{300, 301} { // the leaf after an even number of leaves is joined with one that is stored
			r, states := grown(t, size)
			tear(r)
			if _, _, err := tree.Grow(t.Context(), r, states[1], []tree.Hash{leaf(1)}); !errors.Is(err, tree.ErrTorn) {
				t.Errorf("%s: Grow from %d = %v, want ErrTorn", name, size, err)
			}
		}
	}
	r, states := grown(t, 300)
	r.err = errors.New("the store is away")
	if _, _, err := tree.Grow(t.Context(), r, states[1], []tree.Hash{leaf(1)}); !errors.Is(err, r.err) || errors.Is(err, tree.ErrTorn) {
		t.Errorf("Grow without the store = %v, want the store's own error", err)
	}
}

func TestCheckpoints(t *testing.T) {
	pair := func() (note.Signer, note.Verifier) {
		private, public, err := note.GenerateKey(rand.Reader, "vimbroker.example/audit")
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := note.NewVerifier(public)
		if err != nil {
			t.Fatal(err)
		}
		return signer, verifier
	}
	const origin = "vimbroker.example/audit"
	oldSigner, oldVerifier := pair()
	newSigner, newVerifier := pair()
	_, states := grown(t, 42)
	signed, err := tree.Sign(origin, states[1], oldSigner, newSigner)
	if err != nil {
		t.Fatal(err)
	}
	for name, trusted := range map[string]note.Verifier{"the key before": oldVerifier, "the key after": newVerifier} {
		if s, err := tree.OpenCheckpoint(origin, signed, trusted); err != nil || s != states[1] {
			t.Errorf("with %s: OpenCheckpoint = %v, %v, want %v", name, s, err, states[1])
		}
	}
	_, stranger := pair()
	only, err := tree.Sign(origin, states[1], oldSigner)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		origin, signed string
		trusted        note.Verifier
	}{
		"another key":          {origin, only, newVerifier},
		"a stranger's key":     {origin, signed, stranger},
		"another origin":       {"elsewhere", signed, oldVerifier},
		"another size":         {origin, strings.Replace(signed, "\n42\n", "\n43\n", 1), oldVerifier},
		"no signature":         {origin, signed[:strings.Index(signed, "\n\n")+2], oldVerifier},
		"nothing":              {origin, "", oldVerifier},
		"far too long":         {origin, signed + strings.Repeat("— x y\n", 10000), oldVerifier},
		"a size with zeros":    {origin, sign(t, origin+"\n042\n"+rootOf(signed)+"\n", oldSigner), oldVerifier},
		"a short root":         {origin, sign(t, origin+"\n42\nAAAA\n", oldSigner), oldVerifier},
		"another's, with more": {origin, sign(t, "other\n42\n"+rootOf(signed)+"\nmore\n", oldSigner), oldVerifier},
		"too few lines":        {origin, sign(t, origin+"\n42\n", oldSigner), oldVerifier},
		"no number":            {origin, sign(t, origin+"\n4x\n"+rootOf(signed)+"\n", oldSigner), oldVerifier},
		"no base64":            {origin, sign(t, origin+"\n42\n!"+rootOf(signed)+"\n", oldSigner), oldVerifier},
		"more than a root":     {origin, sign(t, origin+"\n42\n"+rootOf(signed)+"!\n", oldSigner), oldVerifier},
		"a negative size":      {origin, sign(t, origin+"\n-1\n"+rootOf(signed)+"\n", oldSigner), oldVerifier},
	} {
		if s, err := tree.OpenCheckpoint(c.origin, c.signed, c.trusted); !errors.Is(err, tree.ErrUnsigned) {
			t.Errorf("%s: OpenCheckpoint = %v, %v, want ErrUnsigned", name, s, err)
		}
	}
	if s, err := tree.OpenCheckpoint(origin, sign(t, origin+"\n0\n"+rootOf(signed)+"\nmore\n", oldSigner), oldVerifier); err != nil || s.Size != 0 {
		t.Errorf("a checkpoint of no entries with an extension = %v, %v", s, err)
	}
	longest := sign(t, origin+"\n42\n"+rootOf(signed)+"\nx\n", oldSigner)
	longest = sign(t, origin+"\n42\n"+rootOf(signed)+"\nx"+strings.Repeat("x", 16<<10-len(longest))+"\n", oldSigner)
	if s, err := tree.OpenCheckpoint(origin, longest, oldVerifier); err != nil || s != states[1] || len(longest) != 16<<10 {
		t.Errorf("the longest checkpoint, of %d bytes = %v, %v", len(longest), s, err)
	}
	for _, origin := range []string{"", "two words", "a+b", "a\nb"} {
		if _, err := tree.Sign(origin, states[1], oldSigner); err == nil {
			t.Errorf("the origin %q was signed", origin)
		}
	}
	if _, err := tree.Sign(origin, states[1], lockedSigner{oldSigner}); !errors.Is(err, errLocked) {
		t.Errorf("Sign with a key that cannot be used = %v", err)
	}
	if _, err := tree.Sign(origin, states[1]); err == nil {
		t.Error("a checkpoint was made without a signer")
	}
}

var errLocked = errors.New("the key is locked")

// lockedSigner is a key that cannot be used.
type lockedSigner struct{ note.Signer }

func (lockedSigner) Sign([]byte) ([]byte, error) { return nil, errLocked }

func rootOf(signed string) string { return strings.Split(signed, "\n")[2] }

func sign(t *testing.T, text string, s note.Signer) string {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: text}, s)
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// A size or an index that the tree does not have is refused by its number, and whatever reads a torn tree says so.
func TestWhatATreeDoesNotHaveIsNotProven(t *testing.T) {
	r, states := grown(t, 300)
	last, l := states[1], leaf(0)
	for _, index := range []int64{-1, last.Size, last.Size + 1} {
		if _, err := tree.ProveInclusion(t.Context(), r, last, index); err == nil || errors.Is(err, tree.ErrTorn) {
			t.Errorf("ProveInclusion(%d) = %v, want a word on the index", index, err)
		}
		if err := tree.CheckInclusion(last, index, l, nil); !errors.Is(err, tree.ErrUnproven) {
			t.Errorf("CheckInclusion(%d) = %v, want ErrUnproven", index, err)
		}
	}
	for _, size := range []int64{-1, 0, last.Size + 1} {
		if _, err := tree.ProveConsistency(t.Context(), r, last, size); err == nil || errors.Is(err, tree.ErrTorn) {
			t.Errorf("ProveConsistency(%d) = %v, want a word on the size", size, err)
		}
		if err := tree.CheckConsistency(last, tree.Head{Size: size, Root: last.Root}, nil); !errors.Is(err, tree.ErrUnproven) {
			t.Errorf("CheckConsistency(%d) = %v, want ErrUnproven", size, err)
		}
	}
	if err := tree.CheckConsistency(last, tree.Empty(), nil); err != nil {
		t.Errorf("CheckConsistency with the empty tree = %v", err)
	}
	for name, c := range map[string]struct {
		earlier tree.Head
		proof   []tree.Hash
	}{
		"a proof of the empty tree":   {tree.Empty(), []tree.Hash{l}},
		"another root of no size":     {tree.Head{Root: last.Root}, nil},
		"the empty tree's root later": {tree.Head{Size: 5, Root: tree.Empty().Root}, nil},
	} {
		if err := tree.CheckConsistency(last, c.earlier, c.proof); !errors.Is(err, tree.ErrUnproven) {
			t.Errorf("%s: CheckConsistency = %v, want ErrUnproven", name, err)
		}
	}
	lower := tree.Head{Size: -1}
	none := &rows{tiles: map[key][]byte{}}
	for name, ask := range map[string]func(r *rows, s tree.Head) error{
		"Grow": func(r *rows, s tree.Head) error {
			_, _, err := tree.Grow(t.Context(), r, s, []tree.Hash{l})
			return err
		},
		"ProveInclusion": func(r *rows, s tree.Head) error {
			_, err := tree.ProveInclusion(t.Context(), r, s, 7)
			return err
		},
		"ProveConsistency": func(r *rows, s tree.Head) error {
			_, err := tree.ProveConsistency(t.Context(), r, s, 7)
			return err
		},
		"Frontier": func(r *rows, s tree.Head) error {
			_, err := tree.Frontier(t.Context(), r, s, 7)
			return err
		},
		"At": func(r *rows, s tree.Head) error {
			_, err := tree.At(t.Context(), r, s, 7)
			return err
		},
	} {
		if err := ask(none, last); !errors.Is(err, tree.ErrTorn) {
			t.Errorf("%s without tiles = %v, want ErrTorn", name, err)
		}
		if err := ask(r, lower); err == nil || errors.Is(err, tree.ErrTorn) {
			t.Errorf("%s of a negative size = %v, want a word on the size", name, err)
		}
	}
}

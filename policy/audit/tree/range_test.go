package tree_test

import (
	"errors"
	"testing"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func TestABuilderGoesOnFromAFrontier(t *testing.T) {
	r, states := grown(t, 1, 2, 254, 300, 43)
	last := states[len(states)-1]
	for _, from := range states {
		frontier, err := tree.Frontier(t.Context(), r, last, from.Size)
		if err != nil {
			t.Fatalf("Frontier at %d = %v", from.Size, err)
		}
		b, err := tree.NewBuilder(from.Size, frontier)
		if err != nil {
			t.Fatalf("NewBuilder at %d = %v", from.Size, err)
		}
		if got := b.State(); got != from {
			t.Errorf("a builder at %d begins with %v, want %v", from.Size, got, from)
		}
		if at, err := tree.At(t.Context(), r, last, from.Size); err != nil || at != from {
			t.Errorf("At %d = %v, %v, want %v", from.Size, at, err, from)
		}
		for i := from.Size; i < last.Size; i++ {
			b.Append(leaf(int(i)))
		}
		if got := b.State(); got != last {
			t.Errorf("a builder from %d ends with %v, want %v", from.Size, got, last)
		}
	}
	if _, err := tree.NewBuilder(3, []tree.Hash{leaf(1)}); !errors.Is(err, tree.ErrUnproven) {
		t.Errorf("NewBuilder with too few hashes = %v, want ErrUnproven", err)
	}
	if _, err := tree.NewBuilder(-1, nil); !errors.Is(err, tree.ErrUnproven) {
		t.Errorf("NewBuilder of a negative size = %v, want ErrUnproven", err)
	}
	for _, size := range []int64{-1, last.Size + 1} {
		if _, err := tree.Frontier(t.Context(), r, last, size); err == nil {
			t.Errorf("a tree of %d leaves had a frontier at %d", last.Size, size)
		}
		if _, err := tree.At(t.Context(), r, last, size); err == nil {
			t.Errorf("a tree of %d leaves was one of %d", last.Size, size)
		}
	}
}

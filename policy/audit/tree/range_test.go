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
		if got, err := b.State(); err != nil || got != from {
			t.Errorf("a builder at %d begins with %v, %v, want %v", from.Size, got, err, from)
		}
		for i := from.Size; i < last.Size; i++ {
			if err := b.Append(leaf(int(i))); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := b.State(); err != nil || got != last {
			t.Errorf("a builder from %d ends with %v, %v, want %v", from.Size, got, err, last)
		}
	}
	if _, err := tree.NewBuilder(3, []tree.Hash{leaf(1)}); !errors.Is(err, tree.ErrUnproven) {
		t.Errorf("NewBuilder with too few hashes = %v, want ErrUnproven", err)
	}
	if _, err := tree.NewBuilder(-1, nil); !errors.Is(err, tree.ErrUnproven) {
		t.Errorf("NewBuilder of a negative size = %v, want ErrUnproven", err)
	}
	if _, err := tree.Frontier(t.Context(), r, last, last.Size+1); err == nil {
		t.Error("a tree had a frontier that it never reached")
	}
}

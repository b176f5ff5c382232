package tree

import (
	"context"
	"fmt"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// Frontier returns the hashes from which a [Builder] continues a tree of a size: one
// for each bit of the size that is set.
func Frontier(ctx context.Context, tiles Tiles, s State, size int64) ([]Hash, error) {
	if size < 0 || size > s.Size {
		return nil, fmt.Errorf("the tree of size %d had no size %d", s.Size, size)
	}
	if size == 0 {
		return nil, nil
	}
	var indexes []int64
	for _, n := range compact.RangeNodes(0, uint64(size), nil) {
		indexes = append(indexes, tlog.StoredHashIndex(int(n.Level), int64(n.Index)))
	}
	stored, err := reader(ctx, tiles, s)
	if err != nil {
		return nil, err
	}
	hashes, err := stored.ReadHashes(indexes)
	if err != nil {
		return nil, torn(err)
	}
	return hashes, nil
}

// At is the tree at an earlier size.
func At(ctx context.Context, tiles Tiles, s State, size int64) (State, error) {
	frontier, err := Frontier(ctx, tiles, s, size)
	if err != nil {
		return State{}, err
	}
	b, err := NewBuilder(size, frontier)
	if err != nil {
		return State{}, err
	}
	return b.State()
}

// Builder computes the root of a tree from its leaves, in memory that does not grow
// with their number. It belongs to one goroutine.
type Builder struct{ known *compact.Range }

// NewBuilder continues a tree of a size from its frontier; a size of 0 has none. A
// frontier that cannot be one of that size is [ErrUnproven].
func NewBuilder(size int64, frontier []Hash) (*Builder, error) {
	hashes := make([][]byte, len(frontier))
	for i := range frontier {
		hashes[i] = frontier[i][:]
	}
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	known, err := factory.NewRange(0, uint64(max(size, 0)), hashes)
	if err != nil || size < 0 {
		return nil, ErrUnproven
	}
	return &Builder{known}, nil
}

// Append adds the next leaf.
func (b *Builder) Append(leaf Hash) error {
	if err := b.known.Append(leaf[:], nil); err != nil {
		return fmt.Errorf("adding leaf %d: %w", b.known.End(), err)
	}
	return nil
}

// State is the tree of all leaves so far.
func (b *Builder) State() (State, error) {
	if b.known.End() == 0 {
		return Empty(), nil
	}
	root, err := b.known.GetRootHash(nil)
	if err != nil {
		return State{}, fmt.Errorf("computing the root of %d leaves: %w", b.known.End(), err)
	}
	return State{Size: int64(b.known.End()), Root: Hash(root)}, nil
}

package tree

import (
	"context"
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrUnproven: a proof does not prove its claim.
var ErrUnproven = errors.New("the proof does not hold")

// ProveInclusion returns the hashes that prove, to a reader who trusts the root of s,
// that the leaf at an index from 0 is in the tree (RFC 6962, section 2.1.1).
func ProveInclusion(ctx context.Context, tiles Tiles, s Head, index int64) ([]Hash, error) {
	if index < 0 || index >= s.Size {
		return nil, fmt.Errorf("the tree has no leaf %d: its size is %d", index, s.Size)
	}
	proof, err := tlog.ProveRecord(s.Size, index, reader(ctx, tiles, s))
	if err != nil {
		return nil, torn(err)
	}
	return proof, nil
}

// CheckInclusion returns nil if the proof shows that the leaf stands at that index
// of the tree, and [ErrUnproven] otherwise.
func CheckInclusion(s Head, index int64, leaf Hash, proof []Hash) error {
	if index < 0 || index >= s.Size || tlog.CheckRecord(proof, s.Size, s.Root, index, leaf) != nil {
		return ErrUnproven
	}
	return nil
}

// ProveConsistency returns the hashes that prove, to a reader who trusts both roots,
// that a tree begins with the whole of an earlier one (RFC 6962, section 2.1.2).
func ProveConsistency(ctx context.Context, tiles Tiles, s Head, earlier int64) ([]Hash, error) {
	if earlier < 1 || earlier > s.Size {
		return nil, fmt.Errorf("the tree of size %d had no size %d", s.Size, earlier)
	}
	proof, err := tlog.ProveTree(s.Size, earlier, reader(ctx, tiles, s))
	if err != nil {
		return nil, torn(err)
	}
	return proof, nil
}

// CheckConsistency returns nil if the proof shows that s begins with the whole of
// the earlier tree, and [ErrUnproven] otherwise. Every tree begins with the empty one.
func CheckConsistency(s, earlier Head, proof []Hash) error {
	if earlier.Size == 0 && earlier.Root == Empty().Root && len(proof) == 0 {
		return nil
	}
	if earlier.Size < 1 || earlier.Size > s.Size || tlog.CheckTree(proof, s.Size, s.Root, earlier.Size, earlier.Root) != nil {
		return ErrUnproven
	}
	return nil
}

// Frontier returns the hashes from which a [Builder] continues a tree of a size: one
// for each bit of the size that is set.
func Frontier(ctx context.Context, tiles Tiles, s Head, size int64) ([]Hash, error) {
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
	hashes, err := reader(ctx, tiles, s).ReadHashes(indexes)
	if err != nil {
		return nil, torn(err)
	}
	return hashes, nil
}

// At is the tree at an earlier size.
func At(ctx context.Context, tiles Tiles, s Head, size int64) (Head, error) {
	frontier, err := Frontier(ctx, tiles, s, size)
	if err != nil {
		return Head{}, err
	}
	b, err := NewBuilder(size, frontier)
	if err != nil {
		return Head{}, err
	}
	return b.State(), nil
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

// Append adds the next leaf. A range that begins with the first leaf and is whole takes every one.
func (b *Builder) Append(leaf Hash) { _ = b.known.Append(leaf[:], nil) }

// State is the tree of all leaves so far.
func (b *Builder) State() Head {
	root, _ := b.known.GetRootHash(nil) // every range that begins with the first leaf has one
	if len(root) == 0 {
		return Empty()
	}
	return Head{Size: int64(b.known.End()), Root: Hash(root)}
}

package tree

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrUnproven: a proof does not prove its claim.
var ErrUnproven = errors.New("the proof does not hold")

// ProveInclusion returns the hashes that prove, to a reader who trusts the root of s,
// that the leaf at an index from 0 is in the tree (RFC 6962, section 2.1.1).
func ProveInclusion(ctx context.Context, tiles Tiles, s State, index int64) ([]Hash, error) {
	if index < 0 || index >= s.Size {
		return nil, fmt.Errorf("the tree has no leaf %d: its size is %d", index, s.Size)
	}
	stored, err := reader(ctx, tiles, s)
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveRecord(s.Size, index, stored)
	if err != nil {
		return nil, torn(err)
	}
	return proof, nil
}

// CheckInclusion returns nil if the proof shows that the leaf stands at that index
// of the tree, and [ErrUnproven] otherwise.
func CheckInclusion(s State, index int64, leaf Hash, proof []Hash) error {
	if index < 0 || index >= s.Size || tlog.CheckRecord(proof, s.Size, s.Root, index, leaf) != nil {
		return ErrUnproven
	}
	return nil
}

// ProveConsistency returns the hashes that prove, to a reader who trusts both roots,
// that a tree begins with the whole of an earlier one (RFC 6962, section 2.1.2).
func ProveConsistency(ctx context.Context, tiles Tiles, s State, earlier int64) ([]Hash, error) {
	if earlier < 1 || earlier > s.Size {
		return nil, fmt.Errorf("the tree of size %d had no size %d", s.Size, earlier)
	}
	stored, err := reader(ctx, tiles, s)
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveTree(s.Size, earlier, stored)
	if err != nil {
		return nil, torn(err)
	}
	return proof, nil
}

// CheckConsistency returns nil if the proof shows that s begins with the whole of
// the earlier tree, and [ErrUnproven] otherwise. Every tree begins with the empty one.
func CheckConsistency(s, earlier State, proof []Hash) error {
	if earlier.Size == 0 && earlier.Root == Empty().Root && len(proof) == 0 {
		return nil
	}
	if earlier.Size < 1 || earlier.Size > s.Size || tlog.CheckTree(proof, s.Size, s.Root, earlier.Size, earlier.Root) != nil {
		return ErrUnproven
	}
	return nil
}

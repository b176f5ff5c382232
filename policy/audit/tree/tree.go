// Package tree keeps a Merkle tree over a log that only grows (RFC 6962, by
// golang.org/x/mod/sumdb/tlog): a few hashes prove that an entry is in the log, and
// that a longer log continues a shorter one. A signed [Checkpoint] states the log's size
// and root. The package stores nothing itself: hashes are grouped into tiles, which a
// store keeps as rows.
package tree

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a SHA-256 hash of the tree.
type Hash = tlog.Hash

// Leaf returns the hash of one entry: SHA-256 over a zero byte and the entry's text.
func Leaf(text []byte) Hash { return tlog.RecordHash(text) }

// tileHeight makes tiles of 256 hashes, the height that c2sp.org/tlog-tiles fixes.
const tileHeight = 8

// Tile is a run of hashes of one level of the tree, 32 bytes each.
type Tile struct {
	Level int
	// Index counts the tiles of a level from 0.
	Index int64
	// Hashes holds at most 256 hashes. It only grows: a tile of more hashes begins
	// with those of the tile before.
	Hashes []byte
}

// Tiles reads the tiles of a tree. Its method answers with those of the wanted tiles
// that there are, in any order, each in its longest form.
type Tiles interface {
	Tiles(ctx context.Context, wanted []Tile) ([]Tile, error)
}

// Head is a tree at one size.
type Head struct {
	Size int64
	Root Hash
}

// Empty is the state of a log without entries (RFC 6962, section 2.1).
func Empty() Head {
	root, _ := tlog.TreeHash(0, nil)
	return Head{Root: root}
}

// ErrTorn: the tiles do not hold the tree that the state names. Something
// removed or altered them.
var ErrTorn = errors.New("the stored tree does not match its root")

// Grow adds leaves to a tree and returns its new state and the tiles to store:
// those that are new, and those that have grown. The tiles it reads are checked
// against from's root; a mismatch is [ErrTorn].
func Grow(ctx context.Context, tiles Tiles, from Head, leaves []Hash) (Head, []Tile, error) {
	if from.Size < 0 {
		return Head{}, nil, fmt.Errorf("a tree has no size %d", from.Size)
	}
	added := overlay{stored: reader(ctx, tiles, from), first: tlog.StoredHashCount(from.Size)}
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(from.Size+int64(i), leaf, &added)
		if err != nil {
			return Head{}, nil, torn(err)
		}
		added.hashes = append(added.hashes, hashes...)
	}
	root, err := tlog.TreeHash(from.Size+int64(len(leaves)), &added)
	if err != nil {
		return Head{}, nil, torn(err)
	}
	to, grown := Head{Size: from.Size + int64(len(leaves)), Root: root}, []Tile(nil)
	for _, t := range tlog.NewTiles(tileHeight, from.Size, to.Size) {
		data, err := tlog.ReadTileData(t, &added)
		if err != nil {
			return Head{}, nil, torn(err)
		}
		grown = append(grown, Tile{Level: t.L, Index: t.N, Hashes: data})
	}
	return to, grown, nil
}

// overlay reads hashes that are not stored yet, and the others from the store.
type overlay struct {
	stored tlog.HashReader
	first  int64 // the index of hashes[0]
	hashes []Hash
}

// ReadHashes implements [tlog.HashReader].
func (o *overlay) ReadHashes(indexes []int64) ([]Hash, error) {
	found := make([]Hash, len(indexes))
	var missing, places []int64
	for i, index := range indexes {
		if at := index - o.first; at >= 0 {
			if at >= int64(len(o.hashes)) {
				return nil, fmt.Errorf("no hash %d", index)
			}
			found[i] = o.hashes[at]
			continue
		}
		missing, places = append(missing, index), append(places, int64(i))
	}
	if len(missing) == 0 {
		return found, nil
	}
	stored, err := o.stored.ReadHashes(missing)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		found[place] = stored[i]
	}
	return found, nil
}

// reader reads the hashes of a tree out of its tiles, and checks each tile against the root.
func reader(ctx context.Context, tiles Tiles, s Head) tlog.HashReader {
	if s.Size == 0 {
		return tlog.HashReaderFunc(func([]int64) ([]Hash, error) { return nil, ErrTorn })
	}
	return tlog.TileHashReader(tlog.Tree{N: s.Size, Hash: s.Root}, &tileReader{ctx: ctx, tiles: tiles, known: map[place][]byte{}})
}

// tileReader lets tlog read our tiles, each once.
type tileReader struct {
	ctx   context.Context
	tiles Tiles
	known map[place][]byte
}

type place struct {
	level int
	index int64
}

// Height implements [tlog.TileReader].
func (r *tileReader) Height() int { return tileHeight }

// SaveTiles implements [tlog.TileReader]: the store has them already.
func (r *tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

// ReadTiles implements [tlog.TileReader].
func (r *tileReader) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	if err := r.fetch(wanted); err != nil {
		return nil, storeError{err}
	}
	data := make([][]byte, len(wanted))
	for i, t := range wanted {
		hashes, size := r.known[place{t.L, t.N}], t.W*tlog.HashSize
		if len(hashes) < size {
			return nil, fmt.Errorf("%w: tile %d of level %d is missing or cut", ErrTorn, t.N, t.L)
		}
		data[i] = hashes[:size]
	}
	return data, nil
}

// fetch reads those tiles that are not known yet.
func (r *tileReader) fetch(wanted []tlog.Tile) error {
	var unknown []Tile
	for _, t := range wanted {
		if _, ok := r.known[place{t.L, t.N}]; !ok {
			unknown = append(unknown, Tile{Level: t.L, Index: t.N})
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := r.tiles.Tiles(r.ctx, unknown)
	if err != nil {
		return err
	}
	for _, t := range found {
		r.known[place{t.Level, t.Index}] = t.Hashes
	}
	return nil
}

// storeError is an error of the store, on its way through tlog.
type storeError struct{ error }

// torn translates an error of tlog: it returns the store's own error unchanged; any other
// error says that the store does not hold the tree.
func torn(err error) error {
	if s, ok := errors.AsType[storeError](err); ok {
		return s.error
	}
	if errors.Is(err, ErrTorn) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTorn, err)
}

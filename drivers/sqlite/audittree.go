package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

const (
	// growEvery is how often the tree takes up new entries.
	growEvery = time.Second
	// growAtOnce bounds how many it takes up in one transaction.
	growAtOnce = 1000

	treeNow  = `SELECT size, root FROM audit_tree WHERE id = 1`
	treeTile = `SELECT level, number, hashes FROM audit_tiles WHERE level = ? AND number = ?`
)

var (
	readTree    = prepared(treeNow)
	readTile    = prepared(treeTile)
	following   = `SELECT ` + entryColumns + ` FROM audit_entries WHERE seq > ? ORDER BY seq LIMIT ?+0`
	readUngrown = prepared(following)
	storeTree   = prepared(`UPDATE audit_tree SET size = ?, root = ? WHERE id = 1`)
	storeTile   = prepared(`INSERT INTO audit_tiles (level, number, hashes) VALUES (?, ?, ?)
		ON CONFLICT (level, number) DO UPDATE SET hashes = excluded.hashes`)
)

var _ audit.Log = (*Store)(nil)

// Grow implements [audit.Log]. An entry has its place as soon as it is written.
func (s *Store) Grow(ctx context.Context) error {
	for grown := growAtOnce; grown == growAtOnce; {
		var err error
		if grown, err = s.growTree(ctx); err != nil {
			return fmt.Errorf("growing the tree of the audit log: %w", err)
		}
	}
	return nil
}

// EntriesAfter implements [audit.Log].
func (s *Store) EntriesAfter(ctx context.Context, seq int64, limit int) ([]audit.Entry, error) {
	found, err := s.query(ctx, following, seq, limit)
	entries, err := collect(found, err, scanEntry)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return entries, nil
}

func (s *Store) growTree(ctx context.Context) (grown int, err error) {
	err = s.write(ctx, func(t txn) error {
		from, err := scanTree(t.queryRow(readTree))
		if err != nil {
			return err
		}
		found, err := t.query(readUngrown, from.Size, growAtOnce)
		entries, err := collect(found, err, scanEntry)
		if err != nil || len(entries) == 0 {
			return err
		}
		to, tiles, err := audit.Grown(ctx, t, from, entries)
		if err != nil {
			return err
		}
		for _, tile := range tiles {
			if _, err := t.exec(storeTile, tile.Level, tile.Index, tile.Hashes); err != nil {
				return err
			}
		}
		grown = len(entries)
		_, err = t.exec(storeTree, to.Size, to.Root[:])
		return err
	})
	return grown, err
}

func scanTree(row interface{ Scan(...any) error }) (tree.State, error) {
	var s tree.State
	var root []byte
	err := translate(row.Scan(&s.Size, &root))
	if err == nil && copy(s.Root[:], root) != len(s.Root) {
		err = tree.ErrTorn
	}
	return s, err
}

func scanTile(row *sql.Rows) (t tree.Tile, err error) {
	return t, row.Scan(&t.Level, &t.Index, &t.Hashes)
}

// Tiles implements [tree.Tiles] in a transaction.
func (t txn) Tiles(_ context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	return eachTile(wanted, func(w tree.Tile) (*sql.Rows, error) { return t.query(readTile, w.Level, w.Index) })
}

// Tiles implements [tree.Tiles].
func (s *Store) Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	tiles, err := eachTile(wanted, func(w tree.Tile) (*sql.Rows, error) { return s.query(ctx, treeTile, w.Level, w.Index) })
	if err != nil {
		return nil, fmt.Errorf("reading the tree of the audit log: %w", err)
	}
	return tiles, nil
}

func eachTile(wanted []tree.Tile, read func(tree.Tile) (*sql.Rows, error)) ([]tree.Tile, error) {
	var tiles []tree.Tile
	for _, w := range wanted {
		found, err := read(w)
		some, err := collect(found, err, scanTile)
		if err != nil {
			return nil, err
		}
		tiles = append(tiles, some...)
	}
	return tiles, nil
}

// Tree implements [audit.Log].
func (s *Store) Tree(ctx context.Context) (tree.State, error) {
	found, err := s.query(ctx, treeNow)
	states, err := collect(found, err, func(r *sql.Rows) (tree.State, error) { return scanTree(r) })
	state, err := rows.First("audit tree", states, err)
	if err != nil {
		return tree.State{}, fmt.Errorf("reading the tree of the audit log: %w", err)
	}
	return state, nil
}

// keepGrowing takes new entries up into the tree until ctx ends.
func (s *Store) keepGrowing(ctx context.Context, log *slog.Logger) {
	audit.Keep(ctx, growEvery, log, func(ctx context.Context) error {
		if !s.ungrown(ctx) {
			return nil
		}
		_, err := s.growTree(ctx)
		return err
	})
}

// ungrown reports whether there may be entries that the tree does not hold: a write
// for nothing would wait for the disk all the same.
func (s *Store) ungrown(ctx context.Context) bool {
	found, err := s.query(ctx, `SELECT EXISTS (SELECT 1 FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1))`)
	some, err := collect(found, err, func(r *sql.Rows) (is bool, err error) { return is, r.Scan(&is) })
	return err != nil || some[0]
}

package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// growAtOnce bounds how many entries the tree takes up in one transaction.
const growAtOnce = 2000

var (
	following = statement(`SELECT ` + rows.EntryColumns.Names() + ` FROM audit_entries WHERE seq > ?1 ORDER BY seq LIMIT ?2`)
	readTree  = statement(`SELECT size, root FROM audit_tree WHERE id = 1`)
	storeTree = statement(`UPDATE audit_tree SET size = ?1, root = ?2 WHERE id = 1`)
	storeTile = statement(`INSERT INTO audit_tiles (level, number, hashes) VALUES (?1, ?2, ?3)
		ON CONFLICT (level, number) DO UPDATE SET hashes = excluded.hashes`)
	readTiles = statement(either(
		`SELECT level, number, hashes FROM audit_tiles WHERE (level, number) IN (SELECT * FROM unnest(?1::bigint[], ?2::bigint[]))`,
		`SELECT level, number, hashes FROM json_each(?1) AS l JOIN json_each(?2) AS n ON n.key = l.key
		CROSS JOIN audit_tiles ON level = l.value AND number = n.value`))
)

// oldestUngrown is when the first entry was written that is not in the tree.
var oldestUngrown = statement(`SELECT time FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1) ORDER BY seq LIMIT 1`)

// Behind implements [audit.Log], for entries that have their place.
func (s *Tables) Behind(ctx context.Context) (time.Duration, error) {
	oldest, err := read(ctx, s, scalar[time.Time], oldestUngrown)
	if err != nil || len(oldest) == 0 {
		return 0, doing(err, "looking how far the audit log is behind")
	}
	return max(0, s.db.Now().Sub(oldest[0])), nil
}

// Entries returns what q selects, newest first.
func (s *Tables) Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	text, args, err := s.db.EntryQuery(ctx, q)
	if err == nil {
		var entries []audit.Entry
		if entries, err = read(ctx, s, scanEntry, text, args...); err == nil {
			return entries, nil
		}
	}
	return nil, doing(err, "reading the audit log")
}

func scanEntry(row Row) (audit.Entry, error) {
	var e audit.Entry
	err := row.Spare(&e.Damaged, rows.EntryColumns.Fields(&e)...)
	if len(e.Detail) == 0 {
		e.Detail = nil
	}
	return e, err
}

// EntriesAfter implements [audit.Log].
func (s *Tables) EntriesAfter(ctx context.Context, seq int64, limit int) ([]audit.Entry, error) {
	entries, err := lookUp(ctx, s, scanEntry, following, seq, limit)
	return entries, doing(err, "reading the audit log")
}

// Grow implements [audit.Log], for entries that have their place.
func (s *Tables) Grow(ctx context.Context) error {
	for grown := growAtOnce; grown == growAtOnce; {
		var err error
		if grown, err = s.GrowTree(ctx, true); err != nil {
			return doing(err, "growing the tree of the audit log")
		}
	}
	return nil
}

// GrowTree adds entries that have their place to the tree. Where another process does and it is not to wait, there is
// nothing to do.
func (s *Tables) GrowTree(ctx context.Context, wait bool) (grown int, err error) {
	err = s.change(ctx, func(t Tx) error {
		grown = 0
		if err := t.HoldLog(wait); err != nil {
			return err
		}
		states, err := query(t, scanTree, readTree)
		from, err := rows.First("audit tree", states, err)
		if err != nil {
			return err
		}
		entries, err := query(t, scanEntry, following, from.Size, growAtOnce)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return ErrNothing
		}
		to, tiles, err := audit.Grown(ctx, t, from, entries)
		if err != nil {
			return err
		}
		for _, tile := range tiles {
			t.queue(storeTile, tile.Level, tile.Index, tile.Hashes)
		}
		t.queue(storeTree, to.Size, to.Root[:])
		grown = len(entries)
		return nil
	})
	return grown, err
}

func scanTree(row Row) (tree.Head, error) {
	var s tree.Head
	var root []byte
	err := row.Scan(&s.Size, &root)
	if err == nil && copy(s.Root[:], root) != len(s.Root) {
		err = tree.ErrTorn
	}
	return s, err
}

func scanTile(row Row) (t tree.Tile, err error) {
	return t, row.Scan(&t.Level, &t.Index, &t.Hashes)
}

// tileArgs are the arguments of readTiles.
func tileArgs(wanted []tree.Tile) []any {
	levels, numbers := make([]int64, len(wanted)), make([]int64, len(wanted))
	for i, w := range wanted {
		levels[i], numbers[i] = int64(w.Level), w.Index
	}
	return []any{levels, numbers}
}

// Tiles implements [tree.Tiles] in a transaction.
func (t Tx) Tiles(_ context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	return query(t, scanTile, readTiles, tileArgs(wanted)...)
}

// Tiles implements [tree.Tiles].
func (s *Tables) Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	tiles, err := lookUp(ctx, s, scanTile, readTiles, tileArgs(wanted)...)
	return tiles, doing(err, "reading the tree of the audit log")
}

// Tree implements [audit.Log].
func (s *Tables) Tree(ctx context.Context) (tree.Head, error) {
	states, err := lookUp(ctx, s, scanTree, readTree)
	state, err := rows.First("audit tree", states, err)
	return state, doing(err, "reading the tree of the audit log")
}

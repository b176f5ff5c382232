package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// auditGuards are the triggers and constraints that keep the audit log from being changed
// by a slip, and make it take more than one statement to change it by intent.
var auditGuards = map[string][]string{
	"audit_checkpoints": {"audit_checkpoint_once", "audit_checkpoints_never_change", "audit_checkpoints_never_emptied", "audit_checkpoints_stay"},
	"audit_cursors":     {"audit_cursor_from_zero", "audit_cursor_once", "audit_cursor_only_grows"},
	"audit_entries":     {"audit_entries_pkey", "audit_entry_is_sealed", "audit_never_changes", "audit_never_emptied", "audit_never_shrinks", "audit_outcome_known"},
	"audit_head":        {"audit_head_id_check", "audit_head_only_grows", "audit_head_pkey", "audit_head_stays"},
	"audit_horizon":     {"audit_horizon_id_check", "audit_horizon_never_emptied", "audit_horizon_only_grows", "audit_horizon_pkey", "audit_horizon_stays"},
	"audit_inbox":       {"audit_inbox_never_changes", "audit_inbox_never_emptied", "audit_inbox_outcome_known", "audit_inbox_pkey"},
	"audit_keys":        {"audit_key_never_returns", "audit_key_once", "audit_key_state_known", "audit_key_stays_what_it_is", "audit_keys_never_emptied", "audit_keys_stay"},
	"audit_tiles":       {"audit_tile_once", "audit_tiles_never_emptied", "audit_tiles_only_grow", "audit_tiles_stay"},
	"audit_tree":        {"audit_tree_id_check", "audit_tree_only_grows", "audit_tree_pkey", "audit_tree_stays"},
}

const (
	// standingGuards are those of a table that are there, on, and refuse.
	standingGuards = `SELECT tgname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
			WHERE tgrelid = to_regclass($1) AND NOT tgisinternal AND tgenabled IN ('O', 'A') AND prosrc LIKE '%RAISE EXCEPTION%'
		UNION ALL SELECT conname FROM pg_constraint WHERE conrelid = to_regclass($1) AND convalidated`
	// oldestWaiting and oldestUngrown are when the first entry was written that has no
	// place in the log, or is not in its tree.
	oldestWaiting = `SELECT time FROM audit_inbox WHERE id > $1 ORDER BY id LIMIT 1`
	oldestUngrown = `SELECT time FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1) ORDER BY seq LIMIT 1`
)

// Unguarded implements [audit.Log].
func (s *Store) Unguarded(ctx context.Context) ([]string, error) {
	var missing []string
	for table, guards := range auditGuards {
		standing, err := read(ctx, s, scalar[string], standingGuards, table)
		if err != nil {
			return nil, fmt.Errorf("looking for the guards of the audit log: %w", err)
		}
		for _, guard := range guards {
			if !slices.Contains(standing, guard) {
				missing = append(missing, table+"."+guard)
			}
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// Behind implements [audit.Log].
func (s *Store) Behind(ctx context.Context) (time.Duration, error) {
	var behind time.Duration
	for text, args := range map[string][]any{oldestWaiting: {s.inbox.read(time.Now())}, oldestUngrown: nil} {
		found, err := read(ctx, s, scalar[time.Time], text, args...)
		if err != nil {
			return 0, fmt.Errorf("looking how far the audit log is behind: %w", err)
		}
		for _, at := range found {
			behind = max(behind, s.now().Sub(at))
		}
	}
	return behind, nil
}

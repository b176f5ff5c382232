package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// auditGuards are the triggers that keep the audit log from being changed by a slip, and
// make it take more than one statement to change it by intent.
var auditGuards = []string{
	"audit_checkpoints_never_change", "audit_checkpoints_stay", "audit_cursor_only_grows", "audit_horizon_only_grows", "audit_horizon_stays", "audit_key_never_returns", "audit_key_stays_what_it_is", "audit_keys_stay",
	"audit_never_changes", "audit_never_shrinks", "audit_tiles_only_grow", "audit_tiles_stay", "audit_tree_only_grows", "audit_tree_stays",
}

const (
	// standingGuards are those that are there and refuse.
	standingGuards = `SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'audit_%' AND sql LIKE '%RAISE(ABORT%'`
	// oldestUngrown is when the first entry was written that is not in the tree.
	oldestUngrown = `SELECT time FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1) ORDER BY seq LIMIT 1`
)

// Unguarded implements [audit.Log].
func (s *Store) Unguarded(ctx context.Context) ([]string, error) {
	found, err := s.query(ctx, standingGuards)
	standing, err := collect(found, err, func(r *sql.Rows) (name string, err error) { return name, r.Scan(&name) })
	if err != nil {
		return nil, fmt.Errorf("looking for the guards of the audit log: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(auditGuards), func(name string) bool { return slices.Contains(standing, name) }), nil
}

// Behind implements [audit.Log].
func (s *Store) Behind(ctx context.Context) (time.Duration, error) {
	found, err := s.query(ctx, oldestUngrown)
	waiting, err := collect(found, err, func(r *sql.Rows) (micro int64, err error) { return micro, r.Scan(&micro) })
	if err != nil || len(waiting) == 0 {
		if err != nil {
			err = fmt.Errorf("looking how far the audit log is behind: %w", err)
		}
		return 0, err
	}
	return max(0, s.now().Sub(time.UnixMicro(waiting[0]))), nil
}

package postgres

import (
	"context"
	_ "embed" // auditguards.txt
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// auditGuards are the columns, constraints and triggers that keep the audit log from being changed by a
// slip, and make it take more than one statement to change it by intent: in each line the name of one,
// and its definition as standingGuards reads it.
//
//go:embed auditguards.txt
var auditGuards string

const (
	// standingGuards are those that are there, and what should not be there: rules, security by rows,
	// and sessions in which triggers do not fire. A trigger is told with what its function does.
	standingGuards = `WITH logs AS (SELECT oid, relname, relkind, relpersistence, relrowsecurity FROM pg_class
			WHERE relnamespace = current_schema()::regnamespace AND relname LIKE 'audit\_%' AND relkind IN ('r', 'p', 'v', 'm', 'f'))
		SELECT relname::text, concat('kind ', relkind, ', persistence ', relpersistence) FROM logs
		UNION ALL SELECT relname || '.' || attname, format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
			FROM logs JOIN pg_attribute ON attrelid = logs.oid WHERE attnum > 0 AND NOT attisdropped
		UNION ALL SELECT relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid, true)
			FROM logs JOIN pg_constraint ON conrelid = logs.oid WHERE contype <> 'n'
		UNION ALL SELECT relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid, true)
				|| CASE WHEN tgenabled IN ('O', 'A') THEN '' ELSE ', which does not fire' END
				|| ': ' || md5(concat_ws(' ', lanname, prosecdef, proconfig, prosrc))
			FROM logs JOIN pg_trigger ON tgrelid = logs.oid JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_language ON pg_language.oid = prolang
			WHERE NOT tgisinternal
		UNION ALL SELECT relname || '.' || rulename, 'a rule' FROM logs JOIN pg_rewrite ON ev_class = logs.oid
		UNION ALL SELECT relname || '.row level security', 'on' FROM logs WHERE relrowsecurity
		UNION ALL SELECT 'session_replication_role', current_setting('session_replication_role')
			WHERE current_setting('session_replication_role') <> 'origin'`
	// oldestWaiting is when the first entry was written that has no place in the log.
	oldestWaiting = `SELECT time FROM audit_inbox WHERE id > $1 ORDER BY id LIMIT 1`
)

// Unguarded implements [audit.Log]. For a schema of a later version only the names are known.
func (s *Store) Unguarded(ctx context.Context) ([]string, error) {
	schema, err := s.schema(ctx, released())
	if err != nil {
		return nil, err
	}
	found, err := read(ctx, s, scanGuard, standingGuards)
	if err != nil {
		return nil, fmt.Errorf("looking for the guards of the audit log: %w", err)
	}
	return differing(found, schema.Newer()), nil
}

// differing names the guards that differ, by names alone or by definitions too.
func differing(found []guard, names bool) []string {
	wanted, standing := map[string]string{}, map[string]string{}
	for line := range strings.Lines(auditGuards) {
		name, definition, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		wanted[name] = definition
	}
	for _, g := range found {
		standing[g.name] = g.definition
	}
	return slices.DeleteFunc(rows.Differing(wanted, standing), func(name string) bool {
		_, stands := standing[name]
		return names && stands
	})
}

// guard is a part of the schema.
type guard struct{ name, definition string }

func scanGuard(row pgx.CollectableRow) (g guard, err error) {
	return g, row.Scan(&g.name, &g.definition)
}

// Behind implements [audit.Log].
func (s *Store) Behind(ctx context.Context) (time.Duration, error) {
	behind, err := s.Tables.Behind(ctx)
	if err != nil {
		return 0, err
	}
	waiting, err := read(ctx, s, scalar[time.Time], oldestWaiting, s.inbox.read(time.Now()))
	if err != nil {
		return 0, fmt.Errorf("looking how far the audit log is behind: %w", err)
	}
	for _, at := range waiting {
		behind = max(behind, s.now().Sub(at))
	}
	return behind, nil
}

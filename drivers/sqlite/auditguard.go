package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// standingGuards are the tables of the audit log, and the triggers and unique indexes on them, as
	// they were made.
	standingGuards = `SELECT type, name, tbl_name, sql FROM sqlite_master
		WHERE tbl_name LIKE 'audit\_%' ESCAPE '\' AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE %')`
	// oldestUngrown is when the first entry was written that is not in the tree.
	oldestUngrown = `SELECT time FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1) ORDER BY seq LIMIT 1`
)

// auditGuards are the columns, constraints and triggers that keep the audit log from being changed by a
// slip, and make it take more than one statement to change it by intent: the definition of each by its
// name, out of the migrations.
var auditGuards = sync.OnceValues(func() (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		if _, err := db.Exec(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	found, err := db.Query(standingGuards)
	return definitions(found, err)
})

// Unguarded implements [audit.Log].
func (s *Store) Unguarded(ctx context.Context) ([]string, error) {
	wanted, err := auditGuards()
	if err != nil {
		return nil, fmt.Errorf("making the guards of the audit log from the migrations: %w", err)
	}
	found, err := s.query(ctx, standingGuards)
	standing, err := definitions(found, err)
	if err != nil {
		return nil, fmt.Errorf("looking for the guards of the audit log: %w", err)
	}
	all := maps.Clone(wanted)
	maps.Copy(all, standing)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if wanted[name] != standing[name] {
			differ = append(differ, name)
		}
	}
	return differ, nil
}

// definitions reads what standingGuards finds: by the name of its table and its own, how each column,
// constraint, trigger and index is defined; and by the name of the table alone what follows its columns.
func definitions(found *sql.Rows, err error) (map[string]string, error) {
	all := map[string]string{}
	_, err = collect(found, err, func(r *sql.Rows) (none struct{}, err error) {
		var kind, name, table, text string
		if err := r.Scan(&kind, &name, &table, &text); err != nil {
			return none, err
		}
		if kind != "table" {
			all[table+"."+name] = text
			return none, nil
		}
		parts, rest := partsOf(text)
		all[table] = rest
		for _, part := range parts {
			words := strings.Fields(part)
			if words[0] == "CONSTRAINT" {
				words = words[1:]
			}
			all[table+"."+words[0]] = part
		}
		return none, nil
	})
	return all, err
}

// partsOf takes the text that made a table apart: its columns and constraints, and what follows them.
func partsOf(text string) (parts []string, rest string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "--")
	}
	_, text, _ = strings.Cut(strings.Join(lines, "\n"), "(")
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			if part := strings.TrimSpace(text[from:i]); part != "" {
				parts = append(parts, part)
			}
			if from = i + 1; c == ')' {
				return parts, text[from:]
			}
		}
	}
	return parts, text[from:]
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

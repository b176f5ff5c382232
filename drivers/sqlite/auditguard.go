package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

// standingGuards are the tables of the audit log, and the triggers and unique indexes on them, as
// they were made.
const standingGuards = `SELECT type, name, tbl_name, sql FROM sqlite_master
		WHERE tbl_name LIKE 'audit\_%' ESCAPE '\' AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE %')`

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
		for block := range strings.SplitSeq(string(text), "\n\n") {
			if !strings.Contains(block, "audit_") {
				continue // the schema as a whole would take a tenth of a server's start
			}
			if _, err := db.Exec(block); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
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
	return rows.Differing(wanted, standing), nil
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

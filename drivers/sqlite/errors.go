package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// translate turns what the database answers into the broker's sentinels. SQLite
// names tables, columns and constraints in its errors, never values.
func translate(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrConnDone):
		return rows.Closed()
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), "database is closed") { // database/sql has no sentinel for it
			return rows.Closed()
		}
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return broken(e)
	case sqlite3.SQLITE_INTERRUPT:
		return context.Canceled
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "the file is no database, or it is damaged",
			Remedy: "restore a backup of it, as the runbook says", Cause: err,
		}
	case sqlite3.SQLITE_FULL:
		return rows.Full(err)
	case sqlite3.SQLITE_READONLY:
		return rows.NoWrites(err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		return rows.Unavailable(err)
	}
	return err
}

// broken names the rule that a write would have broken.
func broken(e *sqlite.Error) error {
	_, rule, _ := strings.Cut(e.Error(), " constraint failed: ")
	rule, _, _ = strings.Cut(rule, " (")
	if u, ok := rows.UniqueOf(rule); ok {
		return u.Taken(e)
	}
	return rows.Forbidden(rule, e)
}

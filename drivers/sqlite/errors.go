package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// taken says which field a broken uniqueness is about. SQLite names the columns.
var taken = map[string]struct{ field, detail string }{
	"vims.id":                 {"id", "a VIM with this id is there already"},
	"vims.project, vims.name": {"name", "the project has a VIM of this name"},
	"vims.project":            {"default", "the project has a default VIM already"},
	"vims.created_by, vims.idempotency_key": {
		"Idempotency-Key", "the principal used this key for another registration",
	},
	"leases.id": {"id", "a lease with this id is there already"},
	"leases.principal, leases.idempotency_key": {
		"Idempotency-Key", "the principal used this key for another lease",
	},
}

// translate turns what the database answers into the broker's sentinels. SQLite
// names tables, columns and constraints in its errors, never values.
func translate(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrConnDone):
		return errClosed()
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), "database is closed") { // database/sql has no sentinel for it
			return errClosed()
		}
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return broken(e)
	case sqlite3.SQLITE_INTERRUPT:
		return context.Canceled
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store cannot be used now", Cause: err}
	}
	return err
}

// broken names the rule that a write would have broken.
func broken(e *sqlite.Error) error {
	_, rule, _ := strings.Cut(e.Error(), " constraint failed: ")
	rule, _, _ = strings.Cut(rule, " (")
	if t, ok := taken[rule]; ok {
		return &broker.Error{Kind: broker.ErrExists, Field: t.field, Detail: t.detail, Cause: e}
	}
	return &broker.Error{Kind: broker.ErrInvalid, Detail: "the store's rule " + rule + " forbids it", Cause: e}
}

func errClosed() error {
	return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store is closed"}
}

func notFound(what string) error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: what + " not found"}
}

func conflict(detail string) error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: detail}
}

// orTaken is err, or else says that the row found holds what must be unique.
func orTaken(err error, rule string) error {
	if err != nil {
		return err
	}
	return &broker.Error{Kind: broker.ErrExists, Field: taken[rule].field, Detail: taken[rule].detail}
}

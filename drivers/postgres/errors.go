package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// Codes of PostgreSQL (its manual, appendix A).
const (
	uniqueViolation      = "23505"
	integrityViolation   = "23"
	dataException        = "22"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	adminShutdown        = "57P01"
	idleInTransaction    = "25P03"
	lockNotAvailable     = "55P03"
	limitExceeded        = "54"
	undefinedTable       = "42P01"
	insufficientRight    = "42501"
	resources            = "53"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	// readOnly is a standby's answer to a write. To a transaction for writing it answers unsupported, like
	// the database does in many other cases, from the routine that refuses settings.
	readOnly       = "25006"
	unsupported    = "0A000"
	refusesSetting = "call_bool_check_hook"
)

// answer is the database's answer, without the values in it: those stand in the detail of
// its errors, and in the text of those about data and constraints.
type answer struct{ code, rule, text string }

func (a *answer) Error() string {
	switch {
	case a.rule != "":
		return fmt.Sprintf("PostgreSQL: rule %s (%s)", a.rule, a.code)
	case a.text != "":
		return fmt.Sprintf("PostgreSQL: %s (%s)", a.text, a.code)
	}
	return "PostgreSQL: " + a.code
}

func answered(e *pgconn.PgError) *answer {
	a := &answer{code: e.Code, rule: e.ConstraintName}
	if e.Code == unsupported && e.Routine == refusesSetting {
		a.code = readOnly
	}
	switch a.code[:min(2, len(a.code))] {
	case "08", "25", "28", "3D", "42", "53", "55", "57", "58", "XX":
		a.text = e.Message
	}
	return a
}

// translate turns the database's answer, or its absence, into the broker's sentinels.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if e := new(broker.Error); errors.As(err, &e) {
		return err // translated already
	}
	if e := new(pgconn.PgError); errors.As(err, &e) {
		return translateAnswer(answered(e))
	}
	if isLost(err) {
		return rows.Unavailable(&lost{err})
	}
	return err
}

func translateAnswer(a *answer) error {
	if rule, ok := rows.UniqueOf(a.rule); ok && a.code == uniqueViolation {
		return rule.Taken(a)
	}
	switch class := a.code[:min(2, len(a.code))]; {
	case class == integrityViolation:
		return rows.Forbidden(a.rule, a)
	case class == dataException || class == limitExceeded:
		return &broker.Error{Kind: broker.ErrInvalid, Detail: "the store cannot keep such a text or time", Cause: a}
	case a.code == undefinedTable:
		return &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the database lacks a table of this version's schema",
			Remedy: remedyMigrate, Next: broker.NextMigrate, Cause: a,
		}
	case a.code == diskFull:
		return rows.Full(a)
	case a.code == readOnly, class == resources && a.code != tooManyConnections:
		return rows.NoWrites(a)
	case a.code == insufficientRight:
		return rows.Unavailable(a)
	}
	switch a.code[:min(2, len(a.code))] {
	// connection, transaction state (read-only), authorization, database missing,
	// rollback, resources, not in a fit state, operator, system, internal.
	case "08", "25", "28", "3D", "40", "53", "55", "57", "58", "XX":
		return rows.Unavailable(a)
	}
	return a
}

// lost is that there is no connection, or none any more.
type lost struct{ cause error }

func (l *lost) Error() string { return "no connection to PostgreSQL: " + l.cause.Error() }
func (l *lost) Unwrap() error { return l.cause }

// isLost reports whether an error of pgx is about the connection.
func isLost(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	var system syscall.Errno
	switch {
	case errors.As(err, &connecting), errors.As(err, &network), errors.As(err, &system),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, pgx.ErrTxClosed),
		pgconn.SafeToRetry(err), pgconn.Timeout(err):
		return true
	}
	return strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool") // no sentinels
}

// again reports whether a call that was not committing may be retried: it lost a race, or
// its connection was ended. A process that was stopped for a while finds its transactions
// ended, and after a failover connections may lead to a standby. Other connections may be
// like that too, so the pool gives up all idle ones.
func (s *Store) again(err error) bool {
	var a *answer
	if errors.As(err, &a) && (a.code == serializationFailure || a.code == deadlockDetected) {
		return true
	}
	var l *lost
	var connecting *pgconn.ConnectError
	ended := errors.As(err, &l) && !errors.As(err, &connecting) && !pgconn.Timeout(err) ||
		a != nil && slices.Contains([]string{adminShutdown, idleInTransaction, readOnly}, a.code)
	if ended && !s.closed.Load() {
		s.pool.Reset()
	}
	return ended
}

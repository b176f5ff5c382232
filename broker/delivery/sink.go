// Package delivery brings the entries of the audit log to places outside the broker's
// database, in the order of the log, at least once each: sinks. A cursor in the store
// marks each sink's progress, so that a restart, or another process, resumes there.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Outlet hands lines to a place. An implementation is safe for concurrent use.
type Outlet interface {
	// Send hands lines, each one JSON value, over in their order, and returns nil once they
	// have arrived, as far as the outlet can tell. After an error some may have arrived.
	// The error is fit for the audit log, and the call is bounded in time.
	Send(ctx context.Context, lines [][]byte) error
	Close() error
}

// Mode says what becomes of a sink that falls behind.
type Mode string

const (
	// Required: while the sink is further behind than its bound, nothing is done that is not
	// a revocation or a read.
	Required Mode = "required"
	// BestEffort: entries older than the bound are skipped, and counted, while the sink fails.
	BestEffort Mode = "bestEffort"
)

// Destination is a place that gets every entry of the log.
type Destination struct {
	// Name is the cursor's key. It is unique, and stays when the rest changes.
	Name string
	Mode Mode
	// Within bounds how far behind the sink may be.
	Within time.Duration
	Outlet Outlet
}

// Cursor says how far the delivery to a sink has come.
type Cursor struct {
	Sink string
	// Seq is the last entry that was delivered or skipped.
	Seq int64
	// Start is the number of entries that the log had when the sink was begun.
	Start int64
	// Skipped counts entries that were never delivered.
	Skipped int64
}

// ErrMoved: another process has moved the cursor. Nothing was written.
var ErrMoved = errors.New("another process has moved the cursor of the sink")

// Store is the part of the store that deliveries need.
type Store interface {
	// EntriesAfter returns at most limit entries that follow an entry in the log, oldest first.
	EntriesAfter(ctx context.Context, seq int64, limit int) ([]audit.Entry, error)
	// Cursors returns the cursors there are, in the order of their sinks' names.
	Cursors(ctx context.Context) ([]Cursor, error)
	// BeginCursor stores a cursor at the beginning of the log and the entry that records it,
	// unless there is one; it sets Start.
	BeginCursor(ctx context.Context, sink string, e audit.Entry) error
	// MoveCursor replaces a cursor, if it still is where from says; [ErrMoved] otherwise.
	// If it fails otherwise, the cursor may or may not have been written.
	MoveCursor(ctx context.Context, from, to Cursor) error
	Append(ctx context.Context, e audit.Entry) error
	Tree(ctx context.Context) (tree.Head, error)
}

// Status is the present state of a sink.
type Status struct {
	Name string
	Mode Mode
	// Within bounds Behind.
	Within time.Duration
	Cursor Cursor
	// Waiting counts the entries that are still to be delivered, Behind is the age of the
	// oldest of them.
	Waiting int64
	Behind  time.Duration
	// Fault is why the last attempt of this process failed; empty if it did not.
	Fault string
}

// Late reports whether the sink is further behind than it may be. Entries from before the
// sink was there do not count.
func (s Status) Late() bool {
	return s.Cursor.Sink != "" && s.Cursor.Seq >= s.Cursor.Start && s.Behind > s.Within
}

// LateError: a required sink is late.
type LateError struct{ Status }

func (e *LateError) Error() string {
	return fmt.Sprintf("the audit sink %q, which is required, is %s behind; it may be %s", e.Name, e.Behind.Round(time.Second), e.Within)
}

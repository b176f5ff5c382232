// Package audit records who did what: one entry with every decision, and one
// more with the outcome of every effect, chained by hash so that a removed or
// altered entry shows.
package audit

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// Outcome says at which point of an action an entry was written.
type Outcome string

const (
	// Denied: policy refused; nothing happened.
	Denied Outcome = "denied"
	// Read: allowed, and only read.
	Read Outcome = "read"
	// Intent: allowed, and about to happen.
	Intent Outcome = "intent"
	// Done: it happened.
	Done Outcome = "done"
	// Failed: it did not happen, or only in part; the state of the resource says which.
	Failed Outcome = "failed"
)

// Entry is one line of the audit log. It holds identifiers and classes, never
// a credential, a request body or another system's words.
type Entry struct {
	// Seq counts from 1 without a gap; the sink assigns it.
	Seq int64
	// Time is in UTC, with microseconds.
	Time time.Time
	// Request is the id of the API request, or of the pass, that led here. The
	// intent and the outcome of one effect share it.
	Request   string
	Principal string
	// Project is the principal's; for the broker's own passes, the resource's.
	Project  string
	Action   policy.Action
	Kind     policy.Kind
	Resource string
	Outcome  Outcome
	// Detail holds what else matters, identifiers and classes only; the keys are
	// the constants DetailPolicy, DetailError and so on.
	Detail map[string]string
	// Previous and Hash chain the entries: Hash covers every field above and
	// Previous. The sink assigns both, with [Seal].
	Previous string
	Hash     string
}

// Query selects entries, newest first. Empty fields select all.
type Query struct {
	Project   string
	Principal string
	Action    policy.Action
	Resource  string
	Since     time.Time
	// Before lists entries with a smaller Seq; zero starts at the newest.
	Before int64
	// Limit is at most this many entries; it must be positive.
	Limit int
}

// Sink keeps entries for ever, in order. Safe for concurrent use.
type Sink interface {
	// Append adds an entry at the end of the chain and returns once it is
	// durable. When it errs, nothing was added.
	Append(ctx context.Context, e Entry) error
	// Entries returns what q selects.
	Entries(ctx context.Context, q Query) ([]Entry, error)
}

// Package audit records who did what: one entry with every decision, and one
// more with the outcome of every effect, under a Merkle tree so that a removed or
// altered entry shows.
package audit

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
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
	Request string
	// Door is the one that the request came in by; empty for what no request asked for.
	Door      Door
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
	// Damaged: the stored Detail cannot be read, so Detail is empty, and the entry has no
	// leaf. No tree covers this field.
	Damaged bool
}

// Query selects entries, newest first. Empty fields select all.
type Query struct {
	// Project selects the acts of its principals, and the acts of others on its VIMs.
	Project   string
	Principal string
	Action    policy.Action
	Resource  string
	// VIM selects by the id of the VIM that an entry is about, or that its lease is on;
	// VIMName by the name that the VIM had then.
	VIM     string
	VIMName string
	Lease   string
	// Request selects what was refused or failed in the request of that id.
	Request string
	// CredentialID selects by how the VIM's own log names the credential.
	CredentialID string
	// Outcomes selects entries with one of them.
	Outcomes []Outcome
	// Since and Until bound the time; Until itself is left out.
	Since, Until time.Time
	// Before lists entries with a smaller Seq; zero starts at the newest.
	Before int64
	// Limit is at most this many entries; it must be positive.
	Limit int
}

// Sink keeps entries for ever, in order. Safe for concurrent use.
type Sink interface {
	// Append adds an entry and returns once it is durable. If it fails, nothing was
	// added. Its place in the log may be decided a little later.
	Append(ctx context.Context, e Entry) error
	// Entries returns what q selects, of all that was added before.
	Entries(ctx context.Context, q Query) ([]Entry, error)
}

// Log is a Sink that keeps a Merkle tree over its entries. The entry with Seq 1 is leaf 0.
type Log interface {
	Sink
	tree.Tiles
	// EntriesAfter returns at most limit entries that follow an entry in the log, oldest first.
	EntriesAfter(ctx context.Context, seq int64, limit int) ([]Entry, error)
	// Tree is the present tree. It holds every entry that was added more than
	// [SequencedWithin] ago, while the store is running.
	Tree(ctx context.Context) (tree.Head, error)
	// Grow gives waiting entries their places and adds them to the tree, until none
	// waits. It is [tree.ErrTorn] if the store no longer holds the tree: entries get
	// their places all the same.
	Grow(ctx context.Context) error
	// Behind is the wait of the oldest entry that is not in the tree; 0 if none waits.
	Behind(ctx context.Context) (time.Duration, error)
	// Unguarded names the guards of the log that were removed or differ from those of the
	// migrations, and objects that were added.
	Unguarded(ctx context.Context) ([]string, error)
}

// SequencedWithin bounds how long an entry waits for its place in the log.
const SequencedWithin = 2 * time.Second

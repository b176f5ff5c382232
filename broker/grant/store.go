package grant

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// Store keeps grants. Every write but [Store.NoteVNFGrant] and [Store.ForgetVNFGrants] takes the audit
// entry that records it, and both are durable together or not at all.
//
// All methods are safe for concurrent use. Errors are broker's sentinels; a store that cannot be
// asked now answers [broker.ErrUnavailable]. A change function may be called again with what is
// stored then. It must not call the store.
type Store interface {
	audit.Sink
	// CreateVNFGrant stores a new grant with Revision 1; [broker.ErrExists] if the client has one
	// for the operation, [broker.ErrQuota] if it has limit already (0 is no bound).
	CreateVNFGrant(ctx context.Context, g Grant, limit int, e audit.Entry) error
	// VNFGrant returns one by its id; [broker.ErrNotFound].
	VNFGrant(ctx context.Context, id string) (Grant, error)
	// VNFGrantOf returns the client's for an operation; [broker.ErrNotFound].
	VNFGrantOf(ctx context.Context, client, operation string) (Grant, error)
	// HoldingVNFGrant returns the client's newest for an instance that Holds; [broker.ErrNotFound].
	HoldingVNFGrant(ctx context.Context, client, instance string) (Grant, error)
	// DueVNFGrants returns those that are Followed and whose LookAt is not after a time, at most limit:
	// of each client those that have waited longest, at most each, and of all clients the first ones
	// before any client's second.
	DueVNFGrants(ctx context.Context, at time.Time, each, limit int) ([]Grant, error)
	// UpdateVNFGrant reads the grant, lets change alter it, and stores what [Grant.Moved] makes of it,
	// atomically. If change fails nothing is written and its error is returned unchanged.
	UpdateVNFGrant(ctx context.Context, id string, change func(*Grant) error, e audit.Entry) (Grant, error)
	// NoteVNFGrant sets the time of a grant's next look, zero for never, and stores nothing else, if its
	// Revision and LookAt are still those given; [broker.ErrConflict] otherwise. A look is no caller's
	// act.
	NoteVNFGrant(ctx context.Context, g Grant, next time.Time) error
	// ForgetVNFGrants removes those of a client, of all where that is empty, that are Refused or Ended,
	// are not Followed and were made before a time: the oldest first, at most limit. Those that Hold a
	// lease stay while that is live, and while it is known that it ended other than with its operation: they
	// say where the instance is, and whether somebody has cut it off. It says how many.
	ForgetVNFGrants(ctx context.Context, client string, before time.Time, limit int) (int, error)
	// VNFGrantRecords returns those that match, newest first, and the next page's token;
	// [broker.ErrInvalid] for a page token it did not make.
	VNFGrantRecords(ctx context.Context, f Filter) ([]Record, string, error)
	// VNFGrantRecord returns one by its id; [broker.ErrNotFound].
	VNFGrantRecord(ctx context.Context, id string) (Record, error)
}

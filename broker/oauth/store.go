package oauth

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Store keeps clients. Every write takes the audit entry that records it, and both are
// durable together or not at all.
//
// All methods are safe for concurrent use. Errors are broker's sentinels; a store that
// cannot be asked now answers [broker.ErrUnavailable]. A change function may be called
// again with what is stored then. It must not call the store.
type Store interface {
	audit.Sink
	// CreateClient stores a new client with Revision 1; [broker.ErrExists] if the project has
	// one of that name, and [broker.ErrQuota] if it has limit clients already. A limit of
	// zero bounds nothing.
	CreateClient(ctx context.Context, c Client, limit int, e audit.Entry) error
	// Client returns one by its id; [broker.ErrNotFound].
	Client(ctx context.Context, id string) (Client, error)
	// Clients returns those that match, by project and name, and the next page's token;
	// [broker.ErrInvalid] for a page token it did not make.
	Clients(ctx context.Context, f Filter) ([]Client, string, error)
	// UpdateClient reads the client, lets change alter it, and stores what [Client.Moved] makes of
	// it, atomically. If change fails nothing is written and its error is returned unchanged.
	UpdateClient(ctx context.Context, id string, change func(*Client) error, e audit.Entry) (Client, error)
	// DeleteClient removes a client in state Deleting; [broker.ErrConflict] for another. One
	// that is gone is success, and writes nothing.
	DeleteClient(ctx context.Context, id string, e audit.Entry) error
}

// Filter selects clients. Empty fields select all.
type Filter struct {
	Project string
	Name    string
	// Ending selects clients whose leases are being revoked.
	Ending bool
	broker.Page
}

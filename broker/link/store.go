package link

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Store keeps links. The rules of [broker.Store] on writes, entries and errors apply. An entry without an action is not
// recorded: no caller acts. The store of VNF instances writes uses: no instance takes a link that is not [Ready].
type Store interface {
	audit.Sink
	// CreateLink stores a new link, and its use of the VIM: [broker.ErrExists] if the project has one of that name,
	// [broker.ErrConflict] if the VIM is going, [broker.ErrQuota] if the project has most already; 0 is no bound.
	CreateLink(ctx context.Context, l Link, most int, e audit.Entry) error
	// Link returns one by its id; [broker.ErrNotFound].
	Link(ctx context.Context, id string) (Link, error)
	// Links returns those that match, the newest first, and the next page's token.
	Links(ctx context.Context, f Filter) ([]Link, string, error)
	// LinkUses returns the uses of one, at most limit, and how many there are.
	LinkUses(ctx context.Context, id string, limit int) ([]Use, int, error)
	// UpdateLink reads and locks the link, lets change alter it, who is told some of its uses and their number, and stores
	// what [Link.Moved] makes of it. One that becomes [Removing] loses its uses. If change fails nothing is written.
	UpdateLink(ctx context.Context, id string, change func(l *Link, some []Use, all int) error, e audit.Entry) (Link, error)
	// DeleteLink removes one that is [Removing]; another is [broker.ErrConflict], one that is gone is success.
	DeleteLink(ctx context.Context, id string, e audit.Entry) error
	// UnsettledLinks returns those that are Loose or not [Ready], and whose Since is before a time; the oldest first.
	UnsettledLinks(ctx context.Context, before time.Time, limit int) ([]Link, error)
}

// Filter selects links. Empty fields select all.
type Filter struct {
	// Viewer is a project that sees them.
	Viewer, Name string
	// VIM and Network select the one that the VIM knows by that id, whoever sees it.
	VIM, Network string
	broker.Page
}

// Driver makes and removes links on one type of VIM. It keeps no credential and no state. Its errors are [*broker.Error], and
// hold nothing that a VIM wrote but ids. Every call ends when its context does.
type Driver interface {
	VIMType() broker.VIMType
	// Purpose is that of the leases that Make and Remove need; empty where nothing of a link stands on the VIM by itself.
	// [broker.ErrInvalid] is a specification that this type of VIM cannot have.
	Purpose(l Link) (string, error)
	// Make finds what the VIM has of the link, by its handle and tag, and makes the rest: it may be called again.
	Make(ctx context.Context, c Connection, l Link) (Made, error)
	// Remove removes what the VIM has of the link, and nothing else. [broker.ErrConflict]: others are on it, and the detail
	// says who. What is gone already is success.
	Remove(ctx context.Context, c Connection, l Link) error
}

// Connection is a driver's way to a VIM, with the credential of one lease. Egress are the addresses that may be dialled.
type Connection struct {
	Config clientconfig.Config
	Egress *egress.Rules
}

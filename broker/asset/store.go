package asset

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Store keeps assets. The rules of [broker.Store] on writes, entries and errors apply. An entry without an action is not
// recorded: no caller acts. The store of VNF instances writes uses: no instance takes an asset that is not [Ready].
type Store interface {
	audit.Sink
	// CreateAsset stores a new one, and its use of the VIM: [broker.ErrExists] if the project has one of that kind and name,
	// [broker.ErrConflict] if the VIM is going, [broker.ErrQuota] if the project has most of the kind already; 0 is no bound.
	CreateAsset(ctx context.Context, l Asset, most int, e audit.Entry) error
	// Asset returns one by its id; [broker.ErrNotFound].
	Asset(ctx context.Context, id string) (Asset, error)
	// Assets returns those that match, the newest first, and the next page's token.
	Assets(ctx context.Context, f Filter) ([]Asset, string, error)
	// AssetUses returns the uses of one, at most limit, and how many there are.
	AssetUses(ctx context.Context, id string, limit int) ([]Use, int, error)
	// UpdateAsset reads and locks the asset, lets change alter it, who is told some of its uses and their number, and stores
	// what [Asset.Moved] makes of it. One that becomes [Removing] loses its uses. If change fails nothing is written.
	UpdateAsset(ctx context.Context, id string, change func(l *Asset, some []Use, all int) error, e audit.Entry) (Asset, error)
	// DeleteAsset removes one that is [Removing]; another is [broker.ErrConflict], one that is gone is success.
	DeleteAsset(ctx context.Context, id string, e audit.Entry) error
	// UnsettledAssets returns those that are Loose or not [Ready], and whose Since is before a time; the oldest first.
	UnsettledAssets(ctx context.Context, before time.Time, limit int) ([]Asset, error)
}

// Filter selects assets. Empty fields select all.
type Filter struct {
	Kind policy.Kind
	// Viewer is a project that sees them.
	Viewer, Name string
	// VIM and Network select the one that the VIM knows by that id, whoever sees it.
	VIM, Network string
	broker.Page
}

// Driver makes and removes assets of a kind on one type of VIM. It keeps no credential and no state. Its errors are [*broker.Error], and
// hold nothing that a VIM wrote but ids. Every call ends when its context does.
type Driver interface {
	// Lease says what the leases may do that Make and Remove need; it has no purpose where nothing stands on the VIM by itself.
	// [broker.ErrInvalid] is a specification that this type of VIM cannot have.
	Lease(l Asset) (broker.LeaseRequest, error)
	// Make finds what the VIM has of the asset, by its handle and tag, and makes the rest: it may be called again.
	Make(ctx context.Context, c Connection, l Asset) (Made, error)
	// Remove removes what the VIM has of the asset, and nothing else. [broker.ErrConflict]: others are on it, and the detail
	// says who. What is gone already is success.
	Remove(ctx context.Context, c Connection, l Asset) error
}

// Porter is a driver whose VIM keeps the one book of the addresses of a link that spans.
type Porter interface {
	// Ports is [Assets.Ports]. Names with /pool/ that are alike up to the last slash are of ports with addresses in a row.
	// [broker.ErrConflict]: an address is taken, or none is left.
	Ports(ctx context.Context, c Connection, l Asset, instance string, names []string, all bool) ([]Port, error)
}

// Connection is a driver's way to a VIM, with the credential of one lease. Egress are the addresses that may be dialled.
type Connection struct {
	Config clientconfig.Config
	Egress *egress.Rules
}

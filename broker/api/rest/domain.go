package rest

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Registry contains the VIMs. [broker.Registry] says what each method does.
// Every method decides and records for the principal it is given.
type Registry interface {
	// Types are the types of VIM that are served.
	Types() []broker.Type
	RegisterVIM(ctx context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error)
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	UpdateVIM(ctx context.Context, p policy.Principal, idOrName string, c broker.Change) (broker.VIM, error)
	RotateVIM(ctx context.Context, p policy.Principal, idOrName string, c broker.Credential, ifRevision int64) (broker.VIM, error)
	RekeyVIM(ctx context.Context, p policy.Principal, idOrName, keyStore string, ifRevision int64) (broker.VIM, error)
	RekeyRest(ctx context.Context, p policy.Principal, keyStore string, before time.Time) error
	KeyStatuses(ctx context.Context, p policy.Principal, q broker.VIMQuery, try bool) ([]broker.KeyStatus, string, error)
	SameSystem(ctx context.Context, p policy.Principal, v broker.VIM) ([]broker.VIM, error)
	CheckVIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, idOrName string, d broker.Deletion) (v broker.VIM, gone bool, err error)
	WaitsFor(ctx context.Context, p policy.Principal, v broker.VIM) ([]string, error)
}

// Leaser issues and revokes leases; [broker.Leaser] says what each method does.
type Leaser interface {
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	Lease(ctx context.Context, p policy.Principal, id string) (broker.Lease, error)
	Leases(ctx context.Context, p policy.Principal, q broker.LeaseQuery) ([]broker.Lease, string, error)
	RenewLease(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error)
	PushLease(ctx context.Context, p policy.Principal, id, target, name string) (broker.Lease, broker.Shelved, error)
	RevokeLease(ctx context.Context, p policy.Principal, id string) (broker.Lease, error)
	RevokeLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error)
	Inventory(ctx context.Context, p policy.Principal, idOrName string, settle bool) (broker.Inventory, error)
}

// AuditLog shows, proves and signs the audit log; [broker.Oversight] says what each method does.
type AuditLog interface {
	Entries(ctx context.Context, p policy.Principal, q audit.Query) ([]audit.Entry, error)
	ProveEntry(ctx context.Context, p policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error)
	ProveGrowth(ctx context.Context, p policy.Principal, earlier, later int64) (tree.Head, []tree.Hash, error)
	Retention(ctx context.Context, p policy.Principal) (broker.Past, error)
	AuditSinks(ctx context.Context, p policy.Principal) ([]delivery.Status, error)
	AuditTree(ctx context.Context, p policy.Principal, size int64) (tree.Head, []tree.Hash, error)
	EntriesAfter(ctx context.Context, p policy.Principal, seq int64, limit int) ([]audit.Entry, error)
	Checkpoint(ctx context.Context, p policy.Principal) (notary.Checkpoint, error)
	AuditAnchors(ctx context.Context, p policy.Principal) ([]notary.AnchorStatus, error)
	AuditKeys(ctx context.Context, p policy.Principal) ([]notary.SigningKey, error)
	RotateAuditKey(ctx context.Context, p policy.Principal) (notary.SigningKey, error)
	RevokeAuditKey(ctx context.Context, p policy.Principal, id string, until int64) (notary.SigningKey, error)
}

// Overseer answers about the broker itself.
type Overseer interface {
	Tokens(ctx context.Context, p policy.Principal, page broker.Page) ([]broker.Token, string, error)
	Explain(ctx context.Context, p policy.Principal, q policy.Request) (policy.Decision, error)
	// Ready reports the state of the broker's parts. It is an error while no request can be
	// served. It queries no other system.
	Ready() ([]broker.PartStatus, error)
}

// OAuthClients keeps clients; [oauth.Clients] says what each method does. Every method decides
// and records for the principal it is given.
type OAuthClients interface {
	Create(ctx context.Context, p policy.Principal, r oauth.NewClient) (oauth.Client, secret.Text, error)
	Client(ctx context.Context, p policy.Principal, id string) (oauth.Client, error)
	Clients(ctx context.Context, p policy.Principal, q oauth.Query) ([]oauth.Client, string, error)
	SetPlacements(ctx context.Context, p policy.Principal, id string, all []oauth.Placement) (oauth.Client, error)
	Rotate(ctx context.Context, p policy.Principal, id string, r oauth.Rotation) (oauth.Client, secret.Text, error)
	Delete(ctx context.Context, p policy.Principal, id string) error
}

// Grants knows what VNFMs were granted; [grant.Grants] says what each method does. Every method
// decides and records for the principal it is given.
type Grants interface {
	Record(ctx context.Context, p policy.Principal, id string) (grant.Record, error)
	Records(ctx context.Context, p policy.Principal, q grant.Query) ([]grant.Record, string, error)
}

// TokenKeys keeps the keys that sign clients' tokens; [oauth.Tokens] says what each method does.
// Every method decides and records for the principal it is given.
type TokenKeys interface {
	Keys(ctx context.Context, p policy.Principal) ([]oauth.TokenKey, error)
	RotateKey(ctx context.Context, p policy.Principal) (oauth.TokenKey, error)
	RevokeKey(ctx context.Context, p policy.Principal, id string) error
}

// Clusters follows the clusters of Cluster API; [onboard.Onboarding] says what each method
// does. Every method decides and records for the principal it is given.
type Clusters interface {
	Enable(ctx context.Context, p policy.Principal, vim string, s onboard.Settings) (onboard.Management, error)
	Disable(ctx context.Context, p policy.Principal, vim string) error
	Release(ctx context.Context, p policy.Principal, vim string) (onboard.Management, error)
	Management(ctx context.Context, p policy.Principal, vim string) (onboard.ManagementView, error)
	Managements(ctx context.Context, p policy.Principal) ([]onboard.ManagementView, error)
	Clusters(ctx context.Context, p policy.Principal, q onboard.ClusterQuery) ([]onboard.View, string, error)
	Cluster(ctx context.Context, p policy.Principal, id string) (onboard.View, error)
	IssuePushToken(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (secret.Text, time.Time, error)
	RevokePushToken(ctx context.Context, p policy.Principal, id string) error
	Pusher(ctx context.Context, token string) (policy.Principal, error)
	Push(ctx context.Context, p policy.Principal, in onboard.Pushed) (onboard.View, error)
}

// Links keeps virtual links and volumes; [asset.Assets] says what each method does. Every method decides and records for the
// principal it is given.
type Links interface {
	Create(ctx context.Context, p policy.Principal, r asset.Request) (asset.Asset, bool, error)
	List(ctx context.Context, p policy.Principal, kind policy.Kind, page broker.Page) ([]asset.Asset, string, error)
	Show(ctx context.Context, p policy.Principal, kind policy.Kind, ref string) (asset.Asset, []asset.Use, int, error)
	Delete(ctx context.Context, p policy.Principal, kind policy.Kind, ref string, force bool) (asset.Asset, []asset.Use, error)
}

// Trust is the table of trust; [trust.Table] says what each method does. Every method but Logins decides and records for
// the principal it is given.
type Trust interface {
	Logins() []trust.Authority
	List(ctx context.Context, p policy.Principal) ([]trust.Listed, error)
	Entry(ctx context.Context, p policy.Principal, name string) (trust.Listed, error)
	Create(ctx context.Context, p policy.Principal, a trust.Authority) (trust.Listed, error)
	Update(ctx context.Context, p policy.Principal, a trust.Authority) (trust.Listed, error)
	Delete(ctx context.Context, p policy.Principal, name string) error
	Try(ctx context.Context, p policy.Principal, token string) (trust.TokenTrial, error)
}

package web

import (
	"context"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// The page reaches the domain through these interfaces alone. No method of them returns a credential, nor a way to get
// one; a test walks all that they return.

// Registry contains the VIMs. [broker.Registry] says what each method does.
type Registry interface {
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	LiveOn(ctx context.Context, p policy.Principal, vims []broker.VIM) (map[string]int, error)
	SameSystem(ctx context.Context, p policy.Principal, v broker.VIM) ([]broker.VIM, error)
	WaitsFor(ctx context.Context, p policy.Principal, v broker.VIM) ([]string, error)
	CheckVIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	UpdateVIM(ctx context.Context, p policy.Principal, idOrName string, c broker.Change) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, idOrName string, d broker.Deletion) (v broker.VIM, gone bool, err error)
}

// Leaser shows and revokes leases. [broker.Leaser] says what each method does.
type Leaser interface {
	Lease(ctx context.Context, p policy.Principal, id string) (broker.Lease, error)
	Leases(ctx context.Context, p policy.Principal, q broker.LeaseQuery) ([]broker.Lease, string, error)
	RevokeLease(ctx context.Context, p policy.Principal, id string) (broker.Lease, error)
	RevokeLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error)
	Inventory(ctx context.Context, p policy.Principal, idOrName string, settle bool) (broker.Inventory, error)
}

// AuditLog shows and proves the audit log. [broker.Oversight] says what each method does.
type AuditLog interface {
	Entries(ctx context.Context, p policy.Principal, q audit.Query) ([]audit.Entry, error)
	EntriesAfter(ctx context.Context, p policy.Principal, seq int64, limit int) ([]audit.Entry, error)
	ProveEntry(ctx context.Context, p policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error)
	Checkpoint(ctx context.Context, p policy.Principal) (notary.Checkpoint, error)
	AuditAnchors(ctx context.Context, p policy.Principal) ([]notary.AnchorStatus, error)
	AuditSinks(ctx context.Context, p policy.Principal) ([]delivery.Status, error)
}

// Overseer answers about the broker itself. [broker.Oversight] says what each method does.
type Overseer interface {
	Explain(ctx context.Context, p policy.Principal, q policy.Request) (policy.Decision, error)
	PolicyTexts(ctx context.Context, p policy.Principal, ids []string) (map[string]string, error)
	Ready() ([]broker.PartStatus, error)
	Replicas(ctx context.Context, p policy.Principal) ([]broker.Replica, error)
}

// Clusters follows the clusters of Cluster API. [onboard.Onboarding] says what each method does.
type Clusters interface {
	Clusters(ctx context.Context, p policy.Principal, q onboard.ClusterQuery) ([]onboard.View, string, error)
	Cluster(ctx context.Context, p policy.Principal, id string) (onboard.View, error)
	Managements(ctx context.Context, p policy.Principal) ([]onboard.ManagementView, error)
	Management(ctx context.Context, p policy.Principal, vim string) (onboard.ManagementView, error)
	Release(ctx context.Context, p policy.Principal, vim string) (onboard.Management, error)
}

// Clients keeps the programs that log in by OAuth 2.0. [oauth.Clients] says what each method does.
type Clients interface {
	Client(ctx context.Context, p policy.Principal, id string) (oauth.Client, error)
	Clients(ctx context.Context, p policy.Principal, q oauth.Query) ([]oauth.Client, string, error)
}

// Grants knows what VNFMs were granted. [grant.Grants] says what each method does.
type Grants interface {
	Records(ctx context.Context, p policy.Principal, q grant.Query) ([]grant.Record, string, error)
}

// Sessions keeps people's sessions. [session.Sessions] says what each method does. The secrets that it returns are
// for the browser's cookie, and open nothing but the page.
type Sessions interface {
	Names() []string
	BeginLogin(ctx context.Context, name, callback, back string) (at, kept string, err error)
	FinishLogin(ctx context.Context, kept string, came url.Values) (plain string, made session.Session, back string, err error)
	EnterWithToken(ctx context.Context, token string) (string, session.Session, error)
	EnterByLink(ctx context.Context, plain string) (string, session.Session, error)
	Find(ctx context.Context, secret string, used bool) (policy.Principal, session.Session, error)
	List(ctx context.Context, p policy.Principal) ([]session.Session, error)
	End(ctx context.Context, p policy.Principal, id string) error
}

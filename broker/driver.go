package broker

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Access is what a driver needs to talk to one VIM: where it is, who we are
// there, and which addresses may be dialled on the way. It is made for one call and
// dropped after it; a driver keeps no part of the Credential. It may keep in memory, for
// minutes, a token that it logged in for.
type Access struct {
	// VIM and Generation identify the target and credential; connections may be
	// kept and reused under this pair, credentials may not.
	VIM        string
	Generation int64
	Target     Target
	Credential Credential
	// Discovered is what the driver's first Report about this generation said; zero
	// before that.
	Discovered Discovered
	// InsteadOf is the Discovered of the earlier generation of the same system that
	// this one stands in for, because its own credential is refused; nil otherwise.
	// Renew, Revoke and Inventory are then about what was made with that one.
	InsteadOf *Discovered
	// Identity is what the VIM said it is when this generation was written; empty
	// while that is being found out. Revoke takes "not found" for an answer only
	// from the system that has this identity.
	Identity string
	// Users: leases of the generation that are users are alive. An Inventory that cannot see those
	// is an error then.
	Users  bool
	Egress *egress.Rules
}

// Driver talks to one kind of VIM. Implementations stand under drivers/ and pass
// test/conformance.Driver. All methods are safe for concurrent use, honour the
// context's deadline, and answer with this package's sentinels:
// [ErrUnreachable], [ErrUnavailable], [ErrUnauthorized], [ErrForbidden], [ErrInvalid],
// [ErrUnsupported], [ErrNotFound]. No error holds a credential or the body of a remote answer.
type Driver interface {
	// Type says what is true of every VIM of this kind.
	Type() Type

	// Normalize rebuilds a registration, field by field from an allow-list, into
	// a target and a credential. It reads no file, runs nothing and connects to
	// nothing. An unknown value is ErrInvalid with the field named.
	Normalize(Registration) (Target, Credential, error)

	// Check asks the VIM who it is, whether it knows the credential, and whether
	// leases can be minted from it. A VIM that answers and cannot mint is not an
	// error: Report says so.
	Check(ctx context.Context, a Access) (Report, error)

	// Prepare refuses, before anything is stored or touched, a grant that this
	// kind of VIM can never make (ErrInvalid with the field: a TTL below its
	// minimum, a role it does not know), and fills in defaults.
	Prepare(Grant) (Grant, error)

	// Issue makes the upstream object g.Handle and mints the first credential.
	// An object of that name that is already there is ours, from an attempt that
	// died: it is adopted. If Issue fails, the object may be left: the caller
	// calls Revoke.
	Issue(ctx context.Context, a Access, g Grant) (Minted, error)

	// Renew mints one more credential of a lease that was issued, which has the rights that
	// it was granted: what these rest on is made again where it was taken away. An upstream
	// object that is gone is ErrNotFound, and nothing is made; one that a may not
	// touch, or not see, is ErrForbidden.
	Renew(ctx context.Context, a Access, g Grant) (Minted, error)

	// Revoke takes the upstream object back, and with it every credential of the
	// lease, also those that i does not name, but where i says that there are none.
	// "Already gone" is success; only a parsed "not found" of the object itself, from
	// the system that a.Identity names, is that: another system answering there is
	// ErrConflict.
	Revoke(ctx context.Context, a Access, i Issued) error

	// Dead tries a credential that was minted, and reports whether the VIM refuses
	// it now. a.Credential is not used and may be empty.
	Dead(ctx context.Context, a Access, minted Credential) (bool, error)

	// Inventory lists the upstream objects that carry this VIM's id. Where objects
	// belong to whoever made them, it is those of the registered user; with
	// a.InsteadOf those of the one before, or ErrForbidden where a may not see them.
	Inventory(ctx context.Context, a Access) ([]Upstream, error)

	// Client describes the clients that use a lease in these namespaces with a
	// credential of this kind. It calls nobody: a.Credential holds only its Kind.
	Client(a Access, namespaces []string, leased CredentialKind) clientconfig.Client

	// Forget removes what the driver keeps on the VIM besides leases (service
	// accounts, role bindings). Called when the VIM is deleted. Idempotent.
	Forget(ctx context.Context, a Access) error
}

// Report is what a check found.
type Report struct {
	// Identity tells this system from every other, for as long as it exists: the
	// UID of kube-system, the id of a Keystone project's domain and endpoint.
	Identity string
	// Version of the VIM; at most 64 printable characters.
	Version string
	// CanMint and MintMessage: what right is missing, and the remedy; where leases can be minted, what they cannot do.
	CanMint     bool
	MintMessage string
	// ExternalIPs is as in [Health].
	ExternalIPs string
	// Discovered is kept with the generation, and handed back in Access.
	Discovered Discovered
	// CredentialExpiresAt as far as the credential itself tells; zero otherwise.
	CredentialExpiresAt time.Time
}

// Grant is a lease as a driver sees it.
type Grant struct {
	// Lease is the lease's id; Handle the upstream object's name, derived from it.
	Lease      string
	Handle     string
	TTL        time.Duration
	Role       string
	Namespaces []string
	Purpose    string
	// User asks for a user of the lease's own, with a password that works until the user is
	// deleted; Renew gives it another. Only where [Type] has Users.
	User bool
	// Rules are what the lease may do, in place of a Role.
	Rules []Rule
	// ClusterWide asks for the role or rules in every namespace, and for what has none.
	ClusterWide bool
	// Epoch tells what a driver keeps for this grant (VIM, role or rules, namespaces,
	// ClusterWide) from what it kept before the last Tidy. It grows by steps that nobody
	// can foresee. 0 is an object of which an inventory knows the handle alone.
	Epoch int64
	// Held: the lease was issued before, and is graded anew.
	Held bool
	// Planned: as in [LeaseRequest].
	Planned bool
}

// Minted is a credential fresh from the VIM.
type Minted struct {
	Credential Credential
	// Unlisted: no Inventory can show it (a token has no name upstream).
	Unlisted bool
	// ExpiresAt is the VIM's own word, in UTC, never the wish. It may be later than was
	// granted: the lease ends in time all the same. For a password that the VIM sets no end for it
	// is in the year 9999.
	ExpiresAt time.Time
	// MaxRevocationLag is how long the VIM may honour it after Revoke.
	MaxRevocationLag time.Duration
	// UID tells the upstream object from every other of its name; empty where the
	// VIM knows no such thing.
	UID string
	// CredentialID is how the VIM's own audit log names the credential; not secret.
	CredentialID string
	// Stood is for a [Comparer]: what there was before of the kind that the holder can
	// make, without a secret, and at most 64 KiB. Where it could not be seen, Unseen
	// says why.
	Stood, Unseen string
}

// Issued is what a lease has upstream.
type Issued struct {
	Handle string
	// UID of the upstream object; empty where it is not known.
	UID string
	// Grant is what the lease was issued for, with its Epoch.
	Grant Grant
	// Credential is the newest that was minted; empty where it is not known.
	Credential Credential
	// Renewed: a renewal was begun, whatever became of it. Where it is false, a
	// Credential that is known is the only one.
	Renewed bool
}

// Upstream is one object of ours that a VIM holds.
type Upstream struct {
	Handle    string
	Lease     string
	CreatedAt time.Time
	// User: it is a user that was made for the lease.
	User bool
	// Unbound are the namespaces of the lease in which its rights were taken away; * is the
	// whole VIM.
	Unbound []string
}

package broker

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Store keeps VIMs and leases. Implementations stand under drivers/ and pass
// test/conformance.Store. Every write takes the audit entry that records it, and
// both are durable together or not at all: no audit, no effect.
//
// All methods are safe for concurrent use. Values go in and come out as copies.
// Times are kept in UTC, in microseconds. Text is UTF-8 without NUL: a store may
// refuse other text with ErrInvalid. Where several rules of uniqueness are
// broken, the Field named is "Idempotency-Key". A store that cannot be asked now
// answers ErrUnavailable. A change function may be called again, with what is stored
// then, when another write got in its way; it may complete the Detail of the entry.
type Store interface {
	VIMStore
	LeaseStore
	GrantStore
	KeyLedger
	TokenUseStore
	audit.Log
	notary.Store
	delivery.Store
	Pruner
	StatusStore
}

// StatusStore says how the store is.
type StatusStore interface {
	// Check reports whether the store can be written now: it writes how this server is, at the time of now. It is an
	// ErrUnavailable, with ErrNoWrites as its cause where the store can still be read.
	Check(ctx context.Context, r Replica) error
	// Replicas lists the servers that have said how they are, by their ids.
	Replicas(ctx context.Context) ([]Replica, error)
	// RemoveReplica removes one. Check removes those that have said nothing for [ReplicaKept].
	RemoveReplica(ctx context.Context, id string) error
	// Refusal is why the store refused a write (ErrNoWrites, ErrNoSpace), unless Check has succeeded since. It
	// asks nobody.
	Refusal() error
	Load(ctx context.Context, now time.Time) (Load, error)
}

// VIMStore keeps VIMs with their generations.
type VIMStore interface {
	// CreateVIM stores a new VIM with Revision 1, if its project has fewer than most (ErrQuota; zero
	// is no bound), those included that are being registered: in one atomic step. A name taken in the project is
	// ErrExists with Field "name"; a second default of the project ErrExists with Field
	// "default"; an IdempotencyKey that the same CreatedBy used before ErrExists
	// with Field "Idempotency-Key".
	CreateVIM(ctx context.Context, v VIM, most int, e audit.Entry) error
	// VIM returns one by its id; ErrNotFound.
	VIM(ctx context.Context, id string) (VIM, error)
	// VIMByKey returns the VIM that a principal registered under an idempotency key; ErrNotFound.
	VIMByKey(ctx context.Context, principal, key string) (VIM, error)
	// VIMs returns those that match, ordered by project, name; ErrInvalid for a page token
	// it did not make. The second answer is the next page's token, empty at the end.
	VIMs(ctx context.Context, f VIMFilter) ([]VIM, string, error)
	// CredentialsExpiring counts for each time the VIMs whose current credential has an end
	// before it. One without an end is not counted, and neither is a token that the broker
	// renews itself (Discovered.RenewAt).
	CredentialsExpiring(ctx context.Context, before ...time.Time) ([]int, error)
	// UpdateVIM reads the VIM, lets change alter it, and stores it with Revision
	// one up, atomically. If change fails nothing is written and its error is
	// returned as it is. A move that vimMoves does not list is ErrConflict; so is
	// a second default, a taken name: ErrExists as in CreateVIM. Where change sets
	// a Current with another Number, the store itself moves the generation before
	// to Past while a lease needs it (one pinned to it is Live or still holds a
	// Sealed credential), and otherwise drops it and puts its key on the ledger of
	// retired keys; and its leases that wait after failed tries are due at UpdatedAt,
	// as in SetHealth. The store ignores changes of ID, Project, CreatedBy, CreatedAt, Revision
	// and Past. It returns what was stored. A change must not call the store.
	UpdateVIM(ctx context.Context, id string, change func(*VIM) error, e audit.Entry) (VIM, error)
	// UpdateIdleVIM is UpdateVIM, and [InUse] while a [Use] of the VIM is there, naming MaxUses of them; without
	// leased also [LeasesLive] while a lease on it is Live: in one atomic step with the change, when that has not erred.
	UpdateIdleVIM(ctx context.Context, id string, leased bool, change func(*VIM) error, e audit.Entry) (VIM, error)
	// Rekey reads the VIM and every lease on it that holds a Sealed credential, lets
	// change set Sealed, SealedAs, Key and KeyStore of its generations, Sealed and SealedKey of the leases, and
	// Pending, and stores that with Revision one up, atomically; the keys that no
	// generation names any more go on the ledger of retired keys. Whatever else
	// change does is ignored. If change fails nothing is written and its error is
	// returned as it is; ErrNotFound.
	Rekey(ctx context.Context, id string, change func(*VIM, []Lease) error, e audit.Entry) (VIM, error)
	// DeleteVIM removes the VIM, all its generations, and puts their keys on the
	// ledger of retired keys; leases of it that still hold a Sealed credential
	// lose that. While a [Use] of it is there it is [InUse], and while a lease on it is
	// Live [LeasesLive]; with force, uses go with the VIM, and leases that are
	// LeaseIrrevocable do not count. A VIM that is gone is success, and writes nothing.
	DeleteVIM(ctx context.Context, id string, force bool, e audit.Entry) error
	// SetHealth records a check's result without an audit entry and without a
	// new Revision (health is an observation, nobody's act); ErrNotFound, also
	// where that generation is not the current one any more. Where the VIM was not
	// Reachable and is now, its leases with Attempts that are Revoking, or Revoked
	// with a Sealed credential, get no Attempts and, unless it is earlier, CheckedAt
	// as NextAttemptAt: in the same atomic step, without a new Revision either.
	SetHealth(ctx context.Context, id string, generation int64, h Health) error
}

// VIMFilter selects VIMs in the store.
type VIMFilter struct {
	// Project shows that project's VIMs and shared ones; empty shows all.
	Project  string
	ID       string
	IDPrefix string
	// Identity selects VIMs whose current generation leads to that system.
	Identity string
	Name     string
	Type     VIMType
	State    VIMState
	Status   HealthStatus
	Labels   map[string]string
	// EndsBefore selects VIMs as CredentialsExpiring counts them.
	EndsBefore time.Time
	// Default selects VIMs that are their project's default.
	Default bool
	// CheckDue selects VIMs whose Health.Next is at or before it.
	CheckDue time.Time
	// PendingBefore selects VIMs with Pending.Since before it, and VIMs in state
	// Registering created before it.
	PendingBefore time.Time
	Page
}

// LeaseStore keeps leases; rows outlive the VIM and the credential.
type LeaseStore interface {
	// CreateLease stores a new lease in state LeasePending with Revision 1, if
	// the VIM is there, Registered, and its current generation is l.VIMGeneration
	// (ErrConflict otherwise; so is another revision than q names), and if no quota in q is used up (ErrQuota, its
	// Detail naming the quota): all in one atomic step. An IdempotencyKey that the same
	// Principal used before is ErrExists with Field "Idempotency-Key". A lease with a
	// GrantDigest is put on the open epoch of its grant, in the same step; where there
	// is none, the next is opened. Others that are created at the same time do not
	// wait for that, unless they open it too. A lease that Follows takes, in the same step, the secrets and the
	// idempotency key from the row of its Login that has them; where there is none, or it has another revision than q
	// names, or is pending or active, it is ErrExists with Field "login". It returns what was stored.
	CreateLease(ctx context.Context, l Lease, q Quota, e audit.Entry) (Lease, error)
	// Lease returns one by its id; ErrNotFound.
	Lease(ctx context.Context, id string) (Lease, error)
	// LeaseByKey returns the lease that a principal was issued under an idempotency key; ErrNotFound.
	LeaseByKey(ctx context.Context, principal, key string) (Lease, error)
	// LeaseByLogin returns the lease of a login that has its secrets; ErrNotFound.
	LeaseByLogin(ctx context.Context, login string) (Lease, error)
	// Leases returns those that match, newest first, and the next page's token. A page may hold
	// fewer than was asked for, and even none, while there is a next one: it looks at a bounded number of leases.
	Leases(ctx context.Context, f LeaseFilter) ([]Lease, string, error)
	// LiveOn counts the leases on each VIM that are Live, up to a number; a VIM without any may be missing.
	LiveOn(ctx context.Context, vims []string, most int) (map[string]int, error)
	// DueVIMs returns the VIMs that leases are due on at that time, as
	// LeaseFilter.DueBefore has it; they may be gone.
	DueVIMs(ctx context.Context, at time.Time) ([]DueVIM, error)
	// UpdateLease is as UpdateVIM, for leaseMoves. When the lease was the last
	// that needed a past generation, and no longer does, that generation is
	// removed from its VIM and its key put on the ledger of retired keys. A
	// change of Sealed to something whose SealedKey is not the present key of the
	// lease's generation is ErrConflict: the VIM was sealed anew in the meantime.
	UpdateLease(ctx context.Context, id string, change func(*Lease) error, e audit.Entry) (Lease, error)
	// DeferLease counts a failed try (Attempts, NextAttemptAt, LastError) without
	// an audit entry and without a new Revision; ErrNotFound.
	DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error
	// Census counts leases and VIMs by state, and VIMs by type and health.
	Census(ctx context.Context) (Census, error)
}

// Quota bounds live leases; zero means no bound.
type Quota struct {
	// PerPrincipal bounds those of one caller, PerClient those of one that is a registered client: a
	// VNFM has a lease that stands for each of its instances.
	PerPrincipal int
	PerClient    int
	PerVIM       int
	PerProject   int
	// VIMRevision is the revision of the VIM that the lease was decided on; zero does not ask.
	VIMRevision int64
	// OldRevision is that of the lease whose place the new one takes.
	OldRevision int64
}

// Of returns the quota of a principal's leases, and its name.
func (q Quota) Of(principal string) (most int, name string) {
	if (policy.Principal{Name: principal}).Authenticator() == policy.ByClient {
		return q.PerClient, "perClient"
	}
	return q.PerPrincipal, "perPrincipal"
}

// DueVIM is a VIM that leases are due on.
type DueVIM struct {
	VIM, Project string
	// Since is when the first of them was due.
	Since time.Time
}

// LeaseFilter selects leases in the store.
type LeaseFilter struct {
	// Project selects leases of that project, and those on VIMs of that project;
	// empty selects all.
	Project   string
	IDPrefix  string
	VIM       string // id
	Principal string
	Operation string
	Instance  string
	For       string
	States    []LeaseState
	// DueBefore selects leases there is work for at that time: Active ones whose
	// ExpiresAt has come; Revoking ones whose NextAttemptAt has come; Revoked ones
	// that still hold a Sealed credential and whose NextAttemptAt has come.
	DueBefore     time.Time
	CreatedBefore time.Time
	Page
}

// KeyLedger lists keys that no row needs any more and that are still to be
// destroyed. Writes to it happen inside the writes above.
type KeyLedger interface {
	// RetiredKeys returns at most limit keys to destroy, oldest first.
	RetiredKeys(ctx context.Context, limit int) ([]RetiredKey, error)
	// ForgetKey takes a key off the ledger once it is destroyed. Idempotent.
	ForgetKey(ctx context.Context, k RetiredKey) error
	// KeysInUse returns every reference that a generation of a VIM, current or
	// past, a key that signs the audit log or tokens, or the ledger names; of one owner, or of
	// all for an empty id. The reference of a token key that is being made is empty.
	KeysInUse(ctx context.Context, vim string) ([]RetiredKey, error)
}

// RetiredKey names a key in a key store.
type RetiredKey struct {
	KeyStore string
	Ref      secret.Ref
	Owner    secret.Owner
}

// TypeHealth is how VIMs of a type are, by their last check.
type TypeHealth struct {
	Type   VIMType
	Status HealthStatus
}

// Census counts what there is.
type Census struct {
	VIMs   map[VIMState]int
	Health map[TypeHealth]int
	Leases map[LeaseState]int
	// Grades counts live leases; those without a grade are under "".
	Grades map[Grade]int
}

// GrantEpoch is what a driver keeps on a VIM for all leases of one grant: from the
// first lease to when the grant has long been without one.
type GrantEpoch struct {
	VIM string
	// Digest names the grant on its VIM: see [Lease.GrantDigest].
	Digest string
	Epoch  int64

	Role        string
	Rules       []Rule
	Namespaces  []string
	ClusterWide bool

	// Damaged: some of what is stored of it cannot be read, so nothing is tidied for it.
	Damaged bool
}

// GrantStore keeps the epochs of grants. CreateLease opens them. They go with their VIM.
type GrantStore interface {
	// CloseIdleGrants closes the epochs without a lease that is Pending, Active or
	// Revoking, where an earlier call at least idle before now saw none either. No lease
	// is put on a closed epoch any more: in one atomic step with the look at the
	// leases. It returns the epochs that are closed and not forgotten.
	CloseIdleGrants(ctx context.Context, now time.Time, idle time.Duration) ([]GrantEpoch, error)
	// ForgetGrant says that the driver has tidied a closed epoch away. Idempotent.
	ForgetGrant(ctx context.Context, g GrantEpoch) error
}

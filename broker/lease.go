package broker

import (
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// LeaseState is where a lease stands. [leaseMoves] lists the moves.
type LeaseState string

const (
	// LeasePending: the intent is stored with the name the upstream object will have;
	// the object may or may not exist.
	LeasePending LeaseState = "pending"
	// LeaseActive: the credential was issued and has not been taken back.
	LeaseActive LeaseState = "active"
	// LeaseRevoking: to be taken back, tried until it succeeds or is given up.
	LeaseRevoking LeaseState = "revoking"
	// LeaseRevoked: the upstream object is gone. It stays so, unless its credential is
	// found to work after MaxRevocationLag.
	LeaseRevoked LeaseState = "revoked"
	// LeaseIrrevocable: given up, or its credential works although it was revoked; a person
	// is needed. Revoking it again is allowed.
	LeaseIrrevocable LeaseState = "irrevocable"
)

// LeaseStates are all of them.
func LeaseStates() []LeaseState {
	return []LeaseState{LeasePending, LeaseActive, LeaseRevoking, LeaseRevoked, LeaseIrrevocable}
}

var leaseMoves = map[LeaseState][]LeaseState{
	LeasePending:     {LeaseActive, LeaseRevoking},
	LeaseActive:      {LeaseRevoking},
	LeaseRevoking:    {LeaseRevoked, LeaseIrrevocable},
	LeaseIrrevocable: {LeaseRevoking},
	LeaseRevoked:     {LeaseIrrevocable},
}

// Reason says why a lease ended, or is ending.
type Reason string

// Why leases end.
const (
	ReasonExpired      Reason = "expired"      // its time was up
	ReasonRequested    Reason = "requested"    // someone revoked it
	ReasonVIMDeleted   Reason = "vimDeleted"   // its VIM is draining
	ReasonIssueFailed  Reason = "issueFailed"  // it was never handed out
	ReasonAbandoned    Reason = "abandoned"    // the process died while issuing it
	ReasonAuditFailed  Reason = "auditFailed"  // its issue could not be recorded
	ReasonGoneUpstream Reason = "goneUpstream" // the upstream object was found missing
	ReasonAccessLost   Reason = "accessLost"   // its holder would not be issued it any more
	ReasonSystemGone   Reason = "systemGone"   // the system that it was for no longer exists
	// ReasonOperationEnded: what it was lent for to the VNFM of others has ended.
	ReasonOperationEnded Reason = "operationEnded"
)

// Lease is one derived credential, or the record of one.
type Lease struct {
	// ID is a UUID that the broker assigns.
	ID string
	// VIM is the VIM's id; VIMName its name when the lease was issued. They
	// outlive the VIM.
	VIM     string
	VIMName string
	VIMType VIMType
	// VIMProject is the project that the VIM belongs to.
	VIMProject string
	// VIMGeneration is the generation the lease is pinned to.
	VIMGeneration int64
	// Project is the principal's, not the VIM's.
	Project   string
	Principal string
	// HolderRoles are the principal's when the lease was issued or last renewed; empty on
	// leases from before that was kept.
	HolderRoles []string
	// Operation is the LCM operation occurrence it serves, if any.
	Operation string
	// Instance is the VNF instance of another VNFM that it serves, if any.
	Instance string
	// For is the person that it is for, as the holder says; empty is the holder.
	For string
	// Door is the one that it was asked for at; empty for those of the broker's own parts.
	Door audit.Door
	// Planned: as in [LeaseRequest]. Such a lease is renewed by its operation alone.
	Planned bool
	State   LeaseState
	Reason  Reason

	Role       string
	Namespaces []string
	// Rules stand in place of a Role.
	Rules []Rule
	// ClusterWide: the role or rules hold in every namespace, and for what has none.
	ClusterWide bool
	Format      clientconfig.Format
	Purpose     string

	// Grade says what the holder can become, GradeReasons why; empty where the driver
	// computes none.
	Grade        Grade
	GradeReasons []string
	// GrantDigest names the lease's grant on its VIM, and Epoch the grant's epoch; empty
	// and 0 where the driver keeps nothing for a grant.
	GrantDigest string
	Epoch       int64

	// CreatedAt is when the intent was stored, IssuedAt when the credential was.
	CreatedAt time.Time
	IssuedAt  time.Time
	// ExpiresAt is when the lease ends: never later than was granted, nor than its
	// newest credential stops working by itself. A credential that works longer is
	// revoked then.
	ExpiresAt time.Time
	// CredentialEndsAt is when the last of its credentials stops working by itself, by
	// the VIM's clock and word; zero on leases from before that was kept.
	CredentialEndsAt time.Time
	// MaxExpiresAt bounds every renewal.
	MaxExpiresAt time.Time
	// RenewedAt is when the newest credential was minted, other than the first.
	RenewedAt time.Time
	// TokenTTL is the most that a token under a standing lease lives; zero on other leases. A
	// standing lease hands out nothing but a secret, and ExpiresAt moves with each use:
	// it ends when it was not used for Terms.StandingIdle, at MaxExpiresAt at the latest.
	TokenTTL time.Duration
	// Login is the name under which tokens are fetched: the id of a standing lease or, where that took the place
	// of another, the Login of that one. Empty on other leases.
	Login string
	// SecretSHA256 are the digests of a standing lease's secrets, in lower-case hex, with blanks between: that of its
	// own, and of those that the leases before it had. A plain digest is enough, because the broker makes the
	// secrets, of 256 random bits. Of the leases of one Login one has them, the last.
	SecretSHA256 string
	// RenewalBegun: a renewal was begun, whatever became of it, so that more than
	// the newest credential may be upstream.
	RenewalBegun bool

	// CredentialKind is the kind of credential that was minted; [CredentialUser] from the intent on.
	CredentialKind CredentialKind
	// Unlisted: no inventory of the VIM can show it.
	Unlisted bool
	// Derived is false where the stored credential itself was passed through.
	Derived   bool
	Revocable bool
	// MaxRevocationLag is how long the credential may still work after RevokedAt.
	MaxRevocationLag time.Duration
	// RevokedAt is when the upstream object was seen to be gone.
	RevokedAt time.Time
	// ConfirmedDeadAt is when the credential was tried and refused, or, where it
	// could not be tried, when its own expiry had surely passed. It is tried where it
	// was issued: at a Kubernetes API server, or at Keystone, whose services may go on
	// taking a token from their caches for MaxRevocationLag.
	ConfirmedDeadAt time.Time
	// Stood says what its holder could have made had stood on the VIM before; the driver
	// reads it. Empty where the holder can make nothing that outlives the lease, where
	// that could not be seen, and once it was compared.
	Stood string
	// LeftBehind are sentences: what was found at revocation that had not stood before,
	// and why nothing could be compared, where that is so.
	LeftBehind []string

	// Handle is the name of the upstream object, known before it exists; UID tells the
	// object from every other of that name, and is known once the credential is.
	Handle string
	UID    string
	// CredentialID is how the VIM's own audit log names the newest credential; not secret.
	CredentialID string
	// Sealed is the newest credential, sealed with the generation's key, kept
	// only until it is confirmed dead: to try it, and to take it back. SealedKey
	// is the key it was sealed with.
	Sealed    string
	SealedKey secret.Ref

	// Attempts counts failed revocations; NextAttemptAt is when to try again. For an active
	// lease that is a user, one renewal has the lease alone until then.
	Attempts      int
	NextAttemptAt time.Time
	// LastError is the class of the last failure, in our words.
	LastError string

	Revision       int64
	IdempotencyKey string
	RequestDigest  string
}

// Live reports whether the lease's credential may still work, or its upstream
// object may still be there.
func (s LeaseState) Live() bool {
	return s != LeaseRevoked
}

// Standing reports whether short tokens are minted under the lease while it stands.
func (l Lease) Standing() bool { return l.TokenTTL > 0 }

// Asked is what the lease's credential is, where it is not what the VIM's leases usually are.
func (l Lease) Asked() LeaseCredential {
	switch {
	case !l.Derived:
		return LeasePassThrough
	case l.CredentialKind == CredentialUser:
		return LeaseUser
	}
	return ""
}

// granted is how long a credential of the lease was to live.
func (l Lease) granted() time.Duration {
	if l.Standing() {
		return l.TokenTTL
	}
	return l.ExpiresAt.Sub(l.CreatedAt)
}

// LeaseRequest is what a caller asks for.
type LeaseRequest struct {
	// VIM is an id or a name; empty means the project's default VIM.
	VIM string
	// TTL of zero means the broker's default. More than the maximum is capped;
	// the lease says what was granted. For a standing lease it is the TTL of each token.
	TTL        time.Duration
	Role       string
	Namespaces []string
	// Rules stand in place of a role.
	Rules []Rule
	// ClusterWide asks for the role or rules in every namespace, and for what has none.
	ClusterWide bool
	Format      clientconfig.Format
	Purpose     string
	Operation   string
	// Instance is the VNF instance of another VNFM that the lease is to serve, as that names it.
	Instance string
	// For is the person that the lease is for, if that is not its holder. Nothing checks that there is one of the name.
	For string
	// Standing asks for a lease that stands: see [Leaser.IssueLease].
	Standing bool
	// Credential asks for another kind of credential than leases on the VIM are; not with Standing.
	Credential LeaseCredential
	// Widest is the widest grade that the lease may have; empty leaves that to policy. It is no part of
	// what makes a repeat the same request.
	Widest Grade
	// InPlaceOf is the Login of a standing lease. If a lease stands there, this is a repeat of the request for it;
	// if it has ended, the new one takes its place: see succeed.go. It is no part of what makes a repeat the same
	// request.
	InPlaceOf string
	// Resumed: the caller may have a lease in the place of one that was revoked.
	Resumed bool
	// shown is a secret of the lease InPlaceOf, which the new one has, too.
	shown secret.Text
	// Planned: the lease is of a life-cycle operation, which makes nothing with it but the objects of a plan, and is the
	// only one that has its credential. These objects are judged one by one, so the grade leaves out what the objects of
	// another holder could be. No door sets it.
	Planned bool
	// Verified refuses a VIM whose certificate is not verified ([ErrUnsupported]), and has the configuration
	// hold its authorities also where they are the system's. It is no part of what makes a repeat the same
	// request.
	Verified bool

	IdempotencyKey string
}

// LeaseCredential is what the credential of a lease is to be, for clients that understand nothing
// else. Empty means what the VIM's leases usually are.
type LeaseCredential string

// LeaseUser is a user of the lease's own on the VIM, with a name and a password, for
// Terms.StandingMax at most: for Terms.MaxTTL where no directory knows the holder. The VIM does not
// end it; the end of the lease deletes it, with everything that it made of itself.
const LeaseUser LeaseCredential = "user"

// LeasePassThrough is the VIM's stored credential itself, for as long as a [LeaseUser]. It needs
// [policy.LeasePassThrough]. It is not derived, and nothing revokes it but its replacement on the VIM.
const LeasePassThrough LeaseCredential = "passThrough"

// LeaseQuery selects leases that the principal may see, newest first.
type LeaseQuery struct {
	IDPrefix  string // how the ids begin
	VIM       string // id or name
	Principal string
	Operation string
	Instance  string
	For       string
	State     LeaseState
	// DueBefore is a time at which there was work for them already: their end had come, or a try to revoke them.
	DueBefore time.Time
	Page
}

// LeaseSelector names the leases that one revocation takes; at least one of the first five fields
// is set, and all of these that are set must match.
type LeaseSelector struct {
	VIM       string // id or name
	Principal string
	Operation string
	Instance  string
	For       string
	// NewSecret: the secrets of the leases may be known to others. A lease that takes the place of one of them has
	// a secret of its own alone.
	NewSecret bool
	// HolderGone: no lease takes the place of one of them.
	HolderGone bool
}

// CanMove reports whether a lease may go from one state to another. Staying is no move.
func (s LeaseState) CanMove(to LeaseState) bool { return slices.Contains(leaseMoves[s], to) }

// earliest is the earliest of some times, cut to the second.
func earliest(times ...time.Time) time.Time {
	return slices.MinFunc(times, time.Time.Compare).UTC().Truncate(time.Second)
}

func notCompared(why string) []string {
	if why == "" {
		return nil
	}
	return []string{"what the holder may have made is not known: " + why}
}

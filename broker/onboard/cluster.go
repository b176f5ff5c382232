package onboard

import (
	"slices"
	"time"
)

// State is the state of a cluster. [moves] lists the allowed moves.
type State string

const (
	// StateWaiting: there is no VIM yet. Reason says what is missing.
	StateWaiting State = "waiting"
	// StateRegistering: a registration was begun, whatever became of it.
	StateRegistering State = "registering"
	// StateRegistered: the cluster is a VIM, which follows it.
	StateRegistered State = "registered"
	// StateQuarantined: the management cluster's data is not trusted. An existing VIM stays
	// unchanged.
	StateQuarantined State = "quarantined"
	// StateRetiring: the cluster is gone, and its VIM is being deleted.
	StateRetiring State = "retiring"
	// StateRetired: the VIM is deleted. The row stays for [KeepRetired].
	StateRetired State = "retired"
)

// States are all states, in the order in which a cluster has them.
func States() []State {
	return []State{StateWaiting, StateRegistering, StateRegistered, StateQuarantined, StateRetiring, StateRetired}
}

var moves = map[State][]State{
	StateWaiting:     {StateRegistering, StateQuarantined, StateRetired},
	StateRegistering: {StateRegistered, StateWaiting, StateQuarantined, StateRetiring, StateRetired},
	// A VIM that somebody deletes by hand is registered again.
	// One whose VIM follows a cluster of another management cluster is retired without it.
	StateRegistered:  {StateWaiting, StateQuarantined, StateRetiring, StateRetired},
	StateQuarantined: {StateWaiting, StateRegistering, StateRegistered, StateRetiring, StateRetired},
	StateRetiring:    {StateRetired},
	StateRetired:     {},
}

// CanMove reports whether a cluster may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// KeepRetired is how long the row of a retired cluster is listed.
const KeepRetired = 24 * time.Hour

// ClusterReason says in one word why a cluster is in its state; Message says it in a sentence.
type ClusterReason string

// Why a cluster is not registered, or not well. An empty reason: all is well.
const (
	ReasonNotReady          ClusterReason = "notReady"          // its control plane is not up
	ReasonPaused            ClusterReason = "paused"            // Cluster API is told to leave it alone
	ReasonDeleting          ClusterReason = "deleting"          // it is being deleted
	ReasonNotFollowed       ClusterReason = "notFollowed"       // its namespace is not watched
	ReasonOtherProject      ClusterReason = "otherProject"      // the settings give it to another project than its VIM's
	ReasonNotSelected       ClusterReason = "notSelected"       // it does not have the labels that are asked for
	ReasonSecretMissing     ClusterReason = "secretMissing"     // its credential is not there
	ReasonSecretMislabelled ClusterReason = "secretMislabelled" // the secret of its name has no label, or another cluster's
	ReasonSecretForeign     ClusterReason = "secretForeign"     // the secret's owner is neither the cluster nor its control plane
	ReasonSecretInvalid     ClusterReason = "secretInvalid"     // the secret holds no kubeconfig that can be registered
	ReasonCredentialRefused ClusterReason = "credentialRefused" // its API server refuses the credential
	ReasonUnreachable       ClusterReason = "unreachable"       // its API server does not answer
	ReasonOtherSystem       ClusterReason = "otherSystem"       // its credential leads to another system than before
	ReasonSystemTaken       ClusterReason = "systemTaken"       // its credential leads to another cluster's system
	ReasonNameTaken         ClusterReason = "nameTaken"         // another VIM has the name
	ReasonRefused           ClusterReason = "refused"           // policy, a quota or the registry refuse it
	ReasonUnavailable       ClusterReason = "unavailable"       // the broker or the management cluster cannot be asked now
	ReasonCannotMint        ClusterReason = "cannotMint"        // no lease can be derived from its credential
	ReasonCredentialKept    ClusterReason = "credentialKept"    // the cluster lets no account be made in the place of its credential
	ReasonDoubtful          ClusterReason = "doubtful"          // it is not listed, and not known to be gone
	ReasonHeld              ClusterReason = "held"              // it is gone with too many others: a person must say so
	ReasonMoving            ClusterReason = "moving"            // it is gone from its management cluster, and may come to another
	ReasonDraining          ClusterReason = "draining"          // leases on its VIM have not ended
)

func Reasons() []ClusterReason {
	return []ClusterReason{
		ReasonNotReady, ReasonPaused, ReasonDeleting, ReasonNotFollowed, ReasonOtherProject, ReasonNotSelected, ReasonSecretMissing,
		ReasonSecretMislabelled, ReasonSecretForeign, ReasonSecretInvalid, ReasonCredentialRefused,
		ReasonUnreachable, ReasonOtherSystem, ReasonSystemTaken, ReasonNameTaken, ReasonRefused, ReasonUnavailable,
		ReasonCannotMint, ReasonCredentialKept, ReasonDoubtful, ReasonHeld, ReasonMoving, ReasonDraining,
	}
}

// Cluster is a workload cluster as the broker knows it. Its identity is the management
// cluster, the namespace, the name and the UID of the Cluster object: one that is created
// again under its name is another.
type Cluster struct {
	// ID is a UUID that the broker assigns.
	ID string
	// Management is the id of the VIM that its management cluster is.
	Management string
	// Namespace, Name and UID are those of the Cluster object.
	Namespace, Name, UID string
	// Project is whose VIM it becomes.
	Project string

	State  State
	Reason ClusterReason
	// Message says what is wrong and what to do, in our words; empty when all is well.
	Message string

	// VIM is the id of its VIM; empty before it is registered.
	VIM string
	// Former is the id of the VIM that somebody deleted; the next one has it.
	Former string
	// System is the identity of the system that its credential led to when it was first
	// checked: the UID of kube-system. It never changes.
	System string
	// Rival is the id of the cluster whose system it is proven to lead to, while it is refused for that.
	Rival string
	// Secret names the version of the secret that was last adopted, refused, or not needed.
	Secret string

	// PushToken is the hash of the token that a kubeconfig can be pushed with; empty if
	// there is none. It is valid once, before PushExpiresAt; PushedAt is when it was used.
	PushToken               string
	PushExpiresAt, PushedAt time.Time

	// ReadyAt is when its control plane was first seen to be up, RegisteredAt when its VIM
	// was registered, GoneAt when it was known to be gone.
	ReadyAt, RegisteredAt, GoneAt time.Time
	CreatedAt, UpdatedAt          time.Time
	// Attempts counts failures in a row.
	Attempts int
	// Revision grows with every change but a deferral.
	Revision int64
}

package broker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// VIMState is where a registration stands. [vimMoves] lists the moves.
type VIMState string

const (
	// VIMRegistering: the intent is stored; key and credential may not be. Not shown
	// to callers. A row that stays here was abandoned and is settled away.
	VIMRegistering VIMState = "registering"
	// VIMRegistered: in use.
	VIMRegistered VIMState = "registered"
	// VIMDraining: being deleted; issues no leases, and goes when the last has ended.
	VIMDraining VIMState = "draining"
)

// vimMoves is the state machine of a VIM, as pairs that may follow one another.
// A VIM that is gone has no row.
var vimMoves = map[VIMState][]VIMState{
	VIMRegistering: {VIMRegistered},
	VIMRegistered:  {VIMDraining},
	VIMDraining:    {},
}

// VIM is a registered cloud or cluster.
type VIM struct {
	// ID is a UUID that the broker assigns.
	ID      string
	Project string
	// Name is unique within the project: 1 to 255 printable characters, no space
	// at either end, and not a UUID.
	Name   string
	Type   VIMType
	State  VIMState
	Labels map[string]string
	// Description is free text for people: at most 4096 bytes.
	Description string
	// Extra is a JSON object of at most 64 KiB that callers keep with the VIM; the
	// broker gives it no meaning. Empty means none.
	Extra string
	// Shared VIMs can be seen and leased by every project.
	Shared bool
	// SharedWith are the other projects that can see and lease it, sorted, each once.
	SharedWith []string
	// Default: the project's VIM when a request names none. At most one a project.
	Default bool
	// Suspended says why no new lease is issued on it: at most 255 printable characters;
	// empty while leases are issued. Those alive are renewed and revoked as ever.
	Suspended string
	// CreatedBy is the principal that registered it.
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
	// Revision grows with every change of the row; it is the ETag.
	Revision int64

	// Current is what new leases are issued from.
	Current Generation
	// Past are earlier generations that leases still alive are pinned to, oldest
	// first. Each goes, with its key, when its last lease has ended.
	Past []Generation
	// Pending is the generation that is being written, or sealed anew, if any: its
	// key may be in the key store already. While it is set every other write is a conflict.
	Pending *Pending

	Health Health

	// Damaged: some of what is stored of it cannot be read. The store answers so in
	// lists only, so that the other VIMs are there; such a VIM is shown to nobody and
	// nothing is done to it.
	Damaged bool

	// IdempotencyKey and RequestDigest belong to the registration request.
	IdempotencyKey string
	RequestDigest  string
}

// Generation is one form of a VIM: where it is, how its server is known, and the
// sealed credential. Once written, nothing of it changes but the key it is sealed with.
type Generation struct {
	// Number counts from 1; zero means there is none yet.
	Number int64
	Target Target
	// Identity is what the VIM said it is (the UID of kube-system); a lease is
	// revoked only where this is the same.
	Identity       string
	Discovered     Discovered
	CredentialKind CredentialKind
	// Username is the sealed credential's user name, which is not secret; empty where it has none.
	Username string
	// CredentialExpiresAt is read from the certificate or JWT; zero if it says nothing.
	CredentialExpiresAt time.Time
	// Sealed is the Fernet token, and SealedAs what it was sealed as.
	Sealed   string
	SealedAs SealedAs
	// Key is the reference to its key in the key store KeyStore.
	Key      secret.Ref
	KeyStore string
}

// SealedAs is what a generation was when its credential was sealed. It is only a
// hint where to look: the envelope says the same, and is believed.
type SealedAs string

const (
	// SealedCurrent: as the VIM's current generation.
	SealedCurrent SealedAs = "current"
	// SealedPast: as an earlier one, which opens as the current one no more.
	SealedPast SealedAs = "past"
)

// Pending is the intent to write a generation.
type Pending struct {
	Generation int64
	Since      time.Time
}

// Target is where a VIM is and how its server is known. No part of it is secret.
type Target struct {
	// Endpoint is the API server's or Keystone's URL, without a path where none is needed.
	Endpoint string
	// CACert is a PEM bundle; empty means the system's roots.
	CACert string
	// InsecureSkipVerify: the caller said in so many words not to verify the server.
	InsecureSkipVerify bool
	// ServerName is checked in the certificate instead of the endpoint's host, if set.
	ServerName string
	// Namespace is where Kubernetes clients start; empty elsewhere.
	Namespace string
	// Scope is where in an OpenStack cloud; empty elsewhere.
	Scope Scope
	// Vouched is what the VIM's owner says of it.
	Vouched Vouched `json:",omitzero"`
}

// sameServer reports whether both lead to one address and know its server by the same authority and name.
func (t Target) sameServer(o Target) bool {
	return t.Endpoint == o.Endpoint && t.CACert == o.CACert && t.ServerName == o.ServerName && t.InsecureSkipVerify == o.InsecureSkipVerify
}

// movedFrom reports whether no server that a generation trusts answers where it leads, and the same system is elsewhere
// now, or shows a certificate of another authority.
func (v VIM) movedFrom(g Generation, err error) bool {
	return errors.Is(err, ErrUnreachable) && g.Identity == v.Current.Identity && !g.Target.sameServer(v.Current.Target)
}

// Scope is what of an OpenStack cloud a VIM is: the project that its credential
// acts in, and the user's domain. The id of each pair counts where both are given.
type Scope struct {
	Region            string `json:"region,omitempty"`
	ProjectID         string `json:"projectId,omitempty"`
	ProjectName       string `json:"projectName,omitempty"`
	ProjectDomainID   string `json:"projectDomainId,omitempty"`
	ProjectDomainName string `json:"projectDomainName,omitempty"`
	UserDomainID      string `json:"userDomainId,omitempty"`
	UserDomainName    string `json:"userDomainName,omitempty"`
}

// HealthStatus is what the last check of a VIM found.
type HealthStatus string

const (
	// HealthUnchecked: no check has ended yet.
	HealthUnchecked HealthStatus = "unchecked"
	// HealthReachable: the endpoint answers, knows the credential, and is who it was.
	HealthReachable HealthStatus = "reachable"
	// HealthUnreachable: the endpoint does not answer, or not as a VIM does.
	HealthUnreachable HealthStatus = "unreachable"
	// HealthUnauthorized: the endpoint refuses the credential.
	HealthUnauthorized HealthStatus = "unauthorized"
	// HealthIdentityChanged: another system answers at the endpoint, or what answers leads
	// elsewhere than it did. No lease is issued.
	HealthIdentityChanged HealthStatus = "identityChanged"
	// HealthUnopenable: the stored credential does not open with its key.
	HealthUnopenable HealthStatus = "unopenable"
)

// HealthStatuses are all of them.
func HealthStatuses() []HealthStatus {
	return []HealthStatus{
		HealthUnchecked, HealthReachable, HealthUnreachable, HealthUnauthorized, HealthIdentityChanged, HealthUnopenable,
	}
}

// Health is what the last check found.
type Health struct {
	Status    HealthStatus
	CheckedAt time.Time
	// Message says what is wrong and what to do, in our words; empty when well.
	Message string
	// Version is the VIM's own version string, at most 64 printable characters.
	Version string
	// CanMint: leases can be derived from the credential. MintMessage says why not, or what they cannot do.
	CanMint     bool
	MintMessage string
	// ExternalIPs says whether the VIM takes a Service that has addresses of others: [ExternalIPsTaken],
	// [ExternalIPsRefused], or empty where the credential may not try.
	ExternalIPs string
	// Next is when the periodic check is due.
	Next time.Time
}

// Whether a VIM takes a Service with addresses of others (CVE-2020-8554).
const (
	ExternalIPsTaken   = "taken"
	ExternalIPsRefused = "refused"
)

// Registration is what a caller registers a VIM with: either Target and
// Credential, or a Kubeconfig.
type Registration struct {
	Name     string
	Type     VIMType
	Endpoint string
	CACert   string
	// InsecureSkipVerify may stand beside a Kubeconfig or CloudsYAML, which alone cannot
	// turn verification off.
	InsecureSkipVerify bool
	// ServerName is as in [Target].
	ServerName string
	Namespace  string
	Scope      Scope
	Credential Credential
	// CloudsYAML is a whole clouds.yaml, and Cloud the name of the cloud in it.
	CloudsYAML secret.Text
	Cloud      string
	// Kubeconfig is a whole kubeconfig; Context selects from it, empty means its current-context.
	Kubeconfig secret.Text
	Context    string
	Labels     map[string]string
	// Description and Extra are as in [VIM].
	Description string
	Extra       string
	Shared      bool
	SharedWith  []string
	Default     bool
	// Project is whose VIM it becomes, as policy allows; empty means the principal's own.
	Project string
	// Inline says which request brings the VIM; nil where it is registered for itself. Such a VIM needs vim:inline
	// besides, and has labels that say so.
	Inline *Inline
	// Admit decides on the system that answers at the endpoint, before anything is sealed; its
	// error ends the registration. Nil admits all. It is not part of what tells requests apart.
	Admit func(Admission) error
	// Account asks for an account of the broker's own in the place of the credential. It is
	// not part of what tells requests apart.
	Account *Account
	// ID is the id that the VIM had before somebody deleted it; empty assigns one. Only the broker's own parts give one.
	ID string

	IdempotencyKey string
}

// Inline is where a VIM comes from whose credential a request for a VNF instance brings.
type Inline struct {
	// Instance is the id of the VNF instance, Connection the name that the request has for the VIM: a label's value.
	Instance, Connection string
}

// The labels of a VIM that came with a request; their prefix is ownLabels.
const (
	LabelInline     = "vimbroker.io/inline" // "true"
	LabelInstance   = "vimbroker.io/vnf-instance"
	LabelConnection = "vimbroker.io/vim-connection"
)

// The labels of a VIM that follows a cluster of Cluster API; their prefix is ownLabels.
const (
	LabelCluster          = "vimbroker.io/cluster" // the UID of the Cluster object
	LabelManagement       = "vimbroker.io/management-cluster"
	LabelClusterNamespace = "vimbroker.io/cluster-namespace"
	LabelClusterName      = "vimbroker.io/cluster-name" // absent if it is longer than 63 characters
	// LabelGone is "true" where the cluster, and its system with it, is known to be gone: nothing stands there any more.
	LabelGone = "vimbroker.io/cluster-gone"
)

// tyingLabels tie a VIM to what made it, and to what removes it.
var tyingLabels = []string{
	LabelInline, LabelInstance, LabelConnection, LabelCluster, LabelManagement, LabelClusterNamespace, LabelClusterName, LabelGone,
}

// tied refuses a change of labels that tie a VIM to what made it: those are for the broker's own parts.
func (c Change) tied(p policy.Principal) error {
	for _, key := range tyingLabels {
		if _, changed := c.Labels[key]; changed && !slices.Contains(p.Roles, policy.RoleSystem) {
			return &Error{
				Kind: ErrDenied, Field: "labels." + key, Detail: "ties the VIM to what made it, and nobody changes it",
				Remedy: "leave it out; a VIM whose management cluster is disabled is followed no more",
			}
		}
	}
	return nil
}

func (i Inline) labels() map[string]string {
	return map[string]string{LabelInline: yes(true), LabelInstance: i.Instance, LabelConnection: i.Connection}
}

// Change is a partial update of a VIM. Nil and empty mean "as it was".
type Change struct {
	Name   *string
	Labels map[string]*string // a nil value removes the label
	// Description replaces what was there.
	Description *string
	// Extra is a JSON object that is merged into the VIM's, at every depth (RFC 7396):
	// what it names is replaced, or removed where it is null, everything else stays.
	Extra  string
	Shared *bool
	// SharedWith replaces the whole list.
	SharedWith *[]string
	Default    *bool
	// Suspended is as in [VIM]; empty ends the suspension.
	Suspended *string
	// SharedKinds are as in [Vouched], one by one, and make a new generation: they are sealed with it. They need vim:vouch.
	SharedKinds *[]string
	// PodsHeldBy is as in [Vouched], and sealed as SharedKinds are; empty takes it back. It needs vim:vouch.
	PodsHeldBy *string

	// The following fields make a new generation. Endpoint, CACert, InsecureSkipVerify and
	// ServerName also demand the credential again.
	Endpoint           *string
	CACert             *string
	InsecureSkipVerify *bool
	ServerName         *string // empty: the endpoint's host counts again
	Namespace          *string
	Scope              *Scope // all of it: what is empty in it becomes empty
	Credential         Credential
	CloudsYAML         secret.Text
	Cloud              string
	Kubeconfig         secret.Text
	Context            string
	// Account is as in [Registration], for a credential that is given here.
	Account *Account
	// SameServer refuses a credential that leads to another server than the VIM's, or to one that is not verified.
	SameServer bool
	// Inline: a request for a VNF instance brings the credential, which needs vim:inline besides.
	Inline bool

	// IfRevision refuses the change with ErrPrecondition unless it is the VIM's
	// present revision; zero does not ask.
	IfRevision int64
}

// VIMQuery selects VIMs that the principal may see, ordered by project, then name.
type VIMQuery struct {
	IDPrefix string
	// Identity is that of the system that they lead to.
	Identity string
	Type     VIMType
	Name     string
	State    VIMState
	Status   HealthStatus
	// EndsBefore is a time before which their credential ends, unless the broker renews it itself.
	EndsBefore time.Time
	// Labels must all be present with these values.
	Labels map[string]string
	Page
}

// Page asks for a part of a list.
type Page struct {
	// Size is at most how many items; zero means DefaultPage; above MaxPage is invalid.
	Size int
	// Token is the nextPageToken of the page before; empty starts at the beginning.
	Token string
}

// Pass is one piece of periodic work: the store's job queue runs it, and so can a test.
type Pass struct {
	// Name is unique, in kebab case.
	Name  string
	Every time.Duration
	// Run does what is due now and returns. It is never run twice at once.
	Run func(context.Context) error
}

// CanMove reports whether a VIM may go from one state to another. Staying is no move.
func (s VIMState) CanMove(to VIMState) bool { return slices.Contains(vimMoves[s], to) }

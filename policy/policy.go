// Package policy decides who may do what: a principal, an action and a resource
// go in, a decision comes out. Nothing is allowed unless a policy permits it, and
// a policy that cannot be evaluated denies.
package policy

import (
	"errors"
	"strings"
	"time"
)

// ErrDenied is the error that every refusal unwraps to.
var ErrDenied = errors.New("denied by policy")

// ErrEvaluation: a policy could not be evaluated, and denied for that reason.
// The policies need mending.
var ErrEvaluation = errors.New("policy could not be evaluated")

// Principal is the caller that an authenticator established. It acts in exactly one
// project.
type Principal struct {
	// Name is unique within this broker, because it is qualified by who authenticated
	// the principal: "keystone:4f1c@default". A name without a prefix is that of a static
	// token: "alice". The prefix "system:" and [RoleSystem] come together or not at all.
	Name string
	// Project is the tenant the principal acts in.
	Project string
	// Roles are the principal's roles in that project: "admin", "member", "reader".
	Roles []string
	// Actor is the part of the broker that acts on behalf of the principal after the
	// request has ended, e.g. "system:lifecycle"; empty if the principal acts itself.
	// It is set by [Delegates.Resume]. An act needs the permission of both.
	Actor string
	// Warrant is what the act of an Actor rests on, in words for the audit log. No policy sees it.
	Warrant string
	// Claims are what the issuer of the principal's token says of it, by the names of [ClaimNames];
	// nil where there is no such issuer.
	Claims map[string][]string
	// Login is how the principal came in. No policy sees it.
	Login Arrival
}

// Arrival is how a principal came in whom an entry of the table of trust lets in; zero for others.
type Arrival struct {
	// Shown is the principal's name for people. It is never compared.
	Shown string
	// Entry is the entry's name, and Digest tells it from the entry as it was before a change.
	Entry, Digest string
	// Until is when the token or certificate that was shown ends.
	Until time.Time
}

// ClaimNames are the claims that policies may see, and whether one may have many values.
var ClaimNames = map[string]bool{
	"acr": false, "amr": true, "auth_time": false, "azp": false, "client_id": false, "email": false, "groups": true, "scope": false,
	"actor": false, "environment": false, "event_name": false, "job_workflow_ref": false, "ref": false, "ref_protected": false,
	"repository": false, "project_path": false, "namespace": false, "pod": false, "serviceaccount": false,
}

// Authenticators, as they qualify names.
const (
	ByStaticToken = "static"
	ByKeystone    = "keystone"
	ByClient      = "client" // a registered client, by OAuth 2.0; the rest of the name is its id
	// Those of the table of trust: entry and subject follow, as "oidc:corp:4f1c".
	ByIssuer      = "oidc" // an issuer of tokens
	ByCluster     = "k8s"  // the service accounts of a registered cluster
	ByCertificate = "cert" // authorities of certificates
	bySystem      = "system"
)

// Authenticator is who established the principal's name.
func (p Principal) Authenticator() string {
	if by, _, qualified := strings.Cut(p.Name, ":"); qualified {
		return by
	}
	return ByStaticToken
}

// Roles that the default policies speak of.
const (
	RoleAdmin  = "admin"
	RoleMember = "member"
	RoleReader = "reader"
	// RoleVNFM is for programs that use VIMs and change nothing else.
	RoleVNFM = "vnfm"
	// RoleProjectAdmin is an administrator of the own project, and of no other.
	RoleProjectAdmin = "project-admin"
	// RoleSystem is held by the broker's own passes, and can be held by no caller.
	RoleSystem = "system"
)

// Action is the action that a caller asks for. The names are those of Cedar's Action entities.
type Action string

// Every action there is.
const (
	VIMRegister    Action = "vim:register"
	VIMShow        Action = "vim:show" // also what list filters by
	VIMUpdate      Action = "vim:update"
	VIMRotate      Action = "vim:rotate"
	VIMCheck       Action = "vim:check"
	VIMDelete      Action = "vim:delete"
	VIMForceDelete Action = "vim:force-delete" // delete although leases could not be revoked
	// VIMRetire deletes a VIM whose system no longer exists, and ends its leases unasked.
	VIMRetire Action = "vim:retire"
	VIMShare  Action = "vim:share" // change with whom it is shared
	// VIMVouch is needed in addition to say which kinds all may have on it.
	VIMVouch Action = "vim:vouch"
	// VIMLabelReserved is needed in addition to set, change or remove a label whose key
	// begins with a reserved prefix.
	VIMLabelReserved Action = "vim:label-reserved"
	// VIMInline is needed in addition to register or change a VIM by a request for a VNF instance, which brings
	// its credential.
	VIMInline    Action = "vim:inline"
	VIMInventory Action = "vim:inventory"
	VIMSettle    Action = "vim:settle" // remove orphans, close ghosts

	// ClusterEnable makes a VIM a management cluster, whose clusters become VIMs by
	// themselves, changes how, or ends that. Registering in each project is needed too.
	ClusterEnable Action = "cluster:enable"
	ClusterShow   Action = "cluster:show" // a management cluster, and the clusters that it has
	// ClusterFollow changes the row of a cluster. Only the broker itself does so.
	ClusterFollow Action = "cluster:follow"

	LeaseIssue       Action = "lease:issue"
	LeasePassThrough Action = "lease:pass-through" // hand out the stored credential itself
	LeaseShow        Action = "lease:show"
	LeaseRenew       Action = "lease:renew"
	LeaseMint        Action = "lease:mint" // have a short token minted under a standing lease
	LeaseRevoke      Action = "lease:revoke"
	LeasePush        Action = "lease:push" // keep a kubeconfig for a standing lease where another system reads it

	VNFCreate Action = "vnf:create"
	VNFShow   Action = "vnf:show" // also its operations, and what list filters by
	VNFModify Action = "vnf:modify"
	VNFDelete Action = "vnf:delete"
	// Operations on an instance. Each is decided when it is asked for, without a plan, and
	// with its plan before anything is made, at each attempt.
	VNFInstantiate Action = "vnf:instantiate"
	VNFScale       Action = "vnf:scale"
	VNFHeal        Action = "vnf:heal"
	VNFUpdate      Action = "vnf:update" // go over to another package
	VNFTerminate   Action = "vnf:terminate"
	VNFForget      Action = "vnf:forget" // let go of an instance, and leave its resources on the VIM
	// Actions on an operation that runs or has failed.
	VNFRetry    Action = "vnf:retry"
	VNFRollback Action = "vnf:rollback"
	VNFFail     Action = "vnf:fail"
	VNFCancel   Action = "vnf:cancel"

	VNFConnect Action = "vnf:connect" // change what its external connection points are connected to

	LinkCreate Action = "link:create" // make a network on a VIM that VNF instances use
	LinkShow   Action = "link:show"   // also what list filters by
	LinkUse    Action = "link:use"    // connect a VNF instance to it
	LinkDelete Action = "link:delete"
	// LinkAdopt is needed in addition for a network that stands already, for one of the cloud's own, for a router, and for
	// ports that send as any address.
	LinkAdopt Action = "link:adopt"

	VolumeCreate Action = "volume:create" // make a claim on a VIM that VNF instances use, or name one that was kept
	VolumeShow   Action = "volume:show"   // also what list filters by
	VolumeUse    Action = "volume:use"    // have a VNF instance mount it
	VolumeDelete Action = "volume:delete"

	PackageCreate Action = "package:create"
	PackageShow   Action = "package:show"   // also its content, and what list filters by
	PackageUpload Action = "package:upload" // decided again once the product of the package is known
	PackageModify Action = "package:modify" // enable, disable, change its user-defined data
	PackageDelete Action = "package:delete"
	PackageUse    Action = "package:use" // make a VNF instance from it, or change one to it

	SubscriptionCreate Action = "subscription:create" // have an endpoint told what becomes of the project's VNF instances
	SubscriptionShow   Action = "subscription:show"   // also what list filters by
	SubscriptionDelete Action = "subscription:delete"
	// SubscriptionNotify sends notifications, and gives them up. The broker itself does so.
	SubscriptionNotify Action = "subscription:notify"

	ClientCreate Action = "client:create" // register a program that logs in by OAuth 2.0
	ClientShow   Action = "client:show"   // also what list filters by
	ClientUpdate Action = "client:update" // say where its VNFs go
	ClientRotate Action = "client:rotate" // give it another secret
	ClientDelete Action = "client:delete"

	GrantRequest Action = "grant:request" // ask for a grant of SOL003; the lease is decided on separately
	GrantShow    Action = "grant:show"    // also what list filters by; its credential is for the client alone
	// GrantResume is needed in addition once the lease of the instance was revoked.
	GrantResume Action = "grant:resume"
	GrantEnd    Action = "grant:end" // say that the operation has ended

	AuditRead     Action = "audit:read"
	TokenList     Action = "token:list"   // callers' static tokens, and when they were last used
	TokenKey      Action = "token:key"    // show, replace or revoke a key that signs clients' tokens
	AuditKey      Action = "audit:key"    // make, replace or revoke a key that signs checkpoints of the log
	TrustShow     Action = "trust:show"   // the table of trust; also to try a token against it
	TrustCreate   Action = "trust:create" // let others say who callers are, with any role in any project
	TrustUpdate   Action = "trust:update"
	TrustDelete   Action = "trust:delete"
	PolicyExplain Action = "policy:explain" // about another principal than oneself
)

// Kind is the kind of thing an action is done to; the names are Cedar entity types.
type Kind string

// Every kind of resource.
const (
	KindProject Kind = "Project"
	KindVIM     Kind = "VIM"
	KindLease   Kind = "Lease"
	// KindVNFInstance is a VNF instance; its operations are decided as actions on it.
	KindVNFInstance Kind = "VNFInstance"
	KindPackage     Kind = "Package"
	// KindSubscription is one to what becomes of VNF instances.
	KindSubscription Kind = "Subscription"
	// KindClient is a program that logs in by OAuth 2.0.
	KindClient Kind = "Client"
	// KindLink is a virtual link: a network that stands apart from VNF instances.
	KindLink Kind = "VirtualLink"
	// KindVolume is a claim that stands apart from VNF instances.
	KindVolume Kind = "Volume"
	// KindGrant is the grant of a client for an operation on a VNF instance of its own.
	KindGrant Kind = "Grant"
)

// Resource is the object of the action. Fields of other kinds are empty. For actions that
// have no object yet (register, list, audit) it is the Project.
type Resource struct {
	Kind Kind
	// ID is a UUID, or the project's name.
	ID string
	// Project is the tenant it belongs to; a lease belongs to its principal's.
	Project string
	// VIMProject is, on a lease, the project that its VIM belongs to.
	VIMProject string
	// VIMType and VIMName are the VIM's; on a lease, those of its VIM.
	VIMType string
	VIMName string
	// Shared, SharedWith and Labels are a VIM's: on a lease they would date from its
	// issue. A VNF package has labels, too; virtual links and volumes are shared like VIMs.
	Shared     bool
	SharedWith []string
	Labels     map[string]string
	// Owner is the principal that a lease was issued to, that asked for a grant, or that made a VNF instance or a subscription.
	Owner string
	// Roles are those that a client has, or would have.
	Roles []string
	// Name is a VNF instance's or a client's. VNFDID is a VNF instance's, too; VIMName and VIMType are those of the VIM that it
	// is on, and empty while it has no resources.
	Name   string
	VNFDID string
	// Provider, Product and Version are a VNF package's: those of the product that its
	// descriptor names, and empty before it has one. Version is that of the software.
	Provider, Product, Version string
	// Signer is the verified signer of a VNF package; empty if there is none.
	Signer string
	// VIM is the id of the VIM that a lease is on, or that is about to be made in a
	// project; EndpointHost the host of its endpoint. They are for the audit log: no
	// policy sees them.
	VIM          string
	EndpointHost string
}

// Wish holds the values of a request that would take effect, for policies. It is zero
// where an action has no context.
type Wish struct {
	// TTL is the lifetime that would be granted: defaults filled in and capped, so that
	// leaving it out or asking for too much passes no policy. Policies see it in seconds,
	// rounded up.
	TTL        time.Duration
	Role       string
	Namespaces []string
	Purpose    string
	// For is the person that the lease is for, as its holder says; empty is the holder.
	For string
	// Issued is when the lease was issued; zero if it is not yet.
	Issued time.Time
	// Grade is the reach of the holder: "bounded", "namespaces" or "unbounded", and is
	// empty if the driver does not compute it.
	Grade string
	// ClusterWide: everywhere on the VIM, also outside of namespaces.
	ClusterWide bool
	// Standing: the lease stands for months, and TTL is that of each token under it.
	Standing bool
	Rules    LeaseRules
	// VIM is the VIM after the write, if an action writes one; nil otherwise.
	VIM *VIMDraft
	// Plan is the plan of an operation on a VNF instance; nil if it is not known yet.
	Plan *OperationPlan
}

// OperationPlan holds the effects of an operation on a VNF instance, for policies.
type OperationPlan struct {
	VIMName, VIMProject string
	VIMLabels           map[string]string
	// Fields of the VNF package.
	VNFDID, Provider, Product, SoftwareVersion string
	// Kinds are written as "deployments.apps", those of the core group as "pods".
	Kinds      []string
	Namespaces []string
	Images     []string
	// ClusterScoped: it makes, changes or removes resources without a namespace.
	ClusterScoped bool
	// Privileged: an object reaches a node, or a pod does not meet level baseline of Pod Security.
	Privileged                                    bool
	BringsRBAC, BringsDefinitions, BringsWebhooks bool
	// Reaches are the ways in which objects reach out of their namespaces: "node", "network", "cluster", "rbac",
	// "definitions", "webhooks", "unknown".
	Reaches []string
	// PodSecurity is the strictest level that every pod meets: "restricted", "baseline", "privileged"; "" if there is none.
	PodSecurity string
	// Outlives: something of it stays when the instance is terminated.
	Outlives bool
}

// LeaseRules are the rights of a lease that has rules in place of a role.
type LeaseRules struct {
	// Resources are written as "deployments.apps", those of the core group as "pods".
	Resources []string
	Verbs     []string
}

// VIMDraft is a VIM after a write, and before it.
type VIMDraft struct {
	Name, Type string
	// EndpointHost is the host of the endpoint, without a port.
	EndpointHost string
	// PlainHTTP: the credential would be sent without TLS.
	PlainHTTP bool
	// InsecureSkipVerify: the server's certificate would not be verified.
	InsecureSkipVerify bool
	// ServerName is the name that the certificate is checked for instead of the endpoint's host.
	ServerName string
	// KeyStore would hold the key of the sealed credential.
	KeyStore string
	Default  bool
	// Inline: a request for a VNF instance brings the credential.
	Inline bool
	// Shared is with every project, SharedWith with these.
	Shared     bool
	SharedWith []string
	Labels     map[string]string
	// The previous values are empty if the VIM is new.
	SharedBefore     bool
	SharedWithBefore []string
	// Vouches: an owner's statement on the VIM changes; VouchesForPods: that on what holds pods, which a refusal names.
	Vouches, VouchesForPods bool

	LabelsBefore map[string]string
}

// Request is one question.
type Request struct {
	Principal Principal
	Action    Action
	Resource  Resource
	Wish      Wish
	// At is the time that policies see, in the zone of the site; zero is now.
	At time.Time
}

// Decision is the answer, and why.
type Decision struct {
	Allowed bool
	// Policies are the ids of the policies that determined the answer; empty
	// when nothing permitted.
	Policies []string
	// Reasons are what the policies that forbid say for themselves (@reason).
	Reasons []string
	// Why are the conditions that decided, where somebody asked for them ([Policies.Why]).
	Why []string
	// Errors are evaluation errors. Any error denies, whatever else matched.
	Errors []string
}

// Refused is an [ErrDenied] with the reasons that policies give.
type Refused struct{ Reasons []string }

func (r *Refused) Error() string {
	if len(r.Reasons) == 0 {
		return ErrDenied.Error()
	}
	return ErrDenied.Error() + ": " + strings.Join(r.Reasons, "; ")
}

// Unwrap gives the sentinel.
func (*Refused) Unwrap() error { return ErrDenied }

// Decider answers questions. It is safe for concurrent use.
type Decider interface {
	Decide(Request) Decision
}

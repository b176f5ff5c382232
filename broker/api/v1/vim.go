package v1

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// VIM is a registered cloud or cluster as callers see it. It never holds the
// credential, only facts about it.
type VIM struct {
	ID       string `json:"id" doc:"UUID, assigned at registration" format:"uuid"`
	Name     string `json:"name" doc:"Unique in its project"`
	Type     string `json:"type" doc:"Kind of system"`
	Endpoint string `json:"endpoint" doc:"URL of the API server or of Keystone"`
	Status   string `json:"status" doc:"registering or draining while it is in that state, otherwise the result of the last check" enum:"registering,draining,unchecked,reachable,unreachable,unauthorized,identityChanged,unopenable"`
	State    string `json:"state" doc:"State of the registration" enum:"registering,registered,draining"`
	Project  string `json:"project" doc:"Project that owns it"`

	Description string         `json:"description,omitempty" doc:"Free text for people"`
	Extra       jsontext.Value `json:"extra,omitzero" doc:"Data that callers keep with the VIM; the broker does not use it"`

	Labels map[string]string `json:"labels" doc:"Labels to select by"`
	Shared bool              `json:"shared" doc:"Every project can see and lease it"`

	SharedWith []string `json:"sharedWith,omitempty" doc:"Other projects that can see and lease it; a caller of another project sees only its own here"`

	Default bool `json:"default" doc:"Used when a lease request of its project names no VIM"`

	Suspended string `json:"suspended,omitempty" doc:"Why no new lease is issued on it; leases that are alive are renewed. Absent while leases are issued"`

	Generation int64 `json:"generation" doc:"Counts changes of endpoint, trust and credential; a lease is pinned to one"`
	Revision   int64 `json:"revision" doc:"Counts every change; the ETag is this number in quotes"`

	Credential         StoredCredential `json:"credential" doc:"Facts about the stored credential, never the credential"`
	CACert             string           `json:"caCert,omitempty" doc:"PEM bundle that the endpoint's certificate must chain to; absent means the system's roots"`
	InsecureSkipVerify bool             `json:"insecureSkipVerify" doc:"The endpoint's certificate is not verified"`
	ServerName         string           `json:"serverName,omitempty" doc:"Name that the endpoint's certificate must have instead of the endpoint's host; as tls-server-name in a kubeconfig"`
	Namespace          string           `json:"namespace,omitempty" doc:"Namespace that clients start in"`

	SharedKinds []string `json:"sharedKinds,omitempty" doc:"Kinds that every project which uses the VIM may have in a VNF, as the VIM's owner says"`
	PodsHeldBy  string   `json:"podsHeldBy,omitempty" doc:"Admission that keeps pods from their nodes where a namespace enforces no Pod Security, as the VIM's owner says"`

	Scope      *Scope      `json:"scope,omitempty" doc:"Region, project and domains, as registered (OpenStack)"`
	Discovered *Discovered `json:"discovered,omitempty" doc:"What the last check discovered"`

	CheckedAt   time.Time `json:"checkedAt,omitzero" doc:"When the last check ended"`
	Message     string    `json:"message,omitempty" doc:"What is wrong and what to do; absent if nothing is"`
	Version     string    `json:"version,omitempty" doc:"Version that the VIM reports"`
	Identity    string    `json:"identity,omitempty" doc:"Identity of the system, e.g. the UID of kube-system"`
	CanMint     bool      `json:"canMint" doc:"Leases can be derived from the credential"`
	MintMessage string    `json:"mintMessage,omitempty" doc:"Why leases cannot be derived, and the remedy; where they can, what they cannot do"`
	ExternalIPs string    `json:"externalIPs,omitempty" doc:"Whether the cluster takes a Service with addresses of others (externalIPs), which then gets their traffic; absent where the credential may not try (clusters)" enum:"taken,refused"`
	Warnings    []string  `json:"warnings" doc:"Warnings: insecureSkipVerify, plainHTTP (whatever is sent can be read on the way), credentialExpiring (within 30 days), credentialExpired, caExpiring (within 30 days), caExpired"`

	WaitsFor []string `json:"waitsFor,omitempty" doc:"What a draining VIM waits for: leases that have not ended, with what went wrong last and when they are tried again; only where one VIM is shown" example:"[\"lease c0a8f7de-3b1d-4c55-8a4b-90b1c3d2e5f6 of alice, which is revoking, tries: 3: VIM unreachable; the next try is at 2026-11-02T09:00:00Z\"]"`

	SameAs []string `json:"sameAs,omitempty" doc:"Other VIMs that the caller sees and that are the same system, as project/name; only in the answers to a registration, to a check and about one VIM"`

	CreatedAt time.Time `json:"createdAt" doc:"When it was registered"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was last changed"`
	CreatedBy string    `json:"createdBy" doc:"Principal that registered it"`
}

// Discovered holds the facts that the last check discovered about a VIM.
type Discovered struct {
	Regions []string `json:"regions" doc:"Regions of a cloud, namespaces of a cluster"`
	*Cluster
	*Cloud
}

// Cluster holds the facts discovered about a cluster, in addition to its namespaces.
type Cluster struct {
	Mode string `json:"mode,omitempty" doc:"managed: the broker makes the namespaces that leases need; prepared: it uses those of a pool (clusters). As found when endpoint or credential were last given" enum:"managed,prepared"`
	User string `json:"user,omitempty" doc:"Who the cluster takes the registered credential for (clusters)"`

	Profile   string    `json:"profile,omitempty" doc:"What the account of the broker's own may do that took the place of the credential that was given; absent where that was kept (clusters)" example:"engine"`
	NoAccount string    `json:"noAccount,omitempty" doc:"Why the credential that was given was kept, although an account was asked for (clusters)"`
	RenewAt   time.Time `json:"renewAt,omitzero" doc:"When the broker replaces the token of its account (clusters)"`
}

// Cloud holds the facts discovered about a cloud, in addition to its regions.
type Cloud struct {
	UserID            string   `json:"userId,omitempty" doc:"Registered user, by id (clouds)"`
	UserDomainID      string   `json:"userDomainId,omitempty" doc:"Domain of the user, by id (clouds)"`
	ProjectID         string   `json:"projectId,omitempty" doc:"Project of the credential, by id (clouds)"`
	ProjectName       string   `json:"projectName,omitempty" doc:"Project of the credential, by name (clouds)"`
	ProjectDomainID   string   `json:"projectDomainId,omitempty" doc:"Domain of the project, by id (clouds)"`
	ProjectDomainName string   `json:"projectDomainName,omitempty" doc:"Domain of the project, by name (clouds)"`
	Roles             []string `json:"roles,omitempty" doc:"Roles of the user on the project (clouds)"`

	Leases   string   `json:"leases,omitempty" doc:"Kind of credential that a lease is: applicationCredential, or projectToken where the registered credential may not make any (clouds)"`
	Trusts   bool     `json:"trustsByApplicationCredential,omitempty" doc:"Application credentials may make trusts, which Heat needs; where they may not, a lease for purpose heat is a project token (clouds)"`
	Warnings []string `json:"warnings,omitempty" doc:"Which leases are not bounded, and why; which services stand where the egress rules refuse to connect (clouds)"`

	Catalog []CatalogEntry `json:"catalog,omitempty" doc:"Where the service catalog leads (clouds)"`
}

// CatalogEntry is one line of a cloud's service catalog.
type CatalogEntry struct {
	Service   string `json:"service" doc:"Type of the service"`
	Interface string `json:"interface" doc:"Interface of the endpoint, such as public"`
	Region    string `json:"region,omitempty" doc:"Region of the endpoint"`
	Origin    string `json:"origin" doc:"Scheme, host and port of the endpoint"`
}

// Warnings that a [VIM] can carry.
const (
	WarnInsecure  = "insecureSkipVerify"
	WarnPlainHTTP = "plainHTTP"
	WarnExpiring  = "credentialExpiring"
	WarnExpired   = "credentialExpired"

	WarnCAExpiring = "caExpiring"
	WarnCAExpired  = "caExpired"
)

// StoredCredential says what is known of a sealed credential without opening it.
type StoredCredential struct {
	Kind      string    `json:"kind" doc:"bearerToken, clientCertificate, basicAuth, password or applicationCredential"`
	ExpiresAt time.Time `json:"expiresAt,omitzero" doc:"When it stops working, read from the certificate or JWT; absent if it does not say"`
	KeyStore  string    `json:"keyStore" doc:"Where its key is kept"`
}

// Credential is a credential as a caller hands it in: exactly one of token,
// clientCertificate with clientKey, username with password, or
// applicationCredentialId with applicationCredentialSecret.
type Credential struct {
	Token             secret.Text `json:"token,omitzero" doc:"Bearer token" format:"password" writeOnly:"true"`
	ClientCertificate string      `json:"clientCertificate,omitempty" doc:"PEM certificate, with clientKey" writeOnly:"true"`
	ClientKey         secret.Text `json:"clientKey,omitzero" doc:"PEM private key, with clientCertificate" format:"password" writeOnly:"true"`
	Username          string      `json:"username,omitempty" doc:"User name, with password" writeOnly:"true"`
	Password          secret.Text `json:"password,omitzero" doc:"Password, with username" format:"password" writeOnly:"true"`

	ApplicationCredentialID     string      `json:"applicationCredentialId,omitempty" doc:"OpenStack application credential, with applicationCredentialSecret" writeOnly:"true"`
	ApplicationCredentialSecret secret.Text `json:"applicationCredentialSecret,omitzero" doc:"Its secret" format:"password" writeOnly:"true"`
}

// Registration registers a VIM: with an endpoint and a credential, with a
// kubeconfig, or with a clouds.yaml and the name of a cloud in it.
type Registration struct {
	Name               string `json:"name" doc:"Unique in the caller's project; printable, no space at either end, not a UUID" minLength:"1" maxLength:"255"`
	Type               string `json:"type,omitempty" doc:"Kind of system; may be absent beside a kubeconfig or a clouds.yaml, which imply it"`
	Endpoint           string `json:"endpoint,omitempty" doc:"URL of the API server or of Keystone"`
	CACert             string `json:"caCert,omitempty" doc:"PEM bundle; absent means the system's roots"`
	InsecureSkipVerify bool   `json:"insecureSkipVerify,omitzero" doc:"Do not verify the endpoint's certificate; may stand beside a kubeconfig or a clouds.yaml, which alone cannot turn verification off"`
	ServerName         string `json:"serverName,omitempty" doc:"Name that the endpoint's certificate must have instead of the endpoint's host"`
	Namespace          string `json:"namespace,omitempty" doc:"Namespace that clients start in (Kubernetes)"`
	Region             string `json:"region,omitempty" doc:"Region (OpenStack)"`
	VIMProject         string `json:"vimProject,omitempty" doc:"Project of this broker that gets the VIM; absent means your own"`
	Project            string `json:"project,omitempty" doc:"Project, by name (OpenStack)"`
	ProjectID          string `json:"projectId,omitempty" doc:"Project, by id instead (OpenStack)"`
	Domain             string `json:"domain,omitempty" doc:"Domain of user and project, by name (OpenStack)"`
	ProjectDomain      string `json:"projectDomain,omitempty" doc:"Domain of the project, where it is another (OpenStack)"`
	UserDomain         string `json:"userDomain,omitempty" doc:"Domain of the user, where it is another (OpenStack)"`

	Credential Credential `json:"credential,omitzero" doc:"The credential to store, sealed" writeOnly:"true"`

	Kubeconfig secret.Text `json:"kubeconfig,omitzero" doc:"A whole kubeconfig, credentials inline" format:"password" writeOnly:"true"`
	Context    string      `json:"context,omitempty" doc:"Context in it; absent means its current-context"`
	CloudsYAML secret.Text `json:"cloudsYaml,omitzero" doc:"A whole clouds.yaml" format:"password" writeOnly:"true"`
	Cloud      string      `json:"cloud,omitempty" doc:"Name of the cloud in it"`

	Description string         `json:"description,omitempty" doc:"Free text for people, at most 4096 bytes"`
	Extra       jsontext.Value `json:"extra,omitzero" doc:"Data to keep with the VIM, at most 64 KiB. Everyone who sees the VIM sees it: put no secret here"`

	Labels  map[string]string `json:"labels,omitempty" doc:"Labels to select by"`
	Shared  bool              `json:"shared,omitzero" doc:"Let every project see and lease it"`
	Default bool              `json:"default,omitzero" doc:"Make it the project's default"`

	SharedWith []string `json:"sharedWith,omitempty" doc:"Let these projects see and lease it" maxItems:"100"`
}

// Scope is the part of an OpenStack cloud that a VIM is. If id and name are given, the id counts.
type Scope struct {
	Region          string `json:"region,omitempty" doc:"Region"`
	ProjectID       string `json:"projectId,omitempty" doc:"Project, by id"`
	Project         string `json:"project,omitempty" doc:"Project, by name"`
	ProjectDomainID string `json:"projectDomainId,omitempty" doc:"Domain of the project, by id"`
	ProjectDomain   string `json:"projectDomain,omitempty" doc:"Domain of the project, by name"`
	UserDomainID    string `json:"userDomainId,omitempty" doc:"Domain of the user, by id"`
	UserDomain      string `json:"userDomain,omitempty" doc:"Domain of the user, by name"`
}

// Change is a partial update of a VIM. An absent field stays unchanged. A change of
// endpoint, caCert or insecureSkipVerify needs the credential again.
type Change struct {
	Name        *string            `json:"name,omitzero" doc:"New name"`
	Description *string            `json:"description,omitzero" doc:"New description"`
	Extra       jsontext.Value     `json:"extra,omitzero" doc:"Merged into what is there, at every depth (RFC 7396): null removes a member, absent ones stay"`
	Labels      map[string]*string `json:"labels,omitempty" doc:"Labels to set; null removes one, absent ones stay"`
	Shared      *bool              `json:"shared,omitzero" doc:"Let every project see and lease it"`
	SharedWith  *[]string          `json:"sharedWith,omitzero" doc:"Let these projects see and lease it, and no others" maxItems:"100"`
	Default     *bool              `json:"default,omitzero" doc:"Make it the project's default"`
	Suspended   *string            `json:"suspended,omitzero" doc:"Why no new lease is to be issued on it, at most 255 printable characters; empty ends that"`

	SharedKinds *[]string `json:"sharedKinds,omitzero" doc:"Kinds that every project which uses the VIM may have in a VNF, and no others: PLURAL.GROUP, or with some of its types PLURAL.GROUP=TYPE,TYPE" maxItems:"100"`
	PodsHeldBy  *string   `json:"podsHeldBy,omitzero" doc:"Admission that keeps pods from their nodes where a namespace enforces no Pod Security, such as kyverno; empty takes that back"`

	Endpoint           *string     `json:"endpoint,omitzero" doc:"New URL"`
	CACert             *string     `json:"caCert,omitzero" doc:"New PEM bundle; empty means the system's roots"`
	InsecureSkipVerify *bool       `json:"insecureSkipVerify,omitzero" doc:"Do not verify the endpoint's certificate"`
	ServerName         *string     `json:"serverName,omitzero" doc:"Name that the endpoint's certificate must have instead of the endpoint's host; empty means the host"`
	Namespace          *string     `json:"namespace,omitzero" doc:"Namespace that clients start in"`
	Scope              *Scope      `json:"scope,omitzero" doc:"Region, project and domains; replaces all of them (OpenStack)"`
	CloudsYAML         secret.Text `json:"cloudsYaml,omitzero" doc:"A whole clouds.yaml instead of endpoint, caCert, scope and credential" format:"password" writeOnly:"true"`
	Cloud              string      `json:"cloud,omitempty" doc:"Name of the cloud in it"`
	Credential         Credential  `json:"credential,omitzero" doc:"The credential to store instead" writeOnly:"true"`
	Kubeconfig         secret.Text `json:"kubeconfig,omitzero" doc:"A whole kubeconfig instead of endpoint, caCert and credential" format:"password" writeOnly:"true"`
	Context            string      `json:"context,omitempty" doc:"Context in it; absent means its current-context"`
}

// Rotation replaces the stored credential. Without a credential the same one is
// sealed again under a new key.
type Rotation struct {
	Credential Credential `json:"credential,omitzero" doc:"The new credential; absent seals the same one under a new key" writeOnly:"true"`
	KeyStore   string     `json:"keyStore,omitempty" doc:"Key store for the new key, where no credential is given; absent means the one for new keys" example:"vault"`
}

// KeyRotation reseals the secrets that belong to no VIM, under new keys.
type KeyRotation struct {
	KeyStore     string    `json:"keyStore,omitempty" doc:"Key store for the new keys; absent means the one for new keys" example:"vault"`
	SealedBefore time.Time `json:"sealedBefore,omitzero" doc:"What was sealed before this time goes as well; without it only what has its key in another key store"`
}

// KeyStatus says how a VIM's credential is sealed.
type KeyStatus struct {
	VIM        string    `json:"vim" doc:"Id of the VIM"`
	VIMName    string    `json:"vimName" doc:"Its name"`
	Project    string    `json:"project" doc:"Its project"`
	Generation int64     `json:"generation" doc:"Number of the credential"`
	KeyStore   string    `json:"keyStore" doc:"Where the key is" example:"vault"`
	SealedAt   time.Time `json:"sealedAt,omitzero" doc:"When the key was made"`
	Past       int       `json:"past,omitempty" doc:"Earlier credentials, each with a key, that leases still need"`
	Elsewhere  int       `json:"elsewhere,omitempty" doc:"Secret parameters of VNF instances on the VIM whose keys are in another key store"`
	Pending    bool      `json:"pending,omitempty" doc:"A write of the credential or its key is under way, or was abandoned"`
	Opens      *bool     `json:"opens,omitempty" doc:"Whether the credential opens; absent where it was not tried, or could not be"`
	Message    string    `json:"message,omitempty" doc:"Why it does not open, and what to do"`
}

// CheckRequest is the body of a check: nothing, or an empty object.
type CheckRequest struct{}

// InventoryRequest asks to compare the broker's objects on a VIM with the leases.
type InventoryRequest struct {
	Settle bool `json:"settle,omitzero" doc:"Remove orphans and close ghosts"`
}

// Inventory compares a VIM with the leases on it, both ways.
type Inventory struct {
	VIM      string     `json:"vim" doc:"Id of the VIM"`
	VIMName  string     `json:"vimName" doc:"Name of the VIM"`
	Upstream int        `json:"upstream" doc:"Objects of this broker on the VIM"`
	Rows     int        `json:"rows" doc:"Leases that should have one"`
	Orphans  []Upstream `json:"orphans" doc:"Objects without a lease"`
	Ghosts   []Lease    `json:"ghosts" doc:"Leases without an object"`
	Unbound  []Unbound  `json:"unbound,omitempty" doc:"Leases that lack rights which they were granted, as bindings were taken away; the next credential that is minted for one brings them back"`
	Foreign  []string   `json:"foreign,omitempty" doc:"What somebody else made that could be used to act as a lease of the VIM, or to outlive one"`
	Unseen   int        `json:"unseen,omitzero" doc:"Leases whose object cannot be looked for: only the credential that issued them sees it, and the VIM now refuses that one"`
	Settled  bool       `json:"settled" doc:"Whether orphans were removed and ghosts closed"`
}

// Unbound is a lease without some of its rights.
type Unbound struct {
	Lease      Lease    `json:"lease" doc:"The lease"`
	Namespaces []string `json:"namespaces" doc:"Where it has none; * is the whole VIM"`
}

// Upstream is one object of the broker on a VIM.
type Upstream struct {
	Handle    string    `json:"handle" doc:"Its name on the VIM"`
	Lease     string    `json:"lease,omitempty" doc:"Id of the lease it was made for"`
	CreatedAt time.Time `json:"createdAt,omitzero" doc:"When it was made, as the VIM says"`
}

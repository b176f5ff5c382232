package broker

import "time"

// Discovered is what a driver found out about a VIM. It is stored with the
// generation as JSON of at most 64 KiB, shown to callers, and handed back to the
// driver in [Access]. None of it is secret.
type Discovered struct {
	// Regions are the VIM's regions; on Kubernetes its namespaces.
	Regions []string `json:"regions"`
	// Cloud is nil where the VIM is no cloud, or nothing was discovered yet. In the
	// stored form its fields stand beside the regions.
	*Cloud
	// Cluster is nil where the VIM is no cluster, or was last checked before there were
	// modes. In the stored form its fields stand beside the regions.
	*Cluster
}

// The modes of a cluster.
const (
	// ModeManaged: the registered credential makes the namespaces that it needs.
	ModeManaged = "managed"
	// ModePrepared: it uses those of a pool that an administrator made.
	ModePrepared = "prepared"
)

// Cluster is what a driver found out about a Kubernetes cluster.
type Cluster struct {
	Mode string `json:"mode"`
	// Pool counts the namespaces of the pool, PoolFree those that no grant has claimed.
	Pool     int `json:"pool,omitempty"`
	PoolFree int `json:"poolFree,omitempty"`
	// User is who the cluster takes the registered credential for.
	User string `json:"user,omitempty"`
	// Profile is what the account may do that works in the place of the credential that
	// was given (see [Account]); empty where that credential was kept. NoAccount says then
	// why, if an account was asked for.
	Profile   string `json:"profile,omitempty"`
	NoAccount string `json:"noAccount,omitempty"`
	// RenewAt is when the account's token is to be replaced; zero where it is none's.
	RenewAt time.Time `json:"renewAt,omitzero"`
}

// Cloud is what a driver found out about a cloud with projects.
type Cloud struct {
	// UserID and UserDomainID are those of the registered user.
	UserID       string `json:"userId"`
	UserDomainID string `json:"userDomainId"`
	// The project is the one that the credential acts in.
	ProjectID         string `json:"projectId"`
	ProjectName       string `json:"projectName"`
	ProjectDomainID   string `json:"projectDomainId"`
	ProjectDomainName string `json:"projectDomainName"`
	// Roles are those of the user on the project.
	Roles []string `json:"roles"`

	// Leases is the kind of credential that a lease is: ApplicationCredential, or
	// ProjectToken where the registered credential may not make any.
	Leases CredentialKind `json:"leases"`
	// Trusts: application credentials may make trusts, which Heat needs. Where they
	// may not, a lease whose purpose is Heat is a project token.
	Trusts bool `json:"trustsByApplicationCredential"`
	// Openings are the ways in which the holder of an application credential can go beyond
	// it on this cloud, by the driver's names for them: empty where the cloud says so, and
	// otherwise why it is not known. Nil where nobody has asked.
	Openings map[string]string `json:"openings,omitzero"`
	// Warnings are sentences that say which leases are not bounded.
	Warnings []string `json:"warnings,omitempty"`

	Catalog []CatalogEntry `json:"catalog"`
}

// CatalogEntry is one line of a cloud's service catalog, reduced to where it leads:
// a token follows to that host.
type CatalogEntry struct {
	Service   string `json:"service"`
	Interface string `json:"interface"`
	Region    string `json:"region,omitempty"`
	// Origin is scheme, host and port.
	Origin string `json:"origin"`
}

package v1

import "time"

// List is one page of a list.
type List[T any] struct {
	Items []T `json:"items" doc:"This page's items"`
	// NextPageToken asks for the page after this one; empty on the last.
	NextPageToken string `json:"nextPageToken" doc:"pageToken of the next page; empty on the last"`
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq       int64             `json:"seq" doc:"Counts from 1 without a gap"`
	Time      time.Time         `json:"time" doc:"When, with microseconds"`
	Request   string            `json:"request,omitempty" doc:"Request id that led here"`
	Door      string            `json:"door,omitempty" doc:"Door that the request came in by; empty for the server's own work" example:"rest"`
	Principal string            `json:"principal" doc:"Who"`
	Project   string            `json:"project" doc:"Project of the principal; of the owner, where another project's principal was refused; empty where the broker itself is meant"`
	Action    string            `json:"action" doc:"What was asked for" example:"lease:issue"`
	Kind      string            `json:"kind" doc:"Kind of resource" enum:"Project,VIM,Lease,Server"`
	Resource  string            `json:"resource" doc:"Id of the resource; empty where the principal found none"`
	Outcome   string            `json:"outcome" doc:"Point of the action at which it was written" enum:"denied,read,intent,done,failed"`
	Detail    map[string]string `json:"detail,omitempty" doc:"What else matters, such as vim, vimName, vimProject, endpointHost, lease, source, authenticator; old. and new. begin the names of fields that were changed"`
	Damaged   bool              `json:"damaged,omitzero" doc:"What is stored of detail cannot be read: it is left out, and hash does not fit" example:"false"`
}

// AuditSink is a place outside that gets every entry of the audit log.
type AuditSink struct {
	Name      string `json:"name" doc:"Name in the server's configuration" example:"site-siem"`
	Mode      string `json:"mode" doc:"What becomes of it where it is late: while a required sink is, only revocations go on; one of best effort misses entries" enum:"required,bestEffort"`
	Within    string `json:"within" doc:"How far behind it may be" example:"5m0s"`
	Behind    string `json:"behind" doc:"Age of the oldest entry that is still to be delivered" example:"0s"`
	Late      bool   `json:"late" doc:"Whether it is further behind than it may be"`
	Delivered int64  `json:"delivered" doc:"Last entry that was delivered, or skipped"`
	Waiting   int64  `json:"waiting" doc:"Entries that are still to be delivered"`
	Skipped   int64  `json:"skipped" doc:"Entries that were never delivered"`
	Fault     string `json:"fault,omitempty" doc:"Why the last attempt of the process that answers failed"`
}

// Retention is how long the past is kept, and what is removed next.
type Retention struct {
	KeepAudit  string `json:"keepAudit" doc:"How long audit entries are kept" example:"43800h0m0s"`
	KeepLeases string `json:"keepLeases" doc:"How long leases are kept that have ended" example:"8760h0m0s"`
	KeepJobs   string `json:"keepJobs" doc:"How long jobs are kept that are done" example:"168h0m0s"`
	Entries    int    `json:"entries" doc:"Audit entries that are removed next, counted up to a million"`
	Leases     int    `json:"leases" doc:"Leases that are removed next, counted up to a million"`
	Jobs       int    `json:"jobs" doc:"Jobs that are removed next, counted up to a million"`
	Horizon    int64  `json:"horizon" doc:"Last audit entry that was removed; 0 where none was"`
	UpTo       int64  `json:"upTo" doc:"Last audit entry that may be removed, however old others are"`
	HeldBy     string `json:"heldBy" doc:"What keeps later entries"`
}

// AuditTree is the Merkle tree (RFC 6962, SHA-256) over the audit log at one moment.
type AuditTree struct {
	Size     int64    `json:"size" doc:"How many entries the log holds" example:"4711"`
	Root     []byte   `json:"root" doc:"Root hash, in base64" example:"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`
	Frontier [][]byte `json:"frontier" doc:"Hashes of the complete subtrees at the size that was asked for, the largest first, in base64"`
}

// AuditGrowth proves that the audit log begins with what it held at an earlier size.
type AuditGrowth struct {
	Size  int64    `json:"size" doc:"How many entries the log held: the later size" example:"4711"`
	Root  []byte   `json:"root" doc:"Root hash of its Merkle tree, in base64" example:"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`
	Proof [][]byte `json:"proof" doc:"Consistency proof (RFC 6962, 2.1.2) from the earlier size, in base64"`
}

// AuditProof proves that an entry is in the audit log.
type AuditProof struct {
	Size  int64    `json:"size" doc:"How many entries the log holds" example:"4711"`
	Root  []byte   `json:"root" doc:"Root hash of its Merkle tree, in base64" example:"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`
	Index int64    `json:"index" doc:"Index of the leaf, which counts from 0"`
	Line  string   `json:"line" doc:"The entry as the leaf of the tree: its hash is SHA-256 over a zero byte and this text"`
	Proof [][]byte `json:"proof" doc:"Inclusion proof (RFC 6962, 2.1.1), in base64"`
}

// Token is a caller's static token, without the token itself.
type Token struct {
	ID         string    `json:"id" doc:"Beginning of its digest, as the tokens file has it" example:"9f86d081884c"`
	Name       string    `json:"name" doc:"Name of the principal that holds it" example:"alice"`
	Project    string    `json:"project" doc:"Project that the principal acts in" example:"acme"`
	Roles      []string  `json:"roles" doc:"Roles of the principal there" example:"[\"member\"]"`
	Previous   bool      `json:"previous,omitzero" doc:"The holder has a newer one; this one is taken while the holder changes over" example:"false"`
	ExpiresAt  time.Time `json:"expiresAt,omitzero" doc:"When it is not taken any more; absent means never" example:"2027-01-31T12:00:00Z"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero" doc:"When it was last used, to the minute; absent means never" example:"2026-11-02T09:00:00Z"`
}

// AuditCheckpoint states what the audit log held, under a signature.
type AuditCheckpoint struct {
	Size int64     `json:"size" doc:"How many entries the log held" example:"4711"`
	Root []byte    `json:"root" doc:"Root hash of its Merkle tree, in base64" example:"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`
	Time time.Time `json:"time" doc:"When it was signed"`
	Key  string    `json:"key" doc:"Id of the key that signed it"`
	Note string    `json:"note" doc:"The checkpoint as a signed note (c2sp.org/tlog-checkpoint): the only field that is signed"`
}

// AuditAnchor is a place outside that keeps checkpoints of the audit log.
type AuditAnchor struct {
	Name   string    `json:"name" doc:"Name in the server's configuration" example:"site-syslog"`
	Size   int64     `json:"size" doc:"Size of the log in the last checkpoint that it has; 0 if it has none"`
	Time   time.Time `json:"time,omitzero" doc:"When it got that"`
	Behind int64     `json:"behind" doc:"Entries that are signed, and that it does not cover"`
	Fault  string    `json:"fault,omitempty" doc:"Why the last attempt of the process that answers failed"`
}

// AuditKey is a key that signs checkpoints of the audit log, or did: its public half.
type AuditKey struct {
	ID          string    `json:"id" doc:"Id of the key"`
	State       string    `json:"state" doc:"Whether it signs" enum:"signing,retired,revoked"`
	Origin      string    `json:"origin" doc:"Name of the log in every checkpoint"`
	Verifier    string    `json:"verifier" doc:"Public half, as golang.org/x/mod/sumdb/note writes it (c2sp.org/signed-note)"`
	Since       int64     `json:"since" doc:"Its checkpoints count from this size of the log on"`
	Until       int64     `json:"until,omitzero" doc:"Of a key that does not sign any more: its checkpoints count up to this size"`
	Endorsement string    `json:"endorsement,omitempty" doc:"Signed note in which the key before names this one"`
	KeyStore    string    `json:"keyStore,omitempty" doc:"Key store of what seals its private half; empty where that is destroyed"`
	CreatedAt   time.Time `json:"createdAt" doc:"When it was made"`
	EndedAt     time.Time `json:"endedAt,omitzero" doc:"When it was retired or revoked"`
}

// AuditKeyRevocation says which checkpoints of a key still count.
type AuditKeyRevocation struct {
	Until int64 `json:"until,omitzero" doc:"Size of the log up to which its checkpoints count; absent means that none does"`
}

// Question asks what policy would decide; nothing happens.
type Question struct {
	Principal *Principal `json:"principal,omitempty" doc:"About whom; absent means the caller"`
	Action    string     `json:"action" doc:"Action asked about" example:"lease:issue"`
	Resource  Resource   `json:"resource,omitzero" doc:"What it would be done to; absent means the principal's project"`
	Wish      Wish       `json:"wish,omitzero" doc:"What a lease request would ask for"`
}

// Principal is who asks.
type Principal struct {
	Name    string              `json:"name" doc:"Name of the principal"`
	Project string              `json:"project" doc:"Project it acts in"`
	Roles   []string            `json:"roles,omitempty" doc:"Its roles there"`
	Claims  map[string][]string `json:"claims,omitempty" doc:"Claims that policies see"`
}

// Caller is who the caller of a request is, and what counted for that.
type Caller struct {
	Principal
	Shown         string    `json:"shown,omitempty" doc:"Its name for people, which nothing compares"`
	Authenticator string    `json:"authenticator" doc:"Who established the name: static, keystone, client, oidc, k8s or cert"`
	Trust         string    `json:"trust,omitempty" doc:"Entry of the table of trust that lets it in"`
	ExpiresAt     time.Time `json:"expiresAt,omitzero" doc:"When its token or certificate ends, where the table of trust knows it"`
}

// Logins are the ways in which people log in.
type Logins struct {
	Items []LoginMethod `json:"items" doc:"Entries of the table of trust that people log in at, by name"`
}

// LoginMethod is how people log in at an issuer that the server trusts.
type LoginMethod struct {
	Name     string   `json:"name" doc:"Name of the entry"`
	Issuer   string   `json:"issuer" doc:"The issuer (OpenID Connect)"`
	ClientID string   `json:"clientID" doc:"The public client there"`
	Scopes   []string `json:"scopes,omitempty" doc:"Scopes to ask for; absent means openid, and offline_access where the issuer has it"`
	Audience string   `json:"audience" doc:"The audience that tokens must have"`
}

// Resource is the object of an action.
type Resource struct {
	Kind       string            `json:"kind,omitempty" doc:"Kind of resource" enum:"Project,VIM,Lease"`
	ID         string            `json:"id,omitempty" doc:"Its id, or the project's name"`
	Project    string            `json:"project,omitempty" doc:"Project that owns it; absent means the principal's"`
	VIMProject string            `json:"vimProject,omitempty" doc:"Project that owns the VIM of a lease"`
	VIMType    string            `json:"vimType,omitempty" doc:"Type of the VIM"`
	VIMName    string            `json:"vimName,omitempty" doc:"Name of the VIM"`
	Shared     bool              `json:"shared,omitzero" doc:"The VIM is shared with every project"`
	SharedWith []string          `json:"sharedWith,omitempty" doc:"The VIM is shared with these projects"`
	Labels     map[string]string `json:"labels,omitempty" doc:"Labels of the VIM"`
	Owner      string            `json:"owner,omitempty" doc:"Principal that a lease was issued to"`
}

// Wish holds the values of a lease request, for policies.
type Wish struct {
	TTL         string   `json:"ttl,omitempty" doc:"Lifetime as a Go duration" example:"1h"`
	Role        string   `json:"role,omitempty" doc:"Role on the VIM"`
	Namespaces  []string `json:"namespaces,omitempty" doc:"Namespaces"`
	Purpose     string   `json:"purpose,omitempty" doc:"Purpose"`
	For         string   `json:"for,omitempty" doc:"Person that the lease is for"`
	Grade       string   `json:"grade,omitempty" doc:"What the holder could become; absent means bounded. A lease has the grade that its VIM's driver computes" enum:"bounded,namespaces,unbounded"`
	ClusterWide bool     `json:"clusterWide,omitzero" doc:"In every namespace, and for what has none"`
	Rules       []Rule   `json:"rules,omitempty" doc:"What it may do, in place of a role"`
}

// Decision is the decision of policy, and its reason.
type Decision struct {
	Allowed  bool     `json:"allowed" doc:"Whether it is allowed"`
	Policies []string `json:"policies" doc:"Policies that determined the answer; empty when nothing permitted"`
	Reasons  []string `json:"reasons,omitempty" doc:"What policies that forbid say for themselves (@reason)"`
	Why      []string `json:"why,omitempty" doc:"Conditions that decided a denial, with the values in them; for who may ask about others"`
	Errors   []string `json:"errors" doc:"Evaluation errors; any error denies"`
}

// Health says that the server lives, or is ready to serve.
type Health struct {
	Status  string `json:"status" doc:"ok or ready"`
	Version string `json:"version,omitempty" doc:"Version of the server"`
	Parts   []Part `json:"parts,omitempty" doc:"Parts that cannot be used, though the server is ready for what does not need them; with verbose, all"`
}

// Part is something of the broker that requests need.
type Part struct {
	Name   string `json:"name" doc:"database; recording: it takes writes; issuing: every key store opens" enum:"database,recording,issuing"`
	Usable bool   `json:"usable" doc:"Whether it could be used when it was last looked at, seconds ago"`
	Detail string `json:"detail,omitempty" doc:"Why it cannot be used"`
}

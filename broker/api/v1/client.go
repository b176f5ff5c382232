package v1

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// OAuthClient is a program that logs in by OAuth 2.0's client credentials, such as a VNFM.
type OAuthClient struct {
	ID            string                  `json:"id" doc:"UUID: the client_id that it logs in with" format:"uuid"`
	Name          string                  `json:"name" doc:"Unique in the project" example:"tacker-north"`
	Project       string                  `json:"project" doc:"Project that it acts in" example:"acme"`
	Roles         []string                `json:"roles" doc:"Its roles there" example:"[\"vnfm\"]"`
	Principal     string                  `json:"principal" doc:"What policies, leases and the audit log know it by" example:"client:3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11"`
	Placements    []Placement             `json:"placements" doc:"Where its VNFs go, of which the first that matches counts"`
	Certificate   *OAuthClientCertificate `json:"certificate,omitempty" doc:"What it logs in with (RFC 8705); absent where it has a secret"`
	State         string                  `json:"state" doc:"deleting: it cannot log in, and goes once its leases are ending" enum:"active,deleting"`
	RotatedAt     time.Time               `json:"rotatedAt" doc:"When its secret was made, or its certificate named"`
	PreviousUntil time.Time               `json:"previousUntil,omitzero" doc:"Until when the secret before is taken; absent where there is none"`
	CreatedBy     string                  `json:"createdBy" doc:"Principal that registered it" example:"alice"`
	CreatedAt     time.Time               `json:"createdAt" doc:"When it was registered"`
	UpdatedAt     time.Time               `json:"updatedAt" doc:"When it was last changed"`
}

// OAuthClientSecret is a client with its secret: the answer of creating and rotating, and of
// nothing else.
type OAuthClientSecret struct {
	OAuthClient
	ClientSecret secret.Text `json:"clientSecret,omitzero" doc:"Its new secret, shown this once; absent where it logs in by certificate" example:"vbc_…"`
}

// OAuthClientCertificate is one name of the certificate that a client logs in with (RFC 8705 section
// 2.1.2), signed by an authority of the server.
type OAuthClientCertificate struct {
	SubjectDN string `json:"subjectDN,omitempty" doc:"Its subject in the form of RFC 4514, without spaces behind commas"`
	SANDNS    string `json:"sanDNS,omitempty" doc:"A subject alternative name: of a host"`
	SANURI    string `json:"sanURI,omitempty" doc:"A subject alternative name: a URI"`
	SANIP     string `json:"sanIP,omitempty" doc:"A subject alternative name: an IP address"`
	SANEmail  string `json:"sanEmail,omitempty" doc:"A subject alternative name: an e-mail address"`
	JWKS      string `json:"jwks,omitempty" doc:"In place of a certificate: a JWK set with the public keys by which the client signs assertions (private_key_jwt, RFC 7523)"`
}

// OAuthClientRequest registers a client.
type OAuthClientRequest struct {
	Name        string                  `json:"name" doc:"Unique in the project: letters, digits and ._@-" minLength:"1" maxLength:"128"`
	Project     string                  `json:"project,omitempty" doc:"Project that it acts in; absent means the caller's"`
	Roles       []string                `json:"roles" doc:"Its roles there; vnfm is for programs that only use VIMs" minItems:"1" maxItems:"16"`
	Placements  []Placement             `json:"placements,omitempty" doc:"Where its VNFs go, of which the first that matches counts" maxItems:"32"`
	Certificate *OAuthClientCertificate `json:"certificate,omitempty" doc:"What it is to log in with: one name of its certificate; absent gives it a secret"`
}

// OAuthClientPlacements replaces the placements of a client.
type OAuthClientPlacements struct {
	Placements []Placement `json:"placements" doc:"Where its VNFs go, of which the first that matches counts; empty refuses every grant" maxItems:"32"`
}

// Placement says which VIM a client has its VNFs on, and what it is lent there: a grant request of
// SOL003 names no VIM.
type Placement struct {
	VNFD         string            `json:"vnfd,omitempty" doc:"Pattern of VNFD ids with *, ? and [...]; absent matches every one" example:"b1bb0ce7-*"`
	Instance     string            `json:"instance,omitempty" doc:"Id of a VNF instance; absent matches every one" example:"97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11"`
	Parameters   map[string]string `json:"parameters,omitempty" doc:"Patterns of texts among the request's additionalParams, by name"`
	VIM          string            `json:"vim,omitempty" doc:"Id or name; absent means the project's default VIM" example:"edge-1"`
	Role         string            `json:"role,omitempty" doc:"As in a lease request" example:"edit"`
	Rules        []Rule            `json:"rules,omitempty" doc:"What may be done, in place of a role (Kubernetes)"`
	Namespaces   []string          `json:"namespaces,omitempty" doc:"As in a lease request" example:"[\"web\"]"`
	ClusterWide  bool              `json:"clusterWide,omitzero" doc:"As in a lease request" example:"false"`
	TTL          string            `json:"ttl,omitempty" doc:"Lifetime of each credential, as a Go duration; absent means the broker's default" example:"15m"`
	Grade        string            `json:"grade,omitempty" doc:"The widest grade that a lease may have; absent leaves that to policy" enum:"bounded,namespaces,unbounded" example:"bounded"`
	Profile      string            `json:"profile,omitempty" doc:"What is lent: oidc, a lease under which short tokens are fetched for as long as the instance stands; token, one token for each operation; user, a user of the lease's own on the cloud; passThrough, the VIM's stored credential itself, which needs the right lease:pass-through; absent means oidc" enum:"oidc,token,user,passThrough" example:"oidc"`
	Zone         string            `json:"zone,omitempty" doc:"Zone that grants name; absent means default" example:"nova"`
	Flavours     map[string]string `json:"flavours,omitempty" doc:"The VIM's flavours, by the id of the VNFD's virtual compute descriptor"`
	Images       map[string]string `json:"images,omitempty" doc:"The VIM's images, by the id of the VNFD's software image"`
	Links        map[string]string `json:"links,omitempty" doc:"Virtual links (ids or names) that grants name, by the VNFD's id of an external connection point (clouds)"`
	ManagedLinks map[string]string `json:"managedLinks,omitempty" doc:"Virtual links (ids or names) that grants name, by the VNFD's id of the virtual link that they stand for (clouds)"`
}

// OAuthClientRotation asks for another secret.
type OAuthClientRotation struct {
	Overlap      string                  `json:"overlap,omitempty" doc:"How long the secret before is taken on, as a Go duration, at most 720h; 0s ends it at once; absent means 24h" example:"1h"`
	RevokeLeases bool                    `json:"revokeLeases,omitzero" doc:"Somebody else may have the secret: it ends at once, and every lease of the client is revoked" example:"false"`
	Certificate  *OAuthClientCertificate `json:"certificate,omitempty" doc:"What it logs in with from now on, in place of its secret or of another certificate; required where it has no secret"`
}

type TokenKey struct {
	ID        string    `json:"id" doc:"UUID: the key id (kid) of its tokens, and in the JWK set" format:"uuid"`
	State     string    `json:"state" doc:"verifying: another has taken over, and its tokens count until they expire" enum:"signing,verifying"`
	KeyStore  string    `json:"keyStore,omitempty" doc:"Key store with the key that seals its private half; absent once that is destroyed" example:"vault"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made"`
	Until     time.Time `json:"until,omitzero" doc:"When its last token expires; absent while it signs"`
}

// Grant is the grant, or the refusal, of an LCM operation of a VNFM that is a client.
type Grant struct {
	ID            string    `json:"id" doc:"UUID, as the VNFM knows it" format:"uuid"`
	Client        string    `json:"client" doc:"Id of the client that asked" format:"uuid"`
	Project       string    `json:"project" doc:"Project that the client acts in" example:"acme"`
	State         string    `json:"state" doc:"ended: so has the operation, or nobody could say" enum:"deciding,granted,refused,ended"`
	Refusal       string    `json:"refusal,omitempty" doc:"Why it was refused" example:"no placement of the client tacker-north matches the request"`
	Operation     string    `json:"operation" doc:"Id of the LCM operation occurrence at the VNFM" example:"18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11"`
	OperationType string    `json:"operationType" doc:"As SOL003 spells it" example:"INSTANTIATE"`
	OperationURL  string    `json:"operationUrl" doc:"Where the VNFM has the operation" example:"https://vnfm.example/vnflcm/v2/vnf_lcm_op_occs/18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11"`
	Instance      string    `json:"instance" doc:"Id of the VNF instance at the VNFM" example:"97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11"`
	VNFD          string    `json:"vnfd" doc:"Id of the VNFD" example:"b1bb0ce7-ebca-4fa7-95ed-4840d70a1177"`
	NewVNFD       string    `json:"newVnfd,omitempty" doc:"Id of the VNFD that CHANGE_VNFPKG leads to" example:"d5ac1f0e-ebca-4fa7-95ed-4840d70a2288"`
	Profile       string    `json:"profile" doc:"What is lent" example:"oidc"`
	VIM           string    `json:"vim,omitempty" doc:"Id of the VIM; absent before it is granted" format:"uuid"`
	VIMName       string    `json:"vimName,omitempty" doc:"Its name then" example:"edge-1"`
	Lease         string    `json:"lease,omitempty" doc:"Id of the lease that is lent; absent before it is granted" format:"uuid"`
	LeaseState    string    `json:"leaseState,omitempty" doc:"State of that lease now; absent once it is forgotten" enum:"pending,active,revoking,revoked,irrevocable"`
	TokenAt       time.Time `json:"tokenAt,omitzero" doc:"When the newest token was minted that the client got under the lease; absent: none was"`
	Outcome       string    `json:"outcome,omitempty" doc:"State in which the operation ended, as the VNFM said; absent where that was not learnt" example:"COMPLETED"`
	AskedAgainAt  time.Time `json:"askedAgainAt,omitzero" doc:"When the VNFM is asked next how the operation stands"`
	CreatedAt     time.Time `json:"createdAt" doc:"When it was asked for"`
	DecidedAt     time.Time `json:"decidedAt,omitzero" doc:"When it was granted or refused"`
}

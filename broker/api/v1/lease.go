package v1

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Lease is one derived credential, or the record of one; it does not hold the
// credential.
type Lease struct {
	ID            string `json:"id" doc:"UUID, assigned at issue" format:"uuid"`
	VIM           string `json:"vim" doc:"Id of the VIM"`
	VIMName       string `json:"vimName" doc:"Name of the VIM when it was issued"`
	VIMGeneration int64  `json:"vimGeneration" doc:"Generation of the VIM that it is pinned to"`
	Principal     string `json:"principal" doc:"Who it was issued to"`
	Project       string `json:"project" doc:"Project of the principal"`
	Operation     string `json:"operation,omitempty" doc:"LCM operation occurrence it serves"`
	Instance      string `json:"instance,omitempty" doc:"VNF instance of another VNFM that it serves"`
	Door          string `json:"door,omitempty" doc:"Door that it was asked for at; empty for leases of the server's own operations" example:"rest"`
	For           string `json:"for,omitempty" doc:"Person that it is for, as its holder says; absent if that is the holder"`
	State         string `json:"state" doc:"Where it stands" enum:"pending,active,revoking,revoked,irrevocable"`
	Reason        string `json:"reason,omitempty" doc:"Why it ended or is ending" enum:"expired,requested,vimDeleted,issueFailed,abandoned,auditFailed,goneUpstream,accessLost,systemGone,operationEnded"`

	Role        string   `json:"role,omitempty" doc:"Role of the credential on the VIM"`
	Namespaces  []string `json:"namespaces" doc:"Namespaces it is limited to; empty means none"`
	Rules       []Rule   `json:"rules,omitempty" doc:"What it may do, in place of a role"`
	ClusterWide bool     `json:"clusterWide,omitzero" doc:"The role or rules hold in every namespace, and for what has none"`
	Format      string   `json:"format,omitempty" doc:"Format of its client configuration"`
	Purpose     string   `json:"purpose,omitempty" doc:"What it is for, in the caller's words"`

	Grade        string   `json:"grade,omitempty" doc:"What its holder can become: bounded (nothing beyond the role or rules), namespaces (any identity of its namespaces), unbounded (any identity at all); absent where it is not computed" enum:"bounded,namespaces,unbounded"`
	GradeReasons []string `json:"gradeReasons,omitempty" doc:"Each way to go beyond the role or rules; the widest first" example:"[\"the holder can read secrets in namespace web\"]"`
	CredentialID string   `json:"credentialId,omitempty" doc:"How the VIM's own audit log names the newest credential" example:"JTI=3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11"`

	Standing   bool      `json:"standing,omitzero" doc:"It stands: short tokens are minted under it at the token endpoint, and each moves expiresAt"`
	TokenTTL   string    `json:"tokenTTL,omitempty" doc:"The most that a token under a standing lease lives, as a Go duration" example:"15m0s"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero" doc:"When the newest token was minted under a standing lease"`

	IssuedAt         time.Time `json:"issuedAt,omitzero" doc:"When the credential was issued"`
	ExpiresAt        time.Time `json:"expiresAt,omitzero" doc:"When it ends: a credential that would work longer is revoked then"`
	MaxExpiresAt     time.Time `json:"maxExpiresAt,omitzero" doc:"Bound of every renewal"`
	Revocable        bool      `json:"revocable" doc:"It can be taken back before it expires"`
	Derived          bool      `json:"derived" doc:"False where the stored credential itself was passed through"`
	Credential       string    `json:"credential,omitempty" doc:"What its credential is, where it is not what the VIM's leases usually are: user, a user of its own on the VIM; passThrough, the VIM's stored credential itself" enum:"user,passThrough"`
	MaxRevocationLag string    `json:"maxRevocationLag" doc:"How long the credential may still work after revokedAt, as a Go duration" example:"10s"`
	RevokedAt        time.Time `json:"revokedAt,omitzero" doc:"When the upstream object was seen to be gone"`
	ConfirmedDeadAt  time.Time `json:"confirmedDeadAt,omitzero" doc:"When the credential was tried and refused where it was issued (a Kubernetes API server, or Keystone: services of a cloud may take its tokens from their caches until revokedAt and maxRevocationLag), or its own expiry passed"`
	LeftBehind       []string  `json:"leftBehind,omitempty" doc:"What its holder may have made that outlives it, found when it was revoked, or why that is not known (clouds)" example:"[\"trust 4f1c for user 9a2b\"]"`
	LastError        string    `json:"lastError,omitempty" doc:"Why it could not be taken back, or why it is irrevocable"`
}

// Rule allows verbs on resources, as a Kubernetes PolicyRule does.
type Rule struct {
	APIGroups     []string `json:"apiGroups" doc:"API groups; empty text is the core group" example:"[\"apps\"]"`
	Resources     []string `json:"resources" doc:"Resources and subresources" example:"[\"deployments\"]"`
	ResourceNames []string `json:"resourceNames,omitempty" doc:"Only the resources of these names; absent means all"`
	Verbs         []string `json:"verbs" doc:"What may be done" example:"[\"get\",\"list\"]"`
}

// IssuedLease is a lease with the client configuration that holds its
// credential: the answer of issue and renew, and of nothing else.
type IssuedLease struct {
	Lease
	LeaseSecret  secret.Text  `json:"leaseSecret,omitzero" doc:"The secret of a standing lease, in place of a client configuration: the password at the token endpoint, whose user name is the lease's id" example:"vbl_…"`
	ClientConfig ClientConfig `json:"clientConfig,omitzero" doc:"The client configuration: a string for kubeconfig, env and clouds.yaml, an object for json, exec-credential and vim-connection-info"`
}

// LeaseRequest asks for a lease.
type LeaseRequest struct {
	VIM         string   `json:"vim,omitempty" doc:"Id or name; absent means the project's default VIM"`
	TTL         string   `json:"ttl,omitempty" doc:"Wished lifetime as a Go duration; absent means the broker's default; more than the maximum is capped" example:"1h"`
	Role        string   `json:"role,omitempty" doc:"view, edit, admin, cluster-admin or a named ClusterRole (Kubernetes); roles of the registered user, separated by commas (OpenStack; absent means all but admin)" example:"edit"`
	Namespaces  []string `json:"namespaces,omitempty" doc:"Namespaces to limit it to; absent on Kubernetes means every one for role view, and the VIM's own for other roles and rules"`
	Rules       []Rule   `json:"rules,omitempty" doc:"What it may do, in place of a role (Kubernetes)"`
	ClusterWide bool     `json:"clusterWide,omitzero" doc:"Ask for the role or rules in every namespace, and for what has none (Kubernetes); not with namespaces"`
	Format      string   `json:"format,omitempty" doc:"Format of the client configuration; absent means the default of the VIM's type: kubeconfig for Kubernetes, clouds.yaml for OpenStack"`
	Purpose     string   `json:"purpose,omitempty" doc:"What it is for; kept with the lease and in the audit log. On OpenStack two mean more: heat is a lease that Heat can make stacks with, read one that is held to GET and HEAD by access rules, and refused where the cloud has none"`
	Operation   string   `json:"operation,omitempty" doc:"LCM operation occurrence it serves"`
	Instance    string   `json:"instance,omitempty" doc:"VNF instance of another VNFM that it serves"`
	For         string   `json:"for,omitempty" doc:"Person that the lease is for, if that is not the caller; kept with it, in the audit log, and what it can be listed and revoked by"`
	Standing    bool     `json:"standing,omitzero" doc:"Ask for a lease that stands: answered is a secret, under which short tokens are minted at the token endpoint, and ttl is the life of each (Kubernetes)"`
	Credential  string   `json:"credential,omitempty" doc:"What the credential is to be, for clients that know nothing but a user name and a password: user, a user of the lease's own on the VIM (OpenStack; deleted with the lease, renewed by another password); passThrough, the VIM's stored credential itself, which only its replacement on the VIM ends, and which needs the right lease:pass-through; absent means what the VIM's leases usually are. ttl is then 4320h if it is absent" enum:"user,passThrough"`
}

// LeasePush asks for a kubeconfig of a standing lease to be kept where another system reads it.
type LeasePush struct {
	Target string `json:"target" doc:"One of the server's targets" example:"argocd"`
	Name   string `json:"name" doc:"Name of the Secret; what another has there is never replaced" example:"edge-1-web"`
}

// PushedLease says where the kubeconfig is. It holds no credential.
type PushedLease struct {
	Lease     string `json:"lease" doc:"Id of the lease" format:"uuid"`
	Target    string `json:"target" doc:"Name of the target"`
	Namespace string `json:"namespace" doc:"Namespace of the Secret"`
	Name      string `json:"name" doc:"Name of the Secret"`
}

// Renewal asks for a new credential of a lease.
type Renewal struct {
	TTL string `json:"ttl,omitempty" doc:"Wished lifetime from now as a Go duration; absent means the broker's default" example:"1h"`
}

// Selector names leases to revoke. At least one field is set, and a lease must
// match all that are.
type Selector struct {
	VIM       string `json:"vim,omitempty" doc:"Id or name of a VIM"`
	Principal string `json:"principal,omitempty" doc:"Principal that holds them"`
	Operation string `json:"operation,omitempty" doc:"LCM operation occurrence that they serve"`
	Instance  string `json:"instance,omitempty" doc:"VNF instance of another VNFM that they serve"`
	For       string `json:"for,omitempty" doc:"Person that they are for"`
	NewSecret bool   `json:"newSecret,omitzero" doc:"Others may know the secrets of standing leases: none of them is taken any more, also once the instance is resumed" example:"false"`
}

// ClientConfig is a rendered client configuration. On the wire it is a JSON
// string, or, where the format itself is JSON, that object.
type ClientConfig struct {
	// Text is the whole configuration, as a file would hold it.
	Text secret.Text
	// Object says that Text is a JSON object and is sent as one.
	Object bool
}

// errNotConfig is the error of an answer with another kind of clientConfig.
var errNotConfig = errors.New("clientConfig is neither a string nor an object")

// writeConfig writes the plaintext; only [Encode] uses it.
func writeConfig(e *jsontext.Encoder, c ClientConfig) error {
	if c.Object {
		return e.WriteValue(jsontext.Value(c.Text.Reveal()))
	}
	return e.WriteToken(jsontext.String(c.Text.Reveal()))
}

func readConfig(d *jsontext.Decoder, c *ClientConfig) error {
	switch d.PeekKind() {
	case '{':
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		*c = ClientConfig{Text: secret.NewText(string(v)), Object: true}
		return nil
	case '"':
		var s string
		if err := json.UnmarshalDecode(d, &s); err != nil {
			return err
		}
		*c = ClientConfig{Text: secret.NewText(s)}
		return nil
	}
	return errNotConfig
}

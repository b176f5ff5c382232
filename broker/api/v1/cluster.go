package v1

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// ManagementCluster says how the clusters that Cluster API keeps on a VIM become VIMs.
type ManagementCluster struct {
	VIM     string `json:"vim" doc:"Id of the VIM that Cluster API runs on"`
	VIMName string `json:"vimName" doc:"Its name"`
	Project string `json:"project" doc:"Its project"`
	ClusterSettings

	EnabledBy string    `json:"enabledBy" doc:"Principal that enabled it, or changed how it is enabled"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was enabled"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was last changed"`

	WatchedAt     time.Time `json:"watchedAt,omitzero" doc:"When it was last seen to be watched whole; absent before that"`
	Trouble       string    `json:"trouble,omitempty" doc:"What keeps it from being watched; absent where nothing does"`
	HeldAt        time.Time `json:"heldAt,omitzero" doc:"When too many of its clusters were gone at once: none is let go of until they are released"`
	ReleasedUntil time.Time `json:"releasedUntil,omitzero" doc:"Until when all that is gone is let go of"`
}

// ClusterSettings say which clusters are taken, and how. In a request, one that is absent stays as it is; at first it is what
// its description says.
type ClusterSettings struct {
	Namespaces        []string          `json:"namespaces,omitzero" doc:"Namespaces whose clusters are taken, or * alone for all" minItems:"1" maxItems:"64"`
	NamespaceSelector map[string]string `json:"namespaceSelector,omitzero" doc:"Labels that a namespace must have; then namespaces are left out"`
	Selector          map[string]string `json:"selector,omitzero" doc:"Labels that a cluster must have; absent takes all of the namespaces"`
	Projects          map[string]string `json:"projects,omitzero" doc:"Whose VIMs the clusters become, by namespace; the entry \"\" is for all others"`
	SecretName        string            `json:"secretName,omitempty" doc:"Name of a cluster's secret, with {cluster}; absent means {cluster}-kubeconfig"`
	SecretKey         string            `json:"secretKey,omitempty" doc:"Entry of it that holds the kubeconfig; absent means value"`
	NameTemplate      string            `json:"nameTemplate,omitempty" doc:"Name of a cluster's VIM, of {namespace} and {cluster}; absent means {namespace}.{cluster}"`
	CopyLabels        []string          `json:"copyLabels,omitzero" doc:"Keys of labels of the cluster that its VIM has too, as cluster/KEY"`
	ControlPlanes     []string          `json:"controlPlanes,omitzero" doc:"Resources of control planes (PLURAL.GROUP) that may own a cluster's secret; absent means those of all known providers"`
	Account           string            `json:"account,omitempty" doc:"Profile of the account of the broker's own that takes the place of a cluster's credential: engine (leases and life-cycle operations), leases, or none, which keeps the credential; absent means engine" enum:"engine,leases,none"`
	MaxGone           int               `json:"maxGone,omitempty" doc:"How many VIMs are deleted within ten minutes, because their clusters are gone, before the rest is held for a person; absent means 3" minimum:"1" maximum:"10000"`
	MaxGoneShare      int               `json:"maxGoneShare,omitempty" doc:"The same as a share of all in per cent, where that is more; absent means 20" minimum:"1" maximum:"100"`
	Annotation        string            `json:"annotation,omitempty" doc:"What the annotation vimbroker.io/onboard of a Cluster decides: out takes all but those with \"false\", in takes those with \"true\" alone; absent means out" enum:"out,in"`
}

// ManagementClusterRequest makes a VIM a management cluster, or changes how it is one.
type ManagementClusterRequest struct {
	VIM string `json:"vim" doc:"Id or name of the VIM" minLength:"1"`
	ClusterSettings
}

// ReleaseRequest is the body of a release: nothing, or an empty object.
type ReleaseRequest struct{}

// WorkloadCluster is a cluster of a management cluster.
type WorkloadCluster struct {
	ID                string `json:"id" doc:"UUID, assigned when it was first seen" format:"uuid"`
	ManagementCluster string `json:"managementCluster" doc:"Id of the VIM that its management cluster is"`
	Namespace         string `json:"namespace" doc:"Namespace of the Cluster object"`
	Name              string `json:"name" doc:"Name of the Cluster object"`
	UID               string `json:"uid" doc:"UID of the Cluster object; one that is created again is another cluster"`
	Project           string `json:"project" doc:"Whose VIM it is or becomes"`
	State             string `json:"state" doc:"Where it stands" enum:"waiting,registering,registered,quarantined,retiring,retired"`
	Reason            string `json:"reason,omitempty" doc:"Why, in one word; absent when all is well" example:"secretMissing"`
	Message           string `json:"message,omitempty" doc:"Why, and what to do"`
	VIM               string `json:"vim,omitempty" doc:"Id of its VIM; absent before it is registered"`
	VIMName           string `json:"vimName,omitempty" doc:"Name of its VIM; absent before that, and once it is gone"`
	VIMStatus         string `json:"vimStatus,omitempty" doc:"What the last check of its VIM found"`

	SameSystem []string `json:"sameSystem,omitempty" doc:"Other clusters that lead to the same system, or claim to, as far as you may see them: NAMESPACE/NAME of project PROJECT (ID); absent in lists"`

	PushTokenExpiresAt time.Time `json:"pushTokenExpiresAt,omitzero" doc:"Until when a kubeconfig can be pushed with the token that was issued; absent where there is none"`
	PushedAt           time.Time `json:"pushedAt,omitzero" doc:"When the token was used up; absent before that"`

	CredentialExpiresAt time.Time `json:"credentialExpiresAt,omitzero" doc:"When the credential of its VIM stops working, if it says so"`
	CheckedAt           time.Time `json:"checkedAt,omitzero" doc:"When its VIM was last checked"`
	ReadyAt             time.Time `json:"readyAt,omitzero" doc:"When its control plane was first seen to be up"`
	RegisteredAt        time.Time `json:"registeredAt,omitzero" doc:"When its VIM was registered"`
	GoneAt              time.Time `json:"goneAt,omitzero" doc:"When it was known to be gone"`
	CreatedAt           time.Time `json:"createdAt" doc:"When it was first seen"`
	UpdatedAt           time.Time `json:"updatedAt" doc:"When its state last changed"`
}

// PushTokenRequest asks for a token to push with: nothing, or how long it is good.
type PushTokenRequest struct {
	TTL string `json:"ttl,omitempty" doc:"How long it is good as a Go duration, at most 24h; absent means 1h" example:"1h"`
}

// PushToken is a token with which one kubeconfig of one cluster can be pushed. It is shown once.
type PushToken struct {
	Token     secret.Text `json:"token" doc:"Bearer token for POST /v1/onboard" format:"password"`
	ExpiresAt time.Time   `json:"expiresAt" doc:"Until when it is good"`
}

// Push is a kubeconfig that the script of a package brings. It must name the cluster that
// the token is for.
type Push struct {
	ManagementCluster string      `json:"managementCluster" doc:"Id or name of the VIM that the management cluster is" minLength:"1"`
	Namespace         string      `json:"namespace" doc:"Namespace of the Cluster object" minLength:"1"`
	ClusterUID        string      `json:"clusterUid" doc:"UID of the Cluster object" minLength:"1"`
	Kubeconfig        secret.Text `json:"kubeconfig" doc:"The kubeconfig, at most 256 KiB" format:"password" writeOnly:"true"`
}

package v1

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/asset/spec"
)

// VirtualLinkRequest asks for a virtual link: one that is made, or an existing network.
type VirtualLinkRequest struct {
	Name       string           `json:"name" doc:"Name, unique among the project's: letters, digits, dots, dashes and underscores" minLength:"1" maxLength:"63"`
	VIM        string           `json:"vim" doc:"Id or name of the VIM" minLength:"1"`
	Project    string           `json:"project,omitempty" doc:"Whose it becomes; absent means the caller's"`
	Spec       *spec.LinkSpec   `json:"spec,omitempty" doc:"What is made; absent with existing"`
	Existing   *ExistingNetwork `json:"existing,omitempty" doc:"A network of the VIM that stands already; needs link:adopt"`
	Spans      []spec.Span      `json:"spans,omitempty" doc:"Clusters whose nodes reach it, of a link on a cloud; needs link:adopt" maxItems:"20"`
	Shared     bool             `json:"shared,omitempty" doc:"Whether every project may use it"`
	SharedWith []string         `json:"sharedWith,omitempty" doc:"Projects that may use it" maxItems:"100"`
}

// ExistingNetwork is a network that stands already.
type ExistingNetwork struct {
	NetworkID string `json:"networkId" doc:"The VIM's id of it"`
}

// VolumeRequest asks for a volume: one that is made, or a claim that was kept.
type VolumeRequest struct {
	Name       string           `json:"name" doc:"Name, unique among the project's: letters, digits, dots, dashes and underscores" minLength:"1" maxLength:"63"`
	VIM        string           `json:"vim" doc:"Id or name of the VIM, a Kubernetes cluster: on clouds volumes come through Heat" minLength:"1"`
	Project    string           `json:"project,omitempty" doc:"Whose it becomes; absent means the caller's"`
	Spec       *spec.VolumeSpec `json:"spec,omitempty" doc:"What is made; absent with existing"`
	Existing   *ExistingClaim   `json:"existing,omitempty" doc:"A claim that stands already: nothing of it is made or removed"`
	Shared     bool             `json:"shared,omitempty" doc:"Whether every project may use it"`
	SharedWith []string         `json:"sharedWith,omitempty" doc:"Projects that may use it" maxItems:"100"`
}

// ExistingClaim is a claim that stands already, as one that an instance has left (vimbroker.io/outlives).
type ExistingClaim struct {
	ClaimName string `json:"claimName" doc:"Name of the PersistentVolumeClaim" minLength:"1"`
	Namespace string `json:"namespace,omitempty" doc:"Its namespace; absent means the VIM's"`
}

// VirtualLink is a network on a VIM that VNF instances use. VIM in it is an id.
type VirtualLink struct {
	ID string `json:"id" doc:"UUID" format:"uuid"`
	VirtualLinkRequest
	Networks []LinkNetwork `json:"networks" doc:"What stands on VIMs"`
	MadeFor  string        `json:"madeFor,omitempty" doc:"Id of the VNF instance that it was made for; it then goes with its last use"`
	Standing
}

// Volume is a claim on a VIM that VNF instances mount. VIM in it is an id.
type Volume struct {
	ID string `json:"id" doc:"UUID" format:"uuid"`
	VolumeRequest
	ClaimName string `json:"claimName" doc:"Name of the PersistentVolumeClaim"`
	Standing
}

// Standing is how a virtual link or a volume stands.
type Standing struct {
	VIMName   string    `json:"vimName" doc:"Name of the VIM when it was made"`
	State     string    `json:"state" doc:"Where it stands" enum:"making,ready,removing"`
	Fault     string    `json:"fault,omitempty" doc:"What keeps it from being made or removed"`
	Uses      []LinkUse `json:"uses,omitempty" doc:"VNF instances that use it, at most 1000; absent in lists"`
	UseCount  int       `json:"useCount,omitempty" doc:"How many there are; absent in lists"`
	CreatedBy string    `json:"createdBy" doc:"Principal that made it"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made"`
}

// LinkNetwork is what a virtual link has on a VIM. On Kubernetes each instance has a network of its own in its namespace.
type LinkNetwork struct {
	VIM             string `json:"vim" doc:"Id of the VIM"`
	NetworkID       string `json:"networkId,omitempty" doc:"The cloud's id of the network"`
	SubnetID        string `json:"subnetId,omitempty" doc:"The cloud's id of the subnet that was made"`
	SecurityGroupID string `json:"securityGroupId,omitempty" doc:"The cloud's id of the security group that was made"`
}

// LinkUse is a VNF instance's use of a virtual link or a volume.
type LinkUse struct {
	Instance string    `json:"instance" doc:"Id of the VNF instance"`
	Since    time.Time `json:"since" doc:"Since when it uses it"`
}

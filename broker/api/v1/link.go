package v1

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/link/network"
)

// VirtualLinkRequest asks for a virtual link: one that is made, or an existing network.
type VirtualLinkRequest struct {
	Name       string            `json:"name" doc:"Name, unique among the project's: letters, digits, dots, dashes and underscores" minLength:"1" maxLength:"63"`
	VIM        string            `json:"vim" doc:"Id or name of the VIM" minLength:"1"`
	Project    string            `json:"project,omitempty" doc:"Whose it becomes; absent means the caller's"`
	Spec       *network.LinkSpec `json:"spec,omitempty" doc:"What is made; absent with existing"`
	Existing   *ExistingNetwork  `json:"existing,omitempty" doc:"A network of the VIM that stands already; needs link:adopt"`
	Shared     bool              `json:"shared,omitempty" doc:"Whether every project may use it"`
	SharedWith []string          `json:"sharedWith,omitempty" doc:"Projects that may use it" maxItems:"100"`
}

// ExistingNetwork is a network that stands already.
type ExistingNetwork struct {
	NetworkID string `json:"networkId" doc:"The VIM's id of it"`
}

// VirtualLink is a network on a VIM that VNF instances use. VIM in it is an id.
type VirtualLink struct {
	ID string `json:"id" doc:"UUID" format:"uuid"`
	VirtualLinkRequest
	VIMName   string        `json:"vimName" doc:"Name of the VIM when it was made"`
	State     string        `json:"state" doc:"Where it stands" enum:"making,ready,removing"`
	Fault     string        `json:"fault,omitempty" doc:"What keeps it from being made or removed"`
	Networks  []LinkNetwork `json:"networks" doc:"What stands on VIMs"`
	MadeFor   string        `json:"madeFor,omitempty" doc:"Id of the VNF instance that it was made for; it then goes with its last use"`
	Uses      []LinkUse     `json:"uses,omitempty" doc:"VNF instances that use it, at most 1000; absent in lists"`
	UseCount  int           `json:"useCount,omitempty" doc:"How many there are; absent in lists"`
	CreatedBy string        `json:"createdBy" doc:"Principal that made it"`
	CreatedAt time.Time     `json:"createdAt" doc:"When it was made"`
}

// LinkNetwork is what a virtual link has on a VIM. On Kubernetes each instance has a network of its own in its namespace.
type LinkNetwork struct {
	VIM             string `json:"vim" doc:"Id of the VIM"`
	NetworkID       string `json:"networkId,omitempty" doc:"The cloud's id of the network"`
	SubnetID        string `json:"subnetId,omitempty" doc:"The cloud's id of the subnet that was made"`
	SecurityGroupID string `json:"securityGroupId,omitempty" doc:"The cloud's id of the security group that was made"`
}

// LinkUse is a VNF instance's use of a virtual link.
type LinkUse struct {
	Instance string    `json:"instance" doc:"Id of the VNF instance"`
	Since    time.Time `json:"since" doc:"Since when it uses it"`
}

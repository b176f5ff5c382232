package v1

import "time"

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

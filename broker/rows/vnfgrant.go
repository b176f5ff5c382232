package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/grant"
)

// VNFGrant is a row of the table vnf_grants: a document, and what is looked for.
type VNFGrant struct {
	ID, Client, Operation, Instance, State, Lease string
	Holds, Followed                               bool
	LookAt, CreatedAt                             time.Time
	Revision                                      int64
	Document                                      string
}

// VNFGrantColumns are the columns of the table vnf_grants.
var VNFGrantColumns = Columns[VNFGrant]{
	{Name: "id", field: func(g *VNFGrant) any { return &g.ID }, fixed: true},
	{Name: "client", field: func(g *VNFGrant) any { return &g.Client }, fixed: true},
	{Name: "operation", field: func(g *VNFGrant) any { return &g.Operation }, fixed: true},
	{Name: "instance", field: func(g *VNFGrant) any { return &g.Instance }, fixed: true},
	{Name: "created_at", field: func(g *VNFGrant) any { return &g.CreatedAt }, fixed: true},
	{Name: "state", field: func(g *VNFGrant) any { return &g.State }},
	{Name: "lease", field: func(g *VNFGrant) any { return &g.Lease }},
	{Name: "holds", field: func(g *VNFGrant) any { return &g.Holds }},
	{Name: "followed", field: func(g *VNFGrant) any { return &g.Followed }},
	{Name: "look_at", field: func(g *VNFGrant) any { return &g.LookAt }},
	{Name: "revision", field: func(g *VNFGrant) any { return &g.Revision }},
	{Name: "document", field: func(g *VNFGrant) any { return &g.Document }},
}

// VNFGrantRow is a grant as a store keeps it.
func VNFGrantRow(g grant.Grant) (VNFGrant, error) {
	text, err := json.Marshal(g)
	return VNFGrant{
		ID: g.ID, Client: g.Client, Operation: g.Request.ID, Instance: g.Request.Instance, State: string(g.State), Lease: g.Lease,
		Holds: g.Holds, Followed: g.Followed, LookAt: g.LookAt, CreatedAt: g.CreatedAt, Revision: g.Revision, Document: string(text),
	}, err
}

// Grant reads the document, and what changes without it.
func (r VNFGrant) Grant() (g grant.Grant, err error) {
	if err := json.Unmarshal([]byte(r.Document), &g); err != nil {
		return grant.Grant{}, unreadable("vnf_grants", r.ID, err)
	}
	g.Followed, g.LookAt = r.Followed, r.LookAt
	return g, nil
}

// ChangeVNFGrant lets change alter a grant, and returns its row. If change fails its error is returned
// as it is.
func ChangeVNFGrant(row VNFGrant, change func(*grant.Grant) error) (VNFGrant, grant.Grant, error) {
	old, err := row.Grant()
	if err != nil {
		return VNFGrant{}, old, err
	}
	next := old
	if err := change(&next); err != nil {
		return VNFGrant{}, old, err
	}
	if next, err = old.Moved(next); err != nil {
		return VNFGrant{}, old, err
	}
	to, err := VNFGrantRow(next)
	return to, next, err
}

// VNFGrantsUsedUp says that a client has as many grants as it may have.
func VNFGrantsUsedUp(limit int) error {
	return &broker.Error{
		Kind: broker.ErrQuota, Detail: fmt.Sprintf("the client has %d grants, as many as it may have (quota.grants)", limit),
		Remedy: "have operations end before more begin: say so at /grant/v1/notifications",
	}
}

package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
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

// VNFGrantRecord is a row of vnf_grants with what its lease's row says of it.
type VNFGrantRecord struct {
	VNFGrant
	LeaseState       string
	IssuedAt, UsedAt time.Time
}

// Fields are those of the row, then of its lease.
func (r *VNFGrantRecord) Fields() []any {
	return append(VNFGrantColumns.Fields(&r.VNFGrant), &r.LeaseState, &r.IssuedAt, &r.UsedAt)
}

// Record reads the document.
func (r VNFGrantRecord) Record() (grant.Record, error) {
	g, err := r.Grant()
	record := grant.Record{Grant: g, LeaseState: broker.LeaseState(r.LeaseState), TokenAt: r.UsedAt}
	if g.Placement.Profile == oauth.Token { // it got the one that the lease was issued with
		record.TokenAt = r.IssuedAt
	}
	return record, err
}

// VNFGrantPosition is the place of a grant in its list.
type VNFGrantPosition struct {
	ID string `json:"vnfGrantId"`
}

// CutVNFGrants cuts a list that is longer than a page, and returns the next page's token.
func CutVNFGrants(all []grant.Record, size int) ([]grant.Record, string) {
	return Cut(all, size, func(r grant.Record) string { return Token(VNFGrantPosition{r.ID}) })
}

// WhereVNFGrants are the conditions of a filter, and of the page after a position. member gives the
// store's name for a member of the document.
func WhereVNFGrants(f grant.Filter, after *VNFGrantPosition, member func(name string) string) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Project != "", member("Project")+` = ?`, f.Project)
	where.AddIf(f.Client != "", `client = ?`, f.Client)
	where.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	where.AddIf(f.Operation != "", `operation = ?`, f.Operation)
	where.AddIf(f.Lease != "", `lease = ?`, f.Lease)
	where.AddIf(f.State != "", `state = ?`, f.State)
	where.AddIf(f.VIM != "", member("VIM")+` = ?`, f.VIM)
	where.AddIf(f.VIMName != "", member("VIMName")+` = ?`, f.VIMName)
	if after != nil {
		where.Add(`id < ?`, after.ID)
	}
	return where
}

// ChangeVNFGrant lets change alter a grant, and returns its row. If change fails its error is returned
// unchanged.
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
		Kind: broker.ErrQuota, Detail: fmt.Sprintf("the client has %d grants, as many as it may have", limit),
		Remedy: "have operations end before more begin: say so at /grant/v1/notifications",
	}
}

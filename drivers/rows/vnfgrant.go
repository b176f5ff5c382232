package rows

import (
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// VNFGrant is a row of the table vnf_grants: a document, and what is looked for.
type VNFGrant struct {
	grant.Grant
	Document string
}

// VNFGrantColumns are the columns of the table vnf_grants.
var VNFGrantColumns = ColumnsOf[VNFGrant](`
	id! client! operation!=Request.ID instance!=Request.Instance created_at! state lease holds followed look_at revision document`)

// VNFGrantRow is a grant as a store keeps it.
func VNFGrantRow(g grant.Grant) (VNFGrant, error) {
	text, err := json.Marshal(g)
	return VNFGrant{g, string(text)}, err
}

// Read reads the document, and what changes without it.
func (r VNFGrant) Read() (grant.Grant, error) {
	g, err := document[grant.Grant]("vnf_grants", r.ID, r.Document)
	g.Followed, g.LookAt = r.Followed, r.LookAt
	return g, err
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

// Read reads the document.
func (r VNFGrantRecord) Read() (grant.Record, error) {
	g, err := r.VNFGrant.Read()
	record := grant.Record{Grant: g, LeaseState: broker.LeaseState(r.LeaseState), TokenAt: r.UsedAt}
	if g.Placement.Profile == oauth.Token { // it got the one that the lease was issued with
		record.TokenAt = r.IssuedAt
	}
	return record, err
}

// VNFGrantOrder is the order of a list of grants.
var VNFGrantOrder = OrderOf[VNFGrantRecord]("grants", "id", true)

// WhereVNFGrants are the conditions of a filter. member gives the store's name for a member of the document.
func WhereVNFGrants(f grant.Filter, member func(name string) string) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Project != "", member("Project")+` = ?`, f.Project)
	where.AddIf(f.Client != "", `client = ?`, f.Client)
	where.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	where.AddIf(f.Operation != "", `operation = ?`, f.Operation)
	where.AddIf(f.Lease != "", `lease = ?`, f.Lease)
	where.AddIf(f.State != "", `state = ?`, f.State)
	where.AddIf(f.VIM != "", member("VIM")+` = ?`, f.VIM)
	where.AddIf(f.VIMName != "", member("VIMName")+` = ?`, f.VIMName)
	return where
}

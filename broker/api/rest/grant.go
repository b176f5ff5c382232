package rest

import (
	"cmp"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// vnfGrants refuses if this server keeps no grants.
func (s *server) vnfGrants() error {
	if s.grants == nil {
		return &broker.Error{Kind: broker.ErrUnsupported, Detail: "this server gives VNFMs no grants"}
	}
	return nil
}

func (s *server) listGrants(c *call) (answer[v1.List[v1.Grant]], error) {
	page, err := c.page()
	if err != nil {
		return answer[v1.List[v1.Grant]]{}, err
	}
	return lists(vnfGrant)(s.grants.Records(c.ctx, c.principal, grant.Query{
		Client: c.query.Get("client"), Instance: c.query.Get("instance"), Operation: c.query.Get("operation"),
		VIM: c.query.Get("vim"), Lease: c.query.Get("lease"), State: grant.State(c.query.Get("state")), Page: page,
	}))
}

func (s *server) showGrant(c *call) (answer[v1.Grant], error) {
	return shows(vnfGrant)(s.grants.Record(c.ctx, c.principal, c.path("id")))
}

func vnfGrant(r grant.Record) v1.Grant {
	out := v1.Grant{
		ID: r.ID, Client: r.Client, Project: r.Project, State: string(r.State), Refusal: r.Refusal,
		Operation: r.Request.ID, OperationType: string(r.Request.Type), OperationURL: r.Request.OperationURL,
		Instance: r.Request.Instance, VNFD: r.Request.VNFD, NewVNFD: r.Request.NewVNFD,
		Profile: string(cmp.Or(r.Placement.Profile, oauth.OIDC)), VIM: r.VIM, VIMName: r.VIMName, Lease: r.Lease,
		LeaseState: string(r.LeaseState), TokenAt: r.TokenAt,
		Outcome: r.Outcome, CreatedAt: r.CreatedAt, DecidedAt: r.DecidedAt,
	}
	if r.Followed && r.State == grant.Granted {
		out.AskedAgainAt = r.LookAt
	}
	return out
}

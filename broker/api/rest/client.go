package rest

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// oauthClients refuses if this server keeps no clients.
func (s *server) oauthClients() error {
	if s.clients == nil {
		return &broker.Error{Kind: broker.ErrUnsupported, Detail: "this server keeps no clients"}
	}
	return nil
}

func (s *server) createClient(c *call, in v1.OAuthClientRequest) (answer[v1.OAuthClientSecret], error) {
	placements, err := placementsIn(in.Placements)
	if err != nil {
		return answer[v1.OAuthClientSecret]{}, err
	}
	certificate, err := certificateIn(in.Certificate)
	if err != nil {
		return answer[v1.OAuthClientSecret]{}, err
	}
	made, plain, err := s.clients.Create(c.ctx, c.principal, oauth.NewClient{
		Name: in.Name, Project: in.Project, Roles: in.Roles, Placements: placements, Certificate: certificate,
	})
	return answer[v1.OAuthClientSecret]{
		body:     v1.OAuthClientSecret{OAuthClient: oauthClient(made), ClientSecret: plain},
		location: "/v1/clients/" + url.PathEscape(made.ID),
	}, err
}

func (s *server) listClients(c *call) (answer[v1.List[v1.OAuthClient]], error) {
	page, err := c.page()
	if err != nil {
		return answer[v1.List[v1.OAuthClient]]{}, err
	}
	return lists(oauthClient)(s.clients.Clients(c.ctx, c.principal, oauth.Query{Name: c.query.Get("name"), Page: page}))
}

func (s *server) showClient(c *call) (answer[v1.OAuthClient], error) {
	return shows(oauthClient)(s.clients.Client(c.ctx, c.principal, c.path("id")))
}

func (s *server) rotateClient(c *call, in v1.OAuthClientRotation) (answer[v1.OAuthClientSecret], error) {
	none := answer[v1.OAuthClientSecret]{}
	r := oauth.Rotation{RevokeLeases: in.RevokeLeases}
	if in.Overlap != "" {
		overlap, err := time.ParseDuration(in.Overlap)
		if err != nil {
			return none, broker.Invalid("overlap", "must be a duration such as 90m or 0s")
		}
		r.Overlap = &overlap
	}
	var err error
	if r.Certificate, err = certificateIn(in.Certificate); err != nil {
		return none, err
	}
	rotated, plain, err := s.clients.Rotate(c.ctx, c.principal, c.path("id"), r)
	return answer[v1.OAuthClientSecret]{body: v1.OAuthClientSecret{OAuthClient: oauthClient(rotated), ClientSecret: plain}}, err
}

func (s *server) setPlacements(c *call, in v1.OAuthClientPlacements) (answer[v1.OAuthClient], error) {
	placements, err := placementsIn(in.Placements)
	if err != nil {
		return answer[v1.OAuthClient]{}, err
	}
	return shows(oauthClient)(s.clients.SetPlacements(c.ctx, c.principal, c.path("id"), placements))
}

// certificateIn is the one name of a certificate.
func certificateIn(given *v1.OAuthClientCertificate) (oauth.Certificate, error) {
	var one oauth.Certificate
	if given == nil {
		return one, nil
	}
	for kind, name := range map[oauth.NameKind]string{
		oauth.SubjectDN: given.SubjectDN, oauth.SANDNS: given.SANDNS, oauth.SANURI: given.SANURI, oauth.SANIP: given.SANIP,
		oauth.SANEmail: given.SANEmail, oauth.JWKS: given.JWKS,
	} {
		switch {
		case name == "":
		case !one.None():
			return one, broker.Invalid("certificate", "must have one name, not several")
		default:
			one = oauth.Certificate{Kind: kind, Name: name}
		}
	}
	if one.None() {
		return one, broker.Invalid("certificate", "must have a name")
	}
	return one, nil
}

func certificateOut(c oauth.Certificate) *v1.OAuthClientCertificate {
	switch c.Kind {
	case oauth.SubjectDN:
		return &v1.OAuthClientCertificate{SubjectDN: c.Name}
	case oauth.SANDNS:
		return &v1.OAuthClientCertificate{SANDNS: c.Name}
	case oauth.SANURI:
		return &v1.OAuthClientCertificate{SANURI: c.Name}
	case oauth.SANIP:
		return &v1.OAuthClientCertificate{SANIP: c.Name}
	case oauth.SANEmail:
		return &v1.OAuthClientCertificate{SANEmail: c.Name}
	case oauth.JWKS:
		return &v1.OAuthClientCertificate{JWKS: c.Name}
	}
	return nil
}

func placementsIn(given []v1.Placement) ([]oauth.Placement, error) {
	var all []oauth.Placement
	for n, p := range given {
		one := oauth.Placement{
			VNFD: p.VNFD, Instance: p.Instance, Parameters: p.Parameters, VIM: p.VIM, Role: p.Role, Rules: rulesIn(p.Rules),
			Namespaces: p.Namespaces, ClusterWide: p.ClusterWide, Grade: broker.Grade(p.Grade), Profile: oauth.Lending(p.Profile),
			Zone: p.Zone, Flavours: p.Flavours, Images: p.Images,
		}
		if p.TTL != "" {
			ttl, err := time.ParseDuration(p.TTL)
			if err != nil {
				return nil, broker.Invalid(fmt.Sprintf("placements[%d].ttl", n), "must be a duration such as 15m")
			}
			one.TTL = ttl
		}
		all = append(all, one)
	}
	return all, nil
}

func placementsOut(stored []oauth.Placement) []v1.Placement {
	all := []v1.Placement{}
	for _, p := range stored {
		one := v1.Placement{
			VNFD: p.VNFD, Instance: p.Instance, Parameters: p.Parameters, VIM: p.VIM, Role: p.Role, Rules: rulesOut(p.Rules),
			Namespaces: p.Namespaces, ClusterWide: p.ClusterWide, Grade: string(p.Grade), Profile: string(p.Profile),
			Zone: p.Zone, Flavours: p.Flavours, Images: p.Images,
		}
		if p.TTL > 0 {
			one.TTL = p.TTL.String()
		}
		all = append(all, one)
	}
	return all
}

func (s *server) deleteClient(c *call) (answer[v1.OAuthClient], error) {
	return done[v1.OAuthClient](s.clients.Delete(c.ctx, c.principal, c.path("id")))
}

func oauthClient(c oauth.Client) v1.OAuthClient {
	return v1.OAuthClient{
		Placements: placementsOut(c.Placements), Certificate: certificateOut(c.Certificate),
		ID: c.ID, Name: c.Name, Project: c.Project, Roles: c.Roles, Principal: c.Principal().Name, State: string(c.State),
		RotatedAt: c.RotatedAt, PreviousUntil: c.PreviousUntil, CreatedBy: c.CreatedBy, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

// tokenKeys refuses if this server keeps no keys that sign tokens.
func (s *server) tokenKeys() error {
	if s.keys == nil {
		return &broker.Error{Kind: broker.ErrUnsupported, Detail: "this server gives clients no tokens"}
	}
	return nil
}

func (s *server) listTokenKeys(c *call) (answer[v1.List[v1.TokenKey]], error) {
	return listsAll(tokenKey)(s.keys.Keys(c.ctx, c.principal))
}

func (s *server) rotateTokenKey(c *call) (answer[v1.TokenKey], error) {
	return shows(tokenKey)(s.keys.RotateKey(c.ctx, c.principal))
}

func (s *server) revokeTokenKey(c *call) (answer[v1.TokenKey], error) {
	return done[v1.TokenKey](s.keys.RevokeKey(c.ctx, c.principal, c.path("id")))
}

func tokenKey(k oauth.TokenKey) v1.TokenKey {
	return v1.TokenKey{ID: k.ID, State: string(k.State), KeyStore: k.KeyStore, CreatedAt: k.CreatedAt, Until: k.Until}
}

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

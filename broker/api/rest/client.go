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

func (s *server) createClient(c *call, in v1.OAuthClientRequest) (answer[v1.OAuthClientSecret], error) {
	placements, err := placementsIn(in.Placements)
	if err != nil {
		return answer[v1.OAuthClientSecret]{}, err
	}
	certificate, err := certificateIn(in.Certificate)
	if err != nil {
		return answer[v1.OAuthClientSecret]{}, err
	}
	made, plain, err := s.Clients.Create(c.ctx, c.principal, oauth.NewClient{
		Name: in.Name, Project: in.Project, Roles: in.Roles, Placements: placements, Certificate: certificate,
	})
	return answer[v1.OAuthClientSecret]{
		body:     v1.OAuthClientSecret{OAuthClient: oauthClient(made), ClientSecret: plain},
		location: "/v1/clients/" + url.PathEscape(made.ID),
	}, err
}

func clientsAsked(c *call) oauth.Query { return oauth.Query{Name: c.query.Get("name"), Page: c.page} }

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
	rotated, plain, err := s.Clients.Rotate(c.ctx, c.principal, c.path("id"), r)
	return answer[v1.OAuthClientSecret]{body: v1.OAuthClientSecret{OAuthClient: oauthClient(rotated), ClientSecret: plain}}, err
}

func (s *server) setPlacements(c *call, in v1.OAuthClientPlacements) (answer[v1.OAuthClient], error) {
	placements, err := placementsIn(in.Placements)
	if err != nil {
		return answer[v1.OAuthClient]{}, err
	}
	return shows(oauthClient)(s.Clients.SetPlacements(c.ctx, c.principal, c.path("id"), placements))
}

// certificateNames are the names that a certificate can have, by their kinds.
func certificateNames(c *v1.OAuthClientCertificate) map[oauth.NameKind]*string {
	return map[oauth.NameKind]*string{
		oauth.SubjectDN: &c.SubjectDN, oauth.SANDNS: &c.SANDNS, oauth.SANURI: &c.SANURI, oauth.SANIP: &c.SANIP,
		oauth.SANEmail: &c.SANEmail, oauth.JWKS: &c.JWKS,
	}
}

// certificateIn is the one name of a certificate.
func certificateIn(given *v1.OAuthClientCertificate) (one oauth.Certificate, err error) {
	if given == nil {
		return one, nil
	}
	for kind, name := range certificateNames(given) {
		switch {
		case *name == "":
		case !one.None():
			return one, broker.Invalid("certificate", "must have one name, not several")
		default:
			one = oauth.Certificate{Kind: kind, Name: *name}
		}
	}
	if one.None() {
		return one, broker.Invalid("certificate", "must have a name")
	}
	return one, nil
}

func certificateOut(c oauth.Certificate) *v1.OAuthClientCertificate {
	shown := &v1.OAuthClientCertificate{}
	name, known := certificateNames(shown)[c.Kind]
	if !known {
		return nil
	}
	*name = c.Name
	return shown
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

func oauthClient(c oauth.Client) v1.OAuthClient {
	return v1.OAuthClient{
		Placements: placementsOut(c.Placements), Certificate: certificateOut(c.Certificate),
		ID: c.ID, Name: c.Name, Project: c.Project, Roles: c.Roles, Principal: c.Principal().Name, State: string(c.State),
		RotatedAt: c.RotatedAt, PreviousUntil: c.PreviousUntil, CreatedBy: c.CreatedBy, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

func tokenKey(k oauth.TokenKey) v1.TokenKey {
	return v1.TokenKey{ID: k.ID, State: string(k.State), KeyStore: k.KeyStore, CreatedAt: k.CreatedAt, Until: k.Until}
}

func grantsAsked(c *call) grant.Query {
	return grant.Query{
		Client: c.query.Get("client"), Instance: c.query.Get("instance"), Operation: c.query.Get("operation"),
		VIM: c.query.Get("vim"), Lease: c.query.Get("lease"), State: grant.State(c.query.Get("state")), Page: c.page,
	}
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

package rest

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
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

var (
	placementAsked = api.Asked[v1.Placement, oauth.Placement](`TTL=`)
	clientShown    = api.Shown[oauth.Client, v1.OAuthClient](`Certificate= Principal=`)
	tokenKey       = api.Shown[oauth.TokenKey, v1.TokenKey]("")
	grantShown     = api.Shown[grant.Record, v1.Grant](`Request Operation=Request.ID OperationType=Request.Type Profile= AskedAgainAt=`)
)

func placementsIn(given []v1.Placement) (all []oauth.Placement, err error) {
	for n, p := range given {
		one := placementAsked(p)
		if p.TTL != "" {
			if one.TTL, err = time.ParseDuration(p.TTL); err != nil {
				return nil, broker.Invalid(fmt.Sprintf("placements[%d].ttl", n), "must be a duration such as 15m")
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func oauthClient(c oauth.Client) v1.OAuthClient {
	shown := clientShown(c)
	shown.Certificate, shown.Principal = certificateOut(c.Certificate), c.Principal().Name
	return shown
}

func grantsAsked(c *call) grant.Query {
	return grant.Query{
		Client: c.query.Get("client"), Instance: c.query.Get("instance"), Operation: c.query.Get("operation"),
		VIM: c.query.Get("vim"), Lease: c.query.Get("lease"), State: grant.State(c.query.Get("state")), Page: c.page,
	}
}

func vnfGrant(r grant.Record) v1.Grant {
	out := grantShown(r)
	out.Profile = string(cmp.Or(r.Placement.Profile, oauth.OIDC))
	if r.Followed && r.State == grant.Granted {
		out.AskedAgainAt = r.LookAt
	}
	return out
}

package rest

import (
	"fmt"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/trust"
)

func (s *server) createTrust(c *call, in v1.TrustEntryRequest) (answer[v1.TrustEntry], error) {
	a, err := trustIn(in)
	if err != nil {
		return answer[v1.TrustEntry]{}, err
	}
	made, err := s.Trust.Create(c.ctx, c.principal, a)
	return answer[v1.TrustEntry]{body: trustOut(made), location: "/v1/trust/" + url.PathEscape(made.Name)}, err
}

func (s *server) updateTrust(c *call, in v1.TrustEntryRequest) (answer[v1.TrustEntry], error) {
	if in.Name != c.path("name") {
		return answer[v1.TrustEntry]{}, broker.Invalid("name", "must be the one in the path: an entry keeps its name")
	}
	a, err := trustIn(in)
	if err != nil {
		return answer[v1.TrustEntry]{}, err
	}
	return shows(trustOut)(s.Trust.Update(c.ctx, c.principal, a))
}

func (s *server) tryToken(c *call, in v1.TrustTrialRequest) (answer[v1.TrustTrial], error) {
	t, err := s.Trust.Try(c.ctx, c.principal, in.Token.Reveal())
	shown := v1.TrustTrial{Entry: t.Entry, Reason: t.Reason, Rules: t.Rules, Once: t.Once, ExpiresAt: t.Until.UTC()}
	if p := t.Principal; p.Name != "" {
		shown.Principal = &v1.Principal{Name: p.Name, Project: p.Project, Roles: p.Roles, Claims: p.Claims}
		shown.Shown, shown.Rule = p.Login.Shown, fmt.Sprintf("principals[%d]", t.Rule)
	}
	return answer[v1.TrustTrial]{body: shown}, err
}

func trustIn(in v1.TrustEntryRequest) (a trust.Authority, err error) {
	a = trust.Authority{
		Name: in.Name, Issuer: in.Issuer, VIM: in.VIM, Audience: in.Audience, Algorithms: in.Algorithms, Keys: in.Keys, CA: in.CA,
		Type: in.Type, Once: in.Once, Platform: in.Platform, Login: (*trust.Signin)(in.Login),
		Certificates: (*trust.Certificates)(in.Certificates),
	}
	for _, r := range in.Principals {
		a.Principals = append(a.Principals, trust.Mapping(r))
	}
	if a.MaxLife, err = duration("maxLife", in.MaxLife); err == nil {
		a.Hold, err = duration("hold", in.Hold)
	}
	return a, err
}

// TrustRequest is an entry as a request has it.
func TrustRequest(e trust.Authority) v1.TrustEntryRequest {
	r := v1.TrustEntryRequest{
		Name: e.Name, Issuer: e.Issuer, VIM: e.VIM, Audience: e.Audience, Algorithms: e.Algorithms, Keys: e.Keys, CA: e.CA,
		Type: e.Type, Once: e.Once, Platform: e.Platform, Login: (*v1.TrustLogin)(e.Login),
		Certificates: (*v1.TrustCertificates)(e.Certificates),
	}
	if e.MaxLife != 0 {
		r.MaxLife = e.MaxLife.String()
	}
	if e.Hold != 0 {
		r.Hold = e.Hold.String()
	}
	for _, rule := range e.Principals {
		r.Principals = append(r.Principals, v1.TrustRule(rule))
	}
	return r
}

func trustOut(e trust.Listed) v1.TrustEntry {
	shown := v1.TrustEntry{
		TrustEntryRequest: TrustRequest(e.Authority), Keystone: e.Keystone, Origin: "configuration", Fault: e.Fault,
		CreatedBy: e.CreatedBy, CreatedAt: e.CreatedAt, UpdatedBy: e.UpdatedBy, UpdatedAt: e.UpdatedAt,
	}
	if !e.Configured() {
		shown.Origin = "database"
	}
	if e.Keystone != "" {
		shown.MaxLife, shown.Hold = "", ""
	}
	return shown
}

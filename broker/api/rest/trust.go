package rest

import (
	"fmt"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
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
		shown.Principal = new(principalShown(p))
		shown.Shown, shown.Rule = p.Login.Shown, fmt.Sprintf("principals[%d]", t.Rule)
	}
	return answer[v1.TrustTrial]{body: shown}, err
}

var (
	trustAsked = api.Asked[v1.TrustEntryRequest, trust.Authority](`MaxLife= Hold=`)
	// TrustRequest is an entry as a request has it.
	TrustRequest = api.Shown[trust.Authority, v1.TrustEntryRequest]("")
	trustShown   = api.Shown[trust.Listed, v1.TrustEntry](`Origin=`)
)

func trustIn(in v1.TrustEntryRequest) (a trust.Authority, err error) {
	a = trustAsked(in)
	if a.MaxLife, err = duration("maxLife", in.MaxLife); err == nil {
		a.Hold, err = duration("hold", in.Hold)
	}
	return a, err
}

func trustOut(e trust.Listed) v1.TrustEntry {
	shown := trustShown(e)
	if shown.Origin = "configuration"; !e.Configured() {
		shown.Origin = "database"
	}
	if e.Keystone != "" {
		shown.MaxLife, shown.Hold = "", ""
	}
	return shown
}

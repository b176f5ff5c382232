package rest

import (
	"net/http"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/link"
)

func (s *server) createLink(c *call, in v1.VirtualLinkRequest) (answer[v1.VirtualLink], error) {
	if (in.Spec == nil) == (in.Existing == nil) {
		return answer[v1.VirtualLink]{}, broker.Invalid("spec", "or existing is needed, and not both")
	}
	r := link.Request{Name: in.Name, VIM: in.VIM, Project: in.Project, Shared: in.Shared, SharedWith: in.SharedWith}
	if in.Spec != nil {
		r.Spec = *in.Spec
	} else if r.Existing = in.Existing.NetworkID; r.Existing == "" {
		return answer[v1.VirtualLink]{}, broker.Invalid("existing.networkId", "is missing")
	}
	l, made, err := s.Links.Create(c.ctx, c.principal, r)
	out := answer[v1.VirtualLink]{body: virtualLink(l), status: http.StatusOK}
	if made {
		out.status, out.location = http.StatusCreated, "/v1/virtual-links/"+url.PathEscape(l.ID)
	}
	return out, err
}

func (s *server) showLink(c *call) (answer[v1.VirtualLink], error) {
	l, uses, all, err := s.Links.Show(c.ctx, c.principal, c.path("id"))
	return answer[v1.VirtualLink]{body: usedLink(l, uses, all)}, err
}

func (s *server) deleteLink(c *call) (answer[v1.VirtualLink], error) {
	l, uses, err := s.Links.Delete(c.ctx, c.principal, c.path("id"), c.flag("force"))
	if err != nil || len(uses) == 0 {
		return done[v1.VirtualLink](err)
	}
	return answer[v1.VirtualLink]{body: usedLink(l, uses, len(uses)), status: http.StatusOK}, nil
}

func usedLink(l link.Link, uses []link.Use, all int) v1.VirtualLink {
	shown := virtualLink(l)
	for _, u := range uses {
		shown.Uses = append(shown.Uses, v1.LinkUse{Instance: u.Instance, Since: u.Since.UTC()})
	}
	shown.UseCount = all
	return shown
}

func virtualLink(l link.Link) v1.VirtualLink {
	shown := v1.VirtualLink{
		ID: l.ID, VIMName: l.VIMName, State: string(l.State), Fault: l.Fault, MadeFor: l.Maker, CreatedBy: l.CreatedBy,
		CreatedAt:          l.CreatedAt.UTC(),
		VirtualLinkRequest: v1.VirtualLinkRequest{Name: l.Name, VIM: l.VIM, Project: l.Project, Shared: l.Shared, SharedWith: l.SharedWith},
		Networks:           []v1.LinkNetwork{{VIM: l.VIM, NetworkID: l.Made.Network, SubnetID: l.Made.Subnet, SecurityGroupID: l.Made.Group}},
	}
	if l.Existing != "" {
		shown.Existing = &v1.ExistingNetwork{NetworkID: l.Existing}
	} else {
		shown.Spec = &l.Spec
	}
	return shown
}

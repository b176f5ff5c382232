package rest

import (
	"net/http"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/policy"
)

// shelf is the door to the assets of a kind.
type shelf[I, O any] struct {
	kind policy.Kind
	path string
	// asked reads a request, show writes an answer.
	asked func(I) (asset.Request, error)
	show  func(asset.Asset, v1.Standing) O
}

var linkShelf = shelf[v1.VirtualLinkRequest, v1.VirtualLink]{policy.KindLink, "/v1/virtual-links/", askedLink, virtualLink}

var volumeShelf = shelf[v1.VolumeRequest, v1.Volume]{policy.KindVolume, "/v1/volumes/", askedVolume, volume}

func (h shelf[I, O]) create(s *server, c *call, in I) (answer[O], error) {
	r, err := h.asked(in)
	if err != nil {
		return answer[O]{}, err
	}
	r.Kind = h.kind
	a, made, err := s.Links.Create(c.ctx, c.principal, r)
	out := answer[O]{body: h.listed(a), status: http.StatusOK}
	if made {
		out.status, out.location = http.StatusCreated, h.path+url.PathEscape(a.ID)
	}
	return out, err
}

func (h shelf[I, O]) list(s *server, c *call) (answer[v1.List[O]], error) {
	return lists(h.listed)(s.Links.List(c.ctx, c.principal, h.kind, c.page))
}

func (h shelf[I, O]) one(s *server, c *call) (answer[O], error) {
	a, uses, all, err := s.Links.Show(c.ctx, c.principal, h.kind, c.subject())
	return answer[O]{body: h.used(a, uses, all)}, err
}

func (h shelf[I, O]) remove(s *server, c *call) (answer[O], error) {
	a, uses, err := s.Links.Delete(c.ctx, c.principal, h.kind, c.subject(), c.flag("force"))
	if err != nil || len(uses) == 0 {
		return done[O](err)
	}
	return answer[O]{body: h.used(a, uses, len(uses)), status: http.StatusOK}, nil
}

func (h shelf[I, O]) listed(a asset.Asset) O { return h.used(a, nil, 0) }

func (h shelf[I, O]) used(a asset.Asset, uses []asset.Use, all int) O {
	stands := v1.Standing{
		VIMName: a.VIMName, State: string(a.State), Fault: a.Fault, UseCount: all, CreatedBy: a.CreatedBy, CreatedAt: a.CreatedAt.UTC(),
	}
	for _, u := range uses {
		stands.Uses = append(stands.Uses, v1.LinkUse{Instance: u.Instance, Since: u.Since.UTC()})
	}
	return h.show(a, stands)
}

func askedLink(in v1.VirtualLinkRequest) (r asset.Request, err error) {
	r = asset.Request{Name: in.Name, VIM: in.VIM, Project: in.Project, Spans: in.Spans, Shared: in.Shared, SharedWith: in.SharedWith}
	switch {
	case (in.Spec == nil) == (in.Existing == nil):
		err = broker.Invalid("spec", "or existing is needed, and not both")
	case in.Spec != nil:
		r.Spec = *in.Spec
	case in.Existing.NetworkID == "":
		err = broker.Invalid("existing.networkId", "is missing")
	default:
		r.Existing = in.Existing.NetworkID
	}
	return r, err
}

func askedVolume(in v1.VolumeRequest) (r asset.Request, err error) {
	r = asset.Request{Name: in.Name, VIM: in.VIM, Project: in.Project, Shared: in.Shared, SharedWith: in.SharedWith}
	switch {
	case (in.Spec == nil) == (in.Existing == nil):
		err = broker.Invalid("spec", "or existing is needed, and not both")
	case in.Spec != nil:
		r.Volume = *in.Spec
	case in.Existing.ClaimName == "":
		err = broker.Invalid("existing.claimName", "is missing")
	default:
		r.Existing, r.Volume.Namespace = in.Existing.ClaimName, in.Existing.Namespace
	}
	return r, err
}

func virtualLink(l asset.Asset, stands v1.Standing) v1.VirtualLink {
	shown := v1.VirtualLink{
		ID: l.ID, MadeFor: l.Maker, Standing: stands,
		VirtualLinkRequest: v1.VirtualLinkRequest{Name: l.Name, VIM: l.VIM, Project: l.Project, Shared: l.Shared, SharedWith: l.SharedWith},
		Networks:           []v1.LinkNetwork{{VIM: l.VIM, NetworkID: l.Made.Network, SubnetID: l.Made.Subnet, SecurityGroupID: l.Made.Group}},
	}
	shown.Spans = l.Spans
	if l.Existing != "" {
		shown.Existing = &v1.ExistingNetwork{NetworkID: l.Existing}
	} else {
		shown.Spec = &l.Spec
	}
	return shown
}

func volume(l asset.Asset, stands v1.Standing) v1.Volume {
	shown := v1.Volume{
		ID: l.ID, ClaimName: l.Claim(), Standing: stands,
		VolumeRequest: v1.VolumeRequest{Name: l.Name, VIM: l.VIM, Project: l.Project, Shared: l.Shared, SharedWith: l.SharedWith},
	}
	if l.Existing != "" {
		shown.Existing = &v1.ExistingClaim{ClaimName: l.Existing, Namespace: l.Volume.Namespace}
	} else {
		shown.Spec = &l.Volume
	}
	return shown
}

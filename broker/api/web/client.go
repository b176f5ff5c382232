package web

import (
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

var (
	_           = Marked(map[oauth.State]Mark{oauth.Active: Good, oauth.Deleting: Warn})
	grantStates = Marked(map[grant.State]Mark{grant.Deciding: Idle, grant.Granted: Good, grant.Refused: Bad, grant.Ended: Idle})
)

func (s *server) clients() Room {
	return Room{Nav: "Clients", Path: "clients", Addresses: []Address{
		{Path: "/clients", Show: s.listClients},
		{Path: "/clients/{id}", Show: One(s.Clients.Client, s.showClient)},
		{Path: "/grants", Show: s.listGrants},
	}}
}

func (s *server) listClients(v *Visit) (Screen, error) {
	list, err := Found(s.Clients.Clients(v.Context(), v.Principal, oauth.Query{Name: v.Get("name"), Page: v.Page()}))
	if err != nil {
		return Screen{}, err
	}
	view := Listing(v, "clients", "Clients", list, Field{Name: "name", Label: "Name"})
	grants, err := s.granted(v, "Newest grants", grant.Query{})
	if grants != nil {
		view.Of = grants
	}
	return view, err
}

func (s *server) showClient(v *Visit, c oauth.Client) (Screen, error) {
	grants, err := s.granted(v, "Grants", grant.Query{Client: c.ID})
	return Screen{Page: "client", Of: c, List: grants}, err
}

// granted are the newest grants, for whoever may see them.
func (s *server) granted(v *Visit, title string, q grant.Query) (*Block, error) {
	if !v.May(policy.GrantShow, v.Principal.Project) {
		return nil, nil
	}
	q.Page = broker.Page{Size: few}
	found, _, err := s.Grants.Records(v.Context(), v.Principal, q)
	return &Block{Title: title, Of: found}, err
}

func (s *server) listGrants(v *Visit) (Screen, error) {
	list, err := Found(s.Grants.Records(v.Context(), v.Principal, grant.Query{
		Client: v.Get("client"), Instance: v.Get("instance"), Operation: v.Get("operation"), VIM: v.Get("vim"),
		State: grant.State(v.Get("state")), Page: v.Page(),
	}))
	return Listing(v, "grants", "Grants", list, Field{Name: "client", Label: "Client", Hint: "id"},
		Field{Name: "instance", Label: "Instance", Hint: "id"}, Field{Name: "operation", Label: "Operation", Hint: "id"},
		Field{Name: "vim", Label: "VIM"}, Field{Name: "state", Label: "State", Options: options(grantStates)}), err
}

package web

import (
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

var (
	clientStates = map[string]Mark{string(oauth.Active): Good, string(oauth.Deleting): Warn}
	grantStates  = map[string]Mark{
		string(grant.Deciding): Idle, string(grant.Granted): Good, string(grant.Refused): Bad, string(grant.Ended): Idle,
	}
)

func (s *server) clients() Room {
	return Room{Nav: "Clients", Path: "clients", Addresses: []Address{{Path: "/clients", Show: s.listClients}, {
		Path: "/clients/{id}",
		Show: s.showClient,
	}, {Path: "/grants", Show: s.listGrants}}}
}

func (s *server) listClients(v *Visit) (Screen, error) {
	found, next, err := s.Clients.Clients(v.Context(), v.Principal, oauth.Query{Name: v.Get("name"), Page: v.Page()})
	if err != nil {
		return Screen{}, err
	}
	t := &Grid{
		Columns: []string{"Name", "Project", "State", "Roles", "Made by", "Secret or certificate since"}, Next: v.Next(next),
		Empty: "There is no such client. Register a program that logs in: vimbroker client create NAME --role vnfm",
	}
	for _, c := range found {
		t.Rows = append(t.Rows, []Cell{
			{Text: c.Name, Href: Here("clients", c.ID)},
			{Text: c.Project},
			state(string(c.State), clientStates),
			{Text: strings.Join(c.Roles,
				", ")},
			{Text: c.CreatedBy},
			{Time: c.RotatedAt},
		})
	}
	view := Screen{Title: "Clients", Blocks: []Block{{Form: &Search{Button: "Filter", Fields: filled([]Field{{Name: "name", Label: "Name"}},
		v)}, Table: t}}}
	if !v.May(policy.GrantShow, v.Principal.Project) {
		return view, nil
	}
	granted, err := s.grantTable(v, grant.Query{Page: broker.Page{Size: few}})
	granted.Next = ""
	view.Blocks = append(view.Blocks, Block{Title: "Newest grants", Table: granted, Links: []Link{{"All grants", Here("grants")}}})
	return view, err
}

func (s *server) showClient(v *Visit) (Screen, error) {
	c, err := s.Clients.Client(v.Context(), v.Principal, v.PathValue("id"))
	if err != nil {
		return Screen{}, err
	}
	how := "a secret"
	if c.SHA256 == "" {
		how = "a certificate"
	}
	view := Screen{Kind: "Client", Title: c.Name, State: state(string(c.State), clientStates)}
	view.Blocks = []Block{{Title: "Facts", Facts: []Fact{
		Of("Project", c.Project), Of("Roles", strings.Join(c.Roles, ", ")), Of("Logs in by", how), At("Since", c.RotatedAt),
		At("Previous secret until", c.PreviousUntil),
		Of("Made by", c.CreatedBy), At("Made", c.CreatedAt),
		{"Id", code(c.ID)},
		To("Leases", "those that it holds", Find("leases", "principal", c.Principal().Name)),
	}}}
	if !v.May(policy.GrantShow, v.Principal.Project) {
		return view, nil
	}
	t, err := s.grantTable(v, grant.Query{Client: c.ID, Page: broker.Page{Size: few}})
	view.Blocks = append(view.Blocks, Block{Title: "Grants", Table: t})
	return view, err
}

func (s *server) grantTable(v *Visit, q grant.Query) (*Grid, error) {
	found, next, err := s.Grants.Records(v.Context(), v.Principal, q)
	t := &Grid{
		Columns: []string{"Grant", "State", "Operation", "Instance", "VIM", "Lease", "Asked"}, Next: v.Next(next),
		Empty: "No VNFM was granted such a thing. Register one that asks: vimbroker client create NAME --role vnfm",
	}
	for _, g := range found {
		lease := Cell{Text: Short(g.Lease), Code: true}
		if g.Lease != "" {
			lease.Href = Here("leases", g.Lease)
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: Short(g.ID), Code: true},
			state(string(g.State), grantStates),
			{Text: string(g.Request.Type)},
			{Text: Short(g.Request.Instance), Code: true},
			{Text: g.VIMName},
			lease,
			{Time: g.CreatedAt},
		})
	}
	return t, err
}

func (s *server) listGrants(v *Visit) (Screen, error) {
	t, err := s.grantTable(v, grant.Query{
		Client: v.Get("client"), Instance: v.Get("instance"), Operation: v.Get("operation"), VIM: v.Get("vim"),
		State: grant.State(v.Get("state")), Page: v.Page(),
	})
	return Screen{Title: "Grants", Blocks: []Block{{Form: &Search{Button: "Filter", Fields: filled([]Field{
		{Name: "client", Label: "Client", Hint: "id"},
		{Name: "instance", Label: "Instance", Hint: "id"},
		{
			Name:  "operation",
			Label: "Operation", Hint: "id",
		},
		{Name: "vim", Label: "VIM"},
		{Name: "state", Label: "State", Options: []string{"deciding", "granted", "refused", "ended"}},
	}, v)}, Table: t}}}, err
}

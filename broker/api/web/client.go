package web

import (
	"cmp"
	"strings"

	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

var (
	clientStates = map[oauth.State]Mark{oauth.Active: Good, oauth.Deleting: Warn}
	grantStates  = map[grant.State]Mark{grant.Deciding: Idle, grant.Granted: Good, grant.Refused: Bad, grant.Ended: Idle}
)

func (s *server) clients() Room {
	return Room{Nav: "Clients", Path: "clients", Addresses: []Address{
		{Path: "/clients", Show: s.listClients},
		{Path: "/clients/{id}", Show: One(s.Clients.Client, s.showClient)},
		{Path: "/grants", Show: s.listGrants},
	}}
}

func (s *server) listClients(v *Visit) (Screen, error) {
	found, next, err := s.Clients.Clients(v.Context(), v.Principal, oauth.Query{Name: v.Get("name"), Page: v.Page()})
	if err != nil {
		return Screen{}, err
	}
	t := Table([]string{"Name", "Project", "State", "Roles", "Made by", "Secret or certificate since"}, v.Next(next),
		"There is no such client. Register a program that logs in: vimbroker client create NAME --role vnfm",
		found, func(c oauth.Client) []Cell {
			return []Cell{
				To(c.Name, "clients", c.ID), Say(c.Project), State(c.State, clientStates), Say(strings.Join(c.Roles, ", ")), Say(c.CreatedBy),
				On(c.RotatedAt),
			}
		})
	view := Listing(v, "Clients", t, Field{Name: "name", Label: "Name"})
	err = s.granted(v, &view, grant.Query{}, Block{Title: "Newest grants", Links: []Link{{"All grants", Here("grants")}}})
	return view, err
}

func (s *server) showClient(v *Visit, c oauth.Client) (Screen, error) {
	how := cmp.Or(map[bool]string{true: "a certificate"}[c.SHA256 == ""], "a secret")
	view := Screen{Kind: "Client", Title: c.Name, State: State(c.State, clientStates), Blocks: []Block{{Title: "Facts", Facts: []Fact{
		Of("Project", c.Project), Of("Roles", strings.Join(c.Roles, ", ")), Of("Logs in by", how), At("Since", c.RotatedAt),
		At("Previous secret until", c.PreviousUntil), Of("Made by", c.CreatedBy), At("Made", c.CreatedAt), Code("Id", c.ID),
		Leads("Leases", "those that it holds", Find("leases", "principal", c.Principal().Name)),
	}}}}
	err := s.granted(v, &view, grant.Query{Client: c.ID}, Block{Title: "Grants"})
	return view, err
}

// granted adds the newest grants to a page, for whoever may see them.
func (s *server) granted(v *Visit, view *Screen, q grant.Query, b Block) (err error) {
	if !v.May(policy.GrantShow, v.Principal.Project) {
		return nil
	}
	q.Page.Size = few
	if b.Table, err = s.grantTable(v, q); err == nil {
		b.Table.Next = ""
		view.Blocks = append(view.Blocks, b)
	}
	return err
}

func (s *server) grantTable(v *Visit, q grant.Query) (*Grid, error) {
	found, next, err := s.Grants.Records(v.Context(), v.Principal, q)
	return Table([]string{"Grant", "State", "Operation", "Instance", "VIM", "Lease", "Asked"}, v.Next(next),
		"No VNFM was granted such a thing. Register one that asks: vimbroker client create NAME --role vnfm",
		found, func(g grant.Record) []Cell {
			return []Cell{
				ID(g.ID), State(g.State, grantStates), Say(g.Request.Type), ID(g.Request.Instance), Say(g.VIMName), ID(g.Lease, "leases"),
				On(g.CreatedAt),
			}
		}), err
}

func (s *server) listGrants(v *Visit) (Screen, error) {
	t, err := s.grantTable(v, grant.Query{
		Client: v.Get("client"), Instance: v.Get("instance"), Operation: v.Get("operation"), VIM: v.Get("vim"),
		State: grant.State(v.Get("state")), Page: v.Page(),
	})
	return Listing(v, "Grants", t, Field{Name: "client", Label: "Client", Hint: "id"}, Field{Name: "instance", Label: "Instance", Hint: "id"},
		Field{Name: "operation", Label: "Operation", Hint: "id"}, Field{Name: "vim", Label: "VIM"},
		Field{Name: "state", Label: "State", Options: options(grantStates)}), err
}

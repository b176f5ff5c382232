package rows

import "github.com/vimbroker/vimbroker/broker/oauth"

// ClientColumns are the columns of the table oauth_clients.
var ClientColumns = ColumnsOf[oauth.Client](`
	id! project! name! roles state sha256 certificate previous_sha256 previous_until rotated_at placements ending
	created_by! created_at! updated_at revision`)

// ClientOrder is the order of a list of clients.
var ClientOrder = OrderOf[oauth.Client]("clients", "project name", false)

// WhereClients are the conditions of a filter, and of the page after a position.
func WhereClients(f oauth.Filter, after *Position) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Project != "", `project = ?`, f.Project)
	where.AddIf(f.Name != "", `name = ?`, f.Name)
	where.AddIf(f.Ending, `ending`)
	switch {
	case after == nil:
	case f.Project == "":
		ClientOrder.After(where, after)
	case after.Names[0] == f.Project: // with the project given, the index is only searched for the name alone
		where.Add(`name > ?`, after.Names[1])
	case after.Names[0] > f.Project:
		where.Add(`FALSE`)
	}
	return where
}

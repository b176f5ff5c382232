package rows

import "github.com/vimbroker/vimbroker/broker/oauth"

// ClientColumns are the columns of the table oauth_clients.
var ClientColumns = Columns[oauth.Client]{
	{Name: "id", field: func(c *oauth.Client) any { return &c.ID }, fixed: true},
	{Name: "project", field: func(c *oauth.Client) any { return &c.Project }, fixed: true},
	{Name: "name", field: func(c *oauth.Client) any { return &c.Name }, fixed: true},
	{Name: "roles", field: func(c *oauth.Client) any { return &c.Roles }},
	{Name: "state", field: func(c *oauth.Client) any { return &c.State }},
	{Name: "sha256", field: func(c *oauth.Client) any { return &c.SHA256 }},
	{Name: "certificate", field: func(c *oauth.Client) any { return &c.Certificate }},
	{Name: "previous_sha256", field: func(c *oauth.Client) any { return &c.PreviousSHA256 }},
	{Name: "previous_until", field: func(c *oauth.Client) any { return &c.PreviousUntil }},
	{Name: "rotated_at", field: func(c *oauth.Client) any { return &c.RotatedAt }},
	{Name: "placements", field: func(c *oauth.Client) any { return &c.Placements }},
	{Name: "ending", field: func(c *oauth.Client) any { return &c.Ending }},
	{Name: "created_by", field: func(c *oauth.Client) any { return &c.CreatedBy }, fixed: true},
	{Name: "created_at", field: func(c *oauth.Client) any { return &c.CreatedAt }, fixed: true},
	{Name: "updated_at", field: func(c *oauth.Client) any { return &c.UpdatedAt }},
	{Name: "revision", field: func(c *oauth.Client) any { return &c.Revision }},
}

// ClientPosition is the place of a client in its list.
type ClientPosition struct {
	Project string `json:"clientProject"`
	Name    string `json:"clientName"`
}

// CutClients cuts a list that is longer than a page, and returns the next page's token.
func CutClients(all []oauth.Client, size int) ([]oauth.Client, string) {
	return Cut(all, size, func(c oauth.Client) string { return Token(ClientPosition{c.Project, c.Name}) })
}

// WhereClients are the conditions of a filter, and of the page after a position.
func WhereClients(f oauth.Filter, after *ClientPosition) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Project != "", `project = ?`, f.Project)
	where.AddIf(f.Name != "", `name = ?`, f.Name)
	where.AddIf(f.Ending, `ending`)
	switch {
	case after == nil:
	case f.Project == "":
		where.Add(`(project, name) > (?, ?)`, after.Project, after.Name)
	case after.Project == f.Project: // with the project given, the index is only searched for the name alone
		where.Add(`name > ?`, after.Name)
	case after.Project > f.Project:
		where.Add(`FALSE`)
	}
	return where
}

package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	clients      = keyedBy(`id`, `oauth_clients`, "client", rows.ClientColumns, same[oauth.Client], same[oauth.Client])
	deleteClient = statement(`DELETE FROM oauth_clients WHERE id = ?1`)
)

// CreateClient stores a new client.
func (s *Tables) CreateClient(ctx context.Context, c oauth.Client, limit int, e audit.Entry) error {
	c.Revision = 1
	return clients.create(ctx, s, e, c.ID, c, within(clientQuota, c.Project, limit), nil)
}

// Client returns one by its id.
func (s *Tables) Client(ctx context.Context, id string) (oauth.Client, error) {
	return clients.get(ctx, s, id)
}

// Clients lists by project and name.
func (s *Tables) Clients(ctx context.Context, f oauth.Filter) ([]oauth.Client, string, error) {
	size, after, err := rows.ClientOrder.Read(f.Page)
	if err != nil {
		return nil, "", err
	}
	text, args := rows.WhereClients(f, after).SelectFrom(clients.text)
	all, err := read(ctx, s, clients.scan, text+rows.ClientOrder.By(), append(args, size+1)...)
	all, next := rows.ClientOrder.Cut(all, size)
	return all, next, doing(err, "listing clients")
}

// UpdateClient changes a client by a function.
func (s *Tables) UpdateClient(ctx context.Context, id string, change func(*oauth.Client) error, e audit.Entry) (oauth.Client, error) {
	return clients.amend(ctx, s.recording(e), id, change, oauth.Client.Moved)
}

// DeleteClient removes a client that is being deleted.
func (s *Tables) DeleteClient(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		c, err := orNothing(clients.locked(t, id))
		if err != nil {
			return err
		}
		if c.State != oauth.Deleting {
			return rows.ClientLives()
		}
		t.queue(deleteClient, id)
		return nil
	})
	return doing(err, "deleting client %s", id)
}

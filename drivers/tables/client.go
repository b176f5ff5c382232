package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	clientsText  = `SELECT ` + rows.ClientColumns.Names() + ` FROM oauth_clients`
	clientText   = statement(clientsText + ` WHERE id = ?1`)
	lockClient   = statement(clientText + ` FOR UPDATE`)
	countClients = statement(`SELECT count(*) FROM oauth_clients WHERE project = ?1`)
	insertClient = statement(rows.ClientColumns.Insert(`oauth_clients`))
	updateClient = statement(`UPDATE oauth_clients SET ` + rows.ClientColumns.Changing().Set() + ` WHERE id = ?`)
	deleteClient = statement(`DELETE FROM oauth_clients WHERE id = ?1`)
)

// CreateClient stores a new client.
func (s *Tables) CreateClient(ctx context.Context, c oauth.Client, limit int, e audit.Entry) error {
	c.Revision = 1
	err := s.write(ctx, e, func(t Tx) error {
		t.lock(lockClients, c.Project)
		n, err := t.count(countClients, c.Project)
		if err != nil {
			return err
		}
		if limit > 0 && n >= int64(limit) {
			return rows.ClientsUsedUp(limit)
		}
		t.queue(insertClient, rows.ClientColumns.Values(&c)...)
		return nil
	})
	return doing(err, "creating client %s", c.ID)
}

// Client returns one by its id.
func (s *Tables) Client(ctx context.Context, id string) (oauth.Client, error) {
	c, err := oneClient(lookUp(ctx, s, scanClient, clientText, id))
	return c, doing(err, "reading client %s", id)
}

// Clients lists by project and name.
func (s *Tables) Clients(ctx context.Context, f oauth.Filter) ([]oauth.Client, string, error) {
	size, after, err := rows.ReadPage[rows.ClientPosition](f.Page)
	if err != nil {
		return nil, "", err
	}
	text, args := rows.WhereClients(f, after).SelectFrom(clientsText)
	all, err := read(ctx, s, scanClient, text+` ORDER BY project, name LIMIT ?`, append(args, size+1)...)
	if err != nil {
		return nil, "", doing(err, "listing clients")
	}
	page, next := rows.CutClients(all, size)
	return page, next, nil
}

func oneClient(found []oauth.Client, err error) (oauth.Client, error) {
	return rows.First("client", found, err)
}

func scanClient(row Row) (c oauth.Client, err error) {
	return c, row.Scan(rows.ClientColumns.Fields(&c)...)
}

// client reads a client and locks its row.
func (t Tx) client(id string) (oauth.Client, error) {
	return oneClient(query(t, scanClient, lockClient, id))
}

// UpdateClient changes a client by a function.
func (s *Tables) UpdateClient(ctx context.Context, id string, change func(*oauth.Client) error, e audit.Entry) (oauth.Client, error) {
	read := func(t Tx) (oauth.Client, error) { return t.client(id) }
	return amend(ctx, s.recording(e), "updating client "+id, read, change, func(t Tx, old, next oauth.Client) (oauth.Client, error) {
		next, err := old.Moved(next)
		if err == nil {
			t.queue(updateClient, append(rows.ClientColumns.Changing().Values(&next), id)...)
		}
		return next, err
	})
}

// DeleteClient removes a client that is being deleted.
func (s *Tables) DeleteClient(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		c, err := t.client(id)
		switch {
		case rows.IsNotFound(err):
			return ErrNothing
		case err != nil:
			return err
		case c.State != oauth.Deleting:
			return rows.ClientLives()
		}
		t.queue(deleteClient, id)
		return nil
	})
	return doing(err, "deleting client %s", id)
}

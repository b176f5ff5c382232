package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ oauth.Store = (*Store)(nil)

var (
	clientText   = `SELECT ` + rows.ClientColumns.Names() + ` FROM oauth_clients WHERE id = ?`
	clientsText  = `SELECT ` + rows.ClientColumns.Names() + ` FROM oauth_clients`
	clientRow    = prepared(clientText)
	countClients = prepared(`SELECT count(*) FROM oauth_clients WHERE project = ?`)
	insertClient = prepared(rows.ClientColumns.Insert(`oauth_clients`))
	updateClient = prepared(`UPDATE oauth_clients SET ` + rows.ClientColumns.Changing().Set() + ` WHERE id = ?`)
	deleteClient = prepared(`DELETE FROM oauth_clients WHERE id = ?`)
)

// CreateClient stores a new client.
func (s *Store) CreateClient(ctx context.Context, c oauth.Client, limit int, e audit.Entry) error {
	c.Revision = 1
	err := s.write(ctx, func(t txn) error {
		var n int
		if err := t.queryRow(countClients, c.Project).Scan(&n); err != nil {
			return translate(err)
		}
		if limit > 0 && n >= limit {
			return rows.ClientsUsedUp(limit)
		}
		if _, err := t.exec(insertClient, values(rows.ClientColumns.Fields(&c))...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("creating client %s: %w", c.ID, err)
	}
	return nil
}

// Client returns one by its id.
func (s *Store) Client(ctx context.Context, id string) (oauth.Client, error) {
	found, err := s.query(ctx, clientText, id)
	c, err := oneClient(collect(found, err, scanClient))
	if err != nil {
		return oauth.Client{}, fmt.Errorf("reading client %s: %w", id, err)
	}
	return c, nil
}

// Clients lists by project and name.
func (s *Store) Clients(ctx context.Context, f oauth.Filter) ([]oauth.Client, string, error) {
	size, after, err := rows.ReadPage[rows.ClientPosition](f.Page)
	if err != nil {
		return nil, "", err
	}
	text, args := rows.WhereClients(f, after).SelectFrom(clientsText)
	found, err := s.query(ctx, text+` ORDER BY project, name LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanClient)
	if err != nil {
		return nil, "", fmt.Errorf("listing clients: %w", err)
	}
	page, next := rows.CutClients(all, size)
	return page, next, nil
}

func oneClient(found []oauth.Client, err error) (oauth.Client, error) {
	return rows.First("client", found, err)
}

func scanClient(row *sql.Rows) (c oauth.Client, err error) {
	return c, scan(row, rows.ClientColumns.Fields(&c), nil)
}

func (t txn) client(id string) (oauth.Client, error) {
	found, err := t.query(clientRow, id)
	return oneClient(collect(found, err, scanClient))
}

// UpdateClient changes a client by a function.
func (s *Store) UpdateClient(ctx context.Context, id string, change func(*oauth.Client) error, e audit.Entry) (oauth.Client, error) {
	read := func(t txn) (oauth.Client, error) { return t.client(id) }
	return amend(ctx, s, "client "+id, e, read, change, func(t txn, old, next oauth.Client) (oauth.Client, error) {
		next, err := old.Moved(next)
		if err == nil {
			_, err = t.exec(updateClient, append(values(rows.ClientColumns.Changing().Fields(&next)), id)...)
		}
		return next, err
	})
}

// DeleteClient removes a client that is being deleted.
func (s *Store) DeleteClient(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		c, err := t.client(id)
		switch {
		case rows.IsNotFound(err):
			return nil
		case err != nil:
			return err
		case c.State != oauth.Deleting:
			return rows.ClientLives()
		}
		if _, err := t.exec(deleteClient, id); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("deleting client %s: %w", id, err)
	}
	return nil
}

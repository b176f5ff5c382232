package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ grant.Store = (*Store)(nil)

var (
	vnfGrantsText   = `SELECT ` + rows.VNFGrantColumns.Names() + ` FROM vnf_grants`
	vnfGrantText    = vnfGrantsText + ` WHERE id = ?`
	vnfGrantRecords = `SELECT ` + rows.VNFGrantColumns.Names() + `,
		coalesce((SELECT leases.state FROM leases WHERE leases.id = lease), ''),
		coalesce((SELECT leases.issued_at FROM leases WHERE leases.id = lease), 0),
		coalesce((SELECT leases.renewed_at FROM leases WHERE leases.id = lease), 0) FROM vnf_grants`
	vnfGrantOf      = vnfGrantsText + ` WHERE client = ? AND operation = ?`
	holdingVNFGrant = vnfGrantsText + ` WHERE client = ? AND instance = ? AND holds ORDER BY created_at DESC, id DESC LIMIT 1`
	dueVNFGrants    = vnfGrantsText + ` JOIN (SELECT id AS due, row_number() OVER (PARTITION BY client ORDER BY look_at) AS turn
		FROM vnf_grants WHERE followed AND look_at <= ?) ON due = id WHERE turn <= ? ORDER BY turn, look_at LIMIT ?`
	countVNFGrants   = prepared(`SELECT count(*) FROM vnf_grants WHERE client = ?`)
	noteVNFGrant     = prepared(`UPDATE vnf_grants SET look_at = ?, followed = ? WHERE id = ? AND revision = ? AND look_at = ? AND followed`)
	vnfGrantsByID    = vnfGrantsText + ` WHERE id > ? ORDER BY id LIMIT ?`
	vnfGrantRow      = prepared(vnfGrantText)
	insertVNFGrant   = prepared(rows.VNFGrantColumns.Insert(`vnf_grants`))
	changingVNFGrant = rows.VNFGrantColumns.Changing()
	updateVNFGrant   = prepared(`UPDATE vnf_grants SET ` + changingVNFGrant.Set() + ` WHERE id = ?`)
	forgetVNFGrants  = prepared(`DELETE FROM vnf_grants WHERE id IN (SELECT id FROM vnf_grants
		WHERE (?1 = '' OR client = ?1) AND state IN ('refused', 'ended') AND created_at < ?2 AND NOT followed
		AND NOT (holds AND EXISTS (SELECT 1 FROM leases WHERE leases.id = vnf_grants.lease AND (leases.state <> 'revoked' OR leases.reason = 'requested'))) ORDER BY created_at LIMIT ?3)`)
)

// CreateVNFGrant stores a new grant.
func (s *Store) CreateVNFGrant(ctx context.Context, g grant.Grant, limit int, e audit.Entry) error {
	g.Revision = 1
	row, err := rows.VNFGrantRow(g)
	if err == nil {
		err = s.write(ctx, func(t txn) error {
			if limit > 0 {
				var n int
				if err := t.queryRow(countVNFGrants, g.Client).Scan(&n); err != nil {
					return translate(err)
				}
				if n >= limit {
					return rows.VNFGrantsUsedUp(limit)
				}
			}
			if _, err := t.exec(insertVNFGrant, values(rows.VNFGrantColumns.Fields(&row))...); err != nil {
				return err
			}
			return t.append(e)
		})
	}
	if err != nil {
		return fmt.Errorf("creating grant %s: %w", g.ID, err)
	}
	return nil
}

func scanVNFGrant(row *sql.Rows) (g rows.VNFGrant, err error) {
	return g, scan(row, rows.VNFGrantColumns.Fields(&g), nil)
}

func (s *Store) vnfGrant(ctx context.Context, text string, args ...any) (grant.Grant, error) {
	found, err := s.query(ctx, text, args...)
	all, err := collect(found, err, scanVNFGrant)
	row, err := rows.First("grant", all, err)
	if err != nil {
		return grant.Grant{}, fmt.Errorf("reading a grant: %w", err)
	}
	return row.Grant()
}

// VNFGrant returns one by its id.
func (s *Store) VNFGrant(ctx context.Context, id string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrantText, id)
}

// VNFGrantOf returns the client's for an operation.
func (s *Store) VNFGrantOf(ctx context.Context, client, operation string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrantOf, client, operation)
}

// HoldingVNFGrant returns the newest that holds the lease of an instance.
func (s *Store) HoldingVNFGrant(ctx context.Context, client, instance string) (grant.Grant, error) {
	return s.vnfGrant(ctx, holdingVNFGrant, client, instance)
}

func (s *Store) vnfGrants(ctx context.Context, text string, args ...any) ([]grant.Grant, error) {
	found, err := s.query(ctx, text, args...)
	all, err := collect(found, err, scanVNFGrant)
	if err != nil {
		return nil, fmt.Errorf("listing grants: %w", err)
	}
	return rows.Read(all, rows.VNFGrant.Grant)
}

// DueVNFGrants lists those that are to be looked at.
func (s *Store) DueVNFGrants(ctx context.Context, at time.Time, each, limit int) ([]grant.Grant, error) {
	return s.vnfGrants(ctx, dueVNFGrants, rows.Micro(at), each, limit)
}

// VNFGrants lists all.
func (s *Store) VNFGrants(ctx context.Context, after string, limit int) ([]grant.Grant, error) {
	return s.vnfGrants(ctx, vnfGrantsByID, after, limit)
}

func (s *Store) vnfGrantRecords(ctx context.Context, text string, args ...any) ([]grant.Record, error) {
	found, err := s.query(ctx, text, args...)
	all, err := collect(found, err, func(row *sql.Rows) (r rows.VNFGrantRecord, err error) { return r, scan(row, r.Fields(), nil) })
	if err != nil {
		return nil, fmt.Errorf("listing grants: %w", err)
	}
	return rows.Read(all, rows.VNFGrantRecord.Record)
}

// member is a text of the document.
func member(name string) string { return `json_extract(document, '$.` + name + `')` }

// VNFGrantRecords lists the newest first.
func (s *Store) VNFGrantRecords(ctx context.Context, f grant.Filter) ([]grant.Record, string, error) {
	text, args, size, err := listVNFGrants(f)
	if err != nil {
		return nil, "", err
	}
	all, err := s.vnfGrantRecords(ctx, text, args...)
	all, next := rows.CutVNFGrants(all, size)
	return all, next, err
}

func listVNFGrants(f grant.Filter) (text string, args []any, size int, err error) {
	size, after, err := rows.ReadPage[rows.VNFGrantPosition](f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	of := member
	if f.Client != "" || f.Instance != "" || f.Operation != "" || f.Lease != "" || f.VIM != "" || f.VIMName != "" {
		of = func(name string) string {
			if name == "Project" {
				return `+` + member(name) // keeps SQLite from reading all of the project
			}
			return member(name)
		}
	}
	text, args = rows.WhereVNFGrants(f, after, of).SelectFrom(vnfGrantRecords)
	return text + ` ORDER BY id DESC LIMIT ?+0`, append(args, size+1), size, nil
}

// VNFGrantRecord returns one by its id.
func (s *Store) VNFGrantRecord(ctx context.Context, id string) (grant.Record, error) {
	all, err := s.vnfGrantRecords(ctx, vnfGrantRecords+` WHERE id = ?`, id)
	return rows.First("grant", all, err)
}

// changeVNFGrant reads a row, and stores what change makes of it.
func (t txn) changeVNFGrant(id string, change func(rows.VNFGrant) (rows.VNFGrant, error)) error {
	found, err := t.query(vnfGrantRow, id)
	all, err := collect(found, err, scanVNFGrant)
	row, err := rows.First("grant", all, err)
	if err != nil {
		return err
	}
	next, err := change(row)
	if err != nil {
		return err
	}
	_, err = t.exec(updateVNFGrant, append(values(changingVNFGrant.Fields(&next)), id)...)
	return err
}

// UpdateVNFGrant changes a grant by a function.
func (s *Store) UpdateVNFGrant(
	ctx context.Context, id string, change func(*grant.Grant) error, e audit.Entry,
) (stored grant.Grant, err error) {
	err = s.write(ctx, func(t txn) error {
		if err := t.changeVNFGrant(id, func(row rows.VNFGrant) (next rows.VNFGrant, err error) {
			next, stored, err = rows.ChangeVNFGrant(row, change)
			return next, err
		}); err != nil {
			return err
		}
		return t.append(e)
	})
	return stored, err
}

// NoteVNFGrant stores when a grant is looked at next.
func (s *Store) NoteVNFGrant(ctx context.Context, g grant.Grant, next time.Time) error {
	return s.write(ctx, func(t txn) error {
		noted, err := t.exec(noteVNFGrant, rows.Micro(next), !next.IsZero(), g.ID, g.Revision, rows.Micro(g.LookAt))
		if err != nil {
			return err
		}
		if n, err := noted.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return rows.Conflict("the grant was changed in the meantime")
	})
}

// ForgetVNFGrants removes grants that lend nothing.
func (s *Store) ForgetVNFGrants(ctx context.Context, client string, before time.Time, limit int) (n int, err error) {
	err = s.write(ctx, func(t txn) error {
		done, err := t.exec(forgetVNFGrants, client, rows.Micro(before), limit)
		if err != nil {
			return err
		}
		gone, err := done.RowsAffected()
		n = int(gone)
		return err
	})
	return n, err
}

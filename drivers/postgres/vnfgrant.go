package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ grant.Store = (*Store)(nil)

var (
	vnfGrantsText   = `SELECT ` + rows.VNFGrantColumns.Names() + ` FROM vnf_grants`
	vnfGrantText    = vnfGrantsText + ` WHERE id = $1`
	vnfGrantRecords = `SELECT ` + rows.VNFGrantColumns.Names() + `,
		coalesce((SELECT leases.state FROM leases WHERE leases.id = lease), ''),
		coalesce((SELECT leases.issued_at FROM leases WHERE leases.id = lease), '-infinity'),
		coalesce((SELECT leases.renewed_at FROM leases WHERE leases.id = lease), '-infinity') FROM vnf_grants`
	vnfGrantOf      = vnfGrantsText + ` WHERE client = $1 AND operation = $2`
	holdingVNFGrant = vnfGrantsText + ` WHERE client = $1 AND instance = $2 AND holds ORDER BY created_at DESC, id DESC LIMIT 1`
	dueVNFGrants    = vnfGrantsText + ` JOIN (SELECT id AS due, row_number() OVER (PARTITION BY client ORDER BY look_at) AS turn
		FROM vnf_grants WHERE followed AND look_at <= $1) AS d ON due = id WHERE turn <= $2 ORDER BY turn, look_at LIMIT $3`
	vnfGrantsByID    = vnfGrantsText + ` WHERE id > $1 ORDER BY id LIMIT $2`
	insertVNFGrant   = numbered(rows.VNFGrantColumns.Insert(`vnf_grants`))
	changingVNFGrant = rows.VNFGrantColumns.Changing()
	updateVNFGrant   = numbered(`UPDATE vnf_grants SET ` + changingVNFGrant.Set() + ` WHERE id = ?`)
)

const (
	countVNFGrants  = `SELECT count(*)::int FROM vnf_grants WHERE client = $1`
	noteVNFGrant    = `UPDATE vnf_grants SET look_at = $1, followed = $2 WHERE id = $3 AND revision = $4 AND look_at = $5 AND followed`
	forgetVNFGrants = `DELETE FROM vnf_grants WHERE id IN (SELECT id FROM vnf_grants
		WHERE ($1 = '' OR client = $1) AND state IN ('refused', 'ended') AND created_at < $2 AND NOT followed
		AND NOT (holds AND EXISTS (SELECT FROM leases WHERE leases.id = vnf_grants.lease AND (leases.state <> 'revoked' OR leases.reason = 'requested')))
		ORDER BY created_at LIMIT $3)`
)

// CreateVNFGrant stores a new grant.
func (s *Store) CreateVNFGrant(ctx context.Context, g grant.Grant, limit int, e audit.Entry) error {
	g.Revision = 1
	row, err := rows.VNFGrantRow(g)
	if err == nil {
		err = s.write(ctx, e, func(t txn) error {
			if limit > 0 {
				t.lock(lockVNFGrants, g.Client)
				counts, err := query(t, scalar[int], countVNFGrants, g.Client)
				if err != nil {
					return err
				}
				if counts[0] >= limit {
					return rows.VNFGrantsUsedUp(limit)
				}
			}
			t.queue(insertVNFGrant, values(rows.VNFGrantColumns.Fields(&row))...)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("creating grant %s: %w", g.ID, err)
	}
	return nil
}

func scanVNFGrant(row pgx.CollectableRow) (g rows.VNFGrant, err error) {
	return g, scan(row, rows.VNFGrantColumns.Fields(&g), nil)
}

func (s *Store) vnfGrant(ctx context.Context, text string, args ...any) (grant.Grant, error) {
	all, err := lookUp(ctx, s, scanVNFGrant, text, args...)
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
	all, err := lookUp(ctx, s, scanVNFGrant, text, args...)
	if err != nil {
		return nil, fmt.Errorf("listing grants: %w", err)
	}
	return rows.Read(all, rows.VNFGrant.Grant)
}

// DueVNFGrants lists those that are to be looked at.
func (s *Store) DueVNFGrants(ctx context.Context, at time.Time, each, limit int) ([]grant.Grant, error) {
	return s.vnfGrants(ctx, dueVNFGrants, stamp(at), each, limit)
}

// VNFGrants lists all.
func (s *Store) VNFGrants(ctx context.Context, after string, limit int) ([]grant.Grant, error) {
	return s.vnfGrants(ctx, vnfGrantsByID, after, limit)
}

func scanVNFGrantRecord(row pgx.CollectableRow) (r rows.VNFGrantRecord, err error) {
	return r, scan(row, r.Fields(), nil)
}

// member is a text of the document.
func member(name string) string { return `(document::jsonb ->> '` + name + `')` }

// VNFGrantRecords lists the newest first.
func (s *Store) VNFGrantRecords(ctx context.Context, f grant.Filter) ([]grant.Record, string, error) {
	text, args, size, err := listVNFGrants(f)
	if err != nil {
		return nil, "", err
	}
	found, err := read(ctx, s, scanVNFGrantRecord, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing grants: %w", err)
	}
	all, err := rows.Read(found, rows.VNFGrantRecord.Record)
	all, next := rows.CutVNFGrants(all, size)
	return all, next, err
}

func listVNFGrants(f grant.Filter) (text string, args []any, size int, err error) {
	size, after, err := rows.ReadPage[rows.VNFGrantPosition](f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	text, args = rows.WhereVNFGrants(f, after, member).SelectFrom(vnfGrantRecords)
	return numbered(text + ` ORDER BY id DESC LIMIT ?`), append(args, size+1), size, nil
}

// VNFGrantRecord returns one by its id.
func (s *Store) VNFGrantRecord(ctx context.Context, id string) (grant.Record, error) {
	found, err := lookUp(ctx, s, scanVNFGrantRecord, vnfGrantRecords+` WHERE id = $1`, id)
	row, err := rows.First("grant", found, err)
	if err != nil {
		return grant.Record{}, fmt.Errorf("reading a grant: %w", err)
	}
	return row.Record()
}

// changeVNFGrant reads and locks a row, and stores what change makes of it.
func (t txn) changeVNFGrant(id string, change func(rows.VNFGrant) (rows.VNFGrant, error)) error {
	all, err := query(t, scanVNFGrant, vnfGrantText+` FOR UPDATE`, id)
	row, err := rows.First("grant", all, err)
	if err != nil {
		return err
	}
	next, err := change(row)
	if err != nil {
		return err
	}
	t.queue(updateVNFGrant, append(values(changingVNFGrant.Fields(&next)), id)...)
	return nil
}

// UpdateVNFGrant changes a grant by a function.
func (s *Store) UpdateVNFGrant(
	ctx context.Context, id string, change func(*grant.Grant) error, e audit.Entry,
) (stored grant.Grant, err error) {
	err = s.write(ctx, e, func(t txn) error {
		return t.changeVNFGrant(id, func(row rows.VNFGrant) (next rows.VNFGrant, err error) {
			next, stored, err = rows.ChangeVNFGrant(row, change)
			return next, err
		})
	})
	return stored, err
}

// NoteVNFGrant stores when a grant is looked at next.
func (s *Store) NoteVNFGrant(ctx context.Context, g grant.Grant, next time.Time) error {
	return s.change(ctx, func(t txn) error {
		noted, err := t.exec(noteVNFGrant, stamp(next), !next.IsZero(), g.ID, g.Revision, stamp(g.LookAt))
		if err == nil && noted.RowsAffected() == 0 {
			err = rows.Conflict("the grant was changed in the meantime")
		}
		return err
	})
}

// ForgetVNFGrants removes grants that lend nothing.
func (s *Store) ForgetVNFGrants(ctx context.Context, client string, before time.Time, limit int) (n int, err error) {
	err = s.change(ctx, func(t txn) error {
		done, err := t.exec(forgetVNFGrants, client, stamp(before), limit)
		n = int(done.RowsAffected())
		return err
	})
	return n, err
}

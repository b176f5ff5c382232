package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	vnfGrantsText   = `SELECT ` + rows.VNFGrantColumns.Names() + ` FROM vnf_grants`
	vnfGrantText    = statement(vnfGrantsText + ` WHERE id = ?1`)
	lockVNFGrant    = statement(vnfGrantText + ` FOR UPDATE`)
	vnfGrantRecords = `SELECT ` + rows.VNFGrantColumns.Names() + `,
		coalesce((SELECT leases.state FROM leases WHERE leases.id = lease), ''),
		coalesce((SELECT leases.issued_at FROM leases WHERE leases.id = lease), '-infinity'),
		coalesce((SELECT leases.renewed_at FROM leases WHERE leases.id = lease), '-infinity') FROM vnf_grants`
	vnfGrantRecord  = statement(vnfGrantRecords + ` WHERE id = ?`)
	vnfGrantOf      = statement(vnfGrantsText + ` WHERE client = ?1 AND operation = ?2`)
	holdingVNFGrant = statement(vnfGrantsText + ` WHERE client = ?1 AND instance = ?2 AND holds ORDER BY created_at DESC, id DESC LIMIT 1`)
	dueVNFGrants    = statement(vnfGrantsText + ` JOIN (SELECT id AS due, row_number() OVER (PARTITION BY client ORDER BY look_at) AS turn
		FROM vnf_grants WHERE followed AND look_at <= ?1) AS d ON due = id WHERE turn <= ?2 ORDER BY turn, look_at LIMIT ?3`)
	insertVNFGrant   = statement(rows.VNFGrantColumns.Insert(`vnf_grants`))
	changingVNFGrant = rows.VNFGrantColumns.Changing()
	updateVNFGrant   = statement(`UPDATE vnf_grants SET ` + changingVNFGrant.Set() + ` WHERE id = ?`)
)

var (
	countVNFGrants = statement(`SELECT count(*) FROM vnf_grants WHERE client = ?1`)
	noteVNFGrant   = statement(`UPDATE vnf_grants SET look_at = ?1, followed = ?2
		WHERE id = ?3 AND revision = ?4 AND look_at = ?5 AND followed`)
	forgetVNFGrants = statement(`DELETE FROM vnf_grants WHERE id IN (SELECT id FROM vnf_grants/*by vnf_grant_over*/
		WHERE (?1 = '' OR client = ?1) AND state IN ('refused', 'ended') AND created_at < ?2 AND NOT followed
		AND NOT (holds AND (EXISTS (SELECT 1 FROM leases WHERE leases.id = vnf_grants.lease
				AND (leases.state <> 'revoked' OR leases.reason <> 'operationEnded'))
			OR EXISTS (SELECT 1 FROM leases WHERE leases.login = vnf_grants.lease AND leases.login <> '' AND leases.secret_sha256 <> ''
				AND (leases.state <> 'revoked' OR leases.reason <> 'operationEnded'))))
		ORDER BY created_at LIMIT ?3)`)
)

// CreateVNFGrant stores a new grant.
func (s *Tables) CreateVNFGrant(ctx context.Context, g grant.Grant, limit int, e audit.Entry) error {
	g.Revision = 1
	row, err := rows.VNFGrantRow(g)
	if err == nil {
		err = s.write(ctx, e, func(t Tx) error {
			if limit > 0 {
				t.lock(lockVNFGrants, g.Client)
				n, err := t.count(countVNFGrants, g.Client)
				if err != nil {
					return err
				}
				if n >= int64(limit) {
					return rows.VNFGrantsUsedUp(limit)
				}
			}
			t.queue(insertVNFGrant, rows.VNFGrantColumns.Values(&row)...)
			return nil
		})
	}
	return doing(err, "creating grant %s", g.ID)
}

func scanVNFGrant(row Row) (g rows.VNFGrant, err error) {
	return g, row.Scan(rows.VNFGrantColumns.Fields(&g)...)
}

func (s *Tables) vnfGrant(ctx context.Context, text string, args ...any) (grant.Grant, error) {
	all, err := lookUp(ctx, s, scanVNFGrant, text, args...)
	row, err := rows.First("grant", all, err)
	if err != nil {
		return grant.Grant{}, doing(err, "reading a grant")
	}
	return row.Grant()
}

// VNFGrant returns one by its id.
func (s *Tables) VNFGrant(ctx context.Context, id string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrantText, id)
}

// VNFGrantOf returns the client's for an operation.
func (s *Tables) VNFGrantOf(ctx context.Context, client, operation string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrantOf, client, operation)
}

// HoldingVNFGrant returns the newest that holds the lease of an instance.
func (s *Tables) HoldingVNFGrant(ctx context.Context, client, instance string) (grant.Grant, error) {
	return s.vnfGrant(ctx, holdingVNFGrant, client, instance)
}

func (s *Tables) vnfGrants(ctx context.Context, text string, args ...any) ([]grant.Grant, error) {
	all, err := lookUp(ctx, s, scanVNFGrant, text, args...)
	if err != nil {
		return nil, doing(err, "listing grants")
	}
	return rows.Read(all, rows.VNFGrant.Grant)
}

// DueVNFGrants lists the grants that are due for a look.
func (s *Tables) DueVNFGrants(ctx context.Context, at time.Time, each, limit int) ([]grant.Grant, error) {
	return s.vnfGrants(ctx, dueVNFGrants, at, each, limit)
}

func scanVNFGrantRecord(row Row) (r rows.VNFGrantRecord, err error) {
	return r, row.Scan(r.Fields()...)
}

// member is a text of the document.
func member(name string) string { return `(document::jsonb ->> '` + name + `')` }

// VNFGrantRecords lists the newest first.
func (s *Tables) VNFGrantRecords(ctx context.Context, f grant.Filter) ([]grant.Record, string, error) {
	text, args, size, err := VNFGrantQuery(f)
	if err != nil {
		return nil, "", err
	}
	found, err := read(ctx, s, scanVNFGrantRecord, text, args...)
	if err != nil {
		return nil, "", doing(err, "listing grants")
	}
	all, err := rows.Read(found, rows.VNFGrantRecord.Record)
	all, next := rows.CutVNFGrants(all, size)
	return all, next, err
}

// VNFGrantQuery is the query of a list of grants, with its arguments and the size of its page.
func VNFGrantQuery(f grant.Filter) (text string, args []any, size int, err error) {
	size, after, err := rows.ReadPage[rows.VNFGrantPosition](f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	of := member
	if f.Client != "" || f.Instance != "" || f.Operation != "" || f.Lease != "" || f.VIM != "" || f.VIMName != "" {
		of = func(name string) string {
			if name == "Project" {
				return `/*slow*/` + member(name)
			}
			return member(name)
		}
	}
	text, args = rows.WhereVNFGrants(f, after, of).SelectFrom(vnfGrantRecords)
	return text + ` ORDER BY id DESC LIMIT ?`, append(args, size+1), size, nil
}

// VNFGrantRecord returns one by its id.
func (s *Tables) VNFGrantRecord(ctx context.Context, id string) (grant.Record, error) {
	found, err := lookUp(ctx, s, scanVNFGrantRecord, vnfGrantRecord, id)
	row, err := rows.First("grant", found, err)
	if err != nil {
		return grant.Record{}, doing(err, "reading a grant")
	}
	return row.Record()
}

// changeVNFGrant reads and locks a row, and stores what change makes of it.
func (t Tx) changeVNFGrant(id string, change func(rows.VNFGrant) (rows.VNFGrant, error)) error {
	all, err := query(t, scanVNFGrant, lockVNFGrant, id)
	row, err := rows.First("grant", all, err)
	if err != nil {
		return err
	}
	next, err := change(row)
	if err != nil {
		return err
	}
	t.queue(updateVNFGrant, append(changingVNFGrant.Values(&next), id)...)
	return nil
}

// UpdateVNFGrant changes a grant by a function.
func (s *Tables) UpdateVNFGrant(
	ctx context.Context, id string, change func(*grant.Grant) error, e audit.Entry,
) (stored grant.Grant, err error) {
	err = s.write(ctx, e, func(t Tx) error {
		return t.changeVNFGrant(id, func(row rows.VNFGrant) (next rows.VNFGrant, err error) {
			next, stored, err = rows.ChangeVNFGrant(row, change)
			return next, err
		})
	})
	return stored, err
}

// NoteVNFGrant stores when a grant is looked at next.
func (s *Tables) NoteVNFGrant(ctx context.Context, g grant.Grant, next time.Time) error {
	return s.change(ctx, func(t Tx) error {
		noted, err := t.any(noteVNFGrant, next, !next.IsZero(), g.ID, g.Revision, g.LookAt)
		if err == nil && !noted {
			err = rows.Conflict("the grant was changed in the meantime")
		}
		return err
	})
}

// ForgetVNFGrants removes grants that lend nothing.
func (s *Tables) ForgetVNFGrants(ctx context.Context, client string, before time.Time, limit int) (n int, err error) {
	err = s.change(ctx, func(t Tx) error {
		done, err := t.Exec(forgetVNFGrants, client, before, limit)
		n = int(done)
		return err
	})
	return n, err
}

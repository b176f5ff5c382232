package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	vnfGrants       = keyedBy(`id`, `vnf_grants`, "grant", rows.VNFGrantColumns, rows.VNFGrant.Read, rows.VNFGrantRow)
	vnfGrantRecords = `SELECT ` + rows.VNFGrantColumns.Names() + `,
		coalesce((SELECT leases.state FROM leases WHERE leases.id = lease), ''),
		coalesce((SELECT leases.issued_at FROM leases WHERE leases.id = lease), '-infinity'),
		coalesce((SELECT leases.renewed_at FROM leases WHERE leases.id = lease), '-infinity') FROM vnf_grants`
	vnfGrantRecord  = statement(vnfGrantRecords + ` WHERE id = ?`)
	vnfGrantOf      = statement(vnfGrants.text + ` WHERE client = ?1 AND operation = ?2`)
	holdingVNFGrant = statement(vnfGrants.text + ` WHERE client = ?1 AND instance = ?2 AND holds ORDER BY created_at DESC, id DESC LIMIT 1`)
	dueVNFGrants    = statement(vnfGrants.text + ` JOIN (SELECT id AS due, row_number() OVER (PARTITION BY client ORDER BY look_at) AS turn
		FROM vnf_grants WHERE followed AND look_at <= ?1) AS d ON due = id WHERE turn <= ?2 ORDER BY turn, look_at LIMIT ?3`)
)

var (
	noteVNFGrant = statement(`UPDATE vnf_grants SET look_at = ?1, followed = ?2
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
	return vnfGrants.create(ctx, s, e, g.ID, g, within(vnfGrantQuota, g.Client, limit), nil)
}

func (s *Tables) vnfGrant(ctx context.Context, text string, args ...any) (grant.Grant, error) {
	g, err := vnfGrants.first(ctx, s, text, args...)
	return g, doing(err, "reading a grant")
}

// VNFGrant returns one by its id.
func (s *Tables) VNFGrant(ctx context.Context, id string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrants.byKey, id)
}

// VNFGrantOf returns the client's for an operation.
func (s *Tables) VNFGrantOf(ctx context.Context, client, operation string) (grant.Grant, error) {
	return s.vnfGrant(ctx, vnfGrantOf, client, operation)
}

// HoldingVNFGrant returns the newest that holds the lease of an instance.
func (s *Tables) HoldingVNFGrant(ctx context.Context, client, instance string) (grant.Grant, error) {
	return s.vnfGrant(ctx, holdingVNFGrant, client, instance)
}

// DueVNFGrants lists the grants that are due for a look.
func (s *Tables) DueVNFGrants(ctx context.Context, at time.Time, each, limit int) ([]grant.Grant, error) {
	all, err := vnfGrants.each(lookUp(ctx, s, vnfGrants.scan, dueVNFGrants, at, each, limit))
	return all, doing(err, "listing grants")
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
	found, next := rows.VNFGrantOrder.Cut(found, size)
	all, err := each(rows.VNFGrantRecord.Read, found, nil)
	return all, next, err
}

// VNFGrantQuery is the query of a list of grants, with its arguments and the size of its page.
func VNFGrantQuery(f grant.Filter) (text string, args []any, size int, err error) {
	size, after, err := rows.VNFGrantOrder.Read(f.Page)
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
	where := rows.WhereVNFGrants(f, of)
	rows.VNFGrantOrder.After(where, after)
	text, args = where.SelectFrom(vnfGrantRecords)
	return text + rows.VNFGrantOrder.By(), append(args, size+1), size, nil
}

// VNFGrantRecord returns one by its id.
func (s *Tables) VNFGrantRecord(ctx context.Context, id string) (grant.Record, error) {
	found, err := lookUp(ctx, s, scanVNFGrantRecord, vnfGrantRecord, id)
	row, err := rows.First("grant", found, err)
	if err != nil {
		return grant.Record{}, doing(err, "reading a grant")
	}
	return row.Read()
}

// UpdateVNFGrant changes a grant by a function.
func (s *Tables) UpdateVNFGrant(
	ctx context.Context, id string, change func(*grant.Grant) error, e audit.Entry,
) (grant.Grant, error) {
	return vnfGrants.amend(ctx, s.recording(e), id, change, grant.Grant.Moved)
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
func (s *Tables) ForgetVNFGrants(ctx context.Context, client string, before time.Time, limit int) (int, error) {
	return s.met(ctx, forgetVNFGrants, client, before, limit)
}

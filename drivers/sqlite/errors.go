package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// unique names the rules of uniqueness as SQLite does: by their columns.
var unique = map[string]rows.Unique{
	"vims.id":                               rows.VIMID,
	"vims.project, vims.name":               rows.VIMName,
	"vims.project":                          rows.VIMDefault,
	"vims.created_by, vims.idempotency_key": rows.VIMKey,

	"vnf_packages.id":                         rows.PackageID,
	"vnf_packages.project, vnf_packages.vnfd": rows.VNFD,

	"oauth_keys.state":                          rows.TokenKey,
	"oauth_clients.id":                          rows.ClientID,
	"oauth_clients.project, oauth_clients.name": rows.ClientName,

	"virtual_links.project, virtual_links.name": rows.LinkName,

	"vnf_grants.id": rows.VNFGrantID,
	"vnf_grants.client, vnf_grants.operation":             rows.VNFGrantOperation,
	"vnf_subscriptions.id":                                rows.SubscriptionID,
	"vnf_subscriptions.project, vnf_subscriptions.digest": rows.SubscriptionLike,

	"vnf_bundles.id": rows.BundleName,
	"vnf_bundles.project, vnf_bundles.kind, vnf_bundles.name": rows.BundleName,
	"vnf_bundles.project, vnf_bundles.claim":                  rows.BundleClaim,

	"leases.id": rows.LeaseID,
	"leases.principal, leases.idempotency_key": rows.LeaseKey,

	"vnf_instances.id":        rows.InstanceID,
	"vnf_operations.id":       rows.OperationID,
	"vnf_operations.instance": rows.OperationLive,
	"clusters.management, clusters.namespace, clusters.name, clusters.uid": rows.ClusterObject,

	"clusters.system, clusters.project": rows.ClusterSystem,
	"management_clusters.vim":           rows.ManagementVIM,
}

// translate turns what the database answers into the broker's sentinels. SQLite
// names tables, columns and constraints in its errors, never values.
func translate(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrConnDone):
		return rows.Closed()
	case !errors.As(err, &e):
		if strings.Contains(err.Error(), "database is closed") { // database/sql has no sentinel for it
			return rows.Closed()
		}
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return broken(e)
	case sqlite3.SQLITE_INTERRUPT:
		return context.Canceled
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "the file is no database, or it is damaged",
			Remedy: "restore a backup of it, as the runbook says", Cause: err,
		}
	case sqlite3.SQLITE_FULL:
		return rows.Full(err)
	case sqlite3.SQLITE_READONLY:
		return rows.NoWrites(err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		return rows.Unavailable(err)
	}
	return err
}

// broken names the rule that a write would have broken.
func broken(e *sqlite.Error) error {
	_, rule, _ := strings.Cut(e.Error(), " constraint failed: ")
	rule, _, _ = strings.Cut(rule, " (")
	if u, ok := unique[rule]; ok {
		return u.Taken(e)
	}
	return rows.Forbidden(rule, e)
}

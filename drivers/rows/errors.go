package rows

import (
	"errors"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

// Unique is a rule that a field's value occurs once. PostgreSQL's schema gives it a name; SQLite names its columns.
type Unique struct{ name, columns, field, detail string }

// The rules that a write looks at before the database does.
var (
	VIMKey, _     = UniqueOf("vim_idempotency_key_once_per_principal")
	LeaseKey, _   = UniqueOf("lease_idempotency_key_once_per_principal")
	LeaseLogin, _ = UniqueOf("lease_login_once")
)

// uniques are all rules of uniqueness.
var uniques = []Unique{
	{"vims_pkey", "vims.id", "id", "a VIM with this id is there already"},
	{"vim_name_once_per_project", "vims.project, vims.name", "name", "the project has a VIM of this name"},
	{"vim_default_once_per_project", "vims.project", "default", "the project has a default VIM already"},
	{
		"vim_idempotency_key_once_per_principal", "vims.created_by, vims.idempotency_key",
		"Idempotency-Key", "the principal used this key for another registration",
	},
	{"leases_pkey", "leases.id", "id", "a lease with this id is there already"},
	{
		"lease_idempotency_key_once_per_principal", "leases.principal, leases.idempotency_key",
		"Idempotency-Key", "the principal used this key for another lease",
	},
	{"lease_login_once", "", "login", "another lease has taken the place of the one before"},
	{"vnf_packages_pkey", "vnf_packages.id", "id", "a VNF package with this id is there already"},
	{
		"package_vnfd_once_per_project", "vnf_packages.project, vnf_packages.vnfd",
		"vnfdId", "the project has another package with this VNFD",
	},
	{"oauth_clients_pkey", "oauth_clients.id", "id", "a client with this id is there already"},
	{"client_name_once_per_project", "oauth_clients.project, oauth_clients.name", "name", "the project has a client of this name"},
	{"oauth_key_signs_alone", "oauth_keys.state", "key", "another key signs tokens"},
	{"vnf_grants_pkey", "vnf_grants.id", "id", "a grant with this id is there already"},
	{
		"vnf_grant_once_per_operation", "vnf_grants.client, vnf_grants.operation",
		"vnfLcmOpOccId", "the client has a grant for this operation",
	},
	{"vnf_subscriptions_pkey", "vnf_subscriptions.id", "id", "a subscription with this id is there already"},
	{
		"subscription_once_per_project", "vnf_subscriptions.project, vnf_subscriptions.digest",
		"callbackUri", "the project has such a subscription already",
	},
	{"vnf_bundles_pkey", "vnf_bundles.id", "name", "there is one of this name already"},
	{"bundle_once", "vnf_bundles.project, vnf_bundles.kind, vnf_bundles.name", "name", "there is one of this name already"},
	{"bundle_claim_once", "vnf_bundles.project, vnf_bundles.claim", "claim", "another request is making it"},
	{"asset_name_once_per_project", "assets.project, assets.kind, assets.name", "name", "the project has one of this name already"},
	{
		"asset_network_once_per_project", "index 'asset_network_once_per_project'",
		"existing", "the project has it already, by another name",
	},
	{"vnf_instances_pkey", "vnf_instances.id", "id", "a VNF instance with this id is there already"},
	{"vnf_operations_pkey", "vnf_operations.id", "id", "an operation with this id is there already"},
	{
		"vnf_operation_live_once_per_instance", "vnf_operations.instance",
		"vnfInstanceId", "another operation of the instance has not ended",
	},
	{"management_clusters_pkey", "management_clusters.vim", "vim", "the VIM is a management cluster already"},
	{
		"cluster_object_once", "clusters.management, clusters.namespace, clusters.name, clusters.uid",
		"uid", "the management cluster has this cluster already",
	},
	{"cluster_system_once", "clusters.system, clusters.project", "system", "another cluster of the project leads to this system"},
}

// UniqueOf is the rule that a database names.
func UniqueOf(named string) (Unique, bool) {
	for _, u := range uniques {
		if named != "" && (named == u.name || named == u.columns) {
			return u, true
		}
	}
	return Unique{}, false
}

// Taken says that another row has the value; cause may be nil.
func (u Unique) Taken(cause error) error {
	return &broker.Error{Kind: broker.ErrExists, Field: u.field, Detail: u.detail, Cause: cause}
}

// Forbidden says that a write breaks a rule of the schema.
func Forbidden(rule string, cause error) error {
	return &broker.Error{Kind: broker.ErrInvalid, Detail: "the store's rule " + rule + " forbids it", Cause: cause}
}

// Unavailable says that the store cannot be asked.
func Unavailable(cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: "the store cannot be used now",
		Remedy: "try again; if that goes on, have the broker's operator see why", Cause: cause,
	}
}

// noneRecorded is the effect of a store that takes no writes.
const noneRecorded = "nothing can be recorded, so nothing is done"

// Full says that the disk of the database is full, so that nothing at all is written.
func Full(cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: broker.ErrNoSpace.Error() + ": " + noneRecorded,
		Remedy: "have the broker's operator make space there, then try again",
		Cause:  errors.Join(broker.ErrNoWrites, broker.ErrNoSpace, cause),
	}
}

// NoWrites says that the database can be read, and refuses every write for another reason than its disk.
func NoWrites(cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: broker.ErrNoWrites.Error() + ": " + noneRecorded,
		Remedy: "have the broker's operator see why, then try again", Cause: errors.Join(broker.ErrNoWrites, cause),
	}
}

// Closed says that the store was closed.
func Closed() error {
	return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store is closed"}
}

// NotFound says that there is no such row.
func NotFound(what string) error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: what + " not found"}
}

// Conflict says that the rows do not allow the change.
func Conflict(detail string) error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: detail}
}

// Move refuses a move that the state machine of something does not have.
func Move[S interface {
	~string
	CanMove(to S) bool
}](what string, from, to S) error {
	if from != to && !from.CanMove(to) {
		return Conflict(what + " that is " + string(from) + " cannot become " + string(to))
	}
	return nil
}

// NotLeasable says that no lease can be made on the VIM.
func NotLeasable() error {
	return Conflict("the VIM is gone, is not registered, or was changed in the meantime")
}

// OtherKey says that a credential is sealed with a key that was replaced.
func OtherKey() error { return Conflict("the VIM was sealed under another key in the meantime") }

// First returns the only item of a list, or an error that names what is missing.
func First[T any](what string, items []T, err error) (T, error) {
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(items) == 0:
		return zero, NotFound(what)
	}
	return items[0], nil
}

// IsNotFound reports whether an error says that there is no such row.
func IsNotFound(err error) bool { return errors.Is(err, broker.ErrNotFound) }

// IsTaken reports whether an error says that another row has a value.
func IsTaken(err error) bool { return errors.Is(err, broker.ErrExists) }

// PackageGone says that a VNF package was deleted after a caller found it.
func PackageGone() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Field: "vnfdId", Detail: "the VNF package was deleted meanwhile",
		Remedy: "upload it again, or name another",
	}
}

// VIMGoing says that nothing new can stand on a VIM.
func VIMGoing() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Field: "vimConnectionInfo", Detail: "the VIM is being deleted, or is gone",
		Remedy: "name another VIM",
	}
}

// ClientLives says that a client is not being deleted, so that its row stays.
func ClientLives() error { return Conflict("the client is not being deleted") }

// BytesUsedUp says that the VNF packages of a project have as many bytes as they may have.
func BytesUsedUp(limit int64) error {
	return &broker.Error{
		Kind: broker.ErrQuota, Detail: fmt.Sprintf("the VNF packages of the project may have %d bytes in all", limit),
		Remedy: "delete some",
	}
}

// OtherUpload says that a VNF package does not wait for the bytes of an upload.
func OtherUpload() error {
	return Conflict("another upload has taken over, or the VNF package was deleted")
}

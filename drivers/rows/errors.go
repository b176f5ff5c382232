package rows

import (
	"errors"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

// Unique is a rule that a field's value occurs once.
type Unique struct{ field, detail string }

// The rules of uniqueness. Databases name them differently.
var (
	VIMID      = Unique{"id", "a VIM with this id is there already"}
	VIMName    = Unique{"name", "the project has a VIM of this name"}
	VIMDefault = Unique{"default", "the project has a default VIM already"}
	VIMKey     = Unique{"Idempotency-Key", "the principal used this key for another registration"}
	LeaseID    = Unique{"id", "a lease with this id is there already"}
	PackageID  = Unique{"id", "a VNF package with this id is there already"}
	VNFD       = Unique{"vnfdId", "the project has another package with this VNFD"}
	LeaseKey   = Unique{"Idempotency-Key", "the principal used this key for another lease"}
	LeaseLogin = Unique{"login", "another lease has taken the place of the one before"}

	ClientID   = Unique{"id", "a client with this id is there already"}
	TokenKey   = Unique{"key", "another key signs tokens"}
	ClientName = Unique{"name", "the project has a client of this name"}

	VNFGrantID        = Unique{"id", "a grant with this id is there already"}
	VNFGrantOperation = Unique{"vnfLcmOpOccId", "the client has a grant for this operation"}
	SubscriptionID    = Unique{"id", "a subscription with this id is there already"}
	SubscriptionLike  = Unique{"callbackUri", "the project has such a subscription already"}
	BundleName        = Unique{"name", "there is one of this name already"}
	BundleClaim       = Unique{"claim", "another request is making it"}

	ManagementVIM = Unique{"vim", "the VIM is a management cluster already"}
	ClusterObject = Unique{"uid", "the management cluster has this cluster already"}
	ClusterSystem = Unique{"system", "another cluster of the project leads to this system"}
)

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

package rows

import "github.com/vimbroker/vimbroker/broker"

// Unique is a rule that a field's value occurs once.
type Unique struct{ field, detail string }

// The rules of uniqueness. Databases name them differently.
var (
	VIMID      = Unique{"id", "a VIM with this id is there already"}
	VIMName    = Unique{"name", "the project has a VIM of this name"}
	VIMDefault = Unique{"default", "the project has a default VIM already"}
	VIMKey     = Unique{"Idempotency-Key", "the principal used this key for another registration"}
	LeaseID    = Unique{"id", "a lease with this id is there already"}
	LeaseKey   = Unique{"Idempotency-Key", "the principal used this key for another lease"}

	ManagementVIM = Unique{"vim", "the VIM is a management cluster already"}
	ClusterObject = Unique{"uid", "the management cluster has this cluster already"}
	ClusterSystem = Unique{"system", "another cluster leads to this system"}
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
	return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store cannot be used now", Cause: cause}
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

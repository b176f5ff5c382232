package broker

import (
	"context"
	"time"
)

// GrantEpoch is what a driver keeps on a VIM for all leases of one grant: from the
// first lease to when the grant has long been without one.
type GrantEpoch struct {
	VIM string
	// Digest names the grant on its VIM: see [Lease.GrantDigest].
	Digest string
	Epoch  int64

	Role        string
	Rules       []Rule
	Namespaces  []string
	ClusterWide bool

	// Damaged: some of what is stored of it cannot be read, so nothing is tidied for it.
	Damaged bool
}

// GrantStore keeps the epochs of grants. CreateLease opens them. They go with their VIM.
type GrantStore interface {
	// CloseIdleGrants closes the epochs without a lease that is Pending, Active or
	// Revoking, where an earlier call at least idle before now saw none either. No lease
	// is put on a closed epoch any more: in one atomic step with the look at the
	// leases. It returns the epochs that are closed and not forgotten.
	CloseIdleGrants(ctx context.Context, now time.Time, idle time.Duration) ([]GrantEpoch, error)
	// ForgetGrant says that the driver has tidied a closed epoch away. Idempotent.
	ForgetGrant(ctx context.Context, g GrantEpoch) error
}

package rows

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// GrantEpoch is a row of the table grants.
type GrantEpoch struct {
	broker.GrantEpoch
	State     string
	IdleSince time.Time
}

// GrantOpen is the state of an epoch that leases are put on.
const GrantOpen = "open"

// GrantColumns are the columns of the table grants.
var GrantColumns = ColumnsOf[GrantEpoch](`
	vim digest epoch state idle_since role rules namespaces cluster_wide`)

// maxEpochStep bounds how far one epoch of a grant is from the next. 2^23 of them fit
// into an int64.
const maxEpochStep = 1 << 40

// NewGrant is the row of the epoch that a lease opens after last, which is 0 if the grant
// had none. The number cannot be foreseen, so nobody can take the names that a driver
// makes from it.
func NewGrant(l broker.Lease, last int64) (GrantEpoch, error) {
	step, err := rand.Int(rand.Reader, big.NewInt(maxEpochStep))
	if err != nil {
		return GrantEpoch{}, fmt.Errorf("choosing an epoch: %w", err)
	}
	epoch := last + 1 + step.Int64()
	return GrantEpoch{
		GrantEpoch: broker.GrantEpoch{
			VIM: l.VIM, Digest: l.GrantDigest, Epoch: epoch,
			Role: l.Role, Rules: l.Rules, Namespaces: l.Namespaces, ClusterWide: l.ClusterWide,
		},
		State: GrantOpen,
	}, nil
}

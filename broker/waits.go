package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// maxWaits bounds how many leases a draining VIM is shown to wait for.
const maxWaits = 10

// WaitsFor says what a draining VIM waits for, each in one line: the leases that have not
// ended, as far as the caller may see them, with what went wrong last and when they are
// tried again; and what keeps the broker from removing the rest. It is empty for a VIM
// that is not draining. The caller was shown the VIM, which is what is decided and
// recorded.
func (b *Registry) WaitsFor(ctx context.Context, p policy.Principal, v VIM) ([]string, error) {
	if v.State != VIMDraining {
		return nil, nil
	}
	var out []string
	var hidden int
	err := b.eachLease(ctx, LeaseFilter{VIM: v.ID, States: liveStates}, func(l Lease) error {
		if len(out) == maxWaits || !b.guard.Allows(p, policy.LeaseShow, leaseResource(l)) {
			hidden++
		} else {
			out = append(out, l.waiting())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("%d more leases", hidden))
	}
	switch {
	case v.Health.Message != "":
		out = append(out, fmt.Sprintf("the VIM, which was %s at %s: %s; the next try is at %s", v.Health.Status,
			v.Health.CheckedAt.UTC().Format(time.RFC3339), v.Health.Message, v.Health.Next.UTC().Format(time.RFC3339)))
	case len(out) == 0:
		out = append(out, "the next pass, which removes what the broker keeps on the VIM")
	}
	return out, nil
}

// waiting says where a lease that is to end stands.
func (l Lease) waiting() string {
	text := fmt.Sprintf("lease %s of %s, which is %s", l.ID, l.Principal, l.State)
	if l.Attempts > 0 {
		text += fmt.Sprintf(", tries: %d", l.Attempts)
	}
	if l.LastError != "" {
		text += ": " + l.LastError
	}
	if l.State == LeaseRevoking && !l.NextAttemptAt.IsZero() {
		text += "; the next try is at " + l.NextAttemptAt.UTC().Format(time.RFC3339)
	}
	return text
}

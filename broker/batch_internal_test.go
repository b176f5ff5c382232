package broker

import (
	"testing"
	"time"
)

// A lease of another's, or of nobody's, is tried once it is due; one of this batch's own as long as two calls fit into its claim.
func TestWhenALeaseOfABatchIsTried(t *testing.T) {
	now, call := time.Unix(1e9, 0), 15*time.Second
	for _, c := range []struct {
		mine bool
		next time.Duration
		want bool
	}{
		{false, -1, true},
		{false, 0, true},
		{false, 1, false},
		{false, time.Hour, false},
		{true, -1, false},
		{true, 0, false},
		{true, call + 1, false},
		{true, 2 * call, false},
		{true, 2*call + 1, true},
		{true, time.Hour, true},
	} {
		i := batchItem{mine: c.mine, lease: Lease{NextAttemptAt: now.Add(c.next)}}
		if got := i.waits(now, call); got != c.want {
			t.Errorf("mine %v, until %s: tried is %v, want %v", c.mine, c.next, got, c.want)
		}
	}
	if i := (batchItem{}); !i.waits(now, call) {
		t.Error("a lease that was never tried is not due")
	}
}

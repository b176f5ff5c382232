package bench

import (
	"slices"
	"time"
)

// sample is how long each of some calls took, in any order.
type sample []time.Duration

// percentile is the smallest value that at least p percent of the calls did not
// exceed (nearest rank); zero where nothing was measured.
func (s sample) percentile(p int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

func (s sample) median() time.Duration { return s.percentile(50) }

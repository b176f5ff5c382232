package job

import (
	"math/rand/v2"
	"time"
)

// Backoff is the wait before the next try after so many failures in a row: one second after
// the first, twice that after each further one, and at most that long.
func Backoff(failures int, most time.Duration) time.Duration {
	return min(time.Second<<min(max(failures-1, 0), 20), most)
}

// Spread shortens a wait by up to a quarter, so that those who failed together do not try
// again together.
func Spread(wait time.Duration) time.Duration {
	return wait - rand.N(wait/4+1) //nolint:gosec // a pause needs no secrecy
}

package real

import (
	"testing"
	"time"
)

// Poll asks until done, for that long and five seconds, and reports whether it was:
// nothing signals that a real server has forgotten a token.
func Poll(t *testing.T, most time.Duration, done func() bool) bool {
	t.Helper()
	deadline := time.After(most + 5*time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}

package real

import (
	"testing"
	"time"
)

// Poll asks until done, for that long and five seconds, and once after it, and reports whether it was: nothing signals
// that a real server has forgotten a token.
func Poll(t *testing.T, most time.Duration, done func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(most + 5*time.Second); ; time.Sleep(50 * time.Millisecond) {
		last := time.Now().After(deadline)
		switch {
		case done():
			return true
		case last:
			return false
		}
	}
}

package real

import (
	"iter"
	"os"
	"testing"
	"time"
)

// Soak is the environment variable that says how long tests that may go on for any
// time do, like "1h". Without it they run their short form.
const Soak = "VIMBROKER_SOAK"

// SoakTime is how long a test is to go on; zero is the short form.
func SoakTime(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv(Soak)
	if text == "" {
		return 0
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", Soak, err)
	}
	return long
}

// Rounds counts the rounds of such a test: one, or as many as begin in the time.
func Rounds(t testing.TB) iter.Seq[int] {
	t.Helper()
	end := time.Now().Add(SoakTime(t))
	return func(yield func(int) bool) {
		for n := 0; (n == 0 || time.Now().Before(end)) && yield(n); n++ {
			t.Logf("round %d is over", n)
		}
	}
}

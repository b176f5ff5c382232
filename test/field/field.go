// Package field is the home of tests that take long, or need tools that build for minutes: "make test-field"
// runs them before an issue is closed, and .ci/run does not.
//
// Such a test stands here, or beside what it tests. Its name begins with TestField, and it begins with
//
//	field.Only(t)
//
// The Makefile's target test-field finds it by that, and builds the tools that it needs.
package field

import (
	"os"
	"testing"
)

// Switch is the environment variable that has these tests run: "1".
const Switch = "VIMBROKER_FIELD"

// Only skips the test where nobody asked for such tests.
func Only(t testing.TB) {
	t.Helper()
	if !Wanted() {
		t.Skipf("takes long: make test-field runs it (%s=1)", Switch)
	}
}

// Wanted is whether somebody asked for such tests.
func Wanted() bool { return os.Getenv(Switch) == "1" }

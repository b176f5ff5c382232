// Package cloud_test holds the suites and stories on a real OpenStack: a package of
// its own, so that they run beside the others.
package cloud_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestMain(m *testing.M) {
	process.SideBySide(3)
	real.Main(m)
}

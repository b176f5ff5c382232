// Package servers_test holds the life of a VNF of servers on a real Nova and Neutron: a package of its own, since it waits for
// most of its time, and has a cloud of its own.
package servers_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
)

func TestMain(m *testing.M) { real.Main(m) }

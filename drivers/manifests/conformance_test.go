package manifests_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
)

func TestConformance(t *testing.T) {
	cnf.OnFake(t, func() lifecycle.Driver { return manifests.New() }, cnf.Manifests)
}

package helm_test

import (
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/render"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
)

// renders has this program be the one that renders.
const renders = "render-a-chart"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == renders {
		os.Exit(render.Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 3 && os.Args[1] == hangs {
		renderOrHang(os.Args[2])
	}
	os.Exit(m.Run())
}

func driver() *helm.Driver { return helm.New(helm.Options{Program: []string{os.Args[0], renders}}) }

func TestConformance(t *testing.T) {
	cnf.OnFake(t, func() lifecycle.Driver { return driver() }, cnf.Chart)
}

package helm_test

import (
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/render"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// renders has this program be the one that renders.
const renders = "render-a-chart"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == renders {
		os.Exit(render.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func driver() *helm.Driver { return helm.New(os.Args[0], renders) }

func TestConformance(t *testing.T) {
	s := fakeobjects.New(t)
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:       func() lifecycle.Driver { return driver() },
		Connect:   func(_ *testing.T, g lifecycle.Grant) lifecycle.Connection { return connect(s, g) },
		Namespace: func(*testing.T) string { return "cnf" },
		Manifests: cnf.Chart, VDU: cnf.VDU,
		Remove: func(_ *testing.T, r lifecycle.Resource) { s.Remove(pathOf(r)) },
		Plant: func(t *testing.T, r lifecycle.Resource) func() bool {
			s.Put(pathOf(r), map[string]any{"kind": r.Kind, "metadata": map[string]any{"name": r.Name, "namespace": r.Namespace}})
			t.Cleanup(func() { s.Remove(pathOf(r)) })
			return func() bool { o := s.Get(pathOf(r)); return o != nil && o["metadata"].(map[string]any)["labels"] == nil }
		},
	})
}

// connect may do what a grant says.
func connect(s *fakeobjects.Server, g lifecycle.Grant) lifecycle.Connection {
	rules := egress.Default()
	rules.AllowLoopback = true
	return lifecycle.Connection{Egress: rules, Config: clientconfig.Config{
		Endpoint: s.URL, CACert: s.CA, Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(s.Allow(g))},
	}}
}

func pathOf(r lifecycle.Resource) string {
	path := "/api/" + r.Version
	if r.Group != "" {
		path = "/apis/" + r.Group + "/" + r.Version
	}
	if r.Namespace != "" {
		path += "/namespaces/" + r.Namespace
	}
	return path + "/" + r.Plural + "/" + r.Name
}

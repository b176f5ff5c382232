package manifests_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

func TestConformance(t *testing.T) {
	s := fakeobjects.New(t)
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:       func() lifecycle.Driver { return manifests.New() },
		Connect:   func(_ *testing.T, g lifecycle.Grant) lifecycle.Connection { return connect(s, g) },
		Namespace: func(*testing.T) string { return "cnf" },
		Manifests: cnf.Manifests, VDU: cnf.VDU,
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
